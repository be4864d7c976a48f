/* Clusters of more than a CTA, or a pair, on sm_100a: who fetches which rows, and who hears of a
 * stage that goes. */
#include "include/lathe.h"

#include "templates/gemm_sm100_check.h"
#include "templates/gemm_tile.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

#define BIG "gemm m=4096 n=4096 k=4096 arch=sm_100a "

/* Rows of the boxes of A and of B; commits that a stage waits for until it is empty. */
static const struct {
    const char *words;
    int a_rows, b_rows, commits;
} samples[] = {
    {BIG "variant=blackwell-7 cluster=2x1x1", 128, 64, 2},
    {BIG "variant=blackwell-7 cluster=1x2x1", 64, 128, 2},
    {BIG "variant=blackwell-7 cluster=2x2x1", 64, 64, 3},
    {BIG "variant=blackwell-7 cluster=4x2x1", 64, 32, 5},
    {BIG "variant=blackwell-7 cluster=1x8x1 tile=64x128x64", 8, 128, 8},
    {BIG "variant=blackwell-8 cluster=4x1x1", 128, 64, 2},
    {BIG "variant=blackwell-8 cluster=2x2x1", 64, 128, 2},
    {BIG "variant=blackwell-8 cluster=4x2x1", 64, 64, 3},
    {BIG "variant=blackwell-8 cluster=8x1x1 type=e4m3", 128, 32, 4},
    {BIG "variant=blackwell-9 cluster=4x1x1", 128, 64, 2 * 2},
    {BIG "variant=blackwell-9 cluster=2x4x1", 32, 128, 2 * 4},
    {BIG "variant=blackwell-best tile=256x128x128 cluster=4x2x1", 64, 32, 3},
    {BIG "variant=blackwell-best tile=256x128x64 cluster=2x1x1 cta_group=1", 128, 64, 2 * 2},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static void a_box_is_the_slice_of_those_who_hold_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const struct lathe_contract *contract = lathe_kernel_contract(kernel);

        for (int j = 0; j < contract->tensor_map_count; j++) {
            const struct lathe_tensor_map *map = &contract->tensor_maps[j];

            if (map->operand == LATHE_A)
                assert_int_equal(map->box[1], samples[i].a_rows);
            if (map->operand == LATHE_B)
                assert_int_equal(map->box[1], samples[i].b_rows);
        }
        lathe_kernel_destroy(&kernel);
    }
}

/* Whoever fetches slices, a full barrier waits for what its stage holds. */
static void a_full_barrier_waits_for_the_whole_stage(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const struct lathe_plan *plan = lathe_kernel_plan(kernel);
        char bytes[64];

        snprintf(bytes, sizeof bytes, "[%%tiles_full], %d;",
                 plan->cta_group * lt_gemm_stage_bytes(plan));
        assert_int_equal(ptx_count(lathe_kernel_text(kernel, NULL), bytes), 1);
        lathe_kernel_destroy(&kernel);
    }
}

static void an_empty_barrier_waits_for_all_who_read_what_its_cta_fetches(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const char *text = lathe_kernel_text(kernel, NULL);
        char init[64];

        snprintf(init, sizeof init, "mbarrier.init.shared::cta.b64 [%%tiles_empty], %d;",
                 samples[i].commits);
        assert_has(text, init);
        assert_has(text, "[%tiles_empty], %filling_mask;");
        lathe_kernel_destroy(&kernel);
    }
}

static void what_several_hold_is_a_multicast(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        struct lathe_kernel *kernel = kernel_of(samples[i].words);
        const char *text = lathe_kernel_text(kernel, NULL);
        const struct lathe_plan *plan = lathe_kernel_plan(kernel);
        int spans = plan->tile[2] * lathe_type_bytes(plan->type) / LT_SPAN_BYTES;

        assert_int_equal(ptx_count(text, "], %a_mask;"),
                         lt_gemm_a_sharers(plan) > 1 ? spans * plan->consumers : 0);
        assert_int_equal(ptx_count(text, "], %b_mask;"), lt_gemm_b_sharers(plan) > 1 ? spans : 0);
        assert_int_equal(ptx_count(text, "barrier.cluster.wait;"), 1); /* start-up */
        assert_int_equal(ptx_count(text, "$producer_tiles_drained_wait:"), 1);
        lathe_kernel_destroy(&kernel);
    }
}

