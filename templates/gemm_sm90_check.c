#include "templates/gemm_sm90_check.h"

#include "codegen/fields.h"
#include "codegen/status.h"
#include "codegen/wgmma.h"
#include "codegen/words.h"
#include "templates/epilogue.h"
#include "templates/gemm_sm90.h"
#include "templates/gemm_sm90_head.h"

enum {
    CONSUMERS_MAX = 4,
    ROWS_MAX = 256,         /* of a TMA box                                                     */
    SYNC_ROWS_EACH = 32,    /* of a tile, for each consumer: two warps of 16 one below the other */
    SYNC_COLUMNS_STEP = 32, /* two warps abreast, and ldmatrix brings 16 rows of B               */
    /* Registers beside the sums that addresses, operands and the epilogue need. */
    OTHER_REGISTERS = 32,
    WIDENED_REGISTERS = 12, /* besides, where threads store f32 of f16 sums: two words each */
    SYNC_OTHER_REGISTERS = 72
};

static const char *flow_word(const struct lathe_plan *plan)
{
    return lt_word_of(lt_words_flow, (int)plan->flow);
}

static const char *schedule_word(const struct lathe_plan *plan)
{
    return lt_word_of(lt_words_schedule, (int)plan->schedule);
}

/* ---- Types ---- */

static enum lathe_status check_types(const struct lathe_plan *plan, struct lathe_error *err)
{
    bool type_ok = plan->type == LATHE_F16 || plan->type == LATHE_BF16;
    bool out_ok = plan->out == LATHE_F16 || plan->out == LATHE_BF16 || plan->out == LATHE_F32;

    if (!type_ok)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "type=%s: kernels for sm_90a take f16 and bf16 so far",
                       lathe_type_name(plan->type));
    if (!out_ok)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "out=%s: kernels for sm_90a give f16, bf16 and f32 so far",
                       lathe_type_name(plan->out));
    return LATHE_OK;
}

enum lathe_status lt_gemm_sm90_check_problem(const struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status = lt_gemm_check_problem(plan, err);

    return status == LATHE_OK ? check_types(plan, err) : status;
}

/* Source: PTX ISA "wgmma.mma_async": D of f16 goes with A and B of f16 alone. */
static enum lathe_status check_sums(const struct lathe_plan *plan, struct lathe_error *err)
{
    if (plan->acc != LATHE_F32 && plan->acc != LATHE_F16)
        return lt_fail(err, LATHE_UNSUPPORTED, "acc=%s: sums are acc=f32 or acc=f16",
                       lathe_type_name(plan->acc));
    if (plan->acc == LATHE_F16 && plan->type != LATHE_F16)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "acc=f16 type=%s: wgmma sums in f16 what is of type=f16; with type=%s "
                       "acc=f32",
                       lathe_type_name(plan->type), lathe_type_name(plan->type));
    if (plan->acc == LATHE_F16 && plan->mma == LATHE_MMA_SYNC)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "acc=f16 mma=sync: kernels that sum in f16 have "
                       "mma=wgmma");
    return LATHE_OK;
}

/* ---- Tile ---- */

static enum lathe_status check_consumers(const struct lathe_plan *plan, struct lathe_error *err)
{
    if (plan->consumers < 1 || plan->consumers > CONSUMERS_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED, "consumers=%d: kernels for sm_90a have 1 to %d",
                       plan->consumers, CONSUMERS_MAX);
    if (plan->schedule == LATHE_PERSISTENT && plan->consumers > LT_SM90_PERSISTENT_CONSUMERS_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "consumers=%d: with schedule=persistent there are 1 or %d", plan->consumers,
                       LT_SM90_PERSISTENT_CONSUMERS_MAX);
    return LATHE_OK;
}

