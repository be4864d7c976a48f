/* copy_queue.c: cp.async: small copies of each thread, waited for by groups or on an mbarrier.
 *
 * A warp keeps its copies in a queue; some are done when the schedule draws them, the others when a
 * wait wants them. Source: PTX ISA "cp.async", "cp.async.commit_group", "cp.async.wait_group",
 * "cp.async.mbarrier.arrive". */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES_MAX = 16 };
/* Of a warp: who never waits for copies must not take all memory of the host. */
enum { QUEUED_MAX = 16384 };
enum { HAS_READ_BYTES = 1, HAS_IGNORE = 2, NO_INCREMENT = 4 };

static struct emu_queued *push(struct emu_queue *queue)
{
    size_t room = queue->room ? 2 * queue->room : 64;

    if (queue->count == queue->room) {
        struct emu_queued *grown = realloc(queue->items, room * sizeof *grown);

        if (!grown)
            return NULL;
        queue->items = grown;
        queue->room = room;
    }
    queue->items[queue->count] = (struct emu_queued){.is_done = false};
    return &queue->items[queue->count++];
}

/* ---- Doing them ---- */

static bool do_copy(struct emu_warp *warp, struct emu_queued *item)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    const unsigned char *from =
        item->read_bytes ? emu_bytes(cluster->run->device, item->from, item->read_bytes) : NULL;

    item->is_done = true;
    cluster->progress++;
    if (item->read_bytes && !from) {
        emu_fault(warp, item->op, item->lane, EMU_ILLEGAL_ADDRESS,
                  "a copy of %u bytes at global address 0x%llx", item->read_bytes,
                  (unsigned long long)item->from);
        return false;
    }
    if (warp->check)
        emu_check_queued(warp, item);
    memset(warp->cta->shared + item->to, 0, item->bytes);
    if (from)
        memcpy(warp->cta->shared + item->to, from, item->read_bytes);
    return true;
}

/* It reads what the cluster's log may hold: so it is done when the log is. */
static bool is_for_later(const struct emu_warp *warp, const struct emu_queued *item)
{
    const struct emu_cluster *cluster = warp->cta->cluster;

    return cluster->apart && !item->is_arrival && !item->is_done &&
           emu_log_may_hold(&cluster->log, item->from, item->read_bytes);
}

static void drop_done(struct emu_queue *queue)
{
    size_t kept = 0;

    for (size_t i = 0; i < queue->count; i++)
        if (!queue->items[i].is_done)
            queue->items[kept++] = queue->items[i];
        else
            emu_check_drop(queue->items[i].known);
    queue->count = kept;
}

/* An arrival is due when no copy of its thread before it is left. */
static bool do_arrivals(struct emu_warp *warp)
{
    struct emu_queue *queue = &warp->queue;
    uint32_t busy = 0;

    for (size_t i = 0; i < queue->count; i++) {
        struct emu_queued *item = &queue->items[i];

        if (!item->is_arrival && !item->is_done)
            busy |= 1u << item->lane;
        if (!item->is_arrival || (busy >> item->lane & 1))
            continue;
        item->is_done = true;
        if (warp->check)
            emu_check_mbarrier_copies(warp, item);
        if (!emu_mbarrier_arrive(warp, item->op, warp->cta, item->to))
            return false;
    }
    return true;
}

static enum emu_step do_all(struct emu_warp *warp)
{
    struct emu_queue *queue = &warp->queue;

    for (size_t i = 0; i < queue->count; i++)
        if (is_for_later(warp, &queue->items[i]))
            return EMU_STEP_LATER;
    for (size_t i = 0; i < queue->count; i++)
        if (!queue->items[i].is_arrival && !do_copy(warp, &queue->items[i]))
            return EMU_STEP_FAULT;
    if (!do_arrivals(warp))
        return EMU_STEP_FAULT;
    drop_done(queue);
    return EMU_STEP_NEXT;
}

/* Where the queue is full all of it is done. */
static enum emu_step make_place(struct emu_warp *warp)
{
    return warp->queue.count < QUEUED_MAX ? EMU_STEP_NEXT : do_all(warp);
}

enum emu_step emu_copy_queue_finish(struct emu_warp *warp)
{
    return warp->timed ? EMU_STEP_NEXT : do_all(warp);
}

bool emu_copy_queue_turn(struct emu_warp *warp)
{
    struct emu_queue *queue = &warp->queue;

    if (queue->count == 0)
        return true;

    struct emu_queued *item = &queue->items[emu_draw(&warp->cta->cluster->random) % queue->count];

    if (is_for_later(warp, item))
        return true;
    if (!item->is_arrival && !do_copy(warp, item))
        return false;
    if (!do_arrivals(warp))
        return false;
    drop_done(queue);
    return true;
}

