/* mma_element.h: elements of the matrices of tensor cores: their sizes, and as f32.
 *
 * These conversions are written to be done for whole tiles at a time, without branches that depend
 * on the data; number.h is the place for all others. */
#ifndef EMU_MMA_ELEMENT_H
#define EMU_MMA_ELEMENT_H

#include "emulator/bits.h"
#include "emulator/ptx.h"

#include <string.h>

/* One element: its bits in the low end, or what they mean. */
union emu_element {
    uint32_t bits;
    int32_t integer;
    float real;
};

/* The bits of an element in a register or in memory; of b1, which is multiplied by the word, 32.
 * 0: no type of a matrix. */
static inline int emu_element_bits(enum emu_type type)
{
    switch ((int)type) {
    case EMU_F64:
        return 64;
    case EMU_F32:
    case EMU_S32:
    case EMU_TF32:
    case EMU_B1:
        return 32;
    case EMU_F16:
    case EMU_BF16:
        return 16;
    case EMU_E4M3:
    case EMU_E5M2:
    case EMU_S8:
    case EMU_U8:
        return 8;
    case EMU_E2M3:
    case EMU_E3M2:
        return 6;
    case EMU_S4:
    case EMU_U4:
    case EMU_E2M1:
        return 4;
    default:
        return 0;
    }
}

static inline bool emu_element_is_integer(enum emu_type type)
{
    return type == EMU_S8 || type == EMU_U8 || type == EMU_S4 || type == EMU_U4;
}

static inline bool emu_element_is_fp8(enum emu_type type)
{
    return type == EMU_E4M3 || type == EMU_E5M2;
}

/* The exponent and the fraction of a format with fewer bits, moved to where f32 has them, are its
 * value but for the difference of the biases; subnormals come out right too. */
static inline float emu_float_of_f16(uint32_t bits)
{
    uint32_t magnitude = emu_f32_bits(emu_f32_of((bits & 0x7fff) << 13) * 0x1p112f);

    magnitude |= (bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
    return emu_f32_of(magnitude | (bits & 0x8000) << 16);
}

static inline float emu_float_of_e4m3(uint32_t bits)
{
    uint32_t magnitude = emu_f32_bits(emu_f32_of((bits & 0x7f) << 20) * 0x1p120f);

    magnitude |= (bits & 0x7f) == 0x7f ? 0x7fc00000 : 0;
    return emu_f32_of(magnitude | (bits & 0x80) << 24);
}

/* Formats of so many exponent and fraction bits, without infinities and NaN. */
static inline float emu_float_of_small(uint32_t bits, int exponent_bits, int fraction_bits)
{
    uint32_t sign = bits >> (exponent_bits + fraction_bits) & 1;
    uint32_t magnitude = bits & ((UINT32_C(1) << (exponent_bits + fraction_bits)) - 1);
    /* 2^(127 - bias), as bits */
    uint32_t scale = (uint32_t)(127 + 127 - ((1 << (exponent_bits - 1)) - 1)) << 23;
    float value = emu_f32_of(magnitude << (23 - fraction_bits)) * emu_f32_of(scale);

    return emu_f32_of(emu_f32_bits(value) | sign << 31);
}

static inline float emu_float_of_element(enum emu_type type, uint32_t bits)
{
    switch ((int)type) {
    case EMU_F16:
        return emu_float_of_f16(bits);
    case EMU_BF16:
        return emu_f32_of(bits << 16);
    case EMU_TF32: /* the low 13 bits are dropped */
        return emu_f32_of(bits & 0xffffe000);
    case EMU_E4M3:
        return emu_float_of_e4m3(bits);
    case EMU_E5M2: /* the upper half of an f16 */
        return emu_float_of_f16(bits << 8);
    case EMU_E2M3:
        return emu_float_of_small(bits, 2, 3);
    case EMU_E3M2:
        return emu_float_of_small(bits, 3, 2);
    case EMU_E2M1:
        return emu_float_of_small(bits, 2, 1);
    default:
        return emu_f32_of(bits);
    }
}

/* To nearest even, NaN to 0x7fff. */
static inline uint32_t emu_f16_of(double value)
{
    uint64_t bits, magnitude;

    memcpy(&bits, &value, sizeof bits);
    magnitude = bits & INT64_MAX;

    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;

    if (magnitude > UINT64_C(0x7ff0000000000000))
        return 0x7fff;
    if (magnitude >= UINT64_C(0x40f0000000000000)) /* 65536; what rounds to it is carried there */
        return sign | 0x7c00;
    if (magnitude < UINT64_C(0x3f10000000000000)) { /* 2^-14: the sum has the subnormals' unit */
        const double unit = 0x1p28;
        double sum;
        uint64_t zero;

        memcpy(&sum, &magnitude, sizeof sum);
        sum += unit;
        memcpy(&magnitude, &sum, sizeof magnitude);
        memcpy(&zero, &unit, sizeof zero);
        return sign | (uint32_t)(magnitude - zero);
    }
    magnitude += (UINT64_C(1) << 41) - 1 + (magnitude >> 42 & 1);
    return sign | (uint32_t)((magnitude >> 42) - ((1023 - 15) << 10));
}

#endif
