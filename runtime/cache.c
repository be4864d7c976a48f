#include "runtime/cache.h"

#include "codegen/memory.h"
#include "codegen/status.h"
#include "runtime/cache_disk.h"
#include "runtime/cache_work.h"

#include <string.h>
#include <time.h>

enum { DEFAULT_LOCK_TIMEOUT_MS = 30000 };
#define DEFAULT_LIMIT_BYTES ((int64_t)1 << 30)

/* ---- Making and freeing ---- */

enum lathe_status lt_cache_create(struct lt_cache **cache, const struct lt_cache_settings *settings,
                                  struct lathe_error *err)
{
    struct lt_cache *made = lt_allocate(settings->allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a cache");
    *made = (struct lt_cache){
        .enabled = settings->enabled,
        .has_callbacks = settings->callbacks != NULL,
        .limit_bytes = settings->limit_bytes > 0 ? settings->limit_bytes : DEFAULT_LIMIT_BYTES,
        .lock_timeout_ms =
            settings->lock_timeout_ms > 0 ? settings->lock_timeout_ms : DEFAULT_LOCK_TIMEOUT_MS,
        .allocator = settings->allocator,
        .log = settings->log,
        .log_user = settings->log_user,
    };
    if (settings->callbacks)
        made->callbacks = *settings->callbacks;
    atomic_init(&made->complained, 0);
    if (!lt_flights_init(&made->flights, made->allocator)) {
        lt_release(made->allocator, made);
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a cache's mutex");
    }
    if (!lt_directory_find(&made->directory, settings)) {
        lt_cache_destroy(&made);
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the path of the cache");
    }
    *cache = made;
    return LATHE_OK;
}

void lt_cache_destroy(struct lt_cache **cache)
{
    struct lt_cache *gone = *cache;

    if (!gone)
        return;
    lt_directory_free(&gone->directory, gone->allocator);
    lt_flights_destroy(&gone->flights);
    lt_release(gone->allocator, gone);
    *cache = NULL;
}

bool lt_cache_enabled(const struct lt_cache *cache)
{
    return cache->enabled;
}

void lt_cache_value_release(struct lt_cache *cache, struct lt_cache_value *value)
{
    lt_release(cache->allocator, value->memory);
    *value = (struct lt_cache_value){.memory = NULL};
}

/* ---- In the caller's own cache ---- */

static bool load_entry(struct lt_work *work)
{
    struct lt_cache *cache = work->cache;
    struct lt_bytes bytes = {NULL, 0};

    bytes.data = cache->callbacks.load(cache->callbacks.user, work->name, &bytes.bytes);
    if (!bytes.data)
        return false;

    const char *fault = lt_work_take(work, &bytes);

    if (fault) {
        lt_cache_complain(cache, LT_CAUSE_BAD_ENTRY,
                          "the entry %s of the caller's cache is not used: %s; it is built anew",
                          work->name, fault);
        lt_release(cache->allocator, bytes.data);
        return false;
    }
    work->result = LATHE_CACHE_HIT;
    return true;
}

static enum lathe_status obtain_by_callbacks(struct lt_work *work)
{
    struct lt_cache *cache = work->cache;

    if (!work->renew && load_entry(work))
        return LATHE_OK;

    enum lathe_status status = lt_work_build(work);

    work->result = LATHE_CACHE_MISS;
    if (status == LATHE_OK && lt_work_encode(work))
        cache->callbacks.store(cache->callbacks.user, work->name, work->encoded.data,
                               work->encoded.bytes);
    return status;
}

/* ---- One call ---- */

static void start_work(struct lt_work *work)
{
    clock_gettime(CLOCK_MONOTONIC, &work->deadline);
    work->deadline.tv_sec += work->cache->lock_timeout_ms / 1000;
    work->deadline.tv_nsec += work->cache->lock_timeout_ms % 1000 * 1000000L;
    if (work->deadline.tv_nsec >= 1000000000L) {
        work->deadline.tv_nsec -= 1000000000L;
        work->deadline.tv_sec++;
    }
    work->result = LATHE_CACHE_OFF;
    lt_cache_name(work->key, work->name);
}

/* Builds for this thread and for those that wait for it. */
static enum lathe_status lead(struct lt_work *work, struct lt_flight *flight)
{
    struct lt_cache *cache = work->cache;
    enum lathe_status status;

