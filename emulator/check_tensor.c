/* check_tensor.c: registers that products of the tensor cores hold: not to be touched before they
 * are done, nor given to them without a fence. Source: PTX ISA "wgmma.fence", "wgmma.mma_async". */
#include "emulator/check_state.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_A = 3, A_REGISTERS = 4 }; /* places of A's registers among the sources */

/* `with`: the instruction of the same warp that it collides with. */
static void report(struct emu_warp *warp, struct emu_found *found, int slot,
                   const struct emu_op *with)
{
    struct emu_access other = emu_access_of(warp, with, warp->check->self, 0, 0);

    found->warp = warp;
    found->lane = -1;
    found->frame = warp->check->frame;
    found->slot = slot;
    found->other = with ? &other : NULL;
    emu_check_found(found);
}

/* A warning: before what comes too soon ptxas puts a wait (its advisory C7517): right, and slow. */
static void report_early(struct emu_warp *warp, const struct emu_op *op, const char *code, int slot,
                         const char *what)
{
    struct emu_found found = {.code = code,
                              .op = op,
                              .what = what,
                              .needed = "wgmma.commit_group, and a wgmma.wait_group that waits for "
                                        "that group",
                              .is_warning = true,
                              .is_one_of_many = true};

    report(warp, &found, slot, warp->check->registers[slot].item);
}

static void look(struct emu_warp *warp, const struct emu_op *op, int slot, bool writes)
{
    struct emu_check_warp *check = warp->check;
    struct emu_register_use *use = &check->registers[slot];

    if (use->written_by > check->items_seen)
        report_early(warp, op, writes ? "register-in-flight" : "premature-accumulator", slot,
                     writes ? "a register of D is overwritten, and the wgmma may not be done"
                            : "a register of D is read, and the wgmma may not be done");
    else if (writes && use->read_by > check->items_seen)
        report_early(warp, op, "register-in-flight", slot,
                     "a register of A is overwritten, and the wgmma may not be done");
    use->touched = check->register_fences + 1;
    use->toucher = op;
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

void emu_check_registers(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op)
{
    if (!group->frame->code->has_wgmma || emu_op_is(op, "wgmma") || !has_registers(warp, group))
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
    warp->check->items_fenced = warp->check->items;
}

/* The item takes the register, which is its own now: its slot where no fence stands between, or as
 * it was. */
static int take(struct emu_check_warp *check, const struct emu_op *op, int slot, int unfenced)
{
    struct emu_register_use *use = &check->registers[slot];

    if (unfenced < 0 && use->touched == check->register_fences + 1)
        unfenced = slot;
    use->item = op;
    use->touched = 0;
    return unfenced;
}

/* Where a fence stands before the first of a row of wgmma, and registers are touched behind it, as
 * in what nvcc makes of C, ptxas puts another (its advisory C7519): a warning. */
static void report_unfenced(struct emu_warp *warp, const struct emu_op *op, int slot,
                            bool is_warning)
{
    struct emu_found found = {
        .code = "missing-wgmma-fence",
        .op = op,
        .what = "wgmma takes a register, and no wgmma.fence stands behind what touched it",
        .needed = "wgmma.fence.sync.aligned between the two",
        .is_warning = is_warning};

    report(warp, &found, slot, warp->check->registers[slot].toucher);
}

void emu_check_wgmma_issue(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t item)
{
    struct emu_check_warp *check = warp->check;
    bool is_fenced = check->register_fences > 0 && check->items_fenced == check->items;
    int unfenced = -1;

    check->items = item;
    if (!has_registers(warp, group))
        return;
    for (int i = 0; i < op->many_count; i++) {
        unfenced = take(check, op, op->many[i], unfenced);
        check->registers[op->many[i]].written_by = item;
    }
    for (int i = 0; i < A_REGISTERS && op->tensor.wgmma.a_in_registers; i++) {
        int slot = op->sources[FIRST_A + i].slot;

        if (op->sources[FIRST_A + i].kind != EMU_FROM_SLOT)
            continue;
        unfenced = take(check, op, slot, unfenced);
        check->registers[slot].read_by = item;
    }
    if (unfenced < 0 && check->register_fences == 0 && op->many_count > 0)
        unfenced = op->many[0]; /* nor before the first */
    if (unfenced >= 0)
        report_unfenced(warp, op, unfenced, is_fenced);
}

void emu_check_wgmma_wait(struct emu_warp *warp, uint32_t item)
{
    struct emu_check_warp *check = warp->check;

    if (item <= check->items_seen)
        return;
    check->items_seen = item;
    emu_check_drop(check->snapshot);
    check->snapshot = NULL;
    if (!emu_clock_see(&check->clock, warp->cta->check->tensor[warp->index / 4], emu_time_of(item)))
        emu_check_no_memory(warp);
}
