/* run.c: a launch: clusters become resident, their warps take turns, until all have exited. */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 1024,
    THREADS_RESIDENT = 2048, /* of a multiprocessor */
    CTAS_RESIDENT = 32,
    FRESH_BYTE = 0xcd,
    /* Turns in which all only wait, and nothing changes, before that is called a deadlock: more
     * than the longest that a copy is on its way. */
    QUIET_TURNS = 2000,
    QUANTA = 9 /* of 1, 2, 4 ... 256 instructions */
};
#define USUAL_STEPS ((uint64_t)1 << 36)

/* ---- Clusters ---- */

static void free_warp(struct emu_device *device, struct emu_warp *warp)
{
    for (int i = 0; i < warp->group_count; i++)
        if (warp->groups[i].lanes)
            emu_leave(&warp->groups[i], warp->groups[i].lanes);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        free(warp->local[lane]);
        emu_let_go(device, warp->local_bytes[lane]);
    }
    emu_copy_queue_drop(warp);
}

static void free_cluster(struct emu_cluster *cluster)
{
    if (!cluster)
        return;
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++) {
        struct emu_cta *cta = &cluster->ctas[i];

        for (uint32_t w = 0; cta->warps && w < cta->warp_count; w++)
            free_warp(cluster->run->device, &cta->warps[w]);
        free(cta->warps);
        free(cta->shared);
        for (int g = 0; g < EMU_WARPGROUPS_MAX; g++)
            free(cta->warpgroups[g]);
        free(cta->mbarriers);
    }
    free(cluster->ctas);
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
        warp->groups[0].frame = emu_frame_make(run->device, run->code, NULL, warp->live);
        if (!warp->groups[0].frame)
            return false;
        warp->groups[0].lanes = warp->live;
        warp->group_count = 1;
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

static struct emu_cluster *make_cluster(struct emu_run *run, uint64_t index)
{
    struct emu_cluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster)
        return NULL;
    cluster->run = run;
    cluster->cta_count = run->cluster_ctas;
    split_index(index, run->clusters_along, cluster->id);
    cluster->ctas = calloc(cluster->cta_count, sizeof *cluster->ctas);
    for (uint32_t i = 0; cluster->ctas && i < cluster->cta_count; i++)
        if (!make_cta(run, cluster, i)) {
            free_cluster(cluster);
            return NULL;
        }
    if (cluster->ctas)
        return cluster;
    free_cluster(cluster);
    return NULL;
}

static bool is_over(const struct emu_run *run, const struct emu_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (cluster->ctas[i].exited_threads < cluster->ctas[i].thread_count)
            return false;
    return emu_async_is_idle(run, cluster);
}

/* ---- Turns ---- */

/* Clusters that are over make room for those that have not begun. False without memory for a single
 * one. */
static bool refill(struct emu_run *run)
{
    for (uint32_t i = 0; i < run->cluster_count;) {
        if (is_over(run, run->clusters[i])) {
            free_cluster(run->clusters[i]);
            run->clusters[i] = run->clusters[--run->cluster_count];
            run->progress++;
        } else {
            i++;
        }
    }
    while (run->cluster_count < run->cluster_room && run->next_cluster < run->all_clusters) {
        struct emu_cluster *cluster = make_cluster(run, run->next_cluster);

        if (!cluster)
            return run->cluster_count > 0;
        run->next_cluster++;
        run->clusters[run->cluster_count++] = cluster;
        run->progress++;
    }
    return true;
}

static uint32_t list_warps(struct emu_run *run)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++) {
            struct emu_cta *cta = &run->clusters[c]->ctas[i];

            for (uint32_t w = 0; w < cta->warp_count; w++)
                if (cta->warps[w].live)
                    run->order[count++] = &cta->warps[w];
        }
    return count;
}

/* Every warp once, in an order that the seed draws. False where the run has ended. */
static bool turn(struct emu_run *run)
{
    uint32_t count = list_warps(run);

    run->turn++;
    if (!emu_async_turn(run))
        return false;
    for (uint32_t left = count; left > 0; left--) {
        uint32_t drawn = (uint32_t)(emu_draw(run) % left);
        struct emu_warp *warp = run->order[drawn];

        run->order[drawn] = run->order[left - 1];
        if (!emu_warp_turn(warp, 1u << (emu_draw(run) % QUANTA)))
            return false;
    }
    return true;
}

static bool all_wait(const struct emu_run *run)
{
    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++) {
            const struct emu_cta *cta = &run->clusters[c]->ctas[i];

            for (uint32_t w = 0; w < cta->warp_count; w++)
                for (int g = 0; g < cta->warps[w].group_count; g++)
                    if (cta->warps[w].groups[g].waited + QUIET_TURNS <= run->turn)
                        return false;
        }
    return true;
}

