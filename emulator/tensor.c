/* tensor.c: instructions of the tensor cores: mma.sync at once, wgmma in order but later.
 *
 * A warpgroup keeps what its four warps have issued in a queue. What all four have issued may be
 * done when the schedule draws it; the rest is done when a wait wants it, so that what touches the
 * memory of the operands too early shows, or when an instruction touches the accumulators. Source:
 * PTX ISA "mma", "wgmma.mma_async", "wgmma.commit_group", "wgmma.wait_group". */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum { WARPS = 4, A_REGISTERS = 4, ACCUMULATORS_MAX = 128 };

/* Sources of a wgmma, by place. */
enum { DESCRIPTOR_A, DESCRIPTOR_B, SCALE_D, REGISTERS_A, PLACES = REGISTERS_A + A_REGISTERS };

/* ---- mma.sync ---- */

static enum emu_step multiply(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
{
    const struct emu_mma_sync *mma = &op->tensor.mma;
    emu_lanes values[EMU_OP_SOURCES], made[EMU_OP_RESULTS];
    const uint64_t *sources[EMU_OP_SOURCES];
    uint64_t *results[EMU_OP_RESULTS];

    (void)mask; /* what lanes hold that a guard leaves out is multiplied too */
    for (int i = 0; i < op->source_count; i++)
        sources[i] = emu_read(warp, group, &op->sources[i], UINT32_MAX, values[i]);
    for (int i = 0; i < op->result_count; i++)
        results[i] = made[i];
    emu_mma_sync(mma, results, sources, sources + mma->a_registers,
                 sources + mma->a_registers + mma->b_registers,
                 warp->cta->cluster->run->device->options.exact);
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0)
            memcpy(emu_slot(group, op->results[i]), made[i], sizeof made[i]);
    return EMU_STEP_NEXT;
}

static enum emu_decoded decode_multiply(struct emu_decoder *d, const struct emu_instruction *i,
                                        struct emu_op *op)
{
    const struct emu_mma_sync *mma = &op->tensor.mma;
    int sources = mma->a_registers + mma->b_registers + mma->c_registers;

    op->execute = multiply;
    if (i->operand_count < 4 || sources > EMU_OP_SOURCES)
        return emu_refuse_form(d, i, "takes D, A, B and C");
    if (!emu_add_results(d, op, &i->operands[0]))
        return EMU_REFUSED;
    for (int k = 1; k < 4; k++)
        if (!emu_add_sources(d, op, &i->operands[k], EMU_B32))
            return EMU_REFUSED;
    return op->result_count == mma->d_registers && op->source_count == sources
               ? EMU_DECODED
               : emu_refuse_form(d, i, "has another number of registers");
}

/* ---- What a warpgroup has issued ---- */

struct issued {
    const struct emu_op *op;
    uint32_t by;  /* which of the four warps */
    uint64_t end; /* the cycle, where time is modelled */
    bool add_d;
    uint64_t descriptor_a, descriptor_b;
    struct emu_frame *frames[WARPS];   /* whose registers D is */
    struct emu_snapshot *known[WARPS]; /* at issue; the sanitizer's */
};

/* A of an item, where it is in registers. */
struct issued_a {
    emu_lanes of[WARPS][A_REGISTERS];
};

enum { IN_FLIGHT_MAX = 64, GROUPS_MAX = 64, ALL_WARPS = (1 << WARPS) - 1 };

/* Items, and the ends of groups, are numbered from the start of the CTA on, and held in rings. */
struct emu_warpgroup {
    uint64_t done;          /* items */
    uint64_t issued[WARPS]; /* items, by each warp */
    uint64_t committed[WARPS];
    uint64_t ends[WARPS][GROUPS_MAX]; /* of groups: the item behind the last */
    struct issued items[IN_FLIGHT_MAX];
    struct issued_a *a; /* of all items; made when first used; owned */
};

static void drop_known(struct issued *item)
{
    for (int w = 0; w < WARPS; w++) {
        emu_check_drop(item->known[w]);
        item->known[w] = NULL;
    }
}

static struct emu_warpgroup **warpgroup_of(const struct emu_warp *warp)
{
    return &warp->cta->warpgroups[warp->index / WARPS];
}

static bool is_ready(const struct emu_warpgroup *warpgroup)
{
    return warpgroup->items[warpgroup->done % IN_FLIGHT_MAX].by == ALL_WARPS;
}

