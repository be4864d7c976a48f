/* barrier.c: barriers of a CTA, of a warp and of a cluster. Source: PTX ISA "bar, barrier",
 * "bar.warp.sync", "barrier.cluster". */
#include "emulator/meeting.h"
#include "emulator/state.h"
#include "emulator/trace.h"

#include <string.h>

enum { SYNC, ARRIVE, REDUCE };
enum { REDUCE_AND, REDUCE_OR, REDUCE_COUNT };

static uint32_t count_of(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

/* ---- Of a CTA ---- */

static const struct emu_votes no_votes = {.all = true};

static void complete(struct emu_cta *cta, struct emu_named_barrier *barrier)
{
    if (cta->check)
        emu_check_barrier_complete(cta, (uint32_t)(barrier - cta->barriers));
    if (cta->cluster->timed)
        emu_trace_barrier(cta, barrier);
    barrier->phase++;
    barrier->result = barrier->votes;
    barrier->votes = no_votes;
    barrier->threads = barrier->padded = barrier->expected = 0;
    cta->cluster->progress++;
}

static void settle(struct emu_cta *cta, struct emu_named_barrier *barrier)
{
    uint32_t live = cta->thread_count - cta->exited_threads;

    if (barrier->threads == 0)
        return;
    if (barrier->expected ? barrier->padded >= barrier->expected : barrier->threads >= live)
        complete(cta, barrier);
}

static enum emu_step check_count(struct emu_warp *warp, const struct emu_op *op,
                                 struct emu_named_barrier *barrier, uint64_t id, uint32_t expected)
{
    if (expected % EMU_LANES != 0)
        return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION,
                         "barrier %u is asked for %u threads, no multiple of 32", (unsigned)id,
                         expected);
    if (barrier->threads > 0 && barrier->expected != expected)
        return emu_fault(warp, op, -1, EMU_ILLEGAL_INSTRUCTION,
                         "barrier %u is asked for %u threads, and for %u by others", (unsigned)id,
                         expected, barrier->expected);
    barrier->expected = expected;
    return EMU_STEP_NEXT;
}

static void vote(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                 uint32_t mask, struct emu_votes *votes)
{
    const struct emu_source *source = &op->sources[op->source_count - 1];
    emu_lanes lanes;
    const uint64_t *values = emu_read(warp, group, source, mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++) {
        bool value = (values[lane] & 1) != source->negated;

        if (!(mask >> lane & 1))
            continue;
        votes->all = votes->all && value;
        votes->any = votes->any || value;
        votes->count += value;
    }
}

static void give_result(const struct emu_group *group, const struct emu_op *op, uint32_t mask,
                        const struct emu_votes *result)
{
    uint64_t value = op->variant == REDUCE_AND  ? result->all
                     : op->variant == REDUCE_OR ? result->any
                                                : result->count;

    for (int lane = 0; lane < EMU_LANES && op->results[0] >= 0; lane++)
        if (mask >> lane & 1)
            emu_slot(group, op->results[0])[lane] = value;
}

/* Arrives once, then waits for the end of that phase. The flags say whether it does both. */
static enum emu_step named_barrier(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask)
{
    struct emu_cta *cta = warp->cta;
    int first = __builtin_ctz(mask);
    emu_lanes lanes[2];
    uint64_t id = emu_read(warp, group, &op->sources[0], mask, lanes[0])[first] & UINT32_MAX;
    struct emu_named_barrier *barrier = &cta->barriers[id % EMU_NAMED_BARRIERS];

