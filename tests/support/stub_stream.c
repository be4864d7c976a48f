/* stub_stream.c: streams of the stub driver, what is captured from them, graphs and events.
 *
 * Work is done when it is submitted, so a stream is always idle. While a stream is being captured
 * its work goes into a list instead, which becomes a graph; launching that does the work. */
#include "tests/support/stub_play.h"

#include <stdlib.h>
#include <string.h>

static bool is_default(CUstream stream)
{
    return stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* The default stream waits for all others that were not created to be free of it, which would break
 * the capture of one of these. */
static CUresult check_default_stream(void)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < stub.object_count; i++) {
        struct stub_object *stream = stub.objects[i];

        if (!stream->live || stream->kind != STUB_STREAM || stream->context != stub_current() ||
            stream->as.stream.capture == STUB_NOT_CAPTURING ||
            (stream->as.stream.flags & CU_STREAM_NON_BLOCKING) != 0)
            continue;
        stream->as.stream.capture = STUB_CAPTURE_INVALID;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return result;
}

static CUresult find_stream(struct stub_object **object, CUstream stream)
{
    *object = stub_find(STUB_STREAM, stream);
    if (*object == NULL || (*object)->context != stub_current())
        return CUDA_ERROR_INVALID_HANDLE;
    return CUDA_SUCCESS;
}

CUresult stub_stream_check(struct stub_object **object, CUstream stream)
{
    CUresult result;

    *object = NULL;
    if (is_default(stream))
        return check_default_stream();
    result = find_stream(object, stream);
    if (result == CUDA_SUCCESS && (*object)->as.stream.capture == STUB_CAPTURE_INVALID)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return result;
}

