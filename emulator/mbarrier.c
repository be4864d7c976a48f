/* mbarrier.c: mbarrier objects: phases, arrivals still due, and bytes still due.
 *
 * The object's bytes in shared memory are zeros, as a load of a live one gave on Hopper; what it is
 * stands beside them, and bytes that are zeros no more tell that something wrote over it. Source:
 * PTX ISA "mbarrier"; measured on H200: the completion rule after expect_tx, early complete_tx,
 * arrive_drop, and what a fresh barrier answers to parity 1. */
#include "emulator/state.h"
#include "emulator/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    COUNT_MAX = (1 << 20) - 1, /* of arrivals, and of bytes in either direction */
    OBJECT_BYTES = 8,
    TOKEN_PENDING_BITS = 20,
    SUSPENDED_MAX = 32 /* turns, after which a try_wait says that it was in vain */
};

enum { WITH_EXPECT = 1, DROP = 2, NO_COMPLETE = 4, PARITY = 8, SUSPENDS = 16 };

/* ---- Objects ---- */

struct emu_mbarrier *emu_mbarrier_at(struct emu_cta *cta, uint32_t offset)
{
    for (size_t i = 0; i < cta->mbarrier_count; i++)
        if (cta->mbarriers[i].offset == offset)
            return &cta->mbarriers[i];
    return NULL;
}

static struct emu_mbarrier *make(struct emu_cta *cta, uint32_t offset)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(cta, offset);
    size_t room = cta->mbarrier_room ? 2 * cta->mbarrier_room : 16;

    if (barrier)
        return barrier;
    if (cta->mbarrier_count == cta->mbarrier_room) {
        struct emu_mbarrier *grown = realloc(cta->mbarriers, room * sizeof *grown);

        if (!grown)
            return NULL;
        cta->mbarriers = grown;
        cta->mbarrier_room = room;
    }
    return &cta->mbarriers[cta->mbarrier_count++];
}

static bool is_written_over(const struct emu_cta *cta, uint32_t offset)
{
    for (uint32_t i = 0; i < OBJECT_BYTES; i++)
        if (cta->shared[offset + i] != 0)
            return true;
    return false;
}

/* Faults are about it. */
static void name_place(struct emu_warp *warp, struct emu_cta *cta, uint32_t offset)
{
    if (warp->check)
        emu_check_fault_place(warp, cta, offset);
}

/* The object, or null after a fault. */
static struct emu_mbarrier *object(struct emu_warp *warp, const struct emu_op *op, int lane,
                                   struct emu_cta *cta, uint32_t offset)
{
    struct emu_mbarrier *barrier = emu_mbarrier_at(cta, offset);

    if (!barrier) {
        name_place(warp, cta, offset);
        emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "barrier-init",
                     "no mbarrier was initialised at shared address 0x%x of CTA rank %u", offset,
                     cta->rank);
        return NULL;
    }
    if (is_written_over(cta, offset)) {
        name_place(warp, cta, offset);
        emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "barrier-overlaid",
                     "the mbarrier at shared address 0x%x of CTA rank %u has been written over",
                     offset, cta->rank);
        return NULL;
    }
    return barrier;
}

/* Of the CTA that an address of a lane means; null after a fault. */
static struct emu_cta *place(struct emu_warp *warp, const struct emu_op *op, int lane,
                             uint64_t address, uint32_t *offset)
{
    struct emu_cta *cta = emu_cta_of_address(warp->cta, address, offset);

    if (cta && !op->cluster && cta->rank == 0 && op->space == EMU_SPACE_SHARED)
        cta = warp->cta;
    if (!cta || *offset + OBJECT_BYTES > cta->shared_bytes) {
        emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS, "an mbarrier at 0x%llx",
                  (unsigned long long)address);
        return NULL;
    }
    if (*offset % OBJECT_BYTES != 0) {
        emu_fault(warp, op, lane, EMU_MISALIGNED_ADDRESS, "an mbarrier at 0x%llx, no multiple of 8",
                  (unsigned long long)address);
        return NULL;
    }
    return cta;
}

/* ---- What happens to them ---- */

static void settle(struct emu_warp *warp, const struct emu_op *op, struct emu_mbarrier *barrier)
{
    barrier->cta->cluster->progress++;
    if (barrier->check)
        emu_check_mbarrier_signal(warp, op, barrier);
    if (barrier->pending > 0 || barrier->tx != 0)
        return;
    barrier->phase++;
    barrier->pending = barrier->expected;
    if (barrier->check)
        emu_check_mbarrier_complete(warp, barrier);
    if (barrier->cta->cluster->timed)
        emu_trace_phase(barrier);
}

