/* Texts and plans of a dozen named problems, byte for byte. */
#include "tests/support/cmocka_all.h"
#include "tests/support/golden.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *words;
} problems[] = {
    {"gemm_128x256x64", "tile=128x256x64 cluster=1x1x1"},
    {"gemm_128x256x64_c2x1", "tile=128x256x64 cluster=2x1x1"},
    {"gemm_256x128x64_c1x2", "tile=256x128x64 cluster=1x2x1"},
    {"gemm_64x64x64", "tile=64x64x64 cluster=1x1x1"},
    {"gemm_64x16x128", "tile=64x16x128 cluster=1x1x1"},
    {"gemm_128x208x64", "tile=128x208x64 cluster=1x1x1"},
    {"gemm_64x72x64", "tile=64x72x64 cluster=1x1x1"},
    {"gemm_bf16_f32_128x128x64", "tile=128x128x64 cluster=1x1x1 type=bf16 out=f32"},
    {"gemm_beta_128x128x64", "tile=128x128x64 cluster=1x1x1 beta=any"},
    {"gemm_beta_f32_64x72x64", "tile=64x72x64 cluster=1x1x1 out=f32 beta=any"},
    {"gemm_static_k", "tile=128x64x64 cluster=1x1x1 static=k"},
    {"gemm_static_mnk", "tile=128x64x64 cluster=2x1x1 static=m,n,k"},
    {"gemm_hopper_v0_64x32x64", "variant=hopper-v0 tile=64x32x64"},
    {"gemm_hopper_v2", "variant=hopper-v2"},
    {"gemm_hopper_v3_beta_64x64x64", "variant=hopper-v3 tile=64x64x64 beta=any"},
    {"gemm_hopper_v6", "variant=hopper-v6"},
    {"gemm_blackwell_1", "arch=sm_100a variant=blackwell-1"},
    {"gemm_blackwell_4", "arch=sm_100a variant=blackwell-4"},
    {"gemm_blackwell_7", "arch=sm_100a variant=blackwell-7"},
    {"gemm_blackwell_9", "arch=sm_103a variant=blackwell-9"},
    {"gemm_blackwell_best_beta_f32", "arch=sm_100a tile=256x128x64 beta=any out=f32"},
    {"gemm_blackwell_pair_of_64", "arch=sm_100a tile=128x96x64 cta_group=2 type=bf16"},
    {"gemm_blackwell_8_c4x2", "arch=sm_100a variant=blackwell-8 cluster=4x2x1"},
    {"gemm_without_comments", "tile=128x64x64 cluster=2x2x1 annotate=0"},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static void words_of(int i, char words[WORDS_MAX])
{
    snprintf(words, WORDS_MAX, "gemm m=4096 n=2048 k=1024 %s", problems[i].words);
}

static void plans_are_those_that_are_kept(void **state)
{
    (void)state;

    for (int i = 0; i < PROBLEMS; i++) {
        char words[WORDS_MAX], name[128], json[4096];
        struct lathe_plan plan;

        words_of(i, words);
        plan = plan_of(words);

        size_t length = lathe_plan_json(&plan, json, sizeof json - 1);

        assert_true(length < sizeof json - 1);
        strcat(json, "\n");
        snprintf(name, sizeof name, "%s.plan.json", problems[i].name);
        golden_check(name, json);
    }
}

static void texts_are_those_that_are_kept(void **state)
{
    (void)state;

    for (int i = 0; i < PROBLEMS; i++) {
        char words[WORDS_MAX], name[128];
        struct lathe_kernel *kernel;

        words_of(i, words);
        kernel = kernel_of(words);
        snprintf(name, sizeof name, "%s.ptx", problems[i].name);
        golden_check(name, lathe_kernel_text(kernel, NULL));
        lathe_kernel_destroy(&kernel);
    }
}

static void expect_a_problem(const char *file)
{
    for (int i = 0; i < PROBLEMS; i++)
        if (strncmp(file, problems[i].name, strlen(problems[i].name)) == 0 &&
            file[strlen(problems[i].name)] == '.')
            return;
    fail_msg("tests/golden/%s belongs to no problem of this test", file);
}

static void no_file_is_kept_that_nothing_is_compared_with(void **state)
{
    (void)state;

    golden_for_each(".ptx", expect_a_problem);
    golden_for_each(".plan.json", expect_a_problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_those_that_are_kept),
        cmocka_unit_test(texts_are_those_that_are_kept),
        cmocka_unit_test(no_file_is_kept_that_nothing_is_compared_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
