#include "codegen/builder.h"

#include "codegen/control.h"
#include "codegen/text.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>
#include <string.h>

static void write_a_kernel_with_everything(struct lt_builder *b)
{
    struct lathe_plan plan = plan_of_384_threads();
    struct lathe_tensor_map map = map_named("map_b");

    lt_remark(b, "a kernel with everything");
    lt_shared(b, 4096, 1024);
    lt_param_tensor_map(b, &map);
    lt_param(b, "m", LATHE_PARAM_M);
    lt_entry(b, "gemm", &plan);
    lt_heading(b, "setup: all warps");

    lt_value m = lt_param_load(b, "m");
    struct lt_vector acc = lt_vector(b, LT_F32, "acc", 128);

    lt_param_address(b, "map_b", "b_map");
    for (int scope = 0; scope < 20; scope++)
        LT_SCOPE (b)
            for (int i = 0; i < 20; i++) {
                lt_note(b, "turn %d", i);
                lt_op(b, "sum", "add.u32", m, lt_imm(i));
                lt_inst_open(b, "wgmma");
                lt_inst_elements(b, &acc, 0, 128);
                lt_inst_close(b, "%0;", m);
            }
}

static void adding_zero_writes_nothing_and_gives_the_value_itself(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = lt_variable(b, LT_B32, "x"), w = lt_variable(b, LT_B64, "w");
    size_t before = strlen(written(b));

    lt_value same = lt_plus(b, "sum", x, 0);

    assert_int_equal(strlen(written(b)), before);
    assert_int_equal(same.id, x.id);
    lt_plus(b, "sum", x, 24);
    lt_plus(b, "far", w, 2);
    assert_ends_with(written(b), "add.u32 %sum, %x, 24;\nadd.s64 %far, %w, 2;\n");
}

static void a_name_used_again_in_its_scope_is_the_same_register(void **state)
{
    struct lt_builder *b = *state;

    for (int i = 0; i < 3; i++) {
        lt_value x = number(b, "x", i);

        lt_op(b, "y", "add.u32", x, lt_imm(1));
    }

    char *text = finished(b);

    assert_int_equal(ptx_count(text, ".reg"), 1);
    assert_has(text, ".reg .b32  %x, %y;");
    lt_release(NULL, text);
}

static void a_value_may_be_made_of_the_one_whose_name_it_takes(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = number(b, "x", 1);

    x = lt_op(b, "x", "add.u32", x, lt_imm(1));
    x = lt_op(b, "x", "mad.lo.u32", x, x, x);

    assert_no_mistake(b);
    assert_ends_with(written(b), "add.u32 %x, %x, 1;\nmad.lo.u32 %x, %x, %x, %x;\n");
}

static void a_value_that_was_overwritten_may_not_be_used(void **state)
{
    struct lt_builder *b = *state;
    lt_value old = number(b, "x", 1);

    number(b, "x", 2);
    lt_op(b, "y", "add.u32", old, lt_imm(1));

    assert_mistake(b, "%x is used after it was overwritten");
}

static void an_overwritten_value_may_not_be_an_operand_of_a_form_either(void **state)
{
    struct lt_builder *b = *state;
    lt_value old = number(b, "x", 1);

    number(b, "x", 2);
    lt_inst(b, "st [%0];", lt_at(old, 8));

    assert_mistake(b, "%x is used after it was overwritten");
}

static void what_the_second_definition_reads_may_not_be_the_first_twice_removed(void **state)
{
    struct lt_builder *b = *state;
    lt_value first = number(b, "x", 1);

    number(b, "x", 2);
    lt_op(b, "x", "add.u32", first, lt_imm(1));

    assert_mistake(b, "%x is used after it was overwritten");
}

static void a_name_keeps_its_type_within_a_scope(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = number(b, "x", 1);

    lt_op(b, "x", "setp.eq.u32", x, lt_imm(0));

    assert_mistake(b, "%x has another type already");
}

static void a_variable_is_made_once(void **state)
{
    struct lt_builder *b = *state;

    number(b, "x", 1);
    lt_variable(b, LT_B32, "x");

    assert_mistake(b, "%x is taken already");
}

