/* cvt in all its forms. */
#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 s128;

static const struct type {
    const char *name;
    int width;
    bool is_signed;
} types[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
             {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

enum { TYPES = 8 };

static s128 least(const struct type *type)
{
    return type->is_signed ? -((s128)1 << (type->width - 1)) : 0;
}

static s128 largest(const struct type *type)
{
    return ((s128)1 << (type->is_signed ? type->width - 1 : type->width)) - 1;
}

static uint64_t bits_of(s128 value, const struct type *type)
{
    return type->width == 64 ? (uint64_t)value
                             : (uint64_t)value & ((UINT64_C(1) << type->width) - 1);
}

static s128 value_of(uint64_t bits, const struct type *type)
{
    s128 value = (s128)bits_of((s128)bits, type);

    return type->is_signed && value > largest(type) ? value - ((s128)1 << type->width) : value;
}

static s128 clamped(s128 value, const struct type *type)
{
    return value < least(type) ? least(type) : value > largest(type) ? largest(type) : value;
}

static void integers_are_cut_extended_or_saturated(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (int d = 0; d < TYPES; d++) {
        for (int s = 0; s < TYPES; s++) {
            char text[FIXTURE_TEXT];
            struct emu_alu op, sat;
            struct emu_error error = {.line = 0};
            bool always_fits =
                least(&types[s]) >= least(&types[d]) && largest(&types[s]) <= largest(&types[d]);

            snprintf(text, sizeof text, "cvt.%s.%s d, a", types[d].name, types[s].name);
            op = fixture_op(text);
            snprintf(text, sizeof text, "cvt.sat.%s.%s d, a", types[d].name, types[s].name);
            /* as ptxas: .sat only where there is something to saturate */
            assert_int_equal(fixture_decode(&sat, text, 90, &error),
                             always_fits ? EMU_REFUSED : EMU_DECODED);
            for (int i = 0; i < 200; i++) {
                uint64_t bits = fixture_random(&seed) >> (i & 63);
                s128 value = value_of(bits, &types[s]);

                assert_true(fixture_run_op(&op, &bits, 1, NULL) == bits_of(value, &types[d]));
                if (!always_fits)
                    assert_true(fixture_run_op(&sat, &bits, 1, NULL) ==
                                bits_of(clamped(value, &types[d]), &types[d]));
            }
        }
    }
}

/* By long double, whose 64 bits hold every integer here; floorl and its like are exact. */
static long double rounded(long double value, const char *rounding)
{
    long double down = floorl(value), rest = value - down;

    if (strcmp(rounding, "rmi") == 0)
        return down;
    if (strcmp(rounding, "rpi") == 0)
        return ceill(value);
    if (strcmp(rounding, "rzi") == 0)
        return truncl(value);
    return rest < 0.5L || (rest == 0.5L && fmodl(down, 2) == 0) ? down : down + 1;
}

static void check_float_to_integer(const char *from, uint64_t bits, double value)
{
    static const char *const roundings[] = {"rni", "rzi", "rmi", "rpi"};

    for (int d = 0; d < TYPES; d++) {
        for (int r = 0; r < 4; r++) {
            char text[FIXTURE_TEXT];
            long double wanted = rounded((long double)value, roundings[r]);
            s128 integer = wanted > 0x1p100L    ? largest(&types[d])
                           : wanted < -0x1p100L ? least(&types[d])
                                                : clamped((s128)wanted, &types[d]);

            snprintf(text, sizeof text, "cvt.%s.%s.%s d, a", roundings[r], types[d].name, from);
            if (RUN(text, bits) != bits_of(integer, &types[d]))
                fail_msg("%s of %a", text, value);
        }
    }
}

static void floats_become_integers_rounded_and_clamped(void **state)
{
    static const double values[] = {
        0,       0.5,     1.5,          2.5,          -0.5,          -1.5,
        127.5,   128,     255.4999,     255.5,        -128.5,        -129,
        32767.5, 65535.5, 2147483647.5, 4294967295.5, -2147483648.5, 0x1p31,
        0x1p32,  0x1p63,  0x1p64,       -0x1p63,      -0x1.8p63,     0x1.fffffep62,
        1e30,    -1e30,   0x1p-140};
    uint64_t seed = 23;

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        float narrow = (float)values[i];

        check_float_to_integer("f64", fixture_f64(values[i]), values[i]);
        check_float_to_integer("f32", fixture_f32(narrow), (double)narrow);
    }
    for (int i = 0; i < 300; i++) {
        float value = ldexpf((float)(int32_t)fixture_random(&seed), -i % 40);

        check_float_to_integer("f32", fixture_f32(value), (double)value);
    }
    for (int bits = 0; bits < 0x7c00; bits += 37)
        check_float_to_integer("f16", (uint64_t)bits | 0x8000,
                               emu_widen(EMU_FORMAT_F16, (uint64_t)bits | 0x8000));
}

/* "Zero if source is not .f64 and destination is not .s64, .u64; otherwise 1 << (width - 1)": the
 * manual, and an H200. */
static void nan_becomes_zero_or_the_top_bit(void **state)
{
    const uint64_t f32 = 0x7fc00000, f64 = fixture_f64((double)NAN);

    (void)state;
    assert_int_equal(RUN("cvt.rzi.s32.f32 d, a", f32), 0);
    assert_int_equal(RUN("cvt.rzi.u8.f16 d, a", 0x7e00), 0);
    assert_true(RUN("cvt.rzi.s64.f32 d, a", f32) == UINT64_C(1) << 63);
    assert_true(RUN("cvt.rzi.u64.bf16 d, a", 0x7fc0) == UINT64_C(1) << 63);
    assert_int_equal(RUN("cvt.rzi.u32.f64 d, a", f64), 0x80000000);
    assert_int_equal(RUN("cvt.rzi.s16.f64 d, a", f64), 0x8000);
}

static void integers_become_floats_rounded_once(void **state)
{
    uint64_t seed = 31;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = fixture_random(&seed) >> (i & 63);

        assert_int_equal(RUN("cvt.rn.f32.s64 d, a", bits), fixture_f32((float)(int64_t)bits));
        assert_int_equal(RUN("cvt.rn.f32.u64 d, a", bits), fixture_f32((float)bits));
        assert_int_equal(RUN("cvt.rn.f32.s32 d, a", bits),
                         fixture_f32((float)(int32_t)(uint32_t)bits));
        assert_true(RUN("cvt.rn.f64.u64 d, a", bits) == fixture_f64((double)bits));
        assert_true(RUN("cvt.rn.f64.s8 d, a", bits) == fixture_f64((double)(int8_t)bits));
    }
    assert_int_equal(RUN("cvt.rp.f32.u32 d, a", 0x01000001), fixture_f32(0x1.000002p24f));
    assert_int_equal(RUN("cvt.rm.f32.s32 d, a", (uint32_t)-0x01000001),
                     fixture_f32(-0x1.000002p24f));
    assert_int_equal(RUN("cvt.rz.f16.u32 d, a", 100000), 0x7bff);
    assert_int_equal(RUN("cvt.rn.f16.u32 d, a", 100000), 0x7c00);
    assert_int_equal(RUN("cvt.rn.sat.f32.s32 d, a", 7), 0x3f800000);
    assert_int_equal(RUN("cvt.rn.bf16.s8 d, a", 0xff), 0xbf80);
}

