/* check.c: lathe_check_gemm(): one problem under many schedules of the emulator, each in a CUDA
 * context of its own, which a launch that ends in a finding spoils. */
#include "include/lathe_tools.h"

#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/findings.h"
#include "runtime/trial.h"

#include <stdio.h>
#include <string.h>

enum { SCHEDULES = 20, SCHEDULES_MOST = 1000000 };

struct check {
    struct lathe_context *context; /* the caller's */
    const struct lathe_gemm *problem;
    const struct lathe_plan_options *plan;
    struct lathe_check_options options;
    struct lathe_check_report report;
    struct lt_device device; /* the emulator's, looked at only */
    struct lt_emulator_calls calls;
};

/* ---- Before ---- */

static enum lathe_status read_options(struct lathe_check_options *options,
                                      const struct lathe_check_options *given,
                                      struct lathe_error *err)
{
    enum lathe_status status = lt_import(options, given, "lathe_check_options", err);

    if (status != LATHE_OK)
        return status;
    if (options->schedules < 0 || options->schedules > SCHEDULES_MOST)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "schedules=%d: must be from 0 (for %d) to %d",
                       options->schedules, SCHEDULES, SCHEDULES_MOST);
    if (options->mode < LATHE_CHECK_OFF || options->mode > LATHE_CHECK_ALL)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "mode: %d is no enum lathe_check",
                       (int)options->mode);
    if (options->schedules == 0)
        options->schedules = SCHEDULES;
    if (options->mode == LATHE_CHECK_OFF)
        options->mode = LATHE_CHECK_FIRST;
    return LATHE_OK;
}

static enum lathe_status open_emulator(struct check *check, struct lathe_error *err)
{
    bool is_named = check->plan && check->plan->arch != LATHE_ARCH_DEFAULT;
    const struct lt_device_choice choice = {
        .emulator = lt_context_variable(check->context, "LATHE_EMU_LIBRARY"),
        .use = LATHE_EMULATOR_ALWAYS,
        .emulated_arch = is_named ? check->plan->arch : lt_context_emulated_arch(check->context),
        .ordinal = -1,
    };
    enum lathe_status status = lt_device_probe(&check->device, &choice, err);

    return status == LATHE_OK ? lt_emulator_load(&check->calls, &check->device.driver, err)
                              : status;
}

/* ---- One schedule ---- */

static enum lathe_status note_answer(const struct check *check, const struct lt_trial *trial,
                                     uint64_t seed, struct lathe_error *err)
{
    const struct lt_verdict *v = &trial->verdict;
    const char *kernel = lathe_function_contract(trial->function)->name;
    struct lathe_check_finding finding = lt_finding_of("wrong-answer", kernel, seed);
    long long columns = trial->problem.n;
    int length = 0, digits = trial->problem.out == LATHE_S32 ? 10 : 9; /* that tell numbers apart */

    if (lt_trial_is_right(trial))
        return LATHE_OK;
    snprintf(finding.object, sizeof finding.object, "D");
    if (v->wrong > 0)
        length = snprintf(finding.what, sizeof finding.what,
                          "%lld of %lld elements are wrong, the first at row %lld, column %lld: "
                          "%.*g, which must be %.*g within %.3g (reference: %s)",
                          (long long)v->wrong, (long long)v->compared,
                          (long long)v->first / columns, (long long)v->first % columns, digits,
                          v->got, digits, v->want, v->bound, trial->checker.name);
    if (trial->guard_damage > 0)
        snprintf(finding.what + length, sizeof finding.what - (size_t)length,
                 "%s%lld bytes around it were overwritten", length > 0 ? "; " : "",
                 (long long)trial->guard_damage);
    return lt_findings_add(check->report.findings, &finding, err);
}

static void fill_report(struct check *check, const struct lt_trial *trial)
{
    struct lathe_check_report *report = &check->report;

    snprintf(report->device, sizeof report->device, "%s", trial->stream.device->name);
    snprintf(report->reference, sizeof report->reference, "%s", trial->checker.name);
    report->plan = *lathe_function_plan(trial->function);
}

/* What ended a launch is among the findings, or it is an error like any other. */
static enum lathe_status run_trial(struct check *check, struct lt_trial *trial, uint64_t seed,
                                   struct lathe_error *err)
{
    size_t errors = 0;
    enum lathe_status ran, status;