    if (id >= EMU_NAMED_BARRIERS)
        return emu_fault(warp, op, first, EMU_ILLEGAL_INSTRUCTION, "barrier %u of 16",
                         (unsigned)id);
    if (!group->arrived) {
        uint32_t expected =
            op->width ? (uint32_t)emu_read(warp, group, &op->sources[1], mask, lanes[1])[first] : 0;

        if (check_count(warp, op, barrier, id, expected) == EMU_STEP_FAULT)
            return EMU_STEP_FAULT;
        if (barrier->threads == 0)
            barrier->votes = no_votes;
        if (op->flags == REDUCE)
            vote(warp, group, op, mask, &barrier->votes);
        group->awaiting = barrier->phase;
        if (warp->check)
            emu_check_barrier_arrive(warp, (uint32_t)id);
        barrier->threads += count_of(mask);
        barrier->padded += mask == warp->live ? EMU_LANES : count_of(mask);
        cta->cluster->progress++;
        settle(cta, barrier);
        if (op->flags == ARRIVE)
            return EMU_STEP_NEXT;
        group->arrived = true;
    }
    if (barrier->phase == group->awaiting)
        return EMU_STEP_BLOCKED;
    group->arrived = false;
    if (warp->check)
        emu_check_barrier_leave(warp, (uint32_t)id, group->awaiting, mask);
    if (op->flags == REDUCE)
        give_result(group, op, mask, &barrier->result);
    return EMU_STEP_NEXT;
}

/* ---- Of a warp ---- */

static enum emu_step warp_barrier(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *members = emu_read(warp, group, &op->sources[0], mask, lanes);
    struct emu_meeting meeting;

    if (emu_meet(warp, group, op, mask, &meeting)) {
        if (warp->check)
            emu_check_lane_order(warp, meeting.lanes, false);
        emu_part(&meeting);
        return EMU_STEP_NEXT;
    }
    if (!emu_have_all_come(warp, mask, members))
        return EMU_STEP_BLOCKED;
    for (uint32_t rest = warp->check ? mask : 0; rest;) {
        uint32_t together = (uint32_t)members[__builtin_ctz(rest)];

        emu_check_lane_order(warp, together & mask, false);
        rest &= (rest - 1) & ~together;
    }
    return EMU_STEP_NEXT;
}

/* ---- Of a cluster ---- */

/* Complete when no thread that lives has yet to arrive. */
static void settle_cluster(struct emu_cluster *cluster)
{
    bool any = false;

    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t w = 0; w < cluster->ctas[i].warp_count; w++) {
            const struct emu_warp *warp = &cluster->ctas[i].warps[w];

            if (warp->live & ~warp->cluster_counted)
                return;
            any = any || warp->cluster_counted;
        }
    if (!any)
        return;
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t w = 0; w < cluster->ctas[i].warp_count; w++)
            cluster->ctas[i].warps[w].cluster_counted = 0;
    if (cluster->check)
        emu_check_cluster_complete(cluster);
    cluster->progress++;
}

static enum emu_step cluster_arrive(struct emu_warp *warp, struct emu_group *group,
                                    const struct emu_op *op, uint32_t mask)
{
    (void)group;
    if (warp->cluster_arrived & mask)
        return emu_fault(warp, op, __builtin_ctz(warp->cluster_arrived & mask),
                         EMU_ILLEGAL_INSTRUCTION,
                         "arrives at the cluster's barrier again without having waited");
    if (warp->check)
        emu_check_cluster_arrive(warp, op);
    warp->cluster_arrived |= mask;
    warp->cluster_counted |= mask;
    warp->cta->cluster->progress++;
    settle_cluster(warp->cta->cluster);
    return EMU_STEP_NEXT;
}

static enum emu_step cluster_wait(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    (void)group;
    if (mask & ~warp->cluster_arrived)
        return emu_fault(warp, op, __builtin_ctz(mask & ~warp->cluster_arrived),
                         EMU_ILLEGAL_INSTRUCTION,
                         "waits at the cluster's barrier without having arrived");
    if (warp->cluster_counted & mask)
        return EMU_STEP_BLOCKED;
    warp->cluster_arrived &= ~mask;
    if (warp->check)
        emu_check_cluster_leave(warp, mask);
    return EMU_STEP_NEXT;
}

void emu_barriers_settle(struct emu_cta *cta)
{
    for (int i = 0; i < EMU_NAMED_BARRIERS; i++)
        settle(cta, &cta->barriers[i]);
    settle_cluster(cta->cluster);
}