static bool add_bytes(struct emu_warp *warp, const struct emu_op *op, int lane,
                      struct emu_mbarrier *barrier, int64_t bytes)
{
    barrier->tx += bytes;
    if (barrier->tx <= COUNT_MAX && barrier->tx >= -COUNT_MAX)
        return true;
    name_place(warp, barrier->cta, barrier->offset);
    emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "transaction-count",
                 "the mbarrier at shared address 0x%x counts %lld bytes: more than it can",
                 barrier->offset, (long long)barrier->tx);
    return false;
}

/* Where all have come and bytes have not, whoever arrives takes the phase for over. */
static void fault_arrivals(struct emu_warp *warp, const struct emu_op *op, int lane,
                           const struct emu_mbarrier *barrier, uint32_t count)
{
    unsigned long long phase = barrier->phase;
    const char *plural = count == 1 ? "" : "s";

    name_place(warp, barrier->cta, barrier->offset);
    if (barrier->pending == 0)
        emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "arrival-count",
                     "%u arrival%s at the mbarrier at shared address 0x%x, whose phase %llu is not "
                     "over: all its arrivals have come, and not all of its bytes",
                     count, plural, barrier->offset, phase);
    else
        emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "arrival-count",
                     "%u arrival%s at the mbarrier at shared address 0x%x, whose phase %llu waits "
                     "for %u more",
                     count, plural, barrier->offset, phase, barrier->pending);
}

static bool arrive(struct emu_warp *warp, const struct emu_op *op, int lane,
                   struct emu_mbarrier *barrier, uint32_t count)
{
    if (count == 0 || count > barrier->pending) {
        fault_arrivals(warp, op, lane, barrier, count);
        return false;
    }
    barrier->pending -= count;
    settle(warp, op, barrier);
    return true;
}

bool emu_mbarrier_complete(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *cta,
                           uint32_t offset, uint32_t bytes)
{
    struct emu_mbarrier *barrier = object(warp, op, -1, cta, offset);

    if (!barrier || !add_bytes(warp, op, -1, barrier, -(int64_t)bytes))
        return false;
    settle(warp, op, barrier);
    return true;
}

bool emu_mbarrier_arrive(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *cta,
                         uint32_t offset)
{
    struct emu_mbarrier *barrier = object(warp, op, -1, cta, offset);

    return barrier && arrive(warp, op, -1, barrier, 1);
}

bool emu_mbarrier_expect_arrival(struct emu_warp *warp, const struct emu_op *op, int lane,
                                 uint64_t address)
{
    uint32_t offset;
    struct emu_cta *cta = place(warp, op, lane, address, &offset);
    struct emu_mbarrier *barrier = cta ? object(warp, op, lane, cta, offset) : NULL;

    if (!barrier)
        return false;
    barrier->pending++;
    return true;
}

struct emu_cta *emu_mbarrier_place(struct emu_warp *warp, const struct emu_op *op, int lane,
                                   uint64_t address, uint32_t *offset)
{
    return place(warp, op, lane, address, offset);
}

/* ---- Instructions, lane by lane ---- */

/* One lane of one of them, at a barrier that there is. */
typedef bool (*lane_step)(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          int lane, struct emu_mbarrier *barrier, uint64_t value);

/* `values`: of the source behind the address, which not all have. */
static enum emu_step each_lane(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask, lane_step step)
{
    emu_lanes lanes[2];
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes[0]);
    const uint64_t *value =
        op->source_count > 1 ? emu_read(warp, group, &op->sources[1], mask, lanes[1]) : NULL;

    for (int lane = 0; lane < EMU_LANES; lane++) {
        uint32_t offset;

        if (!(mask >> lane & 1))
            continue;

        struct emu_cta *cta = place(warp, op, lane, address[lane], &offset);
        struct emu_mbarrier *barrier = cta ? object(warp, op, lane, cta, offset) : NULL;

        if (barrier && warp->check)
            emu_check_mbarrier_use(warp, op, barrier);
        if (!barrier || !step(warp, group, op, lane, barrier, value ? value[lane] : 1))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}

static enum emu_step execute_init(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes[2];
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes[0]),
                   *count = emu_read(warp, group, &op->sources[1], mask, lanes[1]);

    for (int lane = 0; lane < EMU_LANES; lane++) {
        uint32_t offset, expected = (uint32_t)count[lane];

        if (!(mask >> lane & 1))
            continue;

        struct emu_cta *cta = place(warp, op, lane, address[lane], &offset);
        struct emu_mbarrier *barrier = cta ? make(cta, offset) : NULL;

        if (!cta)
            return EMU_STEP_FAULT;
        if (!barrier)
            return emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for an mbarrier");
        if (expected == 0 || expected > COUNT_MAX)
            return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION,
                             "an mbarrier of %u arrivals; there are 1 to %d", expected, COUNT_MAX);
        *barrier = (struct emu_mbarrier){
            .cta = cta, .offset = offset, .expected = expected, .pending = expected};
        if (warp->check)
            emu_check_mbarrier_init(warp, op, lane, barrier);
        memset(cta->shared + offset, 0, OBJECT_BYTES);
        warp->cta->cluster->progress++;
    }
    return EMU_STEP_NEXT;
}

