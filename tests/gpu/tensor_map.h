/* tensor_map.h: the arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col as one value,
 * whose fields can be set one by one. */
#ifndef LATHE_TESTS_TENSOR_MAP_H
#define LATHE_TESTS_TENSOR_MAP_H

#include "runtime/driver.h"

#include <stdbool.h>

enum { TENSOR_RANK_MAX = 5, TENSOR_SPACE_MAX = TENSOR_RANK_MAX - 2 };

/* By their numbers in cuda.h. */
enum tensor_type {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_TYPES
};

struct tensor_map {
    bool is_im2col;
    int type, rank, interleave, swizzle, promotion, fill; /* enumerations by cuda.h's numbers */
    uint64_t offset;                                      /* of the tensor in the case's memory */
    uint64_t dims[TENSOR_RANK_MAX];
    uint64_t strides[TENSOR_RANK_MAX]; /* bytes, by dimension; that of dimension 0 is not used */
    uint32_t box[TENSOR_RANK_MAX];
    uint32_t element_strides[TENSOR_RANK_MAX];
    int lower[TENSOR_SPACE_MAX], upper[TENSOR_SPACE_MAX]; /* W, H, D */
    uint32_t channels, pixels;
};

/* In the order in which a kernel can replace them, tensormap.replace; then those it cannot. */
enum tensor_field {
    TENSOR_ADDRESS,
    TENSOR_RANK,
    TENSOR_BOX_DIM,
    TENSOR_GLOBAL_DIM,
    TENSOR_GLOBAL_STRIDE, /* ordinal 0 is that of dimension 1 */
    TENSOR_ELEMENT_STRIDE,
    TENSOR_ELEMTYPE,
    TENSOR_INTERLEAVE,
    TENSOR_SWIZZLE,
    TENSOR_FILL,
    TENSOR_REPLACEABLE,
    TENSOR_PROMOTION = TENSOR_REPLACEABLE,
    TENSOR_LOWER,
    TENSOR_UPPER,
    TENSOR_CHANNELS,
    TENSOR_PIXELS
};

void tensor_map_set(struct tensor_map *map, enum tensor_field field, int ordinal, uint64_t value);

const char *tensor_type_name(int type);
uint32_t tensor_element_bytes(int type);
bool tensor_type_is_float(int type);
/* 0, 32, 64 or 128. */
uint32_t tensor_swizzle_bytes(const struct tensor_map *map);

/* What PTX says of a box (ISA, "Tiled mode", "im2col mode"): the elements along dimension 0, the
 * rows behind each other in shared memory, and the bytes that complete on the barrier. */
uint32_t tensor_row_elements(const struct tensor_map *map);
uint32_t tensor_rows(const struct tensor_map *map);
uint32_t tensor_load_bytes(const struct tensor_map *map);
/* In shared memory, with what swizzled rows leave open. */
uint32_t tensor_footprint(const struct tensor_map *map);
/* From the tensor's first byte to behind its last. */
uint64_t tensor_extent(const struct tensor_map *map);

/* The driver's answer. `memory`: where the case's memory is. */
int tensor_map_encode(const struct lt_driver *driver, const struct tensor_map *map, uint64_t memory,
                      struct lt_cu_tensor_map *encoded);

#endif
