/* spin.h: a kernel that does nothing for a while, so that what is enqueued behind it is there
 * before the GPU comes to it. */
#ifndef LT_RUNTIME_SPIN_H
#define LT_RUNTIME_SPIN_H

#include "runtime/stream.h"

struct lt_spin {
    const struct lt_stream *stream; /* null: closed */
    lt_cu_module module;
    lt_cu_function function;
};

/* `spin` is all zero. The driver compiles it by itself: no compiler library is needed. The stream
 * stays open and in place for as long as it. Errors: LATHE_DRIVER_FAILED. */
enum lathe_status lt_spin_open(struct lt_spin *spin, const struct lt_stream *stream,
                               struct lathe_error *err);
/* Accepts one that is all zero. */
void lt_spin_close(struct lt_spin *spin);

/* Enqueues one thread that spins for so long by the GPU's timer; whatever that timer says, no
 * longer than four clocks of the multiprocessor a nanosecond. */
enum lathe_status lt_spin_launch(const struct lt_spin *spin, double us, struct lathe_error *err);

#endif
