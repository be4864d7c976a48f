/* check_tensor.c: registers that products of the tensor cores hold: not to be touched before they
 * are done, nor given to them without a fence. Source: PTX ISA "wgmma.fence", "wgmma.mma_async". */
#include "emulator/check_state.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_A = 3, A_REGISTERS = 4 }; /* places of A's registers among the sources */

/* A warning: before what comes too soon ptxas puts a wait (its advisory C7517): right, and slow. */
static void report(struct emu_warp *warp, const struct emu_op *op, const char *code,
                   const char *what, const char *needed, bool is_warning)
{
    const struct emu_found found = {.code = code,
                                    .warp = warp,
                                    .op = op,
                                    .lane = -1,
                                    .what = what,
                                    .needed = needed,
                                    .is_warning = is_warning};

    emu_check_found(&found);
}

static void look(struct emu_warp *warp, const struct emu_op *op, int slot, bool writes)
{
    static const char needed[] = "wgmma.commit_group, and a wgmma.wait_group that waits for that "
                                 "group";
    struct emu_check_warp *check = warp->check;
    struct emu_register_use *use = &check->registers[slot];

    if (use->written_by > check->items_seen)
        report(warp, op, writes ? "register-in-flight" : "premature-accumulator",
               writes ? "it overwrites a register of D of a wgmma that may not be done"
                      : "it reads a register of D of a wgmma that may not be done",
               needed, true);
    else if (writes && use->read_by > check->items_seen)
        report(warp, op, "register-in-flight",
               "it overwrites a register of A of a wgmma that may not be done", needed, true);
    use->touched = check->register_fences + 1;
}

void emu_check_registers(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op)
{
    if (group->frame != warp->check->frame || op->many_count)
        return;
    for (int i = 0; i < op->source_count; i++)
        if (op->sources[i].kind == EMU_FROM_SLOT)
            look(warp, op, op->sources[i].slot, false);
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0)
            look(warp, op, op->results[i], true);
}

void emu_check_wgmma_fence(struct emu_warp *warp)
{
    warp->check->register_fences++;
}

static bool has_registers(struct emu_warp *warp, const struct emu_group *group)
{
    struct emu_check_warp *check = warp->check;
    size_t count = (size_t)group->frame->code->function->slot_count + 1;

    if (check->registers && check->frame == group->frame)
        return true;
    free(check->registers);
    check->frame = group->frame;
    check->registers = calloc(count, sizeof *check->registers);
    if (!check->registers)
        emu_check_no_memory(warp);
    return check->registers != NULL;
}

static bool is_fenced(const struct emu_check_warp *check, int slot)
{
    return check->registers[slot].touched != check->register_fences + 1;
}

void emu_check_wgmma_issue(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t item)
{
    struct emu_check_warp *check = warp->check;
    bool fenced = check->register_fences > 0;

    check->items = item;
    if (!has_registers(warp, group))
        return;
    for (int i = 0; i < op->many_count; i++) {
        fenced = fenced && is_fenced(check, op->many[i]);
        check->registers[op->many[i]].written_by = item;
    }
    for (int i = 0; i < A_REGISTERS && op->tensor.wgmma.a_in_registers; i++) {
        int slot = op->sources[FIRST_A + i].slot;

        if (op->sources[FIRST_A + i].kind != EMU_FROM_SLOT)
            continue;
        fenced = fenced && is_fenced(check, slot);
        check->registers[slot].read_by = item;
    }
    if (!fenced)
        report(warp, op, "missing-wgmma-fence",
               "its registers were touched by other instructions since the last wgmma.fence",
               "wgmma.fence.sync.aligned before it", false);
}

void emu_check_wgmma_wait(struct emu_warp *warp, uint32_t item)
{
    struct emu_check_warp *check = warp->check;

    if (item <= check->items_seen)
        return;
    check->items_seen = item;
    emu_check_drop(check->snapshot);
    check->snapshot = NULL;
    if (!emu_clock_see(&check->clock, warp->cta->check->tensor[warp->index / 4],
                       (struct emu_time){item, item}))
        emu_check_no_memory(warp);
}
