/* A problem under many schedules, with kernels that have a fault: what is found, what is told, and
 * that others do not notice. What the sanitizer finds is tested where the emulator is. */
#include "include/lathe_tools.h"
#include "tests/runtime/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each a text of the kernel, and what stands there instead. */
static const char no_fence[] = "fence.proxy.async.shared::cta;|";
static const char half_of_k[] = "shr.u32 %k_blocks, %k_blocks, 6;|shr.u32 %k_blocks, %k_blocks, 7;";
static const char no_arrival[] = "[%tiles_full], 1;  // the filler|[%tiles_full], 2;  //";

static void use_emulator(struct runtime_fixture *f, const char *plant)
{
    setenv("LATHE_EMU_LIBRARY", PLANTING_PATH, 1);
    setenv("EMU_PLANT", plant, 1);
    f->options.emulator = LATHE_EMULATOR_ALWAYS;
    f->options.emulated_arch = LATHE_SM_90A;
    runtime_again(f);
    unsetenv("LATHE_EMU_LIBRARY"); /* the context knows it */
}

static struct lathe_gemm small_problem(void)
{
    struct lathe_gemm problem = LATHE_GEMM_INIT;

    problem.m = 64;
    problem.n = 16;
    problem.k = 256;
    return problem;
}

static struct lathe_plan_options small_plan(void)
{
    struct lathe_plan_options plan = LATHE_PLAN_OPTIONS_INIT;

    plan.tile[0] = plan.tile[2] = 64;
    plan.tile[1] = 16;
    plan.cluster[0] = plan.cluster[1] = plan.cluster[2] = 1;
    return plan;
}

static enum lathe_status check(struct runtime_fixture *f, const struct lathe_check_options *options,
                               struct lathe_check_report *report)
{
    struct lathe_gemm problem = small_problem();
    struct lathe_plan_options plan = small_plan();

    return lathe_check_gemm(f->context, &problem, &plan, options, report, &f->error);
}

static struct lathe_check_options schedules(int count, enum lathe_check mode)
{
    struct lathe_check_options options = LATHE_CHECK_OPTIONS_INIT;

    options.schedules = count;
    options.seed = 7;
    options.mode = mode;
    return options;
}

static void note_progress(void *user, int done, int count)
{
    int *seen = user;

    assert_int_equal(done, seen[0] + 1);
    seen[0] = done;
    seen[1] = count;
}

static void a_right_kernel_shows_nothing(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_options options = schedules(3, LATHE_CHECK_FIRST);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    int progress[2] = {0, 0};

    use_emulator(f, "");
    options.progress = note_progress;
    options.progress_user = progress;
    assert_status(f, check(f, &options, &report), LATHE_OK);
    assert_int_equal(lathe_findings_count(report.findings), 0);
    assert_int_equal(report.runs, 3);
    assert_int_equal(progress[0], 3);
    assert_int_equal(progress[1], 3);
    assert_string_equal(report.device, "Lathe emulator sm_90a");
    assert_string_equal(report.reference, "CPU, f64");
    assert_int_equal(report.plan.tile[1], 16);
    lathe_findings_destroy(&report.findings);
    assert_null(report.findings);
}

static void what_is_not_said_is_twenty_schedules_up_to_a_finding(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;

    use_emulator(f, "");
    assert_status(f, check(f, NULL, &report), LATHE_OK);
    assert_int_equal(report.runs, 20);
    lathe_findings_destroy(&report.findings);
    use_emulator(f, no_fence);
    assert_status(f, check(f, NULL, &report), LATHE_OK);
    assert_int_equal(report.runs, 1);
    lathe_findings_destroy(&report.findings);
}

static void a_finding_says_who_where_and_under_which_seed(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_options options = schedules(3, LATHE_CHECK_ALL);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    const struct lathe_check_finding *finding;

    use_emulator(f, no_fence);
    assert_status(f, check(f, &options, &report), LATHE_OK);
    assert_int_equal(report.runs, 3);
    assert_true(lathe_findings_errors(report.findings) > 0);
    finding = lathe_findings_at(report.findings, 0);
    assert_string_equal(finding->code, "missing-proxy-fence");
    assert_string_equal(finding->kernel, "lathe_gemm_f16_f16_64x16x64_s21_c1x1");
    assert_false(finding->is_warning);
    assert_int_equal(finding->seed, 7);
    assert_int_equal(finding->schedules, 3);
    assert_true(finding->times >= 3);
    assert_true(finding->has_who && finding->has_other);
    assert_string_equal(finding->who.role, "consumer");
    assert_true(finding->who.line > 0 && finding->other.line > 0);
    assert_true(finding->who.reads && finding->other.writes);
    assert_non_null(strstr(finding->object, "epilogue staging"));
    assert_non_null(strstr(finding->words, "needed: fence.proxy.async"));
    assert_null(lathe_findings_at(report.findings, lathe_findings_count(report.findings)));
    lathe_findings_destroy(&report.findings);
}

