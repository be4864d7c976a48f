/* reference.h: an answer in f64 to hold a kernel's against, on the GPU: filling matrices, comparing
 * every element, looking for damage, by kernels of our own that NVRTC compiles once. The
 * arithmetic is host_reference.h's. Addresses are the device's. */
#ifndef LT_RUNTIME_REFERENCE_H
#define LT_RUNTIME_REFERENCE_H

#include "runtime/comparison.h"
#include "runtime/random.h"
#include "runtime/stream.h"

struct lt_reference; /* the loaded kernels; any thread, each with a stream of its own */

/* Opens NVRTC (`path` and `roots` as in nvrtc.h), compiles for the device and loads: some tenths of
 * a second. The device stays in place for as long as the reference. Errors: LATHE_NO_LIBRARY (no
 * NVRTC: what to install), LATHE_LINK_FAILED, LATHE_DRIVER_FAILED. */
enum lathe_status lt_reference_create(struct lt_reference **reference,
                                      const struct lt_device *device, const char *path,
                                      const char *const *roots,
                                      const struct lathe_allocator *allocator,
                                      struct lathe_error *err);
/* No work of its may be under way. */
void lt_reference_destroy(struct lt_reference **reference);

/* Enqueues filling the elements of the matrix; what lies between its rows stays. */
enum lathe_status lt_reference_fill(const struct lt_reference *reference,
                                    const struct lt_stream *stream, const struct lt_matrix *matrix,
                                    const struct lt_fill *fill, struct lathe_error *err);

/* Judges every element of D, and waits for it. */
enum lathe_status lt_reference_compare(const struct lt_reference *reference,
                                       const struct lt_stream *stream,
                                       const struct lt_product *product, struct lt_verdict *verdict,
                                       struct lathe_error *err);

/* How many bytes of the regions are not the canary; waits. */
enum lathe_status lt_reference_damage(const struct lt_reference *reference,
                                      const struct lt_stream *stream,
                                      const struct lt_region *regions, int count,
                                      unsigned char canary, int64_t *damage,
                                      struct lathe_error *err);

#endif
