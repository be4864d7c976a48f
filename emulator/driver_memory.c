/* driver_memory.c: memory that programs ask for.
 *
 * Addresses of the device are the machine's own and no host pointers. Memory of the host that a
 * kernel can reach is therefore a piece of the machine's, with the two addresses that the driver
 * API knows it by (cuMemHostGetDevicePointer); memory that must have one address for both, managed
 * memory and what a program registers, cannot be had, and says so. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_TOTAL ((size_t)16 << 30)

size_t emu_cu_memory_total(const struct emu_cu_gpu *gpu)
{
    if (gpu->machine)
        return gpu->machine_bytes;
    return emu_cu_driver.limits.memory_bytes ? emu_cu_driver.limits.memory_bytes : USUAL_TOTAL;
}

/* ---- Blocks ---- */

static bool make_block_room(struct emu_cu_gpu *gpu)
{
    size_t room = gpu->block_room ? 2 * gpu->block_room : 64;
    struct emu_cu_block *moved;

    if (gpu->block_count < gpu->block_room)
        return true;
    moved = realloc(gpu->blocks, room * sizeof *moved);
    if (!moved)
        return false;
    gpu->blocks = moved;
    gpu->block_room = room;
    return true;
}

static CUresult allocate(struct emu_cu_block **block, enum emu_cu_block_kind kind, size_t bytes)
{
    struct emu_cu_context *context = emu_cu_current();
    struct emu_cu_gpu *gpu = context->gpu;
    struct emu_cu_block made = {
        .kind = kind, .bytes = bytes, .context = context, .id = ++emu_cu_driver.next_id};

    if (bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!make_block_room(gpu))
        return CUDA_ERROR_OUT_OF_MEMORY;
    made.address = emu_allocate(gpu->machine, bytes);
    if (!made.address)
        return emu_cu_report(
            CUDA_ERROR_OUT_OF_MEMORY, "no room for %zu bytes: %llu of %zu are in use", bytes,
            (unsigned long long)emu_used_bytes(gpu->machine), emu_cu_memory_total(gpu));
    made.host = emu_bytes(gpu->machine, made.address, bytes);
    if (kind != EMU_CU_BLOCK_HOST) /* that the host writes whenever it likes */
        emu_unwritten(gpu->machine, made.address, bytes);
    gpu->blocks[gpu->block_count] = made;
    *block = &gpu->blocks[gpu->block_count++];
    return CUDA_SUCCESS;
}

static struct emu_cu_block *block_at(const struct emu_cu_gpu *gpu, uint64_t address)
{
    for (size_t i = 0; i < gpu->block_count; i++)
        if (gpu->blocks[i].address == address)
            return &gpu->blocks[i];
    return NULL;
}

struct emu_cu_block *emu_cu_block_around(const struct emu_cu_gpu *gpu, uint64_t address)
{
    for (size_t i = 0; i < gpu->block_count; i++) {
        struct emu_cu_block *block = &gpu->blocks[i];

        if (address - block->address < block->bytes)
            return block;
        if (block->kind == EMU_CU_BLOCK_HOST && address - (uintptr_t)block->host < block->bytes)
            return block;
    }
    return NULL;
}

static void release(struct emu_cu_gpu *gpu, struct emu_cu_block *block)
{
    emu_release(gpu->machine, block->address);
    *block = gpu->blocks[--gpu->block_count];
}

void emu_cu_memory_free_all(struct emu_cu_context *context)
{
    struct emu_cu_gpu *gpu = context->gpu;

    for (size_t i = gpu->block_count; i-- > 0;)
        if (gpu->blocks[i].context == context)
            release(gpu, &gpu->blocks[i]);
}

/* ---- Device memory ---- */

CUresult emu_cu_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    const struct emu_cu_gpu *gpu = emu_cu_current()->gpu;
    size_t total = emu_cu_memory_total(gpu), used = emu_used_bytes(gpu->machine);

    if (!free_bytes && !total_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (free_bytes)
        *free_bytes = used < total ? total - used : 0;
    if (total_bytes)
        *total_bytes = total;
    return CUDA_SUCCESS;
}

static CUresult allocate_device(CUdeviceptr *pointer, enum emu_cu_block_kind kind, size_t bytes)
{
    struct emu_cu_block *block;
    CUresult result = pointer ? allocate(&block, kind, bytes) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *pointer = block->address;
    return result;
}

CUresult emu_cu_memory_allocate(CUdeviceptr *pointer, size_t bytes)
{
    return allocate_device(pointer, EMU_CU_BLOCK_DEVICE, bytes);
}

