/* entries.h: arrays of structs that the caller made. */
#ifndef LT_RUNTIME_ENTRIES_H
#define LT_RUNTIME_ENTRIES_H

#include <stddef.h>
#include <string.h>

/* One entry: the caller's header may have had smaller or larger structs, and the struct_size that
 * each begins with is the distance between two. */
static inline const void *lt_entry(const void *first, size_t index)
{
    size_t struct_size;

    memcpy(&struct_size, first, sizeof struct_size);
    return (const char *)first + index * struct_size;
}

#endif
