/* async.c: bulk copies: issued by a thread, done in some later turn, in any order.
 *
 * A copy from shared memory is done in two steps, reading and writing, as .read tells them apart.
 * Source: PTX ISA "cp.async.bulk", "cp.async.bulk.tensor", "cp.reduce.async.bulk", "st.async",
 * "red.async"; order, bytes and faults as measured on H200. */
#include "emulator/reduce.h"
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum { BULK_ALIGNMENT = 16, MAP_ALIGNMENT = 64 };

/* A kernel that never waits for its copies must not take all memory of the host: so many for all
 * clusters together, and so many at least for each. */
enum { COPIES_MAX = 16384, COPIES_LEAST = 64 };
enum { COPY_BYTES_MAX = 64 << 20, COPY_BYTES_LEAST = 64 << 10 };

enum {
    MULTICAST = 1,
    REDUCES = EMU_ASYNC_REDUCES,
    IM2COL = 4,
    FROM_SHARED = 8,
    ON_BARRIER = 16,
    OF_PAIR = 32 /* .cta_group::2 */
};

/* Sources of an operation, by place. */
enum {
    TO,
    FROM,
    BARRIER,
    BYTES,
    MASK,
    COORDINATES,
    OFFSETS = COORDINATES + 5,
    PLACES = OFFSETS + 3
};

/* ---- The list of what is under way ---- */

/* Where time is modelled it is known. */
static uint64_t draw_due(struct emu_cluster *cluster, const struct emu_async *work)
{
    if (cluster->timed)
        return emu_timed_copy(cluster, work);
    return emu_draw_due(cluster);
}

/* With what its warp knows now. */
static void watch(struct emu_async *work)
{
    const struct emu_mbarrier *barrier =
        work->barrier_cta ? emu_mbarrier_at(work->barrier_cta, work->barrier) : NULL;

    work->known = emu_check_issue(work->warp);
    if (!barrier)
        return;
    work->issued_in = barrier->phase;
    emu_check_mbarrier_issue(work);
}

static bool add(struct emu_cluster *cluster, const struct emu_async *work)
{
    size_t room = cluster->async_room ? 2 * cluster->async_room : 8;

    if (cluster->async_count == cluster->async_room) {
        struct emu_async *grown = realloc(cluster->async, room * sizeof *grown);

        if (!grown)
            return false;
        cluster->async = grown;
        cluster->async_room = room;
    }
    cluster->async[cluster->async_count] = *work;
    cluster->async[cluster->async_count].due = draw_due(cluster, work);
    if (work->warp->check)
        watch(&cluster->async[cluster->async_count]);
    cluster->async_count++;
    return true;
}

static bool bytes_are_full(const struct emu_cluster *cluster)
{
    return cluster->async_bytes >= emu_share(cluster->run, COPY_BYTES_MAX, COPY_BYTES_LEAST);
}

bool emu_async_is_full(const struct emu_cluster *cluster)
{
    return cluster->async_count >= emu_share(cluster->run, COPIES_MAX, COPIES_LEAST) ||
           bytes_are_full(cluster);
}

bool emu_async_is_idle(const struct emu_cluster *cluster)
{
    return cluster->async_count == 0;
}

uint64_t emu_async_next(const struct emu_cluster *cluster)
{
    uint64_t next = EMU_NEVER;

    for (size_t i = 0; i < cluster->async_count; i++)
        if (cluster->async[i].due < next)
            next = cluster->async[i].due;
    return next;
}

static void free_work(struct emu_async *work)
{
    free(work->data);
    emu_check_drop(work->known);
}

void emu_async_drop(struct emu_cluster *cluster)
{
    for (size_t i = 0; i < cluster->async_count; i++)
        free_work(&cluster->async[i]);
    free(cluster->async);
}

/* ---- Doing it ---- */

static bool fault(const struct emu_async *work, enum emu_outcome outcome, const char *why)
{
    emu_fault(work->warp, work->op, work->lane, outcome, "%s", why);
    return false;
}

