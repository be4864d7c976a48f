#include "tests/support/fail_allocator.h"

#include <stdlib.h>
#include <string.h>

static bool refuses(struct fail_allocator *fail)
{
    long call = fail->calls++;

    if (fail->recovers)
        return call == fail->fails_from;
    return fail->fails_from >= 0 && call >= fail->fails_from;
}

/* What was never written must not pass for zeros. */
static void *fresh(struct fail_allocator *fail, void *pointer, size_t bytes)
{
    if (pointer) {
        memset(pointer, 0x5a, bytes);
        fail->live++;
    }
    return pointer;
}

static void *allocate(void *user, size_t bytes)
{
    struct fail_allocator *fail = user;
    void *pointer = refuses(fail) ? NULL : malloc(bytes);

    return fresh(fail, pointer, bytes);
}

static void *reallocate(void *user, void *pointer, size_t bytes)
{
    struct fail_allocator *fail = user;

    if (refuses(fail))
        return NULL;

    if (!pointer)
        return fresh(fail, malloc(bytes), bytes);
    return realloc(pointer, bytes);
}

static void release(void *user, void *pointer)
{
    struct fail_allocator *fail = user;

    if (pointer)
        fail->live--;
    free(pointer);
}

void fail_allocator_init(struct fail_allocator *fail, long fails_from)
{
    *fail = (struct fail_allocator){
        .allocator = {allocate, reallocate, release, fail},
        .fails_from = fails_from,
    };
}
