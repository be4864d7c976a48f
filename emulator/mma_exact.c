/* mma_exact.c: the floating-point kinds as Hopper's tensor cores compute them, bit for bit.
 *
 * All K products and the addend are aligned to the largest exponent E among them, each truncated
 * toward zero to a multiple of 2^(E-F), summed exactly, and the sum is truncated to the precision
 * of f32 (of fp8: to 14 bits), or rounded to nearest even for f16. Exponents of products are the
 * sums of the factors' own, not renormalised; F is 25, and 13 where the factors are fp8.
 * docs/emulator.md has the measurements. Blackwell's do the same with F = 25 and all bits of f32
 * for all types: so does microsoft/MMA-Sim, whose authors compared it with hardware. */
#include "emulator/mma_block.h"

#include <math.h>

enum {
    FRACTION = 25,
    FRACTION_FP8 = 13,
    PRECISION = 24,
    PRECISION_FP8 = 14,
    EXPONENT_MIN = -126,    /* of a zero as well                     */
    EXPONENT_NONE = -100000 /* of a zero factor: below all the others */
};

/* value = significand * 2^(exponent - fraction bits of its format) */
struct number {
    int32_t significand;
    int exponent;
    bool special; /* infinity or NaN */
};

struct format {
    int fraction, bias;
    uint32_t sign, drop;  /* bits below the format's own, in its word */
    bool has_no_specials; /* neither infinities nor NaN */
};

static struct format format_of(enum emu_type type)
{
    switch ((int)type) {
    case EMU_F16:
        return (struct format){.fraction = 10, .bias = 15, .sign = 0x8000};
    case EMU_BF16:
        return (struct format){.fraction = 7, .bias = 127, .sign = 0x8000};
    case EMU_TF32:
        return (struct format){.fraction = 10, .bias = 127, .sign = 0x80000000, .drop = 13};
    case EMU_E4M3:
        return (struct format){.fraction = 3, .bias = 7, .sign = 0x80};
    case EMU_E5M2:
        return (struct format){.fraction = 2, .bias = 15, .sign = 0x80};
    case EMU_E2M3:
        return (struct format){.fraction = 3, .bias = 1, .sign = 0x20, .has_no_specials = true};
    case EMU_E3M2:
        return (struct format){.fraction = 2, .bias = 3, .sign = 0x20, .has_no_specials = true};
    case EMU_E2M1:
        return (struct format){.fraction = 1, .bias = 1, .sign = 0x8, .has_no_specials = true};
    default:
        return (struct format){.fraction = 23, .bias = 127, .sign = 0x80000000};
    }
}

static struct number decode(enum emu_type type, uint32_t bits, int exponent_of_zero)
{
    struct format format = format_of(type);
    uint32_t magnitude = (bits & (format.sign - 1)) >> format.drop;
    int32_t significand = (int32_t)(magnitude & ((UINT32_C(1) << format.fraction) - 1));
    int biased = (int)(magnitude >> format.fraction);
    struct number number;

    if (magnitude == 0)
        return (struct number){.exponent = exponent_of_zero};
    if (biased > 0)
        significand |= 1 << format.fraction;
    number.significand = bits & format.sign ? -significand : significand;
    number.exponent = (biased > 0 ? biased : 1) - format.bias;
    /* e4m3 has no infinity, and one NaN of each sign. */
    number.special = !format.has_no_specials &&
                     (type == EMU_E4M3 ? magnitude == 0x7f : number.exponent == format.bias + 1);
    return number;
}

static void decode_all(enum emu_type type, const union emu_element *elements, int step, int count,
                       struct number *numbers)
{
    for (int i = 0; i < count; i++)
        numbers[i] = decode(type, elements[i * step].bits, EXPONENT_NONE);
}

/* ---- The sum ---- */

/* magnitude * 2^shift toward zero; `shift` is small where it is positive. */
static int64_t align(int32_t significand, int shift)
{
    int64_t magnitude = significand < 0 ? -(int64_t)significand : significand;

    if (shift >= 0)
        magnitude *= INT64_C(1) << shift;
    else
        magnitude = shift > -63 ? magnitude >> -shift : 0;
    return significand < 0 ? -magnitude : magnitude;
}

