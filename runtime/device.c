#include "runtime/device.h"

#include "codegen/status.h"
#include "runtime/emulator.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

/* ---- Which one ---- */

static enum lathe_status device_of_context(struct lt_device *device, struct lathe_error *err)
{
    struct lt_entered entered;
    enum lathe_status status = lt_enter(device, &entered, err);

    if (status != LATHE_OK)
        return status;
    status = lt_driver_check(&device->driver, device->driver.cuCtxGetDevice(&device->device),
                             "cuCtxGetDevice", err);
    lt_leave(device, &entered);
    device->ordinal = device->device; /* a CUdevice is its ordinal */
    return status;
}

/* The calling thread's current context, if it is of the device that is wanted. */
static bool take_current(struct lt_device *device, int wanted)
{
    if (device->driver.cuCtxGetCurrent(&device->cu_context) == LT_CUDA_SUCCESS &&
        device->cu_context && device_of_context(device, NULL) == LATHE_OK &&
        (wanted < 0 || wanted == device->ordinal))
        return true;
    device->cu_context = NULL;
    return false;
}

static enum lathe_status take_ordinal(struct lt_device *device, int wanted, struct lathe_error *err)
{
    const struct lt_driver *driver = &device->driver;
    int count = 0;
    enum lathe_status status =
        lt_driver_check(driver, driver->cuDeviceGetCount(&count), "cuDeviceGetCount", err);

    if (status != LATHE_OK)
        return status;
    device->ordinal = wanted < 0 ? 0 : wanted;
    if (device->ordinal >= count)
        return lt_fail(err, LATHE_NO_DEVICE, "device gpu:%d: the driver has %d GPU%s",
                       device->ordinal, count, count == 1 ? "" : "s");
    return lt_driver_check(driver, driver->cuDeviceGet(&device->device, device->ordinal),
                           "cuDeviceGet", err);
}

static enum lathe_status choose(struct lt_device *device, const struct lt_device_choice *choice,
                                struct lathe_error *err)
{
    device->cu_context = choice->cuda_context;
    if (!device->cu_context)
        return take_current(device, choice->ordinal) ? LATHE_OK
                                                     : take_ordinal(device, choice->ordinal, err);

    enum lathe_status status = device_of_context(device, err);

    if (status == LATHE_OK && choice->ordinal >= 0 && choice->ordinal != device->ordinal)
        return lt_fail(err, LATHE_MISUSED,
                       "device gpu:%d: the cuda_context given with it is of GPU %d; give one of "
                       "the two",
                       choice->ordinal, device->ordinal);
    return status;
}

/* ---- What it is ---- */

