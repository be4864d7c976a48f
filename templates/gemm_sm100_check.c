/* The budget and the rules of plans for sm_100a and sm_103a. Sources of the limits: PTX ISA 9.1,
 * "Tensor Memory" and "tcgen05.mma" (shapes, data-path layouts), "tcgen05.alloc",
 * "clusterlaunchcontrol". */
#include "templates/gemm_sm100_check.h"

#include "codegen/arch.h"
#include "codegen/fields.h"
#include "codegen/launch_control.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "codegen/wgmma.h"
#include "codegen/words.h"
#include "templates/gemm_check.h"
#include "templates/gemm_tile.h"

enum {
    TMEM_LANES = 128, /* a row of the staging each                                      */
    TMEM_LEAST = 32,  /* columns of one allocation                                      */
    MBARRIER_BYTES = 8,
    TMEM_POINTER_BYTES = 4,
    SM_SMEM_BYTES =
        228 * 1024, /* of a multiprocessor, of which each CTA takes 1 KB besides: CUDA C */
    CTA_RESERVED_BYTES = 1024, /* Programming Guide, "Compute Capabilities" */
    TMEM_ALONE_STEP = 128
};

/* ---- The budget ---- */

static int ring_barriers(const struct lathe_plan *plan)
{
    /* What the MMA's own threads have copied they know to be there. */
    bool full = plan->load == LATHE_COPY_TMA;
    int empty = lt_gemm_is_serial(plan) ? 1 : plan->stages;

    return (full ? plan->stages : 0) + empty;
}

static int accumulators(const struct lathe_plan *plan)
{
    return plan->consumers * plan->acc_stages;
}

static int barriers(const struct lathe_plan *plan)
{
    int count = ring_barriers(plan);

    if (plan->flow == LATHE_SPECIALISED)
        count += 2 * accumulators(plan); /* full and empty */
    if (plan->schedule == LATHE_DYNAMIC)
        count += 2 * LT_GEMM_SM100_REPLIES; /* full and empty */
    if (plan->beta == LATHE_BETA_ANY && plan->store == LATHE_COPY_TMA)
        count += plan->epilogue[2]; /* C comes through the staging */
    return count;
}

static int64_t staging_bytes(const struct lathe_plan *plan)
{
    if (plan->store == LATHE_COPY_THREADS)
        return 0;
    return (int64_t)plan->epilogue[0] * plan->epilogue[1] * plan->epilogue[2] *
           lathe_type_bytes(plan->out);
}

/* CTAs of a cluster allocate tensor memory one by one and then wait for each other. Were there more
 * of them on a multiprocessor than its tensor memory is for, two clusters could each hold what the
 * other waits for, for ever: no more may fit there by shared memory. */
static void keep_apart(const struct lathe_plan *plan, struct lt_budget *budget)
{
    const struct lt_arch *arch = lt_arch(plan->arch);
    int together = arch->tmem_columns / lt_gemm_sm100_tmem_columns(plan);
    int64_t least = SM_SMEM_BYTES / (together + 1) - CTA_RESERVED_BYTES + TMEM_ALONE_STEP;

    least = least / TMEM_ALONE_STEP * TMEM_ALONE_STEP;
    if (together > 0 && budget->bytes < least)
        lt_budget_add(budget, "kept from others", least - budget->bytes);
}

void lt_gemm_sm100_budget(const struct lathe_plan *plan, struct lt_budget *budget)
{
    *budget = (struct lt_budget){0};
    lt_budget_add(budget, "barriers", (int64_t)barriers(plan) * MBARRIER_BYTES);
    if (plan->schedule == LATHE_DYNAMIC) {
        lt_budget_align(budget, LT_REPLY_BYTES);
        lt_budget_add(budget, "scheduler reply", LT_GEMM_SM100_REPLIES * LT_REPLY_BYTES);
    }
    lt_budget_add(budget, "tmem pointer", TMEM_POINTER_BYTES);
    lt_budget_align(budget, LT_TILE_ALIGNMENT);
    lt_budget_add(budget, "stage ring", (int64_t)plan->stages * lt_gemm_stage_bytes(plan));
    if (plan->store == LATHE_COPY_TMA)
        lt_budget_add(budget, "epilogue staging", staging_bytes(plan));
    if (lt_gemm_cluster_size(plan) > plan->cta_group)
        keep_apart(plan, budget);
}

