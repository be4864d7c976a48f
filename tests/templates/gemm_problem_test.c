#include "templates/gemm_problem.h"

#include "tests/support/child.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/templates/fixture.h"

#include <stdio.h>
#include <string.h>

static void assert_resolves(struct lathe_gemm *problem)
{
    struct lathe_error err = {0};

    if (lt_gemm_resolve(problem, &err) != LATHE_OK)
        fail_msg("%s", err.message);
}

static void assert_unresolved(const struct lathe_gemm *given, enum lathe_status status,
                              const char *message)
{
    struct lathe_gemm problem = *given;
    struct lathe_error err = {0};

    assert_int_equal(lt_gemm_resolve(&problem, &err), status);
    assert_int_equal(err.status, status);
    assert_string_equal(err.message, message);
}

static void what_is_not_named_is_f16_tn_packed_without_c(void **state)
{
    (void)state;
    struct lathe_gemm p = *lathe_gemm(.m = 64, .n = 128, .k = 256);

    assert_resolves(&p);

    assert_int_equal(p.type, LATHE_F16);
    assert_int_equal(p.out, LATHE_F16);
    assert_int_equal(p.layout, LATHE_TN);
    assert_int_equal(p.beta, LATHE_BETA_ZERO);
    assert_int_equal(p.statics, LATHE_STATIC_NONE);
    assert_true(p.lda == 256 && p.ldb == 256 && p.ldd == 128);
}

static void the_output_follows_the_type(void **state)
{
    (void)state;
    static const struct {
        enum lathe_type type, out;
    } outs[] = {
        {LATHE_TYPE_DEFAULT, LATHE_F16}, {LATHE_F16, LATHE_F16},  {LATHE_BF16, LATHE_BF16},
        {LATHE_F32, LATHE_F32},          {LATHE_TF32, LATHE_F32}, {LATHE_E4M3, LATHE_F32},
        {LATHE_E5M2, LATHE_F32},         {LATHE_INT8, LATHE_S32}, {LATHE_S32, LATHE_S32},
    };

    for (size_t i = 0; i < sizeof outs / sizeof outs[0]; i++)
        assert_int_equal(lt_gemm_default_out(outs[i].type), outs[i].out);
}

static void what_is_named_stays(void **state)
{
    (void)state;
    struct lathe_gemm p =
        *lathe_gemm(.m = 64, .n = 128, .k = 256, .type = LATHE_BF16, .out = LATHE_F32,
                    .beta = LATHE_BETA_ANY, .lda = 264, .ldb = 1024, .ldc = 132, .ldd = 4096);
    struct lathe_gemm before = p;

    before.layout = LATHE_TN;
    assert_resolves(&p);

    assert_memory_equal(&p, &before, sizeof p);
}

static void sizes_run_from_zero_to_the_last_that_a_tma_coordinate_reaches(void **state)
{
    (void)state;
    struct lathe_gemm nothing = *lathe_gemm(.m = 0, .n = 0, .k = 0);
    struct lathe_gemm largest = *lathe_gemm(.m = 2147479552, .n = 2147479552, .k = 2147479552);

    assert_resolves(&nothing);
    assert_resolves(&largest);
    assert_true(largest.lda == 2147479552);
}

static void a_size_out_of_range_is_named_with_its_range(void **state)
{
    (void)state;

    assert_unresolved(lathe_gemm(.m = -1, .n = 8, .k = 8), LATHE_OUT_OF_RANGE,
                      "m=-1: must be a whole number from 0 to 2147479552");
    assert_unresolved(lathe_gemm(.m = 8, .n = 2147479553, .k = 8), LATHE_OUT_OF_RANGE,
                      "n=2147479553: must be a whole number from 0 to 2147479552");
    assert_unresolved(lathe_gemm(.m = 8, .n = 8, .k = INT64_MAX), LATHE_OUT_OF_RANGE,
                      "k=9223372036854775807: must be a whole number from 0 to 2147479552");
    assert_unresolved(lathe_gemm(.m = 8, .n = 8, .k = INT64_MIN), LATHE_OUT_OF_RANGE,
                      "k=-9223372036854775808: must be a whole number from 0 to 2147479552");
}

static void other_layouts_are_not_taken_yet(void **state)
{
    (void)state;

    assert_unresolved(lathe_gemm(.m = 8, .n = 8, .k = 8, .layout = LATHE_NN), LATHE_UNSUPPORTED,
                      "layout=nn: kernels take layout=tn so far (A m x k and B n x k, both with k "
                      "contiguous)");
}

/* ---- Row distances ---- */

