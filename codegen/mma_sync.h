/* mma_sync.h: the warp-wide matrix multiply on registers, since sm_80.
 *
 * Source: PTX ISA "Matrix multiply-accumulate operation using mma instruction", m16n8k16. Operands
 * come by ldmatrix (fragment.h). */
#ifndef LT_CODEGEN_MMA_SYNC_H
#define LT_CODEGEN_MMA_SYNC_H

#include "codegen/builder.h"

enum { LT_MMA_ROWS = 16, LT_MMA_COLUMNS = 8, LT_MMA_K = 16 };

/* 16 x 8 of D = A * B + D, f32: the four elements of `acc` from `first`. Thread t of the warp holds
 * of them, at i, row t/4 + 8*(i/2) and column 2*(t%4) + i%2: as a wgmma's accumulators lie in one
 * of its warps. `a` has 16 rows x 16 of k: upper and lower 8 rows, then the same of the right 8
 * columns; `b_left`, `b_right` 8 rows of B x 8 of k each. */
void lt_mma_sync(struct lt_builder *b, enum lathe_type type, const struct lt_vector *acc, int first,
                 const lt_value a[4], lt_value b_left, lt_value b_right);

#endif
