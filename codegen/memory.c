#include "codegen/memory.h"

#include <stdlib.h>

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
