/* f32, f64, f16 and bf16 arithmetic, comparison and selection. */
#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __float128 f128;

enum { NAN_F32 = 0x7fffffff, ONE_F32 = 0x3f800000 };

static bool is_nan_f32(uint64_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

static uint64_t flushed(uint64_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

/* ---- f32 and f64 ---- */

static float host_result(char operation, float a, float b, float c)
{
    switch (operation) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    default:
        return fmaf(a, b, c);
    }
}

static void f32_to_nearest_is_what_the_host_computes(void **state)
{
    static const struct {
        char operation;
        const char *plain, *flush, *saturated;
        int sources;
    } cases[] = {
        {'+', "add.f32 d, a, b", "add.ftz.f32 d, a, b", "add.rn.sat.f32 d, a, b", 2},
        {'-', "sub.f32 d, a, b", "sub.ftz.f32 d, a, b", "sub.rn.sat.f32 d, a, b", 2},
        {'*', "mul.f32 d, a, b", "mul.ftz.f32 d, a, b", "mul.rn.sat.f32 d, a, b", 2},
        {'/', "div.rn.f32 d, a, b", "div.rn.ftz.f32 d, a, b", NULL, 2},
        {'f', "fma.rn.f32 d, a, b, c", "fma.rn.ftz.f32 d, a, b, c", "fma.rn.sat.f32 d, a, b, c", 3},
    };
    uint64_t seed = 11;

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct emu_alu plain = fixture_op(cases[k].plain), flush = fixture_op(cases[k].flush);
        struct emu_alu saturated =
            fixture_op(cases[k].saturated ? cases[k].saturated : cases[k].plain);

        for (int i = 0; i < 5000; i++) {
            uint64_t v[3];

            for (int s = 0; s < 3; s++)
                v[s] = fixture_random_f32(&seed);

            float host = host_result(cases[k].operation, fixture_to_f32(v[0]), fixture_to_f32(v[1]),
                                     fixture_to_f32(v[2]));
            uint64_t wanted = isnan(host) ? NAN_F32 : fixture_f32(host);

            assert_int_equal(fixture_run_op(&plain, v, cases[k].sources, NULL), wanted);
            if (cases[k].saturated)
                assert_int_equal(fixture_run_op(&saturated, v, cases[k].sources, NULL),
                                 isnan(host) || host <= 0 ? 0
                                 : host >= 1              ? ONE_F32
                                                          : fixture_f32(host));
            for (int s = 0; s < 3; s++)
                v[s] = flushed(v[s]);
            host = host_result(cases[k].operation, fixture_to_f32(v[0]), fixture_to_f32(v[1]),
                               fixture_to_f32(v[2]));
            wanted = isnan(host) ? NAN_F32 : flushed(fixture_f32(host));
            assert_int_equal(fixture_run_op(&flush, v, cases[k].sources, NULL), wanted);
        }
    }
}

static void subnormal_sources_count_as_zero_under_ftz(void **state)
{
    (void)state;
    assert_int_equal(RUN("add.ftz.f32 d, a, b", 0x80000001, 0x80000001), 0x80000000);
    assert_int_equal(RUN("mul.ftz.f32 d, a, b", 0x007fffff, 0x4f000000), 0);
    assert_int_equal(RUN("mul.f32 d, a, b", 0x00400000, 0x40000000), 0x00800000);
    assert_int_equal(RUN("rcp.rn.ftz.f32 d, a", 0x80000001), 0xff800000);
    assert_int_equal(RUN("sqrt.rn.ftz.f32 d, a", 0x80000001), 0x80000000);
}

