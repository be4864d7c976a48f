/* driver_device.c: cuInit, errors in words, and the devices: one for each architecture. */
#include "emulator/driver_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Architectures ---- */

/* Limits: CUDA C Programming Guide, "Compute Capabilities". The rest is that of the product named:
 * a program may ask, but nothing here is as fast. */
static const struct emu_cu_architecture architectures[] = {
    /* A100 */
    {"sm_80", 80, 108, 40 << 20, 1410000, 1215000, 5120, 164 << 10, 2048, 32, 2},
    /* RTX 3090 */
    {"sm_86", 86, 82, 6 << 20, 1695000, 9751000, 384, 100 << 10, 1536, 16, 64},
    /* RTX 4090 */
    {"sm_89", 89, 128, 72 << 20, 2520000, 10501000, 384, 100 << 10, 1536, 24, 64},
    /* H200 */
    {"sm_90a", 90, 132, 60 << 20, 1980000, 3201000, 6144, 228 << 10, 2048, 32, 2},
    /* B200 */
    {"sm_100a", 100, 148, 126 << 20, 1965000, 3996000, 8192, 228 << 10, 2048, 32, 2},
    /* B300 */
    {"sm_103a", 103, 148, 126 << 20, 1920000, 3996000, 8192, 228 << 10, 2048, 32, 64},
    /* RTX 5090 */
    {"sm_120a", 120, 170, 96 << 20, 2407000, 14001000, 512, 100 << 10, 1536, 24, 64},
};
enum { ARCHITECTURES = sizeof architectures / sizeof architectures[0] };
/* Of what the environment counts. */
enum { NUMBER_MAX = 1024 };

/* Of "sm_90a"; "sm_90" is the same device. */
static const struct emu_cu_architecture *architecture_named(const char *word, size_t length)
{
    for (int i = 0; i < ARCHITECTURES; i++) {
        const char *name = architectures[i].name;
        size_t all = strlen(name), plain = name[all - 1] == 'a' ? all - 1 : all;

        if ((length == all || length == plain) && memcmp(name, word, length) == 0)
            return &architectures[i];
    }
    return NULL;
}

/* Fills the list as LATHE_EMU_ARCH says; its length, or 0 for a word that is no architecture. */
static int list_devices(const struct emu_cu_architecture **list, int room)
{
    const char *word = getenv("LATHE_EMU_ARCH");
    int count = 0;

    if (!word || !*word) {
        for (int i = 0; i < ARCHITECTURES; i++)
            list[i] = &architectures[i];
        return ARCHITECTURES;
    }
    for (; count < room; word++) {
        size_t length = strcspn(word, ", ");

        if (length > 0) {
            list[count] = architecture_named(word, length);
            if (!list[count]) {
                emu_cu_report(0,
                              "LATHE_EMU_ARCH: %.*s is no architecture of the emulator; it has "
                              "sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a and sm_120a",
                              (int)(length < 40 ? length : 40), word);
                return 0;
            }
            count++;
        }
        word += length;
        if (!*word)
            break;
    }
    if (count == 0)
        emu_cu_report(0, "LATHE_EMU_ARCH: no architecture is named, such as sm_90a,sm_100a");
    return count;
}

/* As the variable says; 0: it says nothing; -1: it says nothing that makes sense. */
static int number_wanted(const char *variable, const char *of_what)
{
    const char *word = getenv(variable);
    char *end;
    long value;

    if (!word || !*word)
        return 0;
    errno = 0;
    value = strtol(word, &end, 10);
    if (errno || *end || value < 1 || value > NUMBER_MAX) {
        emu_cu_report(0, "%s: %.40s is no number of %s (1 to %d)", variable, word, of_what,
                      NUMBER_MAX);
        return -1;
    }
    return (int)value;
}

CUresult emu_cu_init(unsigned flags)
{
    enum { ROOM = 64 };
    const struct emu_cu_architecture *list[ROOM];
    int count, multiprocessors, threads, check_mode;
    struct emu_cu_gpu *gpus;

    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (emu_cu_driver.initialised)
        return CUDA_SUCCESS;
    count = list_devices(list, ROOM);
    multiprocessors = count ? number_wanted("LATHE_EMU_SMS", "multiprocessors") : -1;
    threads = multiprocessors >= 0 ? number_wanted("LATHE_EMU_THREADS", "threads") : -1;
    check_mode = threads >= 0 ? emu_cu_check_mode() : -1;
    if (check_mode < 0)
        return CUDA_ERROR_NO_DEVICE;
    gpus = calloc((size_t)count, sizeof *gpus);
    if (!gpus)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < count; i++) {
        gpus[i].ordinal = i;
        gpus[i].arch = list[i];
        gpus[i].multiprocessors = multiprocessors ? multiprocessors : list[i]->multiprocessors;
    }
    emu_cu_driver.threads_of_environment = (uint32_t)threads;
    emu_cu_driver.gpus = gpus;
    emu_cu_driver.gpu_count = count;
    emu_cu_driver.initialised = true;
    if (emu_cu_driver.check_mode == EMU_CHECK_OFF) {
        emu_cu_driver.check_mode = check_mode;
        emu_cu_driver.check_prints = check_mode != EMU_CHECK_OFF;
    }
    return CUDA_SUCCESS;
}

