/* Plans that no word can ask for: structs that a caller has filled in, and plans changed by hand.
 */
#include "tests/support/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <string.h>

/* ---- Options that no word can give ---- */

static enum lathe_status plan_with(const struct lathe_plan_options *options,
                                   struct lathe_plan *plan, struct lathe_error *err)
{
    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    return lathe_plan_gemm(plan, lathe_gemm(.m = 4096, .n = 4096, .k = 4096), options, err);
}

/* The component `at` of three is the only one named: it stands, or the whole is out of range. */
static void assert_stands_or_refused(const struct lathe_plan_options *options, const int *named,
                                     size_t offset)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};
    enum lathe_status status = plan_with(options, &plan, &err);
    const int *got = (const int *)((const char *)&plan + offset);

    if (status != LATHE_OK) {
        assert_int_equal(status, LATHE_OUT_OF_RANGE);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (named[i] != 0)
            assert_int_equal(got[i], named[i]);
}

static void a_tile_named_in_part_is_kept_or_refused(void **state)
{
    (void)state;
    static const int named[][3] = {{0, 128, 64}, {128, 0, 64}, {128, 64, 0}, {0, 0, 128}};

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

        memcpy(options.tile, named[i], sizeof options.tile);
        assert_stands_or_refused(&options, named[i], offsetof(struct lathe_plan, tile));
    }
}

static void an_epilogue_named_in_part_is_kept_or_refused(void **state)
{
    (void)state;
    static const int named[][3] = {{0, 64, 4}, {128, 0, 4}, {128, 64, 0}, {0, 0, 4}};

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

        memcpy(options.epilogue, named[i], sizeof options.epilogue);
        assert_stands_or_refused(&options, named[i], offsetof(struct lathe_plan, epilogue));
    }
}

static int plan_clusters_in_part(void)
{
    static const int named[][3] = {{2, 0, 0}, {0, 2, 1}, {2, 2, 0}, {0, 0, 2}, {0, 0, 1}};

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
        struct lathe_plan plan;
        struct lathe_error err = {0};

        memcpy(options.cluster, named[i], sizeof options.cluster);

        enum lathe_status status = plan_with(&options, &plan, &err);

        for (int j = 0; status == LATHE_OK && j < 3; j++)
            if (named[i][j] != 0 && plan.cluster[j] != named[i][j])
                return 1 + (int)i;
        if (status != LATHE_OK && status != LATHE_OUT_OF_RANGE)
            return 101 + (int)i;
    }
    return 0;
}

static void a_cluster_named_in_part_is_kept_or_refused(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(plan_clusters_in_part), 0);
}

static const struct lathe_plan_options *odd_options;

static int plan_odd_options(void)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};
    enum lathe_status status = plan_with(odd_options, &plan, &err);

    if (status != LATHE_OUT_OF_RANGE && status != LATHE_UNSUPPORTED)
        return 1;
    return strstr(err.message, "(null)") || plan.stages != 0 ? 2 : 0;
}

/* Tries all of them, so that one that passes does not hide another. */
static void assert_all_refused(const struct lathe_plan_options *const *wrong, size_t count)
{
    int passed = 0;

    for (size_t i = 0; i < count; i++) {
        odd_options = wrong[i];
        if (result_in_child(plan_odd_options) != 0) {
            print_error("case %zu passes, crashes, or its refusal is no message\n", i);
            passed++;
        }
    }
    assert_int_equal(passed, 0);
}

static void negative_numbers_are_out_of_range(void **state)
{
    (void)state;
    const struct lathe_plan_options *const wrong[] = {
        lathe_plan_options(.stages = -1),
        lathe_plan_options(.consumers = -1),
        lathe_plan_options(.cta_group = -1),
        lathe_plan_options(.raster = -1),
        lathe_plan_options(.split = -1),
        lathe_plan_options(.sms = -1),
        lathe_plan_options(.tile = {-128, 128, 64}),
        lathe_plan_options(.tile = {128, -128, 64}),
        lathe_plan_options(.cluster = {-2, 1, 1}),
        lathe_plan_options(.epilogue = {-128, 64, 2}),
        lathe_plan_options(.epilogue = {128, 64, -2}),
        lathe_plan_options(.regs = {-480, 240}),
        lathe_plan_options(.regs = {40, -232}),
    };

    assert_all_refused(wrong, sizeof wrong / sizeof wrong[0]);
}

