/* bench.c: lathe_bench_gemm(): Lathe's kernel timed beside cuBLASLt's first choice. What makes the
 * figures mean something is the order of things: operands that rotate through more than L2 holds,
 * blocks of launches as graphs, contenders taking turns A B B A on one stream that never runs dry,
 * and the answers checked after the timed section. Nothing here knows what is inside a kernel. */
#include "include/lathe_tools.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/graph.h"
#include "runtime/checker.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "runtime/cublaslt.h"
#include "runtime/events.h"
#include "runtime/rotation.h"
#include "runtime/statistics.h"
#include "runtime/stream.h"
#include "templates/registry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 8, PAIRS_MOST = 10000 };
#define BLOCK_MS 20.0
#define BLOCK_MS_MOST 60e3
#define WARM_UP_MS 500.0
#define WARM_UP_MS_MOST 600e3

/* A block is this many launches where they would not fill its time. */
enum { LAUNCHES_MOST = 2000, PROBE_LAUNCHES = 8 };

/* Device memory that rotating sets leave alone. */
#define SPARE_BYTES (512LL << 20)

/* Any right answer is nearer than this to the reference, in any output type; no wrong one is. */
#define CONTENDER_REL_ERROR 0.02

enum { LATHE_SIDE, VS_SIDE, SIDES };

/* One that is timed: what it launches, its block, and microseconds a launch of each block. */
struct contender {
    lt_graph_enqueue enqueue;
    struct lt_graph graph;
    double *times;
};

struct bench {
    struct lathe_context *context;
    struct lathe_gemm problem; /* resolved */
    struct lathe_bench_options options;
    float alpha, beta;
    struct lathe_function *function;
    struct lt_stream stream;
    struct lt_checker checker;
    struct lt_cublaslt *cublaslt;
    struct lt_rotation rotation;
    struct contender contenders[SIDES];
    int sides; /* contenders there are */
    int launches;
    double *numbers;          /* 4 for each pair: the contenders' times, ratios, scratch */
    double *ratios, *scratch; /* in it */
    struct lt_verdict verdict;
};

/* ---- Arguments ---- */

static enum lathe_status check_range(const char *key, double value, double most,
                                     struct lathe_error *err)
{
    if (value >= 0 && value <= most)
        return LATHE_OK;
    return lt_fail(err, LATHE_OUT_OF_RANGE, "%s=%g: must be from 0 (for the default) to %g", key,
                   value, most);
}

static enum lathe_status check_options(struct lathe_bench_options *options, struct lathe_error *err)
{
    enum lathe_status status;

    if ((status = check_range("pairs", options->pairs, PAIRS_MOST, err)) != LATHE_OK ||
        (status = check_range("block_ms", options->block_ms, BLOCK_MS_MOST, err)) != LATHE_OK ||
        (status = check_range("warm_up_ms", options->warm_up_ms, WARM_UP_MS_MOST, err)) != LATHE_OK)
        return status;
    if (options->pairs == 0)
        options->pairs = PAIRS;
    if (options->block_ms == 0)
        options->block_ms = BLOCK_MS;
    if (options->warm_up_ms == 0)
        options->warm_up_ms = WARM_UP_MS;
    return LATHE_OK;
}

static enum lathe_status read_arguments(struct bench *bench, struct lathe_context *context,
                                        const struct lathe_gemm *problem,
                                        const struct lathe_bench_options *options,
                                        struct lathe_error *err)
{
    struct lathe_gemm *p = &bench->problem;
    enum lathe_status status;

    memset(bench, 0, sizeof *bench);
    bench->context = context;
    status = lt_import(p, problem, "lathe_gemm", err);
    if (status == LATHE_OK)
        status = lt_import(&bench->options, options, "lathe_bench_options", err);
    if (status == LATHE_OK)
        status = check_options(&bench->options, err);
    if (status == LATHE_OK)
        status = lt_gemm_resolve(p, err);
    if (status == LATHE_OK && (p->m == 0 || p->n == 0 || p->k == 0))
        status = lt_fail(err, LATHE_OUT_OF_RANGE,
                         "m=%lld n=%lld k=%lld: there is nothing to measure; sizes from 1",
                         (long long)p->m, (long long)p->n, (long long)p->k);
    bench->alpha = 1;
    bench->beta = p->beta == LATHE_BETA_ANY ? 1 : 0;
    return status;
}

/* ---- Contenders ---- */

static enum lathe_status enqueue_lathe(void *user, int index, struct lathe_error *err)
{
    const struct bench *bench = user;
    struct lathe_gemm_args args =
        lt_operands_args(lt_rotation_at(&bench->rotation, index), bench->alpha, bench->beta);