static void directions_reach_the_neighbours(void **state)
{
    (void)state;
    /* 1 + 2^-30 */
    assert_int_equal(RUN("add.rp.f32 d, a, b", ONE_F32, 0x30800000), ONE_F32 + 1);
    assert_int_equal(RUN("add.rm.f32 d, a, b", ONE_F32, 0x30800000), ONE_F32);
    assert_int_equal(RUN("sub.rz.f32 d, a, b", ONE_F32, 0x30800000), ONE_F32 - 1);
    /* 1 - 1 is -0 downward alone */
    assert_int_equal(RUN("sub.rm.f32 d, a, b", ONE_F32, ONE_F32), 0x80000000);
    assert_int_equal(RUN("sub.rn.f32 d, a, b", ONE_F32, ONE_F32), 0);
    assert_int_equal(RUN("mul.rp.f32 d, a, b", 0x7f7fffff, 0x40000000), 0x7f800000);
    assert_int_equal(RUN("mul.rz.f32 d, a, b", 0x7f7fffff, 0x40000000), 0x7f7fffff);
    assert_true(RUN("add.rp.f64 d, a, b", fixture_f64(1), fixture_f64(0x1p-80)) ==
                fixture_f64(1) + 1);
    assert_true(RUN("div.rm.f64 d, a, b", fixture_f64(1), fixture_f64(3)) ==
                fixture_f64(0x1.5555555555555p-2));
    assert_true(RUN("div.rp.f64 d, a, b", fixture_f64(1), fixture_f64(3)) ==
                fixture_f64(0x1.5555555555556p-2));
    /* sqrt(2) = 0x1.6a09e667f3bcc908...p0 */
    assert_true(RUN("sqrt.rz.f64 d, a", fixture_f64(2)) == fixture_f64(0x1.6a09e667f3bccp0));
    assert_true(RUN("sqrt.rp.f64 d, a", fixture_f64(2)) == fixture_f64(0x1.6a09e667f3bcdp0));
}

static void f32x2_is_two_of_f32(void **state)
{
    uint64_t a = fixture_f32(1) | fixture_f32(-2) << 32, b = fixture_f32(3) | fixture_f32(5) << 32;
    uint64_t c = fixture_f32(10) | fixture_f32(20) << 32;

    (void)state;
    assert_true(RUN("add.rn.f32x2 d, a, b", a, b) == (fixture_f32(4) | fixture_f32(3) << 32));
    assert_true(RUN("sub.f32x2 d, a, b", a, b) == (fixture_f32(-2) | fixture_f32(-7) << 32));
    assert_true(RUN("mul.rz.ftz.f32x2 d, a, b", a, b) == (fixture_f32(3) | fixture_f32(-10) << 32));
    assert_true(RUN("fma.rn.f32x2 d, a, b, c", a, b, c) ==
                (fixture_f32(13) | fixture_f32(10) << 32));
}

static void mixed_precision_widens_first(void **state)
{
    (void)state;
    /* 1.5 of f16, of bf16 */
    assert_int_equal(RUN("add.f32.f16 d, a, c", 0x3e00, fixture_f32(0x1p-20f)),
                     fixture_f32(1.5f + 0x1p-20f));
    assert_int_equal(RUN("sub.rn.f32.bf16 d, a, c", 0x3fc0, fixture_f32(1)), fixture_f32(0.5f));
    assert_int_equal(RUN("fma.rn.f32.f16 d, a, b, c", 0x3e00, 0x4000, fixture_f32(1)),
                     fixture_f32(4));
    assert_int_equal(RUN("add.sat.f32.f16 d, a, c", 0x3e00, fixture_f32(1)), ONE_F32);
}

static void min_and_max_order_zeros_and_pass_nan_by(void **state)
{
    (void)state;
    assert_int_equal(RUN("min.f32 d, a, b", 0, 0x80000000), 0x80000000);
    assert_int_equal(RUN("max.f32 d, a, b", 0x80000000, 0), 0);
    assert_int_equal(RUN("min.f32 d, a, b", 0x7fc00000, ONE_F32), ONE_F32);
    assert_int_equal(RUN("max.f32 d, a, b", ONE_F32, 0x7fc00000), ONE_F32);
    assert_int_equal(RUN("min.f32 d, a, b", 0xffc00001, 0x7fc00000), NAN_F32);
    assert_int_equal(RUN("min.NaN.f32 d, a, b", ONE_F32, 0x7fc00000), NAN_F32);
    assert_int_equal(RUN("min.ftz.f32 d, a, b", 0x80000001, ONE_F32), 0x80000000);
    /* the smaller magnitude, with the product of the signs */
    assert_int_equal(RUN("min.xorsign.abs.f32 d, a, b", fixture_f32(-3), fixture_f32(2)),
                     fixture_f32(-2));
    assert_int_equal(RUN("max.xorsign.abs.f32 d, a, b", fixture_f32(-3), fixture_f32(-2)),
                     fixture_f32(3));
    assert_int_equal(RUN("max.f32 d, a, b, c", fixture_f32(1), fixture_f32(7), fixture_f32(3)),
                     fixture_f32(7));
    assert_int_equal(
        RUN("min.abs.f32 d, a, b, c", fixture_f32(-5), fixture_f32(-2), fixture_f32(3)),
        fixture_f32(2));
    assert_int_equal(RUN("min.NaN.f32 d, a, b, c", 0, 0x7fc00000, 0), NAN_F32);
    assert_true(RUN("min.f64 d, a, b", fixture_f64(0), fixture_f64(-0.0)) == fixture_f64(-0.0));
    assert_true(RUN("max.f64 d, a, b", fixture_f64((double)NAN), fixture_f64(4)) == fixture_f64(4));
    assert_int_equal(RUN("min.f16 d, a, b", 0x7e00, 0x3c00), 0x3c00);
    assert_int_equal(RUN("min.NaN.f16 d, a, b", 0x7e00, 0x3c00), 0x7fff);
    assert_int_equal(RUN("max.bf16x2 d, a, b", 0x80003f80, 0x0000bf80), 0x00003f80);
    assert_int_equal(RUN("min.ftz.f16 d, a, b", 0x8001, 0x3c00), 0x8000);
}

