/* driver_stream.c: streams and events. Everything has been done when a call returns, so there is
 * nothing to wait for: what is left of a stream is its handle, its flags and its capture. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Streams ---- */

struct emu_cu_stream *emu_cu_stream_make(struct emu_cu_context *context)
{
    struct emu_cu_stream *stream = emu_cu_create(EMU_CU_STREAM, sizeof *stream, context);

    if (stream)
        stream->id = ++emu_cu_driver.next_id;
    return stream;
}

void emu_cu_release_stream(struct emu_cu_stream *stream)
{
    if (stream->capture) {
        emu_cu_capture_invalidate(stream->capture);
        emu_cu_capture_leave(stream);
    }
    free(stream->last);
    free(stream->last_handles);
}

/* The default stream of the calling thread, in the current context; it stays as long as that. */
static struct emu_cu_stream *own_stream(void)
{
    struct emu_cu_context *context = emu_cu_current();
    unsigned long long thread = emu_cu_thread()->id;
    struct emu_cu_stream **moved, *stream;

    for (size_t i = 0; i < context->per_thread_count; i++)
        if (context->per_thread[i]->thread == thread)
            return context->per_thread[i];
    moved = realloc(context->per_thread, (context->per_thread_count + 1) * sizeof(void *));
    if (!moved)
        return NULL;
    context->per_thread = moved;
    stream = emu_cu_stream_make(context);
    if (!stream)
        return NULL;
    stream->is_default = true;
    stream->thread = thread;
    context->per_thread[context->per_thread_count++] = stream;
    return stream;
}

CUresult emu_cu_stream_find(struct emu_cu_stream **stream, CUstream handle)
{
    if ((!handle && emu_cu_thread()->default_is_own) || handle == CU_STREAM_PER_THREAD) {
        *stream = own_stream();
        return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!handle || handle == CU_STREAM_LEGACY) {
        *stream = emu_cu_current()->legacy;
        return CUDA_SUCCESS;
    }
    *stream = emu_cu_find(EMU_CU_STREAM, handle);
    return *stream && !(*stream)->is_default && (*stream)->object.context == emu_cu_current()
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_HANDLE;
}