static unsigned char *shared_bytes(const struct emu_async *work, const struct emu_cta *cta,
                                   uint64_t offset, uint64_t bytes)
{
    if (offset <= cta->shared_bytes && bytes <= cta->shared_bytes - offset)
        return cta->shared + offset;
    if (work->warp->check)
        emu_check_fault_place(work->warp, work->to_cta ? work->to_cta : work->cta, offset);
    emu_fault(work->warp, work->op, work->lane, EMU_ILLEGAL_ADDRESS,
              "a copy of %llu bytes at shared address 0x%llx", (unsigned long long)bytes,
              (unsigned long long)offset);
    return NULL;
}

static unsigned char *global_bytes(const struct emu_async *work, uint64_t address, uint64_t bytes)
{
    unsigned char *at = emu_bytes(work->warp->cta->cluster->run->device, address, bytes);

    if (!at && work->warp->check)
        emu_check_fault_place(work->warp, NULL, address);
    if (!at)
        emu_fault(work->warp, work->op, work->lane, EMU_ILLEGAL_ADDRESS,
                  "a copy of %llu bytes at global address 0x%llx", (unsigned long long)bytes,
                  (unsigned long long)address);
    return at;
}

static void check(const struct emu_async *work, struct emu_cta *cta, uint64_t address,
                  uint32_t bytes, uint32_t kind)
{
    if (work->known)
        emu_check_copy(work, cta, address, bytes, kind);
}

static struct emu_change change_of(const struct emu_async *work)
{
    return (struct emu_change){
        .how = work->op->flags & REDUCES ? (enum emu_reduction)work->op->variant : EMU_REDUCE_NONE,
        .type = work->type,
        .flush = work->flush,
    };
}

static void put(const struct emu_async *work, unsigned char *to, const unsigned char *from,
                uint64_t bytes)
{
    const struct emu_change change = change_of(work);

    if (change.how != EMU_REDUCE_NONE)
        emu_change_bytes(&change, to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* Reductions are atomic in each element. */
static uint32_t kind_of(const struct emu_async *work)
{
    return work->op->flags & REDUCES ? EMU_READS | EMU_WRITES | EMU_STRONG : EMU_WRITES;
}

/* The same in global memory: now, or in the log. */
static bool put_global(const struct emu_async *work, uint64_t address, const unsigned char *from,
                       uint32_t bytes)
{
    struct emu_cluster *cluster = work->warp->cta->cluster;
    const struct emu_change change = change_of(work);
    unsigned char *to = global_bytes(work, address, bytes);

    if (!to)
        return false;
    check(work, NULL, address, bytes, kind_of(work));
    if (!cluster->apart) {
        put(work, to, from, bytes);
        return true;
    }
    to = emu_log_add(&cluster->log, address, to, bytes, &change);
    if (!to)
        return fault(work, EMU_NO_RESOURCES, "no memory for a store");
    memcpy(to, from, bytes);
    return true;
}

/* A piece of a tensor's load. */
static bool load_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes, bool inside,
                       const unsigned char *fill)
{
    struct emu_async *work = user;
    unsigned char *to = shared_bytes(work, work->cta, shared, bytes);
    const unsigned char *from = inside && to ? global_bytes(work, global, bytes) : fill;

    if (!to || !from)
        return false;
    if (inside)
        check(work, NULL, global, bytes, EMU_READS);
    check(work, work->cta, shared, bytes, EMU_WRITES);
    memcpy(to, from, bytes);
    if (inside)
        emu_tensor_convert(&work->map, to, bytes);
    return true;
}

/* Pieces of a tensor's store, read one after the other into `data` ... */
static bool read_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes, bool inside,
                       const unsigned char *fill)
{
    struct emu_async *work = user;
    const unsigned char *from = shared_bytes(work, work->cta, shared, bytes);

    (void)global, (void)inside, (void)fill;
    if (!from || work->bytes + bytes > work->room)
        return false;
    check(work, work->cta, shared, bytes, EMU_READS);
    memcpy(work->data + work->bytes, from, bytes);
    work->bytes += bytes;
    return true;
}

