/* Decoding: what is an instruction of the ALU, what is none, and what is said of wrong ones. */
#include "emulator/alu_form.h"

#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

static void what_others_know_is_not_refused(void **state)
{
    struct emu_alu op;
    struct emu_error error = {.line = 0};

    (void)state;
    assert_int_equal(fixture_decode(&op, "ld.global.u32 d, a", 90, &error), EMU_NOT_MINE);
    assert_int_equal(fixture_decode(&op, "bar.sync 0", 90, &error), EMU_NOT_MINE);
    assert_int_equal(fixture_decode(&op, "setmaxnreg.inc.sync.aligned.u32 40", 90, &error),
                     EMU_NOT_MINE);
    assert_string_equal(error.message, "");
}

static void assert_refused(const char *text, int target, const char *message)
{
    struct emu_alu op;
    struct emu_error error = {.line = 0};

    assert_int_equal(fixture_decode(&op, text, target, &error), EMU_REFUSED);
    assert_int_equal(error.line, 7);
    assert_non_null(strstr(error.message, message));
}

static void forms_that_do_not_exist_are_refused_with_their_words(void **state)
{
    static const char *const texts[] = {
        "add.b32 d, a, b",
        "add.sat.u32 d, a, b",
        "add d, a, b",
        "add.u32.u32 d, a, b",
        "add.ftz.ftz.f32 d, a, b",
        "mul.u32 d, a, b",
        "mul.wide.u64 d, a, b",
        "div.f32 d, a, b",
        "fma.f32 d, a, b, c",
        "fma.rn.relu.f32 d, a, b, c",
        "min.abs.f32 d, a, b",
        "setp.lo.s32 p, a, b",
        "setp.lt.b32 p, a, b",
        "cvt.s32.f32 d, a",
        "cvt.f32.s32 d, a",
        "cvt.sat.u32.u16 d, a",
        "cvt.rn.satfinite.sat.f16.f32 d, a",
        "cvt.rn.e4m3x2.f32 d, a, b",
        "shfl.up.b32 d, a, b, c",
        "shf.l.b32 d, a, b, c",
        "lop3.xor.b32 d|p, a, b, c, 5, q",
        "ex2.approx.ftz.f16x2 d, a",
        "ex2.approx.bf16 d, a",
        "vadd4.u32.u32.u32.sat.add d, a, b, c",
        "mov.b128 d, a",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char opcode[FIXTURE_TEXT];

        strcpy(opcode, texts[i]);
        opcode[strcspn(opcode, " ")] = '\0';
        assert_refused(texts[i], 100, opcode);
    }
}

