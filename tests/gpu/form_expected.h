/* form_expected.h: the file of what an H200 gives: a line a case, its hash or a "?" where that is
 * not known, and what it is called. */
#ifndef LATHE_TESTS_FORM_EXPECTED_H
#define LATHE_TESTS_FORM_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { FORM_KEY_SIZE = 520 };

struct form_expectation {
    char key[FORM_KEY_SIZE];
    uint64_t hash;
    bool is_known, is_used;
};

struct form_expected {
    struct form_expectation *items;
    int count, next; /* `next` is where to look first */
};

bool form_expected_read(struct form_expected *expected, const char *path);
void form_expected_free(struct form_expected *expected);

/* Marks it as used. Null if there is none that is not used yet: no two are called the same. */
const struct form_expectation *form_expected_find(struct form_expected *expected, const char *key);
/* Lines that nobody has used are printed as failures of TAP, from that number on; how many. */
int form_expected_report_unused(const struct form_expected *expected, int number);

void form_expected_write(FILE *file, const char *key, const uint64_t *hash);

#endif
