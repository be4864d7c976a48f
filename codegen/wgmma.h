/* wgmma.h: the warpgroup-wide asynchronous matrix multiply of sm_90a.
 *
 * Source: PTX ISA "Asynchronous Warpgroup Level Matrix Instructions". All four warps of a warpgroup
 * execute each of these. Between lt_wgmma_fence() and the lt_wgmma_wait() that covers an MMA its
 * accumulators must not be touched: ptxas otherwise puts the MMAs one after the other. */
#ifndef LT_CODEGEN_WGMMA_H
#define LT_CODEGEN_WGMMA_H

#include "codegen/builder.h"

enum {
    LT_WGMMA_ROWS = 64,     /* of A that one MMA takes, and of D that it makes */
    LT_WARPGROUP_WARPS = 4, /* which execute it together                       */
    LT_WARPGROUP_THREADS = 128
};

/* Columns of k that one MMA takes: 32 bytes; 0 for LATHE_TYPE_DEFAULT. */
int lt_wgmma_k(enum lathe_type type);

/* Before the first MMA, and whenever other instructions touched the accumulators. */
void lt_wgmma_fence(struct lt_builder *b);

/* 64 x n of D = A * B (+ D where `accumulate` holds; a predicate, or an immediate 0 or 1), both
 * operands K-major in shared memory. The accumulators are n/2 floats from the one numbered `first`;
 * thread t holds of them, at i, row 16*(t/32) + (t%32)/4 + 8*((i/2)%2) and column 8*(i/4) + 2*(t%4)
 * + i%2. `acc` has an f32 for each, or a b32 for two neighbours of f16. */
void lt_wgmma(struct lt_builder *b, int n, enum lathe_type type, const struct lt_vector *acc,
              int first, lt_value a_descriptor, lt_value b_descriptor, lt_value accumulate);

void lt_wgmma_commit(struct lt_builder *b);
/* Waits until at most `pending` of this warpgroup's groups are in flight. */
void lt_wgmma_wait(struct lt_builder *b, int pending);

#endif
