#include "runtime/stream.h"

#include "codegen/status.h"

static const struct lt_driver *driver_of(const struct lt_stream *stream)
{
    return &stream->device->driver;
}

enum lathe_status lt_stream_check(const struct lt_stream *stream, int result, const char *call,
                                  struct lathe_error *err)
{
    return lt_driver_check(driver_of(stream), result, call, err);
}

enum lathe_status lt_stream_open(struct lt_stream *stream, struct lathe_context *context,
                                 struct lathe_error *err)
{
    struct lt_stream made = {.device = NULL};
    enum lathe_status status = lt_context_device(context, &made.device, err);

    if (status == LATHE_OK)
        status = lt_enter(made.device, &made.entered, err);
    if (status != LATHE_OK)
        return status;

    int result = driver_of(&made)->cuStreamCreate(&made.handle, LT_STREAM_NON_BLOCKING);

    if (result != LT_CUDA_SUCCESS) {
        lt_leave(made.device, &made.entered);
        return lt_stream_check(&made, result, "cuStreamCreate", err);
    }
    *stream = made;
    return LATHE_OK;
}

void lt_stream_close(struct lt_stream *stream)
{
    if (!stream->device)
        return;
    driver_of(stream)->cuStreamDestroy(stream->handle);
    lt_leave(stream->device, &stream->entered);
    *stream = (struct lt_stream){.device = NULL};
}

enum lathe_status lt_stream_wait(const struct lt_stream *stream, struct lathe_error *err)
{
    if (!stream->device)
        return LATHE_OK;
    return lt_stream_check(stream, driver_of(stream)->cuStreamSynchronize(stream->handle),
                           "cuStreamSynchronize", err);
}

enum lathe_status lt_stream_launch(const struct lt_stream *stream, lt_cu_function function,
                                   unsigned blocks, unsigned threads, void **params,
                                   struct lathe_error *err)
{
    struct lt_cu_launch_config config = {
        .grid_x = blocks,
        .grid_y = 1,
        .grid_z = 1,
        .block_x = threads,
        .block_y = 1,
        .block_z = 1,
        .stream = stream->handle,
    };

    return lt_stream_check(stream,
                           driver_of(stream)->cuLaunchKernelEx(&config, function, params, NULL),
                           "cuLaunchKernelEx", err);
}

enum lathe_status lt_stream_allocate(const struct lt_stream *stream, uint64_t *address,
                                     int64_t bytes, const char *what, struct lathe_error *err)
{
    const struct lt_driver *driver = driver_of(stream);
    size_t free_bytes = 0, total_bytes = 0;
    uint64_t made = 0;
    int result = driver->cuMemAlloc(&made, (size_t)bytes);

    if (result == LT_CUDA_SUCCESS) {
        *address = made;
        return LATHE_OK;
    }
    if (result != LT_CUDA_ERROR_OUT_OF_MEMORY ||
        driver->cuMemGetInfo(&free_bytes, &total_bytes) != LT_CUDA_SUCCESS)
        return lt_stream_check(stream, result, "cuMemAlloc", err);
    return lt_fail(
        err, LATHE_OUT_OF_MEMORY,
        "%s: needs %lld bytes of device memory, of which %zu are free; take smaller sizes, "
        "or end what else uses the GPU",
        what, (long long)bytes, free_bytes);
}

void lt_stream_free(const struct lt_stream *stream, uint64_t *address)
{
    if (*address)
        driver_of(stream)->cuMemFree(*address);
    *address = 0;
}

enum lathe_status lt_stream_read(const struct lt_stream *stream, void *to, uint64_t from,
                                 int64_t bytes, struct lathe_error *err)
{
    enum lathe_status status = lt_stream_wait(stream, err);

    if (status != LATHE_OK || bytes == 0)
        return status;
    return lt_stream_check(stream, driver_of(stream)->cuMemcpyDtoH(to, from, (size_t)bytes),
                           "cuMemcpyDtoH", err);
}

/* A copy from pageable memory may return before its last bytes arrive, and this stream does not
 * wait for the default one, on which it runs: so wait for the device. */
enum lathe_status lt_stream_write(const struct lt_stream *stream, uint64_t to, const void *from,
                                  int64_t bytes, struct lathe_error *err)
{
    const struct lt_driver *driver = driver_of(stream);
    enum lathe_status status = lt_stream_wait(stream, err);

    if (status != LATHE_OK || bytes == 0)
        return status;
    status =
        lt_stream_check(stream, driver->cuMemcpyHtoD(to, from, (size_t)bytes), "cuMemcpyHtoD", err);
    return status == LATHE_OK
               ? lt_stream_check(stream, driver->cuCtxSynchronize(), "cuCtxSynchronize", err)
               : status;
}

enum lathe_status lt_stream_set(const struct lt_stream *stream, uint64_t address,
                                unsigned short halves, int64_t bytes, struct lathe_error *err)
{
    if (bytes < 2)
        return LATHE_OK;
    return lt_stream_check(stream,
                           driver_of(stream)->cuMemsetD16Async(
                               address, halves, (size_t)bytes / sizeof halves, stream->handle),
                           "cuMemsetD16Async", err);
}
