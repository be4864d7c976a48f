/* The exact path: every anchor that was measured on an H200. */
#include "emulator/mma_block.h"
#include "tests/emulator/matrix.h"
#include "tests/support/cmocka_all.h"

struct term {
    int k;
    double a, b;
};

/* One element of D: terms at their k, all others zero. */
static uint32_t dot(enum emu_type d, enum emu_type type, int count, const struct term *terms,
                    uint32_t c)
{
    const struct emu_block block = {
        .m = 1, .n = 8, .k = 256 / width_of(type), .d = d, .a = type, .b = type, .exact = true};
    union emu_element a[EMU_BLOCK_DEPTH] = {{0}}, b[8 * EMU_BLOCK_DEPTH] = {{0}};
    union emu_element result[8] = {{.bits = c}};

    for (int i = 0; i < count; i++) {
        a[terms[i].k].bits = bits_for(type, terms[i].a);
        b[8 * terms[i].k].bits = bits_for(type, terms[i].b);
    }
    emu_block_prepare(&block, type, a, block.k);
    emu_block_prepare(&block, type, b, 8 * block.k);
    emu_block_multiply(&block, a, b, result);
    return result[0].bits;
}

#define DOT(d, type, c, ...)                                                                       \
    dot(d, type, (int)(sizeof((struct term[]){__VA_ARGS__}) / sizeof(struct term)),                \
        (struct term[]){__VA_ARGS__}, c)

static uint32_t f32(double value)
{
    return bits_for(EMU_F32, value);
}

static const enum emu_type wide[] = {EMU_F16, EMU_BF16, EMU_TF32};

/* 2^-j as a product of factors that f16 has. */
#define SMALL(position, j, by)                                                                     \
    {                                                                                              \
        position, ldexp(by, -((j) / 2)), ldexp(1, -((j) - (j) / 2))                                \
    }

static void f32_results_have_24_bits(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++)
        for (int j = 1; j < 28; j++)
            assert_int_equal(DOT(EMU_F32, wide[t], 0, {0, 1, 1}, SMALL(1, j, 1)),
                             f32(j <= 23 ? 1 + ldexp(1, -j) : 1));
}

static void terms_are_aligned_to_25_bits_of_the_largest(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++)
        for (int j = 1; j < 30; j++) {
            uint32_t expected = j <= 25 ? f32(ldexp(4, -j)) : 0;
            int last = wide[t] == EMU_TF32 ? 7 : 15;

            assert_int_equal(DOT(EMU_F32, wide[t], 0, {0, 4, 1}, {1, -4, 1}, SMALL(2, j, 4)),
                             expected);
            /* In any place of K, and with C as any other term. */
            assert_int_equal(DOT(EMU_F32, wide[t], 0, {0, 4, 1}, {1, -4, 1}, SMALL(last, j, 4)),
                             expected);
            assert_int_equal(DOT(EMU_F32, wide[t], f32(-4), {0, 4, 1}, SMALL(last, j, 4)),
                             expected);
        }
    /* Exponents of products are not normalised: 2.25 counts as 1.5 * 1.5, of exponent 0. */
    assert_int_equal(DOT(EMU_F32, EMU_F16, 0, {0, 1.5, 1.5}, {1, -1.5, 1.5}, SMALL(2, 25, 1)),
                     f32(ldexp(1, -25)));
    assert_int_equal(DOT(EMU_F32, EMU_F16, 0, {0, 1.5, 1.5}, {1, -1.5, 1.5}, SMALL(2, 26, 1)), 0);
}

static void sums_are_truncated(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        assert_int_equal(DOT(EMU_F32, wide[t], f32(1), SMALL(0, 23, 1.5)), 0x3f800001);
        assert_int_equal(DOT(EMU_F32, wide[t], f32(1), SMALL(0, 25, -1)), 0x3f7fffff);
        assert_int_equal(DOT(EMU_F32, wide[t], f32(1), SMALL(0, 26, -1)), 0x3f800000);
        assert_int_equal(DOT(EMU_F32, wide[t], 0x7f7fffff, {0, 16384, 16384}), 0x7f7fffff);
    }
}

static void fp8_keeps_14_bits(void **state)
{
    (void)state;
    static const enum emu_type fp8[] = {EMU_E4M3, EMU_E5M2};

    for (int t = 0; t < 2; t++) {
        enum emu_type type = fp8[t];

        assert_int_equal(DOT(EMU_F32, type, 0, {0, 8, 8}, SMALL(1, 7, 1)), f32(64 + 0x1p-7));
        assert_int_equal(DOT(EMU_F32, type, 0, {0, 8, 8}, SMALL(1, 8, 1)), f32(64));
        assert_int_equal(DOT(EMU_F32, type, f32(64), SMALL(1, 7, 1)), f32(64 + 0x1p-7));
        assert_int_equal(DOT(EMU_F32, type, f32(64), SMALL(1, 8, 1)), f32(64));
        assert_int_equal(DOT(EMU_F32, type, f32(0x1p-7), {0, 8, 8}), f32(64 + 0x1p-7));
        assert_int_equal(DOT(EMU_F32, type, f32(0x1p-8), {0, 8, 8}), f32(64));
        assert_int_equal(DOT(EMU_F32, type, 0x3f800001, {0, 0, 0}), 0x3f800000);
        assert_int_equal(DOT(EMU_F32, type, 0xbfffffff, {0, 0, 0}), 0xbffffc00);
        assert_int_equal(DOT(EMU_F32, type, f32(31), SMALL(0, 12, 0.5)), f32(31));
    }
}

