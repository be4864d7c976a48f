#include "runtime/isolated.h"

#include "runtime/clock.h"
#include "runtime/events.h"

#include <stdbool.h>

#define SPIN_US 50.0
/* A host that takes longer than half of this is waited for no more: the launch counts as it is. */
#define SPIN_US_MOST 1600.0

static int greatest_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

int lt_isolated_stride(int contenders, int sets)
{
    int stride = 2 * contenders;

    /* Leaving out half of the sets would leave the others in L2. */
    for (int skipped = 0; contenders > 1 && 2 * skipped < sets; skipped++)
        if (greatest_divisor(stride + skipped, sets) == 1)
            return stride + skipped;
    return stride;
}

struct isolated {
    const struct lt_turns *turns;
    const struct lt_spin *spin;
    struct lt_events events;
    double spin_us;
    int again; /* launches that were measured once more */
};

/* Whether the host was done with it early enough. */
static enum lathe_status enqueue(const struct isolated *isolated,
                                 const struct lt_contender *contender, int index, bool *in_time,
                                 struct lathe_error *err)
{
    double begun_us = lt_now_us();
    enum lathe_status status = lt_spin_launch(isolated->spin, isolated->spin_us, err);

    if (status == LATHE_OK)
        status = lt_events_record(&isolated->events, 0, err);
    if (status == LATHE_OK)
        status = contender->enqueue(contender->user, index, err);
    if (status == LATHE_OK)
        status = lt_events_record(&isolated->events, 1, err);
    *in_time = lt_now_us() - begun_us < isolated->spin_us / 2;
    return status;
}

static enum lathe_status launch(struct isolated *isolated, const struct lt_contender *contender,
                                int index, double *us, struct lathe_error *err)
{
    bool in_time = false;
    enum lathe_status status;

    for (;;) {
        status = enqueue(isolated, contender, index + isolated->again, &in_time, err);
        if (status == LATHE_OK)
            status = lt_stream_wait(isolated->turns->stream, err);
        if (status != LATHE_OK || in_time || isolated->spin_us >= SPIN_US_MOST)
            break;
        isolated->spin_us *= 2;
        isolated->again++;
    }
    return status == LATHE_OK ? lt_events_between(&isolated->events, 0, 1, us, err) : status;
}

static enum lathe_status take_round(struct isolated *isolated, int round, struct lt_times *times,
                                    struct lathe_error *err)
{
    const struct lt_turns *turns = isolated->turns;
    int first =
        round / 2 * lt_isolated_stride(turns->count, turns->sets) + round % 2 * turns->count;
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < turns->count && status == LATHE_OK; i++) {
        int index = round % 2 == 0 ? i : turns->count - 1 - i;
        double us = 0;

        status = launch(isolated, &turns->contenders[index], first + i, &us, err);
        lt_times_set(times, index, round, us);
    }
    return status;
}

enum lathe_status lt_isolated_take(const struct lt_turns *turns, const struct lt_spin *spin,
                                   struct lt_times *times, double *spin_us, struct lathe_error *err)
{
    struct isolated isolated = {.turns = turns, .spin = spin, .spin_us = SPIN_US};
    enum lathe_status status =
        lt_events_create(&isolated.events, turns->stream, 2, turns->allocator, err);

    for (int round = 0; round < times->rounds && status == LATHE_OK; round++)
        status = take_round(&isolated, round, times, err);
    lt_events_destroy(&isolated.events);
    *spin_us = isolated.spin_us;
    return status;
}
