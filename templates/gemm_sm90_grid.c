/* D = alpha * A * B^T + beta * C, a CTA for each tile of D: the steps from a loop in which all
 * threads do one thing after the other to warps with roles. Which step a plan is at its fields say:
 *
 *      flow=serial       all warps:  load -> wait -> multiply -> barrier, for each step of k
 *      flow=pipelined    the same, and the loads run a ring of stages ahead
 *      flow=specialised  a producer warp loads, consumers multiply, and they meet at two mbarriers
 * a stage; the loop has a step for each stage, whose addresses are constants
 *
 * mma= says what multiplies, store= who stores, mma_groups= whether a wgmma group stays in flight.
 */
#include "codegen/control.h"
#include "templates/epilogue_direct.h"
#include "templates/gemm_sm90.h"
#include "templates/gemm_sm90_parts.h"

#include <stdio.h>

/* What those who multiply have in hand. */
struct consumer {
    lt_value number; /* of the warpgroup */
    struct lt_vector acc;
    struct lt_wgmma_operands wgmma;
    struct lt_sync_operands sync;
    struct lt_tile tile;
};

static bool is_sync(const struct lt_gemm *g)
{
    return g->plan->mma == LATHE_MMA_SYNC;
}

/* ---- Load: one thread ---- */

static void announce_and_load(struct lt_builder *b, const struct lt_gemm *g,
                              const struct lt_cursor *stage, const struct lt_tile *tile,
                              lt_value k_block)
{
    const struct lt_slices whole = {.a_rows = {0}};

    lt_mbarrier_arrive_expect_tx(b, stage->full, lt_imm(g->tiles.bytes));
    lt_gemm_load(b, g, &whole, stage, tile, k_block);
}

/* ---- Multiply: consumers ---- */

static struct consumer begin_consumer(struct lt_builder *b, const struct lt_gemm *g,
                                      const struct lt_tile *tile)
{
    struct consumer c = {.number = g->warpgroup, .tile = *tile};

    lt_heading(b, "operands: the warps that multiply");
    if (is_sync(g))
        c.sync = lt_gemm_sync_operands(b, g);
    else
        c.wgmma = lt_gemm_wgmma_operands(b, g, c.number);
    c.acc = lt_gemm_accumulators(b, g->plan);
    if (is_sync(g))
        lt_gemm_sync_clear(b, &c.acc);
    return c;
}

static void multiply(struct lt_builder *b, const struct lt_gemm *g, const struct consumer *c,
                     const struct lt_cursor *stage, lt_value k_block)
{
    if (is_sync(g)) {
        lt_gemm_sync(b, g, &c->sync, stage, &c->acc);
        return;
    }
    lt_note(b, "false in the first step: D = A*B");
    lt_gemm_wgmma(b, g, &c->wgmma, stage, &c->acc,
                  lt_op(b, "later", "setp.ne.u32", k_block, lt_imm(0)));
    lt_wgmma_wait(b, g->plan->mma_groups - 1);
}

/* ---- Store: consumers ---- */

static void store_directly(struct lt_builder *b, const struct lt_gemm *g, const struct consumer *c)
{
    struct lt_direct d = {
        .plan = g->plan,
        .blocks = is_sync(g) ? lt_gemm_sync_rows(g->plan) / 16 : g->blocks,
        .block_rows = is_sync(g) ? 16 : LT_WGMMA_ROWS,
        .columns = is_sync(g) ? lt_gemm_sync_columns(g->plan) : g->plan->tile[1],
        .m = g->m,
        .n = g->n,
        .alpha = g->alpha,
        .beta = g->beta,
    };
    lt_value row = lt_op(b, "lane_row", "shr.u32", g->lane, lt_imm(2));
    lt_value column = lt_op(b, "lane_column", "and.b32", g->lane, lt_imm(3));

    d.row = lt_op(b, "row", "add.u32", c->tile.m, row);
    d.column = lt_op(b, "column", "mad.lo.u32", column, lt_imm(2), c->tile.n);
    if (is_sync(g)) {
        d.row = lt_op(b, "row", "add.u32", d.row, c->sync.first_row);
        d.column = lt_op(b, "column", "add.u32", d.column, c->sync.first_column);
    } else {
        lt_value warp = lt_op(b, "warp_of_group", "and.b32", g->warp, lt_imm(3));

        d.row = lt_op(b, "row", "mad.lo.u32", warp, lt_imm(16), d.row);
        d.row = lt_op(b, "row", "mad.lo.u32", c->number, lt_imm(g->blocks * LT_WGMMA_ROWS), d.row);
    }
    lt_direct_store(b, &d, &c->acc);
}

