#include "include/lathe_tools.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

#include <string.h>

static const struct lathe_field_info *field_named(const char *key)
{
    static struct lathe_field_info info;

    for (size_t i = 0; lathe_field_at(i, &info); i++)
        if (strcmp(info.key, key) == 0)
            return &info;
    fail_msg("there is no field %s", key);
    return NULL;
}

static void every_key_of_a_request_is_listed_once_problem_first(void **state)
{
    (void)state;
    struct lathe_field_info info, other;
    int of_plan = 0;
    size_t count = 0;

    for (; lathe_field_at(count, &info); count++) {
        assert_true(info.of_plan >= of_plan);
        of_plan = info.of_plan;
        assert_true(strlen(info.values) > 0 && strlen(info.doc) > 0 && strlen(info.fallback) > 0);
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(lathe_field_at(j, &other), 1);
            assert_string_not_equal(info.key, other.key);
        }
    }
    assert_true(count >= 26);
    assert_int_equal(lathe_field_at(count, &info), 0);
    assert_int_equal(lathe_field_at(SIZE_MAX, &info), 0);
    assert_int_equal(lathe_field_at(0, NULL), 0);
}

static void the_values_of_a_key_are_its_words_its_range_or_its_form(void **state)
{
    (void)state;

    assert_string_equal(field_named("type")->values, "f16 bf16 f32 tf32 e4m3 e5m2 int8 s32");
    assert_string_equal(field_named("static")->values, "none k m,n,k");
    assert_string_equal(field_named("m")->values, "0 to 2147479552");
    assert_string_equal(field_named("stages")->values, "1 to 64");
    assert_string_equal(field_named("tile")->values, "MxNxK");
    assert_string_equal(field_named("cluster")->values, "AxBx1");
    assert_string_equal(field_named("regs")->values, "AxB");
    assert_string_equal(field_named("epilogue")->values, "MxN[xBUFFERS]");
    assert_int_equal(field_named("m")->of_plan, 0);
    assert_int_equal(field_named("tile")->of_plan, 1);
}

static void the_nearest_word_is_found_for_the_command_too(void **state)
{
    (void)state;
    static const char *const verbs[] = {"plan", "emit", "build"};

    assert_string_equal(lathe_nearest("biuld", verbs, 3), "build");
    assert_null(lathe_nearest("xyz", verbs, 3));
}

static void nothing_is_near_to_nothing(void **state)
{
    (void)state;
    static const char *const holes[] = {NULL, "plan", NULL};

    assert_null(lathe_nearest(NULL, holes, 3));
    assert_null(lathe_nearest("plan", NULL, 3));
    assert_string_equal(lathe_nearest("plna", holes, 3), "plan");
}

static void long_numbers_are_grouped_in_threes(void **state)
{
    (void)state;
    static const struct {
        int64_t number;
        const char *text;
    } cases[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {232448, "232,448"},
        {-999, "-999"},
        {-123456, "-123,456"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buffer[LATHE_GROUPED_SIZE];

        assert_string_equal(lathe_grouped(cases[i].number, buffer), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_numbers_are_grouped_in_threes),
        cmocka_unit_test(every_key_of_a_request_is_listed_once_problem_first),
        cmocka_unit_test(the_values_of_a_key_are_its_words_its_range_or_its_form),
        cmocka_unit_test(the_nearest_word_is_found_for_the_command_too),
        cmocka_unit_test(nothing_is_near_to_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
