/* form_kernel.c: the text of a form: its sources are loaded, its body stands between, its results
 * are stored. */
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

static void append_zero(char *text, const struct form_operand *operand, int i)
{
    if (strcmp(operand->type, "p") == 0)
        append(text, "    setp.ne.b32 %%x%d, 0, 0;\n", i);
    else
        append(text, "    mov.b%d %%x%d, %s;\n", register_bits(operand->type), i,
               !is_float_register(operand->type)   ? "0"
               : strcmp(operand->type, "f64") == 0 ? "0d0000000000000000"
                                                   : "0f00000000");
}

/* What sequences_*.def says of registers that are there. */
static void append_prelude(char *text)
{
    append(text,
           "    .reg .b64 %%in, %%out, %%own, %%blocks, %%common, %%d<16>;\n"
           "    .reg .b32 %%thread, %%index, %%r<16>;\n"
           "    .reg .b16 %%h<8>;\n    .reg .pred %%p<8>;\n"
           "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n"
           "    ld.param.u64 %%own, [memory];\n    add.u64 %%common, %%own, %d;\n"
           "    mov.u32 %%thread, %%tid.x;\n    mov.u32 %%r0, %%ctaid.x;\n"
           "    mov.u32 %%r1, %%ntid.x;\n    mad.lo.u32 %%index, %%r0, %%r1, %%thread;\n"
           "    mul.wide.u32 %%d0, %%index, %d;\n    add.u64 %%in, %%in, %%d0;\n"
           "    add.u64 %%out, %%out, %%d0;\n    mul.wide.u32 %%d0, %%index, %d;\n"
           "    add.u64 %%own, %%own, %%d0;\n    mul.wide.u32 %%d0, %%thread, %d;\n"
           "    sub.u64 %%blocks, %%own, %%d0;\n",
           FORM_THREADS * FORM_OWN_BYTES, FORM_OPERANDS_MAX * FORM_SLOT_BYTES, FORM_OWN_BYTES,
           FORM_OWN_BYTES);
}

static void append_instruction(char *text, const struct form *form)
{
    append(text, "    %s ", form->name);
    for (int i = 0; i < form->count; i++) {
        const struct form_operand *operand = &form->operands[i];

        append(text, "%s%s", i == 0 ? "" : operand->joined ? "|" : ", ", operand->opens ? "{" : "");
        if (operand->type[0] == '#')
            append(text, "%s", operand->immediate);
        else
            append(text, "%%x%d%s", i, operand->closes ? "}" : "");
    }
    append(text, ";\n");
}

/* A statement a line, so that messages with a line say which. */
static bool append_statements(char *text, const struct form *form, const char *statements)
{
    char body[FORM_TEXT_SIZE];

    if (!form_substitute(form, statements, body, sizeof body))
        return false;
    for (char *at = body; *at; at++)
        if (*at == ';' && at[1] == ' ')
            at[1] = '\n';
    append(text, "%s\n", body);
    return true;
}

static bool append_sequence(char *text, const struct form *form)
{
    bool done;

    for (int i = 0; i < form->results; i++)
        append_zero(text, &form->operands[i], i);
    append(text, "{\n");
    done = append_statements(text, form, form->body);
    append(text, "}\n");
    return done;
}

bool form_write_kernel(const struct form *form, char text[FORM_TEXT_SIZE])
{
    int version = form->setting.version ? form->setting.version : 84;
    bool done = true;

    text[0] = '\0';
    append(text, ".version %d.%d\n.target sm_90a\n.address_size 64\n", version / 10, version % 10);
    if (form->setting.shared_bytes > 0)
        append(text, ".extern .shared .align 128 .b8 dynamic[];\n");
    if (form->module)
        done = append_statements(text, form, form->module);
    append(text, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 memory,\n"
                 "                  .param .align 16 .b8 bytes[64])\n");
    if (form->setting.maxnreg > 0)
        append(text, ".maxnreg %d\n", form->setting.maxnreg);
    append(text, "{\n");
    for (int i = 0; i < form->count; i++)
        append_declaration(text, &form->operands[i], i);
    append_prelude(text);
    for (int i = form->results; i < form->count; i++)
        append_load(text, &form->operands[i], i);
    if (form->body)
        done = append_sequence(text, form) && done;
    else
        append_instruction(text, form);
    for (int i = 0; i < form->results; i++)
        append_store(text, &form->operands[i], i);
    append(text, "    ret;\n}\n");
    return done && strlen(text) + 1 < FORM_TEXT_SIZE;
}
