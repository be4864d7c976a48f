/* comparison.h: when a GEMM's answer is right, element by element. The rule stands here for the CPU
 * and in reference_source.c for the GPU; what both work on are the values below.
 *
 * For r = alpha * sum a*b + beta * c in f64, an element d is right when
 *     |d - r| <= 1 spacing of the output type at r
 *                + (k/16 + 2) * 2^-20 * (|alpha| sum |a||b| + |beta c|),
 * with 2^-9 in the place of 2^-20 where the sums were kept in f16, and (k/16 + 2) * 2^-24 * |alpha|
 * more, for below 2^-14 the numbers of f16 are that far apart.
 * NaN must meet NaN; a sum that overflows the output type must give its infinity, one that comes
 * within the second term of overflowing may. For e4m3 and e5m2, whose steps are wide and which
 * saturate, d must be what some number within the second term of r rounds to. On whole numbers
 * whose partial sums all stay below 2^24 (2^11 in f16) the answer must be r, rounded once. A D of
 * s32 must be the low 32 bits of r: sums of whole numbers are exact in f64 as long as k is below
 * 2^38, and alpha and beta are whole too. With beta = 0 c is not looked at. */
#ifndef LT_RUNTIME_COMPARISON_H
#define LT_RUNTIME_COMPARISON_H

#include "runtime/matrix.h"

#include <stdbool.h>

/* Bytes from the first element to the last one; 0 for an empty matrix. */
int64_t lt_matrix_bytes(const struct lt_matrix *matrix);

/* `bytes` bytes of each row, the rows `pitch` bytes apart: all should hold the canary. */
struct lt_region {
    uint64_t at;
    int64_t rows, bytes, pitch;
};

/* What was multiplied: D = alpha * A * B^T + beta * C. */
struct lt_product {
    struct lt_matrix a, b, c, d;
    double alpha, beta;
    bool whole;           /* A, B, C, alpha and beta hold whole numbers */
    enum lathe_type sums; /* what they were kept in: LATHE_F16, or else f32 */
};

/* What a sum of that type is known to: the rule's 2^-20, and the whole numbers below which all are
 * exact. */
double lt_sum_step(enum lathe_type sums);
/* What two neighbours of that type differ by at least: near 0 a step of the sum is no less. */
double lt_sum_least(enum lathe_type sums);
double lt_sum_exact_below(enum lathe_type sums);

struct lt_verdict {
    int64_t compared; /* elements: all of them, or the verdict is worth nothing */
    int64_t wrong;
    int64_t first; /* index of the first of them, row * columns + column; INT64_MAX if none */
    double got, want, bound; /* there */
    double max_abs_error; /* infinite where a wrong element, or what it should be, is no number */
    double error_squares, reference_squares; /* sums of (d - r)^2 and r^2 */
};
#define LT_VERDICT_INIT                                                                            \
    {                                                                                              \
        .first = INT64_MAX                                                                         \
    }

/* Judges the element `d` at `index`, for which `sum` = sum a*b and `magnitude` = sum |a||b|. */
void lt_verdict_add(struct lt_verdict *verdict, const struct lt_product *product, int64_t index,
                    double d, double sum, double magnitude, double c);

/* Takes a part's verdict into the whole's. */
void lt_verdict_merge(struct lt_verdict *verdict, const struct lt_verdict *part);

/* ||d - r|| / ||r||; 0 when there is no error, infinite when there is but r is 0. */
double lt_verdict_rel_error(const struct lt_verdict *verdict);

#endif
