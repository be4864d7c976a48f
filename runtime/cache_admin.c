/* The cache as its owner sees it: list, verify, prune, look into an entry. */
#include "runtime/cache.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/cache_entry.h"
#include "runtime/cache_file.h"
#include "runtime/cache_scan.h"
#include "runtime/cache_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An entry that was read; `fault` is null if it is good, and then `entry` points into `bytes`. */
struct reading {
    struct lt_bytes bytes;
    struct lt_entry entry;
    const char *fault;
    int trouble; /* errno where the system could not read it, now: it may well be good */
};

/* False if there is no such file. */
static bool read_entry(const struct lt_cache *cache, int directory, const char *name,
                       struct reading *reading)
{
    char real_name[LT_CACHE_NAME_SIZE];

    *reading = (struct reading){.fault = NULL};
    switch (lt_file_read(directory, name, LT_ENTRY_BYTES_MAX, cache->allocator, &reading->bytes,
                         &reading->fault)) {
    case LT_READ_ABSENT:
        return false;
    case LT_READ_FAILED:
        reading->trouble = errno;
        reading->fault = strerror(errno);
        return true;
    case LT_READ_WRONG:
        return true;
    case LT_READ_WHOLE:
        break;
    }
    reading->fault = lt_entry_decode(&reading->entry, reading->bytes.data, reading->bytes.bytes);
    if (!reading->fault) {
        lt_cache_name(&reading->entry.key, real_name);
        if (strcmp(name, real_name) != 0)
            reading->fault = "it is the entry of another kernel";
    }
    return true;
}

static void end_reading(const struct lt_cache *cache, struct reading *reading)
{
    lt_release(cache->allocator, reading->bytes.data);
}

/* LATHE_OK with -1 where there is no directory yet: an empty cache. */
static enum lathe_status open_directory(const struct lt_cache *cache, int *directory,
                                        struct lathe_error *err)
{
    struct lathe_error own;

    *directory = -1;
    if (cache->has_callbacks)
        return lt_fail(err, LATHE_IO_FAILED,
                       "the cache is the program's own (callbacks): there is no directory");
    if (lt_directory_open(&cache->directory, false, directory, err ? err : &own) ==
        LT_DIRECTORY_REFUSED)
        return LATHE_IO_FAILED;
    return LATHE_OK;
}

static enum lathe_status fail_on(const struct lt_cache *cache, const char *what, int trouble,
                                 struct lathe_error *err)
{
    return lt_fail(err, trouble == ENOMEM ? LATHE_OUT_OF_MEMORY : LATHE_IO_FAILED,
                   "cannot %s the cache in %.200s: %s", what, cache->directory.path,
                   strerror(trouble));
}

/* Opens and scans. With -1 for the directory there is nothing in `scan`. */
static enum lathe_status list_entries(const struct lt_cache *cache, int *directory,
                                      struct lt_scan *scan, struct lathe_error *err)
{
    enum lathe_status status = open_directory(cache, directory, err);

    *scan = (struct lt_scan){.count = 0};
    if (status != LATHE_OK || *directory < 0)
        return status;

    int trouble = lt_scan_list(*directory, cache->allocator, scan);

    if (trouble == 0)
        return LATHE_OK;
    lt_scan_free(scan, cache->allocator);
    close(*directory);
    return fail_on(cache, "list", trouble, err);
}

static void end_listing(const struct lt_cache *cache, int directory, struct lt_scan *scan)
{
    lt_scan_free(scan, cache->allocator);
    if (directory >= 0)
        close(directory);
}

enum lathe_status lt_cache_path(const struct lt_cache *cache, char *buffer, size_t size,
                                struct lathe_error *err)
{
    int directory;

    if (!cache->enabled)
        return lt_fail(err, LATHE_IO_FAILED, "the cache is off");

    enum lathe_status status = open_directory(cache, &directory, err);

    if (status != LATHE_OK)
        return status;
    if (directory >= 0)
        close(directory);
    if (strlen(cache->directory.path) >= size)
        return lt_fail(err, LATHE_MISUSED, "the cache's path has %zu bytes, there is room for %zu",
                       strlen(cache->directory.path) + 1, size);
    snprintf(buffer, size, "%s", cache->directory.path);
    return LATHE_OK;
}

static void describe(const struct lt_scan_file *file, const struct reading *reading,
                     struct lathe_cache_entry *entry)
{
    const struct lt_cache_value *value = &reading->entry.value;

    *entry = (struct lathe_cache_entry){.bytes = file->bytes, .written = file->written.tv_sec};
    snprintf(entry->name, sizeof entry->name, "%s", file->name);
    if (reading->fault)
        return;
    entry->valid = 1;
    snprintf(entry->kernel, sizeof entry->kernel, "%s", value->kernel);
    snprintf(entry->arch, sizeof entry->arch, "%s", reading->entry.key.arch);
    snprintf(entry->linker, sizeof entry->linker, "%s", value->linker);
    snprintf(entry->options, sizeof entry->options, "%s", reading->entry.key.options);
    snprintf(entry->plan, sizeof entry->plan, "%s", value->plan);
    entry->registers = value->registers;
    entry->spill_bytes = value->spill_bytes;
    entry->warning_count = value->warning_count;
}

