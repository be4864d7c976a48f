/* check_order.c: what orders accesses, but for mbarriers: fences, atomics, barriers, groups.
 *
 * A release makes what the warp knows, its own accesses among it, the object's; an acquire makes
 * what the object has the warp's. Source: PTX ISA "Memory Consistency Model", "membar, fence". */
#include "emulator/check_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void publish(struct emu_warp *warp, struct emu_clock *to)
{
    emu_check_join(warp, to, &warp->check->clock);
    emu_check_tick(warp);
}

enum emu_scope emu_check_scope(const struct emu_instruction *text, enum emu_scope otherwise)
{
    for (int i = 1; i < text->word_count; i++) {
        const char *word = text->words[i];

        if (strcmp(word, "cta") == 0)
            return EMU_OF_CTA;
        if (strcmp(word, "cluster") == 0)
            return EMU_OF_CLUSTER;
        if (strcmp(word, "gpu") == 0 || strcmp(word, "gl") == 0 || strcmp(word, "sys") == 0)
            return EMU_OF_ALL;
    }
    return otherwise;
}

static void learn(struct emu_warp *warp, const struct emu_clock *from)
{
    emu_check_join(warp, &warp->check->clock, from);
}

static void see(struct emu_warp *warp, struct emu_agent agent, struct emu_time time)
{
    emu_check_drop(warp->check->snapshot);
    warp->check->snapshot = NULL;
    if (!emu_clock_see(&warp->check->clock, agent, time))
        emu_check_no_memory(warp);
}

/* ---- Fences ---- */

static void fence_inits(struct emu_warp *warp)
{
    struct emu_check_warp *check = warp->check;
    struct emu_time time = emu_time_of(check->init_time);

    if (!emu_clock_see(&check->clock, check->inits, time) ||
        !emu_clock_see(&check->released[EMU_OF_CTA], check->inits, time) ||
        !emu_clock_see(&check->released[EMU_OF_CLUSTER], check->inits, time))
        emu_check_no_memory(warp);
}

static void fence_proxy(struct emu_warp *warp, bool of_global, bool of_shared)
{
    emu_check_tick(warp); /* what is done from now on is not fenced */
    emu_clock_fence(&warp->check->clock, of_global, of_shared);
    emu_check_tick(warp);
}

/* From the generic to the async proxy, in shared memory alone. On the way from one access to the
 * other such a fence is a proxy fence like any; but where nothing orders the threads, for their
 * operations on the barrier are relaxed, one that releases and one that acquires do it together,
 * and for accesses by those two proxies alone. Source: PTX ISA "membar / fence": uni-directional
 * proxy ordering, .sync_restrict; "Causality order". */
static void fence_one_way(struct emu_warp *warp, bool releases)
{
    struct emu_check_warp *check = warp->check;
    bool done = true;

    fence_proxy(warp, false, true);
    for (int level = 0; level <= EMU_OF_CLUSTER && done; level++)
        done = releases ? emu_clock_offer(&check->released[level], &check->clock)
                        : emu_clock_accept(&check->clock, &check->acquired[level]);
    if (!done || (!releases && !emu_clock_accept(&check->clock, &check->clock)))
        emu_check_no_memory(warp);
    emu_check_tick(warp);
}

static bool has_space(const struct emu_instruction *text, const char *start)
{
    for (int i = 2; i < text->word_count; i++)
        if (strncmp(text->words[i], start, strlen(start)) == 0)
            return true;
    return false;
}

/* One of tensor maps is not of the async proxy; see check_map.c. */
static void fence_proxies(struct emu_warp *warp, const struct emu_instruction *text)
{
    bool of_global = has_space(text, "global"), of_shared = has_space(text, "shared");

    if (emu_has_word(text, "async::generic"))
        fence_one_way(warp, emu_has_word(text, "release"));
    else if (emu_has_word(text, "async") || emu_has_word(text, "alias"))
        fence_proxy(warp, of_global || !of_shared, of_shared || !of_global);
}

/* It and the relaxed operation beside it order for as many as the narrower of the two says. */
static void fence(struct emu_warp *warp, enum emu_scope scope)
{
    struct emu_check_warp *check = warp->check;

    for (int level = 0; level <= (int)scope; level++)
        learn(warp, &check->acquired[level]);
    for (int level = 0; level <= (int)scope; level++)
        emu_check_join(warp, &check->released[level], &check->clock);
    for (int level = (int)scope + 1; level < EMU_SCOPES; level++)
        emu_check_join(warp, &check->missed, &check->acquired[level]);
    check->has_narrow_fence |= scope < EMU_OF_ALL;
    emu_check_tick(warp);
}

void emu_check_fence(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct emu_instruction *text = op->text;

    if (strncmp(text->words[0], "grid", 4) == 0) {
        if (emu_has_word(text, "wait"))
            see(warp, EMU_LAST_LAUNCH, emu_time_of(1));
    } else if (emu_has_word(text, "mbarrier_init")) {
        fence_inits(warp);
    } else if (emu_has_word(text, "proxy")) {
        fence_proxies(warp, text);
    } else {
        emu_check_lane_order(warp, mask, true);
        fence(warp, emu_check_scope(text, EMU_OF_ALL));
    }
}

