/* doctor.c: what of the machine Lathe can use, in words. */
#include "include/lathe_tools.h"
#include "runtime/context.h"
#include "runtime/cublaslt.h"
#include "runtime/nvrtc.h"
#include "templates/registry.h"

#include <limits.h>
#include <stdarg.h>
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

static void add_found(struct report *report, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_found(struct report *report, const char *what, const char *format, ...)
{
    struct lathe_finding *finding = add(report, LATHE_FOUND, what);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(finding->detail, sizeof finding->detail, format, arguments);
    va_end(arguments);
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
    enum lathe_status status = lt_context_probe(context, &device, &error);
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
    add_found(report, "driver", "for CUDA %d.%d", device->driver.version / 1000,
              device->driver.version % 1000 / 10);

    snprintf(what, sizeof what, "GPU %d", device->ordinal);

    bool served = lt_arch_has_kernels(device->arch);
    char capability[40];
    struct lathe_finding *gpu = add(report, served ? LATHE_FOUND : LATHE_TROUBLE, what);

    snprintf(capability, sizeof capability, "compute capability %d.%d", device->major,
             device->minor);
    if (device->arch != LATHE_ARCH_DEFAULT)
        snprintf(capability, sizeof capability, "%s", lathe_arch_name(device->arch));
    snprintf(gpu->detail, sizeof gpu->detail, "%s, %s, %d multiprocessors, L2 of %lld MiB",
             device->name, capability, device->sms, (long long)(device->l2_bytes >> 20));
    if (!served)
        snprintf(gpu->advice, sizeof gpu->advice,
                 "there are no kernels for %s yet; plan, emit and build make those for %s",
                 capability, lathe_arch_name(lt_default_arch()));
}

static void look_at_linker(struct report *report, struct lathe_context *context)
{
    struct lt_linker *linker = NULL;
    struct lathe_error error = {.status = LATHE_OK};

    if (lt_context_linker(context, &linker, &error) == LATHE_OK)
        add_found(report, "nvJitLink", "%s", lt_linker_version(linker));
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
        add_found(report, "NVRTC", "%s", lt_nvrtc_version(nvrtc));
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
        add_found(report, "cuBLASLt", "%s", lt_cublaslt_version(cublaslt));
    else
        add_trouble(report, LATHE_MISSING, "cuBLASLt", &error);
    lt_cublaslt_close(&cublaslt);
}

/* A cache that is switched off is no trouble: it was asked for. */
static void look_at_cache(struct report *report, struct lathe_context *context)
{
    struct lathe_error error = {.status = LATHE_OK};
    struct lt_cache *cache = NULL;
    char path[PATH_MAX];

    if (lt_context_cache(context, &cache, &error) != LATHE_OK)
        add_trouble(report, LATHE_TROUBLE, "cache", &error);
    else if (!lt_cache_enabled(cache))
        add_found(report, "cache", "switched off");
    else if (lt_cache_path(cache, path, sizeof path, &error) == LATHE_OK)
        add_found(report, "cache", "%s", path);
    else
        add_trouble(report, LATHE_TROUBLE, "cache", &error);
}

size_t lathe_doctor(struct lathe_context *context, struct lathe_finding *findings, size_t room)
{
    struct report report = {.findings = findings, .room = findings ? room : 0};

    if (!context)
        return 0;
    look_at_device(&report, context);
    look_at_linker(&report, context);
    look_at_nvrtc(&report, context);
    look_at_cublaslt(&report, context);
    look_at_cache(&report, context);
    return report.count;
}
