/* check_access.c: who touches which bytes, and whether anything orders it behind the others. */
#include "emulator/check_state.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *shadow_of(struct emu_check *check, struct emu_cta *cta, uint64_t address,
                           uint64_t *bytes)
{
    if (!cta)
        return emu_check_page(check, address, bytes);
    return address >= EMU_TMEM_AT ? cta->check->tmem + (address - EMU_TMEM_AT)
                                  : cta->check->shadow + address;
}

bool emu_check_access(struct emu_warp *warp, int lane, const struct emu_access *access,
                      const struct emu_clock *clock, struct emu_cta *cta, uint64_t address,
                      uint64_t bytes)
{
    struct emu_check *check = warp->cta->cluster->run->device->check;
    bool has_unwritten = false;

    while (bytes > 0) {
        uint64_t here = bytes;
        uint32_t *shadow = shadow_of(check, cta, address, &here);
        struct emu_conflict conflict;

        if (!shadow) {
            emu_check_no_memory(warp);
            return false;
        }
        conflict = emu_histories_access(check->histories, shadow, here, access, clock);
        emu_check_conflict(warp, lane, access, &conflict, cta, address);
        has_unwritten |= conflict.has_unwritten;
        address += here;
        bytes -= here;
    }
    return has_unwritten;
}

struct emu_access emu_access_of(const struct emu_warp *warp, const struct emu_op *op,
                                struct emu_agent agent, uint32_t time, uint32_t kind)
{
    const uint32_t *id = warp->cta->id;

    return (struct emu_access){.agent = agent,
                               .time = time,
                               .kind = kind,
                               .op = op,
                               .cta = {id[0], id[1], id[2]},
                               .warp = warp->index};
}

bool emu_check_writer(const struct emu_cta *cta, uint32_t offset, struct emu_access *access)
{
    return emu_histories_writer(cta->cluster->run->device->check->histories,
                                cta->check->shadow[offset], access);
}

bool emu_check_is_written(const struct emu_cta *cta, uint64_t address)
{
    const struct emu_check_cta *check = cta->check;

    return emu_histories_is_written(cta->cluster->run->device->check->histories,
                                    address >= EMU_TMEM_AT ? check->tmem[address - EMU_TMEM_AT]
                                                           : check->shadow[address]);
}

/* ---- Of lanes ---- */

uint32_t emu_check_kind(const struct emu_instruction *text)
{
    static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    static const uint32_t scopes[EMU_SCOPES] = {EMU_FOR_CTA, EMU_FOR_CLUSTER, 0};
    const char *word = text->words[0];
    uint32_t scope = scopes[emu_check_scope(text, EMU_OF_ALL)];

    if (strcmp(word, "atom") == 0 || strcmp(word, "red") == 0)
        return EMU_READS | EMU_WRITES | EMU_STRONG | scope;
    for (size_t i = 0; i < sizeof strong / sizeof strong[0]; i++)
        if (emu_has_word(text, strong[i]))
            return EMU_STRONG | scope | (word[0] == 's' ? EMU_WRITES : EMU_READS);
    if (strcmp(word, "tcgen05") == 0)
        return emu_has_word(text, "alloc") ? EMU_WRITES : EMU_READS;
    return word[0] == 's' || strcmp(word, "tensormap") == 0 ? EMU_WRITES : EMU_READS;
}

/* Whether it is memory that others see; whose, and where. */
static bool resolve(struct emu_warp *warp, const struct emu_op *op, enum emu_space space,
                    uint64_t address, struct emu_cta **cta, uint64_t *at)
{
    uint32_t offset;

    *cta = NULL;
    *at = address;
    switch (space) {
    case EMU_SPACE_LOCAL:
    case EMU_SPACE_PARAM:
    case EMU_SPACE_CONST:
        return false;
    case EMU_SPACE_GLOBAL:
        return true;
    case EMU_SPACE_NONE:
        if (address - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES ||
            address - EMU_PARAM_WINDOW < EMU_WINDOW_BYTES)
            return false;
        if (address - EMU_SHARED_WINDOW >= EMU_WINDOW_BYTES)
            return true;
        break;
    case EMU_SPACE_SHARED:
        break;
    }
    *cta = emu_cta_of_address(warp->cta, address, &offset);
    if (*cta && !op->cluster && (*cta)->rank == 0 && space == EMU_SPACE_SHARED)
        *cta = warp->cta;
    *at = offset;
    return *cta != NULL;
}

/* Shared memory of another CTA: it must have begun, and may not end. */
void emu_check_peer(struct emu_warp *warp, int lane, struct emu_cta *cta, uint64_t address,
                    const struct emu_access *access)
{
    const struct emu_found found = {
        .code = "early-access",
        .warp = warp,
        .op = access->op,
        .lane = lane,
        .kind = access->kind,
        .cta = cta,
        .address = address,
        .has_address = true,
        .what = "nothing tells that that CTA has begun",
        .needed = "barrier.cluster.arrive and .wait by all, before the first access to another "
                  "CTA's shared memory"};

    if (emu_clock_get(&warp->check->clock, cta->check->start).seen == 0)
        emu_check_found(&found);
    emu_check_remote(warp, cta, address, access);
}

void emu_check_lanes(struct emu_warp *warp, const struct emu_op *op, uint32_t mask,
                     enum emu_space space, const uint64_t *addresses, uint32_t bytes)
{
    struct emu_check_warp *check = warp->check;
    struct emu_access access;
    struct emu_cta *cta = NULL, *next_cta;
    uint64_t from = 0, to = 0, at;
    int first = 0;

