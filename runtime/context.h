/* context.h: what the other files of runtime/ may know of a context. */
#ifndef LT_RUNTIME_CONTEXT_H
#define LT_RUNTIME_CONTEXT_H

#include "include/lathe.h"
#include "runtime/cache.h"
#include "runtime/device.h"
#include "runtime/link.h"

#include <stdbool.h>

/* Opened the first time it is asked for; the answer stays, and so does a failure that will not pass
 * by itself. Any thread. The device is looked at by a probe, without a CUDA context. */
enum lathe_status lt_context_probe(struct lathe_context *context, const struct lt_device **device,
                                   struct lathe_error *err);
enum lathe_status lt_context_device(struct lathe_context *context, const struct lt_device **device,
                                    struct lathe_error *err);
enum lathe_status lt_context_linker(struct lathe_context *context, struct lt_linker **linker,
                                    struct lathe_error *err);
enum lathe_status lt_context_cache(struct lathe_context *context, struct lt_cache **cache,
                                   struct lathe_error *err);

struct lt_reference;
/* The kernels that answers are checked with, compiled when first asked for: some tenths of a
 * second. Errors: LATHE_NO_LIBRARY (no NVRTC). */
enum lathe_status lt_context_reference(struct lathe_context *context,
                                       struct lt_reference **reference, struct lathe_error *err);

/* Another context, on the emulator, with the allocator, the log and the environment of `like`; it
 * lives in the CUDA context that it is given. */
enum lathe_status lt_context_on_emulator(struct lathe_context **context,
                                         const struct lathe_context *like, void *cuda_context,
                                         struct lathe_error *err);

const struct lathe_allocator *lt_context_allocator(const struct lathe_context *context);

/* One line to the caller's log, if there is one. */
void lt_context_log(const struct lathe_context *context, enum lathe_log_level level,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The value of an environment variable as it was when the context was made; null if unset. */
const char *lt_context_variable(const struct lathe_context *context, const char *name);

/* Which of the emulator's devices was asked for; LATHE_ARCH_DEFAULT: none in particular. */
enum lathe_arch lt_context_emulated_arch(const struct lathe_context *context);

/* Where toolkits may be, for lt_library_open(): CUDA_HOME, CUDA_PATH, /usr/local/cuda, null. */
enum { LT_ROOTS = 4 };
void lt_context_roots(const struct lathe_context *context, const char *roots[LT_ROOTS]);

struct lt_functions;
struct lt_functions *lt_context_functions(struct lathe_context *context);

#endif
