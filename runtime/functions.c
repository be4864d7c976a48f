#include "runtime/functions.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/image.h"
#include "runtime/once.h"
#include "templates/registry.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

struct lt_functions {
    struct lathe_context *context;
    struct lt_once *by_problem; /* struct lathe_function, also by image */
    struct lt_once *loaded;     /* struct lt_loaded, by text or cubin   */
};

/* ---- The tables ---- */

enum lathe_status lt_functions_create(struct lt_functions **functions,
                                      struct lathe_context *context, struct lathe_error *err)
{
    const struct lathe_allocator *allocator = lt_context_allocator(context);
    struct lt_functions *made = lt_allocate(allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a context");
    *made = (struct lt_functions){.context = context};

    enum lathe_status status = lt_once_create(&made->by_problem, allocator, err);

    if (status == LATHE_OK)
        status = lt_once_create(&made->loaded, allocator, err);
    if (status == LATHE_OK)
        *functions = made;
    else
        lt_functions_destroy(&made);
    return status;
}

static void destroy_function(void *user, void *value)
{
    lt_release(user, value);
}

static void destroy_loaded(void *user, void *value)
{
    struct lathe_context *context = user;
    struct lt_loaded *loaded = value;
    const struct lt_device *device = NULL;
    struct lt_entered entered;

    /* The device is open, or nothing could have been loaded. Work that was launched goes on: the
     * driver unloads behind it. */
    if (lt_context_device(context, &device, NULL) == LATHE_OK &&
        lt_enter(device, &entered, NULL) == LATHE_OK) {
        device->driver.cuModuleUnload(loaded->module);
        lt_leave(device, &entered);
    }
    lt_release(lt_context_allocator(context), loaded);
}

void lt_functions_destroy(struct lt_functions **functions)
{
    struct lt_functions *gone = *functions;

    if (!gone)
        return;

    const struct lathe_allocator *allocator = lt_context_allocator(gone->context);

    lt_once_destroy(&gone->by_problem, destroy_function, (void *)allocator);
    lt_once_destroy(&gone->loaded, destroy_loaded, gone->context);
    lt_release(allocator, gone);
    *functions = NULL;
}

/* ---- Loading ---- */

/* How many clusters of a persistent kernel find room at one time. One CTA to a multiprocessor is
 * what the planner reckons with; more CTAs than that would take turns. */
static enum lathe_status count_clusters(const struct lt_device *device, struct lt_loaded *loaded,
                                        struct lathe_error *err)
{
    const struct lathe_contract *contract = &loaded->contract;
    int ctas = contract->cluster[0] * contract->cluster[1] * contract->cluster[2];

    if (ctas == 1) {
        loaded->clusters = device->sms;
        return LATHE_OK;
    }

    struct lt_cu_launch_attribute cluster = {
        .id = LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.cluster = {(unsigned)contract->cluster[0], (unsigned)contract->cluster[1],
                          (unsigned)contract->cluster[2]},
    };
    struct lt_cu_launch_config config = {
        .grid_x = (unsigned)(contract->cluster[0] * device->sms),
        .grid_y = (unsigned)contract->cluster[1],
        .grid_z = 1,
        .block_x = (unsigned)contract->block[0],
        .block_y = 1,
        .block_z = 1,
        .smem_bytes = (unsigned)contract->smem_bytes,
        .attributes = &cluster,
        .attribute_count = 1,
    };
    enum lathe_status status = lt_driver_check(
        &device->driver,
        device->driver.cuOccupancyMaxActiveClusters(&loaded->clusters, loaded->function, &config),
        "cuOccupancyMaxActiveClusters", err);

    if (status == LATHE_OK && loaded->clusters < 1)
        return lt_fail(err, LATHE_NO_DEVICE,
                       "%s has no room for a cluster of %d CTAs on its %d multiprocessor%s",
                       device->name, ctas, device->sms, device->sms == 1 ? "" : "s");
    return status;
}

/* What the driver says of a cubin that it cannot use, as against trouble of another kind. */
static bool is_refusal(int result)
{
    return result == LT_CUDA_ERROR_INVALID_IMAGE || result == LT_CUDA_ERROR_NO_BINARY_FOR_GPU ||
           result == LT_CUDA_ERROR_INVALID_SOURCE || result == LT_CUDA_ERROR_NOT_FOUND;
}

/* `code` is a cubin, or text. */
static enum lathe_status load_module(const struct lt_device *device, const void *code,
                                     struct lt_loaded *loaded, bool *refused,
                                     struct lathe_error *err)
{
    const struct lt_driver *driver = &device->driver;
    const struct lathe_contract *contract = &loaded->contract;
    int result = driver->cuModuleLoadData(&loaded->module, code);
    enum lathe_status status = lt_driver_check(driver, result, "cuModuleLoadData", err);