/* ---- Fences ----
 *
 * A cluster's stores become visible in their order and all at once, and what it loads in one round
 * is of one time: so nothing but a later load can pass a store, and only fence.sc forbids that. */

/* fence.proxy.tensormap names the map. */
static void tell_of_map(struct emu_warp *warp, const struct emu_group *group,
                        const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *maps = emu_read(warp, group, &op->sources[0], mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            emu_check_map_fence(warp, maps[lane]);
}

/* `variant`: of other clusters' threads too, and sequentially consistent. */
static enum emu_step fence(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    const struct emu_cluster *cluster = warp->cta->cluster;

    if (op->variant && cluster->apart && cluster->log.count > 0)
        return EMU_STEP_LATER;
    if (warp->check)
        emu_check_fence(warp, op, mask);
    if (warp->check && op->source_count > 0)
        tell_of_map(warp, group, op, mask);
    return EMU_STEP_NEXT;
}

/* PTX ISA "membar": it is a synonym of fence.sc. */
static bool orders_all(const struct emu_instruction *i)
{
    if (strcmp(i->words[0], "membar") == 0)
        return emu_has_word(i, "gl") || emu_has_word(i, "sys");
    return strcmp(i->words[0], "fence") == 0 && emu_has_word(i, "sc") && !emu_has_word(i, "cta") &&
           !emu_has_word(i, "cluster");
}

/* ---- Decoding ---- */

static enum emu_decoded decode_named(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op)
{
    int at = 0;

    op->execute = named_barrier;
    op->flags = emu_has_word(i, "red") ? REDUCE : emu_has_word(i, "arrive") ? ARRIVE : SYNC;
    op->aligned = op->aligned || strcmp(i->words[0], "bar") == 0;
    if (op->flags == REDUCE) {
        op->variant = emu_has_word(i, "popc") ? REDUCE_COUNT
                      : emu_has_word(i, "or") ? REDUCE_OR
                                              : REDUCE_AND;
        if (i->operand_count < 3 || !emu_add_results(d, op, &i->operands[at++]))
            return emu_refuse_form(d, i, "takes a result, a barrier and a predicate");
    }

    int inputs = i->operand_count - at;

    if (inputs < 1 || inputs > 3)
        return emu_refuse_form(d, i, "takes a barrier and a number of threads");
    op->width = inputs - (op->flags == REDUCE) > 1; /* a number of threads is given */
    if (op->flags == ARRIVE && !op->width)
        return emu_refuse_form(d, i, "needs the number of threads");
    for (; at < i->operand_count; at++)
        if (!emu_add_sources(d, op, &i->operands[at], EMU_U32))
            return EMU_REFUSED;
    return EMU_DECODED;
}

enum emu_decoded emu_decode_barrier(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    const char *word = i->words[0];

    if (strcmp(word, "fence") == 0 || strcmp(word, "membar") == 0 ||
        strcmp(word, "griddepcontrol") == 0) {
        op->execute = fence;
        op->variant = orders_all(i);
        if (i->operand_count == 0 || i->operands[0].kind != EMU_OPERAND_ADDRESS)
            return EMU_DECODED;
        op->source_count = 1;
        return emu_bind_address(d, &i->operands[0], &op->sources[0]) ? EMU_DECODED : EMU_REFUSED;
    }
    if (strcmp(word, "bar") != 0 && strcmp(word, "barrier") != 0)
        return EMU_NOT_MINE;
    if (emu_has_word(i, "warp")) {
        op->execute = warp_barrier;
        return i->operand_count == 1 && emu_add_sources(d, op, &i->operands[0], EMU_U32)
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes a mask of lanes");
    }
    if (emu_has_word(i, "cluster")) {
        op->execute = emu_has_word(i, "wait") ? cluster_wait : cluster_arrive;
        return EMU_DECODED;
    }
    return decode_named(d, i, op);
}
