/* Choosing plans of the gemm family for sm_100a and sm_103a: the presets of the ladder, what
 * follows from a tile, and the tile where none is named. Every limit is in gemm_sm100_check.c. */
#include "templates/gemm_sm100_plan.h"

#include "codegen/arch.h"
#include "codegen/plan.h"
#include "templates/gemm_check.h"
#include "templates/gemm_sm100_check.h"
#include "templates/gemm_tile.h"

#include <stdio.h>
#include <string.h>

enum {
    MMA_ROWS = 128,       /* of one CTA, at most                        */
    STAGING_COLUMNS = 32, /* by default                                 */
    STAGING_BUFFERS = 2   /* one is read by TMA while the other is written */
};

/* ---- Presets ---- */

struct preset {
    const char *name;
    enum lathe_copy load, store;
    enum lathe_flow flow;
    enum lathe_schedule schedule;
    int raster, cta_group, rows, columns, stages, acc_stages, staging_columns;
};

static const struct preset presets[] = {
#define LT_PRESET(name, step, load, store, flow, schedule, raster, cta_group, rows, columns,       \
                  stages, acc_stages, staging_columns, doc)                                        \
    {name,                                                                                         \
     LATHE_COPY_##load,                                                                            \
     LATHE_COPY_##store,                                                                           \
     LATHE_##flow,                                                                                 \
     LATHE_##schedule,                                                                             \
     raster,                                                                                       \
     cta_group,                                                                                    \
     rows,                                                                                         \
     columns,                                                                                      \
     stages,                                                                                       \
     acc_stages,                                                                                   \
     staging_columns},
#include "templates/gemm_sm100.def"
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

/* Where nothing says otherwise, a tile of more rows than one MMA has is a pair's, if the rest can
 * have pairs; load and flow are there. */
static void complete_atom(struct lathe_plan *plan, const struct preset *preset)
{
    if (plan->cta_group == 0)
        plan->cta_group = preset->cta_group;
    if (plan->cta_group == 0)
        plan->cta_group =
            plan->tile[0] > MMA_ROWS && plan->cluster[0] % 2 == 0 && lt_gemm_sm100_has_pairs(plan)
                ? 2
                : 1;
    if (plan->cluster[0] == 0) {
        plan->cluster[0] = plan->cta_group;
        plan->cluster[1] = plan->cluster[2] = 1;
    }
    if (plan->consumers == 0)
        plan->consumers = plan->tile[0] > plan->cta_group * MMA_ROWS ? 2 : 1;
}

/* The preset's columns as far as the accumulator and a span of the swizzle have them, in whole
 * steps; where there is none of these, the check says so. */
static int staging_columns(const struct lathe_plan *plan, const struct preset *preset, int most)
{
    int columns = preset->staging_columns ? preset->staging_columns : STAGING_COLUMNS;
    int step = LT_GEMM_SM100_STAGING_STEP / lathe_type_bytes(plan->out);
    int span = LT_SPAN_BYTES / lathe_type_bytes(plan->out);

    columns = columns < most ? columns : most;
    columns = columns < span ? columns : span;
    return columns >= step ? columns / step * step : columns;
}

static void complete_epilogue(struct lathe_plan *plan, const struct preset *preset)
{
    const struct lt_accumulator accumulator = lt_gemm_sm100_accumulator(plan);

    if (plan->epilogue[0] > 0 || plan->store == LATHE_COPY_THREADS)
        return;
    plan->epilogue[0] = accumulator.lanes;
    plan->epilogue[1] = staging_columns(plan, preset, accumulator.columns);
    plan->epilogue[2] = STAGING_BUFFERS;
}

static void complete_accumulators(struct lathe_plan *plan, const struct preset *preset)
{
    if (plan->acc_stages > 0)
        return;
    plan->acc_stages = preset->acc_stages ? preset->acc_stages : 2;
    if (plan->flow != LATHE_SPECIALISED) /* nobody adds to one while another is stored */
        plan->acc_stages = 1;
    if (preset->acc_stages == 0 &&
        lt_gemm_sm100_tmem_columns(plan) > lt_arch(plan->arch)->tmem_columns)
        plan->acc_stages = 1;
}

/* The preset's depth where it fits; without one, all that fit. */
static void complete_stages(struct lathe_plan *plan, const struct preset *preset)
{
    struct lt_stages range = lt_gemm_sm100_stages(plan);

    if (plan->stages > 0)
        return;
    /* The budget of a staging that the check will refuse is no number to reckon with. */
    plan->stages = lt_gemm_sm100_check_epilogue(plan, NULL) == LATHE_OK
                       ? lt_gemm_stages_that_fit(plan, lt_gemm_sm100_budget, range.least)
                       : range.least;
    if (plan->stages > range.most)
        plan->stages = range.most;
    if (preset->stages >= range.least && preset->stages < plan->stages)
        plan->stages = preset->stages;
}

/* Groups of about 2,048 rows, as on sm_90a, where the preset says nothing. */
static int raster_of(const struct lathe_plan *plan, const struct preset *preset)
{
    int tile[2];

    if (lt_gemm_goes_by_rows(plan->schedule))
        return 1;
    lt_gemm_cluster_tile(plan, tile);
    return preset->raster ? preset->raster : tile[0] > 0 && tile[0] < 2048 ? 2048 / tile[0] : 1;
}

