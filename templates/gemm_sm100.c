/* D = alpha * A * B^T + beta * C with tcgen05, the sums in tensor memory: from one CTA whose
 * threads do one thing after the other to pairs of CTAs whose warps have roles. Which step a plan
 * is at its fields say:
 *
 *      flow=stepwise, serial   a warpgroup:  load or copy -> MMA -> wait, for each step of k;
 *                              then all four warps write back
 *      flow=pipelined          the same, and one thread loads a ring of stages ahead of its MMAs
 *      flow=specialised        warps of their own:
 *
 *      producer            ring "tiles"            MMA               ring "accs"        write-back
 *      TMA A, TMA B  --full--> stages --full-->    tcgen05  --full--> tensor memory --> D
 *                    <-empty--        <-commit--   .mma     <-empty--
 *
 * The first two kinds are in gemm_sm100_serial.c. With schedule=dynamic one more warp asks which
 * tile is next (gemm_sm100_schedule.c).
 *
 * Other names for the four barriers: tiles full and empty are tma2mma and mma2tma, accs full and
 * empty mma2ld and ld2mma. In a pair (cta_group=2) each CTA loads its half of A and of B, the even
 * one's MMA reads both, and commits tell both. In a larger cluster CTAs fetch what they have in
 * common together (gemm_sm100_share.c). */
#include "templates/gemm_sm100.h"

#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/wgmma.h"
#include "templates/gemm_sm100_kernel.h"

#include <stdio.h>

/* Of the warpgroup that does not write back, behind those who issue MMAs. */
enum { SCHEDULER_WARP = 2, PRODUCER_WARP = 3 };

/* ---- Producer: one thread of each CTA ---- */

struct producer {
    struct lt_cursor stage;
    struct lt_gemm_sm100_slices slices;
};

static void produce_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value number, void *user)
{
    const struct producer *p = user;
    struct lt_tile tile = lt_tile_at(b, &s->g.schedule, number);

    LT_REPEAT (b, k_block, s->g.k_blocks) {
        lt_comment(b, "wait until the stage is free, then announce its bytes");
        lt_ring_wait_free(b, &p->stage);
        lt_gemm_sm100_load(b, s, &p->slices, &p->stage, &tile, k_block.index);
        lt_ring_advance(b, &p->stage);
    }
}

static void producer(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct producer p;

    p.stage = lt_ring_producer(b, &s->g.tiles, s->g.smem);
    p.slices = lt_gemm_sm100_slices(b, s);
    lt_gemm_sm100_each_tile(b, s, &(struct lt_gemm_sm100_maker){produce_tile, &p, false});
    if (lt_gemm_cluster_size(s->g.plan) == 1)
        return;
    lt_comment(b, lt_gemm_sm100_shares(s->g.plan)
                      ? "commits come from other CTAs: stay until the last ones have come"
                      : "commits come to both CTAs: neither may end before the last ones have");
    lt_ring_drain(b, &p.stage);
}

/* ---- MMA: one thread of the leader for each consumer ---- */

struct issuer {
    lt_value consumer; /* nothing where there is one */
    lt_value filling;  /* mask: who fills the stages */
    struct lt_cursor tiles, accs;
    struct lt_tcgen05_operands operands;
};

/* This consumer's barriers of accumulators. */
static lt_value accs_smem(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value consumer)
{
    if (consumer.kind == LT_NOTHING)
        return s->g.smem;
    return lt_op(b, "accs_smem", "mad.lo.u32", consumer, lt_imm(lt_ring_barrier_bytes(&s->accs)),
                 s->g.smem);
}

/* The accumulator of the cursor's stage. */
static lt_value accumulator(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value consumer,
                            const struct lt_cursor *accs)
{
    const struct lathe_plan *plan = s->g.plan;
    lt_value d = s->tmem;

    if (consumer.kind != LT_NOTHING)
        d = lt_op(b, "accumulator", "mad.lo.u32", consumer,
                  lt_imm(plan->acc_stages * s->accumulator.columns), d);
    if (plan->acc_stages > 1)
        d = lt_op(b, "accumulator", "mad.lo.u32", accs->stage, lt_imm(s->accumulator.columns), d);
    return d;
}

