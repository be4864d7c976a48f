/* Refusals and their ways out, by thousands of requests drawn from a fixed seed. */
#include "codegen/fields.h"

#include "tests/support/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "templates/registry.h"
#include "tests/templates/draw.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REQUESTS = 10000 };

/* ---- Drawing ---- */

static void add(char *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *words, const char *format, ...)
{
    size_t length = strlen(words);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words + length, WORDS_MAX - length, format, arguments);
    va_end(arguments);
}

static void draw_problem(char *words)
{
    static const long long sizes[] = {0,    1,    7,    8,    12,   16,    63,        64,
                                      96,   100,  128,  200,  256,  1000,  1024,      1536,
                                      4096, 4104, 5000, 7000, 8192, 65536, 2147479552};
    static const char *const types[] = {"f16", "bf16"}, *const others[] = {"tf32", "e4m3", "int8"};
    static const char *const outs[] = {"f16", "bf16", "f32"};
    static const char *const statics[] = {"k", "m,n,k", "none"};
    static const char *const pitches[] = {"lda", "ldb", "ldc", "ldd"};
    static const char *const layouts[] = {"tn", "nn", "tt"};

    /* Most rows are multiples of 8, or nearly all requests would be refused for theirs. */
    add(words, "gemm m=%lld n=%lld k=%lld", PICK(sizes),
        one_in(8) ? PICK(sizes) : 8LL * (draw(600) + 1),
        one_in(8) ? PICK(sizes) : 8LL * (draw(600) + 1));
    if (one_in(2))
        add(words, " type=%s", one_in(15) ? PICK(others) : PICK(types));
    if (one_in(3))
        add(words, " out=%s", one_in(15) ? "s32" : PICK(outs));
    if (one_in(3))
        add(words, " beta=%s", one_in(3) ? "0" : "any");
    if (one_in(5))
        add(words, " static=%s", PICK(statics));
    if (one_in(30))
        add(words, " layout=%s", PICK(layouts));
    while (one_in(8))
        add(words, " %s=%u", PICK(pitches), one_in(2) ? 8 * draw(2000) + 8 : draw(10000) + 1);
}

static void draw_tile(char *words)
{
    static const int rows[] = {64, 64, 128, 128, 192, 256, 256},
                     odd_rows[] = {320, 100, 32, 512, 1};
    static const int ks[] = {64, 64, 64, 128, 192, 256}, odd_ks[] = {32, 100, 320, 512};
    uint32_t columns = one_in(12) ? draw(512) + 1 : 8 * (draw(32) + 1);

    add(words, " tile=%dx%ux%d", one_in(12) ? PICK(odd_rows) : PICK(rows), columns,
        one_in(12) ? PICK(odd_ks) : PICK(ks));
}

/* What plans with accumulators in tensor memory have besides. */
static void draw_blackwell(char *words)
{
    static const char *const variants[] = {"blackwell-1", "blackwell-3",   "blackwell-4",
                                           "blackwell-5", "blackwell-7",   "blackwell-8",
                                           "blackwell-9", "blackwell-best"};
    static const int rows[] = {64, 128, 128, 256, 256, 512}, columns[] = {8, 16, 32, 40, 64, 128};
    static const char *const flows[] = {"stepwise", "serial", "pipelined", "specialised"};
    static const char *const schedules[] = {"single", "grid", "persistent", "dynamic"};

    add(words, " arch=%s", one_in(4) ? "sm_103a" : "sm_100a");
    if (one_in(3))
        add(words, " variant=%s", PICK(variants));
    if (one_in(2))
        add(words, " tile=%dx%ux%u", one_in(16) ? (int)draw(8) + 1 : PICK(rows),
            16 * (draw(16) + 1), 64 * (draw(4) + 1));
    if (one_in(2))
        add(words, " cta_group=%u", draw(2) + 1);
    if (one_in(3))
        add(words, " stages=%u", one_in(4) ? draw(64) + 1 : draw(12) + 1);
    if (one_in(5))
        add(words, " acc_stages=%u", draw(4) + 1);
    if (one_in(5))
        add(words, " epilogue=128x%dx%u", PICK(columns), draw(4) + 1);
    if (one_in(8))
        add(words, " load=%s", one_in(2) ? "threads" : "tma");
    if (one_in(8))
        add(words, " store=%s", one_in(2) ? "threads" : "tma");
    if (one_in(8))
        add(words, " flow=%s", PICK(flows));
    if (one_in(8))
        add(words, " schedule=%s", PICK(schedules));
    if (one_in(4))
        add(words, " out=%s", one_in(2) ? "f32" : "e4m3");
    if (one_in(6))
        add(words, " cluster=%ux%ux1", 1U << draw(4), 1U << draw(3));
    if (one_in(10))
        add(words, " consumers=%u", draw(3) + 1);
    if (one_in(20))
        add(words, " regs=%ux%u", 8 * (draw(30) + 3), 8 * (draw(30) + 3));
}

