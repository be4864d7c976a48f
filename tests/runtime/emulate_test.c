/* One launch of a text on the emulator, by the library. What texts can be, and what comes of them,
 * is tested where the emulator is; the words of it, where the command is. */
#include "include/lathe_tools.h"
#include "tests/runtime/fixture.h"

#include <stdlib.h>

/* The sum of both arguments, to where the third says. */
static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry add(.param .u32 a, .param .u32 b, .param .u64 to)\n"
                           "{\n"
                           "    .reg .b32 %a, %b;\n"
                           "    .reg .b64 %to;\n"
                           "    ld.param.u32 %a, [a];\n"
                           "    ld.param.u32 %b, [b];\n"
                           "    ld.param.u64 %to, [to];\n"
                           "    add.u32 %a, %a, %b;\n"
                           "    st.global.u32 [%to], %a;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry stop() { trap; }\n"
                           /* Which CTA gets which ticket is the schedule's business. */
                           ".visible .entry tickets(.param .u64 to)\n"
                           "{\n"
                           "    .reg .b32 %cta, %ticket;\n"
                           "    .reg .b64 %to, %place;\n"
                           "    ld.param.u64 %to, [to];\n"
                           "    mov.u32 %cta, %ctaid.x;\n"
                           "    atom.global.add.u32 %ticket, [%to], 1;\n"
                           "    mad.wide.u32 %place, %cta, 4, %to;\n"
                           "    st.global.u32 [%place+4], %ticket;\n"
                           "    ret;\n"
                           "}\n"
                           ".visible .entry race()\n"
                           "{\n"
                           "    .reg .b32 %thread;\n"
                           "    .shared .b32 word;\n"
                           "    mov.u32 %thread, %tid.x;\n"
                           "    st.shared.u32 [word], %thread;\n"
                           "    ret;\n"
                           "}\n";

static const uint32_t two = 2, three = 3;
static uint32_t memory[4];
static struct lathe_emulated_buffer buffer = {memory, sizeof memory};
static const struct lathe_argument arguments[] = {
    {.value = &two, .bytes = sizeof two},
    {.value = &three, .bytes = sizeof three},
    {.kind = LATHE_ARGUMENT_POINTER, .buffer = 0, .offset = 8},
};

static struct lathe_emulation addition(void)
{
    struct lathe_emulation e = LATHE_EMULATION_INIT;

    memset(memory, 0x11, sizeof memory);
    e.text = text;
    e.entry = "add";
    for (int i = 0; i < 3; i++)
        e.grid[i] = e.block[i] = 1;
    e.buffers = &buffer;
    e.buffer_count = 1;
    e.arguments = arguments;
    e.argument_count = 3;
    return e;
}

static void use_library(struct runtime_fixture *f, const char *path)
{
    setenv("LATHE_EMU_LIBRARY", path, 1);
    runtime_again(f);
    unsetenv("LATHE_EMU_LIBRARY");
}

static enum lathe_status emulate(struct runtime_fixture *f, const struct lathe_emulation *emulation,
                                 struct lathe_emulation_report *report)
{
    return lathe_emulate(f->context, emulation, report, &f->error);
}

static void a_launch_leaves_its_results_in_the_buffers(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = addition();
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, EMULATOR_PATH);
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(memory[2], 5);
    assert_int_equal(memory[1], 0x11111111);
    assert_int_equal(memory[3], 0x11111111);
    assert_string_equal(report.entry, "add");
    assert_string_equal(report.device, "Lathe emulator sm_80");
    assert_string_equal(report.trouble, "");
    e.arch = "sm_90a";
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_string_equal(report.device, "Lathe emulator sm_90a");
}

static void a_fault_is_told_and_the_next_launch_runs(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = addition(), bad = addition();
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, EMULATOR_PATH);
    bad.entry = "stop";
    bad.argument_count = 0;
    assert_status(f, emulate(f, &bad, &report), LATHE_DRIVER_FAILED);
    assert_message(f, "stop: CTA (0,0,0) warp 0");
    assert_non_null(strstr(report.trouble, "trap"));
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_string_equal(report.trouble, "");
    assert_int_equal(memory[2], 5);
}

static void what_is_no_emulator_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = addition();
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, STUB_DRIVER_PATH);
    assert_status(f, emulate(f, &e, &report), LATHE_NO_DRIVER);
    assert_message(f, "is the driver of a GPU");
    use_library(f, "/nowhere/libcuda-emu.so");
    assert_status(f, emulate(f, &e, &report), LATHE_NO_DRIVER);
    assert_message(f, "/nowhere/libcuda-emu.so");
}