static void kinds_are_told_by_testp(void **state)
{
    static const struct {
        uint64_t bits;
        bool finite, normal, subnormal, number;
    } cases[] = {
        {0, true, true, false, true},
        {0x80000001, true, false, true, true},
        {0x00800000, true, true, false, true},
        {0xff7fffff, true, true, false, true},
        {0x7f800000, false, false, false, true},
        {0xffc00000, false, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(RUN("testp.finite.f32 p, a", cases[i].bits), cases[i].finite);
        assert_int_equal(RUN("testp.normal.f32 p, a", cases[i].bits), cases[i].normal);
        assert_int_equal(RUN("testp.subnormal.f32 p, a", cases[i].bits), cases[i].subnormal);
        assert_int_equal(RUN("testp.number.f32 p, a", cases[i].bits), cases[i].number);
        assert_int_equal(RUN("testp.notanumber.f32 p, a", cases[i].bits), !cases[i].number);
        assert_int_equal(RUN("testp.infinite.f32 p, a", cases[i].bits),
                         cases[i].number && !cases[i].finite);
    }
    assert_int_equal(RUN("testp.normal.f64 p, a", fixture_f64(0x1p-1022)), 1);
    assert_int_equal(RUN("testp.subnormal.f64 p, a", 1), 1);
}

static void signs_are_copied_changed_and_dropped(void **state)
{
    (void)state;
    assert_int_equal(RUN("copysign.f32 d, a, b", fixture_f32(-1), fixture_f32(3)), fixture_f32(-3));
    assert_true(RUN("copysign.f64 d, a, b", fixture_f64(1), fixture_f64(-3)) == fixture_f64(3));
    assert_int_equal(RUN("neg.f32 d, a", 0), 0x80000000);
    assert_int_equal(RUN("neg.ftz.f32 d, a", 0x80000001), 0);
    assert_int_equal(RUN("abs.ftz.f32 d, a", 0x80000001), 0);
    assert_int_equal(RUN("abs.f32 d, a", 0x80000001), 1);
    assert_int_equal(RUN("neg.f16x2 d, a", 0x3c008000), 0xbc000000);
    assert_int_equal(RUN("abs.bf16x2 d, a", 0xbf808001), 0x3f800001);
    assert_int_equal(RUN("neg.ftz.f16 d, a", 0x0001), 0x8000);
}

/* Measured on an H200: other types have one NaN, f64 keeps that of an operand. */
static void a_nan_of_f64_passes_and_becomes_quiet(void **state)
{
    const uint64_t signalling = UINT64_C(0x7ff0000000000001), quiet = UINT64_C(0x7ff8000000000001);
    const uint64_t other = UINT64_C(0xffffffffffffffff), invalid = UINT64_C(0xfff8000000000000);
    const uint64_t infinity = fixture_f64((double)INFINITY);

    (void)state;
    assert_true(RUN("add.f64 d, a, b", signalling, 0) == quiet);
    assert_true(RUN("add.f64 d, a, b", signalling, other) == other);
    assert_true(RUN("add.f64 d, a, b", other, signalling) == quiet);
    assert_true(RUN("div.rn.f64 d, a, b", other, signalling) == other);
    assert_true(RUN("fma.rn.f64 d, a, b, c", other, 0, signalling) == quiet);
    assert_true(RUN("fma.rn.f64 d, a, b, c", 0, other, signalling) == other);
    assert_true(RUN("sub.f64 d, a, b", infinity, infinity) == invalid);
    assert_true(RUN("min.f64 d, a, b", other, signalling) == quiet);
    assert_true(RUN("neg.f64 d, a", signalling) == quiet);
    assert_int_equal(RUN("abs.f16 d, a", 0xfe01), 0x7fff);
    assert_int_equal(RUN("neg.bf16 d, a", 0x7fc0), 0x7fff);
    assert_int_equal(RUN("abs.f32 d, a", 0xffc00001), NAN_F32);
    assert_true(RUN("rcp.approx.ftz.f64 d, a", signalling) == 0); /* infinity, by its upper word */
    assert_true(RUN("rcp.approx.ftz.f64 d, a", quiet) == UINT64_C(0x7fffffff00000000));
}

static void out_of_bounds_nan_makes_a_zero(void **state)
{
    (void)state;
    assert_int_equal(RUN("fma.rn.oob.f16 d, a, b, c", 0x7ff7, 0x3c00, 0x3c00), 0);
    assert_int_equal(RUN("fma.rn.oob.bf16 d, a, b, c", 0x3f80, 0x7ff7, 0x3f80), 0);
    assert_int_equal(RUN("fma.rn.oob.f16 d, a, b, c", 0x3c00, 0x3c00, 0x3c00), 0x4000);
    assert_int_equal(RUN("fma.rn.oob.relu.f16x2 d, a, b, c", 0x7ff7bc00, 0x3c003c00, 0x3c000000),
                     0);
    /* of either sign, as measured on an H200 */
    assert_int_equal(RUN("fma.rn.oob.bf16x2 d, a, b, c", 0xbf56bdfd, 0xfff78115, 0x804fbe4b),
                     0x0000be4b);
    assert_int_equal(RUN("fma.rn.f16 d, a, b, c", 0x7ff7, 0x3c00, 0x3c00), 0x7fff);
}

/* ---- f16 and bf16 against 113 bits, and a search for the nearest ---- */

static double half_value(enum emu_format format, uint64_t bits)
{
    int mantissa_bits = format == EMU_FORMAT_F16 ? 10 : 7,
        bias = format == EMU_FORMAT_F16 ? 15 : 127;
    int exponent = (int)(bits & 0x7fff) >> mantissa_bits;
    double mantissa = (double)(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
    double value = exponent ? ldexp(1 + mantissa, exponent - bias) : ldexp(mantissa, 1 - bias);

    return bits & 0x8000 ? -value : value;
}

/* The nearest of the format to a finite number other than zero. */
static uint64_t nearest_half(enum emu_format format, f128 value)
{
    uint64_t infinity = format == EMU_FORMAT_F16 ? 0x7c00 : 0x7f80;
    uint64_t below = 0, above = infinity; /* as a number infinity is the next power of two here */
    f128 magnitude = value < 0 ? -value : value;
    uint64_t sign = value < 0 ? 0x8000 : 0;

    while (above - below > 1) {
        uint64_t middle = (below + above) / 2;

        if ((f128)half_value(format, middle) <= magnitude)
            below = middle;
        else
            above = middle;
    }

    f128 low = (f128)half_value(format, below);
    f128 high = above == infinity ? (f128)ldexp(1, format == EMU_FORMAT_F16 ? 16 : 128)
                                  : (f128)half_value(format, above);
    f128 twice = 2 * magnitude;

    if (twice < low + high || (twice == low + high && below % 2 == 0))
        return below | sign;
    return above | sign;
}

static bool half_is_finite(enum emu_format format, uint64_t bits)
{
    return (bits & 0x7fff) < (format == EMU_FORMAT_F16 ? 0x7c00 : 0x7f80);
}

static uint64_t random_half(uint64_t *seed, enum emu_format format)
{
    uint64_t random = fixture_random(seed), bits = random & 0xffff;

    if (random >> 62 == 0) /* about one, so that sums have to be rounded */
        bits = (bits & 0x83ff) | (format == EMU_FORMAT_F16 ? 0x3c00 : 0x3f00);
    return half_is_finite(format, bits) ? bits : bits & 0x87ff;
}

static void halves_round_the_exact_result_once(void **state)
{
    static const struct {
        enum emu_format format;
        const char *add, *sub, *mul, *fma, *fma_relu;
    } cases[] = {
        {EMU_FORMAT_F16, "add.f16 d, a, b", "sub.rn.f16 d, a, b", "mul.f16 d, a, b",
         "fma.rn.f16 d, a, b, c", "fma.rn.relu.f16 d, a, b, c"},
        {EMU_FORMAT_BF16, "add.bf16 d, a, b", "sub.rn.bf16 d, a, b", "mul.bf16 d, a, b",
         "fma.rn.bf16 d, a, b, c", "fma.rn.relu.bf16 d, a, b, c"},
    };
    uint64_t seed = 21;

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        enum emu_format format = cases[k].format;
        struct emu_alu add = fixture_op(cases[k].add), sub = fixture_op(cases[k].sub);
        struct emu_alu mul = fixture_op(cases[k].mul), fma_op = fixture_op(cases[k].fma);
        struct emu_alu relu = fixture_op(cases[k].fma_relu);

        for (int i = 0; i < 40000; i++) {
            uint64_t v[3] = {random_half(&seed, format), random_half(&seed, format),
                             random_half(&seed, format)};
            f128 a = (f128)half_value(format, v[0]), b = (f128)half_value(format, v[1]);
            f128 c = (f128)half_value(format, v[2]);
            f128 fused = a * b + c;

            if (a + b != 0)
                assert_int_equal(fixture_run_op(&add, v, 2, NULL), nearest_half(format, a + b));
            if (a - b != 0)
                assert_int_equal(fixture_run_op(&sub, v, 2, NULL), nearest_half(format, a - b));
            if (a * b != 0)
                assert_int_equal(fixture_run_op(&mul, v, 2, NULL), nearest_half(format, a * b));
            /* bf16 spans 2^-266 to 2^256: skip what 113 bits do not hold */
            if (fused != 0 && (fused - c == a * b && fused - a * b == c)) {
                uint64_t wanted = nearest_half(format, fused);

                assert_int_equal(fixture_run_op(&fma_op, v, 3, NULL), wanted);
                assert_int_equal(fixture_run_op(&relu, v, 3, NULL), wanted & 0x8000 ? 0 : wanted);
            }
        }
    }
}

static void special_halves(void **state)
{
    (void)state;
    assert_int_equal(RUN("add.f16 d, a, b", 0x7c00, 0xfc00), 0x7fff);
    assert_int_equal(RUN("mul.bf16 d, a, b", 0x7f80, 0), 0x7fff);
    assert_int_equal(RUN("add.sat.f16 d, a, b", 0x7c00, 0xfc00), 0);
    assert_int_equal(RUN("add.sat.f16 d, a, b", 0x4000, 0x3c00), 0x3c00);
    assert_int_equal(RUN("add.sat.f16x2 d, a, b", 0xc0003800, 0), 0x00003800);
    assert_int_equal(RUN("mul.ftz.f16 d, a, b", 0x0400, 0x3800), 0);
    assert_int_equal(RUN("add.ftz.f16 d, a, b", 0x8001, 0x8001), 0x8000);
    assert_int_equal(RUN("fma.rn.relu.f16 d, a, b, c", 0x7c00, 0, 0), 0x7fff);
    assert_int_equal(RUN("add.f16x2 d, a, b", 0x3c004000, 0x3c003c00), 0x40004200);
    /* a fused product: (1 + 3 * 2^-10)^2 - 1 is 1.5 * 2^-8 and 2.25 units */
    assert_int_equal(RUN("fma.rn.f16 d, a, b, c", 0x3c03, 0x3c03, 0xbc00), 0x1e02);
}

/* ---- Comparison and selection ---- */

static void comparisons_of_floats_know_unordered(void **state)
{
    static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    static const struct {
        double a, b;
    } cases[] = {{1, 2}, {2, 2}, {2, 1}};

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char f32[FIXTURE_TEXT], f64[FIXTURE_TEXT], f16[FIXTURE_TEXT];
        bool unordered_holds = n >= 6 && n != 12;

        snprintf(f32, sizeof f32, "setp.%s.f32 p, a, b", names[n]);
        snprintf(f64, sizeof f64, "setp.%s.f64 p, a, b", names[n]);
        snprintf(f16, sizeof f16, "setp.%s.f16 p, a, b", names[n]);
        assert_int_equal(RUN(f32, 0x7fc00000, ONE_F32), unordered_holds);
        assert_int_equal(RUN(f64, fixture_f64(1), fixture_f64((double)NAN)), unordered_holds);
        assert_int_equal(RUN(f16, 0x7e00, 0x7e00), unordered_holds);
        for (int order = 0; order < 3; order++) {
            double a = cases[order].a, b = cases[order].b;
            bool less = a < b, equal = a == b;
            const bool wanted[] = {equal,           !equal, less,   less || equal, !less && !equal,
                                   !less,           equal,  !equal, less,          less || equal,
                                   !less && !equal, !less,  true,   false};

            assert_int_equal(RUN(f32, fixture_f32((float)a), fixture_f32((float)b)), wanted[n]);
            assert_int_equal(RUN(f64, fixture_f64(a), fixture_f64(b)), wanted[n]);
            assert_int_equal(RUN(f16, a > 1 ? 0x4000 : 0x3c00, b > 1 ? 0x4000 : 0x3c00), wanted[n]);
        }
    }
    assert_int_equal(RUN("setp.eq.f32 p, a, b", 0, 0x80000000), 1);
    assert_int_equal(RUN("setp.eq.ftz.f32 p, a, b", 1, 0x80000000), 1);
    assert_int_equal(RUN("setp.eq.f32 p, a, b", 1, 0x80000000), 0);
}

