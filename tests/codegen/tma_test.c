#include "codegen/tma.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>

struct operands {
    lt_value map, column, row, smem, full, mask;
};

static struct operands declare(struct lt_builder *b)
{
    return (struct operands){
        .map = lt_variable(b, LT_B64, "a_map"),
        .column = lt_variable(b, LT_B32, "column"),
        .row = lt_variable(b, LT_B32, "row"),
        .smem = lt_variable(b, LT_B32, "a_tile"),
        .full = lt_variable(b, LT_B32, "tiles_full"),
        .mask = lt_variable(b, LT_B16, "a_mask"),
    };
}

static void load(struct lt_builder *b)
{
    struct operands o = declare(b);

    lt_tma_load(b, o.map, o.column, o.row, o.smem, o.full, (lt_value){0});
}

static void load_for_all(struct lt_builder *b)
{
    struct operands o = declare(b);

    lt_tma_load(b, o.map, o.column, o.row, o.smem, o.full, o.mask);
}

static void store(struct lt_builder *b)
{
    struct operands o = declare(b);

    lt_tma_store(b, o.map, o.column, o.row, lt_at(o.smem, 8192));
}

static void prefetch(struct lt_builder *b)
{
    lt_tma_prefetch_map(b, lt_variable(b, LT_B64, "a_map"));
}

static void wait_for_reads(struct lt_builder *b)
{
    lt_tma_wait_read(b, 1);
}

static void a_load_names_column_before_row_and_counts_on_its_barrier(void **state)
{
    struct lt_builder *b = *state;

    load(b);

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%a_tile], [%a_map, {%column, %row}], [%tiles_full];\n");
}

static void a_load_for_several_ctas_is_a_multicast_with_their_mask(void **state)
{
    struct lt_builder *b = *state;

    load_for_all(b);

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%a_tile], [%a_map, {%column, %row}], [%tiles_full], %a_mask;\n");
}

static void a_store_reads_shared_memory_in_a_bulk_group(void **state)
{
    struct lt_builder *b = *state;

    store(b);
    lt_tma_commit(b);
    lt_tma_wait_read(b, 0);

    assert_no_mistake(b);
    assert_ends_with(written(b), "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                                 "[%a_map, {%column, %row}], [%a_tile+8192];\n"
                                 "cp.async.bulk.commit_group;\n"
                                 "cp.async.bulk.wait_group.read 0;\n");
}

static void a_map_may_be_fetched_ahead(void **state)
{
    struct lt_builder *b = *state;

    prefetch(b);

    assert_ends_with(written(b), "prefetch.tensormap [%a_map];\n");
}

static void targets_without_tma_refuse_all_of_it(void **state)
{
    (void)state;
    static const struct {
        void (*write)(struct lt_builder *b);
        const char *what;
    } forms[] = {
        {load, "cp.async.bulk.tensor"},
        {store, "cp.async.bulk.tensor"},
        {lt_tma_commit, "cp.async.bulk.commit_group"},
        {wait_for_reads, "cp.async.bulk.wait_group"},
        {prefetch, "prefetch.tensormap"},
    };

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct lt_builder *b = kernel_for(LATHE_SM_80, true, NULL);
        char cause[160];

        forms[i].write(b);
        snprintf(cause, sizeof cause,
                 "%s needs sm_90a, sm_100a, sm_103a, sm_110a or sm_120a; this kernel is for sm_80",
                 forms[i].what);
        assert_mistake(b, cause);
        lt_builder_destroy(&b);
    }
}

static void a_target_with_slow_multicast_takes_plain_loads_alone(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_120A, true, NULL);

    load(b);
    assert_no_mistake(b);
    lt_builder_destroy(&b);

    b = kernel_for(LATHE_SM_120A, true, NULL);
    load_for_all(b);
    assert_mistake(b, "cp.async.bulk.tensor with .multicast::cluster needs sm_90a, sm_100a, "
                      "sm_103a or sm_110a; this kernel is for sm_120a");
    lt_builder_destroy(&b);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(a_load_names_column_before_row_and_counts_on_its_barrier),
        in_kernel(a_load_for_several_ctas_is_a_multicast_with_their_mask),
        in_kernel(a_store_reads_shared_memory_in_a_bulk_group),
        in_kernel(a_map_may_be_fetched_ahead),
        cmocka_unit_test(targets_without_tma_refuse_all_of_it),
        cmocka_unit_test(a_target_with_slow_multicast_takes_plain_loads_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
