#include "runtime/times.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/statistics.h"

#include <stdbool.h>
#include <string.h>

enum lathe_status lt_times_create(struct lt_times *times, int rows, int rounds,
                                  const struct lathe_allocator *allocator, struct lathe_error *err)
{
    size_t turns = (size_t)rows * (size_t)rounds;
    size_t bytes = (turns + 2 * (size_t)rounds) * sizeof *times->us;
    struct lt_times made = {.allocator = allocator, .rows = rows, .rounds = rounds};

    made.us = lt_allocate(allocator, bytes);
    if (!made.us)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %zu measurements", turns);
    memset(made.us, 0, bytes);
    made.ratios = made.us + turns;
    made.scratch = made.ratios + rounds;
    *times = made;
    return LATHE_OK;
}

void lt_times_destroy(struct lt_times *times)
{
    lt_release(times->allocator, times->us);
    *times = (struct lt_times){.allocator = NULL};
}

static void fill_ratio(struct lt_times *times, int row, int plans, uint64_t seed,
                       struct lathe_bench_figures *figures)
{
    bool is_plan = row < plans;
    const double *slow = times->us + (is_plan ? plans : row) * times->rounds;
    const double *fast = times->us + (is_plan ? row : 0) * times->rounds;
    struct lt_interval interval;

    for (int i = 0; i < times->rounds; i++)
        times->ratios[i] = slow[i] / fast[i];
    interval = lt_median_interval(times->ratios, times->rounds, times->scratch, seed);
    figures->ratio = lt_median(times->ratios, times->rounds);
    figures->ratio_low = interval.low;
    figures->ratio_high = interval.high;
}

struct lathe_bench_figures lt_times_figures(struct lt_times *times, int row, int plans,
                                            uint64_t seed)
{
    struct lathe_bench_figures figures = {.time_us = 0};

    if (times->rows > plans)
        fill_ratio(times, row, plans, seed, &figures);
    memcpy(times->scratch, times->us + row * times->rounds,
           (size_t)times->rounds * sizeof *times->scratch);
    figures.time_us = lt_median(times->scratch, times->rounds);
    return figures;
}
