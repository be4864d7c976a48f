#include "codegen/swizzle.h"

/* A span of 32, 64 or 128 bytes holds 2, 4 or 8 chunks of 16; the bits of the 128-byte line number
 * that a chunk number is xor-ed with are as many as the chunk number has. */
static uint32_t chunk_mask(enum lt_swizzle swizzle)
{
    return swizzle == LT_SWIZZLE_NONE ? 0 : (uint32_t)swizzle / 16 - 1;
}

uint32_t lt_swizzle_repeat(enum lt_swizzle swizzle)
{
    return swizzle == LT_SWIZZLE_NONE ? 16 : 128 * ((uint32_t)swizzle / 16);
}

uint32_t lt_swizzle(enum lt_swizzle swizzle, uint32_t address)
{
    return address ^ (((address >> 7) & chunk_mask(swizzle)) << 4);
}
