/* execute_alu.c: instructions of alu.h on the registers of a group, and those with .sync on the
 * registers of all who meet. */
#include "emulator/meeting.h"

/* cvt.s8.s32 into a register of 32 bits: the sign goes all the way up. */
static void extend_result(const struct emu_op *op, uint64_t *result, uint32_t mask)
{
    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            result[lane] = emu_extend(result[lane], op->alu.result_types[0], op->width);
}

enum emu_step emu_execute_alu(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
{
    emu_lanes values[EMU_ALU_SOURCES], unread[EMU_ALU_RESULTS];
    const uint64_t *sources[EMU_ALU_SOURCES];
    uint64_t *results[EMU_ALU_RESULTS];
    const char *why = "an illegal operand";

    for (int i = 0; i < op->source_count; i++)
        sources[i] = emu_read(warp, group, &op->sources[i], mask, values[i]);
    for (int i = 0; i < op->result_count; i++)
        /* cppcheck-suppress legacyUninitvar ; it is written, and never read */
        results[i] = op->results[i] < 0 ? unread[i] : emu_slot(group, op->results[i]);
    if (op->alu.carry_in)
        sources[op->source_count] = warp->carry;
    if (op->alu.carry_out)
        results[op->result_count] = warp->carry;
    if (op->alu.execute(&op->alu, results, sources, mask, &why)) {
        if (op->width)
            extend_result(op, results[0], mask);
        return EMU_STEP_NEXT;
    }
    return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "%s", why);
}

static void take_lanes(uint64_t *to, const uint64_t *from, uint32_t mask)
{
    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            to[lane] = from[lane];
}

/* That with all the results that any of them wants. */
static const struct emu_op *fullest(const struct emu_meeting *meeting)
{
    const struct emu_op *op = meeting->ops[0];

    for (int g = 1; g < meeting->count; g++)
        if (meeting->ops[g]->result_count > op->result_count)
            op = meeting->ops[g];
    return op;
}

/* The sources of each where it stands, and the results to where they go there. */
static enum emu_step execute_alu_at_places(struct emu_warp *warp, struct emu_meeting *meeting)
{
    const struct emu_op *op = fullest(meeting);
    emu_lanes values[EMU_ALU_SOURCES], given[EMU_ALU_RESULTS];
    const uint64_t *sources[EMU_ALU_SOURCES];
    uint64_t *results[EMU_ALU_RESULTS];
    const char *why = "an illegal operand";

    for (int i = 0; i < op->source_count; i++) {
        sources[i] = values[i];
        for (int g = 0; g < meeting->count; g++) {
            emu_lanes lanes;
            uint32_t mask = meeting->masks[g];

            take_lanes(
                values[i],
                emu_read(warp, meeting->groups[g], &meeting->ops[g]->sources[i], mask, lanes),
                mask);
        }
    }
    for (int i = 0; i < EMU_ALU_RESULTS; i++)
        results[i] = given[i];
    if (!op->alu.execute(&op->alu, results, sources, meeting->lanes, &why))
        return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "%s", why);
    for (int g = 0; g < meeting->count; g++)
        for (int i = 0; i < meeting->ops[g]->result_count; i++) {
            int slot = meeting->ops[g]->results[i];

            if (slot < 0)
                continue;
            take_lanes(emu_slot(meeting->groups[g], slot), given[i], meeting->masks[g]);
            if (meeting->ops[g]->width)
                extend_result(meeting->ops[g], emu_slot(meeting->groups[g], slot),
                              meeting->masks[g]);
        }
    emu_part(meeting);
    return EMU_STEP_NEXT;
}

/* Of the instructions with .sync the last source says which lanes take part: all of them have to
 * be here, or at an instruction like it. Those that came for one mask are done before those for
 * another. */
enum emu_step emu_execute_together(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *members =
        emu_read(warp, group, &op->sources[op->source_count - 1], mask, lanes);
    uint32_t left = mask;
    struct emu_meeting meeting;

    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && !emu_is_converged(warp, mask, (uint32_t)members[lane]))
            return emu_meet(warp, group, op, mask, &meeting) ? execute_alu_at_places(warp, &meeting)
                                                             : EMU_STEP_BLOCKED;
    while (left) {
        uint32_t wanted = (uint32_t)members[__builtin_ctz(left)], together = 0;

        for (int lane = 0; lane < EMU_LANES; lane++)
            if ((left >> lane & 1) && (uint32_t)members[lane] == wanted)
                together |= 1u << lane;
        if ((together & ~wanted) != 0)
            return emu_fault(warp, op, __builtin_ctz(together & ~wanted), EMU_ILLEGAL_INSTRUCTION,
                             "this lane is not in its own mask 0x%x", wanted);
        if (emu_execute_alu(warp, group, op, together) == EMU_STEP_FAULT)
            return EMU_STEP_FAULT;
        left &= ~together;
    }
    return EMU_STEP_NEXT;
}
