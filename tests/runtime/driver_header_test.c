/* driver_header_test.c: holds runtime/driver.h and driver.def against CUDA's own header, where that
 * is installed; elsewhere it is skipped and says so.
 *
 * driver.h comes first: cuda.h renames functions by macros, which are not to reach our table. */
#include "runtime/driver.h"

#include "tests/support/cmocka_all.h"

#include <string.h>

#if !defined(HAVE_CUDA_H) && defined(__has_include)
#if __has_include(<cuda.h>)
#define HAVE_CUDA_H 1
#endif
#endif

#ifdef HAVE_CUDA_H
#include <cuda.h>
#endif

#if defined(HAVE_CUDA_H) && CUDA_VERSION >= 12000

/* ---- Types ----------------------------------------------------------------------------------- */

struct pair {
    const char *what;
    long long ours, cudas;
};

static void compare(const struct pair *pairs, size_t count)
{
    int wrong = 0;

    for (size_t i = 0; i < count; i++) {
        if (pairs[i].ours == pairs[i].cudas)
            continue;
        print_error("%s: %lld in driver.h, %lld in cuda.h\n", pairs[i].what, pairs[i].ours,
                    pairs[i].cudas);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

#define COMPARE(pairs) compare(pairs, sizeof(pairs) / sizeof(pairs)[0])

#define TYPE(ours, cudas)                                                                          \
    {"sizeof " #cudas, sizeof(ours), sizeof(cudas)},                                               \
    {                                                                                              \
        "alignof " #cudas, alignof(ours), alignof(cudas)                                           \
    }
#define PLACE(our_struct, our_member, cuda_struct, cuda_member)                                    \
    {"offset of " #cuda_struct "." #cuda_member, offsetof(our_struct, our_member),                 \
     offsetof(cuda_struct, cuda_member)},                                                          \
    {                                                                                              \
        "sizeof " #cuda_struct "." #cuda_member, sizeof(((our_struct *)0)->our_member),            \
            sizeof(((cuda_struct *)0)->cuda_member)                                                \
    }

static void types_have_the_sizes_of_cudas(void **state)
{
    /* The types of arguments in driver.def, then those that have a struct in driver.h. */
    static const struct pair pairs[] = {
        TYPE(int, CUresult),
        TYPE(int, CUdevice),
        TYPE(struct lt_cu_uuid, CUuuid),
        TYPE(int, CUdevice_attribute),
        TYPE(int, CUfunction_attribute),
        TYPE(int, CUstreamCaptureMode),
        TYPE(int, CUtensorMapDataType),
        TYPE(int, CUtensorMapInterleave),
        TYPE(int, CUtensorMapSwizzle),
        TYPE(int, CUtensorMapL2promotion),
        TYPE(int, CUtensorMapFloatOOBfill),
        TYPE(uint32_t, cuuint32_t),
        TYPE(uint64_t, cuuint64_t),
        TYPE(uint64_t, CUdeviceptr),
        TYPE(lt_cu_context, CUcontext),
        TYPE(lt_cu_module, CUmodule),
        TYPE(lt_cu_function, CUfunction),
        TYPE(lt_cu_stream, CUstream),
        TYPE(lt_cu_event, CUevent),
        TYPE(lt_cu_graph, CUgraph),
        TYPE(lt_cu_graph_exec, CUgraphExec),
        {"sizeof CUtensorMap", sizeof(struct lt_cu_tensor_map), sizeof(CUtensorMap)},
        /* CUDA 13's header has 128, but the manual of cuTensorMapEncodeTiled asks for no more. */
        {"alignof CUtensorMap", alignof(struct lt_cu_tensor_map), 64},
        TYPE(struct lt_cu_launch_attribute, CUlaunchAttribute),
        TYPE(struct lt_cu_launch_config, CUlaunchConfig),
    };

    (void)state;
    COMPARE(pairs);
}

static void members_lie_where_cudas_do(void **state)
{
    static const struct pair pairs[] = {
        PLACE(struct lt_cu_launch_config, grid_x, CUlaunchConfig, gridDimX),
        PLACE(struct lt_cu_launch_config, grid_y, CUlaunchConfig, gridDimY),
        PLACE(struct lt_cu_launch_config, grid_z, CUlaunchConfig, gridDimZ),
        PLACE(struct lt_cu_launch_config, block_x, CUlaunchConfig, blockDimX),
        PLACE(struct lt_cu_launch_config, block_y, CUlaunchConfig, blockDimY),
        PLACE(struct lt_cu_launch_config, block_z, CUlaunchConfig, blockDimZ),
        PLACE(struct lt_cu_launch_config, smem_bytes, CUlaunchConfig, sharedMemBytes),
        PLACE(struct lt_cu_launch_config, stream, CUlaunchConfig, hStream),
        PLACE(struct lt_cu_launch_config, attributes, CUlaunchConfig, attrs),
        PLACE(struct lt_cu_launch_config, attribute_count, CUlaunchConfig, numAttrs),
        PLACE(struct lt_cu_launch_attribute, id, CUlaunchAttribute, id),
        PLACE(struct lt_cu_launch_attribute, value, CUlaunchAttribute, value),
        PLACE(struct lt_cu_launch_attribute, value.cluster, CUlaunchAttribute, value.clusterDim),
        PLACE(struct lt_cu_launch_attribute, value.cluster.x, CUlaunchAttribute,
              value.clusterDim.x),
        PLACE(struct lt_cu_launch_attribute, value.cluster.y, CUlaunchAttribute,
              value.clusterDim.y),
        PLACE(struct lt_cu_launch_attribute, value.cluster.z, CUlaunchAttribute,
              value.clusterDim.z),
        PLACE(struct lt_cu_tensor_map, opaque, CUtensorMap, opaque),
    };

    (void)state;
    COMPARE(pairs);
}

/* ---- Constants ------------------------------------------------------------------------------- */

#define VALUE(ours, cudas)                                                                         \
    {                                                                                              \
#cudas, ours, cudas                                                                        \
    }

static void constants_have_the_values_of_cudas(void **state)
{
    static const struct pair pairs[] = {
        VALUE(LT_CUDA_SUCCESS, CUDA_SUCCESS),
        VALUE(LT_CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY),
        VALUE(LT_CUDA_ERROR_NO_DEVICE, CUDA_ERROR_NO_DEVICE),
        VALUE(LT_CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE),
        VALUE(LT_CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU),
        VALUE(LT_CUDA_ERROR_INVALID_SOURCE, CUDA_ERROR_INVALID_SOURCE),
        VALUE(LT_CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_FOUND),
        VALUE(LT_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        VALUE(LT_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
        VALUE(LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        VALUE(LT_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        VALUE(LT_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        VALUE(LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION),
        VALUE(LT_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING),
        VALUE(LT_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        VALUE(LT_TENSOR_MAP_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT8),
        VALUE(LT_TENSOR_MAP_INT32, CU_TENSOR_MAP_DATA_TYPE_INT32),
        VALUE(LT_TENSOR_MAP_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32),
        VALUE(LT_TENSOR_MAP_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16),
        VALUE(LT_TENSOR_MAP_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32),
        VALUE(LT_TENSOR_MAP_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16),
        VALUE(LT_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B),
        VALUE(LT_TENSOR_MAP_L2_PROMOTION_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B),
        VALUE(LT_TENSOR_MAP_L2_PROMOTION_256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B),
    };

    (void)state;
    COMPARE(pairs);
}

/* ---- Symbols --------------------------------------------------------------------------------- */

#define TEXT_(words) #words
#define TEXT(words) TEXT_(words)

/* What cuda.h makes of each name that a program writes. */
static const struct {
    const char *name, *symbol, *bound;
} calls[] = {
#define LT_CU(name, symbol, arguments) {#name, symbol, TEXT(name)},
#include "runtime/driver.def"
#undef LT_CU
};

/* Names that a header later than that of CUDA 12.0 binds to a later symbol. The earlier one is
 * still there, and drivers of 12.0 have no other. */
static const struct {
    const char *name;
    int since;
    const char *bound;
} later[] = {
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
};

static const char *bound_of_12_0(const char *name, const char *bound)
{
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        if (strcmp(name, later[i].name) == 0 && CUDA_VERSION >= later[i].since &&
            strcmp(bound, later[i].bound) == 0)
            return name;
    return bound;
}

static void symbols_are_those_that_names_are_bound_to(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const char *bound = bound_of_12_0(calls[i].name, calls[i].bound);

        if (strcmp(calls[i].symbol, bound) == 0)
            continue;
        print_error("%s: %s in driver.def, %s in cuda.h\n", calls[i].name, calls[i].symbol, bound);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_the_sizes_of_cudas),
        cmocka_unit_test(members_lie_where_cudas_do),
        cmocka_unit_test(constants_have_the_values_of_cudas),
        cmocka_unit_test(symbols_are_those_that_names_are_bound_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void types_symbols_and_constants_are_those_of_cuda_h(void **state)
{
    (void)state;
#ifdef HAVE_CUDA_H
    print_message("skipped: cuda.h is that of CUDA %d, older than 12.0\n", CUDA_VERSION / 1000);
#else
    print_message("skipped: no cuda.h on the include path\n");
#endif
    skip();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_symbols_and_constants_are_those_of_cuda_h),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