enum lathe_status lt_cache_list(const struct lt_cache *cache,
                                int (*each)(void *user, const struct lathe_cache_entry *entry),
                                void *user, struct lathe_error *err)
{
    struct lt_scan scan;
    int directory;
    enum lathe_status status = list_entries(cache, &directory, &scan, err);
    int stop = 0, unread = 0;

    if (status != LATHE_OK)
        return status;
    for (size_t i = 0; i < scan.count && !stop; i++) {
        struct lathe_cache_entry entry;
        struct reading reading;

        if (!read_entry(cache, directory, scan.files[i].name, &reading))
            continue;
        if (reading.trouble) {
            unread = reading.trouble;
            continue;
        }
        describe(&scan.files[i], &reading, &entry);
        end_reading(cache, &reading);
        stop = each(user, &entry);
    }
    end_listing(cache, directory, &scan);
    return unread ? fail_on(cache, "read an entry of", unread, err) : LATHE_OK;
}

enum lathe_status lt_cache_verify(const struct lt_cache *cache, int *checked, int *removed,
                                  struct lathe_error *err)
{
    struct lt_scan scan;
    int directory, checked_count = 0, removed_count = 0, trouble = 0, unread = 0;
    enum lathe_status status = list_entries(cache, &directory, &scan, err);

    if (status != LATHE_OK)
        return status;
    for (size_t i = 0; i < scan.count; i++) {
        struct reading reading;

        if (!read_entry(cache, directory, scan.files[i].name, &reading))
            continue;
        checked_count++;
        if (reading.trouble)
            unread = reading.trouble;
        else if (reading.fault && unlinkat(directory, scan.files[i].name, 0) == 0)
            removed_count++;
        else if (reading.fault && errno != ENOENT)
            trouble = errno;
        end_reading(cache, &reading);
    }
    end_listing(cache, directory, &scan);
    if (trouble != 0)
        return fail_on(cache, "remove a bad entry from", trouble, err);
    if (unread != 0)
        return fail_on(cache, "read an entry of", unread, err);
    if (checked)
        *checked = checked_count;
    if (removed)
        *removed = removed_count;
    return LATHE_OK;
}

enum lathe_status lt_cache_prune(const struct lt_cache *cache, int64_t limit_bytes, int *removed,
                                 struct lathe_error *err)
{
    int directory, removed_count = 0, trouble = 0;
    enum lathe_status status = open_directory(cache, &directory, err);

    if (status != LATHE_OK)
        return status;
    if (directory >= 0) {
        trouble =
            lt_scan_evict(directory, cache->allocator,
                          limit_bytes < 0 ? cache->limit_bytes : limit_bytes, NULL, &removed_count);
        close(directory);
    }
    if (trouble != 0)
        return fail_on(cache, "prune", trouble, err);
    if (removed)
        *removed = removed_count;
    return LATHE_OK;
}

static enum lathe_status write_out(int descriptor, const void *data, size_t bytes,
                                   struct lathe_error *err)
{
    int trouble = lt_file_write_all(descriptor, data, bytes);

    return trouble ? lt_fail(err, LATHE_IO_FAILED, "cannot write it out: %s", strerror(trouble))
                   : LATHE_OK;
}

static enum lathe_status write_part_of(const struct lt_entry *entry, enum lathe_cache_part part,
                                       int descriptor, struct lathe_error *err)
{
    switch (part) {
    case LATHE_CACHE_TEXT:
        return write_out(descriptor, entry->key.text, entry->key.text_bytes, err);
    case LATHE_CACHE_CUBIN:
        return write_out(descriptor, entry->value.cubin, entry->value.cubin_bytes, err);
    case LATHE_CACHE_CONTRACT:
        return write_out(descriptor, entry->value.contract, strlen(entry->value.contract), err);
    }
    return lt_fail(err, LATHE_MISUSED, "no such part of a cache entry: %d", (int)part);
}

enum lathe_status lt_cache_write_part(const struct lt_cache *cache, const char *name,
                                      enum lathe_cache_part part, int descriptor,
                                      struct lathe_error *err)
{
    struct reading reading;
    int directory;
    enum lathe_status status = open_directory(cache, &directory, err);

    if (status != LATHE_OK)
        return status;

    /* The name comes from a person: it must not lead out of the directory. */
    bool found =
        directory >= 0 && lt_scan_is_entry(name) && read_entry(cache, directory, name, &reading);

    if (directory >= 0)
        close(directory);
    if (!found)
        return lt_fail(err, LATHE_IO_FAILED, "the cache in %.200s has no entry %.40s",
                       cache->directory.path, name);
    if (reading.trouble)
        status = fail_on(cache, "read an entry of", reading.trouble, err);
    else if (reading.fault)
        status = lt_fail(err, LATHE_IO_FAILED,
                         "the entry %s is bad: %s; `lathe cache verify` "
                         "removes it",
                         name, reading.fault);
    else
        status = write_part_of(&reading.entry, part, descriptor, err);
    end_reading(cache, &reading);
    return status;
}

void lt_cache_forget(struct lt_cache *cache, const char *name)
{
    int directory;

    if (open_directory(cache, &directory, NULL) != LATHE_OK || directory < 0)
        return;
    unlinkat(directory, name, 0);
    close(directory);
}
