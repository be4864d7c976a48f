/* instruction.c: the lines of a kernel: instructions and comments. */
#include "codegen/builder_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lt_start_line(struct lt_builder *b)
{
    static const char spaces[] = "                                                ";
    _Static_assert(sizeof spaces == SCOPES_MAX * INDENT + 1, "an indent a scope");

    lt_text_append_bytes(&b->text, spaces, (size_t)b->depth * INDENT);
}

void lt_end_line(struct lt_builder *b)
{
    if (b->note[0]) {
        lt_text_append(&b->text, "  // ");
        lt_text_append(&b->text, b->note);
        b->note[0] = '\0';
    }
    lt_text_append_bytes(&b->text, "\n", 1);
}

static void append_offset(struct lt_text *text, int offset)
{
    if (offset == 0)
        return;
    lt_text_append_bytes(text, "+", offset > 0);
    lt_text_append_int(text, offset);
}

void lt_append_value(struct lt_builder *b, lt_value value)
{
    struct lt_text *text = &b->text;

    switch ((enum lt_value_kind)value.kind) {
    case LT_NOTHING:
        lt_mistake(b, "an operand is missing");
        break;
    case LT_REGISTER:
    case LT_ELEMENT:
        if (!lt_usable(b, value))
            break;
        lt_text_append_bytes(text, value.negated ? "!%" : "%", value.negated ? 2 : 1);
        lt_text_append_bytes(text, b->registers[value.id].name, b->registers[value.id].length);
        if (value.kind == LT_ELEMENT)
            lt_text_append_int(text, value.number);
        append_offset(text, value.offset);
        break;
    case LT_INTEGER:
        lt_text_append_int(text, value.number);
        break;
    case LT_HEX:
        lt_text_printf(text, "0x%llx", (unsigned long long)value.number);
        break;
    case LT_FLOAT:
        lt_text_printf(text, "0f%08llX", (unsigned long long)value.number);
        break;
    case LT_NAMED:
        lt_text_append(text, value.name);
        append_offset(text, value.offset);
        break;
    }
}

void lt_append_guard(struct lt_builder *b, lt_value predicate)
{
    if (predicate.kind == LT_NOTHING)
        return;
    if (predicate.type != LT_PRED)
        lt_mistake(b, "a guard is no predicate");
    lt_text_append_bytes(&b->text, "@", 1);
    lt_append_value(b, predicate);
    lt_text_append_bytes(&b->text, " ", 1);
}

static void append_form(struct lt_builder *b, const char *form, const lt_value *operands,
                        size_t count)
{
    const char *from = form;

    for (const char *at = form; *at; at++) {
        if (at[0] != '%' || at[1] < '0' || at[1] > '9')
            continue;

        size_t index = (size_t)(at[1] - '0');

        lt_text_append_bytes(&b->text, from, (size_t)(at - from));
        if (index < count)
            lt_append_value(b, operands[index]);
        else
            lt_mistake(b, "'%s' lacks operand %zu", form, index);
        from = at + 2;
    }
    lt_text_append(&b->text, from);
}

void lt_inst_(struct lt_builder *b, const char *form, const lt_value *operands, size_t count)
{
    lt_start_line(b);
    lt_append_guard(b, b->guard);
    append_form(b, form, operands, count);
    lt_end_line(b);
}

void lt_raw(struct lt_builder *b, const char *instruction)
{
    lt_inst_(b, instruction, NULL, 0);
}

void lt_guard(struct lt_builder *b, lt_value predicate)
{
    if (b->guard.kind != LT_NOTHING)
        lt_mistake(b, "a guard is open already");
    b->guard = predicate;
}

void lt_unguard(struct lt_builder *b)
{
    b->guard = (lt_value){0};
}

void lt_inst_open(struct lt_builder *b, const char *form)
{
    lt_start_line(b);
    lt_append_guard(b, b->guard);
    lt_text_append(&b->text, form);
    lt_text_append_bytes(&b->text, "\n", 1);
}

void lt_inst_elements(struct lt_builder *b, const struct lt_vector *vector, int first, int count)
{
    enum { A_LINE = 10 };

    if (!lt_usable(b, lt_element(vector, first)) ||
        !lt_usable(b, lt_element(vector, first + count - 1)))
        return;

    const struct reg *reg = &b->registers[vector->base.id];

    for (int i = 0; i < count; i++) {
        if (i % A_LINE == 0) {
            lt_start_line(b);
            lt_text_append(&b->text, i == 0 ? "    {" : "     ");
        }
        lt_text_append_bytes(&b->text, "%", 1);
        lt_text_append_bytes(&b->text, reg->name, reg->length);
        lt_text_append_int(&b->text, first + i);
        if (i + 1 == count)
            lt_text_append_bytes(&b->text, "},\n", 3);
        else
            lt_text_append(&b->text, i % A_LINE == A_LINE - 1 ? ",\n" : ", ");
    }
}

void lt_inst_close_(struct lt_builder *b, const char *form, const lt_value *operands, size_t count)
{
    lt_start_line(b);
    lt_text_append_bytes(&b->text, "    ", INDENT);
    append_form(b, form, operands, count);
    lt_end_line(b);
}

/* ---- Comments ---- */

static void append_formatted(struct lt_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static void append_formatted(struct lt_text *text, const char *format, va_list arguments)
{
    char line[400];

    vsnprintf(line, sizeof line, format, arguments);
    lt_text_append(text, line);
}

void lt_remark(struct lt_builder *b, const char *format, ...)
{
    va_list arguments;

    if (!b->annotate)
        return;
    lt_text_append(&b->text, *format ? "// " : "//");
    va_start(arguments, format);
    append_formatted(&b->text, format, arguments);
    va_end(arguments);
    lt_text_append(&b->text, "\n");
}

void lt_heading(struct lt_builder *b, const char *format, ...)
{
    va_list arguments;

    if (!b->annotate)
        return;
    lt_text_append(&b->text, "\n");
    lt_start_line(b);
    lt_text_append(&b->text, "// ---- ");
    va_start(arguments, format);
    append_formatted(&b->text, format, arguments);
    va_end(arguments);
    lt_text_append(&b->text, " ----\n");
}

void lt_comment(struct lt_builder *b, const char *format, ...)
{
    va_list arguments;

    if (!b->annotate)
        return;
    lt_start_line(b);
    lt_text_append(&b->text, "// ");
    va_start(arguments, format);
    append_formatted(&b->text, format, arguments);
    va_end(arguments);
    lt_text_append(&b->text, "\n");
}

void lt_note(struct lt_builder *b, const char *format, ...)
{
    va_list arguments;

    if (!b->annotate)
        return;
    va_start(arguments, format);
    vsnprintf(b->note, sizeof b->note, format, arguments);
    va_end(arguments);
}