/* The sanitizer has nothing to say of it. */
static void a_wrong_answer_is_a_finding(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_options options = schedules(2, LATHE_CHECK_ALL);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    const struct lathe_check_finding *finding;

    use_emulator(f, half_of_k);
    assert_status(f, check(f, &options, &report), LATHE_OK);
    assert_int_equal(lathe_findings_count(report.findings), 1);
    finding = lathe_findings_at(report.findings, 0);
    assert_string_equal(finding->code, "wrong-answer");
    assert_int_equal(finding->schedules, 2);
    assert_false(finding->has_who);
    assert_string_equal(finding->object, "D");
    assert_non_null(strstr(finding->what, "of 1024 elements are wrong, the first at row 0"));
    assert_non_null(strstr(finding->words, "wrong-answer: lathe_gemm_f16_f16_64x16x64_s21_c1x1: "
                                           "D: "));
    lathe_findings_destroy(&report.findings);
}

/* Each schedule ends in a deadlock, which spoils the CUDA context that it ran in; the next runs. */
static void a_deadlock_is_a_finding_and_the_next_schedule_runs(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_options options = schedules(2, LATHE_CHECK_ALL);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    const struct lathe_check_finding *finding;

    use_emulator(f, no_arrival);
    assert_status(f, check(f, &options, &report), LATHE_OK);
    assert_int_equal(report.runs, 2);
    finding = lathe_findings_at(report.findings, 0);
    assert_non_null(finding);
    assert_string_equal(finding->code, "deadlock");
    assert_true(finding->has_who);
    assert_int_equal(finding->schedules, 2);
    lathe_findings_destroy(&report.findings);
}

static enum lathe_status run(struct runtime_fixture *f)
{
    struct lathe_gemm problem = small_problem();
    struct lathe_plan_options plan = small_plan();
    struct lathe_run_report report = {.plan = LATHE_PLAN_INIT};

    return lathe_run_gemm(f->context, &problem, &plan, NULL, &report, &f->error);
}

/* What `small_plan` gives, with one place changed; to be freed. */
static char *changed_text(struct runtime_fixture *f, const char *old, const char *new)
{
    struct lathe_gemm problem = small_problem();
    struct lathe_plan_options options = small_plan();
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL;
    const char *text, *place;
    char *changed = malloc(1 << 18);

    options.arch = LATHE_SM_90A;
    assert_non_null(changed);
    assert_status(f, lathe_plan_gemm(&plan, &problem, &options, &f->error), LATHE_OK);
    assert_status(f, lathe_emit(&kernel, &plan, NULL, &f->error), LATHE_OK);
    text = lathe_kernel_text(kernel, NULL);
    place = strstr(text, old);
    assert_non_null(place);
    assert_true(snprintf(changed, 1 << 18, "%.*s%s%s", (int)(place - text), text, new,
                         place + strlen(old)) < 1 << 18);
    lathe_kernel_destroy(&kernel);
    return changed;
}

static enum lathe_status run_text(struct runtime_fixture *f, const char *text,
                                  struct lathe_run_report *report)
{
    struct lathe_gemm problem = small_problem();
    struct lathe_plan_options plan = small_plan();
    struct lathe_run_options options = LATHE_RUN_OPTIONS_INIT;

    options.text = text;
    return lathe_run_gemm(f->context, &problem, &plan, &options, report, &f->error);
}

static void a_report_of_a_run_of_an_older_header_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_gemm problem = small_problem();
    struct lathe_run_report report, before;

    memset(&report, 0x5a, sizeof report);
    report.plan.struct_size = offsetof(struct lathe_plan, mma);
    memcpy(&before, &report, sizeof report);
    assert_status(f, lathe_run_gemm(f->context, &problem, NULL, NULL, &report, &f->error),
                  LATHE_MISUSED);
    assert_non_null(strstr(f->error.message, "compile what uses it anew"));
    assert_memory_equal(&report, &before, sizeof report);
}

static void a_text_runs_in_the_place_of_the_plans(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_options options = schedules(2, LATHE_CHECK_ALL);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    struct lathe_run_report run = {.plan = LATHE_PLAN_INIT};
    char *text;

    use_emulator(f, "");
    text = changed_text(f, "fence.proxy.async.shared::cta;", "");
    options.text = text;
    assert_status(f, check(f, &options, &report), LATHE_OK);
    assert_true(lathe_findings_errors(report.findings) > 0);
    assert_string_equal(lathe_findings_at(report.findings, 0)->code, "missing-proxy-fence");
    lathe_findings_destroy(&report.findings);
    assert_status(f, run_text(f, text, &run), LATHE_OK);
    assert_true(run.ok);
    free(text);

    text = changed_text(f, "%k_blocks, %k_blocks, 6;", "%k_blocks, %k_blocks, 7;");
    assert_status(f, run_text(f, text, &run), LATHE_OK);
    assert_false(run.ok);
    free(text);

    assert_status(f, run_text(f, "", &run), LATHE_MISUSED);
    options.text = "";
    assert_status(f, check(f, &options, &report), LATHE_MISUSED);
    assert_null(report.findings);
    text = changed_text(f, "mbarrier.init", "mbarrier.unit");
    assert_status(f, run_text(f, text, &run), LATHE_DRIVER_FAILED);
    assert_non_null(strstr(f->error.message, "line "));
    free(text);
    assert_status(f, run_text(f, NULL, &run), LATHE_OK); /* the plan's own is as it was */
    assert_true(run.ok);
}