/* Rows of one MMA: of the pair, under cta_group=2. */
static int mma_rows(const struct lathe_plan *plan)
{
    return plan->tile[0] / plan->consumers;
}

/* A pair's MMA of 128 rows has 64 in each CTA, which lie side by side on its 128 lanes (data-path
 * layout B); fewer rows than lanes otherwise leave lanes free, not columns. */
struct lt_accumulator lt_gemm_sm100_accumulator(const struct lathe_plan *plan)
{
    bool half = mma_rows(plan) / plan->cta_group == TMEM_LANES / 2;
    bool folded = half && plan->cta_group == 2;

    return (struct lt_accumulator){
        .lanes = half && !folded ? TMEM_LANES / 2 : TMEM_LANES,
        .columns = folded ? (plan->tile[1] + 1) / 2 : plan->tile[1],
    };
}

int lt_gemm_sm100_tmem_columns(const struct lathe_plan *plan)
{
    int needed = accumulators(plan) * lt_gemm_sm100_accumulator(plan).columns, columns = TMEM_LEAST;

    while (columns < needed)
        columns *= 2;
    return columns;
}

/* ---- Check ---- */

static bool is_integer(enum lathe_type type)
{
    return type == LATHE_INT8;
}

enum lathe_status lt_gemm_sm100_check_types(const struct lathe_plan *plan, struct lathe_error *err)
{
    bool has_i8 = lt_arch(plan->arch)->features & LT_HAS_TCGEN05_I8;
    bool multiplied =
        plan->type != LATHE_F32 && plan->type != LATHE_S32 && (has_i8 || !is_integer(plan->type));
    bool given = is_integer(plan->type)
                     ? plan->out == LATHE_S32
                     : plan->out != LATHE_S32 && plan->out != LATHE_INT8 && plan->out != LATHE_TF32;

    if (!multiplied)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "type=%s: the tensor cores of %s multiply f16 bf16 tf32 e4m3 e5m2%s",
                       lathe_type_name(plan->type), lathe_arch_name(plan->arch),
                       has_i8 ? " int8" : "");
    if (!given)
        return lt_fail(err, LATHE_UNSUPPORTED, "out=%s: from type=%s there is %s",
                       lathe_type_name(plan->out), lathe_type_name(plan->type),
                       is_integer(plan->type) ? "s32" : "f32 f16 bf16 e4m3 e5m2");
    return LATHE_OK;
}

static enum lathe_status check_tile(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *tile = plan->tile;
    int group = plan->cta_group;
    int least = group * 64, most = group * 128;
    int step = is_integer(plan->type) ? group * 16 : mma_rows(plan) == 64 ? 8 : 16;
    const struct lt_accumulator accumulator = lt_gemm_sm100_accumulator(plan);

    if (plan->consumers > 2)
        return lt_fail(err, LATHE_UNSUPPORTED, "consumers=%d: one or two accumulators share B",
                       plan->consumers);
    if (tile[0] % plan->consumers != 0 || (mma_rows(plan) != least && mma_rows(plan) != most))
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "tile=%dx%dx%d: with cta_group=%d and consumers=%d a tile has %d or %d rows",
                       tile[0], tile[1], tile[2], group, plan->consumers, plan->consumers * least,
                       plan->consumers * most);
    if (tile[1] % step != 0 || tile[1] > LT_GEMM_SM100_COLUMNS_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "tile=%dx%dx%d: with %d rows for each MMA the columns of a tile are a "
                       "multiple of %d up to %d (the n of tcgen05.mma)",
                       tile[0], tile[1], tile[2], mma_rows(plan), step, LT_GEMM_SM100_COLUMNS_MAX);
    if (accumulator.columns * lathe_type_bytes(plan->out) % LT_GEMM_SM100_STAGING_STEP != 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "tile=%dx%dx%d out=%s: a lane of tensor memory has %d columns of a row, "
                       "which are stored in whole %d bytes",
                       tile[0], tile[1], tile[2], lathe_type_name(plan->out), accumulator.columns,
                       LT_GEMM_SM100_STAGING_STEP);
    return lt_gemm_check_k(plan, err);
}

bool lt_gemm_sm100_has_pairs(const struct lathe_plan *plan)
{
    return plan->flow == LATHE_SPECIALISED && plan->load == LATHE_COPY_TMA;
}