    return lathe_gemm_launch(bench->function, &args, err);
}

static enum lathe_status enqueue_cublaslt(void *user, int index, struct lathe_error *err)
{
    const struct bench *bench = user;
    struct lathe_gemm_args args =
        lt_operands_args(lt_rotation_at(&bench->rotation, index), bench->alpha, bench->beta);

    return lt_cublaslt_launch(bench->cublaslt, &args, err);
}

static enum lathe_status open_cublaslt(struct bench *bench, struct lathe_error *err)
{
    const char *path = bench->options.cublaslt_library
                           ? bench->options.cublaslt_library
                           : lt_context_variable(bench->context, "LATHE_CUBLASLT_LIBRARY");
    const char *roots[LT_ROOTS];
    enum lathe_status status;

    lt_context_roots(bench->context, roots);
    status =
        lt_cublaslt_open(&bench->cublaslt, path, roots, lt_context_allocator(bench->context), err);
    return status == LATHE_OK
               ? lt_cublaslt_prepare(bench->cublaslt, &bench->stream, &bench->problem, err)
               : status;
}

/* Every set is compared in the end. */
static enum lathe_status open_checker(struct bench *bench, struct lathe_error *err)
{
    const struct lathe_gemm *p = &bench->problem;
    double multiply_adds = (double)p->m * (double)p->n * (double)p->k;
    int sets =
        lt_rotation_wanted(lt_operands_footprint(p), bench->stream.device->l2_bytes, LAUNCHES_MOST);

    return lt_checker_open(&bench->checker, bench->context, &bench->stream, LT_CHECKER_ANY,
                           multiply_adds * sets, err);
}

static enum lathe_status prepare(struct bench *bench, struct lathe_error *err)
{
    const struct lathe_gemm *p = &bench->problem;
    size_t numbers = 4 * (size_t)bench->options.pairs;
    enum lathe_status status = lt_stream_open(&bench->stream, bench->context, err);

    if (status == LATHE_OK)
        status = open_checker(bench, err);
    if (status == LATHE_OK && bench->options.vs_cublaslt)
        status = open_cublaslt(bench, err);
    if (status == LATHE_OK)
        status = lt_rotation_create(&bench->rotation, &bench->checker, p, LAUNCHES_MOST,
                                    SPARE_BYTES, bench->options.seed, err);
    if (status != LATHE_OK)
        return status;

    bench->numbers =
        lt_allocate(lt_context_allocator(bench->context), numbers * sizeof *bench->numbers);
    if (!bench->numbers)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %zu measurements", numbers);
    bench->contenders[LATHE_SIDE].enqueue = enqueue_lathe;
    bench->contenders[LATHE_SIDE].times = bench->numbers;
    bench->contenders[VS_SIDE].enqueue = enqueue_cublaslt;
    bench->contenders[VS_SIDE].times = bench->numbers + bench->options.pairs;
    bench->ratios = bench->numbers + 2 * bench->options.pairs;
    bench->scratch = bench->numbers + 3 * bench->options.pairs;
    bench->sides = bench->options.vs_cublaslt ? 2 : 1;
    return LATHE_OK;
}

static enum lathe_status compare(const struct bench *bench, int index, struct lt_verdict *verdict,
                                 struct lathe_error *err)
{
    struct lt_product product = lt_operands_product(lt_rotation_at(&bench->rotation, index),
                                                    bench->alpha, bench->beta, LT_DATA_NORMAL);

    product.sums = lathe_function_plan(bench->function)->acc;
    return lt_checker_compare(&bench->checker, &product, verdict, err);
}

/* A contender that computes something else would make every ratio worthless. Only that is looked
 * for: by what rule it rounds is its own affair. */
static enum lathe_status check_contender(struct bench *bench, struct lathe_error *err)
{
    struct lt_verdict verdict;
    enum lathe_status status = lt_rotation_poison(&bench->rotation, err);

    if (status == LATHE_OK)
        status = enqueue_cublaslt(bench, 0, err);
    if (status == LATHE_OK)
        status = compare(bench, 0, &verdict, err);
    if (status == LATHE_OK && !(lt_verdict_rel_error(&verdict) < CONTENDER_REL_ERROR))
        status = lt_fail(err, LATHE_INTERNAL,
                         "%s gives another answer (relative error %.2g), so there is nothing to "
                         "compare; measure without it, and please report this",
                         lt_cublaslt_version(bench->cublaslt), lt_verdict_rel_error(&verdict));
    return status;
}

/* ---- Blocks ---- */

