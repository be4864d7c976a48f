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
    struct lathe_explanation e = LATHE_EXPLANATION_INIT;
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
    assert_int_equal(e.refusal.status, LATHE_OK);
    assert_string_equal(e.refusal.message, "");
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
    assert_has(e.refusal.message, "needs 263168 bytes");
    assert_int_equal(e.plan.smem_bytes, 263168);
    assert_int_equal(e.most_stages, 6);
    assert_has(e.limit, "shared memory: 30,720 bytes too many");
    assert_int_equal(e.doors[0].stages, 8);
}

static void what_is_short_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *words, *limit;
    } cases[] = {
        {"gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-4",
         "the flow: one stage is all it can use; 182,272 bytes stay free; tensor memory: 128 of "
         "512 "
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

static void the_wall_is_where_the_flow_or_memory_ends(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        int most, least, room, expected;
    } cases[] = {
        {"arch=sm_100a variant=blackwell-1", 1, 1, 7, 0},
        {"arch=sm_100a variant=blackwell-4", 1, 1, 6, 32768},
        {"arch=sm_100a variant=blackwell-5", 6, 2, 6, 32768},
        {"arch=sm_100a variant=blackwell-8", 6, 1, 6, 65536},
        {"arch=sm_90a tile=128x256x64", 4, 2, 4, 49152},
        {"arch=sm_90a tile=128x256x256", 0, 2, 1, 196608}, /* one, and the flow takes two */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 %s", cases[i].words);

        struct lathe_explanation e = explain(words);

        assert_int_equal(e.most_stages, cases[i].most);
        assert_int_equal(e.least_stages, cases[i].least);
        assert_int_equal(e.room_stages, cases[i].room);
        assert_int_equal(e.expected_bytes, cases[i].expected);
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
    assert_int_equal(tenant_of(&plan, "stage ring")->offset, door->ring_offset);
    assert_true(lt_gemm_l2_bytes(&plan) == door->l2_bytes);
}

/* The explanation is of the very refusal that the plan would get, and of the same doors. */
static void assert_same_refusal(const struct lathe_explanation *e, const struct lathe_error *err)
{
    assert_int_equal(e->refusal.status, err->status);
    assert_string_equal(e->refusal.message, err->message);
    assert_int_equal(e->refusal.needs_bytes, err->needs_bytes);
    assert_int_equal(e->refusal.fits_count, err->fits_count);
    for (int i = 0; i < err->fits_count; i++)
        assert_string_equal(e->refusal.fits_with[i], err->fits_with[i]);
    for (int i = 0; i < e->door_count && i < LATHE_FITS_MAX - 1; i++)
        assert_string_equal(e->doors[i].words, err->fits_with[i]);
    assert_true(err->fits_count <= e->door_count + 1);
}

static void assert_explanation(const char *words)
{
    struct lathe_explanation e = explain(words);
    struct lathe_plan plan;
    struct lathe_error err = {0};
    bool bytes_are_short = e.fits || e.plan.smem_bytes > e.plan.smem_limit;
    int needed = bytes_are_short && e.most_stages < e.plan.stages + e.fits ? e.most_stages + 1 : 1;

    assert_int_equal(e.fits, plan_words(&plan, words, &err) == LATHE_OK);
    if (!e.fits)
        assert_same_refusal(&e, &err);
    assert_int_equal(e.a_bytes + e.b_bytes, lt_gemm_stage_bytes(&e.plan));
    assert_true(e.wall_bytes > e.plan.smem_limit);
    assert_in_range(e.door_count, 0, LATHE_DOORS_MAX);
    for (int i = 0; i < e.door_count; i++) {
        assert_int_equal(e.doors[i].struct_size, sizeof e.doors[i]);
        assert_true(e.doors[i].stages >= needed);
        assert_int_equal(e.doors[i].changes_result, strstr(e.doors[i].words, "out=") != NULL);
        if (i > 0 && e.doors[i - 1].changes_result == e.doors[i].changes_result)
            assert_true(e.doors[i - 1].l2_bytes <= e.doors[i].l2_bytes);
        assert_door(words, &e.doors[i]);
    }
}

/* Rows of D that TMA can write in the one type and not in another, tiles that end within D, named
 * pitches, few multiprocessors. */
static void draw_problem(char words[WORDS_MAX])
{
    static const int sizes[] = {1, 64, 100, 512, 1000, 4096, 4097, 16384};
    static const int columns[] = {8, 24, 520, 1000, 4096, 4100, 4104, 5000};
    static const char *const more[] = {" ldd=6000", " ldd=6008", " ldd=8192",
                                       " sms=4",    " beta=any", " static=k"};

    snprintf(words, WORDS_MAX, "gemm m=%d n=%d k=%d", PICK(sizes), PICK(columns),
             8 * (1 + (int)draw(600)));
    if (one_in(3))
        snprintf(words + strlen(words), WORDS_MAX - strlen(words), "%s", PICK(more));
}

static void draw_plan(char words[WORDS_MAX])
{
    static const char *const archs[] = {"sm_90a", "sm_100a", "sm_103a"};
    static const char *const outs[] = {"f16", "bf16", "f32"};
    static const int rows[] = {64, 128, 256};
    size_t length = strlen(words);

    length += (size_t)snprintf(words + length, WORDS_MAX - length, " arch=%s out=%s", PICK(archs),
                               PICK(outs));
    if (!one_in(4))
        length += (size_t)snprintf(words + length, WORDS_MAX - length, " tile=%dx%ux64", PICK(rows),
                                   16 * (1 + draw(one_in(4) ? 16 : 8)));
    if (one_in(2))
        length += (size_t)snprintf(words + length, WORDS_MAX - length, " stages=%u",
                                   2 + draw(one_in(4) ? 63 : 12));
    if (one_in(8))
        snprintf(words + length, WORDS_MAX - length, " acc_stages=%u", 1 + draw(4));
}

static void every_door_is_what_it_says(void **state)
{
    (void)state;
    int explained = 0;

    draw_from(0x2545f4914f6cdd1d);
    for (int i = 0; i < 2000; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;

        draw_problem(words);
        draw_plan(words);

        enum lathe_status status = plan_words(&plan, words, NULL);

        if (status != LATHE_OK && status != LATHE_DOES_NOT_FIT)
            continue;
        assert_explanation(words);
        explained++;
    }
    print_message("# %d explained\n", explained);
    assert_true(explained > 800);
}

static bool has_door(const struct lathe_explanation *e, const char *words)
{
    for (int i = 0; i < e->door_count; i++)
        if (strcmp(e->doors[i].words, words) == 0)
            return true;
    return false;
}

static void a_type_whose_rows_tma_cannot_write_is_no_door(void **state)
{
    (void)state;
    static const char two_sm[] =
        "gemm m=4096 n=%d k=4096 out=f32 arch=sm_100a cluster=2x1x1 tile=256x128x64 cta_group=2";
    char words[WORDS_MAX];

    for (int n = 4096; n <= 4104; n += 8) {
        snprintf(words, sizeof words, two_sm, n);

        struct lathe_explanation e = explain(words);

        assert_int_equal(has_door(&e, "out=e4m3 stages=9"), n == 4096);
        assert_explanation(words);
    }
}

static void where_no_way_has_as_many_stages_as_asked_for_doors_lead_to_more_than_fit(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "gemm m=4096 n=4096 k=4096 arch=sm_100a stages=64",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a stages=64",
    };

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct lathe_explanation e = explain(requests[i]);

        assert_true(e.door_count > 0);
        for (int d = 0; d < e.door_count; d++)
            assert_true(e.doors[d].stages > e.most_stages);
        assert_explanation(requests[i]);
    }
}