static void draw_hopper(char *words)
{
    static const int ctas[] = {1, 1, 2, 2, 4, 8}, odd_ctas[] = {3, 16};
    static const char *const archs[] = {"sm_90a", "sm_90a", "sm_80", "sm_100a", "sm_120a"};
    static const int registers[] = {24, 40, 104, 168, 176, 232, 240, 30};

    if (one_in(2))
        draw_tile(words);
    if (one_in(3))
        add(words, " cluster=%dx%dx%d", one_in(12) ? PICK(odd_ctas) : PICK(ctas),
            one_in(2) ? 1 : PICK(ctas), one_in(20) ? 2 : 1);
    if (one_in(3))
        add(words, " stages=%u", one_in(4) ? draw(64) + 1 : draw(6) + 1);
    if (one_in(6))
        add(words, " consumers=%u", one_in(8) ? draw(4) + 1 : draw(2) + 1);
    if (one_in(20))
        add(words, " cta_group=%u", draw(2) + 1);
    if (one_in(20))
        add(words, " split=%u", draw(2) + 1);
    if (one_in(8))
        add(words, " epilogue=%ux%ux%u", 64 * (draw(2) + 1), one_in(3) ? 32u : 64u, draw(9) + 1);
    if (one_in(20))
        add(words, " regs=%dx%d", PICK(registers), PICK(registers));
    if (one_in(8))
        add(words, " raster=%u", draw(65536) + 1);
    if (one_in(8))
        add(words, " sms=%u", draw(200) + 1);
    if (one_in(25))
        add(words, " arch=%s", PICK(archs));
    if (one_in(25))
        add(words, " variant=%s", one_in(2) ? "hopper-best" : "hopper-worst");
    if (one_in(8))
        add(words, " annotate=%u", draw(2));
    if (one_in(20))
        add(words, " schedule=persistent");
}

static void draw_request(char words[WORDS_MAX])
{
    words[0] = '\0';
    draw_problem(words);
    if (one_in(3))
        draw_blackwell(words);
    else
        draw_hopper(words);
}

/* ---- What must hold ---- */

/* Every field that the request names stands in the plan as it was named. */
static void assert_named_fields_hold(const struct lathe_request *request,
                                     const struct lathe_plan *plan)
{
    for (size_t i = 0; i < lt_plan_field_count; i++) {
        const struct lt_field *field = &lt_plan_fields[i];
        const char *named = (const char *)&request->plan + field->offset;
        struct lt_text want = {0}, got = {0};

        if (!lt_field_is_set(field, named) || field->kind == LT_NAME)
            continue;
        lt_field_print(field, named, &want);
        lt_field_print(field, (const char *)plan + field->plan_offset, &got);
        if (strcmp(want.data, got.data) != 0)
            fail_msg("%s=%s became %s", field->key, want.data, got.data);
        lt_text_free(&want);
        lt_text_free(&got);
    }
}

