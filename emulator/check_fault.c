/* check_fault.c: what ends a run by itself, with or without the sanitizer, as findings: faults
 * and limits. Deadlocks: check_deadlock.c. */
#include "emulator/check_state.h"

#include <string.h>

static const char *fault_code(const struct emu_op *op, enum emu_outcome outcome)
{
    const char *word = op && op->text ? op->text->words[0] : "";

    switch (outcome) {
    case EMU_ILLEGAL_ADDRESS:
        return strcmp(word, "wgmma") == 0 ? "invalid-descriptor" : "out-of-bounds";
    case EMU_MISALIGNED_ADDRESS:
        return "misaligned";
    case EMU_TRAPPED:
        return "trap";
    case EMU_OUT_OF_STEPS:
        return "endless";
    default:
        break;
    }
    if (strcmp(word, "mbarrier") == 0 || strcmp(word, "barrier") == 0 || strcmp(word, "bar") == 0)
        return "barrier-misuse";
    if (strcmp(word, "cp") == 0)
        return "invalid-copy";
    if (strcmp(word, "wgmma") == 0)
        return "divergence";
    return "illegal-instruction";
}

/* What would have been right; null: the words tell. */
const char *emu_check_needed(const char *code)
{
    static const struct {
        const char *code, *needed;
    } list[] = {
        {"barrier-init",
         "mbarrier.init by one thread, and a barrier of the CTA (of the cluster, for "
         "other CTAs) between that and the first use"},
        {"barrier-overlaid",
         "a place of its own, or mbarrier.inval before its bytes are used for anything else"},
        {"barrier-misuse", "whole warps, the same number of them by all, and one arrival before "
                           "each wait"},
        {"arrival-count",
         "as many arrivals a phase as mbarrier.init tells of, or another number there; of who "
         "comes a second time in a phase, a wait before that lets nobody through too early"},
        {"transaction-count",
         "expect_tx of the bytes that land in the phase, no more and no fewer"},
        {"endless",
         "a way out of the loop, or something in it that changes: a wait, a load, a count"},
        {"out-of-bounds", "an address inside of the allocation, or a guard for threads that have "
                          "nothing to do"},
        {"misaligned", "an address that is a multiple of the access's size"},
        {"invalid-descriptor",
         "a start and strides such that all of the operand lies in the CTA's shared memory; of "
         "tcgen05 also fields that the manual allows together"},
        {"setmaxnreg", "setmaxnreg.dec by other warps that gives back so many, before or at the "
                       "same time"},
        {"tmem-unallocated",
         "a tcgen05.alloc of columns enough, by which the address was told, and tcgen05.dealloc "
         "behind the last use"},
        {"tmem-leak", "tcgen05.dealloc of every allocation before the CTA ends"},
        {"tmem-lanes", "the warp's own lanes: 32 * (warp % 4) in bits 16 and up of the address"},
        {"tmem-misuse",
         "32 to 512 columns, a power of two, no more than the allocation before; all by one whole "
         "warp, of a pair by one of each CTA, and before tcgen05.relinquish_alloc_permit"},
        {"divergence", "all lanes of the warp, or all warps of the warpgroup, at the same "
                       "instruction"},
    };

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strcmp(list[i].code, code) == 0)
            return list[i].needed;
    return NULL;
}

void emu_check_fault_place(struct emu_warp *warp, struct emu_cta *cta, uint64_t address)
{
    struct emu_check *check = warp->cta->cluster->run->device->check;

    if (warp->cta->cluster->outcome != EMU_DONE)
        return; /* there is one already */
    check->fault.is_known = true;
    check->fault.cta = cta;
    check->fault.address = address;
}

void emu_check_fault(struct emu_warp *warp, const struct emu_op *op, int lane,
                     enum emu_outcome outcome, const char *code, const char *what)
{
    struct emu_check *check = warp->cta->cluster->run->device->check;
    struct emu_access writer;
    struct emu_found found = {.code = code ? code : fault_code(op, outcome),
                              .warp = warp,
                              .op = op,
                              .lane = lane,
                              .what = what,
                              .kind = op ? op->kind & (EMU_READS | EMU_WRITES) : 0,
                              .cta = check->fault.cta,
                              .address = check->fault.address,
                              .has_address = check->fault.is_known};

    check->fault.is_known = false;
    if (outcome == EMU_NO_RESOURCES)
        return;
    found.needed = emu_check_needed(found.code);
    if (strcmp(found.code, "out-of-bounds") != 0 && strcmp(found.code, "misaligned") != 0)
        found.kind = 0; /* it touches none of it */
    if (strcmp(found.code, "barrier-overlaid") == 0 &&
        emu_check_writer(found.cta, (uint32_t)found.address, &writer))
        found.other = &writer;
    emu_check_note(check, &found);
}

/* The report of a run without the kernel's name, which a finding has anyway. */
static const char *after_name(const struct emu_run *run)
{
    return run->error->message + strlen(run->code->function->name) + strlen(": ");
}

/* The first warp that lives stands for all. */
void emu_check_endless(struct emu_run *run)
{
    struct emu_found found = {.code = "endless", .lane = -1, .what = after_name(run)};

    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++)
            for (uint32_t w = 0; w < run->clusters[c]->ctas[i].warp_count && !found.warp; w++)
                if (run->clusters[c]->ctas[i].warps[w].live)
                    found.warp = &run->clusters[c]->ctas[i].warps[w];
    if (!found.warp)
        return;
    found.op = &found.warp->groups[0].frame->code->ops[found.warp->groups[0].at];
    found.needed = "an end: it goes round in a loop, or the limit of instructions is too low";
    emu_check_note(run->device->check, &found);
}
