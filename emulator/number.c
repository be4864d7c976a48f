/* number.c: the formats as a table; widening, and rounding once to any of them. */
#include "emulator/bits.h"
#include "emulator/number_exact.h"

#include <math.h>
#include <string.h>

/* `largest` is the largest finite number; `nan` what NaN becomes: the largest where there is none.
 * `infinity` is 0 where there is none. */
struct format {
    int mantissa_bits, bias, width;
    uint64_t largest, infinity, nan;
};

static const struct format formats[] = {
    [EMU_FORMAT_F64] = {52, 1023, 64, 0x7fefffffffffffff, 0x7ff0000000000000, EMU_NAN_F64},
    [EMU_FORMAT_F32] = {23, 127, 32, 0x7f7fffff, 0x7f800000, EMU_NAN_F32},
    [EMU_FORMAT_F16] = {10, 15, 16, 0x7bff, 0x7c00, EMU_NAN_F16},
    [EMU_FORMAT_BF16] = {7, 127, 16, 0x7f7f, 0x7f80, EMU_NAN_F16},
    /* The upper 19 bits of a word of 32: shifted when all else is done. */
    [EMU_FORMAT_TF32] = {10, 127, 19, 0x3fbff, 0x3fc00, 0x3ffff},
    [EMU_FORMAT_E4M3] = {3, 7, 8, 0x7e, 0, 0x7f},
    [EMU_FORMAT_E5M2] = {2, 15, 8, 0x7b, 0x7c, 0x7f},
    [EMU_FORMAT_E2M3] = {3, 1, 6, 0x1f, 0, 0x1f},
    [EMU_FORMAT_E3M2] = {2, 3, 6, 0x1f, 0, 0x1f},
    [EMU_FORMAT_E2M1] = {1, 1, 4, 0x7, 0, 0x7},
    [EMU_FORMAT_UE8M0] = {0, 127, 8, 0xfe, 0, 0xff},
};

enum { TF32_SHIFT = 13, F64_MANTISSA_BITS = 52, F64_BIAS = 1023, F64_EXPONENT = 0x7ff };

static const uint64_t f64_hidden = (uint64_t)1 << F64_MANTISSA_BITS;

/* ---- Widening ---- */

/* A number without sign that is neither infinity nor NaN. */
static double widen_finite(const struct format *format, uint64_t magnitude)
{
    uint64_t mantissa = magnitude & (((uint64_t)1 << format->mantissa_bits) - 1);
    int exponent = (int)(magnitude >> format->mantissa_bits);

    if (exponent == 0)
        return ldexp((double)mantissa, 1 - format->bias - format->mantissa_bits);
    return emu_f64_of((uint64_t)(exponent - format->bias + F64_BIAS) << F64_MANTISSA_BITS |
                      mantissa << (F64_MANTISSA_BITS - format->mantissa_bits));
}

double emu_widen(enum emu_format name, uint64_t bits)
{
    const struct format *format = &formats[name];
    double value;

    if (name == EMU_FORMAT_F64)
        return emu_f64_of(bits);
    if (name == EMU_FORMAT_UE8M0) /* no zero, no sign */
        return (bits & 0xff) == format->nan ? (double)NAN : ldexp(1, (int)(bits & 0xff) - 127);
    if (name == EMU_FORMAT_TF32)
        bits >>= TF32_SHIFT;

    uint64_t sign = (uint64_t)1 << (format->width - 1);
    uint64_t magnitude = bits & (sign - 1);

    if (magnitude <= format->largest)
        value = widen_finite(format, magnitude);
    else
        value = magnitude == format->infinity ? (double)INFINITY : (double)NAN;
    return bits & sign ? -value : value;
}

/* ---- Rounding ---- */

struct emu_exact emu_exact_of(double value)
{
    uint64_t bits = emu_f64_bits(value);
    uint64_t mantissa = bits & (f64_hidden - 1);
    int exponent = (int)(bits >> F64_MANTISSA_BITS) & F64_EXPONENT;

    return (struct emu_exact){
        .negative = bits >> 63,
        .exponent = (exponent > 0 ? exponent : 1) - F64_BIAS - F64_MANTISSA_BITS,
        .significand = exponent > 0 ? mantissa | f64_hidden : mantissa,
    };
}

static int top_bit(emu_u128 number)
{
    uint64_t upper = (uint64_t)(number >> 64);

    return upper ? 127 - __builtin_clzll(upper) : 63 - __builtin_clzll((uint64_t)number);
}

