/* driver_copy.c: copies and fills, all of them boxes: rows of slices. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <string.h>

/* ---- Where the bytes are ---- */

/* Bytes from the first to the last that a box touches, its offset within them left out; false where
 * that is more than a number can say. */
static bool span_of(size_t *span, const struct emu_cu_side *side, size_t width, size_t height,
                    size_t depth)
{
    size_t slice, slices, rows;

    return !__builtin_mul_overflow(side->pitch, side->height, &slice) &&
           !__builtin_mul_overflow(slice, depth - 1, &slices) &&
           !__builtin_mul_overflow(side->pitch, height - 1, &rows) &&
           !__builtin_add_overflow(slices, rows, span) &&
           !__builtin_add_overflow(*span, width, span);
}

static bool offset_of(size_t *offset, const struct emu_cu_side *side)
{
    size_t slice, slices, rows;

    return !__builtin_mul_overflow(side->pitch, side->height, &slice) &&
           !__builtin_mul_overflow(slice, side->z, &slices) &&
           !__builtin_mul_overflow(side->pitch, side->y, &rows) &&
           !__builtin_add_overflow(slices, rows, offset) &&
           !__builtin_add_overflow(*offset, side->x_bytes, offset);
}

static bool is_on_device(struct emu_device *machine, const struct emu_cu_side *side)
{
    uint64_t base, bytes;

    return side->type == CU_MEMORYTYPE_DEVICE || (side->type == CU_MEMORYTYPE_UNIFIED &&
                                                  emu_range(machine, side->address, &base, &bytes));
}

/* The first byte of the box for the host; null where not all of it is there. Memory of the
 * program's own cannot be looked into: it is as large as it says. */
static char *first_byte(const struct emu_cu_context *context, const struct emu_cu_side *side,
                        size_t width, size_t height, size_t depth)
{
    struct emu_device *machine = side->gpu ? side->gpu->machine : context->gpu->machine;
    size_t offset, span;

    if (!machine || !offset_of(&offset, side) || !span_of(&span, side, width, height, depth))
        return NULL;
    if (is_on_device(machine, side))
        return side->address + offset < offset ? NULL
                                               : emu_bytes(machine, side->address + offset, span);
    return side->address ? (char *)(uintptr_t)side->address + offset : NULL;
}

/* ---- Copies ---- */

/* A row of the target, on a device, is written. */
static void tell(const struct emu_cu_context *context, const struct emu_cu_side *side, size_t row,
                 size_t width)
{
    struct emu_device *machine = side->gpu ? side->gpu->machine : context->gpu->machine;
    size_t offset;

    if (machine && is_on_device(machine, side) && offset_of(&offset, side))
        emu_written(machine, side->address + offset + row * side->pitch, width);
}

static bool is_empty(const struct emu_cu_copy_work *work)
{
    return work->width_bytes == 0 || work->height == 0 || work->depth == 0;
}

CUresult emu_cu_copy_check(struct emu_cu_context *context, const struct emu_cu_copy_work *work)
{
    if (is_empty(work))
        return CUDA_SUCCESS;
    return first_byte(context, &work->to, work->width_bytes, work->height, work->depth) &&
                   first_byte(context, &work->from, work->width_bytes, work->height, work->depth)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

void emu_cu_copy_do(struct emu_cu_context *context, const struct emu_cu_copy_work *work)
{
    char *to, *from;

    if (is_empty(work))
        return;
    to = first_byte(context, &work->to, work->width_bytes, work->height, work->depth);
    from = first_byte(context, &work->from, work->width_bytes, work->height, work->depth);
    for (size_t z = 0; z < work->depth; z++)
        for (size_t y = 0; y < work->height; y++) {
            memmove(to + (z * work->to.height + y) * work->to.pitch,
                    from + (z * work->from.height + y) * work->from.pitch, work->width_bytes);
            tell(context, &work->to, z * work->to.height + y, work->width_bytes);
        }
}

static CUresult submit_copy(const struct emu_cu_side *to, const struct emu_cu_side *from,
                            size_t bytes, CUstream stream)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_COPY,
                               .context = emu_cu_current()->object.handle,
                               .as.copy = {*to, *from, bytes, 1, 1}};

    return emu_cu_submit(stream, &work);
}

static struct emu_cu_side on_host(const void *pointer)
{
    return (struct emu_cu_side){.type = CU_MEMORYTYPE_HOST, .address = (uintptr_t)pointer};
}

static struct emu_cu_side on_device(CUdeviceptr pointer)
{
    return (struct emu_cu_side){.type = CU_MEMORYTYPE_DEVICE, .address = pointer};
}

static struct emu_cu_side anywhere(CUdeviceptr pointer)
{
    return (struct emu_cu_side){.type = CU_MEMORYTYPE_UNIFIED, .address = pointer};
}

CUresult emu_cu_copy_to_device_async(CUdeviceptr to, const void *from, size_t bytes,
                                     CUstream stream)
{
    const struct emu_cu_side sides[2] = {on_device(to), on_host(from)};

    return submit_copy(&sides[0], &sides[1], bytes, stream);
}

