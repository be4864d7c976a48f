/* stub_test.c: see stub_test.h. */
#include "tests/support/stub_test.h"

#include <stdio.h>

static const uint64_t cubin_words[] = {
#include "tests/support/stub_kernel.inc"
};

struct cuda cuda;
struct stub_control stub;
void *stub_library;
const unsigned char *const stub_cubin = (const unsigned char *)cubin_words;
const size_t stub_cubin_size = sizeof cubin_words;

static const char *fill_cuda(void)
{
    void *found;

#define STUB_CALL(symbol, since, needs)                                                            \
    found = dlsym(stub_library, #symbol);                                                          \
    if (found == NULL)                                                                             \
        return #symbol;                                                                            \
    memcpy(&cuda.symbol, &found, sizeof found);
#include "tests/support/stub_calls.def"
#undef STUB_CALL
    return NULL;
}

int stub_test_open(const char *path)
{
    const char *missing;

    stub_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (stub_library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    missing = fill_cuda();
    if (missing == NULL)
        missing = stub_control_open(&stub, stub_library);
    if (missing != NULL)
        fprintf(stderr, "%s: no %s\n", path, missing);
    return missing != NULL;
}

int stub_test_reset(void **state)
{
    (void)state;
    stub.reset();
    return 0;
}

int stub_test_enter(void **state)
{
    CUcontext context;

    (void)state;
    stub.reset();
    assert_int_equal(cuda.cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
    return 0;
}

int stub_test_leave(void **state)
{
    (void)state;
    assert_int_equal(cuda.cuCtxPopCurrent_v2(NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    for (int kind = 0; kind < STUB_KIND_COUNT; kind++) {
        assert_int_equal(stub.live((enum stub_kind)kind), 0);
        assert_int_equal(stub.lost((enum stub_kind)kind), 0);
    }
    return 0;
}

CUmodule stub_test_module(void)
{
    CUmodule module = NULL;

    assert_int_equal(cuda.cuModuleLoadData(&module, stub_cubin), CUDA_SUCCESS);
    return module;
}

CUfunction stub_test_function(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    assert_int_equal(cuda.cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
}

struct stub_map_arguments stub_test_map_arguments(void)
{
    return (struct stub_map_arguments){
        .type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        .rank = 2,
        .address = 0x7000000000,
        .dims = {4096, 1000, 3, 3, 3},
        .strides = {8192, 8192000, 24576000, 73728000},
        .box = {64, 128, 1, 1, 1},
        .element_strides = {1, 1, 1, 1, 1},
        .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
        .promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    };
}

CUresult stub_test_encode(CUtensorMap *map, const struct stub_map_arguments *arguments)
{
    return cuda.cuTensorMapEncodeTiled(
        map, arguments->type, arguments->rank, (void *)(uintptr_t)arguments->address,
        arguments->dims, arguments->strides, arguments->box, arguments->element_strides,
        arguments->interleave, arguments->swizzle, arguments->promotion, arguments->fill);
}
