#include "runtime/cache_disk.h"

#include "codegen/memory.h"
#include "runtime/cache_entry.h"
#include "runtime/cache_scan.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* How long to sleep between two looks at another process's build: at first not to miss the end of
 * a short one, later not to keep a core busy when dozens of processes wait. */
enum { FIRST_PAUSE_US = 500, LONGEST_PAUSE_US = 10000 };

/* A disk that is full or read-only shows at the lock, the write, or when a bad entry is to go: one
 * cause, one line. */
static bool is_unwritable(int trouble)
{
    return trouble == EACCES || trouble == EPERM || trouble == EROFS || trouble == ENOSPC ||
           trouble == EDQUOT;
}

static void complain_of_writing(struct lt_cache *cache, int trouble)
{
    lt_cache_complain(
        cache, LT_CAUSE_WRITE,
        "cannot write to the cache in %.200s: %s; every process compiles anew what is not in it: "
        "make it writable or make room, or " LT_DIRECTORY_ADVICE,
        cache->directory.path, strerror(trouble));
}

static bool open_directory(struct lt_work *work, bool create, int *directory)
{
    struct lt_cache *cache = work->cache;
    struct lathe_error err;

    switch (lt_directory_open(&cache->directory, create, directory, &err)) {
    case LT_DIRECTORY_OPEN:
        return true;
    case LT_DIRECTORY_ABSENT:
        return false;
    case LT_DIRECTORY_REFUSED:
        lt_cache_complain(cache, LT_CAUSE_DIRECTORY, "%s", err.message);
        return false;
    }
    return false;
}

/* Another process may put a good entry in the place of the bad one just before this: it is lost
 * then, and built once more. */
static void drop_entry(struct lt_work *work, int directory, const char *fault)
{
    struct lt_cache *cache = work->cache;

    lt_cache_complain(cache, LT_CAUSE_BAD_ENTRY,
                      "the cache's entry %.200s/%s is not used: %s; it is built anew",
                      cache->directory.path, work->name, fault);
    if (unlinkat(directory, work->name, 0) == 0 || errno == ENOENT)
        return;
    if (is_unwritable(errno))
        complain_of_writing(cache, errno);
    else
        lt_cache_complain(cache, LT_CAUSE_REMOVE,
                          "cannot remove the bad entry %.200s/%s of the cache: %s",
                          cache->directory.path, work->name, strerror(errno));
}

/* True on a hit. A bad entry is removed if `drop`: by the one that will build it anew. */
static bool read_entry(struct lt_work *work, int directory, bool drop)
{
    struct lt_cache *cache = work->cache;
    struct lt_bytes bytes = {NULL, 0};
    const char *fault = NULL;

    switch (
        lt_file_read(directory, work->name, LT_ENTRY_BYTES_MAX, cache->allocator, &bytes, &fault)) {
    case LT_READ_ABSENT:
        return false;
    case LT_READ_FAILED:
        /* What may not be read cannot be written either, and that is where it is told. */
        if (errno == EACCES)
            return false;
        lt_cache_complain(cache, LT_CAUSE_READ, "cannot read the cache's entry %.200s/%s: %s",
                          cache->directory.path, work->name, strerror(errno));
        return false;
    case LT_READ_WHOLE:
        fault = lt_work_take(work, &bytes);
        break;
    case LT_READ_WRONG:
        break;
    }
    if (!fault) {
        work->result = LATHE_CACHE_HIT;
        return true;
    }
    lt_release(cache->allocator, bytes.data);
    if (drop)
        drop_entry(work, directory, fault);
    return false;
}

bool lt_disk_find(struct lt_work *work)
{
    int directory;

    if (!open_directory(work, false, &directory))
        return false;

    bool hit = read_entry(work, directory, false);

    close(directory);
    return hit;
}