static void a_vector_is_made_once(void **state)
{
    struct lt_builder *b = *state;

    lt_variable(b, LT_B32, "acc");
    lt_vector(b, LT_F32, "acc", 8);

    assert_mistake(b, "%acc is taken already");
}

static void a_value_may_not_take_the_name_of_a_variable(void **state)
{
    struct lt_builder *b = *state;

    lt_variable(b, LT_B32, "x");
    number(b, "x", 1);

    assert_mistake(b, "%x is a variable already");
}

static void a_value_may_not_take_the_name_of_a_vector(void **state)
{
    struct lt_builder *b = *state;

    lt_vector(b, LT_B32, "rows", 4);
    number(b, "rows", 1);

    assert_mistake(b, "%rows is a variable already");
}

static void a_name_is_a_letter_then_letters_digits_and_underscores(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",    "1x",          "_x",
                                        "a-b", "a.x",         "%x",
                                        "a b", "caf\xc3\xa9", "a_name_of_thirty_two_characters_"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
        char cause[96];

        lt_variable(b, LT_B32, wrong[i]);
        snprintf(cause, sizeof cause, "'%s' cannot name a register", wrong[i]);
        assert_mistake(b, cause);
        lt_builder_destroy(&b);
    }
}

static void a_name_of_31_characters_is_one(void **state)
{
    struct lt_builder *b = *state;

    lt_variable(b, LT_B32, "A_name_of_31_characters_or_so__");

    char *text = finished(b);

    assert_has(text, ".reg .b32  %A_name_of_31_characters_or_so__;");
    lt_release(NULL, text);
}

static void more_names_than_a_kernel_can_have_are_a_mistake(void **state)
{
    struct lt_builder *b = *state;
    char name[32];

    for (int i = 0; i < 513; i++) {
        snprintf(name, sizeof name, "x%d", i);
        lt_variable(b, LT_B32, name);
    }

    assert_mistake(b, "%x512: too many names");
}

static void elements_of_a_vector_are_counted_from_zero_to_its_last(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector rows = lt_vector(b, LT_B32, "rows", 4);

    lt_inst(b, "op %0, %1;", lt_element(&rows, 0), lt_at(lt_element(&rows, 3), 16));

    assert_no_mistake(b);
    assert_ends_with(written(b), "op %rows0, %rows3+16;\n");
}

static void an_element_behind_the_last_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector rows = lt_vector(b, LT_B32, "rows", 4);

    lt_inst(b, "op %0;", lt_element(&rows, 4));

    assert_mistake(b, "%rows has no element 4");
}

static void an_element_before_the_first_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector rows = lt_vector(b, LT_B32, "rows", 4);

    lt_inst(b, "op %0;", lt_element(&rows, -1));

    assert_mistake(b, "%rows has no element -1");
}

static void a_kernel_without_an_architecture_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_ARCH_DEFAULT, true, NULL);

    lt_require(b, LT_HAS_TMA, "cp.async.bulk");

    assert_mistake(b, "a kernel needs an architecture");
    lt_builder_destroy(&b);
}

static void a_variable_is_changed_by_set_and_its_handle_stays(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = lt_variable(b, LT_B32, "x");

    lt_set(b, x, "mov.u32", lt_imm(0));
    lt_set(b, x, "add.u32", x, lt_imm(1));
    lt_op(b, "y", "add.u32", x, lt_imm(2));

    assert_no_mistake(b);
    assert_ends_with(written(b), "mov.u32 %x, 0;\nadd.u32 %x, %x, 1;\nadd.u32 %y, %x, 2;\n");
}

static void an_element_of_a_vector_is_changed_by_set_too(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector rows = lt_vector(b, LT_B32, "rows", 4);

    lt_set(b, lt_element(&rows, 2), "mov.u32", lt_imm(9));

    assert_ends_with(written(b), "mov.u32 %rows2, 9;\n");
}

