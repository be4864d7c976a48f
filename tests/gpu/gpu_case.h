/* gpu_case.h: one case of gpu_suite: a problem, how it is planned, and how it is launched. */
#ifndef LATHE_TESTS_GPU_CASE_H
#define LATHE_TESTS_GPU_CASE_H

#include "include/lathe.h"

#include <stdbool.h>

/* Where the launch finds C. */
enum gpu_c {
    GPU_C_APART, /* in memory of its own; it is NaN from end to end when beta is 0 */
    GPU_C_IS_D,  /* D is written over it                                          */
    GPU_C_NULL   /* nowhere: beta is 0                                            */
};

struct gpu_case {
    const char *kind;
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    bool integers; /* whole numbers, on which the answer is exact */
    bool low_bits; /* of tf32: A and B are f32 with all their bits, which loading rounds */
    float alpha, beta;
    int raster; /* at launch; 0: the plan's */
    enum gpu_c c;
};

#endif
