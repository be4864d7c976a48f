#include "cli/words.h"

#include "cli/output.h"
#include "lathe_tools.h"

#include <stdlib.h>
#include <string.h>

/* ---- Options ---- */

enum option {
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_EXPLAIN,
    OPTION_OUTPUT,
    OPTION_COUNT
};

static const char *const option_names[] = {
    [OPTION_JSON] = "--json",       [OPTION_HELP] = "--help",     [OPTION_VERSION] = "--version",
    [OPTION_EXPLAIN] = "--explain", [OPTION_OUTPUT] = "--output",
};

/* The option's value if it stands in the same word: -oFILE, --output=FILE. */
static enum option find_option(const char *word, const char **attached)
{
    *attached = NULL;
    if (strcmp(word, "-h") == 0)
        return OPTION_HELP;
    if (strncmp(word, "-o", 2) == 0) {
        *attached = word[2] ? word + 2 : NULL;
        return OPTION_OUTPUT;
    }

    size_t length = strcspn(word, "=");

    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(option_names[i]) == length && strncmp(option_names[i], word, length) == 0) {
            *attached = word[length] ? word + length + 1 : NULL;
            return (enum option)i;
        }
    return OPTION_COUNT;
}

/* Reads argv[*at] and, where the option needs one, the word that follows. */
static enum lathe_status read_option(struct words *words, int argc, char **argv, int *at,
                                     struct lathe_error *err)
{
    const char *word = argv[*at];
    const char *attached;
    enum option option = find_option(word, &attached);

    if (option != OPTION_OUTPUT && option != OPTION_COUNT && attached)
        return fail(err, LATHE_BAD_WORD, "%.40s: %s takes no value", word, option_names[option]);
    switch (option) {
    case OPTION_JSON:
        words->json = true;
        return LATHE_OK;
    case OPTION_HELP:
        words->help = true;
        return LATHE_OK;
    case OPTION_VERSION:
        words->version = true;
        return LATHE_OK;
    case OPTION_EXPLAIN:
        words->explain = true;
        return LATHE_OK;
    case OPTION_OUTPUT:
        /* "-o --json" is a name forgotten, not a file of that name. */
        if (!attached && *at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0)
            attached = argv[++*at];
        if (!attached || !attached[0])
            return fail(err, LATHE_BAD_WORD, "%.40s: the name of a file must follow", word);
        words->output = attached;
        return LATHE_OK;
    case OPTION_COUNT:
        break;
    }
    return words_refuse(word, "option", option_names, OPTION_COUNT, err);
}

/* Where an option cannot be read, those behind it still count for how that is said. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], option_names[OPTION_JSON]) == 0)
            return true;
    return false;
}

enum lathe_status words_split(struct words *words, int argc, char **argv, struct lathe_error *err)
{
    bool options = true;

    *words = (struct words){0};
    words->list = calloc((size_t)argc + 1, sizeof *words->list);
    words->listed = calloc((size_t)argc + 1, sizeof *words->listed);
    if (!words->list || !words->listed)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d words", argc);
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            enum lathe_status status = read_option(words, argc, argv, &i, err);

            if (status != LATHE_OK) {
                words->json = wants_json(argc, argv);
                return status;
            }
        } else if (!words->verb) {
            words->verb = argv[i];
        } else {
            words->list[words->count++] = argv[i];
        }
    }
    return LATHE_OK;
}

void words_free(struct words *words)
{
    free(words->list);
    free(words->listed);
    *words = (struct words){0};
}

/* ---- Keys ---- */

static size_t key_count(const struct key *keys)
{
    size_t count = 0;

    while (keys && keys[count].name)
        count++;
    return count;
}

