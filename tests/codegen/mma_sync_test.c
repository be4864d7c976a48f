#include "codegen/mma_sync.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

static void multiply(struct lt_builder *b, enum lathe_type type)
{
    struct lt_vector acc = lt_vector(b, LT_F32, "acc", 8), a = lt_vector(b, LT_B32, "a", 4);
    lt_value rows[4];

    for (int i = 0; i < 4; i++)
        rows[i] = lt_element(&a, i);
    lt_mma_sync(b, type, &acc, 4, rows, lt_variable(b, LT_B32, "left"),
                lt_variable(b, LT_B32, "right"));
}

static void an_mma_adds_to_the_sums_that_it_is_given(void **state)
{
    struct lt_builder *b = *state;

    multiply(b, LATHE_BF16);

    assert_no_mistake(b);
    assert_ends_with(written(b), "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                                 "{%acc4, %acc5, %acc6, %acc7}, {%a0, %a1, %a2, %a3}, "
                                 "{%left, %right}, {%acc4, %acc5, %acc6, %acc7};\n");
}

static void a_type_that_is_not_written_yet_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);

    multiply(b, LATHE_TF32);

    assert_mistake(b, "mma.sync with operands of tf32 is not written yet");
    lt_builder_destroy(&b);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(an_mma_adds_to_the_sums_that_it_is_given),
        cmocka_unit_test(a_type_that_is_not_written_yet_is_a_mistake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
