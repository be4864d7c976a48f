#include "templates/gemm_sm90_head.h"

#include "codegen/plan.h"
#include "templates/gemm_sm90.h"

#include <stdio.h>

/* ---- Arithmetic that the planner shares ---- */

int lt_gemm_a_slice_rows(const struct lathe_plan *plan)
{
    return plan->tile[0] / plan->cluster[1];
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

/* Whether rows of D may end within what TMA writes at once. */
static bool has_edge(const struct lathe_plan *plan)
{
    return plan->store == LATHE_COPY_THREADS || plan->static_size[1] < 0 ||
           plan->static_size[1] % lt_epilogue_whole_columns(plan->out) != 0;
}

static void declare_map(struct lt_builder *b, const struct lathe_plan *plan, const char *name,
                        enum lathe_operand operand, enum lathe_type type, int columns, int rows)
{
    struct lathe_tensor_map map = {
        .operand = operand,
        .type = type,
        .box = {columns, rows},
        .swizzle_bytes = LT_SWIZZLE_128B,
        .promotion_bytes = 256,
        .inner_multiple = operand == LATHE_D ? lt_epilogue_whole_columns(type) : 1,
        .outer_multiple = operand == LATHE_A && lt_gemm_fits_a(plan) ? LT_SWIZZLE_ROWS : 0,
    };

    snprintf(map.name, sizeof map.name, "%s", name);
    lt_param_tensor_map(b, &map);
}

/* Chunks of the epilogue: a map for whole ones, and one for the narrower last where there is one.
 */
static void declare_output_maps(struct lt_builder *b, const struct lathe_plan *plan,
                                const char *name, const char *tail_name, enum lathe_operand operand)
{
    int whole = lt_epilogue_chunk_columns(plan->out);
    int width = plan->tile[1];

    declare_map(b, plan, name, operand, plan->out, width < whole ? width : whole, LT_EPILOGUE_ROWS);
    if (width > whole && width % whole != 0)
        declare_map(b, plan, tail_name, operand, plan->out, width % whole, LT_EPILOGUE_ROWS);
}

static void declare_params(struct lt_builder *b, const struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;

    declare_map(b, plan, "map_a", LATHE_A, plan->type, g->span_k, lt_gemm_a_slice_rows(plan));
    declare_map(b, plan, "map_b", LATHE_B, plan->type, g->span_k, plan->tile[1] / plan->cluster[0]);
    if (plan->store == LATHE_COPY_TMA) {
        if (plan->beta == LATHE_BETA_ANY)
            declare_output_maps(b, plan, "map_c", "map_c_tail", LATHE_C);
        declare_output_maps(b, plan, "map_d", "map_d_tail", LATHE_D);
    }
    if (plan->statics != LATHE_STATIC_MNK) {
        lt_param(b, "m", LATHE_PARAM_M);
        lt_param(b, "n", LATHE_PARAM_N);
    }
    if (plan->statics == LATHE_STATIC_NONE)
        lt_param(b, "k", LATHE_PARAM_K);
    if (plan->schedule != LATHE_GRID)
        lt_param(b, "raster", LATHE_PARAM_RASTER);
    lt_param(b, "alpha", LATHE_PARAM_ALPHA);
    if (plan->beta == LATHE_BETA_ANY)
        lt_param(b, "beta", LATHE_PARAM_BETA);
    if (has_edge(plan)) {
        lt_param(b, "d", LATHE_PARAM_D);
        lt_param(b, "ldd", LATHE_PARAM_LDD);
    }
    if (plan->store == LATHE_COPY_THREADS && plan->beta == LATHE_BETA_ANY) {
        lt_param(b, "c", LATHE_PARAM_C);
        lt_param(b, "ldc", LATHE_PARAM_LDC);
    }
}

static void declare_smem(struct lt_builder *b, const struct lathe_plan *plan)
{
    lt_remark(b, "Shared memory of a CTA, %d of %d bytes:", plan->smem_bytes, plan->smem_limit);
    for (int i = 0; i < plan->tenant_count; i++) {
        const struct lathe_tenant *tenant = &plan->tenants[i];

        lt_remark(b, "  %6d  %6d  %s", tenant->offset, tenant->bytes, tenant->name);
    }
    lt_shared(b, plan->smem_bytes, LT_TILE_ALIGNMENT);
}

static void describe(struct lt_builder *b, const struct lathe_plan *plan)
{
    char words[512];

    lt_plan_text_words(plan, words, sizeof words);
    lt_remark(b, "D = alpha * A * B^T%s: A is m x k and B n x k of %s, D is m x n of %s; %s sums.",
              plan->beta == LATHE_BETA_ANY ? " + beta * C" : "", lathe_type_name(plan->type),
              lathe_type_name(plan->out), lathe_type_name(plan->acc));
    lt_remark(b, "Lathe %s, plan:", lathe_version());
    lt_remark(b, "  %s", words);
    lt_remark(b, "Registers and labels belong to the braces that they stand in.");
}

static void entry(struct lt_builder *b, const struct lathe_plan *plan)
{
    char name[96];

    snprintf(name, sizeof name, "lathe_gemm_%s_%s_%dx%dx%d_s%d_c%dx%d%s%s",
             lathe_type_name(plan->type), lathe_type_name(plan->out), plan->tile[0], plan->tile[1],
             plan->tile[2], plan->stages, plan->cluster[0], plan->cluster[1],
             plan->beta == LATHE_BETA_ANY ? "_beta" : "",
             plan->acc == LATHE_F16 ? "_f16_sums" : "");
    lt_entry(b, name, plan);
}

struct lt_gemm lt_gemm_of(const struct lathe_plan *plan)
{
    struct lt_gemm g = {
        .plan = plan,
        .blocks = plan->tile[0] / (plan->consumers * LT_WGMMA_ROWS),
        .spans = plan->tile[2] * lathe_type_bytes(plan->type) / LT_SPAN_BYTES,
        .span_k = LT_SPAN_BYTES / lathe_type_bytes(plan->type),
        .ring_offset = lt_budget_offset(plan, "stage ring"),
        .tiles = tiles_ring(plan),
    };

    g.epilogue = (struct lt_epilogue){
        .plan = plan,
        .out = plan->out,
        .columns = plan->tile[1],
        .blocks = g.blocks,
        .buffers = buffers_of(plan),
        .turns = lt_gemm_takes_turns(plan) ? plan->consumers : 0,
        .reads_c = plan->beta == LATHE_BETA_ANY,
        .has_edge = has_edge(plan),
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
    describe(b, g->plan);
    declare_smem(b, g->plan);
    declare_params(b, g);
    entry(b, g->plan);
}