/* The context is on the emulator itself, and its kernel is loaded, and right. */
static void others_on_the_emulator_do_not_notice(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_options options = schedules(1, LATHE_CHECK_FIRST);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;

    use_emulator(f, "");
    assert_status(f, run(f), LATHE_OK);
    setenv("EMU_PLANT", no_fence, 1);
    assert_status(f, check(f, &options, &report), LATHE_OK);
    assert_true(lathe_findings_errors(report.findings) > 0);
    lathe_findings_destroy(&report.findings);
    assert_status(f, run(f), LATHE_OK);
    /* Nor is their kernel checked from now on: this one would be refused. */
    use_emulator(f, no_fence);
    assert_status(f, run(f), LATHE_OK);
}

static void what_breaks_the_rules_is_refused(void **state)
{
    struct runtime_fixture *f = *state;
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    struct lathe_gemm problem = small_problem();
    struct lathe_check_options options = schedules(-1, LATHE_CHECK_FIRST);

    use_emulator(f, "");
    assert_status(f, check(f, &options, &report), LATHE_OUT_OF_RANGE);
    options = schedules(1, (enum lathe_check)3);
    assert_status(f, check(f, &options, &report), LATHE_OUT_OF_RANGE);
    options = schedules(1, LATHE_CHECK_FIRST);
    options.reference = 2;
    assert_status(f, check(f, &options, &report), LATHE_OUT_OF_RANGE);
    assert_status(f, check(f, NULL, NULL), LATHE_MISUSED);
    report.struct_size = 0;
    assert_status(f, check(f, NULL, &report), LATHE_MISUSED);
    report.struct_size = sizeof report - 16;
    assert_status(f, check(f, NULL, &report), LATHE_MISUSED);
    assert_non_null(strstr(f->error.message, "compile what uses it anew"));
    report = (struct lathe_check_report)LATHE_CHECK_REPORT_INIT;
    problem.m = problem.n = problem.k = 4096;
    assert_status(f, lathe_check_gemm(f->context, &problem, NULL, NULL, &report, &f->error),
                  LATHE_UNSUPPORTED);
    assert_null(report.findings);
    assert_int_equal(lathe_findings_count(NULL), 0);
    assert_int_equal(lathe_findings_errors(NULL), 0);
    assert_null(lathe_findings_at(NULL, 0));
}

static void running_out_of_memory_is_reported_at_every_allocation(void **state)
{
    struct runtime_fixture *f = *state;
    struct fail_allocator allocator;
    enum lathe_status status = LATHE_OUT_OF_MEMORY;
    char *text = changed_text(f, "fence.proxy.async.shared::cta;", "");
    long n = 0;

    fail_allocator_init(&allocator, -1);
    f->options.allocator = &allocator.allocator;
    use_emulator(f, "");
    for (; status == LATHE_OUT_OF_MEMORY && n < 500; n++) {
        struct lathe_check_options options = schedules(1, LATHE_CHECK_FIRST);
        struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
        long live = allocator.live;

        options.text = text;
        allocator.fails_from = allocator.calls + n;
        status = check(f, &options, &report);
        lathe_findings_destroy(&report.findings);
        assert_int_equal(allocator.live, live);
    }
    allocator.fails_from = -1;
    assert_status(f, status, LATHE_OK);
    assert_true(n > 10);
    lathe_context_destroy(&f->context);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUNTIME_TEST(a_right_kernel_shows_nothing),
        RUNTIME_TEST(what_is_not_said_is_twenty_schedules_up_to_a_finding),
        RUNTIME_TEST(a_finding_says_who_where_and_under_which_seed),
        RUNTIME_TEST(a_wrong_answer_is_a_finding),
        RUNTIME_TEST(a_deadlock_is_a_finding_and_the_next_schedule_runs),
        RUNTIME_TEST(a_report_of_a_run_of_an_older_header_is_refused),
        RUNTIME_TEST(a_text_runs_in_the_place_of_the_plans),
        RUNTIME_TEST(others_on_the_emulator_do_not_notice),
        RUNTIME_TEST(what_breaks_the_rules_is_refused),
        RUNTIME_TEST(running_out_of_memory_is_reported_at_every_allocation),
    };

    return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
