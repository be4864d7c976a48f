/* tcgen05.c: the instructions of tcgen05 as operations: operands bound, and who executes them. */
#include "emulator/tmem.h"

#include <string.h>

/* ---- Operands ---- */

/* A register of the right size in the place of a source. */
static bool bind(struct emu_decoder *d, const struct emu_instruction *i,
                 const struct emu_operand *operand, int bytes, struct emu_source *source)
{
    bool is_predicate = operand->kind == EMU_OPERAND_REGISTER &&
                        d->function->registers[operand->reg].type == EMU_PRED;

    if (operand->kind == EMU_OPERAND_ADDRESS) {
        const struct emu_operand *base = &operand->items[0];

        /* Of tensor memory it has 32 bits; of shared memory it may be generic. */
        if (!emu_has_word(i, "alloc") && !emu_has_word(i, "commit") &&
            base->kind == EMU_OPERAND_REGISTER && emu_register_bytes(d, base) != 4)
            return emu_fail(d->error, i->line, "%s: %s is no address of 32 bits", i->opcode,
                            operand->name ? operand->name : "this");
        return emu_bind_address(d, operand, source);
    }
    if (operand->kind == EMU_OPERAND_REGISTER &&
        (is_predicate != (bytes == 0) || emu_register_bytes(d, operand) != bytes))
        return emu_fail(d->error, i->line, "%s: %s is a register of another size than is wanted",
                        i->opcode, operand->name ? operand->name : "this");
    return emu_bind_source(d, operand, bytes == 8 ? EMU_U64 : bytes ? EMU_U32 : EMU_PRED, source);
}

static bool bind_vector(struct emu_decoder *d, const struct emu_instruction *i,
                        const struct emu_operand *list, struct emu_op *op)
{
    for (int k = 0; k < list->item_count; k++)
        if (emu_register_bytes(d, &list->items[k]) != 4)
            return emu_fail(d->error, i->line, "%s: %s is no register of 32 bits", i->opcode,
                            list->items[k].name ? list->items[k].name : "this");
    return emu_bind_many(d, list, op);
}

static bool bind_move(struct emu_decoder *d, const struct emu_instruction *i, struct emu_op *op)
{
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;
    bool is_load = form->what == EMU_TCGEN05_LD;
    int list = is_load ? 0 : i->operand_count - 1;

    op->source_count = 1;
    if (!bind_vector(d, i, &i->operands[list], op))
        return false;
    if (form->reduces &&
        (emu_register_bytes(d, &i->operands[1]) != 4 || !emu_add_results(d, op, &i->operands[1])))
        return emu_fail(d->error, i->line, "%s: the result of .red is no register of 32 bits",
                        i->opcode);
    return bind(d, i, &i->operands[is_load ? 1 + form->reduces : 0], 4, &op->sources[EMU_PLACE_TO]);
}

static bool bind_product(struct emu_decoder *d, const struct emu_instruction *i, struct emu_op *op)
{
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;
    const struct emu_operand *operands = i->operands;
    int at = 4;

    op->source_count = EMU_PLACES;
    for (int place = 0; place < EMU_PLACES; place++)
        op->sources[place].kind = EMU_FROM_BITS;
    if (!bind(d, i, &operands[0], 4, &op->sources[EMU_PLACE_TO]) ||
        !bind(d, i, &operands[1], 8, &op->sources[EMU_PLACE_SECOND]) ||
        !bind(d, i, &operands[2], 8, &op->sources[EMU_PLACE_B]) ||
        !bind(d, i, &operands[3], 4, &op->sources[EMU_PLACE_DESCRIPTOR]))
        return false;
    for (int k = 0; k < form->mask_registers; k++)
        if (!bind(d, i, &operands[at].items[k], 4, &op->sources[EMU_PLACE_LANES + k]))
            return false;
    at += form->mask_registers > 0;
    if (!bind(d, i, &operands[at], 0, &op->sources[EMU_PLACE_ENABLE]))
        return false;
    return !form->has_zero_mask ||
           bind(d, i, &operands[at + 1], 8, &op->sources[EMU_PLACE_ZERO_MASK]);
}

static bool bind_operands(struct emu_decoder *d, const struct emu_instruction *i, struct emu_op *op)
{
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;
    int second = form->what == EMU_TCGEN05_CP ? 8 : form->what == EMU_TCGEN05_COMMIT ? 2 : 4;

    if (form->what == EMU_TCGEN05_LD || form->what == EMU_TCGEN05_ST)
        return bind_move(d, i, op);
    if (form->what == EMU_TCGEN05_MMA)
        return bind_product(d, i, op);
    op->source_count = i->operand_count;
    return (i->operand_count < 1 || bind(d, i, &i->operands[0], 4, &op->sources[EMU_PLACE_TO])) &&
           (i->operand_count < 2 ||
            bind(d, i, &i->operands[1], second, &op->sources[EMU_PLACE_SECOND]));
}

/* ---- All of them ---- */

static enum emu_step order(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    (void)group, (void)mask;
    if (warp->check)
        emu_check_tcgen05_fence(warp, op->tensor.tcgen05.what == EMU_TCGEN05_FENCE_BEFORE);
    return EMU_STEP_NEXT;
}

/* ptxas refuses a function in which both stand. */
static bool mixes_groups(struct emu_decoder *d, const struct emu_op *op)
{
    for (const struct emu_op *other = d->code->ops; other < op; other++)
        if (emu_op_is(other, "tcgen05") && other->tensor.tcgen05.group != 0 &&
            other->tensor.tcgen05.group != op->tensor.tcgen05.group)
            return true;
    return false;
}

enum emu_decoded emu_decode_tcgen05(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    static const emu_execute executes[] = {
        [EMU_TCGEN05_ALLOC] = emu_tmem_allocate,
        [EMU_TCGEN05_DEALLOC] = emu_tmem_deallocate,
        [EMU_TCGEN05_RELINQUISH] = emu_tmem_relinquish,
        [EMU_TCGEN05_LD] = emu_tcgen05_move,
        [EMU_TCGEN05_ST] = emu_tcgen05_move,
        [EMU_TCGEN05_WAIT_LD] = emu_tcgen05_wait,
        [EMU_TCGEN05_WAIT_ST] = emu_tcgen05_wait,
        [EMU_TCGEN05_FENCE_BEFORE] = order,
        [EMU_TCGEN05_FENCE_AFTER] = order,
        [EMU_TCGEN05_COMMIT] = emu_tcgen05_commit,
        [EMU_TCGEN05_MMA] = emu_tcgen05_issue,
        [EMU_TCGEN05_CP] = emu_tcgen05_issue,
        [EMU_TCGEN05_SHIFT] = emu_tcgen05_issue,
    };
    struct emu_target target = emu_target_of(d->target, d->program->module->target);
    enum emu_decoded decoded = emu_tcgen05_decode(&op->tensor.tcgen05, i, target, d->error);

    if (decoded != EMU_DECODED)
        return decoded;
    op->execute = executes[op->tensor.tcgen05.what];
    if (op->tensor.tcgen05.group != 0 && mixes_groups(d, op))
        return emu_refuse_form(d, i,
                               "all of a function have the same .cta_group, and one before it has "
                               "the other");
    return bind_operands(d, i, op) ? EMU_DECODED : EMU_REFUSED;
}
