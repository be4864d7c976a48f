/* cache.h: cubins on disk, one file an entry.
 *
 * What a caller may count on:
 *   - The cache never fails a call that would work with it off. Every trouble is a miss and one
 *     line to the log, at most once for each cause.
 *   - Nothing read back is trusted: magic, format, sizes, checksum, the whole key, and that the
 *     cubin is an ELF file for CUDA with a non-empty .text.<kernel> are checked. A bad entry is
 *     removed and built anew.
 *   - An entry appears whole or not at all, whenever the writer is killed.
 *   - Processes and threads that want the same entry at once build it once, where the file system
 *     has working locks; every wait has a bound, and where locks do not work the work is done twice
 *     and the result is right.
 *   - A hit writes nothing and takes no lock of a file. Only a store evicts, the oldest first.
 *
 * Where to read on: cache_entry.h has the grammar of an entry, cache_directory.h says which
 * directory is trusted, cache_file.h how a file appears whole and how locks work, cache_scan.h how
 * old entries go, cache_flight.h how threads share a build. */
#ifndef LT_RUNTIME_CACHE_H
#define LT_RUNTIME_CACHE_H

#include "include/lathe.h"
#include "include/lathe_tools.h"

#include <stdbool.h>

/* Where the directory is: the first of the three that is given, else the home of the password file.
 * The cache itself reads no environment. */
struct lt_cache_settings {
    bool enabled;
    const char *directory;      /* LATHE_CACHE_DIR: used as it is; relative to where we are now */
    const char *xdg_cache_home; /* then lathe/ in this; ignored unless it is absolute           */
    const char *home;           /* then .cache/lathe/ in this, if it exists                     */
    int64_t limit_bytes;        /* of all entries; 0: 1 GiB                                     */
    int lock_timeout_ms;        /* how long to wait for somebody else's build; 0: 30,000        */
    const struct lathe_cache_callbacks *callbacks; /* in place of the directory; or null        */
    const struct lathe_allocator *allocator;       /* borrowed until the cache is destroyed     */
    lathe_log_callback log;
    void *log_user;
};

/* What decides an image. All borrowed for the call. */
struct lt_cache_key {
    const char *text; /* the kernel's PTX */
    size_t text_bytes;
    const char *arch;    /* "sm_90a"           */
    const char *options; /* of the linker, a space between two */
};

/* What an entry holds. Strings end in NUL and are never null. */
struct lt_cache_value {
    const void *cubin;
    size_t cubin_bytes;
    const char *kernel;   /* name of the entry point */
    const char *plan;     /* its words                */
    const char *contract; /* its JSON                 */
    const char *linker;   /* "nvJitLink 13.0"         */
    const char *warnings; /* of the linker, lines     */
    int registers, spill_bytes, warning_count;

    /* What the pointers point into, if lt_cache_value_release() is to free it: made by the cache,
     * or by a build function with the cache's allocator. Else null. */
    void *memory;
};

struct lt_cache;

/* Makes a cache; the directory is not touched before the first use. Never fails but for memory. */
enum lathe_status lt_cache_create(struct lt_cache **cache, const struct lt_cache_settings *settings,
                                  struct lathe_error *err);
void lt_cache_destroy(struct lt_cache **cache);
bool lt_cache_enabled(const struct lt_cache *cache);

/* Makes the image when there is none: links. What the value's pointers point to must stay until the
 * caller of lt_cache_obtain() is done with the value, which is the one it gets back. */
typedef enum lathe_status (*lt_cache_build)(void *user, struct lt_cache_value *value,
                                            struct lathe_error *err);

/* The entry for the key: read, or built, stored and returned; `result` says which, or that there
 * was no cache to use. After a build the value is what `build` made, whatever the disk says. If
 * another thread builds the same, its image or its failure is shared, and the former is a hit.
 * Fails only when `build` does, or when what it made holds no kernel (LATHE_LINK_FAILED). Any
 * thread. */
enum lathe_status lt_cache_obtain(struct lt_cache *cache, const struct lt_cache_key *key,
                                  lt_cache_build build, void *user, struct lt_cache_value *value,
                                  enum lathe_cache_result *result, struct lathe_error *err);
void lt_cache_value_release(struct lt_cache *cache, struct lt_cache_value *value);

/* As lt_cache_obtain(), without looking for an entry: builds, and stores over what there is. For an
 * entry that passed every check and that the driver refused all the same. */
enum lathe_status lt_cache_renew(struct lt_cache *cache, const struct lt_cache_key *key,
                                 lt_cache_build build, void *user, struct lt_cache_value *value,
                                 enum lathe_cache_result *result, struct lathe_error *err);

/* Removes an entry from the directory, so that the next one who asks builds it anew. */
void lt_cache_forget(struct lt_cache *cache, const char *name);

/* The key's 128 bits in hex and ".cubin": the entry's file name, and the key for callbacks. */
enum { LT_CACHE_NAME_SIZE = 39 };
void lt_cache_name(const struct lt_cache_key *key, char name[LT_CACHE_NAME_SIZE]);

/* ---- For people who look after a cache: behind the functions of lathe_tools.h ----
 *
 * They work on the directory, also when the cache is off, and fail with LATHE_IO_FAILED where there
 * is none to use. A directory that does not exist yet is an empty cache. */

/* Fails also when the cache is off or the caller's own. */
enum lathe_status lt_cache_path(const struct lt_cache *cache, char *buffer, size_t size,
                                struct lathe_error *err);
enum lathe_status lt_cache_list(const struct lt_cache *cache,
                                int (*each)(void *user, const struct lathe_cache_entry *entry),
                                void *user, struct lathe_error *err);
enum lathe_status lt_cache_verify(const struct lt_cache *cache, int *checked, int *removed,
                                  struct lathe_error *err);
/* A limit below 0: the cache's own; 0 removes all. */
enum lathe_status lt_cache_prune(const struct lt_cache *cache, int64_t limit_bytes, int *removed,
                                 struct lathe_error *err);
enum lathe_status lt_cache_write_part(const struct lt_cache *cache, const char *name,
                                      enum lathe_cache_part part, int descriptor,
                                      struct lathe_error *err);

#endif