/* An arrival behind a copy is looked at when that is done. */
uint64_t emu_copy_queue_next(const struct emu_warp *warp)
{
    const struct emu_queue *queue = &warp->queue;
    uint64_t next = EMU_NEVER;

    if (queue->count > 0 && queue->items[0].is_arrival)
        return warp->cta->cluster->turn + 1;
    for (size_t i = 0; i < queue->count; i++)
        if (!queue->items[i].is_arrival && queue->items[i].due < next)
            next = queue->items[i].due;
    return next;
}

bool emu_copy_queue_until(struct emu_warp *warp, uint64_t cycle)
{
    struct emu_queue *queue = &warp->queue;
    bool any = false;

    for (size_t i = 0; i < queue->count; i++) {
        struct emu_queued *item = &queue->items[i];

        if (item->is_done || item->due > cycle)
            continue;
        any = true;
        if (!item->is_arrival && !do_copy(warp, item))
            return false;
    }
    if (!any)
        return true;
    if (!do_arrivals(warp))
        return false;
    drop_done(queue);
    return true;
}

void emu_copy_queue_drop(struct emu_warp *warp)
{
    for (size_t i = 0; i < warp->queue.count; i++)
        emu_check_drop(warp->queue.items[i].known);
    free(warp->queue.items);
    warp->queue = (struct emu_queue){.items = NULL};
}

/* ---- Instructions ---- */

/* With what its warp knows now. */
static void watch(struct emu_warp *warp, struct emu_queued *item)
{
    item->known = item->is_arrival ? NULL : emu_check_issue(warp);
    item->time = emu_check_copies_time(warp, item->is_arrival);
}

/* The offset of the target in the own CTA's shared memory, where alone these copies go; false after
 * a fault. */
static bool find_target(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                        int lane, uint64_t address, uint32_t *offset)
{
    const struct emu_cta *cta = warp->cta;
    uint32_t bytes = (uint32_t)op->bytes;
    const unsigned char *at =
        emu_access(warp, group, op, lane, EMU_SPACE_SHARED, address, bytes, bytes);

    if (!at)
        return false;
    *offset = (uint32_t)(address & ((1u << EMU_RANK_SHIFT) - 1));
    if (at == cta->shared + *offset)
        return true;
    emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS,
              "shared address 0x%llx is that of another CTA of the cluster",
              (unsigned long long)address);
    return false;
}

static enum emu_step copy(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    emu_lanes lanes[3];
    const uint64_t *to = emu_read(warp, group, &op->sources[0], mask, lanes[0]),
                   *from = emu_read(warp, group, &op->sources[1], mask, lanes[1]);
    const uint64_t *third =
        op->source_count > 2 ? emu_read(warp, group, &op->sources[2], mask, lanes[2]) : NULL;
    uint32_t bytes = (uint32_t)op->bytes;
    enum emu_step step = make_place(warp);

    if (step != EMU_STEP_NEXT)
        return step;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        uint32_t read_bytes = bytes, target;
        struct emu_queued *item;

        if (!(mask >> lane & 1))
            continue;
        if (op->flags & HAS_READ_BYTES)
            read_bytes = (uint32_t)third[lane];
        else if (op->flags & HAS_IGNORE)
            read_bytes = (third[lane] & 1) != op->sources[2].negated ? 0 : bytes;
        if (read_bytes > bytes || (from[lane] % bytes != 0 && read_bytes > 0))
            return emu_fault(warp, op, lane, EMU_MISALIGNED_ADDRESS,
                             "a copy of %u of %u bytes from global address 0x%llx", read_bytes,
                             bytes, (unsigned long long)from[lane]);
        if (!find_target(warp, group, op, lane, to[lane], &target))
            return EMU_STEP_FAULT;
        item = push(&warp->queue);
        if (!item)
            return emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for a copy");
        *item = (struct emu_queued){.lane = lane,
                                    .op = op,
                                    .from = from[lane],
                                    .to = target,
                                    .bytes = bytes,
                                    .read_bytes = read_bytes,
                                    .group = warp->queue.group[lane]};
        if (warp->check)
            watch(warp, item);
        if (warp->timed)
            item->due = emu_timed_small_copy(warp, item->from, read_bytes);
    }
    return EMU_STEP_NEXT;
}