static void set_takes_a_register_of_the_results_type(void **state)
{
    struct lt_builder *b = *state;

    lt_set(b, lt_variable(b, LT_B64, "x"), "mov.u32", lt_imm(0));

    assert_mistake(b, "mov.u32: the variable has another type");
}

static void set_does_not_take_an_immediate(void **state)
{
    struct lt_builder *b = *state;

    lt_set(b, lt_imm(3), "mov.u32", lt_imm(0));

    assert_mistake(b, "mov.u32: what is set is no register");
}

/* What lt_op() has defined is a value: its other handles would go on as if nothing had happened. */
static void set_does_not_take_what_was_not_made_to_change(void **state)
{
    struct lt_builder *b = *state;
    lt_value x = number(b, "x", 1);

    lt_set(b, x, "mov.u32", lt_imm(2));

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void the_first_mistake_is_the_one_reported(void **state)
{
    struct lt_builder *b = *state;

    lt_mistake(b, "the %s cause", "first");
    lt_mistake(b, "a later one");
    lt_op(b, "x", "no.such.opcode", lt_imm(1));
    lt_scope_open(b, NULL);

    assert_mistake(b, "the first cause");
}

static void after_a_mistake_any_call_is_harmless(void **state)
{
    struct lt_builder *b = *state;
    lt_value nothing = lt_op(b, "x", "no.such.opcode", lt_imm(1));
    struct lt_vector none = lt_vector(b, LT_B32, "", 4);

    assert_int_equal(nothing.kind, LT_NOTHING);
    lt_set(b, nothing, "add.u32", nothing, nothing);
    lt_inst(b, "op %0, %1;", nothing, lt_element(&none, 2));
    lt_inst_elements(b, &none, 0, 4);
    lt_guard(b, nothing);
    lt_branch(b, "$nowhere", nothing);
    lt_unguard(b);
    for (int i = 0; i < 40; i++)
        lt_scope_open(b, "role");
    for (int i = 0; i < 80; i++)
        lt_scope_close(b);
    lt_variable(b, LT_B32, "y");

    assert_mistake(b, "no.such.opcode is not in scalar.def");
}

static void a_failed_finish_leaves_what_the_caller_had(void **state)
{
    struct lt_builder *b = *state;
    struct lathe_contract contract;
    struct lathe_error err = {0};
    char mine = 'x', *text = &mine;
    size_t length = 77;

    memset(&contract, 0x5a, sizeof contract);
    lt_mistake(b, "a cause");

    assert_int_equal(lt_builder_finish(b, &text, &length, &contract, &err), LATHE_INTERNAL);
    assert_ptr_equal(text, &mine);
    assert_int_equal(length, 77);
    assert_int_equal(contract.param_count, 0x5a5a5a5a);
}

static void destroying_nothing_is_allowed(void **state)
{
    (void)state;
    struct lt_builder *b = NULL;

    lt_builder_destroy(&b);
    b = kernel_for(LATHE_SM_90A, true, NULL);
    lt_builder_destroy(&b);
    assert_null(b);
    lt_builder_destroy(&b);
}

static void what_the_target_lacks_is_refused_with_who_has_it(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_80, true, NULL);

    lt_require(b, LT_HAS_MBARRIER, "mbarrier");
    assert_no_mistake(b);
    lt_require(b, LT_HAS_WGMMA, "wgmma");

    assert_mistake(b, "wgmma needs sm_90a; this kernel is for sm_80");
    lt_builder_destroy(&b);
}

static void a_feature_of_several_targets_names_them_all(void **state)
{
    struct lt_builder *b = *state;

    lt_require(b, LT_HAS_TCGEN05, "tcgen05.mma");

    assert_mistake(b, "tcgen05.mma needs sm_100a, sm_103a or sm_110a; this kernel is for sm_90a");
}