static void issue_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value number, void *user)
{
    const struct issuer *i = user;
    int group = s->g.plan->cta_group;
    lt_value d;

    (void)number;
    lt_comment(b, "wait until the accumulator has been read");
    lt_ring_wait_free(b, &i->accs);
    lt_tcgen05_fence_after(b);
    d = accumulator(b, s, i->consumer, &i->accs);
    LT_REPEAT (b, k_block, s->g.k_blocks) {
        lt_value later = lt_gemm_sm100_is_later(b, k_block.index);

        lt_ring_wait(b, &i->tiles);
        lt_tcgen05_fence_after(b);
        lt_gemm_sm100_multiply(b, s, &i->operands, &i->tiles, d, later);
        lt_note(b, "arrives when the stage has been read");
        lt_tcgen05_commit(b, group, i->tiles.empty, i->filling);
        lt_ring_advance(b, &i->tiles);
    }
    lt_note(b, "arrives when all sums are there");
    lt_tcgen05_commit(b, group, i->accs.full, s->pair_mask);
    lt_ring_advance(b, &i->accs);
}

static void issuer(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value consumer)
{
    struct issuer i = {.consumer = consumer};

    i.operands = lt_gemm_sm100_operands(b, s, consumer);
    i.tiles = lt_ring_consumer(b, &s->g.tiles, s->g.smem);
    i.accs = lt_ring_producer(b, &s->accs, accs_smem(b, s, consumer));
    i.filling = lt_gemm_sm100_filling_mask(b, s);
    lt_gemm_sm100_each_tile(b, s, &(struct lt_gemm_sm100_maker){issue_tile, &i, true});
}

/* ---- Write-back: a warpgroup of each CTA for each consumer ---- */

struct writer {
    struct lt_gemm_sm100 *s;
    lt_value consumer;
    struct lt_cursor accs;
};

/* All threads of both CTAs tell the leader, whose MMA overwrites the sums of both. */
static void let_go(struct lt_builder *b, void *user)
{
    const struct writer *w = user;

    lt_comment(b, "every thread has read its row: the MMA may overwrite the accumulator");
    lt_tcgen05_fence_before(b);
    if (w->s->g.plan->cta_group == 1)
        lt_mbarrier_arrive(b, w->accs.empty);
    else
        lt_mbarrier_arrive_remote(b, lt_mapa(b, "leader_empty", w->accs.empty, w->s->leader));
}

static void write_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value number, void *user)
{
    const struct lathe_plan *plan = s->g.plan;
    struct writer *w = user;
    struct lt_tile tile = lt_tile_at(b, &s->g.schedule, number);
    lt_value m = tile.m;

    if (w->consumer.kind != LT_NOTHING)
        m = lt_op(b, "d_row", "mad.lo.u32", w->consumer, lt_imm(plan->tile[0] / plan->consumers),
                  m);
    if (plan->cta_group == 2)
        m = lt_op(b, "d_row", "mad.lo.u32", s->pair_rank, lt_imm(s->cta_rows), m);
    lt_ring_wait(b, &w->accs);
    lt_tcgen05_fence_after(b);
    lt_tmem_epilogue_store(b, &s->epilogue, accumulator(b, s, w->consumer, &w->accs), m, tile.n,
                           let_go, w);
    lt_ring_advance(b, &w->accs);
}

static void writer(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct writer w = {.s = s};

    if (s->g.plan->consumers > 1)
        w.consumer = lt_gemm_warpgroup(b, &s->g);
    w.accs = lt_ring_consumer(b, &s->accs, accs_smem(b, s, w.consumer));
    lt_tmem_epilogue_begin(b, &s->epilogue, w.consumer, s->g.warp, s->g.thread, s->g.lane);
    lt_gemm_sm100_each_tile(b, s, &(struct lt_gemm_sm100_maker){write_tile, &w, false});
    lt_tmem_epilogue_end(b, &s->epilogue);
}

