#include "templates/gemm_check.h"

#include "codegen/arch.h"
#include "codegen/budget.h"
#include "codegen/builder.h"
#include "codegen/fields.h"
#include "codegen/status.h"
#include "codegen/wgmma.h"
#include "templates/gemm_problem.h"
#include "templates/gemm_tile.h"

#include <stdio.h>
#include <string.h>

enum {
    SPANS_MAX = 4,         /* of the swizzle, along the k of a tile             */
    CLUSTER_MAX = 8,       /* the portable cluster size                         */
    THREAD_REGISTERS = 255 /* more than this no thread can have                 */
};

static bool is_of_sm90(const struct lt_field *field)
{
    static const char *const keys[] = {"mma", "acc", "stage_index", "mma_groups"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(field->key, keys[i]) == 0)
            return true;
    return false;
}

static bool may_be_open(const struct lathe_plan *plan, const struct lt_field *field)
{
    return field->kind == LT_PAIR || (plan->arch != LATHE_SM_90A && is_of_sm90(field)) ||
           (field->kind == LT_STAGING && plan->store == LATHE_COPY_THREADS);
}

enum lathe_status lt_gemm_check_fields(const struct lathe_plan *plan, struct lathe_error *err)
{
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        enum lathe_status status = lt_field_check(field, (const char *)plan + field->plan_offset,
                                                  may_be_open(plan, field), err);

        if (status != LATHE_OK)
            return status;
    }
    return LATHE_OK;
}

/* ---- The problem's part ---- */

static enum lathe_status check_words(const struct lathe_plan *plan, struct lathe_error *err)
{
    const struct lathe_gemm problem = {
        .type = plan->type,
        .out = plan->out,
        .layout = plan->layout,
        .beta = plan->beta,
        .statics = plan->statics,
    };

    for (size_t i = 0; i < lt_gemm_field_count; i++) {
        const struct lt_field *field = &lt_gemm_fields[i];
        enum lathe_status status =
            lt_field_check(field, (const char *)&problem + field->offset, false, err);

        if (status != LATHE_OK)
            return status;
    }
    return LATHE_OK;
}

enum lathe_status lt_gemm_check_problem(const struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status = check_words(plan, err);

    if (status != LATHE_OK)
        return status;
    if (plan->layout != LATHE_TN)
        return lt_fail(err, LATHE_UNSUPPORTED, "layout=%s: kernels take layout=tn so far",
                       lt_word_of(lt_words_layout, (int)plan->layout));
    for (int i = 0; i < 3; i++) {
        bool baked =
            plan->statics == LATHE_STATIC_MNK || (plan->statics == LATHE_STATIC_K && i == 2);
        int64_t size = plan->static_size[i];

        if (baked ? size < 0 || size > LT_SIZE_MAX : size != -1)
            return lt_fail(err, LATHE_OUT_OF_RANGE, "static=%s: %c=%lld does not go with it",
                           lt_word_of(lt_words_static, (int)plan->statics), "mnk"[i],
                           (long long)size);
    }
    return LATHE_OK;
}

/* ---- Tiles and clusters ---- */

enum lathe_status lt_gemm_check_k(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *tile = plan->tile;
    int span = lt_gemm_span_columns(plan);

    if (tile[2] % span == 0 && tile[2] <= SPANS_MAX * span)
        return LATHE_OK;
    return lt_fail(err, LATHE_UNSUPPORTED,
                   "tile=%dx%dx%d: the k of a tile is a multiple of %d up to %d (rows of the "
                   "128-byte swizzle)",
                   tile[0], tile[1], tile[2], span, SPANS_MAX * span);
}

enum lathe_status lt_gemm_check_cluster(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *cluster = plan->cluster, *tile = plan->tile;

    if (!lt_is_power_of_two(cluster[0]) || !lt_is_power_of_two(cluster[1]) || cluster[2] != 1 ||
        lt_gemm_cluster_size(plan) > CLUSTER_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cluster=%dx%dx%d: must be AxBx1, powers of two with at most %d CTAs",
                       cluster[0], cluster[1], cluster[2], CLUSTER_MAX);
    if (lt_gemm_cluster_size(plan) > plan->sms)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cluster=%dx%dx%d sms=%d: the CTAs of a cluster run at one time, each on a "
                       "multiprocessor of its own, so there must be %d; sms=%d",
                       cluster[0], cluster[1], cluster[2], plan->sms, lt_gemm_cluster_size(plan),
                       lt_gemm_cluster_size(plan));
    if (tile[1] % cluster[0] != 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cluster=%dx%dx%d: its CTAs cannot share %d rows of B equally", cluster[0],
                       cluster[1], cluster[2], tile[1]);
    if (tile[0] % (plan->cta_group * cluster[1]) != 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cluster=%dx%dx%d: its CTAs cannot share %d rows of A equally", cluster[0],
                       cluster[1], cluster[2], tile[0] / plan->cta_group);
    return LATHE_OK;
}

