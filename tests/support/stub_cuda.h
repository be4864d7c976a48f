/* stub_cuda.h: the part of the CUDA driver's interface that the stub plays.
 *
 * Written down here a second time on purpose: the stub is a peer of the real driver, so it shares
 * no declaration with runtime/driver.h and can disagree with it. Not to be mixed with CUDA's
 * cuda.h. */
#ifndef STUB_CUDA_H
#define STUB_CUDA_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_API __attribute__((visibility("default")))

/* The CUDA version of the driver that is played; symbols that came later are not exported. */
#ifndef STUB_DRIVER_VERSION
#define STUB_DRIVER_VERSION 13000
#endif

typedef enum cudaError_enum {
#define STUB_ERROR(name, value, text) name = value,
#include "tests/support/stub_errors.def"
#undef STUB_ERROR
} CUresult;

typedef int CUdevice;
typedef struct {
    char bytes[16];
} CUuuid;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
    CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
    CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127
} CUdevice_attribute;

typedef enum CUfunction_attribute_enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
    CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
} CUfunction_attribute;

typedef enum CUlaunchAttributeID_enum {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    CU_LAUNCH_ATTRIBUTE_PRIORITY = 8
} CUlaunchAttributeID;

typedef union CUlaunchAttributeValue_union {
    char pad[64];
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    struct {
        void *base_ptr; /* gives the union the alignment that it has in CUDA's header */
    } accessPolicyWindow;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

typedef struct CUtensorMap_st {
    alignas(64) uint64_t opaque[16];
} CUtensorMap;

typedef enum CUtensorMapDataType_enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
    CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64,
    CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
    CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
    CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
} CUtensorMapDataType;

typedef enum CUtensorMapInterleave_enum {
    CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
    CU_TENSOR_MAP_INTERLEAVE_16B,
    CU_TENSOR_MAP_INTERLEAVE_32B
} CUtensorMapInterleave;

typedef enum CUtensorMapSwizzle_enum {
    CU_TENSOR_MAP_SWIZZLE_NONE = 0,
    CU_TENSOR_MAP_SWIZZLE_32B,
    CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B
} CUtensorMapSwizzle;

typedef enum CUtensorMapL2promotion_enum {
    CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
    CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B
} CUtensorMapL2promotion;

typedef enum CUtensorMapFloatOOBfill_enum {
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
} CUtensorMapFloatOOBfill;

typedef enum CUstreamCaptureMode_enum {
    CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CU_STREAM_CAPTURE_MODE_RELAXED
} CUstreamCaptureMode;

enum {
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
};

/* Streams that need no cuStreamCreate: the default one, and the same by its two other names. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

STUB_API CUresult cuInit(unsigned int flags);
STUB_API CUresult cuDriverGetVersion(int *version);
STUB_API CUresult cuGetErrorName(CUresult result, const char **name);
STUB_API CUresult cuGetErrorString(CUresult result, const char **text);
STUB_API CUresult cuDeviceGetCount(int *count);
STUB_API CUresult cuDeviceGet(CUdevice *device, int ordinal);
STUB_API CUresult cuDeviceGetName(char *name, int size, CUdevice device);
STUB_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
STUB_API CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device);
STUB_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
STUB_API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
STUB_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
STUB_API CUresult cuCtxGetCurrent(CUcontext *context);
STUB_API CUresult cuCtxPushCurrent_v2(CUcontext context);
STUB_API CUresult cuCtxPopCurrent_v2(CUcontext *context);
STUB_API CUresult cuCtxGetDevice(CUdevice *device);
STUB_API CUresult cuCtxSynchronize(void);
STUB_API CUresult cuModuleLoadData(CUmodule *module, const void *image);
STUB_API CUresult cuModuleUnload(CUmodule module);
STUB_API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
STUB_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                     int value);
STUB_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                                     CUfunction function);
STUB_API CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                               const CUlaunchConfig *config);
#if STUB_DRIVER_VERSION >= 12000
STUB_API CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *address, const uint64_t *dims,
    const uint64_t *strides, const uint32_t *box, const uint32_t *element_strides,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill);
#endif
STUB_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                                   void **extra);
STUB_API CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
STUB_API CUresult cuMemFree_v2(CUdeviceptr pointer);
STUB_API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
STUB_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
STUB_API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
STUB_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                       CUstream stream);
STUB_API CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count,
                                  CUstream stream);
STUB_API CUresult cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, size_t count,
                                   CUstream stream);
STUB_API CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count,
                                   CUstream stream);
STUB_API CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
STUB_API CUresult cuStreamDestroy_v2(CUstream stream);
STUB_API CUresult cuStreamSynchronize(CUstream stream);
STUB_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
STUB_API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
STUB_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                              unsigned long long flags);
STUB_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
STUB_API CUresult cuGraphExecDestroy(CUgraphExec exec);
STUB_API CUresult cuGraphDestroy(CUgraph graph);
STUB_API CUresult cuEventCreate(CUevent *event, unsigned int flags);
STUB_API CUresult cuEventDestroy_v2(CUevent event);
STUB_API CUresult cuEventRecord(CUevent event, CUstream stream);
STUB_API CUresult cuEventSynchronize(CUevent event);
STUB_API CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);

#endif
