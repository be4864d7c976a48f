/* host_reference.h: what reference.h does on the GPU, in plain C on the CPU: filling matrices,
 * comparing an answer with a sum in f64, looking for damage. For small sizes, for machines without
 * NVRTC, and as the measure of the GPU's version. All addresses are the host's. */
#ifndef LT_RUNTIME_HOST_REFERENCE_H
#define LT_RUNTIME_HOST_REFERENCE_H

#include "runtime/comparison.h"
#include "runtime/random.h"

/* Fills the elements of the matrix; what lies between its rows stays. */
void lt_host_fill(const struct lt_matrix *matrix, const struct lt_fill *fill);

/* How many bytes of the region are not the canary. */
int64_t lt_host_damage(const struct lt_region *region, unsigned char canary);

/* Judges every element of D. Errors: LATHE_OUT_OF_MEMORY (of about 1 MiB). */
enum lathe_status lt_host_compare(const struct lt_product *product, struct lt_verdict *verdict,
                                  const struct lathe_allocator *allocator, struct lathe_error *err);

#endif
