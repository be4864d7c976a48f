/* nvml.h: NVIDIA's management library, opened when a benchmark wants to know at what clock, power
 * and temperature a GPU runs. Nobody has to have it. */
#ifndef LT_RUNTIME_NVML_H
#define LT_RUNTIME_NVML_H

#include "runtime/device.h"

typedef struct lt_nvml_device_tag *lt_nvml_device;

/* What is used of nvml.h; results are nvmlReturn_t, of which 0 is success. */
struct lt_nvml {
    struct lt_library library;
    lt_nvml_device device;
    bool started;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error)(int result);
    int (*driver_version)(char *version, unsigned size);
    int (*by_bus_id)(const char *id, lt_nvml_device *device);
    int (*by_uuid)(const char *uuid, lt_nvml_device *device);
    int (*clock)(lt_nvml_device device, int which, unsigned *mhz);
    int (*power)(lt_nvml_device device, unsigned *milliwatts);
    int (*temperature)(lt_nvml_device device, int sensor, unsigned *celsius);
};

/* What the GPU did at a moment; a value that it does not tell is 0. */
struct lt_clock_sample {
    double at_us; /* by lt_now_us() */
    double sm_mhz, power_w, temperature_c;
};

/* Opens the library (`path` null: libnvidia-ml.so.1) and finds the driver's device in it, whatever
 * number it has there: by its PCI bus id, else by its UUID. `nvml` is closed after a failure.
 * Errors: LATHE_NO_LIBRARY, LATHE_NO_DEVICE (it knows no such GPU, or does not run). */
enum lathe_status lt_nvml_open(struct lt_nvml *nvml, const struct lt_device *device,
                               const char *path, struct lathe_error *err);
/* Accepts one that is all zero. */
void lt_nvml_close(struct lt_nvml *nvml);

/* The driver's own version, "580.95.05"; empty when it does not tell. */
void lt_nvml_driver_version(const struct lt_nvml *nvml, char *version, size_t size);

/* False when not even the clock can be had. */
bool lt_nvml_read(const struct lt_nvml *nvml, struct lt_clock_sample *sample);

#endif
