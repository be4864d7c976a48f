/* operands.h: the matrices of one GEMM in device memory, with guards around them if wanted: NaN
 * before, behind and between the rows of A, B and C, so that whatever is read there shows in the
 * answer; canary bytes around and between the rows of D, so that whatever is written there shows
 * afterwards. Every matrix starts at a multiple of 256 bytes. */
#ifndef LT_RUNTIME_OPERANDS_H
#define LT_RUNTIME_OPERANDS_H

#include "runtime/checker.h"
#include "runtime/comparison.h"
#include "runtime/stream.h"

#include <stdbool.h>

/* A matrix in an allocation of its own. */
struct lt_operand {
    uint64_t base;
    int64_t bytes; /* of the allocation */
    struct lt_matrix matrix;
};

struct lt_operands {
    const struct lt_stream *stream;
    struct lt_operand a, b, c, d; /* without beta there is no C: its address is 0 */
    enum lathe_type sums;         /* of the kernel: LATHE_F16, or else f32 */
};

/* What A, B and C are filled with, each rounded to its type (of tf32 the low 13 bits are zero: what
 * becomes of others is no matter of the type, and a way to load that drops them would differ from
 * one that rounds). Sums keep within what D's type holds.
 * Of int8 and s32 numbers are larger, for sums of them are exact. */
enum lt_data {
    LT_DATA_NORMAL,  /* A, C: N(0, 1); B: N(0, 1) / sqrt(k), so that sums are about N(0, 1) */
    LT_DATA_INTEGERS /* -4 to 4, fewer where a sum could leave the whole numbers that are exact */
};

/* Makes room for a problem that is resolved; `operands` is all zero. The stream stays open and in
 * place for as long as they. Errors: LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_operands_create(struct lt_operands *operands, const struct lt_stream *stream,
                                     const struct lathe_gemm *problem, bool guard,
                                     struct lathe_error *err);
void lt_operands_destroy(struct lt_operands *operands);

/* Bytes of the elements that a GEMM touches: without padding and guards. */
double lt_operands_footprint(const struct lathe_gemm *problem);

enum lathe_status lt_operands_fill(const struct lt_operands *operands,
                                   const struct lt_checker *checker, enum lt_data data,
                                   uint64_t seed, struct lathe_error *err);

/* Enqueues setting all bytes of D's allocation to the canary, which as a number is NaN. */
enum lathe_status lt_operands_poison(const struct lt_operands *operands, struct lathe_error *err);

/* Bytes outside D's elements that are no longer the canary. */
enum lathe_status lt_operands_damage(const struct lt_operands *operands,
                                     const struct lt_checker *checker, int64_t *damage,
                                     struct lathe_error *err);

/* What a launch with these operands is to give. */
struct lt_product lt_operands_product(const struct lt_operands *operands, float alpha, float beta,
                                      enum lt_data data);

/* Arguments of such a launch. */
struct lathe_gemm_args lt_operands_args(const struct lt_operands *operands, float alpha,
                                        float beta);

#endif
