/* gemm_sm90_parts.h: what the kernels for sm_90a are put together from. Each part is written by all
 * threads of the role that it is for; which role that is, and in which order they come, the kernels
 * say (gemm_sm90.c, gemm_sm90_grid.c). */
#ifndef LT_TEMPLATES_GEMM_SM90_PARTS_H
#define LT_TEMPLATES_GEMM_SM90_PARTS_H

#include "templates/gemm_sm90_head.h"

/* ---- Setup: all threads (gemm_sm90_setup.c) ---- */

/* Names threads, sizes and maps, counts tiles and steps of k, and lets one thread initialise the
 * barriers. */
void lt_gemm_setup(struct lt_builder *b, struct lt_gemm *g);

/* ---- A and B of a stage: one thread (gemm_sm90_load.c) ---- */

/* What this CTA fetches: its slice, to all CTAs that share it. */
struct lt_slices {
    struct lt_slice a, b;
    lt_value a_rows;      /* of a slice: fewer where A is short         */
    lt_value fetches_a;   /* predicate; nothing where each CTA does     */
    lt_value stage_bytes; /* that arrive at a stage, from whichever CTA */
};

struct lt_slices lt_gemm_slices(struct lt_builder *b, const struct lt_gemm *g);
/* The slices' first rows in a tile of D. */
struct lt_tile lt_gemm_slice_rows(struct lt_builder *b, const struct lt_slices *slices,
                                  const struct lt_tile *tile);

/* Fetches A and B of one step of k into the cursor's stage: a box a swizzle span. `rows` are the
 * first ones of A and of B. */
void lt_gemm_load(struct lt_builder *b, const struct lt_gemm *g, const struct lt_slices *slices,
                  const struct lt_cursor *stage, const struct lt_tile *rows, lt_value k_block);

/* ---- Products of a stage, by wgmma: a warpgroup (gemm_sm90_wgmma.c) ---- */

struct lt_wgmma_operands {
    lt_value a_first, b_first; /* descriptors of this consumer's part of stage 0 */
};

struct lt_wgmma_operands lt_gemm_wgmma_operands(struct lt_builder *b, const struct lt_gemm *g,
                                                lt_value consumer);
/* One group. `later` is false in a tile's first step, where the first MMA of each accumulator
 * overwrites it. */
void lt_gemm_wgmma(struct lt_builder *b, const struct lt_gemm *g,
                   const struct lt_wgmma_operands *operands, const struct lt_cursor *stage,
                   const struct lt_vector *acc, lt_value later);

/* ---- The same by mma.sync: a warp (gemm_sm90_mma_sync.c) ---- */

enum { LT_SYNC_K_STEPS = 4 /* in a span of the swizzle */ };

struct lt_sync_operands {
    struct lt_vector a, b;            /* addresses in stage 0, for each step of k within a span */
    lt_value first_row, first_column; /* of this warp's part of the tile */
};

/* The rows and columns of D that one warp makes. */
int lt_gemm_sync_rows(const struct lathe_plan *plan);
int lt_gemm_sync_columns(const struct lathe_plan *plan);

struct lt_sync_operands lt_gemm_sync_operands(struct lt_builder *b, const struct lt_gemm *g);
void lt_gemm_sync_clear(struct lt_builder *b, const struct lt_vector *acc);
void lt_gemm_sync(struct lt_builder *b, const struct lt_gemm *g,
                  const struct lt_sync_operands *operands, const struct lt_cursor *stage,
                  const struct lt_vector *acc);

#endif
