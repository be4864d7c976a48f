/* alu_approximate.c: the .approx and .full instructions of "Floating-Point Instructions", and those
 * of "Half Precision".
 *
 * The manual bounds their errors and gives no bits. Here they are the correct result in f64 (of
 * the host's libm, within an ulp of f64) rounded once, which is within every bound:
 *
 *     rcp, sqrt      1 ulp                  div.full      2 ulp
 *     rsqrt          2^-22.9 relative       div.approx    2 ulp (|b| in [2^-126, 2^126])
 *     sin, cos       2^-20.5 absolute in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]
 *     lg2            2^-22 absolute in (0.5, 2), else 2^-22 relative
 *     ex2            2^-22 relative (2 ulp)  f16: 2^-9.9 relative; bf16: 2^-7
 *     tanh           2^-11 relative          f16: 2^-10.987 absolute; bf16: 2^-8
 *     rcp, rsqrt of ftz.f64    the upper 32 bits, 20 of the fraction */
#include "emulator/alu_lane.h"

static uint64_t reciprocal(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, 1 / emu_f32_source(op, a));
}

static uint64_t root(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, sqrtf(emu_f32_source(op, a)));
}

static uint64_t reciprocal_root(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, (float)(1 / sqrt((double)emu_f32_source(op, a))));
}

/* The hardware turns radians to turns in f32 first, subnormal ones to zero: so the error grows with
 * the argument, and of a very large one, which is whole turns, it gives sin 0. */
static double angle(const struct emu_alu *op, uint64_t a)
{
    static const float turns_in_a_radian = 0x1.45f306p-3f;
    const double radians_in_a_turn = 0x1.921fb54442d18p+2;
    float turns = emu_flush(emu_f32_source(op, emu_flush_bits(a)) * turns_in_a_radian);

    return (double)(turns - truncf(turns)) * radians_in_a_turn;
}

static uint64_t sine(const struct emu_alu *op, uint64_t a)
{
    double radians = angle(op, a);

    /* The sign of zero is the argument's. */
    return emu_f32_result(
        op, copysignf((float)sin(radians), radians == 0 ? emu_f32_of(a) : (float)sin(radians)));
}

static uint64_t cosine(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, (float)cos(angle(op, a)));
}

static uint64_t logarithm(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, (float)log2((double)emu_f32_source(op, a)));
}

static uint64_t exponential(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, (float)exp2((double)emu_f32_source(op, a)));
}

static uint64_t hyperbolic_tangent(const struct emu_alu *op, uint64_t a)
{
    return emu_f32_result(op, (float)tanh((double)emu_f32_source(op, a)));
}

static uint64_t divide_full(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_f32_result(op, emu_f32_source(op, a) / emu_f32_source(op, b));
}

/* For |b| above 2^126 the reciprocal is subnormal and counts as zero (PTX ISA, "div"). */
static uint64_t divide(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    float x = emu_f32_source(op, a), y = emu_f32_source(op, b);

    if (isfinite(y) && fabsf(y) > 0x1p126f)
        return emu_f32_result(op, x * copysignf(0, y));
    return emu_f32_result(op, x / y);
}

EMU_LANEWISE_1(reciprocal)
EMU_LANEWISE_1(root)
EMU_LANEWISE_1(reciprocal_root)
EMU_LANEWISE_1(sine)
EMU_LANEWISE_1(cosine)
EMU_LANEWISE_1(logarithm)
EMU_LANEWISE_1(exponential)
EMU_LANEWISE_1(hyperbolic_tangent)
EMU_LANEWISE_2(divide)
EMU_LANEWISE_2(divide_full)

/* ---- f64: of the upper words alone, as if the lower ones were zero ---- */

static const uint64_t upper_word = UINT64_C(0xffffffff) << 32;

static double upper_source(uint64_t bits)
{
    double value = emu_f64_of(bits & upper_word);

    return fpclassify(value) == FP_SUBNORMAL ? copysign(0, value) : value;
}

