#include "runtime/number.h"

#include "tests/support/cmocka_all.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SIGN = 0x8000, F16_INFINITY = 0x7c00, BF16_INFINITY = 0x7f80 };

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Widening, by the definition of the format: sign, exponent, fraction. */
static double f16_by_definition(int bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);

    return bits & SIGN ? -size : size;
}

static double bf16_by_definition(int bits)
{
    int exponent = bits >> 7 & 255, fraction = bits & 127;
    double size = exponent == 0 ? ldexp(fraction, -133) : ldexp(128 + fraction, exponent - 134);

    return bits & SIGN ? -size : size;
}

static void every_finite_number_widens_to_what_its_format_defines(void **state)
{
    (void)state;

    for (int bits = 0; bits < 0x10000; bits++) {
        if ((bits & ~SIGN) < F16_INFINITY) {
            assert_true((double)lt_f32_from_f16((uint16_t)bits) == f16_by_definition(bits));
            assert_int_equal(bits_of(lt_f32_from_f16((uint16_t)bits)) >> 31, bits >> 15);
        }
        if ((bits & ~SIGN) < BF16_INFINITY)
            assert_true((double)lt_f32_from_bf16((uint16_t)bits) == bf16_by_definition(bits));
    }
}

static void every_number_survives_the_way_there_and_back(void **state)
{
    (void)state;

    for (int bits = 0; bits < 0x10000; bits++) {
        if ((bits & ~SIGN) <= F16_INFINITY)
            assert_int_equal(lt_f16_from_f32(lt_f32_from_f16((uint16_t)bits)), bits);
        if ((bits & ~SIGN) <= BF16_INFINITY)
            assert_int_equal(lt_bf16_from_f32(lt_f32_from_bf16((uint16_t)bits)), bits);
    }
}

static void infinities_and_nans_stay_what_they_are(void **state)
{
    (void)state;

    assert_true(isinf(lt_f32_from_f16(F16_INFINITY)));
    assert_true(lt_f32_from_f16(SIGN | F16_INFINITY) == -INFINITY);
    assert_true(isinf(lt_f32_from_bf16(BF16_INFINITY)));
    assert_true(isnan(lt_f32_from_f16(0x7c01)));
    assert_true(isnan(lt_f32_from_bf16(0x7f81)));
    assert_true(isnan(lt_f32_from_f16(0xffff)));
    assert_int_equal(lt_f16_from_f32(NAN), 0x7fff);
    assert_int_equal(lt_bf16_from_f32(NAN), 0x7fff);
    assert_int_equal(lt_bf16_from_f32(-INFINITY), SIGN | BF16_INFINITY);
}

/* Halfway between neighbours, and the f32 just below and above it, at every place and sign. */
static void check_midpoints(uint16_t (*narrow)(float), float (*widen)(uint16_t), int infinity)
{
    for (int bits = 0; bits + 1 < infinity; bits++) {
        float low = widen((uint16_t)bits), high = widen((uint16_t)(bits + 1));
        float middle = low + (high - low) / 2;
        int even = bits & 1 ? bits + 1 : bits;

        assert_int_equal(narrow(middle), even);
        assert_int_equal(narrow(-middle), SIGN | even);
        assert_int_equal(narrow(nextafterf(middle, 0)), bits);
        assert_int_equal(narrow(nextafterf(middle, INFINITY)), bits + 1);
        assert_int_equal(narrow(-nextafterf(middle, INFINITY)), SIGN | (bits + 1));
    }
}

static void narrowing_goes_to_the_nearest_and_from_the_middle_to_even(void **state)
{
    (void)state;

    check_midpoints(lt_f16_from_f32, lt_f32_from_f16, F16_INFINITY);
    check_midpoints(lt_bf16_from_f32, lt_f32_from_bf16, BF16_INFINITY);
}

static void what_is_too_large_becomes_infinite(void **state)
{
    (void)state;

    assert_int_equal(lt_f16_from_f32(65504.0f), 0x7bff);
    assert_int_equal(lt_f16_from_f32(nextafterf(65520.0f, 0)), 0x7bff);
    assert_int_equal(lt_f16_from_f32(65520.0f), F16_INFINITY);
    assert_int_equal(lt_f16_from_f32(1e9f), F16_INFINITY);
    assert_int_equal(lt_f16_from_f32(-1e9f), SIGN | F16_INFINITY);
    assert_int_equal(lt_bf16_from_f32(FLT_MAX), BF16_INFINITY);
    assert_int_equal(lt_bf16_from_f32(3.3895314e38f), 0x7f7f);
}

