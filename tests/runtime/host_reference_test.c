#include "runtime/host_reference.h"

#include "runtime/number.h"
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { M = 37, N = 45, K = 70, PAD = 5, ROOM = 80 * 128 };

/* Matrices with room between their rows, and D as a careful kernel would make it. */
struct fixture {
    float a[ROOM], b[ROOM], c[ROOM], d[ROOM];
    struct lt_product product;
    struct lt_verdict verdict;
};

static struct lt_matrix matrix_in(float *room, enum lathe_type type, int64_t rows, int64_t columns)
{
    return (struct lt_matrix){(uintptr_t)room, type, rows, columns, columns + PAD};
}

static float at(const struct lt_matrix *x, int64_t row, int64_t column)
{
    return (float)lt_number_load(x->type, (const void *)(uintptr_t)x->at, row * x->pitch + column);
}

static void set(const struct lt_matrix *x, int64_t row, int64_t column, float value)
{
    lt_number_store(x->type, (void *)(uintptr_t)x->at, row * x->pitch + column, value);
}

/* In f32, as a kernel sums. */
static void multiply(const struct lt_product *p)
{
    for (int64_t i = 0; i < p->d.rows; i++)
        for (int64_t j = 0; j < p->d.columns; j++) {
            float sum = 0;

            for (int64_t k = 0; k < p->a.columns; k++)
                sum += at(&p->a, i, k) * at(&p->b, j, k);
            sum *= (float)p->alpha;
            if (p->beta != 0)
                sum += (float)p->beta * at(&p->c, i, j);
            set(&p->d, i, j, sum);
        }
}

static void make(struct fixture *f, enum lathe_type type, enum lathe_type out, bool whole)
{
    enum lt_pattern pattern = whole ? LT_INTEGERS : LT_NORMAL;
    bool whole_factors = whole || out == LATHE_S32;
    float scale = type == LATHE_INT8 ? 48 : 1;
    struct lt_product p = {
        .a = matrix_in(f->a, type, M, K),
        .b = matrix_in(f->b, type, N, K),
        .c = matrix_in(f->c, out, M, N),
        .d = matrix_in(f->d, out, M, N),
        .alpha = whole_factors ? -2 : 1.125,
        .beta = whole_factors ? 1 : -0.625,
        .whole = whole,
    };

    memset(f, 0, sizeof *f);
    lt_host_fill(&p.a, &(struct lt_fill){pattern, 1, scale, 4});
    lt_host_fill(&p.b, &(struct lt_fill){pattern, 2, scale, 4});
    lt_host_fill(&p.c, &(struct lt_fill){pattern, 3, 1, 4});
    multiply(&p);
    f->product = p;
}

static void compare(struct fixture *f)
{
    assert_int_equal(lt_host_compare(&f->product, &f->verdict, NULL, NULL), LATHE_OK);
}

/* ---- Filling ---- */