static void store_by_tma(struct lt_builder *b, struct lt_gemm *g, const struct consumer *c)
{
    struct lt_epilogue *e = &g->epilogue;
    lt_value m = lt_op(b, "d_first_row", "mad.lo.u32", c->number, lt_imm(g->blocks * LT_WGMMA_ROWS),
                       c->tile.m);

    lt_epilogue_begin(b, e, g->smem, lt_budget_offset(g->plan, "epilogue staging"), c->number,
                      g->thread, g->lane);
    lt_epilogue_prefetch(b, e, m, c->tile.n);
    lt_epilogue_store(b, e, &c->acc, m, c->tile.n);
    lt_epilogue_end(b, e);
}

static void store(struct lt_builder *b, struct lt_gemm *g, const struct consumer *c)
{
    lt_heading(b, "store: the warps that multiplied");
    if (g->plan->store == LATHE_COPY_THREADS)
        store_directly(b, g, c);
    else
        store_by_tma(b, g, c);
}

/* ---- One after the other ---- */

static void serial(struct lt_builder *b, struct lt_gemm *g, const struct lt_tile *tile)
{
    struct consumer c = begin_consumer(b, g, tile);

    lt_heading(b, "ring: all warps");
    struct lt_cursor ring = lt_ring_fixed(b, &g->tiles, g->smem, 0);
    struct lt_cursor stage = lt_ring_at(&ring, 0);

    lt_heading(b, "steps of k: all warps");
    LT_REPEAT (b, k_block, g->k_blocks) {
        lt_heading(b, "load: one thread");
        LT_IF (b, "loaded", g->is_first)
            announce_and_load(b, g, &stage, tile, k_block.index);
        lt_heading(b, "multiply: all warps");
        lt_ring_wait(b, &stage);
        lt_ring_flip(b, &stage);
        multiply(b, g, &c, &stage, k_block.index);
        lt_comment(b, "nobody reads the stage any more: the next load may overwrite it");
        lt_bar_sync_cta(b);
    }
    store(b, g, &c);
}

/* ---- Some steps ahead ---- */

/* The stage of a step, by its number. */
static struct lt_cursor stage_of(struct lt_builder *b, const struct lt_cursor *ring,
                                 const char *name, lt_value k_block)
{
    struct lt_cursor stage = *ring;

    stage.stage = lt_remainder(b, name, k_block, ring->ring->stages);
    stage.full =
        lt_op(b, "stage_full", "mad.lo.u32", stage.stage, lt_imm(LT_MBARRIER_BYTES), ring->full);
    return stage;
}

/* The ring's register has a bit for each stage: the parity that its next bytes are waited for with.
 */
static void wait_for_stage(struct lt_builder *b, struct lt_cursor *stage, lt_value parities)
{
    lt_value parity = lt_op(b, "stage_parity", "shr.u32", parities, stage->stage);

    stage->parity = lt_op(b, "stage_parity", "and.b32", parity, lt_imm(1));
    lt_ring_wait(b, stage);
    lt_value bit = lt_op(b, "stage_bit", "shl.b32", lt_imm(1), stage->stage);

    lt_note(b, "a bit for each stage");
    lt_set(b, parities, "xor.b32", parities, bit);
}

