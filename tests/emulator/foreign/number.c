/* Formats of 8 and 16 bits, worked out from the value alone. */
#include "tests/emulator/foreign/foreign.h"

#include <math.h>

const struct foreign_format foreign_f16 = {10, 5, 65504, true};
const struct foreign_format foreign_bf16 = {7, 8, 0x1.fep127, true};
const struct foreign_format foreign_e4m3 = {3, 4, 448, false};
const struct foreign_format foreign_e5m2 = {2, 5, 57344, true};

static double round_whole(enum foreign_rounding rounding, double value)
{
    switch (rounding) {
    case FOREIGN_NEAREST:
        return nearbyint(value); /* to even: the host's own rounding is never changed meanwhile */
    case FOREIGN_ZEROWARD:
        return trunc(value);
    case FOREIGN_UP:
        return ceil(value);
    case FOREIGN_DOWN:
        return floor(value);
    }
    return value;
}

static uint32_t largest_code(const struct foreign_format *format)
{
    uint32_t all = (1u << (format->fraction_bits + format->exponent_bits)) - 1;

    return format->infinity ? all - (1u << format->fraction_bits) : all - 1;
}

uint32_t foreign_narrow(const struct foreign_format *format, enum foreign_rounding rounding,
                        double value)
{
    int bias = (1 << (format->exponent_bits - 1)) - 1, exponent;
    uint32_t sign = signbit(value) ? 1u << (format->fraction_bits + format->exponent_bits) : 0;
    double steps;

    if (isnan(value))
        return (1u << (format->fraction_bits + format->exponent_bits)) - 1;
    if (value == 0)
        return sign;
    if (isinf(value))
        return sign | (largest_code(format) + 1);
    frexp(value, &exponent);
    exponent -= 1; /* value = 1.xxx * 2^exponent */
    if (exponent < 1 - bias)
        exponent = 1 - bias;
    steps = fabs(round_whole(rounding, ldexp(value, format->fraction_bits - exponent)));
    if (ldexp(steps, exponent - format->fraction_bits) > format->largest) {
        bool stays = rounding == FOREIGN_ZEROWARD || (rounding == FOREIGN_UP && value < 0) ||
                     (rounding == FOREIGN_DOWN && value > 0);
        return sign | (stays ? largest_code(format) : largest_code(format) + 1);
    }
    /* The fraction's leading 1 counts in the exponent, so that a carry goes there by itself. */
    return sign | (((uint32_t)(exponent + bias - 1) << format->fraction_bits) + (uint32_t)steps);
}

double foreign_widen(const struct foreign_format *format, uint32_t code)
{
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    uint32_t fraction = code & ((1u << format->fraction_bits) - 1);
    uint32_t exponent = code >> format->fraction_bits & ((1u << format->exponent_bits) - 1);
    bool negative = code >> (format->fraction_bits + format->exponent_bits) & 1;
    double value;

    if ((code & ((1u << (format->fraction_bits + format->exponent_bits)) - 1)) >
        largest_code(format))
        value = format->infinity && fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - format->fraction_bits);
    else
        value = ldexp(fraction + (1u << format->fraction_bits),
                      (int)exponent - bias - format->fraction_bits);
    return negative ? -value : value;
}
