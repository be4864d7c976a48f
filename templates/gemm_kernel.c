#include "templates/gemm_kernel.h"

#include "codegen/budget.h"
#include "codegen/control.h"
#include "codegen/plan.h"

#include <stdio.h>

struct lt_gemm lt_gemm_common(const struct lathe_plan *plan)
{
    return (struct lt_gemm){
        .plan = plan,
        .spans = plan->tile[2] * lathe_type_bytes(plan->type) / LT_SPAN_BYTES,
        .span_k = lt_gemm_span_columns(plan),
        .ring_offset = lt_budget_offset(plan, "stage ring"),
    };
}

/* ---- The head ---- */

static void declare_smem(struct lt_builder *b, const struct lathe_plan *plan)
{
    lt_remark(b, "Shared memory of a CTA, %d of %d bytes:", plan->smem_bytes, plan->smem_limit);
    for (int i = 0; i < plan->tenant_count; i++) {
        const struct lathe_tenant *tenant = &plan->tenants[i];

        lt_remark(b, "  %6d  %6d  %s", tenant->offset, tenant->bytes, tenant->name);
    }
    lt_shared(b, plan->smem_bytes, LT_TILE_ALIGNMENT);
}

void lt_gemm_describe(struct lt_builder *b, const struct lathe_plan *plan)
{
    enum lathe_type sums = plan->acc ? plan->acc : plan->type == LATHE_INT8 ? LATHE_S32 : LATHE_F32;
    char words[512];

    lt_plan_text_words(plan, words, sizeof words);
    lt_remark(b, "D = alpha * A * B^T%s: A is m x k and B n x k of %s, D is m x n of %s; %s sums.",
              plan->beta == LATHE_BETA_ANY ? " + beta * C" : "", lathe_type_name(plan->type),
              lathe_type_name(plan->out), lathe_type_name(sums));
    lt_remark(b, "Lathe %s, plan:", lathe_version());
    lt_remark(b, "  %s", words);
    lt_remark(b, "Registers and labels belong to the braces that they stand in.");
    declare_smem(b, plan);
}

/* Whether rows of D may end within what TMA writes at once. */
bool lt_gemm_has_edge(const struct lathe_plan *plan)
{
    return plan->store == LATHE_COPY_THREADS || plan->static_size[1] < 0 ||
           plan->static_size[1] % lt_epilogue_whole_columns(plan->out) != 0;
}

void lt_gemm_declare_map(struct lt_builder *b, const struct lathe_plan *plan,
                         const struct lt_gemm_map *map)
{
    bool is_output = map->operand == LATHE_C || map->operand == LATHE_D;
    enum lathe_type type = is_output ? plan->out : plan->type;
    struct lathe_tensor_map recipe = {
        .operand = map->operand,
        .type = type,
        .box = {map->columns, map->rows},
        .swizzle_bytes = map->swizzle_bytes,
        .promotion_bytes = 256,
        .inner_multiple = map->operand == LATHE_D ? lt_epilogue_whole_columns(type) : 1,
        .outer_multiple = map->fits_rows ? LT_SWIZZLE_ROWS : 0,
    };

    snprintf(recipe.name, sizeof recipe.name, "%s", map->name);
    lt_param_tensor_map(b, &recipe);
}

void lt_gemm_declare_scalars(struct lt_builder *b, const struct lathe_plan *plan)
{
    if (plan->statics != LATHE_STATIC_MNK) {
        lt_param(b, "m", LATHE_PARAM_M);
        lt_param(b, "n", LATHE_PARAM_N);
    }
    if (plan->statics == LATHE_STATIC_NONE)
        lt_param(b, "k", LATHE_PARAM_K);
    if (!lt_gemm_goes_by_rows(plan->schedule))
        lt_param(b, "walk", LATHE_PARAM_WALK);
    lt_param(b, "alpha", LATHE_PARAM_ALPHA);
    if (plan->beta == LATHE_BETA_ANY)
        lt_param(b, "beta", LATHE_PARAM_BETA);
    if (lt_gemm_has_edge(plan)) {
        lt_param(b, "d", LATHE_PARAM_D);
        lt_param(b, "ldd", LATHE_PARAM_LDD);
    }
    if (plan->store == LATHE_COPY_THREADS && plan->beta == LATHE_BETA_ANY) {
        lt_param(b, "c", LATHE_PARAM_C);
        lt_param(b, "ldc", LATHE_PARAM_LDC);
    }
}

