/* memory.h: host memory, from the caller's allocator or from malloc. */
#ifndef LT_CODEGEN_MEMORY_H
#define LT_CODEGEN_MEMORY_H

#include "include/lathe.h"

/* Errors: LATHE_MISUSED (one of its functions is missing). Null is accepted. */
enum lathe_status lt_check_allocator(const struct lathe_allocator *allocator,
                                     struct lathe_error *err);

/* `allocator` null: malloc, realloc, free. */
void *lt_allocate(const struct lathe_allocator *allocator, size_t bytes);
void *lt_reallocate(const struct lathe_allocator *allocator, void *pointer, size_t bytes);
/* Null is accepted. */
void lt_release(const struct lathe_allocator *allocator, void *pointer);

#endif
