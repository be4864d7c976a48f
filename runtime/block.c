#include "runtime/block.h"

static const struct lt_driver *driver_of(const struct lt_block *block)
{
    return &block->stream->device->driver;
}

/* Leaves the stream out of capture whatever happens; the first failure is the one to report. */
static enum lathe_status capture_graph(const struct lt_block *block, lt_cu_graph *graph,
                                       lt_block_enqueue enqueue, void *user,
                                       struct lathe_error *err)
{
    const struct lt_driver *driver = driver_of(block);
    lt_cu_stream handle = block->stream->handle;
    enum lathe_status status = lt_stream_check(
        block->stream, driver->cuStreamBeginCapture(handle, LT_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "cuStreamBeginCapture", err);

    if (status != LATHE_OK)
        return status;
    for (int i = 0; i < block->launches && status == LATHE_OK; i++)
        status = enqueue(user, i, err);

    int result = driver->cuStreamEndCapture(handle, graph);

    return status == LATHE_OK ? lt_stream_check(block->stream, result, "cuStreamEndCapture", err)
                              : status;
}

enum lathe_status lt_block_capture(struct lt_block *block, const struct lt_stream *stream,
                                   int launches, lt_block_enqueue enqueue, void *user,
                                   struct lathe_error *err)
{
    struct lt_block made = {.stream = stream, .launches = launches};
    const struct lt_driver *driver = &stream->device->driver;
    lt_cu_graph graph = NULL;
    enum lathe_status status = capture_graph(&made, &graph, enqueue, user, err);

    if (status == LATHE_OK)
        status = lt_stream_check(stream, driver->cuGraphInstantiate(&made.exec, graph, 0),
                                 "cuGraphInstantiate", err);
    if (graph)
        driver->cuGraphDestroy(graph);
    if (status == LATHE_OK)
        *block = made;
    return status;
}

void lt_block_destroy(struct lt_block *block)
{
    if (block->exec)
        driver_of(block)->cuGraphExecDestroy(block->exec);
    *block = (struct lt_block){.stream = NULL};
}

enum lathe_status lt_block_replay(const struct lt_block *block, struct lathe_error *err)
{
    return lt_stream_check(block->stream,
                           driver_of(block)->cuGraphLaunch(block->exec, block->stream->handle),
                           "cuGraphLaunch", err);
}
