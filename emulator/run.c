/* run.c: a launch: its shape is checked, room is made for clusters, and rounds follow each other
 * until all have exited. */
#include "emulator/pool.h"
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 1024,
    THREADS_RESIDENT = 2048, /* of a multiprocessor */
    CTAS_RESIDENT = 32
};
#define USUAL_STEPS ((uint64_t)1 << 36)

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

    run->cta_warps = warps;
    places = places > 0 ? places : 1;
    run->cluster_room = places < run->all_clusters ? places : (uint32_t)run->all_clusters;
    run->clusters = calloc(run->cluster_room, sizeof(struct emu_cluster *));
    run->held =
        calloc((size_t)warps * run->cluster_ctas * run->cluster_room, sizeof(struct emu_warp *));
    run->params = malloc(param_bytes + 1);
    if (!run->clusters || !run->held || !run->params || !emu_timed_begin(run) ||
        (run->device->check && !emu_check_begin_run(run)))
        return refuse(run, "no memory for a launch");
    if (param_bytes > 0)
        memcpy(run->params, run->launch->params, param_bytes);
    return true;
}

static void clean_up(struct emu_run *run)
{
    emu_pool_end(run->pool);
    for (uint32_t i = 0; i < run->cluster_count; i++)
        emu_cluster_free(run->clusters[i]);
    if (run->device->check)
        emu_check_end_run(run);
    emu_timed_end(run);
    free(run->clusters);
    free(run->held);
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
                          .threads = device->options.threads,
                          .step_limit = device->options.limits.steps};

    clock_gettime(CLOCK_MONOTONIC, &run.began);
    if (run.threads == 0)
        run.threads = emu_processors();
    if (run.step_limit == 0)
        run.step_limit = USUAL_STEPS;
    if (set_shapes(&run) && make_room(&run))
        while (run.timed ? emu_timed_round(&run) : emu_round(&run))
            continue;
    clean_up(&run);
    return run.outcome;
}
