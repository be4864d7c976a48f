/* Programs that once crashed the emulator, or could have: each now runs to its end or is refused. A
 * sanitizer sees more than the tests do; both replay the same files. */
#include "tests/emulator/fuzz_run.h"
#include "tests/emulator/ptx_support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_ptx(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && strcmp(dot, ".ptx") == 0;
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
        fflush(stdout);
        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        free(text);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_ill_will_do_no_harm),
    };

    return cmocka_run_group_tests_name("emulator hostile programs", tests, NULL, NULL);
}
