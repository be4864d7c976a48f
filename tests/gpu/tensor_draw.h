/* tensor_draw.h: numbers of a case, drawn one after the other from a seed of its own. Two draws are
 * two statements: C leaves the order of arguments, and of an initialiser's parts, open. */
#ifndef LATHE_TESTS_TENSOR_DRAW_H
#define LATHE_TESTS_TENSOR_DRAW_H

#include "runtime/random.h"

struct tensor_draw {
    uint64_t seed, drawn;
};

/* From 0 to limit - 1. */
static inline int tensor_draw_below(struct tensor_draw *draw, int limit)
{
    return (int)lt_random_below(draw->seed, draw->drawn++, (uint32_t)limit);
}

/* Both ends are among them. */
static inline int tensor_draw_from(struct tensor_draw *draw, int low, int high)
{
    return low + tensor_draw_below(draw, high - low + 1);
}

static inline struct tensor_draw tensor_draw_of(uint64_t chapter, int index)
{
    return (struct tensor_draw){.seed = lt_random_stream(chapter, (uint64_t)index)};
}

#endif
