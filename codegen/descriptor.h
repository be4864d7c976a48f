/* descriptor.h: the 64-bit words by which wgmma finds its operands in shared memory.
 *
 * Source: PTX ISA "Asynchronous Warpgroup Level Matrix Instructions: Matrix Descriptor Format".
 * Host arithmetic only: a kernel adds a start address to the constant part. */
#ifndef LT_CODEGEN_DESCRIPTOR_H
#define LT_CODEGEN_DESCRIPTOR_H

#include "codegen/swizzle.h"

/* A K-major tile as TMA fills it: rows of `swizzle` bytes along k, 8 rows a pattern, the next 8
 * rows `stride_bytes` further. The leading offset plays no part in swizzled K-major tiles. */
struct lt_smem_layout {
    enum lt_swizzle swizzle;
    uint32_t leading_bytes;
    uint32_t stride_bytes;
};

/* The layout of a K-major tile whose rows are one swizzle span wide. */
struct lt_smem_layout lt_smem_layout_k_major(enum lt_swizzle swizzle);

/* The descriptor of a tile that starts at `address`; 0 gives the constant part. */
uint64_t lt_wgmma_descriptor(const struct lt_smem_layout *layout, uint32_t address);

/* What an advance by `bytes` within shared memory adds to a descriptor: its address field counts
 * 16-byte units. */
uint64_t lt_wgmma_descriptor_step(uint32_t bytes);

#endif
