/* findings.h: what was found to be wrong with a kernel, over many schedules: what the same
 * instructions show is one finding. */
#ifndef LT_RUNTIME_FINDINGS_H
#define LT_RUNTIME_FINDINGS_H

#include "include/lathe_tools.h"
#include "runtime/emulator_calls.h"

enum lathe_status lt_findings_create(struct lathe_findings **findings,
                                     const struct lathe_allocator *allocator,
                                     struct lathe_error *err);

/* Adds one, of a schedule that is its seed. `times` counts how often it was seen there. */
enum lathe_status lt_findings_add(struct lathe_findings *findings,
                                  const struct lathe_check_finding *finding,
                                  struct lathe_error *err);

/* The beginning of one that the runtime makes itself, about no warp in particular; its words are
 * made of what the caller fills in, by lt_findings_add(). */
struct lathe_check_finding lt_finding_of(const char *code, const char *kernel, uint64_t seed);

/* Takes what the emulator has found since it was last asked to forget, and has it forget that.
 * `*errors` is how many of these are no warnings. */
enum lathe_status lt_findings_take(struct lathe_findings *findings,
                                   const struct lt_emulator_calls *calls, uint64_t seed,
                                   size_t *errors, struct lathe_error *err);

#endif
