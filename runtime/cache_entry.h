/* cache_entry.h: the bytes of one cache entry. Pure: knows no file.
 *
 *   entry    = cubin texts footer
 *   texts    = text arch options kernel plan contract linker warnings    a NUL after each
 *   footer   = sizes numbers checksum magic
 *   sizes    = 9 x u64          of the cubin, then of each text without its NUL
 *   numbers  = 4 x u32          format, registers, spill bytes, number of warnings
 *   checksum = 2 x u64          XXH3-128 of every byte before it
 *   magic    = 16 bytes         "lathe entry\r\n\x1a\n\0"
 *
 * All numbers are little-endian. The cubin comes first, so that tools that want an ELF file take
 * an entry as it is; the footer has a fixed size and comes last, so that no entry that was cut off
 * ends in one. `text`, `arch` and `options` are the key, whole: a file that was renamed, or whose
 * name collides with another key's, is told apart. */
#ifndef LT_RUNTIME_CACHE_ENTRY_H
#define LT_RUNTIME_CACHE_ENTRY_H

#include "runtime/cache.h"

/* The format stands in the footer and in the hash that names the file, so that two versions of
 * the library that share a directory do not remove each other's entries. */
enum { LT_ENTRY_FORMAT = 1 };

/* No entry is larger: a bound for what is read into memory on the word of a file's size. */
#define LT_ENTRY_BYTES_MAX ((size_t)256 << 20)

struct lt_entry {
    struct lt_cache_key key;
    struct lt_cache_value value;
};

/* 0 if it would be larger than an entry may be. */
size_t lt_entry_bytes(const struct lt_cache_key *key, const struct lt_cache_value *value);

/* Writes lt_entry_bytes() bytes. */
void lt_entry_encode(void *bytes, const struct lt_cache_key *key,
                     const struct lt_cache_value *value);

/* Reads any bytes. Null if they are a whole entry whose cubin holds its kernel: then `entry` points
 * into them. Else what is wrong, as a phrase for a message. */
const char *lt_entry_decode(struct lt_entry *entry, const void *data, size_t bytes);

bool lt_entry_is_for(const struct lt_entry *entry, const struct lt_cache_key *key);

/* Puts the right checksum into an entry whose other bytes are in place. */
void lt_entry_seal(void *data, size_t bytes);

#endif
