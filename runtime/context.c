#include "runtime/context.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "include/lathe_tools.h"
#include "runtime/environment.h"
#include "runtime/functions.h"
#include "runtime/reference.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Something that is opened when it is first asked for. A failure that may pass is tried again. */
struct opened {
    bool settled;
    struct lathe_error error;
};

struct lathe_context {
    bool has_allocator;
    struct lathe_allocator allocator;
    lathe_log_callback log;
    void *log_user;
    struct lathe_context_options options; /* the strings are copies of our own */
    struct lathe_cache_callbacks callbacks;
    struct lt_environment environment;
    enum lathe_switch cache_switch; /* as options and environment together say */
    int64_t cache_limit_bytes;

    pthread_mutex_t opening;
    struct opened device_probed, device_opened, linker_opened, cache_opened, reference_opened;
    struct lt_device device;
    struct lt_linker *linker;
    struct lt_cache *cache;
    struct lt_reference *reference;
    struct lt_functions *functions;
};

/* ---- Making and freeing ---- */

const struct lathe_allocator *lt_context_allocator(const struct lathe_context *context)
{
    return context->has_allocator ? &context->allocator : NULL;
}

/* A copy of the string; null for null, and `*failed` where there is no memory for it. */
static char *copy_string(const struct lathe_context *context, const char *string, bool *failed)
{
    if (!string)
        return NULL;

    char *copy = lt_allocate(lt_context_allocator(context), strlen(string) + 1);

    if (copy)
        strcpy(copy, string);
    else
        *failed = true;
    return copy;
}

static bool copy_options(struct lathe_context *context, const struct lathe_context_options *given)
{
    struct lathe_context_options *options = &context->options;
    bool failed = false;

    *options = *given;
    options->cache_dir = copy_string(context, options->cache_dir, &failed);
    options->driver_library = copy_string(context, options->driver_library, &failed);
    options->linker_library = copy_string(context, options->linker_library, &failed);
    if (options->cache_callbacks) {
        context->callbacks = *options->cache_callbacks;
        options->cache_callbacks = &context->callbacks;
    }
    context->log = options->log;
    context->log_user = options->log_user;
    return !failed;
}

static enum lathe_status check_options(const struct lathe_context_options *options,
                                       struct lathe_error *err)
{
    enum lathe_status status = lt_check_allocator(options->allocator, err);

    if (status != LATHE_OK)
        return status;
    if (options->cache_callbacks &&
        (!options->cache_callbacks->load || !options->cache_callbacks->store))
        return lt_fail(err, LATHE_MISUSED, "cache callbacks need both functions");
    if (options->device < 0 || options->cache_limit_bytes < 0)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "a device is an ordinal + 1, a limit not negative");
    if (options->emulator < LATHE_EMULATOR_NEVER || options->emulator > LATHE_EMULATOR_ALWAYS)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "emulator: %d is no enum lathe_emulator_use",
                       (int)options->emulator);
    if (options->emulated_arch < LATHE_ARCH_DEFAULT || options->emulated_arch > LATHE_SM_120A)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "emulated_arch: %d is no enum lathe_arch",
                       (int)options->emulated_arch);
    return LATHE_OK;
}

const char *lt_context_variable(const struct lathe_context *context, const char *name)
{
    return lt_environment_value(&context->environment, name);
}

enum lathe_arch lt_context_emulated_arch(const struct lathe_context *context)
{
    return context->options.emulated_arch;
}

void lt_context_log(const struct lathe_context *context, enum lathe_log_level level,
                    const char *format, ...)
{
    char line[LATHE_MESSAGE_SIZE];
    va_list arguments;

    if (!context->log)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    context->log(context->log_user, level, line);
}

/* What the environment says of the cache is read here and not when the cache is opened: a log
 * callback then runs where it may ask the library for anything. */
static void read_cache_switch(struct lathe_context *context)
{
    const char *word = lt_context_variable(context, "LATHE_CACHE");

    context->cache_switch = context->options.cache;
    if (context->cache_switch != LATHE_SWITCH_DEFAULT)
        return;
    context->cache_switch = word ? lt_switch_of(word) : LATHE_ON;
    if (context->cache_switch != LATHE_SWITCH_DEFAULT)
        return;
    context->cache_switch = LATHE_ON;
    lt_context_log(context, LATHE_LOG_WARNING,
                   "LATHE_CACHE=%.80s is neither on nor off; the cache stays on", word);
}

static void read_cache_limit(struct lathe_context *context)
{
    const char *text = lt_context_variable(context, "LATHE_CACHE_LIMIT");
    int64_t limit = 0;

    context->cache_limit_bytes = context->options.cache_limit_bytes;
    if (context->cache_limit_bytes > 0 || !text)
        return;
    if (lathe_bytes_parse(text, &limit) && limit > 0)
        context->cache_limit_bytes = limit;
    else
        lt_context_log(context, LATHE_LOG_WARNING,
                       "LATHE_CACHE_LIMIT=%.80s is no size such as 512M; 1G holds", text);
}

