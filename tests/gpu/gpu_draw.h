/* gpu_draw.h: the cases of gpu_suite, drawn from a seed: the same seed, architecture and count give
 * the same cases. */
#ifndef LATHE_TESTS_GPU_DRAW_H
#define LATHE_TESTS_GPU_DRAW_H

#include "tests/gpu/gpu_case.h"

enum { GPU_CASES_MAX = 4000 };

struct gpu_draw {
    enum lathe_arch arch; /* to plan for */
    int sms;
    uint64_t state;         /* starts as the seed */
    struct gpu_case *cases; /* room for GPU_CASES_MAX */
    int count;
    int refused; /* drawn, but there is no plan for it: another was drawn in its place */
};

/* Draws what must be among the cases whatever the seed, then others until there are `wanted`. Each
 * has a plan; one for which none was found in a thousand draws is there too, and fails when it is
 * run. */
void gpu_draw_cases(struct gpu_draw *draw, int wanted);

/* The plan that the device will be given for the case. */
enum lathe_status gpu_draw_plan(const struct gpu_draw *draw, const struct gpu_case *c,
                                struct lathe_plan *plan);

#endif
