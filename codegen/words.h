/* words.h: reading the right-hand sides of key=value words, and naming the nearest right one. */
#ifndef LT_CODEGEN_WORDS_H
#define LT_CODEGEN_WORDS_H

#include "include/lathe.h"

#include <stdbool.h>

/* A word and the value of the enumeration that it stands for. Tables end with a null word. */
struct lt_word {
    const char *word;
    int value;
};

extern const struct lt_word lt_words_type[], lt_words_layout[], lt_words_beta[], lt_words_static[],
    lt_words_arch[], lt_words_copy[], lt_words_flow[], lt_words_mma[], lt_words_stage_index[],
    lt_words_schedule[], lt_words_switch[], lt_words_family[];

/* The word for a value, or null. */
const char *lt_word_of(const struct lt_word *words, int value);

/* How many single-character edits (insert, drop, change, swap neighbours) lead from a to b. */
int lt_edit_distance(const char *a, const char *b);

/* Of two candidates the one that is nearer to `word`; of equals the one that begins alike, else
 * `nearest`. That one may be null, and the answer is where in both more than half would have to
 * change: so that a search can begin with null and go on with what it has found so far. */
const char *lt_nearer(const char *word, const char *nearest, const char *candidate);

/* A decimal number of digits alone, at most INT64_MAX; a leading minus is allowed. */
bool lt_parse_int(const char *string, int64_t *number);

/* "128x256x64": `least` to `most` positive numbers with x between. Returns how many, or 0. */
int lt_parse_product(const char *string, int least, int most, int *numbers);

#endif