static void floats_change_their_width(void **state)
{
    uint64_t seed = 37;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = fixture_random_f32(&seed), wide = fixture_random_f64(&seed);
        float narrowed = (float)fixture_to_f64(wide);

        if ((bits & 0x7fffffff) <= 0x7f800000)
            assert_true(RUN("cvt.f64.f32 d, a", bits) == fixture_f64((double)fixture_to_f32(bits)));
        if (!isnan(narrowed))
            assert_int_equal(RUN("cvt.rn.f32.f64 d, a", wide), fixture_f32(narrowed));
    }
    assert_int_equal(RUN("cvt.f32.f16 d, a", 0x0001), fixture_f32(0x1p-24f));
    assert_int_equal(RUN("cvt.f32.bf16 d, a", 0x8001), 0x80010000);
    assert_int_equal(RUN("cvt.ftz.f32.bf16 d, a", 0x8001), 0x80000000);
    /* .ftz is nothing where f16 is made (measured on an H200) */
    assert_int_equal(RUN("cvt.rp.ftz.f16.f32 d, a", 0x00000001), 1);
    assert_int_equal(RUN("cvt.rm.ftz.sat.f16.f32 d, a", 0x007fffff), 0);
    assert_int_equal(RUN("cvt.rm.ftz.f16.f32 d, a", 0x80799a1a), 0x8001);
    assert_int_equal(RUN("cvt.rn.f16.f32 d, a", fixture_f32(65520)), 0x7c00);
    assert_int_equal(RUN("cvt.rz.f16.f32 d, a", fixture_f32(65520)), 0x7bff);
    assert_int_equal(RUN("cvt.rn.satfinite.f16.f32 d, a", 0x7f800000), 0x7bff);
    assert_int_equal(RUN("cvt.rn.relu.bf16.f32 d, a", fixture_f32(-2)), 0);
    assert_int_equal(RUN("cvt.rn.sat.f16.f32 d, a", fixture_f32(-2)), 0);
    assert_int_equal(RUN("cvt.rp.bf16.f16 d, a", 0x3c01), 0x3f81);
    assert_int_equal(RUN("cvt.rn.f16.bf16 d, a", 0x7f7f), 0x7c00);
    assert_int_equal(RUN("cvt.bf16.f16 d, a", 0x3c05), 0x3f81);
    assert_int_equal(RUN("cvt.f16.bf16 d, a", 0x7f7f), 0x7c00);
    assert_int_equal(RUN("cvt.rni.f32.f32 d, a", fixture_f32(2.5f)), fixture_f32(2));
    assert_int_equal(RUN("cvt.rpi.f32.f32 d, a", fixture_f32(-0.5f)), 0x80000000);
    assert_true(RUN("cvt.rmi.f64.f64 d, a", fixture_f64(-1.25)) == fixture_f64(-2));
    assert_int_equal(RUN("cvt.rzi.f16.f16 d, a", 0x3e00), 0x3c00);
    assert_int_equal(RUN("cvt.sat.f32.f32 d, a", fixture_f32(7)), 0x3f800000);
}

