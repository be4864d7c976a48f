/* driver_context.c: contexts: made, current in threads, emptied when they end. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

enum { API_VERSION = 3020 };

/* ---- Making and ending ---- */

static CUresult start_machine(struct emu_cu_gpu *gpu)
{
    const struct emu_options options = {.target = gpu->arch->target,
                                        .multiprocessors = gpu->multiprocessors,
                                        .limits = emu_cu_driver.limits,
                                        .seed = emu_cu_driver.seed,
                                        .exact = emu_cu_driver.exact,
                                        .threads = emu_cu_threads()};

    if (gpu->contexts == 0) {
        gpu->machine_bytes = emu_cu_memory_total(gpu);
        gpu->machine = emu_device_create(&options);
        if (!gpu->machine || !emu_cu_check_device(gpu->machine)) {
            emu_device_destroy(gpu->machine);
            gpu->machine = NULL;
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        emu_device_set_trace(gpu->machine, emu_cu_driver.trace);
        gpu->pool_high = 0;
    }
    gpu->contexts++;
    return CUDA_SUCCESS;
}

static void stop_machine(struct emu_cu_gpu *gpu)
{
    if (--gpu->contexts > 0)
        return;
    emu_device_destroy(gpu->machine);
    gpu->machine = NULL;
    free(gpu->blocks);
    gpu->blocks = NULL;
    gpu->block_count = gpu->block_room = 0;
}

static void set_limits(struct emu_cu_context *context)
{
    static const uint64_t usual[EMU_LIMIT_COUNT] = {
        [CU_LIMIT_STACK_SIZE] = 1024,
        [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
        [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
        [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
        [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 128,
    };

    memcpy(context->limits, usual, sizeof usual);
}

static CUresult activate(struct emu_cu_context *context)
{
    CUresult result = start_machine(context->gpu);

    if (result)
        return result;
    context->legacy = emu_cu_stream_make(context);
    if (!context->legacy) {
        stop_machine(context->gpu);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->legacy->is_default = context->legacy->is_legacy = true;
    context->failed = CUDA_SUCCESS;
    context->active = true;
    set_limits(context);
    return CUDA_SUCCESS;
}

static void destroy_all(enum emu_cu_kind kind, const struct emu_cu_context *context)
{
    size_t at = 0;
    void *object;

    while ((object = emu_cu_next(kind, context, &at)) != NULL)
        emu_cu_destroy(object);
}

/* All that was made in it goes with it. */
static void empty(struct emu_cu_context *context)
{
    destroy_all(EMU_CU_EVENT, context);
    destroy_all(EMU_CU_STREAM, context);
    destroy_all(EMU_CU_LINK, context);
    destroy_all(EMU_CU_MODULE, context);
    emu_cu_memory_free_all(context);
    free(context->per_thread);
    context->per_thread = NULL;
    context->per_thread_count = 0;
    context->legacy = NULL;
}

static void deactivate(struct emu_cu_context *context)
{
    empty(context);
    context->active = false;
    stop_machine(context->gpu);
}

static struct emu_cu_context *make_context(struct emu_cu_gpu *gpu, unsigned flags)
{
    struct emu_cu_context *context = emu_cu_create(EMU_CU_CONTEXT, sizeof *context, NULL);

    if (!context)
        return NULL;
    context->gpu = gpu;
    context->flags = flags;
    context->id = ++emu_cu_driver.next_id;
    return context;
}

/* ---- Primary contexts ---- */

static bool flags_are_valid(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;

    return (flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0 &&
           (schedule <= CU_CTX_SCHED_YIELD || schedule == CU_CTX_SCHED_BLOCKING_SYNC);
}

CUresult emu_cu_primary_retain(CUcontext *context, CUdevice device)
{
    struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);
    CUresult result;

    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!gpu->primary)
        gpu->primary = make_context(gpu, gpu->primary_flags);
    if (!gpu->primary)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!gpu->primary->active) {
        gpu->primary->flags = gpu->primary_flags;
        result = activate(gpu->primary);
        if (result)
            return result;
    }
    gpu->retained++;
    *context = gpu->primary->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_primary_release(CUdevice device)
{
    struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    if (gpu->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--gpu->retained == 0)
        deactivate(gpu->primary);
    return CUDA_SUCCESS;
}

/* It stays retained, as new. */
CUresult emu_cu_primary_reset(CUdevice device)
{
    struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    if (gpu->retained == 0)
        return CUDA_SUCCESS;
    deactivate(gpu->primary);
    return activate(gpu->primary);
}

CUresult emu_cu_primary_set_flags(CUdevice device, unsigned flags)
{
    struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    gpu->primary_flags = flags;
    if (gpu->retained > 0)
        gpu->primary->flags = flags;
    return CUDA_SUCCESS;
}

CUresult emu_cu_primary_state(CUdevice device, unsigned *flags, int *active)
{
    const struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);

    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = gpu->primary_flags;
    *active = gpu->retained > 0;
    return CUDA_SUCCESS;
}

/* ---- The stack of a thread ---- */

static CUresult push(void *handle)
{
    struct emu_cu_thread *thread = emu_cu_thread();

    if (thread->depth == EMU_CONTEXT_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    thread->contexts[thread->depth++] = handle;
    return CUDA_SUCCESS;
}

/* A primary context that nobody retains may be current: what needs it fails then (measured). */
CUresult emu_cu_context_push(CUcontext handle)
{
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_context_of(handle) ? push(handle) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult emu_cu_context_pop(CUcontext *context)
{
    struct emu_cu_thread *thread = emu_cu_thread();

    if (thread->depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    thread->depth--;
    if (context)
        *context = thread->contexts[thread->depth];
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_set(CUcontext handle)
{
    struct emu_cu_thread *thread = emu_cu_thread();

    if (handle && !emu_cu_context_of(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (thread->depth > 0)
        thread->depth--;
    return handle ? push(handle) : CUDA_SUCCESS;
}

CUresult emu_cu_context_get(CUcontext *context)
{
    const struct emu_cu_thread *thread = emu_cu_thread();

    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = thread->depth > 0 ? thread->contexts[thread->depth - 1] : NULL;
    return CUDA_SUCCESS;
}

/* ---- Contexts of the program's own ---- */

CUresult emu_cu_context_create(CUcontext *handle, unsigned flags, CUdevice device)
{
    struct emu_cu_gpu *gpu = emu_cu_gpu_of(device);
    struct emu_cu_context *context;
    CUresult result;

    if (!handle || !flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    context = make_context(gpu, flags);
    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = activate(context);
    if (!result) {
        result = push(context->object.handle);
        if (result)
            deactivate(context);
    }
    if (result) {
        emu_cu_destroy(context);
        return result;
    }
    *handle = context->object.handle;
    return CUDA_SUCCESS;
}

/* Shares of multiprocessors are those of MPS servers. */
CUresult emu_cu_context_create_affine(CUcontext *handle, void *affinities, int count,
                                      unsigned flags, CUdevice device)
{
    if (affinities || count)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return emu_cu_context_create(handle, flags, device);
}

CUresult emu_cu_context_create_with(CUcontext *handle, CUctxCreateParams *params, unsigned flags,
                                    CUdevice device)
{
    if (params && params->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (params && (params->execAffinityParams || params->numExecAffinityParams))
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return emu_cu_context_create(handle, flags, device);
}

CUresult emu_cu_context_destroy(CUcontext handle)
{
    struct emu_cu_thread *thread = emu_cu_thread();
    struct emu_cu_context *context = emu_cu_context_of(handle);

    if (!context || context == context->gpu->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (thread->depth > 0 && thread->contexts[thread->depth - 1] == handle)
        thread->depth--;
    deactivate(context);
    emu_cu_destroy(context);
    return CUDA_SUCCESS;
}

/* ---- What it says of itself ---- */

/* The one named, or the current one for null. */
static struct emu_cu_context *named_or_current(CUcontext handle)
{
    struct emu_cu_context *context = handle ? emu_cu_context_of(handle) : emu_cu_current_if_any();

    return context && context->active ? context : NULL;
}

/* Told of a primary context that nobody retains any more too, as a driver 580 on an H200 does. */
CUresult emu_cu_context_device(CUdevice *device)
{
    const struct emu_cu_thread *thread = emu_cu_thread();
    const struct emu_cu_context *context;

    if (thread->depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    context = emu_cu_context_of(thread->contexts[thread->depth - 1]);
    if (!context)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->gpu->ordinal;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_device_of(CUdevice *device, CUcontext handle)
{
    const struct emu_cu_context *context = named_or_current(handle);

    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->gpu->ordinal;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_flags(unsigned *flags)
{
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = emu_cu_current()->flags;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_set_flags(unsigned flags)
{
    if (!flags_are_valid(flags))
        return CUDA_ERROR_INVALID_VALUE;
    emu_cu_current()->flags = flags;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_id(CUcontext handle, unsigned long long *id)
{
    const struct emu_cu_context *context = named_or_current(handle);

    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_version(CUcontext handle, unsigned *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (!named_or_current(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    *version = API_VERSION;
    return CUDA_SUCCESS;
}

/* Those that mean something here; kept and told, though nothing but the depth of calls limits. */
static bool limit_is_known(CUlimit limit)
{
    return limit == CU_LIMIT_STACK_SIZE || limit == CU_LIMIT_PRINTF_FIFO_SIZE ||
           limit == CU_LIMIT_MALLOC_HEAP_SIZE ||
           limit == CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT ||
           limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY || limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
}

static CUresult check_limit(CUlimit limit)
{
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return limit_is_known(limit) ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult emu_cu_context_limit(size_t *value, CUlimit limit)
{
    CUresult result = value ? check_limit(limit) : CUDA_ERROR_INVALID_VALUE;

    if (!result)
        *value = emu_cu_current()->limits[limit];
    return result;
}

CUresult emu_cu_context_set_limit(CUlimit limit, size_t value)
{
    CUresult result = check_limit(limit);

    if (!result)
        emu_cu_current()->limits[limit] = value;
    return result;
}

CUresult emu_cu_context_cache(CUfunc_cache *config)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = emu_cu_current()->cache;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_set_cache(CUfunc_cache config)
{
    if (config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    emu_cu_current()->cache = config;
    return CUDA_SUCCESS;
}

/* Banks of four bytes: others went with Kepler. */
CUresult emu_cu_context_banks(CUsharedconfig *config)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = 1;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_set_banks(CUsharedconfig config)
{
    return config >= 0 && config <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_context_priorities(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = EMU_GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_reset_l2(void)
{
    return CUDA_SUCCESS;
}

/* There is never anything to wait for. */
CUresult emu_cu_context_synchronize(void)
{
    return CUDA_SUCCESS;
}

CUresult emu_cu_context_synchronize_of(CUcontext handle)
{
    const struct emu_cu_context *context = named_or_current(handle);

    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return context->failed ? context->failed : emu_cu_capture_forbids();
}

/* ---- Peers: there are none ---- */

CUresult emu_cu_context_enable_peer(CUcontext peer, unsigned flags)
{
    const struct emu_cu_context *context = emu_cu_context_of(peer);

    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context || context == emu_cu_current())
        return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult emu_cu_context_disable_peer(CUcontext peer)
{
    return emu_cu_context_of(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
                                   : CUDA_ERROR_INVALID_CONTEXT;
}
