/* gemm_sm100_head.c: what stands before the roles of a kernel for sm_100a and sm_103a, and behind
 * them: parameters, barriers, tensor memory. */
#include "codegen/budget.h"
#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/tma.h"
#include "codegen/wgmma.h"
#include "templates/gemm_sm100_kernel.h"

/* Columns whose sums a thread holds at a time where it stores them itself. */
enum { THREAD_CHUNK = 32 };

/* ---- Arithmetic ---- */

static bool is_specialised(const struct lathe_plan *plan)
{
    return plan->flow == LATHE_SPECIALISED;
}

/* CTAs that signal each other. */
static bool has_others(const struct lathe_plan *plan)
{
    return is_specialised(plan) && lt_gemm_cluster_size(plan) > 1;
}

static bool has_tiles_ring(const struct lathe_plan *plan)
{
    return plan->load == LATHE_COPY_TMA;
}

static bool is_dynamic(const struct lathe_plan *plan)
{
    return plan->schedule == LATHE_DYNAMIC;
}

/* CTAs, or pairs, whose MMAs read what this CTA fetches: those it shares A with, those it shares B
 * with, and its own is one of both. */
static int reading_groups(const struct lathe_plan *plan)
{
    return lt_gemm_a_sharers(plan) + lt_gemm_b_sharers(plan) - 1;
}

static const char *empty_note(const struct lathe_plan *plan)
{
    bool several = plan->consumers > 1;

    if (!lt_gemm_sm100_shares(plan))
        return several ? "a commit behind the MMAs of each consumer arrives"
                       : "a commit behind the MMAs arrives";
    if (plan->cta_group == 1)
        return several ? "a commit of each consumer of each CTA that this one fetches for arrives"
                       : "a commit of each CTA that this one fetches for arrives";
    return several ? "a commit of each consumer of each pair that this CTA fetches for arrives"
                   : "a commit of each pair that this CTA fetches for arrives";
}

/* The MMA empties a stage: by one commit of each consumer. Where one step follows the other, the
 * barrier of the products says the same. */
static struct lt_ring tiles_ring(const struct lathe_plan *plan)
{
    return (struct lt_ring){
        .name = "tiles",
        .stages = plan->stages,
        .bytes = lt_gemm_stage_bytes(plan),
        .readers = lt_gemm_is_serial(plan) ? 0 : plan->consumers * reading_groups(plan),
        .empty_note = empty_note(plan),
        .ctas = 1,
    };
}

static struct lt_ring accs_ring(const struct lathe_plan *plan, int offset)
{
    return (struct lt_ring){
        .name = "accs",
        .stages = plan->acc_stages,
        .offset = offset,
        .readers = LT_WARPGROUP_THREADS * plan->cta_group,
        .full_note = "a commit behind a tile's last MMAs arrives",
        .empty_note = plan->cta_group > 1 ? "every thread of both CTAs that reads the sums arrives"
                                          : "every thread that reads the sums arrives",
        .ctas = 1,
    };
}

static struct lt_tmem_epilogue epilogue_of(const struct lathe_plan *plan, int c_full)
{
    const struct lt_accumulator accumulator = lt_gemm_sm100_accumulator(plan);
    bool by_tma = plan->store == LATHE_COPY_TMA;
    int rows = plan->tile[0] / plan->consumers / plan->cta_group;
    int at_once = accumulator.columns < THREAD_CHUNK ? accumulator.columns : THREAD_CHUNK;

    return (struct lt_tmem_epilogue){
        .plan = plan,
        .lanes = accumulator.lanes,
        .columns = accumulator.columns,
        .is_folded = rows < LT_TMEM_LANES && accumulator.lanes == LT_TMEM_LANES,
        .by_tma = by_tma,
        .chunk = by_tma ? plan->epilogue[1] : at_once,
        .buffers = plan->epilogue[2] / plan->consumers,
        .staging = by_tma ? lt_budget_offset(plan, "epilogue staging") : 0,
        .c_full = c_full,
    };
}

struct lt_gemm_sm100 lt_gemm_sm100_of(const struct lathe_plan *plan)
{
    struct lt_gemm_sm100 s = {
        .g = lt_gemm_common(plan),
        .cta_rows = plan->tile[0] / plan->consumers / plan->cta_group,
        .cta_columns = plan->tile[1] / plan->cta_group,
        .accumulator = lt_gemm_sm100_accumulator(plan),
    };
    int offset;

    s.g.tiles = tiles_ring(plan);
    offset = has_tiles_ring(plan) ? lt_ring_barrier_bytes(&s.g.tiles) : 0;
    s.products = (struct lt_ring){.name = "products",
                                  .stages = 1,
                                  .offset = offset,
                                  .ctas = 1,
                                  .full_note = "a commit behind the MMAs arrives"};
    s.accs = accs_ring(plan, offset);
    if (lt_gemm_is_serial(plan))
        offset += lt_ring_barrier_bytes(&s.products);
    if (is_specialised(plan))
        offset += plan->consumers * lt_ring_barrier_bytes(&s.accs);
    if (is_dynamic(plan)) {
        s.replies = lt_gemm_sm100_replies(plan, offset);
        offset += lt_ring_barrier_bytes(&s.replies);
    }
    s.epilogue = epilogue_of(plan, offset);
    return s;
}

