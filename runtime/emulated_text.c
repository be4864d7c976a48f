#include "runtime/emulated_text.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "runtime/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 4096 };

enum lathe_status lt_emulated_check(const struct lt_emulated_text *text, int result,
                                    const char *call, struct lathe_error *err)
{
    const struct lt_driver *driver = &text->device.driver;
    const char *name = NULL;
    char *trouble = text->report->trouble;

    if (result == LT_CUDA_SUCCESS)
        return LATHE_OK;
    snprintf(trouble, sizeof text->report->trouble, "%s", driver->emu_last_report());
    if (!trouble[0] || driver->cuGetErrorName(result, &name) != LT_CUDA_SUCCESS)
        return lt_driver_check(driver, result, call, err);
    return lt_fail(
        err, result == LT_CUDA_ERROR_OUT_OF_MEMORY ? LATHE_OUT_OF_MEMORY : LATHE_DRIVER_FAILED,
        "%s: %s (%d): %.*s", call, name, result, (int)strcspn(trouble, "\n"), trouble);
}

/* ---- The emulator ---- */

static enum lathe_status begin_check(struct lt_emulated_text *text, enum lathe_check check,
                                     struct lathe_error *err)
{
    static const int modes[] = {
        [LATHE_CHECK_OFF] = LT_EMU_CHECK_OFF,
        [LATHE_CHECK_FIRST] = LT_EMU_CHECK_FIRST,
        [LATHE_CHECK_ALL] = LT_EMU_CHECK_ALL,
    };

    if (check == LATHE_CHECK_OFF)
        return LATHE_OK;
    text->check_before = text->calls.check();
    if (!text->calls.set_check(modes[check]))
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the sanitizer");
    text->calls.forget_findings();
    text->checks = true;
    return LATHE_OK;
}

static enum lathe_status open_emulator(struct lt_emulated_text *text, struct lathe_context *context,
                                       const struct lathe_emulation *emulation,
                                       struct lathe_error *err)
{
    char path[LT_EMULATOR_PATH_SIZE];
    const char *given = lt_context_variable(context, "LATHE_EMU_LIBRARY");
    enum lathe_status status =
        lt_driver_open_emulator(&text->device.driver, lt_emulator_find(given, path), err);

    if (status == LATHE_OK)
        status = lt_emulator_load(&text->calls, &text->device.driver, err);
    if (status != LATHE_OK)
        return status;
    text->calls.set_seed(emulation->seed);
    text->calls.set_exact(emulation->exact);
    text->calls.set_limits(0, emulation->steps, 0);
    return begin_check(text, emulation->check, err);
}

/* ---- Its devices ---- */

static enum lathe_status enter_device(struct lt_emulated_text *text, int ordinal,
                                      struct lathe_error *err)
{
    struct lt_device *device = &text->device;
    const struct lt_driver *driver = &device->driver;
    enum lathe_status status =
        lt_emulated_check(text, driver->cuDeviceGet(&device->device, ordinal), "cuDeviceGet", err);

    device->ordinal = ordinal;
    if (status == LATHE_OK)
        status = lt_emulated_check(
            text, driver->cuDeviceGetName(device->name, sizeof device->name, device->device),
            "cuDeviceGetName", err);
    return status == LATHE_OK
               ? lt_emulator_enter(&text->calls, driver, device->device, &device->cu_context, err)
               : status;
}

static void leave_device(struct lt_emulated_text *text)
{
    lt_emulator_leave(&text->calls, &text->device.cu_context);
    text->module = NULL;
}

/* "Lathe emulator sm_90a": its name ends with its architecture. */
static bool is_of_arch(const struct lt_device *device, const char *arch)
{
    const char *space = strrchr(device->name, ' ');

    return space && strcmp(space + 1, arch) == 0;
}

static void note_arch(const struct lt_device *device, char *known, size_t size)
{
    const char *space = strrchr(device->name, ' ');
    size_t length = strlen(known);

    snprintf(known + length, size - length, "%s", space ? space : "");
}

static enum lathe_status load_here(struct lt_emulated_text *text, const char *source,
                                   struct lathe_error *err)
{
    double start = lt_now_us();
    enum lathe_status status = lt_emulated_check(
        text, text->device.driver.cuModuleLoadData(&text->module, source), "cuModuleLoadData", err);

    text->report->load_ms = (lt_now_us() - start) / 1e3;
    if (status == LATHE_OK)
        text->report->trouble[0] = '\0'; /* what an older device said */
    return status;
}

/* The number of the text's .target; 0 where there is none. */
static int target_of(const char *source)
{
    const char *at = strstr(source, ".target sm_");

    return at ? atoi(at + strlen(".target sm_")) : 0;
}

static bool is_of_target(const struct lt_device *device, int target)
{
    const char *space = strrchr(device->name, ' ');

    return space && strncmp(space, " sm_", 4) == 0 && atoi(space + 4) == target;
}

