#include "runtime/number.h"

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

float lt_number_load(enum lathe_type type, const void *array, int64_t index)
{
    if (type == LATHE_F16)
        return lt_f32_from_f16(((const uint16_t *)array)[index]);
    if (type == LATHE_BF16)
        return lt_f32_from_bf16(((const uint16_t *)array)[index]);
    return ((const float *)array)[index];
}

void lt_number_store(enum lathe_type type, void *array, int64_t index, float value)
{
    if (type == LATHE_F16)
        ((uint16_t *)array)[index] = lt_f16_from_f32(value);
    else if (type == LATHE_BF16)
        ((uint16_t *)array)[index] = lt_bf16_from_f32(value);
    else
        ((float *)array)[index] = value;
}

float lt_number_round(enum lathe_type type, float value)
{
    if (type == LATHE_F16)
        return lt_f32_from_f16(lt_f16_from_f32(value));
    if (type == LATHE_BF16)
        return lt_f32_from_bf16(lt_bf16_from_f32(value));
    return value;
}

double lt_number_spacing(enum lathe_type type, double value)
{
    int digits = type == LATHE_F16 ? 10 : type == LATHE_BF16 ? 7 : 23;
    int least = type == LATHE_F16 ? -24 : type == LATHE_BF16 ? -133 : -149;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);

    int exponent = (int)(bits >> 52 & 0x7ffu) - 1023 - digits;

    return power_of_two(exponent > least ? exponent : least);
}

double lt_number_overflow(enum lathe_type type)
{
    if (type == LATHE_F16)
        return 65520.0;
    return type == LATHE_BF16 ? 0x1p128 - 0x1p119 : 0x1p128 - 0x1p103;
}
