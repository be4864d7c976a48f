/* cache_scan.h: all the entries of a directory at once: list, and keep within a bound. */
#ifndef LT_RUNTIME_CACHE_SCAN_H
#define LT_RUNTIME_CACHE_SCAN_H

#include "runtime/cache.h"

#include <time.h>

struct lt_scan_file {
    char name[LT_CACHE_NAME_SIZE];
    int64_t bytes;
    struct timespec written;
};

struct lt_scan {
    struct lt_scan_file *files; /* oldest first */
    size_t count, room;
    int64_t bytes; /* of all together */
};

/* Whether a file has an entry's name. Others that lie in the directory are left alone. */
bool lt_scan_is_entry(const char *name);

/* Lists the entries. 0 or an errno; `scan` is to be freed in either case. */
int lt_scan_list(int directory, const struct lathe_allocator *allocator, struct lt_scan *scan);
void lt_scan_free(struct lt_scan *scan, const struct lathe_allocator *allocator);

/* Removes the oldest entries, by the time they were written, until at most `limit` bytes are left,
 * and what killed writers left behind. `keep` (may be null) names an entry that stays. 0, or the
 * errno of the first that could not be removed; `removed` counts those that were. */
int lt_scan_evict(int directory, const struct lathe_allocator *allocator, int64_t limit,
                  const char *keep, int *removed);

#endif