/* The last unit of a row may reach behind the allocation, where a GPU has memory of nobody's. */
static uint32_t within_allocation(const struct emu_async *work, uint64_t global, uint32_t bytes)
{
    struct emu_device *device = work->warp->cta->cluster->run->device;
    uint64_t base, size;

    if (!emu_range(device, global, &base, &size) || global - base + bytes <= size)
        return bytes;
    return global - base + bytes - size < BULK_ALIGNMENT ? (uint32_t)(base + size - global) : bytes;
}

/* ... and written from there. */
static bool write_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes, bool inside,
                        const unsigned char *fill)
{
    struct emu_async *work = user;
    uint32_t there = within_allocation(work, global, bytes);

    (void)shared, (void)inside, (void)fill;
    if (!put_global(work, global, work->data + work->bytes, there))
        return false;
    work->bytes += bytes;
    return true;
}

static bool walk(struct emu_async *work, emu_tensor_piece piece)
{
    const char *why = "a tensor copy that is not legal";

    work->copy.map = &work->map; /* the list may have moved */
    switch (emu_tensor_copy(&work->copy, piece, work, &why)) {
    case EMU_COPIED:
        return true;
    case EMU_COPY_MISALIGNED:
        return fault(work, EMU_MISALIGNED_ADDRESS, why);
    case EMU_COPY_ILLEGAL:
        return fault(work, EMU_ILLEGAL_INSTRUCTION, why);
    case EMU_COPY_STOPPED:
        break;
    }
    return false;
}

static bool make_data(struct emu_async *work, uint32_t bytes)
{
    work->data = malloc(bytes ? bytes : 1);
    work->is_read = true;
    if (work->data) {
        work->room = bytes;
        work->warp->cta->cluster->async_bytes += bytes;
    }
    return work->data || fault(work, EMU_NO_RESOURCES, "no memory for a copy");
}

/* The bytes are asked for when it is known that there is such a copy: a map that a kernel wrote may
 * tell of a box of gigabytes, and so may a register. */
static bool read_source(struct emu_async *work)
{
    const unsigned char *from;

    if (work->is_tensor) {
        uint32_t bytes = emu_tensor_copy_bytes(&work->map);

        if (bytes > EMU_SHARED_BYTES_MAX)
            return fault(work, EMU_ILLEGAL_INSTRUCTION, "the box is larger than shared memory");
        work->bytes = 0;
        return make_data(work, bytes) && walk(work, read_piece);
    }
    from = work->op->flags & FROM_SHARED ? shared_bytes(work, work->cta, work->from, work->bytes)
                                         : global_bytes(work, work->from, work->bytes);
    if (!from || !make_data(work, work->bytes))
        return false;
    check(work, work->op->flags & FROM_SHARED ? work->cta : NULL, work->from, work->bytes,
          EMU_READS);
    memcpy(work->data, from, work->bytes);
    return true;
}

static bool write_target(struct emu_async *work)
{
    unsigned char *to;

    if (work->is_tensor) {
        work->bytes = 0;
        return walk(work, write_piece);
    }
    if (!work->to_cta)
        return put_global(work, work->to, work->data, work->bytes);
    to = shared_bytes(work, work->to_cta, work->to, work->bytes);
    if (!to)
        return false;
    check(work, work->to_cta, work->to, work->bytes, kind_of(work));
    put(work, to, work->data, work->bytes);
    return true;
}

/* What it writes next in global memory has to wait for the end of the round. What it reads has not:
 * the log was empty when the turn began, and holds only what other copies under way have written
 * since, in whatever order. */
static bool is_held(const struct emu_async *work)
{
    const struct emu_cluster *cluster = work->warp->cta->cluster;

    return cluster->apart && work->is_read && !work->to_cta && emu_log_is_full(cluster);
}

