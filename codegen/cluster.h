/* cluster.h: CTAs that run together and reach each other's shared memory.
 *
 * Source: PTX ISA "barrier.cluster", "mapa", "Special Registers". */
#ifndef LT_CODEGEN_CLUSTER_H
#define LT_CODEGEN_CLUSTER_H

#include "codegen/builder.h"

/* All threads of all CTAs of the cluster that have not exited. Relaxed: it orders execution alone,
 * what must be seen beyond it needs its own fence before it. The threads of a warp need not be
 * converged. */
void lt_cluster_sync(struct lt_builder *b);
/* The same, and what a thread did before it, all see after it. Warps have to be converged: ptxas
 * writes a second barrier, for those that are not, where it is not told. */
void lt_cluster_sync_with_memory(struct lt_builder *b);

/* Between CTAs, for relaxed operations on an mbarrier: what this thread did in its own CTA's shared
 * memory comes before its next arrivals; what others did before theirs, in the shared memory of the
 * cluster, before what this thread does after its last wait. On sm_100a the first takes no more
 * than a MEMBAR.CTA and the second nothing, where an arrival by .release.cluster takes a MEMBAR.GPU
 * and a wait by .acquire.cluster the L1 cache (seen in the SASS, ptxas 13.0). Source: PTX ISA
 * "membar / fence", .sync_restrict. */
void lt_fence_cluster_release(struct lt_builder *b);
void lt_fence_cluster_acquire(struct lt_builder *b);

/* The address of the same offset in the shared memory of the CTA with that rank. */
lt_value lt_mapa(struct lt_builder *b, const char *name, lt_value address, lt_value rank);

#endif
