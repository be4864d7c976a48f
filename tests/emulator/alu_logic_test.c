/* Logic, shifts, prmt, mov, and the video instructions. */
#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>

static void logic_works_on_all_bits_of_the_type(void **state)
{
    (void)state;
    assert_int_equal(RUN("and.b32 d, a, b", 0xff00ff00, 0x0ff00ff0), 0x0f000f00);
    assert_true(RUN("or.b64 d, a, b", UINT64_C(1) << 63, 1) == ((UINT64_C(1) << 63) | 1));
    assert_int_equal(RUN("xor.b16 d, a, b", 0x1ffff, 0x0f0f), 0xf0f0);
    assert_int_equal(RUN("not.b16 d, a", 0x00ff), 0xff00);
    assert_int_equal(RUN("not.pred p, q", 1), 0);
    assert_int_equal(RUN("xor.pred p, q, r", 1, 1), 0);
    assert_int_equal(RUN("cnot.b32 d, a", 0), 1);
    assert_int_equal(RUN("cnot.b32 d, a", 0x80000000), 0);
    assert_int_equal(RUN("cnot.b16 d, a", 0x10000), 1);
}

/* Each table, each combination of three bits, in the eight low bits of the sources. */
static void lop3_looks_up_every_table(void **state)
{
    (void)state;
    for (unsigned table = 0; table < 256; table++) {
        char text[FIXTURE_TEXT];

        snprintf(text, sizeof text, "lop3.b32 d, a, b, c, %u", table);
        assert_int_equal(RUN(text, 0xf0, 0xcc, 0xaa, table) & 0xff, table);
    }
    /* the manual's example: a ^ b ^ c is 0x96 */
    assert_int_equal(RUN("lop3.b32 d, a, b, c, 0x96", 0x12345678, 0x9abcdef0, 0x0fedcba9, 0x96),
                     0x12345678 ^ 0x9abcdef0 ^ 0x0fedcba9);
}

static void lop3_tells_whether_anything_is_left(void **state)
{
    uint64_t p;
    struct emu_alu op = fixture_op("lop3.and.b32 d|p, a, b, c, 0x80, !q");

    (void)state;
    /* 0x80: a & b & c */
    assert_int_equal(fixture_run_op(&op, (const uint64_t[]){0xff, 0x0f, 0x3c, 0x80, 0}, 5, &p),
                     0x0c);
    assert_int_equal(p, 1);
    fixture_run_op(&op, (const uint64_t[]){0xff, 0x0f, 0x3c, 0x80, 1}, 5, &p);
    assert_int_equal(p, 0);
    op = fixture_op("lop3.or.b32 _|p, a, b, c, 0x80, q");
    fixture_run_op(&op, (const uint64_t[]){0xf0, 0x0f, 0x3c, 0x80, 0}, 5, &p);
    assert_int_equal(p, 0);
    fixture_run_op(&op, (const uint64_t[]){0xf0, 0x0f, 0x3c, 0x80, 1}, 5, &p);
    assert_int_equal(p, 1);
}

static void shifts_clamp_at_the_width(void **state)
{
    (void)state;
    for (uint32_t amount = 0; amount < 70; amount++) {
        uint64_t value = UINT64_C(0x9abcdef012345678);
        uint32_t low = (uint32_t)value;
        int arithmetic = amount > 31 ? 31 : (int)amount;

        assert_int_equal(RUN("shl.b32 d, a, b", low, amount), amount > 31 ? 0 : low << amount);
        assert_true(RUN("shl.b64 d, a, b", value, amount) == (amount > 63 ? 0 : value << amount));
        assert_true(RUN("shr.u64 d, a, b", value, amount) == (amount > 63 ? 0 : value >> amount));
        assert_int_equal(RUN("shr.s32 d, a, b", 0x9abcdef0, amount),
                         (uint32_t)((int32_t)0x9abcdef0 >> arithmetic));
        assert_int_equal(RUN("shr.s16 d, a, b", 0x8000, amount),
                         amount > 15 ? 0xffff : 0xffff & (0xffff8000 >> amount));
        assert_int_equal(RUN("shr.b16 d, a, b", 0x8000, amount),
                         amount > 15 ? 0 : 0x8000 >> amount);
    }
    assert_int_equal(RUN("shl.b32 d, a, b", 1, 0xffffffff), 0);
    assert_int_equal(RUN("shr.s32 d, a, b", 0x80000000, 0xffffffff), 0xffffffff);
}

