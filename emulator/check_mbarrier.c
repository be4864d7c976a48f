/* check_mbarrier.c: mbarriers: what arrivals release and waits acquire, and whether copies are
 * counted in the phase that they were issued in. Source: PTX ISA "mbarrier", "Tracking asynchronous
 * operations by the mbarrier object". */
#include "emulator/check_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* That of the offset: it outlives the object, so that its agent's time goes on. */
static struct emu_check_mbarrier *made_for(struct emu_cta *cta, uint32_t offset)
{
    struct emu_check_cta *check = cta->check;
    struct emu_check_mbarrier *made;

    for (size_t i = 0; i < check->mbarrier_count; i++)
        if (check->mbarriers[i]->offset == offset)
            return check->mbarriers[i];
    if (check->mbarrier_count == check->mbarrier_room) {
        size_t room = check->mbarrier_room ? 2 * check->mbarrier_room : 16;
        struct emu_check_mbarrier **grown = realloc(check->mbarriers, room * sizeof *grown);

        if (!grown)
            return NULL;
        check->mbarriers = grown;
        check->mbarrier_room = room;
    }
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->offset = offset;
    made->agent = emu_check_agent(cta->cluster);
    return check->mbarriers[check->mbarrier_count++] = made;
}

static struct emu_access use_of(const struct emu_warp *warp, const struct emu_op *op, uint32_t kind)
{
    struct emu_agent self = warp->check->self;

    return emu_access_of(warp, op, self, emu_clock_get(&warp->check->clock, self).seen, kind);
}

void emu_check_mbarrier_init(struct emu_warp *warp, const struct emu_op *op, int lane,
                             struct emu_mbarrier *barrier)
{
    struct emu_check_mbarrier *check = made_for(barrier->cta, barrier->offset);
    struct emu_access access = use_of(warp, op, EMU_WRITES);

    barrier->check = check;
    if (!check || !emu_clock_see(&warp->check->clock, warp->check->inits,
                                 (struct emu_time){.seen = ++warp->check->init_time})) {
        emu_check_no_memory(warp);
        return;
    }
    check->initialiser = warp->check->inits;
    check->init_time = warp->check->init_time;
    check->init = access;
    for (int level = 0; level < EMU_MBARRIER_SCOPES; level++) {
        emu_clock_free(&check->arrived[level]);
        emu_clock_free(&check->complete[level]);
    }
    emu_clock_free(&check->missed);
    emu_check_signals_forget(check);
    emu_check_access(warp, lane, &access, &warp->check->clock, barrier->cta, barrier->offset, 8);
}

/* What the own CTA has seen its copies will find, as compilers count on: a warning. */
static void report_init(struct emu_warp *warp, const struct emu_op *op,
                        const struct emu_mbarrier *barrier, bool is_async, bool is_seen)
{
    const struct emu_check_mbarrier *check = barrier->check;
    const struct emu_found found = {
        .code = "barrier-init",
        .warp = warp,
        .op = op,
        .lane = -1,
        .other = &check->init,
        .cta = barrier->cta,
        .address = barrier->offset,
        .has_address = true,
        .is_warning = is_async && barrier->cta == warp->cta && is_seen,
        .what = is_async ? "its initialisation is not made visible to the async proxy"
                         : "nothing makes its initialisation visible here",
        .needed = is_async || barrier->cta != warp->cta
                      ? "fence.mbarrier_init.release.cluster by the one who initialises, then a "
                        "barrier of the CTA (of the cluster, for other CTAs)"
                      : "a barrier of the CTA between the two"};

    emu_check_found(&found);
}

void emu_check_mbarrier_use(struct emu_warp *warp, const struct emu_op *op,
                            const struct emu_mbarrier *barrier)
{
    const struct emu_check_mbarrier *check = barrier->check;
    struct emu_access access;

    if (!check)
        return;
    if (emu_clock_get(&warp->check->clock, check->initialiser).seen < check->init_time)
        report_init(warp, op, barrier, false, false);
    if (barrier->cta == warp->cta)
        return;
    access = use_of(warp, op, 0);
    emu_check_remote(warp, barrier->cta, barrier->offset, &access);
}

void emu_check_mbarrier_commit(struct emu_warp *warp, const struct emu_op *op,
                               const struct emu_mbarrier *barrier, const struct emu_access *access)
{
    const struct emu_check_mbarrier *check = barrier->check;

    if (!check)
        return;
    if (emu_clock_get(&warp->check->clock, check->initialiser).seen < check->init_time)
        report_init(warp, op, barrier, false, false);
    if (access)
        emu_check_remote(warp, barrier->cta, barrier->offset, access);
}

