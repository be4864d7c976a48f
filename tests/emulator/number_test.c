/* number.h against tables, neighbours found by search, and the host's own rounding modes. */
#include "emulator/number.h"

#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct small_format {
    enum emu_format format;
    int width, exponent_bits, mantissa_bits, bias;
    uint64_t largest; /* bits of the largest finite number */
    double largest_value;
} small_formats[] = {
    {EMU_FORMAT_F16, 16, 5, 10, 15, 0x7bff, 65504},
    {EMU_FORMAT_BF16, 16, 8, 7, 127, 0x7f7f, 0x1.fep127},
    {EMU_FORMAT_E4M3, 8, 4, 3, 7, 0x7e, 448},
    {EMU_FORMAT_E5M2, 8, 5, 2, 15, 0x7b, 57344},
    {EMU_FORMAT_E2M3, 6, 2, 3, 1, 0x1f, 7.5},
    {EMU_FORMAT_E3M2, 6, 3, 2, 3, 0x1f, 28},
    {EMU_FORMAT_E2M1, 4, 2, 1, 1, 0x7, 6},
};

#define COUNT(array) (sizeof array / sizeof *array)

static const struct emu_narrowing nearest = {.rounding = EMU_NEAREST_EVEN};

/* The value as the OCP and IEEE texts define it. */
static double value_by_definition(const struct small_format *f, uint64_t bits)
{
    int mantissa = (int)(bits & ((1u << f->mantissa_bits) - 1));
    int exponent = (int)(bits >> f->mantissa_bits) & ((1 << f->exponent_bits) - 1);
    double fraction = (double)mantissa / (double)(1 << f->mantissa_bits);
    double magnitude = exponent == 0 ? fraction * pow(2, 1 - f->bias)
                                     : (1 + fraction) * pow(2, exponent - f->bias);

    return bits >> (f->width - 1) ? -magnitude : magnitude;
}

static void every_finite_number_widens_to_its_value_and_narrows_back(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT(small_formats); i++) {
        const struct small_format *f = &small_formats[i];
        uint64_t sign = UINT64_C(1) << (f->width - 1);

        for (uint64_t bits = 0; bits <= f->largest; bits++) {
            for (int negative = 0; negative < 2; negative++) {
                uint64_t pattern = negative ? bits | sign : bits;
                double value = emu_widen(f->format, pattern);

                assert_true(value == value_by_definition(f, pattern));
                assert_int_equal(signbit(value) != 0, negative);
                assert_int_equal(emu_narrow(f->format, value, &nearest), pattern);
            }
        }
        assert_true(emu_widen(f->format, f->largest) == f->largest_value);
    }
}

static void what_is_not_finite_widens_to_infinity_or_nan(void **state)
{
    (void)state;

    assert_true(isinf(emu_widen(EMU_FORMAT_F16, 0x7c00)));
    assert_true(emu_widen(EMU_FORMAT_BF16, 0xff80) == -(double)INFINITY);
    assert_true(isinf(emu_widen(EMU_FORMAT_E5M2, 0x7c)));
    for (uint64_t bits = 0x7d; bits < 0x80; bits++)
        assert_true(isnan(emu_widen(EMU_FORMAT_E5M2, bits | 0x80)));
    assert_true(isnan(emu_widen(EMU_FORMAT_E4M3, 0x7f)));
    assert_true(isnan(emu_widen(EMU_FORMAT_E4M3, 0xff)));
    for (uint64_t bits = 0x7c01; bits < 0x8000; bits++)
        assert_true(isnan(emu_widen(EMU_FORMAT_F16, bits)));
    assert_true(isnan(emu_widen(EMU_FORMAT_TF32, 0x7f802000)));
}

