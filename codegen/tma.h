/* tma.h: tiles between global and shared memory by tensor maps, two-dimensional, in the tile mode.
 *
 * Source: PTX ISA "cp.async.bulk.tensor", "cp.async.bulk.commit_group", "prefetch.tensormap". One
 * thread issues. Columns are the contiguous dimension; what lies outside the matrix reads as zero
 * and is not written, but its bytes count on the mbarrier all the same. */
#ifndef LT_CODEGEN_TMA_H
#define LT_CODEGEN_TMA_H

#include "codegen/builder.h"

/* A store writes whole pieces of 16 bytes: where a row of the matrix ends within one, what lies
 * behind it in the piece is overwritten. Source: seen on an H200, docs/hardware.md. */
enum { LT_TMA_STORE_BYTES = 16 };

void lt_tma_prefetch_map(struct lt_builder *b, lt_value map);

/* Fetches the box at (column, row) to `smem` and counts its bytes on the mbarrier `full`. With a
 * `mask` (16 bits; nothing: own CTA alone) bit r writes and counts at the same offsets in the CTA
 * of rank r of the cluster. */
void lt_tma_load(struct lt_builder *b, lt_value map, lt_value column, lt_value row, lt_value smem,
                 lt_value full, lt_value mask);

/* The same in a pair of CTAs whose MMA reads what both fetch: `leader_full` is the even CTA's
 * mbarrier, by its address in the cluster, where the bytes count. With a `mask` they count for each
 * CTA that it names on the barrier of that CTA's own leader: the signal goes to whichever of a pair
 * has the parity of rank that the named barrier's CTA has. */
void lt_tma_load_for_pair(struct lt_builder *b, lt_value map, lt_value column, lt_value row,
                          lt_value smem, lt_value leader_full, lt_value mask);

/* Writes the box at `smem` to (column, row). The source must be visible to the async
 * proxy; it may be changed once lt_tma_wait_read() has let it go. */
void lt_tma_store(struct lt_builder *b, lt_value map, lt_value column, lt_value row, lt_value smem);
/* Closes the group of this thread's stores since the last one. */
void lt_tma_commit(struct lt_builder *b);
/* Waits until all but the newest `pending` groups of this thread have read their source. */
void lt_tma_wait_read(struct lt_builder *b, int pending);

#endif
