#include "tests/emulator/driver_fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct driver_calls cu;
struct emulator_calls emulator;
struct fake_calls fake;
static void *library;

const char driver_ptx[] = "// kernels of the driver's tests\n"
                          ".version 8.0\n"
                          ".target sm_90\n"
                          ".address_size 64\n"
                          ".visible .global .align 4 .b8 counter[4];\n"
                          ".visible .global .align 16 .b8 table[256];\n"
                          ".visible .entry plain()\n{\n ret;\n}\n"
                          ".visible .entry scale(.param .u64 out, .param .u32 count,\n"
                          " .param .f32 factor)\n{\n ret;\n}\n"
                          ".visible .entry small() .maxntid 128, 1, 1\n{\n ret;\n}\n"
                          ".visible .entry exact() .reqntid 64, 2, 1\n{\n ret;\n}\n"
                          ".visible .entry pairs() .explicitcluster .reqnctapercluster 2, 1, 1\n"
                          "{\n ret;\n}\n"
                          ".visible .entry clusters() .explicitcluster\n{\n ret;\n}\n"
                          ".visible .entry tile(.param .u64 out)\n{\n"
                          " .shared .align 16 .b8 bytes[1024];\n"
                          " .reg .b64 %a<3>;\n .reg .b32 %r<3>;\n"
                          " ld.param.u64 %a1, [out];\n mov.u32 %r1, %tid.x;\n"
                          " mov.u64 %a2, bytes;\n st.shared.u32 [%a2], %r1;\n"
                          " ld.shared.u32 %r2, [%a2];\n st.global.u32 [%a1], %r2;\n ret;\n}\n";

void *driver_symbol(const char *name)
{
    return dlsym(library, name);
}

static int find(void *place, size_t bytes, const char *name)
{
    void *found = dlsym(library, name);

    memcpy(place, &found, bytes);
    if (!found)
        fprintf(stderr, "%s is missing\n", name);
    return !found;
}

int driver_open(const char *path)
{
    int missing = 0;

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
#define FIND(symbol) missing += find((void *)&cu.symbol, sizeof cu.symbol, #symbol)
#define EMU_CU(symbol, name, since, needs, function, parameters, arguments) FIND(symbol);
#define EMU_CU_STREAM(symbol, suffix, name, since, needs, function, parameters, arguments)         \
    FIND(symbol);                                                                                  \
    FIND(symbol##_##suffix);
#include "emulator/driver.def"
#undef EMU_CU
#undef EMU_CU_STREAM
#define FIND_IN(table, member, symbol) find((void *)&table.member, sizeof table.member, symbol)
    if (!dlsym(library, "emu_last_report"))
        return missing; /* a real driver */
    missing += FIND_IN(emulator, last_report, "emu_last_report");
    missing += FIND_IN(emulator, set_seed, "emu_set_seed");
    missing += FIND_IN(emulator, set_threads, "emu_set_threads");
    missing += FIND_IN(emulator, set_exact, "emu_set_exact");
    missing += FIND_IN(emulator, set_limits, "emu_set_limits");
    missing += FIND_IN(emulator, set_check, "emu_set_check");
    missing += FIND_IN(emulator, check, "emu_check");
    if (!dlsym(library, "fake_reset"))
        return missing; /* the emulator, on its own machine */
    missing += FIND_IN(fake, launches, "fake_launches");
    missing += FIND_IN(fake, last, "fake_last_launch");
    missing += FIND_IN(fake, set_outcome, "fake_set_outcome");
    missing += FIND_IN(fake, set_registers, "fake_set_registers");
    missing += FIND_IN(fake, reset, "fake_reset");
    return missing;
}

void only_on_the_fake(void)
{
    if (!fake.reset)
        skip();
}

int driver_enter(void **state)
{
    CUcontext context;

    if (fake.reset)
        fake.reset();
    if (cu.cuInit(0) || cu.cuDevicePrimaryCtxRetain(&context, 0) || cu.cuCtxPushCurrent_v2(context))
        return 1;
    *state = context;
    return 0;
}

int driver_leave(void **state)
{
    CUcontext current = NULL;
    unsigned flags;
    int active;

    return cu.cuCtxPopCurrent_v2(&current) || current != *state ||
           cu.cuDevicePrimaryCtxRelease_v2(0) ||
           cu.cuDevicePrimaryCtxGetState(0, &flags, &active) || active;
}

CUmodule driver_module(void)
{
    CUmodule module = NULL;

    OK(cu.cuModuleLoadData(&module, driver_ptx));
    assert_non_null(module);
    return module;
}

CUfunction driver_function(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    OK(cu.cuModuleGetFunction(&function, module, name));
    assert_non_null(function);
    return function;
}

CUdeviceptr driver_memory(size_t bytes)
{
    CUdeviceptr pointer = 0;

    OK(cu.cuMemAlloc_v2(&pointer, bytes));
    assert_true(pointer != 0);
    return pointer;
}
