#include "templates/schedule.h"

#include "templates/gemm_tile.h"

#include <stddef.h>

/* Tiles that a cluster makes at a time. */
static bool has_several(const struct lt_schedule *schedule)
{
    return schedule->cluster[0] * schedule->cluster[1] > 1;
}

/* ceil(size / step) */
static lt_value count_tiles(struct lt_builder *b, const char *name, lt_value size, int step)
{
    lt_value rounded = lt_op(b, name, "add.u32", size, lt_imm(step - 1));

    return lt_quotient(b, name, rounded, step);
}

bool lt_schedule_walks(const struct lt_schedule *schedule)
{
    return schedule->kind == LATHE_PERSISTENT || schedule->kind == LATHE_SINGLE;
}

lt_value lt_cluster_place_m(struct lt_builder *b, const struct lt_schedule *s, const char *name)
{
    return lt_remainder(b, name, lt_op(b, name, "mov.u32", lt_special("%ctaid.x")), s->ctas_along);
}

/* This CTA's, or this pair's, place among the tiles of its cluster. */
static void find_place(struct lt_builder *b, struct lt_schedule *s, int cta_group)
{
    const char *maker = cta_group == 2 ? "pair" : "CTA";

    if (s->cluster[0] > 1) {
        lt_note(b, "the row of the cluster's tiles that this %s's is in", maker);
        s->cluster_m = lt_cluster_place_m(b, s, "cluster_m");
        if (cta_group == 2)
            s->cluster_m = lt_op(b, "cluster_m", "shr.u32", s->cluster_m, lt_imm(1));
    }
    if (s->cluster[1] > 1) {
        lt_note(b, "the column of the cluster's tiles that this %s's is in", maker);
        s->cluster_n = lt_op(b, "cluster_n", "mov.u32", lt_special("%ctaid.y"));
    }
}

/* How many clusters so many CTAs of the grid are: see struct lathe_contract. */
static lt_value count_clusters(struct lt_builder *b, const struct lt_schedule *s, const char *name,
                               const char *ctas)
{
    return lt_quotient(b, name, lt_op(b, name, "mov.u32", lt_special(ctas)), s->ctas_along);
}

/* Once for all roles: this CTA's own tile, and the way to the next. */
static void find_own(struct lt_builder *b, struct lt_schedule *s)
{
    const char *makers = s->in_clusters ? "clusters" : "CTAs", *name = "tile";

    if (s->kind == LATHE_PERSISTENT) {
        name = "first_tile";
        lt_note(b, "%s take turns: the first tile of this one", makers);
    } else if (s->kind == LATHE_DYNAMIC) {
        name = "first_tile";
        lt_note(b, "the first tile is the one that this cluster was launched for");
    }
    s->own = count_clusters(b, s, name, "%ctaid.x");
    if (s->kind != LATHE_PERSISTENT)
        return;
    lt_note(b, "and from one of its tiles to the next: as many as there are %s", makers);
    s->stride = count_clusters(b, s, "tile_stride", "%nctaid.x");
}

/* Row by row there are no groups, and few divisions. */
static void count_rows(struct lt_builder *b, struct lt_schedule *s, lt_value m, lt_value n)
{
    s->tiles_n = count_tiles(b, "tiles_n", n, s->tile[1] * s->cluster[1]);
    if (lt_schedule_walks(s)) {
        s->tiles_m = count_tiles(b, "tiles_m", m, s->tile[0] * s->cluster[0]);
        s->tiles = lt_op(b, "tiles", "mul.lo.u32", s->tiles_m, s->tiles_n);
    }
}

static lt_value load_member(struct lt_builder *b, size_t offset, const char *name)
{
    return lt_param_member(b, "walk", offset, name);
}

static struct lt_divisor load_divisor(struct lt_builder *b, size_t offset, const char *factor,
                                      const char *shift, const char *note)
{
    struct lt_divisor by;

    lt_note(b, "%s", note);
    by.factor = load_member(b, offset + offsetof(struct lathe_divisor, factor), factor);
    by.shift = load_member(b, offset + offsetof(struct lathe_divisor, shift), shift);
    return by;
}

static void load_groups(struct lt_builder *b, struct lt_schedule *s)
{
    if (lt_schedule_walks(s))
        s->tiles = load_member(b, offsetof(struct lathe_walk, tiles), "tiles");
    lt_note(b, "rows of tiles");
    s->tiles_m = load_member(b, offsetof(struct lathe_walk, tiles_m), "tiles_m");
    lt_note(b, "of these rows make a group; the last may have fewer");
    s->raster = load_member(b, offsetof(struct lathe_walk, raster), "raster");
    s->group_tiles = load_member(b, offsetof(struct lathe_walk, group_tiles), "group_tiles");
    lt_comment(b, "divisors d: x / d is (mulhi(x, factor) + x) >> shift");
    s->by_group_tiles = load_divisor(b, offsetof(struct lathe_walk, by_group_tiles), "group_factor",
                                     "group_shift", "of the tiles of a group");
    s->by_raster = load_divisor(b, offsetof(struct lathe_walk, by_raster), "raster_factor",
                                "raster_shift", "of its rows");
    s->by_last_rows = load_divisor(b, offsetof(struct lathe_walk, by_last_rows), "last_factor",
                                   "last_shift", "of the rows of the last group");
}

