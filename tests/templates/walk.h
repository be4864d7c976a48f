/* walk.h: a cluster's walk through a gemm kernel of sm_90a, played on the host from its text.
 *
 * The text is run thread by thread (tests/support/ptx_run.h); this model adds what the manual says
 * of TMA boxes and swizzles, matrix descriptors, accumulator fragments, mbarrier phases and bulk
 * groups, and fails the test where the kernel does not agree with it. Nothing is asynchronous here:
 * copies and MMAs happen at once, so that what is checked is who touches what, in which order, not
 * whether it waits long enough, except for the rules that can be counted. */
#ifndef LATHE_TESTS_TEMPLATES_WALK_H
#define LATHE_TESTS_TEMPLATES_WALK_H

#include "include/lathe.h"

/* Plays all threads of all roles of one cluster, which makes all tiles of an m x n x k problem, and
 * checks what they do and that D is right in the end. */
void walk_cluster(const struct lathe_kernel *kernel, int64_t m, int64_t n, int64_t k, int raster,
                  float beta);

#endif
