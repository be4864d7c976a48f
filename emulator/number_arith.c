/* number_arith.c: sums, products, quotients and roots in any direction of rounding.
 *
 * To nearest the host computes; other directions work on the exact result in integers, since no
 * compiler promises to leave floating-point code alone where the host's rounding is changed. */
#include "emulator/bits.h"
#include "emulator/number_exact.h"

#include <math.h>
#include <string.h>

static double round_to(enum emu_format format, struct emu_exact number, enum emu_rounding rounding)
{
    const struct emu_narrowing how = {.rounding = rounding};

    return emu_widen(format, emu_exact_round(format, number, &how));
}

/* ---- Exact results ---- */

static int top_bit(emu_u128 number)
{
    uint64_t upper = (uint64_t)(number >> 64);

    return upper ? 127 - __builtin_clzll(upper) : 63 - __builtin_clzll((uint64_t)number);
}

/* The lowest bit stays set if any bit is shifted out. */
static emu_u128 shift_right_sticky(emu_u128 number, int shift)
{
    if (shift > 127)
        return number != 0;
    return number >> shift | ((number & (((emu_u128)1 << shift) - 1)) != 0);
}

static struct emu_exact multiply(struct emu_exact a, struct emu_exact b)
{
    return (struct emu_exact){
        .negative = a.negative != b.negative,
        .exponent = a.exponent + b.exponent,
        .significand = a.significand * b.significand,
    };
}

/* Bit 126 is the highest one set, so that a sum still fits. */
static struct emu_exact normalise(struct emu_exact number)
{
    int shift = 126 - top_bit(number.significand);

    number.significand <<= shift;
    number.exponent -= shift;
    return number;
}

/* Operands have at most 106 bits. What is shifted out of the smaller one is below the 20 bits that
 * are free under the larger one, so no more than one bit is cancelled whenever it is sticky. */
static struct emu_exact add(struct emu_exact a, struct emu_exact b, enum emu_rounding rounding)
{
    if (a.significand == 0 && b.significand == 0) {
        a.negative = a.negative == b.negative ? a.negative : rounding == EMU_DOWN;
        return a;
    }
    if (a.significand == 0)
        return b;
    if (b.significand == 0)
        return a;

    a = normalise(a);
    b = normalise(b);
    if (a.exponent < b.exponent) {
        struct emu_exact swap = a;
        a = b;
        b = swap;
    }
    b.significand = shift_right_sticky(b.significand, a.exponent - b.exponent);
    if (a.negative == b.negative) {
        a.significand += b.significand;
    } else if (a.significand > b.significand) {
        a.significand -= b.significand;
    } else if (a.significand < b.significand) {
        a.significand = b.significand - a.significand;
        a.negative = b.negative;
    } else {
        a.significand = 0;
        a.negative = rounding == EMU_DOWN;
    }
    return a;
}

/* Neither is zero. The quotient has at least 72 bits. */
static struct emu_exact divide(struct emu_exact a, struct emu_exact b)
{
    int shift = 63 - top_bit(b.significand);

    b.significand <<= shift;
    b.exponent -= shift;
    a = normalise(a);
    a.significand <<= 1;
    a.exponent--;

    /* 128 bits by 64 give 64 bits or 65; the rest gives eight more. */
    emu_u128 quotient = a.significand / b.significand;
    emu_u128 rest = a.significand % b.significand << 8;

    return (struct emu_exact){
        .negative = a.negative != b.negative,
        .exponent = a.exponent - b.exponent - 8,
        .significand = quotient << 8 | rest / b.significand | (rest % b.significand != 0),
    };
}

/* Not of zero. The root has 60 bits, and a sticky one. */
static struct emu_exact root(struct emu_exact a)
{
    a = normalise(a);
    if (a.exponent & 1) {
        a.significand >>= 1; /* the lowest bits are zero: it came from 53 */
        a.exponent++;
    }

    emu_u128 rest = a.significand, result = 0;

    for (int bit = 63; bit >= 0; bit--) {
        emu_u128 step = (result << 1 | (emu_u128)1 << bit) << bit;

        if (step <= rest) {
            rest -= step;
            result |= (emu_u128)1 << bit;
        }
    }
    return (struct emu_exact){
        .exponent = a.exponent / 2 - 1,
        .significand = result << 1 | (rest != 0),
    };
}

/* ---- Any operands, in f64 ---- */

static bool all_finite(double a, double b, double c)
{
    return isfinite(a) && isfinite(b) && isfinite(c);
}

static double fma_to(enum emu_format format, double a, double b, double c,
                     enum emu_rounding rounding)
{
    if (!all_finite(a, b, c))
        return fma(a, b, c);