static enum lathe_status check_pair(const struct lathe_plan *plan, struct lathe_error *err)
{
    if (plan->cta_group == 1)
        return LATHE_OK;
    if (plan->cluster[0] % 2 != 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cta_group=2 cluster=%dx%dx%d: the two CTAs of a pair lie along m in one "
                       "cluster; cluster=2x1x1",
                       plan->cluster[0], plan->cluster[1], plan->cluster[2]);
    if (!lt_gemm_sm100_has_pairs(plan))
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cta_group=2 load=%s flow=%s: pairs are fed by load=tma flow=specialised",
                       lt_word_of(lt_words_copy, (int)plan->load),
                       lt_word_of(lt_words_flow, (int)plan->flow));
    return LATHE_OK;
}

int lt_gemm_sm100_a_slice_rows(const struct lathe_plan *plan)
{
    return mma_rows(plan) / plan->cta_group / lt_gemm_a_sharers(plan);
}

int lt_gemm_sm100_b_slice_rows(const struct lathe_plan *plan)
{
    return plan->tile[1] / plan->cta_group / lt_gemm_b_sharers(plan);
}

/* Slices begin where the pattern of the swizzle does. Those of A are 8 rows at least: 64 of 8 CTAs.
 */
static enum lathe_status check_slices(const struct lathe_plan *plan, struct lathe_error *err)
{
    int sharers = lt_gemm_b_sharers(plan), rows = lt_gemm_sm100_b_slice_rows(plan);

    if (sharers == 1 || rows % LT_SWIZZLE_ROWS == 0)
        return LATHE_OK;
    return lt_fail(err, LATHE_UNSUPPORTED,
                   "tile=%dx%dx%d cluster=%dx%dx%d: %d CTAs fetch B together, and %d rows each is "
                   "no multiple of the %d after which the swizzle repeats; columns in steps of %d",
                   plan->tile[0], plan->tile[1], plan->tile[2], plan->cluster[0], plan->cluster[1],
                   plan->cluster[2], sharers, rows, LT_SWIZZLE_ROWS,
                   LT_SWIZZLE_ROWS * plan->cluster[0]);
}

struct lt_stages lt_gemm_sm100_stages(const struct lathe_plan *plan)
{
    int least = plan->flow == LATHE_PIPELINED ? 2 : 1;

    return (struct lt_stages){least, lt_gemm_is_serial(plan) ? 1 : LT_STAGES_MAX};
}

static enum lathe_status check_schedule(const struct lathe_plan *plan, struct lathe_error *err)
{
    const char *schedule = lt_word_of(lt_words_schedule, (int)plan->schedule);

    if (plan->flow != LATHE_SPECIALISED && plan->schedule == LATHE_DYNAMIC)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "flow=%s schedule=dynamic: a warp of its own asks for tiles; "
                       "flow=specialised",
                       lt_word_of(lt_words_flow, (int)plan->flow));
    if (plan->schedule == LATHE_GROUPED)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "schedule=grouped: plans for %s group the tiles of persistent CTAs; "
                       "schedule=persistent or dynamic, with raster=",
                       lathe_arch_name(plan->arch));
    if (lt_gemm_goes_by_rows(plan->schedule) && plan->raster != 1)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "schedule=%s raster=%d: tiles go row by row; schedule=persistent or raster=1", schedule,
            plan->raster);
    return LATHE_OK;
}

static enum lathe_status check_flow(const struct lathe_plan *plan, struct lathe_error *err)
{
    const char *flow = lt_word_of(lt_words_flow, (int)plan->flow);
    struct lt_stages stages = lt_gemm_sm100_stages(plan);

    if (plan->stages > stages.most)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "flow=%s stages=%d: what is loaded is waited for at once; stages=%d", flow,
                       plan->stages, stages.most);
    if (plan->stages < stages.least)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "flow=%s stages=%d: loading ahead takes at least stages=%d", flow,
                       plan->stages, stages.least);
    if (plan->flow != LATHE_SPECIALISED && (plan->consumers != 1 || plan->acc_stages != 1))
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "flow=%s consumers=%d acc_stages=%d: more than one accumulator takes "
                       "flow=specialised",
                       flow, plan->consumers, plan->acc_stages);
    if (plan->load == LATHE_COPY_THREADS && !lt_gemm_is_serial(plan))
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "load=threads flow=%s: what threads copy is waited for at once; "
                       "flow=stepwise, serial, or load=tma",
                       flow);
    if (plan->load == LATHE_COPY_THREADS && lathe_type_bytes(plan->type) != 2)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "load=threads type=%s: threads copy elements of 16 bits; load=tma",
                       lathe_type_name(plan->type));
    if (plan->mma || plan->acc || plan->stage_index || plan->mma_groups)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "mma, acc, stage_index and mma_groups are fields of plans for sm_90a; those "
                       "for %s multiply with tcgen05; leave them out",
                       lathe_arch_name(plan->arch));
    if (plan->split != 1)
        return lt_fail(err, LATHE_UNSUPPORTED, "split=%d: kernels have split=1 so far",
                       plan->split);
    return lt_gemm_check_regs(plan, err);
}

