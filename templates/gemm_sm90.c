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

#include "codegen/control.h"
#include "templates/gemm_sm90_parts.h"

#include <stdio.h>

/* ---- Producer ---- */

static void producer(struct lt_builder *b, const struct lt_gemm *g)
{
    struct lt_cursor stage = lt_ring_producer(b, &g->tiles, g->smem);
    struct lt_slices slices = lt_gemm_slices(b, g);

    LT_TILES (b, it, &g->schedule) {
        struct lt_tile tile = lt_tile_at(b, &g->schedule, it.index);
        struct lt_tile rows = lt_gemm_slice_rows(b, &slices, &tile);

        LT_REPEAT (b, k_block, g->k_blocks) {
            lt_ring_acquire(b, &stage, slices.stage_bytes);
            lt_gemm_load(b, g, &slices, &stage, &rows, k_block.index);
            lt_ring_advance(b, &stage);
        }
    }
    if (g->tiles.ctas > 1) {
        lt_comment(b, "the other CTAs let go of stages here: stay until they have done so");
        lt_ring_drain(b, &stage);
    }
}

/* ---- Consumers ---- */

static void consumer(struct lt_builder *b, struct lt_gemm *g)
{
    const struct lathe_plan *plan = g->plan;
    struct lt_epilogue *e = &g->epilogue;
    lt_value number = lt_op(b, "consumer", "sub.u32", g->warpgroup, lt_imm(1));
    struct lt_cursor stage = lt_ring_late_consumer(b, &g->tiles, g->smem);
    struct lt_wgmma_operands operands = lt_gemm_wgmma_operands(b, g, number);
    struct lt_vector acc = lt_gemm_accumulators(b, plan);

    lt_comment(b, "a warp lets a stage go with one lane%s",
               lt_gemm_cluster_size(plan) > 1 ? " for every CTA of the cluster" : "");
    lt_value signals =
        lt_op(b, "signals", "setp.lt.u32", g->lane, lt_imm(lt_gemm_cluster_size(plan)));
    lt_value first_row =
        lt_op(b, "first_row", "mul.lo.u32", number, lt_imm(g->blocks * LT_WGMMA_ROWS));

    lt_epilogue_begin(b, e, g->smem, lt_budget_offset(plan, "epilogue staging"), number, g->thread,
                      g->lane);
    LT_TILES (b, it, &g->schedule) {
        struct lt_tile tile = lt_tile_at(b, &g->schedule, it.index);
        lt_value m = lt_op(b, "d_first_row", "add.u32", tile.m, first_row);

        lt_epilogue_prefetch(b, e, m, tile.n);
        LT_REPEAT (b, k_block, g->k_blocks) {
            lt_note(b, "false in a tile's first step: D = A*B");
            lt_value later = lt_op(b, "later", "setp.ne.u32", k_block.index, lt_imm(0));

            lt_ring_wait(b, &stage);
            lt_gemm_wgmma(b, g, &operands, &stage, &acc, later);
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

void lt_gemm_sm90_persistent(struct lt_builder *b, const struct lathe_plan *plan)
{
    struct lt_gemm g = lt_gemm_of(plan);
    char consumers[64];

    lt_gemm_head(b, &g);
    lt_gemm_setup(b, &g);

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

void lt_gemm_sm90_emit(struct lt_builder *b, const struct lathe_plan *plan)
{
    if (plan->schedule == LATHE_PERSISTENT)
        lt_gemm_sm90_persistent(b, plan);
    else
        lt_gemm_sm90_grid(b, plan);
}