struct lt_schedule lt_schedule_begin(struct lt_builder *b, const struct lathe_plan *plan,
                                     lt_value m, lt_value n)
{
    struct lt_schedule s = {
        .tile = {plan->tile[0], plan->tile[1]},
        .cluster = {plan->cluster[0] / plan->cta_group, plan->cluster[1]},
        .ctas_along = plan->cluster[0],
        .in_clusters = plan->cluster[0] * plan->cluster[1] > 1,
        .kind = plan->schedule,
    };

    lt_comment(b, "tiles of D, each of %d x %d; %s one%s", s.tile[0] * s.cluster[0],
               s.tile[1] * s.cluster[1],
               has_several(&s)        ? "the CTAs of a cluster make"
               : plan->cta_group == 2 ? "a pair of CTAs makes"
                                      : "a CTA makes",
               lt_schedule_walks(&s) || s.kind == LATHE_DYNAMIC ? " at a time" : "");
    if (lt_gemm_goes_by_rows(s.kind))
        count_rows(b, &s, m, n);
    else
        load_groups(b, &s);
    find_place(b, &s, plan->cta_group);
    if (s.kind != LATHE_SINGLE)
        find_own(b, &s);
    return s;
}

/* The first row or column of this CTA's part of the cluster tile `index`. */
static lt_value first_of(struct lt_builder *b, const char *name, lt_value index, lt_value place,
                         int cluster, int tile)
{
    if (cluster > 1)
        index = lt_op(b, name, "mad.lo.u32", index, lt_imm(cluster), place);
    return lt_op(b, name, "mul.lo.u32", index, lt_imm(tile));
}

/* What the quotient leaves of the value: one division tells both. */
static lt_value rest_of(struct lt_builder *b, const char *name, lt_value value, lt_value quotient,
                        lt_value divisor)
{
    lt_value whole = lt_op(b, name, "mul.lo.u32", quotient, divisor);

    return lt_op(b, name, "sub.u32", value, whole);
}

/* Rounded down, of a value below 2^31. */
static lt_value divide(struct lt_builder *b, const char *name, lt_value value,
                       const struct lt_divisor *by)
{
    lt_value sum = lt_op(b, name, "mad.hi.u32", value, by->factor, value);

    return lt_op(b, name, "shr.u32", sum, by->shift);
}

static void place_in_group(struct lt_builder *b, const struct lt_schedule *s, lt_value index,
                           struct lt_tile *tile)
{
    lt_comment(b, "the tile's place: column by column through a group of rows of tiles");
    lt_note(b, "tile / group_tiles");
    lt_value group = divide(b, "group", index, &s->by_group_tiles);
    lt_value group_row = lt_op(b, "group_row", "mul.lo.u32", group, s->raster);
    lt_value rows = lt_op(b, "group_rows", "sub.u32", s->tiles_m, group_row);
    lt_value is_last = lt_op(b, "is_last_group", "setp.lt.u32", rows, s->raster);
    const struct lt_divisor by_rows = {
        .factor = lt_op(b, "rows_factor", "selp.b32", s->by_last_rows.factor, s->by_raster.factor,
                        is_last),
        .shift =
            lt_op(b, "rows_shift", "selp.b32", s->by_last_rows.shift, s->by_raster.shift, is_last),
    };

    rows = lt_op(b, "group_rows", "min.u32", rows, s->raster);
    lt_value in_group = rest_of(b, "in_group", index, group, s->group_tiles);
    lt_note(b, "in_group / group_rows");
    lt_value column = divide(b, "tile_column", in_group, &by_rows);
    lt_value row = rest_of(b, "tile_row", in_group, column, rows);
    row = lt_op(b, "tile_row", "add.u32", group_row, row);

    tile->m = first_of(b, "tile_m", row, s->cluster_m, s->cluster[0], s->tile[0]);
    tile->n = first_of(b, "tile_n", column, s->cluster_n, s->cluster[1], s->tile[1]);
}

static void place_in_row(struct lt_builder *b, const struct lt_schedule *s, lt_value index,
                         struct lt_tile *tile)
{
    lt_comment(b, "the tile's place: row by row");
    lt_value row = lt_op(b, "tile_row", "div.u32", index, s->tiles_n);
    lt_value column = rest_of(b, "tile_column", index, row, s->tiles_n);

    tile->m = first_of(b, "tile_m", row, s->cluster_m, s->cluster[0], s->tile[0]);
    tile->n = first_of(b, "tile_n", column, s->cluster_n, s->cluster[1], s->tile[1]);
}

static void place(struct lt_builder *b, const struct lt_schedule *s, lt_value index,
                  struct lt_tile *tile)
{
    if (lt_gemm_goes_by_rows(s->kind))
        place_in_row(b, s, index, tile);
    else
        place_in_group(b, s, index, tile);
}

struct lt_tile lt_tile_at(struct lt_builder *b, const struct lt_schedule *s, lt_value number)
{
    struct lt_tile tile = {.m = {0}};

    place(b, s, number, &tile);
    return tile;
}

struct lt_tile lt_tile_of_cta(struct lt_builder *b, const struct lt_schedule *s)
{
    return lt_tile_at(b, s, s->own);
}

struct lt_region lt_tiles_begin(struct lt_builder *b, const struct lt_schedule *s)
{
    bool strides = s->kind == LATHE_PERSISTENT;

    return lt_for_begin(b, "tile", strides ? s->own : lt_imm(0), s->tiles,
                        strides ? s->stride : lt_imm(1));
}