    if (check->has_issued)
        emu_check_tick(warp);
    check->has_issued = false;
    emu_check_lane_begin(warp);
    access = emu_access_of(warp, op, check->self, emu_clock_get(&check->clock, check->self).seen,
                           op->kind);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        if (!(mask >> lane & 1) || !resolve(warp, op, space, addresses[lane], &next_cta, &at))
            continue;
        if (next_cta && next_cta != warp->cta)
            emu_check_peer(warp, lane, next_cta, at, &access);
        if (next_cta && !(op->kind & EMU_STRONG))
            emu_check_lane_access(warp, op, lane, next_cta, at, bytes);
        if (to > from && next_cta == cta && at == to) {
            to += bytes;
            continue;
        }
        emu_check_access(warp, first, &access, &check->clock, cta, from, to - from);
        cta = next_cta;
        from = at;
        to = at + bytes;
        first = lane;
    }
    emu_check_access(warp, first, &access, &check->clock, cta, from, to - from);
    if (op->kind & EMU_STRONG)
        emu_check_lane_order(warp, mask, true);
    if (op->kind & EMU_STRONG)
        emu_check_strong(warp, op, mask, addresses);
}

/* ---- What is known at issue ---- */

struct emu_snapshot *emu_check_issue(struct emu_warp *warp)
{
    struct emu_check_warp *check = warp->check;

    if (!check->snapshot) {
        struct emu_snapshot *made = calloc(1, sizeof *made);

        if (!made || !emu_clock_join(&made->clock, &check->clock)) {
            if (made)
                emu_clock_free(&made->clock);
            free(made);
            emu_check_no_memory(warp);
            return NULL;
        }
        made->holders = 1;
        check->snapshot = made;
    }
    check->has_issued = true;
    check->snapshot->holders++;
    return check->snapshot;
}

struct emu_snapshot *emu_check_keep(struct emu_snapshot *snapshot)
{
    if (snapshot)
        snapshot->holders++;
    return snapshot;
}

void emu_check_drop(struct emu_snapshot *snapshot)
{
    if (!snapshot || --snapshot->holders > 0)
        return;
    emu_clock_free(&snapshot->clock);
    free(snapshot);
}

struct emu_snapshot *emu_check_together(struct emu_warp *warp, struct emu_snapshot *const known[4])
{
    struct emu_snapshot *made = calloc(1, sizeof *made);
    bool done = made != NULL;

    for (int i = 0; i < 4 && done; i++)
        done = !known[i] || emu_clock_join(&made->clock, &known[i]->clock);
    if (!done) {
        emu_check_no_memory(warp);
        if (made)
            emu_clock_free(&made->clock);
        free(made);
        return NULL;
    }
    made->holders = 1;
    return made;
}

/* ---- Of asynchronous work ---- */

/* Whose time a copy's accesses carry: that of who completes them. False where there is nobody. */
static bool agent_of(const struct emu_async *work, uint32_t kind, struct emu_agent *agent,
                     uint32_t *time)
{
    const struct emu_check_warp *check = work->warp->check;

    if (work->barrier_cta) {
        const struct emu_mbarrier *barrier = emu_mbarrier_at(work->barrier_cta, work->barrier);

        if (!barrier || !barrier->check)
            return false;
        *agent = barrier->check->agent;
        *time = barrier->check->completions + 1;
        return true;
    }
    *agent = kind & EMU_WRITES ? check->bulk_writes : check->bulk_reads;
    *time = work->group + 1;
    return true;
}

/* st.async and red.async are by the generic proxy, and relaxed. By the memory model a proxy fence
 * belongs between any two accesses of two proxies, but behind reads it is left out before bulk
 * copies everywhere: who has waited for the arrival of those who have read copies again. Before a
 * reply it is not: the CUDA Programming Guide, "Cluster Launch Control", and CUTLASS have one
 * behind the read. Source: PTX ISA "Causality order", "clusterlaunchcontrol.try_cancel". */
static uint32_t proxy_of(const struct emu_async *work)
{
    if (emu_op_is(work->op, "st") || emu_op_is(work->op, "red"))
        return EMU_STRONG;
    return emu_op_is(work->op, "clusterlaunchcontrol") ? EMU_BY_ASYNC | EMU_BEHIND_READS
                                                       : EMU_BY_ASYNC;
}

void emu_check_copy(const struct emu_async *work, struct emu_cta *cta, uint64_t address,
                    uint64_t bytes, uint32_t kind)
{
    struct emu_access access;
    struct emu_agent agent;
    uint32_t time;

    if (!work->known || !agent_of(work, kind, &agent, &time))
        return;
    access = emu_access_of(work->warp, work->op, agent, time,
                           kind | proxy_of(work) | (cta ? EMU_OF_SHARED : 0u));
    if (cta)
        emu_check_remote(work->warp, cta, address, &access);
    emu_check_access(work->warp, work->lane, &access, &work->known->clock, cta, address, bytes);
}

void emu_check_queued(struct emu_warp *warp, const struct emu_queued *item)
{
    struct emu_access access =
        emu_access_of(warp, item->op, warp->check->copies, item->time, EMU_READS);

    if (!item->known)
        return;
    emu_check_access(warp, item->lane, &access, &item->known->clock, NULL, item->from,
                     item->read_bytes);
    access.kind = EMU_WRITES;
    emu_check_access(warp, item->lane, &access, &item->known->clock, warp->cta, item->to,
                     item->bytes);
}
