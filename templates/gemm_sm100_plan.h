/* gemm_sm100_plan.h: choosing plans of the gemm family for sm_100a and sm_103a. */
#ifndef LT_TEMPLATES_GEMM_SM100_PLAN_H
#define LT_TEMPLATES_GEMM_SM100_PLAN_H

#include "include/lathe.h"

/* See struct lt_variant; `plan` is labelled with the preset that it starts from. */
enum lathe_status lt_gemm_sm100_choose(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                       struct lathe_error *err);

/* Fills in what follows from the tile; what is named already stays. */
void lt_gemm_sm100_complete(struct lathe_plan *plan);

#endif
