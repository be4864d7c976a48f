#include "runtime/number.h"

#include <math.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* 2^exponent, for exponents of normal numbers of f64. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

float lt_f32_from_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = bits >> 10 & 31u;
    uint32_t fraction = bits & 0x3ffu;

    if (exponent == 31)
        return float_of(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-24f;

        return sign ? -magnitude : magnitude;
    }
    return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

float lt_f32_from_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

/* value / 2^shift, to nearest, ties to even; value < 2^31, shift > 0. */
static uint32_t shift_rounded(uint32_t value, uint32_t shift)
{
    if (shift > 30)
        return 0;
    return (value + (1u << (shift - 1)) - 1 + (value >> shift & 1u)) >> shift;
}

uint16_t lt_f16_from_f32(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;

    if (magnitude > 0x7f800000u)
        return 0x7fff;
    if (magnitude >= bits_of(0x1p16f))
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < bits_of(0x1p-14f)) /* subnormal in f16, whose unit is 2^-24 */
        return (uint16_t)(sign | shift_rounded((magnitude & 0x7fffffu) | 0x800000u,
                                               126 - (magnitude >> 23)));
    return (uint16_t)(sign | shift_rounded(magnitude - (112u << 23), 13));
}

uint16_t lt_bf16_from_f32(float value)
{
    uint32_t bits = bits_of(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* ---- Eight bits ---- */

/* Sign, exponent, fraction; `largest` is the code of the largest finite number. */
struct format_8 {
    uint32_t fraction_bits, bias, largest;
};

static const struct format_8 e4m3 = {3, 7, 0x7e}, e5m2 = {2, 15, 0x7b};

enum { NAN_8 = 0x7f };

static uint8_t narrow_to_8(const struct format_8 *format, float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 24 & 0x80u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t least_exponent = 128 - format->bias; /* of a normal number */
    uint32_t code;

    if (magnitude > 0x7f800000u)
        return NAN_8;
    if (magnitude >> 23 < least_exponent) /* subnormal: in units of 2^(1 - bias - fraction_bits) */
        code = shift_rounded((magnitude & 0x7fffffu) | 0x800000u,
                             151 - format->bias - format->fraction_bits - (magnitude >> 23));
    else
        code = shift_rounded(magnitude - ((least_exponent - 1) << 23), 23 - format->fraction_bits);
    return (uint8_t)(sign | (code < format->largest ? code : format->largest));
}

float lt_f32_from_e4m3(uint8_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x80u) << 24;
    uint32_t exponent = bits >> 3 & 15u, fraction = bits & 7u;

    if ((bits & 0x7fu) == NAN_8) /* the one code that is no number: there is no infinity */
        return float_of(sign | 0x7fffffffu);
    if (exponent == 0) {
        float magnitude = (float)fraction * 0x1p-9f;

        return sign ? -magnitude : magnitude;
    }
    return float_of(sign | (exponent + 120) << 23 | fraction << 20);
}

/* The upper half of an f16. */
float lt_f32_from_e5m2(uint8_t bits)
{
    return lt_f32_from_f16((uint16_t)(bits << 8));
}

uint8_t lt_e4m3_from_f32(float value)
{
    return narrow_to_8(&e4m3, value);
}

uint8_t lt_e5m2_from_f32(float value)
{
    return narrow_to_8(&e5m2, value);
}

uint32_t lt_tf32_from_f32(float value)
{
    uint32_t bits = bits_of(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffe000u;
    return (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
}

/* ---- By type ---- */

/* Of numbers: digits behind the leading one, the exponent of the least distance, and from where on
 * rounding gives infinity: half a spacing beyond the largest. */
struct format {
    int digits, least;
    double largest, overflow;
};

static struct format format_of(enum lathe_type type)
{
    switch (type) {
    case LATHE_F16:
        return (struct format){10, -24, 65504, 65520};
    case LATHE_BF16:
        return (struct format){7, -133, 0x1p128 - 0x1p120, 0x1p128 - 0x1p119};
    case LATHE_TF32:
        return (struct format){10, -136, 0x1p128 - 0x1p117, 0x1p128 - 0x1p116};
    case LATHE_E4M3:
        return (struct format){3, -9, 448, HUGE_VAL};
    case LATHE_E5M2:
        return (struct format){2, -16, 57344, HUGE_VAL};
    case LATHE_INT8:
        return (struct format){0, 0, 127, HUGE_VAL};
    case LATHE_S32:
        return (struct format){0, 0, 0x1p31 - 1, HUGE_VAL};
    case LATHE_TYPE_DEFAULT:
    case LATHE_F32:
        break;
    }
    return (struct format){23, -149, 0x1p128 - 0x1p104, 0x1p128 - 0x1p103};
}

/* The whole number that is nearest, of those that the type has. */
static double clamp_whole(enum lathe_type type, float value)
{
    double whole = rint((double)value), largest = format_of(type).largest;

    if (isnan(whole))
        return 0;
    return whole > largest ? largest : whole < -largest - 1 ? -largest - 1 : whole;
}

double lt_number_load(enum lathe_type type, const void *array, int64_t index)
{
    switch (type) {
    case LATHE_F16:
        return (double)lt_f32_from_f16(((const uint16_t *)array)[index]);
    case LATHE_BF16:
        return (double)lt_f32_from_bf16(((const uint16_t *)array)[index]);
    case LATHE_TF32:
        return (double)float_of(lt_tf32_from_f32(((const float *)array)[index]));
    case LATHE_E4M3:
        return (double)lt_f32_from_e4m3(((const uint8_t *)array)[index]);
    case LATHE_E5M2:
        return (double)lt_f32_from_e5m2(((const uint8_t *)array)[index]);
    case LATHE_INT8:
        return ((const int8_t *)array)[index];
    case LATHE_S32:
        return ((const int32_t *)array)[index];
    case LATHE_TYPE_DEFAULT:
    case LATHE_F32:
        break;
    }
    return (double)((const float *)array)[index];
}

void lt_number_store(enum lathe_type type, void *array, int64_t index, float value)
{
    switch (type) {
    case LATHE_F16:
        ((uint16_t *)array)[index] = lt_f16_from_f32(value);
        return;
    case LATHE_BF16:
        ((uint16_t *)array)[index] = lt_bf16_from_f32(value);
        return;
    case LATHE_TF32:
        ((uint32_t *)array)[index] = lt_tf32_from_f32(value);
        return;
    case LATHE_E4M3:
        ((uint8_t *)array)[index] = lt_e4m3_from_f32(value);
        return;
    case LATHE_E5M2:
        ((uint8_t *)array)[index] = lt_e5m2_from_f32(value);
        return;
    case LATHE_INT8:
        ((int8_t *)array)[index] = (int8_t)clamp_whole(type, value);
        return;
    case LATHE_S32:
        ((int32_t *)array)[index] = (int32_t)clamp_whole(type, value);
        return;
    case LATHE_TYPE_DEFAULT:
    case LATHE_F32:
        break;
    }
    ((float *)array)[index] = value;
}

double lt_number_round(enum lathe_type type, float value)
{
    uint32_t element;

    lt_number_store(type, &element, 0, value);
    return lt_number_load(type, &element, 0);
}

double lt_number_spacing(enum lathe_type type, double value)
{
    struct format format = format_of(type);
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);

    int exponent = (int)(bits >> 52 & 0x7ffu) - 1023 - format.digits;

    if (type == LATHE_INT8 || type == LATHE_S32)
        return 1;
    return power_of_two(exponent > format.least ? exponent : format.least);
}

double lt_number_overflow(enum lathe_type type)
{
    return format_of(type).overflow;
}

double lt_number_largest(enum lathe_type type)
{
    return format_of(type).largest;
}