/* ---- Strong accesses ---- */

static bool has_any(const struct emu_instruction *text, const char *a, const char *b)
{
    return emu_has_word(text, a) || emu_has_word(text, b);
}

/* The name of a place in memory: of shared memory its cluster and rank stand above the offset. */
static uint64_t name_of(struct emu_warp *warp, const struct emu_op *op, uint64_t address)
{
    struct emu_cta *cta;
    uint32_t offset;
    bool is_shared =
        op->space == EMU_SPACE_SHARED ||
        (op->space == EMU_SPACE_NONE && address - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES);

    if (!is_shared)
        return address;
    cta = emu_cta_of_address(warp->cta, address, &offset);
    if (!cta || (!op->cluster && op->space == EMU_SPACE_SHARED && cta->rank == 0))
        cta = warp->cta;
    return (uint64_t)cta->cluster->check->number << 28 | (uint64_t)cta->rank << 24 | offset;
}

static void strong_lane(struct emu_warp *warp, const struct emu_op *op, uint64_t address)
{
    uint32_t kind = op->kind;
    enum emu_scope scope = emu_check_scope(op->text, EMU_OF_ALL);
    struct emu_check_warp *check = warp->check;
    uint64_t name = name_of(warp, op, address);
    bool releases = has_any(op->text, "release", "acq_rel"),
         acquires = has_any(op->text, "acquire", "acq_rel");
    struct emu_clock *learnt[EMU_SCOPES];
    const struct emu_clock *published[EMU_SCOPES];

    for (int level = 0; level < EMU_SCOPES; level++) {
        learnt[level] = acquires ? &check->clock : &check->acquired[level];
        published[level] = releases ? &check->clock : &check->released[level];
    }
    if (kind & EMU_READS)
        emu_check_place_acquire(warp, name, scope, learnt);
    if (kind & EMU_WRITES)
        emu_check_place_release(warp, name, scope, published);
}

void emu_check_strong(struct emu_warp *warp, const struct emu_op *op, uint32_t mask,
                      const uint64_t *addresses)
{
    uint64_t last = 0;
    bool any = false;

    for (int lane = 0; lane < EMU_LANES; lane++) {
        if (!(mask >> lane & 1) || (any && addresses[lane] == last))
            continue;
        strong_lane(warp, op, addresses[lane]);
        last = addresses[lane];
        any = true;
    }
    if (op->kind & EMU_WRITES)
        emu_check_tick(warp);
}

/* ---- Barriers of a CTA ---- */

void emu_check_barrier_arrive(struct emu_warp *warp, uint32_t id)
{
    publish(warp, &warp->cta->check->arrived[id]);
}

void emu_check_barrier_complete(struct emu_cta *cta, uint32_t id)
{
    struct emu_check_cta *check = cta->check;

    struct emu_clock *complete = &check->complete[id][cta->barriers[id].phase & 1];

    emu_clock_free(complete);
    *complete = check->arrived[id];
    check->arrived[id] = (struct emu_clock){.parts = NULL};
}

void emu_check_barrier_leave(struct emu_warp *warp, uint32_t id, uint64_t phase, uint32_t mask)
{
    emu_check_lane_order(warp, mask, true);
    learn(warp, &warp->cta->check->complete[id][phase & 1]);
}

/* ---- The cluster's ---- */

void emu_check_cluster_arrive(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_clock *arrived = &warp->cta->cluster->check->arrived;

    if (emu_has_word(op->text, "relaxed"))
        emu_check_join(warp, arrived, &warp->check->released[EMU_OF_CLUSTER]);
    else
        publish(warp, arrived);
}

void emu_check_cluster_complete(struct emu_cluster *cluster)
{
    emu_clock_free(&cluster->check->complete);
    cluster->check->complete = cluster->check->arrived;
    cluster->check->arrived = (struct emu_clock){.parts = NULL};
}

void emu_check_cluster_leave(struct emu_warp *warp, uint32_t mask)
{
    emu_check_lane_order(warp, mask, true);
    learn(warp, &warp->cta->cluster->check->complete);
}

/* ---- The end of a CTA ---- */

static void report_use(struct emu_warp *warp, const struct emu_remote_use *use)
{
    bool is_own = memcmp(use->access.cta, warp->cta->id, sizeof use->access.cta) == 0;
    bool is_tensor = emu_op_is(use->access.op, "tcgen05");
    const struct emu_found found = {
        .code = "early-exit",
        .warp = warp,
        .lane = -1,
        .other = &use->access,
        .cta = warp->cta,
        .address = use->address,
        .has_address = true,
        .is_of_cta = true,
        .what =
            is_tensor ? "the CTA ends, and nobody in it has waited for what the tensor cores do "
                        "with its memory"
            : is_own  ? "the CTA ends, and nobody has waited for the copy, which uses its shared "
                        "memory"
                      : "the CTA ends, and nothing orders that behind what another CTA of its "
                        "cluster does in its shared memory",
        .needed = is_tensor
                      ? "a wait for the phase of the mbarrier that a tcgen05.commit behind it "
                        "arrives at, or a barrier of the cluster behind that, before the exit"
                  : is_own ? "a wait for it before the exit (cp.async.bulk.wait_group.read, or its "
                             "mbarrier)"
                           : "barrier.cluster.arrive and .wait before the exit, or a wait for that "
                             "access"};

    emu_check_found(&found);
}

