/* driver_launch_test.c: launches, their shapes, parameters and faults; host functions. Argument:
 * the library. */
#include "tests/emulator/driver_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult launch(CUfunction function, unsigned grid, unsigned block, unsigned shared)
{
    return cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, NULL, NULL, NULL);
}

/* ---- What the machine is given ---- */

static void a_launch_reaches_the_machine(void **state)
{
    CUmodule module = driver_module();
    CUfunction scale = driver_function(module, "scale");
    uint64_t out = 0x123456789abcdef0;
    uint32_t count = 0x11223344;
    float factor = 1.5f;
    void *params[] = {&out, &count, &factor};
    const struct fake_launch *last;

    (void)state;
    only_on_the_fake();
    OK(cu.cuLaunchKernel(scale, 3, 4, 5, 32, 2, 1, 100, NULL, params, NULL));
    assert_int_equal(fake.launches(), 1);
    last = fake.last();
    assert_string_equal(last->entry, "scale");
    assert_memory_equal(last->grid, ((uint32_t[]){3, 4, 5}), 12);
    assert_memory_equal(last->block, ((uint32_t[]){32, 2, 1}), 12);
    assert_memory_equal(last->cluster, ((uint32_t[]){0, 0, 0}), 12);
    assert_int_equal(last->shared_bytes, 100);
    assert_int_equal(last->param_bytes, 16);
    assert_memory_equal(last->params, &out, 8);
    assert_memory_equal(last->params + 8, &count, 4);
    assert_memory_equal(last->params + 12, &factor, 4);
    assert_int_equal(last->target, 90);
    assert_int_equal(last->multiprocessors, 132);
    OK(cu.cuModuleUnload(module));
}

