/* driver_function.c: what a function says of itself, how many of its blocks fit, and whether the
 * shape of a launch suits it. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <string.h>

/* ---- What limits a block ---- */

static uint64_t product(const uint32_t of[3])
{
    return (uint64_t)of[0] * of[1] * of[2];
}

static size_t round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Registers of a warp, as they are handed out: in units of 256, and each quarter of a
 * multiprocessor has its own. */
static int warps_by_registers(const struct emu_cu_function *function)
{
    int by_warp = (int)round_up((size_t)function->info.registers * 32, 256);

    return by_warp > 0 ? EMU_SM_REGISTERS / 4 / by_warp * 4 : EMU_BLOCK_THREADS / 32 * 2;
}

/* What it says of itself: .reqntid is not in it, as with a driver 580 on an H200. */
static int threads_at_most(const struct emu_cu_function *function)
{
    const struct emu_function *text = function->info.function;
    uint64_t threads = (uint64_t)warps_by_registers(function) * 32;

    if (text->maxntid[0] && product(text->maxntid) < threads)
        threads = product(text->maxntid);
    return threads < EMU_BLOCK_THREADS ? (int)threads : EMU_BLOCK_THREADS;
}

int emu_cu_function_threads(const struct emu_cu_function *function)
{
    const struct emu_function *text = function->info.function;
    uint64_t required = text->reqntid[0] ? product(text->reqntid) : EMU_BLOCK_THREADS;
    int most = threads_at_most(function);

    return required < (uint64_t)most ? (int)required : most;
}

static int shared_limit(const struct emu_cu_function *function)
{
    return function->object.context->gpu->arch->shared_bytes - EMU_SHARED_RESERVED;
}

static bool dynamic_is_allowed(const struct emu_cu_function *function, size_t bytes)
{
    return function->max_dynamic >= 0 && bytes <= (size_t)function->max_dynamic;
}

/* No block fits with more dynamic shared memory than was asked for, as a driver 580 on an H200
 * counts, though the multiprocessor had room. */
int emu_cu_occupancy(const struct emu_cu_function *function, int threads, size_t dynamic_bytes)
{
    const struct emu_cu_architecture *arch = function->object.context->gpu->arch;
    size_t static_bytes = function->info.static_shared_bytes, shared;
    int warps = (threads + 31) / 32, blocks = arch->blocks;

    if (!dynamic_is_allowed(function, dynamic_bytes) || threads > emu_cu_function_threads(function))
        return 0;
    shared = round_up(static_bytes + dynamic_bytes + EMU_SHARED_RESERVED, EMU_SHARED_UNIT);
    if (arch->threads / 32 / warps < blocks)
        blocks = arch->threads / 32 / warps;
    if (warps_by_registers(function) / warps < blocks)
        blocks = warps_by_registers(function) / warps;
    if ((size_t)arch->shared_bytes / shared < (size_t)blocks)
        blocks = (int)((size_t)arch->shared_bytes / shared);
    return blocks;
}

/* ---- Attributes ---- */

CUresult emu_cu_function_attribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    struct emu_cu_function *function;
    CUresult result = value ? emu_cu_function_find(&function, handle) : CUDA_ERROR_INVALID_VALUE;

    if (result)
        return result;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = threads_at_most(function);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)function->info.static_shared_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)function->info.local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = function->info.registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: /* the virtual architecture's, not the language's */
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = function->object.context->gpu->arch->target;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = function->carveout;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value =
            function->info.function->explicitcluster; /* whatever the text requires (measured) */
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = (int)function->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = function->non_portable;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = function->policy;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* Where the text requires one already, only the same can be set, as a driver 580 on an H200 lets.
 */
static CUresult require_cluster(struct emu_cu_function *function, int axis, int value)
{
    const uint32_t *of_text = function->info.function->reqnctapercluster;

    if (of_text[0])
        return (int)of_text[axis] == value ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
    if (value < 0)
        return CUDA_ERROR_INVALID_VALUE;
    function->cluster[axis] = (uint32_t)value;
    return CUDA_SUCCESS;
}

