/* text.h: a growing text.
 *
 * Appending never fails at the call: when memory runs out the text remembers it, later calls do
 * nothing, and the owner asks once, at the end (`failed`). `data` is always ended by NUL once
 * anything was appended; it never holds a NUL before `length`. */
#ifndef LT_CODEGEN_TEXT_H
#define LT_CODEGEN_TEXT_H

#include "codegen/memory.h"
#include "include/lathe.h"

#include <stdbool.h>
#include <string.h>

struct lt_text {
    char *data;
    size_t length, capacity; /* capacity 0 once it failed */
    bool failed;
    const struct lathe_allocator *allocator; /* borrowed; null: malloc */
};

/* Room for `count` more bytes and the final NUL; false when there is no memory for it. */
bool lt_text_grow(struct lt_text *text, size_t count);

static inline bool lt_text_reserve(struct lt_text *text, size_t count)
{
    return text->length + count < text->capacity || lt_text_grow(text, count);
}

/* Inline: a kernel is some ten thousand calls, most of them of a literal. */
static inline void lt_text_append_bytes(struct lt_text *text, const char *bytes, size_t count)
{
    if (!lt_text_reserve(text, count))
        return;
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

static inline void lt_text_append(struct lt_text *text, const char *string)
{
    lt_text_append_bytes(text, string, strlen(string));
}

void lt_text_append_int(struct lt_text *text, int64_t number);
void lt_text_printf(struct lt_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Spaces up to `column`, counted from the last line break. */
void lt_text_pad(struct lt_text *text, size_t column);
/* Moves what stands from `from` to the end so that `insert` comes before it. */
void lt_text_insert(struct lt_text *text, size_t from, const struct lt_text *insert);
void lt_text_free(struct lt_text *text);

/* Copies like snprintf: the whole length is returned, at most `size` bytes are written. */
size_t lt_text_copy(const struct lt_text *text, char *buffer, size_t size);

#endif
