#include "runtime/tensormap.h"

#include "codegen/status.h"

/* What TMA does to elements on the way: nothing, but for tf32, which it rounds to nearest; in a map
 * of FLOAT32 the tensor cores would cut off the low bits of an f32 instead, which pulls every sum
 * towards zero. 8 bits are bytes to it. */
static int element_type(enum lathe_type type)
{
    switch (type) {
    case LATHE_F16:
        return LT_TENSOR_MAP_FLOAT16;
    case LATHE_BF16:
        return LT_TENSOR_MAP_BFLOAT16;
    case LATHE_F32:
        return LT_TENSOR_MAP_FLOAT32;
    case LATHE_TF32:
        return LT_TENSOR_MAP_TFLOAT32;
    case LATHE_E4M3:
    case LATHE_E5M2:
    case LATHE_INT8:
        return LT_TENSOR_MAP_UINT8;
    case LATHE_S32:
        return LT_TENSOR_MAP_INT32;
    case LATHE_TYPE_DEFAULT:
        break;
    }
    return -1; /* the driver refuses it */
}

int lt_tensor_map_swizzle(int bytes)
{
    switch (bytes) {
    case 0:
        return LT_TENSOR_MAP_SWIZZLE_NONE;
    case 32:
        return LT_TENSOR_MAP_SWIZZLE_32B;
    case 64:
        return LT_TENSOR_MAP_SWIZZLE_64B;
    case 128:
        return LT_TENSOR_MAP_SWIZZLE_128B;
    default:
        return -1;
    }
}

static int promotion(int bytes)
{
    return bytes >= 256 ? LT_TENSOR_MAP_L2_PROMOTION_256B : LT_TENSOR_MAP_L2_PROMOTION_128B;
}

static uint32_t box_rows(const struct lathe_tensor_map *recipe, int64_t rows)
{
    int64_t multiple = recipe->outer_multiple;

    if (multiple == 0 || rows >= recipe->box[1])
        return (uint32_t)recipe->box[1];

    int64_t cut = (rows + multiple - 1) / multiple * multiple;

    return (uint32_t)(cut < recipe->box[1] ? cut : recipe->box[1]);
}

enum lathe_status lt_tensor_map_encode(const struct lt_driver *driver,
                                       const struct lathe_tensor_map *recipe,
                                       const struct lt_matrix *matrix, struct lt_cu_tensor_map *map,
                                       struct lathe_error *err)
{
    int bytes = lathe_type_bytes(recipe->type);
    int64_t columns = matrix->columns / recipe->inner_multiple * recipe->inner_multiple;
    uint64_t dims[2] = {(uint64_t)(columns > 0 ? columns : 1),
                        (uint64_t)(matrix->rows > 0 ? matrix->rows : 1)};
    /* A single row has no next one, so its distance may be anything; the driver wants it legal. */
    uint64_t strides[1] = {((uint64_t)matrix->pitch * (uint64_t)bytes + 15) / 16 * 16};
    uint32_t box[2] = {(uint32_t)recipe->box[0], box_rows(recipe, (int64_t)dims[1])};
    const uint32_t element_strides[2] = {1, 1};

    if (strides[0] == 0)
        strides[0] = 16;

    int result = driver->cuTensorMapEncodeTiled(
        map, element_type(recipe->type), 2, (void *)(uintptr_t)matrix->at, dims, strides, box,
        element_strides, 0, lt_tensor_map_swizzle(recipe->swizzle_bytes),
        promotion(recipe->promotion_bytes), 0);

    if (result == LT_CUDA_SUCCESS)
        return LATHE_OK;
    return lt_fail(
        err, LATHE_DRIVER_FAILED,
        "cuTensorMapEncodeTiled refused %s (%d): %llu x %llu of %s, %llu bytes per row, at "
        "0x%llx",
        recipe->name, result, (unsigned long long)dims[1], (unsigned long long)dims[0],
        lathe_type_name(recipe->type), (unsigned long long)strides[0],
        (unsigned long long)matrix->at);
}
