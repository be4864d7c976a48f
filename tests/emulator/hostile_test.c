/* Programs that once crashed the emulator, or could have: each now runs to its end or is refused. A
 * sanitizer sees more than the tests do; both replay the same files. */
#include "emulator/machine.h"
#include "tests/emulator/fuzz_run.h"
#include "tests/emulator/ptx_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_ptx(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".ptx") == 0;
}

/* From here to speak_again() what kernels print goes nowhere: one prints hundreds of megabytes. */
static int be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY), kept;

    fflush(stdout);
    kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && nowhere >= 0);
    assert_int_equal(dup2(nowhere, STDOUT_FILENO), STDOUT_FILENO);
    close(nowhere);
    return kept;
}

static void speak_again(int kept)
{
    fflush(stdout);
    assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
    close(kept);
}

static void programs_of_ill_will_do_no_harm(void **state)
{
    (void)state;
    struct dirent **entries;
    int count = scandir(EMU_HOSTILE, &entries, is_ptx, alphasort);

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[1024];
        size_t length;

        snprintf(path, sizeof path, "%s/%s", EMU_HOSTILE, entries[i]->d_name);

        char *text = read_file(path, &length);

        assert_non_null(text);
        printf("# %s\n", entries[i]->d_name);

        int kept = be_silent();

        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        fuzz_run_checked(text, length);
        speak_again(kept);
        free(text);
        free(entries[i]);
    }
    free(entries);
}

static void a_text_of_millions_of_instructions_is_refused(void **state)
{
    (void)state;
    enum { COUNT = 2400000 };
    static const char head[] = ".version 8.5 .target sm_90a .address_size 64 .entry k() {";
    size_t length = strlen(head);
    const struct emu_options options = {.target = 90, .multiprocessors = 1};
    struct emu_device *device = emu_device_create(&options);
    struct emu_error error = {.line = 0};
    char *text = malloc(length + 4 * (size_t)COUNT + 2);

    assert_non_null(device);
    assert_non_null(text);
    memcpy(text, head, length);
    for (int i = 0; i < COUNT; i++, length += 4)
        memcpy(text + length, "ret;", 4);
    text[length++] = '}';
    assert_null(emu_program_load(device, text, length, &error));
    assert_non_null(strstr(error.message, "more than this machine holds"));
    free(text);
    emu_device_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_ill_will_do_no_harm),
        cmocka_unit_test(a_text_of_millions_of_instructions_is_refused),
    };

    return cmocka_run_group_tests_name("emulator hostile programs", tests, NULL, NULL);
}
