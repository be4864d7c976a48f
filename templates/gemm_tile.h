/* gemm_tile.h: what a tile of a gemm is made of, in one CTA of whatever architecture: the
 * arithmetic that plans, texts and explanations share. `tile` counts what a CTA, or a CTA pair,
 * makes at a time; of a pair each CTA has half the rows of A and, though it makes all columns of D,
 * half the rows of B, for the MMA reads both halves (reference: PTX ISA "Data-path layout",
 * cta_group::2). */
#ifndef LT_TEMPLATES_GEMM_TILE_H
#define LT_TEMPLATES_GEMM_TILE_H

#include "include/lathe.h"

#include <stdbool.h>

enum {
    LT_SPAN_BYTES = 128, /* of a row of A or B in shared memory: one span of the swizzle */
    LT_SWIZZLE_ROWS = 8  /* after which its pattern repeats                              */
};

/* Elements of k in a span. */
int lt_gemm_span_columns(const struct lathe_plan *plan);

/* One step after the other: what is loaded is waited for at once, so that one stage is all that the
 * flow can use. */
bool lt_gemm_is_serial(const struct lathe_plan *plan);

/* Tiles of D row by row: there are no groups of rows, and raster is 1. */
bool lt_gemm_goes_by_rows(enum lathe_schedule schedule);

/* CTAs of a cluster. */
int lt_gemm_cluster_size(const struct lathe_plan *plan);
/* Rows and columns of D that a cluster makes at a time. */
void lt_gemm_cluster_tile(const struct lathe_plan *plan, int tile[2]);

/* CTAs of a cluster that hold the same rows of A, or of B, and fetch them together, a slice each:
 * those of a row of the cluster (the same place along m) A, those of a column B, of which a pair's
 * two CTAs hold different halves. 1 where each CTA fetches for itself, as all do without a
 * producer.
 */
int lt_gemm_a_sharers(const struct lathe_plan *plan);
int lt_gemm_b_sharers(const struct lathe_plan *plan);

/* Bytes in one CTA of one stage of the ring: of A, of B, and of both. */
int lt_gemm_a_bytes(const struct lathe_plan *plan);
int lt_gemm_b_bytes(const struct lathe_plan *plan);
int lt_gemm_stage_bytes(const struct lathe_plan *plan);
/* Bytes that a full barrier waits for: those of both CTAs of a pair. 0 where threads copy, for then
 * it counts threads, if there is one. */
int lt_gemm_expected_bytes(const struct lathe_plan *plan);

/* Bytes that come from L2 for each operation (a multiplication or an addition). */
double lt_gemm_l2_bytes(const struct lathe_plan *plan);

/* Clusters that work at a time; 1 where one walks all tiles. */
int lt_gemm_places(const struct lathe_plan *plan);

/* How often the device is filled by the tiles of D: 1.5 is one wave and half of another. */
double lt_gemm_waves(const struct lathe_plan *plan, const struct lathe_gemm *problem);

#endif