static void the_values_of_e2m1_are_those_of_the_table(void **state)
{
    static const double values[] = {0, .5, 1, 1.5, 2, 3, 4, 6};

    (void)state;
    for (uint64_t bits = 0; bits < 8; bits++) {
        assert_true(emu_widen(EMU_FORMAT_E2M1, bits) == values[bits]);
        assert_true(emu_widen(EMU_FORMAT_E2M1, bits | 8) == -values[bits]);
    }
}

/* The choice between two neighbours, for a value strictly between them, all positive. */
static uint64_t expected(uint64_t below, double low, double high, double value,
                         enum emu_rounding rounding, bool negative)
{
    double middle = (low + high) / 2;

    switch (rounding) {
    case EMU_NEAREST_EVEN:
        return value < middle ? below : value > middle ? below + 1 : below + (below & 1);
    case EMU_NEAREST_AWAY:
        return below + (value >= middle);
    case EMU_TO_ZERO:
        return below;
    case EMU_DOWN:
        return below + negative;
    case EMU_UP:
        return below + !negative;
    }
    return 0;
}

static void between_neighbours_the_direction_decides(void **state)
{
    (void)state;

    for (size_t i = 0; i < COUNT(small_formats); i++) {
        const struct small_format *f = &small_formats[i];
        uint64_t sign = UINT64_C(1) << (f->width - 1);

        for (uint64_t below = 0; below < f->largest; below++) {
            double low = value_by_definition(f, below), high = value_by_definition(f, below + 1);
            double middle = (low + high) / 2;
            double values[] = {nextafter(low, high), nextafter(middle, low), middle,
                               nextafter(middle, high), nextafter(high, low)};

            for (size_t v = 0; v < COUNT(values); v++) {
                for (int r = EMU_NEAREST_EVEN; r <= EMU_NEAREST_AWAY; r++) {
                    struct emu_narrowing how = {.rounding = (enum emu_rounding)r};

                    assert_int_equal(emu_narrow(f->format, values[v], &how),
                                     expected(below, low, high, values[v], how.rounding, false));
                    assert_int_equal(emu_narrow(f->format, -values[v], &how),
                                     sign |
                                         expected(below, low, high, values[v], how.rounding, true));
                }
            }
        }
    }
}

static uint64_t narrow(enum emu_format format, double value, enum emu_rounding rounding,
                       bool saturate_finite)
{
    const struct emu_narrowing how = {.rounding = rounding, .saturate_finite = saturate_finite};

    return emu_narrow(format, value, &how);
}

static void what_is_too_large_becomes_infinity_or_the_largest(void **state)
{
    (void)state;

    /* The last tie of f16 is between 65504 and 65536. */
    assert_int_equal(narrow(EMU_FORMAT_F16, 65519.99, EMU_NEAREST_EVEN, false), 0x7bff);
    assert_int_equal(narrow(EMU_FORMAT_F16, 65520, EMU_NEAREST_EVEN, false), 0x7c00);
    assert_int_equal(narrow(EMU_FORMAT_F16, 65520, EMU_NEAREST_EVEN, true), 0x7bff);
    assert_int_equal(narrow(EMU_FORMAT_F16, 1e300, EMU_TO_ZERO, false), 0x7bff);
    assert_int_equal(narrow(EMU_FORMAT_F16, -1e300, EMU_UP, false), 0xfbff);
    assert_int_equal(narrow(EMU_FORMAT_F16, -1e300, EMU_DOWN, false), 0xfc00);
    assert_int_equal(narrow(EMU_FORMAT_F16, (double)INFINITY, EMU_TO_ZERO, false), 0x7c00);
    assert_int_equal(narrow(EMU_FORMAT_BF16, -(double)INFINITY, EMU_NEAREST_EVEN, true), 0xff7f);
    assert_int_equal(narrow(EMU_FORMAT_E2M1, 100, EMU_NEAREST_EVEN, true), 0x7);
    assert_int_equal(narrow(EMU_FORMAT_E2M1, -(double)INFINITY, EMU_NEAREST_EVEN, true), 0xf);
    assert_int_equal(narrow(EMU_FORMAT_E3M2, (double)NAN, EMU_NEAREST_EVEN, true), 0x1f);
}