/* Of the devices that are there none takes it; the one that it is for knows why. */
static void what_no_device_takes_its_own_speaks_of(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {".version 8.6\n.target sm_100a\n.address_size 64\n"
         ".visible .entry add() { tcgen05.fence::before_thread_sync;\ntcgen05.comit; ret; }\n",
         "line 5: tcgen05.comit"},
        {".version 8.6\n.target sm_100a\n.address_size 64\n"
         ".visible .entry add() { wgmma.fence.sync.aligned; ret; }\n",
         "exists for sm_90a alone"},
    };
    struct runtime_fixture *f = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lathe_emulation e = addition();
        struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

        e.text = wrong[i].text;
        assert_status(f, emulate(f, &e, &report), LATHE_DRIVER_FAILED);
        assert_message(f, wrong[i].message);
    }
}

static void what_breaks_the_rules_is_misuse(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = addition();
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    assert_status(f, emulate(f, NULL, &report), LATHE_MISUSED);
    assert_status(f, emulate(f, &e, NULL), LATHE_MISUSED);
    assert_status(f, lathe_emulate(NULL, &e, &report, &f->error), LATHE_MISUSED);
    e.text = NULL;
    assert_status(f, emulate(f, &e, &report), LATHE_MISUSED);
}

/* ---- With the sanitizer ---- */

static struct lathe_emulation checked(const char *entry, int schedules)
{
    struct lathe_emulation e = addition();

    e.entry = entry;
    e.argument_count = 0;
    e.seed = 1;
    e.check = LATHE_CHECK_ALL;
    e.schedules = schedules;
    return e;
}

static const char *code_of(const struct lathe_emulation_report *report, size_t index)
{
    const struct lathe_check_finding *finding = lathe_findings_at(report->findings, index);

    return finding ? finding->code : "none";
}

static void a_check_finds_what_the_answer_does_not_show(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = checked("race", 3);
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, EMULATOR_PATH);
    e.block[0] = 64;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(report.runs, 3);
    assert_int_equal(report.completed, 3);
    assert_string_equal(code_of(&report, 0), "race");
    assert_int_equal(lathe_findings_at(report.findings, 0)->schedules, 3);
    lathe_findings_destroy(&report.findings);
    e.check = LATHE_CHECK_FIRST;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(report.runs, 1);
    assert_int_equal(report.completed, 0);
    assert_int_equal(lathe_findings_count(report.findings), 1);
    lathe_findings_destroy(&report.findings);
    e.check = LATHE_CHECK_OFF;
    e.schedules = 1;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(report.completed, 1);
    assert_null(report.findings);
}

static void every_schedule_begins_with_the_same_buffers(void **state)
{
    struct runtime_fixture *f = *state;
    static uint32_t counters[17];
    struct lathe_emulated_buffer tickets = {counters, sizeof counters};
    static const struct lathe_argument to = {.kind = LATHE_ARGUMENT_POINTER};
    struct lathe_emulation e = checked("tickets", 8);
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;
    uint32_t first[17];

    use_library(f, EMULATOR_PATH);
    e.grid[0] = 16;
    e.buffers = &tickets;
    e.arguments = &to;
    e.argument_count = 1;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(report.completed, 8);
    assert_int_equal(counters[0], 16);
    memcpy(first, counters, sizeof first);
    assert_string_equal(code_of(&report, 0), "answer-changes");
    assert_int_equal(lathe_findings_count(report.findings), 1);
    assert_string_equal(lathe_findings_at(report.findings, 0)->object, "buffer 0");
    lathe_findings_destroy(&report.findings);

    memset(counters, 0, sizeof counters);
    e.schedules = 1;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(lathe_findings_count(report.findings), 0);
    assert_memory_equal(counters, first, sizeof first);
    lathe_findings_destroy(&report.findings);
}

static void a_fault_is_a_finding_where_one_is_looked_for(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = checked("stop", 2);
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, EMULATOR_PATH);
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(report.runs, 2);
    assert_int_equal(report.completed, 0);
    assert_int_equal(lathe_findings_count(report.findings), 1);
    assert_string_equal(code_of(&report, 0), "trap");
    assert_int_equal(memory[0], 0x11111111);
    lathe_findings_destroy(&report.findings);
    /* A launch that cannot be is none. */
    e.smem_bytes = 1 << 20;
    assert_status(f, emulate(f, &e, &report), LATHE_DRIVER_FAILED);
    assert_null(report.findings);
}