static void the_same_seed_and_index_give_the_same_numbers(void **state)
{
    (void)state;
    const struct lt_fill normal = {LT_NORMAL, 42, 1, 0}, whole = {LT_INTEGERS, 42, 1, 4};

    assert_int_equal(lt_random_mix(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu); /* splitmix64, 0 */
    assert_true(lt_fill_value(&normal, 0) == lt_fill_value(&normal, 0));
    assert_true(lt_fill_value(&normal, 0) != lt_fill_value(&normal, 1));
    assert_true(lt_fill_value(&normal, UINT64_C(1) << 33) != lt_fill_value(&normal, 0));
    assert_true(fabsf(lt_fill_value(&whole, UINT64_C(1) << 33)) <= 4);
    assert_int_not_equal(lt_random_stream(1, 0), lt_random_stream(1, 1));
    assert_int_not_equal(lt_random_stream(1, 1), lt_random_stream(2, 1));
}

static void normal_numbers_have_mean_0_and_variance_1(void **state)
{
    (void)state;
    const struct lt_fill fill = {LT_NORMAL, 7, 1, 0};
    double sum = 0, squares = 0, fourths = 0;
    int count = 200000;

    for (int i = 0; i < count; i++) {
        double x = (double)lt_fill_value(&fill, (uint64_t)i);

        sum += x;
        squares += x * x;
        fourths += x * x * x * x;
    }

    assert_true(fabs(sum / count) < 0.01);
    assert_true(fabs(squares / count - 1) < 0.01);
    assert_true(fabs(fourths / count - 2.9) < 0.06); /* 3 - 6 / (5 * 12) */
}

static void whole_numbers_cover_their_range_evenly(void **state)
{
    (void)state;
    const struct lt_fill fill = {LT_INTEGERS, 7, 1, 4};
    int counts[9] = {0};

    for (int i = 0; i < 90000; i++) {
        float x = lt_fill_value(&fill, (uint64_t)i);

        assert_true(x >= -4 && x <= 4 && x == truncf(x));
        counts[(int)x + 4]++;
    }
    for (int i = 0; i < 9; i++)
        assert_in_range(counts[i], 9600, 10400);
}

static void filling_leaves_what_lies_between_the_rows(void **state)
{
    (void)state;
    unsigned char bytes[4 * 64];
    struct lt_matrix matrix = {(uintptr_t)bytes, LATHE_F16, 4, 20, 32};

    memset(bytes, 0xff, sizeof bytes);
    lt_host_fill(&matrix, &(struct lt_fill){LT_INTEGERS, 1, 1, 4});

    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 32; i++)
            assert_true(isnan(lt_number_load(LATHE_F16, bytes, row * 32 + i)) == (i >= 20));
}

/* ---- Comparing ---- */

static const enum lathe_type floats[] = {LATHE_F16, LATHE_BF16, LATHE_TF32, LATHE_E4M3, LATHE_E5M2};
static const enum lathe_type float_outs[] = {LATHE_F32, LATHE_F16, LATHE_BF16, LATHE_E4M3,
                                             LATHE_E5M2};

/* Calls it with every pair of types that some kernel multiplies and gives. */
static void for_all_types(void (*check)(struct fixture *f, enum lathe_type type,
                                        enum lathe_type out, bool whole))
{
    static struct fixture f;

    for (int whole = 0; whole < 2; whole++) {
        for (int type = 0; type < 5; type++)
            for (int out = 0; out < 5; out++)
                check(&f, floats[type], float_outs[out], whole);
        check(&f, LATHE_INT8, LATHE_S32, whole);
    }
}

static void check_careful(struct fixture *f, enum lathe_type type, enum lathe_type out, bool whole)
{
    make(f, type, out, whole);
    compare(f);

    assert_int_equal(f->verdict.wrong, 0);
    assert_true(f->verdict.first == INT64_MAX);
    assert_true(lt_verdict_rel_error(&f->verdict) < (out == LATHE_E5M2   ? 0.07
                                                     : out == LATHE_E4M3 ? 0.035
                                                                         : 0.004));
    assert_true(f->verdict.reference_squares > 0);
}

static void a_careful_answer_is_right_in_every_type(void **state)
{
    (void)state;

    for_all_types(check_careful);
}

/* The least that must be seen: the next number, of 8 bits, of s32, and where all is exact;
 * elsewhere a little more than what the sums may lose and a step. */
static float planted(const struct fixture *f, float right, bool whole)
{
    enum lathe_type out = f->product.d.type;
    double step = lt_number_spacing(out, (double)right);
    bool next = whole || lathe_type_bytes(out) == 1 || out == LATHE_S32;

    if ((double)right == lt_number_largest(out))
        step = -step; /* there is nothing beyond */
    return (float)((double)right + (next ? step : 3 * step + 0x1p-8));
}

