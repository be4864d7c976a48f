#include "runtime/warm.h"

#include <stdio.h>

bool lt_warm_fits(const struct lathe_gemm *problem, const struct lt_device *device, char *reason,
                  size_t size)
{
    double bytes = lt_operands_footprint(problem);

    if (bytes <= (double)device->l2_bytes)
        return true;
    snprintf(reason, size, "the operands take %.3g MB, and L2 holds %.3g MB", bytes / 1e6,
             (double)device->l2_bytes / 1e6);
    return false;
}

enum lathe_status lt_warm_open(struct lt_warm *warm, const struct lt_contest *contest,
                               struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    warm->first = (struct lt_rotation){.sets = contest->rotation.sets, .count = 1};
    warm->turns = contest->turns;
    warm->turns.contenders = warm->contenders;
    warm->turns.sets = 1;
    for (int i = 0; i < contest->count && status == LATHE_OK; i++) {
        struct lt_contender *contender = &warm->contenders[i];

        warm->entrants[i] = contest->entrants[i];
        warm->entrants[i].rotation = &warm->first;
        *contender =
            (struct lt_contender){.enqueue = lt_entrant_enqueue, .user = &warm->entrants[i]};
        status = lt_turns_probe(&warm->turns, contender, err);
        if (status == LATHE_OK)
            status = lt_turns_capture(&warm->turns, contender, err);
    }
    return status;
}

void lt_warm_close(struct lt_warm *warm)
{
    lt_turns_release(&warm->turns);
}

enum lathe_status lt_warm_take(const struct lt_warm *warm, struct lt_turn *taken,
                               struct lt_times *times, struct lathe_error *err)
{
    enum lathe_status status = lt_turns_take(&warm->turns, times->rounds, taken, err);

    for (int i = 0; i < times->rows * times->rounds && status == LATHE_OK; i++)
        lt_times_set(times, taken[i].contender, taken[i].round, taken[i].us);
    return status;
}
