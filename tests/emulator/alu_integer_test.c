/* Integer and extended-precision arithmetic against wider integers and the manual's own loops. */
#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

static const struct type {
    const char *name;
    int width;
    bool is_signed;
} types[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
             {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

enum { TYPES = 6, ROUNDS = 3000 };

static uint64_t cut(u128 value, int width)
{
    return (uint64_t)(width == 64 ? value : value & (((u128)1 << width) - 1));
}

static s128 number(uint64_t bits, const struct type *type)
{
    s128 value = (s128)cut(bits, type->width);

    return type->is_signed && value >> (type->width - 1) ? value - ((s128)1 << type->width) : value;
}

/* Often at the edges. */
static uint64_t random_integer(uint64_t *seed, int width)
{
    uint64_t random = fixture_random(seed);

    switch (random >> 61) {
    case 0:
        return cut(random & 7, width);
    case 1:
        return cut(0 - (u128)(random & 7), width);
    case 2:
        return cut(((u128)1 << (width - 1)) - (random & 1), width);
    case 3:
        return cut(random, width) >> (random >> 32) % (unsigned)width;
    default:
        return cut(random, width);
    }
}

typedef s128 (*reference)(s128 a, s128 b, s128 c);

static s128 sum(s128 a, s128 b, s128 c)
{
    (void)c;
    return a + b;
}

static s128 difference(s128 a, s128 b, s128 c)
{
    (void)c;
    return a - b;
}

/* Unsigned, since 64 by 64 bits and more do not fit; what is cut off at the width is the same. */
static s128 product_and_sum(s128 a, s128 b, s128 c)
{
    return (s128)((u128)a * (u128)b + (u128)c);
}

static s128 smaller(s128 a, s128 b, s128 c)
{
    (void)c;
    return a < b ? a : b;
}

static s128 larger(s128 a, s128 b, s128 c)
{
    (void)c;
    return a > b ? a : b;
}

static s128 distance_and_sum(s128 a, s128 b, s128 c)
{
    return (a < b ? b - a : a - b) + c;
}

static s128 quotient(s128 a, s128 b, s128 c)
{
    (void)c;
    return a / b;
}

static s128 rest(s128 a, s128 b, s128 c)
{
    (void)c;
    return a % b;
}

static void check(const char *opcode, const struct type *type, int sources, reference of)
{
    char text[FIXTURE_TEXT];
    uint64_t seed = 99;

    snprintf(text, sizeof text, "%s.%s d, a, b%s", opcode, type->name, sources > 2 ? ", c" : "");

    struct emu_alu op = fixture_op(text);

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t v[3];

        for (int s = 0; s < 3; s++)
            v[s] = random_integer(&seed, type->width);
        if ((of == quotient || of == rest) && v[1] == 0)
            continue;

        s128 wanted = of(number(v[0], type), number(v[1], type), number(v[2], type));

        if (fixture_run_op(&op, v, sources, NULL) != cut((u128)wanted, type->width))
            fail_msg("%s of %#llx, %#llx, %#llx", text, (unsigned long long)v[0],
                     (unsigned long long)v[1], (unsigned long long)v[2]);
    }
}

static void arithmetic_wraps_at_the_width(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        check("add", &types[t], 2, sum);
        check("sub", &types[t], 2, difference);
        check("mad.lo", &types[t], 3, product_and_sum);
        check("sad", &types[t], 3, distance_and_sum);
        check("min", &types[t], 2, smaller);
        check("max", &types[t], 2, larger);
        check("div", &types[t], 2, quotient);
        check("rem", &types[t], 2, rest);
    }
}

static void upper_halves_and_wide_products(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int t = 0; t < TYPES; t++) {
        char text[3][FIXTURE_TEXT];

        snprintf(text[0], sizeof text[0], "mul.hi.%s d, a, b", types[t].name);
        snprintf(text[1], sizeof text[1], "mad.hi.%s d, a, b, c", types[t].name);
        snprintf(text[2], sizeof text[2], "mad.wide.%s d, a, b, c", types[t].name);
        for (int i = 0; i < ROUNDS / 10; i++) {
            uint64_t a = random_integer(&seed, types[t].width);
            uint64_t b = random_integer(&seed, types[t].width), c = fixture_random(&seed);
            u128 product = types[t].is_signed ? (u128)(number(a, &types[t]) * number(b, &types[t]))
                                              : (u128)a * b;
            int width = types[t].width;

            assert_true(RUN(text[0], a, b) == cut(product >> width, width));
            assert_true(RUN(text[1], a, b, c) == cut((product >> width) + c, width));
            if (width < 64)
                assert_true(RUN(text[2], a, b, c) == cut(product + c, 2 * width));
        }
    }
}