CUresult emu_cu_function_set_attribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    enum { POLICY_LAST = 2 };
    struct emu_cu_function *function;
    CUresult result = emu_cu_function_find(&function, handle);

    if (result)
        return result;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > shared_limit(function) - (int)function->info.static_shared_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        function->max_dynamic = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return require_cluster(function, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                               value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->non_portable = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < 0 || value > POLICY_LAST)
            return CUDA_ERROR_INVALID_VALUE;
        function->policy = value;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_function_set_cache(CUfunction handle, CUfunc_cache config)
{
    struct emu_cu_function *function;

    if (config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_function_find(&function, handle);
}

CUresult emu_cu_function_set_banks(CUfunction handle, CUsharedconfig config)
{
    struct emu_cu_function *function;

    if (config < 0 || config > 2)
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_function_find(&function, handle);
}

CUresult emu_cu_function_module(CUmodule *module, CUfunction handle)
{
    struct emu_cu_function *function;
    CUresult result = module ? emu_cu_function_find(&function, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *module = function->module->object.handle;
    return result;
}

CUresult emu_cu_function_name(const char **name, CUfunction handle)
{
    struct emu_cu_function *function;
    CUresult result = name ? emu_cu_function_find(&function, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *name = function->name;
    return result;
}

CUresult emu_cu_function_param(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    struct emu_cu_function *function;
    uint32_t at, length;
    CUresult result = offset ? emu_cu_function_find(&function, handle) : CUDA_ERROR_INVALID_VALUE;

    if (result)
        return result;
    if (index >= (size_t)function->info.param_count ||
        !emu_program_param(function->module->program, function->entry, (int)index, &at, &length))
        return CUDA_ERROR_INVALID_VALUE;
    *offset = at;
    if (bytes)
        *bytes = length;
    return CUDA_SUCCESS;
}

CUresult emu_cu_function_is_loaded(CUfunctionLoadingState *loaded, CUfunction handle)
{
    struct emu_cu_function *function;
    CUresult result = loaded ? emu_cu_function_find(&function, handle) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *loaded = CU_FUNCTION_LOADING_STATE_LOADED;
    return result;
}

CUresult emu_cu_function_load(CUfunction handle)
{
    struct emu_cu_function *function;

    return emu_cu_function_find(&function, handle);
}

/* ---- Occupancy ---- */

CUresult emu_cu_occupancy_blocks_with(int *blocks, CUfunction handle, int block_size,
                                      size_t shared_bytes, unsigned flags)
{
    struct emu_cu_function *function;
    CUresult result;

    if (!blocks || block_size <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_function_find(&function, handle);
    if (!result)
        *blocks = emu_cu_occupancy(function, block_size, shared_bytes);
    return result;
}

CUresult emu_cu_occupancy_blocks(int *blocks, CUfunction handle, int block_size,
                                 size_t shared_bytes)
{
    return emu_cu_occupancy_blocks_with(blocks, handle, block_size, shared_bytes, 0);
}

/* What the program's function says of each number of warps, before anything is looked at: another
 * thread may use the driver meanwhile, and the function may not. */
static void ask_shared(size_t shared[], int warps_most, CUoccupancyB2DSize shared_of)
{
    emu_cu_enter_callback();
    for (int warps = 1; warps <= warps_most; warps++)
        shared[warps] = shared_of(warps * 32);
    emu_cu_leave_callback();
}

/* The largest block of those that keep most threads running. */
CUresult emu_cu_occupancy_block_size_with(int *grid, int *block, CUfunction handle,
                                          CUoccupancyB2DSize shared_of, size_t shared_bytes,
                                          int limit, unsigned flags)
{
    enum { WARPS = EMU_BLOCK_THREADS / 32 };
    size_t shared[WARPS + 1];
    struct emu_cu_function *function;
    int most = 0, largest, blocks_at_most = 0, size = 0;
    CUresult result;

    if (!grid || !block || limit < 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    for (int warps = 0; warps <= WARPS; warps++)
        shared[warps] = shared_bytes;
    if (shared_of)
        ask_shared(shared, WARPS, shared_of);
    result = emu_cu_function_find(&function, handle);
    if (result)
        return result;
    largest = emu_cu_function_threads(function);
    if (limit > 0 && limit < largest)
        largest = limit;
    for (int threads = largest; threads > 0; threads = (threads - 1) / 32 * 32) {
        int blocks = emu_cu_occupancy(function, threads, shared[(threads + 31) / 32]);

        if (blocks * threads <= most)
            continue;
        most = blocks * threads;
        blocks_at_most = blocks;
        size = threads;
    }
    *block = size;
    *grid = blocks_at_most * function->object.context->gpu->multiprocessors;
    return CUDA_SUCCESS;
}

CUresult emu_cu_occupancy_block_size(int *grid, int *block, CUfunction handle,
                                     CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit)
{
    return emu_cu_occupancy_block_size_with(grid, block, handle, shared_of, shared_bytes, limit, 0);
}

CUresult emu_cu_occupancy_shared(size_t *shared_bytes, CUfunction handle, int blocks,
                                 int block_size)
{
    struct emu_cu_function *function;
    size_t by_block, taken, most;
    CUresult result;

    if (!shared_bytes || blocks <= 0 || block_size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_function_find(&function, handle);
    if (result)
        return result;
    if (emu_cu_occupancy(function, block_size, 0) < blocks)
        return CUDA_ERROR_INVALID_VALUE;
    by_block = (size_t)function->object.context->gpu->arch->shared_bytes / (size_t)blocks /
               EMU_SHARED_UNIT * EMU_SHARED_UNIT;
    taken = function->info.static_shared_bytes + EMU_SHARED_RESERVED;
    most = (size_t)shared_limit(function) - function->info.static_shared_bytes;
    *shared_bytes = by_block - taken < most ? by_block - taken : most;
    return CUDA_SUCCESS;
}

static int clusters_at_a_time(const struct emu_cu_function *function,
                              const struct emu_cu_kernel_work *shape)
{
    int blocks = emu_cu_occupancy(function, (int)product(shape->block), shape->shared_bytes);
    int64_t resident = (int64_t)blocks * function->object.context->gpu->multiprocessors;

    return (int)(resident / (int64_t)product(shape->cluster));
}

CUresult emu_cu_occupancy_clusters(int *clusters, CUfunction handle, const CUlaunchConfig *config)
{
    struct emu_cu_kernel_work shape;
    struct emu_cu_function *function;
    CUresult result;

    if (!clusters || !config)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_function_find(&function, handle);
    if (!result)
        result = emu_cu_shape(&shape, function, config);
    if (!result)
        *clusters = clusters_at_a_time(function, &shape);
    return result;
}

/* Clusters are of powers of two here, as the manual of the call does not say. */
CUresult emu_cu_occupancy_cluster_size(int *size, CUfunction handle, const CUlaunchConfig *config)
{
    struct emu_cu_kernel_work shape;
    struct emu_cu_function *function;
    CUlaunchConfig plain;
    CUresult result;
    int most;

    if (!size || !config)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_function_find(&function, handle);
    if (result)
        return result;
    if (function->object.context->gpu->arch->target < 90)
        return CUDA_ERROR_NOT_SUPPORTED;
    plain = *config;
    plain.numAttrs = 0;
    if (function->cluster[0]) {
        *size = (int)product(function->cluster);
        return CUDA_SUCCESS;
    }
    result = emu_cu_shape(&shape, function, &plain);
    if (result && result != CUDA_ERROR_INVALID_CLUSTER_SIZE)
        return result;
    most = function->non_portable ? EMU_CLUSTER_MAX : EMU_CLUSTER_PORTABLE;
    memcpy(shape.cluster, (uint32_t[]){1, 1, 1}, sizeof shape.cluster);
    while (most > 1 && most > clusters_at_a_time(function, &shape))
        most /= 2;
    *size = most;
    return CUDA_SUCCESS;
}

/* ---- The shape of a launch ---- */

static CUresult read_attributes(struct emu_cu_kernel_work *shape, const CUlaunchConfig *config)
{
    if (config->numAttrs > 0 && !config->attrs)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;

        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            shape->cluster[0] = value->clusterDim.x;
            shape->cluster[1] = value->clusterDim.y;
            shape->cluster[2] = value->clusterDim.z;
            if (product(shape->cluster) == 0)
                return CUDA_ERROR_INVALID_CLUSTER_SIZE;
            break;
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            shape->cooperative = value->cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            shape->is_dependent = value->programmaticStreamSerializationAllowed != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            break; /* hints */
        default:
            return emu_cu_report(CUDA_ERROR_NOT_SUPPORTED,
                                 "the emulator does not know launch attribute %d",
                                 config->attrs[i].id);
        }
    }
    return CUDA_SUCCESS;
}

static CUresult settle_cluster(struct emu_cu_kernel_work *shape,
                               const struct emu_cu_function *function)
{
    const struct emu_function *text = function->info.function;
    unsigned most = function->non_portable ? EMU_CLUSTER_MAX : EMU_CLUSTER_PORTABLE;
    bool is_asked = shape->cluster[0] != 0, is_required = product(function->cluster) != 0;

    /* Set at run time, all three must be, or none. */
    if (!is_required && (function->cluster[0] || function->cluster[1] || function->cluster[2]))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (is_asked && is_required &&
        memcmp(shape->cluster, function->cluster, sizeof shape->cluster) != 0)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (!is_asked && !is_required && text->explicitcluster)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    shape->in_clusters = is_asked || is_required;
    for (int i = 0; i < 3; i++) {
        if (!is_asked)
            shape->cluster[i] = is_required ? function->cluster[i] : 1;
        if (shape->cluster[i] > most)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    /* Of the cluster, and not a value, as a driver 580 on an H200 says. */
    for (int i = 0; i < 3; i++)
        if (shape->grid[i] % shape->cluster[i] != 0)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (product(shape->cluster) > most ||
        (text->maxclusterrank && product(shape->cluster) > text->maxclusterrank))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (product(shape->cluster) > 1 && function->object.context->gpu->arch->target < 90)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    return CUDA_SUCCESS;
}

static CUresult check_block(const uint32_t block[3], const struct emu_cu_function *function)
{
    enum { Z_MAX = 64 };
    const struct emu_function *text = function->info.function;
    uint64_t threads;

    if (block[0] > EMU_BLOCK_THREADS || block[1] > EMU_BLOCK_THREADS || block[2] > Z_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    threads = product(block);
    if (threads == 0 || threads > EMU_BLOCK_THREADS)
        return CUDA_ERROR_INVALID_VALUE;
    if (text->reqntid[0] && memcmp(block, text->reqntid, sizeof text->reqntid) != 0)
        return emu_cu_report(CUDA_ERROR_INVALID_VALUE,
                             "%s: the block is %ux%ux%u, .reqntid %ux%ux%u", function->name,
                             block[0], block[1], block[2], text->reqntid[0], text->reqntid[1],
                             text->reqntid[2]);
    if (text->maxntid[0] && threads > product(text->maxntid))
        return emu_cu_report(CUDA_ERROR_INVALID_VALUE,
                             "%s: a block of %llu threads is more than .maxntid allows (%llu)",
                             function->name, (unsigned long long)threads,
                             (unsigned long long)product(text->maxntid));
    return threads <= (uint64_t)emu_cu_function_threads(function)
               ? CUDA_SUCCESS
               : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

static CUresult check_cooperative(const struct emu_cu_kernel_work *shape,
                                  const struct emu_cu_function *function)
{
    int64_t resident =
        (int64_t)clusters_at_a_time(function, shape) * (int64_t)product(shape->cluster);
    uint64_t blocks = product(shape->grid); /* below 2^63 */

    if (!shape->cooperative || blocks <= (uint64_t)resident)
        return CUDA_SUCCESS;
    return emu_cu_report(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                         "%s: a cooperative launch may have %lld blocks on this device",
                         function->name, (long long)resident);
}

CUresult emu_cu_shape(struct emu_cu_kernel_work *shape, const struct emu_cu_function *function,
                      const CUlaunchConfig *config)
{
    CUresult result;

    *shape = (struct emu_cu_kernel_work){
        .function = function->object.handle,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes};
    for (int i = 0; i < 3; i++)
        if (shape->grid[i] == 0 || shape->grid[i] > (i == 0 ? (uint32_t)INT32_MAX : 65535))
            return CUDA_ERROR_INVALID_VALUE;
    result = check_block(shape->block, function);
    if (result)
        return result;
    if (!dynamic_is_allowed(function, shape->shared_bytes))
        return emu_cu_report(CUDA_ERROR_INVALID_VALUE,
                             "%s: %u bytes of dynamic shared memory are more than the %d that "
                             "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES allows",
                             function->name, shape->shared_bytes, function->max_dynamic);
    result = read_attributes(shape, config);
    if (!result)
        result = settle_cluster(shape, function);
    return result ? result : check_cooperative(shape, function);
}