    *refused = is_refusal(result);
    if (status != LATHE_OK)
        return status;
    result = driver->cuModuleGetFunction(&loaded->function, loaded->module, contract->name);
    status = lt_driver_check(driver, result, "cuModuleGetFunction", err);
    *refused = is_refusal(result);
    if (status == LATHE_OK)
        status =
            lt_driver_check(driver,
                            driver->cuFuncSetAttribute(
                                loaded->function, LT_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                contract->smem_bytes),
                            "cuFuncSetAttribute", err);
    if (status == LATHE_OK)
        status = count_clusters(device, loaded, err);
    if (status != LATHE_OK)
        driver->cuModuleUnload(loaded->module);
    return status;
}

struct load_job {
    struct lathe_context *context;
    const struct lt_device *device;
    const struct lathe_kernel *kernel; /* built first, where there is no image */
    const struct lathe_image *image;
};

static enum lathe_status load_code(const struct load_job *job, const void *code,
                                   struct lt_loaded *loaded, bool *refused, struct lathe_error *err)
{
    struct lt_entered entered;
    double start = lt_now_us();
    enum lathe_status status = lt_enter(job->device, &entered, err);

    *refused = false;
    if (status != LATHE_OK)
        return status;
    status = load_module(job->device, code, loaded, refused, err);
    lt_leave(job->device, &entered);
    loaded->load_ms = (lt_now_us() - start) / 1e3;
    return status;
}

static enum lathe_status load_image(const struct load_job *job, const struct lathe_image *image,
                                    struct lt_loaded *loaded, bool *refused,
                                    struct lathe_error *err)
{
    *loaded = (struct lt_loaded){
        .contract = image->contract,
        .cache = image->cache,
        .link_ms = image->link_ms,
    };
    return load_code(job, image->cubin, loaded, refused, err);
}

/* The emulator runs the text itself. */
static enum lathe_status load_text(const struct load_job *job, struct lt_loaded *loaded,
                                   struct lathe_error *err)
{
    bool refused;

    *loaded = (struct lt_loaded){
        .contract = *lathe_kernel_contract(job->kernel),
        .cache = LATHE_CACHE_OFF,
    };
    return load_code(job, lathe_kernel_text(job->kernel, NULL), loaded, &refused, err);
}

/* What the cache had may have been made for a newer driver, say: then it is linked anew. */
static enum lathe_status build_and_load(const struct load_job *job, struct lt_loaded *loaded,
                                        struct lathe_error *err)
{
    struct lathe_image *image = NULL;
    struct lathe_error cause;
    bool refused = false;
    enum lathe_status status = lathe_build(job->context, &image, job->kernel, err);

    if (status != LATHE_OK)
        return status;
    status = load_image(job, image, loaded, &refused, &cause);
    if (refused && image->cache == LATHE_CACHE_HIT) {
        lt_context_log(job->context, LATHE_LOG_WARNING,
                       "the driver refuses the cached kernel %s (%.200s); it is linked anew",
                       image->contract.name, cause.message);
        lathe_image_destroy(&image);
        status = lt_image_rebuild(job->context, &image, job->kernel, &cause);
        if (status == LATHE_OK)
            status = load_image(job, image, loaded, &refused, &cause);
    }
    if (status != LATHE_OK && err)
        *err = cause;
    lathe_image_destroy(&image);
    return status;
}

/* There is no text here to link anew; whoever builds the image again will. */
static enum lathe_status load_given(const struct load_job *job, struct lt_loaded *loaded,
                                    struct lathe_error *err)
{
    struct lt_cache *cache = NULL;
    bool refused = false;
    enum lathe_status status = load_image(job, job->image, loaded, &refused, err);

    if (refused && job->image->cache == LATHE_CACHE_HIT &&
        lt_context_cache(job->context, &cache, NULL) == LATHE_OK)
        lt_cache_forget(cache, job->image->cache_name);
    return status;
}

static enum lathe_status make_loaded(void *user, void **value, struct lathe_error *err)
{
    const struct load_job *job = user;
    const struct lathe_allocator *allocator = lt_context_allocator(job->context);
    struct lt_loaded *loaded = lt_allocate(allocator, sizeof *loaded);

    if (!loaded)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a loaded kernel");

    enum lathe_status status = !job->kernel ? load_given(job, loaded, err)
                               : lt_device_is_emulated(job->device)
                                   ? load_text(job, loaded, err)
                                   : build_and_load(job, loaded, err);