CUresult emu_cu_memory_allocate_pitch(CUdeviceptr *pointer, size_t *pitch, size_t width,
                                      size_t height, unsigned element_bytes)
{
    enum { PITCH = 512 };
    size_t row, bytes;
    CUresult result;

    if (!pitch || (element_bytes != 4 && element_bytes != 8 && element_bytes != 16) ||
        __builtin_add_overflow(width, PITCH - 1, &row))
        return CUDA_ERROR_INVALID_VALUE;
    row = row / PITCH * PITCH;
    if (__builtin_mul_overflow(row, height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = emu_cu_memory_allocate(pointer, bytes);
    if (!result)
        *pitch = row;
    return result;
}

CUresult emu_cu_memory_allocate_managed(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    if (!pointer || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_report(CUDA_ERROR_NOT_SUPPORTED,
                         "cuMemAllocManaged: the emulator's addresses are not the host's; use "
                         "cuMemAlloc, or cuMemHostAlloc with cuMemHostGetDevicePointer");
}

CUresult emu_cu_memory_free(CUdeviceptr pointer)
{
    struct emu_cu_gpu *gpu = emu_cu_current()->gpu;
    struct emu_cu_block *block = block_at(gpu, pointer);

    if (!pointer)
        return CUDA_SUCCESS;
    if (!block || block->kind == EMU_CU_BLOCK_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    release(gpu, block);
    return CUDA_SUCCESS;
}

CUresult emu_cu_memory_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
    uint64_t first, length;

    if (!emu_range(emu_cu_current()->gpu->machine, pointer, &first, &length))
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = first;
    if (bytes)
        *bytes = length;
    return CUDA_SUCCESS;
}

/* ---- In the order of a stream, from the device's one pool ---- */

/* Neither is work that a graph here could hold. */
static CUresult outside_of_captures(CUstream stream)
{
    struct emu_cu_stream *found;
    CUresult result = emu_cu_stream_for_work(&found, stream);

    if (!result && found->capture) {
        emu_cu_capture_invalidate(found->capture);
        result = emu_cu_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                               "the emulator's graphs have no nodes that allocate or free memory");
    }
    return result;
}

static uint64_t pool_used(const struct emu_cu_gpu *gpu)
{
    uint64_t used = 0;

    for (size_t i = 0; i < gpu->block_count; i++)
        if (gpu->blocks[i].kind == EMU_CU_BLOCK_POOL)
            used += gpu->blocks[i].bytes;
    return used;
}

CUresult emu_cu_memory_allocate_async(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    struct emu_cu_gpu *gpu = emu_cu_current()->gpu;
    CUresult result = outside_of_captures(stream);

    if (!result)
        result = allocate_device(pointer, EMU_CU_BLOCK_POOL, bytes);
    if (!result && pool_used(gpu) > gpu->pool_high)
        gpu->pool_high = pool_used(gpu);
    return result;
}

/* The handle of a device's pool is the address of its row: there is one for each, for ever. */
static struct emu_cu_gpu *pool_find(CUmemoryPool pool)
{
    for (int i = 0; i < emu_cu_driver.gpu_count; i++)
        if ((void *)pool == (void *)&emu_cu_driver.gpus[i])
            return &emu_cu_driver.gpus[i];
    return NULL;
}

CUresult emu_cu_memory_allocate_pool(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                     CUstream stream)
{
    if (pool_find(pool) != emu_cu_current()->gpu)
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_memory_allocate_async(pointer, bytes, stream);
}

CUresult emu_cu_memory_free_async(CUdeviceptr pointer, CUstream stream)
{
    CUresult result = outside_of_captures(stream);

    if (result)
        return result;
    return pointer ? emu_cu_memory_free(pointer) : CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_device_pool(CUmemoryPool *pool, CUdevice device)
{
    struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    *pool = (CUmemoryPool)(void *)gpu;
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_set_pool(CUdevice device, CUmemoryPool pool)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    return pool_find(pool) == gpu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The first three are ints, the others 64-bit. */
static bool is_switch(CUmemPool_attribute attribute)
{
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult emu_cu_pool_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    const struct emu_cu_gpu *gpu = pool_find(pool);
    uint64_t number;

    if (!gpu || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_switch(attribute)) {
        /* Kept as "off", since on is what a pool begins with. */
        *(int *)value = gpu->pool_values[attribute - 1] == 0;
        return CUDA_SUCCESS;
    }
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        number = gpu->pool_values[attribute - 1];
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
        number = pool_used(gpu);
        break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        number = gpu->pool_high;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
}

CUresult emu_cu_pool_set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    struct emu_cu_gpu *gpu = pool_find(pool);
    uint64_t number;

    if (!gpu || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_switch(attribute)) {
        gpu->pool_values[attribute - 1] = *(const int *)value == 0;
        return CUDA_SUCCESS;
    }
    memcpy(&number, value, sizeof number);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        gpu->pool_values[attribute - 1] = number;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (number)
            return CUDA_ERROR_INVALID_VALUE;
        gpu->pool_high = pool_used(gpu);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_pool_trim(CUmemoryPool pool, size_t bytes)
{
    (void)bytes; /* nothing is kept back that is not used */
    return pool_find(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Memory of the host ---- */

CUresult emu_cu_host_allocate(void **pointer, size_t bytes, unsigned flags)
{
    struct emu_cu_block *block;
    CUresult result;

    if (!pointer || flags > 7)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes == 0) {
        *pointer = NULL; /* well, as a driver 580 on an H200 takes it; there is nothing to free */
        return CUDA_SUCCESS;
    }
    result = allocate(&block, EMU_CU_BLOCK_HOST, bytes);
    if (result)
        return result;
    block->flags = flags;
    *pointer = block->host;
    return CUDA_SUCCESS;
}

CUresult emu_cu_host_allocate_plain(void **pointer, size_t bytes)
{
    return emu_cu_host_allocate(pointer, bytes, 0);
}

CUresult emu_cu_host_free(void *pointer)
{
    struct emu_cu_gpu *gpu = emu_cu_current()->gpu;
    struct emu_cu_block *block;

    if (!pointer)
        return CUDA_SUCCESS;
    block = emu_cu_block_around(gpu, (uintptr_t)pointer);
    if (!block || block->kind != EMU_CU_BLOCK_HOST || block->host != pointer)
        return CUDA_ERROR_INVALID_VALUE;
    release(gpu, block);
    return CUDA_SUCCESS;
}

static struct emu_cu_registered *registered_around(const void *host, size_t bytes)
{
    uintptr_t at = (uintptr_t)host;

    for (size_t i = 0; i < emu_cu_driver.registered_count; i++) {
        uintptr_t start = (uintptr_t)emu_cu_driver.registered[i].host;

        if (at < start + emu_cu_driver.registered[i].bytes && start < at + bytes)
            return &emu_cu_driver.registered[i];
    }
    return NULL;
}

CUresult emu_cu_host_register(void *pointer, size_t bytes, unsigned flags)
{
    size_t room = emu_cu_driver.registered_room ? 2 * emu_cu_driver.registered_room : 16;
    struct emu_cu_registered *moved;

    if (!pointer || bytes == 0 || flags > 15 || (uintptr_t)pointer + bytes < bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return CUDA_ERROR_NOT_PERMITTED;
    if (registered_around(pointer, bytes))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (emu_cu_driver.registered_count == emu_cu_driver.registered_room) {
        moved = realloc(emu_cu_driver.registered, room * sizeof *moved);
        if (!moved)
            return CUDA_ERROR_OUT_OF_MEMORY;
        emu_cu_driver.registered = moved;
        emu_cu_driver.registered_room = room;
    }
    emu_cu_driver.registered[emu_cu_driver.registered_count++] =
        (struct emu_cu_registered){pointer, bytes, flags};
    return CUDA_SUCCESS;
}

CUresult emu_cu_host_unregister(void *pointer)
{
    struct emu_cu_registered *found;

    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    found = registered_around(pointer, 1);
    if (!found || found->host != pointer)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    *found = emu_cu_driver.registered[--emu_cu_driver.registered_count];
    return CUDA_SUCCESS;
}

CUresult emu_cu_host_device_pointer(CUdeviceptr *pointer, void *host, unsigned flags)
{
    const struct emu_cu_block *block;

    if (!pointer || !host || flags)
        return CUDA_ERROR_INVALID_VALUE;
    block = emu_cu_block_around(emu_cu_current()->gpu, (uintptr_t)host);
    if (block && block->kind == EMU_CU_BLOCK_HOST) {
        *pointer = block->address + ((uintptr_t)host - (uintptr_t)block->host);
        return CUDA_SUCCESS;
    }
    if (registered_around(host, 1))
        return emu_cu_report(CUDA_ERROR_NOT_SUPPORTED,
                             "cuMemHostGetDevicePointer: the emulator cannot show registered "
                             "memory to kernels; allocate it with cuMemHostAlloc");
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_host_flags(unsigned *flags, void *host)
{
    const struct emu_cu_block *block = emu_cu_block_around(emu_cu_current()->gpu, (uintptr_t)host);
    const struct emu_cu_registered *registered = registered_around(host, 1);

    if (!flags || !host)
        return CUDA_ERROR_INVALID_VALUE;
    if (block && block->kind == EMU_CU_BLOCK_HOST)
        *flags = block->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    else if (registered)
        *flags = registered->flags;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
