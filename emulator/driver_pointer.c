/* driver_pointer.c: what a pointer is. */
#include "emulator/driver_state.h"

#include <string.h>

/* Looks on the current device first: addresses of different devices may be the same. */
static const struct emu_cu_block *block_anywhere(uint64_t pointer)
{
    const struct emu_cu_context *current = emu_cu_current_if_any();
    const struct emu_cu_block *block = current ? emu_cu_block_around(current->gpu, pointer) : NULL;

    for (int i = 0; !block && i < emu_cu_driver.gpu_count; i++)
        block = emu_cu_block_around(&emu_cu_driver.gpus[i], pointer);
    return block;
}

static CUresult describe(void *data, CUpointer_attribute attribute,
                         const struct emu_cu_block *block, uint64_t pointer)
{
    bool is_host = block->kind == EMU_CU_BLOCK_HOST;
    bool by_host = is_host && pointer - block->address >= block->bytes;
    uint64_t offset = pointer - (by_host ? (uintptr_t)block->host : block->address);

    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = block->context->object.handle;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = block->address + offset;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!is_host)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (char *)block->host + offset;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = block->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = block->context->gpu->ordinal;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = by_host ? (uintptr_t)block->host : block->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = block->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(bool *)data = true;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(bool *)data = false;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(int *)data = 3; /* read and write */
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data =
            block->kind == EMU_CU_BLOCK_POOL ? (CUmemoryPool)(void *)block->context->gpu : NULL;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    const struct emu_cu_block *block = block_anywhere(pointer);

    return data && block ? describe(data, attribute, block, pointer) : CUDA_ERROR_INVALID_VALUE;
}

/* How much of `data` an attribute takes; 0 for one that is none. */
static size_t attribute_bytes(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return 8;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return 4;
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return 1;
    }
    return 0;
}

/* Unlike the single form it tells of any pointer: what is unknown is zero, and the ordinal -2. */
CUresult emu_cu_pointer_attributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                   CUdeviceptr pointer)
{
    const struct emu_cu_block *block = block_anywhere(pointer);

    if (count == 0 || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (!data[i] || attribute_bytes(attributes[i]) == 0)
            return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (block && describe(data[i], attributes[i], block, pointer) == CUDA_SUCCESS)
            continue;
        memset(data[i], 0, attribute_bytes(attributes[i]));
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = -2;
    }
    return CUDA_SUCCESS;
}

/* Copies are synchronous whatever is asked for. */
CUresult emu_cu_pointer_set_attribute(const void *value, CUpointer_attribute attribute,
                                      CUdeviceptr pointer)
{
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !block_anywhere(pointer))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