enum lathe_status lt_gemm_check_tiles(const struct lathe_plan *plan,
                                      const struct lathe_gemm *problem, struct lathe_error *err)
{
    int cluster_tile[2];
    int64_t tiles;

    if (plan->tile[0] % plan->cta_group != 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "tile=%dx%dx%d cta_group=%d: each CTA of a pair makes half of the rows, so "
                       "a tile has an even number of them",
                       plan->tile[0], plan->tile[1], plan->tile[2], plan->cta_group);
    lt_gemm_cluster_tile(plan, cluster_tile);
    return lt_gemm_count_tiles(problem, cluster_tile, &tiles, err);
}

/* Other sizes are counted at each launch. */
enum lathe_status lt_gemm_check_baked_tiles(const struct lathe_plan *plan, struct lathe_error *err)
{
    const struct lathe_gemm baked = {.m = plan->static_size[0], .n = plan->static_size[1]};

    return plan->statics == LATHE_STATIC_MNK ? lt_gemm_check_tiles(plan, &baked, err) : LATHE_OK;
}

/* ---- Registers and bytes ---- */

enum lathe_status lt_gemm_check_regs(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *regs = plan->regs;
    /* setmaxnreg moves what the launch has given to the CTA's warpgroups, and no more. */
    int warpgroups = (plan->threads + LT_WARPGROUP_THREADS - 1) / LT_WARPGROUP_THREADS;
    int pool = plan->registers * warpgroups;

    if (regs[0] == 0 && regs[1] == 0)
        return LATHE_OK;
    if (plan->registers >= THREAD_REGISTERS)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "regs=%dx%d: with %d threads every one has %d registers already; leave it "
                       "out",
                       regs[0], regs[1], plan->threads, THREAD_REGISTERS);
    if (regs[0] % 8 != 0 || regs[1] % 8 != 0 || regs[0] > plan->registers ||
        regs[1] < plan->registers || regs[0] < 24 || regs[0] + plan->consumers * regs[1] > pool)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "regs=%dx%d: must be multiples of 8, the producer's at most %d and the "
                       "consumers' at least that, and producer + %d x consumer at most %d",
                       regs[0], regs[1], plan->registers, plan->consumers, pool);
    return LATHE_OK;
}

enum lathe_status lt_gemm_check_bytes(const struct lathe_plan *plan, struct lathe_error *err)
{
    int stage = lt_gemm_stage_bytes(plan);
    int staging = lt_budget_bytes(plan, "epilogue staging");
    char besides[48] = "";

    if (plan->smem_bytes <= plan->smem_limit)
        return LATHE_OK;
    if (staging > 0)
        snprintf(besides, sizeof besides, ", the epilogue staging %d", staging);

    enum lathe_status status = lt_fail(
        err, LATHE_DOES_NOT_FIT,
        "tile=%dx%dx%d stages=%d: needs %d bytes of shared memory and a CTA has %d; the stage ring "
        "takes %d (%d stages of %d)%s",
        plan->tile[0], plan->tile[1], plan->tile[2], plan->stages, plan->smem_bytes,
        plan->smem_limit, plan->stages * stage, plan->stages, stage, besides);

    if (err) {
        err->needs_bytes = plan->smem_bytes;
        err->limit_bytes = plan->smem_limit;
    }
    return status;
}

/* ---- What follows ---- */

/* Registers lie in four parts of a multiprocessor, each for every fourth warp: where warps are not
 * a multiple of four, some parts are as full as if they were. Source: CUDA C++ Best Practices
 * Guide, "Calculating Occupancy" (warp allocation granularity), and a launch with 9 warps of 224
 * that fails. */
void lt_gemm_derive_threads(struct lathe_plan *plan, int threads)
{
    int places = (threads + LT_WARPGROUP_THREADS - 1) / LT_WARPGROUP_THREADS * LT_WARPGROUP_THREADS;
    int registers = lt_arch(plan->arch)->registers / places / 8 * 8;

    plan->threads = threads;
    plan->registers = registers < THREAD_REGISTERS ? registers : THREAD_REGISTERS;
}

void lt_gemm_derive_bytes(struct lathe_plan *plan, lt_gemm_budget_of budget_of)
{
    struct lt_budget budget;

    budget_of(plan, &budget);
    lt_budget_store(&budget, plan);
    plan->smem_limit = lt_arch(plan->arch)->smem_bytes;
}

/* Barriers and padding take more with more stages, so the quotient is where the search starts. */
int lt_gemm_stages_that_fit(const struct lathe_plan *plan, lt_gemm_budget_of budget_of, int least)
{
    struct lathe_plan trial = *plan;
    struct lt_budget budget;
    int limit = lt_arch(plan->arch)->smem_bytes;

    if (lt_gemm_stage_bytes(plan) == 0) /* a tile that the check will refuse */
        return least;
    trial.stages = limit / lt_gemm_stage_bytes(plan);
    if (trial.stages > LT_STAGES_MAX)
        trial.stages = LT_STAGES_MAX;
    for (; trial.stages > least; trial.stages--) {
        budget_of(&trial, &budget);
        if (budget.bytes <= limit)
            break;
    }
    return trial.stages > least ? trial.stages : least;
}