    if (status != LATHE_OK) {
        lt_release(allocator, loaded);
        return status;
    }
    *value = loaded;
    return LATHE_OK;
}

/* Loads what the job names, once for all that ask with the same key. */
static enum lathe_status get_loaded(struct load_job *job, const void *key, size_t key_bytes,
                                    enum lathe_arch arch, const struct lt_loaded **loaded,
                                    struct lathe_error *err)
{
    char title[LT_DEVICE_TITLE_SIZE];
    void *value = NULL;

    if (arch != job->device->arch)
        return lt_fail(err, LATHE_NO_DEVICE, "a kernel for %s cannot run on %s",
                       lathe_arch_name(arch), lt_device_title(job->device, title));

    enum lathe_status status = lt_once_get(lt_context_functions(job->context)->loaded, key,
                                           key_bytes, make_loaded, job, &value, err);

    if (status == LATHE_OK)
        *loaded = value;
    return status;
}

/* ---- By problem ---- */

/* Problem and options field by field: struct padding must not tell two apart. */
struct problem_key {
    unsigned char bytes[LT_PLAN_KEY_BYTES];
};

struct gemm_job {
    struct lathe_context *context;
    const struct lathe_gemm *problem;
    const struct lathe_plan_options *options;
};

static enum lathe_status check_served(const struct lt_device *device, struct lathe_error *err)
{
    char title[LT_DEVICE_TITLE_SIZE];

    if (lt_arch_has_kernels(device->arch))
        return LATHE_OK;
    return lt_fail(
        err, LATHE_NO_DEVICE,
        "%s: there are no kernels for it yet; plan, emit and build can make those for %s",
        lt_device_title(device, title), lathe_arch_name(lt_default_arch()));
}

/* What is not named follows the device. */
static enum lathe_status plan_for(const struct lt_device *device, const struct gemm_job *job,
                                  struct lathe_plan *plan, struct lathe_error *err)
{
    struct lathe_plan_options options = *job->options;

    if (options.arch == LATHE_ARCH_DEFAULT) {
        enum lathe_status status = check_served(device, err);

        if (status != LATHE_OK)
            return status;
        options.arch = device->arch;
    }
    if (options.sms == 0)
        options.sms = device->sms;
    if (options.annotate == LATHE_SWITCH_DEFAULT)
        options.annotate = LATHE_ON;
    return lathe_plan_gemm(plan, job->problem, &options, err);
}

static enum lathe_status emit_and_load(const struct gemm_job *job, struct lathe_function *function,
                                       struct lathe_error *err)
{
    struct lathe_kernel *kernel = NULL;
    double start = lt_now_us();
    enum lathe_status status =
        lathe_emit(&kernel, &function->plan, lt_context_allocator(job->context), err);

    function->emit_us = lt_now_us() - start;
    if (status != LATHE_OK)
        return status;

    struct load_job load = {.context = job->context, .device = function->device, .kernel = kernel};
    char options[LT_LINK_OPTIONS_SIZE];
    char name[LT_CACHE_NAME_SIZE];
    struct lt_cache_key key = lt_image_key(kernel, options);

    lt_cache_name(&key, name);
    status = get_loaded(&load, name, sizeof name, lathe_kernel_contract(kernel)->arch,
                        &function->loaded, err);
    lathe_kernel_destroy(&kernel);
    return status;
}

static enum lathe_status make_function(void *user, void **value, struct lathe_error *err)
{
    const struct gemm_job *job = user;
    const struct lathe_allocator *allocator = lt_context_allocator(job->context);
    struct lathe_function *function = lt_allocate(allocator, sizeof *function);

    if (!function)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a function");
    *function = (struct lathe_function){.plan = LATHE_PLAN_INIT};

    enum lathe_status status = lt_context_probe(job->context, &function->device, err);

    if (status == LATHE_OK)
        status = plan_for(function->device, job, &function->plan, err);
    if (status == LATHE_OK)
        status = lt_context_device(job->context, &function->device, err);
    if (status == LATHE_OK)
        status = emit_and_load(job, function, err);
    if (status != LATHE_OK) {
        lt_release(allocator, function);
        return status;
    }
    *value = function;
    return LATHE_OK;
}

enum lathe_status lathe_gemm_get(struct lathe_context *context, struct lathe_function **function,
                                 const struct lathe_gemm *given,
                                 const struct lathe_plan_options *given_options,
                                 struct lathe_error *err)
{
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    struct gemm_job job = {context, &problem, &options};
    struct problem_key key;
    void *value = NULL;

    if (!context || !function || !given)
        return lt_fail(err, LATHE_MISUSED, "lathe_gemm_get: needs a context and a problem");

    enum lathe_status status = lt_import(&problem, given, "lathe_gemm", err);

