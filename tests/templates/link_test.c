/* What ptxas says of the kernels: no spilled register, no warning of the MMA pipeline. */
#include "include/lathe_tools.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/golden.h"
#include "tests/support/nvjitlink.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int linked;

static void link_golden(const char *file)
{
    char *text = golden_read(file);

    nvjitlink_expect_clean(text,
                           strstr(text, ".target sm_103a")   ? "sm_103a"
                           : strstr(text, ".target sm_100a") ? "sm_100a"
                                                             : "sm_90a",
                           file);
    free(text);
    linked++;
}

static void every_kept_text_links_without_spills_or_warnings(void **state)
{
    (void)state;
    nvjitlink_need();

    linked = 0;
    golden_for_each(".ptx", link_golden);

    assert_true(linked >= 16);
}

static void every_sample_links_without_spills_or_warnings(void **state)
{
    (void)state;
    nvjitlink_need();

    for (int i = 0; i < sample_count; i++) {
        struct lathe_kernel *kernel = kernel_of(sample_requests[i]);

        /* setmaxnreg has no effect in a text that is linked, and ptxas says so. */
        if (lathe_kernel_plan(kernel)->regs[0] == 0)
            nvjitlink_expect_clean(lathe_kernel_text(kernel, NULL), "sm_90a", sample_requests[i]);
        lathe_kernel_destroy(&kernel);
    }
}

/* Words that take registers, with each rung's own tile: the largest that it has. */
static void link_corners(const struct lathe_variant_info *info, const char *arch)
{
    static const char *const outs[] = {"", " out=f32"}, *const betas[] = {"", " beta=any"},
                             *const stores[] = {"", " store=threads", " store=tma"};

    for (size_t i = 0; i < 2 * 2 * 3; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;
        struct lathe_kernel *kernel;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=%s variant=%s%s%s%s", arch,
                 info->name, outs[i % 2], betas[i / 2 % 2], stores[i / 4]);
        if (plan_words(&plan, words, NULL) != LATHE_OK)
            continue;
        kernel = kernel_of(words);
        nvjitlink_expect_clean(lathe_kernel_text(kernel, NULL), arch, words);
        lathe_kernel_destroy(&kernel);
        linked++;
    }
}

static void the_corners_of_the_ladders_link_without_spills_or_warnings(void **state)
{
    (void)state;
    struct lathe_variant_info info;

    nvjitlink_need();
    linked = 0;
    for (size_t i = 0; lathe_variant_at(i, &info); i++)
        link_corners(&info, lathe_arch_name(info.arch));
    assert_true(linked > 100);
}

static void clusters_that_fetch_together_link_without_spills_or_warnings(void **state)
{
    (void)state;
    static const char *const rungs[] = {
        "blackwell-7 cluster=2x1x1",    "blackwell-7 cluster=1x2x1",
        "blackwell-7 cluster=4x2x1",    "blackwell-8 cluster=4x1x1",
        "blackwell-8 cluster=2x2x1",    "blackwell-8 cluster=4x2x1",
        "blackwell-9 cluster=4x1x1",    "blackwell-9 cluster=2x2x1",
        "blackwell-9 cluster=4x2x1",    "blackwell-best cluster=4x1x1",
        "blackwell-best cluster=2x2x1", "blackwell-best cluster=4x2x1",
    };
    static const char *const besides[] = {"", " schedule=dynamic", " type=e4m3 beta=any",
                                          " type=tf32 out=f32"};
    static const char *const archs[] = {"sm_100a", "sm_103a"};
    enum { RUNGS = sizeof rungs / sizeof rungs[0] };

    nvjitlink_need();
    for (int i = 0; i < RUNGS * 4 * 2; i++) {
        char words[WORDS_MAX];
        struct lathe_kernel *kernel;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 variant=%s%s arch=%s",
                 rungs[i % RUNGS], besides[i / RUNGS % 4], archs[i / RUNGS / 4]);
        kernel = kernel_of(words);
        nvjitlink_expect_clean(lathe_kernel_text(kernel, NULL), archs[i / RUNGS / 4], words);
        lathe_kernel_destroy(&kernel);
    }
}

/* Its elements are two words each before they are stored, and the rung's tile leaves no room. */
static void wide_elements_of_narrow_sums_need_more_registers(void **state)
{
    (void)state;
    struct lathe_plan plan;
    struct lathe_error err = {.status = LATHE_OK};

    assert_int_equal(plan_words(&plan,
                                "gemm m=512 n=512 k=512 arch=sm_90a variant=hopper-v6 "
                                "store=threads out=f32",
                                &err),
                     LATHE_UNSUPPORTED);
    assert_non_null(strstr(err.message, "registers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kept_text_links_without_spills_or_warnings),
        cmocka_unit_test(every_sample_links_without_spills_or_warnings),
        cmocka_unit_test(the_corners_of_the_ladders_link_without_spills_or_warnings),
        cmocka_unit_test(clusters_that_fetch_together_link_without_spills_or_warnings),
        cmocka_unit_test(wide_elements_of_narrow_sums_need_more_registers),
    };

    return cmocka_run_group_tests(tests, nvjitlink_setup, NULL);
}
