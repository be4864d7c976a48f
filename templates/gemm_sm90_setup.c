/* gemm_sm90_setup.c: what all threads do before they take up their roles. */
#include "codegen/budget.h"
#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/tma.h"
#include "templates/gemm_sm90_parts.h"

/* A size is an immediate where the plan has baked it in. */
static lt_value size_of(struct lt_builder *b, const struct lathe_plan *plan, int dimension,
                        const char *name)
{
    if (plan->static_size[dimension] < 0)
        return lt_param_load(b, name);
    return lt_op(b, name, "mov.u32", lt_imm(plan->static_size[dimension]));
}

static void identify(struct lt_builder *b, struct lt_gemm *g)
{
    g->thread = lt_op(b, "thread", "mov.u32", lt_special("%tid.x"));
    lt_value warp = lt_op(b, "warp", "shr.u32", g->thread, lt_imm(5));

    lt_note(b, "tells ptxas that a warp's lanes agree");
    g->warp =
        lt_op(b, "warp", "shfl.sync.idx.b32", warp, lt_imm(0), lt_imm(31), lt_hex(0xffffffff));
    g->lane = lt_op(b, "lane", "and.b32", g->thread, lt_imm(31));
    g->warpgroup = lt_op(b, "warpgroup", "shr.u32", g->warp, lt_imm(2));

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
static void count_k(struct lt_builder *b, struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;
    lt_value k = size_of(b, plan, 2, "k");

    lt_value empty = lt_op(b, "k_is_zero", "setp.eq.u32", k, lt_imm(0));
    lt_note(b, "k = 0: one step, outside A and B, which TMA fills with zeros");
    g->k_first = lt_op(b, "k_first", "selp.b32", lt_imm(plan->tile[2]), lt_imm(0), empty);
    lt_value rounded = lt_op(b, "k_blocks", "add.u32", k, lt_imm(plan->tile[2] - 1));
    lt_value blocks = lt_op(b, "k_blocks", "div.u32", rounded, lt_imm(plan->tile[2]));
    g->k_blocks = lt_op(b, "k_blocks", "selp.b32", lt_imm(1), blocks, empty);
}

static void load_maps(struct lt_builder *b, struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;
    struct lt_epilogue *e = &g->epilogue;
    int whole = lt_epilogue_chunk_columns(plan->out);
    bool tail = plan->tile[1] > whole && plan->tile[1] % whole != 0;

    g->map_a = lt_param_address(b, "map_a", "a_map");
    g->map_b = lt_param_address(b, "map_b", "b_map");
    if (plan->store == LATHE_COPY_THREADS)
        return;
    if (e->reads_c)
        e->map_c = lt_param_address(b, "map_c", "c_map");
    if (e->reads_c && tail)
        e->map_c_tail = lt_param_address(b, "map_c_tail", "c_tail_map");
    e->map_d = lt_param_address(b, "map_d", "d_map");
    if (tail)
        e->map_d_tail = lt_param_address(b, "map_d_tail", "d_tail_map");
}

static void load_factors(struct lt_builder *b, struct lt_gemm *g)
{
    g->alpha = lt_param_load(b, "alpha");
    if (g->plan->beta == LATHE_BETA_ANY)
        g->beta = lt_param_load(b, "beta");
}

static void init_barriers(struct lt_builder *b, struct lt_gemm *g)
{
    bool stages_d = g->plan->store == LATHE_COPY_TMA;

    lt_heading(b, "barriers: one thread, for all");
    g->is_first = lt_op(b, "first_thread", "setp.eq.u32", g->thread, lt_imm(0));
    LT_IF (b, "initialised", g->is_first) {
        LT_SCOPE (b) {
            lt_ring_init(b, &g->tiles, g->smem);
            if (stages_d)
                lt_epilogue_init(b, &g->epilogue, g->smem, g->plan->consumers);
            lt_note(b, "before TMA or another CTA may signal them");
            lt_fence_mbarrier_init(b);
            lt_tma_prefetch_map(b, g->map_a);
            lt_tma_prefetch_map(b, g->map_b);
            if (stages_d)
                lt_tma_prefetch_map(b, g->epilogue.map_d);
        }
    }
    if (g->tiles.ctas > 1) {
        lt_comment(b,
                   "no CTA may signal another before that one's barriers stand; the fence above");
        lt_comment(b, "has shown them, so relaxed will do");
        lt_cluster_sync(b);
    } else {
        lt_bar_sync_cta(b);
    }
}

void lt_gemm_setup(struct lt_builder *b, struct lt_gemm *g)
{
    lt_heading(b, "setup: all warps");
    identify(b, g);
    load_maps(b, g);
    load_factors(b, g);
    count_k(b, g);
    g->m = size_of(b, g->plan, 0, "m");
    g->n = size_of(b, g->plan, 1, "n");
    g->epilogue.m = g->m;
    g->epilogue.n = g->n;
    g->epilogue.alpha = g->alpha;
    g->epilogue.beta = g->beta;
    g->schedule = lt_schedule_begin(b, g->plan, g->m, g->n);
    init_barriers(b, g);
}