static void saturation_clamps_to_s32(void **state)
{
    (void)state;
    assert_int_equal(RUN("add.sat.s32 d, a, b", 0x7fffffff, 1), 0x7fffffff);
    assert_int_equal(RUN("add.sat.s32 d, a, b", 0x80000000, 0xffffffff), 0x80000000);
    assert_int_equal(RUN("add.sat.s32 d, a, b", 5, 0xfffffffe), 3);
    assert_int_equal(RUN("sub.sat.s32 d, a, b", 0x80000000, 1), 0x80000000);
    assert_int_equal(RUN("mad.hi.sat.s32 d, a, b, c", 0x7fffffff, 0x7fffffff, 0x7fffffff),
                     0x7fffffff);
    assert_int_equal(RUN("mad24.hi.sat.s32 d, a, b, c", 0x7fffff, 0x7fffff, 0x7fffffff),
                     0x7fffffff);
}

static void products_of_24_bits(void **state)
{
    (void)state;
    /* 0xfffff * 0xfffff = 0xffffe00001; the upper byte of a source counts for nothing. */
    assert_int_equal(RUN("mul24.lo.u32 d, a, b", 0xaa0fffff, 0x550fffff), 0xffe00001);
    assert_int_equal(RUN("mul24.hi.u32 d, a, b", 0xaa0fffff, 0x550fffff), 0x00ffffe0);
    /* -1 * 2 = -2 */
    assert_int_equal(RUN("mul24.lo.s32 d, a, b", 0x00ffffff, 2), 0xfffffffe);
    assert_int_equal(RUN("mul24.hi.s32 d, a, b", 0x00ffffff, 2), 0xffffffff);
    assert_int_equal(RUN("mad24.lo.s32 d, a, b, c", 0x00ffffff, 2, 10), 8);
}

static void the_least_number_has_no_opposite(void **state)
{
    (void)state;
    assert_int_equal(RUN("abs.s32 d, a", 0x80000000), 0x80000000);
    assert_int_equal(RUN("abs.s16 d, a", 0xfffb), 5);
    assert_int_equal(RUN("neg.s16 d, a", 5), 0xfffb);
    assert_true(RUN("neg.s64 d, a", UINT64_C(1) << 63) == UINT64_C(1) << 63);
    assert_int_equal(RUN("div.s32 d, a, b", 0x80000000, 0xffffffff), 0x80000000);
    assert_int_equal(RUN("rem.s32 d, a, b", 0x80000000, 0xffffffff), 0);
    assert_int_equal(RUN("div.s32 d, a, b", (uint32_t)-7, 2), (uint32_t)-3);
    assert_int_equal(RUN("rem.s32 d, a, b", (uint32_t)-7, 2), (uint32_t)-1);
}

/* Measured on an H200; the manual leaves it open. */
static void division_by_zero_gives_all_ones(void **state)
{
    (void)state;
    assert_int_equal(RUN("div.u16 d, a, b", 5, 0), 0xffff);
    assert_int_equal(RUN("div.s32 d, a, b", 0x80000000, 0), 0xffffffff);
    assert_int_equal(RUN("rem.s32 d, a, b", 5, 0), 0xffffffff);
    assert_true(RUN("div.u64 d, a, b", 0, 0) == UINT64_MAX);
    assert_true(RUN("rem.u64 d, a, b", 5, 0) == UINT64_MAX);
}

static void halves_work_by_themselves(void **state)
{
    (void)state;
    assert_int_equal(RUN("add.u16x2 d, a, b", 0xffff0001, 0x00010002), 0x00000003);
    assert_int_equal(RUN("add.s16x2 d, a, b", 0x0001ffff, 0x00010001), 0x00020000);
    assert_int_equal(RUN("min.s16x2 d, a, b", 0xffff0005, 0x00030002), 0xffff0002);
    assert_int_equal(RUN("min.relu.s16x2 d, a, b", 0xffff0005, 0x00030002), 0x00000002);
    assert_int_equal(RUN("max.u16x2 d, a, b", 0xffff0005, 0x00030007), 0xffff0007);
    assert_int_equal(RUN("max.relu.s32 d, a, b", 0xffffffff, 0xfffffff0), 0);
    assert_int_equal(RUN("min.relu.s32 d, a, b", 3, 4), 3);
}

