/* check_lane.c: lanes of one warp that tell each other things by shared memory. Since Volta they
 * run apart: what one has written another may read behind a bar.warp.sync of both, or behind what
 * else orders threads. Source: PTX ISA "bar.warp.sync".
 *
 * Clocks tell warps apart and not lanes, so each warp has its own small memory of what its lanes
 * did last. Of words that share a place there the older is forgotten: something may be missed, and
 * nothing is found that is not so. */
#include "emulator/check_state.h"

#include <stdlib.h>

enum { WORDS = 512, WORD_BYTES = 4, NOBODY = -1 };

/* The last access of a kind to a word: by one or two lanes of those that an instruction was for. */
struct use {
    const struct emu_op *op; /* null: none */
    uint32_t time;
    int lane, another;
};

struct word {
    struct emu_cta *cta;
    uint64_t number;
    struct use write, read;
};

struct emu_lane_memory {
    uint32_t time;                        /* instructions that touched shared memory    */
    uint32_t all_know;                    /* what was up to then all lanes know         */
    uint32_t knows[EMU_LANES][EMU_LANES]; /* of each lane: up to when, of each other    */
    struct word words[WORDS];
};

/* ---- Order ---- */

/* The lanes of the mask know of each other; and where `of_all`, of all lanes. */
void emu_check_lane_order(struct emu_warp *warp, uint32_t mask, bool of_all)
{
    struct emu_lane_memory *memory = warp->check->lanes;
    uint32_t known[EMU_LANES] = {0};

    if (!memory)
        return;
    if ((mask & warp->live) == warp->live) {
        memory->all_know = memory->time;
        return;
    }
    for (int i = 0; i < EMU_LANES; i++)
        for (int k = 0; k < EMU_LANES && (mask >> i & 1); k++)
            if (memory->knows[i][k] > known[k])
                known[k] = memory->knows[i][k];
    for (int i = 0; i < EMU_LANES; i++)
        for (int k = 0; k < EMU_LANES && (mask >> i & 1); k++)
            memory->knows[i][k] = of_all || (mask >> k & 1) ? memory->time : known[k];
}

/* ---- Accesses ---- */

static bool has_memory(struct emu_warp *warp)
{
    struct emu_check_warp *check = warp->check;

    if (check->lanes)
        return true;
    check->lanes = calloc(1, sizeof *check->lanes);
    if (!check->lanes) {
        emu_check_no_memory(warp);
        return false;
    }
    check->lanes->time = 1;
    return true;
}

static bool knows(const struct emu_lane_memory *memory, int lane, int other, uint32_t time)
{
    return lane == other || time <= memory->all_know || time <= memory->knows[lane][other];
}

/* The lane that did it, and of which this one knows nothing; or NOBODY. Lanes of one instruction do
 * not collide: that all of them leave the same is usual. */
static int stranger(const struct emu_lane_memory *memory, int lane, const struct use *before)
{
    if (!before->op || before->time == memory->time)
        return NOBODY;
    if (!knows(memory, lane, before->lane, before->time))
        return before->lane;
    if (before->another != NOBODY && !knows(memory, lane, before->another, before->time))
        return before->another;
    return NOBODY;
}

static void remember(const struct emu_lane_memory *memory, struct use *use, const struct emu_op *op,
                     int lane)
{
    if (use->op == op && use->time == memory->time)
        use->another = lane;
    else
        *use = (struct use){op, memory->time, lane, NOBODY};
}

static void report(struct emu_warp *warp, const struct emu_op *op, int lane,
                   const struct word *word, const struct use *before, int with)
{
    const struct emu_access other =
        emu_access_of(warp, before->op, warp->check->self, 0, before->op->kind);
    const struct emu_found found = {
        .code = "race",
        .warp = warp,
        .op = op,
        .lane = lane,
        .kind = op->kind,
        .other = &other,
        .other_lane = with + 1,
        .cta = word->cta,
        .address = word->number * WORD_BYTES,
        .has_address = true,
        .what = "lanes of a warp run apart, and nothing orders the two",
        .needed = "bar.warp.sync (__syncwarp) of both lanes, between the two"};

    emu_check_found(&found);
}

static void touch(struct emu_warp *warp, const struct emu_op *op, int lane, struct word *word)
{
    struct emu_lane_memory *memory = warp->check->lanes;
    bool writes = op->kind & EMU_WRITES;
    int with = stranger(memory, lane, &word->write);

    if (with != NOBODY && !(writes && word->write.op == op))
        report(warp, op, lane, word, &word->write, with);
    with = writes ? stranger(memory, lane, &word->read) : NOBODY;
    if (with != NOBODY)
        report(warp, op, lane, word, &word->read, with);
    remember(memory, writes ? &word->write : &word->read, op, lane);
}

void emu_check_lane_begin(struct emu_warp *warp)
{
    if (warp->check->lanes)
        warp->check->lanes->time++;
}

void emu_check_lane_access(struct emu_warp *warp, const struct emu_op *op, int lane,
                           struct emu_cta *cta, uint64_t address, uint32_t bytes)
{
    if (!has_memory(warp))
        return;
    for (uint64_t number = address / WORD_BYTES; number * WORD_BYTES < address + bytes; number++) {
        struct word *word = &warp->check->lanes->words[(number + 67 * cta->rank) % WORDS];

        if (word->cta != cta || word->number != number)
            *word = (struct word){.cta = cta, .number = number};
        touch(warp, op, lane, word);
    }
}