/* Measured on an H200. */
static void nan_of_floats(void **state)
{
    (void)state;
    assert_int_equal(RUN("cvt.rn.f16.f32 d, a", 0xffc00000), 0x7fff);
    assert_int_equal(RUN("cvt.f32.f16 d, a", 0x7e00), 0x7fffffff);
    assert_int_equal(RUN("cvt.f32.bf16 d, a", 0x7ff7), 0x7ff70000);
    assert_int_equal(RUN("cvt.ftz.f32.bf16 d, a", 0x7fcb), 0x7fffffff);
    assert_int_equal(RUN("cvt.f32.f32 d, a", 0x7f80ffff), 0x7f80ffff);
    assert_int_equal(RUN("cvt.rni.f32.f32 d, a", 0x7f80ffff), 0x7fffffff);
    assert_true(RUN("cvt.f64.f32 d, a", 0x7f80ffff) == UINT64_C(0x7ff81fffe0000000));
    assert_int_equal(RUN("cvt.rn.f32.f64 d, a", UINT64_C(0xfff0000000000001)), 0xffc00000);
    assert_int_equal(RUN("cvt.rp.f16.f64 d, a", UINT64_C(0x7ff8800000000000)), 0x7e20);
    assert_true(RUN("cvt.f64.f16 d, a", 0xfe01) == UINT64_C(0xfff8040000000000));
    assert_true(RUN("cvt.f64.bf16 d, a", 0x7fc4) == UINT64_C(0x7ff8800000000000));
    assert_int_equal(RUN("cvt.rna.tf32.f32 d, a", 0x7f80ffff), 0x7f80e000);
    assert_int_equal(RUN("cvt.rna.satfinite.tf32.f32 d, a", 0x7ffb8a4b), 0x7ffb6000);
    assert_int_equal(RUN("cvt.rn.tf32.f32 d, a", 0x7fc00001), 0x7fffe000);
}

static void the_first_of_a_pair_is_the_upper_half(void **state)
{
    const uint64_t one = fixture_f32(1), two = fixture_f32(2), minus = fixture_f32(-3);

    (void)state;
    assert_int_equal(RUN("cvt.rn.f16x2.f32 d, a, b", one, two), 0x3c004000);
    assert_int_equal(RUN("cvt.rz.relu.bf16x2.f32 d, a, b", minus, two), 0x00004000);
    assert_int_equal(RUN("cvt.rn.satfinite.e4m3x2.f32 d, a, b", one, fixture_f32(1e6f)), 0x387e);
    assert_int_equal(RUN("cvt.rn.satfinite.relu.e5m2x2.f32 d, a, b", minus, one), 0x003c);
    assert_int_equal(RUN("cvt.rn.satfinite.e4m3x2.f16x2 d, a", 0x3c004000), 0x3840);
    assert_int_equal(RUN("cvt.rn.f16x2.e4m3x2 d, a", 0x3840), 0x3c004000);
    assert_int_equal(RUN("cvt.rn.relu.f16x2.e5m2x2 d, a", 0xbc40), 0x00004000);
    assert_int_equal(RUN("cvt.rn.satfinite.e2m1x2.f32 d, a, b", minus, fixture_f32(100)), 0xd7);
    assert_int_equal(RUN("cvt.rn.f16x2.e2m1x2 d, a", 0xd7), 0xc2004600);
    assert_int_equal(RUN("cvt.rn.satfinite.e2m3x2.f32 d, a, b", minus, fixture_f32(7.5f)), 0x341f);
    assert_int_equal(RUN("cvt.rn.satfinite.e3m2x2.f32 d, a, b", fixture_f32(28), one), 0x1f0c);
    assert_int_equal(RUN("cvt.rn.f16x2.e3m2x2 d, a", 0x1f0c), 0x4f003c00);
    assert_int_equal(RUN("cvt.rz.ue8m0x2.f32 d, a, b", one, fixture_f32(6)), 0x7f81);
    assert_int_equal(RUN("cvt.rp.satfinite.ue8m0x2.bf16x2 d, a", 0x40c03f80), 0x827f);
    assert_int_equal(RUN("cvt.rn.bf16x2.ue8m0x2 d, a", 0x8200), 0x41000040);
}

