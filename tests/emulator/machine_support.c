#include "tests/emulator/machine_support.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

static struct emu_options usual_options(uint64_t seed)
{
    return (struct emu_options){.target = 90,
                                .multiprocessors = 8,
                                .seed = seed,
                                .threads = 3,
                                .eager = true,
                                .limits = {.steps = 1u << 24}};
}

struct trial trial_make(const char *text, uint64_t seed)
{
    const struct emu_options options = usual_options(seed);

    return trial_make_on(text, &options);
}

struct trial trial_make_on(const char *text, const struct emu_options *options)
{
    struct trial trial = {.device = emu_device_create(options)};

    assert_non_null(trial.device);
    trial.program = emu_program_load(trial.device, text, strlen(text), &trial.error);
    if (!trial.program)
        fail_msg("%s", trial.error.message);
    trial.buffer = emu_allocate(trial.device, TRIAL_WORDS * sizeof(uint32_t));
    assert_int_not_equal(trial.buffer, 0);
    trial.words = emu_bytes(trial.device, trial.buffer, TRIAL_WORDS * sizeof(uint32_t));
    memset(trial.words, 0x7e, TRIAL_WORDS * sizeof(uint32_t));
    return trial;
}

struct emu_error trial_refused(const char *text)
{
    struct emu_error error = {.line = 0};
    const struct emu_options options = usual_options(1);
    struct emu_device *device = emu_device_create(&options);

    assert_non_null(device);
    assert_null(emu_program_load(device, text, strlen(text), &error));
    assert_int_not_equal(error.message[0], '\0');
    emu_device_destroy(device);
    return error;
}

void trial_free(struct trial *trial)
{
    emu_program_unload(trial->program);
    emu_device_destroy(trial->device);
}

enum emu_outcome trial_run(struct trial *trial, uint32_t grid, uint32_t block, uint32_t cluster,
                           uint32_t dynamic_shared_bytes)
{
    unsigned char params[8];
    struct emu_launch launch = {.program = trial->program,
                                .entry = emu_program_entry(trial->program, "k"),
                                .grid = {grid, 1, 1},
                                .block = {block, 1, 1},
                                .cluster = {cluster, cluster ? 1 : 0, cluster ? 1 : 0},
                                .dynamic_shared_bytes = dynamic_shared_bytes,
                                .params = params};

    assert_true(launch.entry >= 0);
    memcpy(params, &trial->buffer, sizeof params);
    trial->error = (struct emu_error){.line = 0};
    return emu_run(trial->device, &launch, &trial->error);
}

void trial_expect_done(struct trial *trial, uint32_t grid, uint32_t block, uint32_t cluster,
                       uint32_t dynamic_shared_bytes)
{
    if (trial_run(trial, grid, block, cluster, dynamic_shared_bytes) != EMU_DONE)
        fail_msg("%s", trial->error.message);
}

void trial_expect_fault(struct trial *trial, uint32_t grid, uint32_t block, uint32_t cluster,
                        enum emu_outcome outcome, const char *const *words)
{
    assert_int_equal(trial_run(trial, grid, block, cluster, 0), outcome);
    for (; *words; words++)
        if (!strstr(trial->error.message, *words))
            fail_msg("\"%s\" is not in: %s", *words, trial->error.message);
}