static int open_lock(struct lt_work *work, int directory)
{
    int lock = lt_lock_open(directory);

    if (lock >= 0)
        return lock;
    if (is_unwritable(errno))
        complain_of_writing(work->cache, errno);
    else
        lt_cache_complain(work->cache, LT_CAUSE_LOCK,
                          "cannot open %.200s/lock: %s; kernels may be compiled more than once",
                          work->cache->directory.path, strerror(errno));
    return -1;
}

static bool is_over(const struct timespec *deadline)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec != deadline->tv_sec ? now.tv_sec > deadline->tv_sec
                                          : now.tv_nsec >= deadline->tv_nsec;
}

/* Waits until it is this process's turn to build, or another has built: then true, a hit. The entry
 * is looked for after each try for the lock, so that who gets the lock does not miss what its last
 * holder wrote, and who does not get it does not wait longer than until the entry is there. */
static bool wait_for_turn(struct lt_work *work, int directory, int lock)
{
    struct lt_cache *cache = work->cache;

    for (long pause_us = FIRST_PAUSE_US;;) {
        enum lt_locked locked = lock < 0 ? LT_LOCK_UNUSABLE : lt_lock_try(lock, work->name);
        int trouble = errno;

        if (read_entry(work, directory, locked != LT_LOCK_BUSY))
            return true;
        if (locked == LT_LOCK_HELD)
            return false;
        if (locked == LT_LOCK_UNUSABLE) {
            if (lock >= 0)
                lt_cache_complain(
                    cache, LT_CAUSE_LOCK,
                    "cannot lock %.200s/lock: %s; kernels may be compiled more than once",
                    cache->directory.path, strerror(trouble));
            return false;
        }
        if (is_over(&work->deadline)) {
            lt_cache_complain(
                cache, LT_CAUSE_WAIT,
                "another process has not finished %.200s/%s within %d ms; built here too",
                cache->directory.path, work->name, cache->lock_timeout_ms);
            return false;
        }

        struct timespec pause = {0, pause_us * 1000};

        nanosleep(&pause, NULL);
        pause_us = pause_us * 2 < LONGEST_PAUSE_US ? pause_us * 2 : LONGEST_PAUSE_US;
    }
}

/* True if there is a new entry. */
static bool store_entry(struct lt_work *work, int directory)
{
    struct lt_cache *cache = work->cache;

    if ((int64_t)work->encoded.bytes > cache->limit_bytes) {
        lt_cache_complain(
            cache, LT_CAUSE_SIZE,
            "an entry of %zu bytes is over the cache's limit of %lld (LATHE_CACHE_LIMIT)",
            work->encoded.bytes, (long long)cache->limit_bytes);
        return false;
    }

    int trouble = lt_file_write(directory, work->name, work->encoded.data, work->encoded.bytes);

    if (trouble != 0)
        complain_of_writing(cache, trouble);
    return trouble == 0;
}

static void evict_entries(struct lt_work *work, int directory)
{
    struct lt_cache *cache = work->cache;
    int removed;
    int trouble =
        lt_scan_evict(directory, cache->allocator, cache->limit_bytes, work->name, &removed);

    if (trouble != 0)
        lt_cache_complain(cache, LT_CAUSE_REMOVE,
                          "cannot keep the cache in %.200s below %lld bytes: %s",
                          cache->directory.path, (long long)cache->limit_bytes, strerror(trouble));
}

enum lathe_status lt_disk_obtain(struct lt_work *work)
{
    int directory;

    if (!open_directory(work, true, &directory)) {
        enum lathe_status status = lt_work_build(work);

        if (status == LATHE_OK)
            lt_work_encode(work);
        return status;
    }

    int lock = open_lock(work, directory);
    enum lathe_status status = LATHE_OK;
    bool stored = false;

    if (work->renew || !wait_for_turn(work, directory, lock)) {
        status = lt_work_build(work);
        work->result = LATHE_CACHE_MISS;
        if (status == LATHE_OK && lt_work_encode(work))
            stored = store_entry(work, directory);
    }
    lt_lock_close(lock, work->name);
    if (stored)
        evict_entries(work, directory);
    close(directory);
    return status;
}
