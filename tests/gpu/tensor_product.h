/* tensor_product.h: a few wgmma of one shape, as the suite draws them. */
#ifndef LATHE_TESTS_TENSOR_PRODUCT_H
#define LATHE_TESTS_TENSOR_PRODUCT_H

#include "tests/gpu/tensor_case.h"
#include "tests/gpu/tensor_draw.h"

/* Types by PTX's words. */
struct tensor_product_type {
    const char *name;
    int bits, exponent, mantissa; /* the latter of floats */
};
const struct tensor_product_type *tensor_product_type(const char *name);

/* A or B in shared memory. */
struct tensor_operand {
    const struct tensor_product_type *type;
    int rows; /* along M or N */
    bool is_mn_major, is_negated;
    int swizzle;                     /* 0, 32, 64 or 128 bytes */
    uint32_t at, bytes;              /* of shared memory */
    uint32_t start, leading, stride; /* bytes; the start from `at` on */
    uint32_t base_offset;
};

enum tensor_scale_d { TENSOR_FALSE, TENSOR_TRUE, TENSOR_ZERO, TENSOR_ONE, TENSOR_SCALES };

enum { TENSOR_STEPS_MAX = 8, TENSOR_ACCUMULATORS_MAX = 4 };

struct tensor_product {
    const struct tensor_product_type *d;
    int n;
    struct tensor_operand a, b;
    bool a_in_registers, saturates;
    enum tensor_scale_d scale_d; /* by a predicate, or an immediate; of the first of a D */
    /* Steps go round the accumulators, a group each; as each wait ends, D is given back. */
    int steps, accumulators;
    uint32_t step_bytes; /* by which the starts advance */
    unsigned threads;
};

/* 32-bit registers of D a thread. */
int tensor_product_registers(const struct tensor_product *product);
/* Elements of K of one instruction. */
int tensor_product_depth(const struct tensor_product *product);

/* ---- Drawing ---- */

/* Where the operand lies in shared memory from `at` on, in a legal layout: the canonical one, or
 * with offsets of its own. */
void tensor_draw_operand(struct tensor_draw *draw, struct tensor_operand *operand, uint32_t at,
                         bool is_canonical);

/* The kernel's text, into the case that has all else. What it reads and leaves of registers is
 * behind the image in what shared memory gives back. */
void tensor_product_write(const struct tensor_product *product, struct tensor_case *it);
/* Bytes of registers at the image's end: D, and A where it is there. */
uint32_t tensor_product_register_bytes(const struct tensor_product *product);

#endif
