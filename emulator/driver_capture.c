/* driver_capture.c: what becomes of work: done at once, or a node of the graph that its stream is
 * captured into. The rules are those of "CUDA Graphs", "Creating a Graph Using Stream Capture", in
 * the CUDA C Programming Guide. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- Membership ---- */

void emu_cu_capture_invalidate(struct emu_cu_capture *capture)
{
    capture->invalid = true;
}

static void join(struct emu_cu_stream *stream, struct emu_cu_capture *capture)
{
    stream->capture = capture;
    capture->streams++;
    emu_cu_driver.capturing++;
}

void emu_cu_capture_leave(struct emu_cu_stream *stream)
{
    struct emu_cu_capture *capture = stream->capture;

    stream->capture = NULL;
    stream->last_count = 0;
    emu_cu_driver.capturing--;
    if (capture->origin == stream)
        capture->origin = NULL;
    if (--capture->streams > 0)
        return;
    if (capture->graph)
        emu_cu_destroy(capture->graph);
    free(capture);
}

static struct emu_cu_capture *capture_by_id(unsigned long long id)
{
    const struct emu_cu_stream *stream;
    size_t at = 0;

    while (emu_cu_driver.capturing && (stream = emu_cu_next(EMU_CU_STREAM, NULL, &at)) != NULL)
        if (stream->capture && stream->capture->id == id)
            return stream->capture;
    return NULL;
}

