#include "codegen/builder.h"

#include "codegen/text.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <stdio.h>
#include <string.h>

static void an_empty_kernel_is_a_head_an_entry_and_braces(void **state)
{
    struct lt_builder *b = *state;
    char *text = finished(b);

    assert_string_equal(text, ".version 8.0\n"
                              ".target sm_90a\n"
                              ".address_size 64\n"
                              "\n"
                              "\n"
                              ".visible .entry kernel(\n"
                              ") .maxntid 128, 1, 1 .minnctapersm 1\n"
                              "{\n"
                              "}\n");
    lt_release(NULL, text);
}

static void every_target_is_named_with_the_lowest_version_that_knows_it(void **state)
{
    (void)state;

    for (const struct lt_arch *arch = lt_arch_table; arch->id != LATHE_ARCH_DEFAULT; arch++) {
        struct lt_builder *b = kernel_for(arch->id, false, NULL);
        char *text = finished(b);
        char head[64];

        snprintf(head, sizeof head, ".version %s\n.target %s\n", arch->ptx_version, arch->name);
        assert_true(ptx_starts_with(text, head));
        lt_release(NULL, text);
        lt_builder_destroy(&b);
    }
}

static void a_kernel_that_was_never_entered_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);

    lt_shared(b, 1024, 1024);

    assert_mistake(b, "the kernel has no entry");
    lt_builder_destroy(&b);
}

static void a_name_before_the_entry_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);

    lt_variable(b, LT_B32, "x");

    assert_mistake(b, "%x: no scope is open");
    lt_builder_destroy(&b);
}

static void the_head_declares_memory_parameters_block_and_cluster(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_of_384_threads();
    struct lathe_tensor_map map = map_named("map_b");

    lt_shared(b, 4096, 1024);
    lt_param_tensor_map(b, &map);
    lt_param(b, "m", LATHE_PARAM_M);
    lt_param(b, "alpha", LATHE_PARAM_ALPHA);
    lt_entry(b, "gemm", &plan);

    assert_has(written(b),
               ".extern .shared .align 1024 .b8 smem[];\n"
               "\n"
               ".visible .entry gemm(\n"
               "    .param .align 64 .b8 map_b[128],  // B in boxes of 64 columns x 128 rows, "
               "128-byte swizzle\n"
               "    .param .u32 m,  // rows of A and D\n"
               "    .param .f32 alpha  // D = alpha * A * B^T\n"
               ") .maxntid 384, 1, 1 .minnctapersm 1 .explicitcluster .reqnctapercluster 2, 1, 1\n"
               "{\n");
    lt_builder_destroy(&b);
}

static void the_contract_holds_what_was_declared(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_of_384_threads();
    struct lathe_tensor_map map = map_named("map_b");
    struct lathe_contract c;
    char *text = NULL;
    size_t length = 0;

    lt_shared(b, 4096, 1024);
    lt_param(b, "k", LATHE_PARAM_K);
    lt_param_tensor_map(b, &map);
    lt_param(b, "ldd", LATHE_PARAM_LDD);
    lt_entry(b, "gemm", &plan);
    assert_int_equal(lt_builder_finish(b, &text, &length, &c, NULL), LATHE_OK);

    assert_string_equal(c.name, "gemm");
    assert_int_equal(c.arch, LATHE_SM_90A);
    assert_true(c.block[0] == 384 && c.block[1] == 1 && c.block[2] == 1);
    assert_true(c.cluster[0] == 2 && c.cluster[1] == 1 && c.cluster[2] == 1);
    assert_true(c.cluster_tile[0] == 256 && c.cluster_tile[1] == 256);
    assert_int_equal(c.smem_bytes, 4096);
    assert_int_equal(c.param_count, 3);
    assert_string_equal(c.params[0].name, "k");
    assert_int_equal(c.params[0].kind, LATHE_PARAM_K);
    assert_int_equal(c.params[0].bytes, 4);
    assert_int_equal(c.params[0].tensor_map, -1);
    assert_int_equal(c.params[1].kind, LATHE_PARAM_TENSOR_MAP);
    assert_int_equal(c.params[1].bytes, 128);
    assert_int_equal(c.params[1].tensor_map, 0);
    assert_int_equal(c.params[2].bytes, 8);
    assert_int_equal(c.tensor_map_count, 1);
    assert_memory_equal(&c.tensor_maps[0], &map, sizeof map);
    assert_true(c.registers == -1 && c.spill_bytes == -1 && c.warnings == -1);
    lt_release(NULL, text);
    lt_builder_destroy(&b);
}

