#include "runtime/statistics.h"

#include "runtime/random.h"
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdbool.h>

enum { VALUES = 64 };

static void the_median_is_the_middle_or_the_mean_of_the_middle_two(void **state)
{
    (void)state;
    double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2}, one[] = {7};

    assert_true(lt_median(odd, 3) == 5);
    assert_true(lt_median(even, 4) == 2.5);
    assert_true(lt_median(one, 1) == 7);
    assert_true(lt_median(one, 0) == 0);
}

static void equal_values_leave_no_doubt(void **state)
{
    (void)state;
    double values[] = {1.05, 1.05, 1.05, 1.05}, scratch[4];
    struct lt_interval interval = lt_median_interval(values, 4, scratch, 1);

    assert_true(interval.low == 1.05 && interval.high == 1.05);
}

static void the_interval_lies_within_the_values_and_around_the_median(void **state)
{
    (void)state;
    double values[] = {1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 2.0}, scratch[8];
    struct lt_interval interval = lt_median_interval(values, 8, scratch, 1);

    assert_true(interval.low >= 1.00 && interval.low < 1.035);
    assert_true(interval.high > 1.035 && interval.high < 2.0);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    double values[] = {3, 1, 4, 1, 5, 9, 2, 6}, scratch[8];
    struct lt_interval a = lt_median_interval(values, 8, scratch, 7);
    struct lt_interval b = lt_median_interval(values, 8, scratch, 7);

    assert_true(a.low == b.low && a.high == b.high);
}

static void more_values_narrow_the_interval(void **state)
{
    (void)state;
    double values[VALUES], scratch[VALUES];
    struct lt_interval few, many;

    for (int i = 0; i < VALUES; i++)
        values[i] = lt_random_normal(3, (uint64_t)i) * 0x1p-16;
    few = lt_median_interval(values, 8, scratch, 1);
    many = lt_median_interval(values, VALUES, scratch, 1);

    assert_true(many.high - many.low < few.high - few.low);
}

/* Of 400 intervals for the median 0 of a normal distribution, most hold it: 95 % in the limit,
 * somewhat fewer for small samples. */
static void the_interval_holds_the_true_median_nearly_always(void **state)
{
    (void)state;
    double values[VALUES], scratch[VALUES];
    int held = 0;

    for (uint64_t trial = 0; trial < 400; trial++) {
        struct lt_interval interval;

        for (int i = 0; i < VALUES; i++)
            values[i] = lt_random_normal(trial, (uint64_t)i) * 0x1p-16;
        interval = lt_median_interval(values, VALUES, scratch, trial);
        held += interval.low <= 0 && interval.high >= 0;
    }

    assert_in_range(held, 360, 396);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_is_the_middle_or_the_mean_of_the_middle_two),
        cmocka_unit_test(equal_values_leave_no_doubt),
        cmocka_unit_test(the_interval_lies_within_the_values_and_around_the_median),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(more_values_narrow_the_interval),
        cmocka_unit_test(the_interval_holds_the_true_median_nearly_always),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