/* With the environment as `like` has it; as it is now where that is null. */
static enum lathe_status create(struct lathe_context **context,
                                const struct lathe_context_options *options,
                                const struct lt_environment *like, struct lathe_error *err)
{
    struct lathe_context *made = lt_allocate(options->allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a context");
    memset(made, 0, sizeof *made);
    if (options->allocator) {
        made->has_allocator = true;
        made->allocator = *options->allocator;
    }
    pthread_mutex_init(&made->opening, NULL);

    const struct lathe_allocator *allocator = lt_context_allocator(made);
    bool copied = copy_options(made, options);

    copied = (like ? lt_environment_copy(&made->environment, like, allocator)
                   : lt_environment_read(&made->environment, allocator)) &&
             copied;

    enum lathe_status status = copied
                                   ? lt_functions_create(&made->functions, made, err)
                                   : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a context");

    if (status != LATHE_OK) {
        lathe_context_destroy(&made);
        return status;
    }
    read_cache_switch(made);
    read_cache_limit(made);
    *context = made;
    return LATHE_OK;
}

enum lathe_status lathe_context_create(struct lathe_context **context,
                                       const struct lathe_context_options *given,
                                       struct lathe_error *err)
{
    struct lathe_context_options options;
    enum lathe_status status = context ? lt_import(&options, given, "lathe_context_options", err)
                                       : lt_fail(err, LATHE_MISUSED, "no place for the context");

    if (status == LATHE_OK)
        status = check_options(&options, err);
    return status == LATHE_OK ? create(context, &options, NULL, err) : status;
}

enum lathe_status lt_context_on_emulator(struct lathe_context **context,
                                         const struct lathe_context *like, void *cuda_context,
                                         struct lathe_error *err)
{
    const struct lathe_context_options options = {
        .struct_size = sizeof options,
        .cuda_context = cuda_context,
        .cache = LATHE_OFF,
        .allocator = lt_context_allocator(like),
        .log = like->log,
        .log_user = like->log_user,
        .emulator = LATHE_EMULATOR_ALWAYS,
    };

    return create(context, &options, &like->environment, err);
}

void lathe_context_destroy(struct lathe_context **context)
{
    if (!context || !*context)
        return;

    struct lathe_context *gone = *context;
    struct lathe_allocator allocator = gone->allocator;
    const struct lathe_allocator *with = gone->has_allocator ? &allocator : NULL;

    lt_functions_destroy(&gone->functions);
    lt_reference_destroy(&gone->reference);
    lt_device_close(&gone->device);
    lt_linker_close(&gone->linker);
    lt_cache_destroy(&gone->cache);
    lt_environment_free(&gone->environment, with);
    lt_release(with, (char *)gone->options.cache_dir);
    lt_release(with, (char *)gone->options.driver_library);
    lt_release(with, (char *)gone->options.linker_library);
    pthread_mutex_destroy(&gone->opening);
    lt_release(with, gone);
    *context = NULL;
}

struct lt_functions *lt_context_functions(struct lathe_context *context)
{
    return context->functions;
}

/* ---- Opening things when they are first needed ---- */

/* What another try may find mended: memory was short, a call failed for once. */
static bool may_pass(enum lathe_status status)
{
    return status == LATHE_OUT_OF_MEMORY || status == LATHE_DRIVER_FAILED;
}

static enum lathe_status open_once(struct lathe_context *context, struct opened *opened,
                                   enum lathe_status (*open)(struct lathe_context *context,
                                                             struct lathe_error *err),
                                   struct lathe_error *err)
{
    enum lathe_status status;

    pthread_mutex_lock(&context->opening);
    if (!opened->settled) {
        opened->error.status = open(context, &opened->error);
        opened->settled = !may_pass(opened->error.status);
    }
    status = opened->error.status;
    if (status != LATHE_OK && err)
        *err = opened->error;
    pthread_mutex_unlock(&context->opening);
    return status;
}

static enum lathe_status probe_device(struct lathe_context *context, struct lathe_error *err)
{
    const struct lt_device_choice choice = {
        .driver_library = context->options.driver_library
                              ? context->options.driver_library
                              : lt_context_variable(context, "LATHE_CUDA_LIBRARY"),
        .emulator = lt_context_variable(context, "LATHE_EMU_LIBRARY"),
        .use = context->options.emulator,
        .emulated_arch = context->options.emulated_arch,
        .ordinal = context->options.device - 1,
        .cuda_context = context->options.cuda_context,
    };

    return lt_device_probe(&context->device, &choice, err);
}

static enum lathe_status retain_device(struct lathe_context *context, struct lathe_error *err)
{
    return lt_device_retain(&context->device, err);
}

enum lathe_status lt_context_probe(struct lathe_context *context, const struct lt_device **device,
                                   struct lathe_error *err)
{
    enum lathe_status status = open_once(context, &context->device_probed, probe_device, err);

    if (status == LATHE_OK)
        *device = &context->device;
    return status;
}

enum lathe_status lt_context_device(struct lathe_context *context, const struct lt_device **device,
                                    struct lathe_error *err)
{
    enum lathe_status status = lt_context_probe(context, device, err);

    return status == LATHE_OK ? open_once(context, &context->device_opened, retain_device, err)
                              : status;
}

void lt_context_roots(const struct lathe_context *context, const char *roots[LT_ROOTS])
{
    const char *home = lt_context_variable(context, "CUDA_HOME");
    const char *path = lt_context_variable(context, "CUDA_PATH");

    roots[0] = home ? home : "";
    roots[1] = path ? path : "";
    roots[2] = "/usr/local/cuda";
    roots[3] = NULL;
}

static enum lathe_status open_linker(struct lathe_context *context, struct lathe_error *err)
{
    const char *path = context->options.linker_library
                           ? context->options.linker_library
                           : lt_context_variable(context, "LATHE_NVJITLINK_LIBRARY");
    const char *roots[LT_ROOTS];

    lt_context_roots(context, roots);
    return lt_linker_open(&context->linker, path, roots, lt_context_allocator(context), err);
}

enum lathe_status lt_context_linker(struct lathe_context *context, struct lt_linker **linker,
                                    struct lathe_error *err)
{
    enum lathe_status status = open_once(context, &context->linker_opened, open_linker, err);

    if (status == LATHE_OK)
        *linker = context->linker;
    return status;
}

/* The device is open. */
static enum lathe_status open_reference(struct lathe_context *context, struct lathe_error *err)
{
    const char *roots[LT_ROOTS];

    lt_context_roots(context, roots);
    return lt_reference_create(&context->reference, &context->device,
                               lt_context_variable(context, "LATHE_NVRTC_LIBRARY"), roots,
                               lt_context_allocator(context), err);
}

enum lathe_status lt_context_reference(struct lathe_context *context,
                                       struct lt_reference **reference, struct lathe_error *err)
{
    const struct lt_device *device = NULL;
    enum lathe_status status = lt_context_device(context, &device, err);

    if (status == LATHE_OK)
        status = open_once(context, &context->reference_opened, open_reference, err);
    if (status == LATHE_OK)
        *reference = context->reference;
    return status;
}

static enum lathe_status open_cache(struct lathe_context *context, struct lathe_error *err)
{
    const struct lathe_context_options *options = &context->options;
    struct lt_cache_settings settings = {
        .enabled = context->cache_switch == LATHE_ON,
        .directory = options->cache_dir ? options->cache_dir
                                        : lt_context_variable(context, "LATHE_CACHE_DIR"),
        .xdg_cache_home = lt_context_variable(context, "XDG_CACHE_HOME"),
        .home = lt_context_variable(context, "HOME"),
        .limit_bytes = context->cache_limit_bytes,
        .callbacks = options->cache_callbacks,
        .allocator = lt_context_allocator(context),
        .log = context->log,
        .log_user = context->log_user,
    };

    return lt_cache_create(&context->cache, &settings, err);
}

enum lathe_status lt_context_cache(struct lathe_context *context, struct lt_cache **cache,
                                   struct lathe_error *err)
{
    enum lathe_status status = open_once(context, &context->cache_opened, open_cache, err);

    if (status == LATHE_OK)
        *cache = context->cache;
    return status;
}

/* ---- What a plan is made for ---- */

static enum lathe_status probe_known(struct lathe_context *context, const struct lt_device **device,
                                     struct lathe_error *err)
{
    char title[LT_DEVICE_TITLE_SIZE];
    enum lathe_status status = lt_context_probe(context, device, err);

    if (status == LATHE_OK && (*device)->arch == LATHE_ARCH_DEFAULT)
        return lt_fail(err, LATHE_NO_DEVICE, "%s is of no architecture that Lathe knows",
                       lt_device_title(*device, title));
    return status;
}

enum lathe_status lathe_context_arch(struct lathe_context *context, enum lathe_arch *arch,
                                     struct lathe_error *err)
{
    const struct lt_device *device = NULL;

    if (!context || !arch)
        return lt_fail(err, LATHE_MISUSED, "lathe_context_arch: no %s",
                       context ? "place for the answer" : "context");

    enum lathe_status status = probe_known(context, &device, err);

    if (status == LATHE_OK)
        *arch = device->arch;
    return status;
}

enum lathe_status lathe_context_sms(struct lathe_context *context, int *sms,
                                    struct lathe_error *err)
{
    const struct lt_device *device = NULL;

    if (!context || !sms)
        return lt_fail(err, LATHE_MISUSED, "lathe_context_sms: no %s",
                       context ? "place for the answer" : "context");

    enum lathe_status status = probe_known(context, &device, err);

    if (status == LATHE_OK)
        *sms = device->sms;
    return status;
}