    if (status == LATHE_OK)
        status = lt_import(&options, given_options, "lathe_plan_options", err);
    if (status != LATHE_OK)
        return status;
    lt_plan_key(key.bytes, &problem, &options);
    status = lt_once_get(lt_context_functions(context)->by_problem, &key, sizeof key, make_function,
                         &job, &value, err);
    if (status == LATHE_OK)
        *function = value;
    return status;
}

/* ---- By image ---- */

static enum lathe_status wrap_image(void *user, void **value, struct lathe_error *err)
{
    struct load_job *job = user;
    const struct lathe_allocator *allocator = lt_context_allocator(job->context);
    struct lathe_function *function = lt_allocate(allocator, sizeof *function);
    XXH128_hash_t key = XXH3_128bits(job->image->cubin, job->image->cubin_bytes);

    if (!function)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a function");
    *function = (struct lathe_function){.plan = job->image->plan, .device = job->device};

    enum lathe_status status =
        get_loaded(job, &key, sizeof key, job->image->contract.arch, &function->loaded, err);

    if (status != LATHE_OK) {
        lt_release(allocator, function);
        return status;
    }
    *value = function;
    return LATHE_OK;
}

enum lathe_status lathe_load(struct lathe_context *context, struct lathe_function **function,
                             const struct lathe_image *image, struct lathe_error *err)
{
    struct load_job job = {.context = context, .image = image};
    void *value = NULL;

    if (!context || !function || !image)
        return lt_fail(err, LATHE_MISUSED, "lathe_load: needs a context and an image");

    enum lathe_status status = lt_context_device(context, &job.device, err);

    if (status != LATHE_OK)
        return status;

    /* Images with one cubin may differ in what the plan says for the launch. */
    struct {
        XXH128_hash_t cubin;
        int64_t raster;
    } key = {XXH3_128bits(image->cubin, image->cubin_bytes), image->plan.raster};

    status = lt_once_get(lt_context_functions(context)->by_problem, &key, sizeof key, wrap_image,
                         &job, &value, err);
    if (status == LATHE_OK)
        *function = value;
    return status;
}

/* ---- By kernel ---- */

static enum lathe_status wrap_kernel(void *user, void **value, struct lathe_error *err)
{
    struct load_job *job = user;
    const struct lathe_allocator *allocator = lt_context_allocator(job->context);
    struct lathe_function *function = lt_allocate(allocator, sizeof *function);
    char options[LT_LINK_OPTIONS_SIZE], name[LT_CACHE_NAME_SIZE];
    struct lt_cache_key key = lt_image_key(job->kernel, options);

    if (!function)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a function");
    *function =
        (struct lathe_function){.plan = *lathe_kernel_plan(job->kernel), .device = job->device};
    lt_cache_name(&key, name);

    enum lathe_status status = get_loaded(
        job, name, sizeof name, lathe_kernel_contract(job->kernel)->arch, &function->loaded, err);

    if (status != LATHE_OK) {
        lt_release(allocator, function);
        return status;
    }
    *value = function;
    return LATHE_OK;
}

enum lathe_status lathe_load_kernel(struct lathe_context *context, struct lathe_function **function,
                                    const struct lathe_kernel *kernel, struct lathe_error *err)
{
    struct load_job job = {.context = context, .kernel = kernel};
    size_t bytes;
    const char *text;
    void *value = NULL;

    if (!context || !function || !kernel)
        return lt_fail(err, LATHE_MISUSED, "lathe_load_kernel: needs a context and a kernel");

    enum lathe_status status = lt_context_device(context, &job.device, err);

    if (status != LATHE_OK)
        return status;
    text = lathe_kernel_text(kernel, &bytes);

    /* Kernels of one text may differ in what the plan says for the launch. */
    struct {
        XXH128_hash_t text;
        int64_t raster;
    } key = {XXH3_128bits(text, bytes), lathe_kernel_plan(kernel)->raster};

    status = lt_once_get(lt_context_functions(context)->by_problem, &key, sizeof key, wrap_kernel,
                         &job, &value, err);
    if (status == LATHE_OK)
        *function = value;
    return status;
}

/* ---- What a function says of itself ---- */

const struct lathe_plan *lathe_function_plan(const struct lathe_function *function)
{
    return &function->plan;
}

const struct lathe_contract *lathe_function_contract(const struct lathe_function *function)
{
    return &function->loaded->contract;
}

enum lathe_cache_result lathe_function_cache(const struct lathe_function *function)
{
    return function->loaded->cache;
}

double lathe_function_emit_us(const struct lathe_function *function)
{
    return function->emit_us;
}

double lathe_function_link_ms(const struct lathe_function *function)
{
    return function->loaded->link_ms;
}

double lathe_function_load_ms(const struct lathe_function *function)
{
    return function->loaded->load_ms;
}
