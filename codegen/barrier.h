/* barrier.h: mbarriers, named barriers and the fences between the generic and the async proxy.
 *
 * Source: PTX ISA "Parallel Synchronization and Communication Instructions: mbarrier", "bar",
 * "membar / fence". Rings of mbarriers stand in ring.h. */
#ifndef LT_CODEGEN_BARRIER_H
#define LT_CODEGEN_BARRIER_H

#include "codegen/builder.h"

enum { LT_MBARRIER_BYTES = 8 };

/* `address` is that of an mbarrier in this CTA's shared memory, here and below. */
void lt_mbarrier_init(struct lt_builder *b, lt_value address, int arrivals);

/* Ends it, so that its place can be used for something else, or for a new one. */
void lt_mbarrier_inval(struct lt_builder *b, lt_value address);

/* Spins until the phase of that parity has completed. `name` names the predicate and the label. */
void lt_mbarrier_wait(struct lt_builder *b, const char *name, lt_value address, lt_value parity);

/* The same where other CTAs of the cluster arrive, relaxed: it says that they have, and fences of
 * the cluster's scope (cluster.h), theirs before and this thread's behind it, what they did before.
 */
void lt_mbarrier_wait_cluster(struct lt_builder *b, const char *name, lt_value address,
                              lt_value parity);

/* One arrival that also announces `bytes` of asynchronous copies. */
void lt_mbarrier_arrive_expect_tx(struct lt_builder *b, lt_value address, lt_value bytes);
/* The same on a barrier of any CTA of the cluster (an address made by mapa); it publishes nothing.
 */
void lt_mbarrier_arrive_expect_tx_remote(struct lt_builder *b, lt_value address, lt_value bytes);

/* One arrival; earlier accesses of this thread happen before what a waiter of its CTA does next. */
void lt_mbarrier_arrive(struct lt_builder *b, lt_value address);
/* One arrival on a barrier of any CTA of the cluster (an address made by mapa). It orders nothing
 * of the ordinary kind between CTAs: .release.cluster would, at the price of a MEMBAR.GPU each time
 * (seen in the SASS of sm_90a, ptxas 13.0), and readers of a stage have nothing to hand over but
 * the fact that their MMAs are done, which wgmma.wait_group has established. */
void lt_mbarrier_arrive_remote(struct lt_builder *b, lt_value address);
/* The same, relaxed, of the cluster's scope: for lt_mbarrier_wait_cluster(). */
void lt_mbarrier_arrive_relaxed(struct lt_builder *b, lt_value address);

/* Makes mbarrier.init visible to the async proxy and to the cluster. */
void lt_fence_mbarrier_init(struct lt_builder *b);
/* Makes this thread's ordinary writes to shared memory visible to TMA and the tensor cores; needed
 * before the barrier behind which they are read there. */
void lt_fence_proxy_async(struct lt_builder *b);

/* The lanes of a warp come together: before instructions that whole warps execute, where some did
 * something by themselves. */
void lt_warp_sync(struct lt_builder *b);

/* The whole CTA; and `threads` of it under an id from 1 to 15. */
void lt_bar_sync_cta(struct lt_builder *b);
void lt_bar_sync(struct lt_builder *b, lt_value id, int threads);
/* Counts this warp at a named barrier of `threads`, and goes on. */
void lt_bar_arrive(struct lt_builder *b, lt_value id, int threads);

#endif
