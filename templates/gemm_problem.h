/* gemm_problem.h: what a gemm problem means, and whether any kernel can take it. */
#ifndef LT_TEMPLATES_GEMM_PROBLEM_H
#define LT_TEMPLATES_GEMM_PROBLEM_H

#include "include/lathe.h"

/* Fills in the defaults (types, layout, packed strides) and checks sizes, types and strides.
 * Errors: LATHE_OUT_OF_RANGE, LATHE_UNSUPPORTED. */
enum lathe_status lt_gemm_resolve(struct lathe_gemm *problem, struct lathe_error *err);

/* The problem with the packed strides filled in (`problem` is changed to it), and with every stride
 * that TMA cannot take replaced by the nearest that it can. */
void lt_gemm_legal_pitches(struct lathe_gemm *problem, struct lathe_gemm *legal);

/* How many tiles of so many rows and columns D has; what a cluster makes at a time is one.
 * Errors: LATHE_UNSUPPORTED (more than a kernel counts). */
enum lathe_status lt_gemm_count_tiles(const struct lathe_gemm *problem, const int cluster_tile[2],
                                      int64_t *tiles, struct lathe_error *err);

/* The type of C and D that stands for LATHE_TYPE_DEFAULT. */
enum lathe_type lt_gemm_default_out(enum lathe_type type);

#endif
