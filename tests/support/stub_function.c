/* stub_function.c: modules, functions and launches of the stub driver.
 *
 * A launch is checked against what its cubin says, recorded with the values of its parameters, and
 * that is all. */
#include "tests/support/stub_play.h"

#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 1024,
    REGISTERS_MAX = 65536,
    PLAIN_SHARED = 49152, /* bytes that a block may have without asking */
    PORTABLE_CLUSTER = 8,
    CLUSTER_MAX = 16
};

static const struct stub_device *current_device(void)
{
    return &stub.devices[stub_current()->as.context.device];
}

/* ---- Modules --------------------------------------------------------------------------------- */

/* A cubin runs where the major version is the same and the minor one no smaller; text of a plain
 * architecture on all that came later. */
static bool runs_on(const struct stub_cubin *cubin, const struct stub_device *device)
{
    int sm = cubin->sm;

    if (cubin->is_text)
        return sm <= 10 * device->major + device->minor;
    return sm / 10 == device->major && sm % 10 <= device->minor;
}

/* The bytes to keep, with the zero that ends text; 0 for what is neither. */
static size_t image_bytes(const void *image)
{
    size_t length;

    if (!stub_is_text(image, stub.image_limit))
        return stub_cubin_bytes(image, stub.image_limit);
    length = strnlen(image, stub.image_limit);
    return length < stub.image_limit ? length + 1 : 0;
}