/* ---- The head ---- */

static void declare_output(struct lt_builder *b, const struct lt_gemm_sm100 *s, const char *name,
                           const char *tail_name, enum lathe_operand operand)
{
    const struct lathe_plan *plan = s->g.plan;
    const struct lt_tmem_epilogue *e = &s->epilogue;
    int rest = e->columns % e->chunk;
    struct lt_gemm_map map = {.name = name,
                              .operand = operand,
                              .columns = e->chunk,
                              .rows = s->cta_rows,
                              .swizzle_bytes = lt_tmem_swizzle_bytes(plan, e->chunk)};

    lt_gemm_declare_map(b, plan, &map);
    if (rest == 0)
        return;
    map.name = tail_name;
    map.columns = rest;
    map.swizzle_bytes = lt_tmem_swizzle_bytes(plan, rest);
    lt_gemm_declare_map(b, plan, &map);
}

static void declare_operand(struct lt_builder *b, const struct lt_gemm_sm100 *s, const char *name,
                            enum lathe_operand operand, int rows)
{
    const struct lt_gemm_map map = {.name = name,
                                    .operand = operand,
                                    .columns = s->g.span_k,
                                    .rows = rows,
                                    .swizzle_bytes = LT_SWIZZLE_128B};

    lt_gemm_declare_map(b, s->g.plan, &map);
}

static void declare_operands(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    if (s->g.plan->load == LATHE_COPY_TMA) {
        declare_operand(b, s, "map_a", LATHE_A, lt_gemm_sm100_a_slice_rows(s->g.plan));
        declare_operand(b, s, "map_b", LATHE_B, lt_gemm_sm100_b_slice_rows(s->g.plan));
        return;
    }
    lt_param(b, "a", LATHE_PARAM_A);
    lt_param(b, "lda", LATHE_PARAM_LDA);
    lt_param(b, "b", LATHE_PARAM_B);
    lt_param(b, "ldb", LATHE_PARAM_LDB);
}

void lt_gemm_sm100_head(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;

    lt_gemm_describe(b, plan);
    declare_operands(b, s);
    if (plan->store == LATHE_COPY_TMA) {
        if (plan->beta == LATHE_BETA_ANY)
            declare_output(b, s, "map_c", "map_c_tail", LATHE_C);
        declare_output(b, s, "map_d", "map_d_tail", LATHE_D);
    }
    lt_gemm_declare_scalars(b, plan);
    lt_gemm_entry(b, plan);
}

/* ---- Setup: all threads ---- */

static void load_maps(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    struct lt_tmem_epilogue *e = &s->epilogue;
    bool has_tail = e->columns % e->chunk != 0;

    if (plan->load == LATHE_COPY_TMA) {
        s->g.map_a = lt_param_address(b, "map_a", "a_map");
        s->g.map_b = lt_param_address(b, "map_b", "b_map");
    }
    if (plan->store == LATHE_COPY_THREADS)
        return;
    if (plan->beta == LATHE_BETA_ANY) {
        e->map_c = lt_param_address(b, "map_c", "c_map");
        if (has_tail)
            e->map_c_tail = lt_param_address(b, "map_c_tail", "c_tail_map");
    }
    e->map_d = lt_param_address(b, "map_d", "d_map");
    if (has_tail)
        e->map_d_tail = lt_param_address(b, "map_d_tail", "d_tail_map");
}

/* Pairs lie along m, an even rank and the next. */
static void find_pair(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;

    if (plan->cta_group == 1) {
        if (is_dynamic(plan) && lt_gemm_cluster_size(plan) > 1)
            s->rank = lt_op(b, "rank", "mov.u32", lt_special("%cluster_ctarank"));
        return;
    }
    lt_comment(b,
               "the even CTA of a pair leads: its barriers count, and it issues the MMAs of both");
    s->rank = lt_op(b, "rank", "mov.u32", lt_special("%cluster_ctarank"));
    s->pair_rank = lt_op(b, "pair_rank", "and.b32", s->rank, lt_imm(1));
    s->leader = lt_op(b, "leader", "sub.u32", s->rank, s->pair_rank);
    s->is_leader = lt_op(b, "is_leader", "setp.eq.u32", s->pair_rank, lt_imm(0));
    lt_note(b, "both CTAs");
    s->pair_mask = lt_op(b, "pair_ranks", "shl.b32", lt_imm(3), s->leader);
    s->pair_mask = lt_op(b, "pair_mask", "cvt.u16.u32", s->pair_mask);
}