static enum lathe_status check_extents(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *tile = plan->tile;
    bool is_sync = plan->mma == LATHE_MMA_SYNC;
    int rows = plan->consumers * (is_sync ? SYNC_ROWS_EACH : LT_WGMMA_ROWS);

    if (tile[0] % rows != 0 || tile[0] > ROWS_MAX)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "tile=%dx%dx%d: with consumers=%d the rows of a tile are a multiple of %d up "
            "to %d (%s)",
            tile[0], tile[1], tile[2], plan->consumers, rows, ROWS_MAX,
            is_sync ? "16 for each of two warps, one below the other" : "64 for each wgmma");
    if (is_sync && (tile[1] % SYNC_COLUMNS_STEP != 0 || tile[1] > LT_SM90_COLUMNS_MAX))
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "tile=%dx%dx%d: with mma=sync the columns of a tile are a multiple of %d up "
                       "to %d",
                       tile[0], tile[1], tile[2], SYNC_COLUMNS_STEP, LT_SM90_COLUMNS_MAX);
    if (tile[1] % 8 != 0 || tile[1] > LT_SM90_COLUMNS_MAX)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "tile=%dx%dx%d: the columns of a tile are a multiple of 8 up to %d (the n of "
            "wgmma)",
            tile[0], tile[1], tile[2], LT_SM90_COLUMNS_MAX);
    return LATHE_OK;
}

/* Registers of a thread that hold sums. */
static int accumulators(const struct lathe_plan *plan)
{
    int sums = plan->tile[0] * plan->tile[1] / (plan->consumers * LT_WARPGROUP_THREADS);

    return plan->acc == LATHE_F16 ? sums / 2 : sums;
}

static int other_registers(const struct lathe_plan *plan)
{
    bool widens =
        plan->acc == LATHE_F16 && plan->out == LATHE_F32 && plan->store == LATHE_COPY_THREADS;

    if (plan->mma == LATHE_MMA_SYNC)
        return SYNC_OTHER_REGISTERS;
    return OTHER_REGISTERS + (widens ? WIDENED_REGISTERS : 0);
}

static enum lathe_status check_accumulators(const struct lathe_plan *plan, struct lathe_error *err)
{
    int room = plan->registers - other_registers(plan);

    if (room > LT_SM90_ACCUMULATORS_MAX)
        room = LT_SM90_ACCUMULATORS_MAX;
    if (plan->accumulators <= room)
        return LATHE_OK;
    return lt_fail(err, LATHE_UNSUPPORTED,
                   "tile=%dx%dx%d: needs %d accumulator registers per thread of %d consumer "
                   "warpgroup%s, and there is room for %d",
                   plan->tile[0], plan->tile[1], plan->tile[2], plan->accumulators, plan->consumers,
                   plan->consumers > 1 ? "s" : "", room);
}

/* ---- Flow ---- */

struct lt_stages lt_gemm_sm90_stages(const struct lathe_plan *plan)
{
    if (lt_gemm_is_serial(plan))
        return (struct lt_stages){1, 1};
    return (struct lt_stages){plan->mma_groups, LT_STAGES_MAX};
}

static enum lathe_status check_stages(const struct lathe_plan *plan, struct lathe_error *err)
{
    struct lt_stages stages = lt_gemm_sm90_stages(plan);

    if (plan->stages > stages.most)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "flow=%s stages=%d: what is loaded is waited for at once; stages=%d",
                       flow_word(plan), plan->stages, stages.most);
    if (plan->stages < stages.least)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "stages=%d: one wgmma group stays in flight, so a stage is let go a step late "
            "and a single one would wait for itself; at least stages=%d",
            plan->stages, stages.least);
    return LATHE_OK;
}

static enum lathe_status refuse_part(const struct lathe_plan *plan, const char *named,
                                     const char *works, struct lathe_error *err)
{
    return lt_fail(err, LATHE_UNSUPPORTED, "flow=%s schedule=%s %s: kernels of this kind have %s",
                   flow_word(plan), schedule_word(plan), named, works);
}