static enum emu_step execute_inval(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++) {
        uint32_t offset;

        if (!(mask >> lane & 1))
            continue;

        struct emu_cta *cta = place(warp, op, lane, address[lane], &offset);
        struct emu_mbarrier *barrier = cta ? object(warp, op, lane, cta, offset) : NULL;

        if (!barrier)
            return EMU_STEP_FAULT;
        *barrier = cta->mbarriers[--cta->mbarrier_count];
    }
    return EMU_STEP_NEXT;
}

static bool expect_step(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                        int lane, struct emu_mbarrier *barrier, uint64_t value)
{
    int64_t bytes = (int64_t)(value & UINT32_MAX);

    (void)group;
    if (!add_bytes(warp, op, lane, barrier, op->variant ? -bytes : bytes))
        return false;
    settle(warp, op, barrier);
    return true;
}

static enum emu_step execute_expect(struct emu_warp *warp, struct emu_group *group,
                                    const struct emu_op *op, uint32_t mask)
{
    return each_lane(warp, group, op, mask, expect_step);
}

static bool arrive_step(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                        int lane, struct emu_mbarrier *barrier, uint64_t value)
{
    uint32_t count = op->flags & WITH_EXPECT ? 1 : (uint32_t)value;
    uint64_t token = barrier->phase << TOKEN_PENDING_BITS | barrier->pending;

    if ((op->flags & WITH_EXPECT) &&
        !add_bytes(warp, op, lane, barrier, (int64_t)(value & UINT32_MAX)))
        return false;
    if ((op->flags & NO_COMPLETE) && count >= barrier->pending) {
        name_place(warp, barrier->cta, barrier->offset);
        emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "arrival-count",
                     "an arrival with .noComplete would complete the phase");
        return false;
    }
    if (op->flags & DROP)
        barrier->expected -= count < barrier->expected ? count : barrier->expected;
    if (warp->check)
        emu_check_mbarrier_arrive(warp, op, barrier);
    if (!arrive(warp, op, lane, barrier, count))
        return false;
    if (op->result_count && op->results[0] >= 0)
        emu_slot(group, op->results[0])[lane] = token;
    return true;
}

static enum emu_step execute_arrive(struct emu_warp *warp, struct emu_group *group,
                                    const struct emu_op *op, uint32_t mask)
{
    return each_lane(warp, group, op, mask, arrive_step);
}

static bool wait_step(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                      int lane, struct emu_mbarrier *barrier, uint64_t value)
{
    uint64_t phase = value >> TOKEN_PENDING_BITS;
    bool over = op->flags & PARITY ? (barrier->phase & 1) != (value & 1)
                                   : (barrier->phase ^ phase) << TOKEN_PENDING_BITS != 0;
    uint32_t offset;
    emu_lanes lanes;

    if (warp->check && op->flags & PARITY)
        emu_check_mbarrier_parity(warp, op, lane, barrier, value);
    if (warp->check && op->is_unread)
        emu_check_mbarrier_unread(warp, op, barrier);
    if (op->results[0] >= 0)
        emu_slot(group, op->results[0])[lane] = over;
    if (over && warp->check)
        emu_check_mbarrier_wait(warp, op, lane, barrier);
    if (over)
        return true;

    const uint64_t *address = emu_read(warp, group, &op->sources[0], 1u << lane, lanes);
    const struct emu_cta *cta = emu_cta_of_address(warp->cta, address[lane], &offset);

    group->vain = op;
    group->vain_rank = cta ? cta->rank : 0;
    group->vain_offset = offset;
    group->vain_phase = barrier->phase;
    group->vain_parity = (uint32_t)(op->flags & PARITY ? value & 1 : phase & 1);
    return true;
}

/* A wait that looked in vain lets others run first. */
static enum emu_step execute_wait(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    enum emu_step step;

    group->vain = NULL;
    group->suspended = 0;
    step = each_lane(warp, group, op, mask, wait_step);
    return step == EMU_STEP_NEXT && group->vain ? EMU_STEP_YIELD : step;
}

