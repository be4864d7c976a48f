/* stub_context.c: devices and contexts of the stub driver. */
#include "tests/support/stub_play.h"

#include <stdio.h>
#include <string.h>

CUresult stub_init(unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (stub.device_count == 0)
        return CUDA_ERROR_NO_DEVICE;
    stub.initialised = true;
    return CUDA_SUCCESS;
}

CUresult stub_version(int *version)
{
    if (version == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *version = stub.version;
    return CUDA_SUCCESS;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static const struct {
    CUresult result;
    const char *name, *text;
} errors[] = {
#define STUB_ERROR(name, value, text) {name, #name, text},
#include "tests/support/stub_errors.def"
#undef STUB_ERROR
};

CUresult stub_error_name(CUresult result, const char **name)
{
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == result)
            *name = errors[i].name;
    return *name != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult stub_error_string(CUresult result, const char **text)
{
    if (text == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].result == result)
            *text = errors[i].text;
    return *text != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static bool is_device(CUdevice device)
{
    return device >= 0 && device < stub.device_count;
}

CUresult stub_device_count(int *count)
{
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = stub.device_count;
    return CUDA_SUCCESS;
}

CUresult stub_device(CUdevice *device, int ordinal)
{
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult stub_device_name(char *name, int size, CUdevice device)
{
    const struct stub_device *played;
    size_t length;

    if (name == NULL || size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    played = &stub.devices[device];
    length = strnlen(played->name, sizeof played->name);
    if (length >= (size_t)size)
        length = (size_t)size - 1;
    memcpy(name, played->name, length);
    name[length] = '\0';
    return CUDA_SUCCESS;
}

/* Bytes 0 to 15, the last one of them the ordinal's place. */
CUresult stub_device_uuid(CUuuid *uuid, CUdevice device)
{
    if (uuid == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)i;
    uuid->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}

/* As if device i sat on bus i + 1. */
CUresult stub_device_bus_id(char *id, int size, CUdevice device)
{
    if (id == NULL || size < 13)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(id, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return CUDA_SUCCESS;
}

static int attribute_of(const struct stub_device *device, CUdevice_attribute attribute)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
        return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        return INT32_MAX;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
        return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return 49152;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return device->clock_khz;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return device->sms;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return device->l2_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return 2048;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return device->major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return device->minor;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return device->optin_bytes + 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return device->optin_bytes;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return 1024;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
        return device->major >= 9;
    }
    return -1;
}

/* An attribute that the stub does not know is refused, so that a new use of one is noticed. */
CUresult stub_device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    int known;

    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    known = attribute_of(&stub.devices[device], attribute);
    if (known < 0)
        return CUDA_ERROR_INVALID_VALUE;
    *value = known;
    return CUDA_SUCCESS;
}

/* ---- Contexts -------------------------------------------------------------------------------- */

CUresult stub_primary_retain(CUcontext *context, CUdevice device)
{
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (stub.primary[device] == NULL) {
        struct stub_object *made = stub_create(STUB_CONTEXT, NULL);

        if (made == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        made->as.context.device = device;
        made->as.context.primary = true;
        stub.primary[device] = made;
        stub.retained[device] = 0;
    }
    stub.retained[device]++;
    *context = stub_handle(stub.primary[device]);
    return CUDA_SUCCESS;
}

CUresult stub_primary_release(CUdevice device)
{
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (stub.primary[device] == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--stub.retained[device] == 0)
        stub_destroy_context(stub.primary[device]);
    return CUDA_SUCCESS;
}

CUresult stub_context_current(CUcontext *context)
{
    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *context = stub_current_handle();
    return CUDA_SUCCESS;
}

CUresult stub_context_push(CUcontext context)
{
    return stub_push_context(context);
}

CUresult stub_context_pop(CUcontext *context)
{
    void *popped = stub_pop_context();

    if (popped == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context != NULL)
        *context = popped;
    return CUDA_SUCCESS;
}

CUresult stub_context_device(CUdevice *device)
{
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *device = stub_current()->as.context.device;
    return CUDA_SUCCESS;
}
