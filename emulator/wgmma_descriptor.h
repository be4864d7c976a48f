/* wgmma_descriptor.h: matrix descriptors (PTX ISA, "Matrix Descriptor Format") and where in shared
 * memory the elements lie that they describe ("Strides", "Canonical Layouts"). */
#ifndef EMU_WGMMA_DESCRIPTOR_H
#define EMU_WGMMA_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Offsets in bytes. */
struct emu_descriptor {
    uint32_t start, leading, stride, base_offset;
    uint32_t width;       /* of the swizzle's span in 16 bytes: 1, 2, 4, 8 */
    bool has_atoms_of_32; /* tcgen05, MN-major tf32: 128-byte spans of 32-byte atoms */
};

static inline struct emu_descriptor emu_descriptor_of(uint64_t bits)
{
    static const uint8_t widths[] = {1, 8, 4, 2};

    return (struct emu_descriptor){
        .start = (uint32_t)(bits & 0x3fff) << 4,
        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
        .base_offset = (uint32_t)(bits >> 49 & 7),
        .width = widths[bits >> 62],
    };
}

/* Of the first byte of element (mn, k), of `size` bytes. The exclusive or takes its rows from the
 * address itself, less the rows by which the pattern starts off a 1024-byte boundary. Without
 * swizzle the leading and the stride offset of MN-major matrices change their roles. */
static inline uint32_t emu_descriptor_offset(const struct emu_descriptor *descriptor, bool mn_major,
                                             uint32_t size, uint32_t mn, uint32_t k)
{
    uint32_t per_16 = 16 / size, width = descriptor->width, at = descriptor->start;

    if (descriptor->has_atoms_of_32) {
        at += mn % 32 * size + mn / 32 * descriptor->leading + k % 4 * 128 +
              k / 4 * descriptor->stride;
        return at ^ (((at >> 7) - descriptor->base_offset) & 3) << 5;
    }
    if (!mn_major && width == 1)
        at += mn % 8 * 16 + mn / 8 * descriptor->stride + k / per_16 * descriptor->leading +
              k % per_16 * size;
    else if (!mn_major)
        at += mn % 8 * 16 * width + mn / 8 * descriptor->stride + k * size;
    else if (width == 1)
        at += mn % per_16 * size + mn / per_16 * descriptor->stride + k % 8 * 16 +
              k / 8 * descriptor->leading;
    else
        at += mn % (width * per_16) * size + mn / (width * per_16) * descriptor->leading +
              k % 8 * 16 * width + k / 8 * descriptor->stride;
    return at ^ (((at >> 7) - descriptor->base_offset) & (width - 1)) << 4;
}

#endif
