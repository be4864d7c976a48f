/* driver_graph.c: graphs: nodes of work and what each needs. */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- Graphs and nodes ---- */

struct emu_cu_graph *emu_cu_graph_make(void)
{
    return emu_cu_create(EMU_CU_GRAPH, sizeof(struct emu_cu_graph), NULL);
}

void emu_cu_release_node(struct emu_cu_node *node)
{
    emu_cu_work_release(&node->work);
    free(node->needs);
}

void emu_cu_release_graph(struct emu_cu_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        emu_cu_destroy(graph->nodes[i]);
    free(graph->nodes);
}

static bool make_node_room(struct emu_cu_graph *graph)
{
    size_t room = graph->room ? 2 * graph->room : 16;
    struct emu_cu_node **moved;

    if (graph->count < graph->room)
        return true;
    moved = realloc(graph->nodes, room * sizeof(void *));
    if (!moved)
        return false;
    graph->nodes = moved;
    graph->room = room;
    return true;
}

static bool set_needs(struct emu_cu_node *node, struct emu_cu_node *const *needs, size_t count)
{
    node->needs = malloc((count + 1) * sizeof(void *));
    if (!node->needs)
        return false;
    if (count > 0)
        memcpy(node->needs, needs, count * sizeof(void *));
    node->need_count = count;
    return true;
}

CUresult emu_cu_graph_add(struct emu_cu_node **made, struct emu_cu_graph *graph,
                          struct emu_cu_node *const *needs, size_t count, struct emu_cu_work *work)
{
    struct emu_cu_node *node =
        make_node_room(graph) ? emu_cu_create(EMU_CU_NODE, sizeof *node, NULL) : NULL;