static enum lathe_status load_on(struct lt_emulated_text *text, int ordinal, const char *source,
                                 struct lathe_error *err)
{
    leave_device(text);
    if (enter_device(text, ordinal, err) != LATHE_OK)
        return LATHE_DRIVER_FAILED;
    return load_here(text, source, err);
}

/* The devices go from old to new, and a text runs on those that are not older than its target: the
 * first that takes it is the one it is for. What no device takes, that of its target says best why,
 * else the newest. */
static enum lathe_status load(struct lt_emulated_text *text,
                              const struct lathe_emulation *emulation, struct lathe_error *err)
{
    char known[160] = "";
    int count = 0, last = -1, own = -1, target = target_of(emulation->text);
    enum lathe_status status = lt_emulated_check(text, text->device.driver.cuDeviceGetCount(&count),
                                                 "cuDeviceGetCount", err);

    if (status != LATHE_OK)
        return status;
    for (int i = 0; i < count; i++) {
        leave_device(text);
        if (enter_device(text, i, err) != LATHE_OK)
            return LATHE_DRIVER_FAILED;
        note_arch(&text->device, known, sizeof known);
        if (emulation->arch && !is_of_arch(&text->device, emulation->arch))
            continue;
        last = i;
        own = own < 0 && is_of_target(&text->device, target) ? i : own;
        status = load_here(text, emulation->text, err);
        if (status == LATHE_OK)
            return status;
    }
    if (last < 0)
        return lt_fail(err, LATHE_BAD_WORD,
                       "arch=%.40s: the emulator has no such device (known:%s)",
                       emulation->arch ? emulation->arch : "", known);
    return own < 0 || own == last ? status : load_on(text, own, emulation->text, err);
}

/* ---- The entry ---- */

static const char *name_of(const struct lt_emulated_text *text, lt_cu_function function)
{
    const char *name = NULL;

    return text->calls.function_name(&name, function) == LT_CUDA_SUCCESS && name ? name : "?";
}

static void list_entries(const struct lt_emulated_text *text, const lt_cu_function *functions,
                         unsigned count, char *list, size_t size)
{
    list[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(list);

        snprintf(list + length, size - length, " %.100s", name_of(text, functions[i]));
    }
}

static enum lathe_status choose_entry(struct lt_emulated_text *text, const char *wanted,
                                      const lt_cu_function *functions, unsigned count,
                                      struct lathe_error *err)
{
    char list[300];

    for (unsigned i = 0; i < count; i++)
        if (wanted ? strcmp(name_of(text, functions[i]), wanted) == 0 : count == 1)
            text->function = functions[i];
    if (text->function) {
        snprintf(text->report->entry, sizeof text->report->entry, "%s",
                 name_of(text, text->function));
        return LATHE_OK;
    }
    if (count == 0)
        return lt_fail(err, LATHE_BAD_WORD, "the text has no entry");
    list_entries(text, functions, count, list, sizeof list);
    if (wanted)
        return lt_fail(err, LATHE_BAD_WORD, "entry=%.100s: no such entry (known:%s)", wanted, list);
    return lt_fail(err, LATHE_BAD_WORD, "the text has %u entries; entry= must name one of:%s",
                   count, list);
}

static enum lathe_status find_entry(struct lt_emulated_text *text, const char *wanted,
                                    const struct lathe_allocator *allocator,
                                    struct lathe_error *err)
{
    unsigned count = 0;
    lt_cu_function *functions = NULL;
    enum lathe_status status = lt_emulated_check(
        text, text->calls.function_count(&count, text->module), "cuModuleGetFunctionCount", err);

    if (status != LATHE_OK)
        return status;
    if (count > ENTRIES_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED, "the text has %u entries, more than %d", count,
                       ENTRIES_MAX);
    functions = lt_allocate(allocator, (count + 1) * sizeof(lt_cu_function));
    if (!functions)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %u entries", count);
    status = lt_emulated_check(text, text->calls.functions(functions, count, text->module),
                               "cuModuleEnumerateFunctions", err);
    if (status == LATHE_OK)
        status = choose_entry(text, wanted, functions, count, err);
    lt_release(allocator, functions);
    return status;
}

/* ---- All of it ---- */

enum lathe_status lt_emulated_text_open(struct lt_emulated_text *text,
                                        struct lathe_context *context,
                                        const struct lathe_emulation *emulation,
                                        struct lathe_error *err)
{
    enum lathe_status status = open_emulator(text, context, emulation, err);

    if (status == LATHE_OK)
        status = load(text, emulation, err);
    if (status != LATHE_OK)
        return status;
    snprintf(text->report->device, sizeof text->report->device, "%s", text->device.name);
    return find_entry(text, emulation->entry, lt_context_allocator(context), err);
}

void lt_emulated_text_close(struct lt_emulated_text *text)
{
    leave_device(text);
    if (text->checks)
        text->calls.set_check(text->check_before);
    text->checks = false;
    lt_device_close(&text->device);
}
