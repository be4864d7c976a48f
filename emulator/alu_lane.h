/* alu_lane.h: from a function of one lane to one of all lanes, and what such functions share.
 *
 * Private to alu*.c. */
#ifndef EMU_ALU_LANE_H
#define EMU_ALU_LANE_H

#include "emulator/bits.h"
#include "emulator/alu_form.h"

#include <math.h>
#include <string.h>

/* All lanes is the usual case, and a loop without a condition is what compilers make fast. */
#define EMU_FOR_LANES(mask, ...)                                                                   \
    if ((mask) == UINT32_MAX) {                                                                    \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } else {                                                                                       \
        for (int i = 0; i < EMU_LANES; i++) {                                                      \
            if ((mask) >> i & 1) {                                                                 \
                __VA_ARGS__;                                                                       \
            }                                                                                      \
        }                                                                                          \
    }

#define EMU_EXECUTE(name)                                                                          \
    static bool run_##name(const struct emu_alu *op, uint64_t *const *results,                     \
                           const uint64_t *const *sources, uint32_t mask, const char **why)

/* EMU_LANEWISE_2(add) defines run_add of the function add(op, a, b) of a lane. */
#define EMU_LANEWISE_1(name)                                                                       \
    EMU_EXECUTE(name)                                                                              \
    {                                                                                              \
        (void)why;                                                                                 \
        EMU_FOR_LANES(mask, results[0][i] = name(op, sources[0][i]))                               \
        return true;                                                                               \
    }
#define EMU_LANEWISE_2(name)                                                                       \
    EMU_EXECUTE(name)                                                                              \
    {                                                                                              \
        (void)why;                                                                                 \
        EMU_FOR_LANES(mask, results[0][i] = name(op, sources[0][i], sources[1][i]))                \
        return true;                                                                               \
    }
#define EMU_LANEWISE_3(name)                                                                       \
    EMU_EXECUTE(name)                                                                              \
    {                                                                                              \
        (void)why;                                                                                 \
        EMU_FOR_LANES(mask, results[0][i] = name(op, sources[0][i], sources[1][i], sources[2][i])) \
        return true;                                                                               \
    }
#define EMU_LANEWISE_4(name)                                                                       \
    EMU_EXECUTE(name)                                                                              \
    {                                                                                              \
        (void)why;                                                                                 \
        EMU_FOR_LANES(mask, results[0][i] = name(op, sources[0][i], sources[1][i], sources[2][i],  \
                                                 sources[3][i]))                                   \
        return true;                                                                               \
    }

/* ---- Bits ---- */

static inline uint64_t emu_low_bits(uint64_t value, int width)
{
    return width >= 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static inline int64_t emu_signed_bits(uint64_t value, int width)
{
    int shift = 64 - width;

    return (int64_t)(value << shift) >> shift;
}

/* The number that `width` bits stand for, as 64 bits of two's complement. */
static inline uint64_t emu_extend(uint64_t value, int width, bool is_signed)
{
    return is_signed ? (uint64_t)emu_signed_bits(value, width) : emu_low_bits(value, width);
}

static inline bool emu_predicate(const struct emu_alu *op, int source, uint64_t value)
{
    return (value & 1) != (op->negated >> source & 1);
}

/* ---- Floating point as bits ---- */

/* Subnormal numbers of f32 to zero of their sign. */
static inline uint64_t emu_flush_bits(uint64_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits & 0xffffffff;
}

/* A source of f32. */
static inline float emu_f32_source(const struct emu_alu *op, uint64_t bits)
{
    return emu_f32_of(op->flush ? emu_flush_bits(bits) : bits);
}

/* A result of f32: .ftz, .sat, and the one NaN that arithmetic gives. */
static inline uint64_t emu_f32_result(const struct emu_alu *op, float value)
{
    uint64_t bits = emu_f32_bits(value);

    if (value != value)
        return op->saturate ? 0 : EMU_NAN_F32;
    if (op->saturate)
        bits = value > 0 ? (value < 1 ? bits : 0x3f800000) : 0;
    return op->flush ? emu_flush_bits(bits) : bits;
}

static inline enum emu_format emu_half_format(enum emu_type type)
{
    return type == EMU_BF16 || type == EMU_BF16X2 ? EMU_FORMAT_BF16 : EMU_FORMAT_F16;
}

/* The sum of both, of which the last bit is odd where it is not exact ("round to odd"): rounding
 * it once more to a format of at most 51 bits gives what rounding the exact sum would. */
static inline double emu_add_to_odd(double a, double b)
{
    double sum = a + b;
    double part = sum - a;
    double error = (a - (sum - part)) + (b - part);

    if (error == 0 || !isfinite(sum))
        return sum;

    uint64_t bits = emu_f64_bits(sum);

    return emu_f64_of((error < 0) == (sum < 0) ? bits | 1 : (bits - 1) | 1);
}

#endif
