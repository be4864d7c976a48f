#include "templates/gemm_sm90_head.h"

#include "templates/gemm_sm90.h"

/* ---- Arithmetic that the planner shares ---- */

int lt_gemm_a_slice_rows(const struct lathe_plan *plan)
{
    return plan->tile[0] / lt_gemm_a_sharers(plan);
}

int lt_gemm_b_slice_rows(const struct lathe_plan *plan)
{
    return plan->tile[1] / lt_gemm_b_sharers(plan);
}

/* As many as a row of the tile is long, where the warpgroups take turns with them. */
static int buffers_of(const struct lathe_plan *plan)
{
    return lt_gemm_takes_turns(plan)
               ? plan->epilogue[2] * lt_epilogue_chunks(plan->out, plan->tile[1])
               : plan->epilogue[2];
}

static int staging_bytes(const struct lathe_plan *plan)
{
    int owners = lt_gemm_takes_turns(plan) ? 1 : plan->consumers;

    return plan->store == LATHE_COPY_TMA ? owners * buffers_of(plan) * LT_EPILOGUE_BUFFER_BYTES : 0;
}

bool lt_gemm_takes_turns(const struct lathe_plan *plan)
{
    return plan->store == LATHE_COPY_TMA && plan->consumers > 1 &&
           plan->epilogue[0] == LT_EPILOGUE_ROWS;
}

/* Where CTAs are to make few rows over and over it pays to fetch no more rows of A than there are:
 * those outside take TMA longer. */
bool lt_gemm_fits_a(const struct lathe_plan *plan)
{
    return plan->schedule == LATHE_PERSISTENT;
}

static struct lt_ring tiles_ring(const struct lathe_plan *plan)
{
    return (struct lt_ring){
        .name = "tiles",
        .stages = plan->stages,
        .offset = 0,
        .bytes = lt_gemm_stage_bytes(plan),
        .readers = plan->flow == LATHE_SPECIALISED
                       ? plan->consumers * LT_WARPGROUP_WARPS * lt_gemm_cluster_size(plan)
                       : 0,
        .ctas = lt_gemm_cluster_size(plan),
    };
}

static int c_barrier_bytes(const struct lathe_plan *plan)
{
    return plan->beta == LATHE_BETA_ANY && plan->store == LATHE_COPY_TMA
               ? plan->consumers * buffers_of(plan) * LT_MBARRIER_BYTES
               : 0;
}

void lt_gemm_sm90_budget(const struct lathe_plan *plan, struct lt_budget *budget)
{
    struct lt_ring tiles = tiles_ring(plan);

    *budget = (struct lt_budget){0};
    lt_budget_add(budget, "barriers", lt_ring_barrier_bytes(&tiles) + c_barrier_bytes(plan));
    lt_budget_align(budget, LT_TILE_ALIGNMENT);
    lt_budget_add(budget, "stage ring", (int64_t)plan->stages * lt_gemm_stage_bytes(plan));
    if (plan->store == LATHE_COPY_TMA)
        lt_budget_add(budget, "epilogue staging", staging_bytes(plan));
}

/* ---- Declarations ---- */

static void declare_map(struct lt_builder *b, const struct lathe_plan *plan, const char *name,
                        enum lathe_operand operand, int columns, int rows)
{
    const struct lt_gemm_map map = {.name = name,
                                    .operand = operand,
                                    .columns = columns,
                                    .rows = rows,
                                    .swizzle_bytes = LT_SWIZZLE_128B,
                                    .fits_rows = operand == LATHE_A && lt_gemm_fits_a(plan)};

    lt_gemm_declare_map(b, plan, &map);
}

/* Chunks of the epilogue: a map for whole ones, and one for the narrower last where there is one.
 */
static void declare_output_maps(struct lt_builder *b, const struct lathe_plan *plan,
                                const char *name, const char *tail_name, enum lathe_operand operand)
{
    int whole = lt_epilogue_chunk_columns(plan->out);
    int width = plan->tile[1];

    declare_map(b, plan, name, operand, width < whole ? width : whole, LT_EPILOGUE_ROWS);
    if (width > whole && width % whole != 0)
        declare_map(b, plan, tail_name, operand, width % whole, LT_EPILOGUE_ROWS);
}

static void declare_params(struct lt_builder *b, const struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;

    declare_map(b, plan, "map_a", LATHE_A, g->span_k, lt_gemm_a_slice_rows(plan));
    declare_map(b, plan, "map_b", LATHE_B, g->span_k, lt_gemm_b_slice_rows(plan));
    if (plan->store == LATHE_COPY_TMA) {
        if (plan->beta == LATHE_BETA_ANY)
            declare_output_maps(b, plan, "map_c", "map_c_tail", LATHE_C);
        declare_output_maps(b, plan, "map_d", "map_d_tail", LATHE_D);
    }
    lt_gemm_declare_scalars(b, plan);
}

struct lt_gemm lt_gemm_of(const struct lathe_plan *plan)
{
    struct lt_gemm g = lt_gemm_common(plan);

    g.blocks = plan->tile[0] / (plan->consumers * LT_WGMMA_ROWS);
    g.tiles = tiles_ring(plan);
    g.epilogue = (struct lt_epilogue){
        .plan = plan,
        .out = plan->out,
        .columns = plan->tile[1],
        .blocks = g.blocks,
        .buffers = buffers_of(plan),
        .turns = lt_gemm_takes_turns(plan) ? plan->consumers : 0,
        .reads_c = plan->beta == LATHE_BETA_ANY,
        .has_edge = lt_gemm_has_edge(plan),
        .c_barriers = lt_ring_barrier_bytes(&g.tiles),
    };
    return g;
}

struct lt_vector lt_gemm_accumulators(struct lt_builder *b, const struct lathe_plan *plan)
{
    return lt_vector(b, plan->acc == LATHE_F16 ? LT_B32 : LT_F32, "acc", plan->accumulators);
}

void lt_gemm_head(struct lt_builder *b, const struct lt_gemm *g)
{
    lt_gemm_describe(b, g->plan);
    declare_params(b, g);
    lt_gemm_entry(b, g->plan);
}
