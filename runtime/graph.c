#include "runtime/graph.h"

static const struct lt_driver *driver_of(const struct lt_graph *graph)
{
    return &graph->stream->device->driver;
}

/* Leaves the stream out of capture whatever happens; the first failure is the one to report. */
static enum lathe_status capture(const struct lt_graph *graph, lt_cu_graph *captured,
                                 lt_graph_enqueue enqueue, void *user, struct lathe_error *err)
{
    const struct lt_driver *driver = driver_of(graph);
    lt_cu_stream handle = graph->stream->handle;
    enum lathe_status status = lt_stream_check(
        graph->stream, driver->cuStreamBeginCapture(handle, LT_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "cuStreamBeginCapture", err);

    if (status != LATHE_OK)
        return status;
    for (int i = 0; i < graph->launches && status == LATHE_OK; i++)
        status = enqueue(user, i, err);

    int result = driver->cuStreamEndCapture(handle, captured);

    return status == LATHE_OK ? lt_stream_check(graph->stream, result, "cuStreamEndCapture", err)
                              : status;
}

enum lathe_status lt_graph_capture(struct lt_graph *graph, const struct lt_stream *stream,
                                   int launches, lt_graph_enqueue enqueue, void *user,
                                   struct lathe_error *err)
{
    struct lt_graph made = {.stream = stream, .launches = launches};
    const struct lt_driver *driver = &stream->device->driver;
    lt_cu_graph captured = NULL;
    enum lathe_status status = capture(&made, &captured, enqueue, user, err);

    if (status == LATHE_OK)
        status = lt_stream_check(stream, driver->cuGraphInstantiate(&made.exec, captured, 0),
                                 "cuGraphInstantiate", err);
    if (captured)
        driver->cuGraphDestroy(captured);
    if (status == LATHE_OK)
        *graph = made;
    return status;
}

void lt_graph_destroy(struct lt_graph *graph)
{
    if (graph->exec)
        driver_of(graph)->cuGraphExecDestroy(graph->exec);
    *graph = (struct lt_graph){.stream = NULL};
}

enum lathe_status lt_graph_replay(const struct lt_graph *graph, struct lathe_error *err)
{
    return lt_stream_check(graph->stream,
                           driver_of(graph)->cuGraphLaunch(graph->exec, graph->stream->handle),
                           "cuGraphLaunch", err);
}