static void bits_are_counted_found_and_turned(void **state)
{
    (void)state;
    assert_int_equal(RUN("popc.b32 d, a", UINT64_C(0xff00000101)), 2);
    assert_int_equal(RUN("popc.b64 d, a", UINT64_MAX), 64);
    assert_int_equal(RUN("clz.b32 d, a", 0), 32);
    assert_int_equal(RUN("clz.b32 d, a", 1), 31);
    assert_int_equal(RUN("clz.b64 d, a", 1), 63);
    assert_int_equal(RUN("bfind.u32 d, a", 0), 0xffffffff);
    assert_int_equal(RUN("bfind.u32 d, a", 0x80000000), 31);
    assert_int_equal(RUN("bfind.s32 d, a", 0xffffffff), 0xffffffff);
    assert_int_equal(RUN("bfind.s32 d, a", 0xfffffff0), 3);
    assert_int_equal(RUN("bfind.shiftamt.u32 d, a", 1), 31);
    assert_int_equal(RUN("bfind.shiftamt.u64 d, a", 0), 0xffffffff);
    assert_int_equal(RUN("bfind.shiftamt.s64 d, a", UINT64_MAX << 4), 60);
    assert_int_equal(RUN("brev.b32 d, a", 0x80000003), 0xc0000001);
    assert_true(RUN("brev.b64 d, a", 1) == UINT64_C(1) << 63);
}

/* The examples of the manual, and its loop. */
static void fns_is_the_manuals_loop(void **state)
{
    static const uint32_t masks[] = {0, 0xaaaaaaaa, 0xffffffff, 0x80000001, 0x00f0ff00};

    (void)state;
    assert_int_equal(RUN("fns.b32 d, m, b, o", 0xaaaaaaaa, 3, 1), 3);
    assert_int_equal(RUN("fns.b32 d, m, b, o", 0xaaaaaaaa, 3, (uint32_t)-1), 3);
    assert_int_equal(RUN("fns.b32 d, m, b, o", 0xaaaaaaaa, 2, 1), 3);
    assert_int_equal(RUN("fns.b32 d, m, b, o", 0xaaaaaaaa, 2, (uint32_t)-1), 1);
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        for (int base = 0; base < 32; base++) {
            for (int offset = -33; offset <= 33; offset++) {
                uint32_t wanted = UINT32_MAX;
                int count = (offset < 0 ? -offset : offset) - 1;

                if (offset == 0 && (masks[m] >> base & 1))
                    wanted = (uint32_t)base;
                for (int at = base; offset != 0 && at >= 0 && at<32; at += offset> 0 ? 1 : -1) {
                    if ((masks[m] >> at & 1) && count-- == 0) {
                        wanted = (uint32_t)at;
                        break;
                    }
                }
                assert_int_equal(
                    RUN("fns.b32 d, m, b, o", masks[m], (uint64_t)base, (uint32_t)offset), wanted);
            }
        }
    }
}

/* PTX ISA, "bfe": bit by bit. */
static uint64_t extracted(uint64_t a, uint64_t b, uint64_t c, const struct type *type)
{
    int msb = type->width - 1, position = (int)(b & 0xff), length = (int)(c & 0xff);
    uint64_t sign = 0, d = 0;

    if (type->is_signed && length > 0)
        sign = a >> (position + length - 1 < msb ? position + length - 1 : msb) & 1;
    for (int i = 0; i <= msb; i++)
        d |= (i < length && position + i <= msb ? a >> (position + i) & 1 : sign) << i;
    return d;
}

