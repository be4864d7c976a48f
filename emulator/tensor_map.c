/* tensor_map.c: CUtensorMap as bytes: encoding with the rules of cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col (cuda.h), decoding, and tensormap.replace (PTX ISA, "tensormap.replace").
 *
 * Not supported, and refused as what no map can be: the interleaved layouts and the types whose
 * elements are smaller than a byte. */
#include "emulator/tensor_copy.h"

#include <stddef.h>
#include <string.h>

enum { INVALID_VALUE = 1 }; /* CUDA_ERROR_INVALID_VALUE */

enum {
    TYPE_FLOAT16 = 6,
    TYPE_FLOAT32 = 7,
    TYPE_FLOAT64 = 8,
    TYPE_BFLOAT16 = 9,
    TYPE_FLOAT32_FTZ = 10,
    TYPE_TFLOAT32 = 11,
    TYPE_TFLOAT32_FTZ = 12,
    TYPE_COUNT
};

enum { BOX_MAX = 256, ELEMENT_STRIDE_MAX = 8, CHANNELS_MAX = 256, PIXELS_MAX = 1024 };

/* Where the fields are among the 128 bytes. Numbers are little-endian. */
enum {
    AT_MAGIC = 0,
    AT_ADDRESS = 8,
    AT_STRIDES = 16,          /* 5 of 8 bytes                                         */
    AT_DIMS = 56,             /* 5 of 4 bytes, less one: 2^32 is a size               */
    AT_BOX = 76,              /* 5 of 2                                               */
    AT_LOWER = 86,            /* 3 of 2, signed                                       */
    AT_UPPER = 92,            /* 3 of 2, signed                                       */
    AT_CHANNELS = 98,         /* 2                                                    */
    AT_PIXELS = 100,          /* 2                                                    */
    AT_ELEMENT_STRIDES = 102, /* 5 of 1                                               */
    AT_SMALL = 107            /* is_im2col, type, rank, interleave, swizzle, promotion, fill */
};

/* Bytes that some other driver encoded, or nobody, do not begin so. */
static const unsigned char magic[8] = {'E', 'M', 'U', 'T', 'M', 'A', 'P', 1};

int emu_tensor_element_bytes(int type)
{
    static const signed char bytes[TYPE_COUNT] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

    return type >= 0 && type < TYPE_COUNT ? bytes[type] : 0;
}

bool emu_tensor_is_float(int type)
{
    return type >= TYPE_FLOAT16 && type < TYPE_COUNT;
}

bool emu_tensor_is_tf32(int type)
{
    return type == TYPE_TFLOAT32 || type == TYPE_TFLOAT32_FTZ;
}

/* ---- Rules ---- */

static const char *find_tensor_fault(const struct emu_tensor_map *map)
{
    if (emu_tensor_element_bytes(map->type) == 0)
        return "its element type is unknown or not supported";
    if (map->rank < (map->is_im2col ? 3 : 1) || map->rank > EMU_TENSOR_RANK_MAX)
        return "its rank is none";
    if (map->address % 16 != 0)
        return "its address is no multiple of 16";
    for (int i = 0; i < map->rank; i++)
        if (map->dims[i] == 0 || map->dims[i] > UINT64_C(1) << 32)
            return "a size is zero or above 2^32";
    for (int i = 1; i < map->rank; i++)
        if (map->strides[i] % 16 != 0 || map->strides[i] >= UINT64_C(1) << 40)
            return "a stride is no multiple of 16 or not below 2^40";
    /* The first changes nothing, for dimension 0 is always contiguous, and is looked at all the
     * same (measured). */
    for (int i = 0; i < map->rank; i++)
        if (map->element_strides[i] == 0 || map->element_strides[i] > ELEMENT_STRIDE_MAX)
            return "an element stride is outside of 1 to 8";
    return NULL;
}