static void words_of_no_enumeration_are_refused(void **state)
{
    (void)state;
    const struct lathe_plan_options *const wrong[] = {
        lathe_plan_options(.arch = (enum lathe_arch)99),
        lathe_plan_options(.schedule = (enum lathe_schedule)99),
        lathe_plan_options(.annotate = (enum lathe_switch)99),
    };

    assert_all_refused(wrong, sizeof wrong / sizeof wrong[0]);
}

static void a_problem_with_words_of_no_enumeration_is_refused(void **state)
{
    (void)state;
    const struct lathe_gemm *const wrong[] = {
        lathe_gemm(.m = 64, .n = 64, .k = 64, .beta = (enum lathe_beta)77),
        lathe_gemm(.m = 64, .n = 64, .k = 64, .statics = (enum lathe_static)7),
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lathe_plan plan = LATHE_PLAN_INIT;
        struct lathe_error err = {0};

        assert_int_equal(lathe_plan_gemm(&plan, wrong[i], NULL, &err), LATHE_OUT_OF_RANGE);
        assert_lacks(err.message, "(null)");
    }
}

static void registers_named_for_the_consumers_alone_are_refused(void **state)
{
    (void)state;
    static const int tiles_of[][3] = {{64, 64, 64}, {128, 128, 64}};

    for (size_t i = 0; i < 2; i++) {
        struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
        struct lathe_plan plan;
        struct lathe_error err = {0};

        memcpy(options.tile, tiles_of[i], sizeof options.tile);
        options.regs[1] = 232;
        assert_int_not_equal(plan_with(&options, &plan, &err), LATHE_OK);
    }
}

/* ---- Checking a plan that was changed by hand ---- */

static void a_check_works_out_again_what_follows(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64"), lied = plan;

    lied.threads = 1;
    lied.tenant_count = 0;
    memset(lied.tenants, 0x5a, sizeof lied.tenants);
    lied.smem_bytes = 1;
    lied.smem_limit = 1 << 30;
    lied.registers = 1;
    lied.accumulators = 1;
    lied.tmem_columns = 7;

    assert_int_equal(lathe_plan_check(&lied, NULL), LATHE_OK);
    assert_memory_equal(&lied, &plan, sizeof plan);
}

static void a_field_changed_by_hand_is_checked_like_a_word(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64");
    struct lathe_error err = {0};

    plan.stages = 3;
    assert_int_equal(lathe_plan_check(&plan, &err), LATHE_OK);
    assert_int_equal(tenant_of(&plan, "stage ring")->bytes, 3 * 32768);
    plan.stages = 30;
    assert_int_equal(lathe_plan_check(&plan, &err), LATHE_DOES_NOT_FIT);
    assert_int_equal(err.needs_bytes, 1024 + 30 * 32768 + 32768);
    assert_int_equal(tenant_of(&plan, "stage ring")->bytes, 3 * 32768);
}

static struct lathe_plan changed;

static int check_changed(void)
{
    struct lathe_error err = {0};
    enum lathe_status status = lathe_plan_check(&changed, &err);

    return status != LATHE_OK && !strstr(err.message, "(null)") && strlen(err.message) > 0 ? 0 : 1;
}

static int passed_checks;

static int start_counting(void **state)
{
    (void)state;
    passed_checks = 0;
    return 0;
}

