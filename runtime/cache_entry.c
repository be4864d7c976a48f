#include "runtime/cache_entry.h"

#include "runtime/cubin.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdio.h>
#include <string.h>

/* In the order in which they stand. All but the first are texts, with a NUL after them. */
enum { CUBIN, TEXT, ARCH, OPTIONS, KERNEL, PLAN, CONTRACT, LINKER, WARNINGS, PART_COUNT };

enum { SIZES_BYTES = 8 * PART_COUNT, NUMBERS_BYTES = 4 * 4 };
enum { CHECKSUM_BYTES = 16, MAGIC_BYTES = 16, SEAL_BYTES = CHECKSUM_BYTES + MAGIC_BYTES };
enum { FOOTER_BYTES = SIZES_BYTES + NUMBERS_BYTES + SEAL_BYTES };

static const unsigned char magic[MAGIC_BYTES] = "lathe entry\r\n\x1a\n";

struct part {
    const char *data;
    size_t bytes;
};

static unsigned char *put_number(unsigned char *at, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *at++ = (unsigned char)(number >> 8 * i);
    return at;
}

static uint64_t get_number(const unsigned char *at, int bytes)
{
    uint64_t number = 0;

    for (int i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << 8 * i;
    return number;
}

static size_t ending_bytes(int part)
{
    return part == CUBIN ? 0 : 1;
}

static void list_parts(const struct lt_cache_key *key, const struct lt_cache_value *value,
                       struct part parts[PART_COUNT])
{
    parts[CUBIN] = (struct part){value->cubin, value->cubin_bytes};
    parts[TEXT] = (struct part){key->text, key->text_bytes};
    parts[ARCH] = (struct part){key->arch, strlen(key->arch)};
    parts[OPTIONS] = (struct part){key->options, strlen(key->options)};
    parts[KERNEL] = (struct part){value->kernel, strlen(value->kernel)};
    parts[PLAN] = (struct part){value->plan, strlen(value->plan)};
    parts[CONTRACT] = (struct part){value->contract, strlen(value->contract)};
    parts[LINKER] = (struct part){value->linker, strlen(value->linker)};
    parts[WARNINGS] = (struct part){value->warnings, strlen(value->warnings)};
}

/* ---- Writing ---- */

size_t lt_entry_bytes(const struct lt_cache_key *key, const struct lt_cache_value *value)
{
    struct part parts[PART_COUNT];
    size_t bytes = FOOTER_BYTES;

    list_parts(key, value, parts);
    for (int i = 0; i < PART_COUNT; i++) {
        size_t room = LT_ENTRY_BYTES_MAX - bytes;

        if (room < ending_bytes(i) || parts[i].bytes > room - ending_bytes(i))
            return 0;
        bytes += parts[i].bytes + ending_bytes(i);
    }
    return bytes;
}

void lt_entry_seal(void *data, size_t bytes)
{
    unsigned char *seal = (unsigned char *)data + bytes - SEAL_BYTES;
    XXH128_hash_t hash = XXH3_128bits(data, bytes - SEAL_BYTES);

    put_number(put_number(seal, hash.low64, 8), hash.high64, 8);
}

void lt_entry_encode(void *bytes, const struct lt_cache_key *key,
                     const struct lt_cache_value *value)
{
    struct part parts[PART_COUNT];
    unsigned char *start = bytes, *at = bytes;

    list_parts(key, value, parts);
    for (int i = 0; i < PART_COUNT; i++) {
        memcpy(at, parts[i].data, parts[i].bytes);
        at += parts[i].bytes;
        if (i != CUBIN)
            *at++ = '\0';
    }
    for (int i = 0; i < PART_COUNT; i++)
        at = put_number(at, parts[i].bytes, 8);
    at = put_number(at, LT_ENTRY_FORMAT, 4);
    at = put_number(at, (uint32_t)value->registers, 4);
    at = put_number(at, (uint32_t)value->spill_bytes, 4);
    at = put_number(at, (uint32_t)value->warning_count, 4);
    at += CHECKSUM_BYTES;
    memcpy(at, magic, MAGIC_BYTES);
    at += MAGIC_BYTES;
    lt_entry_seal(bytes, (size_t)(at - start));
}

/* ---- Reading ---- */

static const char *check_seal(const unsigned char *data, size_t bytes)
{
    if (bytes < FOOTER_BYTES || memcmp(data + bytes - MAGIC_BYTES, magic, MAGIC_BYTES) != 0)
        return "it does not end as an entry does";
    if (get_number(data + bytes - FOOTER_BYTES + SIZES_BYTES, 4) != LT_ENTRY_FORMAT)
        return "it is of another format";

    const unsigned char *seal = data + bytes - SEAL_BYTES;
    XXH128_hash_t hash = XXH3_128bits(data, bytes - SEAL_BYTES);

    if (get_number(seal, 8) != hash.low64 || get_number(seal + 8, 8) != hash.high64)
        return "its checksum is wrong";
    return NULL;
}

/* A right checksum says only that the bytes are those that somebody wrote: with the caller's own
 * cache that may have been anybody. So the sizes are not believed either. */
static bool find_parts(const unsigned char *data, size_t bytes, struct part parts[PART_COUNT])
{
    const unsigned char *sizes = data + bytes - FOOTER_BYTES;
    size_t rest = bytes - FOOTER_BYTES;

    for (int i = 0; i < PART_COUNT; i++) {
        uint64_t size = get_number(sizes + 8 * i, 8);

        if (size > rest || ending_bytes(i) > rest - size)
            return false;
        parts[i] = (struct part){(const char *)data, (size_t)size};
        if (i != CUBIN && data[size] != '\0')
            return false;
        /* The key's text is compared by its length; those after it are used as C strings. */
        if (i > TEXT && memchr(data, '\0', (size_t)size))
            return false;
        data += size + ending_bytes(i);
        rest -= (size_t)size + ending_bytes(i);
    }
    return rest == 0;
}

const char *lt_entry_decode(struct lt_entry *entry, const void *data, size_t bytes)
{
    struct part parts[PART_COUNT];
    const char *fault = check_seal(data, bytes);

    if (fault)
        return fault;
    if (!find_parts(data, bytes, parts))
        return "its sizes do not add up";
    fault = lt_elf_fault(parts[CUBIN].data, parts[CUBIN].bytes, parts[KERNEL].data);
    if (fault)
        return fault;

    const unsigned char *numbers = (const unsigned char *)data + bytes - FOOTER_BYTES + SIZES_BYTES;

    *entry = (struct lt_entry){
        .key = {.text = parts[TEXT].data,
                .text_bytes = parts[TEXT].bytes,
                .arch = parts[ARCH].data,
                .options = parts[OPTIONS].data},
        .value = {.cubin = parts[CUBIN].data,
                  .cubin_bytes = parts[CUBIN].bytes,
                  .kernel = parts[KERNEL].data,
                  .plan = parts[PLAN].data,
                  .contract = parts[CONTRACT].data,
                  .linker = parts[LINKER].data,
                  .warnings = parts[WARNINGS].data,
                  .registers = (int)(int32_t)get_number(numbers + 4, 4),
                  .spill_bytes = (int)(int32_t)get_number(numbers + 8, 4),
                  .warning_count = (int)(int32_t)get_number(numbers + 12, 4)},
    };
    return NULL;
}

/* ---- The key ---- */

bool lt_entry_is_for(const struct lt_entry *entry, const struct lt_cache_key *key)
{
    return entry->key.text_bytes == key->text_bytes &&
           memcmp(entry->key.text, key->text, key->text_bytes) == 0 &&
           strcmp(entry->key.arch, key->arch) == 0 && strcmp(entry->key.options, key->options) == 0;
}

/* Each part goes in with its length before it, so that no two keys run together. */
static void hash_part(XXH3_state_t *state, const char *data, size_t bytes)
{
    unsigned char length[8];

    put_number(length, bytes, 8);
    XXH3_128bits_update(state, length, sizeof length);
    XXH3_128bits_update(state, data, bytes);
}

void lt_cache_name(const struct lt_cache_key *key, char name[LT_CACHE_NAME_SIZE])
{
    XXH3_state_t state;
    unsigned char format[4];

    XXH3_128bits_reset(&state);
    put_number(format, LT_ENTRY_FORMAT, sizeof format);
    XXH3_128bits_update(&state, format, sizeof format);
    hash_part(&state, key->text, key->text_bytes);
    hash_part(&state, key->arch, strlen(key->arch));
    hash_part(&state, key->options, strlen(key->options));

    XXH128_hash_t hash = XXH3_128bits_digest(&state);

    snprintf(name, LT_CACHE_NAME_SIZE, "%016llx%016llx.cubin", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