/* Any random bits give one of both neighbours; none and all give the nearer and the farther one;
 * a number that the format has stays. */
static void stochastic_rounding_chooses_between_neighbours(void **state)
{
    const uint64_t third = fixture_f32(1 + 1 / 3.0f * 0x1p-10f), one = fixture_f32(1);
    int up = 0;

    (void)state;
    assert_int_equal(RUN("cvt.rs.f16x2.f32 d, a, b, r", third, one, 0), 0x3c003c00);
    assert_int_equal(RUN("cvt.rs.f16x2.f32 d, a, b, r", third, one, 0xffffffff), 0x3c013c00);
    for (uint64_t random = 0; random < 0x2000; random++)
        up += RUN("cvt.rs.f16x2.f32 d, a, b, r", one, third, random) == 0x3c003c01;
    assert_in_range(up, 0x2000 / 3 - 2, 0x2000 / 3 + 2);
    assert_int_equal(
        RUN("cvt.rs.bf16x2.f32 d, a, b, r", fixture_f32(-1 - 0x1p-8f), one, 0x80000000),
        0xbf813f80);
    assert_int_equal(
        RUN("cvt.rs.bf16x2.f32 d, a, b, r", fixture_f32(-1 - 0x1p-8f), one, 0x7fff0000),
        0xbf803f80);
    assert_int_equal(RUN("cvt.rs.satfinite.e4m3x4.f32 d, {a, b, c, e}, r", one, fixture_f32(2),
                         fixture_f32(1e9f), fixture_f32(-4), 0xffffffff),
                     0x38407ec8);
    assert_int_equal(RUN("cvt.rs.relu.satfinite.e2m1x4.f32 d, {a, b, c, e}, r", one, fixture_f32(2),
                         fixture_f32(6), fixture_f32(-4), 0),
                     0x2470);
}

static void cvt_pack_saturates_and_chains(void **state)
{
    (void)state;
    assert_int_equal(RUN("cvt.pack.sat.u16.s32 d, a, b", 70000, (uint32_t)-5), 0xffff0000);
    assert_int_equal(RUN("cvt.pack.sat.s16.s32 d, a, b", (uint32_t)-70000, 5), 0x80000005);
    assert_int_equal(RUN("cvt.pack.sat.u8.s32.b32 d, a, b, c", 300, 7, 0x1234abcd), 0xabcdff07);
    assert_int_equal(RUN("cvt.pack.sat.s8.s32.b32 d, a, b, c", (uint32_t)-300, 200, 0xffff),
                     0xffff807f);
    assert_int_equal(RUN("cvt.pack.sat.s4.s32.b32 d, a, b, c", 9, (uint32_t)-9, 0x123456),
                     0x12345678);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_cut_extended_or_saturated),
        cmocka_unit_test(floats_become_integers_rounded_and_clamped),
        cmocka_unit_test(nan_becomes_zero_or_the_top_bit),
        cmocka_unit_test(integers_become_floats_rounded_once),
        cmocka_unit_test(floats_change_their_width),
        cmocka_unit_test(nan_of_floats),
        cmocka_unit_test(the_first_of_a_pair_is_the_upper_half),
        cmocka_unit_test(stochastic_rounding_chooses_between_neighbours),
        cmocka_unit_test(cvt_pack_saturates_and_chains),
    };

    return cmocka_run_group_tests_name("emulator alu convert", tests, NULL, NULL);
}