    struct emu_exact product = multiply(emu_exact_of(a), emu_exact_of(b));

    return round_to(format, add(product, emu_exact_of(c), rounding), rounding);
}

static double add_to(enum emu_format format, double a, double b, enum emu_rounding rounding)
{
    if (!all_finite(a, b, 0))
        return a + b;
    return round_to(format, add(emu_exact_of(a), emu_exact_of(b), rounding), rounding);
}

static double mul_to(enum emu_format format, double a, double b, enum emu_rounding rounding)
{
    if (!all_finite(a, b, 0))
        return a * b;
    return round_to(format, multiply(emu_exact_of(a), emu_exact_of(b)), rounding);
}

static double div_to(enum emu_format format, double a, double b, enum emu_rounding rounding)
{
    if (!all_finite(a, b, 0) || a == 0 || b == 0)
        return a / b;
    return round_to(format, divide(emu_exact_of(a), emu_exact_of(b)), rounding);
}

static double sqrt_to(enum emu_format format, double a, enum emu_rounding rounding)
{
    if (!isfinite(a) || a <= 0)
        return sqrt(a);
    return round_to(format, root(emu_exact_of(a)), rounding);
}

/* ---- f32 ---- */

static float canonical_f32(double value)
{
    return isnan(value) ? emu_f32_of(EMU_NAN_F32) : (float)value;
}

float emu_fma_f32(float a, float b, float c, enum emu_rounding rounding)
{
    if (rounding == EMU_NEAREST_EVEN)
        return canonical_f32((double)fmaf(a, b, c));
    return canonical_f32(fma_to(EMU_FORMAT_F32, (double)a, (double)b, (double)c, rounding));
}

float emu_add_f32(float a, float b, enum emu_rounding rounding)
{
    if (rounding == EMU_NEAREST_EVEN)
        return canonical_f32((double)(a + b));
    return canonical_f32(add_to(EMU_FORMAT_F32, (double)a, (double)b, rounding));
}

float emu_mul_f32(float a, float b, enum emu_rounding rounding)
{
    if (rounding == EMU_NEAREST_EVEN)
        return canonical_f32((double)(a * b));
    return canonical_f32(mul_to(EMU_FORMAT_F32, (double)a, (double)b, rounding));
}

float emu_div_f32(float a, float b, enum emu_rounding rounding)
{
    if (rounding == EMU_NEAREST_EVEN)
        return canonical_f32((double)(a / b));
    return canonical_f32(div_to(EMU_FORMAT_F32, (double)a, (double)b, rounding));
}

float emu_sqrt_f32(float a, enum emu_rounding rounding)
{
    if (rounding == EMU_NEAREST_EVEN)
        return canonical_f32((double)sqrtf(a));
    return canonical_f32(sqrt_to(EMU_FORMAT_F32, (double)a, rounding));
}

float emu_flush(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

/* ---- f64 ---- */

enum { QUIET_BIT = 51 };

/* Of several NaN among the operands one is the result, made quiet: the first that is given here. */
static double result_f64(double value, double first, double second, double third)
{
    const double operands[] = {first, second, third};

    for (int i = 0; i < 3; i++) {
        uint64_t bits;

        memcpy(&bits, &operands[i], sizeof bits);
        if (isnan(operands[i]))
            return emu_f64_of(bits | UINT64_C(1) << QUIET_BIT);
    }
    return isnan(value) ? emu_f64_of(EMU_NAN_F64) : value;
}

double emu_fma_f64(double a, double b, double c, enum emu_rounding rounding)
{
    return result_f64(rounding == EMU_NEAREST_EVEN ? fma(a, b, c)
                                                   : fma_to(EMU_FORMAT_F64, a, b, c, rounding),
                      b, c, a);
}

double emu_add_f64(double a, double b, enum emu_rounding rounding)
{
    return result_f64(rounding == EMU_NEAREST_EVEN ? a + b : add_to(EMU_FORMAT_F64, a, b, rounding),
                      b, a, 0);
}

double emu_mul_f64(double a, double b, enum emu_rounding rounding)
{
    return result_f64(rounding == EMU_NEAREST_EVEN ? a * b : mul_to(EMU_FORMAT_F64, a, b, rounding),
                      b, a, 0);
}

double emu_div_f64(double a, double b, enum emu_rounding rounding)
{
    return result_f64(rounding == EMU_NEAREST_EVEN ? a / b : div_to(EMU_FORMAT_F64, a, b, rounding),
                      a, b, 0);
}

double emu_sqrt_f64(double a, enum emu_rounding rounding)
{
    return result_f64(rounding == EMU_NEAREST_EVEN ? sqrt(a) : sqrt_to(EMU_FORMAT_F64, a, rounding),
                      a, 0, 0);
}