CUresult emu_cu_driver_version(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = EMU_DRIVER_VERSION;
    return CUDA_SUCCESS;
}

CUresult emu_cu_profiler(void)
{
    return CUDA_SUCCESS;
}

/* ---- Errors ---- */

static const struct {
    CUresult value;
    const char *name, *text;
} errors[] = {
#define EMU_ERROR(name, value, text) {value, #name, text},
#include "emulator/driver_errors.def"
#undef EMU_ERROR
};

static CUresult describe(CUresult error, const char **name, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].value == error) {
            *name = errors[i].name;
            *text = errors[i].text;
            return CUDA_SUCCESS;
        }
    *name = *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

const char *emu_cu_error_words(CUresult error)
{
    const char *name, *text;

    return describe(error, &name, &text) ? NULL : text;
}

CUresult emu_cu_error_name(CUresult error, const char **name)
{
    const char *text;

    return name ? describe(error, name, &text) : CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_error_string(CUresult error, const char **text)
{
    const char *name;

    return text ? describe(error, &name, text) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Devices ---- */

CUresult emu_cu_device_count(int *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = emu_cu_driver.gpu_count;
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_get(CUdevice *device, int ordinal)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_cu_gpu_of(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_name(char *name, int length, CUdevice device)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)length, "Lathe emulator %s", gpu->arch->name);
    return CUDA_SUCCESS;
}

/* The same in every process: what it is, and which. */
CUresult emu_cu_device_uuid(CUuuid *uuid, CUdevice device)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);
    char words[sizeof uuid->bytes + 1] = {0};

    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(words, sizeof words, "emu %s %d", gpu->arch->name, gpu->ordinal);
    memcpy(uuid->bytes, words, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_memory(size_t *bytes, CUdevice device)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = emu_cu_memory_total(gpu);
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);
    const struct emu_cu_architecture *arch;

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    arch = gpu->arch;
    switch (attribute) {
#define EMU_ATTRIBUTE(name, code, number)                                                          \
    case code:                                                                                     \
        *value = number;                                                                           \
        return CUDA_SUCCESS;
#include "emulator/driver_attributes.def"
#undef EMU_ATTRIBUTE
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_device_capability(int *major, int *minor, CUdevice device)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    *major = gpu->arch->target / 10;
    *minor = gpu->arch->target % 10;
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_properties(CUdevprop *properties, CUdevice device)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!properties)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    *properties = (CUdevprop){.maxThreadsPerBlock = EMU_BLOCK_THREADS,
                              .maxThreadsDim = {1024, 1024, 64},
                              .maxGridSize = {INT32_MAX, 65535, 65535},
                              .sharedMemPerBlock = EMU_SHARED_PLAIN,
                              .totalConstantMemory = 65536,
                              .SIMDWidth = 32,
                              .memPitch = INT32_MAX,
                              .regsPerBlock = EMU_SM_REGISTERS,
                              .clockRate = gpu->arch->clock_khz,
                              .textureAlign = 512};
    return CUDA_SUCCESS;
}

/* "0000:00:03.0": the fourth device. */
CUresult emu_cu_device_bus_id(char *id, int length, CUdevice device)
{
    if (!id || length < 13)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_cu_gpu_of(device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(id, (size_t)length, "0000:00:%02X.0", (unsigned)device & 0xff);
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_by_bus_id(CUdevice *device, const char *id)
{
    unsigned domain = 0, bus, slot, function = 0;
    char end;

    if (!device || !id)
        return CUDA_ERROR_INVALID_VALUE;
    if (sscanf(id, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &end) != 4) {
        domain = function = 0;
        if (sscanf(id, "%x:%x.%x%c", &bus, &slot, &function, &end) != 3)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (domain || bus || function || slot >= (unsigned)emu_cu_driver.gpu_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = (CUdevice)slot;
    return CUDA_SUCCESS;
}

/* ---- Peers: there are none ---- */

CUresult emu_cu_device_can_access(int *can, CUdevice device, CUdevice peer)
{
    if (!can)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_cu_gpu_of(device) || !emu_cu_gpu_of(peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
}

CUresult emu_cu_device_peer_attribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                      CUdevice to)
{
    enum { FIRST = 1, LAST = 5 };

    if (!value || attribute < FIRST || attribute > LAST)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_cu_gpu_of(from) || !emu_cu_gpu_of(to) || from == to)
        return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    return CUDA_SUCCESS;
}
