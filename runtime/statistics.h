/* statistics.h: what is said of a handful of measurements. Deterministic. */
#ifndef LT_RUNTIME_STATISTICS_H
#define LT_RUNTIME_STATISTICS_H

#include <stdint.h>

/* The median; sorts the values. 0 when there are none. */
double lt_median(double *values, int count);

struct lt_interval {
    double low, high;
};

/* The interval that holds the median with 95 % confidence, by drawing samples of the same size with
 * replacement (percentile bootstrap). `scratch` has room for `count` values. */
struct lt_interval lt_median_interval(const double *values, int count, double *scratch,
                                      uint64_t seed);

#endif