static void comparisons_of_integers_know_signs(void **state)
{
    (void)state;
    assert_int_equal(RUN("setp.lt.s32 p, a, b", 0xffffffff, 0), 1);
    assert_int_equal(RUN("setp.lt.u32 p, a, b", 0xffffffff, 0), 0);
    assert_int_equal(RUN("setp.lo.u32 p, a, b", 0, 1), 1);
    assert_int_equal(RUN("setp.hs.u64 p, a, b", UINT64_MAX, 1), 1);
    assert_int_equal(RUN("setp.gt.s16 p, a, b", 0x0001, 0x8000), 1);
    assert_int_equal(RUN("setp.eq.b16 p, a, b", 0x10005, 0x20005), 1);
    assert_int_equal(RUN("setp.ne.b64 p, a, b", UINT64_C(1) << 40, 0), 1);
}

static void predicates_combine(void **state)
{
    static const char *const names[] = {"and", "or", "xor"};

    (void)state;
    for (int n = 0; n < 3; n++) {
        for (int t = 0; t < 2; t++) {
            for (int c = 0; c < 2; c++) {
                char text[FIXTURE_TEXT];
                const bool p[] = {t && c, t || c, t != c}, q[] = {!t && c, !t || c, t == c};
                const bool negated[] = {t && !c, t || !c, t == c};
                uint64_t second;

                snprintf(text, sizeof text, "setp.eq.%s.s32 p|q, a, b, c", names[n]);

                struct emu_alu op = fixture_op(text);
                const uint64_t v[] = {(uint64_t)t, 1, (uint64_t)c};

                assert_int_equal(fixture_run_op(&op, v, 3, &second), p[n]);
                assert_int_equal(second, q[n]);
                snprintf(text, sizeof text, "setp.eq.%s.s32 p, a, b, !c", names[n]);
                op = fixture_op(text);
                assert_int_equal(fixture_run_op(&op, v, 3, NULL), negated[n]);
            }
        }
    }
}

