/* run.c: lathe_run_gemm(): one problem on random data, every element compared, a few launches
 * timed. The kernel comes by the same way as any caller's, lathe_gemm_get(). */
#include "include/lathe_tools.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/checker.h"
#include "runtime/context.h"
#include "runtime/events.h"
#include "runtime/operands.h"
#include "runtime/statistics.h"
#include "runtime/stream.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

enum { REPEATS = 10, REPEATS_MOST = 100000 };

/* Streams of random numbers beside those of A, B and C. */
enum { ALPHA_STREAM = 16, BETA_STREAM };

struct run {
    struct lathe_context *context;
    struct lathe_gemm problem; /* resolved */
    struct lathe_run_options options;
    enum lt_data data;
    float alpha, beta;
    struct lathe_function *function;
    struct lt_stream stream;
    struct lt_checker checker;
    struct lt_operands operands;
    struct lt_verdict verdict;
    int64_t guard_damage;
    double time_us, emulated_ms;
};

/* ---- Before ---- */

static enum lathe_status read_arguments(struct run *run, struct lathe_context *context,
                                        const struct lathe_gemm *problem,
                                        const struct lathe_run_options *options,
                                        struct lathe_error *err)
{
    memset(run, 0, sizeof *run);
    run->context = context;

    enum lathe_status status = lt_import(&run->problem, problem, "lathe_gemm", err);

    if (status == LATHE_OK)
        status = lt_import(&run->options, options, "lathe_run_options", err);
    if (status != LATHE_OK)
        return status;
    if (run->options.repeats < 0 || run->options.repeats > REPEATS_MOST)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "repeats=%d: must be from 0 (for %d) to %d",
                       run->options.repeats, REPEATS, REPEATS_MOST);
    if (run->options.reference < 0 || run->options.reference > 1)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "reference=%d: must be 0 (NVRTC) or 1 (the CPU)",
                       run->options.reference);
    if (run->options.repeats == 0)
        run->options.repeats = REPEATS;
    run->data = run->options.integers ? LT_DATA_INTEGERS : LT_DATA_NORMAL;
    return lt_gemm_resolve(&run->problem, err);
}

/* A factor that is not zero: a multiple of 1/8 from -2 to 2, or a whole number of that range. */
static float draw_factor(const struct run *run, uint64_t stream)
{
    uint64_t seed = lt_random_stream(run->options.seed, stream);
    int steps = run->options.integers ? 2 : 16;
    int size = 1 + (int)lt_random_below(seed, 0, (uint32_t)steps);
    float factor = (float)size * 2 / (float)steps;

    return lt_random_below(seed, 1, 2) ? factor : -factor;
}

static enum lathe_status prepare(struct run *run, struct lathe_error *err)
{
    const struct lathe_gemm *p = &run->problem;
    double multiply_adds = (double)p->m * (double)p->n * (double)p->k;
    enum lt_checker_place place = run->options.reference ? LT_CHECKER_CPU : LT_CHECKER_ANY;
    enum lathe_status status = lt_stream_open(&run->stream, run->context, err);

    if (status == LATHE_OK)
        status =
            lt_checker_open(&run->checker, run->context, &run->stream, place, multiply_adds, err);
    if (status == LATHE_OK)
        status = lt_operands_create(&run->operands, &run->stream, p, run->options.guard != 0, err);
    if (status == LATHE_OK)
        status = lt_operands_fill(&run->operands, &run->checker, run->data, run->options.seed, err);
    run->alpha = draw_factor(run, ALPHA_STREAM);
    run->beta = p->beta == LATHE_BETA_ANY ? draw_factor(run, BETA_STREAM) : 0;
    return status;
}

/* ---- The launches ---- */

static enum lathe_status launch(const struct run *run, struct lathe_error *err)
{
    struct lathe_gemm_args args = lt_operands_args(&run->operands, run->alpha, run->beta);

    return lathe_gemm_launch(run->function, &args, err);
}

static enum lathe_status check(struct run *run, struct lathe_error *err)
{
    struct lt_product product =
        lt_operands_product(&run->operands, run->alpha, run->beta, run->data);
    enum lathe_status status = lt_operands_poison(&run->operands, err);
    double start = lt_now_us();

