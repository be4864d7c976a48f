/* Plans of the gemm family for sm_90a.
 *
 * The fields that decide most are tile and cluster: they are searched, with the model of
 * gemm_sm90_model.c as the judge. The rest follows from them. Every limit is stated once, in the
 * check that refuses it. */
#include "templates/gemm_sm90_plan.h"

#include "codegen/fields.h"
#include "codegen/status.h"
#include "codegen/wgmma.h"
#include "codegen/words.h"
#include "templates/epilogue.h"
#include "templates/gemm_check.h"
#include "templates/gemm_sm90.h"
#include "templates/gemm_sm90_model.h"
#include "templates/gemm_tile.h"

#include <string.h>

enum {
    BLOCK_ROWS = 64, /* of one wgmma                                                  */
    CONSUMERS_MAX = 2,
    STAGES_LEAST = 2,
    TILE_N_MAX = 256, /* of one wgmma, and rows of a TMA box                           */

    /* Of the 168 registers that each of 384 threads has, what addresses, the epilogue and C leave.
     * With more, ptxas spills and puts the MMAs one after the other (13 times slower on an H200).
     * setmaxnreg could move registers from the producer to the consumers, but nvJitLink 13.0
     * compiles PTX as a relocatable object and then ignores it (C7504), so no plan counts on it.
     * With one consumer there would be room for more, at 150 to 230 ms for a link. */
    ACCUMULATORS_MAX = 128
};

/* ---- Check ---- */

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

static enum lathe_status check_problem_part(const struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status = lt_gemm_check_problem(plan, err);

    return status == LATHE_OK ? check_types(plan, err) : status;
}

static enum lathe_status check_tile(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *tile = plan->tile;
    int rows = plan->consumers * BLOCK_ROWS;

    if (plan->consumers < 1 || plan->consumers > CONSUMERS_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED, "consumers=%d: hopper-best has 1 or 2",
                       plan->consumers);
    if (tile[0] % rows != 0 || tile[0] > 256)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "tile=%dx%dx%d: with consumers=%d the rows of a tile are a multiple of %d up "
            "to 256 (64 for each wgmma)",
            tile[0], tile[1], tile[2], plan->consumers, rows);
    if (tile[1] % 8 != 0 || tile[1] > TILE_N_MAX)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "tile=%dx%dx%d: the columns of a tile are a multiple of 8 up to %d (the n of "
            "wgmma)",
            tile[0], tile[1], tile[2], TILE_N_MAX);
    if (plan->accumulators > ACCUMULATORS_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "tile=%dx%dx%d: needs %d accumulator registers per thread of %d consumer "
                       "warpgroup%s, and there is room for %d",
                       tile[0], tile[1], tile[2], plan->accumulators, plan->consumers,
                       plan->consumers > 1 ? "s" : "", ACCUMULATORS_MAX);
    return LATHE_OK;
}

static enum lathe_status check_roles(const struct lathe_plan *plan, struct lathe_error *err)
{
    if (plan->cta_group != 1)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "cta_group=%d: CTA pairs need tcgen05 (sm_100a); "
                       "sm_90a has cta_group=1",
                       plan->cta_group);
    if (plan->split != 1)
        return lt_fail(err, LATHE_UNSUPPORTED, "split=%d: kernels have split=1 so far",
                       plan->split);
    if (plan->schedule != LATHE_PERSISTENT)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "schedule=%s: kernels for sm_90a are schedule=persistent so far",
                       lt_word_of(lt_words_schedule, (int)plan->schedule));
    if (plan->load != LATHE_COPY_TMA || plan->store != LATHE_COPY_TMA ||
        plan->flow != LATHE_SPECIALISED)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "load=%s store=%s flow=%s: kernels for sm_90a are load=tma store=tma "
                       "flow=specialised so far",
                       lt_word_of(lt_words_copy, (int)plan->load),
                       lt_word_of(lt_words_copy, (int)plan->store),
                       lt_word_of(lt_words_flow, (int)plan->flow));
    if (plan->acc_stages != 1)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "acc_stages=%d: the accumulators of sm_90a are registers; acc_stages=1",
                       plan->acc_stages);
    if (plan->stages < STAGES_LEAST)
        return lt_fail(
            err, LATHE_UNSUPPORTED,
            "stages=%d: one wgmma group stays in flight, so a stage is let go a step late "
            "and a single one would wait for itself; at least stages=%d",
            plan->stages, STAGES_LEAST);
    return lt_gemm_check_regs(plan, err);
}

