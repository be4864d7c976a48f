#include "cli/suite.h"

#include "cli/file.h"
#include "cli/names.h"
#include "cli/output.h"
#include "cli/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64 };

static const char other_class[] = "other";
static const char class_key[] = "class=";

static bool is_public(const char *name)
{
    return strcmp(name, "public") == 0;
}

/* Without memory: null. Takes the words over. */
static struct suite_case *add_case(struct suite *suite, char *words, int line)
{
    struct suite_case *list =
        words ? realloc(suite->list, (suite->count + 1) * sizeof *list) : NULL;

    if (!list) {
        free(words);
        return NULL;
    }
    suite->list = list;
    list[suite->count] = (struct suite_case){.words = words, .line = line};
    return &list[suite->count++];
}

/* ---- The public one ---- */

static enum lathe_status make_public(struct suite *suite, struct lathe_error *err)
{
    static const struct {
        const char *class, *model;
        int m, n, k;
    } shapes[] = {
#define SUITE_SHAPE(class, model, m, n, k) {class, model, m, n, k},
#include "cli/suite_public.def"
#undef SUITE_SHAPE
    };

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct suite_case *added;
        char *words;

        if (asprintf(&words, "m=%d n=%d k=%d type=bf16", shapes[i].m, shapes[i].n, shapes[i].k) < 0)
            words = NULL;
        added = add_case(suite, words, 0);
        if (!added)
            return fail(err, LATHE_OUT_OF_MEMORY, "no memory for the public suite");
        snprintf(added->class, sizeof added->class, "%s", shapes[i].class);
        snprintf(added->model, sizeof added->model, "%s", shapes[i].model);
    }
    return LATHE_OK;
}

/* ---- Files ---- */

/* A problem's words, apart by one blank each and without the class; a line of comment has none. */
static enum lathe_status read_line(struct suite *suite, char *line, int number,
                                   struct lathe_error *err)
{
    const char *class = other_class;
    struct suite_case *added;
    char *words = calloc(1, strlen(line) + 1), *end = words, *rest = line;

    if (!words)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for %.80s", suite->name);
    line[strcspn(line, "#")] = '\0';
    for (char *word; (word = strsep(&rest, " \t\r"));) {
        if (strncmp(word, class_key, strlen(class_key)) == 0)
            class = word + strlen(class_key);
        else if (word[0])
            end = stpcpy(stpcpy(end, end > words ? " " : ""), word);
    }
    if (!words[0] && class == other_class) {
        free(words);
        return LATHE_OK;
    }
    if (!class[0] || strlen(class) >= sizeof added->class || strchr(class, ',')) {
        free(words);
        return fail(err, LATHE_BAD_WORD,
                    "%.80s:%d: class=%.40s: a word of 1 to %zu characters without a comma is "
                    "needed",
                    suite->name, number, class, sizeof added->class - 1);
    }
    added = add_case(suite, words, number);
    if (!added)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for %.80s", suite->name);
    snprintf(added->class, sizeof added->class, "%s", class);
    return LATHE_OK;
}

static enum lathe_status read_file(struct suite *suite, struct lathe_error *err)
{
    char *text = NULL;
    size_t size = 0;
    int number = 0;
    enum lathe_status status = file_read(suite->name, &text, &size, err);
    char *rest = text;

    if (status == LATHE_OK && memchr(text, '\0', size))
        status =
            fail(err, LATHE_BAD_WORD, "%.80s: has a NUL byte in it, as no text has", suite->name);
    for (char *line; status == LATHE_OK && (line = strsep(&rest, "\n"));)
        status = read_line(suite, line, ++number, err);
    free(text);
    if (status == LATHE_IO_FAILED)
        fail_more(err, "; the suite that is built in is suite=public");
    if (status == LATHE_OK && suite->count == 0)
        status = fail(err, LATHE_BAD_WORD,
                      "%.80s: no problem in it; a line is such as: class=decode m=1 n=6144 k=4096",
                      suite->name);
    return status;
}

enum lathe_status suite_read(struct suite *suite, const char *name, struct lathe_error *err)
{
    *suite = (struct suite){.name = name};
    return is_public(name) ? make_public(suite, err) : read_file(suite, err);
}

void suite_free(struct suite *suite)
{
    for (size_t i = 0; i < suite->count; i++)
        free(suite->list[i].words);
    free(suite->list);
    *suite = (struct suite){.name = NULL};
}

/* ---- Classes ---- */

static bool is_listed(const char *classes, const char *class)
{
    size_t length = strlen(class);

    for (const char *at = classes; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, class, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

static enum lathe_status check_classes(const struct suite *suite, const char *classes,
                                       struct lathe_error *err)
{
    struct names known = {0};
    char *copy = strdup(classes), *rest = copy;
    bool has_memory = copy != NULL;
    enum lathe_status status = LATHE_OK;

    for (size_t i = 0; i < suite->count && has_memory; i++)
        has_memory = names_add(&known, suite->list[i].class);
    if (!has_memory)
        status = fail(err, LATHE_OUT_OF_MEMORY, "no memory for class=");
    for (char *class; status == LATHE_OK && (class = strsep(&rest, ","));)
        if (!names_have(&known, class))
            status = words_refuse(class, "class in this suite", known.list, known.count, err);
    names_free(&known);
    free(copy);
    return status;
}

enum lathe_status suite_keep(struct suite *suite, const char *classes, struct lathe_error *err)
{
    size_t kept = 0;
    enum lathe_status status = check_classes(suite, classes, err);

    if (status != LATHE_OK)
        return status;
    for (size_t i = 0; i < suite->count; i++) {
        if (is_listed(classes, suite->list[i].class))
            suite->list[kept++] = suite->list[i];
        else
            free(suite->list[i].words);
    }
    suite->count = kept;
    return LATHE_OK;
}

/* ---- Requests ---- */

/* Messages of a file say where it is wrong. */
static enum lathe_status locate(const struct suite *suite, const struct suite_case *problem,
                                const struct lathe_error *why, struct lathe_error *err)
{
    if (problem->line == 0) {
        *err = *why;
        return why->status;
    }
    return fail(err, why->status, "%.80s:%d: %.400s", suite->name, problem->line, why->message);
}

enum lathe_status suite_request(const struct suite *suite, const struct suite_case *problem,
                                int count, const char *const *words, struct lathe_request *request,
                                struct lathe_error *err)
{
    const char *all[WORDS_MAX] = {"gemm"};
    char *copy = strdup(problem->words), *rest = copy;
    struct lathe_error why = {.status = LATHE_OK};
    enum lathe_status status;
    int total = 1;

    if (!copy)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for a problem's words");
    for (char *word; total < WORDS_MAX && (word = strsep(&rest, " "));)
        if (word[0] && (total > 1 || strcmp(word, "gemm") != 0))
            all[total++] = word;
    for (int i = 0; i < count && total < WORDS_MAX; i++)
        all[total++] = words[i];
    *request = (struct lathe_request)LATHE_REQUEST_INIT;
    status = total < WORDS_MAX ? lathe_request_parse(request, total, all, &why)
                               : fail(&why, LATHE_BAD_WORD, "more than %d words", WORDS_MAX - 2);
    free(copy);
    return status == LATHE_OK ? LATHE_OK : locate(suite, problem, &why, err);
}
