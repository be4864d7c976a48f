/* trace.h: the emulator's model of time, asked for by a launch and read afterwards. */
#ifndef LT_RUNTIME_TRACE_H
#define LT_RUNTIME_TRACE_H

#include "include/lathe_tools.h"
#include "runtime/emulator_calls.h"

#include <stdbool.h>

struct lt_tracer {
    const struct lathe_allocator *allocator;
    const struct lt_emulator_calls *calls; /* borrowed; null: it did not begin */
};

/* From now on launches of the emulator's are traced; `tracer` is all zero. Errors:
 * LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_trace_begin(struct lt_tracer *tracer, const struct lt_emulator_calls *calls,
                                 const struct lathe_allocator *allocator,
                                 const struct lathe_trace_options *options, bool skip_products,
                                 struct lathe_error *err);
/* What they told. Errors: LATHE_OUT_OF_MEMORY. */
enum lathe_status lt_trace_read(const struct lt_tracer *tracer, struct lathe_trace **trace,
                                struct lathe_error *err);
/* No more of them. Accepts a tracer that never began. */
void lt_trace_end(struct lt_tracer *tracer);

#endif