static void parameters_are_read_by_their_kind(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_of_384_threads();
    struct lathe_tensor_map map = map_named("map_b");

    lt_param_tensor_map(b, &map);
    lt_param(b, "m", LATHE_PARAM_M);
    lt_param(b, "beta", LATHE_PARAM_BETA);
    lt_param(b, "d", LATHE_PARAM_D);
    lt_entry(b, "gemm", &plan);

    assert_int_equal(lt_param_load(b, "m").type, LT_B32);
    assert_int_equal(lt_param_load(b, "d").type, LT_B64);
    assert_int_equal(lt_param_load(b, "beta").type, LT_F32);
    assert_int_equal(lt_param_address(b, "map_b", "b_map").type, LT_B64);
    assert_no_mistake(b);
    assert_ends_with(written(b), "ld.param.u32 %m, [m];\n"
                                 "ld.param.u64 %d, [d];\n"
                                 "ld.param.f32 %beta, [beta];\n"
                                 "mov.b64 %b_map, map_b;\n"
                                 "cvta.param.u64 %b_map, %b_map;\n");
    lt_builder_destroy(&b);
}

static void a_parameter_that_was_not_declared_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_param_load(b, "m");

    assert_mistake(b, "there is no parameter m");
}

static void a_tensor_map_is_no_scalar(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_of_384_threads();
    struct lathe_tensor_map map = map_named("map_b");

    lt_param_tensor_map(b, &map);
    lt_entry(b, "gemm", &plan);
    lt_param_load(b, "map_b");

    assert_mistake(b, "parameter map_b is no scalar");
    lt_builder_destroy(&b);
}

static struct lt_builder *with_walk_and_m(void)
{
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = plan_of_384_threads();

    lt_param(b, "walk", LATHE_PARAM_WALK);
    lt_param(b, "m", LATHE_PARAM_M);
    lt_entry(b, "gemm", &plan);
    return b;
}

static void members_of_a_block_are_read_where_they_lie(void **state)
{
    (void)state;
    struct lt_builder *b = with_walk_and_m();

    lt_param_member(b, "walk", 0, "tiles");
    lt_param_member(b, "walk", 36, "last_shift");

    assert_ends_with(written(b), "ld.param.u32 %tiles, [walk];\n"
                                 "ld.param.u32 %last_shift, [walk+36];\n");
    lt_builder_destroy(&b);
}

static void a_member_that_is_not_there_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = with_walk_and_m();

    lt_param_member(b, "walk", 40, "more");
    assert_mistake(b, "parameter walk has no member more");
    lt_builder_destroy(&b);

    b = with_walk_and_m();
    lt_param_member(b, "m", 0, "rows");
    assert_mistake(b, "parameter m has no member rows");
    lt_builder_destroy(&b);

    b = with_walk_and_m();
    lt_param_load(b, "walk");
    assert_mistake(b, "parameter walk is no scalar");
    lt_builder_destroy(&b);
}

static void a_tensor_map_that_was_not_declared_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_param_address(b, "map_a", "a_map");

    assert_mistake(b, "there is no parameter map_a");
}

static void a_parameter_after_the_entry_is_a_mistake(void **state)
{
    struct lt_builder *b = *state;

    lt_param(b, "m", LATHE_PARAM_M);

    assert_mistake(b, "parameter m: comes too late");
}

static void a_parameter_too_many_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);

    for (int i = 0; i <= LATHE_PARAMS_MAX; i++)
        lt_param(b, "m", LATHE_PARAM_M);

    assert_mistake(b, "parameter m: is one too many");
    lt_builder_destroy(&b);
}

static void a_tensor_map_too_many_is_a_mistake(void **state)
{
    (void)state;
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_tensor_map map = map_named("map_b");

    for (int i = 0; i <= LATHE_TENSOR_MAPS_MAX; i++)
        lt_param_tensor_map(b, &map);

    assert_mistake(b, "tensor map map_b is one too many");
    lt_builder_destroy(&b);
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(an_empty_kernel_is_a_head_an_entry_and_braces),
        cmocka_unit_test(every_target_is_named_with_the_lowest_version_that_knows_it),
        cmocka_unit_test(a_kernel_that_was_never_entered_is_a_mistake),
        cmocka_unit_test(a_name_before_the_entry_is_a_mistake),
        cmocka_unit_test(the_head_declares_memory_parameters_block_and_cluster),
        cmocka_unit_test(the_contract_holds_what_was_declared),
        cmocka_unit_test(parameters_are_read_by_their_kind),
        in_kernel(a_parameter_that_was_not_declared_is_a_mistake),
        cmocka_unit_test(a_tensor_map_is_no_scalar),
        cmocka_unit_test(members_of_a_block_are_read_where_they_lie),
        cmocka_unit_test(a_member_that_is_not_there_is_a_mistake),
        in_kernel(a_tensor_map_that_was_not_declared_is_a_mistake),
        in_kernel(a_parameter_after_the_entry_is_a_mistake),
        cmocka_unit_test(a_parameter_too_many_is_a_mistake),
        cmocka_unit_test(a_tensor_map_too_many_is_a_mistake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
