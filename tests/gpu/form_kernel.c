/* form_kernel.c: the text of a form. */
#include "tests/gpu/form.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of a register: nothing is narrower than 16 bits. */
static int register_bits(const char *type)
{
    int bits = form_type_bits(type);

    return bits < 16 ? (strcmp(type, "b8") == 0 ? 32 : 16) : bits;
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, FORM_TEXT_SIZE - length, format, arguments);
    va_end(arguments);
}

static bool is_float_register(const char *type)
{
    type += type[0] == 'm';
    return strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0;
}

static void append_declaration(char *text, const struct form_operand *operand, int i)
{
    if (operand->type[0] == '#')
        return;
    if (strcmp(operand->type, "p") == 0)
        append(text, "    .reg .pred %%x%d;\n    .reg .b32 %%w%d;\n", i, i);
    else
        append(text, "    .reg .%s%d %%x%d;\n", is_float_register(operand->type) ? "f" : "b",
               register_bits(operand->type), i);
}

static void append_load(char *text, const struct form_operand *operand, int i)
{
    if (operand->type[0] == '#')
        return;
    if (strcmp(operand->type, "p") == 0)
        append(text, "    ld.global.b32 %%w%d, [%%in+%d];\n    setp.ne.b32 %%x%d, %%w%d, 0;\n", i,
               i * FORM_SLOT_BYTES, i, i);
    else
        append(text, "    ld.global.b%d %%x%d, [%%in+%d];\n", register_bits(operand->type), i,
               i * FORM_SLOT_BYTES);
}

static void append_store(char *text, const struct form_operand *operand, int i)
{
    if (strcmp(operand->type, "p") == 0)
        append(text, "    selp.b32 %%w%d, 1, 0, %%x%d;\n    st.global.b32 [%%out+%d], %%w%d;\n", i,
               i, i * FORM_SLOT_BYTES, i);
    else
        append(text, "    st.global.b%d [%%out+%d], %%x%d;\n", register_bits(operand->type),
               i * FORM_SLOT_BYTES, i);
}

void form_write_kernel(const struct form *form, char text[FORM_TEXT_SIZE])
{
    text[0] = '\0';
    append(text, ".version 8.4\n.target sm_90a\n.address_size 64\n"
                 ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                 "    .reg .b64 %%in, %%out, %%at;\n    .reg .b32 %%r<3>;\n");
    for (int i = 0; i < form->count; i++)
        append_declaration(text, &form->operands[i], i);
    append(text,
           "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n"
           "    mov.u32 %%r0, %%tid.x;\n    mov.u32 %%r1, %%ctaid.x;\n"
           "    mad.lo.u32 %%r2, %%r1, %d, %%r0;\n    mul.wide.u32 %%at, %%r2, %d;\n"
           "    add.u64 %%in, %%in, %%at;\n    add.u64 %%out, %%out, %%at;\n",
           FORM_LANES, FORM_OPERANDS_MAX * FORM_SLOT_BYTES);
    for (int i = form->results; i < form->count; i++)
        append_load(text, &form->operands[i], i);
    append(text, "    %s ", form->opcode);
    for (int i = 0; i < form->count; i++) {
        const struct form_operand *operand = &form->operands[i];

        append(text, "%s%s", i == 0 ? "" : operand->joined ? "|" : ", ", operand->opens ? "{" : "");
        if (operand->type[0] == '#')
            append(text, "%s", operand->immediate);
        else
            append(text, "%%x%d%s", i, operand->closes ? "}" : "");
    }
    append(text, ";\n");
    for (int i = 0; i < form->results; i++)
        append_store(text, &form->operands[i], i);
    append(text, "    ret;\n}\n");
}
