/* form_expected.h: the file of what an H200 gives: a line a form, its hash or a "?" where that is
 * not known, its name and its operands. */
#ifndef LATHE_TESTS_FORM_EXPECTED_H
#define LATHE_TESTS_FORM_EXPECTED_H

#include "tests/gpu/form.h"

#include <stdio.h>

struct form_expectation {
    char key[2 * FORM_NAME_SIZE];
    uint64_t hash;
    bool is_known, is_used;
};

struct form_expected {
    struct form_expectation *items;
    int count, next; /* `next` is where to look first */
};

bool form_expected_read(struct form_expected *expected, const char *path);
void form_expected_free(struct form_expected *expected);

/* Marks it as used. Null if there is none that is not used yet: no two forms are of one name and
 * operands. */
const struct form_expectation *form_expected_find(struct form_expected *expected,
                                                  const struct form *form);

void form_expected_write(FILE *file, const struct form *form, const uint64_t *hash);

#endif
