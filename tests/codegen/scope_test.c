#include "codegen/builder.h"

#include "codegen/text.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>
#include <string.h>

static void a_value_is_declared_in_its_scope_under_its_name(void **state)
{
    struct lt_builder *b = *state;

    lt_value base = number(b, "base", 7);
    lt_variable(b, LT_PRED, "done");
    lt_vector(b, LT_F32, "acc", 64);
    lt_scope_open(b, NULL);
    lt_op(b, "wide", "cvt.u64.u32", base);
    lt_scope_close(b);

    char *text = finished(b);

    assert_ends_with(text, "{\n"
                           ".reg .pred %done;\n"
                           ".reg .b32  %base;\n"
                           ".reg .f32  %acc<64>;\n"
                           "mov.u32 %base, 7;\n"
                           "{\n"
                           ".reg .b64  %wide;\n"
                           "cvt.u64.u32 %wide, %base;\n"
                           "}\n"
                           "}\n");
    lt_release(NULL, text);
}

static void scopes_indent_what_stands_in_them(void **state)
{
    struct lt_builder *b = *state;

    lt_scope_open(b, NULL);
    number(b, "x", 1);
    lt_scope_close(b);
    number(b, "y", 2);

    char *text = finished(b);

    assert_has(text, "\n    {\n        .reg .b32  %x;\n        mov.u32 %x, 1;\n    }\n"
                     "    mov.u32 %y, 2;\n}\n");
    lt_release(NULL, text);
}

static void declarations_are_folded_at_a_hundred_columns(void **state)
{
    struct lt_builder *b = *state;
    size_t declared = 0;

    for (int i = 0; i < 60; i++) {
        char name[32];

        snprintf(name, sizeof name, "a_rather_long_name_%c%c", 'a' + i / 26, 'a' + i % 26);
        number(b, name, i);
    }

    char *text = finished(b);
    struct ptx_lines lines = ptx_lines_of(text);

    for (size_t i = 0; i < lines.count; i++)
        if (strstr(lines.line[i], ".reg ")) {
            assert_true(strlen(lines.line[i]) <= 100);
            declared += ptx_count(lines.line[i], "%a_rather_long_name_");
        }
    assert_int_equal(declared, 60);
    ptx_lines_free(&lines);
    lt_release(NULL, text);
}

static void an_inner_scope_may_not_take_an_outer_name(void **state)
{
    struct lt_builder *b = *state;

    number(b, "x", 1);
    lt_scope_open(b, NULL);
    number(b, "x", 2);

    assert_mistake(b, "%x is a name of an outer scope already");
}

static void scopes_side_by_side_may_use_a_name_for_different_things(void **state)
{
    struct lt_builder *b = *state;

    for (int i = 0; i < 2; i++) {
        lt_scope_open(b, NULL);
        lt_variable(b, i == 0 ? LT_B32 : LT_PRED, "x");
        lt_scope_close(b);
    }
    number(b, "x", 3);

    char *text = finished(b);

    assert_int_equal(ptx_count(text, ".reg .b32  %x;"), 2);
    assert_int_equal(ptx_count(text, ".reg .pred %x;"), 1);
    lt_release(NULL, text);
}

static void closed_scopes_give_their_names_back(void **state)
{
    struct lt_builder *b = *state;
    char name[32];

    for (int i = 0; i < 2000; i++) {
        lt_scope_open(b, NULL);
        snprintf(name, sizeof name, "x%d", i);
        number(b, name, i);
        lt_scope_close(b);
    }

    assert_no_mistake(b);
}

static void a_value_may_not_be_used_after_its_scope(void **state)
{
    struct lt_builder *b = *state;

    lt_scope_open(b, NULL);
    lt_value inner = number(b, "x", 1);
    lt_scope_close(b);
    lt_op(b, "y", "add.u32", inner, lt_imm(1));

    assert_mistake(b, "a value is used after its scope was closed");
}

static void a_value_may_not_stand_for_a_later_register_in_the_same_place(void **state)
{
    struct lt_builder *b = *state;

    lt_scope_open(b, NULL);
    lt_value inner = number(b, "x", 1);
    lt_scope_close(b);
    number(b, "z", 5); /* lives where x lived */
    lt_op(b, "y", "add.u32", inner, lt_imm(1));

    assert_mistake(b, "%z is used after it was overwritten");
}

static void a_scope_left_open_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_scope_open(b, NULL);

    assert_mistake(b, "a scope was left open");
}

static void scopes_have_a_greatest_depth(void **state)
{
    struct lt_builder *b = *state;

    while (lt_scope_depth(b) < 12)
        lt_scope_open(b, NULL);
    lt_scope_open(b, NULL);

    assert_mistake(b, "scopes are nested too deep");
}

static void a_scope_closed_once_too_often_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_scope_close(b);
    lt_scope_close(b);

    assert_mistake(b, "a scope is closed that was never opened");
}

static void labels_carry_the_name_of_their_role(void **state)
{
    struct lt_builder *b = *state;
    char outside[LT_LABEL_SIZE], inside[LT_LABEL_SIZE], deeper[LT_LABEL_SIZE];

    lt_label_name(b, outside, "loop");
    lt_scope_open(b, "producer");
    lt_label_name(b, inside, "loop");
    lt_scope_open(b, NULL);
    lt_label_name(b, deeper, "loop");

    assert_no_mistake(b);
    assert_string_equal(outside, "$loop");
    assert_string_equal(inside, "$producer_loop");
    assert_string_equal(deeper, "$producer_loop");
}

static void a_label_is_named_once_a_scope(void **state)
{
    struct lt_builder *b = *state;
    char label[LT_LABEL_SIZE];

    lt_label_name(b, label, "loop");
    lt_label_name(b, label, "loop");

    assert_mistake(b, "label $loop is there already");
}

static void labels_stand_left_of_what_they_label(void **state)
{
    struct lt_builder *b = *state;

    lt_label(b, "$outer");
    lt_scope_open(b, NULL);
    lt_label(b, "$inner");
    lt_branch(b, "$outer", lt_not(lt_variable(b, LT_PRED, "p")));

    assert_has(written(b), "\n$outer:\n    {\n    $inner:\n        @!%p bra $outer;\n");
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(a_value_is_declared_in_its_scope_under_its_name),
        in_kernel(scopes_indent_what_stands_in_them),
        in_kernel(declarations_are_folded_at_a_hundred_columns),
        in_kernel(an_inner_scope_may_not_take_an_outer_name),
        in_kernel(scopes_side_by_side_may_use_a_name_for_different_things),
        in_kernel(closed_scopes_give_their_names_back),
        in_kernel(a_value_may_not_be_used_after_its_scope),
        in_kernel(a_value_may_not_stand_for_a_later_register_in_the_same_place),
        in_kernel(a_scope_left_open_is_a_mistake),
        in_kernel(scopes_have_a_greatest_depth),
        in_kernel(a_scope_closed_once_too_often_is_a_mistake),
        in_kernel(labels_carry_the_name_of_their_role),
        in_kernel(a_label_is_named_once_a_scope),
        in_kernel(labels_stand_left_of_what_they_label),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