static void a_packed_row_that_tma_cannot_take_is_named_with_the_nearest_that_it_can(void **state)
{
    (void)state;

    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 100), LATHE_UNSUPPORTED,
                      "lda=100 (packed): rows must start at multiples of 16 bytes for TMA (8 "
                      "elements of f16); nearest: lda=104");
    assert_unresolved(lathe_gemm(.m = 64, .n = 63, .k = 64), LATHE_UNSUPPORTED,
                      "ldd=63 (packed): rows must start at multiples of 16 bytes for TMA (8 "
                      "elements of f16); nearest: ldd=64");
}

static void a_row_distance_that_was_named_is_repeated_as_it_was(void **state)
{
    (void)state;

    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .lda = 100, .type = LATHE_BF16),
                      LATHE_UNSUPPORTED,
                      "lda=100: rows must start at multiples of 16 bytes for TMA (8 elements of "
                      "bf16); nearest: lda=104");
    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .ldb = 65), LATHE_UNSUPPORTED,
                      "ldb=65: rows must start at multiples of 16 bytes for TMA (8 elements of "
                      "f16); nearest: ldb=72");
    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .out = LATHE_F32, .ldd = 66),
                      LATHE_UNSUPPORTED,
                      "ldd=66: rows must start at multiples of 16 bytes for TMA (4 elements of "
                      "f32); nearest: ldd=68");
    assert_unresolved(
        lathe_gemm(.m = 64, .n = 64, .k = 64, .beta = LATHE_BETA_ANY, .ldc = 65, .ldd = 64),
        LATHE_UNSUPPORTED,
        "ldc=65: rows must start at multiples of 16 bytes for TMA (8 elements of f16); nearest: "
        "ldc=72");
    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .type = LATHE_E4M3, .lda = 72),
                      LATHE_UNSUPPORTED,
                      "lda=72: rows must start at multiples of 16 bytes for TMA (16 elements of "
                      "e4m3); nearest: lda=80");
}

static void rows_may_not_overlap(void **state)
{
    (void)state;

    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .lda = 56), LATHE_OUT_OF_RANGE,
                      "lda=56: must be from k=64 to 549755813880 elements of f16; nearest: lda=64");
    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .lda = -64), LATHE_OUT_OF_RANGE,
                      "lda=-64: must be from k=64 to 549755813880 elements of f16; nearest: "
                      "lda=64");
    assert_unresolved(lathe_gemm(.m = 64, .n = 60, .k = 64, .ldd = 8), LATHE_OUT_OF_RANGE,
                      "ldd=8: must be from n=60 to 549755813880 elements of f16; nearest: ldd=64");
}

/* cuTensorMapEncodeTiled: strides are below 2^40 bytes. */
static void rows_are_less_than_2_to_the_40_bytes_apart(void **state)
{
    (void)state;
    int64_t most = (INT64_C(1) << 40) / 2 - 8;
    struct lathe_gemm widest = *lathe_gemm(.m = 64, .n = 64, .k = 64, .lda = most);

    assert_resolves(&widest);
    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .lda = most + 8), LATHE_OUT_OF_RANGE,
                      "lda=549755813888: must be from k=64 to 549755813880 elements of f16; "
                      "nearest: lda=549755813880");
    assert_unresolved(lathe_gemm(.m = 64, .n = 64, .k = 64, .out = LATHE_F32, .ldd = INT64_MAX),
                      LATHE_OUT_OF_RANGE,
                      "ldd=9223372036854775807: must be from n=64 to 274877906940 elements of f32; "
                      "nearest: ldd=274877906940");
}

/* What the table of fields lets through, the rule about bytes must be what stops. */
static void the_longest_row_distance_of_any_type_can_be_given_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *words, *longest, *beyond;
    } distances[] = {
        {"gemm m=64 n=64 k=64", "lda=549755813880", "lda=549755813888"},
        {"gemm m=64 n=64 k=64", "ldb=549755813880", "ldb=549755813888"},
        {"gemm m=64 n=64 k=64 beta=any out=f32", "ldc=274877906940", "ldc=274877906944"},
        {"gemm m=64 n=64 k=64", "ldd=549755813880", "ldd=549755813888"},
    };

    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        char words[WORDS_MAX], nearest[64];

        snprintf(words, sizeof words, "%s %s", distances[i].words, distances[i].longest);
        plan_of(words);
        snprintf(words, sizeof words, "%s %s", distances[i].words, distances[i].beyond);
        snprintf(nearest, sizeof nearest, "nearest: %s", distances[i].longest);
        assert_refused(words, LATHE_OUT_OF_RANGE, nearest);
    }
}