static void operands_that_do_not_suit_are_refused(void **state)
{
    static const char *const texts[] = {
        "add.u32 d, a",
        "add.u32 d, a, b, c",
        "add.u32 5, a, b",
        "add.u32 d, !a, b",
        "add.u32 d, -a, b",
        "add.u32 d, a, _",
        "add.u32 d|p, a, b",
        "add.u32 {d, e}, a, b",
        "add.u32 d, a.b1, b",
        "setp.eq.u32 p, a, b, q",
        "setp.eq.and.u32 p, a, b",
        "lop3.b32 d, a, b, c, e",
        "elect.sync d, m",
        "mov.b64 {a, b, c}, d",
        "mov.b64 d, {a, _}",
        "vadd.u32.u32.u32 d.b0, a, b",
        "vadd.u32.u32.u32 d, a.b4, b",
        "vadd.u32.u32.u32 d.h2, a, b, c",
        "vmad.u32.u32.u32 d, a, b, c.b0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_refused(texts[i], 100, "operands");
}

static void what_the_target_lacks_is_refused(void **state)
{
    (void)state;
    assert_refused("add.rn.f32x2 d, a, b", 90, "needs sm_100");
    assert_refused("add.bf16 d, a, b", 80, "needs sm_90");
    assert_refused("cvt.rn.satfinite.e4m3x2.f32 d, a, b", 80, "needs sm_89");
    assert_refused("min.f32 d, a, b, c", 90, "needs sm_100");
    assert_refused("redux.sync.min.f32 d, a, m", 90, "needs sm_100");
    assert_refused("cvt.rn.satfinite.tf32.f32 d, a", 90, "needs sm_100");
}

static void modifiers_come_in_any_order_and_types_in_theirs(void **state)
{
    struct emu_alu op = fixture_op("add.ftz.rz.f32 d, a, b");

    (void)state;
    assert_true(op.flush);
    assert_int_equal(op.rounding, EMU_TO_ZERO);
    op = fixture_op("min.s16x2.relu d, a, b");
    assert_true(op.relu);
    op = fixture_op("cvt.rn.f32.s64 d, a");
    assert_int_equal(op.type, EMU_F32);
    assert_int_equal(op.from, EMU_S64);
    op = fixture_op("set.lt.f32.u16 d, a, b");
    assert_int_equal(op.type, EMU_F32);
    assert_int_equal(op.from, EMU_U16);
    assert_refused("set.lt.u16.f32 d, a, b", 100, "set.lt.u16.f32");
}

static void operands_have_types_for_immediates(void **state)
{
    struct emu_alu op = fixture_op("mad.wide.s16 d, a, 3, c");

    (void)state;
    assert_int_equal(op.result_count, 1);
    assert_int_equal(op.source_count, 3);
    assert_int_equal(op.result_types[0], EMU_S32);
    assert_int_equal(op.source_types[1], EMU_S16);
    assert_int_equal(op.source_types[2], EMU_S32);
    op = fixture_op("shl.b64 d, a, 3");
    assert_int_equal(op.source_types[1], EMU_U32);
    op = fixture_op("cvt.rs.satfinite.e4m3x4.f32 d, {a, b, c, e}, r");
    assert_int_equal(op.source_count, 5);
    assert_int_equal(op.source_types[3], EMU_F32);
    assert_int_equal(op.source_types[4], EMU_B32);
}

static void pairs_negations_and_sinks_are_told(void **state)
{
    struct emu_alu op = fixture_op("setp.lt.and.s32 p|q, a, b, !r");

    (void)state;
    assert_int_equal(op.result_count, 2);
    assert_int_equal(op.source_count, 3);
    assert_int_equal(op.negated, 4);
    op = fixture_op("setp.lt.s32 p, a, b");
    assert_int_equal(op.result_count, 1);
    assert_int_equal(op.negated, 0);
    op = fixture_op("elect.sync _|p, 0xffffffff");
    assert_int_equal(op.result_count, 2);
    op = fixture_op("mov.b32 {_, h}, a");
    assert_int_equal(op.result_count, 2);
}

static void the_condition_code_is_one_more_operand(void **state)
{
    struct emu_alu op = fixture_op("add.cc.u32 d, a, b");

    (void)state;
    assert_true(op.carry_out && !op.carry_in);
    assert_int_equal(op.result_count, 2);
    assert_int_equal(op.source_count, 2);
    op = fixture_op("madc.hi.cc.u64 d, a, b, c");
    assert_true(op.carry_out && op.carry_in);
    assert_int_equal(op.result_count, 2);
    assert_int_equal(op.source_count, 4);
    op = fixture_op("subc.s32 d, a, b");
    assert_true(!op.carry_out && op.carry_in);
    assert_int_equal(op.source_count, 3);
    op = fixture_op("add.u32 d, a, b");
    assert_true(!op.carry_out && !op.carry_in);
}

static void lanes_outside_of_the_mask_stay(void **state)
{
    struct emu_alu op = fixture_op("add.u32 d, a, b");
    emu_lanes a, b, d;
    const uint64_t *sources[] = {a, b};
    uint64_t *results[] = {d};
    const char *why = NULL;

    (void)state;
    for (int i = 0; i < EMU_LANES; i++) {
        a[i] = UINT64_C(0xabcd00000000) + (uint64_t)i; /* what is above the width is ignored */
        b[i] = 100;
        d[i] = 7;
    }
    assert_true(op.execute(&op, results, sources, 0x80000001, &why));
    assert_int_equal(d[0], 100);
    assert_int_equal(d[31], 131);
    for (int i = 1; i < 31; i++)
        assert_int_equal(d[i], 7);
}

/* ---- The tables: no word that nobody knows, no letter that means nothing ---- */

static const struct emu_chapter *const chapters[] = {
    &emu_integer_chapter, &emu_carry_chapter,   &emu_float_chapter, &emu_approximate_chapter,
    &emu_half_chapter,    &emu_compare_chapter, &emu_logic_chapter, &emu_move_chapter,
    &emu_convert_chapter, &emu_pack_chapter,    &emu_dot_chapter,   &emu_video_chapter,
    &emu_warp_chapter,
};

/* The alternative of that number in each group; groups that have fewer give their last. False
 * once no group has as many. */
static bool write_words(char *text, const struct emu_form *form, int number)
{
    char copy[512], *rest = NULL;
    bool any = false;

    strcpy(text, form->opcode);
    strcpy(copy, form->modifiers);
    for (char *group = strtok_r(copy, " ", &rest); group; group = strtok_r(NULL, " ", &rest)) {
        char *inner = NULL, *chosen = NULL;
        int i = 0;

        char members[256];

        if (*group == '@')
            strcpy(members, strcmp(group, "@unsigned") == 0 ? "eq/lo/ls/hi/hs" : "eq/ne");
        else
            strcpy(members, group);
        for (char *word = strtok_r(members, "/?", &inner); word && i <= number;
             word = strtok_r(NULL, "/?", &inner), i++)
            chosen = word;
        any = any || i > number;
        strcat(strcat(text, "."), chosen);
    }
    return any;
}

static void write_operands(char *text, const struct emu_form *form)
{
    bool combines = strstr(text, ".and") || strstr(text, ".or") || strstr(text, ".xor");
    const char *separator = " ";

    for (const char *letter = form->operands; *letter != '\0'; letter++) {
        if (*letter == '?' || *letter == '=' || *letter == 'c' || (*letter == 'B' && !combines))
            continue;
        if (*letter == '|') {
            separator = "|";
        } else if (*letter == '}') {
            strcat(text, "}");
            separator = ", ";
        } else if (*letter == '{') {
            strcat(strcat(text, separator), "{");
            separator = "";
        } else {
            strcat(strcat(text, separator), *letter == 'i' ? "5" : "r");
            separator = ", ";
        }
    }
}

static void every_line_of_the_tables_decodes(void **state)
{
    int forms = 0;

    (void)state;
    for (size_t c = 0; c < sizeof chapters / sizeof *chapters; c++) {
        for (int i = 0; i < chapters[c]->count; i++) {
            char text[FIXTURE_TEXT];

            for (int number = 0; write_words(text, &chapters[c]->forms[i], number); number++) {
                write_operands(text, &chapters[c]->forms[i]);

                struct emu_alu op = fixture_op(text);

                assert_non_null(op.execute);
                for (int r = 0; r < op.result_count; r++)
                    assert_int_not_equal(op.result_types[r], EMU_TYPE_NONE);
                for (int s = 0; s < op.source_count; s++)
                    assert_int_not_equal(op.source_types[s], EMU_TYPE_NONE);
                forms++;
            }
        }
    }
    assert_true(forms > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_know_is_not_refused),
        cmocka_unit_test(forms_that_do_not_exist_are_refused_with_their_words),
        cmocka_unit_test(operands_that_do_not_suit_are_refused),
        cmocka_unit_test(what_the_target_lacks_is_refused),
        cmocka_unit_test(modifiers_come_in_any_order_and_types_in_theirs),
        cmocka_unit_test(operands_have_types_for_immediates),
        cmocka_unit_test(pairs_negations_and_sinks_are_told),
        cmocka_unit_test(the_condition_code_is_one_more_operand),
        cmocka_unit_test(lanes_outside_of_the_mask_stay),
        cmocka_unit_test(every_line_of_the_tables_decodes),
    };

    return cmocka_run_group_tests_name("emulator alu forms", tests, NULL, NULL);
}
