/* driver_stream_test.c: streams, events, captures. Argument: the library. */
#include "tests/emulator/driver_fixture.h"

#include <pthread.h>
#include <stdlib.h>

static CUstream make_stream(unsigned flags)
{
    CUstream stream = NULL;

    OK(cu.cuStreamCreate(&stream, flags));
    return stream;
}

static CUevent make_event(unsigned flags)
{
    CUevent event = NULL;

    OK(cu.cuEventCreate(&event, flags));
    return event;
}

/* ---- Streams ---- */

static void a_stream_is_gone_once_destroyed(void **state)
{
    CUstream stream = make_stream(0), other;
    unsigned flags = 9;
    int priority = 9;
    CUcontext context = NULL;

    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamQuery(stream));
    OK(cu.cuStreamGetFlags(stream, &flags));
    assert_int_equal(flags, 0);
    OK(cu.cuStreamGetCtx(stream, &context));
    assert_ptr_equal(context, *state);
    OK(cu.cuStreamDestroy_v2(stream));
    FAILS(cu.cuStreamCreate(&stream, 2), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    OK(cu.cuStreamGetPriority(stream, &priority));
    assert_int_equal(priority, -1);
    OK(cu.cuStreamGetFlags(stream, &flags));
    assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
    OK(cu.cuStreamDestroy_v2(stream));
    OK(cu.cuStreamCreateWithPriority(&stream, 0, -1000));
    OK(cu.cuStreamGetPriority(stream, &priority));
    OK(cu.cuCtxGetStreamPriorityRange(NULL, (int *)&flags));
    assert_int_equal(priority, (int)flags);
    OK(cu.cuStreamDestroy_v2(stream));
    only_on_the_fake(); /* a real driver looks into what was freed */
    other = make_stream(0);
    assert_ptr_not_equal(other, stream); /* though it lies in the same place */
    FAILS(cu.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cu.cuStreamDestroy_v2(other));
}

static void default_streams_have_handles(void **state)
{
    unsigned long long legacy = 0, same = 1, own = 0, own_again = 1;

    (void)state;
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cu.cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cu.cuStreamGetId(NULL, &legacy));
    OK(cu.cuStreamGetId(CU_STREAM_LEGACY, &same));
    OK(cu.cuStreamGetId(CU_STREAM_PER_THREAD, &own));
    OK(cu.cuStreamGetId_ptsz(NULL, &own_again));
    assert_int_equal(legacy, same);
    assert_int_equal(own, own_again);
    assert_int_not_equal(legacy, own);
}

/* ---- Events ---- */

