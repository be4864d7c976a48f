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
 * With schedule=dynamic one more warp asks which tile is next (gemm_sm100_schedule.c).
 *
 * Other names for the four barriers: tiles full and empty are tma2mma and mma2tma, accs full and
 * empty mma2ld and ld2mma. In a pair (cta_group=2) each CTA loads its half of A and of B, the even
 * one's MMA reads both, and commits tell both. */
#include "templates/gemm_sm100.h"

#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/wgmma.h"
#include "templates/gemm_sm100_kernel.h"

#include <stdio.h>

/* Of the warpgroup that does not write back, behind those who issue MMAs. */
enum { SCHEDULER_WARP = 2, PRODUCER_WARP = 3 };

/* ---- Tiles ---- */

/* All tiles of this CTA: one, or as many as it walks. */
static void each_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_gemm_sm100_make make,
                      void *user)
{
    if (s->g.plan->schedule == LATHE_DYNAMIC) {
        lt_gemm_sm100_walk(b, s, make, user);
    } else if (lt_schedule_walks(&s->g.schedule)) {
        LT_TILES (b, tile, &s->g.schedule)
            make(b, s, &tile, user);
    } else {
        struct lt_tile tile = lt_tile_of_cta(b, &s->g.schedule);

        make(b, s, &tile, user);
    }
}

static lt_value is_later(struct lt_builder *b, lt_value k_block)
{
    lt_note(b, "false in a tile's first step: D = A*B");
    return lt_op(b, "later", "setp.ne.u32", k_block, lt_imm(0));
}

/* Tensor memory was read: those who multiply next may overwrite it, behind a barrier. */
static void write_back_alone(struct lt_builder *b, struct lt_gemm_sm100 *s,
                             const struct lt_tile *tile)
{
    lt_heading(b, "write-back: warps 0 to 3");
    lt_tcgen05_fence_after(b);
    lt_tmem_epilogue_store(b, &s->epilogue, s->tmem, tile->m, tile->n, NULL, NULL);
    if (!lt_schedule_walks(&s->g.schedule))
        return;
    lt_comment(b, "all warps have read the sums: the next tile may overwrite them");
    lt_tcgen05_fence_before(b);
    lt_bar_sync_cta(b);
}

/* ---- One after the other ---- */

struct serial {
    struct lt_cursor tiles, products;
    struct lt_tcgen05_operands operands;
};

static void load_step(struct lt_builder *b, struct lt_gemm_sm100 *s, const struct serial *serial,
                      const struct lt_tile *tile, lt_value k_block)
{
    if (s->g.plan->load == LATHE_COPY_TMA) {
        lt_heading(b, "load: one thread");
        LT_IF (b, "loaded", s->g.is_first)
            lt_gemm_sm100_load(b, s, &serial->tiles, tile, k_block);
        lt_ring_wait(b, &serial->tiles);
        lt_ring_flip(b, &serial->tiles);
        return;
    }
    lt_heading(b, "load: all warps copy");
    lt_gemm_sm100_copy(b, s, tile, k_block);
    lt_bar_sync_cta(b);
}

/* The barrier as it was before its first phase. */
static void renew(struct lt_builder *b, const struct lt_gemm_sm100 *s, const struct serial *serial)
{
    lt_comment(b, "the barrier is made anew: no phase to keep in mind");
    lt_bar_sync_cta(b);
    LT_IF (b, "renewed", s->g.is_first) {
        lt_mbarrier_inval(b, serial->products.full);
        lt_mbarrier_init(b, serial->products.full, 1);
        lt_fence_mbarrier_init(b);
    }
    lt_bar_sync_cta(b);
}

static void multiply_step(struct lt_builder *b, struct lt_gemm_sm100 *s,
                          const struct serial *serial, lt_value k_block)
{
    lt_heading(b, "multiply: one thread");
    LT_IF (b, "multiplied", s->g.is_first) {
        lt_tcgen05_fence_after(b);
        lt_gemm_sm100_multiply(b, s, &serial->operands, &serial->tiles, s->tmem,
                               is_later(b, k_block));
        lt_tcgen05_commit(b, 1, serial->products.full, (lt_value){0});
    }
    lt_heading(b, "wait: all warps");
    lt_ring_wait(b, &serial->products);
    if (s->g.plan->flow == LATHE_STEPWISE) {
        renew(b, s, serial);
        return;
    }
    lt_ring_flip(b, &serial->products);
    if (s->g.plan->load == LATHE_COPY_TMA) {
        lt_comment(b, "a warp that fell two phases behind would wait for one that has long passed");
        lt_bar_sync_cta(b);
    }
}

static void make_serially(struct lt_builder *b, struct lt_gemm_sm100 *s, const struct lt_tile *tile,
                          void *user)
{
    struct serial *serial = user;

    LT_REPEAT (b, k_block, s->g.k_blocks) {
        load_step(b, s, serial, tile, k_block.index);
        multiply_step(b, s, serial, k_block.index);
    }
    write_back_alone(b, s, tile);
}

