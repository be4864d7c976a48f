/* stub_stream_test.c: tests of the stub driver's streams, captures, graphs and events.
 *
 * Argument: libcuda_stub.so, as a path. */
#include "tests/support/stub_test.h"

#include <pthread.h>
#include <stdio.h>

struct stage {
    CUmodule module;
    CUfunction kernel;
    CUstream stream;
    CUlaunchConfig config;
};

/* A kernel without parameters, and a stream that the default one need not wait for. */
static struct stage set_stage(unsigned stream_flags)
{
    struct stage stage = {.module = stub_test_module(),
                          .config = {2, 1, 1, 32, 1, 1, .numAttrs = 0}};

    stage.kernel = stub_test_function(stage.module, "in_pairs");
    assert_int_equal(cuda.cuStreamCreate(&stage.stream, stream_flags), CUDA_SUCCESS);
    stage.config.hStream = stage.stream;
    return stage;
}

static void strike_stage(const struct stage *stage)
{
    assert_int_equal(cuda.cuStreamDestroy_v2(stage->stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuModuleUnload(stage->module), CUDA_SUCCESS);
}

static void begin(const struct stage *stage, CUstreamCaptureMode mode)
{
    assert_int_equal(cuda.cuStreamBeginCapture_v2(stage->stream, mode), CUDA_SUCCESS);
}

static void expect_spoilt(const struct stage *stage)
{
    CUgraph graph = (CUgraph)(uintptr_t)1;

    assert_int_equal(cuda.cuStreamEndCapture(stage->stream, &graph),
                     CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
    assert_int_equal(stub.live(STUB_GRAPH), 0);
}

static void a_stream_is_gone_once_destroyed(void **state)
{
    struct stage stage = set_stage(0);

    (void)state;
    assert_int_equal(cuda.cuLaunchKernelEx(&stage.config, stage.kernel, NULL, NULL), CUDA_SUCCESS);
    assert_ptr_equal(stub.launch_at(0)->stream, stage.stream);
    assert_int_equal(cuda.cuStreamSynchronize(stage.stream), CUDA_SUCCESS);
    strike_stage(&stage);
    assert_int_equal(cuda.cuStreamSynchronize(stage.stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuda.cuStreamSynchronize(NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamCreate(&stage.stream, 2), CUDA_ERROR_INVALID_VALUE);
}

static void a_graph_does_what_was_captured(void **state)
{
    struct stage stage = set_stage(CU_STREAM_NON_BLOCKING);
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr pointer;
    uint32_t value = 0;

    (void)state;
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 8), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemsetD32Async(pointer, 1, 2, NULL), CUDA_SUCCESS);
    begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(cuda.cuLaunchKernelEx(&stage.config, stage.kernel, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemsetD32Async(pointer, 7, 1, stage.stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemcpyDtoDAsync_v2(pointer + 4, pointer, 4, stage.stream),
                     CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamEndCapture(stage.stream, &graph), CUDA_SUCCESS);
    assert_int_equal(stub.launches(), 0);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(&value, pointer + 4, 4), CUDA_SUCCESS);
    assert_int_equal(value, 1);

    assert_int_equal(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphDestroy(graph), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cuda.cuGraphLaunch(exec, stage.stream), CUDA_SUCCESS);
    assert_int_equal(stub.launches(), 3);
    assert_string_equal(stub.launch_at(2)->kernel, "in_pairs");
    assert_int_equal(stub.launch_at(2)->from_graph, 1);
    assert_int_equal(cuda.cuMemcpyDtoH_v2(&value, pointer + 4, 4), CUDA_SUCCESS);
    assert_int_equal(value, 7);

    assert_int_equal(cuda.cuGraphExecDestroy(exec), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuMemFree_v2(pointer), CUDA_SUCCESS);
    strike_stage(&stage);
}

static void a_graph_that_touches_freed_memory_fails(void **state)
{
    struct stage stage = set_stage(CU_STREAM_NON_BLOCKING);
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr pointer;

    (void)state;
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 8), CUDA_SUCCESS);
    begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(cuda.cuMemsetD8Async(pointer, 7, 8, stage.stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamEndCapture(stage.stream, &graph), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree_v2(pointer), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphLaunch(exec, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuda.cuGraphExecDestroy(exec), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphDestroy(graph), CUDA_SUCCESS);
    strike_stage(&stage);
}

/* Calls that wait for the device, each tried in a capture of its own. */
static CUresult load(const struct stage *stage)
{
    CUmodule module;

    (void)stage;
    return cuda.cuModuleLoadData(&module, stub_cubin);
}

static CUresult unload(const struct stage *stage)
{
    return cuda.cuModuleUnload(stage->module);
}

static CUresult allocate(const struct stage *stage)
{
    CUdeviceptr pointer;

    (void)stage;
    return cuda.cuMemAlloc_v2(&pointer, 16);
}

static CUresult free_nothing(const struct stage *stage)
{
    (void)stage;
    return cuda.cuMemFree_v2(0);
}

static CUresult synchronize_context(const struct stage *stage)
{
    (void)stage;
    return cuda.cuCtxSynchronize();
}

static CUresult synchronize_stream(const struct stage *stage)
{
    return cuda.cuStreamSynchronize(stage->stream);
}

static CUresult copy_from_host(const struct stage *stage)
{
    (void)stage;
    return cuda.cuMemcpyHtoD_v2(0, &stage, 0);
}

static void calls_that_wait_spoil_a_capture(void **state)
{
    static CUresult (*const calls[])(const struct stage *) = {
        load,          unload, allocate, free_nothing, synchronize_context, synchronize_stream,
        copy_from_host};
    struct stage stage = set_stage(CU_STREAM_NON_BLOCKING);

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        assert_int_equal(calls[i](&stage), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assert_int_equal(cuda.cuLaunchKernelEx(&stage.config, stage.kernel, NULL, NULL),
                         CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        expect_spoilt(&stage);
    }
    strike_stage(&stage);
}

/* An act in another thread, in the same context. */
struct errand {
    CUresult (*act)(const struct stage *);
    const struct stage *stage;
    CUcontext context;
    CUresult result;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;

    errand->result = cuda.cuCtxPushCurrent_v2(errand->context);
    if (errand->result == CUDA_SUCCESS)
        errand->result = errand->act(errand->stage);
    return NULL;
}

static CUresult in_another_thread(CUresult (*act)(const struct stage *), const struct stage *stage)
{
    struct errand errand = {act, stage, NULL, CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    assert_int_equal(cuda.cuCtxGetCurrent(&errand.context), CUDA_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, run_errand, &errand), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return errand.result;
}

static CUresult allocate_and_free(const struct stage *stage)
{
    CUdeviceptr pointer = 0;
    CUresult result = cuda.cuMemAlloc_v2(&pointer, 16);

    (void)stage;
    return result == CUDA_SUCCESS ? cuda.cuMemFree_v2(pointer) : result;
}

static CUresult end_capture(const struct stage *stage)
{
    CUgraph graph;

    return cuda.cuStreamEndCapture(stage->stream, &graph);
}

static void the_mode_says_whom_a_capture_hinders(void **state)
{
    struct stage stage = set_stage(CU_STREAM_NON_BLOCKING);
    CUgraph graph;
    CUdeviceptr pointer;

    (void)state;
    begin(&stage, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(in_another_thread(allocate_and_free, &stage),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_spoilt(&stage);

    begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(in_another_thread(allocate_and_free, &stage), CUDA_SUCCESS);
    assert_int_equal(in_another_thread(end_capture, &stage),
                     CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    assert_int_equal(cuda.cuStreamEndCapture(stage.stream, &graph), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphDestroy(graph), CUDA_SUCCESS);

    begin(&stage, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_int_equal(cuda.cuMemAlloc_v2(&pointer, 16), CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree_v2(pointer), CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamEndCapture(stage.stream, &graph), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphDestroy(graph), CUDA_SUCCESS);
    strike_stage(&stage);
}

static void the_default_stream_spoils_the_capture_of_a_blocking_one(void **state)
{
    struct stage stage = set_stage(0);
    CUlaunchConfig into_default = stage.config;

    (void)state;
    into_default.hStream = NULL;
    begin(&stage, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_int_equal(cuda.cuLaunchKernelEx(&into_default, stage.kernel, NULL, NULL),
                     CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    expect_spoilt(&stage);
    assert_int_equal(stub.launches(), 0);
    strike_stage(&stage);
}

static void captures_begin_and_end_in_order(void **state)
{
    struct stage stage = set_stage(CU_STREAM_NON_BLOCKING);
    CUgraph graph;

    (void)state;
    assert_int_equal(cuda.cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cuda.cuStreamBeginCapture_v2(stage.stream, (CUstreamCaptureMode)3),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuda.cuStreamEndCapture(stage.stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(
        cuda.cuStreamBeginCapture_v2(stage.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        CUDA_ERROR_ILLEGAL_STATE);
    assert_int_equal(cuda.cuStreamEndCapture(stage.stream, &graph), CUDA_SUCCESS);
    assert_int_equal(cuda.cuGraphDestroy(graph), CUDA_SUCCESS);
    begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(cuda.cuLaunchKernelEx(&stage.config, stage.kernel, NULL, NULL), CUDA_SUCCESS);
    strike_stage(&stage); /* what was captured goes with the stream */
}

static void events_tell_a_microsecond(void **state)
{
    struct stage stage = set_stage(CU_STREAM_NON_BLOCKING);
    CUevent start, end, untimed;
    float milliseconds = 0;

    (void)state;
    assert_int_equal(cuda.cuEventCreate(&start, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventCreate(&end, 0), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventRecord(start, stage.stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuda.cuEventRecord(end, stage.stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventSynchronize(end), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
    assert_true(milliseconds > 0.0009f && milliseconds < 0.0011f);
    assert_int_equal(cuda.cuEventRecord(untimed, NULL), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventElapsedTime(&milliseconds, start, untimed),
                     CUDA_ERROR_INVALID_HANDLE);

    begin(&stage, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    assert_int_equal(cuda.cuEventRecord(end, stage.stream), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventSynchronize(end), CUDA_ERROR_CAPTURED_EVENT);
    strike_stage(&stage);
    assert_int_equal(cuda.cuEventDestroy_v2(start), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventDestroy_v2(end), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventDestroy_v2(untimed), CUDA_SUCCESS);
    assert_int_equal(cuda.cuEventDestroy_v2(end), CUDA_ERROR_INVALID_HANDLE);
}

#define ON_A_DEVICE(test) cmocka_unit_test_setup_teardown(test, stub_test_enter, stub_test_leave)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        ON_A_DEVICE(a_stream_is_gone_once_destroyed),
        ON_A_DEVICE(a_graph_does_what_was_captured),
        ON_A_DEVICE(a_graph_that_touches_freed_memory_fails),
        ON_A_DEVICE(calls_that_wait_spoil_a_capture),
        ON_A_DEVICE(the_mode_says_whom_a_capture_hinders),
        ON_A_DEVICE(the_default_stream_spoils_the_capture_of_a_blocking_one),
        ON_A_DEVICE(captures_begin_and_end_in_order),
        ON_A_DEVICE(events_tell_a_microsecond),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: %s libcuda_stub.so\n", argv[0]);
        return 2;
    }
    if (stub_test_open(argv[1]) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