/* Microseconds a launch takes, roughly; the contender's kernels are loaded by it. */
static enum lathe_status probe(struct bench *bench, const struct contender *contender,
                               const struct lt_events *events, double *launch_us,
                               struct lathe_error *err)
{
    int sets = bench->rotation.count;
    int launches = sets > PROBE_LAUNCHES ? sets : PROBE_LAUNCHES;
    struct lt_graph graph = {.stream = NULL};
    double us = 0;
    enum lathe_status status = contender->enqueue(bench, 0, err);

    if (status == LATHE_OK)
        status = lt_stream_wait(&bench->stream, err);
    if (status == LATHE_OK)
        status = lt_graph_capture(&graph, &bench->stream, launches, contender->enqueue, bench, err);
    if (status == LATHE_OK)
        status = lt_graph_replay(&graph, err);
    if (status == LATHE_OK)
        status = lt_events_record(events, 0, err);
    if (status == LATHE_OK)
        status = lt_graph_replay(&graph, err);
    if (status == LATHE_OK)
        status = lt_events_record(events, 1, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(&bench->stream, err);
    if (status == LATHE_OK)
        status = lt_events_between(events, 0, 1, &us, err);
    if (status == LATHE_OK)
        *launch_us = us / launches;
    lt_graph_destroy(&graph);
    return status;
}

/* As many as last for block_ms with the faster contender, within LAUNCHES_MOST; whole rounds
 * through the sets, so that every block begins with the set that was used longest ago. */
static int launches_of(const struct bench *bench, double launch_us)
{
    double wanted = bench->options.block_ms * 1e3 / launch_us;
    int sets = bench->rotation.count;
    int launches = wanted < LAUNCHES_MOST ? (int)ceil(wanted) : LAUNCHES_MOST;

    if (launches < 1)
        launches = 1;
    return (launches + sets - 1) / sets * sets;
}

static enum lathe_status make_blocks(struct bench *bench, struct lathe_error *err)
{
    struct lt_events events = {.stream = NULL};
    double shortest_us = HUGE_VAL;
    enum lathe_status status =
        lt_events_create(&events, &bench->stream, 2, lt_context_allocator(bench->context), err);

    for (int i = 0; i < bench->sides && status == LATHE_OK; i++) {
        double us = 0;

        status = probe(bench, &bench->contenders[i], &events, &us, err);
        shortest_us = us < shortest_us ? us : shortest_us;
    }
    if (status == LATHE_OK)
        bench->launches = launches_of(bench, shortest_us);
    for (int i = 0; i < bench->sides && status == LATHE_OK; i++)
        status = lt_graph_capture(&bench->contenders[i].graph, &bench->stream, bench->launches,
                                  bench->contenders[i].enqueue, bench, err);
    lt_events_destroy(&events);
    return status;
}

/* ---- Measuring ---- */

static enum lathe_status warm_up(const struct bench *bench, struct lathe_error *err)
{
    double end = lt_now_us() + bench->options.warm_up_ms * 1e3;
    enum lathe_status status;

    do {
        status = LATHE_OK;
        for (int i = 0; i < bench->sides && status == LATHE_OK; i++)
            status = lt_graph_replay(&bench->contenders[i].graph, err);
        if (status == LATHE_OK)
            status = lt_stream_wait(&bench->stream, err);
    } while (status == LATHE_OK && lt_now_us() < end);
    return status;
}

/* The event before a block; the next one is the event behind it. */
static int first_event(const struct bench *bench, int pair, int side)
{
    return 2 * (pair * bench->sides + side);
}

/* Everything is enqueued at once, behind one block that is not timed: the stream never waits for
 * the host. */
static enum lathe_status enqueue_pairs(const struct bench *bench, const struct lt_events *events,
                                       struct lathe_error *err)
{
    enum lathe_status status = lt_graph_replay(&bench->contenders[LATHE_SIDE].graph, err);

    for (int pair = 0; pair < bench->options.pairs; pair++)
        for (int turn = 0; turn < bench->sides && status == LATHE_OK; turn++) {
            int side = pair % 2 == 0 ? turn : bench->sides - 1 - turn; /* A B B A */
            int first = first_event(bench, pair, side);

            status = lt_events_record(events, first, err);
            if (status == LATHE_OK)
                status = lt_graph_replay(&bench->contenders[side].graph, err);
            if (status == LATHE_OK)
                status = lt_events_record(events, first + 1, err);
        }
    return status == LATHE_OK ? lt_stream_wait(&bench->stream, err) : status;
}

static enum lathe_status measure(struct bench *bench, struct lathe_error *err)
{
    struct lt_events events = {.stream = NULL};
    enum lathe_status status =
        lt_events_create(&events, &bench->stream, 2 * bench->sides * bench->options.pairs,
                         lt_context_allocator(bench->context), err);