static void check_planted(struct fixture *f, enum lathe_type type, enum lathe_type out, bool whole)
{
    const int64_t row = 29, column = 31;

    make(f, type, out, whole);
    set(&f->product.d, row, column, planted(f, at(&f->product.d, row, column), whole));
    compare(f);
    assert_int_equal(f->verdict.wrong, 1);
    assert_int_equal(f->verdict.first, row * N + column);
}

static void a_planted_wrong_element_is_seen_in_every_type(void **state)
{
    (void)state;

    for_all_types(check_planted);
}

static void the_first_wrong_element_is_named(void **state)
{
    (void)state;
    static struct fixture f;

    make(&f, LATHE_F16, LATHE_F32, true);
    set(&f.product.d, 35, 2, 1000);
    set(&f.product.d, 5, 40, at(&f.product.d, 5, 40) + 1);
    set(&f.product.d, 36, 44, NAN);
    compare(&f);

    assert_int_equal(f.verdict.wrong, 3);
    assert_int_equal(f.verdict.first, 5 * N + 40);
    assert_true(f.verdict.got == f.verdict.want + 1);
    assert_true(f.verdict.bound == 0);
    assert_true(isinf(f.verdict.max_abs_error));
    assert_true(isinf(lt_verdict_rel_error(&f.verdict)));
}

static void whole_numbers_must_be_exact(void **state)
{
    (void)state;
    static struct fixture f;

    make(&f, LATHE_F16, LATHE_F16, true);
    set(&f.product.d, 3, 3, at(&f.product.d, 3, 3) + 0.5f); /* within the rule for other data */
    compare(&f);

    assert_int_equal(f.verdict.wrong, 1);
}

static void one_step_of_the_type_is_allowed_and_more_is_not(void **state)
{
    (void)state;
    static struct fixture f;
    const int64_t row = 11, column = 12;
    float right, step;

    make(&f, LATHE_F16, LATHE_BF16, false);
    right = at(&f.product.d, row, column);
    step = (float)lt_number_spacing(LATHE_BF16, (double)right);
    set(&f.product.d, row, column, right + 3 * step);
    compare(&f);
    assert_int_equal(f.verdict.wrong, 1);

    /* The rounded value is within half a step of r: one of its neighbours is within one. */
    set(&f.product.d, row, column, right + step);
    compare(&f);
    int wrong_above = (int)f.verdict.wrong;
    set(&f.product.d, row, column, right - step);
    compare(&f);
    assert_true(wrong_above == 0 || f.verdict.wrong == 0);
}

static void c_is_not_looked_at_when_beta_is_0(void **state)
{
    (void)state;
    static struct fixture f;

    make(&f, LATHE_F16, LATHE_F16, false);
    f.product.beta = 0;
    multiply(&f.product);
    set(&f.product.c, 1, 1, NAN);
    compare(&f);

    assert_int_equal(f.verdict.wrong, 0);
}

static void without_k_the_answer_is_beta_c(void **state)
{
    (void)state;
    static struct fixture f;

    make(&f, LATHE_F16, LATHE_F32, false);
    f.product.a.columns = f.product.b.columns = 0;
    multiply(&f.product);
    compare(&f);
    assert_int_equal(f.verdict.wrong, 0);

    set(&f.product.d, 0, 0, 100);
    compare(&f);
    assert_int_equal(f.verdict.wrong, 1);
}

static void without_elements_there_is_nothing_wrong(void **state)
{
    (void)state;
    static struct fixture f;

    make(&f, LATHE_F16, LATHE_F16, false);
    f.product.a.rows = f.product.c.rows = f.product.d.rows = 0;
    compare(&f);

    assert_int_equal(f.verdict.wrong, 0);
    assert_true(lt_verdict_rel_error(&f.verdict) == 0);
}

/* ---- The rule, one element at a time ---- */

static bool right(enum lathe_type out, double d, double sum, double magnitude)
{
    struct lt_product product = {.a.columns = 32, .d.type = out, .alpha = 1};
    struct lt_verdict verdict = LT_VERDICT_INIT;

    lt_verdict_add(&verdict, &product, 0, d, sum, magnitude, 0);
    return verdict.wrong == 0;
}

