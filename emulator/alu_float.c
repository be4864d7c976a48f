/* alu_float.c: PTX ISA, "Floating-Point Instructions" and "Mixed Precision" ones, as far as IEEE
 * 754 says what they give. f32x2 is two of f32. */
#include "emulator/alu_lane.h"

/* ---- f32 ---- */

static uint64_t add(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    float x = emu_f32_source(op, a), y = emu_f32_source(op, b);

    return emu_f32_result(op, op->rounding == EMU_NEAREST_EVEN ? x + y
                                                               : emu_add_f32(x, y, op->rounding));
}

static uint64_t sub(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return add(op, a, b ^ 0x80000000);
}

static uint64_t mul(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    float x = emu_f32_source(op, a), y = emu_f32_source(op, b);

    return emu_f32_result(op, op->rounding == EMU_NEAREST_EVEN ? x * y
                                                               : emu_mul_f32(x, y, op->rounding));
}

static uint64_t fused(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return emu_f32_result(op, emu_fma_f32(emu_f32_source(op, a), emu_f32_source(op, b),
                                          emu_f32_source(op, c), op->rounding));
}

static uint64_t divide(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_f32_result(op,
                          emu_div_f32(emu_f32_source(op, a), emu_f32_source(op, b), op->rounding));
}

static uint64_t reciprocal(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, emu_div_f32(1, emu_f32_source(op, a), op->rounding));
}

static uint64_t root(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, emu_sqrt_f32(emu_f32_source(op, a), op->rounding));
}

EMU_LANEWISE_2(add)
EMU_LANEWISE_2(sub)
EMU_LANEWISE_2(mul)
EMU_LANEWISE_3(fused)
EMU_LANEWISE_2(divide)
EMU_LANEWISE_1(reciprocal)
EMU_LANEWISE_1(root)

static uint64_t add_x2(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return add(op, a, b) | add(op, a >> 32, b >> 32) << 32;
}

static uint64_t sub_x2(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return sub(op, a, b) | sub(op, a >> 32, b >> 32) << 32;
}

static uint64_t mul_x2(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return mul(op, a, b) | mul(op, a >> 32, b >> 32) << 32;
}

static uint64_t fused_x2(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return fused(op, a, b, c) | fused(op, a >> 32, b >> 32, c >> 32) << 32;
}

EMU_LANEWISE_2(add_x2)
EMU_LANEWISE_2(sub_x2)
EMU_LANEWISE_2(mul_x2)
EMU_LANEWISE_3(fused_x2)

/* ---- Mixed precision: the 16-bit sources become f32, which is exact ---- */

static uint64_t from_half(const struct emu_alu *op, uint64_t bits)
{
    return emu_f32_bits((float)emu_widen(emu_half_format(op->from), bits));
}

static uint64_t add_mixed(const struct emu_alu *op, uint64_t a, uint64_t c)
{
    return add(op, from_half(op, a), c);
}

static uint64_t sub_mixed(const struct emu_alu *op, uint64_t a, uint64_t c)
{
    return sub(op, from_half(op, a), c);
}

static uint64_t fused_mixed(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return fused(op, from_half(op, a), from_half(op, b), c);
}

EMU_LANEWISE_2(add_mixed)
EMU_LANEWISE_2(sub_mixed)
EMU_LANEWISE_3(fused_mixed)

/* ---- Signs, order and kinds of f32 ---- */

static uint64_t absolute(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, emu_f32_of(emu_f32_bits(emu_f32_source(op, a)) & 0x7fffffff));
}

static uint64_t negate(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, -emu_f32_source(op, a));
}

EMU_LANEWISE_1(absolute)
EMU_LANEWISE_1(negate)

