/* times.h: what each contender took in each round of turns, and what that comes to. */
#ifndef LT_RUNTIME_TIMES_H
#define LT_RUNTIME_TIMES_H

#include "include/lathe_tools.h"

struct lt_times {
    const struct lathe_allocator *allocator;
    int rows, rounds;
    double *us;               /* [row * rounds + round] */
    double *ratios, *scratch; /* a value a round        */
};

/* `times` is all zero. Errors: LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_times_create(struct lt_times *times, int rows, int rounds,
                                  const struct lathe_allocator *allocator, struct lathe_error *err);
/* Accepts one that is all zero. */
void lt_times_destroy(struct lt_times *times);

static inline void lt_times_set(struct lt_times *times, int row, int round, double us)
{
    times->us[row * times->rounds + round] = us;
}

/* The median of a row, and what it is compared with: a contender with the first plan, one of the
 * `plans`, which come first, with the first contender. Without contenders there is no ratio. */
struct lathe_bench_figures lt_times_figures(struct lt_times *times, int row, int plans,
                                            uint64_t seed);

#endif
