/* alu_convert.c: PTX ISA, "cvt" between single numbers. Packed ones are in alu_pack.c.
 *
 * Every floating-point source is exact in f64; one rounding makes the result. */
#include "emulator/alu_lane.h"

static enum emu_format format_of(enum emu_type type)
{
    switch (type) {
    case EMU_F16:
        return EMU_FORMAT_F16;
    case EMU_BF16:
        return EMU_FORMAT_BF16;
    case EMU_F32:
        return EMU_FORMAT_F32;
    case EMU_TF32:
        return EMU_FORMAT_TF32;
    default:
        return EMU_FORMAT_F64;
    }
}

static struct emu_narrowing narrowing_of(const struct emu_alu *op)
{
    return (struct emu_narrowing){
        .rounding = op->rounding,
        .saturate_finite = op->saturate_finite,
        .saturate_unit = op->saturate,
        .relu = op->relu,
        .flush = op->flush,
    };
}

/* Where f16 is made of f32, .ftz changes nothing (measured on an H200: subnormals of f32 round up
 * and down from zero). */
static double float_source(const struct emu_alu *op, uint64_t bits)
{
    if (op->from == EMU_F32 && op->flush && op->type != EMU_F16)
        bits = emu_flush_bits(bits);
    return emu_widen(format_of(op->from), bits);
}

/* ---- Between integers ---- */

static uint64_t largest_of(int width, bool is_signed)
{
    return emu_low_bits(UINT64_MAX, is_signed ? width - 1 : width);
}

/* Whether a number of 64 bits, as signed or not, is below the least or above the largest. */
static uint64_t saturate(const struct emu_alu *op, uint64_t value, bool is_signed)
{
    bool negative = is_signed && (int64_t)value < 0;
    uint64_t largest = largest_of(op->width, op->is_signed);

    if (!negative)
        return value > largest ? largest : value;
    if (!op->is_signed)
        return 0;
    return (int64_t)value < -(int64_t)largest - 1 ? ~largest : value;
}

static uint64_t integer_from_integer(const struct emu_alu *op, uint64_t a)
{
    bool is_signed = emu_type_is_signed(op->from);

    a = emu_extend(a, 8 * emu_type_bytes(op->from), is_signed);
    if (op->saturate)
        a = saturate(op, a, is_signed);
    return emu_low_bits(a, op->width);
}

EMU_LANEWISE_1(integer_from_integer)

/* ---- Between integers and floating point ---- */

static uint64_t float_from_integer(const struct emu_alu *op, uint64_t a)
{
    const struct emu_narrowing how = narrowing_of(op);
    bool is_signed = emu_type_is_signed(op->from);

    a = emu_extend(a, 8 * emu_type_bytes(op->from), is_signed);

    bool negative = is_signed && (int64_t)a < 0;

    return emu_narrow_integer(format_of(op->type), negative, negative ? 0 - a : a, &how);
}

EMU_LANEWISE_1(float_from_integer)

static double round_to_integral(double value, enum emu_rounding rounding)
{
    switch (rounding) {
    case EMU_NEAREST_EVEN:
    case EMU_NEAREST_AWAY:
        return nearbyint(value);
    case EMU_TO_ZERO:
        return trunc(value);
    case EMU_DOWN:
        return floor(value);
    case EMU_UP:
        return ceil(value);
    }
    return value;
}

/* "Zero if source is not .f64 and destination is not .s64, .u64; otherwise 1 << (width - 1)". */
static uint64_t integer_from_nan(const struct emu_alu *op)
{
    return op->from == EMU_F64 || op->width == 64 ? UINT64_C(1) << (op->width - 1) : 0;
}

