/* rotation.h: several sets of the same operands, which launches go through in turn so that each
 * finds its matrices in memory and not in L2. */
#ifndef LT_RUNTIME_ROTATION_H
#define LT_RUNTIME_ROTATION_H

#include "runtime/operands.h"

struct lt_rotation {
    const struct lathe_allocator *allocator;
    struct lt_operands *sets;
    int count;
};

/* How many sets there should be for a footprint: three times what L2 holds (180 MB on an H200), at
 * least 2, at most `most`. */
int lt_rotation_wanted(double footprint_bytes, int64_t l2_bytes, int most);

/* Makes the sets wanted, or as many as free memory holds, of which `spare_bytes` are left alone; at
 * least one. Filled with normal data. `rotation` is all zero. Errors: LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_rotation_create(struct lt_rotation *rotation, const struct lt_checker *checker,
                                     const struct lathe_gemm *problem, int most,
                                     int64_t spare_bytes, uint64_t seed, struct lathe_error *err);
void lt_rotation_destroy(struct lt_rotation *rotation);

/* The set of launch number `index`. */
const struct lt_operands *lt_rotation_at(const struct lt_rotation *rotation, int index);

/* Enqueues poisoning D of every set. */
enum lathe_status lt_rotation_poison(const struct lt_rotation *rotation, struct lathe_error *err);

#endif
