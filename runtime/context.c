#include "runtime/context.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/functions.h"
#include "runtime/reference.h"
#include "templates/registry.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variable_names[] = {
#define LT_VARIABLE(name, doc) name,
#include "runtime/environment.def"
#undef LT_VARIABLE
};
enum { VARIABLES = sizeof variable_names / sizeof variable_names[0] };

/* Something that is opened when it is first asked for; its failure is remembered. */
struct opened {
    bool tried;
    struct lathe_error error;
};

struct lathe_context {
    bool has_allocator;
    struct lathe_allocator allocator;
    lathe_log_callback log;
    void *log_user;
    struct lathe_context_options options; /* the strings are copies of our own */
    struct lathe_cache_callbacks callbacks;
    char *variables[VARIABLES];

    pthread_mutex_t opening;
    struct opened device_opened, linker_opened, cache_opened, reference_opened;
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

/* The only place where Lathe reads the environment. */
static bool read_variables(struct lathe_context *context)
{
    bool failed = false;

    for (int i = 0; i < VARIABLES; i++) {
        const char *value = getenv(variable_names[i]);

        context->variables[i] = copy_string(context, value && value[0] ? value : NULL, &failed);
    }
    return !failed;
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
    const struct lathe_allocator *a = options->allocator;

    if (a && (!a->allocate || !a->reallocate || !a->release))
        return lt_fail(err, LATHE_MISUSED, "an allocator needs all three of its functions");
    if (options->cache_callbacks &&
        (!options->cache_callbacks->load || !options->cache_callbacks->store))
        return lt_fail(err, LATHE_MISUSED, "cache callbacks need both functions");
    if (options->device < 0 || options->cache_limit_bytes < 0)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "a device is an ordinal + 1, a limit not negative");
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
    if (status != LATHE_OK)
        return status;