static void funnel_shifts_clamp_or_wrap(void **state)
{
    const uint64_t a = 0x9abcdef0, b = 0x12345678; /* b:a */
    const uint64_t both = b << 32 | a;

    (void)state;
    for (uint32_t c = 0; c < 70; c++) {
        uint32_t clamp = c > 32 ? 32 : c, wrap = c & 31;

        uint64_t left = clamp == 0 ? b : clamp == 32 ? a : b << clamp | a >> (32 - clamp);

        assert_int_equal(RUN("shf.l.clamp.b32 d, a, b, c", a, b, c), (uint32_t)left);
        assert_int_equal(RUN("shf.r.clamp.b32 d, a, b, c", a, b, c), (uint32_t)(both >> clamp));
        assert_int_equal(RUN("shf.l.wrap.b32 d, a, b, c", a, b, c), (uint32_t)(both << wrap >> 32));
        assert_int_equal(RUN("shf.r.wrap.b32 d, a, b, c", a, b, c), (uint32_t)(both >> wrap));
    }
}

/* The tables of the manual: source bytes, byte 3 first. */
static void prmt_picks_bytes(void **state)
{
    static const struct {
        const char *mode;
        uint32_t picks[4];
    } modes[] = {
        {".f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {".b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
        {".rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {".ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
        {".ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {".rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
    };
    const uint64_t a = 0x83828180, b = 0x07060504; /* each byte says which it is */

    (void)state;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        for (uint32_t c = 0; c < 8; c++) {
            char text[FIXTURE_TEXT];
            uint32_t result;

            snprintf(text, sizeof text, "prmt.b32%s d, a, b, c", modes[m].mode);
            result = (uint32_t)RUN(text, a, b, c);
            for (int byte = 0; byte < 4; byte++)
                assert_int_equal(result >> 8 * byte & 7, modes[m].picks[c & 3] >> 4 * byte & 15);
        }
    }
    assert_int_equal(RUN("prmt.b32 d, a, b, c", a, b, 0x7421), 0x07048281);
    /* bit 3 of a selector repeats the sign */
    assert_int_equal(RUN("prmt.b32 d, a, b, c", a, b, 0xfcb8), 0x0000ffff);
    assert_int_equal(RUN("prmt.b32 d, a, b, c", a, b, 0xffff7421), 0x07048281);
}

static void mov_packs_and_unpacks_from_the_low_end(void **state)
{
    struct emu_alu op = fixture_op("mov.b64 {a, b}, c");
    uint64_t upper;

    (void)state;
    assert_int_equal(
        fixture_run_op(&op, (const uint64_t[]){UINT64_C(0x1122334455667788)}, 1, &upper),
        0x55667788);
    assert_int_equal(upper, 0x11223344);
    assert_true(RUN("mov.b64 d, {a, b}", 0x55667788, 0x11223344) == UINT64_C(0x1122334455667788));
    assert_int_equal(RUN("mov.b32 d, {a, b}", 0x10001, 2), 0x00020001);
    assert_int_equal(RUN("mov.b32 d, {a, b, c, e}", 1, 2, 3, 4), 0x04030201);
    assert_true(RUN("mov.b64 d, {a, b, c, e}", 1, 2, 3, 4) == UINT64_C(0x0004000300020001));
    assert_int_equal(RUN("mov.u16 d, a", 0x12345), 0x2345);
    assert_int_equal(RUN("mov.pred p, q", 1), 1);
}

/* ---- Video ---- */

static void video_selects_parts_with_their_signs(void **state)
{
    (void)state;
    assert_int_equal(RUN("vadd.s32.s32.u32 d, a.b3, b.h1", 0xff000000, 0x00050000), 4);
    assert_int_equal(RUN("vadd.u32.u32.u32 d, a.b3, b.h1", 0xff000000, 0x00050000), 0x104);
    assert_int_equal(RUN("vsub.s32.u32.u32 d, a.b0, b.b1", 0x0001, 0x0200), 0xffffffff);
    assert_int_equal(RUN("vsub.u32.u32.u32.sat d, a.b0, b.b1", 0x0001, 0x0200), 0);
    assert_int_equal(RUN("vadd.s32.u32.u32.sat d, a, b", 0xffffffff, 0xffffffff), 0x7fffffff);
    assert_int_equal(RUN("vabsdiff.u32.s32.s32 d, a, b", 0x80000000, 0x7fffffff), 0xffffffff);
    assert_int_equal(RUN("vmin.s32.s32.u32 d, a, b", 0xffffffff, 1), 0xffffffff);
    assert_int_equal(RUN("vmax.u32.u32.u32 d, a.h0, b.h1", 0x00050007, 0x00090001), 9);
}

static void video_merges_or_goes_on(void **state)
{
    (void)state;
    assert_int_equal(RUN("vadd.u32.u32.u32.add d, a, b, c", 1, 2, 100), 103);
    assert_int_equal(RUN("vadd.s32.s32.s32.min d, a, b, c", 1, 2, 0xffffffff), 0xffffffff);
    assert_int_equal(RUN("vadd.u32.s32.s32.max d, a, b, c", 1, 2, 0xffffffff), 0xffffffff);
    assert_int_equal(RUN("vadd.u32.u32.u32 d.b2, a, b, c", 0x101, 2, 0xaabbccdd), 0xaa03ccdd);
    assert_int_equal(RUN("vadd.u32.u32.u32.sat d.b2, a, b, c", 0x101, 2, 0xaabbccdd), 0xaaffccdd);
    assert_int_equal(RUN("vadd.s32.s32.s32.sat d.h1, a, b, c", 0x7fff, 1, 0xaabbccdd), 0x7fffccdd);
    assert_int_equal(RUN("vset.s32.s32.lt d, a, b", 0xffffffff, 0), 1);
    assert_int_equal(RUN("vset.u32.u32.ge.add d, a, b, c", 5, 5, 7), 8);
    assert_int_equal(RUN("vshl.u32.u32.u32.clamp d, a, b", 1, 40), 0);
    assert_int_equal(RUN("vshl.u32.u32.u32.wrap d, a, b", 1, 40), 256);
    assert_int_equal(RUN("vshr.s32.s32.u32.clamp d, a, b", 0x80000000, 40), 0xffffffff);
    assert_int_equal(RUN("vmad.s32.s32.s32 d, a.b0, b.b0, -c", 0xff, 2, 5), (uint32_t)-7);
    assert_int_equal(RUN("vmad.s32.u32.u32 d, -a.b0, b.b0, c", 3, 2, 5), (uint32_t)-1);
    assert_int_equal(RUN("vmad.u32.u32.u32.po.shr7 d, a.h0, b.h0, c", 0x100, 0x100, 0x7f), 0x201);
    assert_int_equal(RUN("vmad.u32.u32.u32.sat d, a.h0, b, c", 0xffff, 0x20000, 0), 0xffffffff);
    /* whole registers are signed, as measured on an H200 */
    assert_int_equal(RUN("vmad.u32.u32.u32.sat d, a, b, c", 0xffffffff, 2, 0), 0);
    assert_int_equal(RUN("vmad.u32.u32.u32.sat d, a, b, c", 0, 0, 0x80010001), 0);
}

/* Where the code that ptxas makes of them is not what the manual says; measured on an H200. */
static void video_saturates_as_its_code_does(void **state)
{
    (void)state;
    /* whole unsigned results have a lower bound alone */
    assert_int_equal(RUN("vadd.u32.u32.u32.sat d, a, b", 0xffffffff, 3), 2);
    assert_int_equal(RUN("vadd.u32.s32.u32.sat d, a, b", 0xffffffff, 0), 0);
    assert_int_equal(RUN("vsub.u32.u32.s32.sat d, a, b", 0xffffffff, 0x80000000), 0x7fffffff);
    assert_int_equal(RUN("vabsdiff.u32.u32.s32.sat d, a, b", 0xffffffff, 0x80000001), 0x7ffffffe);
    assert_int_equal(RUN("vadd.u32.s32.u32.sat.add d, a, b, c", 1, 0xffffffff, 5), 5);
    /* parts have an upper one alone */
    assert_int_equal(RUN("vadd.u32.s32.s32.sat d.h0, a, b, c", 0xfffffffb, 1, 0xaabbccdd),
                     0xaabbffff);
    assert_int_equal(RUN("vadd.s32.s32.s32.sat d.b1, a, b, c", 0xfffffffb, 1, 0xaabbccdd),
                     0xaabb7fdd);
    assert_int_equal(RUN("vmin.s32.s32.s32.sat d.h1, a, b, c", 5, 6, 0xaabbccdd), 0x0005ccdd);
    /* shifted numbers have both, and 34 bits */
    assert_int_equal(RUN("vshl.u32.u32.u32.sat.clamp d, a, b", 1, 32), 0xffffffff);
    assert_int_equal(RUN("vshl.u32.u32.u32.sat.clamp d, a, b", 2, 32), 0);
    assert_int_equal(RUN("vshl.u32.u32.u32.sat.wrap d, a, b", 0x12, 31), 0xffffffff);
    assert_int_equal(RUN("vshl.s32.u32.u32.sat.clamp d, a, b", 2, 32), 0x80000000);
    assert_int_equal(RUN("vshl.s32.s32.u32.sat.clamp d, a, b", 4, 32), 0);
    assert_int_equal(RUN("vshl.u32.u32.u32.sat.wrap d.b1, a, b, c", 0x12, 31, 0xaabbccdd),
                     0xaabbffdd);
    /* products that are unsigned are shifted so */
    assert_int_equal(RUN("vmad.u32.u32.u32.sat.shr7 d, a, b, c", 0xffffffff, 1, 0), 0xffffffff);
    assert_int_equal(RUN("vmad.s32.u32.u32.po.sat.shr15 d, a, b, c", 0x80000000, 1, 0), 0xffffffff);
    assert_int_equal(RUN("vmad.u32.s32.u32.shr7.sat d, a, b, c", 0xffffffff, 0x80, 0), 0xffffffff);
}

static void video_goes_on_with_64_bits(void **state)
{
    (void)state;
    /* but sums with 32, and signed */
    assert_int_equal(RUN("vadd.u32.u32.u32.min d, a, b, c", 0x80000000, 0, 0xffffffff), 0xffffffff);
    assert_int_equal(RUN("vadd.u32.u32.u32.max d, a, b, c", 0x80000000, 0, 0xffffffff), 0x80000000);
    assert_int_equal(RUN("vsub.u32.s32.u32.max d, a, b, c", 0, 1, 5), 0xffffffff);
    assert_int_equal(RUN("vabsdiff.s32.u32.s32.min d, a, b, c", 0x80000000, 0, 7), 7);
    assert_int_equal(RUN("vmax.s32.u32.s32.max d, a, b, c", 0x80000000, 0, 7), 0x80000000);
    assert_int_equal(RUN("vmin.u32.s32.u32.min d, a, b, c", 0x80000000, 0, 0xffffffff), 0xffffffff);
    assert_int_equal(RUN("vabsdiff.u32.s32.u32.sat.max d, a, b, c", 0x80000000, 0xffffffff, 7),
                     0x7fffffff);
    assert_int_equal(RUN("vshl.u32.u32.u32.clamp.min d, a, b, c", 1, 32, 7), 7);
    assert_int_equal(RUN("vshl.u32.u32.u32.clamp.max d, a, b, c", 1, 32, 7), 0);
    assert_int_equal(RUN("vshl.u32.u32.u32.sat.clamp.max d, a, b, c", 1, 32, 7), 0xffffffff);
    assert_int_equal(RUN("vshr.s32.u32.u32.clamp.max d, a, b, c", 0x80000000, 0, 7), 0x80000000);
    assert_int_equal(RUN("vset.s32.u32.lt.min d, a, b, c", 0xffffffff, 0, 0xffffffff), 0xffffffff);
    assert_int_equal(RUN("vset.u32.s32.lt.min d, a, b, c", 0, 0, 0xffffffff), 0);
}

static void simd_video_works_element_by_element(void **state)
{
    (void)state;
    assert_int_equal(RUN("vadd4.u32.u32.u32 d, a, b, c", 0x01ff7f80, 0x01017f80, 0), 0x0200fe00);
    assert_int_equal(
        RUN("vadd4.u32.u32.u32 d.b31, a.b0123, b.b7654, c", 0x01020304, 0x10203040, 0xaabbccdd),
        0x14bb32dd);
    assert_int_equal(RUN("vsub2.s32.s32.s32 d.h1, a.h32, b.h00, c", 0x00000001, 0x00050000, 7),
                     0x00040007);
    assert_int_equal(RUN("vadd2.u32.u32.u32.add d.h0, a.h01, b, c", 0x00030000, 0x00000004, 100),
                     107);
    assert_int_equal(RUN("vadd4.u32.u32.u32.sat d, a, b, c", 0x01ff7f80, 0x01017f80, 0),
                     0x02fffeff);
    assert_int_equal(RUN("vadd4.s32.s32.s32.sat d, a, b, c", 0x01ff7f80, 0x01017f80, 0),
                     0x02007f80);
    assert_int_equal(RUN("vsub2.s32.s32.s32 d, a, b, c", 0x00010005, 0x00020003, 0), 0xffff0002);
    assert_int_equal(RUN("vabsdiff4.u32.u32.u32.add d, a, b, c", 0x01020304, 0x04030201, 10), 18);
    assert_int_equal(RUN("vavrg4.u32.u32.u32 d, a, b, c", 0x01030507, 0x02040608, 0), 0x02040608);
    assert_int_equal(RUN("vmin2.s32.s32.s32 d, a, b, c", 0xffff0003, 0x00010002, 0), 0xffff0002);
    assert_int_equal(RUN("vmax4.u32.u32.u32 d, a, b, c", 0x01ff0305, 0x02fe0404, 0), 0x02ff0405);
    assert_int_equal(RUN("vset4.u32.u32.ne d, a, b, c", 0x01020304, 0x01030305, 0), 0x00010001);
    assert_int_equal(RUN("vset2.s32.s32.lt.add d, a, b, c", 0xffff0000, 0x00000001, 5), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logic_works_on_all_bits_of_the_type),
        cmocka_unit_test(lop3_looks_up_every_table),
        cmocka_unit_test(lop3_tells_whether_anything_is_left),
        cmocka_unit_test(shifts_clamp_at_the_width),
        cmocka_unit_test(funnel_shifts_clamp_or_wrap),
        cmocka_unit_test(prmt_picks_bytes),
        cmocka_unit_test(mov_packs_and_unpacks_from_the_low_end),
        cmocka_unit_test(video_selects_parts_with_their_signs),
        cmocka_unit_test(video_merges_or_goes_on),
        cmocka_unit_test(video_saturates_as_its_code_does),
        cmocka_unit_test(video_goes_on_with_64_bits),
        cmocka_unit_test(simd_video_works_element_by_element),
    };

    return cmocka_run_group_tests_name("emulator alu logic", tests, NULL, NULL);
}
