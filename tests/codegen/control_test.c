#include "codegen/control.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <string.h>

static lt_value predicate(struct lt_builder *b, const char *name)
{
    return lt_variable(b, LT_PRED, name);
}

static void when_predicates_each_instruction_of_its_body(void **state)
{
    struct lt_builder *b = *state;
    lt_value p = predicate(b, "p");
    int runs = 0;

    LT_WHEN (b, p) {
        lt_raw(b, "one;");
        lt_raw(b, "two;");
        runs++;
    }
    lt_raw(b, "three;");

    assert_int_equal(runs, 1);
    assert_no_mistake(b);
    assert_ends_with(written(b), "@%p one;\n@%p two;\nthree;\n");
}

static void if_branches_around_its_body(void **state)
{
    struct lt_builder *b = *state;

    LT_IF (b, "skipped", predicate(b, "p"))
        lt_raw(b, "one;");
    lt_raw(b, "two;");

    assert_no_mistake(b);
    assert_ends_with(written(b), "@!%p bra $skipped;\none;\n$skipped:\ntwo;\n");
}

static void a_scope_is_a_pair_of_braces(void **state)
{
    struct lt_builder *b = *state;

    LT_SCOPE (b)
        lt_raw(b, "one;");
    lt_raw(b, "two;");

    assert_no_mistake(b);
    assert_ends_with(written(b), "{\none;\n}\ntwo;\n");
}

static void for_tests_before_each_turn_and_steps_after_it(void **state)
{
    struct lt_builder *b = *state;
    lt_value first = lt_variable(b, LT_B32, "first"), end = lt_variable(b, LT_B32, "end");
    lt_value step = lt_variable(b, LT_B32, "step");
    int runs = 0;

    LT_FOR (b, tile, first, end, step) {
        lt_inst(b, "use %0;", tile.index);
        runs++;
    }

    assert_int_equal(runs, 1);
    assert_no_mistake(b);
    assert_ends_with(written(b), "mov.u32 %tile, %first;\n"
                                 "$tile:\n"
                                 "setp.ge.u32 %tile_done, %tile, %end;\n"
                                 "@%tile_done bra $tile_end;\n"
                                 "use %tile;\n"
                                 "add.u32 %tile, %tile, %step;\n"
                                 "bra $tile;\n"
                                 "$tile_end:\n");
}

static void repeat_counts_from_zero_and_tests_at_its_end(void **state)
{
    struct lt_builder *b = *state;
    lt_value count = lt_variable(b, LT_B32, "count");

    LT_REPEAT (b, k_block, count)
        lt_inst(b, "use %0;", k_block.index);

    assert_no_mistake(b);
    assert_ends_with(written(b), "mov.u32 %k_block, 0;\n"
                                 "$k_block:\n"
                                 "use %k_block;\n"
                                 "add.u32 %k_block, %k_block, 1;\n"
                                 "setp.lt.u32 %k_block_more, %k_block, %count;\n"
                                 "@%k_block_more bra $k_block;\n");
}

static void what_keeps_a_loop_rolled_stands_in_its_first_block(void **state)
{
    struct lt_builder *b = *state;

    LT_REPEAT (b, round, lt_imm(3)) {
        lt_keep_rolled(b);
        lt_raw(b, "one;");
    }

    assert_no_mistake(b);
    assert_has(written(b), "$round:\n    .pragma \"nounroll\";");
}

static void a_loop_turns_until_it_is_left(void **state)
{
    struct lt_builder *b = *state;

    LT_LOOP (b, turn) {
        lt_raw(b, "first;");
        lt_loop_leave(b, &turn, lt_variable(b, LT_PRED, "done"));
        lt_raw(b, "second;");
    }

    assert_no_mistake(b);
    assert_ends_with(written(b), "$turn:\n"
                                 "first;\n"
                                 "@%done bra $turn_end;\n"
                                 "second;\n"
                                 "bra $turn;\n"
                                 "$turn_end:\n");
}

static void roles_have_a_heading_a_scope_and_labels_of_their_own(void **state)
{
    struct lt_builder *b = *state;
    lt_value produces = predicate(b, "produces"), consumes = predicate(b, "consumes");

    LT_ROLE (b, "producer", produces, "warp 0")
        LT_IF (b, "idle", produces)
            lt_raw(b, "load;");
    LT_ROLE (b, "consumer", consumes, "warps 4 to 7")
        lt_raw(b, "multiply;");
    lt_roles_end(b);

    assert_no_mistake(b);
    assert_ends_with(written(b), "\n"
                                 "// ---- producer: warp 0 ----\n"
                                 "@!%produces bra $producer_end;\n"
                                 "{\n"
                                 "@!%produces bra $producer_idle;\n"
                                 "load;\n"
                                 "$producer_idle:\n"
                                 "bra $roles_end;\n"
                                 "}\n"
                                 "$producer_end:\n"
                                 "\n"
                                 "// ---- consumer: warps 4 to 7 ----\n"
                                 "@!%consumes bra $consumer_end;\n"
                                 "{\n"
                                 "multiply;\n"
                                 "bra $roles_end;\n"
                                 "}\n"
                                 "$consumer_end:\n"
                                 "$roles_end:\n");
}

