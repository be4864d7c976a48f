#include "codegen/text.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"

#include <stdlib.h>
#include <string.h>

static void a_text_ends_with_nul_after_every_append(void **state)
{
    (void)state;
    struct lt_text text = {0};

    for (size_t i = 1; i <= 5000; i++) {
        lt_text_append_bytes(&text, "x", 1);
        assert_int_equal(text.length, i);
        assert_int_equal(text.data[i], '\0');
    }
    assert_int_equal(strspn(text.data, "x"), 5000);
    assert_false(text.failed);
    lt_text_free(&text);
}

static void numbers_are_written_in_decimal_at_both_ends_of_their_range(void **state)
{
    (void)state;
    struct lt_text text = {0};

    lt_text_append_int(&text, 0);
    lt_text_append(&text, " ");
    lt_text_append_int(&text, -7);
    lt_text_append(&text, " ");
    lt_text_append_int(&text, INT64_MAX);
    lt_text_append(&text, " ");
    lt_text_append_int(&text, INT64_MIN);

    assert_string_equal(text.data, "0 -7 9223372036854775807 -9223372036854775808");
    lt_text_free(&text);
}

static void printf_grows_the_text_as_far_as_the_result_needs(void **state)
{
    (void)state;
    struct lt_text text = {0};

    lt_text_append(&text, "a");
    lt_text_printf(&text, "%3000s|%d", "b", 42);

    assert_int_equal(text.length, 1 + 3000 + 3);
    assert_string_equal(text.data + text.length - 4, "b|42");
    lt_text_free(&text);
}

static void padding_counts_from_the_last_line_break(void **state)
{
    (void)state;
    struct lt_text text = {0};

    lt_text_pad(&text, 2);
    lt_text_append(&text, "ab\ncd");
    lt_text_pad(&text, 6);
    lt_text_append(&text, "e");
    lt_text_pad(&text, 3); /* passed already */

    assert_string_equal(text.data, "  ab\ncd    e");
    lt_text_free(&text);
}

static void inserted_text_stands_before_what_stood_there(void **state)
{
    (void)state;
    struct lt_text text = {0}, insert = {0}, nothing = {0};

    lt_text_append(&text, "one three");
    lt_text_append(&insert, "two ");
    lt_text_insert(&text, 4, &insert);
    lt_text_insert(&text, 0, &nothing);
    lt_text_insert(&text, text.length, &insert);

    assert_string_equal(text.data, "one two threetwo ");
    assert_int_equal(text.length, strlen(text.data));
    lt_text_free(&text);
    lt_text_free(&insert);
}

static void inserting_into_an_empty_text_makes_it_that_text(void **state)
{
    (void)state;
    struct fail_allocator full_of_nonsense;

    fail_allocator_init(&full_of_nonsense, -1);

    struct lt_text text = {.allocator = &full_of_nonsense.allocator}, insert = {0};

    lt_text_append(&insert, "head");
    lt_text_insert(&text, 0, &insert);

    assert_string_equal(text.data, "head");
    lt_text_free(&text);
    lt_text_free(&insert);
}

static void copying_follows_snprintf(void **state)
{
    (void)state;
    struct lt_text text = {0}, empty = {0};
    char buffer[8];

    lt_text_append(&text, "abcd");

    memset(buffer, '?', sizeof buffer);
    assert_int_equal(lt_text_copy(&text, buffer, 0), 4);
    assert_int_equal(buffer[0], '?');
    assert_int_equal(lt_text_copy(&text, NULL, 0), 4);
    assert_int_equal(lt_text_copy(&text, buffer, 1), 4);
    assert_string_equal(buffer, "");
    assert_int_equal(lt_text_copy(&text, buffer, 4), 4);
    assert_string_equal(buffer, "abc");
    assert_int_equal(buffer[4], '?');
    assert_int_equal(lt_text_copy(&text, buffer, 5), 4);
    assert_string_equal(buffer, "abcd");
    assert_int_equal(lt_text_copy(&empty, buffer, sizeof buffer), 0);
    assert_string_equal(buffer, "");
    lt_text_free(&text);
}

static void running_out_of_memory_sticks_and_keeps_what_was_written(void **state)
{
    (void)state;
    struct fail_allocator fail;
    char *long_line = calloc(1, 1001);

    assert_non_null(long_line);
    memset(long_line, 'x', 1000);
    fail_allocator_init(&fail, 1);

    struct lt_text text = {.allocator = &fail.allocator};

    lt_text_append(&text, "kept");
    lt_text_append(&text, long_line); /* needs a second block, which there is not */
    fail.fails_from = -1;
    lt_text_append(&text, "later");
    lt_text_printf(&text, "%d", 5);
    lt_text_append_int(&text, 6);
    lt_text_pad(&text, 60);

    assert_true(text.failed);
    assert_string_equal(text.data, "kept");
    assert_int_equal(text.length, 4);
    lt_text_free(&text);
    assert_int_equal(fail.live, 0);
    free(long_line);
}

static void inserting_a_text_that_failed_fails_the_other(void **state)
{
    (void)state;
    struct lt_text text = {0}, broken = {.failed = true};

    lt_text_append(&text, "a");
    lt_text_insert(&text, 0, &broken);

    assert_true(text.failed);
    lt_text_free(&text);
}

static void every_allocation_of_a_text_may_fail_without_a_leak(void **state)
{
    (void)state;
    bool succeeded = false;
    long calls = 0;

    for (long n = 0; !succeeded; n++) {
        struct fail_allocator fail;

        fail_allocator_init(&fail, n);

        struct lt_text text = {.allocator = &fail.allocator};

        for (int i = 0; i < 100; i++)
            lt_text_printf(&text, "line %d of a text that grows\n", i);
        succeeded = !text.failed;
        assert_true(succeeded || fail.calls > n);
        lt_text_free(&text);
        assert_int_equal(fail.live, 0);
        calls = n;
    }
    assert_true(calls >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_ends_with_nul_after_every_append),
        cmocka_unit_test(numbers_are_written_in_decimal_at_both_ends_of_their_range),
        cmocka_unit_test(printf_grows_the_text_as_far_as_the_result_needs),
        cmocka_unit_test(padding_counts_from_the_last_line_break),
        cmocka_unit_test(inserted_text_stands_before_what_stood_there),
        cmocka_unit_test(inserting_into_an_empty_text_makes_it_that_text),
        cmocka_unit_test(copying_follows_snprintf),
        cmocka_unit_test(running_out_of_memory_sticks_and_keeps_what_was_written),
        cmocka_unit_test(inserting_a_text_that_failed_fails_the_other),
        cmocka_unit_test(every_allocation_of_a_text_may_fail_without_a_leak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