static const char *find_mode_fault(const struct emu_tensor_map *map)
{
    if (map->interleave != 0)
        return "its interleave is unknown or not supported";
    if (!emu_swizzle_exists(map->swizzle))
        return "its swizzle is unknown";
    if (map->promotion < 0 || map->promotion > 3)
        return "its L2 promotion is unknown";
    if (map->fill < 0 || map->fill > 1)
        return "its fill mode is unknown";
    if (map->fill == 1 && !emu_tensor_is_float(map->type))
        return "it fills integers with NaN";
    return NULL;
}

static const char *find_row_fault(const struct emu_tensor_map *map, uint32_t elements)
{
    uint32_t bytes = elements * (uint32_t)emu_tensor_element_bytes(map->type);
    uint32_t span = emu_swizzle_span(map->swizzle);

    if (bytes % 16 != 0)
        return "a row of its box is no multiple of 16 bytes";
    if (span != 0 && bytes > span)
        return "a row of its box is longer than the span of the swizzle";
    return NULL;
}

static const char *find_tiled_fault(const struct emu_tensor_map *map)
{
    for (int i = 0; i < map->rank; i++)
        if (map->box[i] == 0 || map->box[i] > BOX_MAX)
            return "a size of its box is outside of 1 to 256";
    return find_row_fault(map, map->box[0]);
}

static const char *find_im2col_fault(const struct emu_tensor_map *map)
{
    static const int limits[EMU_TENSOR_RANK_MAX + 1] = {0, 0, 0, 32768, 128, 16};
    int limit = limits[map->rank];

    for (int i = 0; i < map->rank - 2; i++) {
        if (map->lower[i] < -limit || map->lower[i] >= limit || map->upper[i] < -limit ||
            map->upper[i] >= limit)
            return "a corner of its box does not fit";
        if (map->lower[i] > (int64_t)map->dims[i + 1] - 1 + map->upper[i])
            return "its box is empty";
    }
    if (map->channels == 0 || map->channels > CHANNELS_MAX)
        return "its channels are outside of 1 to 256";
    if (map->pixels == 0 || map->pixels > PIXELS_MAX)
        return "its pixels are outside of 1 to 1024";
    return find_row_fault(map, map->channels);
}

const char *emu_tensor_map_fault(const struct emu_tensor_map *map)
{
    const char *fault = find_tensor_fault(map);

    if (!fault)
        fault = find_mode_fault(map);
    if (!fault)
        fault = map->is_im2col ? find_im2col_fault(map) : find_tiled_fault(map);
    return fault;
}

/* ---- Bytes ---- */

