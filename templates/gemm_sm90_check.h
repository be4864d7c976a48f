/* gemm_sm90_check.h: which plans of the gemm family there are kernels for on sm_90a. Every limit is
 * stated once, in the check that refuses it. */
#ifndef LT_TEMPLATES_GEMM_SM90_CHECK_H
#define LT_TEMPLATES_GEMM_SM90_CHECK_H

#include "templates/gemm_check.h"

enum {
    /* Registers for sums in a thread. Of the 168 that each of 384 threads has, addresses, the
     * epilogue and C leave that many. With more, ptxas spills and puts the MMAs one after the other
     * (13 times slower on an H200). setmaxnreg could move registers from the producer to the
     * consumers, but nvJitLink 13.0 compiles PTX as a relocatable object and then ignores it
     * (C7504), so no plan counts on it. With one consumer there would be room for more, at 150 to
     * 230 ms for a link. */
    LT_SM90_ACCUMULATORS_MAX = 128,
    LT_SM90_PERSISTENT_CONSUMERS_MAX = 2,
    LT_SM90_COLUMNS_MAX = 256 /* of one wgmma, and rows of a TMA box */
};

/* See struct lt_variant. */
enum lathe_status lt_gemm_sm90_check(struct lathe_plan *plan, struct lathe_error *err);

/* The problem's part of a plan alone, with its types. */
enum lathe_status lt_gemm_sm90_check_problem(const struct lathe_plan *plan,
                                             struct lathe_error *err);

/* How deep the ring may be. */
struct lt_stages lt_gemm_sm90_stages(const struct lathe_plan *plan);

/* Columns of a staging buffer: a span of the swizzle, or all of a narrower tile. */
int lt_gemm_sm90_staging_columns(const struct lathe_plan *plan);

#endif
