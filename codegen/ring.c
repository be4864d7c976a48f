#include "codegen/ring.h"

#include "codegen/cluster.h"
#include "codegen/control.h"

#include <stdio.h>

/* "tiles_stage" */
static const char *part(char out[LT_LABEL_SIZE], const struct lt_ring *ring, const char *suffix)
{
    snprintf(out, LT_LABEL_SIZE, "%.24s_%s", ring->name, suffix);
    return out;
}

static int empty_offset(const struct lt_ring *ring)
{
    return ring->stages * LT_MBARRIER_BYTES;
}

int lt_ring_barrier_bytes(const struct lt_ring *ring)
{
    return ring->stages * LT_MBARRIER_BYTES * (ring->readers > 0 ? 2 : 1);
}

/* The address of the barriers at `offset`, by a name of its own. */
static lt_value barriers_at(struct lt_builder *b, const struct lt_ring *ring, const char *suffix,
                            lt_value smem, int offset)
{
    char name[LT_LABEL_SIZE];

    if (offset == 0)
        return lt_op(b, part(name, ring, suffix), "mov.u32", smem);
    return lt_op(b, part(name, ring, suffix), "add.u32", smem, lt_imm(offset));
}

void lt_ring_init(struct lt_builder *b, const struct lt_ring *ring, lt_value smem)
{
    lt_value full = barriers_at(b, ring, "full", smem, ring->offset);

    for (int i = 0; i < ring->stages; i++) {
        if (i == 0)
            lt_note(b, "%s",
                    ring->full_note ? ring->full_note
                                    : "the filler announces its bytes with one arrival");
        lt_mbarrier_init(b, lt_at(full, i * LT_MBARRIER_BYTES), 1);
    }
    if (ring->readers == 0)
        return;

    lt_value empty = barriers_at(b, ring, "empty", smem, ring->offset + empty_offset(ring));

    for (int i = 0; i < ring->stages; i++) {
        if (i == 0 && ring->empty_note)
            lt_note(b, "%s", ring->empty_note);
        else if (i == 0)
            lt_note(b, "every reading warp%s arrives once", ring->ctas > 1 ? " of every CTA" : "");
        lt_mbarrier_init(b, lt_at(empty, i * LT_MBARRIER_BYTES), ring->readers);
    }
}

/* The addresses follow the stage. */
static void locate(struct lt_builder *b, const struct lt_cursor *cursor)
{
    lt_set(b, cursor->full, "mad.lo.u32", cursor->stage, lt_imm(LT_MBARRIER_BYTES),
           cursor->barriers);
    lt_set(b, cursor->empty, "add.u32", cursor->full, lt_imm(empty_offset(cursor->ring)));
}

static void start_parity(struct lt_builder *b, const struct lt_cursor *cursor, int parity)
{
    lt_note(b, parity ? "a fresh ring is empty: the wait for parity 1 passes at once"
                      : "a fresh ring holds nothing: the wait for parity 0 blocks");
    lt_set(b, cursor->parity, "mov.u32", lt_imm(parity));
}

static struct lt_cursor make_cursor(struct lt_builder *b, const struct lt_ring *ring, lt_value smem,
                                    int parity)
{
    char name[LT_LABEL_SIZE];
    struct lt_cursor cursor = {.ring = ring};

    cursor.barriers = lt_plus(b, part(name, ring, "barriers"), smem, ring->offset);
    cursor.stage = lt_variable(b, LT_B32, part(name, ring, "stage"));
    cursor.parity = lt_variable(b, LT_B32, part(name, ring, "parity"));
    cursor.full = lt_variable(b, LT_B32, part(name, ring, "full"));
    cursor.empty = lt_variable(b, LT_B32, part(name, ring, "empty"));

    lt_set(b, cursor.stage, "mov.u32", lt_imm(0));
    start_parity(b, &cursor, parity);
    locate(b, &cursor);
    return cursor;
}

struct lt_cursor lt_ring_fixed(struct lt_builder *b, const struct lt_ring *ring, lt_value smem,
                               int parity)
{
    char name[LT_LABEL_SIZE];
    struct lt_cursor cursor = {.ring = ring};

    cursor.full = barriers_at(b, ring, "full", smem, ring->offset);
    if (ring->readers > 0)
        cursor.empty = barriers_at(b, ring, "empty", smem, ring->offset + empty_offset(ring));
    cursor.parity = lt_variable(b, LT_B32, part(name, ring, "parity"));
    start_parity(b, &cursor, parity);
    return cursor;
}

