/* stub_play.h: what the driver's functions do once stub_enter() has let them through. Each is named
 * after the one it plays; CUDA's manual says what they mean, and stub_driver.c lists them. */
#ifndef STUB_PLAY_H
#define STUB_PLAY_H

#include "tests/support/stub_state.h"

/* stub_context.c: devices, contexts */
CUresult stub_init(unsigned flags);
CUresult stub_version(int *version);
CUresult stub_error_name(CUresult result, const char **name);
CUresult stub_error_string(CUresult result, const char **text);
CUresult stub_device_count(int *count);
CUresult stub_device(CUdevice *device, int ordinal);
CUresult stub_device_name(char *name, int size, CUdevice device);
CUresult stub_device_uuid(CUuuid *uuid, CUdevice device);
CUresult stub_device_bus_id(char *id, int size, CUdevice device);
CUresult stub_device_attribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult stub_primary_retain(CUcontext *context, CUdevice device);
CUresult stub_primary_release(CUdevice device);
CUresult stub_context_current(CUcontext *context);
CUresult stub_context_push(CUcontext context);
CUresult stub_context_pop(CUcontext *context);
CUresult stub_context_device(CUdevice *device);

/* stub_function.c: modules, functions, launches */
CUresult stub_module_load(CUmodule *module, const void *image);
CUresult stub_module_unload(CUmodule module);
CUresult stub_module_function(CUfunction *function, CUmodule module, const char *name);
CUresult stub_function_set(CUfunction function, CUfunction_attribute attribute, int value);
CUresult stub_function_get(int *value, CUfunction_attribute attribute, CUfunction function);
CUresult stub_occupancy(int *clusters, CUfunction function, const CUlaunchConfig *config);
CUresult stub_function_launch(const CUlaunchConfig *config, CUfunction function, void **params,
                              void **extra);

/* stub_tensor_map.c */
struct stub_tensor_map_arguments {
    CUtensorMapDataType type;
    uint32_t rank;
    const void *address;
    const uint64_t *dims, *strides;
    const uint32_t *box, *element_strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};
CUresult stub_encode_tiled(CUtensorMap *map, const struct stub_tensor_map_arguments *arguments);

/* stub_memory.c */
CUresult stub_memory_allocate(CUdeviceptr *pointer, size_t bytes);
CUresult stub_memory_free(CUdeviceptr pointer);
CUresult stub_memory_info(size_t *free_bytes, size_t *total_bytes);
CUresult stub_memory_write(CUdeviceptr to, const void *from, size_t bytes);
CUresult stub_memory_read(void *to, CUdeviceptr from, size_t bytes);
CUresult stub_memory_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
/* `count` values of 1, 2 or 4 bytes each */
CUresult stub_memory_fill(CUdeviceptr pointer, unsigned value, unsigned value_bytes, size_t count,
                          CUstream stream);

/* stub_stream.c: streams, captures, graphs, events */
CUresult stub_stream_create(CUstream *stream, unsigned flags);
CUresult stub_stream_destroy(CUstream stream);
CUresult stub_stream_synchronize(CUstream stream);
CUresult stub_capture_begin(CUstream stream, CUstreamCaptureMode mode);
CUresult stub_capture_end(CUstream stream, CUgraph *graph);
CUresult stub_graph_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult stub_graph_launch(CUgraphExec exec, CUstream stream);
CUresult stub_graph_exec_destroy(CUgraphExec exec);
CUresult stub_graph_destroy(CUgraph graph);
CUresult stub_event_create(CUevent *event, unsigned flags);
CUresult stub_event_destroy(CUevent event);
CUresult stub_event_record(CUevent event, CUstream stream);
CUresult stub_event_synchronize(CUevent event);
CUresult stub_event_elapsed(float *milliseconds, CUevent start, CUevent end);

/* Checks a stream that work is about to enter, of the current context; null is the default one.
 * Sets *object to null for that. */
CUresult stub_stream_check(struct stub_object **object, CUstream stream);
/* Does the work at once, or adds it to what the stream captures. Owns the work's launch from here
 * on, whatever it returns. */
CUresult stub_stream_submit(struct stub_object *stream, const struct stub_work *work);
/* Does a copy or a fill. */
CUresult stub_memory_work(const struct stub_work *work);

#endif