static void parameters_may_come_as_one_buffer(void **state)
{
    CUmodule module = driver_module();
    CUfunction scale = driver_function(module, "scale");
    unsigned char buffer[16];
    size_t bytes = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    void *wrong[] = {(void *)(uintptr_t)9, buffer, CU_LAUNCH_PARAM_END};
    void *params[] = {buffer, buffer, buffer};

    (void)state;
    memset(buffer, 0, sizeof buffer);
    OK(cu.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    FAILS(cu.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, wrong),
          CUDA_ERROR_INVALID_VALUE);
    only_on_the_fake();
    for (size_t i = 0; i < sizeof buffer; i++)
        buffer[i] = (unsigned char)(i + 1);
    OK(cu.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    assert_memory_equal(fake.last()->params, buffer, sizeof buffer);
    bytes = 15;
    FAILS(cu.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
          CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuModuleUnload(module));
}

static void parameters_must_be_there(void **state)
{
    CUmodule module = driver_module();
    CUfunction scale = driver_function(module, "scale");
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};

    (void)state;
    FAILS(cu.cuLaunchKernelEx(&config, scale, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuLaunchKernelEx(NULL, scale, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuLaunchKernelEx(&config, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    config.hStream = (CUstream)(uintptr_t)0xdead0000;
    only_on_the_fake(); /* a real driver looks into what it takes for a stream */
    FAILS(cu.cuLaunchKernelEx(&config, scale, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(fake.launches(), 0);
    OK(cu.cuModuleUnload(module));
}

/* ---- Shapes ---- */

static void shapes_keep_the_limits(void **state)
{
    static const struct {
        const char *kernel;
        unsigned grid[3], block[3], cluster[3]; /* cluster 0: none asked for */
        CUresult expected;
    } cases[] = {
        {"plain", {1, 1, 1}, {1024, 1, 1}, {0}, CUDA_SUCCESS},
        {"plain", {1, 1, 1}, {1, 1, 64}, {0}, CUDA_SUCCESS},
        {"plain", {1, 65535, 1}, {1, 1, 1}, {0}, CUDA_SUCCESS},
        {"plain", {0, 1, 1}, {1, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 0, 1}, {1, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 0}, {1, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 65536, 1}, {1, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 65536}, {1, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {0x80000000, 1, 1}, {1, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 1}, {0, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 1}, {1025, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 1}, {1024, 2, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 1}, {1, 1, 65}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {1, 1, 1}, {0x10000, 0x10000, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"small", {1, 1, 1}, {128, 1, 1}, {0}, CUDA_SUCCESS},
        {"small", {1, 1, 1}, {16, 8, 1}, {0}, CUDA_SUCCESS},
        {"small", {1, 1, 1}, {129, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"exact", {1, 1, 1}, {64, 2, 1}, {0}, CUDA_SUCCESS},
        {"exact", {1, 1, 1}, {128, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"exact", {1, 1, 1}, {64, 1, 1}, {0}, CUDA_ERROR_INVALID_VALUE},
        {"plain", {4, 4, 1}, {32, 1, 1}, {2, 2, 1}, CUDA_SUCCESS},
        {"plain", {5, 4, 1}, {32, 1, 1}, {2, 2, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"plain", {4, 4, 1}, {32, 1, 1}, {2, 0, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"plain", {8, 1, 1}, {32, 1, 1}, {8, 1, 1}, CUDA_SUCCESS},
        {"plain", {16, 1, 1}, {32, 1, 1}, {16, 1, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"plain", {4, 4, 1}, {32, 1, 1}, {4, 4, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"pairs", {4, 1, 1}, {32, 1, 1}, {0}, CUDA_SUCCESS},
        {"pairs", {4, 1, 1}, {32, 1, 1}, {2, 1, 1}, CUDA_SUCCESS},
        {"pairs", {3, 1, 1}, {32, 1, 1}, {0}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"pairs", {4, 1, 1}, {32, 1, 1}, {4, 1, 1}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
        {"clusters", {4, 1, 1}, {32, 1, 1}, {4, 1, 1}, CUDA_SUCCESS},
        {"clusters", {4, 1, 1}, {32, 1, 1}, {0}, CUDA_ERROR_INVALID_CLUSTER_SIZE},
    };
    CUmodule module = driver_module();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned *grid = cases[i].grid, *block = cases[i].block, *cluster = cases[i].cluster;
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value.clusterDim = {cluster[0], cluster[1], cluster[2]}};
        CUlaunchConfig config = {grid[0],  grid[1], grid[2], block[0],   block[1],
                                 block[2], 0,       NULL,    &attribute, cluster[0] != 0};
        CUresult result =
            cu.cuLaunchKernelEx(&config, driver_function(module, cases[i].kernel), NULL, NULL);

        if (result != cases[i].expected)
            print_error("case %zu: %s\n", i, cases[i].kernel);
        assert_int_equal(result, cases[i].expected);
    }
    OK(cu.cuCtxSynchronize());
    OK(cu.cuModuleUnload(module));
}

static void a_required_cluster_is_passed_on(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         .value.programmaticStreamSerializationAllowed = 1},
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1},
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {16, 1, 1}},
    };
    CUlaunchConfig config = {32, 1, 1, 32, 1, 1, 0, NULL, attributes, 4};

    (void)state;
    only_on_the_fake();
    OK(launch(driver_function(module, "pairs"), 4, 32, 0));
    assert_memory_equal(fake.last()->cluster, ((uint32_t[]){2, 1, 1}), 12);
    FAILS(cu.cuLaunchKernelEx(&config, plain, NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cu.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cu.cuLaunchKernelEx(&config, plain, NULL, NULL));
    assert_memory_equal(fake.last()->cluster, ((uint32_t[]){16, 1, 1}), 12);
    config.attrs = NULL;
    FAILS(cu.cuLaunchKernelEx(&config, plain, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuModuleUnload(module));
}

/* cuda.h, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH. */
static void a_cluster_may_be_required_at_run_time(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain"), pairs = driver_function(module, "pairs");
    const CUfunction_attribute width = CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;

    (void)state;
    OK(cu.cuFuncSetAttribute(pairs, width, 2)); /* what it has */
    only_on_the_fake();
    FAILS(cu.cuFuncSetAttribute(pairs, width, 4), CUDA_ERROR_NOT_PERMITTED);
    FAILS(cu.cuFuncSetAttribute(plain, width, -1), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuFuncSetAttribute(plain, width, 4));
    FAILS(launch(plain, 8, 32, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE); /* or all, or none */
    OK(cu.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    OK(cu.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    OK(launch(plain, 8, 32, 0));
    assert_memory_equal(fake.last()->cluster, ((uint32_t[]){4, 1, 1}), 12);
    FAILS(launch(plain, 6, 32, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cu.cuModuleUnload(module));
}

static void what_fails_without_words_gets_some(void **state)
{
    CUdeviceptr pointer;

    (void)state;
    only_on_the_fake();
    FAILS(cu.cuMemAlloc_v2(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(emulator.last_report(), "cuMemAlloc_v2: invalid argument");
    FAILS(cu.cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
          CUDA_ERROR_INVALID_HANDLE);
    assert_string_equal(emulator.last_report(), "cuLaunchKernel: invalid resource handle");
}

static void much_shared_memory_must_be_asked_for(void **state)
{
    CUmodule module = driver_module();
    CUfunction tile = driver_function(module, "tile");
    CUdeviceptr out = driver_memory(4);
    void *params[] = {&out};

    (void)state;
#define TILE(bytes) cu.cuLaunchKernel(tile, 1, 1, 1, 32, 1, 1, bytes, NULL, params, NULL)
    OK(TILE(48128));
    FAILS(TILE(48129), CUDA_ERROR_INVALID_VALUE); /* 1024 bytes are static */
    OK(cu.cuFuncSetAttribute(tile, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231424));
    OK(TILE(231424));
    FAILS(TILE(231425), CUDA_ERROR_INVALID_VALUE);
    FAILS(TILE(0xffffffff), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuMemFree_v2(out));
    OK(cu.cuModuleUnload(module));
}

static void a_cooperative_grid_must_fit(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");
    int blocks = 0, multiprocessors = 0;
    unsigned all;

    (void)state;
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 256, 0));
    OK(cu.cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    all = (unsigned)(blocks * multiprocessors);
    OK(cu.cuLaunchCooperativeKernel(plain, all, 1, 1, 256, 1, 1, 0, NULL, NULL));
    FAILS(cu.cuLaunchCooperativeKernel(plain, all + 1, 1, 1, 256, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cu.cuLaunchCooperativeKernel(plain, 0x7fffffff, 65535, 65535, 256, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(launch(plain, all + 1, 256, 0));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuModuleUnload(module));
}

/* ---- Faults ---- */

static void a_fault_ends_its_context(void **state)
{
    static const struct {
        enum emu_outcome outcome;
        CUresult expected;
    } cases[] = {
        {EMU_ILLEGAL_ADDRESS, 700}, {EMU_MISALIGNED_ADDRESS, 716}, {EMU_ILLEGAL_INSTRUCTION, 715},
        {EMU_TRAPPED, 719},         {EMU_DEADLOCK, 702},           {EMU_OUT_OF_STEPS, 702},
    };

    (void)state;
    only_on_the_fake();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CUmodule module = NULL;
        CUcontext context, current = NULL;
        CUdeviceptr memory, more;
        CUfunction plain;
        CUstream stream;
        CUdevice device;
        char byte;

        OK(cu.cuCtxCreate_v2(&context, 0, 0));
        module = driver_module();
        plain = driver_function(module, "plain");
        memory = driver_memory(4);
        OK(cu.cuStreamCreate(&stream, 0));
        fake.set_outcome(cases[i].outcome, "warp 3 did it");
        FAILS(launch(plain, 1, 1, 0), cases[i].expected);
        assert_string_equal(emulator.last_report(), "warp 3 did it");
        fake.set_outcome(EMU_DONE, "");
        FAILS(launch(plain, 1, 1, 0), cases[i].expected);
        FAILS(cu.cuCtxSynchronize(), cases[i].expected);
        FAILS(cu.cuMemcpyDtoH_v2(&byte, memory, 1), cases[i].expected);
        FAILS(cu.cuMemAlloc_v2(&more, 4), cases[i].expected);
        FAILS(cu.cuStreamSynchronize(stream), cases[i].expected);
        FAILS(cu.cuModuleLoadData(&module, driver_ptx), cases[i].expected);
        FAILS(cu.cuModuleLoadData(NULL, NULL), cases[i].expected);
        assert_string_equal(emulator.last_report(), "warp 3 did it"); /* still */
        OK(cu.cuCtxGetDevice(&device));
        OK(cu.cuCtxGetCurrent(&current));
        assert_ptr_equal(current, context);
        OK(cu.cuCtxDestroy_v2(context));
        OK(cu.cuCtxSynchronize()); /* the other context is well */
    }
}

static void what_never_began_leaves_the_context_well(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");

    (void)state;
    only_on_the_fake();
    fake.set_outcome(EMU_NO_RESOURCES, "too wide");
    FAILS(launch(plain, 1, 1, 0), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_string_equal(emulator.last_report(), "too wide");
    fake.set_outcome(EMU_DONE, "");
    OK(launch(plain, 1, 1, 0));
    OK(cu.cuCtxSynchronize());
    OK(cu.cuModuleUnload(module));
}

static void a_reset_makes_a_failed_context_new(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");

    (void)state;
    only_on_the_fake();
    fake.set_outcome(EMU_TRAPPED, "trap");
    FAILS(launch(plain, 1, 1, 0), CUDA_ERROR_LAUNCH_FAILED);
    fake.set_outcome(EMU_DONE, "");
    OK(cu.cuDevicePrimaryCtxReset_v2(0));
    OK(cu.cuCtxSynchronize());
    FAILS(cu.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    module = driver_module();
    OK(launch(driver_function(module, "plain"), 1, 1, 0));
    OK(cu.cuModuleUnload(module));
}

/* ---- What is set beside the API ---- */

static void the_seed_holds_at_once_and_the_rest_for_new_devices(void **state)
{
    CUmodule module = driver_module();
    CUdeviceptr pointer;
    CUcontext context;

    (void)state;
    only_on_the_fake();
    emulator.set_seed(7);
    emulator.set_exact(1);
    emulator.set_limits(1 << 20, 1000, 50);
    OK(launch(driver_function(module, "plain"), 1, 1, 0));
    assert_int_equal(fake.last()->seed, 7);
    assert_int_equal(fake.last()->exact, 0);
    OK(cu.cuModuleUnload(module));

    OK(cu.cuDevicePrimaryCtxRelease_v2(0)); /* that of driver_enter() */
    OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
    module = driver_module();
    OK(launch(driver_function(module, "plain"), 1, 1, 0));
    assert_int_equal(fake.last()->seed, 7);
    assert_int_equal(fake.last()->exact, 1);
    assert_int_equal(fake.last()->limits.memory_bytes, 1 << 20);
    assert_int_equal(fake.last()->limits.steps, 1000);
    assert_int_equal(fake.last()->limits.depth, 50);
    FAILS(cu.cuMemAlloc_v2(&pointer, 1 << 20), CUDA_ERROR_OUT_OF_MEMORY); /* variables are there */
    OK(cu.cuModuleUnload(module));
    emulator.set_seed(0);
    emulator.set_exact(0);
    emulator.set_limits(0, 0, 0);
}

/* ---- Host functions ---- */

static void count(void *user)
{
    ++*(int *)user;
}

static void call_the_driver(void *user)
{
    CUdeviceptr pointer;

    *(CUresult *)user = cu.cuMemAlloc_v2(&pointer, 4);
}

static void note_status(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    *(CUresult *)user = status;
}

static void host_functions_run_and_may_not_call_back(void **state)
{
    CUresult result = CUDA_SUCCESS, status = CUDA_ERROR_UNKNOWN;
    int calls = 0;

    (void)state;
    OK(cu.cuLaunchHostFunc(NULL, count, &calls));
    OK(cu.cuStreamAddCallback(NULL, note_status, &status, 0));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(calls, 1);
    assert_int_equal(status, CUDA_SUCCESS);
    FAILS(cu.cuLaunchHostFunc(NULL, NULL, &calls), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuStreamAddCallback(NULL, note_status, &status, 1), CUDA_ERROR_INVALID_VALUE);
    only_on_the_fake(); /* a real driver may wait for ever */
    OK(cu.cuLaunchHostFunc(NULL, call_the_driver, &result));
    assert_int_equal(result, CUDA_ERROR_NOT_PERMITTED);
    OK(cu.cuCtxSynchronize());
}

/* Another thread works while a host function waits for it. */
static void *allocate_elsewhere(void *context)
{
    CUdeviceptr pointer = 0;
    bool is_well = cu.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS &&
                   cu.cuMemAlloc_v2(&pointer, 4) == CUDA_SUCCESS &&
                   cu.cuMemFree_v2(pointer) == CUDA_SUCCESS;

    return is_well ? context : NULL;
}

struct wait {
    void *context, *result;
};

static void wait_for_another_thread(void *user)
{
    struct wait *wait = user;
    pthread_t thread;

    if (pthread_create(&thread, NULL, allocate_elsewhere, wait->context) == 0)
        pthread_join(thread, &wait->result);
}

static void others_use_the_driver_while_a_host_function_runs(void **state)
{
    struct wait wait = {*state, NULL};

    only_on_the_fake(); /* with a real driver both may wait for ever */
    OK(cu.cuLaunchHostFunc(NULL, wait_for_another_thread, &wait));
    OK(cu.cuCtxSynchronize());
    assert_ptr_equal(wait.result, *state);
}

/* ---- Threads ---- */

enum { THREADS = 4, TURNS = 50 };

/* Null if all went well. cmocka's assertions are for the main thread alone. */
static void *use_the_device(void *context)
{
    int failed = cu.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS;

    for (int turn = 0; turn < TURNS; turn++) {
        CUmodule module = NULL;
        CUfunction plain = NULL;
        CUdeviceptr pointer = 0;
        CUstream stream = NULL;

        failed |= cu.cuModuleLoadData(&module, driver_ptx) != CUDA_SUCCESS;
        failed |= cu.cuModuleGetFunction(&plain, module, "plain") != CUDA_SUCCESS;
        failed |= cu.cuMemAlloc_v2(&pointer, 64) != CUDA_SUCCESS;
        failed |= cu.cuStreamCreate(&stream, 0) != CUDA_SUCCESS;
        failed |=
            cu.cuLaunchKernel(plain, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL) != CUDA_SUCCESS;
        failed |=
            cu.cuLaunchKernel_ptsz(plain, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS;
        failed |= cu.cuStreamDestroy_v2(stream) != CUDA_SUCCESS;
        failed |= cu.cuMemFree_v2(pointer) != CUDA_SUCCESS;
        failed |= cu.cuModuleUnload(module) != CUDA_SUCCESS;
    }
    failed |= cu.cuCtxPopCurrent_v2(NULL) != CUDA_SUCCESS;
    return failed ? context : NULL;
}

static void threads_share_the_device(void **state)
{
    pthread_t threads[THREADS];
    void *failed = NULL;

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_the_device, *state), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    only_on_the_fake();
    assert_int_equal(fake.launches(), THREADS * TURNS * 2);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        IN_CONTEXT(a_launch_reaches_the_machine),
        IN_CONTEXT(parameters_may_come_as_one_buffer),
        IN_CONTEXT(parameters_must_be_there),
        IN_CONTEXT(shapes_keep_the_limits),
        IN_CONTEXT(a_required_cluster_is_passed_on),
        IN_CONTEXT(a_cluster_may_be_required_at_run_time),
        IN_CONTEXT(what_fails_without_words_gets_some),
        IN_CONTEXT(much_shared_memory_must_be_asked_for),
        IN_CONTEXT(a_cooperative_grid_must_fit),
        IN_CONTEXT(a_fault_ends_its_context),
        IN_CONTEXT(what_never_began_leaves_the_context_well),
        IN_CONTEXT(a_reset_makes_a_failed_context_new),
        IN_CONTEXT(the_seed_holds_at_once_and_the_rest_for_new_devices),
        IN_CONTEXT(host_functions_run_and_may_not_call_back),
        IN_CONTEXT(others_use_the_driver_while_a_host_function_runs),
        IN_CONTEXT(threads_share_the_device),
    };

    setenv("LATHE_EMU_ARCH", "sm_90a", 1);
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    return cmocka_run_group_tests_name("emulator driver launch", tests, NULL, NULL);
}