static void every_allocation_may_fail_and_leaves_one_error_and_no_block(void **state)
{
    (void)state;
    enum lathe_status status = LATHE_OUT_OF_MEMORY;
    long n = 0;

    for (; status != LATHE_OK; n++) {
        struct fail_allocator fail;
        struct lathe_error err = {0};
        struct lathe_contract contract;
        char *text = NULL;
        size_t length = 0;

        fail_allocator_init(&fail, n);

        struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, &fail.allocator);

        if (!b) {
            assert_int_equal(n, 0);
            assert_int_equal(fail.live, 0);
            continue;
        }
        write_a_kernel_with_everything(b);
        status = lt_builder_finish(b, &text, &length, &contract, &err);
        if (status != LATHE_OK) {
            assert_int_equal(status, LATHE_OUT_OF_MEMORY);
            assert_int_equal(err.status, LATHE_OUT_OF_MEMORY);
            assert_has(err.message, "memory");
            assert_null(text);
        }
        lt_release(&fail.allocator, text);
        lt_builder_destroy(&b);
        assert_int_equal(fail.live, 0);
        assert_true(n < 1000);
    }
    assert_true(n > 5); /* so many calls there are, and each of them failed once */
}

static void memory_that_comes_back_does_not_mend_a_text_with_a_gap(void **state)
{
    (void)state;

    for (long n = 1;; n++) {
        struct fail_allocator fail;
        struct lathe_contract contract;
        char *text = NULL;
        size_t length = 0;

        fail_allocator_init(&fail, n);
        fail.recovers = true;

        struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, &fail.allocator);

        write_a_kernel_with_everything(b);

        enum lathe_status status = lt_builder_finish(b, &text, &length, &contract, NULL);

        lt_release(&fail.allocator, text);
        lt_builder_destroy(&b);
        assert_int_equal(fail.live, 0);
        if (fail.calls <= n) {
            assert_int_equal(status, LATHE_OK);
            break;
        }
        assert_int_equal(status, LATHE_OUT_OF_MEMORY);
    }
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(adding_zero_writes_nothing_and_gives_the_value_itself),
        in_kernel(a_name_used_again_in_its_scope_is_the_same_register),
        in_kernel(a_value_may_be_made_of_the_one_whose_name_it_takes),
        in_kernel(a_value_that_was_overwritten_may_not_be_used),
        in_kernel(an_overwritten_value_may_not_be_an_operand_of_a_form_either),
        in_kernel(what_the_second_definition_reads_may_not_be_the_first_twice_removed),
        in_kernel(a_name_keeps_its_type_within_a_scope),
        in_kernel(a_variable_is_made_once),
        in_kernel(a_vector_is_made_once),
        in_kernel(a_value_may_not_take_the_name_of_a_variable),
        in_kernel(a_value_may_not_take_the_name_of_a_vector),
        cmocka_unit_test(a_name_is_a_letter_then_letters_digits_and_underscores),
        in_kernel(a_name_of_31_characters_is_one),
        in_kernel(more_names_than_a_kernel_can_have_are_a_mistake),
        in_kernel(elements_of_a_vector_are_counted_from_zero_to_its_last),
        in_kernel(an_element_behind_the_last_is_a_mistake),
        in_kernel(an_element_before_the_first_is_a_mistake),
        cmocka_unit_test(a_kernel_without_an_architecture_is_a_mistake),
        in_kernel(a_variable_is_changed_by_set_and_its_handle_stays),
        in_kernel(an_element_of_a_vector_is_changed_by_set_too),
        in_kernel(set_takes_a_register_of_the_results_type),
        in_kernel(set_does_not_take_an_immediate),
        in_kernel(set_does_not_take_what_was_not_made_to_change),
        in_kernel(the_first_mistake_is_the_one_reported),
        in_kernel(after_a_mistake_any_call_is_harmless),
        in_kernel(a_failed_finish_leaves_what_the_caller_had),
        cmocka_unit_test(destroying_nothing_is_allowed),
        cmocka_unit_test(what_the_target_lacks_is_refused_with_who_has_it),
        in_kernel(a_feature_of_several_targets_names_them_all),
        cmocka_unit_test(every_allocation_may_fail_and_leaves_one_error_and_no_block),
        cmocka_unit_test(memory_that_comes_back_does_not_mend_a_text_with_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