    if (!node || !set_needs(node, needs, count)) {
        emu_cu_destroy(node);
        emu_cu_work_release(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->graph = graph;
    node->work = *work;
    node->index = graph->count;
    graph->nodes[graph->count++] = node;
    *made = node;
    return CUDA_SUCCESS;
}

/* Nodes first: an edge may lead to a node that was made later. */
CUresult emu_cu_graph_copy(struct emu_cu_graph **made, const struct emu_cu_graph *graph)
{
    struct emu_cu_graph *copy = emu_cu_graph_make();

    for (size_t i = 0; copy && i < graph->count; i++) {
        struct emu_cu_node *node;
        struct emu_cu_work work;

        if (emu_cu_work_copy(&work, &graph->nodes[i]->work) ||
            emu_cu_graph_add(&node, copy, graph->nodes[i]->needs, graph->nodes[i]->need_count,
                             &work)) {
            emu_cu_destroy(copy);
            copy = NULL;
        }
    }
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < copy->count; i++)
        for (size_t j = 0; j < copy->nodes[i]->need_count; j++)
            copy->nodes[i]->needs[j] = copy->nodes[graph->nodes[i]->needs[j]->index];
    *made = copy;
    return CUDA_SUCCESS;
}

/* Every node once, whatever the number of ways to it. A capture's nodes need earlier ones alone, so
 * one pass backwards marks all that `from` needs. */
bool emu_cu_graph_reaches(struct emu_cu_node *const *from, size_t count,
                          const struct emu_cu_node *node)
{
    const struct emu_cu_graph *graph = node->graph;
    bool *needed = calloc(graph->count, sizeof *needed), reached;

    if (!needed)
        return false;
    for (size_t i = 0; i < count; i++)
        needed[from[i]->index] = true;
    for (size_t i = graph->count; i-- > 0;)
        for (size_t j = 0; needed[i] && j < graph->nodes[i]->need_count; j++)
            needed[graph->nodes[i]->needs[j]->index] = true;
    reached = needed[node->index];
    free(needed);
    return reached;
}

static struct emu_cu_graph *graph_find(CUgraph handle)
{
    return emu_cu_find(EMU_CU_GRAPH, handle);
}

CUresult emu_cu_graph_create(CUgraph *handle, unsigned flags)
{
    struct emu_cu_graph *graph;

    if (!handle || flags)
        return CUDA_ERROR_INVALID_VALUE;
    graph = emu_cu_graph_make();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = graph->object.handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_destroy(CUgraph handle)
{
    struct emu_cu_graph *graph = graph_find(handle);

    if (!graph || graph->is_owned)
        return CUDA_ERROR_INVALID_VALUE;
    emu_cu_destroy(graph);
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_clone(CUgraph *handle, CUgraph original)
{
    const struct emu_cu_graph *graph = graph_find(original);
    struct emu_cu_graph *copy;
    CUresult result;

    if (!handle || !graph)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_graph_copy(&copy, graph);
    if (!result)
        *handle = copy->object.handle;
    return result;
}

/* ---- Nodes that a program makes ---- */

/* Takes the work. */
static CUresult add_node(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *dependencies,
                         size_t count, struct emu_cu_work *work)
{
    struct emu_cu_graph *graph = graph_find(graph_handle);
    struct emu_cu_node **needs = NULL, *node = NULL;
    CUresult result = CUDA_SUCCESS;

    if (!handle || !graph || (count > 0 && !dependencies))
        result = CUDA_ERROR_INVALID_VALUE;
    if (!result) {
        needs = calloc(count + 1, sizeof(void *));
        result = needs ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; !result && i < count; i++) {
        needs[i] = emu_cu_find(EMU_CU_NODE, dependencies[i]);
        if (!needs[i] || needs[i]->graph != graph)
            result = CUDA_ERROR_INVALID_VALUE;
        for (size_t j = 0; !result && j < i; j++)
            if (needs[j] == needs[i])
                result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result)
        emu_cu_work_release(work);
    else
        result = emu_cu_graph_add(&node, graph, needs, count, work);
    free(needs);
    if (!result)
        *handle = node->object.handle;
    return result;
}

CUresult emu_cu_graph_add_kernel(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *params)
{
    CUlaunchConfig config;
    struct emu_cu_work work;
    CUresult result;

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    config = (CUlaunchConfig){params->gridDimX,
                              params->gridDimY,
                              params->gridDimZ,
                              params->blockDimX,
                              params->blockDimY,
                              params->blockDimZ,
                              params->sharedMemBytes,
                              NULL,
                              NULL,
                              0};
    result = emu_cu_kernel_work(&work, &config,
                                params->func ? params->func : (CUfunction)(void *)params->kern,
                                params->kernelParams, params->extra);
    return result ? result : add_node(node, graph, dependencies, count, &work);
}

static CUresult context_named(struct emu_cu_work *work, CUcontext handle)
{
    const struct emu_cu_context *context = emu_cu_context_of(handle);

    if (!context || !context->active)
        return CUDA_ERROR_INVALID_CONTEXT;
    work->context = handle;
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_add_copy(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, const CUDA_MEMCPY3D *copy, CUcontext context)
{
    struct emu_cu_work work;
    CUresult result = emu_cu_copy_work(&work, copy);

    if (!result)
        result = context_named(&work, context);
    if (!result)
        result = emu_cu_work_check(&work);
    return result ? result : add_node(node, graph, dependencies, count, &work);
}

CUresult emu_cu_graph_add_fill(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_FILL};
    CUresult result;

    if (!fill)
        return CUDA_ERROR_INVALID_VALUE;
    work.as.fill = (struct emu_cu_fill_work){.to = fill->dst,
                                             .pitch = fill->pitch,
                                             .width = fill->width,
                                             .height = fill->height,
                                             .value = fill->value,
                                             .element_bytes = fill->elementSize};
    result = context_named(&work, context);
    if (!result)
        result = emu_cu_work_check(&work);
    return result ? result : add_node(node, graph, dependencies, count, &work);
}

CUresult emu_cu_graph_add_host(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, const CUDA_HOST_NODE_PARAMS *params)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_HOST,
                               .context = emu_cu_current()->object.handle};

    if (!params || !params->fn)
        return CUDA_ERROR_INVALID_VALUE;
    work.as.host = (struct emu_cu_host_work){.function = params->fn, .user = params->userData};
    return add_node(node, graph, dependencies, count, &work);
}

CUresult emu_cu_graph_add_empty(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count)
{
    struct emu_cu_work work = {.kind = EMU_CU_WORK_EMPTY};

    return add_node(node, graph, dependencies, count, &work);
}

CUresult emu_cu_graph_add_child(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUgraph child_handle)
{
    const struct emu_cu_graph *child = graph_find(child_handle);
    struct emu_cu_work work = {.kind = EMU_CU_WORK_CHILD};
    CUresult result;

    if (!child)
        return CUDA_ERROR_INVALID_VALUE;
    result = emu_cu_graph_copy(&work.as.child, child);
    if (result)
        return result;
    work.as.child->is_owned = true;
    return add_node(node, graph, dependencies, count, &work);
}

/* ---- Edges ---- */

CUresult emu_cu_graph_depend(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                             size_t count)
{
    const struct emu_cu_graph *graph = graph_find(handle);

    if (!graph || (count > 0 && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        struct emu_cu_node *before = emu_cu_find(EMU_CU_NODE, from[i]);
        struct emu_cu_node *after = emu_cu_find(EMU_CU_NODE, to[i]);
        struct emu_cu_node **moved;

        if (!before || !after || before == after || before->graph != graph || after->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
        for (size_t j = 0; j < after->need_count; j++)
            if (after->needs[j] == before)
                return CUDA_ERROR_INVALID_VALUE;
        moved = realloc(after->needs, (after->need_count + 1) * sizeof(void *));
        if (!moved)
            return CUDA_ERROR_OUT_OF_MEMORY;
        after->needs = moved;
        after->needs[after->need_count++] = before;
    }
    return CUDA_SUCCESS;
}

/* Kinds of edges tell how early the next kernel may begin; here it begins after the one before. */
CUresult emu_cu_graph_depend_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t count)
{
    (void)edges;
    return emu_cu_graph_depend(graph, from, to, count);
}

/* ---- Questions ---- */

/* Fills a list of `*count` places, or tells how many it needs. */
struct listing {
    void **list;
    size_t room, count;
};

static void put(struct listing *listing, void *handle)
{
    if (listing->list && listing->count < listing->room)
        listing->list[listing->count] = handle;
    listing->count++;
}

static void end_listing(const struct listing *listing, size_t *count)
{
    for (size_t i = listing->count; listing->list && i < listing->room; i++)
        listing->list[i] = NULL;
    if (!listing->list || listing->count < *count)
        *count = listing->count;
}

static CUresult list_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool only_roots)
{
    const struct emu_cu_graph *graph = graph_find(handle);
    struct listing listing = {(void **)nodes, count ? *count : 0, 0};

    if (!graph || !count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count; i++)
        if (!only_roots || graph->nodes[i]->need_count == 0)
            put(&listing, graph->nodes[i]->object.handle);
    end_listing(&listing, count);
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, false);
}

