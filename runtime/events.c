#include "runtime/events.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#include <string.h>

static const struct lt_driver *driver_of(const struct lt_events *events)
{
    return &events->stream->device->driver;
}

enum lathe_status lt_events_create(struct lt_events *events, const struct lt_stream *stream,
                                   int count, const struct lathe_allocator *allocator,
                                   struct lathe_error *err)
{
    struct lt_events made = {.stream = stream, .allocator = allocator};
    size_t bytes = (size_t)count * sizeof(lt_cu_event);

    made.handles = lt_allocate(allocator, bytes);
    if (!made.handles)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d events", count);
    memset(made.handles, 0, bytes);
    for (; made.count < count; made.count++) {
        int result = driver_of(&made)->cuEventCreate(&made.handles[made.count], 0);

        if (result != LT_CUDA_SUCCESS) {
            lt_events_destroy(&made);
            return lt_stream_check(stream, result, "cuEventCreate", err);
        }
    }
    *events = made;
    return LATHE_OK;
}

void lt_events_destroy(struct lt_events *events)
{
    for (int i = 0; i < events->count; i++)
        driver_of(events)->cuEventDestroy(events->handles[i]);
    lt_release(events->allocator, events->handles);
    *events = (struct lt_events){.stream = NULL};
}

enum lathe_status lt_events_record(const struct lt_events *events, int index,
                                   struct lathe_error *err)
{
    return lt_stream_check(
        events->stream,
        driver_of(events)->cuEventRecord(events->handles[index], events->stream->handle),
        "cuEventRecord", err);
}

enum lathe_status lt_events_between(const struct lt_events *events, int from, int to,
                                    double *microseconds, struct lathe_error *err)
{
    float milliseconds = 0;
    enum lathe_status status =
        lt_stream_check(events->stream,
                        driver_of(events)->cuEventElapsedTime(&milliseconds, events->handles[from],
                                                              events->handles[to]),
                        "cuEventElapsedTime", err);

    if (status == LATHE_OK)
        *microseconds = (double)milliseconds * 1e3;
    return status;
}
