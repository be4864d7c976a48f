/* What the records of a suite come to: means, worst, wins, ties and losses. */
#include "cli/bench_table.h"

#include "tests/support/cmocka_all.h"

#include <math.h>

static json_t *record(const char *class, int m, double ratio, double low)
{
    return json_pack("{s:s, s:i, s:i, s:i, s:b, s:[{s:s, s:f, s:f}, {s:s, s:f, s:f}]}", "class",
                     class, "m", m, "n", 8, "k", 16, "verified", 1, "rows", "vs", "cublaslt 13.1",
                     "ratio", ratio, "ratio_low", low, "vs", "cublaslt-best 13.1", "ratio",
                     ratio / 2, "ratio_low", low / 2);
}

static json_t *sample(void)
{
    json_t *records = json_array();

    json_array_append_new(records, record("a", 1, 2.0, 1.9));
    json_array_append_new(records, record("a", 2, 0.5, 0.4));
    json_array_append_new(records, record("b", 3, 1.0, 0.99));
    json_array_append_new(records, record("b", 4, 9.0, 9.0));
    json_object_set_new(json_array_get(records, 3), "verified", json_false());
    json_array_append_new(records, json_pack("{s:s, s:i, s:i, s:i, s:{}}", "class", "b", "m", 5,
                                             "n", 8, "k", 16, "refused"));
    return records;
}

static void outcomes_share_all_ratios_between_them(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(1.05, 1.001), OUTCOME_WIN);
    assert_int_equal(outcome_of(1.05, 1.0), OUTCOME_TIE); /* faster, but not surely */
    assert_int_equal(outcome_of(1.0, 0.99), OUTCOME_TIE);
    assert_int_equal(outcome_of(0.98, 0.97), OUTCOME_TIE);
    assert_int_equal(outcome_of(0.979, 0.978), OUTCOME_LOSS);
}

static void a_tally_is_by_class_and_contender(void **state)
{
    (void)state;
    json_t *records = sample();
    struct tally all = tally_records(records, NULL, "cublaslt");
    struct tally a = tally_records(records, "a", "cublaslt");
    struct tally best = tally_records(records, "a", "cublaslt-best");
    struct tally none = tally_records(records, "c", "cublaslt");

    assert_int_equal(all.shapes, 3);
    assert_int_equal(all.wins, 1);
    assert_int_equal(all.ties, 1);
    assert_int_equal(all.losses, 1);
    assert_true(fabs(all.mean - 1) < 1e-12);
    assert_true(all.worst == 0.5);
    assert_string_equal(all.worst_name, "2x8x16");
    assert_int_equal(a.shapes, 2);
    assert_true(fabs(best.mean - 0.5) < 1e-12);
    assert_int_equal(none.shapes, 0);
    assert_true(none.mean == 0);
    json_decref(records);
}

static void what_is_refused_or_wrong_counts_apart(void **state)
{
    (void)state;
    json_t *records = sample();
    struct failures failures = count_failures(records);

    assert_int_equal(failures.refused, 1);
    assert_int_equal(failures.wrong, 1);
    json_decref(records);
}

static void a_summary_ends_with_all(void **state)
{
    (void)state;
    json_t *records = sample(), *summary = summary_json(records);
    json_t *contenders = json_object_get(summary, "contenders");
    json_t *classes = json_object_get(json_array_get(contenders, 0), "classes");

    assert_int_equal(json_array_size(contenders), 2);
    assert_int_equal(json_array_size(classes), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(classes, 2), "class")),
                        "all");
    assert_int_equal(json_integer_value(json_object_get(summary, "refused")), 1);
    json_decref(summary);
    json_decref(records);
}

static void sums_in_f16_count_for_nothing(void **state)
{
    (void)state;
    json_t *records = sample();
    struct failures failures;
    struct tally all;

    json_object_set_new(json_array_get(records, 0), "f16_sums", json_true());
    json_object_set_new(json_array_get(records, 2), "plan", json_pack("{s:s}", "acc", "f16"));
    all = tally_records(records, NULL, "cublaslt");
    failures = count_failures(records);
    assert_int_equal(all.shapes, 1);
    assert_int_equal(all.wins, 0);
    assert_int_equal(failures.f16_sums, 2);
    json_decref(records);
}

static void a_summary_has_all_classes(void **state)
{
    (void)state;
    json_t *records = json_array(), *summary, *classes;

    for (int i = 0; i < 40; i++) {
        char class[8];

        snprintf(class, sizeof class, "c%d", i);
        json_array_append_new(records, record(class, 1 + i, 1.0, 0.99));
    }
    summary = summary_json(records);
    classes = json_object_get(json_array_get(json_object_get(summary, "contenders"), 0), "classes");
    assert_int_equal(json_array_size(classes), 41);
    json_decref(summary);
    json_decref(records);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_share_all_ratios_between_them),
        cmocka_unit_test(a_tally_is_by_class_and_contender),
        cmocka_unit_test(what_is_refused_or_wrong_counts_apart),
        cmocka_unit_test(a_summary_ends_with_all),
        cmocka_unit_test(sums_in_f16_count_for_nothing),
        cmocka_unit_test(a_summary_has_all_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
