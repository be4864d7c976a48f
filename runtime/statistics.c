#include "runtime/statistics.h"

#include "runtime/random.h"

#include <stdlib.h>

enum { ROUNDS = 2000 };

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double lt_median(double *values, int count)
{
    if (count <= 0)
        return 0;
    qsort(values, (size_t)count, sizeof *values, compare);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

struct lt_interval lt_median_interval(const double *values, int count, double *scratch,
                                      uint64_t seed)
{
    double medians[ROUNDS];
    uint64_t drawn = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++)
            scratch[i] = values[lt_random_below(seed, drawn++, (uint32_t)count)];
        medians[round] = lt_median(scratch, count);
    }
    qsort(medians, ROUNDS, sizeof medians[0], compare);
    return (struct lt_interval){medians[ROUNDS / 40], medians[ROUNDS - 1 - ROUNDS / 40]};
}