static void the_distance_to_a_row_that_is_not_there_may_be_anything(void **state)
{
    (void)state;
    struct lathe_gemm one_row = *lathe_gemm(.m = 1, .n = 64, .k = 104, .lda = 105);
    struct lathe_gemm no_columns = *lathe_gemm(.m = 64, .n = 64, .k = 0, .lda = 3, .ldb = 5);
    struct lathe_gemm nothing = *lathe_gemm(.m = 0, .n = 0, .k = 7);

    assert_resolves(&one_row);
    assert_resolves(&no_columns);
    assert_resolves(&nothing);
}

static void without_beta_the_rows_of_c_may_be_anything(void **state)
{
    (void)state;
    struct lathe_gemm p = *lathe_gemm(.m = 64, .n = 64, .k = 64, .ldc = 3);

    assert_resolves(&p);
}

static void legal_row_distances_are_those_rounded_up_where_tma_asks(void **state)
{
    (void)state;
    struct lathe_gemm p =
        *lathe_gemm(.m = 64, .n = 63, .k = 100, .beta = LATHE_BETA_ANY, .ldb = 96, .ldd = 130);
    struct lathe_gemm legal;

    lt_gemm_legal_pitches(&p, &legal);

    assert_true(p.lda == 100 && p.ldb == 96 && p.ldc == 63 && p.ldd == 130);
    assert_true(legal.lda == 104 && legal.ldb == 104 && legal.ldc == 64 && legal.ldd == 136);
    assert_resolves(&legal);
}

static void one_row_keeps_the_distance_that_it_has(void **state)
{
    (void)state;
    struct lathe_gemm p = *lathe_gemm(.m = 1, .n = 64, .k = 100);
    struct lathe_gemm legal;

    lt_gemm_legal_pitches(&p, &legal);

    assert_true(legal.lda == 100 && legal.ldb == 104 && legal.ldd == 64);
}

/* ---- Values that are none of their enumeration ---- */

static int resolve_a_type_that_is_none(void)
{
    struct lathe_gemm p = *lathe_gemm(.m = 64, .n = 64, .k = 64, .type = (enum lathe_type)77);
    struct lathe_error err = {0};

    return lt_gemm_resolve(&p, &err) == LATHE_OUT_OF_RANGE && strstr(err.message, "type") ? 0 : 1;
}

static int resolve_an_output_that_is_none(void)
{
    struct lathe_gemm p = *lathe_gemm(.m = 64, .n = 64, .k = 64, .out = (enum lathe_type)77);
    struct lathe_error err = {0};

    return lt_gemm_resolve(&p, &err) == LATHE_OUT_OF_RANGE && strstr(err.message, "out") ? 0 : 1;
}

static void a_type_that_is_none_is_out_of_range(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(resolve_a_type_that_is_none), 0);
}

static void an_output_type_that_is_none_is_out_of_range(void **state)
{
    (void)state;

    assert_int_equal(result_in_child(resolve_an_output_that_is_none), 0);
}

static void a_layout_that_is_none_is_out_of_range(void **state)
{
    (void)state;
    struct lathe_gemm p = *lathe_gemm(.m = 64, .n = 64, .k = 64, .layout = (enum lathe_layout)77);
    struct lathe_error err = {0};

    assert_int_equal(lt_gemm_resolve(&p, &err), LATHE_OUT_OF_RANGE);
    assert_has(err.message, "layout");
    assert_lacks(err.message, "(null)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_named_is_f16_tn_packed_without_c),
        cmocka_unit_test(the_output_follows_the_type),
        cmocka_unit_test(what_is_named_stays),
        cmocka_unit_test(sizes_run_from_zero_to_the_last_that_a_tma_coordinate_reaches),
        cmocka_unit_test(a_size_out_of_range_is_named_with_its_range),
        cmocka_unit_test(other_layouts_are_not_taken_yet),
        cmocka_unit_test(a_packed_row_that_tma_cannot_take_is_named_with_the_nearest_that_it_can),
        cmocka_unit_test(a_row_distance_that_was_named_is_repeated_as_it_was),
        cmocka_unit_test(rows_may_not_overlap),
        cmocka_unit_test(rows_are_less_than_2_to_the_40_bytes_apart),
        cmocka_unit_test(the_longest_row_distance_of_any_type_can_be_given_in_words),
        cmocka_unit_test(the_distance_to_a_row_that_is_not_there_may_be_anything),
        cmocka_unit_test(without_beta_the_rows_of_c_may_be_anything),
        cmocka_unit_test(legal_row_distances_are_those_rounded_up_where_tma_asks),
        cmocka_unit_test(one_row_keeps_the_distance_that_it_has),
        cmocka_unit_test(a_type_that_is_none_is_out_of_range),
        cmocka_unit_test(an_output_type_that_is_none_is_out_of_range),
        cmocka_unit_test(a_layout_that_is_none_is_out_of_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
