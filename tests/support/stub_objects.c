/* stub_objects.c: what is alive on the stub's devices, by handle, and which context each thread has
 * current. */
#include "tests/support/stub_state.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_MAX = 32 };

/* Emptied, so to say, by every reset: a stack of an earlier time counts as empty. */
static _Thread_local struct {
    unsigned resets;
    int depth;
    void *contexts[STACK_MAX];
} stack;

struct stub_object *stub_create(enum stub_kind kind, struct stub_object *context)
{
    struct stub_object **objects =
        stub_grow(stub.objects, stub.object_count, &stub.object_capacity, sizeof *objects);
    struct stub_object *object;

    if (objects == NULL)
        return NULL;
    stub.objects = objects;
    object = calloc(1, sizeof *object);
    if (object == NULL)
        return NULL;
    object->kind = kind;
    object->live = true;
    object->place = stub.object_count;
    object->context = context;
    objects[stub.object_count++] = object;
    stub.live[kind]++;
    return object;
}

static void free_work(struct stub_work_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].launch);
    free(list->items);
}

void stub_destroy(struct stub_object *object)
{
    switch (object->kind) {
    case STUB_MODULE:
        stub_cubin_release(&object->as.module.cubin);
        free(object->as.module.image);
        break;
    case STUB_STREAM:
        free_work(&object->as.stream.captured);
        break;
    case STUB_GRAPH:
    case STUB_GRAPH_EXEC:
        free_work(&object->as.graph);
        break;
    case STUB_ALLOCATION:
        free(object->as.allocation.memory);
        break;
    case STUB_CONTEXT:
    case STUB_FUNCTION:
    case STUB_EVENT:
    case STUB_KIND_COUNT:
        break;
    }
    memset(&object->as, 0, sizeof object->as);
    object->live = false;
    stub.live[object->kind]--;
}

void stub_destroy_context(struct stub_object *context)
{
    for (size_t i = 0; i < stub.object_count; i++) {
        struct stub_object *object = stub.objects[i];

        if (!object->live || object->context != context)
            continue;
        stub.lost[object->kind]++;
        stub_destroy(object);
    }
    if (context->as.context.primary)
        stub.primary[context->as.context.device] = NULL;
    stub_destroy(context);
}

void *stub_handle(const struct stub_object *object)
{
    uint64_t handle = (uint64_t)(stub.resets + 1) << 32 | (uint64_t)object->place << 4;

    return (void *)(uintptr_t)handle;
}

struct stub_object *stub_find(enum stub_kind kind, const void *handle)
{
    size_t place = (size_t)((uintptr_t)handle & UINT32_MAX) >> 4;

    if (place >= stub.object_count || handle != stub_handle(stub.objects[place]) ||
        stub.objects[place]->kind != kind || !stub.objects[place]->live)
        return NULL;
    return stub.objects[place];
}

int stub_live(enum stub_kind kind)
{
    int count;

    stub_lock();
    count = stub.live[kind];
    stub_unlock();
    return count;
}

int stub_lost(enum stub_kind kind)
{
    int count;

    stub_lock();
    count = stub.lost[kind];
    stub_unlock();
    return count;
}

/* ---- The current context --------------------------------------------------------------------- */

static void renew_stack(void)
{
    if (stack.resets == stub.resets)
        return;
    stack.resets = stub.resets;
    stack.depth = 0;
}

CUresult stub_push_context(void *handle)
{
    renew_stack();
    if (stub_find(STUB_CONTEXT, handle) == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth == STACK_MAX)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack.contexts[stack.depth++] = handle;
    return CUDA_SUCCESS;
}

void *stub_pop_context(void)
{
    renew_stack();
    return stack.depth > 0 ? stack.contexts[--stack.depth] : NULL;
}

void *stub_current_handle(void)
{
    renew_stack();
    return stack.depth > 0 ? stack.contexts[stack.depth - 1] : NULL;
}

struct stub_object *stub_current(void)
{
    return stub_find(STUB_CONTEXT, stub_current_handle());
}

const void *stub_thread(void)
{
    return &stack;
}

void *stub_context_create(int device)
{
    struct stub_object *context;
    void *handle = NULL;

    stub_lock();
    if (device < 0 || device >= stub.device_count)
        stub_die("no device %d for a context", device);
    context = stub_create(STUB_CONTEXT, NULL);
    if (context != NULL) {
        context->as.context.device = device;
        handle = stub_handle(context);
    }
    stub_unlock();
    return handle;
}

void stub_context_destroy(void *context)
{
    struct stub_object *object;

    stub_lock();
    object = stub_find(STUB_CONTEXT, context);
    if (object == NULL || object->as.context.primary)
        stub_die("stub_context_destroy: not a context of stub_context_create's");
    stub_destroy_context(object);
    stub_unlock();
}
