/* stub_driver.c: the exported functions of the stub driver, in the order of stub_calls.def.
 *
 * Each is one line: count it and see whether it may go on, play it, note how it went. With an older
 * STUB_DRIVER_VERSION those that came later are left out, as in that driver. */
#include "tests/support/stub_play.h"

#define PLAY(symbol, played)                                                                       \
    do {                                                                                           \
        CUresult entered_ = stub_enter(STUB_CALL_##symbol);                                        \
        return stub_leave(STUB_CALL_##symbol, entered_ == CUDA_SUCCESS ? (played) : entered_);     \
    } while (0)

CUresult cuInit(unsigned int flags)
{
    PLAY(cuInit, stub_init(flags));
}

CUresult cuDriverGetVersion(int *version)
{
    PLAY(cuDriverGetVersion, stub_version(version));
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    PLAY(cuGetErrorName, stub_error_name(result, name));
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    PLAY(cuGetErrorString, stub_error_string(result, text));
}

CUresult cuDeviceGetCount(int *count)
{
    PLAY(cuDeviceGetCount, stub_device_count(count));
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    PLAY(cuDeviceGet, stub_device(device, ordinal));
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    PLAY(cuDeviceGetName, stub_device_name(name, size, device));
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    PLAY(cuDeviceGetUuid_v2, stub_device_uuid(uuid, device));
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    PLAY(cuDeviceGetPCIBusId, stub_device_bus_id(id, size, device));
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    PLAY(cuDeviceGetAttribute, stub_device_attribute(value, attribute, device));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    PLAY(cuDevicePrimaryCtxRetain, stub_primary_retain(context, device));
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    PLAY(cuDevicePrimaryCtxRelease_v2, stub_primary_release(device));
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    PLAY(cuCtxGetCurrent, stub_context_current(context));
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    PLAY(cuCtxPushCurrent_v2, stub_context_push(context));
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    PLAY(cuCtxPopCurrent_v2, stub_context_pop(context));
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    PLAY(cuCtxGetDevice, stub_context_device(device));
}

CUresult cuCtxSynchronize(void)
{
    PLAY(cuCtxSynchronize, CUDA_SUCCESS);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    PLAY(cuModuleLoadData, stub_module_load(module, image));
}

CUresult cuModuleUnload(CUmodule module)
{
    PLAY(cuModuleUnload, stub_module_unload(module));
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    PLAY(cuModuleGetFunction, stub_module_function(function, module, name));
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    PLAY(cuFuncSetAttribute, stub_function_set(function, attribute, value));
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    PLAY(cuFuncGetAttribute, stub_function_get(value, attribute, function));
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config)
{
    PLAY(cuOccupancyMaxActiveClusters, stub_occupancy(clusters, function, config));
}

#if STUB_DRIVER_VERSION >= 12000
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                void *address, const uint64_t *dims, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const struct stub_tensor_map_arguments arguments = {
        .type = type,
        .rank = rank,
        .address = address,
        .dims = dims,
        .strides = strides,
        .box = box,
        .element_strides = element_strides,
        .interleave = interleave,
        .swizzle = swizzle,
        .promotion = promotion,
        .fill = fill,
    };

    PLAY(cuTensorMapEncodeTiled, stub_encode_tiled(map, &arguments));
}
#endif

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra)
{
    PLAY(cuLaunchKernelEx, stub_function_launch(config, function, params, extra));
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    PLAY(cuMemAlloc_v2, stub_memory_allocate(pointer, bytes));
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    PLAY(cuMemFree_v2, stub_memory_free(pointer));
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    PLAY(cuMemGetInfo_v2, stub_memory_info(free_bytes, total_bytes));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    PLAY(cuMemcpyHtoD_v2, stub_memory_write(to, from, bytes));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    PLAY(cuMemcpyDtoH_v2, stub_memory_read(to, from, bytes));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    PLAY(cuMemcpyDtoDAsync_v2, stub_memory_copy(to, from, bytes, stream));
}

CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream)
{
    PLAY(cuMemsetD8Async, stub_memory_fill(pointer, value, 1, count, stream));
}

CUresult cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, size_t count, CUstream stream)
{
    PLAY(cuMemsetD16Async, stub_memory_fill(pointer, value, 2, count, stream));
}

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream)
{
    PLAY(cuMemsetD32Async, stub_memory_fill(pointer, value, 4, count, stream));
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    PLAY(cuStreamCreate, stub_stream_create(stream, flags));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    PLAY(cuStreamDestroy_v2, stub_stream_destroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    PLAY(cuStreamSynchronize, stub_stream_synchronize(stream));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    PLAY(cuStreamBeginCapture_v2, stub_capture_begin(stream, mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    PLAY(cuStreamEndCapture, stub_capture_end(stream, graph));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    PLAY(cuGraphInstantiateWithFlags, stub_graph_instantiate(exec, graph, flags));
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    PLAY(cuGraphLaunch, stub_graph_launch(exec, stream));
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    PLAY(cuGraphExecDestroy, stub_graph_exec_destroy(exec));
}

CUresult cuGraphDestroy(CUgraph graph)
{
    PLAY(cuGraphDestroy, stub_graph_destroy(graph));
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    PLAY(cuEventCreate, stub_event_create(event, flags));
}

CUresult cuEventDestroy_v2(CUevent event)
{
    PLAY(cuEventDestroy_v2, stub_event_destroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    PLAY(cuEventRecord, stub_event_record(event, stream));
}

CUresult cuEventSynchronize(CUevent event)
{
    PLAY(cuEventSynchronize, stub_event_synchronize(event));
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    PLAY(cuEventElapsedTime, stub_event_elapsed(milliseconds, start, end));
}
