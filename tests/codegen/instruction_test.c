#include "codegen/builder.h"

#include "codegen/text.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <string.h>

static void immediates_are_written_as_they_were_meant(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = lt_variable(b, LT_B32, "x");
    lt_value f = lt_variable(b, LT_F32, "f");

    lt_inst(b, "a %0, %1;", x, lt_imm(-5));
    lt_inst(b, "b %0, %1;", x, lt_hex(0x3ffff));
    lt_inst(b, "c %0, %1;", f, lt_float(-1.5f));
    lt_inst(b, "d %0, %1;", x, lt_special("%ctaid.x"));
    lt_inst(b, "e %0, %1;", x, lt_hex(0x4000004000010000));

    assert_no_mistake(b);
    assert_ends_with(written(b), "a %x, -5;\n"
                                 "b %x, 0x3ffff;\n"
                                 "c %f, 0fBFC00000;\n"
                                 "d %x, %ctaid.x;\n"
                                 "e %x, 0x4000004000010000;\n");
}

static void offsets_of_addresses_add_up_and_vanish_at_zero(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = lt_variable(b, LT_B32, "x");

    lt_inst(b, "ld [%0], [%1], [%2], [%3];", lt_at(x, 8), lt_at(lt_at(x, 8), 8), lt_at(x, -4),
            lt_at(lt_at(x, 8), -8));

    assert_ends_with(written(b), "ld [%x+8], [%x+16], [%x-4], [%x];\n");
}

static void operands_may_stand_in_any_order_and_more_than_once(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = lt_variable(b, LT_B32, "x"), y = lt_variable(b, LT_B32, "y");

    lt_inst(b, "op {%1, %0}, [%1], 100%;", x, y);

    assert_no_mistake(b);
    assert_ends_with(written(b), "op {%y, %x}, [%y], 100%;\n");
}

static void a_form_that_lacks_an_operand_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_inst(b, "op %0, %1;", lt_variable(b, LT_B32, "x"));

    assert_mistake(b, "'op %0, %1;' lacks operand 1");
}

static void nothing_is_no_operand(void **state)
{
    struct lt_builder *b = *state;

    lt_inst(b, "op %0;", (lt_value){0});

    assert_mistake(b, "an operand is missing");
}

static void instructions_under_a_guard_are_predicated(void **state)
{
    struct lt_builder *b = *state;
    lt_value p = lt_op(b, "p", "setp.eq.u32", lt_special("%tid.x"), lt_imm(0));
    lt_value x = lt_variable(b, LT_B32, "x");

    lt_guard(b, p);
    lt_set(b, x, "mov.u32", lt_imm(1));
    lt_raw(b, "trap;");
    lt_unguard(b);
    lt_guard(b, lt_not(p));
    lt_set(b, x, "mov.u32", lt_imm(2));
    lt_unguard(b);
    lt_set(b, x, "mov.u32", lt_imm(3));

    assert_no_mistake(b);
    assert_ends_with(written(b), "@%p mov.u32 %x, 1;\n"
                                 "@%p trap;\n"
                                 "@!%p mov.u32 %x, 2;\n"
                                 "mov.u32 %x, 3;\n");
}

static void negating_twice_is_the_predicate_itself(void **state)
{
    struct lt_builder *b = *state;
    lt_value p = lt_variable(b, LT_PRED, "p");

    lt_guard(b, lt_not(lt_not(p)));
    lt_raw(b, "trap;");

    assert_ends_with(written(b), "@%p trap;\n");
}

static void a_guard_within_a_guard_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;
    lt_value p = lt_variable(b, LT_PRED, "p"), q = lt_variable(b, LT_PRED, "q");

    lt_guard(b, p);
    lt_guard(b, q);

    assert_mistake(b, "a guard is open already");
}

static void only_a_predicate_guards(void **state)
{
    struct lt_builder *b = *state;

    lt_guard(b, lt_variable(b, LT_B32, "x"));
    lt_raw(b, "trap;");

    assert_mistake(b, "a guard is no predicate");
}

static void a_guard_may_not_be_a_predicate_that_was_overwritten(void **state)
{
    struct lt_builder *b = *state;
    lt_value old = lt_op(b, "p", "setp.eq.u32", lt_imm(0), lt_imm(0));

    lt_op(b, "p", "setp.eq.u32", lt_imm(1), lt_imm(0));
    lt_guard(b, old);
    lt_raw(b, "trap;");

    assert_mistake(b, "%p is used after it was overwritten");
}

static void a_guard_left_open_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_guard(b, lt_variable(b, LT_PRED, "p"));
    lt_raw(b, "trap;");

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

/* A wait is a loop: predicating its instruction alone would turn it for ever. */
static void a_branch_under_a_guard_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_guard(b, lt_variable(b, LT_PRED, "p"));
    lt_branch(b, "$away", (lt_value){0});

    assert_mistake(b, "a branch to $away stands under a guard");
}

static void comments_headings_and_notes_stand_at_their_places(void **state)
{
    struct lt_builder *b = *state;

    lt_heading(b, "setup: %s", "all warps");
    lt_comment(b, "the first of %d", 2);
    lt_note(b, "why %d", 7);
    number(b, "x", 7);
    number(b, "y", 8);

    assert_has(written(b), "\n\n    // ---- setup: all warps ----\n"
                           "    // the first of 2\n"
                           "    mov.u32 %x, 7;  // why 7\n"
                           "    mov.u32 %y, 8;\n");
}

static void a_remark_stands_at_the_left_edge(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);

    lt_remark(b, "D = %s", "A * B");
    lt_remark(b, "%s", "");

    assert_has(written(b), "// D = A * B\n");
    lt_builder_destroy(&b);
}

static void without_annotation_there_is_no_comment(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, false, NULL);

    lt_remark(b, "a remark");
    lt_heading(b, "a heading");
    lt_comment(b, "a comment");
    lt_note(b, "a note");
    number(b, "x", 7);

    char *text = finished(b);

    assert_string_equal(text, ".version 8.0\n"
                              ".target sm_90a\n"
                              ".address_size 64\n"
                              ".visible .entry kernel(\n"
                              ") .maxntid 128, 1, 1 .minnctapersm 1\n"
                              "{\n"
                              "    .reg .b32  %x;\n"
                              "    mov.u32 %x, 7;\n"
                              "}\n");
    lt_release(NULL, text);
    lt_builder_destroy(&b);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(immediates_are_written_as_they_were_meant),
        in_kernel(offsets_of_addresses_add_up_and_vanish_at_zero),
        in_kernel(operands_may_stand_in_any_order_and_more_than_once),
        in_kernel(a_form_that_lacks_an_operand_is_a_mistake),
        in_kernel(nothing_is_no_operand),
        in_kernel(instructions_under_a_guard_are_predicated),
        in_kernel(negating_twice_is_the_predicate_itself),
        in_kernel(a_guard_within_a_guard_is_a_mistake),
        in_kernel(only_a_predicate_guards),
        in_kernel(a_guard_may_not_be_a_predicate_that_was_overwritten),
        in_kernel(a_guard_left_open_is_a_mistake),
        in_kernel(a_branch_under_a_guard_is_a_mistake),
        in_kernel(comments_headings_and_notes_stand_at_their_places),
        cmocka_unit_test(a_remark_stands_at_the_left_edge),
        cmocka_unit_test(without_annotation_there_is_no_comment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
