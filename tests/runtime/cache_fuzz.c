/* cache_fuzz: the reader of cache entries, and of cubins, on bytes that nobody wrote.
 *
 * The first byte of an input says what the others are: 0, an entry as it is; 1, a cubin; else
 * changes to a good entry, three bytes each (place, in 16 bits of it, and value), after which the
 * checksum is made right again, so that what lies behind it is reached. Whatever is taken must then
 * be readable to its end.
 *
 *   cache_fuzz FILE ...    replays inputs
 *   cache_fuzz [COUNT]     tries so many (200,000) that it draws itself, the same every time
 *
 * With clang -fsanitize=fuzzer and -DWITH_LIBFUZZER it is a libFuzzer target. */
#include "runtime/cache_entry.h"
#include "runtime/cubin.h"
#include "tests/runtime/cache_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AS_ENTRY, AS_CUBIN, KINDS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Touches every byte that an entry leads to: the sanitizers see one that is not there. */
static void read_whole(const struct lt_entry *entry)
{
    const struct lt_cache_value *value = &entry->value;
    const char *const strings[] = {entry->key.arch, entry->key.options, value->kernel,  value->plan,
                                   value->contract, value->linker,      value->warnings};
    char name[LT_CACHE_NAME_SIZE];
    size_t bytes = value->cubin_bytes + entry->key.text_bytes;

    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        bytes += strlen(strings[i]);
    require(bytes < LT_ENTRY_BYTES_MAX);
    require(!lt_elf_fault(value->cubin, value->cubin_bytes, value->kernel));
    require(lt_entry_is_for(entry, &entry->key));
    lt_cache_name(&entry->key, name);
}

static void try_entry(const void *data, size_t bytes)
{
    struct lt_entry entry;

    if (!lt_entry_decode(&entry, data, bytes))
        read_whole(&entry);
}

static void try_changes(const uint8_t *changes, size_t bytes)
{
    struct sample sample;

    sample_make(&sample, 1, 64);

    size_t size = lt_entry_bytes(&sample.key, &sample.value);
    unsigned char *entry = malloc(size);

    require(entry != NULL);
    lt_entry_encode(entry, &sample.key, &sample.value);
    for (size_t i = 0; i + 3 <= bytes; i += 3)
        entry[(changes[i] | (size_t)changes[i + 1] << 8) % size] = changes[i + 2];
    lt_entry_seal(entry, size);
    try_entry(entry, size);
    free(entry);
    sample_free(&sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0)
        return 0;

    /* A copy of the exact size, so that a byte too far is seen. */
    size_t rest = bytes - 1;
    uint8_t *copy = malloc(rest ? rest : 1);

    require(copy != NULL);
    memcpy(copy, data + 1, rest);
    switch (data[0]) {
    case AS_ENTRY:
        try_entry(copy, rest);
        break;
    case AS_CUBIN:
        lt_elf_fault(copy, rest, "sample_1");
        break;
    default:
        try_changes(copy, rest);
        break;
    }
    free(copy);
    return 0;
}

#ifndef WITH_LIBFUZZER

static uint32_t draw(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A cubin with a few bytes changed, most of them in its headers; or changes to an entry, most of
 * them in its footer, and in the cubin's headers. */
static size_t draw_input(uint32_t *state, uint8_t *input, size_t room)
{
    size_t bytes = 1, changes = 1 + draw(state) % 4;

    input[0] = draw(state) % 3 ? KINDS : AS_CUBIN;
    if (input[0] == AS_CUBIN) {
        bytes += sample_cubin(input + 1, "sample_1", 64, 1);
        for (; changes > 0; changes--)
            input[1 + draw(state) % (bytes - 1)] = (uint8_t)draw(state);
        return bytes;
    }
    for (; changes > 0 && bytes + 3 <= room; changes--) {
        uint32_t place = draw(state) % 1024;

        input[bytes++] = (uint8_t)place;
        input[bytes++] = (uint8_t)(place >> 8);
        input[bytes++] = (uint8_t)(draw(state) % 2 ? draw(state) : draw(state) % 2 * 0xff);
    }
    return bytes;
}

static int replay(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");

    if (!file) {
        perror(path);
        return 1;
    }

    size_t bytes = fread(data, 1, sizeof data, file);

    fclose(file);
    LLVMFuzzerTestOneInput(data, bytes);
    return 0;
}

int main(int count, char **words)
{
    long inputs = count == 2 ? strtol(words[1], NULL, 10) : 0;
    uint32_t state = 2463534242U;
    static uint8_t input[4096];

    if (count > 1 && inputs == 0) {
        int failed = 0;

        for (int i = 1; i < count; i++)
            failed += replay(words[i]);
        return failed ? 1 : 0;
    }
    if (inputs == 0)
        inputs = 200000;
    for (long i = 0; i < inputs; i++)
        LLVMFuzzerTestOneInput(input, draw_input(&state, input, sizeof input));
    printf("%ld inputs\n", inputs);
    return 0;
}

#endif
