#include "codegen/memory.h"

#include "codegen/status.h"

#include <stdlib.h>

enum lathe_status lt_check_allocator(const struct lathe_allocator *allocator,
                                     struct lathe_error *err)
{
    if (!allocator || (allocator->allocate && allocator->reallocate && allocator->release))
        return LATHE_OK;
    return lt_fail(err, LATHE_MISUSED, "an allocator needs all three of its functions");
}

void *lt_allocate(const struct lathe_allocator *allocator, size_t bytes)
{
    return allocator ? allocator->allocate(allocator->user, bytes) : malloc(bytes);
}

void *lt_reallocate(const struct lathe_allocator *allocator, void *pointer, size_t bytes)
{
    return allocator ? allocator->reallocate(allocator->user, pointer, bytes)
                     : realloc(pointer, bytes);
}

void lt_release(const struct lathe_allocator *allocator, void *pointer)
{
    if (!pointer)
        return;
    if (allocator)
        allocator->release(allocator->user, pointer);
    else
        free(pointer);
}
