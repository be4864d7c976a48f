/* driver_exports.c: the exported functions, made of driver.def, and how a program finds them. */
#include "emulator/driver_state.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Each takes the mutex, checks what the call needs, and leaves the work to its function. */
#define CALL(symbol, is_own, needs, function, parameters, arguments)                               \
    EXPORTED CUresult symbol parameters                                                            \
    {                                                                                              \
        CUresult result = emu_cu_enter(EMU_NEEDS_##needs, is_own);                                 \
                                                                                                   \
        if (result == CUDA_SUCCESS)                                                                \
            result = function arguments;                                                           \
        return emu_cu_leave(result, #symbol);                                                      \
    }
#define EMU_CU(symbol, name, since, needs, function, parameters, arguments)                        \
    CALL(symbol, false, needs, function, parameters, arguments)
#define EMU_CU_STREAM(symbol, suffix, name, since, needs, function, parameters, arguments)         \
    CALL(symbol, false, needs, function, parameters, arguments)                                    \
    CALL(symbol##_##suffix, true, needs, function, parameters, arguments)
#include "emulator/driver.def"
#undef EMU_CU
#undef EMU_CU_STREAM

/* ---- cuGetProcAddress ---- */

typedef void (*any_function)(void);

static const struct export
{
    const char *name;
    int since;
    any_function function, own_stream;
}
exports[] = {
#define EMU_CU(symbol, name, since, needs, function, parameters, arguments)                        \
    {#name, since, (any_function)symbol, (any_function)symbol},
#define EMU_CU_STREAM(symbol, suffix, name, since, needs, function, parameters, arguments)         \
    {#name, since, (any_function)symbol, (any_function)symbol##_##suffix},
#include "emulator/driver.def"
#undef EMU_CU
#undef EMU_CU_STREAM
    /* Headers since 12.0 call it so. */
    {"cuGraphInstantiate", 12000, (any_function)cuGraphInstantiateWithFlags,
     (any_function)cuGraphInstantiateWithFlags},
};

/* The latest that the version knows; `known` tells whether a later one does. */
static const struct export *export_named(const char *name, int version, bool *known)
{
    const struct export *best = NULL;

    *known = false;
    for (size_t i = 0; i < sizeof exports / sizeof exports[0]; i++) {
        if (strcmp(exports[i].name, name) != 0)
            continue;
        *known = true;
        if (exports[i].since <= version && (!best || exports[i].since > best->since))
            best = &exports[i];
    }
    return best;
}

/* Success, also where there is none: then the pointer is null. */
CUresult emu_cu_entry_point_status(const char *symbol, void **function, int version, uint64_t flags,
                                   CUdriverProcAddressQueryResult *status)
{
    const uint64_t both =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const struct export *found;
    any_function entry = NULL;
    bool known;

    if (!symbol || !function || flags >= both || version > EMU_DRIVER_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    found = export_named(symbol, version, &known);
    if (found)
        entry = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? found->own_stream
                                                                      : found->function;
    memcpy(function, &entry, sizeof entry);
    if (status)
        *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

/* Before there was a status, the result told. */
CUresult emu_cu_entry_point(const char *symbol, void **function, int version, uint64_t flags)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = emu_cu_entry_point_status(symbol, function, version, flags, &status);

    return result || status == CU_GET_PROC_ADDRESS_SUCCESS ? result : CUDA_ERROR_NOT_FOUND;
}

/* What CUDA's run-time library asks for before anything else. */
CUresult emu_cu_private_table(const void **table, const CUuuid *id)
{
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_report(CUDA_ERROR_NOT_FOUND,
                         "the emulator has no private tables, and so is no driver for programs on "
                         "the CUDA run-time library; use the driver API");
}
