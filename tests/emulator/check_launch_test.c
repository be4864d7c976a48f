/* The sanitizer over several launches: what one wrote, the next may read, unless it may begin
 * before the other is over. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { THREADS = 32 };

#define WAIT "griddepcontrol.wait;\n"
/* out[t] = out[t] + 1, after what is to come first. */
#define COUNTER(before)                                                                            \
    KERNEL("mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %out, %d0;\n" before     \
           "ld.global.u32 %r1, [%d0];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%d0], %r1;\n")

static struct trial watched(const char *text)
{
    const struct emu_check_options options = {.is_on = true};
    struct trial t = trial_make(text, 1);

    assert_true(emu_device_set_check(t.device, &options));
    return t;
}

static enum emu_outcome launch(struct trial *t, bool is_dependent)
{
    struct emu_launch launch = {.program = t->program,
                                .entry = emu_program_entry(t->program, "k"),
                                .grid = {1, 1, 1},
                                .block = {THREADS, 1, 1},
                                .params = (const unsigned char *)&t->buffer,
                                .is_dependent = is_dependent};

    memset(&t->error, 0, sizeof t->error);
    return emu_run(t->device, &launch, &t->error);
}

static void the_next_launch_comes_after(void **state)
{
    (void)state;
    struct trial t = watched(COUNTER(""));

    for (int i = 0; i < 3; i++)
        assert_int_equal(launch(&t, false), EMU_DONE);
    trial_free(&t);
}

static void a_dependent_one_has_to_wait(void **state)
{
    (void)state;
    struct trial t = watched(COUNTER(""));

    assert_int_equal(launch(&t, false), EMU_DONE);
    assert_int_equal(launch(&t, true), EMU_FOUND);
    assert_int_equal(emu_device_findings(t.device), 1);
    assert_string_equal(emu_device_finding(t.device, 0)->code, "dependent-launch");
    assert_non_null(strstr(t.error.message, "updates out") || strstr(t.error.message, "reads out"));
    trial_free(&t);
}

static void one_that_waits_may_do_all(void **state)
{
    (void)state;
    struct trial t = watched(COUNTER(WAIT));

    assert_int_equal(launch(&t, false), EMU_DONE);
    assert_int_equal(launch(&t, true), EMU_DONE);
    trial_free(&t);
}

/* Of the launch before the last the last has waited for all. */
static void only_the_last_launch_is_in_doubt(void **state)
{
    (void)state;
    struct trial t = watched(COUNTER(""));
    struct emu_launch nothing = {.entry = 0, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct emu_error error = {.line = 0};
    struct emu_program *program =
        emu_program_load(t.device, KERNEL(""), strlen(KERNEL("")), &error);

    assert_non_null(program);
    nothing.program = program;
    nothing.params = (const unsigned char *)&t.buffer;
    assert_int_equal(launch(&t, false), EMU_DONE);
    assert_int_equal(emu_run(t.device, &nothing, &error), EMU_DONE);
    assert_int_equal(launch(&t, true), EMU_DONE);
    emu_program_unload(program);
    trial_free(&t);
}

static void memory_that_nobody_wrote_is_not_read(void **state)
{
    (void)state;
    struct trial t = watched(COUNTER(""));

    emu_unwritten(t.device, t.buffer, 4 * THREADS + 1);
    emu_written(t.device, t.buffer, 4 * THREADS - 4);
    assert_int_equal(launch(&t, false), EMU_FOUND);
    assert_string_equal(emu_device_finding(t.device, 0)->code, "uninitialised");
    assert_int_equal(emu_device_finding(t.device, 0)->who.lane, 0);
    assert_non_null(strstr(t.error.message, "out + 124"));
    emu_device_forget(t.device);
    emu_written(t.device, t.buffer + 4 * THREADS - 4, 4);
    assert_int_equal(launch(&t, false), EMU_DONE);
    trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_launch_comes_after),
        cmocka_unit_test(a_dependent_one_has_to_wait),
        cmocka_unit_test(one_that_waits_may_do_all),
        cmocka_unit_test(only_the_last_launch_is_in_doubt),
        cmocka_unit_test(memory_that_nobody_wrote_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