/* number / 2^shift as an integer. */
static uint64_t shift_rounded(emu_u128 number, int shift, bool negative, enum emu_rounding rounding)
{
    if (shift <= 0)
        return (uint64_t)(number << -shift);
    /* More is less than half of a unit in any case. */
    if (shift > 127) {
        number = number != 0;
        shift = 127;
    }

    uint64_t quotient = (uint64_t)(number >> shift);
    emu_u128 rest = number & (((emu_u128)1 << shift) - 1);
    emu_u128 half = (emu_u128)1 << (shift - 1);
    bool up = false;

    switch (rounding) {
    case EMU_NEAREST_EVEN:
        up = rest > half || (rest == half && (quotient & 1));
        break;
    case EMU_NEAREST_AWAY:
        up = rest >= half;
        break;
    case EMU_DOWN:
        up = negative && rest > 0;
        break;
    case EMU_UP:
        up = !negative && rest > 0;
        break;
    case EMU_TO_ZERO:
        break;
    }
    return quotient + up;
}

/* What is larger than the largest finite number becomes. */
static uint64_t overflow(const struct format *format, bool negative,
                         const struct emu_narrowing *how)
{
    bool away = how->rounding == EMU_NEAREST_EVEN || how->rounding == EMU_NEAREST_AWAY ||
                how->rounding == (negative ? EMU_DOWN : EMU_UP);

    if (how->saturate_finite || !away)
        return format->largest;
    return format->infinity ? format->infinity : format->nan;
}

/* ue8m0 is an exponent alone. What has no logarithm takes the smallest (believed, not measured). */
static uint64_t round_to_exponent(struct emu_exact number, const struct emu_narrowing *how)
{
    const struct format *format = &formats[EMU_FORMAT_UE8M0];

    if (number.significand == 0)
        return 0;

    int top = top_bit(number.significand);
    int code = number.exponent + top + format->bias;
    bool power_of_two = number.significand == (emu_u128)1 << top;

    if (how->rounding == EMU_UP && !power_of_two)
        code++;
    if (code < 0)
        return 0;
    if (code > (int)format->largest)
        return how->saturate_finite || how->rounding == EMU_TO_ZERO ? format->largest : format->nan;
    return (uint64_t)code;
}

/* Without the sign. */
static uint64_t round_magnitude(const struct format *format, struct emu_exact number,
                                const struct emu_narrowing *how)
{
    if (number.significand == 0)
        return 0;

    int exponent = number.exponent + top_bit(number.significand);
    int smallest = 1 - format->bias;

    if (exponent < smallest)
        exponent = smallest;
    if (exponent > format->bias + 1)
        return overflow(format, number.negative, how);

    uint64_t quotient =
        shift_rounded(number.significand, exponent - format->mantissa_bits - number.exponent,
                      number.negative, how->rounding);
    /* The hidden bit of the quotient is worth one of the exponent: of a subnormal it is not set,
     * and a carry sets the next. */
    uint64_t magnitude =
        quotient + ((uint64_t)(exponent + format->bias - 1) << format->mantissa_bits);

    return magnitude > format->largest ? overflow(format, number.negative, how) : magnitude;
}

static uint64_t one_of(const struct format *format)
{
    return (uint64_t)format->bias << format->mantissa_bits;
}

uint64_t emu_exact_round(enum emu_format name, struct emu_exact number,
                         const struct emu_narrowing *how)
{
    const struct format *format = &formats[name];

    if (name == EMU_FORMAT_UE8M0)
        return round_to_exponent(number, how);

    uint64_t magnitude = round_magnitude(format, number, how);
    uint64_t sign = number.negative ? (uint64_t)1 << (format->width - 1) : 0;

    if (how->flush && name == EMU_FORMAT_F32 && magnitude >> format->mantissa_bits == 0)
        magnitude = 0;
    if (number.negative && (how->relu || how->saturate_unit))
        return 0;
    if (how->saturate_unit && magnitude > one_of(format))
        magnitude = one_of(format);
    return (magnitude | sign) << (name == EMU_FORMAT_TF32 ? TF32_SHIFT : 0);
}

static uint64_t narrow_infinity(enum emu_format name, bool negative,
                                const struct emu_narrowing *how)
{
    const struct format *format = &formats[name];
    uint64_t magnitude = format->infinity ? format->infinity : format->nan;

    if (how->saturate_finite)
        magnitude = format->largest;
    if (negative && (how->relu || how->saturate_unit))
        return 0;
    if (how->saturate_unit)
        return one_of(format);
    /* The sign of ue8m0 is ignored. */
    if (negative && name != EMU_FORMAT_UE8M0)
        magnitude |= (uint64_t)1 << (format->width - 1);
    return magnitude << (name == EMU_FORMAT_TF32 ? TF32_SHIFT : 0);
}

uint64_t emu_narrow(enum emu_format format, double value, const struct emu_narrowing *how)
{
    if (isnan(value))
        return how->saturate_unit
                   ? 0
                   : formats[format].nan << (format == EMU_FORMAT_TF32 ? TF32_SHIFT : 0);
    if (isinf(value))
        return narrow_infinity(format, value < 0, how);
    return emu_exact_round(format, emu_exact_of(value), how);
}

uint64_t emu_narrow_integer(enum emu_format format, bool negative, uint64_t magnitude,
                            const struct emu_narrowing *how)
{
    const struct emu_exact number = {.negative = negative, .significand = magnitude};

    return emu_exact_round(format, number, how);
}