static void serially(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct serial serial = {.operands = lt_gemm_sm100_operands(b, s, (lt_value){0})};

    lt_heading(b, "rings: all warps");
    if (s->g.plan->load == LATHE_COPY_TMA)
        serial.tiles = lt_ring_fixed(b, &s->g.tiles, s->g.smem, 0);
    serial.products = lt_ring_fixed(b, &s->products, s->g.smem, 0);
    serial.products = lt_ring_at(&serial.products, 0);
    serial.tiles = s->g.plan->load == LATHE_COPY_TMA
                       ? lt_ring_at(&serial.tiles, 0)
                       : (struct lt_cursor){.ring = &s->g.tiles, .stage = lt_imm(0)};
    lt_tmem_epilogue_begin(b, &s->epilogue, (lt_value){0}, s->g.warp, s->g.thread, s->g.lane);
    lt_heading(b, "tile: all warps");
    each_tile(b, s, make_serially, &serial);
    lt_tmem_epilogue_end(b, &s->epilogue);
}

/* ---- Some steps ahead ---- */

struct pipelined {
    struct lt_ring ahead_ring;     /* the same barriers, by another name */
    struct lt_cursor ahead, tiles; /* where it loads, and where it multiplies */
    lt_value last, last_parity;    /* of the stage that was multiplied last: its empty barrier */
    struct lt_tcgen05_operands operands;
};

static void load_ahead(struct lt_builder *b, struct lt_gemm_sm100 *s, struct pipelined *p,
                       const struct lt_tile *tile, lt_value k_block)
{
    lt_ring_wait_free(b, &p->ahead);
    lt_gemm_sm100_load(b, s, &p->ahead, tile, k_block);
    lt_ring_advance(b, &p->ahead);
}

static void multiply_ahead(struct lt_builder *b, struct lt_gemm_sm100 *s, struct pipelined *p,
                           lt_value k_block)
{
    lt_ring_wait(b, &p->tiles);
    lt_tcgen05_fence_after(b);
    lt_gemm_sm100_multiply(b, s, &p->operands, &p->tiles, s->tmem, is_later(b, k_block));
    lt_tcgen05_commit(b, 1, p->tiles.empty, (lt_value){0});
    lt_set(b, p->last, "mov.u32", p->tiles.empty);
    lt_set(b, p->last_parity, "mov.u32", p->tiles.parity);
    lt_ring_advance(b, &p->tiles);
}

static void fill_ahead(struct lt_builder *b, struct lt_gemm_sm100 *s, struct pipelined *p,
                       const struct lt_tile *tile)
{
    lt_comment(b, "before the first product: all stages but one, or fewer");
    lt_value count =
        lt_op(b, "ahead_blocks", "min.u32", s->g.k_blocks, lt_imm(s->g.plan->stages - 1));

    LT_SCOPE (b)
        LT_REPEAT (b, filled, count)
            load_ahead(b, s, p, tile, filled.index);
}

static void make_pipelined(struct lt_builder *b, struct lt_gemm_sm100 *s,
                           const struct lt_tile *tile, void *user)
{
    struct pipelined *p = user;

    LT_IF (b, "tile_multiplied", s->g.is_first)
        LT_SCOPE (b) {
            lt_heading(b, "fill: one thread");
            fill_ahead(b, s, p, tile);
            LT_REPEAT (b, k_block, s->g.k_blocks) {
                lt_heading(b, "multiply: one thread");
                multiply_ahead(b, s, p, k_block.index);
                lt_heading(b, "load: one thread");
                lt_value next =
                    lt_op(b, "next_block", "add.u32", k_block.index, lt_imm(s->g.plan->stages - 1));

                LT_SCOPE (b)
                    LT_IF (b, "next_loaded",
                           lt_op(b, "is_there", "setp.lt.u32", next, s->g.k_blocks))
                        load_ahead(b, s, p, tile, next);
            }
            lt_heading(b, "sums: one thread waits for all");
            lt_comment(
                b, "a commit tracks all that was issued: with the last stage all sums are there");
            lt_mbarrier_wait(b, "sums_ready", p->last, p->last_parity);
        }
    lt_heading(b, "wait: all warps");
    lt_warp_sync(b);
    lt_bar_sync_cta(b);
    write_back_alone(b, s, tile);
}

