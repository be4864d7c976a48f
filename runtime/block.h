/* block.h: many launches as one CUDA graph, so that a measurement holds no gap of the host's. */
#ifndef LT_RUNTIME_BLOCK_H
#define LT_RUNTIME_BLOCK_H

#include "runtime/stream.h"

/* Enqueues launch number `index` of a block. */
typedef enum lathe_status (*lt_block_enqueue)(void *user, int index, struct lathe_error *err);

struct lt_block {
    const struct lt_stream *stream;
    lt_cu_graph_exec exec;
    int launches;
};

/* Captures `launches` launches from the stream. Each kernel must have run once outside of a
 * capture, or loading it may break the capture. `block` is all zero; the stream stays open and in
 * place for as long as it. */
enum lathe_status lt_block_capture(struct lt_block *block, const struct lt_stream *stream,
                                   int launches, lt_block_enqueue enqueue, void *user,
                                   struct lathe_error *err);
void lt_block_destroy(struct lt_block *block);

enum lathe_status lt_block_replay(const struct lt_block *block, struct lathe_error *err);

#endif