static int find_key(const struct key *keys, const char *name, size_t length)
{
    for (size_t i = 0; i < key_count(keys); i++)
        if (strlen(keys[i].name) == length && strncmp(keys[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static bool is_key_of_requests(const char *name, size_t length)
{
    struct lathe_field_info info;

    for (size_t i = 0; lathe_field_at(i, &info); i++)
        if (strlen(info.key) == length && strncmp(info.key, name, length) == 0)
            return true;
    return false;
}

enum { CANDIDATES_MAX = 64 };

static enum lathe_status refuse_key(const struct words *words, const char *word, bool takes_request,
                                    struct lathe_error *err)
{
    const char *known[CANDIDATES_MAX];
    size_t count = 0;
    struct lathe_field_info info;
    char name[41];
    size_t length = strcspn(word, "=");

    for (size_t i = 0; i < key_count(words->keys) && count < CANDIDATES_MAX; i++)
        known[count++] = words->keys[i].name;
    for (size_t i = 0; takes_request && lathe_field_at(i, &info) && count < CANDIDATES_MAX; i++)
        known[count++] = info.key;
    if (count == 0)
        return fail(err, LATHE_BAD_WORD, "%.80s: lathe %s takes no key=value words", word,
                    words->verb);
    if (length >= sizeof name)
        length = sizeof name - 1;
    memcpy(name, word, length);
    name[length] = '\0';

    const char *nearest = lathe_nearest(name, known, count);

    if (!nearest)
        return fail(err, LATHE_BAD_WORD, "%.80s: no such key; see --help", word);
    return fail(err, LATHE_BAD_WORD, "%.80s: no such key; nearest: %s", word, nearest);
}

enum lathe_status words_refuse(const char *word, const char *what, const char *const *candidates,
                               size_t count, struct lathe_error *err)
{
    const char *nearest = lathe_nearest(word, candidates, count);
    enum lathe_status status = fail(err, LATHE_BAD_WORD, "'%.40s': no such %s", word, what);

    if (nearest)
        fail_more(err, "; nearest: %s", nearest);
    fail_more(err, " (known: ");
    for (size_t i = 0; i < count; i++)
        fail_more(err, "%s%s", i > 0 ? " " : "", candidates[i]);
    fail_more(err, ")");
    return status;
}

int words_index(const char *values, const char *word)
{
    size_t length = strlen(word);
    int index = 0;

    for (const char *at = values; *at; index++) {
        size_t here = strcspn(at, " ");

        if (here == length && strncmp(at, word, length) == 0)
            return index;
        at += here;
        at += strspn(at, " ");
    }
    return -1;
}

static enum lathe_status refuse_choice(const struct key *key, const char *value,
                                       struct lathe_error *err)
{
    char copy[128];
    const char *known[16];
    size_t count = 0;
    char *rest = copy;

    snprintf(copy, sizeof copy, "%s", key->values);
    for (char *word; count < 16 && (word = strsep(&rest, " "));)
        known[count++] = word;

    const char *nearest = lathe_nearest(value, known, count);

    return fail(err, LATHE_BAD_WORD, "%s=%.40s: no such %s; nearest: %s=%s (known: %s)", key->name,
                value, key->name, key->name, nearest ? nearest : known[0], key->values);
}

/* False also when it exceeds what 64 bits hold. */
static bool parse_number(const struct key *key, const char *text, int64_t *number)
{
    size_t length = strlen(text);

    if (key->kind == KEY_NUMBER && strspn(text, "0123456789") != length)
        return false;
    return lathe_bytes_parse(text, number) != 0;
}

static enum lathe_status check_value(const struct key *key, const char *value,
                                     struct lathe_error *err)
{
    int64_t number;

    switch (key->kind) {
    case KEY_NUMBER:
    case KEY_BYTES:
        if (!parse_number(key, value, &number) || number < key->lowest || number > key->highest)
            return fail(err, LATHE_OUT_OF_RANGE,
                        "%s=%.40s: must be a whole number%s from %lld to %lld", key->name, value,
                        key->kind == KEY_BYTES ? " (K, M, G for powers of 1024)" : "",
                        (long long)key->lowest, (long long)key->highest);
        return LATHE_OK;
    case KEY_CHOICE:
        return words_index(key->values, value) < 0 ? refuse_choice(key, value, err) : LATHE_OK;
    case KEY_TEXT:
    case KEY_LIST:
        return LATHE_OK;
    }
    return LATHE_OK;
}

enum lathe_status words_refuse_value(const struct words *words, const char *key,
                                     struct lathe_error *err)
{
    int index = find_key(words->keys, key, strlen(key));

    return refuse_choice(&words->keys[index], words->values[index], err);
}

enum lathe_status words_sort(struct words *words, const struct key *keys, bool takes_request,
                             struct lathe_error *err)
{
    int kept = 0;

    if (key_count(keys) > WORDS_KEYS_MAX)
        return fail(err, LATHE_INTERNAL, "lathe %s has more keys than there is room for",
                    words->verb);
    words->keys = keys;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->list[i];
        size_t length = strcspn(word, "=");
        bool has_key = length > 0 && word[length] == '=';
        int own = has_key ? find_key(keys, word, length) : -1;

        if (own >= 0) {
            enum lathe_status status = check_value(&keys[own], word + length + 1, err);

            if (status != LATHE_OK)
                return status;
            words->values[own] = word + length + 1;
            if (keys[own].kind == KEY_LIST)
                words->listed[words->listed_count++] =
                    (struct listed){&keys[own], word + length + 1};
            continue;
        }
        if (has_key && !(takes_request && is_key_of_requests(word, length)))
            return refuse_key(words, word, takes_request, err);
        words->list[kept++] = word;
    }
    words->count = kept;
    return LATHE_OK;
}

const char *words_value(const struct words *words, const char *key)
{
    int index = find_key(words->keys, key, strlen(key));

    return words->values[index] ? words->values[index] : words->keys[index].fallback;
}

bool words_given(const struct words *words, const char *key)
{
    int index = find_key(words->keys, key, strlen(key));

    return index >= 0 && words->values[index] != NULL;
}

bool words_are(const struct words *words, const char *key, const char *value)
{
    return strcmp(words_value(words, key), value) == 0;
}

int64_t words_number(const struct words *words, const char *key, int64_t otherwise)
{
    int index = find_key(words->keys, key, strlen(key));
    int64_t number = otherwise;

    if (words->values[index])
        parse_number(&words->keys[index], words->values[index], &number);
    return number;
}

enum lathe_status words_at_most(const struct words *words, int most, struct lathe_error *err)
{
    if (words->count <= most)
        return LATHE_OK;
    return fail(err, LATHE_BAD_WORD, "'%.40s': lathe %s takes %s; see lathe %s --help",
                words->list[most], words->verb, most == 0 ? "no words" : "no more words",
                words->verb);
}