static void packed_comparisons_have_a_result_each(void **state)
{
    struct emu_alu op = fixture_op("setp.lt.f16x2 p|q, a, b");
    uint64_t second;

    (void)state;
    /* lower: 1 < 2; upper: 2 < 1 */
    assert_int_equal(fixture_run_op(&op, (const uint64_t[]){0x40003c00, 0x3c004000}, 2, &second),
                     1);
    assert_int_equal(second, 0);
    assert_int_equal(RUN("set.lt.f16x2.f16x2 d, a, b", 0x40003c00, 0x3c004000), 0x00003c00);
    assert_int_equal(RUN("set.gt.u32.bf16x2 d, a, b", 0x40003f80, 0x3f804000), 0xffff0000);
}

static void set_writes_ones_of_its_type(void **state)
{
    (void)state;
    assert_int_equal(RUN("set.lt.u32.s32 d, a, b", 0xffffffff, 0), 0xffffffff);
    assert_int_equal(RUN("set.lt.u32.u32 d, a, b", 0xffffffff, 0), 0);
    assert_int_equal(RUN("set.ne.f32.f64 d, a, b", fixture_f64(1), fixture_f64(2)), ONE_F32);
    assert_int_equal(RUN("set.eq.u16.f16 d, a, b", 0x3c00, 0x3c00), 0xffff);
    assert_int_equal(RUN("set.eq.bf16.bf16 d, a, b", 0x3f80, 0x3f80), 0x3f80);
    assert_int_equal(RUN("set.eq.f16.b32 d, a, b", 5, 5), 0x3c00);
    assert_int_equal(RUN("set.lt.and.f32.s32 d, a, b, c", 1, 2, 0), 0);
    assert_int_equal(RUN("set.lt.and.f32.s32 d, a, b, !c", 1, 2, 0), ONE_F32);
}

