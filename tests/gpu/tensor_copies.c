/* tensor_copies.c: which copies the suite has: chapters, each with a seed of its own, so that one
 * may grow without changing the others.
 *
 * Not there, since the emulator refuses them: interleaved layouts. */
#include "tests/gpu/tensor_copy.h"

#include <stdio.h>
#include <string.h>

enum {
    TILES = 2 * 4 * TENSOR_TYPES,
    STRIDED = 30,
    OUTSIDE = 20,
    FILLED = 21,
    PIXELS = 48,
    LARGE = 8,
    WIDE = 9,
    MASKS_OF_TWO = 3,
    MASKS_OF_FOUR = 15,
    AFAR = 3,
    HINTED = 6,
    PREFETCHED = 8,
    STORES = 4 * TENSOR_TYPES,
    STRIDED_STORES = 8,
    PIXEL_STORES = 16,
    PIXEL_REDUCTIONS = 6,
    GROUPED = 12
};

/* Seeds of the chapters. */
enum {
    SEED_TILES = 0x71e0,
    SEED_STRIDED,
    SEED_OUTSIDE,
    SEED_FILLED,
    SEED_PIXELS,
    SEED_CLUSTERS,
    SEED_HINTED,
    SEED_STORES,
    SEED_REDUCTIONS,
    SEED_GROUPS,
    SEED_AFAR,
    SEED_LARGE,
    SEED_WIDE
};

/* ---- Loads ---- */

static bool tile_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < TILES; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_TILES, i);
        struct tensor_copy copy = {.map = {.swizzle = i % 4, .type = i / 4 % TENSOR_TYPES},
                                   .targets = 1};

        tensor_draw_tile(&draw, &copy.map, 1 + (i + i / 4) % TENSOR_RANK_MAX, false);
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i, "load"))
            return false;
    }
    return true;
}

static bool strided_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < STRIDED; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_STRIDED, i);
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .targets = 1};

        tensor_draw_tile(&draw, &copy.map, 2 + i % 4, true);
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i, "load with element strides"))
            return false;
    }
    return true;
}

static bool outside_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < OUTSIDE; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_OUTSIDE, i);
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .targets = 1};

        copy.map.fill = tensor_type_is_float(copy.map.type) && i % 2;
        tensor_draw_tile(&draw, &copy.map, 1 + i % TENSOR_RANK_MAX, false);
        tensor_draw_place(&draw, &copy);
        tensor_draw_outside(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i, "load from outside"))
            return false;
    }
    return true;
}

static bool filled_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < FILLED; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_FILLED, i);
        struct tensor_copy copy = {.map = {.swizzle = i % 4,
                                           .type = TENSOR_F16 + i % (TENSOR_TYPES - TENSOR_F16),
                                           .fill = 1},
                                   .targets = 1};

        if (i % 3 == 2)
            tensor_draw_im2col(&draw, &copy.map, 3 + i % 3, false);
        else
            tensor_draw_tile(&draw, &copy.map, 1 + i % TENSOR_RANK_MAX, i % 4 == 1);
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i, "load filled"))
            return false;
    }
    return true;
}

static bool pixel_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < PIXELS; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_PIXELS, i);
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .targets = 1};

        tensor_draw_im2col(&draw, &copy.map, 3 + i / 4 % 3, false);
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i, "load"))
            return false;
    }
    return true;
}

/* Boxes near the largest: 256 elements along each of two dimensions, and many pixels. */
static bool large_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < LARGE; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_LARGE, i);
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .targets = 1};
        uint32_t bytes = tensor_element_bytes(copy.map.type);

        if (i < LARGE / 2)
            tensor_draw_tile(&draw, &copy.map, 2, false);
        else
            tensor_draw_im2col(&draw, &copy.map, 3 + i % 3, false);
        if (i == 0)
            copy.map.box[0] = 256;
        copy.map.box[1] = i == 0 ? 256 / bytes : 256;
        copy.map.pixels = copy.map.is_im2col ? (uint32_t)tensor_draw_from(&draw, 500, 1024) : 0;
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i, "large load"))
            return false;
    }
    return true;
}

