/* driver_graph_test.c: graphs, captured and made by hand. Argument: the library. */
#include "tests/emulator/driver_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static CUstream make_stream(void)
{
    CUstream stream = NULL;

    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static CUevent make_event(void)
{
    CUevent event = NULL;

    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static void begin(CUstream stream)
{
    OK(cu.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

static CUgraph end(CUstream stream)
{
    CUgraph graph = NULL;

    OK(cu.cuStreamEndCapture(stream, &graph));
    assert_non_null(graph);
    return graph;
}

static size_t node_count(CUgraph graph)
{
    size_t count = 0;

    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static uint32_t word_at(CUdeviceptr memory)
{
    uint32_t word = 0;

    OK(cu.cuMemcpyDtoH_v2(&word, memory, 4));
    return word;
}

/* ---- Captured ---- */

static void count_call(void *user)
{
    ++*(int *)user;
}

static void a_graph_does_what_was_captured(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");
    CUdeviceptr memory = driver_memory(8);
    CUstream stream = make_stream();
    uint32_t host = 5;
    int calls = 0;
    CUgraphExec exec;
    CUgraph graph;

    (void)state;
    OK(cu.cuMemsetD32_v2(memory, 1, 2));
    begin(stream);
    OK(cu.cuLaunchKernel(plain, 2, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    OK(cu.cuMemsetD32Async(memory, 7, 1, stream));
    OK(cu.cuMemcpyDtoDAsync_v2(memory + 4, memory, 4, stream));
    OK(cu.cuMemcpyHtoDAsync_v2(memory, &host, 4, stream));
    OK(cu.cuLaunchHostFunc(stream, count_call, &calls));
    graph = end(stream);
    assert_int_equal(node_count(graph), 5);
    assert_int_equal(calls, 0);
    assert_int_equal(word_at(memory + 4), 1);

    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    host = 6; /* read when the graph runs */
    for (int i = 0; i < 3; i++)
        OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(calls, 3);
    assert_int_equal(word_at(memory + 4), 7);
    assert_int_equal(word_at(memory), 6);
    if (fake.launches)
        assert_int_equal(fake.launches(), 3);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(stream));
    OK(cu.cuModuleUnload(module));
    only_on_the_fake();
    FAILS(cu.cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuGraphLaunch(exec, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* Parameters are those of the time of the capture. */
static void a_captured_launch_keeps_its_parameters(void **state)
{
    CUmodule module = driver_module();
    CUfunction scale = driver_function(module, "scale");
    CUstream stream = make_stream();
    uint64_t out = 0x1111;
    uint32_t count = 2;
    float factor = 3;
    void *params[] = {&out, &count, &factor};
    CUgraphExec exec;
    CUgraph graph;

    (void)state;
    only_on_the_fake();
    begin(stream);
    OK(cu.cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    FAILS(cu.cuLaunchKernel(scale, 0, 1, 1, 1, 1, 1, 0, stream, params, NULL),
          CUDA_ERROR_INVALID_VALUE); /* and the capture goes on */
    graph = end(stream);
    out = 0;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream));
    out = 0x1111;
    assert_memory_equal(fake.last()->params, &out, 8);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy_v2(stream));
    OK(cu.cuModuleUnload(module));
}

/* memset -> (copy in a second stream, nothing in the first) -> copy */
static void streams_fork_and_join(void **state)
{
    CUstream first = make_stream(), second = make_stream();
    CUevent forked = make_event(), joined = make_event();
    CUdeviceptr memory = driver_memory(16);
    CUgraphNode nodes[3], needs[3], roots[1];
    CUgraphNodeType type = -1;
    size_t count;
    CUgraph graph;

    (void)state;
    begin(first);
    OK(cu.cuMemsetD32Async(memory, 7, 1, first));
    OK(cu.cuEventRecord(forked, first));
    OK(cu.cuStreamWaitEvent(second, forked, 0));
    OK(cu.cuMemcpyDtoDAsync_v2(memory + 4, memory, 4, second));
    OK(cu.cuEventRecord(joined, second));
    OK(cu.cuStreamWaitEvent(first, joined, 0));
    OK(cu.cuMemcpyDtoDAsync_v2(memory + 8, memory + 4, 4, first));
    graph = end(first);

    assert_int_equal(node_count(graph), 3);
    count = 3;
    OK(cu.cuGraphGetNodes(graph, nodes, &count));
    OK(cu.cuGraphNodeGetType(nodes[0], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMSET);
    OK(cu.cuGraphNodeGetType(nodes[1], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    count = 1;
    OK(cu.cuGraphGetRootNodes(graph, roots, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(roots[0], nodes[0]);
    count = 3;
    OK(cu.cuGraphNodeGetDependencies(nodes[1], needs, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(needs[0], nodes[0]);
    count = 0;
    OK(cu.cuGraphNodeGetDependencies(nodes[2], NULL, &count));
    assert_int_equal(count, fake.reset ? 2 : count); /* a real one may drop the one implied */
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuEventDestroy_v2(forked));
    OK(cu.cuEventDestroy_v2(joined));
    OK(cu.cuStreamDestroy_v2(first));
    OK(cu.cuStreamDestroy_v2(second));
    OK(cu.cuMemFree_v2(memory));
}

static void what_forked_must_join(void **state)
{
    CUstream first = make_stream(), second = make_stream();
    CUevent forked = make_event();
    CUdeviceptr memory = driver_memory(16);
    CUstreamCaptureStatus status = 9;
    CUgraph graph = NULL;

    (void)state;
    begin(first);
    OK(cu.cuEventRecord(forked, first));
    OK(cu.cuStreamWaitEvent(second, forked, 0));
    OK(cu.cuMemsetD32Async(memory, 7, 1, second));
    FAILS(cu.cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert_null(graph);
    OK(cu.cuStreamIsCapturing(second, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);

    begin(first);
    OK(cu.cuEventRecord(forked, first));
    OK(cu.cuStreamWaitEvent(second, forked, 0));
    FAILS(cu.cuStreamEndCapture(second, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    FAILS(cu.cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuEventDestroy_v2(forked));
    OK(cu.cuStreamDestroy_v2(first));
    OK(cu.cuStreamDestroy_v2(second));
    OK(cu.cuMemFree_v2(memory));
}

static void captures_keep_to_themselves(void **state)
{
    CUstream first = make_stream(), second = make_stream();
    CUevent event = make_event();
    CUgraph graph;

    (void)state;
    begin(first);
    begin(second);
    OK(cu.cuEventRecord(event, first));
    FAILS(cu.cuStreamWaitEvent(second, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    FAILS(cu.cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    FAILS(cu.cuStreamEndCapture(second, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cu.cuEventRecord(event, second));
    begin(first);
    FAILS(cu.cuStreamWaitEvent(first, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    FAILS(cu.cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuEventDestroy_v2(event));
    OK(cu.cuStreamDestroy_v2(first));
    OK(cu.cuStreamDestroy_v2(second));
}

static void a_graph_of_freed_memory_fails(void **state)
{
    CUstream stream;
    CUdeviceptr memory;
    CUgraphExec exec;
    CUcontext context;
    CUgraph graph;

    (void)state;
    only_on_the_fake();
    OK(cu.cuCtxCreate_v2(&context, 0, 0));
    stream = make_stream();
    memory = driver_memory(8);
    begin(stream);
    OK(cu.cuMemsetD8Async(memory, 7, 8, stream));
    graph = end(stream);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuMemFree_v2(memory));
    FAILS(cu.cuGraphLaunch(exec, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    FAILS(cu.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_non_null(strstr(emulator.last_report(), "memory that is gone"));
    OK(cu.cuCtxDestroy_v2(context));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void a_launch_cannot_be_captured(void **state)
{
    CUstream stream = make_stream();
    CUdeviceptr memory = driver_memory(4);
    CUgraph graph, spoilt = NULL;
    CUgraphExec exec;

    (void)state;
    OK(cu.cuMemsetD32_v2(memory, 0, 1));
    begin(stream);
    OK(cu.cuMemsetD32Async(memory, 9, 1, stream));
    graph = end(stream);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    begin(stream);
    FAILS(cu.cuGraphLaunch(exec, stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    only_on_the_fake(); /* how a real driver goes on was not measured */
    FAILS(cu.cuStreamEndCapture(stream, &spoilt), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(word_at(memory), 0);
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    assert_int_equal(word_at(memory), 9);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuStreamDestroy_v2(stream));
}

/* ---- Made by hand ---- */

struct order {
    int count, at[8];
};

static struct order order;

static void note(void *which)
{
    order.at[order.count++] = *(int *)which;
}

/* Made in the order 0 1 2 3; 0 needs 3, 1 needs 0, 2 needs 1: runs 3 0 1 2. */
static void nodes_run_after_what_they_need(void **state)
{
    static const int wanted[4] = {3, 0, 1, 2};
    int which[4] = {0, 1, 2, 3};
    CUgraphNode nodes[4], from[3], to[3];
    CUgraphExec exec;
    CUgraph graph, clone;
    size_t count = 0;

    (void)state;
    OK(cu.cuGraphCreate(&graph, 0));
    for (int i = 0; i < 4; i++) {
        CUDA_HOST_NODE_PARAMS params = {note, &which[i]};

        OK(cu.cuGraphAddHostNode(&nodes[i], graph, NULL, 0, &params));
    }
    memcpy(from, (CUgraphNode[]){nodes[3], nodes[0], nodes[1]}, sizeof from);
    memcpy(to, (CUgraphNode[]){nodes[0], nodes[1], nodes[2]}, sizeof to);
    OK(cu.cuGraphAddDependencies(graph, from, to, 3));
    FAILS(cu.cuGraphAddDependencies(graph, from, to, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, &count));
    assert_int_equal(count, 3);
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphInstantiateWithFlags(&exec, clone, 0));
    order.count = 0;
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(order.count, 4);
    assert_memory_equal(order.at, wanted, sizeof wanted);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(clone));
}

static void a_cycle_cannot_be_made_executable(void **state)
{
    CUgraphNode nodes[2];
    CUgraphExec exec;
    CUgraph graph;

    (void)state;
    only_on_the_fake(); /* some drivers refuse the edge already */
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OK(cu.cuGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1));
    OK(cu.cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
    FAILS(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuGraphDestroy(graph));
}

static void nodes_of_all_kinds_work(void **state)
{
    CUmodule module = driver_module();
    CUfunction plain = driver_function(module, "plain");
    CUdeviceptr memory = driver_memory(12);
    CUgraphNode fill, copy, kernel, child, empty;
    CUgraph graph, inner;
    CUgraphExec exec;
    uint32_t host = 0;
    CUDA_MEMSET_NODE_PARAMS fill_params = {
        .dst = memory, .value = 3, .elementSize = 4, .width = 2, .height = 1};
    CUDA_MEMCPY3D copy_params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = memory + 4,
                                 .dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = &host,
                                 .WidthInBytes = 4,
                                 .Height = 1,
                                 .Depth = 1};
    CUDA_KERNEL_NODE_PARAMS kernel_params = {.func = plain,
                                             .gridDimX = 1,
                                             .gridDimY = 1,
                                             .gridDimZ = 1,
                                             .blockDimX = 32,
                                             .blockDimY = 1,
                                             .blockDimZ = 1};

    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphCreate(&inner, 0));
    OK(cu.cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    OK(cu.cuGraphAddMemsetNode(&fill, graph, &empty, 1, &fill_params, *state));
    OK(cu.cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &copy_params, *state));
    OK(cu.cuGraphAddKernelNode_v2(&kernel, inner, NULL, 0, &kernel_params));
    OK(cu.cuGraphAddChildGraphNode(&child, graph, &copy, 1, inner));
    OK(cu.cuGraphDestroy(inner));
    FAILS(cu.cuGraphAddEmptyNode(NULL, graph, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cu.cuGraphAddEmptyNode(&empty, graph, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    kernel_params.blockDimX = 0;
    FAILS(cu.cuGraphAddKernelNode_v2(&kernel, graph, NULL, 0, &kernel_params),
          CUDA_ERROR_INVALID_VALUE);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuCtxSynchronize());
    assert_int_equal(host, 3);
    if (fake.launches)
        assert_int_equal(fake.launches(), 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree_v2(memory));
    OK(cu.cuModuleUnload(module));
}

/* ---- A graph that is destroyed while it runs ---- */

static CUgraphExec running;

static void *destroy_running(void *context)
{
    bool is_well = cu.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS &&
                   cu.cuGraphExecDestroy(running) == CUDA_SUCCESS;

    return is_well ? context : NULL;
}

static void destroy_in_another_thread(void *context)
{
    pthread_t thread;
    void *result = NULL;

    if (pthread_create(&thread, NULL, destroy_running, context) == 0)
        pthread_join(thread, &result);
    order.count = result != NULL;
}

static void a_running_graph_outlives_its_end(void **state)
{
    CUDA_HOST_NODE_PARAMS first = {destroy_in_another_thread, *state}, second;
    int which = 5;
    CUgraphNode nodes[2];
    CUgraph graph;

    only_on_the_fake();
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddHostNode(&nodes[0], graph, NULL, 0, &first));
    second = (CUDA_HOST_NODE_PARAMS){note, &which};
    OK(cu.cuGraphAddHostNode(&nodes[1], graph, &nodes[0], 1, &second));
    OK(cu.cuGraphInstantiateWithFlags(&running, graph, 0));
    OK(cu.cuGraphDestroy(graph));
    order.count = 0;
    OK(cu.cuGraphLaunch(running, NULL));
    assert_int_equal(order.count, 2); /* destroyed, and still the second ran */
    assert_int_equal(order.at[1], 5);
    FAILS(cu.cuGraphExecDestroy(running), CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        IN_CONTEXT(a_graph_does_what_was_captured),
        IN_CONTEXT(a_captured_launch_keeps_its_parameters),
        IN_CONTEXT(streams_fork_and_join),
        IN_CONTEXT(what_forked_must_join),
        IN_CONTEXT(captures_keep_to_themselves),
        IN_CONTEXT(a_graph_of_freed_memory_fails),
        IN_CONTEXT(a_launch_cannot_be_captured),
        IN_CONTEXT(nodes_run_after_what_they_need),
        IN_CONTEXT(a_cycle_cannot_be_made_executable),
        IN_CONTEXT(nodes_of_all_kinds_work),
        IN_CONTEXT(a_running_graph_outlives_its_end),
    };

    setenv("LATHE_EMU_ARCH", "sm_90a", 1);
    if (argc != 2 || driver_open(argv[1]))
        return 2;
    return cmocka_run_group_tests_name("emulator driver graph", tests, NULL, NULL);
}
