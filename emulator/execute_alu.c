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

/* Source `i` of all: of each what stands where it is, with a predicate that is negated there but
 * not in `op`, or the other way round, turned over. */
static void read_places(struct emu_warp *warp, const struct emu_op *op,
                        const struct emu_meeting *meeting, int i, uint64_t *values)
{
    for (int g = 0; g < meeting->count; g++) {
        const struct emu_op *at = meeting->ops[g];
        uint64_t turned = (at->alu.negated ^ op->alu.negated) >> i & 1;
        uint32_t mask = meeting->masks[g];
        emu_lanes lanes;

        take_lanes(values, emu_read(warp, meeting->groups[g], &at->sources[i], mask, lanes), mask);
        for (int lane = 0; lane < EMU_LANES; lane++)
            if (mask >> lane & 1)
                values[lane] ^= turned;
    }
}

static void write_place(const struct emu_group *group, const struct emu_op *at, uint32_t mask,
                        uint64_t *const *results)
{
    for (int i = 0; i < at->result_count; i++) {
        uint64_t *to = at->results[i] < 0 ? NULL : emu_slot(group, at->results[i]);

        if (!to)
            continue;
        take_lanes(to, results[i], mask);
        if (at->width)
            extend_result(at, to, mask);
    }
}

static enum emu_step execute_alu_at_places(struct emu_warp *warp, struct emu_meeting *meeting)
{
    const struct emu_op *op = fullest(meeting);
    emu_lanes values[EMU_ALU_SOURCES], given[EMU_ALU_RESULTS];
    const uint64_t *sources[EMU_ALU_SOURCES];
    uint64_t *results[EMU_ALU_RESULTS];
    const char *why = "an illegal operand";

    for (int i = 0; i < op->source_count; i++) {
        read_places(warp, op, meeting, i, values[i]);
        sources[i] = values[i];
    }
    for (int i = 0; i < EMU_ALU_RESULTS; i++)
        results[i] = given[i];
    if (!op->alu.execute(&op->alu, results, sources, meeting->lanes, &why))
        return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "%s", why);
    for (int g = 0; g < meeting->count; g++)
        write_place(meeting->groups[g], meeting->ops[g], meeting->masks[g], results);
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

    if (emu_meet(warp, group, op, mask, &meeting))
        return meeting.count > 1 ? execute_alu_at_places(warp, &meeting)
                                 : emu_execute_alu(warp, group, op, mask);
    if (!emu_have_all_come(warp, mask, members))
        return EMU_STEP_BLOCKED;
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