static bool multiply_item(struct emu_warp *warp, const struct issued *item,
                          const struct issued_a *in)
{
    const struct emu_op *op = item->op;
    const uint64_t *a[WARPS][A_REGISTERS];
    uint64_t *accumulators[WARPS][ACCUMULATORS_MAX];
    uint64_t *const *d[WARPS];
    const char *why = "a descriptor that is not legal";
    struct emu_wgmma_operands operands = {.a_descriptor = item->descriptor_a,
                                          .b_descriptor = item->descriptor_b,
                                          .add_d = item->add_d};

    for (int w = 0; w < WARPS; w++) {
        for (int i = 0; i < A_REGISTERS && in; i++)
            a[w][i] = in->of[w][i];
        for (int i = 0; i < op->many_count; i++)
            accumulators[w][i] = item->frames[w]->registers + (size_t)op->many[i] * EMU_LANES;
        d[w] = accumulators[w];
        operands.a_registers[w] = a[w];
    }
    if (emu_wgmma(&op->tensor.wgmma, &operands, warp->cta->shared, warp->cta->shared_bytes, d,
                  warp->cta->cluster->run->device->options.exact, &why))
        return true;
    emu_fault(warp, op, -1, EMU_ILLEGAL_ADDRESS, "%s", why);
    return false;
}

/* What an item reads of shared memory, told to the sanitizer. */
static void check_item(struct emu_warp *warp, struct issued *item, uint64_t number)
{
    struct emu_snapshot *known = emu_check_together(warp, item->known);

    if (known)
        emu_check_wgmma_reads(warp, item->op, (uint32_t)number, known, item->descriptor_a,
                              item->descriptor_b);
    emu_check_drop(known);
    drop_known(item);
}

static bool do_first(struct emu_warp *warp, struct emu_warpgroup *warpgroup)
{
    uint64_t at = warpgroup->done % IN_FLIGHT_MAX;
    struct issued *item = &warpgroup->items[at];

    warpgroup->done++;
    if (warp->check)
        check_item(warp, item, warpgroup->done);
    warp->cta->cluster->progress++;
    item->by = 0;
    return (warp->timed && warp->cta->cluster->run->timed->skips_products) ||
           multiply_item(warp, item,
                         item->op->tensor.wgmma.a_in_registers ? &warpgroup->a[at] : NULL);
}

/* Does all items before that one, if all warps have issued them; where time is modelled they are
 * done when it has come. */
static enum emu_step finish(struct emu_warp *warp, struct emu_warpgroup *warpgroup, uint64_t end)
{
    while (warpgroup->done < end) {
        if (warp->timed || !is_ready(warpgroup))
            return EMU_STEP_BLOCKED;
        if (!do_first(warp, warpgroup))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}

enum emu_step emu_tensor_finish(struct emu_warp *warp)
{
    struct emu_warpgroup *warpgroup = *warpgroup_of(warp);