static void fill_ring(struct lt_builder *b, const struct lt_gemm *g, const struct lt_cursor *ring,
                      const struct lt_tile *tile)
{
    lt_comment(b, "before the first product: as many steps as there are stages, or fewer");
    lt_value ahead = lt_op(b, "ahead", "min.u32", g->k_blocks, lt_imm(g->plan->stages));

    LT_IF (b, "ring_filled", g->is_first)
        LT_REPEAT (b, filled, ahead) {
            struct lt_cursor stage = stage_of(b, ring, "fill_stage", filled.index);

            announce_and_load(b, g, &stage, tile, filled.index);
        }
}

static void pipelined(struct lt_builder *b, struct lt_gemm *g, const struct lt_tile *tile)
{
    struct consumer c = begin_consumer(b, g, tile);

    lt_heading(b, "ring: all warps");
    struct lt_cursor ring = lt_ring_fixed(b, &g->tiles, g->smem, 0);

    lt_heading(b, "fill: one thread");
    LT_SCOPE (b)
        fill_ring(b, g, &ring, tile);
    lt_heading(b, "steps of k: all warps");
    LT_REPEAT (b, k_block, g->k_blocks) {
        struct lt_cursor stage;

        lt_heading(b, "multiply: all warps");
        stage = stage_of(b, &ring, "stage", k_block.index);
        wait_for_stage(b, &stage, ring.parity);
        lt_comment(b, "all warps are at the same stage");
        lt_bar_sync_cta(b);
        multiply(b, g, &c, &stage, k_block.index);
        lt_comment(b, "nobody reads the stage any more: the next load may overwrite it");
        lt_bar_sync_cta(b);
        lt_heading(b, "load: one thread");
        lt_value next = lt_op(b, "next_block", "add.u32", k_block.index, lt_imm(g->plan->stages));
        lt_value loads = lt_op(b, "is_there", "setp.lt.u32", next, g->k_blocks);

        loads = lt_op(b, "loads", "and.pred", loads, g->is_first);
        LT_IF (b, "loaded", loads)
            announce_and_load(b, g, &stage, tile, next);
    }
    store(b, g, &c);
}

/* ---- Warps with roles ---- */

/* A turn of the loop has a step for each stage: `k_block` counts steps, and whoever has done the
 * last one leaves from the middle. */
struct turns {
    lt_value k_block;
    struct lt_region loop;
};

static struct turns begin_turns(struct lt_builder *b)
{
    struct turns t = {.k_block = lt_variable(b, LT_B32, "k_block")};

    lt_set(b, t.k_block, "mov.u32", lt_imm(0));
    t.loop = lt_loop_begin(b, "turn");
    return t;
}

static void end_step(struct lt_builder *b, const struct lt_gemm *g, const struct turns *t)
{
    lt_set(b, t->k_block, "add.u32", t->k_block, lt_imm(1));
    lt_loop_leave(b, &t->loop, lt_op(b, "was_last", "setp.ge.u32", t->k_block, g->k_blocks));
}

static void end_turns(struct lt_builder *b, struct turns *t, const struct lt_cursor *ring)
{
    lt_note(b, "all stages were passed");
    lt_ring_flip(b, ring);
    lt_loop_end(b, &t->loop);
}

static void producer(struct lt_builder *b, const struct lt_gemm *g, const struct lt_tile *tile)
{
    struct lt_cursor ring = lt_ring_fixed(b, &g->tiles, g->smem, 1);
    struct lt_slices whole = {.stage_bytes = lt_imm(g->tiles.bytes)};
    struct turns t = begin_turns(b);

    for (int i = 0; i < g->plan->stages; i++)
        LT_SCOPE (b) {
            struct lt_cursor stage = lt_ring_at(&ring, i);

            lt_ring_acquire(b, &stage, whole.stage_bytes);
            lt_gemm_load(b, g, &whole, &stage, tile, t.k_block);
            end_step(b, g, &t);
        }
    end_turns(b, &t, &ring);
}

