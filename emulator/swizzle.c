/* swizzle.c: the swizzling modes of tensor maps (PTX ISA, "Swizzling Modes").
 *
 * They act on the bits of the address in shared memory, not on the place within the box, so that a
 * box which starts at any 128 bytes takes part in the pattern of the 1024 around it. */
#include "emulator/tensor_copy.h"

#include <stddef.h>

struct swizzle {
    uint32_t span; /* bytes of a row of the pattern           */
    uint32_t unit; /* bytes that stay together                */
    uint32_t rows; /* mask on the 128-byte lines: the pattern */
    bool flips;    /* the 8-byte halves of odd lines change places */
};

/* By cuda.h's CU_TENSOR_MAP_SWIZZLE_. Those with an atom of more than 16 bytes are read off the
 * ISA's tables, not measured. */
static const struct swizzle swizzles[] = {
    {.span = 0, .unit = 0, .rows = 0},    {.span = 32, .unit = 16, .rows = 1},
    {.span = 64, .unit = 16, .rows = 3},  {.span = 128, .unit = 16, .rows = 7},
    {.span = 128, .unit = 32, .rows = 3}, {.span = 128, .unit = 32, .rows = 3, .flips = true},
    {.span = 128, .unit = 64, .rows = 1},
};

enum { SWIZZLE_COUNT = sizeof swizzles / sizeof *swizzles };

static const struct swizzle *find_swizzle(int swizzle)
{
    return swizzle >= 0 && swizzle < SWIZZLE_COUNT ? &swizzles[swizzle] : &swizzles[0];
}

uint32_t emu_swizzle(int swizzle, uint32_t offset)
{
    const struct swizzle *mode = find_swizzle(swizzle);
    uint32_t line = offset >> 7;

    offset ^= (line & mode->rows) * mode->unit;
    return mode->flips ? offset ^ (line & 1) << 3 : offset;
}

bool emu_swizzle_exists(int swizzle)
{
    return swizzle >= 0 && swizzle < SWIZZLE_COUNT;
}

uint32_t emu_swizzle_span(int swizzle)
{
    return find_swizzle(swizzle)->span;
}

uint32_t emu_swizzle_unit(int swizzle)
{
    const struct swizzle *mode = find_swizzle(swizzle);

    return mode->flips ? 8 : mode->unit;
}
