#include "include/lathe_tools.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

static void variants_are_listed_with_what_they_are_for(void **state)
{
    (void)state;
    struct lathe_variant_info info;
    size_t count = 0;

    for (; lathe_variant_at(count, &info); count++) {
        assert_true(strlen(info.name) > 0 && strlen(info.doc) > 0 && info.ladder_name);
        assert_int_equal(info.family, LATHE_GEMM);
    }
    assert_true(count >= 1);
    assert_int_equal(lathe_variant_at(0, &info), 1);
    assert_string_equal(info.name, "hopper-v0");
    assert_int_equal(info.arch, LATHE_SM_90A);
    assert_int_equal(lathe_variant_at(count, &info), 0);
    assert_int_equal(lathe_variant_at(0, NULL), 0);
}

static void architectures_are_listed_with_whether_they_have_kernels(void **state)
{
    (void)state;
    struct lathe_arch_info info;
    int count = 0, with_kernels = 0;

    for (; lathe_arch_at((size_t)count, &info); count++) {
        assert_string_equal(info.name, lathe_arch_name((enum lathe_arch)(count + 1)));
        assert_true(info.smem_bytes > 48 * 1024 && info.sms > 0);
        if (info.has_kernels) {
            bool is_hopper = strcmp(info.name, "sm_90a") == 0;

            assert_true(is_hopper || strcmp(info.name, "sm_100a") == 0 ||
                        strcmp(info.name, "sm_103a") == 0);
            assert_int_equal(info.smem_bytes, 232448);
            assert_int_equal(info.sms, is_hopper ? 132 : 148);
            assert_int_equal(info.tmem_columns, is_hopper ? 0 : 512);
            with_kernels++;
        }
    }
    assert_int_equal(count, LATHE_SM_120A);
    assert_int_equal(with_kernels, 3);
    assert_int_equal(lathe_arch_at(0, NULL), 0);
}

static void every_legal_plan_can_be_planned_and_emitted(void **state)
{
    (void)state;
    char words[LATHE_WORDS_SIZE * 2];
    int count = 0;

    for (; lathe_legal_plan_at((size_t)count, words, sizeof words); count++) {
        char request[WORDS_MAX];
        struct lathe_kernel *kernel;

        assert_true(strlen(words) < sizeof words - 1);
        snprintf(request, sizeof request, "gemm m=4096 n=4096 k=4096 %s", words);
        kernel = kernel_of(request);
        assert_budget_adds_up(lathe_kernel_plan(kernel));
        lathe_kernel_destroy(&kernel);
    }
    print_message("# %d legal plans\n", count);
    assert_true(count > 300);
    assert_int_equal(lathe_legal_plan_at(0, words, 5), 1);
    assert_string_equal(words, "arch");
    assert_int_equal(lathe_legal_plan_at(0, NULL, sizeof words), 0);
}

/* Each tile that the check lets through, beside which each other choice is met somewhere. */
static void the_legal_plans_hold_every_tile_of_64_columns_of_k(void **state)
{
    (void)state;
    static const int rows[] = {64, 128, 192, 256};
    char listed[96 * 1024] = "", words[LATHE_WORDS_SIZE * 2];

    for (size_t i = 0; lathe_legal_plan_at(i, words, sizeof words); i++) {
        assert_true(strlen(listed) + strlen(words) + 2 < sizeof listed);
        strcat(strcat(listed, words), " \n");
    }
    for (size_t r = 0; r < 4; r++)
        for (int columns = 8; columns <= 256; columns += 8)
            for (int consumers = 1; consumers <= 2; consumers++) {
                char request[WORDS_MAX], tile[64];
                struct lathe_plan plan;

                snprintf(request, sizeof request,
                         "gemm m=4096 n=4096 k=4096 tile=%dx%dx64 consumers=%d", rows[r], columns,
                         consumers);
                snprintf(tile, sizeof tile, " tile=%dx%dx", rows[r], columns);
                if (plan_words(&plan, request, NULL) == LATHE_OK)
                    assert_has(listed, tile);
                else
                    assert_true(consumers == 2 || rows[r] > 64);
            }
    static const char *const choices[] = {
        "type=f16 ",
        "type=bf16 ",
        "out=f16 ",
        "out=f32 ",
        "out=bf16 ",
        "beta=0 ",
        "beta=any ",
        "cluster=1x1x1 ",
        "cluster=2x1x1 ",
        "cluster=1x2x1 ",
        "cluster=2x2x1 ",
        "cluster=4x1x1 ",
        "cluster=1x4x1 ",
        "cluster=8x1x1 ",
        "cluster=1x8x1 ",
        "cluster=4x2x1 ",
        "cluster=2x4x1 ",
        "stages=2 ",
        "stages=3 ",
        "stages=4 ",
        "x128 consumers=1 ",
        "x192 consumers=1 ",
        "x256 consumers=1 ",
        "x128 consumers=2 ",
        "x192 consumers=2 ",
        "x256 consumers=2 ",
        "tile=128x128x64 consumers=1 ",
        "tile=256x64x64 consumers=1 ",
        "x64x1 ",
        "x32x1 ",
        "x64x3 ",
        "x64x4 ",
        "x64x5 ",
        "x64x8 ",
        "x32x8 ",
    };

    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        assert_has(listed, choices[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_are_listed_with_what_they_are_for),
        cmocka_unit_test(architectures_are_listed_with_whether_they_have_kernels),
        cmocka_unit_test(every_legal_plan_can_be_planned_and_emitted),
        cmocka_unit_test(the_legal_plans_hold_every_tile_of_64_columns_of_k),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
