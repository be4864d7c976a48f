/* run.c: lathe_run_gemm(): one problem on random data, every element compared, a few launches
 * timed. */
#include "include/lathe_tools.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/context.h"
#include "runtime/events.h"
#include "runtime/statistics.h"
#include "runtime/trial.h"

#include <stdio.h>
#include <string.h>

enum { REPEATS = 10, REPEATS_MOST = 100000 };

/* ---- The launches that are timed ---- */

/* One launch ahead keeps the device busy while the next are enqueued. */
static enum lathe_status enqueue_repeats(const struct lt_trial *trial,
                                         const struct lt_events *events, struct lathe_error *err)
{
    enum lathe_status status = lt_trial_launch(trial, err);

    if (status == LATHE_OK)
        status = lt_events_record(events, 0, err);
    for (int i = 1; i < events->count && status == LATHE_OK; i++) {
        status = lt_trial_launch(trial, err);
        if (status == LATHE_OK)
            status = lt_events_record(events, i, err);
    }
    return status == LATHE_OK ? lt_stream_wait(&trial->stream, err) : status;
}

static enum lathe_status time_repeats(const struct lt_trial *trial, int count, double *median,
                                      struct lathe_error *err)
{
    const struct lathe_allocator *allocator = lt_context_allocator(trial->context);
    double *times = lt_allocate(allocator, (size_t)count * sizeof *times);
    struct lt_events events = {.stream = NULL};
    enum lathe_status status =
        times ? lt_events_create(&events, &trial->stream, count + 1, allocator, err)
              : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d times", count);

    if (status == LATHE_OK)
        status = enqueue_repeats(trial, &events, err);
    for (int i = 0; i < count && status == LATHE_OK; i++)
        status = lt_events_between(&events, i, i + 1, &times[i], err);
    if (status == LATHE_OK)
        *median = lt_median(times, count);
    lt_events_destroy(&events);
    lt_release(allocator, times);
    return status;
}

/* ---- After ---- */

static void fill_report(const struct lt_trial *trial, double time_us,
                        struct lathe_run_report *report)
{
    const struct lt_verdict *verdict = &trial->verdict;
    const struct lathe_contract *contract = lathe_function_contract(trial->function);
    int64_t columns = trial->problem.n;

    memset(report, 0, sizeof *report);
    snprintf(report->device, sizeof report->device, "%s", trial->stream.device->name);
    snprintf(report->reference, sizeof report->reference, "%s", trial->checker.name);
    report->plan = *lathe_function_plan(trial->function);
    report->arch = report->plan.arch;
    report->alpha = trial->alpha;
    report->beta = trial->beta;
    report->ok = lt_trial_is_right(trial);
    report->rel_error = lt_verdict_rel_error(verdict);
    report->max_abs_error = verdict->max_abs_error;
    report->wrong = verdict->wrong;
    if (verdict->wrong > 0) {
        report->wrong_row = verdict->first / columns;
        report->wrong_column = verdict->first % columns;
        report->wrong_got = verdict->got;
        report->wrong_want = verdict->want;
        report->wrong_bound = verdict->bound;
    }
    report->guard_damage = trial->guard_damage;
    report->time_us = time_us;
    report->emit_us = lathe_function_emit_us(trial->function);
    report->link_ms = lathe_function_link_ms(trial->function);
    report->load_ms = lathe_function_load_ms(trial->function);
    report->cache = lathe_function_cache(trial->function);
    report->registers = contract->registers;
    report->spill_bytes = contract->spill_bytes;
    report->warning_count = contract->warnings;
    report->emulated = lt_device_is_emulated(trial->stream.device);
    report->emulated_ms = trial->launch_ms;
}

static enum lathe_status read_options(struct lathe_run_options *options,
                                      const struct lathe_run_options *given,
                                      struct lathe_error *err)
{
    enum lathe_status status = lt_import(options, given, "lathe_run_options", err);

    if (status != LATHE_OK)
        return status;
    if (options->repeats < 0 || options->repeats > REPEATS_MOST)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "repeats=%d: must be from 0 (for %d) to %d",
                       options->repeats, REPEATS, REPEATS_MOST);
    if (options->repeats == 0)
        options->repeats = REPEATS;
    return LATHE_OK;
}

static enum lathe_status run(struct lt_trial *trial, int repeats, struct lathe_run_report *report,
                             struct lathe_error *err)
{
    double time_us = 0;
    enum lathe_status status = lt_trial_check(trial, err);

    if (status == LATHE_OK && !lt_device_is_emulated(trial->stream.device))
        status = time_repeats(trial, repeats, &time_us, err);
    if (status == LATHE_OK)
        fill_report(trial, time_us, report);
    return status;
}

enum lathe_status lathe_run_gemm(struct lathe_context *context, const struct lathe_gemm *problem,
                                 const struct lathe_plan_options *options,
                                 const struct lathe_run_options *run_options,
                                 struct lathe_run_report *report, struct lathe_error *err)
{
    struct lathe_run_options own;
    struct lt_trial trial;
    enum lathe_status status;

    if (!context || !problem || !report)
        return lt_fail(err, LATHE_MISUSED, "lathe_run_gemm: no %s",
                       !context   ? "context"
                       : !problem ? "problem"
                                  : "place for the report");
    status = lt_check_layout(&report->plan, "lathe_plan", err);
    if (status == LATHE_OK)
        status = read_options(&own, run_options, err);
    if (status != LATHE_OK)
        return status;

    const struct lt_trial_options drawn = {
        .seed = own.seed,
        .integers = own.integers != 0,
        .guard = own.guard != 0,
        .reference = own.reference,
        .text = own.text,
    };

    status = lt_trial_open(&trial, context, problem, options, &drawn, err);
    if (status == LATHE_OK)
        status = run(&trial, own.repeats, report, err);
    lt_trial_close(&trial);
    return status;
}
