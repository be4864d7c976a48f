/* gpu_run.h: one case on the device: D is poisoned before the launch, NaN stands around A, B and C,
 * and canaries around D; afterwards every element is compared, by the rule of comparison.h. */
#ifndef LATHE_TESTS_GPU_RUN_H
#define LATHE_TESTS_GPU_RUN_H

#include "runtime/comparison.h"
#include "tests/gpu/gpu_case.h"

struct gpu_outcome {
    struct lt_verdict verdict;
    int64_t damage;                 /* bytes around D that changed */
    int spill_bytes, warning_count; /* of the linker */
};

/* LATHE_OK also when the answer is wrong. */
enum lathe_status gpu_run_case(struct lathe_context *context, const struct gpu_case *c,
                               uint64_t seed, struct gpu_outcome *outcome, struct lathe_error *err);
/* The same by a function that is the case's, or is said to be. */
enum lathe_status gpu_run_function(struct lathe_context *context, struct lathe_function *function,
                                   const struct gpu_case *c, uint64_t seed,
                                   struct gpu_outcome *outcome, struct lathe_error *err);

/* The words that repeat it, and how it is launched. */
void gpu_describe(const struct gpu_case *c, char *words, size_t size);
/* Whether all is as it should be; what is not stands in comments. */
bool gpu_tell(const struct gpu_case *c, const struct gpu_outcome *outcome);

/* A context on the GPU, or on the emulator's device of that architecture (default: its first with
 * kernels), and then what sets its schedule; null on a GPU. */
bool gpu_open(struct lathe_context **context, bool emulated, enum lathe_arch arch,
              void (**set_seed)(uint64_t seed), struct lathe_error *err);

#endif
