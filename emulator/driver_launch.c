/* driver_launch.c: launches: parameters packed, run to their end, faults kept; host functions. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parameters ---- */

/* `params` has a pointer for each. */
static CUresult pack_each(unsigned char *packed, const struct emu_cu_function *function,
                          void **params)
{
    for (int i = 0; i < function->info.param_count; i++) {
        uint32_t offset, bytes;

        if (!params || !params[i])
            return CUDA_ERROR_INVALID_VALUE;
        if (!emu_program_param(function->module->program, function->entry, i, &offset, &bytes))
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(packed + offset, params[i], bytes);
    }
    return CUDA_SUCCESS;
}

/* `extra` has one buffer with all of them in their places. */
static CUresult pack_buffer(unsigned char *packed, uint32_t packed_bytes, void **extra)
{
    const void *buffer = NULL;
    const size_t *bytes = NULL;

    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!bytes || *bytes < packed_bytes || (!buffer && packed_bytes > 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (packed_bytes > 0)
        memcpy(packed, buffer, packed_bytes);
    return CUDA_SUCCESS;
}

CUresult emu_cu_kernel_work(struct emu_cu_work *work, const CUlaunchConfig *config,
                            CUfunction handle, void **params, void **extra)
{
    struct emu_cu_kernel_work *kernel = &work->as.kernel;
    struct emu_cu_function *function;
    CUresult result = emu_cu_function_find(&function, handle);

    *work =
        (struct emu_cu_work){.kind = EMU_CU_WORK_EMPTY, .context = emu_cu_current()->object.handle};
    if (result)
        return result;
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_shape(kernel, function, config);
    if (result)
        return result;
    kernel->param_bytes = function->info.param_bytes;
    kernel->params = calloc(1, kernel->param_bytes ? kernel->param_bytes : 1);
    if (!kernel->params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->kind = EMU_CU_WORK_KERNEL;
    result = extra ? pack_buffer(kernel->params, kernel->param_bytes, extra)
                   : pack_each(kernel->params, function, params);
    if (result)
        emu_cu_work_release(work);
    return result;
}

/* ---- Running ---- */

/* As the real driver tells of the same end. What never began leaves the context as it was. */
static CUresult result_of(struct emu_cu_context *context, enum emu_outcome outcome)
{
    switch (outcome) {
    case EMU_DONE:
        return CUDA_SUCCESS;
    case EMU_ILLEGAL_ADDRESS:
        return emu_cu_fail(context, CUDA_ERROR_ILLEGAL_ADDRESS);
    case EMU_MISALIGNED_ADDRESS:
        return emu_cu_fail(context, CUDA_ERROR_MISALIGNED_ADDRESS);
    case EMU_ILLEGAL_INSTRUCTION:
        return emu_cu_fail(context, CUDA_ERROR_ILLEGAL_INSTRUCTION);
    case EMU_TRAPPED:
    case EMU_FOUND:
        return emu_cu_fail(context, CUDA_ERROR_LAUNCH_FAILED);
    case EMU_DEADLOCK:
    case EMU_OUT_OF_STEPS:
        return emu_cu_fail(context, CUDA_ERROR_LAUNCH_TIMEOUT);
    case EMU_NO_RESOURCES:
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    return CUDA_ERROR_UNKNOWN;
}

CUresult emu_cu_kernel_do(struct emu_cu_context *context, const struct emu_cu_kernel_work *work)
{
    const struct emu_cu_function *function = emu_cu_find(EMU_CU_FUNCTION, work->function);
    struct emu_error error = {.line = 0};
    struct emu_launch launch = {.dynamic_shared_bytes = work->shared_bytes, .params = work->params};
    enum emu_outcome outcome;

    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    launch.program = function->module->program;
    launch.entry = function->entry;
    launch.is_dependent = work->is_dependent;
    memcpy(launch.grid, work->grid, sizeof launch.grid);
    memcpy(launch.block, work->block, sizeof launch.block);
    if (work->in_clusters)
        memcpy(launch.cluster, work->cluster, sizeof launch.cluster);
    outcome = emu_run(context->gpu->machine, &launch, &error);
    emu_cu_check_collect(context->gpu->machine);
    if (outcome != EMU_DONE)
        emu_cu_report(0, "%s", error.message);
    return result_of(context, outcome);
}

/* ---- Calls ---- */

CUresult emu_cu_launch_kernel_with(const CUlaunchConfig *config, CUfunction function, void **params,
                                   void **extra)
{
    struct emu_cu_stream *stream;
    struct emu_cu_work work;
    CUresult result;

    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_stream_find(&stream, config->hStream);
    if (!result)
        result = emu_cu_kernel_work(&work, config, function, params, extra);
    return result ? result : emu_cu_submit(config->hStream, &work);
}

CUresult emu_cu_launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
    const CUlaunchConfig config = {grid_x,  grid_y,       grid_z, block_x, block_y,
                                   block_z, shared_bytes, stream, NULL,    0};

    return emu_cu_launch_kernel_with(&config, function, params, extra);
}

CUresult emu_cu_launch_cooperative(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void **params)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    const CUlaunchConfig config = {grid_x,  grid_y,       grid_z, block_x,      block_y,
                                   block_z, shared_bytes, stream, &cooperative, 1};

    return emu_cu_launch_kernel_with(&config, function, params, NULL);
}

CUresult emu_cu_launch_host(CUstream stream, CUhostFn function, void *user)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_HOST,
                               .context = emu_cu_current()->object.handle,
                               .as.host = {.function = function, .user = user}};

    return function ? emu_cu_submit(stream, &work) : CUDA_ERROR_INVALID_VALUE;
}

CUresult emu_cu_stream_callback(CUstream stream, CUstreamCallback callback, void *user,
                                unsigned flags)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_HOST,
                               .context = emu_cu_current()->object.handle,
                               .as.host = {.callback = callback, .stream = stream, .user = user}};
    struct emu_cu_stream *found;
    CUresult result;

    if (!callback || flags)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_stream_for_work(&found, stream);
    if (!result && found->capture) {
        emu_cu_capture_invalidate(found->capture);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result ? result : emu_cu_submit(stream, &work);
}
