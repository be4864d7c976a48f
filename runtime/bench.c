/* bench.c: lathe_bench_gemm(): how Lathe's kernel compares with cuBLASLt. What makes the figures
 * mean something is the order of things: operands that rotate through more than L2 holds, blocks of
 * launches as graphs, contenders taking turns on one stream that never runs dry, clocks watched
 * meanwhile, and the answers checked after the timed section. Nothing here knows what is inside a
 * kernel. */
#include "include/lathe_tools.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clocks.h"
#include "runtime/contest.h"
#include "runtime/entries.h"
#include "runtime/isolated.h"
#include "runtime/times.h"
#include "runtime/warm.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS = 8, PAIRS_MOST = 10000, CONTENDERS_MOST = 2 };
#define BLOCK_MS 20.0
#define BLOCK_MS_MOST 60e3
#define WARM_UP_MS 500.0
#define WARM_UP_MS_MOST 600e3

/* Who launches longer than this warms the GPU up so much that its clocks take longer to settle. */
#define LONG_LAUNCH_US 500.0

struct bench {
    struct lt_contest contest;
    struct lt_clocks clocks;
    struct lt_turn *taken;
    struct lt_times blocks, isolated, warm_blocks; /* microseconds a launch */
    struct lt_spin spin;
    double spin_us;
    struct lt_warm warm;
    char warm_refused[96];
    struct lathe_bench_clocks row_clocks[LATHE_BENCH_ROWS_MAX], all_clocks;
    bool verified[LATHE_BENCH_ROWS_MAX], measured_again;
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
    enum { RUNGS_MOST = LATHE_BENCH_ROWS_MAX - 1 - CONTENDERS_MOST };
    const struct {
        const char *key;
        double value, most;
    } ranges[] = {
        {"pairs", options->pairs, PAIRS_MOST},
        {"block_ms", options->block_ms, BLOCK_MS_MOST},
        {"warm_up_ms", options->warm_up_ms, WARM_UP_MS_MOST},
        {"long_warm_up_ms", options->long_warm_up_ms, WARM_UP_MS_MOST},
        {"rung_count", options->rung_count, RUNGS_MOST},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        enum lathe_status status = check_range(ranges[i].key, ranges[i].value, ranges[i].most, err);

        if (status != LATHE_OK)
            return status;
    }
    if (options->rung_count > 0 && !options->rungs)
        return lt_fail(err, LATHE_MISUSED, "lathe_bench_options: rung_count without rungs");
    if (options->pairs == 0)
        options->pairs = PAIRS;
    if (options->block_ms == 0)
        options->block_ms = BLOCK_MS;
    if (options->warm_up_ms == 0)
        options->warm_up_ms = WARM_UP_MS;
    return LATHE_OK;
}

static bool is_cublaslts(enum lathe_type type)
{
    return type == LATHE_F16 || type == LATHE_BF16;
}

/* What cuBLASLt would be asked for in other types is described nowhere here. */
static enum lathe_status check_contenders(const struct lt_contest *contest, struct lathe_error *err)
{
    const struct lathe_gemm *p = &contest->problem;
    const struct lathe_bench_options *o = &contest->options;

    if ((!o->vs_cublaslt && !o->vs_cublaslt_best) ||
        (is_cublaslts(p->type) && (is_cublaslts(p->out) || p->out == LATHE_F32)))
        return LATHE_OK;
    return lt_fail(err, LATHE_UNSUPPORTED,
                   "type=%s out=%s: cuBLASLt is measured for type=f16 and bf16 with out=f16, bf16 "
                   "and f32; vs=none measures without it",
                   lathe_type_name(p->type), lathe_type_name(p->out));
}

static enum lathe_status read_arguments(struct lt_contest *contest, struct lathe_context *context,
                                        const struct lathe_gemm *problem,
                                        const struct lathe_bench_options *options,
                                        struct lathe_error *err)
{
    struct lathe_gemm *p = &contest->problem;
    enum lathe_status status;

    contest->context = context;
    status = lt_import(p, problem, "lathe_gemm", err);
    if (status == LATHE_OK)
        status = lt_import(&contest->options, options, "lathe_bench_options", err);
    if (status == LATHE_OK)
        status = check_options(&contest->options, err);
    if (status == LATHE_OK)
        status = lt_gemm_resolve(p, err);
    if (status == LATHE_OK && (p->m == 0 || p->n == 0 || p->k == 0))
        status = lt_fail(err, LATHE_OUT_OF_RANGE,
                         "m=%lld n=%lld k=%lld: there is nothing to measure; sizes from 1",
                         (long long)p->m, (long long)p->n, (long long)p->k);
    if (status == LATHE_OK)
        status = check_contenders(contest, err);
    contest->alpha = 1;
    contest->beta = p->beta == LATHE_BETA_ANY ? 1 : 0;
    return status;
}