/* Warps with roles that walk through many tiles. */
static enum lathe_status check_persistent(const struct lathe_plan *plan, struct lathe_error *err)
{
    if (plan->flow != LATHE_SPECIALISED)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "flow=%s schedule=persistent: kernels of this kind have flow=specialised, "
                       "or schedule=grid or grouped",
                       flow_word(plan));
    if (plan->mma != LATHE_MMA_WGMMA)
        return refuse_part(plan, "mma=sync", "mma=wgmma", err);
    if (plan->acc != LATHE_F32)
        return refuse_part(plan, "acc=f16", "acc=f32", err);
    if (plan->store != LATHE_COPY_TMA)
        return refuse_part(plan, "store=threads", "store=tma", err);
    if (plan->stage_index != LATHE_STAGE_RUNTIME)
        return refuse_part(plan, "stage_index=constant",
                           "stage_index=runtime, for a tile may begin at any stage", err);
    if (plan->mma_groups != 2)
        return refuse_part(plan, "mma_groups=1", "mma_groups=2", err);
    return LATHE_OK;
}

/* A CTA for each tile. */
static enum lathe_status check_one_tile(const struct lathe_plan *plan, struct lathe_error *err)
{
    bool runtime = plan->flow == LATHE_PIPELINED;

    if (lt_gemm_cluster_size(plan) > 1)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "schedule=%s cluster=%dx%dx%d: clusters share tiles with schedule=persistent",
            schedule_word(plan), plan->cluster[0], plan->cluster[1], plan->cluster[2]);
    if (plan->schedule == LATHE_GRID && plan->raster != 1)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "schedule=grid raster=%d: tiles go row by row; schedule=grouped or raster=1",
                       plan->raster);
    if ((plan->stage_index == LATHE_STAGE_RUNTIME) != runtime)
        return refuse_part(plan, runtime ? "stage_index=constant" : "stage_index=runtime",
                           runtime ? "stage_index=runtime" : "stage_index=constant", err);
    if (plan->mma_groups > 1 && plan->flow != LATHE_SPECIALISED)
        return refuse_part(plan, "mma_groups=2", "mma_groups=1", err);
    if (plan->mma == LATHE_MMA_SYNC && (plan->mma_groups > 1 || plan->store == LATHE_COPY_TMA))
        return refuse_part(plan,
                           plan->mma_groups > 1 ? "mma=sync mma_groups=2" : "mma=sync store=tma",
                           "mma_groups=1 store=threads with mma=sync", err);
    if (plan->regs[0] > 0 || plan->regs[1] > 0)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "schedule=%s regs=%dx%d: there is no producer warpgroup to take registers "
                       "from; leave it out",
                       schedule_word(plan), plan->regs[0], plan->regs[1]);
    return LATHE_OK;
}

static enum lathe_status check_roles(const struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status;

    if (plan->cta_group != 1)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cta_group=%d: CTA pairs need tcgen05 (sm_100a); "
                       "sm_90a has cta_group=1",
                       plan->cta_group);
    if (plan->split != 1)
        return lt_fail(err, LATHE_UNSUPPORTED, "split=%d: kernels have split=1 so far",
                       plan->split);
    if (plan->schedule == LATHE_SINGLE || plan->schedule == LATHE_DYNAMIC)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "schedule=%s: kernels for sm_90a are schedule=persistent, grid or grouped",
                       schedule_word(plan));
    if (plan->load != LATHE_COPY_TMA || plan->flow == LATHE_STEPWISE)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "load=%s flow=%s: kernels for sm_90a have load=tma and are flow=serial, "
                       "pipelined or specialised",
                       lt_word_of(lt_words_copy, (int)plan->load), flow_word(plan));
    if (plan->acc_stages != 1)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "acc_stages=%d: the accumulators of sm_90a are registers; acc_stages=1",
                       plan->acc_stages);
    status = plan->schedule == LATHE_PERSISTENT ? check_persistent(plan, err)
                                                : check_one_tile(plan, err);
    if (status == LATHE_OK)
        status = check_stages(plan, err);
    return status == LATHE_OK ? lt_gemm_check_regs(plan, err) : status;
}

