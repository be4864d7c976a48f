/* async_issue.c: bulk copies as a thread issues them: where from and where to, and who hears of it.
 */
#include "emulator/async_work.h"
#include "emulator/reduce.h"

enum { MAP_ALIGNMENT = 64 };

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

/* The CTA whose barrier hears of the bytes in a CTA. Of a pair it is the one with the parity of the
 * CTA that the operand names: so both halves of a pair tell its leader. */
static struct emu_cta *barrier_of(const struct emu_async *work, struct emu_cta *cta)
{
    uint32_t parity = work->barrier_cta->rank & 1;

    return work->op->flags & EMU_BULK_OF_PAIR ? &cta->cluster->ctas[(cta->rank & ~1u) | parity]
                                              : cta;
}

/* The same copy for each CTA of the mask, at the same offsets in each. */
static bool add_for_ctas(struct emu_warp *warp, const struct emu_async *work, uint32_t ctas,
                         bool is_tensor)
{
    struct emu_cluster *cluster = warp->cta->cluster;

    if (ctas == 0 || ctas >> cluster->cta_count != 0)
        return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION,
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
    if (!(work->op->flags & EMU_BULK_ON_BARRIER))
        return true;
    work->barrier_cta = emu_mbarrier_place(
        warp, work->op, work->lane, value_of(warp, group, work->op, work->lane, EMU_BULK_BARRIER),
        &work->barrier);
    return work->barrier_cta != NULL;
}

/* What is no multicast tells the barrier of its target's CTA, or of a pair that of either. */
static bool check_barrier(const struct emu_async *work, struct emu_cta *target)
{
    if (!work->barrier_cta || work->op->flags & EMU_BULK_MULTICAST ||
        work->barrier_cta == barrier_of(work, target))
        return true;
    return emu_async_fault(
        work, EMU_ILLEGAL_INSTRUCTION,
        work->op->flags & EMU_BULK_OF_PAIR
            ? "the mbarrier is in a CTA of another pair than the target"
            : "the mbarrier is in another CTA than the target, and .cta_group::2 is not "
              "there");
}

/* The cluster has to be of whole pairs. */
static bool check_pair(const struct emu_async *work)
{
    return !(work->op->flags & EMU_BULK_OF_PAIR) || work->warp->cta->cluster->cta_count % 2 == 0 ||
           emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION,
                           ".cta_group::2, and the cluster has no other CTA for a pair");
}

/* ---- Plain bulk copies ---- */

static bool is_aligned(const struct emu_async *work)
{
    return (work->from | work->to | work->bytes) % EMU_BULK_ALIGNMENT == 0;
}

static bool set_ends(struct emu_warp *warp, struct emu_group *group, struct emu_async *work)
{
    const struct emu_op *op = work->op;
    uint64_t to = value_of(warp, group, op, work->lane, EMU_BULK_TO),
             from = value_of(warp, group, op, work->lane, EMU_BULK_FROM);
    uint32_t offset;

    work->to = to;
    work->from = from;
    work->bytes = (uint32_t)value_of(warp, group, op, work->lane, EMU_BULK_BYTES);
    work->announced = work->bytes;
    if (op->flags & EMU_BULK_FROM_SHARED) {
        work->cta = shared_place(warp, op, work->lane, from, &offset);
        work->from = offset;
        if (!work->cta)
            return false;
    }
    if (op->flags & EMU_BULK_ON_BARRIER) { /* all that complete on one go to shared memory */
        work->to_cta = shared_place(warp, op, work->lane, to, &offset);
        work->to = offset;
        if (!work->to_cta)
            return false;
    }
    return is_aligned(work) ||
           emu_async_fault(work, EMU_MISALIGNED_ADDRESS,
                           "a bulk copy whose addresses and size are no multiples of 16");
}

enum emu_step emu_bulk_copy(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
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
        if (op->flags & EMU_BULK_MULTICAST
                ? !add_for_ctas(warp, &work,
                                (uint32_t)value_of(warp, group, op, lane, EMU_BULK_MASK), false)
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
        return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION, "what is there is no tensor map");
    if (work->map.rank != op->vector)
        return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION, "the tensor map is of another rank");
    if (!(op->flags & EMU_BULK_FROM_SHARED) &&
        work->map.is_im2col != ((op->flags & EMU_BULK_IM2COL) != 0))
        return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION, "the tensor map is of another mode");
    if (op->flags & EMU_BULK_REDUCES) {
        work->type = work->map.type < MAP_TYPES ? map_types[work->map.type] : EMU_TYPE_NONE;
        work->flush = work->map.type == MAP_FLOAT32_FTZ;
        if (op->variant >= EMU_REDUCE_AND && op->variant <= EMU_REDUCE_XOR &&
            work->type != EMU_S64) /* of which there are none: an H200 traps */
            work->type = emu_type_bytes(work->type) == 8 ? EMU_B64 : EMU_B32;
        if (!emu_can_reduce((enum emu_reduction)op->variant, work->type))
            return emu_async_fault(work, EMU_ILLEGAL_INSTRUCTION,
                                   "there is no such reduction on the map's type");
    }
    return true;
}

static bool set_box(struct emu_warp *warp, struct emu_group *group, struct emu_async *work)
{
    const struct emu_op *op = work->op;
    uint32_t offset;

    work->is_tensor = true;
    work->copy.is_load = !(op->flags & EMU_BULK_FROM_SHARED);
    for (int i = 0; i < op->vector; i++)
        work->copy.coordinates[i] =
            (int32_t)(uint32_t)value_of(warp, group, op, work->lane, EMU_BULK_COORDINATES + i);
    for (int i = 0; (op->flags & EMU_BULK_IM2COL) && i < op->vector - 2; i++)
        work->copy.offsets[i] =
            (uint32_t)value_of(warp, group, op, work->lane, EMU_BULK_OFFSETS + i) & 0xffff;
    work->cta = shared_place(warp, op, work->lane,
                             value_of(warp, group, op, work->lane, EMU_BULK_TO), &offset);
    work->copy.shared = offset;
    work->announced = emu_tensor_copy_bytes(&work->map);
    return work->cta != NULL;
}

enum emu_step emu_bulk_tensor_copy(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes;
    const uint64_t *map = emu_read(warp, group, &op->sources[EMU_BULK_FROM], mask, lanes);
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
        if (op->flags & EMU_BULK_MULTICAST
                ? !add_for_ctas(warp, &work,
                                (uint32_t)value_of(warp, group, op, lane, EMU_BULK_MASK), true)
                : !emu_async_add(warp->cta->cluster, &work))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}

/* ---- Groups of bulk copies ---- */

enum emu_step emu_bulk_commit(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
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

enum emu_step emu_bulk_wait(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
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