/* One step of the work; *is_done where it was the last. */
static bool advance(struct emu_cluster *cluster, struct emu_async *work, bool *is_done)
{
    bool is_load = work->is_tensor && !(work->op->flags & FROM_SHARED);

    if (is_held(work)) {
        work->due = cluster->turn + 1;
        return true;
    }
    cluster->progress++;
    emu_charge(cluster, work->announced);
    *is_done = is_load || work->is_read;
    if (!*is_done && bytes_are_full(cluster)) { /* what has been read is written first */
        work->due = cluster->turn + 1;
        return true;
    }
    if (is_load) {
        if (!walk(work, load_piece))
            return false;
    } else if (!(work->is_read ? write_target(work) : read_source(work))) {
        return false;
    }
    if (!*is_done) {
        work->due = draw_due(cluster, work);
        return true;
    }
    if (work->barrier_cta && work->known)
        emu_check_mbarrier_bytes(work);
    return !work->barrier_cta || emu_mbarrier_complete(work->warp, work->op, work->barrier_cta,
                                                       work->barrier, work->announced);
}

bool emu_async_turn(struct emu_cluster *cluster)
{
    size_t i = 0;

    while (i < cluster->async_count) {
        struct emu_async *work = &cluster->async[i];
        bool is_done = false;

        if (work->due > cluster->turn) {
            i++;
            continue;
        }
        if (!advance(cluster, work, &is_done))
            return false;
        if (is_done) {
            free_work(work);
            cluster->async_bytes -= work->room;
            *work = cluster->async[--cluster->async_count];
        } else {
            i++;
        }
    }
    return true;
}

/* ---- Issuing: one thread ---- */

static uint64_t value_of(struct emu_warp *warp, const struct emu_group *group,
                         const struct emu_op *op, int lane, int place)
{
    emu_lanes lanes;

    return emu_read(warp, group, &op->sources[place], 1u << lane, lanes)[lane];
}

static struct emu_cta *shared_place(struct emu_warp *warp, const struct emu_op *op, int lane,
                                    uint64_t address, uint32_t *offset)
{
    struct emu_cta *cta = emu_cta_of_address(warp->cta, address, offset);

    if (!cta)
        emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS, "a copy to or from shared address 0x%llx",
                  (unsigned long long)address);
    return cta;
}

bool emu_async_add(struct emu_cluster *cluster, const struct emu_async *work)
{
    if (add(cluster, work))
        return true;
    free(work->data);
    return fault(work, EMU_NO_RESOURCES, "no memory for a copy");
}

/* The CTA whose barrier hears of the bytes in a CTA. Of a pair it is the one with the parity of the
 * CTA that the operand names: so both halves of a pair tell its leader. */
static struct emu_cta *barrier_of(const struct emu_async *work, struct emu_cta *cta)
{
    uint32_t parity = work->barrier_cta->rank & 1;

    return work->op->flags & OF_PAIR ? &cta->cluster->ctas[(cta->rank & ~1u) | parity] : cta;
}

/* The same copy for each CTA of the mask, at the same offsets in each. */
static bool add_for_ctas(struct emu_warp *warp, const struct emu_async *work, uint32_t ctas,
                         bool is_tensor)
{
    struct emu_cluster *cluster = warp->cta->cluster;

    if (ctas == 0 || ctas >> cluster->cta_count != 0)
        return fault(work, EMU_ILLEGAL_INSTRUCTION,
                     "a multicast to CTAs that the cluster does not have");
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        struct emu_async one = *work;

        if (!(ctas >> rank & 1))
            continue;
        if (is_tensor)
            one.cta = &cluster->ctas[rank];
        else
            one.to_cta = &cluster->ctas[rank];
        one.barrier_cta = barrier_of(work, &cluster->ctas[rank]);
        if (!emu_async_add(cluster, &one))
            return false;
    }
    return true;
}

static bool set_barrier(struct emu_warp *warp, struct emu_group *group, struct emu_async *work)
{
    if (!(work->op->flags & ON_BARRIER))
        return true;
    work->barrier_cta =
        emu_mbarrier_place(warp, work->op, work->lane,
                           value_of(warp, group, work->op, work->lane, BARRIER), &work->barrier);
    return work->barrier_cta != NULL;
}

