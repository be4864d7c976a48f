/* cache_state.h: a cache from the inside; for the files of the cache alone. */
#ifndef LT_RUNTIME_CACHE_STATE_H
#define LT_RUNTIME_CACHE_STATE_H

#include "runtime/cache_directory.h"
#include "runtime/cache_flight.h"

#include <stdatomic.h>

/* Constant once made, but for `flights`, which has its own mutex, and `complained`. */
struct lt_cache {
    bool enabled, has_callbacks;
    struct lt_directory directory;
    int64_t limit_bytes;
    int lock_timeout_ms;
    struct lathe_cache_callbacks callbacks;
    const struct lathe_allocator *allocator;
    lathe_log_callback log;
    void *log_user;

    struct lt_flights flights;
    atomic_uint complained; /* a bit for each cause: what the log was told already */
};

#endif