static bool is_same(struct emu_agent a, struct emu_agent b)
{
    return a.index == b.index && a.cluster == b.cluster;
}

/* Agents that are not warps of the CTA, each with its last use. */
void emu_check_remote(struct emu_warp *warp, struct emu_cta *cta, uint64_t address,
                      const struct emu_access *access)
{
    struct emu_check_cta *check = cta->check;
    struct emu_remote_use use = {.access = *access, .address = address};
    size_t i = check->remote_last;

    if (cta->exited_threads == cta->thread_count) {
        report_use(&cta->warps[0], &use);
        return;
    }
    if (i >= check->remote_count || !is_same(check->remote[i].access.agent, access->agent))
        for (i = 0;
             i < check->remote_count && !is_same(check->remote[i].access.agent, access->agent); i++)
            continue;
    if (i == check->remote_room) {
        size_t room = check->remote_room ? 2 * check->remote_room : 16;
        struct emu_remote_use *grown = realloc(check->remote, room * sizeof *grown);

        if (!grown) {
            emu_check_no_memory(warp);
            return;
        }
        check->remote = grown;
        check->remote_room = room;
    }
    check->remote[i] = use;
    check->remote_last = i;
    if (i == check->remote_count)
        check->remote_count++;
}

/* A phase that some have arrived in, and not all, when nobody is left to wait for it. */
static void look_for_leftovers(struct emu_warp *warp)
{
    struct emu_cta *cta = warp->cta;
    char what[160];

    for (size_t i = 0; i < cta->mbarrier_count && cta->mbarriers[i].check; i++) {
        const struct emu_mbarrier *barrier = &cta->mbarriers[i];
        const struct emu_found found = {
            .code = "arrival-count",
            .warp = warp,
            .lane = -1,
            .other = barrier->check->last_arrival.op ? &barrier->check->last_arrival : NULL,
            .cta = cta,
            .address = barrier->offset,
            .has_address = true,
            .is_of_cta = true,
            .is_warning = true, /* it may not matter any more */
            .what = what,
            .needed =
                "as many arrivals a phase as mbarrier.init tells of, or another number there"};

        if (barrier->pending == barrier->expected || barrier->phase == 0)
            continue;
        snprintf(what, sizeof what,
                 "the CTA ends, and of the %u arrivals of phase %llu only %u have come",
                 barrier->expected, (unsigned long long)barrier->phase,
                 barrier->expected - barrier->pending);
        emu_check_found(&found);
    }
}

void emu_check_exit(struct emu_warp *warp)
{
    struct emu_cta *cta = warp->cta;
    struct emu_check_cta *check = cta->check;

    if (warp->live == 0)
        emu_check_join(warp, &check->exited, &warp->check->clock);
    if (cta->exited_threads < cta->thread_count)
        return;
    for (size_t i = 0; i < check->remote_count; i++) {
        const struct emu_access *access = &check->remote[i].access;

        if (emu_clock_get(&check->exited, access->agent).seen < access->time)
            report_use(warp, &check->remote[i]);
    }
    if (cta->cluster->outcome == EMU_DONE)
        look_for_leftovers(warp);
}

/* ---- Groups ---- */

void emu_check_bulk_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t groups)
{
    const struct emu_time time = emu_time_of(groups);

    see(warp, warp->check->bulk_reads, time);
    if (!op->variant)
        see(warp, warp->check->bulk_writes, time);
}

void emu_check_copies_commit(struct emu_warp *warp)
{
    struct emu_check_warp *check = warp->check;

    check->copy_ends[check->copy_groups++ % EMU_COPY_GROUPS] = check->copy_time++;
}

uint32_t emu_check_copies_time(struct emu_warp *warp, bool is_arrival)
{
    return is_arrival ? warp->check->copy_time++ : warp->check->copy_time;
}

/* They are of the generic proxy: for the async one a fence is needed as behind a store. */
void emu_check_copies_wait(struct emu_warp *warp, uint64_t allowed, bool all)
{
    struct emu_check_warp *check = warp->check;
    uint32_t time = 0;

    if (all)
        time = check->copy_time++;
    else if (allowed < check->copy_groups && allowed < EMU_COPY_GROUPS)
        time = check->copy_ends[(check->copy_groups - 1 - allowed) % EMU_COPY_GROUPS];
    see(warp, check->copies, (struct emu_time){.seen = time});
}