static void one_of_two_is_selected(void **state)
{
    (void)state;
    assert_int_equal(RUN("selp.b32 d, a, b, p", 5, 6, 1), 5);
    assert_int_equal(RUN("selp.f32 d, a, b, !p", 5, 6, 1), 6);
    assert_true(RUN("selp.s64 d, a, b, p", 5, UINT64_MAX, 0) == UINT64_MAX);
    assert_int_equal(RUN("slct.u32.s32 d, a, b, c", 5, 6, 0), 5);
    assert_int_equal(RUN("slct.u32.s32 d, a, b, c", 5, 6, 0x80000000), 6);
    assert_int_equal(RUN("slct.u16.f32 d, a, b, c", 5, 6, 0x80000000), 5); /* -0 */
    assert_int_equal(RUN("slct.u32.f32 d, a, b, c", 5, 6, 0x80000001), 6);
    assert_int_equal(RUN("slct.ftz.u32.f32 d, a, b, c", 5, 6, 0x80000001), 5);
    assert_int_equal(RUN("slct.u32.f32 d, a, b, c", 5, 6, 0x7fc00000), 6);
}

/* ---- Approximations: within the bounds of the manual ---- */

struct bound {
    const char *text;
    double (*of)(double);
    double low, high;          /* of the argument */
    double relative, absolute; /* of the error */
};