static enum emu_step commit(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
{
    (void)group, (void)op;
    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            warp->queue.group[lane]++;
    if (warp->check)
        emu_check_copies_commit(warp);
    return EMU_STEP_NEXT;
}

/* `variant`: all, committed or not. */
static bool is_wanted(const struct emu_queue *queue, const struct emu_queued *item,
                      const struct emu_op *op, uint32_t mask)
{
    uint64_t allowed = op->source_count ? op->sources[0].bits : 0;

    return (mask >> item->lane & 1) && !item->is_arrival && !item->is_done &&
           (op->variant || item->group + allowed < queue->group[item->lane]);
}

static enum emu_step wait(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    struct emu_queue *queue = &warp->queue;

    (void)group;
    for (size_t i = 0; i < queue->count; i++)
        if (is_wanted(queue, &queue->items[i], op, mask) &&
            (warp->timed || is_for_later(warp, &queue->items[i])))
            return warp->timed ? EMU_STEP_BLOCKED : EMU_STEP_LATER;
    for (size_t i = 0; i < queue->count; i++)
        if (is_wanted(queue, &queue->items[i], op, mask) && !do_copy(warp, &queue->items[i]))
            return EMU_STEP_FAULT;
    if (!do_arrivals(warp))
        return EMU_STEP_FAULT;
    drop_done(queue);
    if (warp->check)
        emu_check_copies_wait(warp, op->source_count ? op->sources[0].bits : 0, op->variant);
    return EMU_STEP_NEXT;
}

static enum emu_step arrive(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes);
    enum emu_step step = make_place(warp);

    if (step != EMU_STEP_NEXT)
        return step;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        uint32_t offset;
        struct emu_queued *item;

        if (!(mask >> lane & 1))
            continue;
        if (!(op->flags & NO_INCREMENT) &&
            !emu_mbarrier_expect_arrival(warp, op, lane, address[lane]))
            return EMU_STEP_FAULT;
        if (!emu_mbarrier_place(warp, op, lane, address[lane], &offset))
            return EMU_STEP_FAULT;
        item = push(&warp->queue);
        if (!item)
            return emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for an arrival");
        *item = (struct emu_queued){.lane = lane, .op = op, .is_arrival = true, .to = offset};
        if (warp->check)
            watch(warp, item);
    }
    return EMU_STEP_NEXT;
}

/* ---- Decoding ---- */

static enum emu_decoded decode_copy(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    int end = i->operand_count - emu_has_word(i, "L2::cache_hint");

    op->execute = copy;
    if (end < 3 || end > 4 || i->operands[2].kind != EMU_OPERAND_INTEGER)
        return emu_refuse_form(d, i, "takes two addresses and a size");
    op->bytes = (int)i->operands[2].bits;
    if (i->operands[2].bits != 4 && i->operands[2].bits != 8 &&
        i->operands[2].bits != COPY_BYTES_MAX)
        return emu_refuse_form(d, i, "copies 4, 8 or 16 bytes");
    op->space = EMU_SPACE_SHARED;
    op->source_count = 2;
    if (!emu_bind_address(d, &i->operands[0], &op->sources[0]) ||
        !emu_bind_address(d, &i->operands[1], &op->sources[1]))
        return EMU_REFUSED;
    if (end == 4) {
        const struct emu_operand *last = &i->operands[3];
        bool is_predicate = last->kind == EMU_OPERAND_REGISTER &&
                            d->function->registers[last->reg].type == EMU_PRED;

        op->flags = is_predicate ? HAS_IGNORE : HAS_READ_BYTES;
        return emu_add_sources(d, op, last, EMU_U32) ? EMU_DECODED : EMU_REFUSED;
    }
    return EMU_DECODED;
}

enum emu_decoded emu_decode_copy_queue(struct emu_decoder *d, const struct emu_instruction *i,
                                       struct emu_op *op)
{
    if (strcmp(i->words[0], "cp") != 0 || !emu_has_word(i, "async") || emu_has_word(i, "bulk"))
        return EMU_NOT_MINE;
    if (emu_has_word(i, "commit_group")) {
        op->execute = commit;
        return EMU_DECODED;
    }
    if (emu_has_word(i, "wait_all")) {
        op->execute = wait;
        op->variant = 1;
        return EMU_DECODED;
    }
    if (emu_has_word(i, "wait_group")) {
        op->execute = wait;
        return i->operand_count == 1 && i->operands[0].kind == EMU_OPERAND_INTEGER &&
                       emu_add_sources(d, op, &i->operands[0], EMU_U32)
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes a number of groups");
    }
    if (emu_has_word(i, "mbarrier")) {
        op->execute = arrive;
        op->flags = emu_has_word(i, "noinc") ? NO_INCREMENT : 0u;
        op->source_count = 1;
        return i->operand_count == 1 && emu_bind_address(d, &i->operands[0], &op->sources[0])
                   ? EMU_DECODED
                   : emu_refuse_form(d, i, "takes the address of an mbarrier");
    }
    return decode_copy(d, i, op);
}
