/* library.h: finding a shared library of CUDA at run time. */
#ifndef LT_RUNTIME_LIBRARY_H
#define LT_RUNTIME_LIBRARY_H

#include <stddef.h>

/* What to look for. Names are tried in order, first as the loader finds them, then in lib64/, lib/
 * and targets/x86_64-linux/lib/ (or sbsa-linux) of each root. */
struct lt_library_search {
    const char *path;         /* given by the user: nothing else is tried then; or null */
    const char *const *names; /* "libnvJitLink.so.13", ..., null                        */
    const char *const *roots; /* "/usr/local/cuda", ..., null; may hold empty strings   */
};

/* A dlopen handle, or null with what was looked for in `tried`: "libnvJitLink.so.13, .12 in the
 * loader's path and /usr/local/cuda". `found` (may be null) receives the name that worked. */
void *lt_library_open(const struct lt_library_search *search, char *found, size_t found_size,
                      char *tried, size_t tried_size);

#endif