static CUresult read_image(struct stub_object *module, size_t bytes)
{
    struct stub_cubin *cubin = &module->as.module.cubin;
    void *image = module->as.module.image;

    if (stub_is_text(image, bytes))
        return stub_text_read(cubin, image) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
    return stub_cubin_read(cubin, image, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult stub_module_load(CUmodule *module, const void *image)
{
    struct stub_object *object;
    CUresult result;
    size_t bytes;

    if (module == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    bytes = image_bytes(image);
    if (bytes == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    object = stub_create(STUB_MODULE, stub_current());
    if (object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->as.module.image = malloc(bytes);
    if (object->as.module.image == NULL) {
        stub_destroy(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(object->as.module.image, image, bytes);
    result = read_image(object, bytes);
    if (result == CUDA_SUCCESS && !runs_on(&object->as.module.cubin, current_device()))
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (result != CUDA_SUCCESS) {
        stub_destroy(object);
        return result;
    }
    *module = stub_handle(object);
    return CUDA_SUCCESS;
}

static struct stub_object *find_module(CUmodule module)
{
    struct stub_object *object = stub_find(STUB_MODULE, module);

    return object != NULL && object->context == stub_current() ? object : NULL;
}

/* The function object of a kernel, if it was asked for before. */
static struct stub_object *function_of(const struct stub_object *module,
                                       const struct stub_kernel *kernel)
{
    for (size_t i = 0; i < stub.object_count; i++) {
        struct stub_object *object = stub.objects[i];

        if (object->live && object->kind == STUB_FUNCTION && object->as.function.module == module &&
            (kernel == NULL || object->as.function.kernel == kernel))
            return object;
    }
    return NULL;
}

CUresult stub_module_unload(CUmodule module)
{
    struct stub_object *object = find_module(module), *function;

    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    while ((function = function_of(object, NULL)) != NULL)
        stub_destroy(function);
    stub_destroy(object);
    return CUDA_SUCCESS;
}

static const struct stub_kernel *kernel_named(const struct stub_cubin *cubin, const char *name)
{
    for (int i = 0; i < cubin->kernel_count; i++)
        if (strcmp(cubin->kernels[i].name, name) == 0)
            return &cubin->kernels[i];
    return NULL;
}

CUresult stub_module_function(CUfunction *function, CUmodule module, const char *name)
{
    struct stub_object *object = find_module(module), *made;
    const struct stub_kernel *kernel;

    if (function == NULL || name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    kernel = kernel_named(&object->as.module.cubin, name);
    if (kernel == NULL)
        return CUDA_ERROR_NOT_FOUND;
    made = function_of(object, kernel);
    if (made == NULL) {
        made = stub_create(STUB_FUNCTION, stub_current());
        if (made == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        made->as.function.module = object;
        made->as.function.kernel = kernel;
        made->as.function.max_dynamic = PLAIN_SHARED - kernel->static_bytes;
        made->as.function.carveout = -1;
    }
    *function = stub_handle(made);
    return CUDA_SUCCESS;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static struct stub_object *find_function(CUfunction function)
{
    struct stub_object *object = stub_find(STUB_FUNCTION, function);

    return object != NULL && object->context == stub_current() ? object : NULL;
}

CUresult stub_function_set(CUfunction function, CUfunction_attribute attribute, int value)
{
    struct stub_object *object = find_function(function);

    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    switch ((int)attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 ||
            value > current_device()->optin_bytes - object->as.function.kernel->static_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        object->as.function.max_dynamic = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        object->as.function.carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        object->as.function.non_portable = value != 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* What the threads of a block may be: as the kernel says, and as the registers allow. */
static int most_threads(const struct stub_kernel *kernel)
{
    int warps = REGISTERS_MAX / 32, by_warp = (kernel->registers + 7) / 8 * 8;
    int most = kernel->max_threads != 0 ? kernel->max_threads : THREADS_MAX;

    if (by_warp != 0)
        warps = REGISTERS_MAX / 32 / by_warp / 4 * 4; /* each quarter of an SM has its own */
    return warps * 32 < most ? warps * 32 : most;
}

CUresult stub_function_get(int *value, CUfunction_attribute attribute, CUfunction function)
{
    const struct stub_object *object = find_function(function);
    const struct stub_kernel *kernel;

    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    kernel = object->as.function.kernel;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = most_threads(kernel);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = kernel->static_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = kernel->local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = kernel->registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = object->as.function.module->as.module.cubin.sm;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = object->as.function.max_dynamic;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = object->as.function.carveout;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = kernel->explicit_cluster && kernel->cluster[0] == 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = (int)kernel->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = object->as.function.non_portable;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- The shape of a launch ------------------------------------------------------------------- */

static CUresult read_attributes(struct stub_launch *launch, const CUlaunchConfig *config)
{
    if (config->numAttrs != 0 && config->attrs == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];

        switch (attribute->id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            launch->cluster[0] = attribute->value.clusterDim.x;
            launch->cluster[1] = attribute->value.clusterDim.y;
            launch->cluster[2] = attribute->value.clusterDim.z;
            if (launch->cluster[0] == 0 || launch->cluster[1] == 0 || launch->cluster[2] == 0)
                return CUDA_ERROR_INVALID_VALUE;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            launch->programmatic = attribute->value.programmaticStreamSerializationAllowed != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* After read_attributes(): the cluster asked for, or zeros. */
static CUresult settle_cluster(struct stub_launch *launch, const struct stub_object *function)
{
    const struct stub_kernel *kernel = function->as.function.kernel;
    unsigned most = function->as.function.non_portable ? CLUSTER_MAX : PORTABLE_CLUSTER;
    bool asked = launch->cluster[0] != 0, required = kernel->cluster[0] != 0;
    uint64_t blocks = 1;

    if (asked && required && memcmp(launch->cluster, kernel->cluster, sizeof kernel->cluster) != 0)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (!asked && !required && kernel->explicit_cluster)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (!asked)
        for (int i = 0; i < 3; i++)
            launch->cluster[i] = required ? kernel->cluster[i] : 1;
    for (int i = 0; i < 3; i++) {
        if (launch->cluster[i] > most)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        blocks *= launch->cluster[i];
        if (launch->grid[i] % launch->cluster[i] != 0)
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (blocks > most || (blocks > 1 && current_device()->major < 9))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

static CUresult check_block(const struct stub_launch *launch, const struct stub_kernel *kernel)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1];

    if (launch->block[0] > THREADS_MAX || launch->block[1] > THREADS_MAX || launch->block[2] > 64)
        return CUDA_ERROR_INVALID_VALUE;
    threads *= launch->block[2];
    if (threads == 0 || threads > THREADS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (kernel->block[0] != 0 && memcmp(launch->block, kernel->block, sizeof kernel->block) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (kernel->max_threads != 0 && threads > (uint64_t)kernel->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    return threads <= (uint64_t)most_threads(kernel) ? CUDA_SUCCESS
                                                     : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

/* Fills in the shape, and refuses what no device could run. */
static CUresult read_shape(struct stub_launch *launch, const CUlaunchConfig *config,
                           const struct stub_object *function)
{
    CUresult result;

    memset(launch, 0, sizeof *launch);
    memcpy(launch->grid, (unsigned[]){config->gridDimX, config->gridDimY, config->gridDimZ},
           sizeof launch->grid);
    memcpy(launch->block, (unsigned[]){config->blockDimX, config->blockDimY, config->blockDimZ},
           sizeof launch->block);
    launch->smem = config->sharedMemBytes;
    launch->stream = config->hStream;
    launch->device = stub_current()->as.context.device;

    for (int i = 0; i < 3; i++)
        if (launch->grid[i] == 0 || launch->grid[i] > (i == 0 ? INT32_MAX : 65535u))
            return CUDA_ERROR_INVALID_VALUE;
    if (function->as.function.max_dynamic < 0 ||
        launch->smem > (unsigned)function->as.function.max_dynamic)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_block(launch, function->as.function.kernel);
    if (result == CUDA_SUCCESS)
        result = read_attributes(launch, config);
    return result == CUDA_SUCCESS ? settle_cluster(launch, function) : result;
}

/* One block a multiprocessor: that of the large kernels that clusters are for. */
CUresult stub_occupancy(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    const struct stub_object *object = find_function(function);
    struct stub_launch launch;
    CUresult result;

    if (clusters == NULL || config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    result = read_shape(&launch, config, object);
    if (result == CUDA_SUCCESS)
        *clusters = current_device()->sms /
                    (int)(launch.cluster[0] * launch.cluster[1] * launch.cluster[2]);
    return result;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static CUresult read_params(struct stub_launch *launch, const struct stub_kernel *kernel,
                            void **params)
{
    if (kernel->param_count != 0 && params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    launch->param_count = kernel->param_count;
    for (int i = 0; i < kernel->param_count; i++) {
        size_t bytes = kernel->param_bytes[i];

        if (params[i] == NULL)
            return CUDA_ERROR_INVALID_VALUE;
        if (i >= STUB_PARAMS_MAX)
            continue;
        launch->param_bytes[i] = bytes;
        memcpy(launch->params[i], params[i], bytes < STUB_PARAM_BYTES ? bytes : STUB_PARAM_BYTES);
    }
    return CUDA_SUCCESS;
}

CUresult stub_function_launch(const CUlaunchConfig *config, CUfunction function, void **params,
                              void **extra)
{
    const struct stub_object *object = find_function(function);
    const struct stub_kernel *kernel;
    struct stub_object *stream;
    struct stub_launch launch, *kept;
    CUresult result;

    if (config == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (object == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (extra != NULL) /* parameters as one buffer */
        return CUDA_ERROR_NOT_SUPPORTED;
    kernel = object->as.function.kernel;
    result = stub_stream_check(&stream, config->hStream);
    if (result == CUDA_SUCCESS)
        result = read_shape(&launch, config, object);
    if (result == CUDA_SUCCESS)
        result = read_params(&launch, kernel, params);
    if (result != CUDA_SUCCESS)
        return result;
    strncpy(launch.kernel, kernel->name, sizeof launch.kernel - 1);
    kept = malloc(sizeof *kept);
    if (kept == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *kept = launch;
    return stub_stream_submit(stream, &(struct stub_work){.kind = STUB_LAUNCH, .launch = kept});
}

int stub_launches(void)
{
    int count;

    stub_lock();
    count = (int)stub.launch_count;
    stub_unlock();
    return count;
}

const struct stub_launch *stub_launch_at(int i)
{
    const struct stub_launch *launch;

    stub_lock();
    launch = i >= 0 && (size_t)i < stub.launch_count ? stub.launches[i] : NULL;
    stub_unlock();
    return launch;
}
