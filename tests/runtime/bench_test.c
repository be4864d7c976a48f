/* The benchmark on stubs, which compute nothing of Lathe's: who takes turns, which of cuBLASLt's
 * algorithms are tried, and what a report says. */
#include "include/lathe_tools.h"
#include "runtime/entrant.h"
#include "tests/runtime/fixture.h"

#include <stdlib.h>

/* Little memory, so that there are few sets of buffers; blocks of a few launches; answers compared
 * by the CPU. */
static int set_up(void **state)
{
    struct runtime_fixture *f;

    setenv("STUB_MEMORY", "700000000", 1);
    setenv("STUB_ELAPSED_US", "2000", 1);
    setenv("LATHE_NVRTC_LIBRARY", "/nonexistent/libnothing.so", 1);
    unsetenv("STUB_CUBLASLT_ALGORITHMS");
    unsetenv("STUB_CUBLASLT_FAILS");
    unsetenv("STUB_CUBLASLT_WRONG");
    if (runtime_set_up(state) != 0)
        return -1;
    f = *state;
    f->stub.reset();
    return 0;
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, runtime_tear_down)

static struct lathe_gemm problem(void)
{
    struct lathe_gemm p = LATHE_GEMM_INIT;

    p.m = 16;
    p.n = 8;
    p.k = 8;
    return p;
}

static struct lathe_bench_options short_options(void)
{
    struct lathe_bench_options options = LATHE_BENCH_OPTIONS_INIT;

    options.pairs = 3;
    options.block_ms = 1;
    options.warm_up_ms = 1e-3;
    options.cublaslt_library = STUB_CUBLASLT_PATH;
    options.nvml_library = STUB_NVML_PATH;
    return options;
}

static void assert_bench(struct runtime_fixture *f, const struct lathe_bench_options *options,
                         struct lathe_bench_report *report)
{
    struct lathe_gemm p = problem();

    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, options, report, &f->error), LATHE_OK);
}

/* Launches of the kernel that spins. */
static int spins(const struct runtime_fixture *f)
{
    int count = 0;

    for (int i = 0; i < f->stub.launches(); i++)
        count += strcmp(f->stub.launch_at(i)->kernel, "lathe_spin") == 0;
    return count;
}

static void a_plan_alone_has_one_row_and_no_ratio(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    assert_bench(f, &options, &report);
    assert_int_equal(report.row_count, 1);
    assert_int_equal(report.rows[0].kind, LATHE_BENCH_PLAN);
    assert_string_equal(report.rows[0].name, report.plan.variant);
    assert_true(report.ratio == 0 && report.rows[0].ratio == 0);
    assert_string_equal(report.vs, "");
    assert_true(report.time_us > 0 && report.time_us == report.rows[0].time_us);
    assert_int_equal(report.verified, 0); /* nothing was computed */
}

static void each_contender_has_a_row(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    options.vs_cublaslt = options.vs_cublaslt_best = 1;
    assert_bench(f, &options, &report);
    assert_int_equal(report.row_count, 3);
    assert_string_equal(report.rows[1].name, "cublaslt 13.1");
    assert_string_equal(report.rows[2].name, "cublaslt-best 13.1");
    assert_int_equal(report.rows[1].heuristic, 1);
    assert_int_equal(report.rows[1].heuristics, 3);
    assert_true(report.rows[1].ratio == 1 && report.rows[1].ratio_low == 1);
    assert_string_equal(report.vs, "cublaslt 13.1");
    assert_true(report.ratio == report.rows[1].ratio);
    assert_true(report.vs_time_us == report.rows[1].time_us);
}

/* A report of a header whose plan ends before `mma`, and a canary behind it. */
static void a_report_of_an_older_header_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_gemm p = problem();
    unsigned char *place, *before;
    size_t plan_bytes = offsetof(struct lathe_plan, mma);
    struct lathe_bench_report *older;

    place = malloc(sizeof *older);
    before = malloc(sizeof *older);
    assert_true(place && before);
    memset(place, 0x5a, sizeof *older);
    memcpy(place + offsetof(struct lathe_bench_report, plan), &plan_bytes, sizeof plan_bytes);
    memcpy(before, place, sizeof *older);
    older = (struct lathe_bench_report *)(void *)place;
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, older, &f->error),
                  LATHE_MISUSED);
    assert_non_null(strstr(f->error.message, "compile what uses it anew"));
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, NULL, older, &f->error), LATHE_MISUSED);
    assert_memory_equal(place, before, sizeof *older);
    free(before);
    free(place);
}

static void a_report_that_was_not_made_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm p = problem();
    struct lathe_bench_report report;

    memset(&report, 0, sizeof report);
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, NULL, &report, &f->error),
                  LATHE_MISUSED);
    assert_non_null(strstr(f->error.message, "make it with its _INIT macro"));
}

