/* gemm_sm100.h: D = alpha * A * B^T + beta * C for sm_100a and sm_103a. */
#ifndef LT_TEMPLATES_GEMM_SM100_H
#define LT_TEMPLATES_GEMM_SM100_H

#include "codegen/builder.h"

/* Writes the kernel of a plan that was checked. */
void lt_gemm_sm100_emit(struct lt_builder *b, const struct lathe_plan *plan);

#endif
