#include "codegen/descriptor.h"

#include <assert.h>

/* Field positions: PTX ISA, table "Matrix Descriptor Format". */
enum { LEADING_BIT = 16, STRIDE_BIT = 32, SWIZZLE_BIT = 62 };

static const uint32_t ADDRESS_MASK =
    0x3ffff; /* 18 bits of shared address, kept without the low 4 */

static uint64_t swizzle_code(enum lt_swizzle swizzle)
{
    switch (swizzle) {
    case LT_SWIZZLE_NONE:
        return 0;
    case LT_SWIZZLE_128B:
        return 1;
    case LT_SWIZZLE_64B:
        return 2;
    case LT_SWIZZLE_32B:
        return 3;
    }
    return 0;
}

struct lt_smem_layout lt_smem_layout_k_major(enum lt_swizzle swizzle)
{
    return (struct lt_smem_layout){
        .swizzle = swizzle,
        .leading_bytes = 16,
        /* 8 rows: of a swizzle span each, or of the 16 bytes of a core matrix. */
        .stride_bytes = 8 * (swizzle == LT_SWIZZLE_NONE ? 16 : (uint32_t)swizzle),
    };
}

uint64_t lt_wgmma_descriptor(const struct lt_smem_layout *layout, uint32_t address)
{
    assert(address % 16 == 0 && layout->leading_bytes % 16 == 0 && layout->stride_bytes % 16 == 0);
    return (uint64_t)((address & ADDRESS_MASK) >> 4) |
           (uint64_t)(layout->leading_bytes >> 4) << LEADING_BIT |
           (uint64_t)(layout->stride_bytes >> 4) << STRIDE_BIT |
           swizzle_code(layout->swizzle) << SWIZZLE_BIT;
}

uint64_t lt_wgmma_descriptor_step(uint32_t bytes)
{
    assert(bytes % 16 == 0);
    return bytes >> 4;
}
