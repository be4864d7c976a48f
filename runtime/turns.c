#include "runtime/turns.h"

#include "runtime/clock.h"
#include "runtime/events.h"

#include <math.h>

/* A launch that lasts longer is timed by itself: the host's share is too small to be seen. */
#define LONG_LAUNCH_US 1e3

enum { PROBE_LAUNCHES = 8 };

int lt_turns_launches(const struct lt_turns *turns, double launch_us)
{
    double wanted = turns->block_ms * 1e3 / launch_us;
    int launches = wanted < LT_BLOCK_LAUNCHES ? (int)ceil(wanted) : LT_BLOCK_LAUNCHES;

    if (launches < 1)
        launches = 1;
    return (launches + turns->sets - 1) / turns->sets * turns->sets;
}

/* ---- A block ---- */

typedef enum lathe_status (*work_function)(const void *work, struct lathe_error *err);

static enum lathe_status launch_once(const void *work, struct lathe_error *err)
{
    const struct lt_contender *contender = work;

    return contender->enqueue(contender->user, 0, err);
}

static enum lathe_status replay(const void *work, struct lathe_error *err)
{
    return lt_graph_replay(work, err);
}

/* Microseconds that the work takes, between two events. */
static enum lathe_status time_work(const struct lt_turns *turns, const struct lt_events *events,
                                   work_function run, const void *work, double *us,
                                   struct lathe_error *err)
{
    enum lathe_status status = lt_events_record(events, 0, err);

    if (status == LATHE_OK)
        status = run(work, err);
    if (status == LATHE_OK)
        status = lt_events_record(events, 1, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(turns->stream, err);
    return status == LATHE_OK ? lt_events_between(events, 0, 1, us, err) : status;
}

/* By a graph that has run before. */
static enum lathe_status probe_by_graph(const struct lt_turns *turns,
                                        struct lt_contender *contender,
                                        const struct lt_events *events, struct lathe_error *err)
{
    int launches = turns->sets > PROBE_LAUNCHES ? turns->sets : PROBE_LAUNCHES;
    struct lt_graph graph = {.stream = NULL};
    double us = 0;
    enum lathe_status status =
        lt_graph_capture(&graph, turns->stream, launches, contender->enqueue, contender->user, err);

    if (status == LATHE_OK)
        status = lt_graph_replay(&graph, err);
    if (status == LATHE_OK)
        status = time_work(turns, events, replay, &graph, &us, err);
    if (status == LATHE_OK)
        contender->launch_us = us / launches;
    lt_graph_destroy(&graph);
    return status;
}

enum lathe_status lt_turns_probe(const struct lt_turns *turns, struct lt_contender *contender,
                                 struct lathe_error *err)
{
    struct lt_events events = {.stream = NULL};
    enum lathe_status status = lt_events_create(&events, turns->stream, 2, turns->allocator, err);

    /* The first launch loads the kernel. */
    if (status == LATHE_OK)
        status = launch_once(contender, err);
    if (status == LATHE_OK)
        status = time_work(turns, &events, launch_once, contender, &contender->launch_us, err);
    if (status == LATHE_OK && contender->launch_us < LONG_LAUNCH_US)
        status = probe_by_graph(turns, contender, &events, err);
    lt_events_destroy(&events);
    return status;
}

enum lathe_status lt_turns_capture(const struct lt_turns *turns, struct lt_contender *contender,
                                   struct lathe_error *err)
{
    return lt_graph_capture(&contender->block, turns->stream,
                            lt_turns_launches(turns, contender->launch_us), contender->enqueue,
                            contender->user, err);
}

void lt_turns_release(struct lt_turns *turns)
{
    for (int i = 0; i < turns->count; i++)
        lt_graph_destroy(&turns->contenders[i].block);
}

/* ---- All of them ---- */

enum lathe_status lt_turns_warm_up(const struct lt_turns *turns, double ms, struct lathe_error *err)
{
    double end = lt_now_us() + ms * 1e3;
    enum lathe_status status;

    do {
        status = LATHE_OK;
        for (int i = 0; i < turns->count && status == LATHE_OK; i++)
            status = lt_graph_replay(&turns->contenders[i].block, err);
        if (status == LATHE_OK)
            status = lt_stream_wait(turns->stream, err);
    } while (status == LATHE_OK && lt_now_us() < end);
    return status;
}

/* Event 0 ties the device's clock to the host's; turn i lies between events 2 i + 1 and 2 i + 2. */
static int event_before(int turn)
{
    return 2 * turn + 1;
}

static enum lathe_status anchor(const struct lt_turns *turns, const struct lt_events *events,
                                double *now_us, struct lathe_error *err)
{
    enum lathe_status status = lt_events_record(events, 0, err);

    if (status == LATHE_OK)
        status = lt_stream_wait(turns->stream, err);
    *now_us = lt_now_us();
    return status;
}

/* Everything is enqueued at once, behind one block that is not timed: the stream never waits for
 * the host. */
static enum lathe_status enqueue_all(const struct lt_turns *turns, const struct lt_events *events,
                                     const struct lt_turn *taken, int count,
                                     struct lathe_error *err)
{
    enum lathe_status status = lt_graph_replay(&turns->contenders[0].block, err);

    for (int i = 0; i < count && status == LATHE_OK; i++) {
        status = lt_events_record(events, event_before(i), err);
        if (status == LATHE_OK)
            status = lt_graph_replay(&turns->contenders[taken[i].contender].block, err);
        if (status == LATHE_OK)
            status = lt_events_record(events, event_before(i) + 1, err);
    }
    return status == LATHE_OK ? lt_stream_wait(turns->stream, err) : status;
}

static enum lathe_status read_turn(const struct lt_turns *turns, const struct lt_events *events,
                                   int index, double anchor_us, struct lt_turn *turn,
                                   struct lathe_error *err)
{
    double begin = 0, us = 0;
    int before = event_before(index);
    enum lathe_status status = lt_events_between(events, 0, before, &begin, err);

    if (status == LATHE_OK)
        status = lt_events_between(events, before, before + 1, &us, err);
    turn->us = us / turns->contenders[turn->contender].block.launches;
    turn->begin_us = anchor_us + begin;
    turn->end_us = turn->begin_us + us;
    return status;
}

enum lathe_status lt_turns_take(const struct lt_turns *turns, int rounds, struct lt_turn *taken,
                                struct lathe_error *err)
{
    int count = turns->count * rounds;
    struct lt_events events = {.stream = NULL};
    double anchor_us = 0;
    enum lathe_status status =
        lt_events_create(&events, turns->stream, 2 * count + 1, turns->allocator, err);

    for (int i = 0; i < count; i++) {
        int round = i / turns->count, at = i % turns->count;

        taken[i] = (struct lt_turn){.contender = round % 2 == 0 ? at : turns->count - 1 - at,
                                    .round = round};
    }
    if (status == LATHE_OK)
        status = anchor(turns, &events, &anchor_us, err);
    if (status == LATHE_OK)
        status = enqueue_all(turns, &events, taken, count, err);
    for (int i = 0; i < count && status == LATHE_OK; i++)
        status = read_turn(turns, &events, i, anchor_us, &taken[i], err);
    lt_events_destroy(&events);
    return status;
}
