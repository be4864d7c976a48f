/* gemm_sm100_plan.h: plans of the gemm family for sm_100a and sm_103a, whose accumulators lie in
 * tensor memory: choosing, checking, and the budget that their kernels are to use. */
#ifndef LT_TEMPLATES_GEMM_SM100_PLAN_H
#define LT_TEMPLATES_GEMM_SM100_PLAN_H

#include "codegen/budget.h"

/* See struct lt_variant; `plan` is labelled with the preset that it starts from. */
enum lathe_status lt_gemm_sm100_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                       struct lathe_error *err);
enum lathe_status lt_gemm_sm100_check(struct lathe_plan *plan, struct lathe_error *err);

/* Fills in what follows from the tile; what is named already stays. */
void lt_gemm_sm100_complete(struct lathe_plan *plan);

/* What the tenants of a plan take, in the order of their offsets; the plan is in range. */
void lt_gemm_sm100_budget(const struct lathe_plan *plan, struct lt_budget *budget);

/* Columns of tensor memory that a CTA allocates: a power of two from 32, whatever there is. */
int lt_gemm_sm100_tmem_columns(const struct lathe_plan *plan);

#endif