enum lathe_status lt_gemm_sm100_check_epilogue(const struct lathe_plan *plan,
                                               struct lathe_error *err)
{
    const struct lt_accumulator accumulator = lt_gemm_sm100_accumulator(plan);
    const int *staging = plan->epilogue;
    int row = staging[1] * lathe_type_bytes(plan->out);

    if (plan->store == LATHE_COPY_THREADS)
        return staging[0] == 0 ? LATHE_OK
                               : lt_fail(err, LATHE_UNSUPPORTED,
                                         "store=threads epilogue=%dx%dx%d: threads store from "
                                         "registers and have no staging; leave it out",
                                         staging[0], staging[1], staging[2]);
    if (staging[0] != accumulator.lanes || staging[1] > accumulator.columns ||
        row % LT_GEMM_SM100_STAGING_STEP != 0 || row > LT_SPAN_BYTES || staging[2] > 8 ||
        staging[2] % plan->consumers != 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "epilogue=%dx%dx%d: the staging has %d rows, the lanes of an accumulator in "
                       "tensor memory, of %d to %d bytes in steps of %d, no more than the %d "
                       "columns of the accumulator, and 1 to 8 buffers, a multiple of consumers=%d",
                       staging[0], staging[1], staging[2], accumulator.lanes,
                       LT_GEMM_SM100_STAGING_STEP, LT_SPAN_BYTES, LT_GEMM_SM100_STAGING_STEP,
                       accumulator.columns, plan->consumers);
    return LATHE_OK;
}

static enum lathe_status check_tmem(const struct lathe_plan *plan, struct lathe_error *err)
{
    int limit = lt_arch(plan->arch)->tmem_columns;

    if (plan->tmem_columns <= limit)
        return LATHE_OK;
    return lt_fail(err, LATHE_DOES_NOT_FIT,
                   "tile=%dx%dx%d acc_stages=%d: needs %d columns of tensor memory and an SM has "
                   "%d; an accumulator takes %d, and there are %d",
                   plan->tile[0], plan->tile[1], plan->tile[2], plan->acc_stages,
                   plan->tmem_columns, limit, lt_gemm_sm100_accumulator(plan).columns,
                   accumulators(plan));
}

static int threads_of(const struct lathe_plan *plan)
{
    return LT_WARPGROUP_THREADS * (plan->flow == LATHE_SPECIALISED ? 1 + plan->consumers : 1);
}

enum lathe_status lt_gemm_sm100_check(struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status;

    if ((status = lt_gemm_check_fields(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_problem(plan, err)) != LATHE_OK ||
        (status = lt_gemm_sm100_check_types(plan, err)) != LATHE_OK ||
        (status = check_tile(plan, err)) != LATHE_OK)
        return status;
    lt_gemm_derive_threads(plan, threads_of(plan));
    plan->accumulators = 0; /* they lie in tensor memory */
    plan->tmem_columns = lt_gemm_sm100_tmem_columns(plan);
    if ((status = lt_gemm_check_cluster(plan, err)) != LATHE_OK ||
        (status = check_pair(plan, err)) != LATHE_OK ||
        (status = check_slices(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_baked_tiles(plan, err)) != LATHE_OK ||
        (status = lt_gemm_sm100_check_epilogue(plan, err)) != LATHE_OK ||
        (status = check_flow(plan, err)) != LATHE_OK ||
        (status = check_schedule(plan, err)) != LATHE_OK)
        return status;
    lt_gemm_derive_bytes(plan, lt_gemm_sm100_budget);
    status = check_tmem(plan, err);
    return status == LATHE_OK ? lt_gemm_check_bytes(plan, err) : status;
}
