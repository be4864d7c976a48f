#include "runtime/once.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { BUCKETS = 1024 };

enum state { MAKING, READY, FAILED };

struct entry {
    struct entry *next;  /* of the same bucket        */
    struct entry *older; /* of all that are ready     */
    enum state state;
    int waiting; /* threads that will look at the outcome */
    void *value;
    struct lathe_error error;
    uint64_t hash;
    size_t key_bytes;
    unsigned char key[];
};

struct lt_once {
    const struct lathe_allocator *allocator;
    pthread_mutex_t mutex;
    pthread_cond_t made;
    struct entry *newest;
    struct entry *buckets[BUCKETS];
};

enum lathe_status lt_once_create(struct lt_once **once, const struct lathe_allocator *allocator,
                                 struct lathe_error *err)
{
    struct lt_once *made = lt_allocate(allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a table of kernels");
    memset(made, 0, sizeof *made);
    made->allocator = allocator;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->made, NULL);
    *once = made;
    return LATHE_OK;
}

void lt_once_destroy(struct lt_once **once, void (*destroy)(void *user, void *value), void *user)
{
    struct lt_once *gone = *once;

    if (!gone)
        return;
    for (struct entry *entry = gone->newest; entry;) {
        struct entry *older = entry->older;

        destroy(user, entry->value);
        lt_release(gone->allocator, entry);
        entry = older;
    }
    pthread_cond_destroy(&gone->made);
    pthread_mutex_destroy(&gone->mutex);
    lt_release(gone->allocator, gone);
    *once = NULL;
}

static struct entry *find(struct lt_once *once, uint64_t hash, const void *key, size_t key_bytes)
{
    for (struct entry *entry = once->buckets[hash % BUCKETS]; entry; entry = entry->next)
        if (entry->hash == hash && entry->key_bytes == key_bytes &&
            memcmp(entry->key, key, key_bytes) == 0)
            return entry;
    return NULL;
}

static struct entry *insert(struct lt_once *once, uint64_t hash, const void *key, size_t key_bytes)
{
    struct entry *entry = lt_allocate(once->allocator, sizeof *entry + key_bytes);

    if (!entry)
        return NULL;
    memset(entry, 0, sizeof *entry);
    entry->state = MAKING;
    entry->hash = hash;
    entry->key_bytes = key_bytes;
    memcpy(entry->key, key, key_bytes);
    entry->next = once->buckets[hash % BUCKETS];
    once->buckets[hash % BUCKETS] = entry;
    return entry;
}

static void take_out(struct lt_once *once, struct entry *entry)
{
    struct entry **link = &once->buckets[entry->hash % BUCKETS];

    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
}

/* Waits for another thread's outcome; the mutex is held. A failed entry is out of the table already
 * and goes with the last that looked at it. */
static enum lathe_status wait_for(struct lt_once *once, struct entry *entry, void **value,
                                  struct lathe_error *err)
{
    entry->waiting++;
    while (entry->state == MAKING)
        pthread_cond_wait(&once->made, &once->mutex);
    entry->waiting--;
    if (entry->state == READY) {
        *value = entry->value;
        return LATHE_OK;
    }

    enum lathe_status status = entry->error.status;

    if (err)
        *err = entry->error;
    if (entry->waiting == 0)
        lt_release(once->allocator, entry);
    return status;
}

/* Makes the value without the mutex, then tells the others. */
static enum lathe_status make_entry(struct lt_once *once, struct entry *entry, lt_once_make make,
                                    void *user, void **value, struct lathe_error *err)
{
    enum lathe_status status;

    pthread_mutex_unlock(&once->mutex);
    status = make(user, &entry->value, &entry->error);
    pthread_mutex_lock(&once->mutex);

    entry->state = status == LATHE_OK ? READY : FAILED;
    pthread_cond_broadcast(&once->made);
    if (status == LATHE_OK) {
        entry->older = once->newest;
        once->newest = entry;
        *value = entry->value;
        return LATHE_OK;
    }
    entry->error.status = status;
    if (err)
        *err = entry->error;
    take_out(once, entry);
    if (entry->waiting == 0)
        lt_release(once->allocator, entry);
    return status;
}

enum lathe_status lt_once_get(struct lt_once *once, const void *key, size_t key_bytes,
                              lt_once_make make, void *user, void **value, struct lathe_error *err)
{
    uint64_t hash = XXH3_64bits(key, key_bytes);
    enum lathe_status status;

    pthread_mutex_lock(&once->mutex);

    struct entry *entry = find(once, hash, key, key_bytes);

    if (entry && entry->state == READY) {
        *value = entry->value;
        status = LATHE_OK;
    } else if (entry) {
        status = wait_for(once, entry, value, err);
    } else if ((entry = insert(once, hash, key, key_bytes)) != NULL) {
        status = make_entry(once, entry, make, user, value, err);
    } else {
        status = lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for another kernel");
    }
    pthread_mutex_unlock(&once->mutex);
    return status;
}
