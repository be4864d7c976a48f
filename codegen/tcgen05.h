/* tcgen05.h: tensor memory and the matrix multiply that adds up in it, of sm_100a and its like.
 *
 * Source: PTX ISA "TensorCore 5th Generation Family Instructions". Tensor memory has 128 lanes x
 * 512 columns of 32 bits in each CTA; an address has the lane above bit 16 and the column below.
 * `group` is 1, or 2 for a pair of CTAs, and all tcgen05 instructions of a kernel have the same.
 *
 * What one thread issues runs beside it: MMAs into one accumulator one after the other, all else in
 * any order. A commit arrives at an mbarrier when all that its thread has issued is done. */
#ifndef LT_CODEGEN_TCGEN05_H
#define LT_CODEGEN_TCGEN05_H

#include "codegen/builder.h"
#include "codegen/swizzle.h"

enum {
    LT_TCGEN05_K_BYTES = 32,  /* of a row of A or B that one MMA takes            */
    LT_TCGEN05_LD_MOST = 128, /* registers of one load                            */
    LT_TMEM_LANES = 128,
    LT_TMEM_LANE_BIT = 16 /* of an address */
};

/* ---- Host arithmetic ---- */

/* The shared-memory descriptor of a K-major tile of whole swizzle spans at `address`; 0 gives the
 * constant part. Source: "Shared memory descriptor". */
uint64_t lt_tcgen05_descriptor(enum lt_swizzle swizzle, uint32_t address);

/* The instruction descriptor of a dense MMA: rows and columns of D, of the pair under group 2, both
 * operands K-major. Sums are s32 for int8, else f32. Source: "Instruction descriptor". */
uint32_t lt_tcgen05_instruction(enum lathe_type type, int rows, int columns);

/* "f16", "tf32", "f8f6f4", "i8"; null where there is no such kind. */
const char *lt_tcgen05_kind(enum lathe_type type);

/* ---- Tensor memory: all lanes of one warp ---- */

/* Columns: a power of two from 32. Writes the address to shared memory; waits until there is room.
 */
void lt_tmem_alloc(struct lt_builder *b, int group, lt_value smem, int columns);
/* By the warp that allocated, when nobody uses it any more. */
void lt_tmem_dealloc(struct lt_builder *b, int group, lt_value address, int columns);
/* This CTA will allocate no more. */
void lt_tmem_relinquish(struct lt_builder *b, int group);

/* ---- Multiply: one thread ---- */

/* D (in tensor memory) = A * B, + D where `accumulate` holds (a predicate, or an immediate). */
void lt_tcgen05_mma(struct lt_builder *b, int group, enum lathe_type type, lt_value d,
                    lt_value a_descriptor, lt_value b_descriptor, lt_value instruction,
                    lt_value accumulate);
/* One arrival at `mbarrier` when all MMAs of this thread are done, which then read their operands
 * no more; with a `mask` (16 bits; nothing: own CTA) at the same offset in each CTA of the cluster.
 */
void lt_tcgen05_commit(struct lt_builder *b, int group, lt_value mbarrier, lt_value mask);

/* ---- Read: all lanes of a warp ---- */

/* Lane t gets `count` (a power of two) columns from `address` on, of lane 32 * (warp % 4) + t, into
 * the elements of `to` from `first`. They are there behind lt_tcgen05_wait_ld(). */
void lt_tcgen05_ld(struct lt_builder *b, const struct lt_vector *to, int first, int count,
                   lt_value address);
void lt_tcgen05_wait_ld(struct lt_builder *b);

/* Between what tcgen05 does and what orders threads (a barrier, an arrival): before for those who
 * have issued, after for those who go on. */
void lt_tcgen05_fence_before(struct lt_builder *b);
void lt_tcgen05_fence_after(struct lt_builder *b);

#endif