CUresult emu_cu_graph_roots(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, true);
}

CUresult emu_cu_graph_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    const struct emu_cu_graph *graph = graph_find(handle);
    struct listing starts = {(void **)from, count ? *count : 0, 0};
    struct listing ends = {(void **)to, count ? *count : 0, 0};
    size_t ignored;

    if (!graph || !count || !from != !to)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->nodes[i]->need_count; j++) {
            put(&starts, graph->nodes[i]->needs[j]->object.handle);
            put(&ends, graph->nodes[i]->object.handle);
        }
    ignored = *count;
    end_listing(&starts, &ignored);
    end_listing(&ends, count);
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_edges_data(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                 CUgraphEdgeData *edges, size_t *count)
{
    CUresult result = emu_cu_graph_edges(graph, from, to, count);

    if (!result && edges && from)
        memset(edges, 0, *count * sizeof *edges);
    return result;
}

CUresult emu_cu_graph_node_type(CUgraphNode handle, CUgraphNodeType *type)
{
    static const CUgraphNodeType types[] = {
        [EMU_CU_WORK_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY,
        [EMU_CU_WORK_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL,
        [EMU_CU_WORK_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
        [EMU_CU_WORK_FILL] = CU_GRAPH_NODE_TYPE_MEMSET,
        [EMU_CU_WORK_HOST] = CU_GRAPH_NODE_TYPE_HOST,
        [EMU_CU_WORK_CHILD] = CU_GRAPH_NODE_TYPE_GRAPH,
    };
    const struct emu_cu_node *node = emu_cu_find(EMU_CU_NODE, handle);

    if (!node || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = types[node->work.kind];
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_node_dependencies(CUgraphNode handle, CUgraphNode *dependencies,
                                        size_t *count)
{
    const struct emu_cu_node *node = emu_cu_find(EMU_CU_NODE, handle);
    struct listing listing = {(void **)dependencies, count ? *count : 0, 0};

    if (!node || !count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < node->need_count; i++)
        put(&listing, node->needs[i]->object.handle);
    end_listing(&listing, count);
    return CUDA_SUCCESS;
}

CUresult emu_cu_graph_node_dependencies_edges(CUgraphNode node, CUgraphNode *dependencies,
                                              CUgraphEdgeData *edges, size_t *count)
{
    CUresult result = emu_cu_graph_node_dependencies(node, dependencies, count);

    if (!result && edges && dependencies)
        memset(edges, 0, *count * sizeof *edges);
    return result;
}