    if (status == LATHE_OK)
        status = launch(run, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(&run->stream, err);
    run->emulated_ms = (lt_now_us() - start) / 1e3;
    if (status == LATHE_OK)
        status = lt_checker_compare(&run->checker, &product, &run->verdict, err);
    if (status == LATHE_OK)
        status = lt_operands_damage(&run->operands, &run->checker, &run->guard_damage, err);
    return status;
}

/* One launch ahead keeps the device busy while the next are enqueued. */
static enum lathe_status enqueue_repeats(const struct run *run, const struct lt_events *events,
                                         struct lathe_error *err)
{
    enum lathe_status status = launch(run, err);

    if (status == LATHE_OK)
        status = lt_events_record(events, 0, err);
    for (int i = 1; i < events->count && status == LATHE_OK; i++) {
        status = launch(run, err);
        if (status == LATHE_OK)
            status = lt_events_record(events, i, err);
    }
    return status == LATHE_OK ? lt_stream_wait(&run->stream, err) : status;
}

static enum lathe_status time_repeats(struct run *run, struct lathe_error *err)
{
    const struct lathe_allocator *allocator = lt_context_allocator(run->context);
    int count = run->options.repeats;
    double *times = lt_allocate(allocator, (size_t)count * sizeof *times);
    struct lt_events events = {.stream = NULL};
    enum lathe_status status =
        times ? lt_events_create(&events, &run->stream, count + 1, allocator, err)
              : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d times", count);

    if (status == LATHE_OK)
        status = enqueue_repeats(run, &events, err);
    for (int i = 0; i < count && status == LATHE_OK; i++)
        status = lt_events_between(&events, i, i + 1, &times[i], err);
    if (status == LATHE_OK)
        run->time_us = lt_median(times, count);
    lt_events_destroy(&events);
    lt_release(allocator, times);
    return status;
}

/* ---- After ---- */

static void fill_report(const struct run *run, struct lathe_run_report *report)
{
    const struct lt_verdict *verdict = &run->verdict;
    const struct lathe_contract *contract = lathe_function_contract(run->function);
    int64_t columns = run->problem.n;

    memset(report, 0, sizeof *report);
    snprintf(report->device, sizeof report->device, "%s", run->stream.device->name);
    snprintf(report->reference, sizeof report->reference, "%s", run->checker.name);
    report->plan = *lathe_function_plan(run->function);
    report->arch = report->plan.arch;
    report->alpha = run->alpha;
    report->beta = run->beta;
    report->ok = verdict->wrong == 0 && run->guard_damage == 0;
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
    report->guard_damage = run->guard_damage;
    report->time_us = run->time_us;
    report->emit_us = lathe_function_emit_us(run->function);
    report->link_ms = lathe_function_link_ms(run->function);
    report->load_ms = lathe_function_load_ms(run->function);
    report->cache = lathe_function_cache(run->function);
    report->registers = contract->registers;
    report->spill_bytes = contract->spill_bytes;
    report->warning_count = contract->warnings;
    report->emulated = lt_device_is_emulated(run->stream.device);
    report->emulated_ms = run->emulated_ms;
}

enum lathe_status lathe_run_gemm(struct lathe_context *context, const struct lathe_gemm *problem,
                                 const struct lathe_plan_options *options,
                                 const struct lathe_run_options *run_options,
                                 struct lathe_run_report *report, struct lathe_error *err)
{
    struct run run;
    enum lathe_status status;

    if (!context || !problem || !report)
        return lt_fail(err, LATHE_MISUSED, "lathe_run_gemm: no %s",
                       !context   ? "context"
                       : !problem ? "problem"
                                  : "place for the report");
    status = read_arguments(&run, context, problem, run_options, err);
    if (status == LATHE_OK)
        status = lathe_gemm_get(context, &run.function, problem, options, err);
    if (status == LATHE_OK)
        status = prepare(&run, err);
    if (status == LATHE_OK)
        status = check(&run, err);
    if (status == LATHE_OK && !lt_device_is_emulated(run.stream.device))
        status = time_repeats(&run, err);
    if (status == LATHE_OK)
        fill_report(&run, report);

    lt_stream_wait(&run.stream, NULL); /* after a failure, work may still be under way */
    lt_operands_destroy(&run.operands);
    lt_stream_close(&run.stream);
    return status;
}
