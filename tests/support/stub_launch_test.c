/* stub_launch_test.c: tests of the stub driver's modules, functions, tensor maps and launches.
 *
 * Argument: libcuda_stub.so, as a path. */
#include "tests/support/stub_test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Modules --------------------------------------------------------------------------------- */

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -1;

    assert_int_equal(cuda.cuFuncGetAttribute(&value, which, function), CUDA_SUCCESS);
    return value;
}

static void a_cubin_says_what_its_kernels_need(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction scale = stub_test_function(module, "scale_tile");
    CUfunction pairs = stub_test_function(module, "in_pairs");
    CUfunction stack = stub_test_function(module, "with_stack");

    (void)state;
    assert_int_equal(attribute(scale, CU_FUNC_ATTRIBUTE_NUM_REGS), 8);
    assert_int_equal(attribute(scale, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    assert_int_equal(attribute(scale, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
    assert_int_equal(attribute(scale, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
    assert_int_equal(attribute(scale, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    assert_int_equal(attribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 48128);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_NUM_REGS), 4);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 2);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT), 1);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 256);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
    assert_int_equal(attribute(stub_test_function(module, "in_clusters"),
                               CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
                     1);
    assert_int_equal(attribute(stack, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 256);
    assert_int_equal(attribute(stack, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void a_function_lives_as_long_as_its_module(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction first = stub_test_function(module, "scale_tile"), none = first;
    int value;

    (void)state;
    assert_ptr_equal(stub_test_function(module, "scale_tile"), first);
    assert_int_equal(cuda.cuModuleGetFunction(&none, module, "scale"), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(none, first);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
    assert_int_equal(cuda.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, first),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuda.cuModuleGetFunction(&none, module, "scale_tile"),
                     CUDA_ERROR_INVALID_HANDLE);
}

/* A copy of the cubin, to be freed. */
static unsigned char *copy_of_cubin(void)
{
    unsigned char *copy = malloc(stub_cubin_size);

    assert_non_null(copy);
    memcpy(copy, stub_cubin, stub_cubin_size);
    return copy;
}

static CUresult load(const void *image)
{
    CUmodule module = NULL;
    CUresult result = cuda.cuModuleLoadData(&module, image);

    if (result == CUDA_SUCCESS)
        assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
    return result;
}

static void text_is_taken_with_its_parameters(void **state)
{
    static const char text[] = ".version 7.8\n.target sm_90\n"
                               ".visible .entry first(.param .u64 a, .param .b32 b)\n"
                               ".maxntid 32, 1, 1\n{ ret; }\n"
                               ".visible .entry second() { ret; }\n";
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    unsigned long long a = 5;
    unsigned b = 6;
    CUmodule module = NULL;
    CUfunction first = NULL, second = NULL;

    (void)state;
    assert_int_equal(cuda.cuModuleLoadData(&module, text), CUDA_SUCCESS);
    assert_int_equal(cuda.cuModuleGetFunction(&first, module, "first"), CUDA_SUCCESS);
    assert_int_equal(cuda.cuModuleGetFunction(&second, module, "second"), CUDA_SUCCESS);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, first, (void *[]){&a, &b}, NULL), CUDA_SUCCESS);
    assert_int_equal(stub.launch_at(0)->param_count, 2);
    assert_memory_equal(stub.launch_at(0)->params[0], &a, sizeof a);
    assert_int_equal(stub.launch_at(0)->param_bytes[1], sizeof b);
    config.blockDimX = 64;
    assert_int_equal(cuda.cuLaunchKernelEx(&config, first, (void *[]){&a, &b}, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, second, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void text_that_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *text;
        CUresult result;
    } cases[] = {
        {".version 7.8\n.target sm_90\n", CUDA_ERROR_INVALID_PTX},
        {".version 7.8\n.visible .entry k() { ret; }\n", CUDA_ERROR_INVALID_PTX},
        {".version 7.8\n.target sm_90\n.visible .entry k(", CUDA_ERROR_INVALID_PTX},
        {".version 7.8\n.target sm_90\n.visible .entry k(.param .align 8 .b8 p[16]) { ret; }\n",
         CUDA_ERROR_INVALID_PTX},
        {".version 8.8\n.target sm_100\n.visible .entry k() { ret; }\n",
         CUDA_ERROR_NO_BINARY_FOR_GPU},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(load(cases[i].text), cases[i].result);
}

static void other_images_are_refused(void **state)
{
    enum { CLASS = 4, ORDER = 5, MACHINE = 18, ARCH = 49 };
    unsigned char *image = copy_of_cubin();

    (void)state;
    assert_int_equal(load("// PTX\n.version 8.0\n.target sm_90a\n"), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(load(""), CUDA_ERROR_INVALID_IMAGE);
    image[MACHINE] = 62; /* x86-64 */
    assert_int_equal(load(image), CUDA_ERROR_INVALID_IMAGE);
    image[MACHINE] = stub_cubin[MACHINE];
    image[CLASS] = 1;
    assert_int_equal(load(image), CUDA_ERROR_INVALID_IMAGE);
    image[CLASS] = stub_cubin[CLASS];
    image[ORDER] = 2;
    assert_int_equal(load(image), CUDA_ERROR_INVALID_IMAGE);
    image[ORDER] = stub_cubin[ORDER];
    assert_int_equal(load(image), CUDA_SUCCESS);
    image[ARCH] = 100;
    assert_int_equal(load(image), CUDA_ERROR_NO_BINARY_FOR_GPU);
    free(image);
}

static void a_cubin_for_another_device_is_refused(void **state)
{
    struct stub_device device;

    (void)state;
    stub.get_device(0, &device);
    device.major = 10;
    stub.set_device(0, &device);
    assert_int_equal(load(stub_cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
    device.major = 8;
    device.minor = 9;
    stub.set_device(0, &device);
    assert_int_equal(load(stub_cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

/* For the address sanitizer to see: nothing is read past the bytes that are there. */
static void cubins_cut_short_are_refused(void **state)
{
    (void)state;
    for (size_t size = 1; size < stub_cubin_size; size += size < 128 ? 1 : 97) {
        unsigned char *image = malloc(size);

        assert_non_null(image);
        memcpy(image, stub_cubin, size);
        stub.set_image_limit(size);
        assert_int_equal(load(image), CUDA_ERROR_INVALID_IMAGE);
        free(image);
    }
}

static void damaged_cubins_are_survived(void **state)
{
    enum { ROUNDS = 3000, HEADER_BYTES = 64, SECTIONS_AT = 40 };
    unsigned char *image = copy_of_cubin();
    uint64_t sections = 0;
    uint32_t seed = 1;
    int refused = 0;

    (void)state;
    stub.set_image_limit(stub_cubin_size);
    memcpy(&sections, image + SECTIONS_AT, sizeof sections);
    for (int round = 0; round < ROUNDS; round++) {
        size_t at[4];

        for (int i = 0; i < 4; i++) {
            seed = seed * 1664525 + 1013904223;
            /* every other one in the header or the section table, where it matters most */
            at[i] = (seed >> 8) % stub_cubin_size;
            if (i % 2 == 1)
                at[i] = round % 2 == 0 ? at[i] % HEADER_BYTES : (size_t)sections + at[i] % 1600;
            image[at[i]] = (unsigned char)(seed >> 24);
        }
        refused += load(image) != CUDA_SUCCESS;
        for (int i = 0; i < 4; i++)
            image[at[i]] = stub_cubin[at[i]];
    }
    assert_true(refused > 0 && refused < ROUNDS);
    assert_int_equal(load(image), CUDA_SUCCESS);
    free(image);
}

/* ---- Tensor maps ----------------------------------------------------------------------------- */

static void a_tensor_map_is_recognised_by_its_bytes(void **state)
{
    struct stub_map_arguments arguments = stub_test_map_arguments();
    unsigned char bytes[1 + sizeof(CUtensorMap)];
    CUtensorMap first, second;
    const struct stub_tensor_map *found;

    (void)state;
    assert_int_equal(stub_test_encode(&first, &arguments), CUDA_SUCCESS);
    arguments.dims[1] = 77;
    assert_int_equal(stub_test_encode(&second, &arguments), CUDA_SUCCESS);
    assert_int_equal(stub.tensor_maps(), 2);

    memcpy(bytes + 1, &second, sizeof second);
    found = stub.tensor_map_of(bytes + 1);
    assert_ptr_equal(found, stub.tensor_map_at(1));
    assert_int_equal(found->type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
    assert_int_equal(found->rank, 2);
    assert_int_equal(found->address, 0x7000000000);
    assert_int_equal(found->dims[0], 4096);
    assert_int_equal(found->dims[1], 77);
    assert_int_equal(found->dims[2], 0);
    assert_int_equal(found->strides[0], 8192);
    assert_int_equal(found->box[1], 128);
    assert_int_equal(found->swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
    assert_int_equal(found->promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    bytes[70] ^= 1;
    assert_null(stub.tensor_map_of(bytes + 1));
    assert_null(stub.tensor_map_at(2));
    assert_null(stub.tensor_map_at(-1));
}

static void a_tensor_map_of_before_is_not_recognised(void **state)
{
    struct stub_map_arguments arguments = stub_test_map_arguments();
    CUtensorMap map;

    assert_int_equal(stub_test_encode(&map, &arguments), CUDA_SUCCESS);
    stub_test_enter(state);
    assert_null(stub.tensor_map_of(&map));
    assert_int_equal(stub.tensor_maps(), 0);
}

/* Each broken rule is one line: what is changed, and whether the map is taken then. */
static void tensor_maps_keep_the_rules(void **state)
{
    struct stub_map_arguments a;
    CUtensorMap map[2];

    (void)state;
#define WITH(change, expected)                                                                     \
    a = stub_test_map_arguments();                                                                 \
    change;                                                                                        \
    if (stub_test_encode(&map[0], &a) != (expected))                                               \
    fail_msg("%s", #change)
#define TAKEN(change) WITH(change, CUDA_SUCCESS)
#define REFUSED(change) WITH(change, CUDA_ERROR_INVALID_VALUE)

    TAKEN((void)0);
    REFUSED(a.type = (CUtensorMapDataType)16);
    REFUSED(a.rank = 0);
    TAKEN(a.rank = 5);
    REFUSED(a.rank = 6);
    REFUSED(a.address += 8);
    REFUSED(a.address = 0);
    REFUSED(a.dims[0] = 0);
    REFUSED(a.dims[1] = 0);
    TAKEN(a.dims[1] = UINT64_C(1) << 32);
    REFUSED(a.dims[1] = (UINT64_C(1) << 32) + 1);
    REFUSED(a.strides[0] += 8);
    REFUSED(a.strides[0] = UINT64_C(1) << 40);
    TAKEN(a.strides[0] = (UINT64_C(1) << 40) - 16);
    REFUSED(a.box[1] = 0);
    REFUSED(a.box[1] = 257);
    TAKEN(a.box[1] = 256);
    REFUSED(a.box[0] = 65);
    REFUSED(a.box[0] = 72);
    TAKEN(a.box[0] = 8);
    REFUSED(a.box[0] = 4);
    REFUSED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
    TAKEN(a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; a.box[0] = 32);
    TAKEN(a.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE; a.box[0] = 256);
    REFUSED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
    REFUSED(a.swizzle = (CUtensorMapSwizzle)7);
    REFUSED(a.element_strides[1] = 0);
    REFUSED(a.element_strides[1] = 9);
    TAKEN(a.element_strides[0] = 9);
    REFUSED(a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B);
    TAKEN(a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; a.rank = 3);
    REFUSED(a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; a.rank = 3);
    TAKEN(a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B; a.rank = 3;
          a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
    REFUSED(a.interleave = (CUtensorMapInterleave)3; a.rank = 3);
    REFUSED(a.promotion = (CUtensorMapL2promotion)4);
    TAKEN(a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    REFUSED(a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
            a.type = CU_TENSOR_MAP_DATA_TYPE_UINT16);
    REFUSED(a.fill = (CUtensorMapFloatOOBfill)2);
    TAKEN(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B; a.box[0] = 128);
    REFUSED(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B; a.box[0] = 64);
    REFUSED(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B; a.box[0] = 128; a.address += 16);
    REFUSED(a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; a.dims[0] = 4095);
#undef REFUSED
#undef TAKEN
#undef WITH

    a = stub_test_map_arguments();
    assert_int_equal(stub_test_encode((CUtensorMap *)(void *)((char *)map + 32), &a),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(stub_test_encode(NULL, &a), CUDA_ERROR_INVALID_VALUE);
}

static void blackwell_has_more_swizzles(void **state)
{
    struct stub_map_arguments arguments = stub_test_map_arguments();
    struct stub_device device;
    CUtensorMap map;

    (void)state;
    stub.get_device(0, &device);
    device.major = 10;
    stub.set_device(0, &device);
    arguments.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    assert_int_equal(stub_test_encode(&map, &arguments), CUDA_SUCCESS);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* What the kernels of stub_kernel.ptx are launched with; scale_tile takes them all. */
struct arguments {
    CUtensorMap map;
    uint32_t m;
    float alpha;
    uint64_t out;
    uint16_t flags;
    void *pointers[5];
};

static void set_arguments(struct arguments *arguments)
{
    struct stub_map_arguments map = stub_test_map_arguments();

    assert_int_equal(stub_test_encode(&arguments->map, &map), CUDA_SUCCESS);
    arguments->m = 0x11223344;
    arguments->alpha = 1.5f;
    arguments->out = 0x123456789abcdef0;
    arguments->flags = 0xbeef;
    memcpy(arguments->pointers,
           (void *[]){&arguments->map, &arguments->m, &arguments->alpha, &arguments->out,
                      &arguments->flags},
           sizeof arguments->pointers);
}

static CUlaunchConfig shape(unsigned grid, unsigned block, unsigned smem)
{
    return (CUlaunchConfig){.gridDimX = grid,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = block,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .sharedMemBytes = smem};
}

static CUlaunchAttribute cluster(unsigned x, unsigned y, unsigned z)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};

    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = y;
    attribute.value.clusterDim.z = z;
    return attribute;
}

static void a_launch_is_recorded_with_its_parameters(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction scale = stub_test_function(module, "scale_tile");
    CUlaunchAttribute attributes[2] = {
        cluster(2, 1, 1), {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION}};
    CUlaunchConfig config = shape(12, 128, 4096);
    const struct stub_launch *launch;
    struct arguments arguments;

    (void)state;
    set_arguments(&arguments);
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 2;
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, arguments.pointers, NULL), CUDA_SUCCESS);
    memset(&arguments, 0, sizeof arguments);

    assert_int_equal(stub.launches(), 1);
    assert_null(stub.launch_at(1));
    launch = stub.launch_at(0);
    assert_string_equal(launch->kernel, "scale_tile");
    assert_int_equal(launch->grid[0], 12);
    assert_int_equal(launch->block[0], 128);
    assert_int_equal(launch->cluster[0], 2);
    assert_int_equal(launch->cluster[1], 1);
    assert_int_equal(launch->smem, 4096);
    assert_int_equal(launch->programmatic, 1);
    assert_int_equal(launch->from_graph, 0);
    assert_int_equal(launch->param_count, 5);
    assert_int_equal(launch->param_bytes[0], 128);
    assert_int_equal(launch->param_bytes[1], 4);
    assert_int_equal(launch->param_bytes[3], 8);
    assert_int_equal(launch->param_bytes[4], 2);
    assert_ptr_equal(stub.tensor_map_of(launch->params[0]), stub.tensor_map_at(0));
    assert_memory_equal(launch->params[1], ((unsigned char[]){0x44, 0x33, 0x22, 0x11}), 4);
    assert_memory_equal(launch->params[2], &(float){1.5f}, 4);
    assert_memory_equal(launch->params[4], ((unsigned char[]){0xef, 0xbe, 0, 0}), 4);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void parameters_must_be_there(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction scale = stub_test_function(module, "scale_tile");
    CUlaunchConfig config = shape(1, 128, 0);
    struct arguments arguments;

    (void)state;
    set_arguments(&arguments);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuLaunchKernelEx(NULL, scale, arguments.pointers, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, NULL, arguments.pointers, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    config.hStream = (CUstream)(uintptr_t)0xdead0;
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, arguments.pointers, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(stub.launches(), 0);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void much_shared_memory_must_be_asked_for(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction scale = stub_test_function(module, "scale_tile");
    CUlaunchConfig config = shape(1, 128, 48129); /* 1024 bytes are static */
    struct arguments arguments;

    (void)state;
    set_arguments(&arguments);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, arguments.pointers, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(
        cuda.cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231425),
        CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(
        cuda.cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231424),
        CUDA_SUCCESS);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, arguments.pointers, NULL), CUDA_SUCCESS);
    config.sharedMemBytes = 231425;
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, arguments.pointers, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void shapes_keep_the_limits(void **state)
{
    static const struct {
        const char *kernel;
        unsigned grid[3], block[3], cluster[3]; /* cluster 0: none asked for */
        CUresult expected;
    } cases[] = {
        {"scale_tile", {1, 1, 1}, {128, 1, 1}, {0}, CUDA_SUCCESS},
        {"scale_tile", {1, 1, 1}, {256, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE}, /* not .reqntid */
        {"scale_tile", {1, 1, 1}, {64, 2, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"scale_tile", {0, 1, 1}, {128, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"scale_tile", {1, 65536, 1}, {128, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"scale_tile", {4, 4, 1}, {128, 1, 1}, {2, 2, 1}, CUDA_SUCCESS},
        {"scale_tile", {5, 4, 1}, {128, 1, 1}, {2, 2, 1}, CUDA_ERROR_INVALID_VALUE},
        {"scale_tile", {4, 4, 1}, {128, 1, 1}, {2, 0, 1}, CUDA_ERROR_INVALID_VALUE},
        {"scale_tile", {16, 1, 1}, {128, 1, 1}, {8, 1, 1}, CUDA_SUCCESS},
        {"scale_tile", {16, 1, 1}, {128, 1, 1}, {16, 1, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"scale_tile", {4, 4, 1}, {128, 1, 1}, {4, 4, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"in_pairs", {4, 1, 1}, {32, 1, 1}, {0}, CUDA_SUCCESS},
        {"in_pairs", {3, 1, 1}, {32, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"in_pairs", {4, 1, 1}, {32, 1, 1}, {4, 1, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"in_pairs", {4, 1, 1}, {257, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE}, /* over .maxntid */
        {"in_clusters", {4, 1, 1}, {32, 1, 1}, {4, 1, 1}, CUDA_SUCCESS},
        {"in_clusters", {4, 1, 1}, {32, 1, 1}, {0}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"with_stack", {1, 1, 1}, {1024, 1, 1}, {0}, CUDA_SUCCESS},
        {"with_stack", {1, 1, 1}, {1024, 2, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"with_stack", {1, 1, 1}, {1, 1, 128}, {0}, CUDA_ERROR_INVALID_VALUE},
    };
    CUmodule module = stub_test_module();
    struct arguments arguments;

    (void)state;
    set_arguments(&arguments);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CUlaunchAttribute attribute =
            cluster(cases[i].cluster[0], cases[i].cluster[1], cases[i].cluster[2]);
        CUlaunchConfig config = {
            cases[i].grid[0],    cases[i].grid[1],
            cases[i].grid[2],    cases[i].block[0],
            cases[i].block[1],   cases[i].block[2],
            .attrs = &attribute, .numAttrs = cases[i].cluster[0] != 0,
        };
        CUresult result = cuda.cuLaunchKernelEx(
            &config, stub_test_function(module, cases[i].kernel), arguments.pointers, NULL);

        if (result != cases[i].expected)
            fail_msg("case %zu: %d", i, (int)result);
    }
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void registers_limit_the_block(void **state)
{
    static const unsigned char register_count[] = {4, 0x2f, 8, 0}; /* then symbol and count */
    unsigned char *image = copy_of_cubin();
    CUlaunchConfig config = shape(1, 256, 0);
    uint64_t data = 0;
    CUmodule module = NULL;
    CUfunction stack;

    (void)state;
    for (size_t at = 0; at + 12 <= stub_cubin_size; at++)
        if (memcmp(image + at, register_count, sizeof register_count) == 0)
            image[at + 8] = 255;
    assert_int_equal(cuda.cuModuleLoadData(&module, image), CUDA_SUCCESS);
    free(image);
    stack = stub_test_function(module, "with_stack");
    assert_int_equal(attribute(stack, CU_FUNC_ATTRIBUTE_NUM_REGS), 255);
    assert_int_equal(attribute(stack, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 256);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, stack, (void *[]){&data}, NULL), CUDA_SUCCESS);
    config.blockDimX = 288;
    assert_int_equal(cuda.cuLaunchKernelEx(&config, stack, (void *[]){&data}, NULL),
                     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void sixteen_blocks_a_cluster_must_be_asked_for(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction scale = stub_test_function(module, "scale_tile");
    CUlaunchAttribute attribute = cluster(16, 1, 1);
    CUlaunchConfig config = shape(16, 128, 0);
    struct arguments arguments;

    (void)state;
    set_arguments(&arguments);
    config.attrs = &attribute;
    config.numAttrs = 1;
    assert_int_equal(
        cuda.cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        CUDA_SUCCESS);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, scale, arguments.pointers, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void occupancy_is_a_block_a_multiprocessor(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction scale = stub_test_function(module, "scale_tile");
    CUlaunchAttribute attribute = cluster(2, 1, 1);
    CUlaunchConfig config = shape(132, 128, 0);
    int clusters = 0;

    (void)state;
    config.attrs = &attribute;
    assert_int_equal(cuda.cuOccupancyMaxActiveClusters(&clusters, scale, &config), CUDA_SUCCESS);
    assert_int_equal(clusters, 132);
    config.numAttrs = 1;
    assert_int_equal(cuda.cuOccupancyMaxActiveClusters(&clusters, scale, &config), CUDA_SUCCESS);
    assert_int_equal(clusters, 66);
    config.sharedMemBytes = 100000;
    assert_int_equal(cuda.cuOccupancyMaxActiveClusters(&clusters, scale, &config),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

static void a_function_stays_in_its_context(void **state)
{
    CUmodule module = stub_test_module();
    CUfunction pairs = stub_test_function(module, "in_pairs");
    CUlaunchConfig config = shape(2, 32, 0);
    void *other = stub.context_create(0);

    (void)state;
    assert_int_equal(cuda.cuCtxPushCurrent_v2(other), CUDA_SUCCESS);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, pairs, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuda.cuCtxPopCurrent_v2(NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuLaunchKernelEx(&config, pairs, NULL, NULL), CUDA_SUCCESS);
    stub.context_destroy(other);
    assert_int_equal(cuda.cuModuleUnload(module), CUDA_SUCCESS);
}

/* ---- Threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 50 };

/* Loads, launches and frees in the given context; null if all went well. cmocka's assertions are
 * for the main thread alone. */
static void *use_the_device(void *context)
{
    CUlaunchConfig config = shape(2, 32, 0);
    int failed = cuda.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS;

    for (int turn = 0; turn < TURNS; turn++) {
        CUmodule module = NULL;
        CUfunction pairs = NULL;
        CUdeviceptr pointer = 0;

        failed |= cuda.cuModuleLoadData(&module, stub_cubin) != CUDA_SUCCESS;
        failed |= cuda.cuModuleGetFunction(&pairs, module, "in_pairs") != CUDA_SUCCESS;
        failed |= cuda.cuMemAlloc_v2(&pointer, 64) != CUDA_SUCCESS;
        failed |= cuda.cuLaunchKernelEx(&config, pairs, NULL, NULL) != CUDA_SUCCESS;
        failed |= cuda.cuMemFree_v2(pointer) != CUDA_SUCCESS;
        failed |= cuda.cuModuleUnload(module) != CUDA_SUCCESS;
    }
    failed |= cuda.cuCtxPopCurrent_v2(NULL) != CUDA_SUCCESS;
    return failed ? context : NULL;
}

static void threads_share_the_device(void **state)
{
    pthread_t threads[THREADS];
    CUcontext context = NULL;
    void *failed = NULL;

    (void)state;
    assert_int_equal(cuda.cuCtxGetCurrent(&context), CUDA_SUCCESS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_the_device, context), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(stub.launches(), THREADS * TURNS);
    assert_int_equal(stub.calls("cuModuleLoadData"), THREADS * TURNS);
    assert_int_equal(stub.failures(NULL), 0);
}

#define ON_A_DEVICE(test) cmocka_unit_test_setup_teardown(test, stub_test_enter, stub_test_leave)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        ON_A_DEVICE(a_cubin_says_what_its_kernels_need),
        ON_A_DEVICE(a_function_lives_as_long_as_its_module),
        ON_A_DEVICE(text_is_taken_with_its_parameters),
        ON_A_DEVICE(text_that_cannot_be_is_refused),
        ON_A_DEVICE(other_images_are_refused),
        ON_A_DEVICE(a_cubin_for_another_device_is_refused),
        ON_A_DEVICE(cubins_cut_short_are_refused),
        ON_A_DEVICE(damaged_cubins_are_survived),
        ON_A_DEVICE(a_tensor_map_is_recognised_by_its_bytes),
        ON_A_DEVICE(a_tensor_map_of_before_is_not_recognised),
        ON_A_DEVICE(tensor_maps_keep_the_rules),
        ON_A_DEVICE(blackwell_has_more_swizzles),
        ON_A_DEVICE(a_launch_is_recorded_with_its_parameters),
        ON_A_DEVICE(parameters_must_be_there),
        ON_A_DEVICE(much_shared_memory_must_be_asked_for),
        ON_A_DEVICE(shapes_keep_the_limits),
        ON_A_DEVICE(registers_limit_the_block),
        ON_A_DEVICE(sixteen_blocks_a_cluster_must_be_asked_for),
        ON_A_DEVICE(occupancy_is_a_block_a_multiprocessor),
        ON_A_DEVICE(a_function_stays_in_its_context),
        ON_A_DEVICE(threads_share_the_device),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: %s libcuda_stub.so\n", argv[0]);
        return 2;
    }
    if (stub_test_open(argv[1]) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