/* Goes on after one that passes, so that it does not hide another. */
#define expect_refusal(change)                                                                     \
    do {                                                                                           \
        changed = plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64");                            \
        change;                                                                                    \
        if (result_in_child(check_changed) != 0) {                                                 \
            print_error("%s passes the check, or its refusal is no message\n", #change);           \
            passed_checks++;                                                                       \
        }                                                                                          \
    } while (0)

static void numbers_out_of_range_do_not_pass_a_check(void **state)
{
    (void)state;

    expect_refusal(changed.stages = 0);
    expect_refusal(changed.stages = -4);
    expect_refusal(changed.stages = 1 << 30);
    expect_refusal(changed.tile[0] = 0);
    expect_refusal(changed.tile[1] = -128);
    expect_refusal(changed.tile[2] = 1 << 30);
    expect_refusal(changed.cluster[0] = 0);
    expect_refusal(changed.cluster[2] = 2);
    expect_refusal(changed.cta_group = 0);
    expect_refusal(changed.consumers = 0);
    expect_refusal(changed.epilogue[2] = 0);
    expect_refusal(changed.split = 0);
    expect_refusal(changed.raster = 0);
    expect_refusal(changed.sms = 0);
    assert_int_equal(passed_checks, 0);
}

static void baked_in_sizes_that_do_not_go_together_do_not_pass_a_check(void **state)
{
    (void)state;

    expect_refusal(changed.static_size[2] = 64);
    expect_refusal(changed.statics = LATHE_STATIC_K);
    expect_refusal(changed.statics = LATHE_STATIC_MNK);
    expect_refusal((changed.statics = LATHE_STATIC_K, changed.static_size[2] = -5));
    expect_refusal((changed.statics = LATHE_STATIC_K, changed.static_size[2] = INT64_MAX));
    assert_int_equal(passed_checks, 0);
}

static void types_of_no_kernel_do_not_pass_a_check(void **state)
{
    (void)state;

    expect_refusal(changed.type = LATHE_TYPE_DEFAULT);
    expect_refusal(changed.type = LATHE_F32);
    expect_refusal(changed.out = LATHE_S32);
    expect_refusal(changed.beta = LATHE_BETA_DEFAULT);
    expect_refusal(changed.layout = LATHE_LAYOUT_DEFAULT);
    expect_refusal(changed.family = LATHE_FAMILY_NONE);
    expect_refusal(changed.arch = LATHE_ARCH_DEFAULT);
    expect_refusal(changed.variant[0] = 'x');
    expect_refusal(changed.schedule = LATHE_SCHEDULE_DEFAULT);
    assert_int_equal(passed_checks, 0);
}

static void values_of_no_enumeration_do_not_pass_a_check(void **state)
{
    (void)state;

    expect_refusal(changed.statics = (enum lathe_static)7);
    expect_refusal(changed.annotate = (enum lathe_switch)77);
    expect_refusal(changed.layout = (enum lathe_layout)77);
    expect_refusal(changed.type = (enum lathe_type)77);
    assert_int_equal(passed_checks, 0);
}

static void names_without_an_end_do_not_pass_a_check(void **state)
{
    (void)state;

    expect_refusal(memset(changed.variant, 'A', sizeof changed.variant));
    assert_int_equal(passed_checks, 0);
}

static void a_variant_is_a_preset_or_says_that_it_was_changed(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "hopper-bets",
        "hopper best",
        "hopper-best ",
        "custom(from hopper-best)junk",
        "custom(from hopper-best",
        "custom(from hopper-bets)",
        "custom(from )",
        "custom(from custom(from hopper-best))",
        "hopper-best)",
        "x\ny",
    };
    static const char *const right[] = {"hopper-best", "custom(from hopper-best)"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096");
        struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
        struct lathe_kernel *kernel = NULL;
        struct lathe_error err = {0};

        strcpy(plan.variant, wrong[i]);
        options.arch = LATHE_SM_90A;
        strcpy(options.variant, wrong[i]);
        assert_int_equal(lathe_plan_check(&plan, &err), LATHE_BAD_WORD);
        assert_has(err.message, ": no such variant; nearest: variant=hopper-best");
        assert_int_equal(lathe_emit(&kernel, &plan, NULL, NULL), LATHE_BAD_WORD);
        assert_int_equal(plan_with(&options, &plan, &err), LATHE_BAD_WORD);
        assert_has(err.message, ": no such variant; nearest: variant=hopper-best");
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096");
        struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

        memset(plan.variant, 'x', sizeof plan.variant);
        strcpy(plan.variant, right[i]);
        strcpy(options.variant, right[i]);
        assert_int_equal(lathe_plan_check(&plan, NULL), LATHE_OK);
        assert_int_equal(plan.variant[LATHE_NAME_SIZE - 1], '\0'); /* plans can be compared */
        assert_int_equal(plan_with(&options, &plan, NULL), LATHE_OK);
        assert_string_equal(plan.variant, right[i]);
    }
}

