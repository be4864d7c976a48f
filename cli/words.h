/* words.h: the words of a command line, told apart.
 *
 * A command line is `lathe VERB WORD...` with options anywhere before `--`. Some words of the form
 * key=value are the verb's own (seed=7); the rest is the request, which the library reads. Both
 * kinds are known here, so that a mistyped key is answered with the nearest of either. */
#ifndef LT_CLI_WORDS_H
#define LT_CLI_WORDS_H

#include "lathe.h"

#include <stdbool.h>
#include <stdint.h>

enum key_kind {
    KEY_NUMBER, /* a whole number from lowest to highest          */
    KEY_BYTES,  /* the same, with K, M or G for powers of 1024    */
    KEY_CHOICE, /* one of the words in `values`                   */
    KEY_TEXT,   /* any word; the verb reads it, `values` is a hint */
    KEY_LIST    /* the same, given as often as it likes: `listed`   */
};

/* One key of a verb. A table of them ends with a null name. */
struct key {
    const char *name;
    enum key_kind kind;
    const char *values; /* apart by spaces; for help and for KEY_CHOICE */
    int64_t lowest, highest;
    const char *fallback; /* as help shows it, null of a KEY_LIST; of a KEY_CHOICE also the value */
    const char *doc;
};

/* A word of a KEY_LIST: key=value. */
struct listed {
    const struct key *key;
    const char *value;
};

enum { WORDS_KEYS_MAX = 32 };

struct words {
    bool json, help, version, explain;
    const char *output; /* of -o; or null */
    const char *verb;   /* or null        */
    int count;          /* words after the verb that are not its own keys */
    const char **list;
    const struct key *keys;             /* the verb's, once words_sort() knows them */
    const char *values[WORDS_KEYS_MAX]; /* as given last; null where not given      */
    int listed_count;                   /* those of all KEY_LISTs, as they stand    */
    struct listed *listed;
};

/* Takes the options out. `words` is to be freed with words_free() also after a failure. */
enum lathe_status words_split(struct words *words, int argc, char **argv, struct lathe_error *err);
void words_free(struct words *words);

/* Takes the verb's own keys out and checks their values. Other keys must be a request's, or where
 * the verb takes no request there must be none. `keys` may be null. */
enum lathe_status words_sort(struct words *words, const struct key *keys, bool takes_request,
                             struct lathe_error *err);

/* The value of a verb's own key after words_sort(). */
int64_t words_number(const struct words *words, const char *key, int64_t otherwise);
const char *words_value(const struct words *words, const char *key); /* the fallback if not given */
bool words_given(const struct words *words,
                 const char *key); /* false of a key that the verb has not */
bool words_are(const struct words *words, const char *key, const char *value);

/* Refuses the value that a KEY_TEXT was given, and names the nearest that it takes. */
enum lathe_status words_refuse_value(const struct words *words, const char *key,
                                     struct lathe_error *err);

/* Refuses words that a verb which takes at most `most` has no use for. */
enum lathe_status words_at_most(const struct words *words, int most, struct lathe_error *err);

/* Refuses a word that is none of the candidates, and names the nearest. `what` is such a thing. */
enum lathe_status words_refuse(const char *word, const char *what, const char *const *candidates,
                               size_t count, struct lathe_error *err);

/* Finds the word among those that `values` lists, apart by spaces; -1 if it is none of them. */
int words_index(const char *values, const char *word);

#endif
