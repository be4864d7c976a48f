/* foreign.h: kernels that other compilers have made, and what they must compute.
 *
 * A case is one entry of one text with its launch, its arguments and a reference on the host. Those
 * of CUDA C++ stand in cases.def, those of Triton in ../triton/cases.def. Nothing here knows how a
 * kernel is run. */
#ifndef EMU_TESTS_FOREIGN_H
#define EMU_TESTS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum foreign_type {
    FOREIGN_U8,
    FOREIGN_S8,
    FOREIGN_U16,
    FOREIGN_U32,
    FOREIGN_U64,
    FOREIGN_F16,
    FOREIGN_BF16,
    FOREIGN_F32,
    FOREIGN_F64,
    FOREIGN_E4M3,
    FOREIGN_E5M2
};

/* ---- What is in a buffer before the launch ---- */

enum foreign_fill_kind {
    FOREIGN_ZERO,
    FOREIGN_BITS,    /* any                                                                 */
    FOREIGN_INDEX,   /* 0, 1, 2 ...                                                         */
    FOREIGN_WHOLE,   /* whole numbers from low to high                                      */
    FOREIGN_RANGE,   /* real numbers from low to high                                       */
    FOREIGN_SCALES,  /* of either sign, of sizes from 2^low to 2^high, all scales as often  */
    FOREIGN_SPECIAL, /* bits of f32: zeros, infinities, NaN, subnormals, 1, and any         */
    FOREIGN_FP8,     /* codes of e4m3 that are numbers                                      */
    FOREIGN_RISING,  /* 0, then steps of low to high                                        */
    FOREIGN_STRIPES, /* rows of 32, by turns of equal upper bits and of any                 */
    FOREIGN_TEXT,    /* words of letters, with digits and signs between them                */
    FOREIGN_SETTINGS /* one struct foreign_settings                                         */
};

struct foreign_fill {
    enum foreign_fill_kind kind;
    double low, high;
};

/* `struct settings` of params.cu. */
struct foreign_settings {
    signed char name[6];
    short step;
    double scale;
    float table[9];
    uint64_t seed;
};

/* ---- How near an output must be ---- */

/* |got - expected| <= relative * |expected| + absolute; of zeros the bits must be equal. */
struct foreign_near {
    double relative, absolute;
};

/* Element i by entry i % count of a table; without a table, all by the one here. */
struct foreign_tolerance {
    struct foreign_near all;
    const struct foreign_near *table;
    uint32_t count;
};

extern const struct foreign_near foreign_math_near[14], foreign_math_fast_near[10];

/* ---- Arguments and cases ---- */

enum foreign_role {
    FOREIGN_IN, /* a buffer that must not change                                            */
    FOREIGN_OUT,
    FOREIGN_INOUT,
    FOREIGN_SCRATCH, /* a buffer of which nobody knows what is in it                        */
    FOREIGN_MAP,     /* an input too, but the parameter is a tensor map of it               */
    FOREIGN_VALUE,   /* a parameter that is no address                                      */
    FOREIGN_PRINTED  /* no parameter: what the kernel prints, ended by zeros                */
};

/* A matrix of f16 in rows, its boxes with the swizzle of 128 bytes. */
struct foreign_map {
    uint32_t rows, columns, box_rows, box_columns;
};

struct foreign_argument {
    enum foreign_role role;
    enum foreign_type type;
    uint32_t count; /* of elements; 0 ends a case's list                                    */
    struct foreign_fill fill;
    struct foreign_tolerance tolerance;
    struct foreign_map map;
};

enum { FOREIGN_ARGUMENTS = 16 };
enum foreign_targets {
    FOREIGN_SM_80 = 1,
    FOREIGN_SM_90A = 2,
    FOREIGN_SM_100A = 4,
    FOREIGN_TRITON_SM_80 = 8,
    FOREIGN_TRITON_SM_90A = 16,
    FOREIGN_TRITON_SM_100A = 32,
    FOREIGN_HOPPER = FOREIGN_SM_90A,
    FOREIGN_BLACKWELL = FOREIGN_SM_100A,
    FOREIGN_NEW = FOREIGN_SM_90A | FOREIGN_SM_100A,
    FOREIGN_PLAIN = FOREIGN_SM_80 | FOREIGN_NEW
};

struct foreign_case {
    const char *file, *entry;
    unsigned targets;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared_bytes;
    struct foreign_argument arguments[FOREIGN_ARGUMENTS];
    /* Writes what is expected over the outputs, given the arguments as they are before a launch. */
    void (*reference)(void *const *arguments);
};

/* Ended by a case without a file. */
extern const struct foreign_case foreign_cases[];

size_t foreign_bytes(const struct foreign_argument *argument);
/* Writes foreign_bytes of what the argument is before the launch; another seed, other values. */
void foreign_draw(const struct foreign_argument *argument, uint64_t seed, void *to);
/* Of the first element that is not near enough, or -1. */
long foreign_differs(const struct foreign_argument *argument, const void *got,
                     const void *expected);
/* An element as a number, for a message or a reference. */
double foreign_element(enum foreign_type type, const void *from, size_t index);
/* Sets one to the number next to the value; integers have to fit. */
void foreign_store(enum foreign_type type, void *to, size_t index, double value);

/* ---- Small formats of numbers, for the references ---- */

struct foreign_format {
    int fraction_bits, exponent_bits;
    double largest;
    bool infinity; /* its largest exponent is one of infinities and NaN, as in IEEE 754      */
};
extern const struct foreign_format foreign_f16, foreign_bf16, foreign_e4m3, foreign_e5m2;

enum foreign_rounding { FOREIGN_NEAREST, FOREIGN_ZEROWARD, FOREIGN_UP, FOREIGN_DOWN };

/* The code of the number next to a value; a finite value behind the largest becomes infinite where
 * IEEE 754 says so. NaN has all bits set but the sign, as the hardware's. */
uint32_t foreign_narrow(const struct foreign_format *format, enum foreign_rounding rounding,
                        double value);
double foreign_widen(const struct foreign_format *format, uint32_t code);

/* ---- References ---- */

#define FOREIGN(file, entry, ...) void foreign_##entry(void *const *arguments);
#include "tests/emulator/foreign/cases.def"
#undef FOREIGN
#define TRITON(text, reference, ...) void triton_##reference(void *const *arguments);
#include "tests/emulator/triton/cases.def"
#undef TRITON

#endif
