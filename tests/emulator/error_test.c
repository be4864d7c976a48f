/* Errors of the emulator: the first cause wins, with its line. */
#include "emulator/ptx.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

static void the_first_cause_stays(void **state)
{
    (void)state;
    struct emu_error error = {.line = 0};

    assert_false(emu_fail(&error, 7, "%s is no instruction", "ad.u32"));
    assert_false(emu_fail(&error, 9, "another"));
    assert_int_equal(error.line, 7);
    assert_string_equal(error.message, "line 7: ad.u32 is no instruction");
    assert_false(emu_fail(NULL, 1, "nobody asks"));
}

static void a_message_that_is_too_long_is_cut(void **state)
{
    (void)state;
    struct emu_error error = {.line = 0};
    char long_text[2 * EMU_MESSAGE_SIZE];

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    emu_fail(&error, 0, "%s", long_text);
    assert_int_equal(strlen(error.message), EMU_MESSAGE_SIZE - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_cause_stays),
        cmocka_unit_test(a_message_that_is_too_long_is_cut),
    };

    return cmocka_run_group_tests_name("emulator error", tests, NULL, NULL);
}