static double reciprocal(double x)
{
    return 1 / x;
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static void approximations_keep_the_documented_errors(void **state)
{
    static const struct bound bounds[] = {
        {"rcp.approx.f32 d, a", reciprocal, 1, 2, 0x1p-23, 0},
        {"sqrt.approx.f32 d, a", sqrt, 0x1p-60, 0x1p60, 0x1p-23, 0},
        {"rsqrt.approx.f32 d, a", reciprocal_root, 1, 4, 0x1p-22, 0},
        {"sin.approx.f32 d, a", sin, -6.2831, 6.2831, 0, 0x1p-20},
        {"cos.approx.ftz.f32 d, a", cos, -6.2831, 6.2831, 0, 0x1p-20},
        {"lg2.approx.f32 d, a", log2, 0.5, 2, 0, 0x1p-22},
        {"lg2.approx.f32 d, a", log2, 2, 0x1p100, 0x1p-22, 0},
        {"ex2.approx.ftz.f32 d, a", exp2, -100, 100, 0x1p-22, 0},
        {"tanh.approx.f32 d, a", tanh, -9, 9, 0x1p-11, 0},
    };

    (void)state;
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++) {
        struct emu_alu op = fixture_op(bounds[k].text);

        for (int i = 0; i <= 20000; i++) {
            float x = (float)(bounds[k].low + (bounds[k].high - bounds[k].low) * i / 20000);
            uint64_t bits = fixture_f32(x);
            double exact = bounds[k].of((double)x);
            double error =
                fabs((double)fixture_to_f32(fixture_run_op(&op, &bits, 1, NULL)) - exact);

            assert_true(error <= bounds[k].absolute + bounds[k].relative * fabs(exact));
        }
    }
}

