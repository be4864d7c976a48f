/* driver_exec.c: executable graphs: the work of a graph as a list, and its launches. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>

/* All the work in its order, children taken apart. Shared by the executable graph and the launches
 * of it that are under way: a host function may let another thread destroy it. */
struct plan {
    size_t references, count, room;
    struct emu_cu_work *works;
};

struct emu_cu_exec {
    struct emu_cu_object object;
    struct plan *plan;
};

/* ---- Plans ---- */

static void drop_plan(struct plan *plan)
{
    if (!plan || --plan->references > 0)
        return;
    for (size_t i = 0; i < plan->count; i++)
        emu_cu_work_release(&plan->works[i]);
    free(plan->works);
    free(plan);
}

static CUresult append_graph(struct plan *plan, const struct emu_cu_graph *graph);

static CUresult append_work(struct plan *plan, const struct emu_cu_work *work)
{
    struct emu_cu_work *moved;
    CUresult result;

    if (work->kind == EMU_CU_WORK_CHILD)
        return append_graph(plan, work->as.child);
    if (work->kind == EMU_CU_WORK_EMPTY)
        return CUDA_SUCCESS;
    if (plan->count == plan->room) {
        size_t room = plan->room ? 2 * plan->room : 16;

        moved = realloc(plan->works, room * sizeof *moved);
        if (!moved)
            return CUDA_ERROR_OUT_OF_MEMORY;
        plan->works = moved;
        plan->room = room;
    }
    result = emu_cu_work_copy(&plan->works[plan->count], work);
    if (!result)
        plan->count++;
    return result;
}

static bool is_ready(const struct emu_cu_graph *graph, const bool *done, size_t i)
{
    for (size_t j = 0; j < graph->nodes[i]->need_count; j++)
        if (!done[graph->nodes[i]->needs[j]->index])
            return false;
    return true;
}

/* In the order of their making as far as what they need allows; a cycle has no order. */
static CUresult append_graph(struct plan *plan, const struct emu_cu_graph *graph)
{
    bool *done = calloc(graph->count + 1, sizeof *done), moved = true;
    CUresult result = done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    size_t left = graph->count;

    while (!result && left > 0 && moved) {
        moved = false;
        for (size_t i = 0; !result && i < graph->count; i++) {
            if (done[i] || !is_ready(graph, done, i))
                continue;
            result = append_work(plan, &graph->nodes[i]->work);
            done[i] = moved = true;
            left--;
        }
    }
    free(done);
    return !result && left > 0 ? CUDA_ERROR_INVALID_VALUE : result;
}

/* ---- Executable graphs ---- */

void emu_cu_release_exec(struct emu_cu_exec *exec)
{
    drop_plan(exec->plan);
}

CUresult emu_cu_graph_instantiate(CUgraphExec *handle, CUgraph graph_handle,
                                  unsigned long long flags)
{
    enum { FLAGS = 15 };
    const struct emu_cu_graph *graph = emu_cu_find(EMU_CU_GRAPH, graph_handle);
    struct emu_cu_exec *exec;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (!handle || !graph || flags > FLAGS)
        return CUDA_ERROR_INVALID_VALUE;
    exec = emu_cu_create(EMU_CU_EXEC, sizeof *exec, NULL);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->plan = calloc(1, sizeof *exec->plan);
    if (exec->plan) {
        exec->plan->references = 1;
        result = append_graph(exec->plan, graph);
    }
    if (result) {
        emu_cu_destroy(exec);
        return result;
    }
    *handle = exec->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_instantiate_with(CUgraphExec *exec, CUgraph graph,
                                       CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    CUresult result;

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_graph_instantiate(exec, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = result ? 1 : 0;
    return result;
}

CUresult emu_cu_graph_exec_destroy(CUgraphExec handle)
{
    struct emu_cu_exec *exec = emu_cu_find(EMU_CU_EXEC, handle);

    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    emu_cu_destroy(exec);
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_upload(CUgraphExec exec, CUstream handle)
{
    struct emu_cu_stream *stream;

    if (!emu_cu_find(EMU_CU_EXEC, exec))
        return CUDA_ERROR_INVALID_VALUE;
    return emu_cu_stream_for_work(&stream, handle);
}

/* Memory that is gone since the graph was made is an illegal address of the device. */
static CUresult run_plan(const struct plan *plan)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; !result && i < plan->count; i++) {
        const struct emu_cu_work *work = &plan->works[i];

        result = emu_cu_work_check(work);
        if (result == CUDA_ERROR_INVALID_VALUE)
            result = emu_cu_fail(emu_cu_context_of(work->context),
                                 emu_cu_report(CUDA_ERROR_ILLEGAL_ADDRESS,
                                               "a graph copies or fills memory that is gone"));
        if (!result)
            result = emu_cu_work_do(work);
    }
    return result;
}

/* A launch does not become a child of what is captured: a driver 580 on an H200 refuses it. */
static CUresult refuse_captured(struct emu_cu_capture *capture)
{
    emu_cu_capture_invalidate(capture);
    return emu_cu_report(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                         "a graph cannot be launched into a stream that is captured; add it with "
                         "cuGraphAddChildGraphNode");
}

CUresult emu_cu_graph_launch(CUgraphExec handle, CUstream stream_handle)
{
    const struct emu_cu_exec *exec = emu_cu_find(EMU_CU_EXEC, handle);
    struct emu_cu_stream *stream;
    struct plan *plan;
    CUresult result;

    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_stream_for_work(&stream, stream_handle);
    if (result)
        return result;
    if (stream->capture)
        return refuse_captured(stream->capture);
    plan = exec->plan;
    plan->references++;
    result = run_plan(plan);
    drop_plan(plan);
    return result;
}
