#include "runtime/marks.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#include <string.h>

static const struct lt_driver *driver_of(const struct lt_marks *marks)
{
    return &marks->stream->device->driver;
}

enum lathe_status lt_marks_create(struct lt_marks *marks, const struct lt_stream *stream, int count,
                                  const struct lathe_allocator *allocator, struct lathe_error *err)
{
    struct lt_marks made = {.stream = stream, .allocator = allocator};
    size_t bytes = (size_t)count * sizeof(lt_cu_event);

    made.events = lt_allocate(allocator, bytes);
    if (!made.events)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d events", count);
    memset(made.events, 0, bytes);
    for (; made.count < count; made.count++) {
        int result = driver_of(&made)->cuEventCreate(&made.events[made.count], 0);

        if (result != LT_CUDA_SUCCESS) {
            lt_marks_destroy(&made);
            return lt_stream_check(stream, result, "cuEventCreate", err);
        }
    }
    *marks = made;
    return LATHE_OK;
}

void lt_marks_destroy(struct lt_marks *marks)
{
    for (int i = 0; i < marks->count; i++)
        driver_of(marks)->cuEventDestroy(marks->events[i]);
    lt_release(marks->allocator, marks->events);
    *marks = (struct lt_marks){.stream = NULL};
}

enum lathe_status lt_marks_record(const struct lt_marks *marks, int index, struct lathe_error *err)
{
    return lt_stream_check(
        marks->stream, driver_of(marks)->cuEventRecord(marks->events[index], marks->stream->handle),
        "cuEventRecord", err);
}

enum lathe_status lt_marks_between(const struct lt_marks *marks, int from, int to,
                                   double *microseconds, struct lathe_error *err)
{
    float milliseconds = 0;
    enum lathe_status status = lt_stream_check(
        marks->stream,
        driver_of(marks)->cuEventElapsedTime(&milliseconds, marks->events[from], marks->events[to]),
        "cuEventElapsedTime", err);

    if (status == LATHE_OK)
        *microseconds = (double)milliseconds * 1e3;
    return status;
}