static void approximations_of_special_numbers_are_the_manuals(void **state)
{
    (void)state;
    assert_int_equal(RUN("rcp.approx.f32 d, a", 0x80000000), 0xff800000);
    assert_int_equal(RUN("rcp.approx.ftz.f32 d, a", 1), 0x7f800000);
    assert_int_equal(RUN("rcp.approx.f32 d, a", 0xff800000), 0x80000000);
    assert_int_equal(RUN("sqrt.approx.f32 d, a", 0x80000000), 0x80000000);
    assert_int_equal(RUN("sqrt.approx.f32 d, a", fixture_f32(-1)), NAN_F32);
    assert_int_equal(RUN("rsqrt.approx.f32 d, a", 0x80000000), 0xff800000);
    assert_int_equal(RUN("rsqrt.approx.f32 d, a", 0x7f800000), 0);
    assert_int_equal(RUN("rsqrt.approx.f32 d, a", 0xff800000), NAN_F32);
    assert_int_equal(RUN("sin.approx.f32 d, a", 0x80000000), 0x80000000);
    assert_int_equal(RUN("cos.approx.f32 d, a", 0x7f800000), NAN_F32);
    assert_int_equal(RUN("lg2.approx.f32 d, a", 0x80000000), 0xff800000);
    assert_int_equal(RUN("lg2.approx.f32 d, a", fixture_f32(-1)), NAN_F32);
    assert_int_equal(RUN("ex2.approx.f32 d, a", 0xff800000), 0);
    assert_int_equal(RUN("ex2.approx.f32 d, a", 0x7f800000), 0x7f800000);
    assert_int_equal(RUN("tanh.approx.f32 d, a", 0xff800000), fixture_f32(-1));
    /* |b| of more than 2^126: zero, or NaN where a is infinite */
    assert_int_equal(RUN("div.approx.f32 d, a, b", ONE_F32, 0x7f000000), 0);
    assert_true(is_nan_f32(RUN("div.approx.f32 d, a, b", 0x7f800000, 0x7f000000)));
    assert_int_equal(RUN("div.full.f32 d, a, b", 0x7f000000, 0x7f000000), ONE_F32);
    assert_true(RUN("rcp.approx.ftz.f64 d, a", fixture_f64(4)) == fixture_f64(0.25));
    assert_true((RUN("rcp.approx.ftz.f64 d, a", fixture_f64(3)) & 0xffffffff) == 0);
    assert_true(RUN("rcp.approx.ftz.f64 d, a", 1) == fixture_f64((double)INFINITY));
    assert_true(RUN("rsqrt.approx.ftz.f64 d, a", fixture_f64(4)) == fixture_f64(0.5));
    assert_int_equal(RUN("ex2.approx.f16x2 d, a", 0x40003c00), 0x44004000);
    assert_int_equal(RUN("ex2.approx.ftz.bf16 d, a", 0x4040), 0x4100);
    assert_int_equal(RUN("tanh.approx.bf16x2 d, a", 0x7f80ff80), 0x3f80bf80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_to_nearest_is_what_the_host_computes),
        cmocka_unit_test(subnormal_sources_count_as_zero_under_ftz),
        cmocka_unit_test(directions_reach_the_neighbours),
        cmocka_unit_test(f32x2_is_two_of_f32),
        cmocka_unit_test(mixed_precision_widens_first),
        cmocka_unit_test(min_and_max_order_zeros_and_pass_nan_by),
        cmocka_unit_test(kinds_are_told_by_testp),
        cmocka_unit_test(signs_are_copied_changed_and_dropped),
        cmocka_unit_test(a_nan_of_f64_passes_and_becomes_quiet),
        cmocka_unit_test(out_of_bounds_nan_makes_a_zero),
        cmocka_unit_test(halves_round_the_exact_result_once),
        cmocka_unit_test(special_halves),
        cmocka_unit_test(comparisons_of_floats_know_unordered),
        cmocka_unit_test(comparisons_of_integers_know_signs),
        cmocka_unit_test(predicates_combine),
        cmocka_unit_test(packed_comparisons_have_a_result_each),
        cmocka_unit_test(set_writes_ones_of_its_type),
        cmocka_unit_test(one_of_two_is_selected),
        cmocka_unit_test(approximations_keep_the_documented_errors),
        cmocka_unit_test(approximations_of_special_numbers_are_the_manuals),
    };

    return cmocka_run_group_tests_name("emulator alu float", tests, NULL, NULL);
}