static void elect_lets_one_lane_through(void **state)
{
    struct lt_builder *b = *state;

    LT_ELECT (b)
        lt_raw(b, "one;");

    assert_no_mistake(b);
    assert_ends_with(written(b), "elect.sync _|%elected, 0xffffffff;\n"
                                 "@!%elected bra $unelected;\n"
                                 "one;\n"
                                 "$unelected:\n");
}

static void loops_of_one_name_side_by_side_need_scopes_of_their_own(void **state)
{
    struct lt_builder *b = *state;
    lt_value count = lt_variable(b, LT_B32, "count");

    for (int i = 0; i < 2; i++)
        LT_SCOPE (b)
            LT_REPEAT (b, turn, count)
                lt_raw(b, "one;");
    assert_no_mistake(b);

    LT_REPEAT (b, turn, count)
        lt_raw(b, "two;");
    LT_REPEAT (b, turn, count)
        lt_raw(b, "three;");

    assert_mistake(b, "%turn is taken already");
}

static void registers_of_a_warpgroup_are_changed_in_steps_of_8(void **state)
{
    struct lt_builder *b = *state;

    lt_setmaxnreg_dec(b, 24);
    lt_setmaxnreg_inc(b, 256);

    assert_no_mistake(b);
    assert_ends_with(written(b), "setmaxnreg.dec.sync.aligned.u32 24;\n"
                                 "setmaxnreg.inc.sync.aligned.u32 256;\n");
}

static void other_numbers_of_registers_are_mistakes(void **state)
{
    (void)state;
    static const struct {
        int registers;
        const char *cause;
    } wrong[] = {
        {16, "setmaxnreg takes a multiple of 8 from 24 to 256, not 16"},
        {20, "setmaxnreg takes a multiple of 8 from 24 to 256, not 20"},
        {36, "setmaxnreg takes a multiple of 8 from 24 to 256, not 36"},
        {264, "setmaxnreg takes a multiple of 8 from 24 to 256, not 264"},
        {-8, "setmaxnreg takes a multiple of 8 from 24 to 256, not -8"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);

        lt_setmaxnreg_inc(b, wrong[i].registers);
        assert_mistake(b, wrong[i].cause);
        lt_builder_destroy(&b);
    }
}

static void a_target_without_elect_or_setmaxnreg_refuses_them(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_89, true, NULL);

    LT_ELECT (b)
        lt_raw(b, "one;");
    assert_mistake(b, "elect.sync needs sm_90a, sm_100a, sm_103a, sm_110a or sm_120a; this kernel "
                      "is for sm_89");
    lt_builder_destroy(&b);

    b = kernel_for(LATHE_SM_89, true, NULL);
    lt_setmaxnreg_dec(b, 24);
    assert_mistake(b, "setmaxnreg needs sm_90a, sm_100a, sm_103a, sm_110a or sm_120a; this kernel "
                      "is for sm_89");
    lt_builder_destroy(&b);
}

/* ---- Leaving a body by `break` leaves it open, and finishing says so ---- */

static void a_role_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_ROLE (b, "producer", predicate(b, "p"), "warp 0")
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void a_scope_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_SCOPE (b)
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void a_when_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_WHEN (b, predicate(b, "p"))
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void an_if_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_IF (b, "skipped", predicate(b, "p"))
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void a_for_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_FOR (b, tile, lt_imm(0), lt_imm(4), lt_imm(1))
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void a_repeat_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_REPEAT (b, turn, lt_imm(4))
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void a_loop_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_LOOP (b, turn)
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

static void an_elect_left_by_break_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    LT_ELECT (b)
        break;

    assert_int_equal(status_of_finishing(b), LATHE_INTERNAL);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(when_predicates_each_instruction_of_its_body),
        in_kernel(if_branches_around_its_body),
        in_kernel(a_scope_is_a_pair_of_braces),
        in_kernel(for_tests_before_each_turn_and_steps_after_it),
        in_kernel(repeat_counts_from_zero_and_tests_at_its_end),
        in_kernel(what_keeps_a_loop_rolled_stands_in_its_first_block),
        in_kernel(a_loop_turns_until_it_is_left),
        in_kernel(roles_have_a_heading_a_scope_and_labels_of_their_own),
        in_kernel(elect_lets_one_lane_through),
        in_kernel(loops_of_one_name_side_by_side_need_scopes_of_their_own),
        in_kernel(registers_of_a_warpgroup_are_changed_in_steps_of_8),
        cmocka_unit_test(other_numbers_of_registers_are_mistakes),
        cmocka_unit_test(a_target_without_elect_or_setmaxnreg_refuses_them),
        in_kernel(a_role_left_by_break_is_a_mistake),
        in_kernel(a_scope_left_by_break_is_a_mistake),
        in_kernel(a_when_left_by_break_is_a_mistake),
        in_kernel(an_if_left_by_break_is_a_mistake),
        in_kernel(a_for_left_by_break_is_a_mistake),
        in_kernel(a_repeat_left_by_break_is_a_mistake),
        in_kernel(a_loop_left_by_break_is_a_mistake),
        in_kernel(an_elect_left_by_break_is_a_mistake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