static bool is_serial(enum lathe_flow flow)
{
    return flow == LATHE_STEPWISE || flow == LATHE_SERIAL;
}

/* The preset's, but for one that goes with nothing that threads load, or with nothing else. */
static void complete_flow(struct lathe_plan *plan, const struct preset *preset)
{
    if (plan->load == LATHE_COPY_DEFAULT)
        plan->load = plan->flow == LATHE_FLOW_DEFAULT || is_serial(plan->flow) ? preset->load
                                                                               : LATHE_COPY_TMA;
    if (plan->flow == LATHE_FLOW_DEFAULT)
        plan->flow = plan->load == LATHE_COPY_THREADS && !is_serial(preset->flow) ? LATHE_SERIAL
                                                                                  : preset->flow;
}

static void complete(struct lathe_plan *plan, const struct preset *preset)
{
    complete_flow(plan, preset);
    if (plan->store == LATHE_COPY_DEFAULT)
        plan->store = preset->store;
    if (plan->schedule == LATHE_SCHEDULE_DEFAULT)
        plan->schedule = preset->schedule;
    complete_atom(plan, preset);
    if (plan->split == 0)
        plan->split = 1;
    complete_epilogue(plan, preset);
    complete_accumulators(plan, preset);
    complete_stages(plan, preset);
    if (plan->raster == 0)
        plan->raster = raster_of(plan, preset);
}

void lt_gemm_sm100_complete(struct lathe_plan *plan)
{
    complete(plan, preset_of(plan));
}

/* Tiles that are tried when none is named, by rows, those of a pair first, and by columns in steps
 * of 32. */
static const int tile_rows[] = {256, 128};
enum { COLUMNS_STEP = 32 };

/* There is no kernel to measure yet, so this only orders tiles: the work of the busiest CTA, more
 * of it the more bytes an operation takes from L2. The balance is where L2 counts as much. Of rows
 * an MMA has 128 in each CTA, filled or not: half of them take no less time. */
#define L2_BALANCE 0.01

static double cost(const struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    double waves = lt_gemm_waves(plan, problem);
    double whole = (double)(int64_t)waves < waves ? (double)((int64_t)waves + 1) : waves;

    int rows = plan->tile[0] / plan->cta_group;

    return whole * (rows > MMA_ROWS ? rows : MMA_ROWS) * plan->tile[1] *
           (1 + lt_gemm_l2_bytes(plan) / L2_BALANCE);
}

static void choose_tile(struct lathe_plan *plan, const struct lathe_gemm *problem,
                        const struct preset *preset)
{
    struct lathe_plan open = *plan, best = *plan;
    double best_cost = -1;

    open.stages = open.consumers = 0;
    memset(open.epilogue, 0, sizeof open.epilogue);
    for (size_t i = 0; i < sizeof tile_rows / sizeof tile_rows[0]; i++)
        for (int columns = COLUMNS_STEP; columns <= LT_GEMM_SM100_COLUMNS_MAX;
             columns += COLUMNS_STEP) {
            struct lathe_plan trial = open;

            if (tile_rows[i] > MMA_ROWS && problem->m <= MMA_ROWS)
                continue; /* of a pair one CTA would have nothing to do */
            trial.tile[0] = tile_rows[i];
            trial.tile[1] = columns;
            trial.tile[2] = lt_gemm_span_columns(plan);
            complete(&trial, preset);
            if (lt_gemm_sm100_check(&trial, NULL) != LATHE_OK ||
                (best_cost >= 0 && cost(&trial, problem) >= best_cost))
                continue;
            best_cost = cost(&trial, problem);
            best = trial;
        }
    memcpy(plan->tile, best.tile, sizeof plan->tile);
}

static void explain(struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    double waves = lt_gemm_waves(plan, problem);
    int places = lt_gemm_places(plan);

    plan->predicted_ns = 0;
    snprintf(plan->reason, sizeof plan->reason,
             "%.0f tile%s on %d place%s: %.2f waves; by rule, for no kernel of %s was measured",
             waves * places, waves * places == 1 ? "" : "s", places, places == 1 ? "" : "s", waves,
             lathe_arch_name(plan->arch));
}

enum lathe_status lt_gemm_sm100_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                       struct lathe_error *err)
{
    const struct preset *preset = preset_of(plan);
    enum lathe_status status = lt_gemm_check_problem(plan, err);

    if (status == LATHE_OK)
        status = lt_gemm_sm100_check_types(plan, err);
    if (status != LATHE_OK)
        return status;
    if (plan->tile[0] == 0 && preset->rows > 0) {
        plan->tile[0] = preset->rows;
        plan->tile[1] = preset->columns;
        plan->tile[2] = lt_gemm_span_columns(plan);
    }
    if (plan->tile[0] == 0)
        choose_tile(plan, problem, preset);
    if (plan->tile[0] == 0) {
        /* No tile goes with what is named: the usual one, and the check says why not. */
        plan->tile[0] = plan->cta_group == 1 ? MMA_ROWS : 2 * MMA_ROWS;
        plan->tile[1] = LT_GEMM_SM100_COLUMNS_MAX;
        plan->tile[2] = lt_gemm_span_columns(plan);
    }
    complete(plan, preset);
    status = lt_gemm_sm100_check(plan, err);
    if (status == LATHE_OK)
        status = lt_gemm_check_tiles(plan, problem, err);
    if (status == LATHE_OK)
        explain(plan, problem);
    return status;
}