static void put(unsigned char *at, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static int get_signed(const unsigned char *at)
{
    return (int16_t)get(at, 2);
}

static void write_map(unsigned char *bytes, const struct emu_tensor_map *map)
{
    const int small[] = {map->is_im2col, map->type,      map->rank, map->interleave,
                         map->swizzle,   map->promotion, map->fill};

    memset(bytes, 0, EMU_TENSOR_MAP_BYTES);
    memcpy(bytes + AT_MAGIC, magic, sizeof magic);
    put(bytes + AT_ADDRESS, 8, map->address);
    for (int i = 0; i < EMU_TENSOR_RANK_MAX; i++) {
        put(bytes + AT_STRIDES + 8 * i, 8, map->strides[i]);
        put(bytes + AT_DIMS + 4 * i, 4, map->dims[i] - 1);
        put(bytes + AT_BOX + 2 * i, 2, map->box[i]);
        put(bytes + AT_ELEMENT_STRIDES + i, 1, map->element_strides[i]);
    }
    for (int i = 0; i < EMU_TENSOR_RANK_MAX - 2; i++) {
        put(bytes + AT_LOWER + 2 * i, 2, (uint64_t)map->lower[i]);
        put(bytes + AT_UPPER + 2 * i, 2, (uint64_t)map->upper[i]);
    }
    put(bytes + AT_CHANNELS, 2, map->channels);
    put(bytes + AT_PIXELS, 2, map->pixels);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        bytes[AT_SMALL + i] = (unsigned char)small[i];
}

/* The map with what its rank and mode leave open set to ones, so that raising the rank by
 * tensormap.replace finds dimensions that change nothing. */
static void complete_map(struct emu_tensor_map *map)
{
    for (int i = map->rank; i < EMU_TENSOR_RANK_MAX; i++) {
        map->dims[i] = 1;
        map->strides[i] = 0;
        map->box[i] = 1;
        map->element_strides[i] = 1;
    }
    map->element_strides[0] = 1;
    map->strides[0] = (uint64_t)emu_tensor_element_bytes(map->type);
    if (map->is_im2col) {
        for (int i = 0; i < EMU_TENSOR_RANK_MAX; i++)
            map->box[i] = 1;
        for (int i = map->rank - 2; i < EMU_TENSOR_RANK_MAX - 2; i++)
            map->lower[i] = map->upper[i] = 0;
    } else {
        memset(map->lower, 0, sizeof map->lower);
        memset(map->upper, 0, sizeof map->upper);
        map->channels = map->pixels = 0;
    }
}

int emu_tensor_map_encode(unsigned char bytes[EMU_TENSOR_MAP_BYTES],
                          const struct emu_tensor_map *map)
{
    if (emu_tensor_map_fault(map))
        return INVALID_VALUE;

    struct emu_tensor_map complete = *map;

    complete_map(&complete);
    write_map(bytes, &complete);
    return 0;
}

bool emu_tensor_map_decode(struct emu_tensor_map *map,
                           const unsigned char bytes[EMU_TENSOR_MAP_BYTES])
{
    const unsigned char *small = bytes + AT_SMALL;

    if (memcmp(bytes + AT_MAGIC, magic, sizeof magic) != 0)
        return false;
    /* Others that are out of their range are found by emu_tensor_map_fault; these are indices, and
     * element strides are divisors. */
    if (small[0] > 1 || small[2] < 1 || small[2] > EMU_TENSOR_RANK_MAX)
        return false;

    *map = (struct emu_tensor_map){
        .is_im2col = small[0] == 1,
        .type = small[1],
        .rank = small[2],
        .interleave = small[3],
        .swizzle = small[4],
        .promotion = small[5],
        .fill = small[6],
        .address = get(bytes + AT_ADDRESS, 8),
        .channels = (uint32_t)get(bytes + AT_CHANNELS, 2),
        .pixels = (uint32_t)get(bytes + AT_PIXELS, 2),
    };
    for (int i = 0; i < EMU_TENSOR_RANK_MAX; i++) {
        map->strides[i] = get(bytes + AT_STRIDES + 8 * i, 8);
        map->dims[i] = get(bytes + AT_DIMS + 4 * i, 4) + 1;
        map->box[i] = (uint32_t)get(bytes + AT_BOX + 2 * i, 2);
        map->element_strides[i] = bytes[AT_ELEMENT_STRIDES + i];
        if (map->element_strides[i] == 0)
            return false;
    }
    for (int i = 0; i < EMU_TENSOR_RANK_MAX - 2; i++) {
        map->lower[i] = get_signed(bytes + AT_LOWER + 2 * i);
        map->upper[i] = get_signed(bytes + AT_UPPER + 2 * i);
    }
    return true;
}

/* ---- tensormap.replace ---- */

static bool replace_address(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    (void)ordinal;
    map->address = value;
    return true;
}

static bool replace_rank(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    (void)ordinal;
    if (value >= EMU_TENSOR_RANK_MAX)
        return false;
    map->rank = (int)value + 1;
    return true;
}

static bool replace_box_dim(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    if (map->is_im2col || value == 0 || value > BOX_MAX)
        return false;
    map->box[ordinal] = (uint32_t)value;
    return true;
}

static bool replace_global_dim(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    if (value == 0 || value > UINT64_C(1) << 32)
        return false;
    map->dims[ordinal] = value;
    return true;
}

static bool replace_global_stride(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    if (ordinal + 1 >= EMU_TENSOR_RANK_MAX || value >= UINT64_C(1) << 40)
        return false;
    map->strides[ordinal + 1] = value;
    return true;
}

static bool replace_element_stride(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    if (value == 0 || value > ELEMENT_STRIDE_MAX)
        return false;
    map->element_strides[ordinal] = (uint32_t)value;
    return true;
}

static bool replace_elemtype(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    /* By PTX's codes: bf16 comes last there but for tf32, and f32.ftz stands beside f32. */
    static const signed char types[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        TYPE_FLOAT16,
                                        TYPE_FLOAT32,
                                        TYPE_FLOAT32_FTZ,
                                        TYPE_FLOAT64,
                                        TYPE_BFLOAT16,
                                        TYPE_TFLOAT32,
                                        TYPE_TFLOAT32_FTZ};

    (void)ordinal;
    if (value >= sizeof types)
        return false;
    map->type = types[value];
    map->strides[0] = (uint64_t)emu_tensor_element_bytes(map->type);
    return true;
}

static bool replace_interleave(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    (void)ordinal;
    map->interleave = 0;
    return value == 0;
}

static bool replace_swizzle_mode(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    (void)ordinal;
    if (value > 3)
        return false;
    map->swizzle = (int)value;
    return true;
}

/* The atom of the 128-byte swizzle; cuda.h has a mode of its own for each. */
static bool replace_swizzle_atomicity(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    (void)ordinal;
    if (map->swizzle < 3)
        return value == 0;
    if (value > 3)
        return false;
    map->swizzle = 3 + (int)value;
    return true;
}

static bool replace_fill_mode(struct emu_tensor_map *map, int ordinal, uint64_t value)
{
    (void)ordinal;
    if (value > 1)
        return false;
    map->fill = (int)value;
    return true;
}

/* Kernels also make maps of their own: of zeros, field by field. The words of a real map count from
 * zero what cannot be zero (rank, sizes, box, element strides), so that zeros are all ones here. */
static bool decode_or_begin(struct emu_tensor_map *map,
                            const unsigned char bytes[EMU_TENSOR_MAP_BYTES])
{
    static const unsigned char zeros[EMU_TENSOR_MAP_BYTES];

    if (memcmp(bytes, zeros, sizeof zeros) != 0)
        return emu_tensor_map_decode(map, bytes);
    *map = (struct emu_tensor_map){.rank = 1, .dims = {1}, .box = {1}};
    complete_map(map);
    return true;
}

bool emu_tensor_map_replace(unsigned char bytes[EMU_TENSOR_MAP_BYTES], const char *field,
                            int ordinal, uint64_t value)
{
    static const struct {
        const char *word;
        bool (*replace)(struct emu_tensor_map *map, int ordinal, uint64_t value);
    } fields[] = {
        {"global_address", replace_address},
        {"rank", replace_rank},
        {"box_dim", replace_box_dim},
        {"global_dim", replace_global_dim},
        {"global_stride", replace_global_stride},
        {"element_stride", replace_element_stride},
        {"elemtype", replace_elemtype},
        {"interleave_layout", replace_interleave},
        {"swizzle_mode", replace_swizzle_mode},
        {"swizzle_atomicity", replace_swizzle_atomicity},
        {"fill_mode", replace_fill_mode},
    };
    struct emu_tensor_map map;

    if (ordinal < 0 || ordinal >= EMU_TENSOR_RANK_MAX || !decode_or_begin(&map, bytes))
        return false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(field, fields[i].word) != 0)
            continue;
        if (!fields[i].replace(&map, ordinal, value))
            return false;
        write_map(bytes, &map);
        return true;
    }
    return false;
}