static void events_tell_the_time_between(void **state)
{
    CUevent start = make_event(0), end = make_event(0), untimed;
    float milliseconds = -1;

    (void)state;
    untimed = make_event(CU_EVENT_DISABLE_TIMING);
    OK(cu.cuEventQuery(start)); /* never recorded: nothing to wait for */
    OK(cu.cuEventRecord(start, NULL));
    FAILS(cu.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
    OK(cu.cuEventRecord(end, NULL));
    OK(cu.cuEventSynchronize(end));
    OK(cu.cuEventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds >= 0 && milliseconds < 60000);
    OK(cu.cuEventRecord(untimed, NULL));
    FAILS(cu.cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuEventElapsedTime(NULL, start, end), CUDA_ERROR_INVALID_HANDLE);
    OK(cu.cuStreamWaitEvent(NULL, end, 0));
    FAILS(cu.cuEventCreate(&untimed, 8), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuEventCreate(&untimed, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuEventDestroy_v2(start));
    OK(cu.cuEventDestroy_v2(end));
    OK(cu.cuEventDestroy_v2(untimed));
    only_on_the_fake();
    FAILS(cu.cuEventDestroy_v2(end), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cu.cuEventRecord(end, NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- What spoils a capture ---- */

static void begin(CUstream stream, CUstreamCaptureMode mode)
{
    OK(cu.cuStreamBeginCapture_v2(stream, mode));
}

static void end_well(CUstream stream)
{
    CUgraph graph = NULL;

    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphDestroy(graph));
}

static void end_spoilt(CUstream stream)
{
    CUgraph graph = (CUgraph)(uintptr_t)1;

    FAILS(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
}

static CUresult allocate(CUstream stream)
{
    CUdeviceptr pointer = 0;
    CUresult result = cu.cuMemAlloc_v2(&pointer, 16);

    (void)stream;
    return result == CUDA_SUCCESS ? cu.cuMemFree_v2(pointer) : result;
}

static CUresult synchronize_context(CUstream stream)
{
    (void)stream;
    return cu.cuCtxSynchronize();
}

static CUresult load_module(CUstream stream)
{
    CUmodule module;

    (void)stream;
    return cu.cuModuleLoadData(&module, driver_ptx);
}

static void calls_that_wait_spoil_a_capture(void **state)
{
    static CUresult (*const calls[])(CUstream) = {allocate, synchronize_context, load_module};
    CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
    CUstreamCaptureStatus status = 9;

    (void)state;
    only_on_the_fake(); /* which calls a driver counts among them is its own choice */
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        FAILS(calls[i](stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        OK(cu.cuStreamIsCapturing(stream, &status));
        assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        end_spoilt(stream);
    }
    OK(cu.cuStreamDestroy_v2(stream));
}

static void a_stream_that_is_captured_cannot_be_waited_for(void **state)
{
    CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = make_event(0);

    (void)state;
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    FAILS(cu.cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cu.cuEventRecord(event, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_spoilt(stream);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cu.cuEventRecord(event, stream));
    FAILS(cu.cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
    only_on_the_fake();
    FAILS(cu.cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
    end_well(stream);
    OK(cu.cuEventDestroy_v2(event));
    OK(cu.cuStreamDestroy_v2(stream));
}

/* An act in another thread, in the same context. */
struct errand {
    CUresult (*act)(CUstream stream);
    CUstream stream;
    CUcontext context;
    CUresult result;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;

    errand->result = cu.cuCtxPushCurrent_v2(errand->context);
    if (errand->result == CUDA_SUCCESS)
        errand->result = errand->act(errand->stream);
    return NULL;
}

static CUresult in_another_thread(CUresult (*act)(CUstream), CUstream stream)
{
    struct errand errand = {act, stream, NULL, CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    OK(cu.cuCtxGetCurrent(&errand.context));
    assert_int_equal(pthread_create(&thread, NULL, run_errand, &errand), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return errand.result;
}

static CUresult end_capture(CUstream stream)
{
    CUgraph graph;

    return cu.cuStreamEndCapture(stream, &graph);
}

static void the_mode_says_whom_a_capture_hinders(void **state)
{
    CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    (void)state;
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    FAILS(in_another_thread(allocate, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_spoilt(stream);

    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    OK(in_another_thread(allocate, stream));
    FAILS(in_another_thread(end_capture, stream), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    FAILS(end_capture(stream), CUDA_ERROR_ILLEGAL_STATE); /* that did end it */

    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(allocate(stream));
    OK(in_another_thread(allocate, stream));
    end_well(stream);

    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(allocate(stream));
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    end_well(stream);
    mode = 3; /* no mode, but the driver takes it */
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, 3);
    OK(cu.cuStreamDestroy_v2(stream));
}

static void the_legacy_stream_spoils_the_capture_of_a_blocking_one(void **state)
{
    CUdeviceptr memory = driver_memory(16);
    CUstream stream = make_stream(0);

    (void)state;
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    FAILS(cu.cuMemsetD8Async(memory, 1, 16, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    end_spoilt(stream);
    OK(cu.cuStreamDestroy_v2(stream));

    stream = make_stream(CU_STREAM_NON_BLOCKING);
    begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    OK(cu.cuMemsetD8Async(memory, 1, 16, NULL));
    end_well(stream);
    OK(cu.cuStreamDestroy_v2(stream));
    OK(cu.cuMemFree_v2(memory));
}

static void captures_begin_and_end_in_order(void **state)
{
    CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
    CUstreamCaptureStatus status = 9;
    CUgraph graph, found = NULL;
    uint64_t id = 0;
    size_t count = 9;

    (void)state;
    FAILS(cu.cuStreamBeginCapture_v2(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cu.cuStreamBeginCapture_v2(stream, 3), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    OK(cu.cuStreamIsCapturing(stream, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    FAILS(cu.cuStreamBeginCapture_v2(stream, 0), CUDA_ERROR_ILLEGAL_STATE);
    OK(cu.cuStreamGetCaptureInfo_v2(stream, &status, &id, &found, NULL, &count));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_true(id != 0);
    assert_int_equal(count, 0);
    OK(cu.cuStreamEndCapture(stream, &graph));
    assert_ptr_equal(graph, found);
    OK(cu.cuGraphDestroy(graph));
    only_on_the_fake();
    begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    OK(cu.cuStreamGetCaptureInfo_v2(stream, &status, &id, &found, NULL, &count));
    FAILS(cu.cuGraphDestroy(found), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuStreamDestroy_v2(stream)); /* what was captured goes with it */
    FAILS(cu.cuGraphDestroy(found), CUDA_ERROR_INVALID_VALUE);
}

static void the_own_default_stream_can_be_captured(void **state)
{
    CUstreamCaptureStatus status = 9;

    (void)state;
    begin(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    OK(cu.cuStreamIsCapturing_ptsz(NULL, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end_well(CU_STREAM_PER_THREAD);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        IN_CONTEXT(a_stream_is_gone_once_destroyed),
        IN_CONTEXT(default_streams_have_handles),
        IN_CONTEXT(events_tell_the_time_between),
        IN_CONTEXT(calls_that_wait_spoil_a_capture),
        IN_CONTEXT(a_stream_that_is_captured_cannot_be_waited_for),
        IN_CONTEXT(the_mode_says_whom_a_capture_hinders),
        IN_CONTEXT(the_legacy_stream_spoils_the_capture_of_a_blocking_one),
        IN_CONTEXT(captures_begin_and_end_in_order),
        IN_CONTEXT(the_own_default_stream_can_be_captured),
    };

    setenv("LATHE_EMU_ARCH", "sm_90a", 1);
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    return cmocka_run_group_tests_name("emulator driver stream", tests, NULL, NULL);
}
