/* alu_half.c: PTX ISA, "Half Precision Floating-Point Instructions": f16, bf16 and two of them.
 *
 * Products are exact in f64, sums are rounded to odd there, so the one rounding to the format
 * decides. */
#include "emulator/alu_lane.h"

typedef uint64_t (*half_function)(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c);

static uint64_t largest_subnormal(const struct emu_alu *op)
{
    return emu_half_format(op->type) == EMU_FORMAT_BF16 ? 0x7f : 0x3ff;
}

static uint64_t flush(const struct emu_alu *op, uint64_t bits)
{
    return op->flush && (bits & 0x7fff) <= largest_subnormal(op) ? bits & 0x8000 : bits & 0xffff;
}

static double source(const struct emu_alu *op, uint64_t bits)
{
    return emu_widen(emu_half_format(op->type), flush(op, bits));
}

static uint64_t result(const struct emu_alu *op, double value)
{
    const struct emu_narrowing how = {
        .rounding = op->rounding, .saturate_unit = op->saturate, .relu = op->relu};

    return flush(op, emu_narrow(emu_half_format(op->type), value, &how));
}

/* The function on the only element, or on both. */
static uint64_t on_halves(const struct emu_alu *op, half_function function, uint64_t a, uint64_t b,
                          uint64_t c)
{
    uint64_t lower = function(op, a & 0xffff, b & 0xffff, c & 0xffff);

    if (op->width == 16)
        return lower;
    return lower | function(op, a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
}

static uint64_t add_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return result(op, emu_add_to_odd(source(op, a), source(op, b)));
}

static uint64_t sub_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return result(op, emu_add_to_odd(source(op, a), -source(op, b)));
}

static uint64_t mul_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return result(op, source(op, a) * source(op, b));
}

/* The NaN that a tensor map fills with where it says so; see .oob of fma. Its sign does not count
 * (measured on an H200). */
static bool is_oob_nan(uint64_t bits)
{
    return (bits & 0x7fff) == 0x7ff7;
}

static uint64_t fused_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    if (op->oob && (is_oob_nan(a) || is_oob_nan(b)))
        return 0;
    return result(op, emu_add_to_odd(source(op, a) * source(op, b), source(op, c)));
}

static bool is_nan(const struct emu_alu *op, uint64_t bits)
{
    uint64_t infinity = emu_half_format(op->type) == EMU_FORMAT_BF16 ? 0x7f80 : 0x7c00;

    return (bits & 0x7fff) > infinity;
}

/* As of f32: -0 is smaller than +0, and a NaN loses unless .NaN is there. */
static uint64_t choose(const struct emu_alu *op, uint64_t a, uint64_t b, bool larger)
{
    a = flush(op, a);
    b = flush(op, b);

    uint64_t sign = op->xorsign ? (a ^ b) & 0x8000 : 0;

    if (op->abs) {
        a &= 0x7fff;
        b &= 0x7fff;
    }
    if (is_nan(op, a) || is_nan(op, b)) {
        if (op->nan || (is_nan(op, a) && is_nan(op, b)))
            return EMU_NAN_F16;
        return (is_nan(op, a) ? b : a) | sign;
    }

    double x = source(op, a), y = source(op, b);
    bool first = x < y || (x == y && (a & 0x8000));

    return (first != larger ? a : b) | sign;
}

static uint64_t minimum_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return choose(op, a, b, false);
}

static uint64_t maximum_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)c;
    return choose(op, a, b, true);
}

static uint64_t absolute_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b, (void)c;
    return is_nan(op, a) ? EMU_NAN_F16 : flush(op, a) & 0x7fff;
}

static uint64_t negate_one(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)b, (void)c;
    return is_nan(op, a) ? EMU_NAN_F16 : flush(op, a) ^ 0x8000;
}

static uint64_t add(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return on_halves(op, add_one, a, b, 0);
}

static uint64_t sub(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return on_halves(op, sub_one, a, b, 0);
}

static uint64_t mul(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return on_halves(op, mul_one, a, b, 0);
}

static uint64_t fused(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return on_halves(op, fused_one, a, b, c);
}

static uint64_t minimum(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return on_halves(op, minimum_one, a, b, 0);
}

static uint64_t maximum(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return on_halves(op, maximum_one, a, b, 0);
}

static uint64_t absolute(const struct emu_alu *op, uint64_t a)
{
    return on_halves(op, absolute_one, a, 0, 0);
}

static uint64_t negate(const struct emu_alu *op, uint64_t a)
{
    return on_halves(op, negate_one, a, 0, 0);
}

EMU_LANEWISE_2(add)
EMU_LANEWISE_2(sub)
EMU_LANEWISE_2(mul)
EMU_LANEWISE_3(fused)
EMU_LANEWISE_2(minimum)
EMU_LANEWISE_2(maximum)
EMU_LANEWISE_1(absolute)
EMU_LANEWISE_1(negate)

static const struct emu_form forms[] = {
    {"add", "rn? ftz? sat? f16/f16x2", "T=TT", run_add, 0},
    {"add", "rn? bf16/bf16x2", "T=TT", run_add, 90},
    {"sub", "rn? ftz? sat? f16/f16x2", "T=TT", run_sub, 0},
    {"sub", "rn? bf16/bf16x2", "T=TT", run_sub, 90},
    {"mul", "rn? ftz? sat? f16/f16x2", "T=TT", run_mul, 0},
    {"mul", "rn? bf16/bf16x2", "T=TT", run_mul, 90},
    {"fma", "rn ftz? sat? f16/f16x2", "T=TTT", run_fused, 0},
    {"fma", "rn ftz? relu f16/f16x2", "T=TTT", run_fused, 80},
    {"fma", "rn relu? bf16/bf16x2", "T=TTT", run_fused, 80},
    {"fma", "rn oob relu? f16/f16x2/bf16/bf16x2", "T=TTT", run_fused, 90},
    {"abs", "ftz? f16/f16x2", "T=T", run_absolute, 0},
    {"abs", "bf16/bf16x2", "T=T", run_absolute, 80},
    {"neg", "ftz? f16/f16x2", "T=T", run_negate, 0},
    {"neg", "bf16/bf16x2", "T=T", run_negate, 80},
    {"min", "ftz? NaN? f16/f16x2", "T=TT", run_minimum, 80},
    {"min", "ftz? NaN? xorsign abs f16/f16x2", "T=TT", run_minimum, 86},
    {"min", "NaN? bf16/bf16x2", "T=TT", run_minimum, 80},
    {"min", "NaN? xorsign abs bf16/bf16x2", "T=TT", run_minimum, 86},
    {"max", "ftz? NaN? f16/f16x2", "T=TT", run_maximum, 80},
    {"max", "ftz? NaN? xorsign abs f16/f16x2", "T=TT", run_maximum, 86},
    {"max", "NaN? bf16/bf16x2", "T=TT", run_maximum, 80},
    {"max", "NaN? xorsign abs bf16/bf16x2", "T=TT", run_maximum, 86},
};

const struct emu_chapter emu_half_chapter = EMU_CHAPTER(forms);
