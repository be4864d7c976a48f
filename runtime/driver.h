/* driver.h: the CUDA driver as a table of functions, filled by dlopen.
 *
 * The few types and constants that are needed are declared here, so that everything builds where no
 * CUDA is installed. The library may be the system's libcuda.so.1 or any other that exports the
 * same symbols: there is no second way to a device. */
#ifndef LT_RUNTIME_DRIVER_H
#define LT_RUNTIME_DRIVER_H

#include "include/lathe.h"
#include "runtime/library.h"

#include <stdalign.h>
#include <stdint.h>

typedef struct lt_cu_context_tag *lt_cu_context;
typedef struct lt_cu_module_tag *lt_cu_module;
typedef struct lt_cu_function_tag *lt_cu_function;
typedef struct lt_cu_stream_tag *lt_cu_stream;
typedef struct lt_cu_event_tag *lt_cu_event;
typedef struct lt_cu_graph_tag *lt_cu_graph;
typedef struct lt_cu_graph_exec_tag *lt_cu_graph_exec;

struct lt_cu_uuid {
    unsigned char bytes[16];
};

struct lt_cu_tensor_map {
    alignas(64) uint64_t opaque[16];
};

/* CUlaunchAttribute: the value is a union of 64 bytes, of which this is the cluster's part. */
struct lt_cu_launch_attribute {
    int id;
    char pad[4];
    union {
        alignas(8) char bytes[64];
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
};

struct lt_cu_launch_config {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned smem_bytes;
    lt_cu_stream stream;
    struct lt_cu_launch_attribute *attributes;
    unsigned attribute_count;
};

/* Values of cuda.h, by the names they have there without the CU_ prefix. */
enum {
    LT_CUDA_SUCCESS = 0,
    LT_CUDA_ERROR_OUT_OF_MEMORY = 2,
    LT_CUDA_ERROR_NO_DEVICE = 100,
    LT_CUDA_ERROR_INVALID_IMAGE = 200,
    LT_CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    LT_CUDA_ERROR_INVALID_SOURCE = 300,
    LT_CUDA_ERROR_NOT_FOUND = 500,

    LT_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    LT_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,

    LT_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,

    LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,

    LT_STREAM_NON_BLOCKING = 1,
    LT_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,

    LT_TENSOR_MAP_UINT8 = 0,
    LT_TENSOR_MAP_INT32 = 3,
    LT_TENSOR_MAP_FLOAT16 = 6,
    LT_TENSOR_MAP_FLOAT32 = 7,
    LT_TENSOR_MAP_BFLOAT16 = 9,
    LT_TENSOR_MAP_TFLOAT32 = 11,
    LT_TENSOR_MAP_SWIZZLE_NONE = 0,
    LT_TENSOR_MAP_SWIZZLE_32B = 1,
    LT_TENSOR_MAP_SWIZZLE_64B = 2,
    LT_TENSOR_MAP_SWIZZLE_128B = 3,
    LT_TENSOR_MAP_L2_PROMOTION_128B = 2,
    LT_TENSOR_MAP_L2_PROMOTION_256B = 3
};

struct lt_driver {
    struct lt_library library;
    /* Of the emulator, which is a driver with more to say; null of a real one. It runs text, and
     * takes no cubins. */
    const char *(*emu_last_report)(void);
    int version; /* 1000 * major + 10 * minor, of the CUDA that the driver supports */
#define LT_CU(name, symbol, arguments) int(*name) arguments;
#include "runtime/driver.def"
#undef LT_CU
};

/* Opens the driver and initialises it. `path` null: libcuda.so.1, as the loader finds it.
 * Errors: LATHE_NO_DRIVER (what was looked for, and what to install), LATHE_NO_DEVICE. */
enum lathe_status lt_driver_open(struct lt_driver *driver, const char *path,
                                 struct lathe_error *err);
/* The emulator's library. Errors: LATHE_NO_DRIVER (also where it is a real driver). */
enum lathe_status lt_driver_open_emulator(struct lt_driver *driver, const char *path,
                                          struct lathe_error *err);
void lt_driver_close(struct lt_driver *driver);

/* LATHE_OK for LT_CUDA_SUCCESS; otherwise says which call failed, with the driver's own words. */
enum lathe_status lt_driver_check(const struct lt_driver *driver, int result, const char *call,
                                  struct lathe_error *err);

#endif
