#include "codegen/wgmma.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>

static void multiply(struct lt_builder *b, int n, enum lathe_type type, int first)
{
    struct lt_vector acc = lt_vector(b, LT_F32, "acc", 256);

    lt_wgmma(b, n, type, &acc, first, lt_variable(b, LT_B64, "a_desc"),
             lt_variable(b, LT_B64, "b_desc"), lt_variable(b, LT_PRED, "later"));
}

static void an_mma_takes_32_bytes_along_k(void **state)
{
    (void)state;

    assert_int_equal(lt_wgmma_k(LATHE_F16), 16);
    assert_int_equal(lt_wgmma_k(LATHE_BF16), 16);
    assert_int_equal(lt_wgmma_k(LATHE_TF32), 8);
    assert_int_equal(lt_wgmma_k(LATHE_E4M3), 32);
    assert_int_equal(lt_wgmma_k(LATHE_INT8), 32);
    assert_int_equal(lt_wgmma_k(LATHE_TYPE_DEFAULT), 0);
}

static void an_mma_lists_its_accumulators_descriptors_and_whether_it_adds(void **state)
{
    struct lt_builder *b = *state;

    multiply(b, 24, LATHE_F16, 0);

    assert_no_mistake(b);
    assert_ends_with(written(b), "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16\n"
                                 "{%acc0, %acc1, %acc2, %acc3, %acc4, %acc5, %acc6, %acc7, %acc8, "
                                 "%acc9,\n"
                                 "%acc10, %acc11},\n"
                                 "%a_desc, %b_desc, %later, 1, 1, 0, 0;\n");
}

static void accumulators_may_be_any_part_of_the_vector(void **state)
{
    struct lt_builder *b = *state;

    multiply(b, 8, LATHE_BF16, 128);

    assert_no_mistake(b);
    assert_ends_with(written(b), "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16\n"
                                 "{%acc128, %acc129, %acc130, %acc131},\n"
                                 "%a_desc, %b_desc, %later, 1, 1, 0, 0;\n");
}

static void sums_in_f16_are_two_to_a_register(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector acc = lt_vector(b, LT_B32, "acc", 64);

    lt_wgmma(b, 16, LATHE_F16, &acc, 16, lt_variable(b, LT_B64, "a_desc"),
             lt_variable(b, LT_B64, "b_desc"), lt_imm(1));

    assert_no_mistake(b);
    assert_ends_with(written(b), "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16\n"
                                 "{%acc8, %acc9, %acc10, %acc11},\n"
                                 "%a_desc, %b_desc, 1, 1, 1, 0, 0;\n");
}

static void sums_in_f16_are_of_f16(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
    struct lt_vector acc = lt_vector(b, LT_B32, "acc", 64);

    lt_wgmma(b, 16, LATHE_BF16, &acc, 0, lt_variable(b, LT_B64, "a_desc"),
             lt_variable(b, LT_B64, "b_desc"), lt_imm(1));

    assert_mistake(b, "wgmma adds up in f16 what is of f16, not of bf16");
    lt_builder_destroy(&b);
}

static void every_width_from_8_to_256_has_half_as_many_accumulators(void **state)
{
    (void)state;

    for (int n = 8; n <= 256; n += 8) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
        char opcode[32], last[32];

        multiply(b, n, LATHE_F16, 0);
        assert_no_mistake(b);
        snprintf(opcode, sizeof opcode, ".m64n%dk16.", n);
        snprintf(last, sizeof last, "%%acc%d},\n", n / 2 - 1);
        assert_has(written(b), opcode);
        assert_has(written(b), last);
        assert_int_equal(ptx_count(written(b), "%acc"), n / 2);
        lt_builder_destroy(&b);
    }
}

static void whether_it_adds_may_be_an_immediate(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector acc = lt_vector(b, LT_F32, "acc", 4);

    lt_wgmma(b, 8, LATHE_F16, &acc, 0, lt_variable(b, LT_B64, "a_desc"),
             lt_variable(b, LT_B64, "b_desc"), lt_imm(1));

    assert_no_mistake(b);
    assert_ends_with(written(b), "%a_desc, %b_desc, 1, 1, 1, 0, 0;\n");
}

static void other_widths_are_mistakes(void **state)
{
    (void)state;
    static const int wrong[] = {0, 4, 12, 100, 264, -8};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
        char cause[96];

        multiply(b, wrong[i], LATHE_F16, 0);
        snprintf(cause, sizeof cause, "wgmma takes n from 8 to 256 in steps of 8, not %d",
                 wrong[i]);
        assert_mistake(b, cause);
        lt_builder_destroy(&b);
    }
}

static void a_type_that_is_not_written_yet_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    multiply(b, 64, LATHE_E4M3, 0);

    assert_mistake(b, "wgmma with operands of e4m3 is not written yet");
}

static void no_type_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    multiply(b, 64, LATHE_TYPE_DEFAULT, 0);

    assert_mistake(b, "wgmma with operands of default is not written yet");
}

static void accumulators_behind_the_vectors_end_are_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    multiply(b, 256, LATHE_F16, 129);

    assert_mistake(b, "%acc has no element 256");
}

static void groups_are_fenced_committed_and_waited_for(void **state)
{
    struct lt_builder *b = *state;

    lt_wgmma_fence(b);
    lt_wgmma_commit(b);
    lt_wgmma_wait(b, 1);

    assert_no_mistake(b);
    assert_ends_with(written(b), "wgmma.fence.sync.aligned;\n"
                                 "wgmma.commit_group.sync.aligned;\n"
                                 "wgmma.wait_group.sync.aligned 1;\n");
}

static void mma(struct lt_builder *b)
{
    multiply(b, 64, LATHE_F16, 0);
}

static void wait_for_one(struct lt_builder *b)
{
    lt_wgmma_wait(b, 1);
}

static void every_part_of_wgmma_is_refused_where_the_target_lacks_it(void **state)
{
    (void)state;
    static void (*const parts[])(struct lt_builder * b) = {mma, lt_wgmma_fence, lt_wgmma_commit,
                                                           wait_for_one};
    static const enum lathe_arch without[] = {LATHE_SM_80, LATHE_SM_100A, LATHE_SM_120A};

    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (size_t a = 0; a < sizeof without / sizeof without[0]; a++) {
            struct lt_builder *b = kernel_for(without[a], true, NULL);
            char cause[96];

            parts[p](b);
            snprintf(cause, sizeof cause, "wgmma needs sm_90a; this kernel is for %s",
                     lathe_arch_name(without[a]));
            assert_mistake(b, cause);
            lt_builder_destroy(&b);
        }
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_mma_takes_32_bytes_along_k),
        in_kernel(an_mma_lists_its_accumulators_descriptors_and_whether_it_adds),
        in_kernel(accumulators_may_be_any_part_of_the_vector),
        in_kernel(sums_in_f16_are_two_to_a_register),
        cmocka_unit_test(sums_in_f16_are_of_f16),
        cmocka_unit_test(every_width_from_8_to_256_has_half_as_many_accumulators),
        in_kernel(whether_it_adds_may_be_an_immediate),
        cmocka_unit_test(other_widths_are_mistakes),
        in_kernel(a_type_that_is_not_written_yet_is_a_mistake),
        in_kernel(no_type_is_a_mistake),
        in_kernel(accumulators_behind_the_vectors_end_are_a_mistake),
        in_kernel(groups_are_fenced_committed_and_waited_for),
        cmocka_unit_test(every_part_of_wgmma_is_refused_where_the_target_lacks_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
