/* stream.h: a stream of one's own on the context's device, and device memory used on it. While it
 * is open the device's CUDA context is the thread's current one, so a stream is opened, used and
 * closed by one thread. */
#ifndef LT_RUNTIME_STREAM_H
#define LT_RUNTIME_STREAM_H

#include "runtime/context.h"

struct lt_stream {
    const struct lt_device *device; /* null: closed */
    struct lt_entered entered;
    lt_cu_stream handle; /* does not wait for the default stream */
};

/* `stream` is all zero. Errors: those of lt_context_device(), LATHE_DRIVER_FAILED. */
enum lathe_status lt_stream_open(struct lt_stream *stream, struct lathe_context *context,
                                 struct lathe_error *err);
/* Accepts one that is closed, or was never opened but is all zero. */
void lt_stream_close(struct lt_stream *stream);

/* Waits for all that was enqueued: failures of kernels surface here. A closed one is waited for
 * already. */
enum lathe_status lt_stream_wait(const struct lt_stream *stream, struct lathe_error *err);

/* lt_driver_check() for a call on the stream's device. */
enum lathe_status lt_stream_check(const struct lt_stream *stream, int result, const char *call,
                                  struct lathe_error *err);

/* Enqueues a launch of blocks of `threads` threads. */
enum lathe_status lt_stream_launch(const struct lt_stream *stream, lt_cu_function function,
                                   unsigned blocks, unsigned threads, void **params,
                                   struct lathe_error *err);

/* Device memory, aligned to 256 bytes at least; `what` names it in the message when there is not
 * enough. `*address` is 0 before and after. */
enum lathe_status lt_stream_allocate(const struct lt_stream *stream, uint64_t *address,
                                     int64_t bytes, const char *what, struct lathe_error *err);
void lt_stream_free(const struct lt_stream *stream, uint64_t *address);

/* Copies once all that was enqueued is done, and waits. */
enum lathe_status lt_stream_read(const struct lt_stream *stream, void *to, uint64_t from,
                                 int64_t bytes, struct lathe_error *err);
enum lathe_status lt_stream_write(const struct lt_stream *stream, uint64_t to, const void *from,
                                  int64_t bytes, struct lathe_error *err);

/* Enqueues setting all 16-bit halves of the memory. */
enum lathe_status lt_stream_set(const struct lt_stream *stream, uint64_t address,
                                unsigned short halves, int64_t bytes, struct lathe_error *err);

#endif