static uint64_t upper_result(double value)
{
    if (isnan(value))
        return EMU_NAN_F32 << 32;
    if (fpclassify(value) == FP_SUBNORMAL)
        value = copysign(0, value);
    return emu_f64_bits(value) & upper_word;
}

static uint64_t reciprocal_f64(const struct emu_alu *op, uint64_t a)
{
    (void)op;
    return upper_result(1 / upper_source(a));
}

static uint64_t reciprocal_root_f64(const struct emu_alu *op, uint64_t a)
{
    (void)op;
    return upper_result(1 / sqrt(upper_source(a)));
}

/* Without .ftz rsqrt.approx.f64 is a function of all bits, of about full precision. */
static uint64_t whole_reciprocal_root_f64(const struct emu_alu *op, uint64_t a)
{
    double root_of = emu_sqrt_f64(emu_f64_of(a), op->rounding);

    return emu_f64_bits(emu_div_f64(1, root_of, op->rounding));
}

EMU_LANEWISE_1(reciprocal_f64)
EMU_LANEWISE_1(reciprocal_root_f64)
EMU_LANEWISE_1(whole_reciprocal_root_f64)

/* ---- f16 and bf16 ---- */

typedef double (*function)(double);

/* .ftz flushes subnormal numbers of bf16. */
static uint64_t apply(const struct emu_alu *op, function of, uint64_t bits)
{
    static const struct emu_narrowing nearest = {.rounding = EMU_NEAREST_EVEN};
    enum emu_format format = emu_half_format(op->type);
    bool subnormal = (bits & 0x7f80) == 0;

    if (op->flush && subnormal)
        bits &= 0x8000;

    uint64_t result = emu_narrow(format, of(emu_widen(format, bits & 0xffff)), &nearest);

    return op->flush && (result & 0x7f80) == 0 ? result & 0x8000 : result;
}

static uint64_t apply_to_halves(const struct emu_alu *op, function of, uint64_t bits)
{
    uint64_t lower = apply(op, of, bits);

    return op->width == 32 ? lower | apply(op, of, bits >> 16) << 16 : lower;
}

static uint64_t exponential_half(const struct emu_alu *op, uint64_t a)
{
    return apply_to_halves(op, exp2, a);
}

static uint64_t hyperbolic_tangent_half(const struct emu_alu *op, uint64_t a)
{
    return apply_to_halves(op, tanh, a);
}

EMU_LANEWISE_1(exponential_half)
EMU_LANEWISE_1(hyperbolic_tangent_half)

static const struct emu_form forms[] = {
    {"div", "approx ftz? f32", "T=TT", run_divide, 0},
    {"div", "full ftz? f32", "T=TT", run_divide_full, 0},
    {"rcp", "approx ftz? f32", "T=T", run_reciprocal, 0},
    {"rcp", "approx ftz f64", "T=T", run_reciprocal_f64, 0},
    {"sqrt", "approx ftz? f32", "T=T", run_root, 0},
    {"rsqrt", "approx ftz? f32", "T=T", run_reciprocal_root, 0},
    {"rsqrt", "approx ftz f64", "T=T", run_reciprocal_root_f64, 0},
    {"rsqrt", "approx f64", "T=T", run_whole_reciprocal_root_f64, 0},
    {"sin", "approx ftz? f32", "T=T", run_sine, 0},
    {"cos", "approx ftz? f32", "T=T", run_cosine, 0},
    {"lg2", "approx ftz? f32", "T=T", run_logarithm, 0},
    {"ex2", "approx ftz? f32", "T=T", run_exponential, 0},
    {"ex2", "approx f16/f16x2", "T=T", run_exponential_half, 75},
    {"ex2", "approx ftz bf16/bf16x2", "T=T", run_exponential_half, 90},
    {"tanh", "approx f32", "T=T", run_hyperbolic_tangent, 75},
    {"tanh", "approx f16/f16x2", "T=T", run_hyperbolic_tangent_half, 75},
    {"tanh", "approx bf16/bf16x2", "T=T", run_hyperbolic_tangent_half, 90},
};

const struct emu_chapter emu_approximate_chapter = EMU_CHAPTER(forms);
