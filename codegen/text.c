#include "codegen/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool fail(struct lt_text *text)
{
    text->failed = true;
    text->capacity = 0;
    return false;
}

bool lt_text_grow(struct lt_text *text, size_t count)
{
    size_t capacity = text->capacity ? text->capacity : 256;

    if (text->failed)
        return false;
    while (capacity - text->length <= count) {
        if (capacity > SIZE_MAX / 2)
            return fail(text);
        capacity *= 2;
    }

    char *data = lt_reallocate(text->allocator, text->data, capacity);

    if (!data)
        return fail(text);
    text->data = data;
    text->capacity = capacity;
    return true;
}

/* printf is several times slower, and a kernel holds thousands of small numbers. */
void lt_text_append_int(struct lt_text *text, int64_t number)
{
    char digits[24];
    size_t start = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    if (number >= 0 && number < 10) {
        digits[0] = (char)('0' + number);
        lt_text_append_bytes(text, digits, 1);
        return;
    }
    do {
        digits[--start] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        digits[--start] = '-';
    lt_text_append_bytes(text, digits + start, sizeof digits - start);
}

void lt_text_printf(struct lt_text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int needed = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (needed < 0) {
        fail(text);
        return;
    }
    if (!lt_text_reserve(text, (size_t)needed))
        return;

    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)needed + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)needed;
}

void lt_text_pad(struct lt_text *text, size_t column)
{
    size_t start = text->length;

    while (start > 0 && text->data[start - 1] != '\n')
        start--;
    for (size_t at = text->length - start; at < column; at++)
        lt_text_append_bytes(text, " ", 1);
}

void lt_text_insert(struct lt_text *text, size_t from, const struct lt_text *insert)
{
    if (insert->failed)
        fail(text);
    if (insert->length == 0 || !lt_text_reserve(text, insert->length))
        return;
    memmove(text->data + from + insert->length, text->data + from, text->length - from);
    memcpy(text->data + from, insert->data, insert->length);
    text->length += insert->length;
    text->data[text->length] = '\0';
}

void lt_text_free(struct lt_text *text)
{
    lt_release(text->allocator, text->data);
    text->data = NULL;
    text->length = 0;
    text->capacity = 0;
}

size_t lt_text_copy(const struct lt_text *text, char *buffer, size_t size)
{
    if (buffer && size > 0) {
        size_t count = text->length < size ? text->length : size - 1;

        if (count > 0)
            memcpy(buffer, text->data, count);
        buffer[count] = '\0';
    }
    return text->length;
}
