/* schedule.h: which tiles of D a CTA makes, in which order.
 *
 * Persistent: the clusters of the grid stride over all cluster tiles. The order is grouped
 * rasterisation: `raster` rows of tiles are walked column by column, so that the CTAs that run at
 * one time share rows of A and of B in L2. Grouped: one tile a CTA, in that order. Grid: one tile a
 * CTA, row by row. Single: one CTA walks them all, row by row. Dynamic: one tile a cluster, in the
 * order of grouped; which others it takes over is asked for while the kernel runs, by who has a
 * loop for that. */
#ifndef LT_TEMPLATES_SCHEDULE_H
#define LT_TEMPLATES_SCHEDULE_H

#include "codegen/control.h"

/* Factor and shift of struct lathe_divisor. */
struct lt_divisor {
    lt_value factor, shift;
};

struct lt_schedule {
    int tile[2];      /* m, n of one CTA, or of one pair   */
    int cluster[2];   /* CTAs, or pairs, along m, along n  */
    int ctas_along;   /* CTAs of a cluster along m       */
    bool in_clusters; /* of more than one CTA            */
    enum lathe_schedule kind;
    lt_value tiles, tiles_m, tiles_n, group_tiles, raster;
    struct lt_divisor by_group_tiles, by_raster, by_last_rows;
    lt_value own;    /* the only or first tile of this CTA's cluster, unless single  */
    lt_value stride; /* of persistent ones, to their next                            */
    lt_value cluster_m, cluster_n; /* this CTA's place in its cluster; nothing where always 0 */
};

/* Learns of the tiles of an m x n problem: groups from the host, whose parameter "walk" tells all
 * (see lathe_contract_walk()), rows by counting. In the kernel's own scope, before the roles. */
struct lt_schedule lt_schedule_begin(struct lt_builder *b, const struct lathe_plan *plan,
                                     lt_value m, lt_value n);

/* Which CTA of its cluster this one is, along m. A grid is clusters along x, and powers of two are
 * cheap: what %cluster_ctaid, %clusterid and %nclusterid hold ptxas finds by dividing. */
lt_value lt_cluster_place_m(struct lt_builder *b, const struct lt_schedule *schedule,
                            const char *name);

struct lt_tile {
    lt_value m, n; /* first row and column of this CTA's tile of D */
};

/* Whether a CTA walks from tile to tile. */
bool lt_schedule_walks(const struct lt_schedule *schedule);

/* This CTA's part of the cluster tile of that number. */
struct lt_tile lt_tile_at(struct lt_builder *b, const struct lt_schedule *schedule,
                          lt_value number);
/* The only tile of this CTA. */
struct lt_tile lt_tile_of_cta(struct lt_builder *b, const struct lt_schedule *schedule);

/* The tiles of a CTA that walks, one after the other: it.index is a tile's number. */
#define LT_TILES(b, it, schedule)                                                                  \
    for (struct lt_region it = lt_tiles_begin(b, schedule); it.open; lt_for_end(b, &it))
struct lt_region lt_tiles_begin(struct lt_builder *b, const struct lt_schedule *schedule);

#endif