static void the_bound_is_a_step_and_what_sums_in_f32_may_lose(void **state)
{
    (void)state;
    double slack = 4 * 0x1p-20; /* k/16 + 2 = 4 */

    assert_true(right(LATHE_F32, 1 + 0x1p-23 + slack, 1, 1));
    assert_false(right(LATHE_F32, 1 + 0x1.01p-23 + slack, 1, 1));
    assert_true(right(LATHE_F16, 1 - 0x1p-10 - slack, 1, 1));
    assert_false(right(LATHE_F16, 1 - 0x1.01p-10 - slack, 1, 1));
    assert_true(right(LATHE_F32, 1 + 100 * slack, 1, 100));
}

static void sums_in_f16_may_lose_more_and_are_exact_for_less_long(void **state)
{
    (void)state;
    struct lt_product product = {
        .a.columns = 32, .d.type = LATHE_F32, .alpha = 1, .sums = LATHE_F16};
    struct lt_verdict verdict = LT_VERDICT_INIT;
    double slack = 4 * 0x1p-9; /* k/16 + 2 = 4 */

    lt_verdict_add(&verdict, &product, 0, 1 + slack, 1, 1, 0);
    assert_int_equal(verdict.wrong, 0);
    lt_verdict_add(&verdict, &product, 1, 1 + 1.01 * slack, 1, 1, 0);
    assert_int_equal(verdict.wrong, 1);
    product.whole = true;
    lt_verdict_add(&verdict, &product, 2, 101, 100, 0x1p11, 0);
    assert_int_equal(verdict.wrong, 1);
    lt_verdict_add(&verdict, &product, 3, 101, 100, 0x1p11 - 1, 0);
    assert_int_equal(verdict.wrong, 2);
}

/* Below 2^-14 the numbers of f16 are 2^-24 apart, whatever was summed. */
static void tiny_sums_in_f16_may_lose_a_step_of_it(void **state)
{
    (void)state;
    struct lt_verdict verdict = LT_VERDICT_INIT;
    struct lt_product product = {
        .a.columns = 1, .d.type = LATHE_F32, .alpha = 1, .sums = LATHE_F16};

    lt_verdict_add(&verdict, &product, 0, 0x1p-24, 0x1.9p-24, 0x1.9p-24, 0);
    assert_int_equal(verdict.wrong, 0);
    lt_verdict_add(&verdict, &product, 1, -0x1p-24, 0x1.9p-24, 0x1.9p-24, 0);
    assert_int_equal(verdict.wrong, 1);
    product.sums = LATHE_F32;
    lt_verdict_add(&verdict, &product, 2, 0x1p-24, 0x1.9p-24, 0x1.9p-24, 0);
    assert_int_equal(verdict.wrong, 2);
}

static void nan_must_meet_nan(void **state)
{
    (void)state;

    assert_true(right(LATHE_F16, NAN, NAN, NAN));
    assert_false(right(LATHE_F16, 0, NAN, NAN));
    assert_false(right(LATHE_F16, INFINITY, NAN, INFINITY));
    assert_false(right(LATHE_F16, NAN, 1, 1));
    assert_false(right(LATHE_F16, NAN, INFINITY, INFINITY));
}

static void infinity_must_meet_what_overflows(void **state)
{
    (void)state;

    assert_true(right(LATHE_F16, INFINITY, INFINITY, INFINITY));
    assert_true(right(LATHE_F16, -INFINITY, -INFINITY, INFINITY));
    assert_false(right(LATHE_F16, -INFINITY, INFINITY, INFINITY));
    assert_false(right(LATHE_F16, 65504, INFINITY, INFINITY));
    assert_true(right(LATHE_F16, INFINITY, 70000, 70000));
    assert_false(right(LATHE_F16, 65504, 70000, 70000));
    assert_true(right(LATHE_F32, 70000, 70000, 70000));
    assert_false(right(LATHE_F16, INFINITY, 65000, 65000));
}