static void a_caller_that_knows_no_extras_gets_what_it_has_room_for(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    options.struct_size = offsetof(struct lathe_bench_options, isolated);
    options.isolated = 7; /* behind the end of what it knows */
    memset(&report, 0x5a, sizeof report);
    report.plan = (struct lathe_plan)LATHE_PLAN_INIT;
    assert_bench(f, &options, &report);
    assert_int_equal(report.row_count, 1);
    for (size_t i = offsetof(struct lathe_bench_report, isolated); i < sizeof report; i++)
        assert_int_equal(((const unsigned char *)&report)[i], 0x5a);
    assert_int_equal(spins(f), 0);
}

static void one_launch_by_itself_is_timed_for_all(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    options.vs_cublaslt = options.vs_cublaslt_best = 1;
    assert_bench(f, &options, &report);
    assert_int_equal(spins(f), 0);
    assert_true(report.isolated[0].time_us == 0 && report.isolated_spin_us == 0);
    options.isolated = 1;
    assert_bench(f, &options, &report);
    assert_true(spins(f) >= 3 * 50);
    assert_true(report.isolated_spin_us >= 50);
    for (int i = 0; i < 3; i++)
        assert_true(report.isolated[i].time_us == 2000 && report.isolated[i].ratio == 1);
    assert_true(report.isolated[3].time_us == 0);
}

static void what_fits_into_l2_is_timed_there_too(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    options.vs_cublaslt = 1;
    assert_bench(f, &options, &report);
    assert_true(report.warm[0].time_us == 0);
    options.warm = 1;
    assert_bench(f, &options, &report);
    assert_string_equal(report.warm_refused, "");
    /* 2 ms lie between any two events, and a launch of that length is timed alone. */
    for (int i = 0; i < 2; i++)
        assert_true(report.warm[i].time_us == 2000 && report.warm[i].ratio == 1);
    assert_true(report.warm[2].time_us == 0 && report.isolated[0].time_us == 0);
    assert_int_equal(f->stub.live(STUB_GRAPH_EXEC), 0);
}

/* The address in the last tensor map of a launch: that of D. */
static uint64_t written_by(const struct runtime_fixture *f, const struct stub_launch *launch)
{
    uint64_t address = 0;

    for (int i = 0; i < launch->param_count; i++) {
        const struct stub_tensor_map *map = f->stub.tensor_map_of(launch->params[i]);

        if (map)
            address = map->address;
    }
    return address;
}

/* What is checked last is the block that was timed in L2; before it, the one that was not. */
static void a_block_in_l2_has_one_set_of_buffers(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    uint64_t last;
    int count = 0;

    setenv("STUB_ELAPSED_US", "2", 1);
    f->stub.reset();
    runtime_again(f);
    options.warm = 1;
    assert_bench(f, &options, &report);
    assert_true(report.sets > 1);
    last = written_by(f, f->stub.launch_at(f->stub.launches() - 1));
    assert_true(last != 0);
    while (written_by(f, f->stub.launch_at(f->stub.launches() - 1 - count)) == last)
        count++;
    assert_int_equal(count, 2000);
}

static void what_does_not_fit_into_l2_says_why(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_gemm p = problem();
    struct stub_device device;

    f->stub.get_device(0, &device);
    device.l2_bytes = 100000;
    f->stub.set_device(0, &device);
    runtime_again(f);
    options.warm = 1;
    assert_bench(f, &options, &report);
    assert_string_equal(report.warm_refused, "");
    p.k = 4096; /* (16 + 8) * 4096 * 2 bytes, and D */
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, &report, &f->error),
                  LATHE_OK);
    assert_string_equal(report.warm_refused, "the operands take 0.197 MB, and L2 holds 0.1 MB");
    assert_true(report.warm[0].time_us == 0 && report.rows[0].time_us > 0);
}

static void algorithms_that_fail_are_skipped(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    setenv("STUB_CUBLASLT_FAILS", "1,3", 1);
    options.vs_cublaslt_best = 1;
    assert_bench(f, &options, &report);
    assert_int_equal(report.row_count, 2);
    assert_int_equal(report.rows[1].kind, LATHE_BENCH_CUBLASLT_BEST);
    assert_int_equal(report.rows[1].heuristic, 2);
    assert_string_equal(report.vs, "cublaslt-best 13.1");
}

static void where_all_fail_the_last_says_why(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_gemm p = problem();

    setenv("STUB_CUBLASLT_FAILS", "1,2,3", 1);
    options.vs_cublaslt_best = 1;
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, &report, &f->error),
                  LATHE_UNSUPPORTED);
    assert_message(f, "cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED");
}

static void a_contender_that_gives_another_answer_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_gemm p = problem();

    setenv("STUB_CUBLASLT_WRONG", "1", 1);
    options.vs_cublaslt = 1;
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, &report, &f->error),
                  LATHE_INTERNAL);
    assert_message(f, "cublaslt 13.1, algorithm 1, gives another answer");
}

static void types_that_cublaslt_is_not_asked_for_are_refused_with_it(void **state)
{
    struct runtime_fixture *f = *state;
    static const enum lathe_type types[] = {LATHE_TF32, LATHE_E4M3, LATHE_E5M2, LATHE_INT8,
                                            LATHE_F16};
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    options.vs_cublaslt_best = 1;
    for (int i = 0; i < 5; i++) {
        struct lathe_gemm p = problem();

        p.k = p.n = 16;
        p.type = types[i];
        if (p.type == LATHE_F16)
            p.out = LATHE_E4M3;
        assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, &report, &f->error),
                      LATHE_UNSUPPORTED);
        assert_non_null(strstr(f->error.message, "vs=none"));
    }
}

