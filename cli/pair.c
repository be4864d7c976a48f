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

/* Why a word with a comma in it is no pair: which of its values the key does not take. */
static enum lathe_status refuse_pair(const char *word, struct lathe_error *err)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    const char *equals = strchr(word, '=');
    char key[PAIR_WORD_SIZE], value[PAIR_WORD_SIZE];
    size_t first = strcspn(equals + 1, ",");
    enum lathe_status status;

    snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
    snprintf(value, sizeof value, "%.*s", (int)first, equals + 1);
    status = lathe_request_set(&request, key, value, err);
    return status == LATHE_OK ? lathe_request_set(&request, key, equals + 1 + first + 1, err)
                              : status;
}

enum lathe_status pair_find(struct pair *pair, const struct words *words, struct lathe_error *err)
{
    struct pair other;
    bool found = false;

    for (int i = 0; i < words->count; i++) {
        if (!split(found ? &other : pair, words->list[i]))
            continue;
        if (found)
            return fail(err, LATHE_BAD_WORD,
                        "%.80s and %.80s: one key at a time can have two values",
                        words->list[pair->at], words->list[i]);
        found = true;
        pair->at = i;
    }
    if (found)
        return LATHE_OK;
    for (int i = 0; i < words->count; i++) {
        const char *equals = strchr(words->list[i], '=');
        enum lathe_status status;

        if (equals && strchr(equals, ',') && strlen(words->list[i]) < PAIR_WORD_SIZE &&
            (status = refuse_pair(words->list[i], err)) != LATHE_OK)
            return status;
    }
    return fail(err, LATHE_BAD_WORD,
                "no key has two values to compare; for example stages=3,4 or beta=0,any");
}
