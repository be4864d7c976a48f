#include "cli/pair.h"

#include "cli/output.h"
#include "lathe_tools.h"

#include <stdio.h>
#include <string.h>

static bool takes(const char *key, const char *value)
{
    struct lathe_request request = LATHE_REQUEST_INIT;

    return lathe_request_set(&request, key, value, NULL) == LATHE_OK;
}

/* KEY=A,B at the comma where both sides are values of the key: those of static= hold commas too. */
static bool split(struct pair *pair, const char *word)
{
    const char *equals = strchr(word, '=');
    char a[PAIR_WORD_SIZE];

    if (!equals || strlen(word) >= PAIR_WORD_SIZE)
        return false;
    snprintf(pair->key, sizeof pair->key, "%.*s", (int)(equals - word), word);
    for (const char *comma = equals; (comma = strchr(comma + 1, ',')) != NULL;) {
        snprintf(a, sizeof a, "%.*s", (int)(comma - equals - 1), equals + 1);
        if (!takes(pair->key, a) || !takes(pair->key, comma + 1))
            continue;
        snprintf(pair->words[0], PAIR_WORD_SIZE, "%.*s", (int)(comma - word), word);
        snprintf(pair->words[1], PAIR_WORD_SIZE, "%.*s%s", (int)(equals + 1 - word), word,
                 comma + 1);
        return true;
    }
    return false;
}

/* ---- Why a word is no pair ---- */

static bool has_comma(const char *word)
{
    const char *equals = strchr(word, '=');

    return equals && strchr(equals, ',') && strlen(word) < PAIR_WORD_SIZE;
}

/* A value that the key does not take; LATHE_OK where it takes them all. */
static enum lathe_status refuse_values(const char *word, struct lathe_error *err)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    const char *equals = strchr(word, '=');
    char key[PAIR_WORD_SIZE], value[PAIR_WORD_SIZE];
    enum lathe_status status;

    snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
    if (takes(key, equals + 1))
        return LATHE_OK;
    snprintf(value, sizeof value, "%.*s", (int)strcspn(equals + 1, ","), equals + 1);
    status = lathe_request_set(&request, key, value, err);
    return status == LATHE_OK ? lathe_request_set(&request, key, strchr(equals, ',') + 1, err)
                              : status;
}

/* Writes the first of the values that are listed for a key, but for the one it has: "none". */
static void write_other_value(const char *key, const char *value, char other[PAIR_WORD_SIZE])
{
    struct lathe_field_info info;

    snprintf(other, PAIR_WORD_SIZE, "VALUE");
    for (size_t i = 0; lathe_field_at(i, &info); i++) {
        char *rest = info.values;

        if (strcmp(info.key, key) != 0)
            continue;
        for (char *word; (word = strsep(&rest, " "));) {
            if (strcmp(word, value) == 0 || !takes(key, word))
                continue;
            snprintf(other, PAIR_WORD_SIZE, "%s", word);
            return;
        }
    }
}

/* One value that holds a comma, as "m,n,k" of static= does. */
static enum lathe_status refuse_one_value(const char *word, struct lathe_error *err)
{
    const char *value = strchr(word, '=') + 1;
    char key[PAIR_WORD_SIZE], other[PAIR_WORD_SIZE];

    snprintf(key, sizeof key, "%.*s", (int)(value - 1 - word), word);
    write_other_value(key, value, other);
    return fail(err, LATHE_BAD_WORD,
                "%.80s: one value, and two are to be compared; for example %.40s=%.80s,%.80s", word,
                key, other, value);
}

static enum lathe_status refuse_words(const struct words *words, struct lathe_error *err)
{
    enum lathe_status status;

    for (int i = 0; i < words->count; i++)
        if (has_comma(words->list[i]) && (status = refuse_values(words->list[i], err)) != LATHE_OK)
            return status;
    for (int i = 0; i < words->count; i++)
        if (has_comma(words->list[i]))
            return refuse_one_value(words->list[i], err);
    return fail(err, LATHE_BAD_WORD,
                "no key has two values to compare; for example stages=3,4 or beta=0,any");
}

/* ---- The pair ---- */

/* The last word of a key holds, so what follows the pair would hold for both sides. */
static enum lathe_status check_rest(const struct pair *pair, const struct words *words,
                                    struct lathe_error *err)
{
    struct pair other;

    for (int i = pair->at + 1; i < words->count; i++) {
        if (pair_names(pair, words->list[i]))
            return fail(err, LATHE_BAD_WORD,
                        "%.80s after %.80s: the last word of a key holds, here for both sides; "
                        "name %.40s once",
                        words->list[i], words->list[pair->at], pair->key);
        if (split(&other, words->list[i]))
            return fail(err, LATHE_BAD_WORD,
                        "%.80s and %.80s: one key at a time can have two values",
                        words->list[pair->at], words->list[i]);
    }
    return LATHE_OK;
}

bool pair_names(const struct pair *pair, const char *word)
{
    size_t length = strlen(pair->key);

    return strncmp(word, pair->key, length) == 0 && word[length] == '=';
}

enum lathe_status pair_find(struct pair *pair, const struct words *words, struct lathe_error *err)
{
    for (int i = 0; i < words->count; i++) {
        pair->at = i;
        if (split(pair, words->list[i]))
            return check_rest(pair, words, err);
    }
    return refuse_words(words, err);
}