static void pipelined(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct pipelined p = {.ahead_ring = s->g.tiles,
                          .operands = lt_gemm_sm100_operands(b, s, (lt_value){0})};

    lt_heading(b, "rings: all warps");
    p.ahead_ring.name = "ahead";
    p.ahead = lt_ring_producer(b, &p.ahead_ring, s->g.smem);
    p.tiles = lt_ring_consumer(b, &s->g.tiles, s->g.smem);
    p.last = lt_variable(b, LT_B32, "last_empty");
    p.last_parity = lt_variable(b, LT_B32, "last_parity");
    lt_set(b, p.last, "mov.u32", p.tiles.empty);
    lt_set(b, p.last_parity, "mov.u32", lt_imm(1));
    lt_tmem_epilogue_begin(b, &s->epilogue, (lt_value){0}, s->g.warp, s->g.thread, s->g.lane);
    lt_heading(b, "tile: all warps");
    each_tile(b, s, make_pipelined, &p);
    lt_tmem_epilogue_end(b, &s->epilogue);
}

/* ---- Producer: one thread of each CTA ---- */

static void produce_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, const struct lt_tile *tile,
                         void *user)
{
    const struct lt_cursor *stage = user;

    LT_REPEAT (b, k_block, s->g.k_blocks) {
        lt_comment(b, "wait until the stage is free, then announce its bytes");
        lt_ring_wait_free(b, stage);
        lt_gemm_sm100_load(b, s, stage, tile, k_block.index);
        lt_ring_advance(b, stage);
    }
}

static void producer(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct lt_cursor stage = lt_ring_producer(b, &s->g.tiles, s->g.smem);

    each_tile(b, s, produce_tile, &stage);
}

/* ---- MMA: one thread of the leader for each consumer ---- */

struct issuer {
    lt_value consumer; /* nothing where there is one */
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

static void commit(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value mbarrier)
{
    lt_tcgen05_commit(b, s->g.plan->cta_group, mbarrier, s->pair_mask);
}

static void issue_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, const struct lt_tile *tile,
                       void *user)
{
    const struct issuer *i = user;
    lt_value d;

    (void)tile;
    lt_comment(b, "wait until the accumulator has been read");
    lt_ring_wait_free(b, &i->accs);
    lt_tcgen05_fence_after(b);
    d = accumulator(b, s, i->consumer, &i->accs);
    LT_REPEAT (b, k_block, s->g.k_blocks) {
        lt_value later = is_later(b, k_block.index);

        lt_ring_wait(b, &i->tiles);
        lt_tcgen05_fence_after(b);
        lt_gemm_sm100_multiply(b, s, &i->operands, &i->tiles, d, later);
        lt_note(b, "arrives when the stage has been read");
        commit(b, s, i->tiles.empty);
        lt_ring_advance(b, &i->tiles);
    }
    lt_note(b, "arrives when all sums are there");
    commit(b, s, i->accs.full);
    lt_ring_advance(b, &i->accs);
}

static void issuer(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value consumer)
{
    struct issuer i = {.consumer = consumer};

    i.operands = lt_gemm_sm100_operands(b, s, consumer);
    i.tiles = lt_ring_consumer(b, &s->g.tiles, s->g.smem);
    i.accs = lt_ring_producer(b, &s->accs, accs_smem(b, s, consumer));
    each_tile(b, s, issue_tile, &i);
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

static void write_tile(struct lt_builder *b, struct lt_gemm_sm100 *s, const struct lt_tile *tile,
                       void *user)
{
    const struct lathe_plan *plan = s->g.plan;
    struct writer *w = user;
    lt_value m = tile->m;

    if (w->consumer.kind != LT_NOTHING)
        m = lt_op(b, "d_row", "mad.lo.u32", w->consumer, lt_imm(plan->tile[0] / plan->consumers),
                  m);
    if (plan->cta_group == 2)
        m = lt_op(b, "d_row", "mad.lo.u32", s->pair_rank, lt_imm(s->cta_rows), m);
    lt_ring_wait(b, &w->accs);
    lt_tcgen05_fence_after(b);
    lt_tmem_epilogue_store(b, &s->epilogue, accumulator(b, s, w->consumer, &w->accs), m, tile->n,
                           let_go, w);
    lt_ring_advance(b, &w->accs);
}

static void writer(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct writer w = {.s = s};

    if (s->g.plan->consumers > 1)
        w.consumer = s->g.warpgroup;
    w.accs = lt_ring_consumer(b, &s->accs, accs_smem(b, s, w.consumer));
    lt_tmem_epilogue_begin(b, &s->epilogue, w.consumer, s->g.warp, s->g.thread, s->g.lane);
    each_tile(b, s, write_tile, &w);
    lt_tmem_epilogue_end(b, &s->epilogue);
}

/* ---- Roles ---- */

/* Whole warpgroups give and take: the last one issues, the others write back. */
static void move_registers(struct lt_builder *b, const struct lathe_plan *plan, lt_value writes)
{
    if (plan->regs[0] == 0)
        return;
    LT_IF (b, "registers_taken", writes)
        lt_setmaxnreg_inc(b, plan->regs[1]);
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
    move_registers(b, plan, writes);
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
    LT_ROLE (b, "writer", writes, who)
        writer(b, s);
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
        serially(b, &s);
        break;
    case LATHE_PIPELINED:
        pipelined(b, &s);
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