static void assert_same_words(const struct lathe_plan *a, const struct lathe_plan *b)
{
    char a_words[WORDS_MAX], b_words[WORDS_MAX];

    lathe_plan_words(a, a_words, sizeof a_words);
    lathe_plan_words(b, b_words, sizeof b_words);
    assert_string_equal(a_words, b_words);
}

/* A plan is within its budget, can be checked, written, read and emitted. */
static void assert_sound(const char *words, const struct lathe_plan *plan)
{
    struct lathe_request request = request_of(words);
    struct lathe_plan checked = *plan, read = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL;
    struct lathe_error err = {0};
    char buffer[4096];

    assert_budget_adds_up(plan);
    assert_named_fields_hold(&request, plan);
    assert_int_equal(lathe_plan_check(&checked, &err), LATHE_OK);
    assert_memory_equal(&checked, plan, sizeof checked);

    assert_in_range(lathe_plan_words(plan, buffer, sizeof buffer), 100, 500);
    assert_int_equal(lathe_plan_parse(&read, buffer, &err), LATHE_OK);
    assert_same_words(plan, &read);
    assert_in_range(lathe_plan_json(plan, buffer, sizeof buffer), 500, sizeof buffer - 1);
    assert_int_equal(lathe_plan_parse(&read, buffer, &err), LATHE_OK);
    assert_same_words(plan, &read);
    assert_string_equal(plan->variant, read.variant);

    enum lathe_status status = lathe_emit(&kernel, plan, NULL, &err);

    if (lt_arch_has_kernels(plan->arch) ? status != LATHE_OK : status != LATHE_UNSUPPORTED)
        fail_msg("%s: %s", words, err.message);
    lathe_kernel_destroy(&kernel);
}

static void assert_one_line(const char *message)
{
    assert_in_range(strlen(message), 10, LATHE_MESSAGE_SIZE - 2);
    assert_null(strchr(message, '\n'));
    assert_lacks(message, "(null)");
}

/* What a refusal says is right: it has a reason, and each of its doors leads to a sound plan. */
static int assert_doors_open(const char *words, const struct lathe_error *err)
{
    assert_one_line(err->message);
    assert_true(err->status == LATHE_BAD_WORD || err->status == LATHE_OUT_OF_RANGE ||
                err->status == LATHE_UNSUPPORTED || err->status == LATHE_DOES_NOT_FIT);
    if (err->status == LATHE_DOES_NOT_FIT && !strstr(err->message, "tensor memory")) {
        assert_true(err->needs_bytes > err->limit_bytes && err->limit_bytes == 232448);
    } else {
        assert_int_equal(err->needs_bytes, 0);
        assert_int_equal(err->limit_bytes, 0);
    }
    assert_in_range(err->fits_count, 0, LATHE_FITS_MAX);
    for (int i = 0; i < err->fits_count; i++) {
        char again[WORDS_MAX];
        struct lathe_plan plan;
        struct lathe_error other = {0};

        snprintf(again, sizeof again, "%s %s", words, err->fits_with[i]);
        if (plan_words(&plan, again, &other) != LATHE_OK)
            fail_msg("%s\nwas refused: %s\nits door %s is shut: %s", words, err->message,
                     err->fits_with[i], other.message);
        assert_sound(again, &plan);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(err->fits_with[i], err->fits_with[j]);
    }
    return err->fits_count;
}

static void any_request_gives_a_sound_plan_or_a_refusal_whose_doors_open(void **state)
{
    (void)state;
    int planned = 0, refused = 0, too_large = 0, doors = 0, shut = 0;

    draw_from(0x9e3779b97f4a7c15);
    for (int i = 0; i < REQUESTS; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;
        struct lathe_error err = {0};

        draw_request(words);
        if (plan_words(&plan, words, &err) == LATHE_OK) {
            assert_sound(words, &plan);
            planned++;
        } else {
            doors += assert_doors_open(words, &err);
            shut += err.status == LATHE_DOES_NOT_FIT && err.fits_count == 0;
            too_large += err.status == LATHE_DOES_NOT_FIT;
            refused++;
        }
    }
    print_message("# %d plans, %d refusals (%d for their size) with %d doors\n", planned, refused,
                  too_large, doors);
    assert_true(planned > REQUESTS / 5);
    assert_true(refused > REQUESTS / 5);
    assert_true(too_large > REQUESTS / 50);
    assert_true(doors > refused / 2);
    assert_true(shut <= too_large / 100); /* a D with too many tiles for most plans has none */
}

