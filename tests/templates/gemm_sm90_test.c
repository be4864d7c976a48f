/* What the kernels of sm_90a do: their text is played on the host, see walk.h. */
#include "templates/gemm_sm90.h"

#include "tests/support/cmocka_all.h"
#include "tests/templates/fixture.h"
#include "tests/templates/walk.h"

#include <stdio.h>

/* A little more than one cluster tile of rows, a little less than two of columns, and two and a
 * half steps of k, unless the sizes are baked in. Rows of D end with whole 16 bytes or `edge`
 * elements behind them. */
static void walk_sample(const char *words, float beta, int edge)
{
    struct lathe_kernel *kernel = kernel_of(words);
    const struct lathe_plan *plan = lathe_kernel_plan(kernel);
    int64_t m = plan->tile[0] * plan->cluster[0] + 40;
    int64_t n = 2 * plan->tile[1] * plan->cluster[1] - 8 + edge;
    int64_t k = 2 * plan->tile[2] + 24;

    if (plan->statics == LATHE_STATIC_MNK) {
        m = plan->static_size[0];
        n = plan->static_size[1];
    }
    if (plan->statics != LATHE_STATIC_NONE)
        k = plan->static_size[2];
    walk_cluster(kernel, m, n, k, 2, beta);
    lathe_kernel_destroy(&kernel);
}

static void every_element_of_d_is_made_once_of_the_right_rows_and_columns(void **state)
{
    (void)state;

    for (int i = 0; i < sample_count; i++)
        walk_sample(sample_requests[i], 1.0f, 0);
}

static void the_last_columns_are_made_too_where_they_are_no_whole_16_bytes(void **state)
{
    (void)state;

    for (int i = 0; i < sample_count; i++)
        walk_sample(sample_requests[i], 1.0f, 1 + i % 7);
}

static void rows_of_every_width_end_where_they_should(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "gemm m=64 n=64 k=64 tile=128x72x64 cluster=1x1x1",
        "gemm m=64 n=64 k=64 tile=128x72x64 cluster=1x1x1 out=f32 beta=any",
        "gemm m=64 n=64 k=64 tile=64x136x64 cluster=1x1x1 beta=any epilogue=64x64x1",
    };

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct lathe_kernel *kernel = kernel_of(requests[i]);

        for (int64_t n = 1; n <= 80; n += n < 20 || n > 60 ? 1 : 7)
            walk_cluster(kernel, 130, n, 64, 1, 1.0f);
        lathe_kernel_destroy(&kernel);
    }
}

static void an_a_that_is_shorter_than_a_tile_is_fetched_as_far_as_it_goes(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "gemm m=64 n=64 k=64 tile=64x16x128 cluster=1x1x1",
        "gemm m=64 n=64 k=64 tile=64x16x64 cluster=1x2x1",
        "gemm m=64 n=64 k=64 tile=64x16x64 cluster=1x8x1",
        "gemm m=64 n=64 k=64 tile=128x16x64 cluster=1x4x1 beta=any",
        "gemm m=64 n=64 k=64 tile=128x16x64 cluster=2x2x1",
        "gemm m=64 n=64 k=64 tile=192x16x64 cluster=2x1x1",
    };
    static const int64_t rows[] = {1, 7, 8, 9, 16, 17, 20, 31, 40, 63, 64, 65, 100, 127, 128, 129};

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct lathe_kernel *kernel = kernel_of(requests[i]);

        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++)
            walk_cluster(kernel, rows[j], 40, 200, 2, 1.0f);
        lathe_kernel_destroy(&kernel);
    }
}

static void with_beta_0_nothing_of_c_is_read(void **state)
{
    (void)state;

    walk_sample("gemm m=64 n=64 k=64 tile=128x72x64 cluster=1x1x1 beta=any", 0.0f, 3);
    walk_sample("gemm m=64 n=64 k=64 tile=64x72x64 cluster=1x1x1 out=f32 beta=any", 0.0f, 3);
}

static void with_k_0_one_step_lies_outside_of_a_and_b(void **state)
{
    (void)state;
    struct lathe_kernel *kernel =
        kernel_of("gemm m=64 n=64 k=64 tile=64x64x128 cluster=2x1x1 beta=any");

    walk_cluster(kernel, 200, 64, 0, 1, 1.0f);
    lathe_kernel_destroy(&kernel);
}

static void an_empty_output_is_walked_through_without_a_step(void **state)
{
    (void)state;
    struct lathe_kernel *kernel = kernel_of("gemm m=64 n=64 k=64 tile=128x64x64 cluster=2x1x1");

    walk_cluster(kernel, 0, 64, 64, 4, 1.0f);
    walk_cluster(kernel, 64, 0, 64, 4, 1.0f);
    lathe_kernel_destroy(&kernel);
}

static void rings_of_every_depth_are_walked_around(void **state)
{
    (void)state;

    for (int stages = 2; stages <= 7; stages++) {
        char words[WORDS_MAX];
        struct lathe_kernel *kernel;

        snprintf(words, sizeof words, "gemm m=64 n=64 k=64 tile=64x16x64 cluster=1x1x1 stages=%d",
                 stages);
        kernel = kernel_of(words);
        walk_cluster(kernel, 190, 40, 330, 2, 0.0f);
        lathe_kernel_destroy(&kernel);
    }
}

static void staging_of_every_depth_is_handed_to_tma_and_taken_back(void **state)
{
    (void)state;
    static const char *const outputs[] = {"out=f16", "out=f32", "out=f16 beta=any",
                                          "out=f32 beta=any"};

    for (int buffers = 1; buffers <= 8; buffers++)
        for (size_t i = 0; i < 4; i++) {
            char words[WORDS_MAX];

            snprintf(words, sizeof words,
                     "gemm m=64 n=64 k=64 tile=64x168x64 cluster=1x1x1 %s epilogue=64x%dx%d",
                     outputs[i], i % 2 ? 32 : 64, buffers);
            walk_sample(words, 1.0f, buffers % 4);
        }
}

static void every_width_of_a_tile_is_stored(void **state)
{
    (void)state;

    for (int columns = 8; columns <= 256; columns += 8) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=64 n=64 k=64 tile=64x%dx64 cluster=1x1x1 out=%s",
                 columns, columns % 16 ? "f32" : "bf16");
        walk_sample(words, 0.0f, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_of_d_is_made_once_of_the_right_rows_and_columns),
        cmocka_unit_test(the_last_columns_are_made_too_where_they_are_no_whole_16_bytes),
        cmocka_unit_test(rows_of_every_width_end_where_they_should),
        cmocka_unit_test(an_a_that_is_shorter_than_a_tile_is_fetched_as_far_as_it_goes),
        cmocka_unit_test(with_beta_0_nothing_of_c_is_read),
        cmocka_unit_test(with_k_0_one_step_lies_outside_of_a_and_b),
        cmocka_unit_test(an_empty_output_is_walked_through_without_a_step),
        cmocka_unit_test(rings_of_every_depth_are_walked_around),
        cmocka_unit_test(staging_of_every_depth_is_handed_to_tma_and_taken_back),
        cmocka_unit_test(every_width_of_a_tile_is_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