static void run_to_end(struct emu_run *run)
{
    uint64_t progress = 0, quiet = 0;

    while (run->cluster_count > 0 && turn(run)) {
        quiet = run->progress == progress ? quiet + 1 : 0;
        progress = run->progress;
        if (quiet > QUIET_TURNS && quiet % QUIET_TURNS == 1 && all_wait(run)) {
            emu_report_deadlock(run);
            return;
        }
        if (run->steps > run->step_limit) {
            run->outcome = EMU_OUT_OF_STEPS;
            emu_fail(run->error, 0, "%s: not over after %llu instructions of warps",
                     run->code->function->name, (unsigned long long)run->steps);
            return;
        }
        if (!refill(run)) {
            run->outcome = EMU_NO_RESOURCES;
            emu_fail(run->error, 0, "%s: no memory for its CTAs", run->code->function->name);
            return;
        }
    }
}

/* ---- Launches ---- */

static bool refuse(struct emu_run *run, const char *why)
{
    run->outcome = EMU_NO_RESOURCES;
    return emu_fail(run->error, 0, "%s: %s", run->code->function->name, why);
}

static bool set_shapes(struct emu_run *run)
{
    const struct emu_launch *launch = run->launch;

    run->cluster_ctas = 1;
    run->all_clusters = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t along = launch->cluster[i] ? launch->cluster[i] : 1;

        if (launch->grid[i] == 0 || launch->block[i] == 0)
            return refuse(run, "a grid or a block of no threads");
        if (launch->grid[i] % along != 0)
            return refuse(run, "the grid is no multiple of the cluster");
        if (along > EMU_CLUSTER_MAX || launch->block[i] > THREADS_MAX)
            return refuse(run, "a cluster or a block that is too large");
        run->cluster_shape[i] = along;
        run->cluster_ctas *= along;
        run->clusters_along[i] = launch->grid[i] / along;
        run->all_clusters *= run->clusters_along[i];
    }
    if (run->cluster_ctas > EMU_CLUSTER_MAX)
        return refuse(run, "a cluster of more than 16 CTAs");
    if ((uint64_t)launch->block[0] * launch->block[1] * launch->block[2] > THREADS_MAX)
        return refuse(run, "a block of more than 1024 threads");

    uint64_t base = emu_align_up(run->code->shared_end, run->program->dynamic_alignment),
             end = base + launch->dynamic_shared_bytes;

    if (end > EMU_SHARED_BYTES_MAX)
        return refuse(run, "more shared memory than there is");
    run->dynamic_base = (uint32_t)base;
    run->shared_bytes = (uint32_t)end;
    return true;
}

/* CTAs that find room in a multiprocessor: those of a cooperative launch count on it. */
static uint32_t ctas_per_multiprocessor(const struct emu_run *run, uint32_t warps)
{
    uint32_t by_threads = THREADS_RESIDENT / (warps * EMU_LANES),
             by_shared = EMU_SHARED_BYTES_MAX / run->shared_bytes,
             least = by_threads < by_shared ? by_threads : by_shared;

    return least < CTAS_RESIDENT ? least : CTAS_RESIDENT;
}

static bool make_room(struct emu_run *run)
{
    const uint32_t *block = run->launch->block;
    uint32_t warps = (block[0] * block[1] * block[2] + EMU_LANES - 1) / EMU_LANES;
    uint32_t places = (uint32_t)run->device->options.multiprocessors *
                      ctas_per_multiprocessor(run, warps) / run->cluster_ctas;
    size_t param_bytes = run->code->argument_bytes;

    places = places > 0 ? places : 1;
    run->cluster_room = places < run->all_clusters ? places : (uint32_t)run->all_clusters;
    run->clusters = calloc(run->cluster_room, sizeof(struct emu_cluster *));
    run->order =
        calloc((size_t)warps * run->cluster_ctas * run->cluster_room, sizeof(struct emu_warp *));
    run->params = malloc(param_bytes + 1);
    if (!run->clusters || !run->order || !run->params)
        return refuse(run, "no memory for a launch");
    if (param_bytes > 0)
        memcpy(run->params, run->launch->params, param_bytes);
    return refill(run) || refuse(run, "no memory for its CTAs");
}

static void clean_up(struct emu_run *run)
{
    for (uint32_t i = 0; i < run->cluster_count; i++)
        free_cluster(run->clusters[i]);
    for (size_t i = 0; i < run->async_count; i++)
        free(run->async[i].data);
    free(run->async);
    free(run->clusters);
    free(run->order);
    free(run->params);
}

enum emu_outcome emu_run(struct emu_device *device, const struct emu_launch *launch,
                         struct emu_error *error)
{
    struct emu_error own = {.line = 0};
    struct emu_run run = {.device = device,
                          .launch = launch,
                          .program = launch->program,
                          .code = &launch->program->codes[launch->entry],
                          .error = error ? error : &own,
                          .random = device->options.seed,
                          .step_limit = device->options.limits.steps};

    if (run.step_limit == 0)
        run.step_limit = USUAL_STEPS;
    if (set_shapes(&run) && make_room(&run))
        run_to_end(&run);
    clean_up(&run);
    return run.outcome;
}