/* reference/misc.md section 10, measured on an H200. */
static void fp8_is_as_measured(void **state)
{
    static const struct {
        double value;
        uint64_t e4m3, e5m2;
    } cases[] = {
        {1e6, 0x7e, 0x7b},         {(double)INFINITY, 0x7e, 0x7b},
        {-1e6, 0xfe, 0xfb},        {-(double)INFINITY, 0xfe, 0xfb},
        {(double)NAN, 0x7f, 0x7f}, {-(double)NAN, 0x7f, 0x7f},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(narrow(EMU_FORMAT_E4M3, cases[i].value, EMU_NEAREST_EVEN, true),
                         cases[i].e4m3);
        assert_int_equal(narrow(EMU_FORMAT_E5M2, cases[i].value, EMU_NEAREST_EVEN, true),
                         cases[i].e5m2);
    }
    assert_int_equal(narrow(EMU_FORMAT_E4M3, 1.0625, EMU_NEAREST_EVEN, true), 0x38);
    assert_int_equal(narrow(EMU_FORMAT_E4M3, 1.1875, EMU_NEAREST_EVEN, true), 0x3a);
    assert_int_equal(narrow(EMU_FORMAT_E4M3, 0x1p-10, EMU_NEAREST_EVEN, true), 0x00);
    assert_int_equal(narrow(EMU_FORMAT_E4M3, 0x1.8p-10, EMU_NEAREST_EVEN, true), 0x01);
    assert_int_equal(narrow(EMU_FORMAT_F16, (double)NAN, EMU_NEAREST_EVEN, false), 0x7fff);
    assert_int_equal(narrow(EMU_FORMAT_BF16, (double)NAN, EMU_NEAREST_EVEN, false), 0x7fff);
}

static void ue8m0_is_an_exponent(void **state)
{
    (void)state;

    for (uint64_t code = 0; code < 0xff; code++) {
        double power = emu_widen(EMU_FORMAT_UE8M0, code);

        assert_true(power == pow(2, (double)code - 127));
        assert_int_equal(narrow(EMU_FORMAT_UE8M0, power, EMU_TO_ZERO, true), code);
        assert_int_equal(narrow(EMU_FORMAT_UE8M0, power, EMU_UP, true), code);
        assert_int_equal(narrow(EMU_FORMAT_UE8M0, 1.25 * power, EMU_TO_ZERO, true), code);
        assert_int_equal(narrow(EMU_FORMAT_UE8M0, 1.25 * power, EMU_UP, true),
                         code == 0xfe ? 0xfe : code + 1);
    }
    assert_true(isnan(emu_widen(EMU_FORMAT_UE8M0, 0xff)));
    assert_int_equal(narrow(EMU_FORMAT_UE8M0, (double)NAN, EMU_UP, true), 0xff);
    assert_int_equal(narrow(EMU_FORMAT_UE8M0, (double)INFINITY, EMU_UP, true), 0xfe);
    assert_int_equal(narrow(EMU_FORMAT_UE8M0, (double)INFINITY, EMU_UP, false), 0xff);
    assert_int_equal(narrow(EMU_FORMAT_UE8M0, 0, EMU_UP, true), 0x00);
}

static void tf32_leaves_the_low_13_bits_zero(void **state)
{
    uint64_t seed = 1;

    (void)state;
    assert_int_equal(narrow(EMU_FORMAT_TF32, 1 + 0x1p-11, EMU_NEAREST_EVEN, false), 0x3f800000);
    assert_int_equal(narrow(EMU_FORMAT_TF32, 1 + 0x1p-11, EMU_NEAREST_AWAY, false), 0x3f802000);
    assert_int_equal(narrow(EMU_FORMAT_TF32, -1 - 0x1.fp-11, EMU_TO_ZERO, false), 0xbf800000);
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)fixture_random(&seed);

        if ((bits & 0x7f800000) == 0x7f800000)
            continue;
        /* Away from zero at ties is to add half of a unit to the bits. */
        assert_int_equal(
            narrow(EMU_FORMAT_TF32, (double)fixture_to_f32(bits), EMU_NEAREST_AWAY, false),
            (bits + 0x1000) & 0xffffe000);
    }
}