/* Corners and offsets with all the bits that they have by the rank (ISA, "im2col mode"). */
static bool wide_loads(struct tensor_cases *cases)
{
    static const int limits[TENSOR_RANK_MAX + 1] = {0, 0, 0, 32768, 128, 16};

    for (int i = 0; i < WIDE; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_WIDE, i);
        int rank = 3 + i % 3, limit = limits[rank];
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .targets = 1};

        tensor_draw_im2col(&draw, &copy.map, rank, false);
        for (int axis = 0; axis < rank - 2; axis++)
            copy.map.lower[axis] = i < 3 ? -limit : -tensor_draw_from(&draw, limit / 2, limit);
        for (int axis = 0; axis < rank - 2; axis++)
            copy.map.upper[axis] = i < 3 ? limit - 1 : tensor_draw_below(&draw, limit);
        tensor_draw_place(&draw, &copy);
        for (int axis = 0; axis < rank - 2; axis++) {
            copy.at[axis + 1] = copy.map.lower[axis];
            copy.offsets[axis] = (unsigned)(tensor_draw_below(&draw, (int)copy.map.dims[axis + 1]) -
                                            copy.map.lower[axis]);
        }
        if (!tensor_copy_emit(cases, &copy, 1, i, "load by wide offsets"))
            return false;
    }
    return true;
}

/* ---- Clusters ---- */

static bool multicast(struct tensor_cases *cases, unsigned ctas, unsigned targets)
{
    int index = (int)(ctas * 100 + targets);
    struct tensor_draw draw = tensor_draw_of(SEED_CLUSTERS, index);
    struct tensor_copy copy = {.targets = targets, .is_multicast = true};
    char kind[64];

    copy.map.swizzle = tensor_draw_below(&draw, 4);
    copy.map.type = tensor_draw_below(&draw, TENSOR_TYPES);
    copy.issuer = (unsigned)tensor_draw_below(&draw, (int)ctas);
    copy.has_hint = tensor_draw_below(&draw, 4) == 0;
    if (tensor_draw_below(&draw, 3) == 0)
        tensor_draw_im2col(&draw, &copy.map, tensor_draw_from(&draw, 3, 5), false);
    else
        tensor_draw_tile(&draw, &copy.map, tensor_draw_from(&draw, 1, 5), false);
    tensor_draw_place(&draw, &copy);
    snprintf(kind, sizeof kind, "multicast by CTA %u of %u, mask", copy.issuer, ctas);
    return tensor_copy_emit(cases, &copy, ctas, (int)targets, kind);
}

static bool multicasts(struct tensor_cases *cases)
{
    for (unsigned targets = 1; targets <= MASKS_OF_TWO; targets++)
        if (!multicast(cases, 2, targets))
            return false;
    for (unsigned targets = 1; targets <= MASKS_OF_FOUR; targets++)
        if (!multicast(cases, 4, targets))
            return false;
    return true;
}

/* To the shared memory, and the barrier, of another CTA. */
static bool loads_afar(struct tensor_cases *cases)
{
    for (int i = 0; i < AFAR; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_AFAR, i);
        struct tensor_copy copy = {.map = {.swizzle = i + 1, .type = TENSOR_U16 + i},
                                   .targets = 1u << (i + 1),
                                   .is_afar = true};

        tensor_draw_tile(&draw, &copy.map, 2 + i, false);
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 4, i, "load afar"))
            return false;
    }
    return true;
}

/* ---- Hints, prefetches, the CTA's own shared memory ---- */

static bool hinted_loads(struct tensor_cases *cases)
{
    for (int i = 0; i < HINTED + PREFETCHED; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_HINTED, i);
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .targets = 1,
            .has_hint = i % 2 == 0,
            .to_own_cta = i % 3 > 0,
            .is_prefetched = i >= HINTED,
        };

        if (i % 4 == 3)
            tensor_draw_im2col(&draw, &copy.map, 3 + i / 4 % 3, false);
        else
            tensor_draw_tile(&draw, &copy.map, 1 + i % TENSOR_RANK_MAX, false);
        tensor_draw_place(&draw, &copy);
        if (!tensor_copy_emit(cases, &copy, 1, i,
                              copy.is_prefetched ? "load, prefetched" : "load, hinted"))
            return false;
    }
    return true;
}

/* ---- Stores ---- */

/* Which of its reductions an H200 does not do, though the ISA has them for 64 bits. */
static bool is_trapped(const char *reduction, int type)
{
    return reduction && type == TENSOR_S64 &&
           (strcmp(reduction, "and") == 0 || strcmp(reduction, "or") == 0 ||
            strcmp(reduction, "xor") == 0);
}

static bool store(struct tensor_cases *cases, int index, bool is_strided, bool is_im2col,
                  const char *reduction, int type, const char *kind)
{
    struct tensor_draw draw = tensor_draw_of(reduction ? SEED_REDUCTIONS : SEED_STORES, index);
    struct tensor_copy copy = {.map = {.swizzle = index % 4, .type = type},
                               .is_store = true,
                               .reduction = reduction,
                               .boxes = 1,
                               .has_hint = index % 7 == 3,
                               .traps = is_trapped(reduction, type)};
    int rank = 1 + (index + index / 4) % TENSOR_RANK_MAX;

    if (is_im2col)
        tensor_draw_im2col(&draw, &copy.map, 3 + index % 3, true);
    else
        tensor_draw_tile(&draw, &copy.map, is_strided && rank < 2 ? 2 : rank, is_strided);
    tensor_draw_place(&draw, &copy);
    if (index % 9 == 8 && !is_im2col && !reduction)
        tensor_draw_outside(&draw, &copy);
    return tensor_copy_emit(cases, &copy, 1, index, kind);
}

