#include "tests/support/golden.h"

#include "tests/support/cmocka_all.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder(void)
{
    static char path[4096];
    const char *root = getenv("LATHE_SOURCE_ROOT");

    snprintf(path, sizeof path, "%s/tests/golden", root ? root : LATHE_SOURCE_ROOT);
    return path;
}

static FILE *open_golden(const char *name, const char *mode)
{
    char path[4096 + 256];

    snprintf(path, sizeof path, "%s/%s", folder(), name);

    FILE *file = fopen(path, mode);

    if (!file)
        print_error("%s cannot be opened; LATHE_UPDATE_GOLDEN=1 writes it\n", path);
    assert_non_null(file);
    return file;
}

char *golden_read(const char *name)
{
    FILE *file = open_golden(name, "rb");
    char *text;
    long length;

    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    text = malloc((size_t)length + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void write_golden(const char *name, const char *text)
{
    FILE *file = open_golden(name, "wb");

    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void fail_at_first_difference(const char *name, const char *want, const char *got)
{
    int line = 1;

    while (true) {
        size_t want_length = strcspn(want, "\n"), got_length = strcspn(got, "\n");

        if (want_length != got_length || memcmp(want, got, got_length) != 0 ||
            want[want_length] != got[got_length]) {
            print_error("%s:%d: '%.*s'\ninstead of '%.*s'\n", name, line, (int)got_length, got,
                        (int)want_length, want);
            fail();
        }
        want += want_length + 1;
        got += got_length + 1;
        line++;
    }
}

void golden_check(const char *name, const char *text)
{
    const char *update = getenv("LATHE_UPDATE_GOLDEN");
    char *want;

    if (update && strcmp(update, "1") == 0) {
        write_golden(name, text);
        return;
    }
    want = golden_read(name);
    if (strcmp(want, text) != 0)
        fail_at_first_difference(name, want, text);
    free(want);
}

void golden_for_each(const char *ending, void (*each)(const char *name))
{
    DIR *directory = opendir(folder());

    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        size_t length = strlen(entry->d_name), end = strlen(ending);

        if (length > end && strcmp(entry->d_name + length - end, ending) == 0)
            each(entry->d_name);
    }
    closedir(directory);
}
