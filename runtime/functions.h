/* functions.h: kernels that are loaded on the context's device, each once. */
#ifndef LT_RUNTIME_FUNCTIONS_H
#define LT_RUNTIME_FUNCTIONS_H

#include "runtime/context.h"

/* A module on the device; shared by all problems whose plans give the same text. */
struct lt_loaded {
    lt_cu_module module;
    lt_cu_function function;
    int clusters; /* that the device runs at one time */
    struct lathe_contract contract;
    enum lathe_cache_result cache;
    double link_ms, load_ms;
};

/* What a caller of lathe_gemm_get() has in hand. */
struct lathe_function {
    struct lathe_plan plan;
    const struct lt_loaded *loaded;
    const struct lt_device *device;
    double emit_us;
};

struct lt_functions;

enum lathe_status lt_functions_create(struct lt_functions **functions,
                                      struct lathe_context *context, struct lathe_error *err);
void lt_functions_destroy(struct lt_functions **functions);

#endif
