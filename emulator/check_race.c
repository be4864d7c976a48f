/* check_race.c: two accesses that nothing orders, or a read of nothing: which mistake that is. */
#include "emulator/check_tcgen05.h"

#include <string.h>

/* ---- Who they are ---- */

/* A copy that runs by itself: a bulk copy, a value for another CTA, a cp.async. */
static bool is_copy(const struct emu_access *access)
{
    const struct emu_op *op = access->op;

    if (access->kind & EMU_BY_ASYNC)
        return op && !emu_op_is(op, "wgmma") && !emu_op_is(op, "tcgen05");
    return op && emu_has_word(op->text, "async");
}

static bool is_by_tensor_core(const struct emu_access *access)
{
    return access->kind & EMU_BY_ASYNC && !is_copy(access);
}

static bool reads_alone(const struct emu_access *access)
{
    return !(access->kind & EMU_WRITES);
}

/* A copy or a product that a warp has issued, and what the same warp did later: had it been before,
 * it would be ordered. */
static bool is_later(const struct emu_access *one, const struct emu_access *copy)
{
    return (is_copy(copy) || is_by_tensor_core(copy)) && !(one->kind & EMU_BY_ASYNC) &&
           one->warp == copy->warp && memcmp(one->cta, copy->cta, sizeof one->cta) == 0;
}

/* Plain, and what it has read a compare-and-swap checks, as in the loop that stands in for an
 * atomic that there is not. */
static bool is_checked_read(const struct emu_access *read, const struct emu_access *swap)
{
    return read->kind == EMU_READS && swap->kind & EMU_STRONG && swap->op &&
           emu_has_word(swap->op->text, "cas");
}

/* A strong read needs no fence behind the strong read that told of the write: neither is of a
 * cache's. So the last CTA of a grid sums up what the others have left. */
static bool is_told(const struct emu_warp *warp, const struct emu_access *now,
                    const struct emu_access *before)
{
    if (!reads_alone(now) || !(now->kind & EMU_STRONG) || now->kind & EMU_BY_ASYNC)
        return false;
    for (int level = 0; level < EMU_SCOPES; level++)
        if (emu_clock_get(&warp->check->acquired[level], before->agent).seen >= before->time)
            return true;
    return false;
}

/* ---- What they should have done ---- */

static const char *needed_for_read(const struct emu_access *reader)
{
    if (is_copy(reader))
        return "cp.async.bulk.wait_group.read by the thread that issued the copy, and a barrier "
               "between that and the write";
    if (is_by_tensor_core(reader) && emu_op_is(reader->op, "tcgen05"))
        return "tcgen05.commit behind what reads, and a wait for the phase of that mbarrier by who "
               "writes";
    if (is_by_tensor_core(reader))
        return "wgmma.wait_group for the group that reads, then an arrival, and a wait for it by "
               "who writes";
    return "an arrival by those who read, behind their reads, and a wait for it by who writes";
}

static const char *needed_for_copy(const struct emu_access *copy)
{
    if (!(copy->kind & EMU_BY_ASYNC) && strcmp(copy->op->text->words[0], "cp") == 0)
        return "cp.async.wait_group for its group, and a barrier before other threads read";
    if (emu_has_word(copy->op->text, "bulk_group"))
        return "cp.async.bulk.wait_group (with .read it waits for the sources alone) by the thread "
               "that issued the copy, then a barrier";
    return "a wait, by who reads, for the phase of the mbarrier that the copy completes on; one "
           "that "
           "is there was over too early: its parity, or the bytes and arrivals of the phase";
}

/* ---- The mistake ---- */

static void call_premature(struct emu_found *found, const struct emu_access *copy)
{
    found->code = "premature-use";
    found->what = "nobody has waited for the copy";
    found->needed = needed_for_copy(copy);
}

static void call_reused(struct emu_found *found, const struct emu_access *reader)
{
    found->code = "stage-reused";
    found->what = "nothing tells that the read is done";
    found->needed = needed_for_read(reader);
}

/* A ring that goes round by itself. */
static void call_refilled(struct emu_found *found)
{
    found->code = "stage-reused";
    found->what = "nothing tells that what it brought before is there, and has been read";
    found->needed = "an arrival by those who read, behind their reads, and a wait for it by who "
                    "issues the copy";
}

static void call_race(struct emu_found *found, const struct emu_access *now,
                      const struct emu_access *before)
{
    found->code = "race";
    found->what = "nothing orders the two";
    found->needed = "a barrier, or a release and an acquire, between the two";
    if (is_checked_read(now, before) || is_checked_read(before, now)) {
        found->is_warning = true;
        found->what = "a plain read beside atomics may be old, or torn";
        found->needed = "ld.relaxed or ld.volatile; it is harmless where a compare-and-swap checks "
                        "what was read";
    } else if (now->kind & before->kind & EMU_STRONG) {
        found->what = "both are strong, but of a scope that does not hold both";
        found->needed = ".cluster between CTAs of a cluster, .gpu between others, on both";
    } else if ((now->kind ^ before->kind) & EMU_STRONG) {
        found->what = "nothing orders the two, and only one of them is atomic, volatile or relaxed";
        found->needed = "both so, or a release and an acquire, or a barrier, between the two";
    }
}

/* A read of what a copy writes for the first time came too early, and so did one that follows its
 * copy in the same warp; another is of what was there before, and came too late. */
