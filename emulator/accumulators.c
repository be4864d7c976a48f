/* accumulators.c: registers that a wgmma in flight has still to write. The manual leaves open what
 * is in them before wgmma.wait_group, and compilers rely on ptxas: it waits before the first
 * instruction that touches one ("warpgroup.wait is injected ... to allow use of registers defined
 * by GMMA"), and so does the machine. Memory that a wgmma reads is nobody's to guard. */
#include "emulator/state.h"

#include <stdlib.h>

enum { SETS = 64 };

/* The D of each wgmma is a set; those that begin at one register are the same. Bit i of a slot says
 * that it is in set i. */
struct sets {
    uint64_t *of_slot;
    int first[SETS], count;
};

static bool is_wgmma(const struct emu_op *op)
{
    return op->many_count > 0 && emu_op_is(op, "wgmma");
}

/* All that find no room share the last. */
static int set_of(struct sets *sets, int first)
{
    for (int i = 0; i < sets->count; i++)
        if (sets->first[i] == first)
            return i;
    if (sets->count == SETS)
        return SETS - 1;
    sets->first[sets->count] = first;
    return sets->count++;
}

static void add_set(struct sets *sets, struct emu_op *op)
{
    op->accumulators = (uint64_t)1 << set_of(sets, op->many[0]);
    for (int i = 0; i < op->many_count; i++)
        sets->of_slot[op->many[i]] |= op->accumulators;
}

static uint64_t of_passed(const struct sets *sets, const struct emu_passed *passed, int count)
{
    uint64_t touched = 0;

    for (int i = 0; i < count; i++)
        if (passed[i].in_register && passed[i].slot >= 0)
            touched |= sets->of_slot[passed[i].slot];
    return touched;
}

static uint64_t touched_by(const struct sets *sets, const struct emu_op *op)
{
    uint64_t touched = 0;

    for (int i = 0; i < op->source_count; i++)
        if (op->sources[i].kind == EMU_FROM_SLOT)
            touched |= sets->of_slot[op->sources[i].slot];
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0)
            touched |= sets->of_slot[op->results[i]];
    if (op->call) {
        touched |= of_passed(sets, op->call->arguments, op->call->argument_count);
        touched |= of_passed(sets, op->call->returns, op->call->return_count);
    }
    return touched;
}

static enum emu_step after_the_wgmmas(struct emu_warp *warp, struct emu_group *group,
                                      const struct emu_op *op, uint32_t mask)
{
    enum emu_step step = emu_tensor_settle(warp, group->frame, op->touched);

    return step == EMU_STEP_NEXT ? op->then(warp, group, op, mask) : step;
}

bool emu_guard_accumulators(struct emu_code *code)
{
    struct sets sets = {.count = 0};

    for (int i = 0; i < code->op_count; i++) {
        if (!is_wgmma(&code->ops[i]))
            continue;
        if (!sets.of_slot)
            sets.of_slot = calloc((size_t)code->function->slot_count, sizeof *sets.of_slot);
        if (!sets.of_slot)
            return false;
        add_set(&sets, &code->ops[i]);
    }
    for (int i = 0; sets.of_slot && i < code->op_count; i++) {
        struct emu_op *op = &code->ops[i];

        op->touched = touched_by(&sets, op);
        if (op->touched) {
            op->then = op->execute;
            op->execute = after_the_wgmmas;
        }
    }
    free(sets.of_slot);
    return true;
}