static enum lathe_status read_properties(struct lt_device *device, struct lathe_error *err)
{
    const struct lt_driver *driver = &device->driver;
    int l2 = 0;
    const struct {
        int *value;
        int attribute;
    } wanted[] = {
        {&device->major, LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
        {&device->minor, LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
        {&device->sms, LT_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {&l2, LT_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int result =
            driver->cuDeviceGetAttribute(wanted[i].value, wanted[i].attribute, device->device);

        if (result != LT_CUDA_SUCCESS)
            return lt_driver_check(driver, result, "cuDeviceGetAttribute", err);
    }
    if (driver->cuDeviceGetName(device->name, sizeof device->name, device->device) !=
        LT_CUDA_SUCCESS)
        snprintf(device->name, sizeof device->name, "GPU %d", device->ordinal);
    device->l2_bytes = l2;
    device->arch = lt_arch_of_capability(device->major, device->minor);
    return LATHE_OK;
}

const char *lt_device_title(const struct lt_device *device, char title[LT_DEVICE_TITLE_SIZE])
{
    if (lt_device_is_emulated(device))
        snprintf(title, LT_DEVICE_TITLE_SIZE, "the emulator (%s)", lathe_arch_name(device->arch));
    else if (device->arch == LATHE_ARCH_DEFAULT)
        snprintf(title, LT_DEVICE_TITLE_SIZE, "GPU %d (%s, compute capability %d.%d)",
                 device->ordinal, device->name, device->major, device->minor);
    else
        snprintf(title, LT_DEVICE_TITLE_SIZE, "GPU %d (%s, %s)", device->ordinal, device->name,
                 lathe_arch_name(device->arch));
    return title;
}

/* ---- From probing to closing ---- */

static enum lathe_status probe_gpu(struct lt_device *device, const struct lt_device_choice *choice,
                                   struct lathe_error *err)
{
    enum lathe_status status = lt_driver_open(&device->driver, choice->driver_library, err);

    if (status == LATHE_OK)
        status = choose(device, choice, err);
    if (status == LATHE_OK)
        status = read_properties(device, err);
    if (status != LATHE_OK)
        lt_device_close(device);
    return status;
}

static bool is_wanted(enum lathe_arch arch, enum lathe_arch wanted)
{
    return wanted == LATHE_ARCH_DEFAULT ? lt_arch_has_kernels(arch) : arch == wanted;
}

/* The first of the emulator's devices that is wanted, if there is one. */
static enum lathe_status find_emulated(struct lt_device *device, enum lathe_arch wanted,
                                       bool *found, struct lathe_error *err)
{
    int count = 0;
    enum lathe_status status = lt_driver_check(
        &device->driver, device->driver.cuDeviceGetCount(&count), "cuDeviceGetCount", err);

    *found = false;
    for (int i = 0; i < count && status == LATHE_OK && !*found; i++) {
        status = take_ordinal(device, i, err);
        if (status == LATHE_OK)
            status = read_properties(device, err);
        *found = status == LATHE_OK && is_wanted(device->arch, wanted);
    }
    return status;
}

static enum lathe_status take_emulated(struct lt_device *device, enum lathe_arch wanted,
                                       struct lathe_error *err)
{
    enum lathe_arch usual = wanted == LATHE_ARCH_DEFAULT ? lt_default_arch() : wanted;
    bool found;
    enum lathe_status status = find_emulated(device, usual, &found, err);

    if (status == LATHE_OK && !found && wanted == LATHE_ARCH_DEFAULT)
        status = find_emulated(device, wanted, &found, err);
    if (found)
        return LATHE_OK;
    return status == LATHE_OK
               ? lt_fail(err, LATHE_NO_DEVICE, "the emulator %.200s has no device of %s",
                         device->driver.library.found,
                         wanted == LATHE_ARCH_DEFAULT ? "an architecture that kernels are for"
                                                      : lathe_arch_name(wanted))
               : status;
}

static enum lathe_status probe_emulator(struct lt_device *device,
                                        const struct lt_device_choice *choice,
                                        struct lathe_error *err)
{
    char path[LT_EMULATOR_PATH_SIZE];
    enum lathe_status status =
        lt_driver_open_emulator(&device->driver, lt_emulator_find(choice->emulator, path), err);

    if (status == LATHE_OK && choice->use == LATHE_EMULATOR_ALWAYS && choice->cuda_context) {
        device->cu_context = choice->cuda_context;
        status = device_of_context(device, err);
        if (status == LATHE_OK)
            status = read_properties(device, err);
    } else if (status == LATHE_OK) {
        status = take_emulated(device, choice->emulated_arch, err);
    }
    if (status != LATHE_OK)
        lt_device_close(device);
    return status;
}

static bool is_absence(enum lathe_status status)
{
    return status == LATHE_NO_DRIVER || status == LATHE_NO_DEVICE;
}

/* Somebody has named an emulator, and counts on it. */
static void tell_both(struct lathe_error *why, const struct lathe_error *also)
{
    size_t length = strlen(why->message);

    snprintf(why->message + length, sizeof why->message - length, "; %s", also->message);
}

enum lathe_status lt_device_probe(struct lt_device *device, const struct lt_device_choice *choice,
                                  struct lathe_error *err)
{
    struct lathe_error why = {.status = LATHE_OK}, also = {.status = LATHE_OK};
    enum lathe_status status;

    memset(device, 0, sizeof *device);
    if (choice->use == LATHE_EMULATOR_ALWAYS)
        return probe_emulator(device, choice, err);
    status = probe_gpu(device, choice, &why);
    if (is_absence(status) && choice->use == LATHE_EMULATOR_WITHOUT_GPU) {
        enum lathe_status emulated = probe_emulator(device, choice, &also);

        if (emulated == LATHE_NO_DRIVER && choice->emulator)
            tell_both(&why, &also);
        if (emulated != LATHE_NO_DRIVER) { /* it is there, and its reason is the nearer one */
            status = emulated;
            why = also;
        }
    }
    if (status != LATHE_OK && err)
        *err = why;
    return status;
}

enum lathe_status lt_device_retain(struct lt_device *device, struct lathe_error *err)
{
    lt_cu_context primary = NULL;

    if (device->cu_context)
        return LATHE_OK;

    enum lathe_status status = lt_driver_check(
        &device->driver, device->driver.cuDevicePrimaryCtxRetain(&primary, device->device),
        "cuDevicePrimaryCtxRetain", err);

    if (status == LATHE_OK) {
        device->cu_context = primary;
        device->retained = true;
    }
    return status;
}

void lt_device_close(struct lt_device *device)
{
    if (device->retained)
        device->driver.cuDevicePrimaryCtxRelease(device->device);
    lt_driver_close(&device->driver);
    memset(device, 0, sizeof *device);
}

/* ---- The thread's current CUDA context ---- */

enum lathe_status lt_enter(const struct lt_device *device, struct lt_entered *entered,
                           struct lathe_error *err)
{
    lt_cu_context current = NULL;

    entered->pushed = false;
    if (device->driver.cuCtxGetCurrent(&current) == LT_CUDA_SUCCESS &&
        current == device->cu_context)
        return LATHE_OK;

    int result = device->driver.cuCtxPushCurrent(device->cu_context);

    entered->pushed = result == LT_CUDA_SUCCESS;
    return lt_driver_check(&device->driver, result, "cuCtxPushCurrent", err);
}

void lt_leave(const struct lt_device *device, struct lt_entered *entered)
{
    lt_cu_context popped;

    if (entered->pushed)
        device->driver.cuCtxPopCurrent(&popped);
    entered->pushed = false;
}