static void describe(struct emu_found *found, const struct emu_access *now,
                     const struct emu_access *before, bool is_first)
{
    bool now_reads = reads_alone(now), before_reads = reads_alone(before);

    if (is_copy(now) && before_reads && (is_first || is_later(before, now)))
        call_premature(found, now);
    else if (now_reads && is_copy(before) && !before_reads)
        call_premature(found, before);
    else if (before_reads && (is_copy(now) || before->kind & EMU_BY_ASYNC))
        call_reused(found, before);
    else if (now_reads && is_later(before, now))
        call_reused(found, now);
    else if (is_copy(now) && now->op == before->op)
        call_refilled(found);
    else
        call_race(found, now, before);
}

/* Half of a pair of fences that act one way may be there. */
static void call_unfenced(struct emu_found *found, const struct emu_conflict *conflict)
{
    found->code = "missing-proxy-fence";
    found->what = "the one is by the generic proxy, the other by the async proxy";
    found->needed = "fence.proxy.async by those who wrote, before the barrier that orders the two";
    if (reads_alone(&conflict->other))
        found->needed = "fence.proxy.async by those who read, behind their reads and before the "
                        "arrival or the barrier that orders the two";
    if (conflict->is_offered)
        found->needed = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster "
                        "behind the wait, by who comes behind it: the one that releases is there";
}

/* ---- Two who write the same ---- */

/* Threads that all write one value to one place are a habit of compilers. What is written is known
 * when it has been: in shared memory, at once. */
static bool may_be_same_value(const struct emu_access *now, const struct emu_access *before,
                              const struct emu_cta *cta)
{
    return cta && now->kind == EMU_WRITES && before->kind == EMU_WRITES && !is_copy(now) &&
           !is_copy(before);
}

static void put_off(const struct emu_found *found)
{
    struct emu_put_off *later = &found->warp->cta->cluster->run->device->check->later;

    if (later->is_known)
        return; /* one of an instruction is enough */
    *later = (struct emu_put_off){.is_known = true, .found = *found, .other = *found->other};
    memcpy(later->bytes, found->cta->shared + found->address, (size_t)found->op->bytes);
}

void emu_check_done(struct emu_warp *warp)
{
    struct emu_put_off *later = &warp->cta->cluster->run->device->check->later;
    struct emu_found *found = &later->found;

    if (!later->is_known)
        return;
    later->is_known = false;
    found->other = &later->other;
    if (memcmp(later->bytes, found->cta->shared + found->address, (size_t)found->op->bytes) == 0) {
        found->is_warning = true;
        found->what = "nothing orders the two; they write the same value";
    }
    emu_check_found(found);
}

/* Something orders them, but not for each other. */
static bool is_too_narrow(const struct emu_warp *warp, const struct emu_access *before)
{
    return emu_clock_get(&warp->check->missed, before->agent).seen >= before->time;
}

/* Operands are looked at by rows (check_operand.c). A plain bulk store takes whole units of 16
 * bytes, and so more than there is to store, and a tile may be filled in part; where nothing was
 * written it takes nothing of use. What TMA stores lies in the tensor, or is marked. */
static bool may_be_unused(const struct emu_access *now, const struct emu_conflict *conflict,
                          const struct emu_cta *cta, uint64_t address)
{
    if (now->kind & EMU_MAY_BE_UNUSED)
        return true;
    if (!(now->kind & EMU_BY_ASYNC) || !cta || address >= EMU_TMEM_AT)
        return false;
    return is_by_tensor_core(now) ||
           (conflict->has_written && !emu_has_word(now->op->text, "tensor"));
}

void emu_check_conflict(struct emu_warp *warp, int lane, const struct emu_access *now,
                        const struct emu_conflict *conflict, struct emu_cta *cta, uint64_t address)
{
    struct emu_found found = {.warp = warp,
                              .op = now->op,
                              .lane = lane,
                              .kind = now->kind,
                              .cta = cta,
                              .address = address + conflict->at,
                              .has_address = true};

    switch (conflict->verdict) {
    case EMU_FINE:
        return;
    case EMU_NO_MEMORY:
        emu_check_no_memory(warp);
        return;
    case EMU_RACE:
        found.other = &conflict->other;
        if (address >= EMU_TMEM_AT && cta) {
            if (!emu_check_tmem_describe(&found, now, found.other))
                return;
            break;
        }
        if (is_told(warp, now, found.other))
            return;
        describe(&found, now, found.other, conflict->is_first);
        if (!found.is_warning && is_too_narrow(warp, found.other)) {
            found.what = "what orders the two is of a scope that does not hold both";
            found.needed = ".cluster between CTAs of a cluster, .gpu between others: on the "
                           "release, on the acquire, and on the fences beside them";
        }
        if (may_be_same_value(now, found.other, cta)) {
            put_off(&found);
            return;
        }
        break;
    case EMU_UNFENCED:
        found.other = &conflict->other;
        call_unfenced(&found, conflict);
        break;
    case EMU_TOO_EARLY:
        found.code = "dependent-launch";
        found.what = "the launch before this one uses it, and may not be over";
        found.needed = "griddepcontrol.wait before it, by this thread or by one that a barrier "
                       "orders before it";
        break;
    case EMU_UNWRITTEN:
        if (may_be_unused(now, conflict, cta, address))
            return;
        found.code = "uninitialised";
        found.what = "nobody has written there";
        found.needed = "a write before it, or a wait for the copy that is to write";
        break;
    }
    emu_check_found(&found);
}