/* With a group in flight the stage before this one is what nobody reads any more. */
static void release(struct lt_builder *b, const struct lt_gemm *g, const struct lt_cursor *ring,
                    int stage, lt_value k_block, lt_value signals)
{
    int stages = g->plan->stages;
    bool waits = g->plan->mma_groups == 1;
    struct lt_cursor gone = lt_ring_at(ring, waits ? stage : (stage + stages - 1) % stages);

    if (waits) {
        lt_comment(b, "the stage has been read: TMA may fill it again");
    } else {
        lt_comment(b, "one group stays in flight; the one before it has read its stage");
        if (stage == 0) /* elsewhere a turn has passed a stage */
            signals = lt_op(b, "releases", "and.pred", signals,
                            lt_op(b, "has_before", "setp.ne.u32", k_block, lt_imm(0)));
    }
    LT_WHEN (b, signals)
        lt_mbarrier_arrive(b, gone.empty);
}

static void consumer(struct lt_builder *b, struct lt_gemm *g, const struct lt_tile *tile)
{
    struct consumer c = begin_consumer(b, g, tile);

    lt_heading(b, "multiply: consumer warps");
    struct lt_cursor ring = lt_ring_fixed(b, &g->tiles, g->smem, 0);

    lt_note(b, "a warp lets a stage go with one lane");
    lt_value signals = lt_op(b, "signals", "setp.eq.u32", g->lane, lt_imm(0));
    struct turns t = begin_turns(b);

    for (int i = 0; i < g->plan->stages; i++)
        LT_SCOPE (b) {
            struct lt_cursor stage = lt_ring_at(&ring, i);

            lt_ring_wait(b, &stage);
            multiply(b, g, &c, &stage, t.k_block);
            release(b, g, &ring, i, t.k_block, signals);
            end_step(b, g, &t);
        }
    end_turns(b, &t, &ring);
    if (g->plan->mma_groups > 1) {
        lt_comment(b, "all sums are there");
        lt_wgmma_wait(b, 0);
    }
    store(b, g, &c);
}

static void specialised(struct lt_builder *b, struct lt_gemm *g, const struct lt_tile *tile)
{
    int warps = g->plan->consumers * LT_WARPGROUP_WARPS;
    char produce[64], consume[64];

    lt_heading(b, "roles: all warps");
    lt_value produces = lt_op(b, "produces", "setp.eq.u32", g->warp, lt_imm(warps));
    lt_value consumes = lt_op(b, "consumes", "setp.ne.u32", g->warp, lt_imm(warps));

    snprintf(produce, sizeof produce, "warp %d, one lane", warps);
    snprintf(consume, sizeof consume, "warps 0 to %d, %d warpgroup%s of 4 warps", warps - 1,
             g->plan->consumers, g->plan->consumers > 1 ? "s" : "");
    LT_ROLE (b, "producer", produces, produce)
        LT_ELECT (b)
            producer(b, g, tile);
    LT_ROLE (b, "consumer", consumes, consume)
        consumer(b, g, tile);
    lt_roles_end(b);
}

/* ---- The kernel ---- */

void lt_gemm_sm90_grid(struct lt_builder *b, const struct lathe_plan *plan)
{
    struct lt_gemm g = lt_gemm_of(plan);

    lt_gemm_head(b, &g);
    lt_gemm_setup(b, &g);
    lt_heading(b, "tile: all warps");
    struct lt_tile tile = lt_tile_of_cta(b, &g.schedule);

    switch (plan->flow) {
    case LATHE_SERIAL:
        serial(b, &g, &tile);
        break;
    case LATHE_PIPELINED:
        pipelined(b, &g, &tile);
        break;
    case LATHE_SPECIALISED:
        specialised(b, &g, &tile);
        break;
    case LATHE_FLOW_DEFAULT:
    case LATHE_STEPWISE:
        lt_mistake(b, "no kernel for sm_90a is stepwise");
        break;
    }
    lt_heading(b, "teardown: all warps");
    lt_raw(b, "ret;");
}
