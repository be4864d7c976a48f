#include "tests/emulator/ptx_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER ".version 9.0 .target sm_90a .address_size 64 "
#define BODY                                                                                       \
    ".entry k(.param .u64 p) { .reg .b32 r<10>; .reg .b64 d<10>; .reg .f32 f<4>; "                 \
    ".reg .pred p<4>; .reg .v4 .b32 v; .reg .v2 .b32 w; "

static char *join(const char *before, const char *text, const char *after)
{
    size_t size = strlen(before) + strlen(text) + strlen(after) + 1;
    char *joined = malloc(size);

    assert_non_null(joined);
    snprintf(joined, size, "%s%s%s", before, text, after);
    return joined;
}

static struct emu_module *parse_joined(const char *before, const char *text, const char *after)
{
    struct emu_error error = {.line = 0};
    char *joined = join(before, text, after);
    struct emu_module *module = emu_module_parse(joined, strlen(joined), &error);

    free(joined);
    if (!module)
        fail_msg("%s: %s", text, error.message);
    return module;
}

static void refuse_joined(const char *before, const char *text, const char *after, int line,
                          const char *words)
{
    struct emu_error error = {.line = 0};
    char *joined = join(before, text, after);
    struct emu_module *module = emu_module_parse(joined, strlen(joined), &error);

    free(joined);
    if (module)
        fail_msg("it was taken: %s", text);
    if (!strstr(error.message, words))
        fail_msg("%s: '%s' has no '%s'", text, error.message, words);
    if (error.line != line)
        fail_msg("%s: line %d, not %d: %s", text, error.line, line, error.message);
}

struct emu_module *parse_text(const char *text)
{
    return parse_joined(HEADER, text, "");
}

struct emu_module *parse_body(const char *body)
{
    return parse_joined(HEADER BODY, body, " ret; }");
}

void expect_refusal(const char *text, int line, const char *words)
{
    refuse_joined(HEADER, text, "", line, words);
}

void expect_body_refusal(const char *body, int line, const char *words)
{
    refuse_joined(HEADER BODY, body, " ret; }", line, words);
}

const struct emu_instruction *first_instruction(const struct emu_module *module)
{
    for (int i = 0; i < module->function_count; i++) {
        if (module->functions[i].has_body)
            return &module->functions[i].instructions[0];
    }
    fail_msg("no function has a body");
    return NULL;
}

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) >= 0) {
        *length = (size_t)ftell(file);
        rewind(file);
        text = malloc(*length + 1);
    }
    if (text && fread(text, 1, *length, file) != *length) {
        free(text);
        text = NULL;
    }
    if (text)
        text[*length] = '\0';
    fclose(file);
    return text;
}

void read_ptx(const char *folder, const char *name, char *text, size_t size)
{
    char path[512], *read;
    size_t length = 0;

    snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    read = read_file(path, &length);
    if (!read || length >= size)
        fail_msg("%s cannot be read, or is too long", path);
    memcpy(text, read, length + 1);
    free(read);
}