static bool is_nan_f32(uint64_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* The smaller or larger of two; -0 is smaller than +0. A NaN loses, unless `nan` says otherwise. */
static uint64_t choose(const struct emu_alu *op, uint64_t a, uint64_t b, bool larger)
{
    a = op->flush ? emu_flush_bits(a) : (uint32_t)a;
    b = op->flush ? emu_flush_bits(b) : (uint32_t)b;

    uint64_t sign = op->xorsign ? (a ^ b) & 0x80000000 : 0;

    if (op->abs) {
        a &= 0x7fffffff;
        b &= 0x7fffffff;
    }
    if (is_nan_f32(a) || is_nan_f32(b)) {
        if (op->nan || (is_nan_f32(a) && is_nan_f32(b)))
            return EMU_NAN_F32;
        return (is_nan_f32(a) ? b : a) | sign;
    }

    float x = emu_f32_of(a), y = emu_f32_of(b);
    bool first = x < y || (x == y && (a & 0x80000000));

    return (first != larger ? a : b) | sign;
}

static uint64_t minimum(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return choose(op, a, b, false);
}

static uint64_t maximum(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return choose(op, a, b, true);
}

static uint64_t minimum_of_3(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return choose(op, choose(op, a, b, false), c, false);
}

static uint64_t maximum_of_3(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return choose(op, choose(op, a, b, true), c, true);
}

EMU_LANEWISE_2(minimum)
EMU_LANEWISE_2(maximum)
EMU_LANEWISE_3(minimum_of_3)
EMU_LANEWISE_3(maximum_of_3)

static bool is_of_kind(enum emu_variant kind, int class)
{
    switch (kind) {
    case EMU_VARIANT_FINITE:
        return class != FP_NAN && class != FP_INFINITE;
    case EMU_VARIANT_INFINITE:
        return class == FP_INFINITE;
    case EMU_VARIANT_NUMBER:
        return class != FP_NAN;
    case EMU_VARIANT_NOTANUMBER:
        return class == FP_NAN;
    case EMU_VARIANT_NORMAL:
        return class == FP_NORMAL || class == FP_ZERO; /* so on an H200 */
    default:
        return class == FP_SUBNORMAL;
    }
}

static uint64_t test_f32(const struct emu_alu *op, uint64_t a)
{
    return is_of_kind(op->variant, fpclassify(emu_f32_of(a)));
}

static uint64_t test_f64(const struct emu_alu *op, uint64_t a)
{
    return is_of_kind(op->variant, fpclassify(emu_f64_of(a)));
}

/* The sign of a, the rest of b. */
static uint64_t copy_sign(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    uint64_t sign = UINT64_C(1) << (op->width - 1);

    return (a & sign) | emu_low_bits(b & ~sign, op->width);
}

EMU_LANEWISE_1(test_f32)
EMU_LANEWISE_1(test_f64)
EMU_LANEWISE_2(copy_sign)

/* ---- f64 ---- */

static uint64_t add_f64(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_f64_bits(emu_add_f64(emu_f64_of(a), emu_f64_of(b), op->rounding));
}

static uint64_t sub_f64(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    double y = emu_f64_of(b);

    /* The sign of a NaN stays. */
    return emu_f64_bits(emu_add_f64(emu_f64_of(a), isnan(y) ? y : -y, op->rounding));
}

static uint64_t mul_f64(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_f64_bits(emu_mul_f64(emu_f64_of(a), emu_f64_of(b), op->rounding));
}

static uint64_t fused_f64(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return emu_f64_bits(emu_fma_f64(emu_f64_of(a), emu_f64_of(b), emu_f64_of(c), op->rounding));
}

static uint64_t divide_f64(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_f64_bits(emu_div_f64(emu_f64_of(a), emu_f64_of(b), op->rounding));
}

static uint64_t reciprocal_f64(const struct emu_alu *op, uint64_t a)
{
    return emu_f64_bits(emu_div_f64(1, emu_f64_of(a), op->rounding));
}

static uint64_t root_f64(const struct emu_alu *op, uint64_t a)
{
    return emu_f64_bits(emu_sqrt_f64(emu_f64_of(a), op->rounding));
}

static const uint64_t sign_f64 = UINT64_C(1) << 63, quiet_f64 = UINT64_C(1) << 51;

/* A NaN keeps its sign and becomes quiet. */
static uint64_t with_sign_f64(uint64_t a, uint64_t bits)
{
    return isnan(emu_f64_of(a)) ? a | quiet_f64 : bits;
}

static uint64_t absolute_f64(const struct emu_alu *op, uint64_t a)
{
    (void)op;
    return with_sign_f64(a, a & ~sign_f64);
}

static uint64_t negate_f64(const struct emu_alu *op, uint64_t a)
{
    (void)op;
    return with_sign_f64(a, a ^ sign_f64);
}

static uint64_t choose_f64(uint64_t a, uint64_t b, bool larger)
{
    double x = emu_f64_of(a), y = emu_f64_of(b);

    if (isnan(x) || isnan(y))
        return isnan(x) ? (isnan(y) ? b | quiet_f64 : b) : a;
    return (x < y || (x == y && (a & sign_f64))) != larger ? a : b;
}

static uint64_t minimum_f64(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    (void)op;
    return choose_f64(a, b, false);
}

static uint64_t maximum_f64(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    (void)op;
    return choose_f64(a, b, true);
}

EMU_LANEWISE_2(add_f64)
EMU_LANEWISE_2(sub_f64)
EMU_LANEWISE_2(mul_f64)
EMU_LANEWISE_3(fused_f64)
EMU_LANEWISE_2(divide_f64)
EMU_LANEWISE_1(reciprocal_f64)
EMU_LANEWISE_1(root_f64)
EMU_LANEWISE_1(absolute_f64)
EMU_LANEWISE_1(negate_f64)
EMU_LANEWISE_2(minimum_f64)
EMU_LANEWISE_2(maximum_f64)

#define ROUNDING "rn/rz/rm/rp"
#define KINDS "finite/infinite/number/notanumber/normal/subnormal"

static const struct emu_form forms[] = {
    {"add", ROUNDING "? ftz? sat? f32", "T=TT", run_add, 0},
    {"add", ROUNDING "? ftz? f32x2", "T=TT", run_add_x2, 100},
    {"add", ROUNDING "? f64", "T=TT", run_add_f64, 0},
    {"add", ROUNDING "? sat? f32 f16/bf16", "T=FT", run_add_mixed, 100},
    {"sub", ROUNDING "? ftz? sat? f32", "T=TT", run_sub, 0},
    {"sub", ROUNDING "? ftz? f32x2", "T=TT", run_sub_x2, 100},
    {"sub", ROUNDING "? f64", "T=TT", run_sub_f64, 0},
    {"sub", ROUNDING "? sat? f32 f16/bf16", "T=FT", run_sub_mixed, 100},
    {"mul", ROUNDING "? ftz? sat? f32", "T=TT", run_mul, 0},
    {"mul", ROUNDING "? ftz? f32x2", "T=TT", run_mul_x2, 100},
    {"mul", ROUNDING "? f64", "T=TT", run_mul_f64, 0},
    {"fma", ROUNDING " ftz? sat? f32", "T=TTT", run_fused, 0},
    {"fma", ROUNDING " ftz? f32x2", "T=TTT", run_fused_x2, 100},
    {"fma", ROUNDING " f64", "T=TTT", run_fused_f64, 0},
    {"fma", ROUNDING " sat? f32 f16/bf16", "T=FFT", run_fused_mixed, 100},
    {"mad", ROUNDING " ftz? sat? f32", "T=TTT", run_fused, 0},
    {"mad", ROUNDING " f64", "T=TTT", run_fused_f64, 0},
    {"div", ROUNDING " ftz? f32", "T=TT", run_divide, 0},
    {"div", ROUNDING " f64", "T=TT", run_divide_f64, 0},
    {"rcp", ROUNDING " ftz? f32", "T=T", run_reciprocal, 0},
    {"rcp", ROUNDING " f64", "T=T", run_reciprocal_f64, 0},
    {"sqrt", ROUNDING " ftz? f32", "T=T", run_root, 0},
    {"sqrt", ROUNDING " f64", "T=T", run_root_f64, 0},
    {"abs", "ftz? f32", "T=T", run_absolute, 0},
    {"abs", "f64", "T=T", run_absolute_f64, 0},
    {"neg", "ftz? f32", "T=T", run_negate, 0},
    {"neg", "f64", "T=T", run_negate_f64, 0},
    {"min", "ftz? NaN? f32", "T=TT", run_minimum, 0},
    {"min", "ftz? NaN? xorsign abs f32", "T=TT", run_minimum, 86},
    {"min", "ftz? NaN? abs? f32", "T=TTT", run_minimum_of_3, 100},
    {"min", "f64", "T=TT", run_minimum_f64, 0},
    {"max", "ftz? NaN? f32", "T=TT", run_maximum, 0},
    {"max", "ftz? NaN? xorsign abs f32", "T=TT", run_maximum, 86},
    {"max", "ftz? NaN? abs? f32", "T=TTT", run_maximum_of_3, 100},
    {"max", "f64", "T=TT", run_maximum_f64, 0},
    {"testp", KINDS " f32", "p=T", run_test_f32, 0},
    {"testp", KINDS " f64", "p=T", run_test_f64, 0},
    {"copysign", "f32/f64", "T=TT", run_copy_sign, 0},
};

const struct emu_chapter emu_float_chapter = EMU_CHAPTER(forms);
