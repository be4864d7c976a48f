/* Passes of one measurement as one record. */
#include "cli/bench_merge.h"

#include "tests/support/cmocka_all.h"

static json_t *pass(int number, int m, double ratio, double low, double high)
{
    return json_pack("{s:o, s:s, s:i, s:i, s:b, s:[{s:s, s:f, s:f, s:f, s:f}]}", "words",
                     json_sprintf("gemm m=%d", m), "class", "a", "m", m, "pass", number, "verified",
                     1, "rows", "vs", "cublaslt 13.1", "time_us", 10 * ratio, "ratio", ratio,
                     "ratio_low", low, "ratio_high", high);
}

static double of_row(const json_t *records, size_t index, const char *key)
{
    const json_t *record = json_array_get(records, index);

    return json_number_value(
        json_object_get(json_array_get(json_object_get(record, "rows"), 0), key));
}

static int64_t of(const json_t *records, size_t index, const char *key)
{
    return json_integer_value(json_object_get(json_array_get(records, index), key));
}

static void medians_stand_with_all_that_intervals_reach(void **state)
{
    (void)state;
    json_t *records = json_array(), *merged;

    json_array_append_new(records, pass(1, 1, 1.2, 1.1, 1.3));
    json_array_append_new(records, pass(1, 2, 2.0, 1.9, 2.1));
    json_array_append_new(records, pass(2, 1, 1.0, 0.9, 1.05));
    json_array_append_new(records, pass(2, 2, 3.0, 2.9, 3.1));
    json_array_append_new(records, pass(3, 1, 1.1, 1.09, 1.5));
    merged = records_merge(records);

    assert_int_equal(json_array_size(merged), 2);
    assert_int_equal(of(merged, 0, "m"), 1);
    assert_int_equal(of(merged, 0, "passes"), 3);
    assert_null(json_object_get(json_array_get(merged, 0), "pass"));
    assert_true(of_row(merged, 0, "ratio") == 1.1);
    assert_true(of_row(merged, 0, "ratio_low") == 0.9);
    assert_true(of_row(merged, 0, "ratio_high") == 1.5);
    assert_true(of_row(merged, 0, "time_us") == 11.0);
    assert_true(of_row(merged, 1, "ratio") == 2.5); /* between two */
    json_decref(merged);
    json_decref(records);
}

static json_t *with_isolated(json_t *record, double time_us, double low)
{
    json_t *row = json_array_get(json_object_get(record, "rows"), 0);

    json_object_set_new(row, "isolated",
                        json_pack("{s:f, s:f}", "time_us", time_us, "ratio_low", low));
    return record;
}

static void times_beside_those_of_blocks_are_merged_too(void **state)
{
    (void)state;
    json_t *records = json_array(), *merged, *isolated;

    json_array_append_new(records, with_isolated(pass(1, 1, 1.2, 1.1, 1.3), 7, 0.5));
    json_array_append_new(records, with_isolated(pass(2, 1, 1.0, 0.9, 1.05), 9, 0.4));
    merged = records_merge(records);
    isolated = json_object_get(
        json_array_get(json_object_get(json_array_get(merged, 0), "rows"), 0), "isolated");

    assert_true(json_number_value(json_object_get(isolated, "time_us")) == 8);
    assert_true(json_number_value(json_object_get(isolated, "ratio_low")) == 0.4);
    assert_null(json_object_get(isolated, "ratio"));
    assert_true(of_row(merged, 0, "ratio_low") == 0.9);
    json_decref(merged);
    json_decref(records);
}

static void a_single_measurement_stays_as_it_is(void **state)
{
    (void)state;
    json_t *records = json_array(), *merged;

    json_array_append_new(records, pass(1, 1, 1.2, 1.1, 1.3));
    merged = records_merge(records);

    assert_true(json_equal(json_array_get(records, 0), json_array_get(merged, 0)));
    json_decref(merged);
    json_decref(records);
}

static void a_wrong_pass_stands_for_all(void **state)
{
    (void)state;
    json_t *records = json_array(), *merged;

    json_array_append_new(records, pass(1, 1, 1.2, 1.1, 1.3));
    json_array_append_new(records, pass(2, 1, 1.2, 1.1, 1.3));
    json_object_set_new(json_array_get(records, 1), "verified", json_false());
    merged = records_merge(records);

    assert_int_equal(json_array_size(merged), 1);
    assert_true(json_is_false(json_object_get(json_array_get(merged, 0), "verified")));
    json_decref(merged);
    json_decref(records);
}

static void a_pass_that_was_measured_again_counts_once(void **state)
{
    (void)state;
    json_t *records = json_array(), *merged;

    json_array_append_new(records, pass(1, 1, 9.0, 9.0, 9.0));
    json_array_append_new(records, pass(2, 1, 1.0, 0.9, 1.1));
    json_array_append_new(records, pass(1, 1, 1.2, 1.1, 1.3));
    merged = records_merge(records);

    assert_int_equal(of(merged, 0, "passes"), 2);
    assert_true(of_row(merged, 0, "ratio") == 1.1);
    assert_true(of_row(merged, 0, "ratio_high") == 1.3);
    json_decref(merged);
    json_decref(records);
}

static void what_was_measured_alone_is_no_pass(void **state)
{
    (void)state;
    json_t *records = json_array(), *merged, *alone = pass(0, 1, 1.2, 1.1, 1.3);

    json_object_del(alone, "pass");
    json_object_set_new(alone, "verified", json_false());
    for (int i = 1; i <= 3; i++)
        json_array_append_new(records, pass(i, 1, 1.2, 1.1, 1.3));
    json_array_append_new(records, alone);
    merged = records_merge(records);

    assert_int_equal(json_array_size(merged), 2);
    assert_int_equal(of(merged, 0, "passes"), 3);
    assert_true(json_is_true(json_object_get(json_array_get(merged, 0), "verified")));
    json_decref(merged);
    json_decref(records);
}

static void passes_on_other_devices_or_by_other_versions_are_others(void **state)
{
    (void)state;
    static const char *const keys[] = {"device", "device_hash", "lathe", "cublaslt", "vs", "class"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *records = json_array(), *merged;

        json_array_append_new(records, pass(1, 1, 1.2, 1.1, 1.3));
        json_array_append_new(records, pass(2, 1, 1.0, 0.9, 1.1));
        json_object_set_new(json_array_get(records, 1), keys[i], json_string("another"));
        merged = records_merge(records);
        assert_int_equal(json_array_size(merged), 2);
        json_decref(merged);
        json_decref(records);
    }
}

/* Where each was compared with all others, this took seconds. */
static void thousands_of_records_keep_their_order(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    json_t *records = json_array(), *merged;

    for (int i = 0; i < 2 * COUNT; i++)
        json_array_append_new(records, pass(1 + i / COUNT, 1 + i % COUNT, 1.2, 1.1, 1.3));
    merged = records_merge(records);
    assert_int_equal(json_array_size(merged), COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(of(merged, (size_t)i, "m"), 1 + i);
    json_decref(merged);
    json_decref(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_stand_with_all_that_intervals_reach),
        cmocka_unit_test(times_beside_those_of_blocks_are_merged_too),
        cmocka_unit_test(a_single_measurement_stays_as_it_is),
        cmocka_unit_test(a_wrong_pass_stands_for_all),
        cmocka_unit_test(a_pass_that_was_measured_again_counts_once),
        cmocka_unit_test(what_was_measured_alone_is_no_pass),
        cmocka_unit_test(passes_on_other_devices_or_by_other_versions_are_others),
        cmocka_unit_test(thousands_of_records_keep_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