/* The plan, then the rungs. */
static enum lathe_status get_functions(struct lt_contest *contest, const struct lathe_gemm *problem,
                                       const struct lathe_plan_options *options,
                                       struct lathe_error *err)
{
    const struct lathe_bench_options *bench = &contest->options;
    enum lathe_status status = LATHE_OK;

    if (bench->rung_count > 0)
        status = lt_check_size(bench->rungs, "lathe_plan_options", err);
    for (int i = 0; i <= bench->rung_count && status == LATHE_OK; i++) {
        struct lathe_function *function = NULL;

        status = lathe_gemm_get(contest->context, &function, problem,
                                i == 0 ? options : lt_entry(bench->rungs, (size_t)i - 1), err);
        if (status == LATHE_OK)
            lt_contest_add_plan(contest, function);
    }
    return status;
}

/* ---- Measuring ---- */

static enum lathe_status prepare_isolated(struct bench *bench, struct lathe_error *err)
{
    const struct lt_contest *contest = &bench->contest;
    enum lathe_status status = lt_times_create(&bench->isolated, contest->count, LT_ISOLATED_ROUNDS,
                                               lt_context_allocator(contest->context), err);

    return status == LATHE_OK ? lt_spin_open(&bench->spin, &contest->stream, err) : status;
}

/* Before anything is timed: a problem that does not fit is none of an error. */
static enum lathe_status prepare_warm(struct bench *bench, struct lathe_error *err)
{
    const struct lt_contest *contest = &bench->contest;

    if (!lt_warm_fits(&contest->problem, contest->stream.device, bench->warm_refused,
                      sizeof bench->warm_refused))
        return LATHE_OK;
    return lt_times_create(&bench->warm_blocks, contest->count, contest->options.pairs,
                           lt_context_allocator(contest->context), err);
}

static enum lathe_status prepare(struct bench *bench, struct lathe_error *err)
{
    const struct lt_contest *contest = &bench->contest;
    const struct lathe_allocator *allocator = lt_context_allocator(contest->context);
    const char *nvml = contest->options.nvml_library
                           ? contest->options.nvml_library
                           : lt_context_variable(contest->context, "LATHE_NVML_LIBRARY");
    int pairs = contest->options.pairs;
    size_t turns = (size_t)contest->count * (size_t)pairs;
    enum lathe_status status =
        lt_times_create(&bench->blocks, contest->count, pairs, allocator, err);

    if (status != LATHE_OK)
        return status;
    bench->taken = lt_allocate(allocator, turns * sizeof *bench->taken);
    if (!bench->taken)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %zu measurements", turns);
    lt_clocks_open(&bench->clocks, contest->stream.device, nvml, allocator);
    if (contest->options.isolated)
        status = prepare_isolated(bench, err);
    if (status == LATHE_OK && contest->options.warm)
        status = prepare_warm(bench, err);
    return status;
}

static enum lathe_status warm_up(const struct lt_contest *contest, struct lathe_error *err)
{
    double ms = contest->options.warm_up_ms;

    if (contest->contenders[0].launch_us > LONG_LAUNCH_US)
        ms += contest->options.long_warm_up_ms;
    return lt_turns_warm_up(&contest->turns, ms, err);
}

static enum lathe_status take_turns(struct bench *bench, struct lathe_error *err)
{
    const struct lt_contest *contest = &bench->contest;
    int pairs = contest->options.pairs, turns = contest->count * pairs;
    enum lathe_status status;

    lt_clocks_start(&bench->clocks);
    status = lt_turns_take(&contest->turns, pairs, bench->taken, err);
    lt_clocks_stop(&bench->clocks);
    if (status != LATHE_OK)
        return status;
    for (int i = 0; i < turns; i++)
        lt_times_set(&bench->blocks, bench->taken[i].contender, bench->taken[i].round,
                     bench->taken[i].us);
    for (int i = 0; i < contest->count; i++)
        bench->row_clocks[i] = lt_clocks_of(&bench->clocks, bench->taken, turns, i);
    bench->all_clocks = lt_clocks_of(&bench->clocks, bench->taken, turns, -1);
    return LATHE_OK;
}