/* The legacy stream waits for all blocking ones: it would wait for what is being captured. */
static CUresult check_legacy(void)
{
    const struct emu_cu_stream *stream;
    CUresult result = CUDA_SUCCESS;
    size_t at = 0;

    while (emu_cu_driver.capturing &&
           (stream = emu_cu_next(EMU_CU_STREAM, emu_cu_current(), &at)) != NULL)
        if (stream->capture && !(stream->flags & CU_STREAM_NON_BLOCKING)) {
            emu_cu_capture_invalidate(stream->capture);
            result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return result;
}

CUresult emu_cu_stream_for_work(struct emu_cu_stream **stream, CUstream handle)
{
    CUresult result = emu_cu_stream_find(stream, handle);

    if (result)
        return result;
    if ((*stream)->is_legacy)
        return check_legacy();
    return (*stream)->capture && (*stream)->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                                             : CUDA_SUCCESS;
}

CUresult emu_cu_stream_create_with(CUstream *handle, unsigned flags, int priority)
{
    struct emu_cu_stream *stream;

    if (!handle || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    stream = emu_cu_stream_make(emu_cu_current());
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream->flags = flags;
    stream->priority = priority > 0                       ? 0
                       : priority < EMU_GREATEST_PRIORITY ? EMU_GREATEST_PRIORITY
                                                          : priority;
    *handle = stream->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_stream_create(CUstream *handle, unsigned flags)
{
    return emu_cu_stream_create_with(handle, flags, 0);
}

CUresult emu_cu_stream_destroy(CUstream handle)
{
    struct emu_cu_stream *stream = emu_cu_find(EMU_CU_STREAM, handle);

    if (!stream || stream->is_default)
        return CUDA_ERROR_INVALID_HANDLE;
    emu_cu_destroy(stream);
    return CUDA_SUCCESS;
}

CUresult emu_cu_stream_synchronize(CUstream handle)
{
    struct emu_cu_stream *stream;
    CUresult result = emu_cu_stream_for_work(&stream, handle);

    if (result || !stream->capture)
        return result;
    emu_cu_capture_invalidate(stream->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult emu_cu_stream_query(CUstream handle)
{
    return emu_cu_stream_synchronize(handle);
}

CUresult emu_cu_stream_priority(CUstream handle, int *priority)
{
    struct emu_cu_stream *stream;
    CUresult result = priority ? emu_cu_stream_find(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *priority = stream->priority;
    return result;
}

CUresult emu_cu_stream_flags(CUstream handle, unsigned *flags)
{
    struct emu_cu_stream *stream;
    CUresult result = flags ? emu_cu_stream_find(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *flags = stream->flags;
    return result;
}

CUresult emu_cu_stream_id(CUstream handle, unsigned long long *id)
{
    struct emu_cu_stream *stream;
    CUresult result = id ? emu_cu_stream_find(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *id = stream->id;
    return result;
}

CUresult emu_cu_stream_context(CUstream handle, CUcontext *context)
{
    struct emu_cu_stream *stream;
    CUresult result = context ? emu_cu_stream_find(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *context = stream->object.context->object.handle;
    return result;
}

CUresult emu_cu_stream_device(CUstream handle, CUdevice *device)
{
    struct emu_cu_stream *stream;
    CUresult result = device ? emu_cu_stream_find(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *device = stream->object.context->gpu->ordinal;
    return result;
}

/* For managed memory, which there is none of. */
CUresult emu_cu_stream_attach(CUstream handle, CUdeviceptr pointer, size_t bytes, unsigned flags)
{
    struct emu_cu_stream *stream;
    CUresult result = emu_cu_stream_find(&stream, handle);

    (void)pointer, (void)bytes, (void)flags;
    return result ? result : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Events ---- */

enum { EVENT_FLAGS = 7 };

void emu_cu_release_event(struct emu_cu_event *event)
{
    free(event->nodes);
}

static struct emu_cu_event *event_find(CUevent handle)
{
    struct emu_cu_event *event = emu_cu_find(EMU_CU_EVENT, handle);

    return event && event->object.context == emu_cu_current() ? event : NULL;
}

CUresult emu_cu_event_create(CUevent *handle, unsigned flags)
{
    struct emu_cu_event *event;

    if (!handle || flags > EVENT_FLAGS ||
        ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    event = emu_cu_create(EMU_CU_EVENT, sizeof *event, emu_cu_current());
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->flags = flags;
    *handle = event->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_event_destroy(CUevent handle)
{
    struct emu_cu_event *event = emu_cu_find(EMU_CU_EVENT, handle);

    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    emu_cu_destroy(event);
    return CUDA_SUCCESS;
}

/* It stands behind what its stream did last. */
static CUresult capture_event(struct emu_cu_event *event, const struct emu_cu_stream *stream)
{
    void **nodes = calloc(stream->last_count + 1, sizeof *nodes);

    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < stream->last_count; i++)
        nodes[i] = stream->last[i]->object.handle;
    free(event->nodes);
    event->nodes = nodes;
    event->node_count = stream->last_count;
    event->capture = stream->capture->id;
    event->state = EMU_CU_EVENT_CAPTURED;
    return CUDA_SUCCESS;
}

CUresult emu_cu_event_record_with(CUevent handle, CUstream stream_handle, unsigned flags)
{
    struct emu_cu_event *event = event_find(handle);
    struct emu_cu_stream *stream;
    struct timespec now;
    CUresult result;

    if (flags > CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    result = emu_cu_stream_for_work(&stream, stream_handle);
    if (result)
        return result;
    if (stream->capture && flags == CU_EVENT_RECORD_EXTERNAL)
        return emu_cu_report(CUDA_ERROR_NOT_SUPPORTED, "the emulator's graphs record no events");
    if (stream->capture)
        return capture_event(event, stream);
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->nanoseconds = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    event->state = EMU_CU_EVENT_RECORDED;
    return CUDA_SUCCESS;
}

CUresult emu_cu_event_record(CUevent event, CUstream stream)
{
    return emu_cu_event_record_with(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult emu_cu_event_synchronize(CUevent handle)
{
    const struct emu_cu_event *event = event_find(handle);

    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    return event->state == EMU_CU_EVENT_CAPTURED ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult emu_cu_event_query(CUevent event)
{
    return emu_cu_event_synchronize(event);
}

CUresult emu_cu_event_elapsed(float *milliseconds, CUevent start, CUevent end)
{
    const struct emu_cu_event *events[2] = {event_find(start), event_find(end)};

    /* A handle, and not a value, as a driver 580 on an H200 says. */
    if (!milliseconds)
        return CUDA_ERROR_INVALID_HANDLE;
    for (int i = 0; i < 2; i++) {
        if (!events[i] || events[i]->state == EMU_CU_EVENT_NEVER ||
            (events[i]->flags & CU_EVENT_DISABLE_TIMING))
            return CUDA_ERROR_INVALID_HANDLE;
        if (events[i]->state == EMU_CU_EVENT_CAPTURED)
            return CUDA_ERROR_CAPTURED_EVENT;
    }
    *milliseconds = (float)((double)(events[1]->nanoseconds - events[0]->nanoseconds) * 1e-6);
    return CUDA_SUCCESS;
}
