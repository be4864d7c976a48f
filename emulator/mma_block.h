/* mma_block.h: D = A * B + C on whole matrices, whatever registers or memory they came from. */
#ifndef EMU_MMA_BLOCK_H
#define EMU_MMA_BLOCK_H

#include "emulator/mma_element.h"

enum { EMU_BLOCK_ROWS = 16, EMU_BLOCK_COLUMNS = 256, EMU_BLOCK_DEPTH = 64 };

struct emu_block {
    int m, n, k; /* at most the numbers above; n a multiple of 8; k in words where the type is b1 */
    enum emu_type d, a, b;
    bool saturate; /* integers: clamp instead of wrap      */
    bool is_xor;   /* b1: exclusive or instead of and      */
    bool exact;
    bool is_fine; /* fp8 and smaller are summed as f16 is: Blackwell */
    int scale_c;  /* C counts 2^-scale_c of itself */
};

/* Elements, given as bits, for the multiplication; the same ones can be used many times. */
void emu_block_prepare(const struct emu_block *block, enum emu_type type,
                       union emu_element *elements, int count);

/* a: m rows of k, b: k rows of n, both prepared; d: m rows of n, bits of its type, first C's and
 * then D's. */
void emu_block_multiply(const struct emu_block *block, const union emu_element *a,
                        const union emu_element *b, union emu_element *d);

/* The floating-point kinds bit for bit as Hopper's tensor cores, or Blackwell's; see mma_exact.c.
 */
void emu_block_multiply_exact(const struct emu_block *block, const union emu_element *a,
                              const union emu_element *b, union emu_element *d);

#endif
