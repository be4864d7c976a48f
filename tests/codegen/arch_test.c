#include "codegen/arch.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

/* A copy of the limits by hand: CUDA C++ Programming Guide "Compute Capabilities", and the first
 * PTX version of each target: PTX ISA "Release Notes". */
static const struct {
    enum lathe_arch id;
    const char *name, *ptx;
    int major, minor, smem_kb, threads, tmem_columns;
} facts[] = {
    {LATHE_SM_80, "sm_80", "7.0", 8, 0, 163, 2048, 0},
    {LATHE_SM_86, "sm_86", "7.1", 8, 6, 99, 1536, 0},
    {LATHE_SM_89, "sm_89", "7.8", 8, 9, 99, 1536, 0},
    {LATHE_SM_90A, "sm_90a", "8.0", 9, 0, 227, 2048, 0},
    {LATHE_SM_100A, "sm_100a", "8.6", 10, 0, 227, 2048, 512},
    {LATHE_SM_103A, "sm_103a", "8.8", 10, 3, 227, 2048, 512},
    {LATHE_SM_110A, "sm_110a", "9.0", 11, 0, 227, 2048, 512},
    {LATHE_SM_120A, "sm_120a", "8.7", 12, 0, 99, 1536, 0},
};
enum { FACTS = sizeof facts / sizeof facts[0] };

static void every_architecture_has_the_limits_of_the_manual(void **state)
{
    (void)state;

    for (int i = 0; i < FACTS; i++) {
        const struct lt_arch *arch = lt_arch(facts[i].id);

        assert_non_null(arch);
        assert_ptr_equal(arch, &lt_arch_table[i]);
        assert_string_equal(arch->name, facts[i].name);
        assert_string_equal(arch->ptx_version, facts[i].ptx);
        assert_int_equal(arch->capability, 10 * facts[i].major + facts[i].minor);
        assert_int_equal(arch->smem_bytes, facts[i].smem_kb * 1024);
        assert_int_equal(arch->threads, facts[i].threads);
        assert_int_equal(arch->registers, 65536);
        assert_int_equal(arch->tmem_columns, facts[i].tmem_columns);
        assert_true(arch->sms > 0);
    }
    assert_int_equal(lt_arch_table[FACTS].id, LATHE_ARCH_DEFAULT);
}

static void what_is_no_architecture_has_no_row_and_a_name_all_the_same(void **state)
{
    (void)state;

    assert_null(lt_arch(LATHE_ARCH_DEFAULT));
    assert_null(lt_arch((enum lathe_arch)99));
    assert_string_equal(lathe_arch_name(LATHE_ARCH_DEFAULT), "default");
    assert_string_equal(lathe_arch_name((enum lathe_arch)99), "default");
}

static void assert_names(unsigned feature, const char *names)
{
    char buffer[128];

    assert_int_equal(lt_arch_names_with(feature, buffer, sizeof buffer), strlen(names));
    assert_string_equal(buffer, names);
}

/* Which target takes what: the assembler's answers, one form of each feature a target. */
static void features_belong_to_the_targets_that_assemble_them(void **state)
{
    (void)state;

    assert_names(LT_HAS_MBARRIER,
                 "sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_110a or sm_120a");
    assert_names(LT_HAS_TMA, "sm_90a, sm_100a, sm_103a, sm_110a or sm_120a");
    assert_names(LT_HAS_MULTICAST, "sm_90a, sm_100a, sm_103a or sm_110a");
    assert_names(LT_HAS_WGMMA, "sm_90a");
    assert_names(LT_HAS_SETMAXNREG, "sm_90a, sm_100a, sm_103a, sm_110a or sm_120a");
    assert_names(LT_HAS_TCGEN05, "sm_100a, sm_103a or sm_110a");
    assert_names(LT_HAS_TCGEN05_I8, "sm_100a or sm_110a");
    assert_names(LT_HAS_CLC, "sm_100a, sm_103a, sm_110a or sm_120a");
}

static void a_feature_that_nobody_has_names_nobody(void **state)
{
    (void)state;

    assert_names(1u << 30, "");
}

static void names_are_cut_to_the_buffer(void **state)
{
    (void)state;
    char buffer[8];

    assert_int_equal(lt_arch_names_with(LT_HAS_TCGEN05_I8, buffer, sizeof buffer),
                     strlen("sm_100a or sm_110a"));
    assert_string_equal(buffer, "sm_100a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_architecture_has_the_limits_of_the_manual),
        cmocka_unit_test(what_is_no_architecture_has_no_row_and_a_name_all_the_same),
        cmocka_unit_test(features_belong_to_the_targets_that_assemble_them),
        cmocka_unit_test(a_feature_that_nobody_has_names_nobody),
        cmocka_unit_test(names_are_cut_to_the_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