struct lt_cursor lt_ring_at(const struct lt_cursor *cursor, int stage)
{
    struct lt_cursor at = *cursor;

    at.stage = lt_imm(stage);
    at.full = lt_at(cursor->full, stage * LT_MBARRIER_BYTES);
    if (cursor->ring->readers > 0)
        at.empty = lt_at(cursor->empty, stage * LT_MBARRIER_BYTES);
    return at;
}

void lt_ring_flip(struct lt_builder *b, const struct lt_cursor *cursor)
{
    lt_set(b, cursor->parity, "xor.b32", cursor->parity, lt_imm(1));
}

struct lt_cursor lt_ring_producer(struct lt_builder *b, const struct lt_ring *ring, lt_value smem)
{
    return make_cursor(b, ring, smem, 1);
}

struct lt_cursor lt_ring_consumer(struct lt_builder *b, const struct lt_ring *ring, lt_value smem)
{
    return make_cursor(b, ring, smem, 0);
}

struct lt_cursor lt_ring_late_consumer(struct lt_builder *b, const struct lt_ring *ring,
                                       lt_value smem)
{
    struct lt_cursor cursor = lt_ring_consumer(b, ring, smem);
    char name[LT_LABEL_SIZE];

    cursor.release = lt_variable(b, LT_B32, part(name, ring, "release"));
    lt_ring_release_later(b, &cursor);
    return cursor;
}

void lt_ring_wait_free(struct lt_builder *b, const struct lt_cursor *cursor)
{
    char name[LT_LABEL_SIZE];

    lt_mbarrier_wait(b, part(name, cursor->ring, "free"), cursor->empty, cursor->parity);
}

void lt_ring_acquire(struct lt_builder *b, const struct lt_cursor *cursor, lt_value bytes)
{
    lt_comment(b, "wait until the stage is free, then announce its bytes");
    lt_ring_wait_free(b, cursor);
    lt_mbarrier_arrive_expect_tx(b, cursor->full, bytes);
}

void lt_ring_wait(struct lt_builder *b, const struct lt_cursor *cursor)
{
    char name[LT_LABEL_SIZE];

    lt_comment(b, "wait until the stage is full");
    lt_mbarrier_wait(b, part(name, cursor->ring, "ready"), cursor->full, cursor->parity);
}

void lt_ring_release_later(struct lt_builder *b, const struct lt_cursor *cursor)
{
    lt_set(b, cursor->release, "mov.u32", cursor->empty);
}

void lt_ring_release_noted(struct lt_builder *b, const struct lt_cursor *cursor, lt_value signals,
                           lt_value lane)
{
    char name[LT_LABEL_SIZE];
    lt_value address = cursor->release;

    lt_guard(b, signals);
    if (cursor->ring->ctas > 1) {
        address = lt_mapa(b, part(name, cursor->ring, "remote"), address, lane);
        lt_mbarrier_arrive_remote(b, address);
    } else {
        lt_mbarrier_arrive(b, address);
    }
    lt_unguard(b);
}

void lt_ring_advance(struct lt_builder *b, const struct lt_cursor *cursor)
{
    char name[LT_LABEL_SIZE];

    lt_set(b, cursor->stage, "add.u32", cursor->stage, lt_imm(1));

    lt_value wraps = lt_op(b, part(name, cursor->ring, "wraps"), "setp.eq.u32", cursor->stage,
                           lt_imm(cursor->ring->stages));

    lt_guard(b, wraps);
    lt_set(b, cursor->stage, "mov.u32", lt_imm(0));
    lt_ring_flip(b, cursor);
    lt_unguard(b);
    locate(b, cursor);
}

void lt_ring_drain(struct lt_builder *b, const struct lt_cursor *cursor)
{
    char name[LT_LABEL_SIZE];
    lt_value stages = lt_imm(cursor->ring->stages);

    LT_REPEAT (b, drained, stages) {
        lt_keep_rolled(b);
        lt_mbarrier_wait(b, part(name, cursor->ring, "drained"), cursor->empty, cursor->parity);
        lt_ring_advance(b, cursor);
    }
}
