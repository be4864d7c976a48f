/* ptx_assert.h: what tests say about PTX: it ends with, holds, lacks; its lines, its code alone. */
#ifndef LATHE_TESTS_PTX_ASSERT_H
#define LATHE_TESTS_PTX_ASSERT_H

#include <stdbool.h>
#include <stddef.h>

#define assert_ends_with(text, end) assert_ends_with_(text, end, __FILE__, __LINE__)
#define assert_has(text, part) assert_has_(text, part, true, __FILE__, __LINE__)
#define assert_lacks(text, part) assert_has_(text, part, false, __FILE__, __LINE__)

/* The text's end is `end`, which names lines without their indentation. */
void assert_ends_with_(const char *text, const char *end, const char *file, int line);
void assert_has_(const char *text, const char *part, bool wanted, const char *file, int line);

/* How often `part` stands in the text. */
size_t ptx_count(const char *text, const char *part);

/* The text without comments, blanks at the ends of lines, and empty lines. To be freed. */
char *ptx_code_of(const char *text);

/* The lines of a text, each ended by NUL. */
struct ptx_lines {
    size_t count;
    char **line;
    char *copy;
};
struct ptx_lines ptx_lines_of(const char *text);
void ptx_lines_free(struct ptx_lines *lines);

/* The line without its indentation. */
const char *ptx_trimmed(const char *line);
bool ptx_starts_with(const char *line, const char *start);

#endif
