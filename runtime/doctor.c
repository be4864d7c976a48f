/* doctor.c: what of the machine Lathe can use, in words. */
#include "include/lathe_tools.h"
#include "runtime/context.h"
#include "runtime/cublaslt.h"
#include "runtime/nvrtc.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

struct report {
    struct lathe_finding *findings;
    size_t room, count;
    struct lathe_finding beyond; /* takes what the caller has no room for */
};

static struct lathe_finding *add(struct report *report, enum lathe_found found, const char *what)
{
    struct lathe_finding *finding =
        report->count < report->room ? &report->findings[report->count] : &report->beyond;

    report->count++;
    memset(finding, 0, sizeof *finding);
    finding->found = found;
    snprintf(finding->what, sizeof finding->what, "%s", what);
    return finding;
}

/* A message of the form "what is wrong; what to do" falls into the two parts of a finding. */
static void add_trouble(struct report *report, enum lathe_found found, const char *what,
                        const struct lathe_error *error)
{
    struct lathe_finding *finding = add(report, found, what);
    const char *advice = strstr(error->message, "; ");
    size_t length = advice ? (size_t)(advice - error->message) : strlen(error->message);

    snprintf(finding->detail, sizeof finding->detail, "%.*s", (int)length, error->message);
    if (advice)
        snprintf(finding->advice, sizeof finding->advice, "%s", advice + 2);
}

static void look_at_device(struct report *report, struct lathe_context *context)
{
    const struct lt_device *device = NULL;
    struct lathe_error error = {.status = LATHE_OK};
    enum lathe_status status = lt_context_device(context, &device, &error);
    char what[32];

    if (status == LATHE_NO_DRIVER) {
        add_trouble(report, LATHE_MISSING, "driver", &error);
        return;
    }
    if (status != LATHE_OK) {
        add_trouble(report, status == LATHE_NO_DEVICE ? LATHE_MISSING : LATHE_TROUBLE, "GPU",
                    &error);
        return;
    }
    snprintf(add(report, LATHE_FOUND, "driver")->detail, 256, "for CUDA %d.%d",
             device->driver.version / 1000, device->driver.version % 1000 / 10);

    snprintf(what, sizeof what, "GPU %d", device->ordinal);

    bool served = lt_variant_find(LATHE_GEMM, device->arch, "") != NULL;
    struct lathe_finding *gpu = add(report, served ? LATHE_FOUND : LATHE_TROUBLE, what);

    snprintf(gpu->detail, sizeof gpu->detail, "%s, %s, %d multiprocessors, L2 of %lld MiB",
             device->name, lathe_arch_name(device->arch), device->sms,
             (long long)(device->l2_bytes >> 20));
    if (!served)
        snprintf(gpu->advice, sizeof gpu->advice,
                 "there are no kernels for %s so far; texts for other architectures can be made",
                 lathe_arch_name(device->arch));
}

static void look_at_linker(struct report *report, struct lathe_context *context)
{
    struct lt_linker *linker = NULL;
    struct lathe_error error = {.status = LATHE_OK};

    if (lt_context_linker(context, &linker, &error) == LATHE_OK)
        snprintf(add(report, LATHE_FOUND, "nvJitLink")->detail, 256, "%s",
                 lt_linker_version(linker));
    else
        add_trouble(report, LATHE_MISSING, "nvJitLink", &error);
}

static void look_at_nvrtc(struct report *report, struct lathe_context *context)
{
    struct lt_nvrtc *nvrtc = NULL;
    struct lathe_error error = {.status = LATHE_OK};
    const char *roots[LT_ROOTS];

    lt_context_roots(context, roots);
    if (lt_nvrtc_open(&nvrtc, lt_context_variable(context, "LATHE_NVRTC_LIBRARY"), roots,
                      lt_context_allocator(context), &error) == LATHE_OK)
        snprintf(add(report, LATHE_FOUND, "NVRTC")->detail, 256, "%s", lt_nvrtc_version(nvrtc));
    else
        add_trouble(report, LATHE_MISSING, "NVRTC", &error);
    lt_nvrtc_close(&nvrtc);
}

static void look_at_cublaslt(struct report *report, struct lathe_context *context)
{
    struct lt_cublaslt *cublaslt = NULL;
    struct lathe_error error = {.status = LATHE_OK};
    const char *roots[LT_ROOTS];

    lt_context_roots(context, roots);
    if (lt_cublaslt_open(&cublaslt, lt_context_variable(context, "LATHE_CUBLASLT_LIBRARY"), roots,
                         lt_context_allocator(context), &error) == LATHE_OK)
        snprintf(add(report, LATHE_FOUND, "cuBLASLt")->detail, 256, "%s",
                 lt_cublaslt_version(cublaslt));
    else
        add_trouble(report, LATHE_MISSING, "cuBLASLt", &error);
    lt_cublaslt_close(&cublaslt);
}

static void look_at_cache(struct report *report, struct lathe_context *context)
{
    struct lathe_error error = {.status = LATHE_OK};
    char path[256];

    if (lathe_cache_path(context, path, sizeof path, &error) == LATHE_OK)
        snprintf(add(report, LATHE_FOUND, "cache")->detail, 256, "%s", path);
    else
        add_trouble(report, LATHE_TROUBLE, "cache", &error);
}

size_t lathe_doctor(struct lathe_context *context, struct lathe_finding *findings, size_t room)
{
    struct report report = {.findings = findings, .room = room};

    look_at_device(&report, context);
    look_at_linker(&report, context);
    look_at_nvrtc(&report, context);
    look_at_cublaslt(&report, context);
    look_at_cache(&report, context);
    return report.count;
}