CUresult emu_cu_capture_forbids(void)
{
    const struct emu_cu_thread *thread = emu_cu_thread();
    const struct emu_cu_stream *stream;
    CUresult result = CUDA_SUCCESS;
    size_t at = 0;

    if (thread->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    while (emu_cu_driver.capturing && (stream = emu_cu_next(EMU_CU_STREAM, NULL, &at)) != NULL) {
        struct emu_cu_capture *capture = stream->capture;

        if (!capture)
            continue;
        if ((capture->thread == thread->id && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED) ||
            (thread->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
             capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) {
            emu_cu_capture_invalidate(capture);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

CUresult emu_cu_capture_exchange_mode(CUstreamCaptureMode *mode)
{
    struct emu_cu_thread *thread = emu_cu_thread();
    CUstreamCaptureMode old = thread->capture_mode;

    if (!mode) /* which mode it is nobody looks at (measured) */
        return CUDA_ERROR_INVALID_VALUE;
    thread->capture_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}

/* ---- Work ---- */

CUresult emu_cu_work_check(const struct emu_cu_work *work)
{
    struct emu_cu_context *context = emu_cu_context_of(work->context);

    if (!context || !context->active)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (work->kind == EMU_CU_WORK_COPY)
        return emu_cu_copy_check(context, &work->as.copy);
    if (work->kind == EMU_CU_WORK_FILL)
        return emu_cu_fill_check(context, &work->as.fill);
    return CUDA_SUCCESS;
}

/* The driver is another's while the program's function runs; nothing of it is held across. */
static void call_host(const struct emu_cu_host_work *work)
{
    const struct emu_cu_host_work host = *work;

    emu_cu_enter_callback();
    if (host.callback)
        host.callback(host.stream, CUDA_SUCCESS, host.user);
    else
        host.function(host.user);
    emu_cu_leave_callback();
}

CUresult emu_cu_work_do(const struct emu_cu_work *work)
{
    struct emu_cu_context *context = emu_cu_context_of(work->context);

    if (!context || !context->active)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context->failed)
        return context->failed;
    switch (work->kind) {
    case EMU_CU_WORK_KERNEL:
        return emu_cu_kernel_do(context, &work->as.kernel);
    case EMU_CU_WORK_COPY:
        emu_cu_copy_do(context, &work->as.copy);
        break;
    case EMU_CU_WORK_FILL:
        emu_cu_fill_do(context, &work->as.fill);
        break;
    case EMU_CU_WORK_HOST:
        call_host(&work->as.host);
        break;
    case EMU_CU_WORK_EMPTY:
    case EMU_CU_WORK_CHILD: /* taken apart before (driver_graph.c) */
        break;
    }
    return CUDA_SUCCESS;
}

void emu_cu_work_release(struct emu_cu_work *work)
{
    if (work->kind == EMU_CU_WORK_KERNEL)
        free(work->as.kernel.params);
    if (work->kind == EMU_CU_WORK_CHILD)
        emu_cu_destroy(work->as.child);
    work->kind = EMU_CU_WORK_EMPTY;
}

CUresult emu_cu_work_copy(struct emu_cu_work *to, const struct emu_cu_work *from)
{
    *to = *from;
    if (from->kind == EMU_CU_WORK_CHILD) {
        CUresult result = emu_cu_graph_copy(&to->as.child, from->as.child);

        if (result)
            to->kind = EMU_CU_WORK_EMPTY;
        else
            to->as.child->is_owned = true;
        return result;
    }
    if (from->kind != EMU_CU_WORK_KERNEL)
        return CUDA_SUCCESS;
    to->as.kernel.params = malloc(from->as.kernel.param_bytes ? from->as.kernel.param_bytes : 1);
    if (!to->as.kernel.params) {
        to->kind = EMU_CU_WORK_EMPTY;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(to->as.kernel.params, from->as.kernel.params, from->as.kernel.param_bytes);
    return CUDA_SUCCESS;
}

static bool reserve_last(struct emu_cu_stream *stream, size_t count)
{
    struct emu_cu_node **moved = realloc(stream->last, (count + 1) * sizeof(void *));

    if (moved)
        stream->last = moved;
    return moved != NULL;
}

/* Behind what the stream did last, and now that itself. */
static CUresult put_down(struct emu_cu_stream *stream, struct emu_cu_work *work)
{
    struct emu_cu_node *node;
    CUresult result;

    if (!reserve_last(stream, 1 > stream->last_count ? 1 : stream->last_count)) {
        emu_cu_work_release(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    result =
        emu_cu_graph_add(&node, stream->capture->graph, stream->last, stream->last_count, work);
    if (result) {
        emu_cu_capture_invalidate(stream->capture);
        return result;
    }
    stream->last[0] = node;
    stream->last_count = 1;
    return CUDA_SUCCESS;
}

CUresult emu_cu_submit(CUstream handle, struct emu_cu_work *work)
{
    struct emu_cu_stream *stream;
    CUresult result = emu_cu_stream_for_work(&stream, handle);

    if (!result)
        result = emu_cu_work_check(work);
    if (!result && stream->capture)
        return put_down(stream, work);
    if (!result)
        result = emu_cu_work_do(work);
    emu_cu_work_release(work);
    return result;
}

/* ---- Waiting for events: how streams join ---- */

/* Adds what the event stands behind to what the stream's next work depends on. */
static CUresult depend_on(struct emu_cu_stream *stream, const struct emu_cu_event *event)
{
    if (!reserve_last(stream, stream->last_count + event->node_count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < event->node_count; i++) {
        struct emu_cu_node *node = emu_cu_find(EMU_CU_NODE, event->nodes[i]);
        bool is_there = false;

        for (size_t j = 0; j < stream->last_count; j++)
            is_there |= stream->last[j] == node;
        if (node && !is_there)
            stream->last[stream->last_count++] = node;
    }
    return CUDA_SUCCESS;
}

static CUresult wait_captured(struct emu_cu_stream *stream, const struct emu_cu_event *event)
{
    struct emu_cu_capture *capture = capture_by_id(event->capture);

    if (!capture) {
        if (stream->capture)
            emu_cu_capture_invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture && stream->capture != capture) {
        emu_cu_capture_invalidate(stream->capture);
        emu_cu_capture_invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (stream->is_legacy) {
        emu_cu_capture_invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!stream->capture)
        join(stream, capture);
    return depend_on(stream, event);
}

CUresult emu_cu_stream_wait(CUstream handle, CUevent event_handle, unsigned flags)
{
    const struct emu_cu_event *event = emu_cu_find(EMU_CU_EVENT, event_handle);
    struct emu_cu_stream *stream;
    CUresult result;

    if (flags > CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    result = emu_cu_stream_for_work(&stream, handle);
    if (result)
        return result;
    if (event->state == EMU_CU_EVENT_CAPTURED)
        return wait_captured(stream, event);
    if (!stream->capture)
        return CUDA_SUCCESS;
    emu_cu_capture_invalidate(stream->capture);
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

/* ---- Begin and end ---- */

CUresult emu_cu_capture_begin(CUstream handle, CUstreamCaptureMode mode)
{
    struct emu_cu_capture *capture;
    struct emu_cu_stream *stream;
    CUresult result = emu_cu_stream_find(&stream, handle);

    if (result)
        return result;
    if (stream->is_legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (mode < 0 || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    capture = calloc(1, sizeof *capture);
    if (!capture)
        return CUDA_ERROR_OUT_OF_MEMORY;
    capture->graph = emu_cu_graph_make();
    if (!capture->graph) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->graph->is_owned = true;
    capture->id = ++emu_cu_driver.next_id;
    capture->thread = emu_cu_thread()->id;
    capture->mode = mode;
    capture->origin = stream;
    join(stream, capture);
    return CUDA_SUCCESS;
}

/* Whether all that other streams did comes before what the origin did last. */
static bool all_joined(const struct emu_cu_capture *capture)
{
    const struct emu_cu_stream *origin = capture->origin, *stream;
    size_t at = 0;

    while ((stream = emu_cu_next(EMU_CU_STREAM, NULL, &at)) != NULL)
        for (size_t i = 0; stream->capture == capture && i < stream->last_count; i++)
            if (!emu_cu_graph_reaches(origin->last, origin->last_count, stream->last[i]))
                return false;
    return true;
}

static void end_all(struct emu_cu_capture *capture)
{
    size_t left = capture->streams, at = 0;
    struct emu_cu_stream *stream;

    while (left > 0 && (stream = emu_cu_next(EMU_CU_STREAM, NULL, &at)) != NULL)
        if (stream->capture == capture) {
            left--;
            emu_cu_capture_leave(stream); /* the last one frees it */
        }
}

/* The thread that may not end it ends it none the less, with nothing to show: the thread that began
 * it finds no capture any more, as with a driver 580 on an H200. */
static CUresult end_from_elsewhere(struct emu_cu_capture *capture, CUgraph *graph)
{
    *graph = NULL;
    end_all(capture);
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

CUresult emu_cu_capture_end(CUstream handle, CUgraph *graph)
{
    struct emu_cu_capture *capture;
    struct emu_cu_stream *stream;
    CUresult result = emu_cu_stream_find(&stream, handle);

    if (result)
        return result;
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    capture = stream->capture;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != emu_cu_thread()->id)
        return end_from_elsewhere(capture, graph);
    if (capture->origin && capture->origin != stream) {
        emu_cu_capture_invalidate(capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    *graph = NULL;
    if (capture->invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (!result) {
        capture->graph->is_owned = false;
        *graph = capture->graph->object.handle;
        capture->graph = NULL;
    }
    end_all(capture);
    return result;
}

/* ---- Questions ---- */

static CUstreamCaptureStatus status_of(const struct emu_cu_stream *stream)
{
    if (!stream->capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* An invalid capture can be asked about; the legacy stream beside a blocking one cannot. */
static CUresult find_to_ask(struct emu_cu_stream **stream, CUstream handle)
{
    CUresult result = emu_cu_stream_for_work(stream, handle);

    return result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ? CUDA_SUCCESS : result;
}

CUresult emu_cu_capture_status(CUstream handle, CUstreamCaptureStatus *status)
{
    struct emu_cu_stream *stream;
    CUresult result = status ? find_to_ask(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *status = status_of(stream);
    return result;
}

static bool hand_out_last(struct emu_cu_stream *stream)
{
    CUgraphNode *handles =
        realloc(stream->last_handles, (stream->last_count + 1) * sizeof *handles);

    if (!handles)
        return false;
    for (size_t i = 0; i < stream->last_count; i++)
        handles[i] = stream->last[i]->object.handle;
    stream->last_handles = handles;
    return true;
}

CUresult emu_cu_capture_info(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id,
                             CUgraph *graph, const CUgraphNode **dependencies, size_t *count)
{
    struct emu_cu_stream *stream;
    CUresult result = status ? find_to_ask(&stream, handle) : CUDA_ERROR_INVALID_VALUE;

    if (result)
        return result;
    *status = status_of(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (!hand_out_last(stream))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (id)
        *id = stream->capture->id;
    if (graph)
        *graph = stream->capture->graph->object.handle;
    if (dependencies)
        *dependencies = stream->last_handles;
    if (count)
        *count = stream->last_count;
    return CUDA_SUCCESS;
}

CUresult emu_cu_capture_info_edges(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies,
                                   const CUgraphEdgeData **edges, size_t *count)
{
    if (edges)
        *edges = NULL; /* all edges are plain */
    return emu_cu_capture_info(handle, status, id, graph, dependencies, count);
}

CUresult emu_cu_capture_update(CUstream handle, CUgraphNode *dependencies, size_t count,
                               unsigned flags)
{
    struct emu_cu_stream *stream;
    CUresult result = emu_cu_stream_for_work(&stream, handle);
    size_t kept;

    if (result)
        return result;
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count > 0 && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    if (!stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; i < count; i++) {
        const struct emu_cu_node *node = emu_cu_find(EMU_CU_NODE, dependencies[i]);

        if (!node || node->graph != stream->capture->graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    kept = flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES ? stream->last_count : 0;
    if (!reserve_last(stream, kept + count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        stream->last[kept + i] = emu_cu_find(EMU_CU_NODE, dependencies[i]);
    stream->last_count = kept + count;
    return CUDA_SUCCESS;
}

CUresult emu_cu_capture_update_edges(CUstream stream, CUgraphNode *dependencies,
                                     const CUgraphEdgeData *edges, size_t count, unsigned flags)
{
    (void)edges; /* all edges are plain */
    return emu_cu_capture_update(stream, dependencies, count, flags);
}
