/* stub_memory.c: device memory of the stub driver, which is the host's.
 *
 * Addresses are the host's own, so that a test can look at them; an access that does not lie within
 * one allocation is refused. Unlike a device's it is zero at first, so that what is made of it is
 * the same each time. */
#include "tests/support/stub_play.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

static size_t bytes_taken(int device)
{
    size_t taken = 0;

    for (size_t i = 0; i < stub.object_count; i++) {
        const struct stub_object *object = stub.objects[i];

        if (object->live && object->kind == STUB_ALLOCATION &&
            object->as.allocation.device == device)
            taken += object->as.allocation.size;
    }
    return taken;
}

static size_t bytes_left(int device)
{
    size_t taken = bytes_taken(device), all = stub.devices[device].memory_bytes;

    return taken < all ? all - taken : 0;
}

CUresult stub_memory_allocate(CUdeviceptr *pointer, size_t bytes)
{
    struct stub_object *context = stub_current(), *allocation;
    int device = context->as.context.device;
    unsigned char *memory = NULL;

    if (pointer == NULL || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes <= bytes_left(device) && bytes <= SIZE_MAX - ALIGNMENT)
        memory = calloc(1, bytes + ALIGNMENT - 1); /* takes no pages for what is never touched */
    if (memory == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    allocation = stub_create(STUB_ALLOCATION, context);
    if (allocation == NULL) {
        free(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    allocation->as.allocation.memory = memory;
    allocation->as.allocation.bytes =
        memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
    allocation->as.allocation.size = bytes;
    allocation->as.allocation.device = device;
    *pointer = (uintptr_t)allocation->as.allocation.bytes;
    return CUDA_SUCCESS;
}

/* The allocation that the address lies in, and how far. */
static struct stub_object *allocation_at(CUdeviceptr address, size_t *offset)
{
    for (size_t i = 0; i < stub.object_count; i++) {
        struct stub_object *object = stub.objects[i];
        uint64_t start;

        if (!object->live || object->kind != STUB_ALLOCATION)
            continue;
        start = (uintptr_t)object->as.allocation.bytes;
        if (address < start || address - start >= object->as.allocation.size)
            continue;
        *offset = (size_t)(address - start);
        return object;
    }
    return NULL;
}

static void *memory_at(CUdeviceptr address, size_t bytes)
{
    size_t offset = 0;
    const struct stub_object *allocation = allocation_at(address, &offset);

    if (allocation == NULL || bytes > allocation->as.allocation.size - offset)
        return NULL;
    return allocation->as.allocation.bytes + offset;
}

CUresult stub_memory_free(CUdeviceptr pointer)
{
    size_t offset = 0;
    struct stub_object *allocation = allocation_at(pointer, &offset);

    if (allocation == NULL || offset != 0)
        return CUDA_ERROR_INVALID_VALUE;
    stub_destroy(allocation);
    return CUDA_SUCCESS;
}

CUresult stub_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    int device = stub_current()->as.context.device;

    if (free_bytes == NULL || total_bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *free_bytes = bytes_left(device);
    *total_bytes = stub.devices[device].memory_bytes;
    return CUDA_SUCCESS;
}

CUresult stub_memory_write(CUdeviceptr to, const void *from, size_t bytes)
{
    void *memory = memory_at(to, bytes);
    struct stub_object *stream;
    CUresult result = stub_stream_check(&stream, NULL);

    if (result != CUDA_SUCCESS || bytes == 0)
        return result;
    if (memory == NULL || from == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(memory, from, bytes);
    return CUDA_SUCCESS;
}

CUresult stub_memory_read(void *to, CUdeviceptr from, size_t bytes)
{
    const void *memory = memory_at(from, bytes);
    struct stub_object *stream;
    CUresult result = stub_stream_check(&stream, NULL);

    if (result != CUDA_SUCCESS || bytes == 0)
        return result;
    if (memory == NULL || to == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, memory, bytes);
    return CUDA_SUCCESS;
}

static CUresult check_work(const struct stub_work *work)
{
    size_t bytes = work->count;

    if (work->kind == STUB_FILL) {
        if (work->to % work->value_bytes != 0 || work->count > SIZE_MAX / work->value_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        bytes *= work->value_bytes;
    }
    if (bytes == 0)
        return CUDA_SUCCESS;
    if (memory_at(work->to, bytes) == NULL ||
        (work->kind == STUB_COPY && memory_at(work->from, bytes) == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static void fill(unsigned char *memory, const struct stub_work *work)
{
    for (size_t i = 0; i < work->count; i++)
        for (unsigned byte = 0; byte < work->value_bytes; byte++)
            memory[i * work->value_bytes + byte] = (unsigned char)(work->value >> 8 * byte);
}

CUresult stub_memory_work(const struct stub_work *work)
{
    void *memory = (void *)(uintptr_t)work->to;

    if (check_work(work) != CUDA_SUCCESS)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (work->count == 0)
        return CUDA_SUCCESS;
    if (work->kind == STUB_COPY)
        memmove(memory, (const void *)(uintptr_t)work->from, work->count);
    else if (work->value_bytes == 1)
        memset(memory, (int)work->value, work->count);
    else
        fill(memory, work);
    return CUDA_SUCCESS;
}

/* What is wrong with the arguments is said at the call, not when a graph is launched. */
static CUresult check_and_submit(const struct stub_work *work, CUstream stream)
{
    struct stub_object *object;
    CUresult result = stub_stream_check(&object, stream);

    if (result == CUDA_SUCCESS)
        result = check_work(work);
    return result == CUDA_SUCCESS ? stub_stream_submit(object, work) : result;
}

CUresult stub_memory_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return check_and_submit(
        &(struct stub_work){.kind = STUB_COPY, .to = to, .from = from, .count = bytes}, stream);
}

CUresult stub_memory_fill(CUdeviceptr pointer, unsigned value, unsigned value_bytes, size_t count,
                          CUstream stream)
{
    return check_and_submit(&(struct stub_work){.kind = STUB_FILL,
                                                .to = pointer,
                                                .count = count,
                                                .value = value,
                                                .value_bytes = value_bytes},
                            stream);
}
