/* form_table.c: the rows of forms.def, expanded. */
#include "tests/gpu/form.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *chapter, *pattern, *operands;
    double tolerance;
} rows[] = {
#define CHAPTER(title) {title, NULL, NULL, 0},
#define FORM(pattern, operands, tolerance) {NULL, pattern, operands, tolerance},
#include "tests/gpu/forms.def"
#undef CHAPTER
#undef FORM
};

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

static bool parse_operands(struct form *form, const char *text)
{
    bool is_result = true, joined = false;

    while (*text) {
        size_t length = strcspn(text, "=,|");

        if (!add_operand(form, text, (int)length, joined))
            return false;
        if (is_result)
            form->results = form->count;
        text += length;
        joined = *text == '|';
        if (*text == '=')
            is_result = false;
        text += *text != '\0';
    }
    return form->results > 0;
}

/* Calls `use` for every form of the pattern, its first braces replaced by each alternative. */
static void expand(struct form *form, const char *pattern, void (*use)(void *, struct form *),
                   void *user)
{
    const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;

    if (!close) {
        snprintf(form->opcode, sizeof form->opcode, "%s", pattern);
        use(user, form);
        return;
    }
    for (const char *at = open; at < close;) {
        size_t length = strcspn(at + 1, ",}");
        char chosen[FORM_NAME_SIZE];

        snprintf(chosen, sizeof chosen, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)length,
                 at + 1, close + 1);
        expand(form, chosen, use, user);
        at += 1 + length;
    }
}

void form_each(void (*use)(void *, struct form *), void *user)
{
    const char *chapter = "";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct form form = {.chapter = chapter, .tolerance = rows[i].tolerance};

        if (!rows[i].pattern)
            chapter = rows[i].chapter;
        else if (parse_operands(&form, rows[i].operands))
            expand(&form, rows[i].pattern, use, user);
    }
}
