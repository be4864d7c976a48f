/* gemm_sm90_setup.c: what all threads do before they take up their roles. */
#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/tma.h"
#include "templates/gemm_sm90_parts.h"

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
    lt_gemm_identify(b, g);
    g->warpgroup = lt_gemm_warpgroup(b, g);
    load_maps(b, g);
    lt_gemm_count_k(b, g);
    lt_gemm_load_scalars(b, g);
    g->epilogue.m = g->m;
    g->epilogue.n = g->n;
    g->epilogue.alpha = g->alpha;
    g->epilogue.beta = g->beta;
    g->schedule = lt_schedule_begin(b, g->plan, g->m, g->n);
    init_barriers(b, g);
}