CUresult stub_stream_create(CUstream *stream, unsigned flags)
{
    struct stub_object *object;

    if (stream == NULL || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    object = stub_create(STUB_STREAM, stub_current());
    if (object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->as.stream.flags = flags;
    *stream = stub_handle(object);
    return CUDA_SUCCESS;
}

CUresult stub_stream_destroy(CUstream stream)
{
    struct stub_object *object;
    CUresult result = find_stream(&object, stream);

    if (result == CUDA_SUCCESS)
        stub_destroy(object);
    return result;
}

/* Waiting for a stream that is being captured is a mistake that ends the capture. */
CUresult stub_stream_synchronize(CUstream stream)
{
    struct stub_object *object;
    CUresult result = stub_stream_check(&object, stream);

    if (result != CUDA_SUCCESS || object == NULL)
        return result;
    if (object->as.stream.capture == STUB_NOT_CAPTURING)
        return CUDA_SUCCESS;
    object->as.stream.capture = STUB_CAPTURE_INVALID;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static CUresult record_launch(const struct stub_launch *launch)
{
    struct stub_launch **launches =
        stub_grow(stub.launches, stub.launch_count, &stub.launch_capacity, sizeof *launches);
    struct stub_launch *copy = malloc(sizeof *copy);

    if (launches != NULL)
        stub.launches = launches;
    if (launches == NULL || copy == NULL) {
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *copy = *launch;
    launches[stub.launch_count++] = copy;
    return CUDA_SUCCESS;
}

static CUresult do_work(const struct stub_work *work)
{
    return work->kind == STUB_LAUNCH ? record_launch(work->launch) : stub_memory_work(work);
}

/* Takes the launch over only if there is room. */
static CUresult add_work(struct stub_work_list *list, const struct stub_work *work)
{
    struct stub_work *items = stub_grow(list->items, list->count, &list->capacity, sizeof *items);

    if (items == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    list->items = items;
    items[list->count++] = *work;
    return CUDA_SUCCESS;
}

CUresult stub_stream_submit(struct stub_object *stream, const struct stub_work *work)
{
    CUresult result;

    if (stream != NULL && stream->as.stream.capture == STUB_CAPTURING) {
        result = add_work(&stream->as.stream.captured, work);
        if (result == CUDA_SUCCESS)
            return result;
    } else {
        result = do_work(work);
    }
    free(work->launch);
    return result;
}

/* ---- Capture --------------------------------------------------------------------------------- */

CUresult stub_capture_begin(CUstream stream, CUstreamCaptureMode mode)
{
    struct stub_object *object;
    CUresult result;

    if (is_default(stream))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    result = find_stream(&object, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (object->as.stream.capture != STUB_NOT_CAPTURING)
        return CUDA_ERROR_ILLEGAL_STATE;
    object->as.stream.capture = STUB_CAPTURING;
    object->as.stream.mode = mode;
    object->as.stream.thread = stub_thread();
    return CUDA_SUCCESS;
}

static void drop_work(struct stub_work_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].launch);
    free(list->items);
    *list = (struct stub_work_list){0};
}

CUresult stub_capture_end(CUstream stream, CUgraph *graph)
{
    struct stub_object *object, *made;
    CUresult result = find_stream(&object, stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (object->as.stream.capture == STUB_NOT_CAPTURING)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (object->as.stream.mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        object->as.stream.thread != stub_thread())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;

    *graph = NULL;
    if (object->as.stream.capture == STUB_CAPTURE_INVALID)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    made = result == CUDA_SUCCESS ? stub_create(STUB_GRAPH, NULL) : NULL;
    if (result == CUDA_SUCCESS && made == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    object->as.stream.capture = STUB_NOT_CAPTURING;
    if (made == NULL) {
        drop_work(&object->as.stream.captured);
        return result;
    }
    made->as.graph = object->as.stream.captured;
    object->as.stream.captured = (struct stub_work_list){0};
    *graph = stub_handle(made);
    return CUDA_SUCCESS;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Every launch of its own, so that graph and executable graph can be destroyed in any order. */
static CUresult copy_work(struct stub_work_list *to, const struct stub_work_list *from)
{
    for (size_t i = 0; i < from->count; i++) {
        struct stub_work work = from->items[i];

        if (work.launch != NULL) {
            work.launch = malloc(sizeof *work.launch);
            if (work.launch == NULL)
                return CUDA_ERROR_OUT_OF_MEMORY;
            *work.launch = *from->items[i].launch;
        }
        if (add_work(to, &work) != CUDA_SUCCESS) {
            free(work.launch);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return CUDA_SUCCESS;
}

CUresult stub_graph_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    struct stub_object *object = stub_find(STUB_GRAPH, graph), *made;
    CUresult result;

    if (exec == NULL || flags > 15)
        return CUDA_ERROR_INVALID_VALUE;
    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    made = stub_create(STUB_GRAPH_EXEC, NULL);
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = copy_work(&made->as.graph, &object->as.graph);
    if (result != CUDA_SUCCESS) {
        stub_destroy(made);
        return result;
    }
    *exec = stub_handle(made);
    return CUDA_SUCCESS;
}

CUresult stub_graph_launch(CUgraphExec exec, CUstream stream)
{
    struct stub_object *object = stub_find(STUB_GRAPH_EXEC, exec), *into;
    CUresult result = stub_stream_check(&into, stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (into != NULL && into->as.stream.capture != STUB_NOT_CAPTURING) {
        into->as.stream.capture = STUB_CAPTURE_INVALID;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    for (size_t i = 0; i < object->as.graph.count && result == CUDA_SUCCESS; i++) {
        struct stub_work *work = &object->as.graph.items[i];

        if (work->launch != NULL) {
            work->launch->stream = stream;
            work->launch->from_graph = 1;
        }
        result = do_work(work);
    }
    return result;
}

static CUresult destroy_graph(enum stub_kind kind, const void *handle)
{
    struct stub_object *object = stub_find(kind, handle);

    if (object == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    stub_destroy(object);
    return CUDA_SUCCESS;
}

CUresult stub_graph_exec_destroy(CUgraphExec exec)
{
    return destroy_graph(STUB_GRAPH_EXEC, exec);
}

CUresult stub_graph_destroy(CUgraph graph)
{
    return destroy_graph(STUB_GRAPH, graph);
}

/* ---- Events ---------------------------------------------------------------------------------- */

enum { EVENT_FLAGS = 7, EVENT_INTERPROCESS = 4 };

CUresult stub_event_create(CUevent *event, unsigned flags)
{
    struct stub_object *object;

    if (event == NULL || flags > EVENT_FLAGS ||
        ((flags & EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0))
        return CUDA_ERROR_INVALID_VALUE;
    object = stub_create(STUB_EVENT, stub_current());
    if (object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->as.event.flags = flags;
    *event = stub_handle(object);
    return CUDA_SUCCESS;
}

CUresult stub_event_destroy(CUevent event)
{
    struct stub_object *object = stub_find(STUB_EVENT, event);

    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    stub_destroy(object);
    return CUDA_SUCCESS;
}

CUresult stub_event_record(CUevent event, CUstream stream)
{
    struct stub_object *object = stub_find(STUB_EVENT, event), *into;
    CUresult result = stub_stream_check(&into, stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (object == NULL || object->context != stub_current())
        return CUDA_ERROR_INVALID_HANDLE;
    object->as.event.state =
        into != NULL && into->as.stream.capture == STUB_CAPTURING ? STUB_CAPTURED : STUB_RECORDED;
    return CUDA_SUCCESS;
}

CUresult stub_event_synchronize(CUevent event)
{
    struct stub_object *object = stub_find(STUB_EVENT, event);

    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    return object->as.event.state == STUB_CAPTURED ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

/* The same always: more than nothing, for whoever divides by it. */
CUresult stub_event_elapsed(float *milliseconds, CUevent start, CUevent end)
{
    const struct stub_object *events[2] = {stub_find(STUB_EVENT, start),
                                           stub_find(STUB_EVENT, end)};

    if (milliseconds == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < 2; i++) {
        if (events[i] == NULL || events[i]->as.event.state == STUB_NOT_RECORDED ||
            (events[i]->as.event.flags & CU_EVENT_DISABLE_TIMING) != 0)
            return CUDA_ERROR_INVALID_HANDLE;
        if (events[i]->as.event.state == STUB_CAPTURED)
            return CUDA_ERROR_CAPTURED_EVENT;
    }
    *milliseconds = (float)stub.elapsed_us / 1000;
    return CUDA_SUCCESS;
}