static void fields_are_extracted_and_inserted_bit_by_bit(void **state)
{
    (void)state;
    for (int t = 2; t < TYPES; t++) {
        char bfe[FIXTURE_TEXT];
        const uint64_t a = UINT64_C(0x9e3779b97f4a7c15), b = UINT64_C(0x0f1e2d3c4b5a6978);
        int width = types[t].width;

        snprintf(bfe, sizeof bfe, "bfe.%s d, a, b, c", types[t].name);
        for (int position = 0; position < 70; position++) {
            for (int length = 0; length < 70; length++) {
                uint64_t p = (uint64_t)position | (width == 32 ? 0xff00 : 0),
                         l = (uint64_t)length | (width == 32 ? 0x100 : 0);
                uint64_t wanted = cut(b, width);

                assert_true(RUN(bfe, a, p, l) == extracted(a, p, l, &types[t]));
                assert_true(RUN(bfe, ~a, p, l) == extracted(~a, p, l, &types[t]));
                for (int i = 0; i < length && position + i < width; i++)
                    wanted = (wanted & ~(UINT64_C(1) << (position + i))) | (a >> i & 1)
                                                                               << (position + i);
                assert_true(RUN(width == 64 ? "bfi.b64 f, a, b, c, d" : "bfi.b32 f, a, b, c, d", a,
                                b, p, l) == wanted);
            }
        }
    }
}

/* As an H200 does it, where the manual has modulo 256 here too. */
static void fields_of_64_bits_can_lie_far_outside(void **state)
{
    (void)state;
    assert_true(RUN("bfe.u64 d, a, b, c", UINT64_MAX, 0x124, 8) == 0);
    assert_true(RUN("bfe.s64 d, a, b, c", UINT64_C(1) << 63, 0x124, 8) == UINT64_MAX);
    assert_true(RUN("bfe.u64 d, a, b, c", 0x1234, 4, 0x108) == 0x123);
    assert_true(RUN("bfi.b64 f, a, b, c, d", 0xff, 0x1234, 0x100, 8) == 0x1234);
}

/* PTX ISA, "szext" and "bmsk", as their pseudo-code has it. */
static uint32_t szext_by_manual(uint32_t a, uint32_t b, bool clamp, bool is_signed)
{
    uint32_t b1 = b & 31;
    bool too_large = b >= 32 && clamp;
    uint32_t mask = too_large ? 0 : ~0u << b1;
    uint32_t sign_position = (b1 - 1) & 31;
    bool sign = b1 != 0 && !too_large && is_signed && (a >> sign_position & 1);

    return (a & ~mask) | (sign ? mask : 0);
}

static uint32_t bmsk_by_manual(uint32_t a, uint32_t b, bool clamp)
{
    uint32_t a1 = a & 31, b1 = b & 31, sum_of = a1 + b1;
    uint32_t mask0 = ~0u << a1, mask1 = sum_of < 32 ? ~0u << sum_of : 0;
    bool overflow = sum_of >= 32;

    if (clamp && a >= 32) {
        overflow = true;
        mask0 = 0;
    }
    if (clamp && b >= 32)
        overflow = true;
    if (overflow)
        mask1 = 0;
    else if (b1 == 0)
        mask1 = ~0u;
    return mask0 & ~mask1;
}

static void szext_and_bmsk_follow_the_manual(void **state)
{
    (void)state;
    for (uint32_t a = 0; a < 70; a++) {
        for (uint32_t b = 0; b < 70; b++) {
            uint32_t value = a * 0x9e3779b9u;

            assert_int_equal(RUN("szext.clamp.s32 d, a, b", value, b),
                             szext_by_manual(value, b, true, true));
            assert_int_equal(RUN("szext.wrap.s32 d, a, b", value, b),
                             szext_by_manual(value, b, false, true));
            assert_int_equal(RUN("szext.clamp.u32 d, a, b", value, b),
                             szext_by_manual(value, b, true, false));
            assert_int_equal(RUN("bmsk.clamp.b32 d, a, b", a, b), bmsk_by_manual(a, b, true));
            assert_int_equal(RUN("bmsk.wrap.b32 d, a, b", a, b), bmsk_by_manual(a, b, false));
        }
    }
}

static void dot_products_sum_bytes(void **state)
{
    (void)state;
    /* 1*1 + 2*2 + 3*3 + 255*4 and 1 + 4 + 9 - 4 */
    assert_int_equal(RUN("dp4a.u32.u32 d, a, b, c", 0xff030201, 0x04030201, 100), 1134);
    assert_int_equal(RUN("dp4a.s32.u32 d, a, b, c", 0xff030201, 0x04030201, 100), 110);
    assert_int_equal(RUN("dp4a.u32.s32 d, a, b, c", 0x00000002, 0x000000ff, 1), 0xffffffff);
    assert_int_equal(RUN("dp2a.lo.u32.u32 d, a, b, c", 0xffff0002, 0x04030201, 5),
                     5 + 2 + 2 * 0xffff);
    assert_int_equal(RUN("dp2a.hi.s32.u32 d, a, b, c", 0xffff0002, 0x04030201, 5), 5 + 6 - 4);
}

