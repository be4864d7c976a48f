/* ring.h: a ring of stages in shared memory between those who fill it and those who read it.
 *
 * Each stage has two mbarriers: `full` completes when its bytes have landed, `empty` when all
 * readers have let it go. A cursor is one role's place in the ring: the stage it is at and the
 * parity it waits for there. mbarrier.try_wait.parity P answers whether the phase of parity P has
 * completed, and a fresh barrier counts the phase before its first as complete; so a producer that
 * starts with parity 1 finds every stage empty, and a consumer that starts with parity 0 waits for
 * bytes. Both flip when they wrap. That is all the phase arithmetic there is.
 *
 *     producer                                  consumer
 *     lt_ring_acquire   wait empty, announce    lt_ring_wait      wait full
 *     (fill the stage)                          (read the stage)
 *     lt_ring_advance                           lt_ring_release   arrive at empty
 *                                               lt_ring_advance
 *
 * Emits into the text, for a ring named `tiles`: %tiles_stage, %tiles_parity, and the addresses of
 * the current stage's barriers, %tiles_full and %tiles_empty. */
#ifndef LT_CODEGEN_RING_H
#define LT_CODEGEN_RING_H

#include "codegen/barrier.h"

struct lt_ring {
    const char *name; /* by who feeds whom, or by what flows: "tiles"     */
    int stages;
    int offset;  /* of its barriers in shared memory: full, then empty */
    int bytes;   /* of a stage                                       */
    int readers; /* arrivals that empty a stage; 0: it has no such barriers, for those who fill it
                  * know by other means */
    int ctas;    /* of the cluster, all of which fill and empty it   */
    const char *full_note, *empty_note; /* who arrives; null: one who announces the bytes of a copy,
                                         * and warps that read */
};

struct lt_cursor {
    const struct lt_ring *ring;
    lt_value barriers; /* address of the first full barrier         */
    lt_value stage, parity, full, empty;
    lt_value release; /* of a late consumer: the empty barrier of the stage to let go next */
};

/* Bytes of its barriers. */
int lt_ring_barrier_bytes(const struct lt_ring *ring);

/* Initialises the barriers; one thread does it. `smem` is the start of shared memory. A fence and a
 * block-wide or cluster-wide barrier must follow. */
void lt_ring_init(struct lt_builder *b, const struct lt_ring *ring, lt_value smem);

/* A cursor at stage 0. `smem` is the start of shared memory. */
struct lt_cursor lt_ring_producer(struct lt_builder *b, const struct lt_ring *ring, lt_value smem);
/* One for lt_ring_at() alone: it has no place of its own. */
struct lt_cursor lt_ring_fixed(struct lt_builder *b, const struct lt_ring *ring, lt_value smem,
                               int parity);
struct lt_cursor lt_ring_consumer(struct lt_builder *b, const struct lt_ring *ring, lt_value smem);
/* Of one that keeps work in flight, and lets a stage go by lt_ring_release_noted(). */
struct lt_cursor lt_ring_late_consumer(struct lt_builder *b, const struct lt_ring *ring,
                                       lt_value smem);

/* Waits until the stage is free, then announces the bytes that will come, from whichever CTA: all
 * of the stage's, or fewer. */
void lt_ring_acquire(struct lt_builder *b, const struct lt_cursor *cursor, lt_value bytes);
/* The first half of it, for those who fill by other means than TMA, or let another CTA announce. */
void lt_ring_wait_free(struct lt_builder *b, const struct lt_cursor *cursor);
/* Waits until the stage is full. */
void lt_ring_wait(struct lt_builder *b, const struct lt_cursor *cursor);

/* A consumer that keeps work in flight reads a stage until one step later: it notes which stage
 * that will be, and lets it go then. `signals` says which lanes arrive; with several CTAs lane r
 * arrives in the CTA of rank r. */
void lt_ring_release_later(struct lt_builder *b, const struct lt_cursor *cursor);
void lt_ring_release_noted(struct lt_builder *b, const struct lt_cursor *cursor, lt_value signals,
                           lt_value lane);

/* The cursor at a stage that is known when the text is written: addresses are constants behind one
 * register. Whoever unrolls by the stages never advances, but flips the parity once a turn. */
struct lt_cursor lt_ring_at(const struct lt_cursor *cursor, int stage);
void lt_ring_flip(struct lt_builder *b, const struct lt_cursor *cursor);

void lt_ring_advance(struct lt_builder *b, const struct lt_cursor *cursor);

/* A producer's end in a cluster: waits until every stage was let go by all CTAs. Until then they
 * signal barriers here, and an exited CTA has none. */
void lt_ring_drain(struct lt_builder *b, const struct lt_cursor *cursor);

#endif
