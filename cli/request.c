#include "cli/request.h"

#include "cli/output.h"
#include "lathe_tools.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEVICES_MAX = 1024 };

enum lathe_status request_read(const struct words *words, struct lathe_request *request,
                               struct lathe_error *err)
{
    *request = (struct lathe_request)LATHE_REQUEST_INIT;
    return lathe_request_parse(request, words->count, words->list, err);
}

enum lathe_arch request_emulated_arch(const struct lathe_request *request)
{
    enum lathe_arch wanted = lathe_variant_arch(request->plan.variant);

    if (request->plan.arch != LATHE_ARCH_DEFAULT)
        return request->plan.arch;
    return wanted == lathe_variant_arch("") ? LATHE_ARCH_DEFAULT : wanted;
}

static bool has_kernels(enum lathe_arch arch)
{
    struct lathe_arch_info info;

    for (size_t i = 0; lathe_arch_at(i, &info); i++)
        if (strcmp(info.name, lathe_arch_name(arch)) == 0)
            return info.has_kernels;
    return false;
}

/* What is not named follows the GPU. Without one, with one that no kernel is for, or with one that
 * does not answer, a plan is made for another: it says for which, and making it needs no GPU. */
static void detect(struct lathe_plan_options *options)
{
    struct lathe_context *context = NULL;
    enum lathe_arch arch;
    int sms;

    if (lathe_context_create(&context, NULL, NULL) == LATHE_OK &&
        lathe_context_arch(context, &arch, NULL) == LATHE_OK && has_kernels(arch) &&
        lathe_context_sms(context, &sms, NULL) == LATHE_OK) {
        options->arch = arch;
        options->sms = options->sms ? options->sms : sms;
    }
    lathe_context_destroy(&context);
}

enum lathe_status request_detect(const struct words *words, struct lathe_request *request,
                                 struct lathe_error *err)
{
    enum lathe_status status = request_read(words, request, err);

    if (status == LATHE_OK && request->plan.arch == LATHE_ARCH_DEFAULT)
        detect(&request->plan);
    return status;
}

enum lathe_status request_plan(const struct words *words, struct lathe_request *request,
                               struct lathe_plan *plan, struct lathe_error *err)
{
    enum lathe_status status = request_detect(words, request, err);

    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    if (status == LATHE_OK)
        status = lathe_plan_gemm(plan, &request->gemm, &request->plan, err);
    return status;
}

char *request_words(const struct lathe_request *request)
{
    size_t size = lathe_request_words(request, NULL, 0) + 1;
    char *words = malloc(size);

    if (words)
        lathe_request_words(request, words, size);
    return words;
}

/* ---- Context ---- */

static void log_line(void *user, enum lathe_log_level level, const char *line)
{
    (void)user;
    if (level == LATHE_LOG_WARNING)
        output_note("warning: %s", line);
}

static enum lathe_status open_on(struct lathe_context **context, int device,
                                 enum lathe_emulator_use emulator, enum lathe_arch arch,
                                 struct lathe_error *err)
{
    return lathe_context_create(context,
                                lathe_context_options(.device = device, .log = log_line,
                                                      .emulator = emulator, .emulated_arch = arch),
                                err);
}

enum lathe_status context_open(struct lathe_context **context, struct lathe_error *err)
{
    return open_on(context, 0, LATHE_EMULATOR_NEVER, LATHE_ARCH_DEFAULT, err);
}

/* gpu:N; `device` is N + 1. */
static enum lathe_status read_ordinal(const char *value, int *device, struct lathe_error *err)
{
    const char *digits = value + strlen("gpu:");
    char *end;
    long ordinal = strtol(digits, &end, 10);

    if (*digits < '0' || *digits > '9' || *end || ordinal >= DEVICES_MAX)
        return fail(err, LATHE_OUT_OF_RANGE,
                    "device=%.40s: after gpu: must stand a whole number from 0 to %d", value,
                    DEVICES_MAX - 1);
    *device = (int)ordinal + 1;
    return LATHE_OK;
}

enum lathe_status context_open_device(struct lathe_context **context, const struct words *words,
                                      struct lathe_error *err)
{
    const char *value = words_value(words, "device");
    int device = 0;

    if (strncmp(value, "gpu:", 4) == 0) {
        enum lathe_status status = read_ordinal(value, &device, err);

        if (status != LATHE_OK)
            return status;
    } else if (strcmp(value, "auto") != 0 && strcmp(value, "gpu") != 0) {
        return words_refuse_value(words, "device", err);
    }
    return open_on(context, device, LATHE_EMULATOR_NEVER, LATHE_ARCH_DEFAULT, err);
}

enum lathe_status context_open_any(struct lathe_context **context, const struct words *words,
                                   enum lathe_arch arch, struct lathe_error *err)
{
    if (words_are(words, "device", "emulator"))
        return open_on(context, 0, LATHE_EMULATOR_ALWAYS, arch, err);
    if (words_are(words, "device", "auto"))
        return open_on(context, 0, LATHE_EMULATOR_WITHOUT_GPU, arch, err);
    return context_open_device(context, words, err);
}

enum lathe_status context_open_emulator(struct lathe_context **context, enum lathe_arch arch,
                                        struct lathe_error *err)
{
    return open_on(context, 0, LATHE_EMULATOR_ALWAYS, arch, err);
}

/* ---- Numbers ---- */

double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

double problem_tflops(const struct lathe_gemm *problem, double time_us)
{
    double operations = 2.0 * (double)problem->m * (double)problem->n * (double)problem->k;

    return time_us > 0 ? operations / time_us / 1e6 : 0;
}