static void what_is_too_small_becomes_zero_with_its_sign(void **state)
{
    (void)state;

    assert_int_equal(lt_f16_from_f32(0x1p-25f), 0);
    assert_int_equal(lt_f16_from_f32(nextafterf(0x1p-25f, 1)), 1);
    assert_int_equal(lt_f16_from_f32(-0x1p-30f), SIGN);
    assert_int_equal(lt_f16_from_f32(0x1p-149f), 0);
    assert_int_equal(lt_bf16_from_f32(0x1p-134f), 0);
    assert_int_equal(lt_bf16_from_f32(-0x1p-149f), SIGN);
}

/* Against the compiler's own type, over one pattern of f32 in 9973. */
static void narrowing_agrees_with_the_compilers_f16(void **state)
{
    (void)state;
#if defined(__FLT16_MANT_DIG__) && defined(__GNUC__) && !defined(__clang__)
    __extension__ typedef _Float16 compiler_f16;

    for (uint64_t pattern = 0; pattern < UINT64_C(1) << 32; pattern += 9973) {
        uint32_t bits = (uint32_t)pattern;
        float value;
        compiler_f16 theirs;
        uint16_t their_bits;

        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            continue;
        theirs = (compiler_f16)value;
        memcpy(&their_bits, &theirs, sizeof their_bits);
        assert_int_equal(lt_f16_from_f32(value), their_bits);
    }
#else
    skip();
#endif
}

static void spacing_is_the_distance_to_the_next_number(void **state)
{
    (void)state;

    for (int bits = 0; bits + 1 < F16_INFINITY; bits++) {
        double value = f16_by_definition(bits), next = f16_by_definition(bits + 1);

        assert_true(lt_number_spacing(LATHE_F16, value) == next - value);
        assert_true(lt_number_spacing(LATHE_F16, -value) == next - value);
        assert_true(lt_number_spacing(LATHE_F16, (value + next) / 2) == next - value);
    }
    for (int bits = 0; bits + 1 < BF16_INFINITY; bits++)
        assert_true(lt_number_spacing(LATHE_BF16, bf16_by_definition(bits)) ==
                    bf16_by_definition(bits + 1) - bf16_by_definition(bits));
    assert_true(lt_number_spacing(LATHE_F32, 1.5) == FLT_EPSILON);
    assert_true(lt_number_spacing(LATHE_F32, 0) == 0x1p-149);
    assert_true(lt_number_spacing(LATHE_F32, 1e-300) == 0x1p-149);
}

static void overflow_begins_where_rounding_gives_infinity(void **state)
{
    (void)state;
    float f16 = (float)lt_number_overflow(LATHE_F16), bf16 = (float)lt_number_overflow(LATHE_BF16);

    assert_true(isinf(lt_number_round(LATHE_F16, f16)));
    assert_true(isfinite(lt_number_round(LATHE_F16, nextafterf(f16, 0))));
    assert_true(isinf(lt_number_round(LATHE_BF16, bf16)));
    assert_true(isfinite(lt_number_round(LATHE_BF16, nextafterf(bf16, 0))));
    assert_true(isinf((float)lt_number_overflow(LATHE_F32)));
    assert_true(isfinite((float)nextafter(lt_number_overflow(LATHE_F32), 0)));
}

static void elements_are_loaded_and_stored_by_their_type(void **state)
{
    (void)state;
    static const enum lathe_type types[] = {LATHE_F16, LATHE_BF16, LATHE_F32};
    float array[4];

    for (int i = 0; i < 3; i++) {
        memset(array, 0, sizeof array);
        lt_number_store(types[i], array, 1, 1.0f / 3);
        lt_number_store(types[i], array, 2, -4);

        assert_true(lt_number_load(types[i], array, 0) == 0);
        assert_true(lt_number_load(types[i], array, 1) == lt_number_round(types[i], 1.0f / 3));
        assert_true(lt_number_load(types[i], array, 2) == -4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_finite_number_widens_to_what_its_format_defines),
        cmocka_unit_test(every_number_survives_the_way_there_and_back),
        cmocka_unit_test(infinities_and_nans_stay_what_they_are),
        cmocka_unit_test(narrowing_goes_to_the_nearest_and_from_the_middle_to_even),
        cmocka_unit_test(what_is_too_large_becomes_infinite),
        cmocka_unit_test(what_is_too_small_becomes_zero_with_its_sign),
        cmocka_unit_test(narrowing_agrees_with_the_compilers_f16),
        cmocka_unit_test(spacing_is_the_distance_to_the_next_number),
        cmocka_unit_test(overflow_begins_where_rounding_gives_infinity),
        cmocka_unit_test(elements_are_loaded_and_stored_by_their_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
