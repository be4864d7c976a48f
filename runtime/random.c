#include "runtime/random.h"

enum { TWELVE_MEANS = 12 * 65535 / 2 };

#define GOLDEN 0x9e3779b97f4a7c15u

uint64_t lt_random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t lt_random_stream(uint64_t seed, uint64_t stream)
{
    return lt_random_mix(lt_random_mix(seed + GOLDEN) + (stream + 1) * GOLDEN);
}

uint32_t lt_random_below(uint64_t seed, uint64_t index, uint32_t span)
{
    uint64_t high = lt_random_mix(seed + (index + 1) * GOLDEN) >> 32;

    return (uint32_t)(high * span >> 32);
}

int32_t lt_random_normal(uint64_t seed, uint64_t index)
{
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t x = lt_random_mix(seed + (index * 3 + i) * GOLDEN);

        sum += (x & 0xffffu) + (x >> 16 & 0xffffu) + (x >> 32 & 0xffffu) + (x >> 48);
    }
    return (int32_t)sum - TWELVE_MEANS;
}

float lt_fill_value(const struct lt_fill *fill, uint64_t index)
{
    if (fill->pattern == LT_INTEGERS) {
        uint32_t span = 2 * (uint32_t)fill->range + 1;

        return (float)((int)lt_random_below(fill->seed, index, span) - fill->range);
    }
    return (float)lt_random_normal(fill->seed, index) * (fill->scale * 0x1p-16f);
}