static void init_accs(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    for (int i = 0; i < s->g.plan->consumers; i++)
        LT_SCOPE (b) {
            struct lt_ring accs = s->accs;

            accs.offset += i * lt_ring_barrier_bytes(&s->accs);
            lt_ring_init(b, &accs, s->g.smem);
        }
}

static void init_barriers(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;

    s->g.is_first = lt_op(b, "first_thread", "setp.eq.u32", s->g.thread, lt_imm(0));
    LT_IF (b, "initialised", s->g.is_first)
        LT_SCOPE (b) {
            if (has_tiles_ring(plan))
                lt_ring_init(b, &s->g.tiles, s->g.smem);
            if (lt_gemm_is_serial(plan))
                lt_ring_init(b, &s->products, s->g.smem);
            if (is_specialised(plan))
                init_accs(b, s);
            if (is_dynamic(plan))
                lt_ring_init(b, &s->replies, s->g.smem);
            lt_tmem_epilogue_init(b, &s->epilogue, plan->consumers);
            lt_note(b, "before TMA, the tensor cores or another CTA may signal them");
            lt_fence_mbarrier_init(b);
            if (has_tiles_ring(plan)) {
                lt_tma_prefetch_map(b, s->g.map_a);
                lt_tma_prefetch_map(b, s->g.map_b);
            }
            if (plan->store == LATHE_COPY_TMA)
                lt_tma_prefetch_map(b, s->epilogue.map_d);
        }
}

static lt_value pointer_at(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    return lt_op(b, "tmem_pointer", "add.u32", s->g.smem,
                 lt_imm(lt_budget_offset(s->g.plan, "tmem pointer")));
}

/* In a pair both CTAs allocate, and both get the same columns. */
static void allocate(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    lt_value pointer = pointer_at(b, s);
    lt_value allocates = lt_op(b, "allocates", "setp.eq.u32", s->g.warp, lt_imm(0));

    lt_comment(b, "whole warps allocate and read tensor memory: thread 0 is back");
    lt_warp_sync(b);
    LT_IF (b, "allocated", allocates) {
        lt_tmem_alloc(b, plan->cta_group, pointer, plan->tmem_columns);
        lt_note(b, "another CTA may have what is left");
        lt_tmem_relinquish(b, plan->cta_group);
    }
    lt_tcgen05_fence_before(b);
    lt_bar_sync_cta(b);
    if (has_others(plan)) {
        lt_comment(b, "no CTA may signal another before that one's barriers stand");
        lt_cluster_sync(b);
    }
    lt_tcgen05_fence_after(b);
    s->tmem = lt_define(b, LT_B32, "tmem");
    lt_inst(b, "ld.shared.b32 %0, [%1];", s->tmem, pointer);
}

void lt_gemm_sm100_setup(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    lt_heading(b, "setup: all warps");
    lt_gemm_identify(b, &s->g);
    load_maps(b, s);
    lt_gemm_count_k(b, &s->g);
    lt_gemm_load_scalars(b, &s->g);
    s->epilogue.smem = s->g.smem;
    s->epilogue.m = s->g.m;
    s->epilogue.n = s->g.n;
    s->epilogue.alpha = s->g.alpha;
    s->epilogue.beta = s->g.beta;
    find_pair(b, s);
    s->g.schedule = lt_schedule_begin(b, s->g.plan, s->g.m, s->g.n);
    lt_heading(b, "barriers: one thread, for all");
    init_barriers(b, s);
    lt_heading(b, "tensor memory: warp 0 allocates, all get to know");
    allocate(b, s);
}

/* ---- Teardown: all threads ---- */

void lt_gemm_sm100_teardown(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;

    lt_heading(b, "teardown: all warps");
    lt_comment(b, "all have read what they need of tensor memory; what a role left alone is back");
    lt_warp_sync(b);
    lt_tcgen05_fence_before(b);
    if (s->rank.kind == LT_NOTHING) { /* what other CTAs signal, the producer has drained */
        lt_bar_sync_cta(b);
    } else if (plan->cta_group == 1) {
        lt_comment(b, "other CTAs signal this one's barriers, and replies come from one of them");
        lt_cluster_sync_with_memory(b);
    } else {
        lt_comment(b, lt_gemm_sm100_shares(plan)
                          ? "other CTAs write this one's shared memory, read "
                            "it and signal its barriers, and what"
                          : "the other CTA reads this one's shared memory "
                            "and signals its barriers, and what");
        lt_comment(b, "one of a pair frees the other has read");
        lt_cluster_sync_with_memory(b);
    }
    lt_tcgen05_fence_after(b);
    LT_IF (b, "freed", lt_op(b, "frees", "setp.eq.u32", s->g.warp, lt_imm(0)))
        lt_tmem_dealloc(b, plan->cta_group, s->tmem, plan->tmem_columns);
    lt_raw(b, "ret;");
}
