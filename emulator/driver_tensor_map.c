/* driver_tensor_map.c: cuTensorMap...: the arguments as tensor_map.h takes them. */
#include "emulator/driver_state.h"
#include "emulator/tensor_map.h"

#include <string.h>

enum { HOPPER = 90, BLACKWELL = 100, IM2COL_RANK_MIN = 3 };

/* A map may lie anywhere in the host's memory, as with a driver 580 on an H200, though cuda.h has
 * it at a multiple of 64: so it goes about as a void pointer, which promises nothing. */
static CUresult check_call(const void *map)
{
    if (!map)
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_current()->gpu->arch->target >= HOPPER ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* What both kinds have; false where a list that must be there is not. */
static bool read_common(struct emu_tensor_map *tensor, CUtensorMapDataType type, uint32_t rank,
                        const void *address, const uint64_t *dims, const uint64_t *strides,
                        const uint32_t *element_strides)
{
    if (rank < 1 || rank > EMU_TENSOR_RANK_MAX || !dims || !element_strides ||
        (rank > 1 && !strides))
        return false;
    *tensor =
        (struct emu_tensor_map){.type = type, .rank = (int)rank, .address = (uintptr_t)address};
    for (uint32_t i = 0; i < rank; i++) {
        tensor->dims[i] = dims[i];
        tensor->strides[i] = i > 0 ? strides[i - 1] : (uint64_t)emu_tensor_element_bytes(type);
        tensor->element_strides[i] = element_strides[i];
    }
    return true;
}

static CUresult encode(void *map, struct emu_tensor_map *tensor, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill)
{
    unsigned char bytes[EMU_TENSOR_MAP_BYTES];
    CUresult result;

    /* Atoms of other sizes came with Blackwell. */
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B && emu_cu_current()->gpu->arch->target < BLACKWELL)
        return CUDA_ERROR_INVALID_VALUE;
    tensor->interleave = interleave;
    tensor->swizzle = swizzle;
    tensor->promotion = promotion;
    tensor->fill = fill;
    result = emu_tensor_map_encode(bytes, tensor);
    if (!result)
        memcpy(map, bytes, sizeof bytes);
    return result;
}

CUresult emu_cu_tensor_map_tiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                 void *address, const uint64_t *dims, const uint64_t *strides,
                                 const uint32_t *box, const uint32_t *element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    struct emu_tensor_map tensor;
    CUresult result = check_call(map);

    if (result)
        return result;
    if (!box || !read_common(&tensor, type, rank, address, dims, strides, element_strides))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(tensor.box, box, rank * sizeof *box);
    return encode(map, &tensor, interleave, swizzle, promotion, fill);
}

CUresult emu_cu_tensor_map_im2col(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                  void *address, const uint64_t *dims, const uint64_t *strides,
                                  const int *lower, const int *upper, uint32_t channels,
                                  uint32_t pixels, const uint32_t *element_strides,
                                  CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                  CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    struct emu_tensor_map tensor;
    CUresult result = check_call(map);

    if (result)
        return result;
    if (!lower || !upper || rank < IM2COL_RANK_MIN ||
        !read_common(&tensor, type, rank, address, dims, strides, element_strides))
        return CUDA_ERROR_INVALID_VALUE;
    tensor.is_im2col = true;
    memcpy(tensor.lower, lower, (rank - 2) * sizeof *lower);
    memcpy(tensor.upper, upper, (rank - 2) * sizeof *upper);
    tensor.channels = channels;
    tensor.pixels = pixels;
    return encode(map, &tensor, interleave, swizzle, promotion, fill);
}

CUresult emu_cu_tensor_map_wide(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                void *address, const uint64_t *dims, const uint64_t *strides,
                                int lower, int upper, uint32_t channels, uint32_t pixels,
                                const uint32_t *element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    CUresult result = check_call(map);

    (void)type, (void)rank, (void)address, (void)dims, (void)strides, (void)lower, (void)upper;
    (void)channels, (void)pixels, (void)element_strides, (void)interleave, (void)mode;
    (void)swizzle, (void)promotion, (void)fill;
    return result ? result
                  : emu_cu_report(CUDA_ERROR_NOT_SUPPORTED,
                                  "cuTensorMapEncodeIm2colWide: the emulator has no wide im2col");
}

/* Through decoding and encoding: the new address must suit the map as the old one did. */
CUresult emu_cu_tensor_map_move(CUtensorMap *moved, void *address)
{
    unsigned char bytes[EMU_TENSOR_MAP_BYTES];
    void *map = moved;
    struct emu_tensor_map tensor;
    CUresult result = check_call(map);

    if (result)
        return result;
    memcpy(bytes, map, sizeof bytes);
    if (!emu_tensor_map_decode(&tensor, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    tensor.address = (uintptr_t)address;
    result = emu_tensor_map_encode(bytes, &tensor);
    if (!result)
        memcpy(map, bytes, sizeof bytes);
    return result;
}