static void saturation_and_relu_replace_what_they_exclude(void **state)
{
    const struct emu_narrowing unit = {.saturate_unit = true}, relu = {.relu = true};
    const struct emu_narrowing flush = {.flush = true};

    (void)state;
    assert_int_equal(emu_narrow(EMU_FORMAT_F16, 3, &unit), 0x3c00);
    assert_int_equal(emu_narrow(EMU_FORMAT_F16, (double)INFINITY, &unit), 0x3c00);
    assert_int_equal(emu_narrow(EMU_FORMAT_F16, -0.5, &unit), 0);
    assert_int_equal(emu_narrow(EMU_FORMAT_F16, -0.0, &unit), 0);
    assert_int_equal(emu_narrow(EMU_FORMAT_F16, (double)NAN, &unit), 0);
    assert_int_equal(emu_narrow(EMU_FORMAT_F16, 0.5, &unit), 0x3800);
    assert_int_equal(emu_narrow(EMU_FORMAT_BF16, -3, &relu), 0);
    assert_int_equal(emu_narrow(EMU_FORMAT_BF16, -(double)INFINITY, &relu), 0);
    assert_int_equal(emu_narrow(EMU_FORMAT_BF16, 3, &relu), 0x4040);
    assert_int_equal(emu_narrow(EMU_FORMAT_BF16, (double)NAN, &relu), 0x7fff);
    assert_int_equal(emu_narrow(EMU_FORMAT_F32, -0x1p-140, &flush), 0x80000000);
    assert_int_equal(emu_narrow(EMU_FORMAT_F32, 0x1p-126, &flush), 0x00800000);
}

static void integers_of_64_bits_round_once(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t value = fixture_random(&seed) >> (i & 63);

        assert_int_equal(emu_narrow_integer(EMU_FORMAT_F32, false, value, &nearest),
                         fixture_f32((float)value));
        assert_int_equal(emu_narrow_integer(EMU_FORMAT_F64, true, value, &nearest),
                         fixture_f64(-(double)value));
    }
}

/* ---- Arithmetic, against the host's own rounding modes ---- */

static const struct {
    enum emu_rounding rounding;
    int host;
} directions[] = {
    {EMU_NEAREST_EVEN, FE_TONEAREST},
    {EMU_TO_ZERO, FE_TOWARDZERO},
    {EMU_DOWN, FE_DOWNWARD},
    {EMU_UP, FE_UPWARD},
};

