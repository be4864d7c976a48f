/* form_bits.c: see form_bits.h. */
#include "tests/gpu/form_bits.h"
#include "runtime/random.h"

uint64_t form_draw_any(uint64_t index)
{
    return lt_random_mix(lt_random_stream(0x5eed, index));
}

uint64_t form_draw_float(uint64_t index, int exponent, int mantissa)
{
    uint64_t random = form_draw_any(index), sign = (random >> 1 & 1) << (exponent + mantissa),
             most = ((uint64_t)1 << exponent) - 1, bias = most >> 1,
             fraction = form_draw_any(index ^ 0x8000000000u) & (((uint64_t)1 << mantissa) - 1);

    switch (random >> 59) {
    case 0:
        return sign;
    case 1:
        return sign | most << mantissa; /* infinity */
    case 2:
        return sign | most << mantissa | fraction | 1; /* NaN */
    case 3:
    case 4:
        return sign | fraction; /* subnormal */
    case 5:
        return sign | bias << mantissa; /* 1 */
    case 6:
        return sign | (most - 1) << mantissa | fraction; /* large */
    case 7:
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
        return sign | (random >> 8 & most) << mantissa | fraction;
    default: /* near 1, so that sums and products are of their size */
        return sign | (bias - 4 + (random >> 8 & 7)) << mantissa | fraction;
    }
}

uint64_t form_draw_finite(uint64_t index, int exponent, int mantissa)
{
    uint64_t random = form_draw_any(index), bias = ((uint64_t)1 << (exponent - 1)) - 1,
             sign = (random >> 1 & 1) << (exponent + mantissa),
             spread = random >> 60 < 4 ? ((uint64_t)1 << exponent) / 8 : 2;

    if (random >> 60 == 15)
        return sign;
    return sign | (bias - spread + (random >> 8) % (2 * spread)) << mantissa |
           (form_draw_any(index ^ 0x8000000000u) & (((uint64_t)1 << mantissa) - 1));
}