/* What is no multicast tells the barrier of its target's CTA, or of a pair that of either. */
static bool check_barrier(const struct emu_async *work, struct emu_cta *target)
{
    if (!work->barrier_cta || work->op->flags & MULTICAST ||
        work->barrier_cta == barrier_of(work, target))
        return true;
    return fault(work, EMU_ILLEGAL_INSTRUCTION,
                 work->op->flags & OF_PAIR
                     ? "the mbarrier is in a CTA of another pair than the target"
                     : "the mbarrier is in another CTA than the target, and .cta_group::2 is not "
                       "there");
}

/* The cluster has to be of whole pairs. */
static bool check_pair(const struct emu_async *work)
{
    return !(work->op->flags & OF_PAIR) || work->warp->cta->cluster->cta_count % 2 == 0 ||
           fault(work, EMU_ILLEGAL_INSTRUCTION,
                 ".cta_group::2, and the cluster has no other CTA for a pair");
}

/* ---- Plain bulk copies ---- */

static bool is_aligned(const struct emu_async *work)
{
    return (work->from | work->to | work->bytes) % BULK_ALIGNMENT == 0;
}

static bool set_ends(struct emu_warp *warp, struct emu_group *group, struct emu_async *work)
{
    const struct emu_op *op = work->op;
    uint64_t to = value_of(warp, group, op, work->lane, TO),
             from = value_of(warp, group, op, work->lane, FROM);
    uint32_t offset;

    work->to = to;
    work->from = from;
    work->bytes = (uint32_t)value_of(warp, group, op, work->lane, BYTES);
    work->announced = work->bytes;
    if (op->flags & FROM_SHARED) {
        work->cta = shared_place(warp, op, work->lane, from, &offset);
        work->from = offset;
        if (!work->cta)
            return false;
    }
    if (op->flags & ON_BARRIER) { /* all that complete on one go to shared memory */
        work->to_cta = shared_place(warp, op, work->lane, to, &offset);
        work->to = offset;
        if (!work->to_cta)
            return false;
    }
    return is_aligned(work) || fault(work, EMU_MISALIGNED_ADDRESS,
                                     "a bulk copy whose addresses and size are no multiples of 16");
}

static enum emu_step bulk_copy(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask)
{
    if (emu_async_is_full(warp->cta->cluster))
        return EMU_STEP_BLOCKED;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        struct emu_async work = {.warp = warp,
                                 .op = op,
                                 .lane = lane,
                                 .type = op->type,
                                 .group = warp->bulk_group[lane]};

        if (!(mask >> lane & 1))
            continue;
        if (!set_ends(warp, group, &work) || !set_barrier(warp, group, &work) ||
            !check_barrier(&work, work.to_cta))
            return EMU_STEP_FAULT;
        if (op->flags & MULTICAST
                ? !add_for_ctas(warp, &work, (uint32_t)value_of(warp, group, op, lane, MASK), false)
                : !emu_async_add(warp->cta->cluster, &work))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}

/* ---- Tensors ---- */

static const enum emu_type map_types[] = {EMU_U8,  EMU_U16, EMU_U32, EMU_S32, EMU_U64,
                                          EMU_S64, EMU_F16, EMU_F32, EMU_F64, EMU_BF16,
                                          EMU_F32, EMU_F32, EMU_F32};
enum { MAP_TYPES = sizeof map_types / sizeof map_types[0], MAP_FLOAT32_FTZ = 10 };

