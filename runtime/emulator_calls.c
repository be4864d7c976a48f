#include "runtime/emulator_calls.h"

#include "codegen/status.h"

enum lathe_status lt_emulator_load(struct lt_emulator_calls *calls, const struct lt_driver *driver,
                                   struct lathe_error *err)
{
    const struct lt_library_function functions[] = {
        {"emu_set_seed", &calls->set_seed},
        {"emu_set_exact", &calls->set_exact},
        {"emu_set_limits", &calls->set_limits},
        {"emu_set_check", &calls->set_check},
        {"emu_check", &calls->check},
        {"emu_findings", &calls->findings},
        {"emu_forget_findings", &calls->forget_findings},
        {"emu_finding_words", &calls->finding_words},
        {"emu_set_trace", &calls->set_trace},
        {"emu_events", &calls->events},
        {"emu_trace_total", &calls->trace_total},
        {"cuCtxCreate_v2", &calls->context_create},
        {"cuCtxDestroy_v2", &calls->context_destroy},
        {"cuModuleGetFunctionCount", &calls->function_count},
        {"cuModuleEnumerateFunctions", &calls->functions},
        {"cuFuncGetName", &calls->function_name},
        {"cuFuncGetParamInfo", &calls->param},
    };
    const char *missing =
        lt_library_load(&driver->library, functions, sizeof functions / sizeof functions[0], NULL);

    return missing ? lt_fail(err, LATHE_NO_DRIVER,
                             "the emulator %.200s is of another version: it has no %s",
                             driver->library.found, missing)
                   : LATHE_OK;
}

enum lathe_status lt_emulator_enter(const struct lt_emulator_calls *calls,
                                    const struct lt_driver *driver, int device,
                                    lt_cu_context *context, struct lathe_error *err)
{
    return lt_driver_check(driver, calls->context_create(context, 0, device), "cuCtxCreate", err);
}

void lt_emulator_leave(const struct lt_emulator_calls *calls, lt_cu_context *context)
{
    if (*context)
        calls->context_destroy(*context);
    *context = NULL;
}
