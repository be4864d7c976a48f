#include "runtime/nvml.h"

#include "codegen/status.h"
#include "runtime/clock.h"

#include <stdio.h>
#include <string.h>

/* Values of nvml.h, by the names they have there without the NVML_ prefix. */
enum { SUCCESS = 0, CLOCK_SM = 1, TEMPERATURE_GPU = 0 };

enum { BUS_ID_SIZE = 32, UUID_SIZE = 48 };

/* The first function that the library lacks, or null. */
static const char *load(struct lt_nvml *nvml)
{
    const struct lt_library_function functions[] = {
        {"nvmlInit_v2", &nvml->init},
        {"nvmlShutdown", &nvml->shutdown},
        {"nvmlErrorString", &nvml->error},
        {"nvmlSystemGetDriverVersion", &nvml->driver_version},
        {"nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_bus_id},
        {"nvmlDeviceGetHandleByUUID", &nvml->by_uuid},
        {"nvmlDeviceGetClockInfo", &nvml->clock},
        {"nvmlDeviceGetPowerUsage", &nvml->power},
        {"nvmlDeviceGetTemperature", &nvml->temperature},
    };

    return lt_library_load(&nvml->library, functions, sizeof functions / sizeof functions[0], NULL);
}

/* "GPU-7f1b2c3d-....": as NVML writes it. */
static void write_uuid(const struct lt_cu_uuid *uuid, char text[UUID_SIZE])
{
    int length = snprintf(text, UUID_SIZE, "GPU-");

    for (int i = 0; i < 16; i++)
        length += snprintf(text + length, UUID_SIZE - (size_t)length, "%s%02x",
                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid->bytes[i]);
}

static int find(struct lt_nvml *nvml, const struct lt_device *device)
{
    const struct lt_driver *driver = &device->driver;
    char bus_id[BUS_ID_SIZE] = "", text[UUID_SIZE];
    struct lt_cu_uuid uuid;
    int result = -1;

    if (driver->cuDeviceGetPCIBusId(bus_id, sizeof bus_id, device->device) == LT_CUDA_SUCCESS)
        result = nvml->by_bus_id(bus_id, &nvml->device);
    if (result != SUCCESS && driver->cuDeviceGetUuid_v2(&uuid, device->device) == LT_CUDA_SUCCESS) {
        write_uuid(&uuid, text);
        result = nvml->by_uuid(text, &nvml->device);
    }
    return result;
}

static enum lathe_status start(struct lt_nvml *nvml, const struct lt_device *device,
                               struct lathe_error *err)
{
    int result = nvml->init();

    nvml->started = result == SUCCESS;
    if (result == SUCCESS)
        result = find(nvml, device);
    return result == SUCCESS ? LATHE_OK
                             : lt_fail(err, LATHE_NO_DEVICE, "NVML does not show GPU %d: %s (%d)",
                                       device->ordinal, nvml->error(result), result);
}

enum lathe_status lt_nvml_open(struct lt_nvml *nvml, const struct lt_device *device,
                               const char *path, struct lathe_error *err)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    const struct lt_library_search search = {
        .title = "NVML",
        .install = "it comes with NVIDIA's driver; clocks are not shown without it",
        .status = LATHE_NO_LIBRARY,
        .path = path,
        .names = names,
    };
    enum lathe_status status;

    *nvml = (struct lt_nvml){.device = NULL};
    status = lt_library_open(&nvml->library, &search, err);

    const char *missing = status == LATHE_OK ? load(nvml) : NULL;

    if (missing)
        status = lt_library_refuse(&nvml->library, &search, missing, err);
    if (status == LATHE_OK)
        status = start(nvml, device, err);
    if (status != LATHE_OK)
        lt_nvml_close(nvml);
    return status;
}

void lt_nvml_close(struct lt_nvml *nvml)
{
    if (nvml->started)
        nvml->shutdown();
    *nvml = (struct lt_nvml){.device = NULL};
}

void lt_nvml_driver_version(const struct lt_nvml *nvml, char *version, size_t size)
{
    if (nvml->driver_version(version, (unsigned)size) != SUCCESS)
        version[0] = '\0';
    version[size - 1] = '\0';
}

bool lt_nvml_read(const struct lt_nvml *nvml, struct lt_clock_sample *sample)
{
    unsigned mhz = 0, milliwatts = 0, celsius = 0;

    *sample = (struct lt_clock_sample){.at_us = lt_now_us()};
    if (nvml->clock(nvml->device, CLOCK_SM, &mhz) != SUCCESS)
        return false;
    if (nvml->power(nvml->device, &milliwatts) != SUCCESS)
        milliwatts = 0;
    if (nvml->temperature(nvml->device, TEMPERATURE_GPU, &celsius) != SUCCESS)
        celsius = 0;
    sample->sm_mhz = mhz;
    sample->power_w = milliwatts / 1e3;
    sample->temperature_c = celsius;
    return true;
}