    return warpgroup ? finish(warp, warpgroup, warpgroup->issued[warp->index % WARPS])
                     : EMU_STEP_NEXT;
}

enum emu_step emu_tensor_settle(struct emu_warp *warp, const struct emu_frame *frame,
                                uint64_t accumulators)
{
    struct emu_warpgroup *warpgroup = *warpgroup_of(warp);
    int w = warp->index % WARPS;

    for (uint64_t end = warpgroup ? warpgroup->issued[w] : 0; warpgroup && end > warpgroup->done;
         end--) {
        const struct issued *last = &warpgroup->items[(end - 1) % IN_FLIGHT_MAX];

        if (last->frames[w] == frame && (last->op->accumulators & accumulators))
            return finish(warp, warpgroup, end);
    }
    return EMU_STEP_NEXT;
}

void emu_tensor_drop(struct emu_cta *cta)
{
    for (int g = 0; g < EMU_WARPGROUPS_MAX; g++) {
        struct emu_warpgroup *warpgroup = cta->warpgroups[g];

        for (int i = 0; warpgroup && i < IN_FLIGHT_MAX; i++)
            drop_known(&warpgroup->items[i]);
        if (warpgroup)
            free(warpgroup->a);
        free(warpgroup);
    }
}

bool emu_tensor_turn(struct emu_warp *warp)
{
    struct emu_warpgroup *warpgroup = *warpgroup_of(warp);

    if (!warpgroup || !is_ready(warpgroup) || emu_draw(&warp->cta->cluster->random) % 8 != 0)
        return true;
    return do_first(warp, warpgroup);
}

uint64_t emu_tensor_next(const struct emu_cta *cta)
{
    uint64_t next = EMU_NEVER;

    for (int i = 0; i < EMU_WARPGROUPS_MAX; i++) {
        const struct emu_warpgroup *warpgroup = cta->warpgroups[i];

        if (warpgroup && is_ready(warpgroup) &&
            warpgroup->items[warpgroup->done % IN_FLIGHT_MAX].end < next)
            next = warpgroup->items[warpgroup->done % IN_FLIGHT_MAX].end;
    }
    return next;
}

bool emu_tensor_until(struct emu_cta *cta, uint64_t cycle)
{
    for (int i = 0; i < EMU_WARPGROUPS_MAX; i++) {
        struct emu_warpgroup *warpgroup = cta->warpgroups[i];

        while (warpgroup && is_ready(warpgroup) &&
               warpgroup->items[warpgroup->done % IN_FLIGHT_MAX].end <= cycle)
            if (!do_first(&cta->warps[i * WARPS], warpgroup))
                return false;
    }
    return true;
}

/* ---- wgmma ---- */

static enum emu_step commit(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
{
    struct emu_warpgroup *warpgroup = *warpgroup_of(warp);
    int w = warp->index % WARPS;

    (void)group, (void)op, (void)mask;
    if (warpgroup)
        warpgroup->ends[w][warpgroup->committed[w]++ % GROUPS_MAX] = warpgroup->issued[w];
    return EMU_STEP_NEXT;
}

static enum emu_step wait(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    struct emu_warpgroup *warpgroup = *warpgroup_of(warp);
    int w = warp->index % WARPS;
    uint64_t allowed = op->sources[0].bits, end;
    enum emu_step step;

    (void)group, (void)mask;
    if (!warpgroup || warpgroup->committed[w] <= allowed)
        return EMU_STEP_NEXT;
    end = warpgroup->ends[w][(warpgroup->committed[w] - 1 - allowed) % GROUPS_MAX];
    step = finish(warp, warpgroup, end);
    if (step == EMU_STEP_NEXT && warp->check)
        emu_check_wgmma_wait(warp, (uint32_t)end);
    return step;
}

static enum emu_step order(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    (void)group, (void)op, (void)mask;
    if (warp->check)
        emu_check_wgmma_fence(warp);
    return EMU_STEP_NEXT;
}

static uint64_t uniform(struct emu_warp *warp, const struct emu_group *group,
                        const struct emu_op *op, int place)
{
    emu_lanes lanes;

    return emu_read(warp, group, &op->sources[place], 1, lanes)[0];
}

/* The first warp sets the item; the others have to mean the same one. */
static bool join(struct emu_warp *warp, struct issued *item, const struct issued *mine)
{
    if (item->by == 0) {
        item->op = mine->op;
        item->add_d = mine->add_d;
        item->descriptor_a = mine->descriptor_a;
        item->descriptor_b = mine->descriptor_b;
        return true;
    }
    if (item->op == mine->op && item->add_d == mine->add_d &&
        item->descriptor_a == mine->descriptor_a && item->descriptor_b == mine->descriptor_b)
        return true;
    emu_fault(warp, mine->op, -1, EMU_ILLEGAL_INSTRUCTION,
              item->op != mine->op ? "another warp of the warpgroup is at another wgmma (line %d)"
                                   : "another warp of the warpgroup gives other operands (line %d)",
              item->op->text->line);
    return false;
}

/* A of the item, as the warp's registers hold it now; false without memory. */
static bool keep_a(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                   struct emu_warpgroup *warpgroup, uint64_t at)
{
    int w = warp->index % WARPS;

    if (!warpgroup->a)
        warpgroup->a = malloc(IN_FLIGHT_MAX * sizeof *warpgroup->a);
    for (int i = 0; i < A_REGISTERS && warpgroup->a; i++) {
        emu_lanes lanes;

        memcpy(warpgroup->a[at].of[w][i],
               emu_read(warp, group, &op->sources[REGISTERS_A + i], UINT32_MAX, lanes),
               sizeof lanes);
    }
    return warpgroup->a != NULL;
}

static enum emu_step issue(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    struct emu_warpgroup *warpgroup = *warpgroup_of(warp);
    bool in_registers = op->tensor.wgmma.a_in_registers;
    int w = warp->index % WARPS;
    struct issued mine = {.op = op}, *item;
    uint64_t at;

    if (mask != UINT32_MAX)
        return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION,
                         "all 32 threads of a warp must execute it");
    if (!warpgroup)
        warpgroup = *warpgroup_of(warp) = calloc(1, sizeof *warpgroup);
    if (!warpgroup)
        return emu_fault(warp, op, -1, EMU_NO_RESOURCES, "no memory for a multiplication");
    if (warpgroup->issued[w] - warpgroup->done == IN_FLIGHT_MAX) {
        enum emu_step step = finish(warp, warpgroup, warpgroup->done + 1);

        if (step != EMU_STEP_NEXT)
            return step;
    }
    mine.descriptor_a = in_registers ? 0 : uniform(warp, group, op, DESCRIPTOR_A);
    mine.descriptor_b = uniform(warp, group, op, DESCRIPTOR_B);
    mine.add_d = (uniform(warp, group, op, SCALE_D) & 1) != op->sources[SCALE_D].negated;
    at = warpgroup->issued[w] % IN_FLIGHT_MAX;
    item = &warpgroup->items[at];
    if (!join(warp, item, &mine))
        return EMU_STEP_FAULT;
    if (in_registers && !keep_a(warp, group, op, warpgroup, at))
        return emu_fault(warp, op, -1, EMU_NO_RESOURCES, "no memory for a multiplication");
    warpgroup->issued[w]++;
    item->by |= 1u << w;
    item->frames[w] = group->frame;
    if (warp->check) {
        emu_check_wgmma_issue(warp, group, op, (uint32_t)warpgroup->issued[w]);
        item->known[w] = emu_check_issue(warp);
    }
    if (warp->timed && item->by == ALL_WARPS)
        item->end = emu_timed_product(warp, op);
    return EMU_STEP_NEXT;
}

static bool bind_accumulators(struct emu_decoder *d, const struct emu_operand *list,
                              struct emu_op *op)
{
    if (list->kind != EMU_OPERAND_LIST || list->item_count != op->tensor.wgmma.d_registers ||
        list->item_count > ACCUMULATORS_MAX)
        return emu_fail(d->error, 0, "D is a list of %d registers", op->tensor.wgmma.d_registers);
    return emu_bind_many(d, list, op);
}

static enum emu_decoded decode_issue(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op)
{
    const struct emu_operand *a = &i->operands[1];

