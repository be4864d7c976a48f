/* gemm_sm90_plan.h: plans of the gemm family for sm_90a: choosing and checking. */
#ifndef LT_TEMPLATES_GEMM_SM90_PLAN_H
#define LT_TEMPLATES_GEMM_SM90_PLAN_H

#include "templates/gemm_check.h"

/* See struct lt_variant. */
enum lathe_status lt_gemm_sm90_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                      struct lathe_error *err);
enum lathe_status lt_gemm_sm90_check(struct lathe_plan *plan, struct lathe_error *err);

/* Fills in what a tile leaves no choice about: consumers, epilogue, registers, and as many stages
 * as fit; what is named already stays. */
void lt_gemm_sm90_complete(struct lathe_plan *plan);

/* How deep the ring may be. */
struct lt_stages lt_gemm_sm90_stages(const struct lathe_plan *plan);

#endif
