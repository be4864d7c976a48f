#include "codegen/kernel.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/ptx_assert.h"

#include <string.h>

static struct lathe_plan plan_with_4_stages(void)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;

    plan.stages = 4;
    return plan;
}

static void a_kernel_keeps_text_contract_and_plan(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_with_4_stages();
    struct lathe_kernel *kernel = NULL;
    size_t length = 0;

    assert_int_equal(lt_kernel_create(&kernel, &b, &plan, NULL, NULL), LATHE_OK);
    plan.stages = 5;

    assert_null(b);
    assert_has(lathe_kernel_text(kernel, &length), ".visible .entry kernel(");
    assert_int_equal(length, strlen(lathe_kernel_text(kernel, NULL)));
    assert_string_equal(lathe_kernel_contract(kernel)->name, "kernel");
    assert_int_equal(lathe_kernel_plan(kernel)->stages, 4);
    lathe_kernel_destroy(&kernel);
    assert_null(kernel);
}

static void destroying_no_kernel_is_allowed(void **state)
{
    (void)state;
    struct lathe_kernel *kernel = NULL;

    lathe_kernel_destroy(&kernel);
    lathe_kernel_destroy(NULL);
    assert_null(kernel);
}

static void a_builder_with_a_mistake_makes_no_kernel_and_is_used_up(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_with_4_stages();
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};

    lt_mistake(b, "a cause");

    assert_int_equal(lt_kernel_create(&kernel, &b, &plan, NULL, &err), LATHE_INTERNAL);
    assert_string_equal(err.message, "while emitting: a cause");
    assert_null(kernel);
    assert_null(b);
}

static void a_kernel_outlives_the_callers_copy_of_its_allocator(void **state)
{
    (void)state;
    struct fail_allocator fail;
    struct lathe_plan plan = plan_with_4_stages();
    struct lathe_kernel *kernel = NULL;

    fail_allocator_init(&fail, -1);
    {
        struct lathe_allocator copy = fail.allocator;
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, &copy);

        assert_int_equal(lt_kernel_create(&kernel, &b, &plan, &copy, NULL), LATHE_OK);
        memset(&copy, 0, sizeof copy);
    }
    assert_int_equal(fail.live, 2); /* the kernel and its text */
    lathe_kernel_destroy(&kernel);
    assert_int_equal(fail.live, 0);
}

static void every_allocation_of_a_kernel_may_fail_without_a_leak(void **state)
{
    (void)state;
    enum lathe_status status = LATHE_OUT_OF_MEMORY;

    for (long n = 0; status != LATHE_OK; n++) {
        struct fail_allocator fail;
        struct lathe_plan plan = plan_with_4_stages();
        struct lathe_kernel *kernel = NULL;
        struct lathe_error err = {0};

        fail_allocator_init(&fail, n);

        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, &fail.allocator);

        if (!b)
            continue;
        status = lt_kernel_create(&kernel, &b, &plan, &fail.allocator, &err);
        assert_null(b);
        assert_true(status == LATHE_OK || (status == LATHE_OUT_OF_MEMORY && !kernel));
        lathe_kernel_destroy(&kernel);
        assert_int_equal(fail.live, 0);
        assert_true(n < 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_keeps_text_contract_and_plan),
        cmocka_unit_test(destroying_no_kernel_is_allowed),
        cmocka_unit_test(a_builder_with_a_mistake_makes_no_kernel_and_is_used_up),
        cmocka_unit_test(a_kernel_outlives_the_callers_copy_of_its_allocator),
        cmocka_unit_test(every_allocation_of_a_kernel_may_fail_without_a_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
