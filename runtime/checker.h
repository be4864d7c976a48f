/* checker.h: filling, comparing and looking for damage in device memory, by the GPU (reference.h)
 * where NVRTC is, else by the CPU (host_reference.h), to and from which everything is then copied.
 * What uses it need not know which. */
#ifndef LT_RUNTIME_CHECKER_H
#define LT_RUNTIME_CHECKER_H

#include "runtime/comparison.h"
#include "runtime/random.h"
#include "runtime/reference.h"
#include "runtime/stream.h"

struct lt_checker {
    const struct lt_stream *stream;
    const struct lathe_allocator *allocator;
    struct lt_reference *reference; /* the context's; null: the CPU does it */
    const char *name;               /* "NVRTC, f64" or "CPU, f64" */
};

enum lt_checker_place {
    LT_CHECKER_ANY, /* the GPU; without NVRTC the CPU where the work is small enough for it */
    LT_CHECKER_CPU
};

/* `checker` is all zero; `multiply_adds` is the work of one comparison. The stream stays open and
 * in place for as long as the checker.
 * Errors: LATHE_NO_LIBRARY (no NVRTC, and too much for the CPU: what to install). */
enum lathe_status lt_checker_open(struct lt_checker *checker, struct lathe_context *context,
                                  const struct lt_stream *stream, enum lt_checker_place place,
                                  double multiply_adds, struct lathe_error *err);

/* As in reference.h: filling is enqueued (or done), the others wait. */
enum lathe_status lt_checker_fill(const struct lt_checker *checker, const struct lt_matrix *matrix,
                                  const struct lt_fill *fill, struct lathe_error *err);
enum lathe_status lt_checker_compare(const struct lt_checker *checker,
                                     const struct lt_product *product, struct lt_verdict *verdict,
                                     struct lathe_error *err);
enum lathe_status lt_checker_damage(const struct lt_checker *checker,
                                    const struct lt_region *regions, int count,
                                    unsigned char canary, int64_t *damage, struct lathe_error *err);

#endif