    fill_report(check, trial);
    check->calls.forget_findings();
    ran = lt_trial_check(trial, err);
    check->report.emulated_ms += trial->launch_ms;
    status = lt_findings_take(check->report.findings, &check->calls, seed, &errors, err);
    if (status != LATHE_OK)
        return status;
    if (ran == LATHE_OK)
        return note_answer(check, trial, seed, err);
    return ran == LATHE_DRIVER_FAILED && errors > 0 ? LATHE_OK : ran;
}

static enum lathe_status run_in(struct check *check, lt_cu_context cu_context, uint64_t seed,
                                struct lathe_error *err)
{
    const struct lt_trial_options options = {
        .seed = check->options.data_seed,
        .integers = check->options.integers != 0,
        .guard = check->options.guard != 0,
        .reference = check->options.reference,
        .text = check->options.text,
    };
    struct lathe_context *context = NULL;
    struct lt_trial trial;
    enum lathe_status status = lt_context_on_emulator(&context, check->context, cu_context, err);

    if (status != LATHE_OK)
        return status;
    status = lt_trial_open(&trial, context, check->problem, check->plan, &options, err);
    if (status == LATHE_OK)
        status = run_trial(check, &trial, seed, err);
    lt_trial_close(&trial);
    lathe_context_destroy(&context);
    return status;
}

static enum lathe_status run_schedule(struct check *check, uint64_t seed, struct lathe_error *err)
{
    lt_cu_context cu_context = NULL;
    enum lathe_status status;

    check->calls.set_seed(seed);
    status = lt_emulator_enter(&check->calls, &check->device.driver, check->device.device,
                               &cu_context, err);
    if (status == LATHE_OK)
        status = run_in(check, cu_context, seed, err);
    lt_emulator_leave(&check->calls, &cu_context);
    return status;
}

/* ---- All of them ---- */

static enum lathe_status run_schedules(struct check *check, struct lathe_error *err)
{
    const struct lathe_check_options *o = &check->options;
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < o->schedules && status == LATHE_OK; i++) {
        status = run_schedule(check, o->seed + (uint64_t)i, err);
        check->report.runs++;
        if (status == LATHE_OK && o->progress)
            o->progress(o->progress_user, check->report.runs, o->schedules);
        if (o->mode == LATHE_CHECK_FIRST && lathe_findings_errors(check->report.findings) > 0)
            break;
    }
    return status;
}

/* The sanitizer is on meanwhile, and then what it was before. */
static enum lathe_status run_checked(struct check *check, struct lathe_error *err)
{
    int before = check->calls.check();
    int mode = check->options.mode == LATHE_CHECK_ALL ? LT_EMU_CHECK_ALL : LT_EMU_CHECK_FIRST;
    enum lathe_status status;

    if (!check->calls.set_check(mode))
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the sanitizer");
    status = run_schedules(check, err);
    check->calls.set_check(before);
    return status;
}

enum lathe_status lathe_check_gemm(struct lathe_context *context, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options,
                                   const struct lathe_check_options *check_options,
                                   struct lathe_check_report *report, struct lathe_error *err)
{
    struct check check = {
        .context = context,
        .problem = problem,
        .plan = options,
        .report = LATHE_CHECK_REPORT_INIT,
    };
    enum lathe_status status;

    if (!context || !problem || !report)
        return lt_fail(err, LATHE_MISUSED, "lathe_check_gemm: no %s",
                       !context   ? "context"
                       : !problem ? "problem"
                                  : "place for the report");
    status = lt_check_layout(report, "lathe_check_report", err);
    if (status == LATHE_OK)
        status = read_options(&check.options, check_options, err);
    if (status == LATHE_OK)
        status = open_emulator(&check, err);
    if (status == LATHE_OK)
        status = lt_findings_create(&check.report.findings, lt_context_allocator(context), err);
    if (status == LATHE_OK)
        status = run_checked(&check, err);
    lt_device_close(&check.device);
    if (status == LATHE_OK)
        lt_export(report, &check.report);
    else
        lathe_findings_destroy(&check.report.findings);
    return status;
}