void emu_check_mbarrier_issue(const struct emu_async *work)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(work->barrier_cta, work->barrier);
    struct emu_time time;

    if (!barrier || !barrier->check || !work->known)
        return;
    time = emu_clock_get(&work->known->clock, barrier->check->initialiser);
    if (strcmp(work->op->text->words[0], "cp") != 0) { /* by the generic proxy */
        if (time.seen < barrier->check->init_time)
            report_init(work->warp, work->op, barrier, false, false);
    } else if (time.shared < barrier->check->init_time)
        report_init(work->warp, work->op, barrier, true, time.seen >= barrier->check->init_time);
}

void emu_check_mbarrier_bytes(const struct emu_async *work)
{
    const struct emu_mbarrier *barrier = emu_mbarrier_at(work->barrier_cta, work->barrier);
    char what[160];
    struct emu_found found = {
        .code = "transaction-count",
        .warp = work->warp,
        .op = work->op,
        .lane = work->lane,
        .cta = work->barrier_cta,
        .address = work->barrier,
        .has_address = true,
        .what = what,
        .needed = "expect_tx of all bytes that land in a phase, no more and no fewer, before the "
                  "last arrival of that phase"};

    if (!barrier || barrier->phase == work->issued_in)
        return;
    snprintf(what, sizeof what,
             "its %u bytes are counted in phase %llu, and it was issued in phase %llu, which ended "
             "without them",
             work->announced, (unsigned long long)barrier->phase,
             (unsigned long long)work->issued_in);
    emu_check_found(&found);
}

/* The manual has .cta where no scope is written; but libraries arrive at the barriers of other CTAs
 * without one, and count on it. So who writes none gets the cluster's. The own CTA's arrivals are
 * there for both. */
static enum emu_scope scope_of(const struct emu_op *op)
{
    enum emu_scope scope = emu_check_scope(op->text, EMU_OF_CLUSTER);

    return scope < EMU_OF_CLUSTER ? scope : EMU_OF_CLUSTER;
}

void emu_check_mbarrier_arrive(struct emu_warp *warp, const struct emu_op *op,
                               struct emu_mbarrier *barrier)
{
    bool is_own = barrier->cta == warp->cta, is_relaxed = emu_has_word(op->text, "relaxed");
    const struct emu_clock *known =
        is_relaxed ? &warp->check->released[is_own ? EMU_OF_CTA : EMU_OF_CLUSTER]
                   : &warp->check->clock;

    if (!barrier->check)
        return;
    barrier->check->last_arrival = use_of(warp, op, 0);
    if (is_own)
        emu_check_join(warp, &barrier->check->arrived[EMU_OF_CTA], known);
    if (is_own || scope_of(op) == EMU_OF_CLUSTER)
        emu_check_join(warp, &barrier->check->arrived[EMU_OF_CLUSTER], known);
    else
        emu_check_join(warp, &barrier->check->missed, known);
    if (!is_relaxed)
        emu_check_tick(warp);
}

void emu_check_mbarrier_copies(struct emu_warp *warp, const struct emu_queued *item)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(warp->cta, item->to);
    const struct emu_time time = {.seen = item->time};

    if (!barrier || !barrier->check)
        return;
    for (int level = 0; level < EMU_MBARRIER_SCOPES; level++)
        if (!emu_clock_see(&barrier->check->arrived[level], warp->check->copies, time))
            emu_check_no_memory(warp);
}

/* A wait that somebody is still in, for a phase that ended a whole turn of the parity ago. */
static void report_aliasing(const struct emu_mbarrier *barrier, struct emu_warp *warp,
                            const struct emu_group *group)
{
    const struct emu_found found = {
        .code = "phase-aliasing",
        .warp = warp,
        .op = group->vain,
        .lane = -1,
        .cta = barrier->cta,
        .address = barrier->offset,
        .has_address = true,
        .what = "two phases have ended while it waits for the first: parity cannot tell them apart",
        .needed = "nobody may complete the next phase before all who wait for this one have seen "
                  "it: an arrival of theirs belongs in the count"};

    emu_check_found(&found);
}

