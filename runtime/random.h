/* random.h: pseudo-random numbers by (seed, index): no state, so that any element can be made alone
 * and on any device. reference_source.c has the same arithmetic for the GPU; both give the same
 * bits (tests/runtime/host_reference_test.c holds a few of them). */
#ifndef LT_RUNTIME_RANDOM_H
#define LT_RUNTIME_RANDOM_H

#include <stdint.h>

/* splitmix64's finisher: 64 bits in, 64 well-mixed bits out. */
uint64_t lt_random_mix(uint64_t x);

/* A seed of its own for each of several streams drawn from one seed. */
uint64_t lt_random_stream(uint64_t seed, uint64_t stream);

/* A whole number from 0 to span - 1. */
uint32_t lt_random_below(uint64_t seed, uint64_t index, uint32_t span);

/* Nearly N(0, 1), times 65536: the sum of twelve 16-bit numbers less their mean, a whole number of
 * at most 19 bits and a sign. The sum's variance is 2^32 - 1. */
int32_t lt_random_normal(uint64_t seed, uint64_t index);

/* What a matrix is filled with: element i of it, counted along its rows without the padding, is
 *   LT_NORMAL    lt_random_normal(seed, i) * (scale / 65536), in f32, rounded to the type
 *   LT_INTEGERS  a whole number from -range to range */
enum lt_pattern { LT_NORMAL, LT_INTEGERS };

struct lt_fill {
    enum lt_pattern pattern;
    uint64_t seed;
    float scale;
    int range;
};

float lt_fill_value(const struct lt_fill *fill, uint64_t index);

#endif
