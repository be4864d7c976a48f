/* emulated_text.h: PTX text, loaded on one of the emulator's devices. */
#ifndef LT_RUNTIME_EMULATED_TEXT_H
#define LT_RUNTIME_EMULATED_TEXT_H

#include "include/lathe_tools.h"
#include "runtime/device.h"
#include "runtime/emulator_calls.h"

struct lt_emulated_text {
    struct lt_device device; /* its CUDA context, the text's own, is current meanwhile */
    struct lt_emulator_calls calls;
    bool checks;      /* the sanitizer is on, */
    int check_before; /* and was so before    */
    lt_cu_module module;
    lt_cu_function function;
    struct lathe_emulation_report *report; /* borrowed */
};

/* lt_driver_check(), which puts all that the emulator says into the report, and its first line into
 * the message. */
enum lathe_status lt_emulated_check(const struct lt_emulated_text *text, int result,
                                    const char *call, struct lathe_error *err);

/* Opens the emulator, loads the emulation's text where it is taken, and finds its entry. `text` is
 * all zero but for the report, and is to be closed after failures, too. */
enum lathe_status lt_emulated_text_open(struct lt_emulated_text *text,
                                        struct lathe_context *context,
                                        const struct lathe_emulation *emulation,
                                        struct lathe_error *err);
void lt_emulated_text_close(struct lt_emulated_text *text);

#endif