static void rungs_take_turns_with_the_plan(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_plan_options rungs[2] = {LATHE_PLAN_OPTIONS_INIT, LATHE_PLAN_OPTIONS_INIT};
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    rungs[0].stages = 2;
    rungs[1].stages = 3;
    options.rungs = rungs;
    options.rung_count = 2;
    options.vs_cublaslt = 1;
    assert_bench(f, &options, &report);
    assert_int_equal(report.row_count, 4);
    assert_int_equal(report.rows[2].kind, LATHE_BENCH_PLAN);
    assert_int_equal(report.rows[3].kind, LATHE_BENCH_CUBLASLT);
    assert_true(report.rows[2].ratio == 1);
}

static void too_many_rungs_are_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_gemm p = problem();

    options.rung_count = LATHE_BENCH_ROWS_MAX;
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, &report, &f->error),
                  LATHE_OUT_OF_RANGE);
    options.rung_count = 1;
    assert_status(f, lathe_bench_gemm(f->context, &p, NULL, &options, &report, &f->error),
                  LATHE_MISUSED);
}

static void nothing_is_left_behind(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};

    options.vs_cublaslt = options.vs_cublaslt_best = options.isolated = options.warm = 1;
    assert_bench(f, &options, &report);
    assert_int_equal(f->stub.live(STUB_MODULE), 1); /* the context keeps its function */
    assert_int_equal(f->stub.live(STUB_STREAM), 0);
    assert_int_equal(f->stub.live(STUB_EVENT), 0);
    assert_int_equal(f->stub.live(STUB_GRAPH), 0);
    assert_int_equal(f->stub.live(STUB_GRAPH_EXEC), 0);
    assert_int_equal(f->stub.live(STUB_ALLOCATION), 0);
}

static void the_machine_is_named_without_giving_its_uuid_away(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_machine machine = LATHE_BENCH_MACHINE_INIT;

    options.vs_cublaslt_best = 1;
    assert_status(f, lathe_bench_machine(f->context, &options, &machine, &f->error), LATHE_OK);
    assert_string_equal(machine.device, "NVIDIA H200");
    assert_int_equal(strlen(machine.device_hash), 16);
    assert_int_equal(machine.arch, LATHE_SM_90A);
    assert_int_equal(machine.sms, 132);
    assert_int_equal(machine.cuda_version, 13000);
    assert_string_equal(machine.driver, "580.95.05");
    assert_string_equal(machine.cublaslt, "cublaslt 13.1");
    assert_int_equal(f->stub.live(STUB_CONTEXT), 0);
}

static void a_machine_without_the_libraries_is_named_all_the_same(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_bench_options options = short_options();
    struct lathe_bench_machine machine = LATHE_BENCH_MACHINE_INIT;

    options.vs_cublaslt = 1;
    options.nvml_library = options.cublaslt_library = "/nonexistent/libnothing.so";
    assert_status(f, lathe_bench_machine(f->context, &options, &machine, &f->error), LATHE_OK);
    assert_string_equal(machine.driver, "");
    assert_string_equal(machine.cublaslt, "");
}

static void the_least_median_is_the_fastest(void **state)
{
    (void)state;
    const double times[] = {3, 3, 3, 1, 9, 9, 2, 2, 20}; /* medians 3, 9, 2 */

    assert_int_equal(lt_fastest(times, 3, 3), 2);
    assert_int_equal(lt_fastest(times, 1, 3), 0);
    assert_true(times[3] == 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        BENCH_TEST(a_plan_alone_has_one_row_and_no_ratio),
        BENCH_TEST(each_contender_has_a_row),
        BENCH_TEST(a_report_of_an_older_header_is_refused),
        BENCH_TEST(a_report_that_was_not_made_is_refused),
        BENCH_TEST(a_caller_that_knows_no_extras_gets_what_it_has_room_for),
        BENCH_TEST(one_launch_by_itself_is_timed_for_all),
        BENCH_TEST(what_fits_into_l2_is_timed_there_too),
        BENCH_TEST(a_block_in_l2_has_one_set_of_buffers),
        BENCH_TEST(what_does_not_fit_into_l2_says_why),
        BENCH_TEST(algorithms_that_fail_are_skipped),
        BENCH_TEST(where_all_fail_the_last_says_why),
        BENCH_TEST(a_contender_that_gives_another_answer_is_refused),
        BENCH_TEST(types_that_cublaslt_is_not_asked_for_are_refused_with_it),
        BENCH_TEST(rungs_take_turns_with_the_plan),
        BENCH_TEST(too_many_rungs_are_refused),
        BENCH_TEST(nothing_is_left_behind),
        BENCH_TEST(the_machine_is_named_without_giving_its_uuid_away),
        BENCH_TEST(a_machine_without_the_libraries_is_named_all_the_same),
        cmocka_unit_test(the_least_median_is_the_fastest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