static void where_the_flow_is_the_wall_another_flow_is_the_door(void **state)
{
    (void)state;

    for (int step = 1; step <= 4; step++) {
        char words[WORDS_MAX];
        bool flow = false;

        snprintf(words, sizeof words, "gemm m=4096 n=4096 k=4096 arch=sm_100a variant=blackwell-%d",
                 step);

        struct lathe_explanation e = explain(words);

        for (int i = 0; i < e.door_count; i++)
            flow = flow || strstr(e.doors[i].words, "flow=pipelined");
        assert_true(flow);
        assert_explanation(words);
    }
}

static void an_explanation_of_another_header_is_refused(void **state)
{
    (void)state;
    struct lathe_request request = request_of("gemm m=64 n=64 k=64");
    struct lathe_explanation e = LATHE_EXPLANATION_INIT;
    struct lathe_error err = {0};

    e.struct_size -= sizeof e.doors[0];
    assert_int_equal(lathe_explain_gemm(&e, &request.gemm, NULL, &err), LATHE_MISUSED);
    assert_has(err.message, "compile what uses it anew");
    e.struct_size = 0;
    assert_int_equal(lathe_explain_gemm(&e, &request.gemm, NULL, &err), LATHE_MISUSED);
    assert_has(err.message, "make it with its _INIT macro");
}

static void what_is_refused_for_something_else_is_not_explained(void **state)
{
    (void)state;
    struct lathe_request request = request_of("gemm m=64 n=64 k=64 tile=100x64x64");
    struct lathe_explanation e = LATHE_EXPLANATION_INIT;
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
        cmocka_unit_test(a_type_whose_rows_tma_cannot_write_is_no_door),
        cmocka_unit_test(where_no_way_has_as_many_stages_as_asked_for_doors_lead_to_more_than_fit),
        cmocka_unit_test(the_wall_is_where_the_flow_or_memory_ends),
        cmocka_unit_test(where_the_flow_is_the_wall_another_flow_is_the_door),
        cmocka_unit_test(an_explanation_of_another_header_is_refused),
        cmocka_unit_test(what_is_refused_for_something_else_is_not_explained),
    };

    return cmocka_run_group_tests_name("templates explain", tests, NULL, NULL);
}