static void checks_that_cannot_be_are_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_emulation e = checked("race", -1);
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, EMULATOR_PATH);
    assert_status(f, emulate(f, &e, &report), LATHE_OUT_OF_RANGE);
    e = checked("race", 1);
    e.check = (enum lathe_check)3;
    assert_status(f, emulate(f, &e, &report), LATHE_OUT_OF_RANGE);
    e = checked("race", 2);
    e.check = LATHE_CHECK_OFF;
    assert_status(f, emulate(f, &e, &report), LATHE_OUT_OF_RANGE);
    assert_message(f, "need a check");
}

static void time_is_modelled_with_and_without_a_check(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace_options options = LATHE_TRACE_OPTIONS_INIT;
    struct lathe_emulation e = checked("race", 1);
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;
    uint64_t cycles;

    use_library(f, EMULATOR_PATH);
    e.block[0] = 64;
    e.trace = &options;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_string_equal(code_of(&report, 0), "race");
    cycles = lathe_trace_total(report.trace)->cycles;
    lathe_findings_destroy(&report.findings);
    lathe_trace_free(report.trace);
    e.check = LATHE_CHECK_OFF;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_int_equal(lathe_trace_total(report.trace)->cycles, cycles);
    assert_int_equal(lathe_trace_total(report.trace)->launches, 1);
    lathe_trace_free(report.trace);
}

static void a_launch_that_a_finding_ends_has_no_trace(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_trace_options options = LATHE_TRACE_OPTIONS_INIT;
    struct lathe_emulation e = checked("race", 1);
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;

    use_library(f, EMULATOR_PATH);
    e.block[0] = 64;
    e.trace = &options;
    e.check = LATHE_CHECK_FIRST;
    assert_status(f, emulate(f, &e, &report), LATHE_OK);
    assert_string_equal(code_of(&report, 0), "race");
    assert_null(report.trace);
    lathe_findings_destroy(&report.findings);
    e.schedules = 2;
    assert_status(f, emulate(f, &e, &report), LATHE_OUT_OF_RANGE);
    assert_message(f, "a trace is of one");
}

static void run_out_of_memory(struct runtime_fixture *f, bool traced)
{
    struct lathe_trace_options options = LATHE_TRACE_OPTIONS_INIT;
    struct fail_allocator allocator;
    enum lathe_status status = LATHE_OUT_OF_MEMORY;

    fail_allocator_init(&allocator, -1);
    f->options.allocator = &allocator.allocator;
    use_library(f, EMULATOR_PATH);
    for (long n = 0; status == LATHE_OUT_OF_MEMORY && n < 50; n++) {
        struct lathe_emulation e = addition();
        struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;
        long live = allocator.live;

        e.check = LATHE_CHECK_ALL;
        e.schedules = traced ? 1 : 2;
        e.trace = traced ? &options : NULL;
        allocator.fails_from = allocator.calls + n;
        status = emulate(f, &e, &report);
        lathe_findings_destroy(&report.findings);
        lathe_trace_free(report.trace);
        assert_int_equal(allocator.live, live);
    }
    allocator.fails_from = -1;
    assert_int_equal(status, LATHE_OK);
    lathe_context_destroy(&f->context);
}

static void running_out_of_memory_is_reported_at_every_allocation(void **state)
{
    run_out_of_memory(*state, false);
}

static void so_it_is_where_time_is_modelled(void **state)
{
    run_out_of_memory(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(a_launch_leaves_its_results_in_the_buffers),
        RUNTIME_TEST(a_fault_is_told_and_the_next_launch_runs),
        RUNTIME_TEST(a_check_finds_what_the_answer_does_not_show),
        RUNTIME_TEST(every_schedule_begins_with_the_same_buffers),
        RUNTIME_TEST(a_fault_is_a_finding_where_one_is_looked_for),
        RUNTIME_TEST(checks_that_cannot_be_are_refused),
        RUNTIME_TEST(time_is_modelled_with_and_without_a_check),
        RUNTIME_TEST(a_launch_that_a_finding_ends_has_no_trace),
        RUNTIME_TEST(what_is_no_emulator_is_refused),
        RUNTIME_TEST(what_no_device_takes_its_own_speaks_of),
        RUNTIME_TEST(what_breaks_the_rules_is_misuse),
        RUNTIME_TEST(running_out_of_memory_is_reported_at_every_allocation),
        RUNTIME_TEST(so_it_is_where_time_is_modelled),
    };

    return cmocka_run_group_tests_name("emulate", tests, NULL, NULL);
}