static uint64_t integer_from_float(const struct emu_alu *op, uint64_t a)
{
    double value = float_source(op, a);

    if (isnan(value))
        return integer_from_nan(op);
    value = round_to_integral(value, op->rounding);

    uint64_t largest = largest_of(op->width, op->is_signed);
    /* One more than the largest is a power of two, so exact where the largest itself may not be. */
    double bound = ldexp(1, op->is_signed ? op->width - 1 : op->width);

    if (value >= bound)
        return largest;
    if (value < 0)
        return !op->is_signed    ? 0
               : value <= -bound ? emu_low_bits(~largest, op->width)
                                 : emu_low_bits((uint64_t)(int64_t)value, op->width);
    return (uint64_t)value;
}

EMU_LANEWISE_1(integer_from_float)

/* ---- Between floating-point numbers ---- */

/* As f64 from the bits of f32, and back: sign and the upper bits of the fraction stay, made quiet.
 */
static uint64_t f64_nan_of(uint64_t f32)
{
    return (f32 & 0x80000000) << 32 | UINT64_C(0x7ff8) << 48 | (f32 & 0x7fffff) << 29;
}

static uint64_t f32_nan_of(uint64_t f64)
{
    return (f64 >> 32 & 0x80000000) | 0x7fc00000 | (f64 >> 29 & 0x7fffff);
}

static uint64_t f64_nan_of_f16(uint64_t f16)
{
    return (f16 & 0x8000) << 48 | UINT64_C(0x7ff8) << 48 | (f16 & 0x3ff) << 42;
}

static uint64_t f16_nan_of(uint64_t f64)
{
    return (f64 >> 48 & 0x8000) | 0x7e00 | (f64 >> 42 & 0x3ff);
}

/* Of f64, to and from: all as measured on an H200. */
static uint64_t nan_with_f64(const struct emu_alu *op, uint64_t a)
{
    if (op->type == EMU_F64) {
        switch (op->from) {
        case EMU_F16:
            return f64_nan_of_f16(a);
        case EMU_BF16:
            return f64_nan_of(a << 16);
        case EMU_F32:
            return f64_nan_of(a);
        default: /* a copy where there is nothing to do */
            return op->integral ? a | UINT64_C(1) << 51 : a;
        }
    }
    switch (op->type) {
    case EMU_F16:
        return f16_nan_of(a);
    case EMU_BF16:
        return f32_nan_of(a) >> 16;
    default:
        return f32_nan_of(a);
    }
}

/* Others have one NaN, but for what hardware does with integer instructions (measured, too). */
static uint64_t float_from_nan(const struct emu_alu *op, uint64_t a,
                               const struct emu_narrowing *how)
{
    bool copied = op->type == EMU_F32 && op->from == EMU_F32 && !op->integral && !op->flush;

    if (op->saturate)
        return 0;
    if (op->type == EMU_F64 && op->flush)
        return f64_nan_of(0x7fffffff); /* flushing is f32 arithmetic, which has one NaN */
    if (op->type == EMU_F64 || op->from == EMU_F64)
        return nan_with_f64(op, a);
    if (copied)
        return (uint32_t)a;
    if (op->type == EMU_F32 && op->from == EMU_BF16 && !op->flush)
        return (uint32_t)(a << 16);
    if (op->type == EMU_TF32 && op->rounding == EMU_NEAREST_AWAY)
        return (uint32_t)((a & 0xffffe000) - (op->saturate_finite ? 0x2000 : 0));
    return emu_narrow(format_of(op->type), (double)NAN, how);
}

static uint64_t float_from_float(const struct emu_alu *op, uint64_t a)
{
    const struct emu_narrowing how = narrowing_of(op);
    double value = float_source(op, a);

    if (isnan(value))
        return float_from_nan(op, a, &how);
    if (op->integral && isfinite(value))
        value = copysign(round_to_integral(value, op->rounding), value);
    return emu_narrow(format_of(op->type), value, &how);
}

EMU_LANEWISE_1(float_from_float)

