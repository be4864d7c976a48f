/* gemm_sm100_check.h: what plans for sm_100a and sm_103a may be, whose accumulators lie in tensor
 * memory, and what they take of it and of shared memory. */
#ifndef LT_TEMPLATES_GEMM_SM100_CHECK_H
#define LT_TEMPLATES_GEMM_SM100_CHECK_H

#include "templates/gemm_check.h"

#include <stdbool.h>

enum {
    LT_GEMM_SM100_COLUMNS_MAX = 256, /* of one tcgen05.mma                                */
    LT_GEMM_SM100_STAGING_STEP = 16, /* bytes that TMA takes as one, of a row of the staging */
    LT_GEMM_SM100_REPLIES = 2        /* so that the next tile is asked for while this one is made */
};

/* See struct lt_variant. */
enum lathe_status lt_gemm_sm100_check(struct lathe_plan *plan, struct lathe_error *err);

/* Two of its rules, for plans that are not complete yet: the types of A, B and D; the staging. */
enum lathe_status lt_gemm_sm100_check_types(const struct lathe_plan *plan, struct lathe_error *err);
enum lathe_status lt_gemm_sm100_check_epilogue(const struct lathe_plan *plan,
                                               struct lathe_error *err);

/* Whether load and flow are such that two CTAs can share an MMA. */
bool lt_gemm_sm100_has_pairs(const struct lathe_plan *plan);

/* Rows of A, for each consumer, and of B that a CTA fetches: all that it holds, or the slice that
 * is its part where the CTAs of a cluster fetch together. */
int lt_gemm_sm100_a_slice_rows(const struct lathe_plan *plan);
int lt_gemm_sm100_b_slice_rows(const struct lathe_plan *plan);

/* What the tenants of a plan take, in the order of their offsets; the plan is in range. */
void lt_gemm_sm100_budget(const struct lathe_plan *plan, struct lt_budget *budget);

/* How deep the ring of the plan's flow may be. */
struct lt_stages lt_gemm_sm100_stages(const struct lathe_plan *plan);

/* What one accumulator fills of a CTA's tensor memory; consumers and cta_group are there. */
struct lt_accumulator {
    int lanes, columns;
};
struct lt_accumulator lt_gemm_sm100_accumulator(const struct lathe_plan *plan);

/* Columns of tensor memory that a CTA allocates: a power of two from 32, whatever there is. */
int lt_gemm_sm100_tmem_columns(const struct lathe_plan *plan);

#endif