/* What is left of an exact sum, in units of 2^unit, when it is cut to so many significant bits. */
static uint32_t truncate_to_f32(int64_t sum, int unit, int precision)
{
    const int smallest = EXPONENT_MIN - 23;
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);

    if (magnitude == 0)
        return 0;

    int excess = 64 - __builtin_clzll(magnitude) - precision;

    if (excess < smallest - unit)
        excess = smallest - unit;
    if (excess > 0) {
        magnitude = excess < 64 ? magnitude >> excess : 0;
        unit += excess;
    }

    /* Exact but where it is too large for f32, which is taken to be infinity. */
    double value = ldexp((double)magnitude, unit);

    return magnitude == 0 ? 0 : emu_f32_bits((float)(sum < 0 ? -value : value));
}

static uint32_t finish(const struct emu_block *block, int64_t sum, int unit, int precision)
{
    if (block->d == EMU_F16)
        return emu_f16_of(ldexp((double)sum, unit));
    return truncate_to_f32(sum, unit, precision);
}

/* ---- Infinities and NaN ---- */

static uint32_t multiply_special(const struct emu_block *block, const union emu_element *a,
                                 const union emu_element *b, uint32_t c)
{
    /* Finite terms cannot overflow: no product of two factors does in f64. */
    double sum = ldexp((double)emu_float_of_element(block->d, c), -block->scale_c);

    for (int k = 0; k < block->k; k++)
        sum += (double)emu_float_of_element(block->a, a[k].bits) *
               (double)emu_float_of_element(block->b, b[k * block->n].bits);
    if (sum != sum)
        return block->d == EMU_F16 ? 0x7fff : 0x7fffffff;
    return block->d == EMU_F16 ? emu_f16_of(sum) : emu_f32_bits((float)sum);
}

/* ---- Blocks ---- */

static bool any_special(const struct number *numbers, int count)
{
    bool any = false;

    for (int i = 0; i < count; i++)
        any |= numbers[i].special;
    return any;
}

static uint32_t multiply_finite(const struct emu_block *block, const struct number *a,
                                const struct number *b, struct number c)
{
    bool is_fp8 = emu_element_is_fp8(block->a) && !block->is_fine;
    int fraction = is_fp8 ? FRACTION_FP8 : FRACTION;
    int factor_fraction = format_of(block->a).fraction + format_of(block->b).fraction;
    int largest = c.exponent > EXPONENT_MIN ? c.exponent : EXPONENT_MIN;

    for (int k = 0; k < block->k; k++)
        if (a[k].exponent + b[k].exponent > largest)
            largest = a[k].exponent + b[k].exponent;

    int unit = largest - fraction;
    int64_t sum = align(c.significand, c.exponent - format_of(block->d).fraction - unit);

    for (int k = 0; k < block->k; k++)
        sum += align(a[k].significand * b[k].significand,
                     a[k].exponent + b[k].exponent - factor_fraction - unit);
    return finish(block, sum, unit, is_fp8 ? PRECISION_FP8 : PRECISION);
}

void emu_block_multiply_exact(const struct emu_block *block, const union emu_element *a,
                              const union emu_element *b, union emu_element *d)
{
    struct number rows[EMU_BLOCK_ROWS * EMU_BLOCK_DEPTH], column[EMU_BLOCK_DEPTH];
    bool special_row[EMU_BLOCK_ROWS] = {false};

    for (int m = 0; m < block->m; m++) {
        decode_all(block->a, a + m * block->k, 1, block->k, rows + m * block->k);
        special_row[m] = any_special(rows + m * block->k, block->k);
    }
    for (int n = 0; n < block->n; n++) {
        decode_all(block->b, b + n, block->n, block->k, column);

        bool special_column = any_special(column, block->k);

        for (int m = 0; m < block->m; m++) {
            union emu_element *out = d + m * block->n + n;
            struct number c = decode(block->d, out->bits, EXPONENT_MIN);

            c.exponent -= c.significand ? block->scale_c : 0;
            out->bits = special_row[m] || special_column || c.special
                            ? multiply_special(block, a + m * block->k, b + n, out->bits)
                            : multiply_finite(block, rows + m * block->k, column, c);
        }
    }
}
