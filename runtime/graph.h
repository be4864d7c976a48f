/* graph.h: many launches as one CUDA graph, so that a measurement holds no gap of the host's. */
#ifndef LT_RUNTIME_GRAPH_H
#define LT_RUNTIME_GRAPH_H

#include "runtime/stream.h"

/* Enqueues launch number `index` of a graph. */
typedef enum lathe_status (*lt_graph_enqueue)(void *user, int index, struct lathe_error *err);

struct lt_graph {
    const struct lt_stream *stream;
    lt_cu_graph_exec exec;
    int launches;
};

/* Captures `launches` launches from the stream. Each kernel must have run once outside of a
 * capture, or loading it may break the capture. `graph` is all zero; the stream stays open and in
 * place for as long as it. */
enum lathe_status lt_graph_capture(struct lt_graph *graph, const struct lt_stream *stream,
                                   int launches, lt_graph_enqueue enqueue, void *user,
                                   struct lathe_error *err);
void lt_graph_destroy(struct lt_graph *graph);

enum lathe_status lt_graph_replay(const struct lt_graph *graph, struct lathe_error *err);

#endif