/* Rungs of a ladder run at clocks of their own: a slow kernel draws less power. */
static bool clocks_spoil(const struct bench *bench)
{
    return bench->contest.plans == 1 && lt_clocks_differ(bench->row_clocks, bench->contest.count);
}

/* What stands beside the time of the blocks. */
static enum lathe_status measure_extras(struct bench *bench, struct lathe_error *err)
{
    const struct lt_contest *contest = &bench->contest;
    enum lathe_status status = LATHE_OK;

    if (bench->isolated.rounds > 0)
        status =
            lt_isolated_take(&contest->turns, &bench->spin, &bench->isolated, &bench->spin_us, err);
    if (status == LATHE_OK && bench->warm_blocks.rounds > 0)
        status = lt_warm_open(&bench->warm, contest, err);
    if (status == LATHE_OK && bench->warm_blocks.rounds > 0)
        status = lt_warm_take(&bench->warm, bench->taken, &bench->warm_blocks, err);
    return status;
}

static enum lathe_status verify(struct bench *bench, int plan, struct lathe_error *err)
{
    struct lt_contest *contest = &bench->contest;
    struct lt_verdict verdict;
    enum lathe_status status = lt_contest_verify(contest, plan, &contest->contenders[plan].block,
                                                 contest->rotation.count, &verdict, err);

    bench->verified[plan] = verdict.wrong == 0;
    if (status == LATHE_OK && bench->warm_blocks.rounds > 0) {
        status =
            lt_contest_verify(contest, plan, &bench->warm.contenders[plan].block, 1, &verdict, err);
        bench->verified[plan] = bench->verified[plan] && verdict.wrong == 0;
    }
    return status;
}

static enum lathe_status measure(struct bench *bench, struct lathe_error *err)
{
    struct lt_contest *contest = &bench->contest;
    enum lathe_status status = lt_rotation_poison(&contest->rotation, err);

    if (status == LATHE_OK)
        status = warm_up(contest, err);
    if (status == LATHE_OK)
        status = take_turns(bench, err);
    if (status == LATHE_OK && clocks_spoil(bench)) {
        bench->measured_again = true;
        status = take_turns(bench, err);
    }
    if (status == LATHE_OK)
        status = measure_extras(bench, err);
    for (int i = 0; i < contest->plans && status == LATHE_OK; i++)
        status = verify(bench, i, err);
    return status;
}

/* ---- The report ---- */

static double tflops(const struct lathe_gemm *p, double us)
{
    return us > 0 ? 2 * (double)p->m * (double)p->n * (double)p->k / us / 1e6 : 0;
}

/* "cublaslt-best 13.1": the library's name and version, with what was chosen between them. */
static void name_row(const struct lt_contest *contest, int index, struct lathe_bench_row *row)
{
    const struct lt_entrant *entrant = &contest->entrants[index];

    if (entrant->function) {
        snprintf(row->name, sizeof row->name, "%s",
                 lathe_function_plan(entrant->function)->variant);
        return;
    }

    const char *version = lt_cublaslt_version(entrant->cublaslt);
    size_t length = strcspn(version, " ");

    row->heuristic = entrant->algorithm + 1;
    row->heuristics = lt_cublaslt_algorithms(entrant->cublaslt);
    snprintf(row->name, sizeof row->name, "%.*s%s%s", (int)length, version,
             row->kind == LATHE_BENCH_CUBLASLT_BEST ? "-best" : "", version + length);
}

static void fill_row(struct bench *bench, int index, struct lathe_bench_row *row)
{
    const struct lt_contest *contest = &bench->contest;
    const struct lt_device *device = contest->stream.device;
    struct lathe_bench_figures blocks =
        lt_times_figures(&bench->blocks, index, contest->plans, contest->options.seed);
    double peak;

    row->kind = contest->kinds[index];
    name_row(contest, index, row);
    row->launches = contest->contenders[index].block.launches;
    row->verified = bench->verified[index];
    row->clocks = bench->row_clocks[index];
    row->ratio = blocks.ratio;
    row->ratio_low = blocks.ratio_low;
    row->ratio_high = blocks.ratio_high;
    row->time_us = blocks.time_us;
    row->tflops = tflops(&contest->problem, row->time_us);
    peak = lt_peak_tflops(device->arch, contest->problem.type, device->sms, row->clocks.sm_mhz);
    row->efficiency = peak > 0 ? row->tflops / peak : 0;
}

