/* device.h: the one GPU that a context works on. It is looked at without a CUDA context, which
 * costs a tenth of a second and device memory; one is made current only where work is to be done
 * there. */
#ifndef LT_RUNTIME_DEVICE_H
#define LT_RUNTIME_DEVICE_H

#include "runtime/driver.h"

#include <stdbool.h>

struct lt_device {
    struct lt_driver driver;
    int ordinal, device;
    lt_cu_context cu_context; /* to live in; null until retained where it is the primary one */
    bool retained;            /* cu_context is the primary one, retained by us */
    enum lathe_arch arch;     /* LATHE_ARCH_DEFAULT: none that Lathe knows */
    int major, minor;         /* compute capability */
    int sms;
    int64_t l2_bytes;
    char name[96];
};

/* Which device to take, and where the driver is. */
struct lt_device_choice {
    const char *driver_library; /* null: libcuda.so.1 */
    const char *emulator;       /* null: lt_emulator_find() */
    enum lathe_emulator_use use;
    enum lathe_arch emulated_arch; /* LATHE_ARCH_DEFAULT: as plans, or any */
    int ordinal;                   /* -1: the current context's device, else the first */
    void *cuda_context;            /* to live in, or null */
};

/* Whether it is the CPU that stands in: text is what it takes. */
static inline bool lt_device_is_emulated(const struct lt_device *device)
{
    return device->driver.emu_last_report != NULL;
}

/* Opens the driver and looks at the device: no CUDA context is made, and none is kept but the one
 * given or the calling thread's current one, if it is of that device. After a failure `device` is
 * closed. Errors: LATHE_NO_DRIVER, LATHE_NO_DEVICE, LATHE_MISUSED (a context of another device). */
enum lathe_status lt_device_probe(struct lt_device *device, const struct lt_device_choice *choice,
                                  struct lathe_error *err);
/* "GPU 0 (NVIDIA H200, sm_90a)", or with its compute capability where that is no architecture that
 * Lathe knows. */
enum { LT_DEVICE_TITLE_SIZE = 160 };
const char *lt_device_title(const struct lt_device *device, char title[LT_DEVICE_TITLE_SIZE]);
/* Retains the device's primary CUDA context, unless there is one to live in already. */
enum lathe_status lt_device_retain(struct lt_device *device, struct lathe_error *err);
/* Accepts one that is all zero. */
void lt_device_close(struct lt_device *device);

/* Makes the device's CUDA context current for this thread; lt_leave() puts back what was. */
struct lt_entered {
    bool pushed;
};
enum lathe_status lt_enter(const struct lt_device *device, struct lt_entered *entered,
                           struct lathe_error *err);
void lt_leave(const struct lt_device *device, struct lt_entered *entered);

#endif