static bool set_map(struct emu_async *work, const unsigned char *bytes)
{
    const struct emu_op *op = work->op;

    if (!emu_tensor_map_decode(&work->map, bytes))
        return fault(work, EMU_ILLEGAL_INSTRUCTION, "what is there is no tensor map");
    if (work->map.rank != op->vector)
        return fault(work, EMU_ILLEGAL_INSTRUCTION, "the tensor map is of another rank");
    if (!(op->flags & FROM_SHARED) && work->map.is_im2col != ((op->flags & IM2COL) != 0))
        return fault(work, EMU_ILLEGAL_INSTRUCTION, "the tensor map is of another mode");
    if (op->flags & REDUCES) {
        work->type = work->map.type < MAP_TYPES ? map_types[work->map.type] : EMU_TYPE_NONE;
        work->flush = work->map.type == MAP_FLOAT32_FTZ;
        if (op->variant >= EMU_REDUCE_AND && op->variant <= EMU_REDUCE_XOR &&
            work->type != EMU_S64) /* of which there are none: an H200 traps */
            work->type = emu_type_bytes(work->type) == 8 ? EMU_B64 : EMU_B32;
        if (!emu_can_reduce((enum emu_reduction)op->variant, work->type))
            return fault(work, EMU_ILLEGAL_INSTRUCTION,
                         "there is no such reduction on the map's type");
    }
    return true;
}

static bool set_box(struct emu_warp *warp, struct emu_group *group, struct emu_async *work)
{
    const struct emu_op *op = work->op;
    uint32_t offset;

    work->is_tensor = true;
    work->copy.is_load = !(op->flags & FROM_SHARED);
    for (int i = 0; i < op->vector; i++)
        work->copy.coordinates[i] =
            (int32_t)(uint32_t)value_of(warp, group, op, work->lane, COORDINATES + i);
    for (int i = 0; (op->flags & IM2COL) && i < op->vector - 2; i++)
        work->copy.offsets[i] =
            (uint32_t)value_of(warp, group, op, work->lane, OFFSETS + i) & 0xffff;
    work->cta =
        shared_place(warp, op, work->lane, value_of(warp, group, op, work->lane, TO), &offset);
    work->copy.shared = offset;
    work->announced = emu_tensor_copy_bytes(&work->map);
    return work->cta != NULL;
}

static enum emu_step tensor_copy(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *map = emu_read(warp, group, &op->sources[FROM], mask, lanes);
    struct emu_places maps;
    enum emu_step step;

    if (emu_async_is_full(warp->cta->cluster))
        return EMU_STEP_BLOCKED;
    step = emu_find_places(warp, group, op, mask, EMU_SPACE_NONE, map, EMU_TENSOR_MAP_BYTES,
                           MAP_ALIGNMENT, EMU_LOADS, &maps);
    if (step != EMU_STEP_NEXT)
        return step;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        struct emu_async work = {
            .warp = warp, .op = op, .lane = lane, .group = warp->bulk_group[lane]};

        if (!(mask >> lane & 1))
            continue;
        if (warp->check && map[lane] >= EMU_GLOBAL_BASE)
            emu_check_map_use(warp, op, lane, map[lane]);
        if (!set_map(&work, maps.at[lane]) || !set_box(warp, group, &work) ||
            !set_barrier(warp, group, &work) || !check_pair(&work) ||
            !check_barrier(&work, work.cta))
            return EMU_STEP_FAULT;
        if (op->flags & MULTICAST
                ? !add_for_ctas(warp, &work, (uint32_t)value_of(warp, group, op, lane, MASK), true)
                : !emu_async_add(warp->cta->cluster, &work))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}

/* ---- Groups of bulk copies ---- */

