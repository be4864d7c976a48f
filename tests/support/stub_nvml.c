/* stub_nvml.c: plays NVML beside the stub driver: STUB_NVML_DEVICES (1) GPUs on the buses from 1
 * on. That on bus b runs at 1000 + b MHz, takes 300 + b W and has 40 + b degrees.
 * STUB_NVML_FAIL names functions that fail,
 * apart by commas: "nvmlInit_v2,nvmlDeviceGetPowerUsage". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_FOUND = 6, UNKNOWN = 999, CLOCK_SM = 1, BUSES = 16 };

struct gpu {
    unsigned bus;
};

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int result);
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned size);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct gpu **gpu);
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, struct gpu **gpu);
EXPORT int nvmlDeviceGetClockInfo(struct gpu *gpu, int which, unsigned *mhz);
EXPORT int nvmlDeviceGetPowerUsage(struct gpu *gpu, unsigned *milliwatts);
EXPORT int nvmlDeviceGetTemperature(struct gpu *gpu, int sensor, unsigned *celsius);

static struct gpu gpus[BUSES];

static int may(const char *function)
{
    const char *failing = getenv("STUB_NVML_FAIL");

    return failing && strstr(failing, function) ? UNKNOWN : SUCCESS;
}

static unsigned device_count(void)
{
    const char *text = getenv("STUB_NVML_DEVICES");

    return text ? (unsigned)atoi(text) : 1;
}

static int find(unsigned bus, struct gpu **gpu)
{
    if (bus < 1 || bus > device_count() || bus > BUSES)
        return NOT_FOUND;
    gpus[bus - 1].bus = bus;
    *gpu = &gpus[bus - 1];
    return SUCCESS;
}

int nvmlInit_v2(void)
{
    return may("nvmlInit_v2");
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int result)
{
    return result == NOT_FOUND ? "Not Found" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    snprintf(version, size, "580.95.05");
    return may("nvmlSystemGetDriverVersion");
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct gpu **gpu)
{
    unsigned domain, bus;

    if (sscanf(id, "%x:%x:00.0", &domain, &bus) != 2)
        return INVALID_ARGUMENT;
    return may("nvmlDeviceGetHandleByPciBusId_v2") == SUCCESS ? find(bus, gpu) : UNKNOWN;
}

/* The stub driver's UUIDs hold the device's number in their last byte. */
int nvmlDeviceGetHandleByUUID(const char *uuid, struct gpu **gpu)
{
    unsigned ordinal;

    if (sscanf(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e%2x", &ordinal) != 1)
        return NOT_FOUND;
    return may("nvmlDeviceGetHandleByUUID") == SUCCESS ? find(ordinal + 1, gpu) : UNKNOWN;
}

int nvmlDeviceGetClockInfo(struct gpu *gpu, int which, unsigned *mhz)
{
    if (which != CLOCK_SM)
        return INVALID_ARGUMENT;
    *mhz = 1000 + gpu->bus;
    return may("nvmlDeviceGetClockInfo");
}

int nvmlDeviceGetPowerUsage(struct gpu *gpu, unsigned *milliwatts)
{
    *milliwatts = 1000 * (300 + gpu->bus);
    return may("nvmlDeviceGetPowerUsage");
}

int nvmlDeviceGetTemperature(struct gpu *gpu, int sensor, unsigned *celsius)
{
    if (sensor != 0)
        return INVALID_ARGUMENT;
    *celsius = 40 + gpu->bus;
    return may("nvmlDeviceGetTemperature");
}
