/* registers.c: setmaxnreg: registers that warps of a CTA give back and take. Source: PTX ISA
 * "setmaxnreg": .inc waits until the CTA's pool has enough. */
#include "emulator/state.h"

#include <string.h>

enum {
    LEAST = 24,
    MOST = 256,
    UNIT = 8,
    REGISTERS_OF_CTA = 65536,
    REGISTERS_MAX = 255,
    DECREASE = 1 /* of flags */
};

static uint32_t product(const uint32_t along[3])
{
    return along[0] * (along[1] ? along[1] : 1) * (along[2] ? along[2] : 1);
}

/* .maxnreg says; else ptxas gives as many as the bounds of the launch leave, or fewer: so what is
 * not to be had of that many is not to be had. */
uint32_t emu_first_registers(const struct emu_function *function, uint32_t threads)
{
    uint32_t ctas = function->minnctapersm ? function->minnctapersm : 1, share;

    if (function->maxnreg > 0)
        return function->maxnreg;
    if (product(function->maxntid) == 0 && product(function->reqntid) == 0)
        return 0;
    share = REGISTERS_OF_CTA / threads / ctas / UNIT * UNIT;
    return share < REGISTERS_MAX ? share : REGISTERS_MAX;
}

static enum emu_step set_registers(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask)
{
    struct emu_cta *cta = warp->cta;
    uint32_t wanted = (uint32_t)op->sources[0].bits, have = warp->registers;

    (void)mask;
    if (have == 0)
        return EMU_STEP_NEXT;
    if (op->flags & DECREASE ? wanted > have : wanted < have)
        return group->frame->code->function->maxnreg == 0
                   ? EMU_STEP_NEXT
                   : emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "setmaxnreg",
                                  "%u registers a thread, and it has %u", wanted, have);
    if (op->flags & DECREASE) {
        cta->free_registers += (have - wanted) * EMU_LANES;
        cta->cluster->progress++;
    } else {
        if ((wanted - have) * EMU_LANES > cta->free_registers)
            return EMU_STEP_BLOCKED;
        cta->free_registers -= (wanted - have) * EMU_LANES;
    }
    warp->registers = wanted;
    return EMU_STEP_NEXT;
}

enum emu_decoded emu_decode_registers(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    const struct emu_operand *count = &i->operands[0];

    if (strcmp(i->words[0], "setmaxnreg") != 0)
        return EMU_NOT_MINE;
    op->execute = set_registers;
    op->flags = emu_has_word(i, "dec") ? DECREASE : 0;
    if (i->operand_count != 1 || count->kind != EMU_OPERAND_INTEGER || count->bits < LEAST ||
        count->bits > MOST || count->bits % UNIT != 0)
        return emu_refuse_form(d, i, "takes a multiple of 8 from 24 to 256");
    return emu_add_sources(d, op, count, EMU_U32) ? EMU_DECODED : EMU_REFUSED;
}
