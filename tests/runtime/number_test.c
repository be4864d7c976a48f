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

/* ---- Eight bits ---- */

static double f8_by_definition(int bits, int fraction_bits, int bias)
{
    int exponent = (bits & 0x7f) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    double size = exponent == 0
                      ? ldexp(fraction, 1 - bias - fraction_bits)
                      : ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);

    return bits & 0x80 ? -size : size;
}

struct eight {
    enum lathe_type type;
    int fraction_bits, bias, largest;
    float (*widen)(uint8_t);
    uint8_t (*narrow)(float);
};

static const struct eight eights[] = {
    {LATHE_E4M3, 3, 7, 0x7e, lt_f32_from_e4m3, lt_e4m3_from_f32},
    {LATHE_E5M2, 2, 15, 0x7b, lt_f32_from_e5m2, lt_e5m2_from_f32},
};

static void all_256_codes_of_8_bits_widen_and_come_back(void **state)
{
    (void)state;

    for (int i = 0; i < 2; i++)
        for (int bits = 0; bits < 256; bits++) {
            const struct eight *e = &eights[i];
            float value = e->widen((uint8_t)bits);

            if ((bits & 0x7f) <= e->largest) {
                assert_true((double)value == f8_by_definition(bits, e->fraction_bits, e->bias));
                assert_int_equal(bits_of(value) >> 31, bits >> 7);
                assert_int_equal(e->narrow(value), bits);
            } else if (e->type == LATHE_E5M2 && (bits & 0x7f) == 0x7c) {
                assert_true(value == (bits & 0x80 ? -INFINITY : INFINITY));
                assert_int_equal(e->narrow(value), (bits & 0x80) | e->largest);
            } else {
                assert_true(isnan(value));
                assert_int_equal(e->narrow(value), 0x7f);
            }
        }
}

static void narrowing_to_8_bits_goes_to_the_nearest_and_from_the_middle_to_even(void **state)
{
    (void)state;

    for (int i = 0; i < 2; i++)
        for (int bits = 0; bits < eights[i].largest; bits++) {
            const struct eight *e = &eights[i];
            float low = e->widen((uint8_t)bits), high = e->widen((uint8_t)(bits + 1));
            float middle = low + (high - low) / 2;
            int even = bits & 1 ? bits + 1 : bits;

            assert_int_equal(e->narrow(middle), even);
            assert_int_equal(e->narrow(-middle), 0x80 | even);
            assert_int_equal(e->narrow(nextafterf(middle, 0)), bits);
            assert_int_equal(e->narrow(nextafterf(middle, INFINITY)), bits + 1);
            assert_int_equal(e->narrow(-nextafterf(middle, INFINITY)), 0x80 | (bits + 1));
        }
}

/* One pattern of f32 in 99991 becomes the code that is nearest, found by looking at all. */
static void narrowing_to_8_bits_agrees_with_a_search(void **state)
{
    (void)state;

    for (int i = 0; i < 2; i++)
        for (uint64_t pattern = 0; pattern < UINT64_C(1) << 31; pattern += 99991) {
            const struct eight *e = &eights[i];
            uint32_t bits = (uint32_t)pattern;
            float value;
            int nearest = 0;

            memcpy(&value, &bits, sizeof value);
            if (isnan(value))
                continue;
            for (int code = 1; code <= e->largest; code++) {
                double here = fabs((double)e->widen((uint8_t)code) - (double)value);
                double there = fabs((double)e->widen((uint8_t)nearest) - (double)value);

                if (here < there || (here == there && code % 2 == 0))
                    nearest = code;
            }
            if (value > 1e6f) /* where f64 no longer tells the distances apart */
                nearest = e->largest;
            assert_int_equal(e->narrow(value), nearest);
            assert_int_equal(e->narrow(-value), 0x80 | nearest);
        }
}

static void what_is_too_large_for_8_bits_becomes_the_largest(void **state)
{
    (void)state;

    assert_int_equal(lt_e4m3_from_f32(464), 0x7e); /* half way to what would be 480 */
    assert_int_equal(lt_e4m3_from_f32(480), 0x7e);
    assert_int_equal(lt_e4m3_from_f32(-1e9f), 0xfe);
    assert_int_equal(lt_e4m3_from_f32(INFINITY), 0x7e);
    assert_int_equal(lt_e5m2_from_f32(61440), 0x7b); /* half way to what would be 65536 */
    assert_int_equal(lt_e5m2_from_f32(FLT_MAX), 0x7b);
    assert_int_equal(lt_e5m2_from_f32(-INFINITY), 0xfb);
    assert_true(lt_number_largest(LATHE_E4M3) == 448);
    assert_true(lt_number_largest(LATHE_E5M2) == 57344);
    assert_true(isinf(lt_number_overflow(LATHE_E4M3)));
    assert_true(isinf(lt_number_overflow(LATHE_E5M2)));
}

/* As the hardware's cvt.rn.satfinite was measured to give them. */
static void measured_values_of_8_bits(void **state)
{
    (void)state;

    assert_int_equal(lt_e4m3_from_f32(1.0625f), 0x38);
    assert_int_equal(lt_e4m3_from_f32(1.1875f), 0x3a);
    assert_int_equal(lt_e4m3_from_f32(0x1p-10f), 0);
    assert_int_equal(lt_e4m3_from_f32(1.5f * 0x1p-10f), 1);
    assert_int_equal(lt_e4m3_from_f32(-NAN), 0x7f);
    assert_int_equal(lt_e5m2_from_f32(-NAN), 0x7f);
}

/* ---- tf32 and whole numbers ---- */