static enum emu_step commit(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
{
    (void)group, (void)op;
    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            warp->bulk_group[lane]++;
    return EMU_STEP_NEXT;
}

/* `variant`: that sources have been read is enough. */
static bool is_waited_for(const struct emu_async *work, const struct emu_warp *warp, uint32_t mask,
                          const struct emu_op *op, uint64_t allowed)
{
    if (work->warp != warp || !(mask >> work->lane & 1) || work->barrier_cta)
        return false;
    if (op->variant && work->is_read)
        return false;
    return (uint64_t)work->group + allowed < warp->bulk_group[work->lane];
}

static enum emu_step wait_groups(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask)
{
    const struct emu_cluster *cluster = warp->cta->cluster;
    uint64_t allowed = value_of(warp, group, op, __builtin_ctz(mask), 0);

    for (size_t i = 0; i < cluster->async_count; i++)
        if (is_waited_for(&cluster->async[i], warp, mask, op, allowed))
            return EMU_STEP_BLOCKED;
    if (warp->check && warp->bulk_group[__builtin_ctz(mask)] > allowed)
        emu_check_bulk_wait(warp, op, warp->bulk_group[__builtin_ctz(mask)] - (uint32_t)allowed);
    return EMU_STEP_NEXT;
}

/* ---- Decoding ---- */

/* A source into its place. */
static bool bind(struct emu_decoder *d, struct emu_op *op, int place,
                 const struct emu_operand *operand)
{
    return operand->kind == EMU_OPERAND_ADDRESS
               ? emu_bind_address(d, operand, &op->sources[place])
               : emu_bind_source(d, operand, EMU_U64, &op->sources[place]);
}

static bool bind_list(struct emu_decoder *d, struct emu_op *op, int place,
                      const struct emu_operand *list, int count)
{
    if (list->kind != EMU_OPERAND_LIST || list->item_count != count)
        return emu_fail(d->error, 0, "%s: %d values are wanted here",
                        list->name ? list->name : "a list", count);
    for (int i = 0; i < count; i++)
        if (!emu_bind_source(d, &list->items[i], EMU_U32, &op->sources[place + i]))
            return false;
    return true;
}

/* The order of spaces in the words is target, source. */
static uint32_t flags_of(const struct emu_instruction *i)
{
    uint32_t flags = 0;
    bool shared_seen = false, global_seen = false;

    for (int k = 1; k < i->word_count; k++) {
        const char *word = i->words[k];

        if (strncmp(word, "shared", 6) == 0) {
            if (global_seen || shared_seen)
                flags |= FROM_SHARED;
            shared_seen = true;
        } else if (strcmp(word, "global") == 0) {
            global_seen = true;
        } else if (strncmp(word, "mbarrier::complete_tx", 21) == 0) {
            flags |= ON_BARRIER;
        } else if (strcmp(word, "multicast::cluster") == 0) {
            flags |= MULTICAST;
        } else if (strncmp(word, "im2col", 6) == 0) {
            flags |= IM2COL;
        } else if (strcmp(word, "cta_group::2") == 0) {
            flags |= OF_PAIR;
        }
    }
    if (strcmp(i->words[1], "reduce") == 0)
        flags |= REDUCES;
    return flags;
}

/* Of Blackwell's targets with an a or an f, and of loads. */
static bool has_groups(const struct emu_decoder *d, const struct emu_op *op)
{
    struct emu_target target = emu_target_of(d->target, d->program->module->target);

    return (target.number / 10 == 10 || target.number / 10 == 11) && op->flags & ON_BARRIER;
}

static int rank_of(const struct emu_instruction *i)
{
    for (int k = 1; k < i->word_count; k++) {
        const char *word = i->words[k];

        if (word[0] >= '1' && word[0] <= '5' && word[1] == 'd' && word[2] == '\0')
            return word[0] - '0';
    }
    return 0;
}

/* {[to],} [map, {c}] {, [from]} {, [barrier]} {, {offsets}} {, mask} {, policy} */
static enum emu_decoded decode_tensor(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    bool from_shared = op->flags & FROM_SHARED;
    const struct emu_operand *map, *shared;
    int at = 2;

    op->execute = tensor_copy;
    op->vector = rank_of(i);
    if (op->vector == 0 || i->operand_count < 2 + ((op->flags & ON_BARRIER) != 0))
        return emu_refuse_form(d, i, "takes a tensor map with coordinates, and shared memory");
    if (emu_has_word(i, "tile::gather4") || emu_has_word(i, "tile::scatter4") ||
        emu_has_word(i, "im2col::w") || emu_has_word(i, "im2col::w::128"))
        return emu_refuse_form(d, i, "this mode is not supported");
    if ((emu_has_word(i, "cta_group::1") || emu_has_word(i, "cta_group::2")) && !has_groups(d, op))
        return emu_refuse_form(d, i,
                               "loads of sm_100a, sm_103a and their families alone are of a "
                               "group of CTAs");
    map = &i->operands[from_shared ? 0 : 1];
    shared = &i->operands[from_shared ? 1 : 0];
    if (map->kind != EMU_OPERAND_ADDRESS || map->item_count != 2)
        return emu_refuse_form(d, i, "takes [map, {coordinates}]");
    if (!bind(d, op, FROM, map) || !bind_list(d, op, COORDINATES, &map->items[1], op->vector) ||
        !bind(d, op, TO, shared))
        return EMU_REFUSED;
    if ((op->flags & ON_BARRIER) && !bind(d, op, BARRIER, &i->operands[at++]))
        return EMU_REFUSED;
    if (op->flags & IM2COL && !from_shared) {
        if (at >= i->operand_count || op->vector < 3 ||
            !bind_list(d, op, OFFSETS, &i->operands[at++], op->vector - 2))
            return emu_refuse_form(d, i, "takes an offset for each dimension of space");
    }
    if (op->flags & MULTICAST && (at >= i->operand_count || !bind(d, op, MASK, &i->operands[at])))
        return emu_refuse_form(d, i, "takes a mask of CTAs");
    return EMU_DECODED;
}

/* [to], [from], size {, [barrier]} {, mask} {, policy} */
static enum emu_decoded decode_bulk(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    int at = 3;

    op->execute = bulk_copy;
    if (i->operand_count < 3 + ((op->flags & ON_BARRIER) != 0))
        return emu_refuse_form(d, i, "takes two addresses and a size");
    if (emu_has_word(i, "cp_mask"))
        return emu_refuse_form(d, i, "a mask of bytes is not supported");
    if (!bind(d, op, TO, &i->operands[0]) || !bind(d, op, FROM, &i->operands[1]) ||
        !bind(d, op, BYTES, &i->operands[2]))
        return EMU_REFUSED;
    if ((op->flags & ON_BARRIER) && !bind(d, op, BARRIER, &i->operands[at++]))
        return EMU_REFUSED;
    if (op->flags & MULTICAST && (at >= i->operand_count || !bind(d, op, MASK, &i->operands[at])))
        return emu_refuse_form(d, i, "takes a mask of CTAs");
    if (op->flags & REDUCES && !emu_can_reduce((enum emu_reduction)op->variant, op->type))
        return emu_refuse_form(d, i, "no such reduction on this type");
    return EMU_DECODED;
}

static enum emu_step prefetch(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
{
    (void)warp, (void)group, (void)op, (void)mask;
    return EMU_STEP_NEXT;
}

static enum emu_decoded decode_groups(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    if (emu_has_word(i, "commit_group")) {
        op->execute = commit;
        return EMU_DECODED;
    }
    op->execute = wait_groups;
    op->variant = emu_has_word(i, "read");
    return i->operand_count == 1 && emu_add_sources(d, op, &i->operands[0], EMU_U32)
               ? EMU_DECODED
               : emu_refuse_form(d, i, "takes a number of groups");
}

enum emu_decoded emu_decode_async(struct emu_decoder *d, const struct emu_instruction *i,
                                  struct emu_op *op)
{
    if (strcmp(i->words[0], "cp") != 0 || !emu_has_word(i, "bulk"))
        return EMU_NOT_MINE;
    if (emu_has_word(i, "commit_group") || emu_has_word(i, "wait_group"))
        return decode_groups(d, i, op);
    if (emu_has_word(i, "prefetch")) {
        op->execute = prefetch;
        return EMU_DECODED;
    }
    op->flags = flags_of(i);
    op->variant = (int)emu_reduction_of(i);
    op->source_count = PLACES;
    return emu_has_word(i, "tensor") ? decode_tensor(d, i, op) : decode_bulk(d, i, op);
}