/* ---- Roles ---- */

/* Whole warpgroups give and take: the last one issues, the others write back. Those who write take
 * theirs in their role: a place that both kinds of warps come by has as many as the poorer, and
 * ptxas, where it does heed this, finds too few. */
static void give_registers(struct lt_builder *b, const struct lathe_plan *plan, lt_value writes)
{
    if (plan->regs[0] == 0)
        return;
    LT_IF (b, "registers_given", lt_not(writes))
        lt_setmaxnreg_dec(b, plan->regs[0]);
}

/* One thread asks for all CTAs of its cluster. */
static void schedule(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    int warp = s->g.plan->consumers * LT_WARPGROUP_WARPS + SCHEDULER_WARP;
    bool in_cluster = s->rank.kind != LT_NOTHING;
    lt_value schedules = lt_op(b, "schedules", "setp.eq.u32", s->g.warp, lt_imm(warp));
    char who[80];

    if (in_cluster) {
        lt_value is_first = lt_op(b, "first_cta", "setp.eq.u32", s->rank, lt_imm(0));

        schedules = lt_op(b, "schedules", "and.pred", schedules, is_first);
    }
    snprintf(who, sizeof who, "warp %d, one lane%s", warp,
             in_cluster ? ", of the cluster's first CTA" : "");
    LT_ROLE (b, "scheduler", schedules, who)
        LT_ELECT (b)
            lt_gemm_sm100_scheduler(b, s);
}

static void specialised(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    int consumers = plan->consumers, first = consumers * LT_WARPGROUP_WARPS;
    char who[80];

    lt_heading(b, "roles: all warps");
    lt_value writes = lt_op(b, "writes", "setp.lt.u32", s->g.warp, lt_imm(first));
    lt_value produces =
        lt_op(b, "produces", "setp.eq.u32", s->g.warp, lt_imm(first + PRODUCER_WARP));
    lt_value number = lt_op(b, "issuer_number", "sub.u32", s->g.warp, lt_imm(first));
    lt_value issues = lt_op(b, "issues", "setp.lt.u32", number, lt_imm(consumers));

    if (plan->cta_group == 2)
        issues = lt_op(b, "issues", "and.pred", issues, s->is_leader);
    give_registers(b, plan, writes);
    if (plan->schedule == LATHE_DYNAMIC)
        schedule(b, s);
    snprintf(who, sizeof who, "warp %d, one lane", first + PRODUCER_WARP);
    LT_ROLE (b, "producer", produces, who)
        LT_ELECT (b)
            producer(b, s);
    snprintf(who, sizeof who, "warp%s %d%s, one lane%s", consumers > 1 ? "s" : "", first,
             consumers > 1 ? " and the next" : "", plan->cta_group == 2 ? ", of the leader" : "");
    LT_ROLE (b, "mma", issues, who)
        LT_ELECT (b)
            issuer(b, s, consumers > 1 ? number : (lt_value){0});
    snprintf(who, sizeof who, "warps 0 to %d", first - 1);
    LT_ROLE (b, "writer", writes, who) {
        if (plan->regs[0] > 0)
            lt_setmaxnreg_inc(b, plan->regs[1]);
        writer(b, s);
    }
    lt_roles_end(b);
}

/* ---- The kernel ---- */

void lt_gemm_sm100_emit(struct lt_builder *b, const struct lathe_plan *plan)
{
    struct lt_gemm_sm100 s = lt_gemm_sm100_of(plan);

    lt_gemm_sm100_head(b, &s);
    lt_gemm_sm100_setup(b, &s);
    switch (plan->flow) {
    case LATHE_STEPWISE:
    case LATHE_SERIAL:
        lt_gemm_sm100_serial(b, &s);
        break;
    case LATHE_PIPELINED:
        lt_gemm_sm100_pipelined(b, &s);
        break;
    case LATHE_SPECIALISED:
        specialised(b, &s);
        break;
    case LATHE_FLOW_DEFAULT:
        lt_mistake(b, "a plan has a flow");
        break;
    }
    lt_gemm_sm100_teardown(b, &s);
}