static void f16_results_are_rounded_to_nearest_even(void **state)
{
    (void)state;
    const uint32_t one = 0x3c00;

    assert_int_equal(DOT(EMU_F16, EMU_F16, one, SMALL(0, 11, 1)), 0x3c00);
    assert_int_equal(DOT(EMU_F16, EMU_F16, one, SMALL(0, 10, 1), SMALL(1, 11, 1)), 0x3c02);
    assert_int_equal(DOT(EMU_F16, EMU_F16, 0x7bff, {0, 16, 1}), 0x7c00);
    assert_int_equal(DOT(EMU_F16, EMU_F16, 0x7bff, {0, 15, 1}), 0x7bff);
    assert_int_equal(DOT(EMU_F16, EMU_F16, 0, SMALL(0, 25, 1.5)), 0x0001);
    assert_int_equal(DOT(EMU_F16, EMU_F16, 0x0001, {0, 0, 0}), 0x0001);
}

static void subnormals_are_used_at_full_value(void **state)
{
    (void)state;
    assert_int_equal(DOT(EMU_F32, EMU_F16, 0, {0, 0x1p-24, 1}), f32(0x1p-24));
    assert_int_equal(DOT(EMU_F32, EMU_BF16, 0, {0, 0x1p-133, 0x1p20}), f32(0x1p-113));
    assert_int_equal(DOT(EMU_F32, EMU_TF32, 0, {0, 0x1p-136, 0x1p20}), f32(0x1p-116));
    assert_int_equal(DOT(EMU_F32, EMU_E4M3, 0, {0, 0x1p-9, 1}), f32(0x1p-9));
    assert_int_equal(DOT(EMU_F32, EMU_E5M2, 0, {0, 0x1p-16, 1}), f32(0x1p-16));
    for (int t = 0; t < 3; t++)
        assert_int_equal(DOT(EMU_F32, wide[t], 0x00000001, {0, 0, 0}), 0x00000001);
    /* 2^-149 is below 2^(-126-13). */
    assert_int_equal(DOT(EMU_F32, EMU_E4M3, 0x00000001, {0, 0, 0}), 0);
}

static void special_values_pass(void **state)
{
    (void)state;
    const double inf = (double)INFINITY;

    for (int t = 0; t < 3; t++) {
        assert_int_equal(DOT(EMU_F32, wide[t], 0, {0, inf, 1}), 0x7f800000);
        assert_int_equal(DOT(EMU_F32, wide[t], 0, {0, inf, -1}), 0xff800000);
        assert_int_equal(DOT(EMU_F32, wide[t], 0, {0, inf, 0}), 0x7fffffff);
        assert_int_equal(DOT(EMU_F32, wide[t], 0xff800000, {0, inf, 1}), 0x7fffffff);
        assert_int_equal(DOT(EMU_F32, wide[t], 0xff800000, {0, 1, 1}), 0xff800000);
        assert_int_equal(DOT(EMU_F32, wide[t], 0x7f800001, {0, 1, 1}), 0x7fffffff);
        assert_int_equal(DOT(EMU_F32, wide[t], 0x80000000, {0, 0, 0}), 0);
    }
    assert_int_equal(DOT(EMU_F16, EMU_F16, 0x7c01, {0, 1, 1}), 0x7fff);
    assert_int_equal(DOT(EMU_F16, EMU_F16, 0x7c00, {0, 1, 1}), 0x7c00);
    /* 480 is what 0x7f would be if it were not NaN. */
    assert_int_equal(bits_for(EMU_E4M3, 480), 0x7f);
    assert_int_equal(DOT(EMU_F32, EMU_E4M3, 0, {0, 480, 1}), 0x7fffffff);
    assert_int_equal(DOT(EMU_F32, EMU_E4M3, 0, {0, -480, 1}), 0x7fffffff);
    assert_int_equal(DOT(EMU_F32, EMU_E5M2, 0, {0, inf, 1}), 0x7f800000);
    assert_int_equal(DOT(EMU_F32, EMU_E4M3, 0, {0, 448, 1}), f32(448));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_results_have_24_bits),
        cmocka_unit_test(terms_are_aligned_to_25_bits_of_the_largest),
        cmocka_unit_test(sums_are_truncated),
        cmocka_unit_test(fp8_keeps_14_bits),
        cmocka_unit_test(f16_results_are_rounded_to_nearest_even),
        cmocka_unit_test(subnormals_are_used_at_full_value),
        cmocka_unit_test(special_values_pass),
    };

    return cmocka_run_group_tests_name("emulator exact products", tests, NULL, NULL);
}
