#include "emulator/meeting.h"

#include <string.h>

/* All live lanes of the members are among those of the mask. */
static bool is_converged(const struct emu_warp *warp, uint32_t mask, uint32_t members)
{
    return (members & warp->live & ~mask) == 0;
}

bool emu_have_all_come(const struct emu_warp *warp, uint32_t mask, const uint64_t *membermasks)
{
    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && !is_converged(warp, mask, (uint32_t)membermasks[lane]))
            return false;
    return true;
}

static bool is_like(const struct emu_op *a, const struct emu_op *b)
{
    return a->execute == b->execute && a->source_count == b->source_count && a->text && b->text &&
           strcmp(a->text->opcode, b->text->opcode) == 0;
}

/* Whether all lanes of `mask` give that membermask, of which they are. */
static bool give(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                 uint32_t mask, uint32_t members)
{
    emu_lanes lanes;
    const uint64_t *given = emu_read(warp, group, &op->sources[op->source_count - 1], mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && (uint32_t)given[lane] != members)
            return false;
    return (mask & ~members) == 0;
}

static void join(struct emu_meeting *meeting, struct emu_group *group, const struct emu_op *op,
                 uint32_t mask)
{
    meeting->groups[meeting->count] = group;
    meeting->ops[meeting->count] = op;
    meeting->masks[meeting->count++] = mask;
    meeting->lanes |= mask;
}

bool emu_meet(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
              uint32_t mask, struct emu_meeting *meeting)
{
    emu_lanes lanes;
    const uint64_t *given = emu_read(warp, group, &op->sources[op->source_count - 1], mask, lanes);
    uint32_t members = (uint32_t)given[__builtin_ctz(mask)];

    *meeting = (struct emu_meeting){.count = 0};
    if (!give(warp, group, op, mask, members))
        return false;
    join(meeting, group, op, mask);
    for (int i = 0; i < warp->group_count; i++) {
        struct emu_group *other = &warp->groups[i];
        const struct emu_op *like = &other->frame->code->ops[other->at];
        bool has_come = other != group && other->tried && is_like(op, like);
        uint32_t coming = has_come ? emu_guarded(other, like) : 0;

        if (coming != 0 && give(warp, other, like, coming, members))
            join(meeting, other, like, coming);
    }
    return is_converged(warp, meeting->lanes, members);
}

void emu_part(struct emu_meeting *meeting)
{
    for (int i = 1; i < meeting->count; i++) {
        meeting->groups[i]->at++;
        meeting->groups[i]->tried = false;
        meeting->groups[i]->status = EMU_READY;
    }
}