/* Bit r is the CTA of rank r, which stands at (r % A, r / A). */
static void masks_name_a_row_a_half_of_a_column_and_the_cross_of_both(void **state)
{
    (void)state;
    struct lathe_kernel *kernel = kernel_of(BIG "variant=blackwell-8 cluster=4x2x1");
    const char *text = lathe_kernel_text(kernel, NULL);

    assert_has(text, "mov.b32 %a_ranks, 0x11;\n        shl.b32 %a_ranks, %a_ranks, %cta_m;");
    assert_has(text, "mov.b32 %b_ranks, 0x5;\n"
                     "        shl.b32 %b_ranks, %b_ranks, %b_first_rank;");
    assert_has(text, "mad.lo.u32 %b_first_rank, %cluster_n, 4, %pair_rank;");
    assert_has(text, "mov.b32 %column_ranks, 0xf;");
    assert_has(text, "mov.b32 %row_ranks, 0x33;");
    assert_has(text, "or.b32 %filling_ranks, %column_ranks, %row_ranks;");
    lathe_kernel_destroy(&kernel);
}

static void a_cta_or_a_pair_alone_shares_nothing(void **state)
{
    (void)state;
    static const char *const alone[] = {
        BIG "variant=blackwell-7",
        BIG "variant=blackwell-8",
        BIG "variant=blackwell-9 schedule=dynamic",
    };

    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        struct lathe_kernel *kernel = kernel_of(alone[i]);

        assert_lacks(lathe_kernel_text(kernel, NULL), "%a_mask");
        assert_lacks(lathe_kernel_text(kernel, NULL), "%b_mask");
        assert_lacks(lathe_kernel_text(kernel, NULL), "%filling_mask");
        lathe_kernel_destroy(&kernel);
    }
}

/* Who loads does all the rest as well there. */
static void without_roles_each_cta_fetches_for_itself(void **state)
{
    (void)state;
    static const char *const rungs[] = {"blackwell-4", "blackwell-5", "blackwell-6"};

    for (int i = 0; i < 3; i++) {
        char words[WORDS_MAX];
        struct lathe_kernel *kernel;

        snprintf(words, sizeof words, BIG "variant=%s cluster=2x2x1", rungs[i]);
        kernel = kernel_of(words);
        assert_lacks(lathe_kernel_text(kernel, NULL), "multicast");
        assert_lacks(lathe_kernel_text(kernel, NULL), "barrier.cluster");
        lathe_kernel_destroy(&kernel);
    }
}

static void slices_are_whole_repeats_of_the_swizzle(void **state)
{
    (void)state;
    assert_refused(BIG "tile=256x80x64 cluster=4x1x1", LATHE_UNSUPPORTED,
                   "tile=256x80x64 cluster=4x1x1: 2 CTAs fetch B together, and 20 rows each is no "
                   "multiple of the 8 after which the swizzle repeats; columns in steps of 32");
    assert_refused(BIG "tile=64x24x64 cluster=2x1x1 cta_group=1", LATHE_UNSUPPORTED,
                   "and 12 rows each");
    plan_of(BIG "tile=256x96x64 cluster=4x1x1");
    /* A pair's halves of B are no slices. */
    plan_of(BIG "tile=256x80x64 cluster=2x1x1");
    /* Nor is what each CTA fetches for itself. */
    plan_of(BIG "variant=blackwell-6 tile=64x24x64 cluster=2x1x1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_the_slice_of_those_who_hold_the_same),
        cmocka_unit_test(a_full_barrier_waits_for_the_whole_stage),
        cmocka_unit_test(an_empty_barrier_waits_for_all_who_read_what_its_cta_fetches),
        cmocka_unit_test(what_several_hold_is_a_multicast),
        cmocka_unit_test(masks_name_a_row_a_half_of_a_column_and_the_cross_of_both),
        cmocka_unit_test(a_cta_or_a_pair_alone_shares_nothing),
        cmocka_unit_test(without_roles_each_cta_fetches_for_itself),
        cmocka_unit_test(slices_are_whole_repeats_of_the_swizzle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
