/* emulator_calls.h: what the emulator can be told and asked beside the driver API: the functions of
 * its own header, and those of the driver API that are asked of it alone. The declarations are
 * copies, since nothing here includes a header of the emulator's: emulator_header_test.c compares
 * them. */
#ifndef LT_RUNTIME_EMULATOR_CALLS_H
#define LT_RUNTIME_EMULATOR_CALLS_H

#include "include/lathe_tools.h"
#include "runtime/driver.h"

/* enum emu_check_mode */
enum lt_emu_check { LT_EMU_CHECK_OFF, LT_EMU_CHECK_FIRST, LT_EMU_CHECK_ALL };

/* struct emu_finding_side */
struct lt_emu_side {
    uint32_t cta[3];
    int32_t warp, lane;
    int32_t line;
    char role[48];
    char instruction[128];
    char operand[64];
    int32_t reads, writes;
};

/* struct emu_finding */
struct lt_emu_finding {
    const char *code;
    char kernel[128];
    struct lt_emu_side who, other;
    int32_t has_other;
    char object[128];
    char what[1024];
    const char *needed;
    uint64_t times;
    int32_t is_warning;
};

/* struct emu_trace_options */
struct lt_emu_trace_options {
    uint64_t first_cluster, clusters, events_most;
    int32_t skip_products;
};

struct lt_emulator_calls {
    void (*set_seed)(uint64_t seed);
    void (*set_exact)(int exact);
    void (*set_limits)(uint64_t memory_bytes, uint64_t steps, uint32_t depth);
    /* The sanitizer. */
    int (*set_check)(int mode);
    int (*check)(void);
    size_t (*findings)(struct lt_emu_finding *list, size_t room);
    void (*forget_findings)(void);
    void (*finding_words)(const struct lt_emu_finding *finding, char *text, size_t size);
    /* Time, modelled; the structs of lathe_tools.h are the emulator's. */
    int (*set_trace)(int on, const struct lt_emu_trace_options *options);
    size_t (*events)(struct lathe_trace_event *list, size_t room);
    void (*trace_total)(struct lathe_trace_total *total);
    /* Of the driver API; drivers for CUDA 12.0 need not have them. */
    int (*context_create)(lt_cu_context *context, unsigned flags, int device);
    int (*context_destroy)(lt_cu_context context);
    int (*function_count)(unsigned *count, lt_cu_module module);
    int (*functions)(lt_cu_function *functions, unsigned count, lt_cu_module module);
    int (*function_name)(const char **name, lt_cu_function function);
    int (*param)(lt_cu_function function, size_t index, size_t *offset, size_t *bytes);
};

/* Errors: LATHE_NO_DRIVER (an emulator of another version, and which function it lacks). */
enum lathe_status lt_emulator_load(struct lt_emulator_calls *calls, const struct lt_driver *driver,
                                   struct lathe_error *err);

/* A CUDA context of the caller's own, current for the thread: a launch that ends in a fault leaves
 * it of no use, and the primary one, which others may live in, as it was. */
enum lathe_status lt_emulator_enter(const struct lt_emulator_calls *calls,
                                    const struct lt_driver *driver, int device,
                                    lt_cu_context *context, struct lathe_error *err);
/* Takes it from the thread and ends it, with all that was made in it; accepts null. */
void lt_emulator_leave(const struct lt_emulator_calls *calls, lt_cu_context *context);

#endif
