#include "codegen/budget.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

static void tenants_follow_one_another(void **state)
{
    (void)state;
    struct lt_budget budget = {0};

    assert_int_equal(lt_budget_add(&budget, "barriers", 64), 0);
    assert_int_equal(lt_budget_add(&budget, "stage ring", 1000), 64);
    assert_int_equal(lt_budget_add(&budget, "nothing", 0), 1064);
    assert_int_equal(lt_budget_add(&budget, "staging", 1), 1064);

    assert_int_equal(budget.count, 4);
    assert_int_equal(budget.bytes, 1065);
}

static void what_an_alignment_costs_is_a_tenant_named_padding(void **state)
{
    (void)state;
    struct lt_budget budget = {0};

    lt_budget_add(&budget, "barriers", 64);
    lt_budget_align(&budget, LT_TILE_ALIGNMENT);

    assert_int_equal(budget.count, 2);
    assert_string_equal(budget.tenants[1].name, "padding");
    assert_int_equal(budget.tenants[1].bytes, 960);
    assert_int_equal(budget.bytes, 1024);
}

static void what_is_aligned_already_needs_no_padding(void **state)
{
    (void)state;
    struct lt_budget budget = {0};

    lt_budget_align(&budget, LT_TILE_ALIGNMENT);
    lt_budget_add(&budget, "stage ring", 2048);
    lt_budget_align(&budget, LT_TILE_ALIGNMENT);

    assert_int_equal(budget.count, 1);
    assert_int_equal(budget.bytes, 2048);
}

static void a_plan_is_given_the_tenants_and_their_sum_and_nothing_of_before(void **state)
{
    (void)state;
    struct lt_budget budget = {0};
    struct lathe_plan plan;

    memset(&plan, 0x5a, sizeof plan);
    lt_budget_add(&budget, "barriers", 64);
    lt_budget_add(&budget, "stage ring", 4096);
    lt_budget_store(&budget, &plan);

    assert_int_equal(plan.tenant_count, 2);
    assert_int_equal(plan.smem_bytes, 4160);
    assert_string_equal(plan.tenants[0].name, "barriers");
    assert_int_equal(plan.tenants[0].bytes, 64);
    assert_int_equal(plan.tenants[0].offset, 0);
    assert_string_equal(plan.tenants[1].name, "stage ring");
    assert_int_equal(plan.tenants[1].bytes, 4096);
    assert_int_equal(plan.tenants[1].offset, 64);
    for (int i = 2; i < LATHE_TENANTS_MAX; i++) {
        assert_string_equal(plan.tenants[i].name, "");
        assert_int_equal(plan.tenants[i].bytes, 0);
    }
    assert_int_equal(lt_budget_offset(&plan, "barriers"), 0);
    assert_int_equal(lt_budget_offset(&plan, "stage ring"), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tenants_follow_one_another),
        cmocka_unit_test(what_an_alignment_costs_is_a_tenant_named_padding),
        cmocka_unit_test(what_is_aligned_already_needs_no_padding),
        cmocka_unit_test(a_plan_is_given_the_tenants_and_their_sum_and_nothing_of_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
