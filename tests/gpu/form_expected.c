/* form_expected.c: see form_expected.h. */
#include "tests/gpu/form_expected.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "hash key" or "? key"; false for any other. */
static bool read_line(const char *line, struct form_expectation *item)
{
    int at = 0;

    item->is_used = false;
    item->is_known = sscanf(line, "%16" SCNx64 " %n", &item->hash, &at) == 1 && at > 0;
    if (!item->is_known && (line[0] != '?' || line[1] != ' '))
        return false;
    snprintf(item->key, sizeof item->key, "%.*s", (int)strcspn(line + (at ? at : 2), "\n"),
             line + (at ? at : 2));
    return true;
}

static bool add(struct form_expected *expected, const char *line)
{
    struct form_expectation *items;

    if ((expected->count & (expected->count - 1)) == 0) { /* a power of two, or zero: full */
        size_t room = expected->count ? 2 * (size_t)expected->count : 1;

        items = realloc(expected->items, room * sizeof *items);
        if (!items)
            return false;
        expected->items = items;
    }
    return read_line(line, &expected->items[expected->count++]);
}

bool form_expected_read(struct form_expected *expected, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[FORM_KEY_SIZE + 32];
    bool done = file != NULL;

    while (done && fgets(line, sizeof line, file))
        done = add(expected, line);
    if (file)
        fclose(file);
    return done;
}

void form_expected_free(struct form_expected *expected)
{
    free(expected->items);
    *expected = (struct form_expected){0};
}

const struct form_expectation *form_expected_find(struct form_expected *expected, const char *key)
{
    for (int i = 0; i < expected->count; i++) {
        int at = (expected->next + i) % expected->count;
        struct form_expectation *item = &expected->items[at];

        if (!item->is_used && strcmp(item->key, key) == 0) {
            item->is_used = true;
            expected->next = at + 1;
            return item;
        }
    }
    return NULL;
}

int form_expected_report_unused(const struct form_expected *expected, int number)
{
    int unused = 0;

    for (int i = 0; i < expected->count; i++)
        if (!expected->items[i].is_used)
            printf("not ok %d - in the file, and there is none: %s\n", number + unused++,
                   expected->items[i].key);
    return unused;
}

void form_expected_write(FILE *file, const char *key, const uint64_t *hash)
{
    if (hash)
        fprintf(file, "%016" PRIx64 " %s\n", *hash, key);
    else
        fprintf(file, "? %s\n", key);
}
