/* events.h: a row of CUDA events on a stream, and the time between two of them. */
#ifndef LT_RUNTIME_EVENTS_H
#define LT_RUNTIME_EVENTS_H

#include "runtime/stream.h"

struct lt_events {
    const struct lt_stream *stream;
    const struct lathe_allocator *allocator;
    lt_cu_event *handles;
    int count;
};

/* `events` is all zero. The stream stays open and in place for as long as they. */
enum lathe_status lt_events_create(struct lt_events *events, const struct lt_stream *stream,
                                   int count, const struct lathe_allocator *allocator,
                                   struct lathe_error *err);
void lt_events_destroy(struct lt_events *events);

/* Enqueues event number `index`. */
enum lathe_status lt_events_record(const struct lt_events *events, int index,
                                   struct lathe_error *err);

/* Microseconds between two events that the stream has passed. */
enum lathe_status lt_events_between(const struct lt_events *events, int from, int to,
                                    double *microseconds, struct lathe_error *err);

#endif
