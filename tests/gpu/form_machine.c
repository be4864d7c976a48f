/* form_machine.c: contexts, memory and launches, through the driver's table alone. */
#include "tests/gpu/form_machine.h"

#include <stdio.h>

bool form_machine_check(const struct form_machine *machine, int result, const char *call)
{
    struct lathe_error error;

    if (lt_driver_check(&machine->device->driver, result, call, &error) == LATHE_OK)
        return true;
    printf("# %s\n", error.message);
    return false;
}

/* Calls `use` with a function of the emulator's own. What it sets stays after the context. */
static bool with_emulator(const char *name, void (*use)(void (*function)(void), uint64_t value),
                          uint64_t value)
{
    struct lathe_context *context = NULL;
    const struct lt_device *device = NULL;
    void (*function)(void) = NULL;
    struct lathe_error error;

    if (lathe_context_create(
            &context,
            lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS, .emulated_arch = LATHE_SM_90A),
            &error) == LATHE_OK &&
        lt_context_probe(context, &device, &error) == LATHE_OK) {
        const struct lt_library_function entry = {name, &function};

        lt_library_load(&device->driver.library, &entry, 1, NULL);
        if (function)
            use(function, value);
    } else {
        printf("# %s\n", error.message);
    }
    lathe_context_destroy(&context);
    return function != NULL;
}

static void set_exact(void (*function)(void), uint64_t exact)
{
    ((void (*)(int))function)((int)exact);
}

static void set_seed(void (*function)(void), uint64_t seed)
{
    ((void (*)(uint64_t))function)(seed);
}

bool form_machine_be_exact(void)
{
    return with_emulator("emu_set_exact", set_exact, 1);
}

bool form_machine_set_seed(uint64_t seed)
{
    return with_emulator("emu_set_seed", set_seed, seed);
}

bool form_machine_open(struct form_machine *machine, enum lathe_emulator_use use)
{
    struct lathe_error error;

    *machine = (struct form_machine){0};
    if (lathe_context_create(&machine->context,
                             lathe_context_options(.emulator = use, .emulated_arch = LATHE_SM_90A),
                             &error) != LATHE_OK ||
        lt_context_device(machine->context, &machine->device, &error) != LATHE_OK ||
        lt_enter(machine->device, &machine->entered, &error) != LATHE_OK) {
        printf("# %s\n", error.message);
        return false;
    }
    machine->is_entered = true;
    return true;
}

void form_machine_close(struct form_machine *machine)
{
    if (machine->is_entered)
        lt_leave(machine->device, &machine->entered);
    lathe_context_destroy(&machine->context);
    *machine = (struct form_machine){0};
}

static bool set_dynamic_shared(const struct form_machine *machine, lt_cu_function function,
                               unsigned bytes)
{
    const struct lt_driver *driver = &machine->device->driver;

    return bytes == 0 ||
           form_machine_check(
               machine,
               driver->cuFuncSetAttribute(function, LT_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          (int)bytes),
               "cuFuncSetAttribute");
}

static unsigned or_one(unsigned count)
{
    return count > 0 ? count : 1;
}

static bool launch_function(const struct form_machine *machine, lt_cu_function function,
                            const struct form_launch *launch, void **params)
{
    const struct lt_driver *driver = &machine->device->driver;
    struct lt_cu_launch_attribute cluster = {
        .id = LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.cluster = {launch->cluster, 1, 1},
    };
    struct lt_cu_launch_config config = {
        .grid_x = or_one(launch->grid),
        .grid_y = 1,
        .grid_z = 1,
        .block_x = or_one(launch->block),
        .block_y = 1,
        .block_z = 1,
        .smem_bytes = launch->shared_bytes,
        .attributes = &cluster,
        .attribute_count = launch->cluster > 0,
    };

    return set_dynamic_shared(machine, function, launch->shared_bytes) &&
           form_machine_check(machine, driver->cuLaunchKernelEx(&config, function, params, NULL),
                              "cuLaunchKernelEx") &&
           form_machine_check(machine, driver->cuStreamSynchronize(NULL), "cuStreamSynchronize");
}

bool form_machine_launch(const struct form_machine *machine, const char *text,
                         const struct form_launch *launch, void **params)
{
    const struct lt_driver *driver = &machine->device->driver;
    lt_cu_module module;
    lt_cu_function function;
    bool done;

    if (!form_machine_check(machine, driver->cuModuleLoadData(&module, text), "cuModuleLoadData"))
        return false;
    done = form_machine_check(machine, driver->cuModuleGetFunction(&function, module, "k"),
                              "cuModuleGetFunction") &&
           launch_function(machine, function, launch, params);
    driver->cuModuleUnload(module);
    return done;
}

bool form_machine_allocate(const struct form_machine *machine, uint64_t *address, size_t bytes)
{
    return form_machine_check(machine, machine->device->driver.cuMemAlloc(address, bytes),
                              "cuMemAlloc");
}

void form_machine_free(const struct form_machine *machine, uint64_t address)
{
    if (address)
        machine->device->driver.cuMemFree(address);
}

bool form_machine_write(const struct form_machine *machine, uint64_t to, const void *from,
                        size_t bytes)
{
    return form_machine_check(machine, machine->device->driver.cuMemcpyHtoD(to, from, bytes),
                              "cuMemcpyHtoD");
}

bool form_machine_read(const struct form_machine *machine, void *to, uint64_t from, size_t bytes)
{
    return form_machine_check(machine, machine->device->driver.cuMemcpyDtoH(to, from, bytes),
                              "cuMemcpyDtoH");
}
