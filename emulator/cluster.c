/* cluster.c: clusters: made with all that their CTAs hold, and freed. */
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
}

void emu_cluster_free(struct emu_cluster *cluster)
{
    if (!cluster)
        return;
    emu_check_end_cluster(cluster);
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++) {
        struct emu_cta *cta = &cluster->ctas[i];

        for (uint32_t w = 0; cta->warps && w < cta->warp_count; w++)
            free_warp(cluster, &cta->warps[w]);
        free(cta->warps);
        free(cta->shared);
        for (int g = 0; g < EMU_WARPGROUPS_MAX; g++)
            emu_warpgroup_free(cta->warpgroups[g]);
        free(cta->mbarriers);
    }
    emu_async_drop(cluster);
    free(cluster->ctas);
    free(cluster->order);
    free(cluster->held);
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
    cta->warp_count = (cta->thread_count + EMU_LANES - 1) / EMU_LANES;
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

static bool fill(struct emu_run *run, struct emu_cluster *cluster)
{
    size_t warps = 0;

    cluster->ctas = calloc(cluster->cta_count, sizeof *cluster->ctas);
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++) {
        if (!make_cta(run, cluster, i))
            return false;
        warps += cluster->ctas[i].warp_count;
    }
    cluster->order = calloc(warps, sizeof(struct emu_warp *));
    cluster->held = calloc(warps, sizeof(struct emu_warp *));
    return cluster->ctas && cluster->order && cluster->held &&
           (!run->device->check || emu_check_begin_cluster(cluster));
}

struct emu_cluster *emu_cluster_make(struct emu_run *run, uint64_t index)
{
    struct emu_cluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster)
        return NULL;
    cluster->run = run;
    cluster->index = index;
    cluster->cta_count = run->cluster_ctas;
    cluster->random = stream_of(run, index);
    split_index(index, run->clusters_along, cluster->id);
    if (fill(run, cluster))
        return cluster;
    emu_cluster_free(cluster);
    return NULL;
}

bool emu_cluster_is_over(const struct emu_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (cluster->ctas[i].exited_threads < cluster->ctas[i].thread_count)
            return false;
    return emu_async_is_idle(cluster);
}