static void at_the_edge_of_overflow_either_side_is_right(void **state)
{
    (void)state;

    assert_true(right(LATHE_F16, INFINITY, 65519.9, 65519.9));
    assert_true(right(LATHE_F16, 65504, 65519.9, 65519.9));
    assert_true(right(LATHE_F16, INFINITY, 65520.1, 65520.1));
    assert_true(right(LATHE_F16, 65504, 65520.1, 65520.1));
    assert_true(right(LATHE_F16, -65504, -65520.1, 65520.1));
}

static void whole_numbers_beyond_what_f32_counts_are_held_to_the_bound(void **state)
{
    (void)state;
    struct lt_product product = {.a.columns = 32, .d.type = LATHE_F32, .alpha = 1, .whole = true};
    struct lt_verdict verdict = LT_VERDICT_INIT;

    lt_verdict_add(&verdict, &product, 0, 1001, 1000, 0x1p24, 0);
    assert_int_equal(verdict.wrong, 0);
    lt_verdict_add(&verdict, &product, 1, 1001, 1000, 0x1p23, 0);
    assert_int_equal(verdict.wrong, 1);
}

static void parts_make_the_same_verdict_as_the_whole(void **state)
{
    (void)state;
    struct lt_product product = {.a.columns = 32, .d.type = LATHE_F32, .alpha = 1};
    struct lt_verdict whole = LT_VERDICT_INIT, parts[2] = {LT_VERDICT_INIT, LT_VERDICT_INIT};
    struct lt_verdict merged = LT_VERDICT_INIT;

    for (int64_t i = 99; i >= 0; i--) {
        double d = i == 17 || i == 60 ? 9 : 1;

        lt_verdict_add(&whole, &product, i, d, 1, 1, 0);
        lt_verdict_add(&parts[i % 2], &product, i, d, 1, 1, 0);
    }
    lt_verdict_merge(&merged, &parts[0]);
    lt_verdict_merge(&merged, &parts[1]);

    assert_int_equal(whole.first, 17);
    assert_memory_equal(&merged, &whole, sizeof whole);
}

static void a_sum_beyond_8_bits_must_give_the_largest_number(void **state)
{
    (void)state;

    assert_true(right(LATHE_E4M3, 448, 449, 449));
    assert_true(right(LATHE_E4M3, 448, 1e9, 1e9));
    assert_true(right(LATHE_E4M3, -448, -1e9, 1e9));
    assert_true(right(LATHE_E4M3, 448, INFINITY, INFINITY));
    assert_false(right(LATHE_E4M3, 416, 1e9, 1e9));
    assert_false(right(LATHE_E4M3, -448, 1e9, 1e9));
    assert_false(right(LATHE_E4M3, NAN, 1e9, 1e9));
    assert_true(right(LATHE_E5M2, 57344, 1e9, 1e9));
    assert_false(right(LATHE_E5M2, INFINITY, 1e9, 1e9));
    assert_false(right(LATHE_E5M2, INFINITY, INFINITY, INFINITY));
    assert_true(right(LATHE_E5M2, NAN, NAN, NAN));
    assert_false(right(LATHE_E4M3, 448, NAN, NAN));
}

static void in_8_bits_only_the_middle_has_two_right_answers(void **state)
{
    (void)state;
    double slack = 4 * 0x1p-20;

    assert_true(right(LATHE_E4M3, 1, 1.0625, 1));
    assert_true(right(LATHE_E4M3, 1.125, 1.0625, 1)); /* the sum may have been above the middle */
    assert_true(right(LATHE_E4M3, 1.125, 1.0625 - slack / 2, 1));
    assert_false(right(LATHE_E4M3, 1.125, 1.0625 - 2 * slack, 1));
    assert_false(right(LATHE_E4M3, 1.125, 1, 1));
    assert_false(right(LATHE_E4M3, 0.9375, 1, 1));
    assert_true(right(LATHE_E4M3, 1, 1, 1));
}