static int plan_half_a_row(void)
{
    static const char *const archs[] = {"", " arch=sm_90a", " arch=sm_100a", " arch=sm_103a"};
    int refused = 0;

    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        char words[WORDS_MAX];
        struct lathe_plan plan;
        struct lathe_error err = {0};

        snprintf(words, sizeof words, "gemm m=64 n=64 k=64 tile=1x64x64 cta_group=2%s", archs[i]);
        refused += plan_words(&plan, words, &err) == LATHE_UNSUPPORTED;
    }
    return refused;
}

static void a_tile_of_which_a_pair_has_no_half_is_refused(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(plan_half_a_row), 4);
}

/* ---- Single doors ---- */

static struct lathe_error refusal_of(const char *words)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};

    assert_int_not_equal(plan_words(&plan, words, &err), LATHE_OK);
    assert_doors_open(words, &err);
    return err;
}

static bool has_door(const struct lathe_error *err, const char *words)
{
    for (int i = 0; i < err->fits_count; i++)
        if (strcmp(err->fits_with[i], words) == 0)
            return true;
    return false;
}

static void too_many_stages_lead_to_the_most_that_fit(void **state)
{
    (void)state;
    struct lathe_plan plan = plan_of("gemm m=4096 n=4096 k=4096 tile=128x256x64");
    struct lathe_error err = refusal_of("gemm m=4096 n=4096 k=4096 tile=128x256x64 stages=20");
    char door[32];

    snprintf(door, sizeof door, "stages=%d", plan.stages);
    assert_int_equal(err.status, LATHE_DOES_NOT_FIT);
    assert_true(has_door(&err, door));
    assert_int_equal(err.needs_bytes, 1024 + 20 * 49152 + 32768);
    assert_int_equal(err.limit_bytes, 232448);
}

static void what_one_word_cannot_mend_leads_to_two(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=4096 n=4096 k=4096 tile=128x128x256 stages=41");

    assert_int_equal(err.status, LATHE_DOES_NOT_FIT);
    assert_true(has_door(&err, "tile=128x128x192 cluster=1x1x1 stages=2"));
}

static void too_large_a_tile_leads_to_smaller_ones(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=4096 n=4096 k=4096 tile=256x256x64");

    assert_true(has_door(&err, "tile=256x128x64"));
    assert_true(has_door(&err, "tile=128x256x64"));
}

static void too_many_tiles_lead_to_larger_ones(void **state)
{
    (void)state;
    struct lathe_error tile = refusal_of("gemm m=2147479552 n=4096 k=64 tile=64x8x64");
    struct lathe_error cluster = refusal_of("gemm m=33554432 n=8388608 k=64");
    struct lathe_error both = refusal_of("gemm m=33554432 n=8388608 k=64 tile=64x8x64");

    assert_true(has_door(&tile, "tile=256x128x64"));
    assert_true(has_door(&cluster, "cluster=2x4x1"));
    assert_true(has_door(&both, "tile=256x128x64 cluster=2x4x1"));
}

static void a_row_distance_leads_to_the_nearest_that_tma_takes(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=64 n=64 k=100");

    assert_int_equal(err.status, LATHE_UNSUPPORTED);
    assert_int_equal(err.fits_count, 1);
    assert_string_equal(err.fits_with[0], "lda=104 ldb=104");
}

static void one_door_mends_all_row_distances(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=64 n=63 k=100 beta=any ldd=77");

    assert_int_equal(err.fits_count, 1);
    assert_string_equal(err.fits_with[0], "lda=104 ldb=104 ldc=64 ldd=80");
}

