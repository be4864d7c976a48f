/* pair.h: the one word of lathe diff that names two values, KEY=A,B. */
#ifndef LT_CLI_PAIR_H
#define LT_CLI_PAIR_H

#include "cli/words.h"

enum { SIDES = 2, PAIR_WORD_SIZE = 256 };

struct pair {
    int at; /* its place among the words */
    char key[PAIR_WORD_SIZE];
    char words[SIDES][PAIR_WORD_SIZE]; /* KEY=A and KEY=B */
};

/* Errors: LATHE_BAD_WORD where there is none or more than one, and where its key is named again
 * behind it; what the key says of a value that it does not take. */
enum lathe_status pair_find(struct pair *pair, const struct words *words, struct lathe_error *err);

/* Whether a word is one of the pair's key. */
bool pair_names(const struct pair *pair, const char *word);

#endif
