/* marks.h: a row of marks (CUDA events) on a stream, and the time between two of them. */
#ifndef LT_RUNTIME_MARKS_H
#define LT_RUNTIME_MARKS_H

#include "runtime/stream.h"

struct lt_marks {
    const struct lt_stream *stream;
    const struct lathe_allocator *allocator;
    lt_cu_event *events;
    int count;
};

/* `marks` is all zero. The stream stays open and in place for as long as they. */
enum lathe_status lt_marks_create(struct lt_marks *marks, const struct lt_stream *stream, int count,
                                  const struct lathe_allocator *allocator, struct lathe_error *err);
void lt_marks_destroy(struct lt_marks *marks);

/* Enqueues mark `index`. */
enum lathe_status lt_marks_record(const struct lt_marks *marks, int index, struct lathe_error *err);

/* Microseconds between two marks that the stream has passed. */
enum lathe_status lt_marks_between(const struct lt_marks *marks, int from, int to,
                                   double *microseconds, struct lathe_error *err);

#endif
