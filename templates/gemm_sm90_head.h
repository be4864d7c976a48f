/* gemm_sm90_head.h: what stands before the roles of the kernel of gemm_sm90.c: the arithmetic of
 * its shared memory, which the planner uses too, its tensor maps, parameters and entry. */
#ifndef LT_TEMPLATES_GEMM_SM90_HEAD_H
#define LT_TEMPLATES_GEMM_SM90_HEAD_H

#include "codegen/wgmma.h"
#include "templates/gemm_kernel.h"

/* The registers of this thread's sums. */
struct lt_vector lt_gemm_accumulators(struct lt_builder *b, const struct lathe_plan *plan);

/* Consumers share one row of staging buffers, and use it one after the other. */
bool lt_gemm_takes_turns(const struct lathe_plan *plan);
/* Boxes of A have no more rows than A. */
bool lt_gemm_fits_a(const struct lathe_plan *plan);

/* Rows of A, and of B, that one CTA fetches: in a cluster each fetches a slice and multicasts it.
 */
int lt_gemm_a_slice_rows(const struct lathe_plan *plan);
int lt_gemm_b_slice_rows(const struct lathe_plan *plan);

struct lt_gemm lt_gemm_of(const struct lathe_plan *plan);

/* Writes all up to the kernel's first instruction. */
void lt_gemm_head(struct lt_builder *b, const struct lt_gemm *g);

#endif
