/* emulate_buffer.c: what the buffers of `lathe emulate` begin with. */
#include "cli/emulate_words.h"

#include "cli/file.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64, Steele and others 2014: the same bytes wherever it runs. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void fill_iota(const struct lathe_emulated_buffer *buffer, const struct element *element)
{
    size_t step = (size_t)element->bytes;

    for (size_t i = 0; (i + 1) * step <= buffer->bytes; i++)
        element_store(element, (double)i, (unsigned char *)buffer->data + i * step);
}

/* All bytes; of an element that is a float multiples of 1/8 from -2 to 2, whose sums are exact. */
static void fill_random(const struct lathe_emulated_buffer *buffer, const struct element *element,
                        uint64_t state)
{
    unsigned char *bytes = buffer->data;
    size_t step = element ? (size_t)element->bytes : 1;

    for (size_t i = 0; (i + 1) * step <= buffer->bytes; i++) {
        uint64_t random = draw(&state) >> 16;

        if (element && element->kind == ELEMENT_FLOAT)
            element_store(element, (double)(random % 33) / 8 - 2, bytes + i * step);
        else
            for (size_t k = 0; k < step; k++)
                bytes[i * step + k] = (unsigned char)(random >> 8 * (k % 6));
    }
}

static enum lathe_status fill_from_file(const struct lathe_emulated_buffer *buffer,
                                        const char *path, struct lathe_error *err)
{
    char *data;
    size_t size;
    enum lathe_status status = file_read(path, &data, &size, err);

    if (status != LATHE_OK)
        return status;
    if (size > buffer->bytes)
        status = fail(err, LATHE_OUT_OF_RANGE, "%.200s: has %zu bytes, and its buffer %zu", path,
                      size, buffer->bytes);
    else
        memcpy(buffer->data, data, size);
    free(data);
    return status;
}

static const struct element *element_behind(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? element_find(text + length, strlen(text + length))
                                            : NULL;
}

/* Zeros are there already, and stay where nothing else is put. */
enum lathe_status buffer_fill(const struct lathe_emulated_buffer *buffer, int index,
                              const char *how, struct lathe_error *err)
{
    const struct element *iota = element_behind(how, "iota-");
    const struct element *random = element_behind(how, "random-");

    if (strcmp(how, "zero") == 0)
        return LATHE_OK;
    if (strcmp(how, "iota32") == 0)
        iota = element_find("u32", 3);
    if (iota)
        fill_iota(buffer, iota);
    else if (random || strcmp(how, "random") == 0)
        fill_random(buffer, random, (uint64_t)index);
    else
        return fill_from_file(buffer, how, err);
    return LATHE_OK;
}
