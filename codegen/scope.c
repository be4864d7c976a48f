/* scope.c: braces, the registers that they declare, and labels. */
#include "codegen/builder_state.h"

#include <stdio.h>
#include <string.h>

static const char *const type_words[LT_TYPES] = {
    [LT_PRED] = ".pred", [LT_B16] = ".b16 ", [LT_B32] = ".b32 ",
    [LT_B64] = ".b64 ",  [LT_F32] = ".f32 ", [LT_B128] = ".b128",
};

int lt_scope_depth(const struct lt_builder *b)
{
    return b->depth;
}

void lt_scope_open(struct lt_builder *b, const char *role)
{
    if (b->depth == SCOPES_MAX) {
        lt_mistake(b, "scopes are nested too deep");
        return;
    }
    lt_start_line(b);
    lt_text_append(&b->text, "{\n");

    struct scope *scope = &b->scopes[b->depth];

    scope->first_register = b->register_count;
    scope->first_label = b->label_count;
    scope->text_start = b->text.length;
    scope->role = role ? role : b->depth > 0 ? b->scopes[b->depth - 1].role : NULL;
    b->depth++;
}

static void append_declaration(struct lt_text *text, const struct reg *reg)
{
    lt_text_append(text, "%");
    lt_text_append(text, reg->name);
    if (reg->count > 0) {
        lt_text_append(text, "<");
        lt_text_append_int(text, reg->count);
        lt_text_append(text, ">");
    }
}

/* ".reg .b32  %stage, %k, ...;" for the names of one type, as many on a line as fit. */
static void append_declarations(struct lt_builder *b, struct lt_text *text, int first,
                                enum lt_type type)
{
    bool open = false;
    size_t line_start = 0;

    for (int i = first; i < b->register_count; i++) {
        const struct reg *reg = &b->registers[i];

        if (reg->type != type)
            continue;
        if (open && text->length - line_start + strlen(reg->name) + 8 > LINE_WIDTH) {
            lt_text_append(text, ";\n");
            open = false;
        }
        if (open) {
            lt_text_append(text, ", ");
        } else {
            line_start = text->length;
            lt_text_pad(text, (size_t)b->depth * INDENT);
            lt_text_append(text, ".reg ");
            lt_text_append(text, type_words[type]);
            lt_text_append(text, " ");
            open = true;
        }
        append_declaration(text, reg);
    }
    if (open)
        lt_text_append(text, ";\n");
}

void lt_scope_close(struct lt_builder *b)
{
    if (b->depth == 0) {
        lt_mistake(b, "a scope is closed that was never opened");
        return;
    }

    struct scope *scope = &b->scopes[b->depth - 1];
    struct lt_text declarations = {.allocator = b->allocator};

    for (int type = 0; type < LT_TYPES; type++)
        append_declarations(b, &declarations, scope->first_register, (enum lt_type)type);
    if (!b->text.failed)
        lt_text_insert(&b->text, scope->text_start, &declarations);
    lt_text_free(&declarations);

    while (b->register_count > scope->first_register)
        lt_forget_register(b);
    b->label_count = scope->first_label;
    b->depth--;
    lt_start_line(b);
    lt_text_append(&b->text, "}\n");
}

void lt_label_name(struct lt_builder *b, char label[LT_LABEL_SIZE], const char *name)
{
    const struct scope *scope = b->depth > 0 ? &b->scopes[b->depth - 1] : NULL;

    label[0] = '\0';
    if (!scope || b->label_count == LABELS_MAX) {
        lt_mistake(b, "label %s: %s", name, scope ? "one too many" : "no scope is open");
        return;
    }
    snprintf(label, LT_LABEL_SIZE, "$%s%s%s", scope->role ? scope->role : "",
             scope->role ? "_" : "", name);
    for (int i = scope->first_label; i < b->label_count; i++)
        if (strcmp(b->labels[i], label) == 0)
            lt_mistake(b, "label %s is there already", label);
    strcpy(b->labels[b->label_count++], label);
}

void lt_label(struct lt_builder *b, const char *label)
{
    for (int i = 0; i + 1 < b->depth; i++)
        lt_text_append_bytes(&b->text, "    ", INDENT);
    lt_text_append(&b->text, label);
    lt_text_append(&b->text, ":");
    lt_end_line(b);
}

void lt_region_opened(struct lt_builder *b)
{
    b->open_regions++;
}

void lt_region_closed(struct lt_builder *b)
{
    b->open_regions--;
}

void lt_branch(struct lt_builder *b, const char *label, lt_value predicate)
{
    if (b->guard.kind != LT_NOTHING)
        lt_mistake(b, "a branch to %s stands under a guard", label);
    lt_start_line(b);
    lt_append_guard(b, predicate);
    lt_text_append(&b->text, "bra ");
    lt_text_append(&b->text, label);
    lt_text_append(&b->text, ";");
    lt_end_line(b);
}
