/* endless.c: loops that never end. What a loop does that touches registers alone depends on them
 * alone: where they come back as they were, it goes round for ever. That is looked for now and
 * then, by going round once more on trial, so it is told of no loop that ends, however late. A loop
 * that reads memory, a clock or a barrier, or that depends on other lanes, is left to the limit of
 * instructions. */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 1 << 16,     /* of a group, before it is looked at: a trial takes less time */
    TRIAL_OPS = 1 << 12,  /* of one trial */
    TRIAL_ROUNDS = 1 << 6 /* within which registers may come back */
};

struct trial {
    struct emu_warp *warp;
    struct emu_group group; /* a copy that goes on alone, in the same frame */
    int first_line;
};

/* Other lanes may join those of the group: what they do together is not theirs alone. */
static bool depends_on_lanes(const struct emu_op *op)
{
    static const char *const words[] = {"activemask", "vote", "shfl", "match", "redux", "elect"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (emu_op_is(op, words[i]))
            return true;
    return false;
}

/* What it writes follows from the registers that the text names for it, lane by lane. The condition
 * code is none of them. */
static bool follows_from_registers(const struct emu_op *op)
{
    if (!op->alu.execute || op->alu.carry_in || op->alu.carry_out || depends_on_lanes(op))
        return false;
    for (int i = 0; i < op->source_count; i++)
        if (op->sources[i].kind == EMU_FROM_SPECIAL && emu_special_is_clock(op->sources[i].special))
            return false;
    return true;
}

/* One operation; false where nothing can be said of what follows. */
static bool try_one(struct trial *trial)
{
    struct emu_group *group = &trial->group;
    const struct emu_op *op = &group->frame->code->ops[group->at];
    uint32_t mask = emu_guarded(group, op);

    if (op->text && op->text->line < trial->first_line)
        trial->first_line = op->text->line;
    if (emu_op_is(op, "bra") && (mask == 0 || mask == group->lanes)) {
        group->at = mask ? op->target : group->at + 1;
        return true;
    }
    if (mask != 0 && !follows_from_registers(op))
        return false;
    group->at++;
    /* What an accumulator waits for has come: the loop has touched it many times. */
    return mask == 0 ||
           (op->then ? op->then : op->execute)(trial->warp, group, op, mask) == EMU_STEP_NEXT;
}

/* Whether it comes back to the branch, from where that goes, with the registers that it had. */
static bool comes_back(struct trial *trial, const struct emu_op *branch, const uint64_t *before,
                       size_t bytes)
{
    int at = trial->group.at, rounds = 0;

    trial->first_line = branch->text->line;
    trial->group.at = branch->target;
    for (int i = 0; i < TRIAL_OPS && rounds < TRIAL_ROUNDS; i++) {
        if (trial->group.at == at) {
            rounds++;
            if (memcmp(trial->group.frame->registers, before, bytes) == 0)
                return true;
        }
        if (!try_one(trial))
            return false;
    }
    return false;
}

bool emu_goes_round(struct emu_warp *warp, struct emu_group *group, const struct emu_op *branch)
{
    struct emu_frame *frame = group->frame;
    size_t bytes = (size_t)frame->code->function->slot_count * sizeof(emu_lanes);
    struct trial trial = {.warp = warp, .group = *group};
    uint64_t *before;
    bool is_endless;

    if (++group->rounds % ROUNDS != 0)
        return false;
    before = malloc(bytes + 1);
    if (!before)
        return false; /* the limit of instructions is still there */
    memcpy(before, frame->registers, bytes);
    is_endless = comes_back(&trial, branch, before, bytes);
    memcpy(frame->registers, before, bytes);
    free(before);
    if (is_endless)
        emu_fault_as(warp, branch, -1, EMU_OUT_OF_STEPS, "endless",
                     "it goes round for ever: nothing changes in the loop from line %d on",
                     trial.first_line);
    return is_endless;
}
