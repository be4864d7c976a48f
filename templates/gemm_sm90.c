/* D = alpha * A * B^T + beta * C with wgmma, warp-specialised and persistent: a producer warp
 * fetches tiles of A and B with TMA, consumer warpgroups multiply and store. Every number comes
 * from the plan; this file only says who does what, in which order.
 *
 *      producer warp                 ring "tiles"                 consumer warpgroups
 *      TMA A, TMA B    --full-->    stage 0 .. S-1   --full-->    wgmma
 *                      <--empty--                    <--empty--   staging --TMA--> D
 *
 * One wgmma group stays in flight, so a stage is let go one step after it was read. In a cluster
 * the CTAs of a column share B and those of a row share A: each fetches its slice for all of them.
 */
#include "templates/gemm_sm90.h"

#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/descriptor.h"
#include "codegen/tma.h"
#include "templates/gemm_sm90_head.h"

#include <stdio.h>

/* ---- Setup: all threads ---- */

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
    if (e->reads_c)
        e->map_c = lt_param_address(b, "map_c", "c_map");
    if (e->reads_c && tail)
        e->map_c_tail = lt_param_address(b, "map_c_tail", "c_tail_map");
    e->map_d = lt_param_address(b, "map_d", "d_map");
    if (tail)
        e->map_d_tail = lt_param_address(b, "map_d_tail", "d_tail_map");
    e->alpha = lt_param_load(b, "alpha");
    if (e->reads_c)
        e->beta = lt_param_load(b, "beta");
}