/* ---- Epilogue ---- */

int lt_gemm_sm90_staging_columns(const struct lathe_plan *plan)
{
    int whole = lt_epilogue_chunk_columns(plan->out);

    return plan->tile[1] < whole ? plan->tile[1] : whole;
}

static enum lathe_status check_turns(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *staging = plan->epilogue;

    if (plan->schedule != LATHE_PERSISTENT && staging[1] == plan->tile[1] && staging[2] == 1)
        return LATHE_OK;
    return lt_fail(
        err, LATHE_UNSUPPORTED,
        "epilogue=%dx%dx%d: consumers that take turns with %d rows do so in one tile "
        "(schedule=grid or grouped) with epilogue=%dx%dx1, all columns of the tile; else "
        "each has rows of its own: epilogue=%dx%dx2",
        staging[0], staging[1], staging[2], LT_EPILOGUE_ROWS, LT_EPILOGUE_ROWS, plan->tile[1],
        plan->consumers * LT_EPILOGUE_ROWS, lt_gemm_sm90_staging_columns(plan));
}

static enum lathe_status check_epilogue(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *staging = plan->epilogue;
    int rows = plan->consumers * LT_EPILOGUE_ROWS;
    int columns = lt_gemm_sm90_staging_columns(plan);

    if (plan->store == LATHE_COPY_THREADS)
        return staging[0] == 0 ? LATHE_OK
                               : lt_fail(err, LATHE_UNSUPPORTED,
                                         "store=threads epilogue=%dx%dx%d: threads store from "
                                         "registers and have no staging; leave it out",
                                         staging[0], staging[1], staging[2]);
    if (lt_gemm_takes_turns(plan))
        return check_turns(plan, err);
    if (staging[0] != rows || staging[1] != columns || staging[2] < 1 || staging[2] > 8)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "epilogue=%dx%dx%d: with consumers=%d, out=%s and %d columns a tile it is "
                       "%dx%d with 1 to 8 buffers",
                       staging[0], staging[1], staging[2], plan->consumers,
                       lathe_type_name(plan->out), plan->tile[1], rows, columns);
    return LATHE_OK;
}

/* ---- The whole ---- */

/* A producer is a warpgroup where it may give registers away, and else a warp. */
static int threads_of(const struct lathe_plan *plan)
{
    int consumers = plan->consumers * LT_WARPGROUP_THREADS;

    if (plan->schedule == LATHE_PERSISTENT)
        return consumers + LT_WARPGROUP_THREADS;
    return plan->flow == LATHE_SPECIALISED ? consumers + 32 : consumers;
}

enum lathe_status lt_gemm_sm90_check(struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status;

    if ((status = lt_gemm_check_fields(plan, err)) != LATHE_OK ||
        (status = lt_gemm_sm90_check_problem(plan, err)) != LATHE_OK ||
        (status = check_sums(plan, err)) != LATHE_OK ||
        (status = check_consumers(plan, err)) != LATHE_OK)
        return status;
    lt_gemm_derive_threads(plan, threads_of(plan));
    plan->accumulators = accumulators(plan);
    plan->tmem_columns = 0;
    if ((status = check_extents(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_k(plan, err)) != LATHE_OK ||
        (status = check_roles(plan, err)) != LATHE_OK ||
        (status = check_accumulators(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_cluster(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_baked_tiles(plan, err)) != LATHE_OK ||
        (status = check_epilogue(plan, err)) != LATHE_OK)
        return status;
    lt_gemm_derive_bytes(plan, lt_gemm_sm90_budget);
    return lt_gemm_check_bytes(plan, err);
}
