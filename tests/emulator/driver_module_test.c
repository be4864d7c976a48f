/* driver_module_test.c: images, modules, functions, libraries, links. Argument: the library. */
#include "tests/emulator/driver_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Images ---- */

static CUresult load(const void *image)
{
    CUmodule module = NULL;
    CUresult result = cu.cuModuleLoadData(&module, image);

    if (result == CUDA_SUCCESS)
        OK(cu.cuModuleUnload(module));
    return result;
}

static void images_that_are_no_ptx_are_refused(void **state)
{
    /* Nothing is read behind the marks: these are all the bytes there are. */
    static const char cubin[] = "\x7f"
                                "ELF";
    static const char fatbin[] = {0x50, (char)0xed, 0x55, (char)0xba};
    static const char wrapper[] = {(char)0xb1, 0x43, 0x62, 0x46};

    (void)state;
    only_on_the_fake();
    FAILS(load(NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(load(cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(strstr(emulator.last_report(), "cubin"));
    assert_non_null(strstr(emulator.last_report(), "load the PTX"));
    FAILS(load(fatbin), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(strstr(emulator.last_report(), "fatbin"));
    FAILS(load(wrapper), CUDA_ERROR_NO_BINARY_FOR_GPU);
    FAILS(load("\x7f"
               "EL"),
          CUDA_ERROR_INVALID_IMAGE);
    FAILS(load(""), CUDA_ERROR_INVALID_IMAGE);
    FAILS(load("hello"), CUDA_ERROR_INVALID_IMAGE);
    FAILS(load("/* .version 8.0"), CUDA_ERROR_INVALID_IMAGE);
    FAILS(load("// .version 8.0"), CUDA_ERROR_INVALID_IMAGE);
    OK(load("// one\n/* two\n */ \t\n.version 8.0\n.target sm_90\n.address_size 64\n"));
}

static void wrong_ptx_comes_back_with_words(void **state)
{
    static const char text[] = ".version 8.0\n.target sm_90\n garbage";
    char errors[64] = "before", info[8] = "before";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_WALL_TIME};
    void *values[] = {errors, (void *)(uintptr_t)sizeof errors, info,
                      (void *)(uintptr_t)sizeof info, (void *)(uintptr_t)77};
    CUmodule module = (CUmodule)(uintptr_t)1;

    (void)state;
    FAILS(cu.cuModuleLoadDataEx(&module, text, 5, options, values), CUDA_ERROR_INVALID_PTX);
    assert_int_equal((uintptr_t)module, 1);
    only_on_the_fake();
    assert_string_equal(errors, "line 3: garbage is no instruction");
    assert_int_equal((uintptr_t)values[1], strlen(errors));
    assert_string_equal(emulator.last_report(), errors);
    assert_string_equal(info, "");
    assert_int_equal((uintptr_t)values[3], 0);
    values[1] = (void *)(uintptr_t)6;
    FAILS(cu.cuModuleLoadDataEx(&module, text, 2, options, values), CUDA_ERROR_INVALID_PTX);
    assert_string_equal(errors, "line ");
    FAILS(cu.cuModuleLoadDataEx(&module, text, 2, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    options[0] = 1000;
    FAILS(cu.cuModuleLoadDataEx(&module, text, 2, options, values), CUDA_ERROR_INVALID_VALUE);
}

static void modules_come_from_files(void **state)
{
    char path[] = "/tmp/emu_driver_XXXXXX";
    int file = mkstemp(path);
    CUmodule module;

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(write(file, driver_ptx, strlen(driver_ptx)), (ssize_t)strlen(driver_ptx));
    close(file);
    OK(cu.cuModuleLoad(&module, path));
    driver_function(module, "plain");
    OK(cu.cuModuleUnload(module));
    unlink(path);
    FAILS(cu.cuModuleLoad(&module, path), CUDA_ERROR_FILE_NOT_FOUND);
    FAILS(cu.cuModuleLoad(&module, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* ---- Modules ---- */

static void a_function_lives_as_long_as_its_module(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain"), none = plain;
    int value;

    (void)state;
    assert_ptr_equal(driver_function(module, "plain"), plain);
    FAILS(cu.cuModuleGetFunction(&none, module, "plai"), CUDA_ERROR_NOT_FOUND);
    FAILS(cu.cuModuleGetFunction(&none, module, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuModuleGetFunction(NULL, module, "plain"), CUDA_ERROR_INVALID_VALUE);
    assert_null(none);
    OK(cu.cuModuleUnload(module));
    only_on_the_fake(); /* a real driver looks into what was freed */
    FAILS(cu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, plain),
          CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuModuleGetFunction(&none, module, "plain"), CUDA_ERROR_INVALID_HANDLE);
}

static void variables_have_places(void **state)
{
    CUmodule module = driver_module();
    CUdeviceptr pointer = 0;
    uint32_t value = 7;
    size_t bytes = 0;

    (void)state;
    OK(cu.cuModuleGetGlobal_v2(&pointer, &bytes, module, "table"));
    assert_int_equal(bytes, 256);
    OK(cu.cuModuleGetGlobal_v2(&pointer, NULL, module, "counter"));
    OK(cu.cuMemcpyDtoH_v2(&value, pointer, 4));
    assert_int_equal(value, 0);
    FAILS(cu.cuMemFree_v2(pointer), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuModuleGetGlobal_v2(NULL, &bytes, module, "counter"));
    assert_int_equal(bytes, 4);
    FAILS(cu.cuModuleGetGlobal_v2(&pointer, &bytes, module, "plain"), CUDA_ERROR_INVALID_VALUE);
    only_on_the_fake(); /* not measured yet */
    FAILS(cu.cuModuleGetGlobal_v2(&pointer, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    OK(cu.cuModuleUnload(module));
}

static void functions_are_counted_and_listed(void **state)
{
    CUmodule module = driver_module();
    CUfunction listed[7] = {NULL};
    unsigned count = 0;
    const char *name;

    (void)state;
    OK(cu.cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 7);
    OK(cu.cuModuleEnumerateFunctions(listed, 7, module));
    for (unsigned i = 0; i < count; i++) {
        OK(cu.cuFuncGetName(&name, listed[i]));
        assert_ptr_equal(driver_function(module, name), listed[i]);
        for (unsigned j = 0; j < i; j++)
            assert_ptr_not_equal(listed[i], listed[j]);
    }
    OK(cu.cuModuleUnload(module));
}

/* ---- Functions ---- */

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -1;

    OK(cu.cuFuncGetAttribute(&value, which, function));
    return value;
}

static void functions_say_what_they_need(void **state)
{
    CUmodule module = driver_module(), of = NULL;
    CUfunction plain = driver_function(module, "plain"), tile = driver_function(module, "tile");
    CUfunction pairs = driver_function(module, "pairs");
    int value;

    (void)state;
    assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(
        attribute(driver_function(module, "small"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
    /* .reqntid 64, 2, 1 is not in it, as with a driver 580 on an H200 */
    assert_int_equal(
        attribute(driver_function(module, "exact"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
    assert_int_equal(attribute(tile, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    assert_int_equal(attribute(tile, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 48128);
    assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_PTX_VERSION), 90);
    assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 2);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT), 1);
    assert_int_equal(attribute(pairs, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
    assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
    assert_int_equal(
        attribute(driver_function(module, "clusters"), CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
        1);
    FAILS(cu.cuFuncGetAttribute(&value, 999, plain), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuFuncGetAttribute(NULL, 0, plain), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuFuncGetAttribute(&value, 0, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cu.cuFuncGetModule(&of, plain));
    assert_ptr_equal(of, module);
    OK(cu.cuModuleUnload(module));
}

static void attributes_are_set_within_their_limits(void **state)
{
    CUmodule module = driver_module();
    CUfunction tile = driver_function(module, "tile");
    const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

    (void)state;
    OK(cu.cuFuncSetAttribute(tile, dynamic, 232448 - 1024));
    assert_int_equal(attribute(tile, dynamic), 232448 - 1024);
    FAILS(cu.cuFuncSetAttribute(tile, dynamic, 232448 - 1023), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuFuncSetAttribute(tile, dynamic, -1), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuFuncSetAttribute(tile, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100));
    FAILS(cu.cuFuncSetAttribute(tile, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuFuncSetAttribute(tile, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuFuncSetCacheConfig(tile, 1));
    OK(cu.cuModuleUnload(module));
}

/* PTX ISA: parameters lie at multiples of their alignment. */
static void parameters_have_places(void **state)
{
    CUmodule module = driver_module();
    CUfunction scale = driver_function(module, "scale");
    static const size_t places[3][2] = {{0, 8}, {8, 4}, {12, 4}};
    size_t offset, bytes;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        OK(cu.cuFuncGetParamInfo(scale, i, &offset, &bytes));
        assert_int_equal(offset, places[i][0]);
        assert_int_equal(bytes, places[i][1]);
    }
    OK(cu.cuFuncGetParamInfo(scale, 0, &offset, NULL));
    FAILS(cu.cuFuncGetParamInfo(scale, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuFuncGetParamInfo(scale, 0, NULL, &bytes), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuModuleUnload(module));
}

/* ---- Occupancy ---- */

/* On an H200 (228 KB, 2048 threads, 32 blocks of a multiprocessor; 1 KB of a block is reserved), by
 * hand. Few registers are no limit. */
static void blocks_of_a_multiprocessor_are_counted(void **state)
{
    static const struct {
        int threads;
        size_t dynamic;
        int blocks;
    } cases[] = {
        {1024, 0, 2},         {1023, 0, 2},     {128, 0, 16},     {64, 0, 32},
        {1, 0, 32},           {128, 231424, 1}, {128, 231425, 0}, {128, 114 * 1024 - 2048, 2},
        {128, 114 * 1024, 1}, {1025, 0, 0},
    };
    CUmodule module = driver_module();
    CUfunction tile = driver_function(module, "tile");
    int blocks = -1;

    (void)state;
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, 128, 231424));
    assert_int_equal(blocks, 0); /* it was not asked for */
    OK(cu.cuFuncSetAttribute(tile, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231424));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        blocks = -1;
        OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, cases[i].threads,
                                                          cases[i].dynamic));
        assert_int_equal(blocks, cases[i].blocks);
    }
    FAILS(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tile, 0, 0),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, tile, 1, 0),
          CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuModuleUnload(module));
}

/* 128 registers of 1024 threads are all of a multiprocessor's, 255 rounded to 256 leave 256. */
static void registers_limit_the_block(void **state)
{
    static const struct {
        int registers, threads, blocks_of_128;
    } cases[] = {{16, 1024, 16}, {32, 1024, 16}, {64, 1024, 8}, {128, 512, 4}, {255, 256, 2}};
    CUmodule module;
    CUfunction plain;
    int blocks;

    (void)state;
    only_on_the_fake();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake.set_registers(cases[i].registers);
        module = driver_module();
        plain = driver_function(module, "plain");
        assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_NUM_REGS), cases[i].registers);
        assert_int_equal(attribute(plain, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                         cases[i].threads);
        OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 128, 0));
        assert_int_equal(blocks, cases[i].blocks_of_128);
        if (cases[i].threads < 1024)
            FAILS(cu.cuLaunchKernel(plain, 1, 1, 1, (unsigned)cases[i].threads + 32, 1, 1, 0, NULL,
                                    NULL, NULL),
                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        OK(cu.cuModuleUnload(module));
    }
}

static CUresult of_a_call_back;

static size_t a_kilobyte_a_thread(int threads)
{
    CUdeviceptr pointer;

    of_a_call_back = cu.cuMemAlloc_v2(&pointer, 4);
    return (size_t)threads * 1024;
}

static void the_best_block_is_found(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");
    int grid = 0, block = 0;
    size_t bytes = 0;

    (void)state;
    only_on_the_fake();
    OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 2 * 132);
    OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, NULL, 0, 256));
    assert_int_equal(block, 256);
    assert_int_equal(grid, 8 * 132);
    OK(cu.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    /* 224 threads with 224 KB; no block of fewer has more in all */
    OK(cu.cuOccupancyMaxPotentialBlockSize(&grid, &block, plain, a_kilobyte_a_thread, 0, 0));
    assert_int_equal(of_a_call_back, CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(block, 224);
    assert_int_equal(grid, 132);
    OK(cu.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 2, 128));
    assert_int_equal(bytes, 114 * 1024 - 1024);
    OK(cu.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 1, 128));
    assert_int_equal(bytes, 232448);
    FAILS(cu.cuOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 3, 1024),
          CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuModuleUnload(module));
}

static void clusters_are_counted(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");
    CUlaunchAttribute attributes[1] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {4, 1, 1}}};
    CUlaunchConfig config = {132, 1, 1, 1024, 1, 1, 0, NULL, attributes, 1};
    int count = 0;

    (void)state;
    only_on_the_fake(); /* a real one has clusters within its GPCs */
    OK(cu.cuOccupancyMaxActiveClusters(&count, plain, &config));
    assert_int_equal(count, 2 * 132 / 4);
    OK(cu.cuOccupancyMaxPotentialClusterSize(&count, plain, &config));
    assert_int_equal(count, 8);
    OK(cu.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cu.cuOccupancyMaxPotentialClusterSize(&count, plain, &config));
    assert_int_equal(count, 16);
    config.gridDimX = 131;
    FAILS(cu.cuOccupancyMaxActiveClusters(&count, plain, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cu.cuModuleUnload(module));
}

/* ---- Libraries and links ---- */

static void a_library_is_a_module_in_each_context(void **state)
{
    CUlibrary library, of = NULL;
    CUkernel kernel, kernels[7], none;
    CUfunction function, again;
    CUmodule module;
    CUcontext other;
    CUdeviceptr here, there;
    unsigned count = 0;
    const char *name;
    int value = 0;

    (void)state;
    OK(cu.cuLibraryLoadData(&library, driver_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu.cuLibraryGetKernel(&kernel, library, "tile"));
    FAILS(cu.cuLibraryGetKernel(&none, library, "nothing"), CUDA_ERROR_NOT_FOUND);
    OK(cu.cuLibraryGetKernelCount(&count, library));
    assert_int_equal(count, 7);
    OK(cu.cuLibraryEnumerateKernels(kernels, 7, library));
    OK(cu.cuKernelGetName(&name, kernel));
    assert_string_equal(name, "tile");
    OK(cu.cuKernelGetLibrary(&of, kernel));
    assert_ptr_equal(of, library);
    OK(cu.cuKernelGetFunction(&function, kernel));
    OK(cu.cuLibraryGetModule(&module, library));
    OK(cu.cuModuleGetFunction(&again, module, "tile"));
    assert_ptr_equal(again, function);
    OK(cu.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 0));
    assert_int_equal(value, 1024);
    OK(cu.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, kernel, 0));
    assert_int_equal(attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 100000);
    OK(cu.cuLibraryGetGlobal(&here, NULL, library, "table"));

    OK(cu.cuCtxCreate_v2(&other, 0, 0));
    OK(cu.cuKernelGetFunction(&again, kernel));
    assert_ptr_not_equal(again, function);
    OK(cu.cuLibraryGetGlobal(&there, NULL, library, "table"));
    FAILS(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
          CUDA_ERROR_INVALID_HANDLE);
    OK(cu.cuCtxDestroy_v2(other));

    OK(cu.cuLibraryUnload(library));
    only_on_the_fake(); /* a real driver looks into what was freed */
    FAILS(cu.cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
}

static void a_kernel_is_launched_like_a_function(void **state)
{
    CUlibrary library;
    CUkernel kernel;

    (void)state;
    OK(cu.cuLibraryLoadData(&library, driver_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cu.cuLibraryGetKernel(&kernel, library, "plain"));
    OK(cu.cuLaunchKernel((CUfunction)(void *)kernel, 3, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuLibraryUnload(library));
}

/* A driver 580 on an H200 loads it too. */
static void a_wrong_library_shows_when_it_is_used(void **state)
{
    CUlibrary library;
    CUmodule module;
    CUkernel kernel;

    (void)state;
    OK(cu.cuLibraryLoadData(&library, ".version 8.0\ngarbage", NULL, NULL, 0, NULL, NULL, 0));
    only_on_the_fake(); /* how a real driver goes on was not measured */
    FAILS(cu.cuLibraryGetKernel(&kernel, library, "garbage"), CUDA_ERROR_INVALID_PTX);
    assert_string_equal(emulator.last_report(), "line 3: garbage is no instruction");
    FAILS(cu.cuLibraryGetModule(&module, library), CUDA_ERROR_INVALID_PTX);
    OK(cu.cuLibraryUnload(library));
}

static void a_link_of_one_text_loads(void **state)
{
    CUlinkState link;
    CUmodule module;
    void *image = NULL;
    size_t bytes = 0;

    (void)state;
    OK(cu.cuLinkCreate_v2(0, NULL, NULL, &link));
    FAILS(cu.cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, NULL, 5, "x", 0, NULL, NULL),
          CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)driver_ptx,
                           strlen(driver_ptx) + 1, "driver", 0, NULL, NULL));
    OK(cu.cuLinkComplete(link, &image, &bytes));
    assert_true(bytes > 0);
    OK(cu.cuModuleLoadData(&module, image));
    driver_function(module, "scale");
    OK(cu.cuModuleUnload(module));
    OK(cu.cuLinkDestroy(link));
    only_on_the_fake(); /* a real driver looks into what was freed */
    FAILS(cu.cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        IN_CONTEXT(images_that_are_no_ptx_are_refused),
        IN_CONTEXT(wrong_ptx_comes_back_with_words),
        IN_CONTEXT(modules_come_from_files),
        IN_CONTEXT(a_function_lives_as_long_as_its_module),
        IN_CONTEXT(variables_have_places),
        IN_CONTEXT(functions_are_counted_and_listed),
        IN_CONTEXT(functions_say_what_they_need),
        IN_CONTEXT(attributes_are_set_within_their_limits),
        IN_CONTEXT(parameters_have_places),
        IN_CONTEXT(blocks_of_a_multiprocessor_are_counted),
        IN_CONTEXT(registers_limit_the_block),
        IN_CONTEXT(the_best_block_is_found),
        IN_CONTEXT(clusters_are_counted),
        IN_CONTEXT(a_library_is_a_module_in_each_context),
        IN_CONTEXT(a_kernel_is_launched_like_a_function),
        IN_CONTEXT(a_wrong_library_shows_when_it_is_used),
        IN_CONTEXT(a_link_of_one_text_loads),
    };

    setenv("LATHE_EMU_ARCH", "sm_90a", 1);
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    return cmocka_run_group_tests_name("emulator driver module", tests, NULL, NULL);
}
