/* bench_machine.c: lathe_bench_machine(): on what figures were measured. */
#include "include/lathe_tools.h"

#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/context.h"
#include "runtime/cublaslt.h"
#include "runtime/nvml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void hash_device(const struct lt_device *device, char *text, size_t size)
{
    struct lt_cu_uuid uuid;

    if (device->driver.cuDeviceGetUuid_v2(&uuid, device->device) == LT_CUDA_SUCCESS)
        snprintf(text, size, "%016" PRIx64, (uint64_t)XXH3_64bits(uuid.bytes, sizeof uuid.bytes));
}

static void ask_nvml(const struct lt_device *device, const char *path, char *text, size_t size)
{
    struct lt_nvml nvml;

    if (lt_nvml_open(&nvml, device, path, NULL) != LATHE_OK)
        return;
    lt_nvml_driver_version(&nvml, text, size);
    lt_nvml_close(&nvml);
}

static void ask_cublaslt(const struct lathe_context *context, const char *path, char *text,
                         size_t size)
{
    struct lt_cublaslt *cublaslt = NULL;
    const char *roots[LT_ROOTS];

    lt_context_roots(context, roots);
    if (lt_cublaslt_open(&cublaslt, path, roots, lt_context_allocator(context), NULL) == LATHE_OK)
        snprintf(text, size, "%s", lt_cublaslt_version(cublaslt));
    lt_cublaslt_close(&cublaslt);
}

enum lathe_status lathe_bench_machine(struct lathe_context *context,
                                      const struct lathe_bench_options *bench,
                                      struct lathe_bench_machine *machine, struct lathe_error *err)
{
    struct lathe_bench_machine made = LATHE_BENCH_MACHINE_INIT;
    struct lathe_bench_options options;
    const struct lt_device *device = NULL;
    const char *nvml, *cublaslt;
    enum lathe_status status;

    if (!context || !machine)
        return lt_fail(err, LATHE_MISUSED, "lathe_bench_machine: no %s",
                       !context ? "context" : "place for the answer");
    status = lt_check_size(machine, "lathe_bench_machine", err);
    if (status == LATHE_OK)
        status = lt_import(&options, bench, "lathe_bench_options", err);
    if (status == LATHE_OK)
        status = lt_context_probe(context, &device, err);
    if (status != LATHE_OK)
        return status;
    nvml = options.nvml_library ? options.nvml_library
                                : lt_context_variable(context, "LATHE_NVML_LIBRARY");
    cublaslt = options.cublaslt_library ? options.cublaslt_library
                                        : lt_context_variable(context, "LATHE_CUBLASLT_LIBRARY");
    snprintf(made.device, sizeof made.device, "%s", device->name);
    made.arch = device->arch;
    made.sms = device->sms;
    made.cuda_version = device->driver.version;
    hash_device(device, made.device_hash, sizeof made.device_hash);
    ask_nvml(device, nvml, made.driver, sizeof made.driver);
    if (options.vs_cublaslt || options.vs_cublaslt_best)
        ask_cublaslt(context, cublaslt, made.cublaslt, sizeof made.cublaslt);
    lt_export(machine, &made);
    return LATHE_OK;
}
