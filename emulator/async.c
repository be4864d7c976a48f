/* async.c: the list of bulk copies under way: issued by a thread, done in some later turn, in any
 * order.
 *
 * A copy from shared memory is done in two steps, reading and writing, as .read tells them apart.
 * Source: PTX ISA "cp.async.bulk", "cp.async.bulk.tensor", "cp.reduce.async.bulk", "st.async",
 * "red.async"; order, bytes and faults as measured on H200. */
#include "emulator/async_work.h"

#include <stdlib.h>

/* A kernel that never waits for its copies must not take all memory of the host: so many for all
 * clusters together, and so many at least for each. */
enum { COPIES_MAX = 16384, COPIES_LEAST = 64 };
enum { COPY_BYTES_MAX = 64 << 20, COPY_BYTES_LEAST = 64 << 10 };

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

bool emu_async_fault(const struct emu_async *work, enum emu_outcome outcome, const char *why)
{
    emu_fault(work->warp, work->op, work->lane, outcome, "%s", why);
    return false;
}

bool emu_async_add(struct emu_cluster *cluster, const struct emu_async *work)
{
    if (add(cluster, work))
        return true;
    free(work->data);
    return emu_async_fault(work, EMU_NO_RESOURCES, "no memory for a copy");
}

/* ---- A turn ---- */

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
    bool is_load = work->is_tensor && !(work->op->flags & EMU_BULK_FROM_SHARED);

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
        if (!emu_async_load(work))
            return false;
    } else if (!(work->is_read ? emu_async_write(work) : emu_async_read(work))) {
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
