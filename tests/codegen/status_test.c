#include "codegen/status.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

static void every_status_has_a_word_of_its_own(void **state)
{
    (void)state;

    for (int a = LATHE_OK; a <= LATHE_INTERNAL; a++) {
        assert_string_not_equal(lathe_status_name((enum lathe_status)a), "unknown");
        for (int b = LATHE_OK; b < a; b++)
            assert_string_not_equal(lathe_status_name((enum lathe_status)a),
                                    lathe_status_name((enum lathe_status)b));
    }
    assert_string_equal(lathe_status_name(LATHE_OK), "ok");
    assert_string_equal(lathe_status_name(LATHE_DOES_NOT_FIT), "does-not-fit");
    assert_string_equal(lathe_status_name((enum lathe_status)99), "unknown");
}

static void a_failure_returns_its_status_and_says_why(void **state)
{
    (void)state;
    struct lathe_error err = {0};

    assert_int_equal(lt_fail(&err, LATHE_UNSUPPORTED, "k=%d: why", 7), LATHE_UNSUPPORTED);

    assert_int_equal(err.status, LATHE_UNSUPPORTED);
    assert_string_equal(err.message, "k=7: why");
}

static void a_failure_needs_no_place_for_its_message(void **state)
{
    (void)state;

    assert_int_equal(lt_fail(NULL, LATHE_DOES_NOT_FIT, "x"), LATHE_DOES_NOT_FIT);
    lt_fits_with(NULL, "stages=%d", 4);
}

static void a_failure_forgets_what_an_earlier_one_left(void **state)
{
    (void)state;
    struct lathe_error err;

    memset(&err, 0x5a, sizeof err);
    lt_fail(&err, LATHE_BAD_WORD, "new");

    assert_string_equal(err.message, "new");
    assert_int_equal(err.needs_bytes, 0);
    assert_int_equal(err.limit_bytes, 0);
    assert_int_equal(err.fits_count, 0);
}

static void a_long_message_is_cut_and_ended(void **state)
{
    (void)state;
    struct lathe_error err;

    lt_fail(&err, LATHE_BAD_WORD, "%2000s", "x");

    assert_int_equal(strlen(err.message), LATHE_MESSAGE_SIZE - 1);
}

static const char *message_of(const char *quoted)
{
    static struct lathe_error err;

    lt_fail(&err, LATHE_BAD_WORD, "%s", quoted);
    return err.message;
}

static void a_message_is_one_line_whatever_it_quotes(void **state)
{
    (void)state;

    assert_string_equal(message_of("a\nb\r\tc"), "a?b??c");
    assert_string_equal(message_of("\033[31mred\x7f"), "?[31mred?");
    assert_string_equal(message_of("\xc2\x9bK"), "??K"); /* an escape code in one character */
}

static void a_message_is_utf_8_whatever_it_quotes(void **state)
{
    (void)state;
    static const char *const characters[] = {"\xc3\xa4",        "\xc2\xa0",     "\xe0\xa0\x80",
                                             "\xe2\x82\xac",    "\xed\x9f\xbf", "\xf0\x9f\x98\x80",
                                             "\xf4\x8f\xbf\xbf"};
    static const char *const others[] = {
        "\x80",             /* no first byte                */
        "\xff",             /* no byte of any               */
        "\xc0\xaf",         /* longer than needed           */
        "\xe0\x9f\xbf",     /* longer than needed           */
        "\xf0\x8f\xbf\xbf", /* longer than needed           */
        "\xed\xa0\x80",     /* half of a pair of UTF-16     */
        "\xf4\x90\x80\x80", /* beyond the last character    */
        "\xf5\x80\x80\x80", /* beyond the last character    */
    };

    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++)
        assert_string_equal(message_of(characters[i]), characters[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(strspn(message_of(others[i]), "?"), strlen(others[i]));
}

static void half_a_character_at_the_end_of_a_quotation_or_of_all_is_no_character(void **state)
{
    (void)state;
    struct lathe_error err;

    lt_fail(&err, LATHE_BAD_WORD, "'%.4s': x", "a\xe2\x82\xac");
    assert_string_equal(err.message, "'a\xe2\x82\xac': x");
    lt_fail(&err, LATHE_BAD_WORD, "'%.3s': x", "a\xe2\x82\xac");
    assert_string_equal(err.message, "'a?\?': x");
    lt_fail(&err, LATHE_BAD_WORD, "%*s\xe2\x82\xac", LATHE_MESSAGE_SIZE - 3, "");
    assert_int_equal(strlen(err.message), LATHE_MESSAGE_SIZE - 1);
    assert_string_equal(err.message + LATHE_MESSAGE_SIZE - 4, " ??");
}

static void words_that_would_fit_are_kept_in_order_and_the_ninth_is_dropped(void **state)
{
    (void)state;
    struct lathe_error err = {0};

    lt_fail(&err, LATHE_DOES_NOT_FIT, "too much");
    for (int i = 1; i <= LATHE_FITS_MAX + 1; i++)
        lt_fits_with(&err, "stages=%d", i);

    assert_int_equal(err.fits_count, LATHE_FITS_MAX);
    assert_string_equal(err.fits_with[0], "stages=1");
    assert_string_equal(err.fits_with[LATHE_FITS_MAX - 1], "stages=8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_word_of_its_own),
        cmocka_unit_test(a_failure_returns_its_status_and_says_why),
        cmocka_unit_test(a_failure_needs_no_place_for_its_message),
        cmocka_unit_test(a_failure_forgets_what_an_earlier_one_left),
        cmocka_unit_test(a_long_message_is_cut_and_ended),
        cmocka_unit_test(a_message_is_one_line_whatever_it_quotes),
        cmocka_unit_test(a_message_is_utf_8_whatever_it_quotes),
        cmocka_unit_test(half_a_character_at_the_end_of_a_quotation_or_of_all_is_no_character),
        cmocka_unit_test(words_that_would_fit_are_kept_in_order_and_the_ninth_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
