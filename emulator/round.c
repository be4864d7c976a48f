/* round.c: rounds. In the first part every resident cluster has a turn, apart from the others: what
 * it stores in global memory waits in its log, and an operation that needs an order among clusters
 * is held. In the second part, in an order that the seed draws, logs become memory and what was
 * held is done. So no cluster's turn depends on when another has its own. */
#include "emulator/pool.h"
#include "emulator/state.h"

#include <string.h>

enum {
    /* Rounds in which all only wait, and nothing changes, before that is called a deadlock: more
     * than the longest that a copy is on its way. */
    QUIET_ROUNDS = 2000,
    HELPERS_AFTER_US = 300,
    HELPER_US = 50
};

uint64_t emu_share(const struct emu_run *run, uint64_t all, uint64_t least)
{
    uint64_t share = all / run->cluster_room;

    return share > least ? share : least;
}

/* Clusters that are over make room for those that have not begun. False without memory for a single
 * one. */
bool emu_refill(struct emu_run *run)
{
    for (uint32_t i = 0; i < run->cluster_count;) {
        if (emu_cluster_is_over(run->clusters[i])) {
            emu_cluster_free(run->clusters[i]);
            run->clusters[i] = run->clusters[--run->cluster_count];
            run->quiet = 0;
        } else {
            i++;
        }
    }
    while (run->cluster_count < run->cluster_room && run->next_cluster < run->all_clusters) {
        struct emu_cluster *cluster = emu_cluster_make(run, run->next_cluster);

        if (!cluster)
            return run->cluster_count > 0;
        run->next_cluster++;
        run->clusters[run->cluster_count++] = cluster;
        run->quiet = 0;
    }
    return true;
}

/* ---- The first part ---- */

/* One that is alone needs no log, and holds nothing. */
static void set_apart(struct emu_run *run)
{
    const struct emu_memory *memory = &run->device->memory;
    uint64_t memory_left = (memory->limit - memory->used) / run->cluster_count;

    for (uint32_t i = 0; i < run->cluster_count; i++) {
        struct emu_cluster *cluster = run->clusters[i];

        cluster->apart = run->cluster_count > 1;
        cluster->memory_left = memory_left;
        cluster->steps_left = run->step_limit - run->steps;
    }
}

static void have_turn(void *user, uint32_t i)
{
    struct emu_run *run = user;

    if (run->device->options.eager && run->threads > 1)
        i = run->cluster_count - 1 - i;
    emu_cluster_turn(run->clusters[i]);
}

/* Most launches are over before helpers would be there: those that have run for as long as it takes
 * to make them get some. */
static bool is_worth_helpers(const struct emu_run *run, uint32_t helpers)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - run->began.tv_sec) * 1000000 + (now.tv_nsec - run->began.tv_nsec) / 1000 >=
           HELPERS_AFTER_US + (long)helpers * HELPER_US;
}

static void have_turns(struct emu_run *run)
{
    uint32_t threads = run->threads < run->cluster_count ? run->threads : run->cluster_count;

    if (run->device->check) /* one shadow for all */
        threads = 1;

    if (!run->pool && threads > 1 &&
        (run->device->options.eager || is_worth_helpers(run, threads - 1)))
        run->pool = emu_pool_start(threads - 1, have_turn, run);
    if (run->pool && run->cluster_count > 1) {
        emu_pool_do(run->pool, run->cluster_count);
        return;
    }
    for (uint32_t i = 0; i < run->cluster_count; i++)
        have_turn(run, i);
}

/* ---- The second part ---- */

static void end_apart(struct emu_run *run)
{
    for (uint32_t i = 0; i < run->cluster_count; i++) {
        struct emu_cluster *cluster = run->clusters[i];

        cluster->apart = false;
        run->device->memory.used += cluster->memory_taken;
        cluster->memory_taken = 0;
    }
}

/* A list in an order that is drawn: the places that are left begin at `at`. */
static uint32_t draw_place(struct emu_run *run, uint32_t at, uint32_t count)
{
    return at + (uint32_t)(emu_draw(&run->random) % (count - at));
}

/* The clusters change places: their order means nothing. */
static void apply_logs(struct emu_run *run)
{
    for (uint32_t i = 0; i < run->cluster_count; i++) {
        uint32_t drawn = draw_place(run, i, run->cluster_count);
        struct emu_cluster *cluster = run->clusters[drawn];

        run->clusters[drawn] = run->clusters[i];
        run->clusters[i] = cluster;
        emu_log_apply(&cluster->log);
    }
}

static void do_held(struct emu_run *run)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->cluster_count; i++) {
        struct emu_cluster *cluster = run->clusters[i];

        memcpy(run->held + count, cluster->held, cluster->held_count * sizeof(struct emu_warp *));
        count += cluster->held_count;
        cluster->held_count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t drawn = draw_place(run, i, count);
        struct emu_warp *warp = run->held[drawn];

        run->held[drawn] = run->held[i];
        if (!emu_warp_resume(warp))
            return;
    }
}

/* What clusters have counted by themselves. */
static void count(struct emu_run *run)
{
    run->quiet++;
    for (uint32_t i = 0; i < run->cluster_count; i++) {
        struct emu_cluster *cluster = run->clusters[i];

        run->steps += cluster->steps;
        if (cluster->progress)
            run->quiet = 0;
        cluster->steps = cluster->progress = 0;
    }
}

/* ---- Ends ---- */

/* Of faults in one round the one in the cluster with the lowest index is told. */
bool emu_has_fault(struct emu_run *run)
{
    const struct emu_cluster *first = NULL;

    for (uint32_t i = 0; i < run->cluster_count; i++) {
        const struct emu_cluster *cluster = run->clusters[i];

        if (cluster->outcome != EMU_DONE && (!first || cluster->index < first->index))
            first = cluster;
    }
    if (!first)
        return false;
    run->outcome = first->outcome;
    *run->error = first->error;
    return true;
}

static bool all_wait(const struct emu_run *run)
{
    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++) {
            const struct emu_cta *cta = &run->clusters[c]->ctas[i];

            for (uint32_t w = 0; w < cta->warp_count; w++)
                for (int g = 0; g < cta->warps[w].group_count; g++)
                    if (cta->warps[w].groups[g].waited + QUIET_ROUNDS <= run->clusters[c]->turn)
                        return false;
        }
    return true;
}

static bool has_deadlock(struct emu_run *run)
{
    if (run->quiet <= QUIET_ROUNDS || run->quiet % QUIET_ROUNDS != 1 || !all_wait(run))
        return false;
    emu_report_deadlock(run);
    return true;
}

bool emu_is_out_of_steps(struct emu_run *run)
{
    if (run->steps <= run->step_limit)
        return false;
    run->outcome = EMU_OUT_OF_STEPS;
    emu_fail(run->error, 0, "%s: not over after %llu instructions of warps",
             run->code->function->name, (unsigned long long)run->steps);
    if (run->device->check)
        emu_check_endless(run);
    return true;
}

bool emu_round(struct emu_run *run)
{
    if (!emu_refill(run)) {
        run->outcome = EMU_NO_RESOURCES;
        emu_fail(run->error, 0, "%s: no memory for its CTAs", run->code->function->name);
        return false;
    }
    if (run->cluster_count == 0)
        return false;
    set_apart(run);
    have_turns(run);
    if (run->device->check)
        emu_check_sweep(run);
    end_apart(run);
    apply_logs(run);
    if (emu_has_fault(run))
        return false;
    do_held(run);
    count(run);
    return !emu_has_fault(run) && !has_deadlock(run) && !emu_is_out_of_steps(run);
}
