/* gemm_kernel.h: what the kernels of a gemm have in common, whatever the architecture: their heads,
 * and the first things that all threads do. */
#ifndef LT_TEMPLATES_GEMM_KERNEL_H
#define LT_TEMPLATES_GEMM_KERNEL_H

#include "codegen/ring.h"
#include "codegen/swizzle.h"
#include "templates/epilogue.h"
#include "templates/gemm_slice.h"
#include "templates/gemm_tile.h"
#include "templates/schedule.h"

struct lt_gemm {
    const struct lathe_plan *plan;
    int spans;       /* swizzle spans along k of a stage            */
    int span_k;      /* columns of k in a span                      */
    int ring_offset; /* of stage 0 in shared memory; A, then B      */
    lt_value smem, ring_start, thread, warp, lane, warpgroup, k_blocks, k_first, m, n, k;
    lt_value is_first; /* predicate: thread 0 */
    lt_value alpha, beta;
    lt_value map_a, map_b;
    struct lt_ring tiles; /* producer -> consumers: A and B in shared memory */
    struct lt_schedule schedule;

    /* Of sm_90a. */
    int blocks;                  /* of 64 rows a consumer */
    struct lt_epilogue epilogue; /* where TMA stores D    */
};

/* The shared part of the struct, for a plan that was checked; no rings. */
struct lt_gemm lt_gemm_common(const struct lathe_plan *plan);

/* ---- The head, in this order ---- */

/* What is computed, by which plan, in which shared memory. */
void lt_gemm_describe(struct lt_builder *b, const struct lathe_plan *plan);
/* A map's box and its swizzle; the rest is as everywhere. */
struct lt_gemm_map {
    const char *name;
    enum lathe_operand operand;
    int columns, rows, swizzle_bytes;
    bool fits_rows; /* the box has no more rows than the matrix */
};
void lt_gemm_declare_map(struct lt_builder *b, const struct lathe_plan *plan,
                         const struct lt_gemm_map *map);
/* Sizes that are not baked in, raster, factors. */
void lt_gemm_declare_scalars(struct lt_builder *b, const struct lathe_plan *plan);
void lt_gemm_entry(struct lt_builder *b, const struct lathe_plan *plan);

/* ---- All threads ---- */

/* The thread, its warp and lane; the start of shared memory and of the ring. */
void lt_gemm_identify(struct lt_builder *b, struct lt_gemm *g);
/* The number of the thread's warpgroup. */
lt_value lt_gemm_warpgroup(struct lt_builder *b, const struct lt_gemm *g);
/* Steps of k. */
void lt_gemm_count_k(struct lt_builder *b, struct lt_gemm *g);
/* m, n, alpha and beta. */
void lt_gemm_load_scalars(struct lt_builder *b, struct lt_gemm *g);

/* Elements of D that make what TMA writes at least; and whether its rows may end within one. */
bool lt_gemm_has_edge(const struct lathe_plan *plan);

#endif
