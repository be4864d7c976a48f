/* check_shadow.h: what happened last to every byte of memory.
 *
 * A byte's history is who wrote it last, and who has read it since or updated it by atomics. Bytes
 * of one history share its number, so that a tile of a hundred thousand bytes costs a comparison a
 * byte and one question. */
#ifndef EMU_CHECK_SHADOW_H
#define EMU_CHECK_SHADOW_H

#include "emulator/check_clock.h"

#include <stddef.h>

struct emu_op;

/* Histories that need no record: nobody wrote the byte; it was written before this launch; the
 * launch before this one has read it, or written it. */
enum {
    EMU_NEVER_WRITTEN,
    EMU_WRITTEN_BEFORE,
    EMU_READ_BY_LAST,
    EMU_WRITTEN_BY_LAST,
    EMU_FIRST_HISTORY
};

/* The launch before this one, as an agent whose time is 1. */
#define EMU_LAST_LAUNCH ((struct emu_agent){UINT32_MAX, 0})

enum {
    EMU_READS = 1,
    EMU_WRITES = 2,
    EMU_STRONG = 4, /* atomics, volatile and relaxed accesses: no race among themselves */
    EMU_BY_ASYNC = 8,
    /* Of strong ones that are so for the threads of the CTA, or of the cluster, alone. */
    EMU_FOR_CTA = 16,
    EMU_FOR_CLUSTER = 32,
    EMU_MAY_BE_UNUSED = 64, /* what it reads: that nobody wrote it means nothing */
    /* Of writes by the async proxy that need a proxy fence behind reads by the generic one, too. */
    EMU_BEHIND_READS = 128,
    EMU_OF_SHARED = 256 /* by the async proxy, in shared memory */
};

/* An access: by whom, when, by what in the text. */
struct emu_access {
    struct emu_agent agent;
    uint32_t time;
    uint32_t kind;
    const struct emu_op *op;
    uint32_t cta[3];
    int warp;
};

enum emu_verdict {
    EMU_FINE,
    EMU_RACE,
    EMU_UNFENCED,
    EMU_UNWRITTEN,
    EMU_TOO_EARLY, /* the launch before this one may still be at it */
    EMU_NO_MEMORY
};

struct emu_conflict {
    enum emu_verdict verdict;
    struct emu_access other; /* of a race, and of a fence that is missing */
    bool is_first;           /* nobody had written there before           */
    bool is_offered;         /* of a fence that is missing: the half that releases is there */
    size_t at;               /* the byte, counted from the first of the access */
    bool has_unwritten;      /* of some of the bytes, whatever the verdict */
    bool has_written;        /* the same: there are others */
};

struct emu_histories;

struct emu_histories *emu_histories_create(void);
void emu_histories_destroy(struct emu_histories *histories);
/* Forgets all; shadows that hold numbers of before are the caller's to clear. */
void emu_histories_reset(struct emu_histories *histories);
/* What a history is to the next launch: one that needs no record. */
uint32_t emu_histories_to_last(const struct emu_histories *histories, uint32_t history);
/* What was the last to write the bytes of a history in this launch; false where nothing did. */
bool emu_histories_writer(const struct emu_histories *histories, uint32_t history,
                          struct emu_access *access);
/* Whether anybody has written them, before the launch or in it. */
bool emu_histories_is_written(const struct emu_histories *histories, uint32_t history);
/* So many that it is time to drop those that no byte has any more. */
bool emu_histories_are_many(const struct emu_histories *histories);
/* In three steps: begin, show every shadow, end. The numbers in the shadows change. */
bool emu_histories_begin_sweep(struct emu_histories *histories);
void emu_histories_mark(struct emu_histories *histories, const uint32_t *shadow, size_t bytes);
bool emu_histories_end_sweep(struct emu_histories *histories);
void emu_histories_renumber(const struct emu_histories *histories, uint32_t *shadow, size_t bytes);

/* The access to `bytes` bytes, whose histories stand in `shadow`, by someone who knows `clock`: the
 * histories are brought up to date, and the first conflict is told. */
struct emu_conflict emu_histories_access(struct emu_histories *histories, uint32_t *shadow,
                                         size_t bytes, const struct emu_access *access,
                                         const struct emu_clock *clock);

#endif