static void look_for_aliasing(const struct emu_mbarrier *barrier)
{
    struct emu_cta *cta = barrier->cta;

    for (uint32_t i = 0; i < cta->cluster->cta_count; i++)
        for (uint32_t w = 0; w < cta->cluster->ctas[i].warp_count; w++) {
            struct emu_warp *warp = &cta->cluster->ctas[i].warps[w];

            for (int g = 0; g < warp->group_count; g++) {
                const struct emu_group *group = &warp->groups[g];

                if (group->vain && group->status != EMU_WAITING && group->vain_rank == cta->rank &&
                    group->vain_offset == barrier->offset &&
                    barrier->phase == group->vain_phase + 2)
                    report_aliasing(barrier, warp, group);
            }
        }
}

/* Arrivals follow each other as atomics do: who has seen a phase end has seen those before it. */
void emu_check_mbarrier_complete(struct emu_warp *warp, struct emu_mbarrier *barrier)
{
    struct emu_check_mbarrier *check = barrier->check;

    check->completions++;
    for (int level = 0; level < EMU_MBARRIER_SCOPES; level++) {
        emu_check_join(warp, &check->complete[level], &check->arrived[level]);
        emu_clock_free(&check->arrived[level]);
    }
    look_for_aliasing(barrier);
}

/* PTX ISA "mbarrier.test_wait": "the valid values of phaseParity operand are 0 and 1". ptxas shifts
 * all bits but the lowest out of it, and Triton counts on that with -1: a warning. */
void emu_check_mbarrier_parity(struct emu_warp *warp, const struct emu_op *op, int lane,
                               const struct emu_mbarrier *barrier, uint64_t parity)
{
    char what[80];
    const struct emu_found found = {
        .code = "barrier-misuse",
        .warp = warp,
        .op = op,
        .lane = lane,
        .cta = barrier->cta,
        .address = barrier->offset,
        .has_address = true,
        .is_warning = true,
        .what = what,
        .needed = "the lowest bit of the phase's number: a parity that goes round with a ring is "
                  "flipped by xor, and a count has the bits above masked"};

    if (parity <= 1)
        return;
    snprintf(what, sizeof what, "it waits for a phase of parity %u, and there are 0 and 1",
             (uint32_t)parity);
    emu_check_found(&found);
}

/* Found by check_flow.c, whatever the phase is: where it is over there is nothing to be seen of it.
 */
void emu_check_mbarrier_unread(struct emu_warp *warp, const struct emu_op *op,
                               const struct emu_mbarrier *barrier)
{
    const struct emu_found found = {
        .code = "unchecked-wait",
        .warp = warp,
        .op = op,
        .lane = -1,
        .cta = barrier->cta,
        .address = barrier->offset,
        .has_address = true,
        .what = "nothing behind it reads whether the phase is over, and it may give up before",
        .needed = "a branch back to it as long as its predicate is false"};

    emu_check_found(&found);
}

void emu_check_mbarrier_wait(struct emu_warp *warp, const struct emu_op *op, int lane,
                             struct emu_mbarrier *barrier)
{
    struct emu_check_mbarrier *check = barrier->check;
    enum emu_scope scope = scope_of(op);
    struct emu_time time;

    emu_check_lane_order(warp, 1u << lane, true);
    if (!check)
        return;
    time = emu_time_of(check->completions);
    if (emu_has_word(op->text, "relaxed")) {
        for (int level = 0; level <= (int)scope; level++) {
            struct emu_clock *acquired = &warp->check->acquired[level];

            emu_check_join(warp, acquired, &check->complete[level]);
            if (!emu_clock_see(acquired, check->agent, time))
                emu_check_no_memory(warp);
        }
        return;
    }
    /* Has another lane seen it already? That the warp knows the time is not enough: it may know it
     * from a warp that has waited with a narrower scope. */
    if (warp->check->waited == op && warp->check->waited_at == check &&
        warp->check->waited_completions == check->completions)
        return;
    warp->check->waited = op;
    warp->check->waited_at = check;
    warp->check->waited_completions = check->completions;
    emu_check_join(warp, &warp->check->clock, &check->complete[scope]);
    if (scope < EMU_OF_CLUSTER)
        emu_check_join(warp, &warp->check->missed, &check->complete[EMU_OF_CLUSTER]);
    emu_check_join(warp, &warp->check->missed, &check->missed);
    if (!emu_clock_see(&warp->check->clock, check->agent, time))
        emu_check_no_memory(warp);
}
