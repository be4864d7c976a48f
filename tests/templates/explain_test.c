/* Explanations: the wall, what is short, and doors that are what they say. */
#include "include/lathe_tools.h"
#include "templates/gemm_tile.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/draw.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

static struct lathe_explanation explain(const char *words)
{
    struct lathe_request request = request_of(words);
    struct lathe_explanation e;
    struct lathe_error err = {0};

    if (lathe_explain_gemm(&e, &request.gemm, &request.plan, &err) != LATHE_OK)
        fail_msg("%s: %s", words, err.message);
    return e;
}

#define ONE_SM                                                                                     \
    "gemm m=4096 n=4096 k=4096 out=f32 arch=sm_100a cluster=2x1x1 tile=128x128x64 cta_group=1"

static void a_plan_that_fits_is_told_where_the_wall_is(void **state)
{
    (void)state;
    struct lathe_explanation e = explain(ONE_SM);

    assert_int_equal(e.fits, 1);
    assert_string_equal(e.refusal, "");
    assert_int_equal(e.plan.smem_bytes, 230400);
    assert_int_equal(e.a_bytes, 16384);
    assert_int_equal(e.b_bytes, 16384);
    assert_int_equal(e.expected_bytes, 32768);
    assert_int_equal(e.most_stages, 6);
    assert_int_equal(e.wall_bytes, 263168);
    assert_string_equal(e.limit, "shared memory is full; tensor memory: 256 of 512 columns");
    assert_true(e.l2_bytes > 0.01171 &&
                e.l2_bytes < 0.01172); /* (256 + 128) * 2 / (2 * 256 * 128) */
    assert_string_equal(e.doors[0].words, "cta_group=2 tile=256x128x64 stages=8");
    assert_true(e.doors[0].l2_bytes == e.l2_bytes);
}

static void a_plan_that_does_not_fit_is_explained_too(void **state)
{
    (void)state;
    struct lathe_explanation e = explain(ONE_SM " stages=7");

    assert_int_equal(e.fits, 0);
    assert_has(e.refusal, "needs 263168 bytes");
    assert_int_equal(e.plan.smem_bytes, 263168);
    assert_int_equal(e.most_stages, 6);
    assert_has(e.limit, "shared memory: 30720 bytes too many");
    assert_int_equal(e.doors[0].stages, 8);
}

static void what_is_short_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *words, *limit;
    } cases[] = {
        {"gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-4",
         "the flow: one stage is all it can use; 182272 bytes stay free; tensor memory: 128 of 512 "
         "columns"},
        {"gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-8",
         "nothing yet: 4 stages are used, 6 fit; tensor memory: 256 of 512 columns"},
        {"gemm m=4096 n=4096 k=4096 arch=sm_100a tile=512x256x64 acc_stages=2",
         "tensor memory: 1024 columns are needed, and there are 512"},
        {"gemm m=4096 n=4096 k=4096 arch=sm_90a tile=128x256x64", "shared memory is full"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lathe_explanation e = explain(cases[i].words);

        assert_string_equal(e.limit, cases[i].limit);
    }
}

/* Appended to the request, a door's words give the plan that it tells of. */
static void assert_door(const char *words, const struct lathe_door *door)
{
    char again[WORDS_MAX];
    struct lathe_plan plan;
    struct lathe_error err = {0};

    snprintf(again, sizeof again, "%s %s", words, door->words);
    if (plan_words(&plan, again, &err) != LATHE_OK)
        fail_msg("%s: %s", again, err.message);
    assert_int_equal(plan.stages, door->stages);
    assert_int_equal(plan.smem_bytes, door->smem_bytes);
    assert_int_equal(plan.tmem_columns, door->tmem_columns);
    assert_int_equal(plan.cta_group, door->cta_group);
    assert_memory_equal(plan.tile, door->tile, sizeof plan.tile);
    assert_int_equal(lt_gemm_stage_bytes(&plan), door->stage_bytes);
    assert_true(lt_gemm_l2_bytes(&plan) == door->l2_bytes);
}

static void assert_explanation(const char *words)
{
    struct lathe_explanation e = explain(words);
    struct lathe_plan plan;
    int needed = e.fits ? e.most_stages + 1 : 1;

    assert_int_equal(e.fits, plan_words(&plan, words, NULL) == LATHE_OK);
    assert_int_equal(e.a_bytes + e.b_bytes, lt_gemm_stage_bytes(&e.plan));
    assert_true(e.wall_bytes > e.plan.smem_limit);
    assert_in_range(e.door_count, 0, LATHE_DOORS_MAX);
    for (int i = 0; i < e.door_count; i++) {
        assert_true(e.doors[i].stages >= needed);
        assert_int_equal(e.doors[i].changes_result, strstr(e.doors[i].words, "out=") != NULL);
        if (i > 0 && e.doors[i - 1].changes_result == e.doors[i].changes_result)
            assert_true(e.doors[i - 1].l2_bytes <= e.doors[i].l2_bytes);
        assert_door(words, &e.doors[i]);
    }
}

static void every_door_is_what_it_says(void **state)
{
    (void)state;
    static const char *const archs[] = {"sm_90a", "sm_100a", "sm_103a"};
    static const char *const outs[] = {"f16", "bf16", "f32"};
    static const int rows[] = {64, 128, 256};

    draw_from(0x2545f4914f6cdd1d);
    for (int i = 0; i < 400; i++) {
        const char *arch = PICK(archs), *out = PICK(outs);
        int tile_rows = PICK(rows), columns = 16 * (1 + (int)draw(8)), stages = 2 + (int)draw(12);
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=%s out=%s tile=%dx%dx64",
                 arch, out, tile_rows, columns);
        if (one_in(2))
            snprintf(words + strlen(words), sizeof words - strlen(words), " stages=%d", stages);
        assert_explanation(words);
    }
}

static void what_is_refused_for_something_else_is_not_explained(void **state)
{
    (void)state;
    struct lathe_request request = request_of("gemm m=64 n=64 k=64 tile=100x64x64");
    struct lathe_explanation e;
    struct lathe_error err = {0};

    assert_int_equal(lathe_explain_gemm(&e, &request.gemm, &request.plan, &err), LATHE_UNSUPPORTED);
    assert_true(err.fits_count > 0);
    assert_int_equal(lathe_explain_gemm(NULL, &request.gemm, NULL, &err), LATHE_MISUSED);
    assert_int_equal(lathe_explain_gemm(&e, NULL, NULL, &err), LATHE_MISUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_that_fits_is_told_where_the_wall_is),
        cmocka_unit_test(a_plan_that_does_not_fit_is_explained_too),
        cmocka_unit_test(what_is_short_is_named),
        cmocka_unit_test(every_door_is_what_it_says),
        cmocka_unit_test(what_is_refused_for_something_else_is_not_explained),
    };

    return cmocka_run_group_tests_name("templates explain", tests, NULL, NULL);
}
