/* gemm_sm100_schedule.c: which tiles a role makes. With schedule=dynamic the grid has a cluster for
 * every tile, and those that run take over tiles of those that have not begun, by cluster launch
 * control:
 *
 *      scheduler           ring "replies"             producers, MMA, write-back, the scheduler
 *      try_cancel    --full-->  16 bytes in each CTA  --full-->   the next tile, or the end
 *      (rank 0 asks) <-empty--  counts in rank 0      <-release-- all have read it
 *
 * A cluster makes its own tile first. Whoever made a tile waits for the reply that tells the next;
 * all roles of all CTAs read the same replies in the same order, so they agree on the tiles. */
#include "codegen/budget.h"
#include "codegen/cluster.h"
#include "codegen/control.h"
#include "codegen/launch_control.h"
#include "codegen/wgmma.h"
#include "templates/gemm_sm100_kernel.h"

static int cluster_ctas(const struct lt_gemm_sm100 *s)
{
    return lt_gemm_cluster_size(s->g.plan);
}

/* Threads that read each reply: in each CTA the producer and those who write back, for each pair
 * those who issue its MMAs, and the scheduler. */
static int readers_of(const struct lathe_plan *plan)
{
    int ctas = lt_gemm_cluster_size(plan);
    int writers = plan->consumers * LT_WARPGROUP_THREADS;

    return ctas * (1 + writers) + ctas / plan->cta_group * plan->consumers + 1;
}

struct lt_ring lt_gemm_sm100_replies(const struct lathe_plan *plan, int offset)
{
    return (struct lt_ring){
        .name = "replies",
        .stages = LT_GEMM_SM100_REPLIES,
        .offset = offset,
        .bytes = LT_REPLY_BYTES,
        .readers = readers_of(plan),
        .ctas = lt_gemm_cluster_size(plan),
        .empty_note = "every thread that reads replies arrives, of whichever CTA",
    };
}

/* ---- Replies ---- */

/* Where the reply of the cursor's stage lies. */
static lt_value slot(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                     const struct lt_cursor *replies)
{
    lt_value first = lt_op(b, "reply_at", "add.u32", s->g.smem,
                           lt_imm(lt_budget_offset(s->g.plan, "scheduler reply")));

    return lt_op(b, "reply_at", "mad.lo.u32", replies->stage, lt_imm(LT_REPLY_BYTES), first);
}

static void let_go(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                   const struct lt_cursor *replies)
{
    lt_comment(b, "the reply has been read, and the scheduler may ask for one in its place");
    lt_note(b, "this read comes before what the async proxy writes next");
    lt_fence_proxy_async(b);
    if (cluster_ctas(s) == 1) {
        lt_mbarrier_arrive(b, replies->empty);
        return;
    }
    lt_note(b, "and before the arrival, in the eyes of another CTA");
    lt_fence_cluster_release(b);
    lt_mbarrier_arrive_relaxed(b, lt_mapa(b, "scheduler_empty", replies->empty, lt_imm(0)));
}

/* Reads the reply, which is there; where `first` is given, also whose place was taken. */
static lt_value read_reply(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                           const struct lt_cursor *replies, lt_value *first)
{
    lt_value reply = lt_reply_load(b, "reply", slot(b, s, replies));
    lt_value has_next = lt_reply_is_canceled(b, "has_next", reply);

    if (first) {
        lt_note(b, "undefined where there is none");
        LT_WHEN (b, has_next)
            *first = lt_reply_first_cta(b, "next_cta", reply);
    }
    let_go(b, s, replies);
    return has_next;
}

/* ---- The scheduler ---- */