static bool stores(struct tensor_cases *cases)
{
    int index = 0;

    for (int i = 0; i < STORES; i++)
        if (!store(cases, index++, false, false, NULL, i / 4, "store"))
            return false;
    for (int i = 0; i < STRIDED_STORES; i++)
        if (!store(cases, index++, true, false, NULL, (3 * i + 1) % TENSOR_TYPES,
                   "store with element strides"))
            return false;
    for (int i = 0; i < PIXEL_STORES; i++)
        if (!store(cases, index++, false, true, NULL, 5 * i % TENSOR_TYPES, "store"))
            return false;
    return true;
}

/* Those of the ISA, "cp.reduce.async.bulk.tensor". */
static const struct {
    const char *operation;
    int type;
} reductions[] = {
    {"add", TENSOR_U32},  {"add", TENSOR_S32},  {"add", TENSOR_U64},     {"add", TENSOR_F16},
    {"add", TENSOR_F32},  {"add", TENSOR_BF16}, {"add", TENSOR_F32_FTZ}, {"min", TENSOR_U32},
    {"min", TENSOR_S32},  {"min", TENSOR_U64},  {"min", TENSOR_S64},     {"min", TENSOR_F16},
    {"min", TENSOR_BF16}, {"max", TENSOR_U32},  {"max", TENSOR_S32},     {"max", TENSOR_U64},
    {"max", TENSOR_S64},  {"max", TENSOR_F16},  {"max", TENSOR_BF16},    {"inc", TENSOR_U32},
    {"dec", TENSOR_U32},  {"and", TENSOR_U32},  {"and", TENSOR_S32},     {"and", TENSOR_U64},
    {"and", TENSOR_S64},  {"or", TENSOR_U32},   {"or", TENSOR_S32},      {"or", TENSOR_U64},
    {"or", TENSOR_S64},   {"xor", TENSOR_U32},  {"xor", TENSOR_S32},     {"xor", TENSOR_U64},
    {"xor", TENSOR_S64},
};
enum { REDUCTIONS = sizeof reductions / sizeof reductions[0], DRAWS = 3 };

static bool reduce(struct tensor_cases *cases)
{
    for (int i = 0; i < DRAWS * REDUCTIONS + PIXEL_REDUCTIONS; i++) {
        bool is_im2col = i >= DRAWS * REDUCTIONS;
        int which = is_im2col ? 5 * i % REDUCTIONS : i / DRAWS;

        if (!store(cases, i, i % 11 == 10 && !is_im2col, is_im2col, reductions[which].operation,
                   reductions[which].type, reductions[which].operation))
            return false;
    }
    return true;
}

/* Boxes one after the other along dimension 1, each a group. */
static bool groups(struct tensor_cases *cases)
{
    for (int i = 0; i < GROUPED; i++) {
        struct tensor_draw draw = tensor_draw_of(SEED_GROUPS, i);
        struct tensor_copy copy = {
            .map = {.swizzle = i % 4, .type = tensor_draw_below(&draw, TENSOR_TYPES)},
            .is_store = true,
            .waits_for_reads = i % 2 == 0};
        char kind[64];

        tensor_draw_tile(&draw, &copy.map, 2, false);
        copy.boxes = tensor_draw_from(&draw, 2, 6);
        copy.allowed = tensor_draw_below(&draw, copy.boxes);
        copy.map.box[1] = (uint32_t)tensor_draw_from(&draw, 1, 20);
        copy.map.dims[1] = copy.map.box[1] * (unsigned)copy.boxes;
        copy.box_at = (uint32_t)(1024 * tensor_draw_below(&draw, 2));
        snprintf(kind, sizeof kind, "%d groups, all but %d %s", copy.boxes, copy.allowed,
                 copy.waits_for_reads ? "read" : "written");
        if (!tensor_copy_emit(cases, &copy, 1, i, kind))
            return false;
    }
    return true;
}

bool tensor_each_copy(struct tensor_cases *cases)
{
    return tile_loads(cases) && strided_loads(cases) && outside_loads(cases) &&
           filled_loads(cases) && pixel_loads(cases) && large_loads(cases) && wide_loads(cases) &&
           multicasts(cases) && loads_afar(cases) && hinted_loads(cases) && stores(cases) &&
           reduce(cases) && groups(cases) && tensor_each_replacement(cases) &&
           tensor_each_map(cases) && tensor_each_trap(cases);
}
