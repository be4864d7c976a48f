/* tensor_map.c: see tensor_map.h. */
#include "tests/gpu/tensor_map.h"

static const struct {
    const char *name;
    uint32_t bytes;
} types[TENSOR_TYPES] = {
    {"u8", 1},  {"u16", 2}, {"u32", 4},  {"s32", 4},     {"u64", 8},  {"s64", 8},      {"f16", 2},
    {"f32", 4}, {"f64", 8}, {"bf16", 2}, {"f32_ftz", 4}, {"tf32", 4}, {"tf32_ftz", 4},
};

const char *tensor_type_name(int type)
{
    return types[type].name;
}

uint32_t tensor_element_bytes(int type)
{
    return types[type].bytes;
}

bool tensor_type_is_float(int type)
{
    return type >= TENSOR_F16;
}

uint32_t tensor_swizzle_bytes(const struct tensor_map *map)
{
    return map->swizzle == 0 ? 0 : 16u << map->swizzle;
}

void tensor_map_set(struct tensor_map *map, enum tensor_field field, int ordinal, uint64_t value)
{
    switch (field) {
    case TENSOR_ADDRESS:
        map->offset = value;
        break;
    case TENSOR_RANK:
        map->rank = (int)value;
        break;
    case TENSOR_BOX_DIM:
        map->box[ordinal] = (uint32_t)value;
        break;
    case TENSOR_GLOBAL_DIM:
        map->dims[ordinal] = value;
        break;
    case TENSOR_GLOBAL_STRIDE:
        map->strides[ordinal + 1] = value;
        break;
    case TENSOR_ELEMENT_STRIDE:
        map->element_strides[ordinal] = (uint32_t)value;
        break;
    case TENSOR_ELEMTYPE:
        map->type = (int)value;
        break;
    case TENSOR_INTERLEAVE:
        map->interleave = (int)value;
        break;
    case TENSOR_SWIZZLE:
        map->swizzle = (int)value;
        break;
    case TENSOR_FILL:
        map->fill = (int)value;
        break;
    case TENSOR_PROMOTION:
        map->promotion = (int)value;
        break;
    case TENSOR_LOWER:
        map->lower[ordinal] = (int)(int64_t)value;
        break;
    case TENSOR_UPPER:
        map->upper[ordinal] = (int)(int64_t)value;
        break;
    case TENSOR_CHANNELS:
        map->channels = (uint32_t)value;
        break;
    case TENSOR_PIXELS:
        map->pixels = (uint32_t)value;
        break;
    }
}

uint32_t tensor_row_elements(const struct tensor_map *map)
{
    return map->is_im2col ? map->channels : map->box[0];
}

uint32_t tensor_rows(const struct tensor_map *map)
{
    uint32_t rows = 1;

    if (map->is_im2col)
        return map->pixels;
    for (int i = 1; i < map->rank; i++)
        rows *= (map->box[i] + map->element_strides[i] - 1) / map->element_strides[i];
    return rows;
}

uint32_t tensor_load_bytes(const struct tensor_map *map)
{
    return tensor_rows(map) * tensor_row_elements(map) * tensor_element_bytes(map->type);
}

uint32_t tensor_footprint(const struct tensor_map *map)
{
    return map->swizzle == 0 ? tensor_load_bytes(map)
                             : tensor_rows(map) * tensor_swizzle_bytes(map);
}

uint64_t tensor_extent(const struct tensor_map *map)
{
    uint64_t bytes = map->dims[0] * tensor_element_bytes(map->type);

    for (int i = 1; i < map->rank; i++)
        bytes += (map->dims[i] - 1) * map->strides[i];
    return bytes;
}

int tensor_map_encode(const struct lt_driver *driver, const struct tensor_map *map, uint64_t memory,
                      struct lt_cu_tensor_map *encoded)
{
    int (*im2col)(struct lt_cu_tensor_map *, int, uint32_t, void *, const uint64_t *,
                  const uint64_t *, const int *, const int *, uint32_t, uint32_t, const uint32_t *,
                  int, int, int, int) = NULL;
    const struct lt_library_function function = {"cuTensorMapEncodeIm2col", &im2col};
    void *address = (void *)(uintptr_t)(memory + map->offset);
    uint32_t rank = (uint32_t)map->rank;

    if (!map->is_im2col)
        return driver->cuTensorMapEncodeTiled(
            encoded, map->type, rank, address, map->dims, map->strides + 1, map->box,
            map->element_strides, map->interleave, map->swizzle, map->promotion, map->fill);
    if (lt_library_load(&driver->library, &function, 1, NULL))
        return LT_CUDA_ERROR_NOT_FOUND;
    return im2col(encoded, map->type, rank, address, map->dims, map->strides + 1, map->lower,
                  map->upper, map->channels, map->pixels, map->element_strides, map->interleave,
                  map->swizzle, map->promotion, map->fill);
}