    if (!cache->enabled) {
        status = lt_work_build(work);
        if (status == LATHE_OK)
            lt_work_encode(work);
    } else if (cache->has_callbacks) {
        status = obtain_by_callbacks(work);
    } else {
        status = lt_disk_obtain(work);
    }
    flight->status = status;
    flight->result = work->result;
    flight->entry = work->encoded;
    if (status != LATHE_OK)
        flight->err = work->err;
    lt_flight_land(&cache->flights, flight);
    return status;
}

/* What another thread has made just now. False if it made nothing that can be shared: then the
 * entry is to be looked for again. */
static bool share(struct lt_work *work, const struct lt_flight *flight, enum lathe_status *status)
{
    struct lt_cache *cache = work->cache;

    *status = flight->status;
    if (flight->status != LATHE_OK) {
        work->err = flight->err;
        return true;
    }
    if (!flight->entry.data)
        return false;

    struct lt_bytes copy = {lt_allocate(cache->allocator, flight->entry.bytes),
                            flight->entry.bytes};

    if (!copy.data)
        return false;
    memcpy(copy.data, flight->entry.data, copy.bytes);
    if (lt_work_take(work, &copy) != NULL) {
        lt_release(cache->allocator, copy.data);
        return false;
    }
    work->result = flight->result == LATHE_CACHE_OFF ? LATHE_CACHE_OFF : LATHE_CACHE_HIT;
    return true;
}

static enum lathe_status obtain(struct lt_work *work)
{
    struct lt_cache *cache = work->cache;
    struct lt_flight *flight;
    enum lathe_status status;

    for (;;) {
        if (cache->enabled && !cache->has_callbacks && !work->renew && lt_disk_find(work))
            return LATHE_OK;

        switch (lt_flight_join(&cache->flights, work->name, &work->deadline, &flight)) {
        case LT_LEADS:
            return lead(work, flight);
        case LT_ALONE:
            lt_cache_complain(cache, LT_CAUSE_WAIT,
                              "another thread has not finished %s within %d ms, or memory is "
                              "short; built here too",
                              work->name, cache->lock_timeout_ms);
            /* Not even stored: callbacks are promised one thread per key. */
            status = lt_work_build(work);
            work->result = cache->enabled ? LATHE_CACHE_MISS : LATHE_CACHE_OFF;
            return status;
        case LT_FOLLOWED:
            break;
        }

        bool shared = !work->renew && share(work, flight, &status);

        lt_flight_leave(&cache->flights, flight);
        if (shared)
            return status;
    }
}

static enum lathe_status do_work(struct lt_work *work, struct lt_cache_value *value,
                                 enum lathe_cache_result *result, struct lathe_error *err)
{
    start_work(work);

    enum lathe_status status = obtain(work);

    if (status != LATHE_OK) {
        if (err)
            *err = work->err;
        return status;
    }
    *value = work->value;
    *result = work->result;
    return LATHE_OK;
}

enum lathe_status lt_cache_obtain(struct lt_cache *cache, const struct lt_cache_key *key,
                                  lt_cache_build build, void *user, struct lt_cache_value *value,
                                  enum lathe_cache_result *result, struct lathe_error *err)
{
    struct lt_work work = {.cache = cache, .key = key, .build = build, .user = user};

    return do_work(&work, value, result, err);
}

enum lathe_status lt_cache_renew(struct lt_cache *cache, const struct lt_cache_key *key,
                                 lt_cache_build build, void *user, struct lt_cache_value *value,
                                 enum lathe_cache_result *result, struct lathe_error *err)
{
    struct lt_work work = {.cache = cache, .key = key, .build = build, .user = user, .renew = true};

    return do_work(&work, value, result, err);
}
