/* special.c: what special registers hold. Source: PTX ISA "Special Registers". */
#include "emulator/state.h"

#include <string.h>

enum {
    SHARED_UNIT = 128,           /* "Special Registers: %total_smem_size" */
    SHARED_USED_BY_SYSTEM = 288, /* of what is reserved, by an H200 with driver 580 */
};

/* Of a vector: w is 0 of indices, 1 of sizes. */
static uint64_t part_of(const uint32_t vector[3], int part, uint32_t w)
{
    return part < 3 ? vector[part] : w;
}

static uint64_t thread_part(const struct emu_warp *warp, int lane, int part)
{
    const uint32_t *block = warp->cta->cluster->run->launch->block;
    uint32_t thread = (uint32_t)warp->index * EMU_LANES + (uint32_t)lane;
    const uint32_t id[3] = {thread % block[0], thread / block[0] % block[1],
                            thread / block[0] / block[1]};

    return part_of(id, part, 0);
}

static uint64_t lane_mask(int special, int lane)
{
    uint32_t equal = 1u << lane, less = equal - 1;

    switch (special) {
    case EMU_LANEMASK_EQ:
        return equal;
    case EMU_LANEMASK_LE:
        return less | equal;
    case EMU_LANEMASK_LT:
        return less;
    case EMU_LANEMASK_GE:
        return ~less;
    default:
        return ~(less | equal);
    }
}

/* Clocks count instructions of warps: those that the run knows of, and the cluster's own since;
 * where time is modelled, cycles. */
static uint64_t clock_of(const struct emu_cluster *cluster, int special)
{
    uint64_t steps =
        cluster->timed ? cluster->run->timed->now : cluster->run->steps + cluster->steps;

    switch (special) {
    case EMU_CLOCK:
    case EMU_GLOBALTIMER_LO:
        return steps & UINT32_MAX;
    case EMU_CLOCK_HI:
    case EMU_GLOBALTIMER_HI:
        return steps >> 32;
    default:
        return steps;
    }
}

static uint64_t of_cluster(const struct emu_cta *cta, int special, int part)
{
    const struct emu_run *run = cta->cluster->run;

    switch (special) {
    case EMU_CLUSTERID:
        return part_of(cta->cluster->id, part, 0);
    case EMU_NCLUSTERID:
        return part_of(run->clusters_along, part, 1);
    case EMU_CLUSTER_CTAID:
        return part_of(cta->in_cluster, part, 0);
    case EMU_CLUSTER_NCTAID:
        return part_of(run->cluster_shape, part, 1);
    case EMU_CLUSTER_CTARANK:
        return cta->rank;
    case EMU_CLUSTER_NCTARANK:
        return cta->cluster->cta_count;
    default:
        return run->launch->cluster[0] > 0;
    }
}

bool emu_special_is_clock(int special)
{
    switch (special) {
    case EMU_CLOCK:
    case EMU_CLOCK_HI:
    case EMU_CLOCK64:
    case EMU_GLOBALTIMER:
    case EMU_GLOBALTIMER_LO:
    case EMU_GLOBALTIMER_HI:
        return true;
    default:
        return false;
    }
}

uint64_t emu_special(const struct emu_warp *warp, int lane, int special, int part)
{
    const struct emu_cta *cta = warp->cta;
    const struct emu_run *run = cta->cluster->run;
    const struct emu_launch *launch = run->launch;

    if (emu_special_is_clock(special))
        return clock_of(cta->cluster, special);
    switch (special) {
    case EMU_TID:
        return thread_part(warp, lane, part);
    case EMU_NTID:
        return part_of(launch->block, part, 1);
    case EMU_CTAID:
        return part_of(cta->id, part, 0);
    case EMU_NCTAID:
        return part_of(launch->grid, part, 1);
    case EMU_LANEID:
        return (uint64_t)lane;
    case EMU_WARPID:
        return (uint64_t)warp->index;
    case EMU_NWARPID:
        return cta->warp_count;
    case EMU_NSMID:
        return (uint64_t)run->device->options.multiprocessors;
    case EMU_CLUSTERID:
    case EMU_NCLUSTERID:
    case EMU_CLUSTER_CTAID:
    case EMU_CLUSTER_NCTAID:
    case EMU_CLUSTER_CTARANK:
    case EMU_CLUSTER_NCTARANK:
    case EMU_IS_EXPLICIT_CLUSTER:
        return of_cluster(cta, special, part);
    case EMU_LANEMASK_EQ:
    case EMU_LANEMASK_LE:
    case EMU_LANEMASK_LT:
    case EMU_LANEMASK_GE:
    case EMU_LANEMASK_GT:
        return lane_mask(special, lane);
    case EMU_TOTAL_SMEM_SIZE: /* without what is reserved, in units of allocation */
        return emu_align_up(cta->shared_bytes - EMU_SHARED_RESERVED, SHARED_UNIT);
    case EMU_AGGR_SMEM_SIZE: /* bytes, as an H200 counts them */
        return cta->shared_bytes;
    case EMU_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared_bytes;
    case EMU_RESERVED_SMEM_OFFSET_END:
        return SHARED_USED_BY_SYSTEM;
    case EMU_RESERVED_SMEM_OFFSET_CAP:
        return EMU_SHARED_RESERVED;
    default: /* smid, gridid, counters ...: one multiprocessor of one grid will do */
        return 0;
    }
}
