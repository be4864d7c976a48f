/* Suites: what the public one holds, how files are read, and what is said of mistakes. */
#include "cli/suite.h"

#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

/* A file with this text. */
static const char *write_bytes(const char *bytes, size_t size)
{
    int descriptor;

    strcpy(path, "/tmp/lathe-suite-XXXXXX");
    descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), (ssize_t)size);
    close(descriptor);
    return path;
}

static const char *write_file(const char *text)
{
    return write_bytes(text, strlen(text));
}

static struct suite read_text(const char *text)
{
    struct suite suite;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, write_file(text), &err), LATHE_OK);
    unlink(path);
    return suite;
}

static void assert_refused(const char *text, const char *words)
{
    struct suite suite;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, write_file(text), &err), LATHE_BAD_WORD);
    unlink(path);
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in: %s", words, err.message);
    suite_free(&suite);
}

static size_t count_class(const char *class)
{
    struct suite suite;
    struct lathe_error err;
    size_t count;

    assert_int_equal(suite_read(&suite, "public", &err), LATHE_OK);
    assert_int_equal(suite_keep(&suite, class, &err), LATHE_OK);
    count = suite.count;
    suite_free(&suite);
    return count;
}

static void the_public_suite_has_44_shapes_in_six_classes(void **state)
{
    (void)state;
    struct suite suite;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, "public", &err), LATHE_OK);
    assert_int_equal(suite.count, 44);
    suite_free(&suite);
    assert_int_equal(count_class("square"), 11);
    assert_int_equal(count_class("decode"), 5);
    assert_int_equal(count_class("prefill"), 17);
    assert_int_equal(count_class("skinny"), 5);
    assert_int_equal(count_class("large-k"), 2);
    assert_int_equal(count_class("odd"), 4);
    assert_int_equal(count_class("odd,square"), 15);
}

static void decode_is_at_most_64_rows_and_nothing_is_there_twice(void **state)
{
    (void)state;
    struct suite suite;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, "public", &err), LATHE_OK);
    for (size_t i = 0; i < suite.count; i++) {
        struct lathe_request request;

        assert_int_equal(suite_request(&suite, &suite.list[i], 0, NULL, &request, &err), LATHE_OK);
        assert_int_equal(request.gemm.type, LATHE_BF16);
        if (strcmp(suite.list[i].class, "decode") == 0)
            assert_true(request.gemm.m <= 64);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(suite.list[i].words, suite.list[j].words);
    }
    suite_free(&suite);
}

static void words_of_the_command_override_those_of_a_problem(void **state)
{
    (void)state;
    const char *const words[] = {"type=f16", "out=f32"};
    struct suite suite;
    struct lathe_request request;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, "public", &err), LATHE_OK);
    assert_int_equal(suite_request(&suite, &suite.list[0], 2, words, &request, &err), LATHE_OK);
    assert_int_equal(request.gemm.m, 512);
    assert_int_equal(request.gemm.type, LATHE_F16);
    assert_int_equal(request.gemm.out, LATHE_F32);
    suite_free(&suite);
}

static void a_file_has_a_problem_a_line(void **state)
{
    (void)state;
    struct suite suite = read_text("# a comment\n\n"
                                   "class=decode m=1 n=8 k=16 # another\r\n"
                                   "\tgemm  m=2   n=8 k=16 type=bf16");

    assert_int_equal(suite.count, 2);
    assert_string_equal(suite.list[0].class, "decode");
    assert_string_equal(suite.list[0].words, "m=1 n=8 k=16");
    assert_int_equal(suite.list[0].line, 3);
    assert_string_equal(suite.list[1].class, "other");
    assert_string_equal(suite.list[1].words, "gemm m=2 n=8 k=16 type=bf16");
    assert_int_equal(suite.list[1].line, 4);
    suite_free(&suite);
}

