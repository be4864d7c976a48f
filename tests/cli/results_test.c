/* Files of results: read, gone on with, and left alone where they are something else. */
#include "cli/results.h"

#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void write_bytes(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void write_text(const char *text)
{
    write_bytes(text, strlen(text));
}

static void assert_bytes(const char *bytes, size_t size)
{
    char read[256] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fread(read, 1, sizeof read - 1, file), size);
    fclose(file);
    assert_memory_equal(read, bytes, size);
}

static void assert_text(const char *text)
{
    assert_bytes(text, strlen(text));
}

static int set_up(void **state)
{
    int descriptor;

    (void)state;
    strcpy(path, "/tmp/lathe-results-XXXXXX");
    descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

#define RESULTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static size_t count_read(const char *text)
{
    struct lathe_error err;
    json_t *array;
    size_t count;

    write_text(text);
    array = results_read(path, &err);
    assert_non_null(array);
    count = json_array_size(array);
    json_decref(array);
    return count;
}

static void a_line_holds_a_record(void **state)
{
    (void)state;
    assert_int_equal(count_read("{\"words\":\"1\"}\n{\"words\":\"2\"}\n"), 2);
    assert_int_equal(count_read("{\"words\":\"1\"}\r\n\n  \n"), 1);
    assert_int_equal(count_read(""), 0);
}

static void a_last_line_that_was_cut_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(count_read("{\"words\":\"1\"}\n{\"words\":\"2"), 1);
    assert_int_equal(count_read("{\"words\":\"1\"}\n{\"ladder\":tru"), 1);
    assert_int_equal(count_read("{\"words\":\"1"), 0);
    assert_int_equal(count_read("{"), 0);
}

static void a_last_line_that_lacks_its_newline_counts(void **state)
{
    (void)state;
    assert_int_equal(count_read("{\"words\":\"1\"}\n{\"words\":\"2\"}"), 2);
    assert_int_equal(count_read("{\"words\":\"1\"}"), 1);
}

static void what_is_no_record_is_refused_by_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } files[] = {
        {"{\"words\":\"1\"}\n{\"a\":\n", ":2: no JSON object"},
        {"{\"words\":\"1\"}\n[1]\n", ":2: no JSON object"},
        {"{\"words\":\"1\"}\nnotes", ":2: no JSON object"},
        {"{\"words\":\"1\"}\n{\"words\":\"2\"} more", ":2: no JSON object"},
        {"{\"words\":\"1\"}\n{\"words\":2}\n", ":2: no record of lathe bench"},
        {"{\"config\":1}", ":1: no record of lathe bench"},
        {"{\"config\":", ":1: no JSON object"},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct lathe_error err;

        write_text(files[i].text);
        assert_null(results_read(path, &err));
        assert_int_equal(err.status, LATHE_BAD_WORD);
        if (!strstr(err.message, files[i].words))
            fail_msg("'%s' is not in: %s", files[i].words, err.message);
    }
}

static enum lathe_status append(int value, size_t *held)
{
    FILE *file = NULL;
    json_t *array = NULL, *object = json_pack("{s:o}", "words", json_sprintf("%d", value));
    struct lathe_error err;
    enum lathe_status status = results_open(path, &file, &array, &err);

    if (status == LATHE_OK) {
        *held = json_array_size(array);
        status = results_append(file, path, object, &err);
        fclose(file);
    }
    json_decref(array);
    json_decref(object);
    return status;
}

static void lines_are_appended_to_what_is_there(void **state)
{
    (void)state;
    size_t held = 9;

    unlink(path);
    assert_int_equal(append(1, &held), LATHE_OK);
    assert_int_equal(held, 0);
    assert_int_equal(append(2, &held), LATHE_OK);
    assert_int_equal(held, 1);
    assert_text("{\"words\":\"1\"}\n{\"words\":\"2\"}\n");
}

static void a_cut_line_is_taken_off_before_the_next(void **state)
{
    (void)state;
    size_t held = 9;

    write_text("{\"words\":\"1\"}\n{\"words\":\"2\",\"b");
    assert_int_equal(append(3, &held), LATHE_OK);
    assert_int_equal(held, 1);
    assert_text("{\"words\":\"1\"}\n{\"words\":\"3\"}\n");
}

static void a_whole_line_gets_the_newline_that_it_lacks(void **state)
{
    (void)state;
    size_t held = 9;

    write_text("{\"words\":\"1\"}\n{\"words\":\"2\"}");
    assert_int_equal(append(3, &held), LATHE_OK);
    assert_int_equal(held, 2);
    assert_text("{\"words\":\"1\"}\n{\"words\":\"2\"}\n{\"words\":\"3\"}\n");
}

static void another_kind_of_file_stays_as_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } files[] = {
#define FILE_OF(text) {text, sizeof text - 1}
        FILE_OF("some notes"),
        FILE_OF("{\"config\":\"precious\"}"),
        FILE_OF("{\"config\":\"precious\"}\n"),
        FILE_OF("{\"config\":\"precious\""),
        FILE_OF("{\"config\":1}\n{\"words\":"),
        FILE_OF("\0some bytes\n"),
        FILE_OF("{\"words\":\"1\"}\n\0{\"words\":\"2\"}\n"),
        FILE_OF("{\"words\":\"1\"}\n{\"words\":\"2\"}\0\0"),
#undef FILE_OF
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t held = 9;

        write_bytes(files[i].bytes, files[i].size);
        assert_int_equal(append(1, &held), LATHE_BAD_WORD);
        assert_bytes(files[i].bytes, files[i].size);
    }
}

static void a_file_that_cannot_be_made_is_named(void **state)
{
    (void)state;
    FILE *file = NULL;
    json_t *held = NULL;
    struct lathe_error err;

    assert_int_equal(results_open("/nonexistent/x.jsonl", &file, &held, &err), LATHE_IO_FAILED);
    assert_non_null(strstr(err.message, "/nonexistent/x.jsonl: cannot be written"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RESULTS_TEST(a_line_holds_a_record),
        RESULTS_TEST(a_last_line_that_was_cut_is_left_out),
        RESULTS_TEST(a_last_line_that_lacks_its_newline_counts),
        RESULTS_TEST(what_is_no_record_is_refused_by_its_line),
        RESULTS_TEST(lines_are_appended_to_what_is_there),
        RESULTS_TEST(a_cut_line_is_taken_off_before_the_next),
        RESULTS_TEST(a_whole_line_gets_the_newline_that_it_lacks),
        RESULTS_TEST(another_kind_of_file_stays_as_it_is),
        cmocka_unit_test(a_file_that_cannot_be_made_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
