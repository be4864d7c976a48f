/* stub_tensor_map.c: checks tensor maps as the driver does, and keeps what each was made from.
 *
 * The 128 bytes of a map hold its number in the stub's record and a checksum, so that it is
 * recognised wherever it turns up, and known not to have been changed on the way. */
#include "tests/support/stub_play.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, RANK_MAX = 5 };

static const uint64_t magic = 0x70616d2062757473; /* "stub map" */

static const struct {
    unsigned bits;
    bool is_float;
} types[] = {
    [CU_TENSOR_MAP_DATA_TYPE_UINT8] = {8, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = {16, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = {32, false},
    [CU_TENSOR_MAP_DATA_TYPE_INT32] = {32, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = {64, false},
    [CU_TENSOR_MAP_DATA_TYPE_INT64] = {64, false},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = {16, true},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = {64, true},
    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = {16, true},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B] = {4, false},
    [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B] = {8, false}, /* as they lie in shared memory */
    [CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B] = {8, false},
};

static bool is_padded(CUtensorMapDataType type)
{
    return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static bool check_words(const struct stub_tensor_map_arguments *a)
{
    return a->type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && a->rank >= 1 &&
           a->rank <= RANK_MAX && a->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           a->swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
           a->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           a->fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && a->dims != NULL &&
           a->box != NULL && a->element_strides != NULL && (a->strides != NULL || a->rank == 1);
}

/* The tensor in global memory. */
static bool check_tensor(const struct stub_tensor_map_arguments *a)
{
    unsigned alignment =
        a->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_padded(a->type) ? 32 : 16;
    unsigned dim_multiple = is_padded(a->type)                                ? 128
                            : a->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B ? 2
                                                                              : 1;

    if (a->address == NULL || (uintptr_t)a->address % alignment != 0)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dims[i] == 0 || a->dims[i] > UINT64_C(1) << 32)
            return false;
    for (uint32_t i = 0; i + 1 < a->rank; i++)
        if (a->strides[i] % alignment != 0 || a->strides[i] >= UINT64_C(1) << 40)
            return false;
    return a->dims[0] % dim_multiple == 0;
}

static unsigned span_of(CUtensorMapSwizzle swizzle)
{
    switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_NONE:
        return UINT32_MAX;
    case CU_TENSOR_MAP_SWIZZLE_32B:
        return 32;
    case CU_TENSOR_MAP_SWIZZLE_64B:
        return 64;
    case CU_TENSOR_MAP_SWIZZLE_128B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B:
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B:
        return 128;
    }
    return 0;
}

/* The box in shared memory, and how its rows are swizzled. */
static bool check_box(const struct stub_tensor_map_arguments *a)
{
    bool plain = a->interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
    unsigned bits;

    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->box[i] == 0 || a->box[i] > 256)
            return false;
        if ((i > 0 || !plain) && (a->element_strides[i] == 0 || a->element_strides[i] > 8))
            return false;
    }
    if (is_padded(a->type) && a->box[0] != 128)
        return false;
    bits = a->box[0] * types[a->type].bits;
    return !plain || (bits % 128 == 0 && bits / 8 <= span_of(a->swizzle));
}

static bool check_modes(const struct stub_tensor_map_arguments *a)
{
    const struct stub_device *device = &stub.devices[stub_current()->as.context.device];

    if (a->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && a->rank < 3)
        return false;
    if (a->interleave == CU_TENSOR_MAP_INTERLEAVE_32B && a->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return false;
    if (a->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE &&
        a->type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return false;
    if (a->swizzle > CU_TENSOR_MAP_SWIZZLE_128B && device->major < 10)
        return false;
    if (is_padded(a->type) &&
        (a->swizzle == CU_TENSOR_MAP_SWIZZLE_32B || a->swizzle == CU_TENSOR_MAP_SWIZZLE_64B ||
         a->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B))
        return false;
    return a->fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || types[a->type].is_float;
}

/* ---- The record ------------------------------------------------------------------------------ */

static uint64_t checksum(const uint64_t *words)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a, a word at a time */

    for (int i = 0; i < WORDS - 1; i++)
        sum = (sum ^ words[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static struct stub_tensor_map *new_record(void)
{
    struct stub_tensor_map **maps =
        stub_grow(stub.maps, stub.map_count, &stub.map_capacity, sizeof *maps);
    struct stub_tensor_map *map = calloc(1, sizeof *map);

    if (maps != NULL)
        stub.maps = maps;
    if (maps == NULL || map == NULL) {
        free(map);
        return NULL;
    }
    maps[stub.map_count++] = map;
    return map;
}

static void write_record(struct stub_tensor_map *record, const struct stub_tensor_map_arguments *a)
{
    record->type = (int)a->type;
    record->rank = a->rank;
    record->address = (uintptr_t)a->address;
    memcpy(record->dims, a->dims, a->rank * sizeof a->dims[0]);
    if (a->rank > 1)
        memcpy(record->strides, a->strides, (a->rank - 1) * sizeof a->strides[0]);
    memcpy(record->box, a->box, a->rank * sizeof a->box[0]);
    memcpy(record->element_strides, a->element_strides, a->rank * sizeof a->element_strides[0]);
    record->interleave = (int)a->interleave;
    record->swizzle = (int)a->swizzle;
    record->promotion = (int)a->promotion;
    record->fill = (int)a->fill;
}

CUresult stub_encode_tiled(CUtensorMap *map, const struct stub_tensor_map_arguments *arguments)
{
    struct stub_tensor_map *record;

    if (map == NULL || (uintptr_t)map % alignof(CUtensorMap) != 0 || !check_words(arguments) ||
        !check_tensor(arguments) || !check_box(arguments) || !check_modes(arguments))
        return CUDA_ERROR_INVALID_VALUE;
    record = new_record();
    if (record == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    write_record(record, arguments);
    memset(map, 0, sizeof *map);
    map->opaque[0] = magic;
    map->opaque[1] = stub.resets;
    map->opaque[2] = stub.map_count - 1;
    map->opaque[3] = record->address;
    map->opaque[WORDS - 1] = checksum(map->opaque);
    return CUDA_SUCCESS;
}

int stub_tensor_maps(void)
{
    int count;

    stub_lock();
    count = (int)stub.map_count;
    stub_unlock();
    return count;
}

const struct stub_tensor_map *stub_tensor_map_at(int i)
{
    const struct stub_tensor_map *map;

    stub_lock();
    map = i >= 0 && (size_t)i < stub.map_count ? stub.maps[i] : NULL;
    stub_unlock();
    return map;
}

const struct stub_tensor_map *stub_tensor_map_of(const void *bytes)
{
    const struct stub_tensor_map *map = NULL;
    uint64_t words[WORDS];

    memcpy(words, bytes, sizeof words);
    stub_lock();
    if (words[0] == magic && words[WORDS - 1] == checksum(words) && words[1] == stub.resets &&
        words[2] < stub.map_count)
        map = stub.maps[words[2]];
    stub_unlock();
    return map;
}