#define INTEGERS "u8/u16/u32/u64/s8/s16/s32/s64"
#define INTEGRAL "rni/rzi/rmi/rpi"
#define ROUNDING "rn/rz/rm/rp"

/* .sat stands only where the result's type lacks a number of the source's, and .ftz only where one
 * of both is f32. Between f16 and bf16 a rounding need not stand: ptxas makes .rn of none. */
static const struct emu_form forms[] = {
    {"cvt", INTEGERS " " INTEGERS, "T=F", run_integer_from_integer, 0},
    {"cvt", "sat u8 u16/u32/u64/s8/s16/s32/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat u16 u32/u64/s8/s16/s32/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat u32 u64/s8/s16/s32/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat u64 s8/s16/s32/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat s8 u8/u16/u32/u64/s16/s32/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat s16 u16/u32/u64/s32/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat s32 u32/u64/s64", "T=F", run_integer_from_integer, 0},
    {"cvt", "sat s64 u64", "T=F", run_integer_from_integer, 0},

    {"cvt", ROUNDING " sat? f16/f64 " INTEGERS, "T=F", run_float_from_integer, 0},
    {"cvt", ROUNDING " ftz? sat? f32 " INTEGERS, "T=F", run_float_from_integer, 0},
    {"cvt", ROUNDING " bf16 " INTEGERS, "T=F", run_float_from_integer, 90},
    {"cvt", INTEGRAL " sat? " INTEGERS " f16/f64", "T=F", run_integer_from_float, 0},
    {"cvt", INTEGRAL " ftz? sat? " INTEGERS " f32", "T=F", run_integer_from_float, 0},
    {"cvt", INTEGRAL " " INTEGERS " bf16", "T=F", run_integer_from_float, 90},

    {"cvt", INTEGRAL "? ftz? sat? f32 f32", "T=F", run_float_from_float, 0},
    {"cvt", INTEGRAL "? sat? f64 f64", "T=F", run_float_from_float, 0},
    {"cvt", INTEGRAL "? sat? f16 f16", "T=F", run_float_from_float, 0},
    {"cvt", INTEGRAL "? bf16 bf16", "T=F", run_float_from_float, 90},

    {"cvt", "ftz? sat? f32 f16", "T=F", run_float_from_float, 0},
    {"cvt", "ftz? f32 bf16", "T=F", run_float_from_float, 80},
    {"cvt", "sat? f64 f16", "T=F", run_float_from_float, 0},
    {"cvt", "ftz? sat? f64 f32", "T=F", run_float_from_float, 0},
    {"cvt", ROUNDING "? f64 bf16", "T=F", run_float_from_float, 90},
    {"cvt", ROUNDING " ftz? sat? f32 f64", "T=F", run_float_from_float, 0},
    {"cvt", ROUNDING " ftz? sat? f16 f32", "T=F", run_float_from_float, 0},
    {"cvt", ROUNDING " sat? f16 f64", "T=F", run_float_from_float, 0},
    {"cvt", ROUNDING "? f16 bf16", "T=F", run_float_from_float, 90},
    {"cvt", "rn/rz bf16 f32", "T=F", run_float_from_float, 80},
    {"cvt", ROUNDING " ftz? bf16 f32", "T=F", run_float_from_float, 90},
    {"cvt", ROUNDING "? bf16 f16", "T=F", run_float_from_float, 90},
    {"cvt", ROUNDING " bf16 f64", "T=F", run_float_from_float, 90},
    {"cvt", "rn/rz relu? satfinite? f16/bf16 f32", "T=F", run_float_from_float, 80},

    {"cvt", "rna satfinite? tf32 f32", "w=F", run_float_from_float, 80},
    {"cvt", "rn/rz relu? tf32 f32", "w=F", run_float_from_float, 90},
    {"cvt", "rn/rz relu? satfinite tf32 f32", "w=F", run_float_from_float, 100},
};

const struct emu_chapter emu_convert_chapter = EMU_CHAPTER(forms);
