/* gemm_sm90_plan.h: choosing plans of the gemm family for sm_90a. */
#ifndef LT_TEMPLATES_GEMM_SM90_PLAN_H
#define LT_TEMPLATES_GEMM_SM90_PLAN_H

#include "templates/gemm_check.h"

/* See struct lt_variant. */
enum lathe_status lt_gemm_sm90_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                      struct lathe_error *err);

/* Fills in what a tile leaves no choice about, as the preset has it: consumers, epilogue, stages;
 * what is named already stays. */
void lt_gemm_sm90_complete(struct lathe_plan *plan);

#endif
