/* swizzle.h: where TMA and the tensor cores put a byte of a swizzled tile, as host arithmetic.
 *
 * Source: PTX ISA "Tensors: Swizzling modes"; the three spans were measured on an H200. The
 * function acts on address bits, not on the offset inside a tile, so a tile must start at a
 * multiple of the pattern's repeat for offsets to be used in place of addresses. */
#ifndef LT_CODEGEN_SWIZZLE_H
#define LT_CODEGEN_SWIZZLE_H

#include <stdint.h>

/* The width in bytes of the rows that a swizzle permutes; 16-byte chunks move, their bytes do not.
 */
enum lt_swizzle {
    LT_SWIZZLE_NONE = 0,
    LT_SWIZZLE_32B = 32,
    LT_SWIZZLE_64B = 64,
    LT_SWIZZLE_128B = 128
};

/* Bytes after which the pattern repeats; tiles are aligned to it. 16 without swizzle. */
uint32_t lt_swizzle_repeat(enum lt_swizzle swizzle);

/* The address that the byte at linear address `address` really has. */
uint32_t lt_swizzle(enum lt_swizzle swizzle, uint32_t address);

#endif