static void an_architecture_without_plans_leads_to_those_that_have_some(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=64 n=64 k=64 arch=sm_80");

    assert_true(has_door(&err, "arch=sm_90a"));
    assert_true(has_door(&err, "arch=sm_100a"));
}

static void an_output_type_leads_to_those_that_kernels_give(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=64 n=64 k=64 out=e4m3");

    assert_true(has_door(&err, "out=f16"));
    assert_true(has_door(&err, "out=bf16"));
    assert_true(has_door(&err, "out=f32"));
}

static void a_single_stage_leads_to_two(void **state)
{
    (void)state;
    struct lathe_error err = refusal_of("gemm m=64 n=64 k=64 stages=1");

    assert_true(has_door(&err, "stages=2"));
}

static double fastest_us(const char *words)
{
    double best = 1e9;

    for (int i = 0; i < 7; i++) {
        struct timespec start, end;
        struct lathe_plan plan;
        struct lathe_error err = {0};

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        plan_words(&plan, words, &err);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);

        double us =
            (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) / 1e3;

        best = us < best ? us : best;
    }
    return best;
}

/* A search a stage count would take fifty to a hundred and fifty times as long as a plan. */
static void a_refusal_takes_no_longer_the_more_stages_were_asked_for(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "gemm m=4096 n=4096 k=4096 arch=sm_90a",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a cta_group=2",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a consumers=3",
        "gemm m=4096 n=4096 k=4096 arch=sm_90a acc_stages=2",
    };
    double plan_us = fastest_us(requests[0]);

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        char words[WORDS_MAX];

        snprintf(words, sizeof words, "%s stages=61", requests[i]);

        double times = fastest_us(words) / plan_us;

        print_message("# %.0f plans for: %s\n", times, words);
        assert_true(times < 45);
    }
}

static void a_refused_request_needs_no_place_for_the_reason(void **state)
{
    (void)state;
    struct lathe_plan plan;

    assert_int_equal(plan_words(&plan, "gemm m=64 n=64 k=100", NULL), LATHE_UNSUPPORTED);
    assert_int_equal(plan_words(&plan, "gemm m=64 n=64 k=64 tile=256x256x64", NULL),
                     LATHE_UNSUPPORTED);
}

static int plan_the_largest_numbers(void)
{
    struct lathe_plan plan;
    struct lathe_error err = {0};
    enum lathe_status status =
        plan_words(&plan, "gemm m=64 n=64 k=64 tile=4096x4096x4096 stages=64", &err);

    return status == LATHE_UNSUPPORTED || status == LATHE_DOES_NOT_FIT ? 0 : 1;
}

static void the_largest_numbers_that_words_can_give_are_refused(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(plan_the_largest_numbers), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_request_gives_a_sound_plan_or_a_refusal_whose_doors_open),
        cmocka_unit_test(a_tile_of_which_a_pair_has_no_half_is_refused),
        cmocka_unit_test(too_many_stages_lead_to_the_most_that_fit),
        cmocka_unit_test(what_one_word_cannot_mend_leads_to_two),
        cmocka_unit_test(too_large_a_tile_leads_to_smaller_ones),
        cmocka_unit_test(too_many_tiles_lead_to_larger_ones),
        cmocka_unit_test(a_row_distance_leads_to_the_nearest_that_tma_takes),
        cmocka_unit_test(one_door_mends_all_row_distances),
        cmocka_unit_test(an_architecture_without_plans_leads_to_those_that_have_some),
        cmocka_unit_test(an_output_type_leads_to_those_that_kernels_give),
        cmocka_unit_test(a_single_stage_leads_to_two),
        cmocka_unit_test(a_refusal_takes_no_longer_the_more_stages_were_asked_for),
        cmocka_unit_test(a_refused_request_needs_no_place_for_the_reason),
        cmocka_unit_test(the_largest_numbers_that_words_can_give_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
