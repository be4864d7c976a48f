/* request.h: from words to a problem, a plan and a context. What several verbs begin with. */
#ifndef LT_CLI_REQUEST_H
#define LT_CLI_REQUEST_H

#include "cli/words.h"

/* The key device=, which the verbs that run something share. */
#define KEY_DEVICE                                                                                 \
    {                                                                                              \
        .name = "device", .kind = KEY_TEXT, .values = "auto gpu gpu:N", .fallback = "auto",        \
        .doc = "where it runs; gpu:1 is the second GPU"                                            \
    }
/* The same for those that the emulator can run, too. */
#define KEY_DEVICE_OR_EMULATOR                                                                     \
    {                                                                                              \
        .name = "device", .kind = KEY_TEXT, .values = "auto gpu gpu:N emulator",                   \
        .fallback = "auto", .doc = "auto: the GPU, without one the emulator"                       \
    }
/* The key text=, of those that run what was changed by hand. */
#define KEY_KERNEL_TEXT                                                                            \
    {                                                                                              \
        .name = "text", .kind = KEY_TEXT, .values = "FILE", .fallback = "as emitted",              \
        .doc = "the plan's text, as you have changed it"                                           \
    }

/* The problem and the plan fields that the words name. */
enum lathe_status request_read(const struct words *words, struct lathe_request *request,
                               struct lathe_error *err);

/* Which of the emulator's devices is asked for: that of the named architecture, or that which the
 * named variant needs, or none in particular. */
enum lathe_arch request_emulated_arch(const struct lathe_request *request);

/* As request_read(). Where no arch is named it is the detected GPU's, and without a GPU the
 * library's default; where one is named, neither driver nor device is touched. */
enum lathe_status request_detect(const struct words *words, struct lathe_request *request,
                                 struct lathe_error *err);

/* The same, and the plan for it. */
enum lathe_status request_plan(const struct words *words, struct lathe_request *request,
                               struct lathe_plan *plan, struct lathe_error *err);

/* The words of the problem and of the fields named with it; to be freed. Null: no memory. */
char *request_words(const struct lathe_request *request);

/* A context whose log goes to standard error. */
enum lathe_status context_open(struct lathe_context **context, struct lathe_error *err);
/* The same, on the device that device= names. */
enum lathe_status context_open_device(struct lathe_context **context, const struct words *words,
                                      struct lathe_error *err);
/* The same, or the emulator where it is named, or where auto finds no GPU: its device of that
 * architecture, or its first for which there are kernels. */
enum lathe_status context_open_any(struct lathe_context **context, const struct words *words,
                                   enum lathe_arch arch, struct lathe_error *err);

/* The same, on the emulator whatever GPU there is. */
enum lathe_status context_open_emulator(struct lathe_context **context, enum lathe_arch arch,
                                        struct lathe_error *err);

/* Microseconds of a clock that only goes forward. */
double now_us(void);

/* Billions of operations a millisecond; 0 where no time was measured. */
double problem_tflops(const struct lathe_gemm *problem, double time_us);

#endif
