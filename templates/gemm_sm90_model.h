/* gemm_sm90_model.h: how long a plan of sm_90a will take for a problem, estimated. */
#ifndef LT_TEMPLATES_GEMM_SM90_MODEL_H
#define LT_TEMPLATES_GEMM_SM90_MODEL_H

#include "include/lathe.h"

/* Nanoseconds; the same bits on every machine. */
double lt_gemm_sm90_predict_ns(const struct lathe_plan *plan, const struct lathe_gemm *problem);

/* Writes the prediction and the reason for it into the plan. */
void lt_gemm_sm90_explain(struct lathe_plan *plan, const struct lathe_gemm *problem);

/* Rows of cluster tiles to walk together. */
int lt_gemm_sm90_raster(const struct lathe_plan *plan);

#endif