static bool right_in_s32(double d, double sum, double alpha, double beta, double c)
{
    struct lt_product product = {
        .a.columns = 32, .d.type = LATHE_S32, .alpha = alpha, .beta = beta};
    struct lt_verdict verdict = LT_VERDICT_INIT;

    lt_verdict_add(&verdict, &product, 0, d, sum, fabs(sum), c);
    return verdict.wrong == 0;
}

static void sums_of_int8_are_exact_and_wrap(void **state)
{
    (void)state;

    assert_true(right_in_s32(2147483647, 2147483647, 1, 0, NAN));
    assert_false(right_in_s32(2147483646, 2147483647, 1, 0, NAN));
    assert_true(right_in_s32(-2147483648.0, 2147483648.0, 1, 0, NAN));
    assert_true(right_in_s32(-2, 2147483647, 2, 0, NAN));
    assert_true(right_in_s32(5, 0x1p44 + 5, 1, 0, NAN));
    assert_true(right_in_s32(-3, 5, -1, 2, 1));
    assert_false(right_in_s32(-2, 5, -1, 2, 1));
    assert_true(right_in_s32(2147483647, 0, 1, -1, -2147483647));
}

/* ---- Damage ---- */

static void every_byte_that_changed_is_counted(void **state)
{
    (void)state;
    unsigned char bytes[10 * 16];
    const struct lt_region between = {(uintptr_t)bytes + 12, 9, 4, 16};

    memset(bytes, 0xff, sizeof bytes);
    bytes[3] = bytes[11] = 0; /* within the rows */
    assert_int_equal(lt_host_damage(&between, 0xff), 0);

    bytes[12] = bytes[16 * 8 + 15] = 0;
    assert_int_equal(lt_host_damage(&between, 0xff), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_and_index_give_the_same_numbers),
        cmocka_unit_test(normal_numbers_have_mean_0_and_variance_1),
        cmocka_unit_test(whole_numbers_cover_their_range_evenly),
        cmocka_unit_test(filling_leaves_what_lies_between_the_rows),
        cmocka_unit_test(a_careful_answer_is_right_in_every_type),
        cmocka_unit_test(a_planted_wrong_element_is_seen_in_every_type),
        cmocka_unit_test(the_first_wrong_element_is_named),
        cmocka_unit_test(whole_numbers_must_be_exact),
        cmocka_unit_test(one_step_of_the_type_is_allowed_and_more_is_not),
        cmocka_unit_test(c_is_not_looked_at_when_beta_is_0),
        cmocka_unit_test(without_k_the_answer_is_beta_c),
        cmocka_unit_test(without_elements_there_is_nothing_wrong),
        cmocka_unit_test(the_bound_is_a_step_and_what_sums_in_f32_may_lose),
        cmocka_unit_test(sums_in_f16_may_lose_more_and_are_exact_for_less_long),
        cmocka_unit_test(tiny_sums_in_f16_may_lose_a_step_of_it),
        cmocka_unit_test(nan_must_meet_nan),
        cmocka_unit_test(infinity_must_meet_what_overflows),
        cmocka_unit_test(at_the_edge_of_overflow_either_side_is_right),
        cmocka_unit_test(whole_numbers_beyond_what_f32_counts_are_held_to_the_bound),
        cmocka_unit_test(a_sum_beyond_8_bits_must_give_the_largest_number),
        cmocka_unit_test(in_8_bits_only_the_middle_has_two_right_answers),
        cmocka_unit_test(sums_of_int8_are_exact_and_wrap),
        cmocka_unit_test(parts_make_the_same_verdict_as_the_whole),
        cmocka_unit_test(every_byte_that_changed_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