CUresult emu_cu_copy_to_device(CUdeviceptr to, const void *from, size_t bytes)
{
    return emu_cu_copy_to_device_async(to, from, bytes, NULL);
}

CUresult emu_cu_copy_to_host_async(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const struct emu_cu_side sides[2] = {on_host(to), on_device(from)};

    return submit_copy(&sides[0], &sides[1], bytes, stream);
}

CUresult emu_cu_copy_to_host(void *to, CUdeviceptr from, size_t bytes)
{
    return emu_cu_copy_to_host_async(to, from, bytes, NULL);
}

CUresult emu_cu_copy_on_device_async(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                     CUstream stream)
{
    const struct emu_cu_side sides[2] = {on_device(to), on_device(from)};

    return submit_copy(&sides[0], &sides[1], bytes, stream);
}

CUresult emu_cu_copy_on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return emu_cu_copy_on_device_async(to, from, bytes, NULL);
}

CUresult emu_cu_copy_any_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const struct emu_cu_side sides[2] = {anywhere(to), anywhere(from)};

    return submit_copy(&sides[0], &sides[1], bytes, stream);
}

CUresult emu_cu_copy_any(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return emu_cu_copy_any_async(to, from, bytes, NULL);
}

CUresult emu_cu_copy_peer_async(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context, size_t bytes, CUstream stream)
{
    const struct emu_cu_context *contexts[2] = {emu_cu_context_of(to_context),
                                                emu_cu_context_of(from_context)};
    struct emu_cu_side sides[2] = {on_device(to), on_device(from)};

    for (int i = 0; i < 2; i++) {
        if (!contexts[i] || !contexts[i]->active)
            return CUDA_ERROR_INVALID_CONTEXT;
        sides[i].gpu = contexts[i]->gpu;
    }
    return submit_copy(&sides[0], &sides[1], bytes, stream);
}

CUresult emu_cu_copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                          CUcontext from_context, size_t bytes)
{
    return emu_cu_copy_peer_async(to, to_context, from, from_context, bytes, NULL);
}

/* ---- Boxes ---- */

