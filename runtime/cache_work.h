/* cache_work.h: one call for an entry, and the steps of it that are the same wherever entries are
 * kept. For the files of the cache alone. */
#ifndef LT_RUNTIME_CACHE_WORK_H
#define LT_RUNTIME_CACHE_WORK_H

#include "runtime/cache_file.h"
#include "runtime/cache_state.h"

struct lt_work {
    struct lt_cache *cache;
    const struct lt_cache_key *key;
    char name[LT_CACHE_NAME_SIZE];
    struct timespec deadline; /* of all waiting, by CLOCK_MONOTONIC */
    lt_cache_build build;
    void *user;
    bool renew; /* look for no entry: build */

    /* The outcome. `encoded` is the entry's bytes after a build, if there was memory for them. */
    struct lt_cache_value value;
    enum lathe_cache_result result;
    struct lt_bytes encoded;
    struct lathe_error err;
};

/* Null if the bytes are the entry that is wanted: then the value points into them, and owns them.
 * Else what is wrong with them, as a phrase for a message; they stay the caller's. */
const char *lt_work_take(struct lt_work *work, const struct lt_bytes *bytes);

/* Builds, and refuses what is no kernel: a linker was seen to report success with nothing in its
 * hands. */
enum lathe_status lt_work_build(struct lt_work *work);

/* Makes the bytes to store, which threads that wait share. */
bool lt_work_encode(struct lt_work *work);

/* ---- The log: at most one line for each cause and cache ---- */

enum lt_cause {
    LT_CAUSE_DIRECTORY,
    LT_CAUSE_READ,
    LT_CAUSE_BAD_ENTRY,
    LT_CAUSE_WRITE,
    LT_CAUSE_REMOVE,
    LT_CAUSE_LOCK,
    LT_CAUSE_WAIT,
    LT_CAUSE_SIZE,
    LT_CAUSE_MEMORY
};

void lt_cache_complain(struct lt_cache *cache, enum lt_cause cause, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