/* Each CTA's own barrier counts the bytes that come there, so each is told to expect them. */
static void announce(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                     const struct lt_cursor *replies)
{
    const lt_value bytes = lt_imm(LT_REPLY_BYTES);

    if (cluster_ctas(s) == 1) {
        lt_mbarrier_arrive_expect_tx(b, replies->full, bytes);
        return;
    }
    lt_comment(b, "a reply comes to every CTA and counts there: each expects its bytes");
    for (int rank = 0; rank < cluster_ctas(s); rank++) {
        lt_value full = lt_mapa(b, "expecting_full", replies->full, lt_imm(rank));

        lt_mbarrier_arrive_expect_tx_remote(b, full, bytes);
    }
}

static void ask(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                const struct lt_cursor *replies)
{
    lt_comment(b, "wait until all roles of all CTAs have read what was in the stage");
    if (cluster_ctas(s) == 1) {
        lt_ring_wait_free(b, replies);
    } else {
        lt_mbarrier_wait_cluster(b, "replies_free", replies->empty, replies->parity);
        lt_note(b, "and what other CTAs read comes before what is asked for");
        lt_fence_cluster_acquire(b);
    }
    announce(b, s, replies);
    lt_value reply_at = slot(b, s, replies);

    lt_note(b, "takes over a cluster that has not begun, if there is one");
    lt_try_cancel(b, reply_at, replies->full, cluster_ctas(s) > 1);
}

void lt_gemm_sm100_scheduler(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    struct lt_cursor replies = lt_ring_producer(b, &s->replies, s->g.smem);

    LT_LOOP (b, request) {
        ask(b, s, &replies);
        lt_note(b, "a stage is full at the other parity than it was free at");
        lt_value parity = lt_op(b, "reply_parity", "xor.b32", replies.parity, lt_imm(1));

        lt_mbarrier_wait(b, "replies_ready", replies.full, parity);
        lt_value has_next = read_reply(b, s, &replies, NULL);

        lt_comment(b, "no tile is left: a CTA that has seen that may not ask again");
        lt_loop_leave(b, &request, lt_not(has_next));
        lt_ring_advance(b, &replies);
    }
}

/* ---- Who makes tiles ---- */

/* The tile of the cluster that begins with that CTA. */
static void set_number(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value number,
                       lt_value first_cta)
{
    int along = s->g.plan->cluster[0];

    lt_note(b, "%s", along > 1 ? "the number of the cluster that begins there" : "its tile");
    lt_set(b, number, "mov.u32", lt_quotient(b, "cluster", first_cta, along));
}

static void walk(struct lt_builder *b, struct lt_gemm_sm100 *s,
                 const struct lt_gemm_sm100_maker *maker)
{
    struct lt_cursor replies = lt_ring_consumer(b, &s->replies, s->g.smem);
    lt_value number = {0};

    if (!maker->is_blind) {
        number = lt_variable(b, LT_B32, "tile");
        lt_set(b, number, "mov.u32", s->g.schedule.own);
    }
    LT_LOOP (b, next_tile) {
        lt_value first;

        maker->make(b, s, number, maker->user);
        lt_comment(b, maker->is_blind
                          ? "whether there is a next tile: the scheduler has asked meanwhile"
                          : "which tile is next: the reply that the scheduler asked for meanwhile");
        lt_ring_wait(b, &replies);
        lt_value has_next = read_reply(b, s, &replies, maker->is_blind ? NULL : &first);

        lt_loop_leave(b, &next_tile, lt_not(has_next));
        if (!maker->is_blind)
            set_number(b, s, number, first);
        lt_ring_advance(b, &replies);
    }
}

void lt_gemm_sm100_each_tile(struct lt_builder *b, struct lt_gemm_sm100 *s,
                             const struct lt_gemm_sm100_maker *maker)
{
    if (s->g.plan->schedule == LATHE_DYNAMIC) {
        walk(b, s, maker);
    } else if (lt_schedule_walks(&s->g.schedule)) {
        LT_TILES (b, tile, &s->g.schedule)
            maker->make(b, s, tile.index, maker->user);
    } else {
        maker->make(b, s, s->g.schedule.own, maker->user);
    }
}