static void a_mistake_in_a_file_is_found_by_its_line(void **state)
{
    (void)state;
    struct suite suite = read_text("m=1 n=8 k=16\nm=1 n=8 k=16 tipe=f16\nclass=x\n");
    struct lathe_request request;
    struct lathe_error err;
    char where[80];

    assert_int_equal(suite.count, 3);
    assert_int_equal(suite_request(&suite, &suite.list[0], 0, NULL, &request, &err), LATHE_OK);
    assert_int_equal(suite_request(&suite, &suite.list[1], 0, NULL, &request, &err),
                     LATHE_BAD_WORD);
    snprintf(where, sizeof where, "%s:2: tipe=f16", path);
    assert_memory_equal(err.message, where, strlen(where));
    assert_int_not_equal(suite_request(&suite, &suite.list[2], 0, NULL, &request, &err), LATHE_OK);
    assert_non_null(strstr(err.message, ":3: m is missing; a gemm needs m=, n= and k="));
    suite_free(&suite);
}

static void files_without_sense_are_refused(void **state)
{
    (void)state;
    assert_refused("", "no problem in it");
    assert_refused("# nothing\n", "no problem in it");
    assert_refused("m=1 n=1 k=1\nclass= m=1 n=1 k=1\n", ":2: class=");
    assert_refused("class=a,b m=1 n=1 k=1\n", ":1: class=a,b");
    assert_refused("class=much-longer-than-any-word-is m=1 n=1 k=1\n", ":1: class=");
}

static void what_stands_behind_a_nul_is_not_left_out(void **state)
{
    (void)state;
    static const char text[] = "m=1 n=8 k=16\n\0m=2 n=8 k=16\n";
    struct suite suite;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, write_bytes(text, sizeof text - 1), &err), LATHE_BAD_WORD);
    unlink(path);
    assert_non_null(strstr(err.message, "has a NUL byte in it"));
    suite_free(&suite);
}

/* Where the end of what is there was looked for at each word, this took a minute. */
static void a_line_of_megabytes_is_read_at_once(void **state)
{
    (void)state;
    enum { COUNT = 1 << 21 };
    char *text = malloc(4 * COUNT + 1);
    struct suite suite;

    assert_non_null(text);
    for (size_t i = 0; i < COUNT; i++)
        strcpy(text + 4 * i, "k=1 ");
    suite = read_text(text);
    assert_int_equal(suite.count, 1);
    assert_int_equal(strlen(suite.list[0].words), 4 * COUNT - 1);
    suite_free(&suite);
    free(text);
}

static void a_class_that_none_has_is_refused(void **state)
{
    (void)state;
    struct suite suite;
    struct lathe_error err;

    assert_int_equal(suite_read(&suite, "public", &err), LATHE_OK);
    assert_int_equal(suite_keep(&suite, "decode,prefil", &err), LATHE_BAD_WORD);
    assert_non_null(strstr(err.message, "'prefil': no such class in this suite; nearest: prefill"));
    assert_int_equal(suite.count, 44);
    suite_free(&suite);
}

static void classes_are_as_many_as_there_are(void **state)
{
    (void)state;
    char text[40 * 32] = "";
    struct suite suite;
    struct lathe_error err;

    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "class=c%02d m=1 n=8 k=16\n", i);
    suite = read_text(text);
    assert_int_equal(suite_keep(&suite, "c39,c00", &err), LATHE_OK);
    assert_int_equal(suite.count, 2);
    assert_string_equal(suite.list[1].class, "c39");
    suite_free(&suite);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_public_suite_has_44_shapes_in_six_classes),
        cmocka_unit_test(decode_is_at_most_64_rows_and_nothing_is_there_twice),
        cmocka_unit_test(words_of_the_command_override_those_of_a_problem),
        cmocka_unit_test(a_file_has_a_problem_a_line),
        cmocka_unit_test(a_mistake_in_a_file_is_found_by_its_line),
        cmocka_unit_test(files_without_sense_are_refused),
        cmocka_unit_test(what_stands_behind_a_nul_is_not_left_out),
        cmocka_unit_test(a_line_of_megabytes_is_read_at_once),
        cmocka_unit_test(a_class_that_none_has_is_refused),
        cmocka_unit_test(classes_are_as_many_as_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