static void an_option_without_an_end_is_no_variant(void **state)
{
    (void)state;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_plan plan;
    struct lathe_error err = {0};

    options.arch = LATHE_SM_90A;
    memset(options.variant, 'A', sizeof options.variant);
    options.tile[0] = 0x41414141;

    assert_int_equal(plan_with(&options, &plan, &err), LATHE_OUT_OF_RANGE);
    options.tile[0] = 0;
    assert_int_equal(plan_with(&options, &plan, &err), LATHE_BAD_WORD);
    assert_int_equal(ptx_count(err.message, "A"), sizeof options.variant - 1);
    assert_has(err.message, "nearest: variant=hopper-best");
}

static void a_check_ends_what_had_no_end(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=128x128x64");

    memset(plan.reason, 'R', sizeof plan.reason);

    assert_int_equal(lathe_plan_check(&plan, NULL), LATHE_OK);
    assert_int_equal(strnlen(plan.reason, sizeof plan.reason), sizeof plan.reason - 1);
}

static void a_plan_without_its_place_says_what_is_missing(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096"), without;
    struct lathe_error err = {0};

    without = plan;
    without.family = LATHE_FAMILY_NONE;
    assert_int_equal(lathe_plan_check(&without, &err), LATHE_OUT_OF_RANGE);
    assert_string_equal(err.message, "family is missing; known: gemm");
    without.family = (enum lathe_family)77;
    assert_int_equal(lathe_plan_check(&without, &err), LATHE_OUT_OF_RANGE);
    assert_string_equal(err.message, "family: 77 is none of its values; known: gemm");
    without = plan;
    without.arch = LATHE_ARCH_DEFAULT;
    assert_int_equal(lathe_plan_check(&without, &err), LATHE_OUT_OF_RANGE);
    assert_has(err.message, "arch is missing; known: sm_80 ");
    without = plan;
    without.variant[0] = '\0';
    assert_int_equal(lathe_plan_check(&without, &err), LATHE_OUT_OF_RANGE);
    assert_has(err.message, "variant is missing; ");
}

static void registers_that_cancel_out_do_not_pass_a_check(void **state)
{
    (void)state;

    expect_refusal((changed.regs[0] = -480, changed.regs[1] = 240));
    expect_refusal((changed.regs[0] = 0, changed.regs[1] = 232));
    expect_refusal((changed.regs[0] = 40, changed.regs[1] = 0));
    assert_int_equal(passed_checks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_named_in_part_is_kept_or_refused),
        cmocka_unit_test(an_epilogue_named_in_part_is_kept_or_refused),
        cmocka_unit_test(a_cluster_named_in_part_is_kept_or_refused),
        cmocka_unit_test(negative_numbers_are_out_of_range),
        cmocka_unit_test(words_of_no_enumeration_are_refused),
        cmocka_unit_test(a_problem_with_words_of_no_enumeration_is_refused),
        cmocka_unit_test(registers_named_for_the_consumers_alone_are_refused),
        cmocka_unit_test(a_check_works_out_again_what_follows),
        cmocka_unit_test(a_field_changed_by_hand_is_checked_like_a_word),
        cmocka_unit_test_setup(numbers_out_of_range_do_not_pass_a_check, start_counting),
        cmocka_unit_test_setup(baked_in_sizes_that_do_not_go_together_do_not_pass_a_check,
                               start_counting),
        cmocka_unit_test_setup(types_of_no_kernel_do_not_pass_a_check, start_counting),
        cmocka_unit_test_setup(values_of_no_enumeration_do_not_pass_a_check, start_counting),
        cmocka_unit_test_setup(names_without_an_end_do_not_pass_a_check, start_counting),
        cmocka_unit_test(a_variant_is_a_preset_or_says_that_it_was_changed),
        cmocka_unit_test(an_option_without_an_end_is_no_variant),
        cmocka_unit_test(a_check_ends_what_had_no_end),
        cmocka_unit_test(a_plan_without_its_place_says_what_is_missing),
        cmocka_unit_test_setup(registers_that_cancel_out_do_not_pass_a_check, start_counting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
