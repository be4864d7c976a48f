/* report.c: why a run ended, in words: a fault of one warp, or who waits for what. */
#include "emulator/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WAITS_LISTED = 12 };

/* A text that grows to the end of the error's. */
static void append(struct emu_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct emu_error *error, const char *format, ...)
{
    size_t length = strlen(error->message);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error->message + length, sizeof error->message - length, format, arguments);
    va_end(arguments);
}

static void append_place(struct emu_error *error, const struct emu_warp *warp,
                         const struct emu_op *op, int lane)
{
    const struct emu_run *run = warp->cta->cluster->run;
    const uint32_t *id = warp->cta->id;

    append(error, "%s: CTA (%u,%u,%u) warp %d", run->code->function->name, id[0], id[1], id[2],
           warp->index);
    if (lane >= 0)
        append(error, " lane %d", lane);
    if (op && op->text)
        append(error, ", line %d, %s", op->text->line, op->text->opcode);
}

static void fault(struct emu_warp *warp, const struct emu_op *op, int lane,
                  enum emu_outcome outcome, const char *code, const char *format, va_list arguments)
    __attribute__((format(printf, 6, 0)));

static void fault(struct emu_warp *warp, const struct emu_op *op, int lane,
                  enum emu_outcome outcome, const char *code, const char *format, va_list arguments)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    struct emu_error *error = &cluster->error;
    size_t length;

    if (cluster->outcome != EMU_DONE)
        return;
    cluster->outcome = outcome;
    error->line = op && op->text ? op->text->line : 0;
    append_place(error, warp, op, lane);
    append(error, ": ");
    length = strlen(error->message);
    vsnprintf(error->message + length, sizeof error->message - length, format, arguments);
    if (warp->check)
        emu_check_fault(warp, op, lane, outcome, code, error->message + length);
}

enum emu_step emu_fault(struct emu_warp *warp, const struct emu_op *op, int lane,
                        enum emu_outcome outcome, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fault(warp, op, lane, outcome, NULL, format, arguments);
    va_end(arguments);
    return EMU_STEP_FAULT;
}

enum emu_step emu_fault_as(struct emu_warp *warp, const struct emu_op *op, int lane,
                           enum emu_outcome outcome, const char *code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fault(warp, op, lane, outcome, code, format, arguments);
    va_end(arguments);
    return EMU_STEP_FAULT;
}

void emu_found_fault(struct emu_warp *warp, const char *words)
{
    struct emu_cluster *cluster = warp->cta->cluster;

    if (cluster->outcome != EMU_DONE)
        return;
    cluster->outcome = EMU_FOUND;
    append(&cluster->error, "%s", words);
}

/* ---- Deadlocks ---- */

static void append_mbarrier(struct emu_error *error, const struct emu_warp *warp,
                            const struct emu_group *group)
{
    const struct emu_mbarrier *barrier =
        emu_mbarrier_at(&warp->cta->cluster->ctas[group->vain_rank], group->vain_offset);
    const struct emu_operand *operand = &group->vain->text->operands[1];

    append(error, " waits for the phase of parity %u of mbarrier %s at shared address 0x%x",
           group->vain_parity, operand->name ? operand->name : "", group->vain_offset);
    if (warp->cta->cluster->cta_count > 1)
        append(error, " of rank %u", group->vain_rank);
    if (barrier)
        append(error, ": in phase %llu, %u of %u arrivals and %lld bytes are still due",
               (unsigned long long)barrier->phase, barrier->pending, barrier->expected,
               (long long)barrier->tx);
}

/* It looks for an mbarrier's phase again and again; what it was in vain for before it came to
 * another barrier does not count. */
static bool waits_for_mbarrier(const struct emu_group *group)
{
    return group->vain && group->status != EMU_WAITING;
}

/* Two groups wait alike: at one instruction of one CTA, for one barrier. */
static bool waits_alike(const struct emu_group *a, const struct emu_group *b)
{
    if (waits_for_mbarrier(a) != waits_for_mbarrier(b))
        return false;
    if (waits_for_mbarrier(a))
        return a->vain == b->vain && a->vain_offset == b->vain_offset &&
               a->vain_parity == b->vain_parity && a->vain_rank == b->vain_rank;
    return a->frame->code == b->frame->code && a->at == b->at;
}

static bool is_first_of_its_kind(const struct emu_cta *cta, uint32_t w, int g, uint32_t *kind)
{
    const struct emu_group *group = &cta->warps[w].groups[g];

    *kind = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (int k = 0; k < cta->warps[i].group_count; k++) {
            if (!waits_alike(&cta->warps[i].groups[k], group))
                continue;
            if (i < w || (i == w && k < g))
                return false;
            ++*kind;
        }
    return true;
}

void emu_wait_words(const struct emu_warp *warp, const struct emu_group *group, char *words,
                    size_t size)
{
    const struct emu_op *op = &group->frame->code->ops[group->at];
    uint64_t bits = op->sources[0].bits;
    char tensor[128] = "";

    if (op->aligned && group->lanes != warp->live)
        snprintf(words, size, "waits for all lanes: only 0x%08x of 0x%08x are here", group->lanes,
                 warp->live);
    else if (group->arrived && op->sources[0].kind == EMU_FROM_BITS)
        snprintf(words, size, "waits at barrier %llu: %u threads are there",
                 (unsigned long long)bits, warp->cta->barriers[bits % EMU_NAMED_BARRIERS].threads);
    else if (emu_op_is(op, "setmaxnreg"))
        snprintf(words, size,
                 "waits for %llu registers a thread: it has %u, and %u are free in the CTA",
                 (unsigned long long)bits, warp->registers, warp->cta->free_registers);
    else {
        if (emu_op_is(op, "tcgen05"))
            emu_tmem_wait_words(warp, op, tensor, sizeof tensor);
        snprintf(words, size, "waits%s", tensor);
    }
}

static void append_wait(struct emu_error *error, const struct emu_warp *warp,
                        const struct emu_group *group, uint32_t kind)
{
    const struct emu_op *op =
        waits_for_mbarrier(group) ? group->vain : &group->frame->code->ops[group->at];
    char words[256];

    append(error, "\n  ");
    append_place(error, warp, op, -1);
    if (kind > 1)
        append(error, " and %u more", kind - 1);
    if (waits_for_mbarrier(group)) {
        append_mbarrier(error, warp, group);
        return;
    }
    emu_wait_words(warp, group, words, sizeof words);
    append(error, " %s", words);
}

void emu_report_deadlock(struct emu_run *run)
{
    int listed = 0, left_out = 0;

    run->outcome = EMU_DEADLOCK;
    append(run->error, "%s: deadlock: nothing can move any more", run->code->function->name);
    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++) {
            const struct emu_cta *cta = &run->clusters[c]->ctas[i];

            for (uint32_t w = 0; w < cta->warp_count; w++)
                for (int g = 0; g < cta->warps[w].group_count; g++) {
                    uint32_t kind;

                    if (!is_first_of_its_kind(cta, w, g, &kind))
                        continue;
                    if (listed++ < WAITS_LISTED)
                        append_wait(run->error, &cta->warps[w], &cta->warps[w].groups[g], kind);
                    else
                        left_out++;
                }
        }
    if (left_out)
        append(run->error, "\n  and %d more waits", left_out);
    if (run->device->check)
        emu_check_deadlock(run);
}