void lt_gemm_entry(struct lt_builder *b, const struct lathe_plan *plan)
{
    char name[96];

    snprintf(name, sizeof name, "lathe_gemm_%s_%s_%dx%dx%d_s%d_c%dx%d%s%s",
             lathe_type_name(plan->type), lathe_type_name(plan->out), plan->tile[0], plan->tile[1],
             plan->tile[2], plan->stages, plan->cluster[0], plan->cluster[1],
             plan->beta == LATHE_BETA_ANY ? "_beta" : "",
             plan->acc == LATHE_F16 ? "_f16_sums" : "");
    lt_entry(b, name, plan);
}

/* ---- All threads ---- */

/* A bound of D is an immediate where the plan has baked it in. */
static lt_value bound_of(struct lt_builder *b, const struct lathe_plan *plan, int dimension,
                         const char *name)
{
    return plan->static_size[dimension] < 0 ? lt_param_load(b, name)
                                            : lt_imm(plan->static_size[dimension]);
}

lt_value lt_gemm_warpgroup(struct lt_builder *b, const struct lt_gemm *g)
{
    return lt_op(b, "warpgroup", "shr.u32", g->warp, lt_imm(2));
}

void lt_gemm_identify(struct lt_builder *b, struct lt_gemm *g)
{
    g->thread = lt_op(b, "thread", "mov.u32", lt_special("%tid.x"));
    lt_value warp = lt_op(b, "warp", "shr.u32", g->thread, lt_imm(5));

    lt_note(b, "tells ptxas that a warp's lanes agree");
    g->warp =
        lt_op(b, "warp", "shfl.sync.idx.b32", warp, lt_imm(0), lt_imm(31), lt_hex(0xffffffff));
    g->lane = lt_op(b, "lane", "and.b32", g->thread, lt_imm(31));

    g->smem = lt_op(b, "smem_start", "mov.u32", lt_special("smem"));
    lt_comment(b, "swizzled tiles count on multiples of %d: stop rather than compute nonsense",
               LT_TILE_ALIGNMENT);
    lt_value odd = lt_op(b, "misaligned_by", "and.b32", g->smem, lt_imm(LT_TILE_ALIGNMENT - 1));
    lt_value misaligned = lt_op(b, "misaligned", "setp.ne.u32", odd, lt_imm(0));

    LT_WHEN (b, misaligned)
        lt_raw(b, "trap;");
    g->ring_start = lt_op(b, "ring", "add.u32", g->smem, lt_imm(g->ring_offset));
}

/* k = 0 still takes one step, at columns that lie outside A and B: TMA fills the stage with zeros,
 * so the accumulators need no code of their own to be cleared. */
void lt_gemm_count_k(struct lt_builder *b, struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;
    lt_value k = plan->static_size[2] < 0 ? lt_param_load(b, "k")
                                          : lt_op(b, "k", "mov.u32", lt_imm(plan->static_size[2]));

    g->k = k;

    lt_value empty = lt_op(b, "k_is_zero", "setp.eq.u32", k, lt_imm(0));
    lt_note(b, "k = 0: one step, outside A and B, which TMA fills with zeros");
    g->k_first = lt_op(b, "k_first", "selp.b32", lt_imm(plan->tile[2]), lt_imm(0), empty);
    lt_value rounded = lt_op(b, "k_blocks", "add.u32", k, lt_imm(plan->tile[2] - 1));
    lt_value blocks = lt_quotient(b, "k_blocks", rounded, plan->tile[2]);
    g->k_blocks = lt_op(b, "k_blocks", "selp.b32", lt_imm(1), blocks, empty);
}

void lt_gemm_load_scalars(struct lt_builder *b, struct lt_gemm *g)
{
    g->alpha = lt_param_load(b, "alpha");
    if (g->plan->beta == LATHE_BETA_ANY)
        g->beta = lt_param_load(b, "beta");
    g->m = bound_of(b, g->plan, 0, "m");
    g->n = bound_of(b, g->plan, 1, "n");
}
