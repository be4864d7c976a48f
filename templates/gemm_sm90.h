/* gemm_sm90.h: D = alpha * A * B^T + beta * C for sm_90a. */
#ifndef LT_TEMPLATES_GEMM_SM90_H
#define LT_TEMPLATES_GEMM_SM90_H

#include "codegen/budget.h"
#include "codegen/builder.h"

/* What a stage, the barriers and the staging of a plan take, in the order of their offsets; the
 * plan has been found to be in range. */
void lt_gemm_sm90_budget(const struct lathe_plan *plan, struct lt_budget *budget);

/* Writes the kernel of a plan that was checked: the persistent one, or that of a CTA for each tile.
 */
void lt_gemm_sm90_persistent(struct lt_builder *b, const struct lathe_plan *plan);
void lt_gemm_sm90_grid(struct lt_builder *b, const struct lathe_plan *plan);
void lt_gemm_sm90_emit(struct lt_builder *b, const struct lathe_plan *plan);

#endif