/* ---- The condition code ---- */

static uint64_t with_carry(const char *text, const uint64_t *values, int count, uint64_t *carry)
{
    struct emu_alu op = fixture_op(text);

    return fixture_run_op(&op, values, count, carry);
}

static void sums_of_128_bits_in_words_of_32(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        u128 a = (u128)random_integer(&seed, 64) << 64 | random_integer(&seed, 64);
        u128 b = (u128)random_integer(&seed, 64) << 64 | random_integer(&seed, 64);
        u128 total = 0, rest_of = 0;
        uint64_t carry = 0, borrow = 0;

        for (int word = 0; word < 4; word++) {
            uint64_t v[] = {cut(a >> 32 * word, 32), cut(b >> 32 * word, 32), carry};
            uint64_t w[] = {v[0], v[1], borrow};

            total |= (u128)with_carry(word ? "addc.cc.u32 d, a, b" : "add.cc.u32 d, a, b", v,
                                      word ? 3 : 2, &carry)
                     << 32 * word;
            rest_of |= (u128)with_carry(word ? "subc.cc.u32 d, a, b" : "sub.cc.u32 d, a, b", w,
                                        word ? 3 : 2, &borrow)
                       << 32 * word;
        }
        assert_true(total == a + b);
        assert_int_equal(carry, a + b < a);
        assert_true(rest_of == a - b);
        assert_int_equal(borrow, a < b);
    }
}

/* The manual's example: 64 by 64 bits in words of 32. */
static void a_product_of_128_bits_by_madc(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = random_integer(&seed, 64), b = random_integer(&seed, 64), carry;
        uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
        uint64_t d[4];

        d[0] = RUN("mul.lo.u32 d, a, b", a0, b0);
        d[1] = RUN("mul.hi.u32 d, a, b", a0, b0);
        d[1] = with_carry("mad.lo.cc.u32 d, a, b, c", (uint64_t[]){a0, b1, d[1]}, 3, &carry);
        d[2] = with_carry("madc.hi.u32 d, a, b, c", (uint64_t[]){a0, b1, 0, carry}, 4, NULL);
        d[1] = with_carry("mad.lo.cc.u32 d, a, b, c", (uint64_t[]){a1, b0, d[1]}, 3, &carry);
        d[2] =
            with_carry("madc.hi.cc.u32 d, a, b, c", (uint64_t[]){a1, b0, d[2], carry}, 4, &carry);
        d[3] = with_carry("addc.u32 d, a, b", (uint64_t[]){0, 0, carry}, 3, NULL);
        d[2] = with_carry("mad.lo.cc.u32 d, a, b, c", (uint64_t[]){a1, b1, d[2]}, 3, &carry);
        d[3] = with_carry("madc.hi.u32 d, a, b, c", (uint64_t[]){a1, b1, d[3], carry}, 4, NULL);

        u128 product = (u128)a * b;

        for (int word = 0; word < 4; word++)
            assert_true(d[word] == cut(product >> 32 * word, 32));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_wraps_at_the_width),
        cmocka_unit_test(upper_halves_and_wide_products),
        cmocka_unit_test(saturation_clamps_to_s32),
        cmocka_unit_test(products_of_24_bits),
        cmocka_unit_test(the_least_number_has_no_opposite),
        cmocka_unit_test(division_by_zero_gives_all_ones),
        cmocka_unit_test(halves_work_by_themselves),
        cmocka_unit_test(bits_are_counted_found_and_turned),
        cmocka_unit_test(fns_is_the_manuals_loop),
        cmocka_unit_test(fields_are_extracted_and_inserted_bit_by_bit),
        cmocka_unit_test(fields_of_64_bits_can_lie_far_outside),
        cmocka_unit_test(szext_and_bmsk_follow_the_manual),
        cmocka_unit_test(dot_products_sum_bytes),
        cmocka_unit_test(sums_of_128_bits_in_words_of_32),
        cmocka_unit_test(a_product_of_128_bits_by_madc),
    };

    return cmocka_run_group_tests_name("emulator alu integer", tests, NULL, NULL);
}