static int staging_columns(const struct lathe_plan *plan)
{
    int whole = lt_epilogue_chunk_columns(plan->out);

    return plan->tile[1] < whole ? plan->tile[1] : whole;
}

static enum lathe_status check_epilogue(const struct lathe_plan *plan, struct lathe_error *err)
{
    const int *staging = plan->epilogue;
    int rows = plan->consumers * LT_EPILOGUE_ROWS;
    int columns = staging_columns(plan);

    if (staging[0] != rows || staging[1] != columns || staging[2] < 1 || staging[2] > 8)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "epilogue=%dx%dx%d: with consumers=%d, out=%s and %d columns a tile it is "
                       "%dx%d with 1 to 8 buffers",
                       staging[0], staging[1], staging[2], plan->consumers,
                       lathe_type_name(plan->out), plan->tile[1], rows, columns);
    return LATHE_OK;
}

struct lt_stages lt_gemm_sm90_stages(const struct lathe_plan *plan)
{
    (void)plan; /* there is one flow */
    return (struct lt_stages){STAGES_LEAST, LT_STAGES_MAX};
}

enum lathe_status lt_gemm_sm90_check(struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status;

    if ((status = lt_gemm_check_fields(plan, err)) != LATHE_OK ||
        (status = check_problem_part(plan, err)) != LATHE_OK)
        return status;
    lt_gemm_derive_threads(plan, LT_WARPGROUP_THREADS * (1 + plan->consumers));
    plan->accumulators = plan->tile[0] / BLOCK_ROWS * (plan->tile[1] / 2) / plan->consumers;
    plan->tmem_columns = 0;
    if ((status = check_tile(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_k(plan, err)) != LATHE_OK ||
        (status = check_roles(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_cluster(plan, err)) != LATHE_OK ||
        (status = lt_gemm_check_baked_tiles(plan, err)) != LATHE_OK ||
        (status = check_epilogue(plan, err)) != LATHE_OK)
        return status;
    lt_gemm_derive_bytes(plan, lt_gemm_sm90_budget);
    return lt_gemm_check_bytes(plan, err);
}

/* ---- Choice ---- */

/* 64 rows keep one warpgroup busy; more are shared by two, so that one multiplies while the other
 * waits or stores. Three blocks of 64 cannot be shared equally. */
static int consumers_for(int rows)
{
    return rows % 128 == 0 ? 2 : 1;
}

void lt_gemm_sm90_complete(struct lathe_plan *plan)
{
    if (plan->consumers == 0)
        plan->consumers = consumers_for(plan->tile[0]);
    if (plan->cta_group == 0)
        plan->cta_group = 1;
    if (plan->split == 0)
        plan->split = 1;
    if (plan->schedule == LATHE_SCHEDULE_DEFAULT)
        plan->schedule = LATHE_PERSISTENT;
    if (plan->load == LATHE_COPY_DEFAULT)
        plan->load = LATHE_COPY_TMA;
    if (plan->store == LATHE_COPY_DEFAULT)
        plan->store = LATHE_COPY_TMA;
    if (plan->flow == LATHE_FLOW_DEFAULT)
        plan->flow = LATHE_SPECIALISED;
    if (plan->acc_stages == 0)
        plan->acc_stages = 1;
    if (plan->epilogue[0] == 0) {
        plan->epilogue[0] = plan->consumers * LT_EPILOGUE_ROWS;
        plan->epilogue[1] = staging_columns(plan);
        plan->epilogue[2] = 2; /* one is read by TMA while the other is written */
    }
    if (plan->raster == 0)
        plan->raster = lt_gemm_sm90_raster(plan);
    if (plan->stages == 0)
        plan->stages = lt_gemm_stages_that_fit(plan, lt_gemm_sm90_budget, STAGES_LEAST);
}

/* Tiles that are tried when none is named: these rows, columns in steps of 8 and then 16, and two
 * swizzle spans along k, which halves the barriers a byte, where tiles are narrow. */
enum { LONG_STEP_COLUMNS = 48 };
static const int tile_rows[] = {64, 128, 192, 256};
static const int clusters[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {4, 1, 1}, {1, 4, 1}, {2, 2, 1}};

struct search {
    const struct lathe_plan *named;
    const struct lathe_gemm *problem;
    struct lathe_plan trial, best;
    double best_ns; /* below 0: none found yet */
};

/* The check comes last, since few candidates get that far. */
static void try_candidate(struct search *search, int rows, int columns, int k, const int *cluster)
{
    struct lathe_plan *plan = &search->trial;

    if (rows / BLOCK_ROWS * columns / 2 > CONSUMERS_MAX * ACCUMULATORS_MAX)
        return;
    *plan = *search->named;
    plan->tile[0] = rows;
    plan->tile[1] = columns;
    plan->tile[2] = k;
    plan->cluster[0] = cluster[0];
    plan->cluster[1] = cluster[1];
    plan->cluster[2] = cluster[2];
    lt_gemm_sm90_complete(plan);
    if (lt_gemm_check_tiles(plan, search->problem, NULL) != LATHE_OK)
        return;

    double ns = lt_gemm_sm90_predict_ns(plan, search->problem);

    if ((search->best_ns >= 0 && ns >= search->best_ns) ||
        lt_gemm_sm90_check(plan, NULL) != LATHE_OK)
        return;
    search->best = *plan;
    search->best_ns = ns;
}

static void try_clusters(struct search *search, int rows, int columns, int k)
{
    if (search->named->cluster[0] > 0) {
        try_candidate(search, rows, columns, k, search->named->cluster);
        return;
    }
    for (size_t i = 0; i < sizeof clusters / sizeof clusters[0]; i++)
        try_candidate(search, rows, columns, k, clusters[i]);
}

/* A tile may reach past the end of D, but not by as much as the next smaller one would leave out.
 */
static bool is_of_use(const struct lathe_gemm *problem, int rows, int columns)
{
    return (rows == tile_rows[0] || rows < problem->m + BLOCK_ROWS) &&
           (columns == 8 || columns < problem->n + 16);
}

static void try_tiles(struct search *search)
{
    if (search->named->tile[0] > 0) {
        const int *tile = search->named->tile;

        try_clusters(search, tile[0], tile[1], tile[2]);
        return;
    }

    int span = lt_gemm_span_columns(search->named);

    for (size_t i = 0; i < sizeof tile_rows / sizeof tile_rows[0]; i++)
        for (int columns = 8; columns <= TILE_N_MAX; columns += columns < 64 ? 8 : 16)
            for (int spans = 1; spans <= (columns <= LONG_STEP_COLUMNS ? 2 : 1); spans++)
                if (is_of_use(search->problem, tile_rows[i], columns))
                    try_clusters(search, tile_rows[i], columns, spans * span);
}

/* What a field is named to never moves another: tile and cluster are searched as if the fields that
 * follow from them were open, and these then stand as they were named, or are refused. */
static void search_freely(struct search *search, const struct lathe_plan *named)
{
    struct lathe_plan open = *named;

    open.stages = 0;
    open.consumers = 0;
    memset(open.epilogue, 0, sizeof open.epilogue);
    memset(open.regs, 0, sizeof open.regs);
    search->named = &open;
    try_tiles(search);
    search->named = named;
    if (search->best_ns < 0)
        return;
    memcpy(open.tile, search->best.tile, sizeof open.tile);
    memcpy(open.cluster, search->best.cluster, sizeof open.cluster);
    search->best = *named;
    memcpy(search->best.tile, open.tile, sizeof open.tile);
    memcpy(search->best.cluster, open.cluster, sizeof open.cluster);
    lt_gemm_sm90_complete(&search->best);
}

enum lathe_status lt_gemm_sm90_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                      struct lathe_error *err)
{
    enum lathe_status status = check_problem_part(plan, err);
    struct search search = {.problem = problem, .best_ns = -1};

    if (status != LATHE_OK)
        return status;
    search_freely(&search, plan);
    bool found = search.best_ns >= 0;

    if (!found) {
        /* Nothing that was named can exist: complete it as it is, and let the checks say why. */
        static const int usual_tile[3] = {128, 256, 64}, usual_cluster[3] = {1, 1, 1};

        search.best = *plan;
        if (plan->tile[0] == 0)
            memcpy(search.best.tile, usual_tile, sizeof usual_tile);
        if (plan->cluster[0] == 0)
            memcpy(search.best.cluster, usual_cluster, sizeof usual_cluster);
        lt_gemm_sm90_complete(&search.best);
        search.best_ns = 0;
    }
    *plan = search.best;
    lt_gemm_sm90_explain(plan, problem);
    if (!found && (status = lt_gemm_sm90_check(plan, err)) == LATHE_OK)
        status = lt_gemm_check_tiles(plan, problem, err);
    return status;
}