static void init_barriers(struct lt_builder *b, struct lt_gemm *g)
{
    lt_value first = lt_op(b, "first_thread", "setp.eq.u32", g->thread, lt_imm(0));

    LT_IF (b, "initialised", first) {
        LT_SCOPE (b) {
            lt_ring_init(b, &g->tiles, g->smem);
            lt_epilogue_init(b, &g->epilogue, g->smem, g->plan->consumers);
            lt_note(b, "before TMA or another CTA may signal them");
            lt_fence_mbarrier_init(b);
            lt_tma_prefetch_map(b, g->map_a);
            lt_tma_prefetch_map(b, g->map_b);
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

static void setup(struct lt_builder *b, struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;

    lt_heading(b, "setup: all warps");
    identify(b, g);
    load_maps(b, g);
    count_k(b, g);

    lt_value m = size_of(b, plan, 0, "m");
    lt_value n = size_of(b, plan, 1, "n");

    g->m = m;
    g->epilogue.m = m;
    g->epilogue.n = n;
    g->schedule = lt_schedule_begin(b, plan, m, n, lt_param_load(b, "raster"));
    init_barriers(b, g);
}

/* ---- Producer ---- */

/* What this CTA fetches: its slice, to all CTAs that share it. */
struct slices {
    lt_value a_mask, b_mask;     /* nothing where the tile is not shared       */
    lt_value a_offset, b_offset; /* bytes into the stage                       */
    lt_value a_row, b_row;       /* rows into the tile                         */
    lt_value a_rows;             /* of a slice: fewer where A is short         */
    lt_value fetches_a;          /* predicate; nothing where each CTA does     */
    lt_value stage_bytes;        /* that arrive at a stage, from whichever CTA */
};

/* Whether A may be shorter than a tile. Rows of a box that lie outside A come as zeros, but take
 * TMA longer than real ones: 5 us of 21 with m = 1, n = 6144, k = 4096 on an H200. So the boxes
 * have no more rows than A; what stands in shared memory below them only reaches rows of D that are
 * none. */
static bool may_be_short(const struct lathe_plan *plan)
{
    return plan->static_size[0] < plan->tile[0];
}

static void measure_a(struct lt_builder *b, const struct lt_gemm *g, struct slices *s)
{
    const struct lathe_plan *plan = g->plan;
    int shared_by = plan->cluster[1], slice = lt_gemm_a_slice_rows(plan);
    int b_bytes = g->tiles.bytes - lt_gemm_a_bytes(plan);

    s->a_rows = lt_imm(slice);
    s->stage_bytes = lt_imm(g->tiles.bytes);
    if (!may_be_short(plan))
        return;

    lt_comment(b, "boxes of A end with A: rows outside take TMA longer than rows inside");
    lt_value rows = lt_op(b, "a_rows", "add.u32", g->m, lt_imm(LT_SWIZZLE_ROWS - 1));
    lt_note(b, "the swizzle repeats every %d rows", LT_SWIZZLE_ROWS);
    rows = lt_op(b, "a_rows", "and.b32", rows, lt_hex(0xffffffff - LT_SWIZZLE_ROWS + 1));
    s->a_rows = lt_op(b, "a_rows", "min.u32", rows, lt_imm(slice));

    lt_value all = s->a_rows;

    if (shared_by > 1) {
        lt_value boxes = lt_op(b, "a_boxes", "add.u32", g->m, s->a_rows);
        boxes = lt_op(b, "a_boxes", "sub.u32", boxes, lt_imm(1));
        boxes = lt_op(b, "a_boxes", "div.u32", boxes, s->a_rows);
        boxes = lt_op(b, "a_boxes", "min.u32", boxes, lt_imm(shared_by));
        s->fetches_a = lt_op(b, "fetches_a", "setp.lt.u32", g->schedule.cluster_n, boxes);
        all = lt_op(b, "a_rows_of_all", "mul.lo.u32", boxes, s->a_rows);
    }
    lt_note(b, "what lands in a stage, also by other CTAs' multicasts");
    s->stage_bytes = lt_op(b, "stage_bytes", "mad.lo.u32", all, lt_imm(g->spans * LT_SPAN_BYTES),
                           lt_imm(b_bytes));
}

/* Rank r of an A x B cluster stands at (r % A, r / A). The CTAs of one row of the cluster (equal
 * cluster_m) share A: ranks cluster_m + A * i. Those of one column share B: A * cluster_n + i. */
static void slice_a(struct lt_builder *b, const struct lt_gemm *g, struct slices *s)
{
    const int *cluster = g->plan->cluster;
    int mask = 0;

    if (cluster[1] == 1)
        return;
    for (int i = 0; i < cluster[1]; i++)
        mask |= 1 << (i * cluster[0]);
    lt_comment(b, "%d CTAs share A: each fetches %d rows of it for all", cluster[1],
               lt_gemm_a_slice_rows(g->plan));
    s->a_row = lt_op(b, "a_slice_row", "mul.lo.u32", g->schedule.cluster_n, s->a_rows);
    s->a_offset = lt_op(b, "a_slice", "mul.lo.u32", s->a_row, lt_imm(LT_SPAN_BYTES));
    s->a_mask = lt_op(b, "a_ranks", "mov.b32", lt_imm(mask));
    if (cluster[0] > 1)
        s->a_mask = lt_op(b, "a_ranks", "shl.b32", s->a_mask, g->schedule.cluster_m);
    s->a_mask = lt_op(b, "a_mask", "cvt.u16.u32", s->a_mask);
}

static void slice_b(struct lt_builder *b, const struct lt_gemm *g, struct slices *s)
{
    const int *cluster = g->plan->cluster;
    int rows = g->plan->tile[1] / cluster[0];

    if (cluster[0] == 1)
        return;
    lt_comment(b, "%d CTAs share B: each fetches %d rows of it for all", cluster[0], rows);
    s->b_row = lt_op(b, "b_slice_row", "mul.lo.u32", g->schedule.cluster_m, lt_imm(rows));
    s->b_offset = lt_op(b, "b_slice", "mul.lo.u32", s->b_row, lt_imm(LT_SPAN_BYTES));
    s->b_mask = lt_op(b, "b_ranks", "mov.b32", lt_imm((1 << cluster[0]) - 1));
    if (cluster[1] > 1) {
        lt_value first =
            lt_op(b, "b_first_rank", "mul.lo.u32", g->schedule.cluster_n, lt_imm(cluster[0]));

        s->b_mask = lt_op(b, "b_ranks", "shl.b32", s->b_mask, first);
    }
    s->b_mask = lt_op(b, "b_mask", "cvt.u16.u32", s->b_mask);
}

static struct slices find_slices(struct lt_builder *b, const struct lt_gemm *g)
{
    struct slices s = {.a_mask = {0}};

    measure_a(b, g, &s);
    slice_a(b, g, &s);
    slice_b(b, g, &s);
    return s;
}

/* value + more, where there is more. */
static lt_value plus(struct lt_builder *b, const char *name, lt_value value, lt_value more)
{
    return more.kind == LT_NOTHING ? value : lt_op(b, name, "add.u32", value, more);
}

/* A and B of one stage: a box a swizzle span along k. */
static void load_stage(struct lt_builder *b, const struct lt_gemm *g, const struct slices *s,
                       const struct lt_cursor *stage, lt_value a_row, lt_value b_row,
                       lt_value k_block)
{
    const struct lathe_plan *plan = g->plan;
    lt_value a =
        lt_op(b, "a_tile", "mad.lo.u32", stage->stage, lt_imm(g->tiles.bytes), g->ring_start);
    lt_value b_tile = lt_op(b, "b_tile", "add.u32", a, lt_imm(lt_gemm_a_bytes(plan)));
    lt_value k = lt_op(b, "k_column", "mad.lo.u32", k_block, lt_imm(plan->tile[2]), g->k_first);

    a = plus(b, "a_tile", a, s->a_offset);
    b_tile = plus(b, "b_tile", b_tile, s->b_offset);
    for (int span = 0; span < g->spans; span++) {
        if (span > 0) {
            k = lt_op(b, "k_column", "add.u32", k, lt_imm(g->span_k));
            a = lt_op(b, "a_tile", "add.u32", a, lt_imm(plan->tile[0] * LT_SPAN_BYTES));
            b_tile = lt_op(b, "b_tile", "add.u32", b_tile, lt_imm(plan->tile[1] * LT_SPAN_BYTES));
        }
        if (s->fetches_a.kind == LT_NOTHING)
            lt_tma_load(b, g->map_a, k, a_row, a, stage->full, s->a_mask);
        else
            LT_WHEN (b, s->fetches_a)
                lt_tma_load(b, g->map_a, k, a_row, a, stage->full, s->a_mask);
        lt_tma_load(b, g->map_b, k, b_row, b_tile, stage->full, s->b_mask);
    }
}

static void producer(struct lt_builder *b, const struct lt_gemm *g)
{
    struct lt_cursor stage = lt_ring_producer(b, &g->tiles, g->smem);
    struct slices slices = find_slices(b, g);

    LT_TILES (b, tile, &g->schedule) {
        lt_value a_row = plus(b, "a_row", tile.m, slices.a_row);
        lt_value b_row = plus(b, "b_row", tile.n, slices.b_row);

        LT_REPEAT (b, k_block, g->k_blocks) {
            lt_ring_acquire(b, &stage, slices.stage_bytes);
            load_stage(b, g, &slices, &stage, a_row, b_row, k_block.index);
            lt_ring_advance(b, &stage);
        }
    }
    if (g->tiles.ctas > 1) {
        lt_comment(b, "the other CTAs let go of stages here: stay until they have done so");
        lt_ring_drain(b, &stage);
    }
}

/* ---- Consumers ---- */

struct operands {
    lt_value a_first, b_first; /* descriptors of this consumer's part of stage 0 */
};

static struct operands find_operands(struct lt_builder *b, const struct lt_gemm *g,
                                     lt_value consumer)
{
    struct lt_smem_layout layout = lt_smem_layout_k_major(LT_SWIZZLE_128B);
    lt_value constant = lt_hex(lt_wgmma_descriptor(&layout, 0));
    struct operands o;

    lt_comment(b, "matrix descriptors: K-major, 128-byte swizzle, 8 rows every 1024 bytes;");
    lt_comment(b, "all in units of 16 bytes: start, 1 << 16 (not used), 64 << 32, swizzle 1 << 62");
    lt_note(b, "this warpgroup's rows of A");
    lt_value a = lt_op(b, "a_start", "mad.lo.u32", consumer,
                       lt_imm(g->blocks * LT_WGMMA_ROWS * LT_SPAN_BYTES), g->ring_start);
    lt_value b_start =
        lt_op(b, "b_start", "add.u32", g->ring_start, lt_imm(lt_gemm_a_bytes(g->plan)));
    lt_note(b, "18 bits: a cluster address has the CTA's rank above");
    a = lt_op(b, "a_start", "and.b32", a, lt_hex(0x3ffff));
    b_start = lt_op(b, "b_start", "and.b32", b_start, lt_hex(0x3ffff));
    lt_note(b, "in units of 16 bytes");
    a = lt_op(b, "a_start", "shr.u32", a, lt_imm(4));
    b_start = lt_op(b, "b_start", "shr.u32", b_start, lt_imm(4));
    o.a_first = lt_op(b, "a_first", "cvt.u64.u32", a);
    o.b_first = lt_op(b, "b_first", "cvt.u64.u32", b_start);
    o.a_first = lt_op(b, "a_first", "or.b64", o.a_first, constant);
    o.b_first = lt_op(b, "b_first", "or.b64", o.b_first, constant);
    return o;
}

/* The descriptor of what lies `bytes` behind the stage's start. */
static lt_value advanced(struct lt_builder *b, const char *name, lt_value stage, int bytes)
{
    return lt_plus(b, name, stage, (int64_t)lt_wgmma_descriptor_step((uint32_t)bytes));
}

/* All MMAs of a stage, one group. `later` is false in a tile's first step, where the first MMA of
 * each accumulator overwrites it. */
static void multiply_stage(struct lt_builder *b, const struct lt_gemm *g, const struct operands *o,
                           const struct lt_cursor *stage, const struct lt_vector *acc,
                           lt_value later)
{
    const struct lathe_plan *plan = g->plan;
    int mma_bytes = lt_wgmma_k(plan->type) * lathe_type_bytes(plan->type);
    lt_value stage_step = lt_imm((int64_t)lt_wgmma_descriptor_step((uint32_t)g->tiles.bytes));
    lt_value a = lt_op(b, "a_stage", "mad.wide.u32", stage->stage, stage_step, o->a_first);
    lt_value b_stage = lt_op(b, "b_stage", "mad.wide.u32", stage->stage, stage_step, o->b_first);

    lt_comment(b, "every %d columns of k: %d bytes, %d in a descriptor", lt_wgmma_k(plan->type),
               mma_bytes, mma_bytes / 16);
    lt_comment(b, "behind the descriptors: add to D or not; A and B times 1; both K-major");
    lt_wgmma_fence(b);
    for (int at = 0; at < g->spans * LT_SPAN_BYTES; at += mma_bytes) {
        int span = at / LT_SPAN_BYTES, inside = at % LT_SPAN_BYTES;
        lt_value b_now =
            advanced(b, "b_desc", b_stage, span * plan->tile[1] * LT_SPAN_BYTES + inside);

        for (int block = 0; block < g->blocks; block++) {
            int a_row = span * plan->tile[0] + block * LT_WGMMA_ROWS;
            lt_value a_now = advanced(b, "a_desc", a, a_row * LT_SPAN_BYTES + inside);

            lt_wgmma(b, plan->tile[1], plan->type, acc, block * plan->tile[1] / 2, a_now, b_now,
                     at == 0 ? later : lt_imm(1));
        }
    }
    lt_wgmma_commit(b);
}

static void consumer(struct lt_builder *b, struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;
    struct lt_epilogue *e = &g->epilogue;
    lt_value number = lt_op(b, "consumer", "sub.u32", g->warpgroup, lt_imm(1));
    struct lt_cursor stage = lt_ring_consumer(b, &g->tiles, g->smem);
    struct operands operands = find_operands(b, g, number);
    struct lt_vector acc = lt_vector(b, LT_F32, "acc", plan->accumulators);

    lt_comment(b, "a warp lets a stage go with one lane%s",
               lt_gemm_cluster_size(plan) > 1 ? " for every CTA of the cluster" : "");
    lt_value signals =
        lt_op(b, "signals", "setp.lt.u32", g->lane, lt_imm(lt_gemm_cluster_size(plan)));
    lt_value first_row =
        lt_op(b, "first_row", "mul.lo.u32", number, lt_imm(g->blocks * LT_WGMMA_ROWS));

    lt_epilogue_begin(b, e, g->smem, lt_budget_offset(plan, "epilogue staging"), number, g->thread,
                      g->lane);
    LT_TILES (b, tile, &g->schedule) {
        lt_value m = lt_op(b, "d_first_row", "add.u32", tile.m, first_row);

        lt_epilogue_prefetch(b, e, m, tile.n);
        LT_REPEAT (b, k_block, g->k_blocks) {
            lt_note(b, "false in a tile's first step: D = A*B");
            lt_value later = lt_op(b, "later", "setp.ne.u32", k_block.index, lt_imm(0));

            lt_ring_wait(b, &stage);
            multiply_stage(b, g, &operands, &stage, &acc, later);
            lt_comment(b,
                       "the group before this one has read its stage: TMA may fill it again, and");
            lt_comment(b, "needs no fence for it, since no ordinary access was made there");
            lt_wgmma_wait(b, 1);
            lt_ring_release_noted(b, &stage, lt_op(b, "releases", "and.pred", later, signals),
                                  g->lane);
            lt_note(b, "let go when the next group is issued");
            lt_ring_release_later(b, &stage);
            lt_ring_advance(b, &stage);
        }
        lt_comment(b, "all sums are there; the last stage goes too");
        lt_wgmma_wait(b, 0);
        lt_ring_release_noted(b, &stage, signals, g->lane);
        lt_epilogue_store(b, e, &acc, m, tile.n);
    }
    lt_epilogue_end(b, e);
}

/* ---- The kernel ---- */

void lt_gemm_sm90_specialised(struct lt_builder *b, const struct lathe_plan *plan)
{
    struct lt_gemm g = lt_gemm_of(plan);
    char consumers[64];

    lt_gemm_head(b, &g);
    setup(b, &g);

    lt_value produces = lt_op(b, "produces", "setp.eq.u32", g.warpgroup, lt_imm(0));
    lt_value consumes = lt_op(b, "consumes", "setp.ne.u32", g.warpgroup, lt_imm(0));

    LT_ROLE (b, "producer", produces, "warps 0 to 3, of which one lane of warp 0 works") {
        if (plan->regs[0] > 0)
            lt_setmaxnreg_dec(b, plan->regs[0]);
        LT_IF (b, "idle", lt_op(b, "first_warp", "setp.eq.u32", g.warp, lt_imm(0)))
            LT_ELECT (b)
                producer(b, &g);
    }
    snprintf(consumers, sizeof consumers, "warps 4 to %d, %d warpgroup%s of 4 warps",
             3 + plan->consumers * LT_WARPGROUP_WARPS, plan->consumers,
             plan->consumers > 1 ? "s" : "");
    LT_ROLE (b, "consumer", consumes, consumers) {
        if (plan->regs[1] > 0)
            lt_setmaxnreg_inc(b, plan->regs[1]);
        consumer(b, &g);
    }
    lt_roles_end(b);
    lt_heading(b, "teardown: all warps");
    lt_raw(b, "ret;");
}