/* volatile keeps the operation between the changes of mode. */
static float host_f32(char operation, float a, float b, float c, int mode)
{
    volatile float x = a, y = b, z = c, result;

    fesetround(mode);
    switch (operation) {
    case '+':
        result = x + y;
        break;
    case '*':
        result = x * y;
        break;
    case '/':
        result = x / y;
        break;
    case 's':
        result = sqrtf(x);
        break;
    default:
        result = fmaf(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return result;
}

static double host_f64(char operation, double a, double b, double c, int mode)
{
    volatile double x = a, y = b, z = c, result;

    fesetround(mode);
    switch (operation) {
    case '+':
        result = x + y;
        break;
    case '*':
        result = x * y;
        break;
    case '/':
        result = x / y;
        break;
    case 's':
        result = sqrt(x);
        break;
    default:
        result = fma(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return result;
}

static float ours_f32(char operation, float a, float b, float c, enum emu_rounding rounding)
{
    switch (operation) {
    case '+':
        return emu_add_f32(a, b, rounding);
    case '*':
        return emu_mul_f32(a, b, rounding);
    case '/':
        return emu_div_f32(a, b, rounding);
    case 's':
        return emu_sqrt_f32(a, rounding);
    default:
        return emu_fma_f32(a, b, c, rounding);
    }
}

static double ours_f64(char operation, double a, double b, double c, enum emu_rounding rounding)
{
    switch (operation) {
    case '+':
        return emu_add_f64(a, b, rounding);
    case '*':
        return emu_mul_f64(a, b, rounding);
    case '/':
        return emu_div_f64(a, b, rounding);
    case 's':
        return emu_sqrt_f64(a, rounding);
    default:
        return emu_fma_f64(a, b, c, rounding);
    }
}

static const char operations[] = "+*/sf";

static void f32_rounds_as_the_host_in_every_direction(void **state)
{
    uint64_t seed = 42;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char operation = operations[i % 5];
        float a = fixture_to_f32(fixture_random_f32(&seed));
        float b = fixture_to_f32(fixture_random_f32(&seed));
        float c = fixture_to_f32(fixture_random_f32(&seed));

        for (size_t d = 0; d < COUNT(directions); d++) {
            float theirs = host_f32(operation, a, b, c, directions[d].host);
            float ours = ours_f32(operation, a, b, c, directions[d].rounding);
            uint64_t wanted = isnan(theirs) ? EMU_NAN_F32 : fixture_f32(theirs);

            if (fixture_f32(ours) != wanted)
                fail_msg("%c of %a, %a, %a in direction %d: %a, not %a", operation, (double)a,
                         (double)b, (double)c, (int)directions[d].rounding, (double)ours,
                         (double)theirs);
        }
    }
}

static void f64_rounds_as_the_host_in_every_direction(void **state)
{
    uint64_t seed = 43;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char operation = operations[i % 5];
        double a = fixture_to_f64(fixture_random_f64(&seed));
        double b = fixture_to_f64(fixture_random_f64(&seed));
        double c = fixture_to_f64(fixture_random_f64(&seed));

        for (size_t d = 0; d < COUNT(directions); d++) {
            double theirs = host_f64(operation, a, b, c, directions[d].host);
            double ours = ours_f64(operation, a, b, c, directions[d].rounding);

            if (isnan(theirs) ? !isnan(ours) : fixture_f64(ours) != fixture_f64(theirs))
                fail_msg("%c of %a, %a, %a in direction %d: %a, not %a", operation, a, b, c,
                         (int)directions[d].rounding, ours, theirs);
        }
    }
}

static void flushing_keeps_signs_and_normal_numbers(void **state)
{
    (void)state;

    assert_int_equal(fixture_f32(emu_flush(fixture_to_f32(0x807fffff))), 0x80000000);
    assert_int_equal(fixture_f32(emu_flush(fixture_to_f32(0x00000001))), 0);
    assert_int_equal(fixture_f32(emu_flush(fixture_to_f32(0x00800000))), 0x00800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_finite_number_widens_to_its_value_and_narrows_back),
        cmocka_unit_test(what_is_not_finite_widens_to_infinity_or_nan),
        cmocka_unit_test(the_values_of_e2m1_are_those_of_the_table),
        cmocka_unit_test(between_neighbours_the_direction_decides),
        cmocka_unit_test(what_is_too_large_becomes_infinity_or_the_largest),
        cmocka_unit_test(fp8_is_as_measured),
        cmocka_unit_test(ue8m0_is_an_exponent),
        cmocka_unit_test(tf32_leaves_the_low_13_bits_zero),
        cmocka_unit_test(saturation_and_relu_replace_what_they_exclude),
        cmocka_unit_test(integers_of_64_bits_round_once),
        cmocka_unit_test(f32_rounds_as_the_host_in_every_direction),
        cmocka_unit_test(f64_rounds_as_the_host_in_every_direction),
        cmocka_unit_test(flushing_keeps_signs_and_normal_numbers),
    };

    return cmocka_run_group_tests_name("emulator number", tests, NULL, NULL);
}