    struct lathe_context *made = lt_allocate(options.allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a context");
    memset(made, 0, sizeof *made);
    if (options.allocator) {
        made->has_allocator = true;
        made->allocator = *options.allocator;
    }
    pthread_mutex_init(&made->opening, NULL);

    bool copied = copy_options(made, &options);

    copied = read_variables(made) && copied;
    status = copied ? lt_functions_create(&made->functions, made, err)
                    : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a context");
    if (status == LATHE_OK)
        *context = made;
    else
        lathe_context_destroy(&made);
    return status;
}

static void close_device(struct lathe_context *context)
{
    struct lt_device *device = &context->device;

    if (device->retained)
        device->driver.cuDevicePrimaryCtxRelease(device->device);
    lt_driver_close(&device->driver);
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
    close_device(gone);
    lt_linker_close(&gone->linker);
    lt_cache_destroy(&gone->cache);
    for (int i = 0; i < VARIABLES; i++)
        lt_release(with, gone->variables[i]);
    lt_release(with, (char *)gone->options.cache_dir);
    lt_release(with, (char *)gone->options.driver_library);
    lt_release(with, (char *)gone->options.linker_library);
    pthread_mutex_destroy(&gone->opening);
    lt_release(with, gone);
    *context = NULL;
}

const char *lt_context_variable(const struct lathe_context *context, const char *name)
{
    for (int i = 0; i < VARIABLES; i++)
        if (strcmp(variable_names[i], name) == 0)
            return context->variables[i];
    return NULL;
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

struct lt_functions *lt_context_functions(struct lathe_context *context)
{
    return context->functions;
}

/* ---- Opening things when they are first needed ---- */

static enum lathe_status open_once(struct lathe_context *context, struct opened *opened,
                                   enum lathe_status (*open)(struct lathe_context *context,
                                                             struct lathe_error *err),
                                   struct lathe_error *err)
{
    pthread_mutex_lock(&context->opening);
    if (!opened->tried) {
        opened->error.status = open(context, &opened->error);
        opened->tried = true;
    }
    pthread_mutex_unlock(&context->opening);
    if (opened->error.status != LATHE_OK && err)
        *err = opened->error;
    return opened->error.status;
}

/* Which CUDA context to live in: the one given, the caller's current one, or the device's primary.
 */
static enum lathe_status choose_cuda_context(struct lathe_context *context, struct lathe_error *err)
{
    struct lt_device *device = &context->device;
    const struct lt_driver *driver = &device->driver;
    int count = 0, ordinal = context->options.device - 1;
    enum lathe_status status;

    device->cu_context = context->options.cuda_context;
    if (!device->cu_context && ordinal < 0 &&
        driver->cuCtxGetCurrent(&device->cu_context) != LT_CUDA_SUCCESS)
        device->cu_context = NULL;
    if (device->cu_context) {
        struct lt_entered entered;

        status = lt_enter(device, &entered, err);
        if (status == LATHE_OK) {
            status = lt_driver_check(driver, driver->cuCtxGetDevice(&device->device),
                                     "cuCtxGetDevice", err);
            lt_leave(device, &entered);
        }
        device->ordinal = device->device; /* a CUdevice is its ordinal */
        return status;
    }

    status = lt_driver_check(driver, driver->cuDeviceGetCount(&count), "cuDeviceGetCount", err);
    if (status != LATHE_OK)
        return status;
    device->ordinal = ordinal < 0 ? 0 : ordinal;
    if (device->ordinal >= count)
        return lt_fail(err, LATHE_NO_DEVICE, "device gpu:%d: the driver has %d GPU%s",
                       device->ordinal, count, count == 1 ? "" : "s");
    status = lt_driver_check(driver, driver->cuDeviceGet(&device->device, device->ordinal),
                             "cuDeviceGet", err);
    if (status != LATHE_OK)
        return status;
    status = lt_driver_check(driver,
                             driver->cuDevicePrimaryCtxRetain(&device->cu_context, device->device),
                             "cuDevicePrimaryCtxRetain", err);
    device->retained = status == LATHE_OK;
    return status;
}

static enum lathe_status read_properties(struct lt_device *device, struct lathe_error *err)
{
    const struct lt_driver *driver = &device->driver;
    int major = 0, minor = 0, l2 = 0, smem = 0;
    const struct {
        int *value;
        int attribute;
    } wanted[] = {
        {&major, LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
        {&minor, LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
        {&device->sms, LT_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {&l2, LT_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
        {&smem, LT_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int result =
            driver->cuDeviceGetAttribute(wanted[i].value, wanted[i].attribute, device->device);

        if (result != LT_CUDA_SUCCESS)
            return lt_driver_check(driver, result, "cuDeviceGetAttribute", err);
    }
    if (driver->cuDeviceGetName(device->name, sizeof device->name, device->device) !=
        LT_CUDA_SUCCESS)
        snprintf(device->name, sizeof device->name, "GPU %d", device->ordinal);
    device->l2_bytes = l2;
    device->arch = lt_arch_of_capability(major, minor);
    if (device->arch == LATHE_ARCH_DEFAULT)
        return lt_fail(err, LATHE_NO_DEVICE,
                       "GPU %d (%s) has compute capability %d.%d, for which there are no kernels",
                       device->ordinal, device->name, major, minor);
    return LATHE_OK;
}

static enum lathe_status open_device(struct lathe_context *context, struct lathe_error *err)
{
    const char *path = context->options.driver_library
                           ? context->options.driver_library
                           : lt_context_variable(context, "LATHE_CUDA_LIBRARY");
    enum lathe_status status = lt_driver_open(&context->device.driver, path, err);

    if (status == LATHE_OK)
        status = choose_cuda_context(context, err);
    return status == LATHE_OK ? read_properties(&context->device, err) : status;
}

enum lathe_status lt_context_device(struct lathe_context *context, const struct lt_device **device,
                                    struct lathe_error *err)
{
    enum lathe_status status = open_once(context, &context->device_opened, open_device, err);

    if (status == LATHE_OK)
        *device = &context->device;
    return status;
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

static int64_t cache_limit(const struct lathe_context *context)
{
    const char *text = lt_context_variable(context, "LATHE_CACHE_LIMIT");
    char *end = NULL;
    long long limit = text ? strtoll(text, &end, 10) : 0;

    if (context->options.cache_limit_bytes > 0)
        return context->options.cache_limit_bytes;
    if (text && (*end != '\0' || limit <= 0)) {
        lt_context_log(context, LATHE_LOG_WARNING,
                       "LATHE_CACHE_LIMIT=%s is no number of bytes; the default holds", text);
        return 0;
    }
    return limit;
}

static enum lathe_status open_cache(struct lathe_context *context, struct lathe_error *err)
{
    const struct lathe_context_options *options = &context->options;
    const char *switched = lt_context_variable(context, "LATHE_CACHE");
    bool off = switched && strcmp(switched, "off") == 0;
    struct lt_cache_settings settings = {
        .enabled = options->cache == LATHE_SWITCH_DEFAULT ? !off : options->cache == LATHE_ON,
        .directory = options->cache_dir ? options->cache_dir
                                        : lt_context_variable(context, "LATHE_CACHE_DIR"),
        .xdg_cache_home = lt_context_variable(context, "XDG_CACHE_HOME"),
        .home = lt_context_variable(context, "HOME"),
        .limit_bytes = cache_limit(context),
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

enum lathe_status lathe_context_arch(struct lathe_context *context, enum lathe_arch *arch,
                                     struct lathe_error *err)
{
    const struct lt_device *device = NULL;
    enum lathe_status status = context && arch ? lt_context_device(context, &device, err)
                                               : lt_fail(err, LATHE_MISUSED, "no context");

    if (status == LATHE_OK)
        *arch = device->arch;
    return status;
}

enum lathe_status lathe_context_sms(struct lathe_context *context, int *sms,
                                    struct lathe_error *err)
{
    const struct lt_device *device = NULL;
    enum lathe_status status = context && sms ? lt_context_device(context, &device, err)
                                              : lt_fail(err, LATHE_MISUSED, "no context");

    if (status == LATHE_OK)
        *sms = device->sms;
    return status;
}

/* ---- The thread's current CUDA context ---- */

enum lathe_status lt_enter(const struct lt_device *device, struct lt_entered *entered,
                           struct lathe_error *err)
{
    lt_cu_context current = NULL;

    entered->pushed = false;
    if (device->driver.cuCtxGetCurrent(&current) == LT_CUDA_SUCCESS &&
        current == device->cu_context)
        return LATHE_OK;

    int result = device->driver.cuCtxPushCurrent(device->cu_context);

    entered->pushed = result == LT_CUDA_SUCCESS;
    return lt_driver_check(&device->driver, result, "cuCtxPushCurrent", err);
}

void lt_leave(const struct lt_device *device, struct lt_entered *entered)
{
    lt_cu_context popped;

    if (entered->pushed)
        device->driver.cuCtxPopCurrent(&popped);
    entered->pushed = false;
}
