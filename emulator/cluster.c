/* cluster.c: clusters: made, filled with all that their CTAs hold, and freed. */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum { FRESH_BYTE = 0xcd };

static void free_warp(struct emu_cluster *cluster, struct emu_warp *warp)
{
    for (int i = 0; i < warp->group_count; i++)
        if (warp->groups[i].lanes)
            emu_leave(&warp->groups[i], warp->groups[i].lanes);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        free(warp->local[lane]);
        emu_let_go(cluster, warp->local_bytes[lane]);
    }
    emu_copy_queue_drop(warp);
    emu_moves_drop(warp);
}

/* What was reserved is there for the frames. */
static void use_reserve(struct emu_cluster *cluster)
{
    emu_let_go(cluster, cluster->memory_reserved);
    cluster->memory_reserved = 0;
}

void emu_cluster_free(struct emu_cluster *cluster)
{
    if (!cluster)
        return;
    emu_check_end_cluster(cluster);
    use_reserve(cluster);
    emu_timed_end_cluster(cluster);
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++) {
        struct emu_cta *cta = &cluster->ctas[i];

        for (uint32_t w = 0; cta->warps && w < cta->warp_count; w++)
            free_warp(cluster, &cta->warps[w]);
        free(cta->warps);
        free(cta->shared);
        emu_tensor_drop(cta);
        emu_tmem_drop(cta);
        free(cta->mbarriers);
    }
    emu_async_drop(cluster);
    emu_pipe_drop(cluster);
    free(cluster->ctas);
    free(cluster->order);
    free(cluster->held);
    free(cluster->later);
    free(cluster->log.bytes);
    free(cluster);
}

static void split_index(uint64_t index, const uint32_t along[3], uint32_t id[3])
{
    id[0] = (uint32_t)(index % along[0]);
    id[1] = (uint32_t)(index / along[0] % along[1]);
    id[2] = (uint32_t)(index / along[0] / along[1]);
}

static bool make_warps(struct emu_run *run, struct emu_cta *cta)
{
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        struct emu_warp *warp = &cta->warps[w];
        uint32_t threads = cta->thread_count - w * EMU_LANES;

        warp->cta = cta;
        warp->index = (int)w;
        warp->held = -1;
        warp->live = threads >= EMU_LANES ? UINT32_MAX : (1u << threads) - 1;
        warp->groups[0].frame = emu_frame_make(cta->cluster, run->code, NULL, warp->live);
        if (!warp->groups[0].frame)
            return false;
        warp->groups[0].lanes = warp->live;
        warp->group_count = 1;
        warp->registers = emu_first_registers(run->code->function, cta->thread_count);
    }
    return true;
}

static bool make_cta(struct emu_run *run, struct emu_cluster *cluster, uint32_t rank)
{
    struct emu_cta *cta = &cluster->ctas[rank];
    const uint32_t *block = run->launch->block;

    cta->cluster = cluster;
    cta->rank = rank;
    split_index(rank, run->cluster_shape, cta->in_cluster);
    for (int i = 0; i < 3; i++)
        cta->id[i] = cluster->id[i] * run->cluster_shape[i] + cta->in_cluster[i];
    cta->thread_count = block[0] * block[1] * block[2];
    cta->warp_count = run->cta_warps;
    cta->shared_bytes = run->shared_bytes;
    cta->shared = malloc(cta->shared_bytes);
    cta->warps = calloc(cta->warp_count, sizeof *cta->warps);
    if (!cta->shared || !cta->warps)
        return false;
    memset(cta->shared, FRESH_BYTE, cta->shared_bytes);
    return make_warps(run, cta);
}

/* Streams of clusters have nothing to do with each other: no one is a later part of another. */
static uint64_t stream_of(const struct emu_run *run, uint64_t index)
{
    uint64_t mixed = run->device->options.seed + index * 0xd1342543de82ef95u;

    return emu_draw(&mixed);
}

struct emu_cluster *emu_cluster_make(struct emu_run *run, uint64_t index)
{
    struct emu_cluster *cluster = calloc(1, sizeof *cluster);
    uint64_t bytes = emu_frame_bytes(run->code) * run->cta_warps * run->cluster_ctas;

    if (!cluster)
        return NULL;
    cluster->run = run;
    cluster->index = index;
    cluster->cta_count = run->cluster_ctas;
    cluster->random = stream_of(run, index);
    split_index(index, run->clusters_along, cluster->id);
    if (emu_hold(cluster, bytes)) {
        cluster->memory_reserved = bytes;
        return cluster;
    }
    free(cluster);
    return NULL;
}

static bool fill(struct emu_cluster *cluster)
{
    struct emu_run *run = cluster->run;
    size_t warps = (size_t)run->cta_warps * cluster->cta_count;

    use_reserve(cluster);
    cluster->order = calloc(warps, sizeof(struct emu_warp *));
    cluster->held = calloc(warps, sizeof(struct emu_warp *));
    cluster->later = calloc(warps, sizeof(struct emu_warp *));
    cluster->ctas = calloc(cluster->cta_count, sizeof *cluster->ctas);
    if (!cluster->order || !cluster->held || !cluster->later || !cluster->ctas)
        return false;
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (!make_cta(run, cluster, i))
            return false;
    return (!run->device->check || emu_check_begin_cluster(cluster)) &&
           (!run->timed || emu_timed_begin_cluster(cluster));
}

bool emu_cluster_fill(struct emu_cluster *cluster)
{
    if (cluster->ctas || fill(cluster))
        return true;
    cluster->outcome = EMU_NO_RESOURCES;
    return emu_fail(&cluster->error, 0, "%s: no memory for its CTAs",
                    cluster->run->code->function->name);
}

bool emu_cluster_is_over(const struct emu_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (cluster->ctas[i].exited_threads < cluster->ctas[i].thread_count)
            return false;
    return emu_async_is_idle(cluster) && emu_pipe_is_idle(cluster);
}