static void tf32_is_f32_without_its_low_13_bits_rounded_to_even(void **state)
{
    (void)state;
    const struct {
        uint32_t from, to;
    } cases[] = {
        {0, 0},
        {0x80000000, 0x80000000},
        {0x3f800000, 0x3f800000},
        {0x3f800fff, 0x3f800000},
        {0x3f801000, 0x3f800000}, /* to even, down and up */
        {0x3f801001, 0x3f802000},
        {0x3f803000, 0x3f804000},
        {0xbf803000, 0xbf804000},
        {0x00001001, 0x00002000}, /* subnormal */
        {0x7f7fffff, 0x7f800000},
        {0x7f7fefff, 0x7f7fe000},
        {0x7f800000, 0x7f800000},
        {0xff800000, 0xff800000},
        {0x7f800001, 0x7fffe000},
        {0xffc00000, 0x7fffe000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float value;

        memcpy(&value, &cases[i].from, sizeof value);
        assert_int_equal(lt_tf32_from_f32(value), cases[i].to);
    }
    for (uint32_t bits = 0; bits < 0x7f800000; bits += 0x2000 * 7) {
        float value;

        memcpy(&value, &bits, sizeof value);
        assert_int_equal(lt_tf32_from_f32(value), bits);
        assert_int_equal(lt_tf32_from_f32(-value), bits | 0x80000000);
        assert_true(lt_number_spacing(LATHE_TF32, (double)value) >= 0x1p-136);
    }
}

static void an_element_of_tf32_is_rounded_when_it_is_loaded(void **state)
{
    (void)state;
    const float array[] = {1 + 0x1p-12f, 1 + 0x1.8p-10f};

    assert_true(lt_number_load(LATHE_TF32, array, 0) == 1);
    assert_true(lt_number_load(LATHE_TF32, array, 1) == 1 + 0x1p-9);
}

static void whole_numbers_are_rounded_and_kept_within_their_type(void **state)
{
    (void)state;
    int8_t bytes[1];
    int32_t words[1] = {INT32_MAX};

    for (int i = -128; i <= 127; i++) {
        lt_number_store(LATHE_INT8, bytes, 0, (float)i);
        assert_int_equal(bytes[0], i);
        assert_true(lt_number_load(LATHE_INT8, bytes, 0) == i);
    }
    assert_true(lt_number_round(LATHE_INT8, 2.5f) == 2);
    assert_true(lt_number_round(LATHE_INT8, -3.5f) == -4);
    assert_true(lt_number_round(LATHE_INT8, 127.5f) == 127);
    assert_true(lt_number_round(LATHE_INT8, -1000) == -128);
    assert_true(lt_number_round(LATHE_INT8, NAN) == 0);
    assert_true(lt_number_load(LATHE_S32, words, 0) == 2147483647.0); /* no f32 */
    assert_true(lt_number_round(LATHE_S32, 1e10f) == 2147483647.0);
    assert_true(lt_number_round(LATHE_S32, -0x1p31f) == -2147483648.0);
    assert_true(lt_number_spacing(LATHE_S32, 1e9) == 1);
}

#if defined(__FLT16_MANT_DIG__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_COMPILERS_F16
/* Against the compiler's own type, over one pattern of f32 in 9973. */
static void narrowing_agrees_with_the_compilers_f16(void **state)
{
    (void)state;
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
}
#endif

static void spacing_is_the_distance_to_the_next_number(void **state)
{
    (void)state;

    for (int bits = 0; bits + 1 < F16_INFINITY; bits++) {
        double value = f16_by_definition(bits), next = f16_by_definition(bits + 1);

        assert_true(lt_number_spacing(LATHE_F16, value) == next - value);
        assert_true(lt_number_spacing(LATHE_F16, -value) == next - value);
        assert_true(lt_number_spacing(LATHE_F16, (value + next) / 2) == next - value);
    }
    for (int i = 0; i < 2; i++)
        for (int bits = 0; bits < eights[i].largest; bits++) {
            double value = (double)eights[i].widen((uint8_t)bits);

            assert_true(lt_number_spacing(eights[i].type, value) ==
                        (double)eights[i].widen((uint8_t)(bits + 1)) - value);
        }
    assert_true(lt_number_spacing(LATHE_TF32, 1) == 0x1p-10);
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
    static const enum lathe_type types[] = {LATHE_F16,  LATHE_BF16, LATHE_F32,  LATHE_TF32,
                                            LATHE_E4M3, LATHE_E5M2, LATHE_INT8, LATHE_S32};
    float array[4];

    for (int i = 0; i < 8; i++) {
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
        cmocka_unit_test(all_256_codes_of_8_bits_widen_and_come_back),
        cmocka_unit_test(narrowing_to_8_bits_goes_to_the_nearest_and_from_the_middle_to_even),
        cmocka_unit_test(narrowing_to_8_bits_agrees_with_a_search),
        cmocka_unit_test(what_is_too_large_for_8_bits_becomes_the_largest),
        cmocka_unit_test(measured_values_of_8_bits),
        cmocka_unit_test(tf32_is_f32_without_its_low_13_bits_rounded_to_even),
        cmocka_unit_test(an_element_of_tf32_is_rounded_when_it_is_loaded),
        cmocka_unit_test(whole_numbers_are_rounded_and_kept_within_their_type),
#ifdef HAS_COMPILERS_F16
        cmocka_unit_test(narrowing_agrees_with_the_compilers_f16),
#endif
        cmocka_unit_test(spacing_is_the_distance_to_the_next_number),
        cmocka_unit_test(overflow_begins_where_rounding_gives_infinity),
        cmocka_unit_test(elements_are_loaded_and_stored_by_their_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
