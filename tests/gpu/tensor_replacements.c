/* tensor_replacements.c: loads by maps that the kernel has changed in one field, each field in
 * turn, or that have got one more dimension. */
#include "tests/gpu/tensor_copy.h"

#include <stdio.h>

enum { SEED = 0x5e91 };

/* Of the same size. */
static int another_type(int type)
{
    static const int others[TENSOR_TYPES] = {
        TENSOR_U8,   TENSOR_BF16, TENSOR_TF32, TENSOR_F32, TENSOR_F64, TENSOR_U64, TENSOR_U16,
        TENSOR_TF32, TENSOR_S64,  TENSOR_F16,  TENSOR_S32, TENSOR_U32, TENSOR_F32};

    return others[type];
}

static bool has_ordinal(enum tensor_field field)
{
    return field >= TENSOR_BOX_DIM && field <= TENSOR_ELEMENT_STRIDE;
}

/* The map as it was before: legal, and different in that field. */
static void change_back(struct tensor_map *map, enum tensor_field field, int ordinal)
{
    switch (field) {
    case TENSOR_ADDRESS:
        map->offset += 48;
        break;
    case TENSOR_RANK:
        map->rank--;
        break;
    case TENSOR_BOX_DIM:
        map->box[ordinal] += ordinal == 0 ? 16 / tensor_element_bytes(map->type) : 1;
        if (ordinal == 0 && tensor_row_elements(map) * tensor_element_bytes(map->type) > 64)
            map->box[0] = 16 / tensor_element_bytes(map->type);
        break;
    case TENSOR_GLOBAL_DIM:
        map->dims[ordinal] += 3;
        break;
    case TENSOR_GLOBAL_STRIDE:
        map->strides[ordinal + 1] += 16;
        break;
    case TENSOR_ELEMENT_STRIDE:
        map->element_strides[ordinal] = map->element_strides[ordinal] % 8 + 1;
        break;
    case TENSOR_ELEMTYPE:
        map->type = another_type(map->type);
        break;
    case TENSOR_SWIZZLE:
        map->swizzle = map->swizzle == 3 ? 0 : 3;
        break;
    case TENSOR_FILL:
        map->fill = 1 - map->fill;
        break;
    default: /* of the interleaved layouts there is none yet */
        break;
    }
}

static void replace_field(struct tensor_copy *copy, enum tensor_field field, int ordinal)
{
    change_back(&copy->first_map, field, ordinal);
    copy->replaced[copy->replaced_count].field = field;
    copy->replaced[copy->replaced_count++].ordinal = ordinal;
}

/* The last dimension is new. */
static void replace_rank(struct tensor_copy *copy)
{
    int last = copy->map.rank - 1;

    replace_field(copy, TENSOR_RANK, 0);
    for (int field = TENSOR_BOX_DIM; field <= TENSOR_ELEMENT_STRIDE; field++) {
        copy->replaced[copy->replaced_count].field = (enum tensor_field)field;
        copy->replaced[copy->replaced_count++].ordinal = last - (field == TENSOR_GLOBAL_STRIDE);
    }
}

/* Two steps inside of the tensor and one outside, along each dimension but the first, so that every
 * field has its effect. */
static void place_across(struct tensor_copy *copy, bool is_strided)
{
    for (int i = 1; i < copy->map.rank; i++) {
        if (copy->map.box[i] < 3)
            copy->map.box[i] = 3;
        if (copy->map.dims[i] < 4)
            copy->map.dims[i] = 4;
        copy->at[i] = is_strided ? 0 : (int)copy->map.dims[i] - 2;
    }
}

static bool replacement(struct tensor_cases *cases, enum tensor_field field, int ordinal,
                        bool in_global)
{
    static const char *const names[TENSOR_REPLACEABLE] = {
        "address",        "rank", "box",        "size",    "stride",
        "element stride", "type", "interleave", "swizzle", "fill"};
    int index = (int)field * 10 + 2 * ordinal + in_global;
    struct tensor_draw draw = tensor_draw_of(SEED, index);
    bool is_fill = field == TENSOR_FILL;
    struct tensor_copy copy = {.targets = 1, .replaces = true, .in_global = in_global};
    char kind[64];

    copy.map.swizzle = tensor_draw_from(&draw, 2, 3);
    copy.map.type = is_fill ? tensor_draw_from(&draw, TENSOR_F16, TENSOR_F64)
                            : tensor_draw_below(&draw, TENSOR_TYPES);
    if (field == TENSOR_SWIZZLE)
        copy.map.swizzle = 1 + tensor_draw_below(&draw, 3);
    copy.map.fill = is_fill && tensor_draw_below(&draw, 3) > 0;
    tensor_draw_tile(&draw, &copy.map,
                     has_ordinal(field) ? TENSOR_RANK_MAX : tensor_draw_from(&draw, 2, 5),
                     field == TENSOR_ELEMENT_STRIDE);
    tensor_draw_place(&draw, &copy);
    place_across(&copy, field == TENSOR_ELEMENT_STRIDE);
    if (field == TENSOR_GLOBAL_DIM && ordinal == 0)
        copy.at[0] = (int)copy.map.dims[0] / 16 * 16;
    copy.first_map = copy.map;
    if (field == TENSOR_RANK)
        replace_rank(&copy);
    else
        replace_field(&copy, field, ordinal);
    snprintf(kind, sizeof kind, "%s %d replaced in %s memory", names[field], ordinal,
             in_global ? "global" : "shared");
    return tensor_copy_emit(cases, &copy, 1, index, kind);
}

bool tensor_each_replacement(struct tensor_cases *cases)
{
    for (int i = 0; i < 2 * TENSOR_REPLACEABLE; i++) {
        enum tensor_field field = (enum tensor_field)(i / 2);
        int ordinals = field == TENSOR_GLOBAL_STRIDE ? TENSOR_RANK_MAX - 1
                       : has_ordinal(field)          ? TENSOR_RANK_MAX
                                                     : 1;

        for (int ordinal = 0; ordinal < ordinals; ordinal++)
            if (!replacement(cases, field, ordinal, i % 2))
                return false;
    }
    return true;
}
