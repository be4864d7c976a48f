/* driver_check.c: the sanitizer for programs of the driver API: its mode, and what was found. */
#include "emulator/driver_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 256, TEXT_SIZE = 4096 };

#define EXPORTED __attribute__((visibility("default")))

static struct emu_check_options options_of(int mode)
{
    return (struct emu_check_options){.is_on = mode != EMU_CHECK_OFF,
                                      .goes_on = mode == EMU_CHECK_ALL};
}

int emu_cu_check_mode(void)
{
    const char *word = getenv("LATHE_EMU_CHECK");

    if (!word || !*word || strcmp(word, "0") == 0)
        return EMU_CHECK_OFF;
    if (strcmp(word, "1") == 0)
        return EMU_CHECK_ALL;
    emu_cu_report(0, "LATHE_EMU_CHECK: %.40s is neither 1, which checks, nor 0", word);
    return -1;
}

bool emu_cu_check_device(struct emu_device *machine)
{
    struct emu_check_options options = options_of(emu_cu_driver.check_mode);

    return emu_cu_driver.check_mode == EMU_CHECK_OFF || emu_device_set_check(machine, &options);
}

EXPORTED int emu_set_check(int mode)
{
    struct emu_check_options options = options_of(mode);
    int done = mode >= EMU_CHECK_OFF && mode <= EMU_CHECK_ALL;

    emu_cu_lock();
    for (int i = 0; i < emu_cu_driver.gpu_count && done; i++)
        if (emu_cu_driver.gpus[i].machine)
            done = emu_device_set_check(emu_cu_driver.gpus[i].machine, &options);
    if (done)
        emu_cu_driver.check_mode = mode;
    emu_cu_unlock();
    return done;
}

EXPORTED int emu_check(void)
{
    int mode;

    emu_cu_lock();
    mode = emu_cu_driver.check_mode;
    emu_cu_unlock();
    return mode;
}

/* ---- What was found ---- */

static bool keep(const struct emu_finding *finding)
{
    struct emu_cu_driver *driver = &emu_cu_driver;

    if (!driver->findings)
        driver->findings = calloc(KEPT_MAX, sizeof *driver->findings);
    if (!driver->findings || driver->finding_count == KEPT_MAX)
        return false;
    driver->findings[driver->finding_count++] = *finding;
    return true;
}

void emu_cu_check_collect(struct emu_device *machine)
{
    char text[TEXT_SIZE];

    for (size_t i = 0; i < emu_device_findings(machine); i++) {
        const struct emu_finding *finding = emu_device_finding(machine, i);

        keep(finding);
        if (!emu_cu_driver.check_prints)
            continue;
        emu_finding_text(finding, text, sizeof text);
        fprintf(stderr, "emulator: %s\n", text);
    }
    emu_device_forget(machine);
}

EXPORTED size_t emu_findings(struct emu_finding *list, size_t room)
{
    size_t count;

    emu_cu_lock();
    count = emu_cu_driver.finding_count;
    if (list && room > 0 && count > 0)
        memcpy(list, emu_cu_driver.findings, (room < count ? room : count) * sizeof *list);
    emu_cu_unlock();
    return count;
}

EXPORTED void emu_finding_words(const struct emu_finding *finding, char *text, size_t size)
{
    if (size > 0)
        emu_finding_text(finding, text, size);
}

EXPORTED void emu_forget_findings(void)
{
    emu_cu_lock();
    emu_cu_driver.finding_count = 0;
    emu_cu_unlock();
}