    if (status == LATHE_OK)
        status = lt_rotation_poison(&bench->rotation, err);
    if (status == LATHE_OK)
        status = warm_up(bench, err);
    if (status == LATHE_OK)
        status = enqueue_pairs(bench, &events, err);
    for (int pair = 0; pair < bench->options.pairs; pair++)
        for (int side = 0; side < bench->sides && status == LATHE_OK; side++) {
            int first = first_event(bench, pair, side);
            double us = 0;

            status = lt_events_between(&events, first, first + 1, &us, err);
            bench->contenders[side].times[pair] = us / bench->launches;
        }
    lt_events_destroy(&events);
    return status;
}

/* By the graph that was timed, in every set: one that had skipped a launch leaves poison behind. */
static enum lathe_status verify(struct bench *bench, struct lathe_error *err)
{
    enum lathe_status status = lt_rotation_poison(&bench->rotation, err);

    bench->verdict = (struct lt_verdict)LT_VERDICT_INIT;

    if (status == LATHE_OK)
        status = lt_graph_replay(&bench->contenders[LATHE_SIDE].graph, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(&bench->stream, err);
    for (int i = 0; i < bench->rotation.count && status == LATHE_OK; i++) {
        struct lt_verdict verdict = LT_VERDICT_INIT;

        status = compare(bench, i, &verdict, err);
        if (status == LATHE_OK)
            lt_verdict_merge(&bench->verdict, &verdict);
    }
    return status;
}

/* ---- The report ---- */

static double tflops(const struct lathe_gemm *p, double us)
{
    return us > 0 ? 2 * (double)p->m * (double)p->n * (double)p->k / us / 1e6 : 0;
}

static void fill_report(struct bench *bench, struct lathe_bench_report *report)
{
    const struct lathe_gemm *p = &bench->problem;
    double *times = bench->contenders[LATHE_SIDE].times;
    double *vs_times = bench->contenders[VS_SIDE].times;
    int pairs = bench->options.pairs;

    memset(report, 0, sizeof *report);
    snprintf(report->device, sizeof report->device, "%s", bench->stream.device->name);
    report->plan = *lathe_function_plan(bench->function);
    report->launches = bench->launches;
    report->sets = bench->rotation.count;
    report->verified = bench->verdict.wrong == 0;
    if (bench->sides == 2) {
        struct lt_interval interval;

        for (int i = 0; i < pairs; i++)
            bench->ratios[i] = vs_times[i] / times[i];
        interval = lt_median_interval(bench->ratios, pairs, bench->scratch, bench->options.seed);
        report->ratio = lt_median(bench->ratios, pairs);
        report->ratio_low = interval.low;
        report->ratio_high = interval.high;
        report->vs_time_us = lt_median(vs_times, pairs);
        report->vs_tflops = tflops(p, report->vs_time_us);
        snprintf(report->vs, sizeof report->vs, "%s", lt_cublaslt_version(bench->cublaslt));
    }
    report->time_us = lt_median(times, pairs);
    report->tflops = tflops(p, report->time_us);
}

/* After a failure, work may still be under way on what is freed here. */
static void clean_up(struct bench *bench)
{
    lt_stream_wait(&bench->stream, NULL);
    for (int i = 0; i < SIDES; i++)
        lt_graph_destroy(&bench->contenders[i].graph);
    lt_rotation_destroy(&bench->rotation);
    lt_cublaslt_close(&bench->cublaslt);
    lt_release(lt_context_allocator(bench->context), bench->numbers);
    lt_stream_close(&bench->stream);
}

enum lathe_status lathe_bench_gemm(struct lathe_context *context, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options,
                                   const struct lathe_bench_options *bench_options,
                                   struct lathe_bench_report *report, struct lathe_error *err)
{
    struct bench bench;
    enum lathe_status status;

    if (!context || !problem || !report)
        return lt_fail(err, LATHE_MISUSED, "lathe_bench_gemm: no %s",
                       !context   ? "context"
                       : !problem ? "problem"
                                  : "place for the report");
    status = read_arguments(&bench, context, problem, bench_options, err);
    if (status == LATHE_OK)
        status = lathe_gemm_get(context, &bench.function, problem, options, err);
    if (status == LATHE_OK)
        status = prepare(&bench, err);
    if (status == LATHE_OK && bench.sides == 2)
        status = check_contender(&bench, err);
    if (status == LATHE_OK)
        status = make_blocks(&bench, err);
    if (status == LATHE_OK)
        status = measure(&bench, err);
    if (status == LATHE_OK)
        status = verify(&bench, err);
    if (status == LATHE_OK)
        fill_report(&bench, report);
    clean_up(&bench);
    return status;
}
