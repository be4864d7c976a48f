/* link.h: PTX text to cubin with nvJitLink, which is opened only when something must be linked. */
#ifndef LT_RUNTIME_LINK_H
#define LT_RUNTIME_LINK_H

#include "include/lathe.h"

struct lt_linker; /* the opened library; any thread */

/* `path`: the library, or null: libnvJitLink.so.13, .12 and so on, in the loader's path and under
 * the `roots` of toolkits (ended by null). Errors: LATHE_NO_LIBRARY (what was looked for, and what
 * to install). */
enum lathe_status lt_linker_open(struct lt_linker **linker, const char *path,
                                 const char *const *roots, const struct lathe_allocator *allocator,
                                 struct lathe_error *err);
void lt_linker_close(struct lt_linker **linker);
/* "nvJitLink 13.0" */
const char *lt_linker_version(const struct lt_linker *linker);

/* The options that lt_link() gives to the linker, a space between two: part of a cache key. */
void lt_link_options(enum lathe_arch arch, char *buffer, size_t size);

struct lt_linked {
    void *cubin;
    size_t cubin_bytes;
    int registers, spill_bytes; /* as the linker's log says; -1 where it does not */
    int warning_count;
    char *warnings; /* lines, "" if none */
    double milliseconds;
};

/* Errors: LATHE_LINK_FAILED with the first line of the linker's log, LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_link(struct lt_linker *linker, const char *text, size_t text_bytes,
                          const char *name, enum lathe_arch arch, struct lt_linked *linked,
                          struct lathe_error *err);
void lt_linked_release(struct lt_linker *linker, struct lt_linked *linked);

#endif
