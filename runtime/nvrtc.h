/* nvrtc.h: CUDA C++ text to cubin with NVRTC, which is opened only when something must be compiled.
 */
#ifndef LT_RUNTIME_NVRTC_H
#define LT_RUNTIME_NVRTC_H

#include "include/lathe.h"

struct lt_nvrtc; /* the opened library; any thread */

/* `path`: the library, or null: libnvrtc.so.13, .12 and so on, in the loader's path and under the
 * `roots` of toolkits (ended by null).
 * Errors: LATHE_NO_LIBRARY (what was looked for, and what to install). */
enum lathe_status lt_nvrtc_open(struct lt_nvrtc **nvrtc, const char *path, const char *const *roots,
                                const struct lathe_allocator *allocator, struct lathe_error *err);
void lt_nvrtc_close(struct lt_nvrtc **nvrtc);
/* "NVRTC 13.0" */
const char *lt_nvrtc_version(const struct lt_nvrtc *nvrtc);

/* Compiles `text` for the architecture. `name` stands for it in messages. The cubin is the caller's
 * to free with the allocator that the library was opened with.
 * Errors: LATHE_LINK_FAILED with the first line of the compiler's log that says "error", else the
 * first; LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_nvrtc_compile(struct lt_nvrtc *nvrtc, const char *text, const char *name,
                                   enum lathe_arch arch, void **cubin, size_t *cubin_bytes,
                                   struct lathe_error *err);

#endif