    op->execute = issue;
    op->source_count = PLACES;
    d->code->has_wgmma = true;
    if (i->operand_count < 4)
        return emu_refuse_form(d, i, "takes D, A, B and scale-d");
    if (!bind_accumulators(d, &i->operands[0], op) ||
        !emu_bind_source(d, &i->operands[2], EMU_B64, &op->sources[DESCRIPTOR_B]) ||
        !emu_bind_source(d, &i->operands[3], EMU_PRED, &op->sources[SCALE_D]))
        return EMU_REFUSED;
    if (!op->tensor.wgmma.a_in_registers)
        return emu_bind_source(d, a, EMU_B64, &op->sources[DESCRIPTOR_A]) ? EMU_DECODED
                                                                          : EMU_REFUSED;
    if (a->item_count != A_REGISTERS)
        return emu_refuse_form(d, i, "takes A in four registers");
    for (int k = 0; k < A_REGISTERS; k++)
        if (!emu_bind_source(d, &a->items[k], EMU_B32, &op->sources[REGISTERS_A + k]))
            return EMU_REFUSED;
    return EMU_DECODED;
}

static enum emu_decoded decode_wgmma(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op)
{
    enum emu_decoded decoded;

    if (d->target != 90)
        return emu_refuse_form(d, i, "exists for sm_90a alone");
    if (emu_has_word(i, "fence") || emu_has_word(i, "commit_group")) {
        op->execute = emu_has_word(i, "fence") ? order : commit;
        return EMU_DECODED;
    }
    if (emu_has_word(i, "wait_group")) {
        op->execute = wait;
        return i->operand_count == 1 && i->operands[0].kind == EMU_OPERAND_INTEGER &&
                       i->operands[0].bits < GROUPS_MAX &&
                       emu_add_sources(d, op, &i->operands[0], EMU_U32)
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes a number of groups, 0 to 63");
    }
    decoded = emu_wgmma_decode(&op->tensor.wgmma, i, d->target, d->error);
    return decoded == EMU_DECODED ? decode_issue(d, i, op) : decoded;
}

enum emu_decoded emu_decode_tensor(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    enum emu_decoded decoded;

    if (strcmp(i->words[0], "wgmma") == 0)
        return decode_wgmma(d, i, op);
    if (strcmp(i->words[0], "mma") != 0)
        return EMU_NOT_MINE;
    decoded = emu_mma_sync_decode(&op->tensor.mma, i, d->target, d->error);
    return decoded == EMU_DECODED ? decode_multiply(d, i, op) : decoded;
}
