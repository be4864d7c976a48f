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
        cmocka_unit_test(words_that_would_fit_are_kept_in_order_and_the_ninth_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
