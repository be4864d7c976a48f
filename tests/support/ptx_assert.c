#include "tests/support/ptx_assert.h"

#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

const char *ptx_trimmed(const char *line)
{
    return line + strspn(line, " ");
}

bool ptx_starts_with(const char *line, const char *start)
{
    return strncmp(line, start, strlen(start)) == 0;
}

/* Compares from the end, line by line, without the indentation of either. */
void assert_ends_with_(const char *text, const char *end, const char *file, int line)
{
    struct ptx_lines got = ptx_lines_of(text), want = ptx_lines_of(end);
    bool same = got.count >= want.count;

    for (size_t i = 1; same && i <= want.count; i++)
        same = strcmp(ptx_trimmed(got.line[got.count - i]),
                      ptx_trimmed(want.line[want.count - i])) == 0;
    if (!same) {
        size_t shown = got.count < want.count + 2 ? got.count : want.count + 2;

        print_error("the text ends with:\n");
        for (size_t i = got.count - shown; i < got.count; i++)
            print_error("    %s\n", ptx_trimmed(got.line[i]));
        print_error("instead of:\n%s\n", end);
    }
    ptx_lines_free(&got);
    ptx_lines_free(&want);
    if (!same)
        _fail(file, line);
}

void assert_has_(const char *text, const char *part, bool wanted, const char *file, int line)
{
    if ((strstr(text, part) != NULL) == wanted)
        return;
    print_error("\"%s\" %s \"%s\"\n", strlen(text) > 2000 ? "(a long text)" : text,
                wanted ? "lacks" : "has", part);
    _fail(file, line);
}

size_t ptx_count(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + strlen(part), part))
        count++;
    return count;
}

char *ptx_code_of(const char *text)
{
    char *code = malloc(strlen(text) + 1);
    char *out = code;

    assert_non_null(code);
    while (*text) {
        const char *end = text + strcspn(text, "\n");
        const char *comment = strstr(text, "//");
        const char *last = comment && comment < end ? comment : end;

        while (last > text && last[-1] == ' ')
            last--;
        if (last > text) {
            memcpy(out, text, (size_t)(last - text));
            out += last - text;
            *out++ = '\n';
        }
        text = *end ? end + 1 : end;
    }
    *out = '\0';
    return code;
}

struct ptx_lines ptx_lines_of(const char *text)
{
    struct ptx_lines lines = {.copy = strdup(text)};
    size_t most = 1;

    assert_non_null(lines.copy);
    for (const char *at = text; *at; at++)
        most += *at == '\n';
    lines.line = calloc(most, sizeof *lines.line);
    assert_non_null(lines.line);
    for (char *at = lines.copy; *at;) {
        char *end = at + strcspn(at, "\n");

        lines.line[lines.count++] = at;
        if (*end == '\0')
            break;
        *end = '\0';
        at = end + 1;
    }
    return lines;
}

void ptx_lines_free(struct ptx_lines *lines)
{
    free(lines->line);
    free(lines->copy);
    *lines = (struct ptx_lines){0};
}