/* A pitch of 0 is that of packed rows. */
static CUresult settle_side(struct emu_cu_side *side, size_t width, size_t height, size_t depth)
{
    size_t row, rows;

    if (__builtin_add_overflow(side->x_bytes, width, &row) ||
        __builtin_add_overflow(side->y, height, &rows))
        return CUDA_ERROR_INVALID_VALUE;
    if (side->type != CU_MEMORYTYPE_HOST && side->type != CU_MEMORYTYPE_DEVICE &&
        side->type != CU_MEMORYTYPE_UNIFIED)
        return side->type == CU_MEMORYTYPE_ARRAY
                   ? emu_cu_report(CUDA_ERROR_NOT_SUPPORTED, "the emulator has no CUDA arrays")
                   : CUDA_ERROR_INVALID_VALUE;
    if (side->pitch == 0)
        side->pitch = row;
    if (side->height == 0)
        side->height = rows;
    if (side->pitch < row || (depth > 1 && side->height < rows))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult emu_cu_copy_work(struct emu_cu_work *work, const CUDA_MEMCPY3D *copy)
{
    struct emu_cu_copy_work *box = &work->as.copy;
    CUresult result;

    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    if (copy->srcLOD || copy->dstLOD || copy->reserved0 || copy->reserved1)
        return CUDA_ERROR_INVALID_VALUE;
    *work =
        (struct emu_cu_work){.kind = EMU_CU_WORK_COPY, .context = emu_cu_current()->object.handle};
    box->width_bytes = copy->WidthInBytes;
    box->height = copy->Height;
    box->depth = copy->Depth;
    box->to = (struct emu_cu_side){.type = copy->dstMemoryType,
                                   .address = copy->dstMemoryType == CU_MEMORYTYPE_HOST
                                                  ? (uintptr_t)copy->dstHost
                                                  : copy->dstDevice,
                                   .x_bytes = copy->dstXInBytes,
                                   .y = copy->dstY,
                                   .z = copy->dstZ,
                                   .pitch = copy->dstPitch,
                                   .height = copy->dstHeight};
    box->from = (struct emu_cu_side){.type = copy->srcMemoryType,
                                     .address = copy->srcMemoryType == CU_MEMORYTYPE_HOST
                                                    ? (uintptr_t)copy->srcHost
                                                    : copy->srcDevice,
                                     .x_bytes = copy->srcXInBytes,
                                     .y = copy->srcY,
                                     .z = copy->srcZ,
                                     .pitch = copy->srcPitch,
                                     .height = copy->srcHeight};
    result = settle_side(&box->to, box->width_bytes, box->height, box->depth);
    return result ? result : settle_side(&box->from, box->width_bytes, box->height, box->depth);
}

CUresult emu_cu_copy_3d_async(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    struct emu_cu_work work;
    CUresult result = emu_cu_copy_work(&work, copy);

    return result ? result : emu_cu_submit(stream, &work);
}

CUresult emu_cu_copy_3d(const CUDA_MEMCPY3D *copy)
{
    return emu_cu_copy_3d_async(copy, NULL);
}

CUresult emu_cu_copy_2d_async(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    CUDA_MEMCPY3D box = {.Depth = 1};

    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    box.srcXInBytes = copy->srcXInBytes;
    box.srcY = copy->srcY;
    box.srcMemoryType = copy->srcMemoryType;
    box.srcHost = copy->srcHost;
    box.srcDevice = copy->srcDevice;
    box.srcPitch = copy->srcPitch;
    box.dstXInBytes = copy->dstXInBytes;
    box.dstY = copy->dstY;
    box.dstMemoryType = copy->dstMemoryType;
    box.dstHost = copy->dstHost;
    box.dstDevice = copy->dstDevice;
    box.dstPitch = copy->dstPitch;
    box.WidthInBytes = copy->WidthInBytes;
    box.Height = copy->Height;
    return emu_cu_copy_3d_async(&box, stream);
}

CUresult emu_cu_copy_2d(const CUDA_MEMCPY2D *copy)
{
    return emu_cu_copy_2d_async(copy, NULL);
}

/* ---- Fills ---- */

static char *fill_bytes(const struct emu_cu_context *context, const struct emu_cu_fill_work *work)
{
    size_t row, span;

    if (__builtin_mul_overflow(work->width, work->element_bytes, &row) ||
        __builtin_mul_overflow(work->pitch, work->height - 1, &span) ||
        __builtin_add_overflow(span, row, &span))
        return NULL;
    return emu_bytes(context->gpu->machine, work->to, span);
}

CUresult emu_cu_fill_check(struct emu_cu_context *context, const struct emu_cu_fill_work *work)
{
    if (work->element_bytes != 1 && work->element_bytes != 2 && work->element_bytes != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (work->width == 0 || work->height == 0)
        return CUDA_SUCCESS;
    if (work->to % work->element_bytes != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (work->height > 1 &&
        (work->pitch % work->element_bytes != 0 || work->pitch / work->element_bytes < work->width))
        return CUDA_ERROR_INVALID_VALUE;
    return fill_bytes(context, work) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The first row by doubling what is there, the others after it. */
void emu_cu_fill_do(struct emu_cu_context *context, const struct emu_cu_fill_work *work)
{
    size_t row = work->width * work->element_bytes, done = work->element_bytes;
    char *bytes;

    if (work->width == 0 || work->height == 0)
        return;
    bytes = fill_bytes(context, work);
    memcpy(bytes, &work->value, done); /* the low bytes come first here */
    for (; done < row; done *= 2)
        memcpy(bytes + done, bytes, done < row - done ? done : row - done);
    for (size_t y = 1; y < work->height; y++)
        memcpy(bytes + y * work->pitch, bytes, row);
    for (size_t y = 0; y < work->height; y++)
        emu_written(context->gpu->machine, work->to + y * work->pitch, row);
}

static CUresult submit_fill(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element_bytes,
                            size_t width, size_t height, CUstream stream)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_FILL,
                               .context = emu_cu_current()->object.handle,
                               .as.fill = {.to = to,
                                           .pitch = pitch,
                                           .width = width,
                                           .height = height,
                                           .value = value,
                                           .element_bytes = element_bytes}};

    return emu_cu_submit(stream, &work);
}

CUresult emu_cu_fill_8_async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return submit_fill(to, 0, value, 1, count, 1, stream);
}

CUresult emu_cu_fill_16_async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return submit_fill(to, 0, value, 2, count, 1, stream);
}

CUresult emu_cu_fill_32_async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return submit_fill(to, 0, value, 4, count, 1, stream);
}

CUresult emu_cu_fill_2d_8_async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                size_t height, CUstream stream)
{
    return submit_fill(to, pitch, value, 1, width, height, stream);
}

CUresult emu_cu_fill_2d_16_async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                 size_t height, CUstream stream)
{
    return submit_fill(to, pitch, value, 2, width, height, stream);
}

CUresult emu_cu_fill_2d_32_async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                 size_t height, CUstream stream)
{
    return submit_fill(to, pitch, value, 4, width, height, stream);
}

CUresult emu_cu_fill_8(CUdeviceptr to, unsigned char value, size_t count)
{
    return emu_cu_fill_8_async(to, value, count, NULL);
}

CUresult emu_cu_fill_16(CUdeviceptr to, unsigned short value, size_t count)
{
    return emu_cu_fill_16_async(to, value, count, NULL);
}

CUresult emu_cu_fill_32(CUdeviceptr to, unsigned value, size_t count)
{
    return emu_cu_fill_32_async(to, value, count, NULL);
}

CUresult emu_cu_fill_2d_8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                          size_t height)
{
    return emu_cu_fill_2d_8_async(to, pitch, value, width, height, NULL);
}

CUresult emu_cu_fill_2d_16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                           size_t height)
{
    return emu_cu_fill_2d_16_async(to, pitch, value, width, height, NULL);
}

CUresult emu_cu_fill_2d_32(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                           size_t height)
{
    return emu_cu_fill_2d_32_async(to, pitch, value, width, height, NULL);
}
