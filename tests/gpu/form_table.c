/* form_table.c: the rows of the tables, expanded. */
#include "tests/gpu/form.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Rows without a pattern are headings. */
static const struct row {
    const char *chapter, *pattern, *operands;
    struct form_bound bound;
    struct form_setting setting;
    const char *module, *body;
} rows[] = {
/* clang-format off */
#define EXACT {0}
#define RELATIVE(bits) {.relative = bits}
#define ABSOLUTE(bits) {.absolute = bits}
#define EITHER(bits) {.relative = bits, .absolute = bits}
#define ULPS(number) {.ulps = number}
#define PLAIN {0}
#define SETTING(...) {__VA_ARGS__}
#define TEXT(...) #__VA_ARGS__
#define CHAPTER(title) {.chapter = title},
#define FORM(names, types, allowed) {.pattern = names, .operands = types, .bound = allowed},
#define SEQUENCE(names, types, launch, ...) \
    {.pattern = names, .operands = types, .setting = launch, .body = #__VA_ARGS__},
#define MODULE(names, types, launch, outside, ...) \
    {.pattern = names, .operands = types, .setting = launch, .module = TEXT outside, \
     .body = #__VA_ARGS__},
/* clang-format on */
#include "tests/gpu/forms.def"
};

/* ---- Operands ---- */

/* One register of each of the vector's, or the immediate; false where there are too many. */
static bool add_operand(struct form *form, const char *text, int length, bool joined)
{
    bool is_vector = length > 2 && text[1] == '*';
    int registers = is_vector ? text[0] - '0' : 1;

    if (is_vector) {
        text += 2;
        length -= 2;
    }
    for (int i = 0; i < registers; i++) {
        struct form_operand *operand = &form->operands[form->count];

        if (form->count == FORM_OPERANDS_MAX || (size_t)length >= sizeof operand->type)
            return false;
        operand->joined = joined;
        operand->is_in_vector = is_vector;
        operand->opens = is_vector && i == 0;
        operand->closes = is_vector && i == registers - 1;
        if (*text == '#') {
            strcpy(operand->type, "#");
            snprintf(operand->immediate, sizeof operand->immediate, "%.*s", length - 1, text + 1);
        } else {
            snprintf(operand->type, sizeof operand->type, "%.*s", length, text);
        }
        form->count++;
    }
    return true;
}

/* Without a "=" all are results; there may be none. */
static bool parse_operands(struct form *form)
{
    const char *text = form->operand_text;
    bool is_result = true, joined = false;

    form->count = form->results = 0;
    while (*text) {
        size_t length = strcspn(text, "=,|");

        if (length > 0 && !add_operand(form, text, (int)length, joined))
            return false;
        if (is_result)
            form->results = form->count;
        text += length;
        joined = *text == '|';
        if (*text == '=')
            is_result = false;
        text += *text != '\0';
    }
    return form->results > 0 || form->body;
}

/* ---- Texts ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '%';
}

/* How many characters of `text` stand for something else, which is `*length` characters from
 * `*meaning` on. */
static size_t find_meaning(const struct form *form, const char *start, const char *text,
                           const char **meaning, size_t *length)
{
    if (text[0] == '?' && text[1] >= '1' && text[1] <= '0' + FORM_CHOICES_MAX) {
        *meaning = form->choices[text[1] - '1'];
        *length = strlen(*meaning);
        return 2;
    }
    if (strncmp(text, "OP", 2) == 0 && !is_word(text[2]) && (text == start || !is_word(text[-1]))) {
        *meaning = form->name; /* what follows a blank tells it from others */
        *length = strcspn(form->name, " ");
        return 2;
    }
    *meaning = text;
    *length = 1;
    return 1;
}

bool form_substitute(const struct form *form, const char *text, char *result, size_t size)
{
    size_t used = 0, length;
    const char *meaning;

    for (const char *at = text; *at; used += length) {
        at += find_meaning(form, text, at, &meaning, &length);
        if (used + length >= size)
            return false;
        memcpy(result + used, meaning, length);
    }
    result[used] = '\0';
    return true;
}

/* ---- Rows ---- */

struct expansion {
    const struct row *row;
    void (*use)(void *user, const struct form *form);
    void *user;
    bool is_right;
};

static void finish(struct expansion *expansion, struct form *form, const char *name)
{
    snprintf(form->name, sizeof form->name, "%s", name);
    if (!strpbrk(name, "{}") && strlen(name) + 1 < FORM_NAME_SIZE &&
        form_substitute(form, expansion->row->operands, form->operand_text,
                        sizeof form->operand_text) &&
        parse_operands(form)) {
        expansion->use(expansion->user, form);
    } else {
        printf("# %s: a name too long, or operands that cannot be read\n", name);
        expansion->is_right = false;
    }
}

/* Finishes every form of the pattern, its first braces replaced by each alternative. */
static void expand(struct expansion *expansion, struct form *form, const char *pattern, int depth)
{
    const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;

    if (!close || depth == FORM_CHOICES_MAX) {
        finish(expansion, form, pattern);
        return;
    }
    for (const char *at = open; at < close;) {
        size_t length = strcspn(at + 1, ",}");
        char chosen[FORM_NAME_SIZE];

        snprintf(form->choices[depth], sizeof form->choices[depth], "%.*s", (int)length, at + 1);
        snprintf(chosen, sizeof chosen, "%.*s%s%s", (int)(open - pattern), pattern,
                 form->choices[depth], close + 1);
        expand(expansion, form, chosen, depth + 1);
        at += 1 + length;
    }
}

bool form_each(void (*use)(void *user, const struct form *form), void *user)
{
    struct expansion expansion = {.use = use, .user = user, .is_right = true};
    const char *chapter = "";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        struct form form = {.chapter = chapter,
                            .bound = row->bound,
                            .setting = row->setting,
                            .module = row->module,
                            .body = row->body};

        expansion.row = row;
        if (row->chapter)
            chapter = row->chapter;
        else
            expand(&expansion, &form, row->pattern, 0);
    }
    return expansion.is_right;
}
