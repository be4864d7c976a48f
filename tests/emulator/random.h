/* random.h: numbers drawn for tests, the same in every run. */
#ifndef EMU_TESTS_RANDOM_H
#define EMU_TESTS_RANDOM_H

#include <stdint.h>

/* splitmix64 */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* From low to high, both included. */
static inline int64_t draw_between(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(draw(state) % (uint64_t)(high - low + 1));
}

#endif