static void fill_extras(struct bench *bench, struct lathe_bench_report *report)
{
    const struct lt_contest *contest = &bench->contest;

    report->isolated_spin_us = bench->spin_us;
    for (int i = 0; i < bench->isolated.rows; i++)
        report->isolated[i] =
            lt_times_figures(&bench->isolated, i, contest->plans, contest->options.seed);
    for (int i = 0; i < bench->warm_blocks.rows; i++)
        report->warm[i] =
            lt_times_figures(&bench->warm_blocks, i, contest->plans, contest->options.seed);
    snprintf(report->warm_refused, sizeof report->warm_refused, "%s", bench->warm_refused);
}

static void fill_report(struct bench *bench, struct lathe_bench_report *report)
{
    const struct lt_contest *contest = &bench->contest;
    const struct lathe_bench_row *plan = &report->rows[0];

    memset(report, 0, sizeof *report);
    snprintf(report->device, sizeof report->device, "%s", contest->stream.device->name);
    report->plan = *lathe_function_plan(contest->entrants[0].function);
    report->sets = contest->rotation.count;
    report->measured_again = bench->measured_again;
    report->clocks = bench->all_clocks;
    report->row_count = contest->count;
    report->verified = 1;
    for (int i = 0; i < contest->count; i++)
        fill_row(bench, i, &report->rows[i]);
    fill_extras(bench, report);
    for (int i = 0; i < contest->plans; i++)
        report->verified = report->verified && bench->verified[i];
    report->launches = plan->launches;
    report->time_us = plan->time_us;
    report->tflops = plan->tflops;
    if (contest->count > contest->plans) {
        const struct lathe_bench_row *vs = &report->rows[contest->plans];

        snprintf(report->vs, sizeof report->vs, "%s", vs->name);
        report->vs_time_us = vs->time_us;
        report->vs_tflops = vs->tflops;
        report->ratio = vs->ratio;
        report->ratio_low = vs->ratio_low;
        report->ratio_high = vs->ratio_high;
    }
}

/* A caller whose options end before `isolated` has a report that ends before it, too. */
static size_t report_bytes(const struct lathe_bench_options *theirs)
{
    if (theirs && theirs->struct_size <= offsetof(struct lathe_bench_options, isolated))
        return offsetof(struct lathe_bench_report, isolated);
    return sizeof(struct lathe_bench_report);
}

static void clean_up(struct bench *bench)
{
    const struct lathe_allocator *allocator = lt_context_allocator(bench->contest.context);

    lt_clocks_close(&bench->clocks);
    lt_stream_wait(&bench->contest.stream, NULL);
    lt_spin_close(&bench->spin);
    lt_warm_close(&bench->warm);
    lt_contest_close(&bench->contest);
    lt_release(allocator, bench->taken);
    lt_times_destroy(&bench->blocks);
    lt_times_destroy(&bench->isolated);
    lt_times_destroy(&bench->warm_blocks);
}

enum lathe_status lathe_bench_gemm(struct lathe_context *context, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options,
                                   const struct lathe_bench_options *bench_options,
                                   struct lathe_bench_report *report, struct lathe_error *err)
{
    struct bench bench;
    struct lt_contest *contest = &bench.contest;
    struct lathe_bench_report made;
    enum lathe_status status;

    if (!context || !problem || !report)
        return lt_fail(err, LATHE_MISUSED, "lathe_bench_gemm: no %s",
                       !context   ? "context"
                       : !problem ? "problem"
                                  : "place for the report");
    status = lt_check_layout(&report->plan, "lathe_plan", err);
    if (status != LATHE_OK)
        return status;
    memset(&bench, 0, sizeof bench);
    status = read_arguments(contest, context, problem, bench_options, err);
    if (status == LATHE_OK)
        status = get_functions(contest, problem, options, err);
    if (status == LATHE_OK)
        status = lt_contest_open(contest, err);
    if (status == LATHE_OK)
        status = prepare(&bench, err);
    if (status == LATHE_OK)
        status = lt_contest_capture(contest, err);
    if (status == LATHE_OK)
        status = lt_contest_check(contest, err);
    if (status == LATHE_OK)
        status = measure(&bench, err);
    if (status == LATHE_OK) {
        fill_report(&bench, &made);
        memcpy(report, &made, report_bytes(bench_options));
    }
    clean_up(&bench);
    return status;
}
