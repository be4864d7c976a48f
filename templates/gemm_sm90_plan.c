/* Choosing plans of the gemm family for sm_90a: the presets of the ladder, what follows from a
 * tile, and the tile where none is named.
 *
 * The fields that decide most are tile and cluster: they are searched, with the model of
 * gemm_sm90_model.c as the judge. The rest follows from them. Every limit is in gemm_sm90_check.c.
 */
#include "templates/gemm_sm90_plan.h"

#include "codegen/plan.h"
#include "codegen/wgmma.h"
#include "templates/epilogue.h"
#include "templates/gemm_sm90.h"
#include "templates/gemm_sm90_check.h"
#include "templates/gemm_sm90_model.h"
#include "templates/gemm_tile.h"

#include <stdio.h>
#include <string.h>

enum {
    BLOCK_ROWS = LT_WGMMA_ROWS,
    STAGING_BUFFERS = 2 /* one is read by TMA while the other is written */
};

/* ---- Presets ---- */

struct preset {
    const char *name;
    enum lathe_mma mma;
    enum lathe_type acc;
    enum lathe_copy store;
    enum lathe_flow flow;
    enum lathe_stage_index stage_index;
    int mma_groups;
    enum lathe_schedule schedule;
    int raster, rows, columns, stages, consumers, takes_turns;
};

static const struct preset presets[] = {
#define LT_PRESET(name, step, mma, acc, store, flow, index, groups, schedule, raster, rows,        \
                  columns, stages, consumers, turns, doc)                                          \
    {name,         LATHE_MMA_##mma,                                                                \
     LATHE_##acc,  LATHE_COPY_##store,                                                             \
     LATHE_##flow, LATHE_STAGE_##index,                                                            \
     groups,       LATHE_##schedule,                                                               \
     raster,       rows,                                                                           \
     columns,      stages,                                                                         \
     consumers,    turns},
#include "templates/gemm_sm90.def"
#undef LT_PRESET
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

/* The one that the plan's label names; it has been looked up before. */
static const struct preset *preset_of(const struct lathe_plan *plan)
{
    char name[LATHE_NAME_SIZE];

    lt_plan_preset(plan->variant, name);
    for (int i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return &presets[PRESETS - 1];
}

/* ---- Choice ---- */

/* 64 rows keep one warpgroup busy; more are shared by two, so that one multiplies while the other
 * waits or stores. Three blocks of 64 cannot be shared equally. */
static int consumers_for(int rows)
{
    return rows % 128 == 0 ? 2 : 1;
}

static void complete_choices(struct lathe_plan *plan, const struct preset *preset)
{
    if (plan->cta_group == 0)
        plan->cta_group = 1;
    if (plan->split == 0)
        plan->split = 1;
    if (plan->mma == LATHE_MMA_DEFAULT)
        plan->mma = preset->mma;
    if (plan->acc == LATHE_TYPE_DEFAULT)
        plan->acc = preset->acc;
    if (plan->stage_index == LATHE_STAGE_INDEX_DEFAULT)
        plan->stage_index = preset->stage_index;
    if (plan->mma_groups == 0)
        plan->mma_groups = preset->mma_groups;
    if (plan->schedule == LATHE_SCHEDULE_DEFAULT)
        plan->schedule = preset->schedule;
    if (plan->load == LATHE_COPY_DEFAULT)
        plan->load = LATHE_COPY_TMA;
    if (plan->store == LATHE_COPY_DEFAULT)
        plan->store = preset->store;
    if (plan->flow == LATHE_FLOW_DEFAULT)
        plan->flow = preset->flow;
    if (plan->acc_stages == 0)
        plan->acc_stages = 1;
}

static void complete_epilogue(struct lathe_plan *plan, const struct preset *preset)
{
    if (plan->epilogue[0] > 0 || plan->store == LATHE_COPY_THREADS)
        return;
    if (preset->takes_turns && plan->consumers > 1) {
        plan->epilogue[0] = LT_EPILOGUE_ROWS;
        plan->epilogue[1] = plan->tile[1];
        plan->epilogue[2] = 1;
        return;
    }
    plan->epilogue[0] = plan->consumers * LT_EPILOGUE_ROWS;
    plan->epilogue[1] = lt_gemm_sm90_staging_columns(plan);
    plan->epilogue[2] = STAGING_BUFFERS;
}

/* The preset's depth where it fits; without one, all that fit. */
static void complete_stages(struct lathe_plan *plan, const struct preset *preset)
{
    struct lt_stages range = lt_gemm_sm90_stages(plan);

    if (plan->stages > 0)
        return;
    plan->stages = lt_gemm_stages_that_fit(plan, lt_gemm_sm90_budget, range.least);
    if (plan->stages > range.most)
        plan->stages = range.most;
    if (preset->stages >= range.least && preset->stages < plan->stages)
        plan->stages = preset->stages;
}

static void complete(struct lathe_plan *plan, const struct preset *preset)
{
    complete_choices(plan, preset);
    if (plan->consumers == 0)
        plan->consumers = preset->consumers ? preset->consumers : consumers_for(plan->tile[0]);
    if (plan->cluster[0] == 0 && preset->rows > 0)
        plan->cluster[0] = plan->cluster[1] = plan->cluster[2] = 1;
    complete_epilogue(plan, preset);
    if (plan->raster == 0)
        plan->raster = plan->schedule == LATHE_GRID ? 1
                       : preset->raster > 1         ? preset->raster
                                                    : lt_gemm_sm90_raster(plan);
    complete_stages(plan, preset);
}

void lt_gemm_sm90_complete(struct lathe_plan *plan)
{
    complete(plan, preset_of(plan));
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

    if (rows / BLOCK_ROWS * columns / 2 >
        LT_SM90_PERSISTENT_CONSUMERS_MAX * LT_SM90_ACCUMULATORS_MAX)
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
        for (int columns = 8; columns <= LT_SM90_COLUMNS_MAX; columns += columns < 64 ? 8 : 16)
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

static void explain_rung(struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    double waves = lt_gemm_waves(plan, problem);
    int places = lt_gemm_places(plan);

    plan->predicted_ns = 0;
    snprintf(
        plan->reason, sizeof plan->reason,
        "%.0f tile%s on %d multiprocessor%s: %.2f waves; the preset's tile, not chosen for the "
        "problem",
        waves * places, waves * places == 1 ? "" : "s", places, places == 1 ? "" : "s", waves);
}

/* A rung of the ladder is what it is, whatever the problem. */
static enum lathe_status choose_rung(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                     const struct preset *preset, struct lathe_error *err)
{
    enum lathe_status status;

    if (plan->tile[0] == 0) {
        plan->tile[0] = preset->rows;
        plan->tile[1] = preset->columns;
        plan->tile[2] = lt_gemm_span_columns(plan);
    }
    complete(plan, preset);
    status = lt_gemm_sm90_check(plan, err);
    if (status == LATHE_OK)
        status = lt_gemm_check_tiles(plan, problem, err);
    if (status == LATHE_OK)
        explain_rung(plan, problem);
    return status;
}

static enum lathe_status choose_freely(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                       struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;
    struct search search = {.problem = problem, .best_ns = -1};

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

enum lathe_status lt_gemm_sm90_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                      struct lathe_error *err)
{
    const struct preset *preset = preset_of(plan);
    enum lathe_status status = lt_gemm_sm90_check_problem(plan, err);

    if (status != LATHE_OK)
        return status;
    return preset->rows > 0 ? choose_rung(plan, problem, preset, err)
                            : choose_freely(plan, problem, err);
}