bool emu_mbarrier_is_vain(const struct emu_warp *warp, const struct emu_group *group)
{
    const struct emu_mbarrier *barrier;

    if (!group->vain || !(group->vain->flags & SUSPENDS))
        return false;
    barrier = emu_mbarrier_at(&warp->cta->cluster->ctas[group->vain_rank], group->vain_offset);
    return barrier && (barrier->phase & 1) == group->vain_parity;
}

bool emu_mbarrier_suspends(const struct emu_warp *warp, struct emu_group *group)
{
    if (group->suspended == SUSPENDED_MAX || !emu_mbarrier_is_vain(warp, group))
        return false;
    group->suspended++;
    return true;
}

bool emu_mbarrier_gives_up(struct emu_warp *warp)
{
    bool any = false;

    for (int i = 0; i < warp->group_count; i++)
        if (warp->groups[i].status == EMU_YIELDED && warp->groups[i].vain) {
            warp->groups[i].vain = NULL;
            any = true;
        }
    return any;
}

static enum emu_step execute_pending(struct emu_warp *warp, struct emu_group *group,
                                     const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *token = emu_read(warp, group, &op->sources[0], mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && op->results[0] >= 0)
            emu_slot(group, op->results[0])[lane] = token[lane] & COUNT_MAX;
    return EMU_STEP_NEXT;
}

/* ---- Decoding ---- */

/* [address] and, where there is one more, a value. */
static enum emu_decoded bind(struct emu_decoder *d, const struct emu_instruction *i,
                             struct emu_op *op, int at)
{
    op->source_count = 1;
    if (at >= i->operand_count || !emu_bind_address(d, &i->operands[at], &op->sources[0]))
        return emu_refuse_form(d, i, "takes the address of an mbarrier");
    for (int k = at + 1; k < i->operand_count; k++)
        if (!emu_add_sources(d, op, &i->operands[k], EMU_U64))
            return EMU_REFUSED;
    return EMU_DECODED;
}

static enum emu_decoded decode_arrive(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    int at = i->operand_count > 0 && i->operands[0].kind == EMU_OPERAND_ADDRESS ? 0 : 1;

    op->execute = execute_arrive;
    op->flags = (emu_has_word(i, "expect_tx") ? WITH_EXPECT : 0u) |
                (emu_has_word(i, "arrive_drop") ? DROP : 0u) |
                (emu_has_word(i, "noComplete") ? NO_COMPLETE : 0u);
    if (at == 1 && (i->operand_count < 2 || !emu_add_results(d, op, &i->operands[0])))
        return emu_refuse_form(d, i, "takes a state and the address of an mbarrier");
    if ((op->flags & WITH_EXPECT) && i->operand_count != at + 2)
        return emu_refuse_form(d, i, "takes a number of bytes");
    return bind(d, i, op, at);
}

static enum emu_decoded decode_wait(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    op->execute = execute_wait;
    op->flags =
        (emu_has_word(i, "parity") ? PARITY : 0u) | (emu_has_word(i, "try_wait") ? SUSPENDS : 0u);
    if (i->operand_count < 3 || !emu_add_results(d, op, &i->operands[0]))
        return emu_refuse_form(d, i, "takes a predicate, the address of an mbarrier and a phase");
    return bind(d, i, op, 1);
}

enum emu_decoded emu_decode_mbarrier(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op)
{
    if (strcmp(i->words[0], "mbarrier") != 0)
        return EMU_NOT_MINE;
    if (i->word_count < 2)
        return emu_refuse_form(d, i, "names no operation");

    const char *word = i->words[1];

    if (strcmp(word, "arrive") == 0 || strcmp(word, "arrive_drop") == 0)
        return decode_arrive(d, i, op);
    if (strcmp(word, "test_wait") == 0 || strcmp(word, "try_wait") == 0)
        return decode_wait(d, i, op);
    if (strcmp(word, "init") == 0 || strcmp(word, "inval") == 0) {
        bool is_init = strcmp(word, "init") == 0;

        op->execute = is_init ? execute_init : execute_inval;
        return i->operand_count == 1 + is_init
                   ? bind(d, i, op, 0)
                   : emu_refuse_form(d, i, "has another number of operands");
    }
    if (strcmp(word, "expect_tx") == 0 || strcmp(word, "complete_tx") == 0) {
        op->execute = execute_expect;
        op->variant = strcmp(word, "complete_tx") == 0;
        return i->operand_count == 2 ? bind(d, i, op, 0)
                                     : emu_refuse_form(d, i, "takes a number of bytes");
    }
    if (strcmp(word, "pending_count") == 0) {
        op->execute = execute_pending;
        return i->operand_count == 2 && emu_add_results(d, op, &i->operands[0]) &&
                       emu_add_sources(d, op, &i->operands[1], EMU_U64)
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes a result and a state");
    }
    return EMU_NOT_MINE;
}
