/* tensor_copy_draw.c: maps and coordinates of copies, drawn inside of what PTX allows. */
#include "tests/gpu/tensor_copy.h"

enum {
    UNIT = 16,               /* bytes: of rows, strides and first coordinates */
    PLAIN_UNITS = 16,        /* of a row without swizzle, at most */
    EXTENT_MAX = 96 << 10,   /* of a tensor */
    FOOTPRINT_MAX = 40 << 10 /* of a box */
};

static uint32_t units_of(struct tensor_draw *draw, const struct tensor_map *map)
{
    int most = map->swizzle == 0 ? PLAIN_UNITS : (int)tensor_swizzle_bytes(map) / UNIT;

    return tensor_draw_below(draw, 3) == 0 ? (uint32_t)most
                                           : (uint32_t)tensor_draw_from(draw, 1, most);
}

static uint32_t unit_elements(const struct tensor_map *map)
{
    return UNIT / tensor_element_bytes(map->type);
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* Of a tensor, beside a box of that size; in a fourth it may be much smaller. */
static uint64_t draw_dim(struct tensor_draw *draw, uint32_t box)
{
    int least = tensor_draw_below(draw, 4) == 0 ? 1 : (int)(box + 1) / 2;

    return (uint64_t)tensor_draw_from(draw, least, 2 * (int)box + 2);
}

/* Dimensions lie in memory in their order, or with the two that follow the first exchanged. */
static void set_strides(struct tensor_draw *draw, struct tensor_map *map)
{
    int order[TENSOR_RANK_MAX] = {0, 1, 2, 3, 4};
    uint64_t bytes = round_up(map->dims[0] * tensor_element_bytes(map->type));

    if (map->rank >= 3 && tensor_draw_below(draw, 4) == 0) {
        order[1] = 2;
        order[2] = 1;
    }
    for (int i = 1; i < map->rank; i++) {
        bytes += (uint64_t)(UNIT * tensor_draw_below(draw, 3));
        map->strides[order[i]] = bytes;
        bytes *= map->dims[order[i]];
    }
}

static void shrink_dims(struct tensor_map *map)
{
    int largest = map->rank - 1;

    for (int i = 1; i < map->rank; i++)
        if (map->dims[i] > map->dims[largest])
            largest = i;
    map->dims[largest] = (map->dims[largest] + 1) / 2;
}

static void shrink_box(struct tensor_map *map)
{
    int largest = map->rank - 1;

    for (int i = 1; i < map->rank; i++)
        if (map->box[i] > map->box[largest])
            largest = i;
    map->box[largest] = (map->box[largest] + 1) / 2;
}

static void set_common(struct tensor_draw *draw, struct tensor_map *map, int rank)
{
    map->rank = rank;
    map->promotion = tensor_draw_below(draw, 4);
    map->offset = (uint64_t)(UNIT * tensor_draw_from(draw, 1, 20));
}

void tensor_draw_tile(struct tensor_draw *draw, struct tensor_map *map, int rank, bool is_strided)
{
    static const int most[TENSOR_RANK_MAX + 1] = {0, 0, 48, 14, 8, 5}; /* of a box, by rank */

    set_common(draw, map, rank);
    map->box[0] = units_of(draw, map) * unit_elements(map);
    map->dims[0] = draw_dim(draw, map->box[0]);
    map->element_strides[0] = 1;
    for (int i = 1; i < rank; i++) {
        map->element_strides[i] = is_strided ? (uint32_t)tensor_draw_from(draw, 1, 8) : 1;
        map->box[i] = (uint32_t)tensor_draw_from(draw, 1, most[rank]) *
                      (map->element_strides[i] > 2 ? 3 : map->element_strides[i]);
        map->dims[i] = draw_dim(draw, map->box[i]);
    }
    while (tensor_footprint(map) > FOOTPRINT_MAX)
        shrink_box(map);
    set_strides(draw, map);
    while (tensor_extent(map) > EXTENT_MAX) {
        shrink_dims(map);
        set_strides(draw, map);
    }
}

/* Where the corners are so that a box is left between them. */
static void set_corners(struct tensor_draw *draw, struct tensor_map *map, bool is_store)
{
    for (int i = 0; i < map->rank - 2; i++) {
        int last = (int)map->dims[i + 1] - 1;

        map->lower[i] = is_store ? tensor_draw_below(draw, 3) : tensor_draw_from(draw, -3, 2);
        map->upper[i] = is_store ? -tensor_draw_below(draw, 3) : tensor_draw_from(draw, -3, 2);
        if (map->lower[i] > last)
            map->lower[i] = last;
        if (map->lower[i] > last + map->upper[i])
            map->upper[i] = map->lower[i] - last;
    }
}

void tensor_draw_im2col(struct tensor_draw *draw, struct tensor_map *map, int rank, bool is_store)
{
    map->is_im2col = true;
    set_common(draw, map, rank);
    map->channels = units_of(draw, map) * unit_elements(map);
    map->pixels = (uint32_t)tensor_draw_from(draw, 1, 80);
    map->dims[0] = draw_dim(draw, map->channels);
    for (int i = 0; i < rank; i++)
        map->element_strides[i] = 1;
    for (int i = 1; i < rank - 1; i++) {
        map->dims[i] = (uint64_t)tensor_draw_from(draw, 3, rank == 3 ? 40 : rank == 4 ? 9 : 5);
        map->element_strides[i] = (uint32_t)tensor_draw_from(draw, 1, 3);
    }
    map->dims[rank - 1] = (uint64_t)tensor_draw_from(draw, 1, 3);
    set_strides(draw, map);
    while (tensor_extent(map) > EXTENT_MAX) {
        shrink_dims(map);
        set_strides(draw, map);
    }
    set_corners(draw, map, is_store);
}

/* ---- Coordinates ---- */

/* A store takes no negative ones. */
static int clip(const struct tensor_copy *copy, int at)
{
    return copy->is_store && at < 0 ? 0 : at;
}

/* The first coordinate is a multiple of 16 bytes. */
static int whole_units(const struct tensor_map *map, int at)
{
    int unit = (int)unit_elements(map);

    return at >= 0 ? at / unit * unit : -((-at + unit - 1) / unit * unit);
}

static int draw_coordinate(struct tensor_draw *draw, int dim, int box)
{
    switch (tensor_draw_below(draw, 8)) {
    case 0:
    case 1:
        return 0;
    case 2:
    case 3:
        return -tensor_draw_from(draw, 1, box);
    case 4:
    case 5:
        return dim - tensor_draw_from(draw, 1, box < dim ? box : dim);
    default:
        return tensor_draw_below(draw, dim);
    }
}

/* The first pixel: inside of the bounding box. */
static void place_pixels(struct tensor_draw *draw, struct tensor_copy *copy)
{
    const struct tensor_map *map = &copy->map;
    bool at_corner = tensor_draw_below(draw, 2) == 0;

    for (int i = 0; i < map->rank - 2; i++) {
        int low = map->lower[i], high = (int)map->dims[i + 1] - 1 + map->upper[i];

        copy->at[i + 1] = at_corner ? low : tensor_draw_from(draw, low, high);
        copy->offsets[i] = (unsigned)tensor_draw_below(draw, 4);
    }
    copy->at[map->rank - 1] = clip(copy, tensor_draw_from(draw, -1, (int)map->dims[map->rank - 1]));
}

void tensor_draw_place(struct tensor_draw *draw, struct tensor_copy *copy)
{
    const struct tensor_map *map = &copy->map;
    int first = draw_coordinate(draw, (int)map->dims[0], (int)tensor_row_elements(map));

    copy->box_at = (uint32_t)(128 * tensor_draw_below(draw, 9));
    copy->at[0] = clip(copy, whole_units(map, first));
    if (map->is_im2col)
        place_pixels(draw, copy);
    for (int i = 1; i < map->rank && !map->is_im2col; i++)
        copy->at[i] = clip(copy, draw_coordinate(draw, (int)map->dims[i], (int)map->box[i]));
}

void tensor_draw_outside(struct tensor_draw *draw, struct tensor_copy *copy)
{
    const struct tensor_map *map = &copy->map;

    for (int i = 0; i < map->rank; i++) {
        int far = tensor_draw_below(draw, 2) ? tensor_draw_below(draw, 1 << 24) : 0;
        int before = -(int)map->box[i] - far, behind = (int)map->dims[i] + far;

        if (tensor_draw_below(draw, 2) && i != map->rank - 1)
            continue;
        copy->at[i] = tensor_draw_below(draw, 2) && !copy->is_store ? before : behind;
        if (i == 0)
            copy->at[0] = whole_units(map, copy->at[0] + (copy->at[0] > 0 ? UNIT : 0));
    }
}
