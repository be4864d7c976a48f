/* driver_state.c: the mutex, the table of objects, the calling thread, the words of the last error.
 */
#include "emulator/driver_state.h"
#include "emulator/driver_work.h"
#include "emulator/emulator.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A driver is of its process: there is no handle that its first call could be given. So this state
 * and the thread's below are the emulator's only ones. */
struct emu_cu_driver emu_cu_driver;

enum { THREADS_MAX = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct emu_cu_thread thread;
static char report[EMU_REPORT_SIZE];
static _Thread_local char report_copy[sizeof report];

/* ---- Objects ---- */

/* A handle is (uses << 24 | place) << 8, and so never one of the small numbers that mean a default
 * stream, nor null: the first use of a place has the number 1. */
enum { PLACE_BITS = 24, HANDLE_SHIFT = 8 };

struct place {
    struct emu_cu_object *object;
    uint64_t uses;
};

static struct place *places;
static size_t place_count, place_room, first_free;

static bool make_place(size_t *at)
{
    size_t room = place_room ? 2 * place_room : 256;
    struct place *moved;

    for (*at = first_free; *at < place_count; ++*at)
        if (!places[*at].object)
            break;
    if (*at == place_count && place_count == place_room) {
        if (place_count >> PLACE_BITS)
            return false;
        moved = realloc(places, room * sizeof *moved);
        if (!moved)
            return false;
        places = moved;
        place_room = room;
    }
    if (*at == place_count)
        places[place_count++] = (struct place){0};
    first_free = *at + 1;
    return true;
}

void *emu_cu_create(enum emu_cu_kind kind, size_t bytes, struct emu_cu_context *context)
{
    struct emu_cu_object *object = calloc(1, bytes);
    size_t at;

    if (!object)
        return NULL;
    if (!make_place(&at)) {
        free(object);
        return NULL;
    }
    places[at].object = object;
    places[at].uses++;
    object->kind = kind;
    object->context = context;
    object->handle = (void *)(uintptr_t)((places[at].uses << PLACE_BITS | at) << HANDLE_SHIFT);
    return object;
}

static size_t place_of(const void *handle)
{
    return ((uintptr_t)handle >> HANDLE_SHIFT) & (((size_t)1 << PLACE_BITS) - 1);
}

void *emu_cu_find(enum emu_cu_kind kind, const void *handle)
{
    size_t at = place_of(handle);
    struct emu_cu_object *object = at < place_count ? places[at].object : NULL;

    return object && object->kind == kind && object->handle == handle ? object : NULL;
}

static void release(struct emu_cu_object *object)
{
    void *made = object;

    switch (object->kind) {
    case EMU_CU_CONTEXT:
        break; /* driver_context.c emptied it */
    case EMU_CU_MODULE:
        emu_cu_release_module(made);
        break;
    case EMU_CU_FUNCTION:
        emu_cu_release_function(made);
        break;
    case EMU_CU_LIBRARY:
        emu_cu_release_library(made);
        break;
    case EMU_CU_KERNEL:
        emu_cu_release_kernel(made);
        break;
    case EMU_CU_LINK:
        emu_cu_release_link(made);
        break;
    case EMU_CU_STREAM:
        emu_cu_release_stream(made);
        break;
    case EMU_CU_EVENT:
        emu_cu_release_event(made);
        break;
    case EMU_CU_GRAPH:
        emu_cu_release_graph(made);
        break;
    case EMU_CU_NODE:
        emu_cu_release_node(made);
        break;
    case EMU_CU_EXEC:
        emu_cu_release_exec(made);
        break;
    }
}

void emu_cu_destroy(void *made)
{
    struct emu_cu_object *object = made;
    size_t at;

    if (!object)
        return;
    /* The place first: what is released does not find its owner any more. */
    at = place_of(object->handle);
    places[at].object = NULL;
    if (at < first_free)
        first_free = at;
    release(object);
    free(object);
}

void *emu_cu_next(enum emu_cu_kind kind, const struct emu_cu_context *context, size_t *at)
{
    while (*at < place_count) {
        struct emu_cu_object *object = places[(*at)++].object;

        if (object && object->kind == kind && (!context || object->context == context))
            return object;
    }
    return NULL;
}

/* ---- The calling thread ---- */

struct emu_cu_thread *emu_cu_thread(void)
{
    return &thread;
}

struct emu_cu_context *emu_cu_context_of(CUcontext handle)
{
    return emu_cu_find(EMU_CU_CONTEXT, handle);
}

struct emu_cu_context *emu_cu_current_if_any(void)
{
    struct emu_cu_context *context =
        thread.depth > 0 ? emu_cu_find(EMU_CU_CONTEXT, thread.contexts[thread.depth - 1]) : NULL;

    return context && context->active ? context : NULL;
}

struct emu_cu_context *emu_cu_current(void)
{
    return emu_cu_current_if_any();
}

struct emu_cu_gpu *emu_cu_gpu_of(CUdevice device)
{
    return device >= 0 && device < emu_cu_driver.gpu_count ? &emu_cu_driver.gpus[device] : NULL;
}

/* ---- Calls ---- */

static CUresult check_needs(enum emu_cu_needs needs)
{
    const struct emu_cu_context *context;

    if (needs == EMU_NEEDS_NOTHING)
        return CUDA_SUCCESS;
    if (thread.in_callback)
        return CUDA_ERROR_NOT_PERMITTED;
    if (!emu_cu_driver.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (needs == EMU_NEEDS_INIT)
        return CUDA_SUCCESS;
    context = emu_cu_current_if_any();
    if (!context)
        return thread.depth > 0 && thread.contexts[thread.depth - 1]
                   ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                   : CUDA_ERROR_INVALID_CONTEXT;
    if (needs == EMU_NEEDS_CONTEXT)
        return CUDA_SUCCESS;
    if (context->failed)
        return emu_cu_report(context->failed, "%s", context->failure);
    return needs == EMU_NEEDS_WAITS ? emu_cu_capture_forbids() : CUDA_SUCCESS;
}

CUresult emu_cu_enter(enum emu_cu_needs needs, bool default_is_own)
{
    pthread_mutex_lock(&mutex);
    if (!thread.id)
        thread.id = ++emu_cu_driver.next_id;
    thread.default_is_own = default_is_own;
    thread.reported = false;
    return check_needs(needs);
}

CUresult emu_cu_leave(CUresult result, const char *symbol)
{
    if (result && !thread.reported)
        emu_cu_report(result, "%s: %s", symbol, emu_cu_error_words(result));
    pthread_mutex_unlock(&mutex);
    return result;
}

void emu_cu_enter_callback(void)
{
    thread.in_callback = true;
    pthread_mutex_unlock(&mutex);
}

void emu_cu_leave_callback(void)
{
    pthread_mutex_lock(&mutex);
    thread.in_callback = false;
}

/* ---- The emulator's own calls ---- */

CUresult emu_cu_report(CUresult result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(report, sizeof report, format, arguments);
    va_end(arguments);
    thread.reported = true;
    return result;
}

CUresult emu_cu_fail(struct emu_cu_context *context, CUresult result)
{
    context->failed = result;
    memcpy(context->failure, report, sizeof report);
    return result;
}

void emu_cu_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void emu_cu_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) const char *emu_last_report(void)
{
    pthread_mutex_lock(&mutex);
    memcpy(report_copy, report, sizeof report);
    pthread_mutex_unlock(&mutex);
    return report_copy;
}

__attribute__((visibility("default"))) void emu_set_seed(uint64_t seed)
{
    pthread_mutex_lock(&mutex);
    emu_cu_driver.seed = seed;
    for (int i = 0; i < emu_cu_driver.gpu_count; i++)
        if (emu_cu_driver.gpus[i].machine)
            emu_device_set_seed(emu_cu_driver.gpus[i].machine, seed);
    pthread_mutex_unlock(&mutex);
}

uint32_t emu_cu_threads(void)
{
    return emu_cu_driver.threads ? emu_cu_driver.threads : emu_cu_driver.threads_of_environment;
}

__attribute__((visibility("default"))) void emu_set_threads(unsigned threads)
{
    pthread_mutex_lock(&mutex);
    emu_cu_driver.threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    for (int i = 0; i < emu_cu_driver.gpu_count; i++)
        if (emu_cu_driver.gpus[i].machine)
            emu_device_set_threads(emu_cu_driver.gpus[i].machine, emu_cu_threads());
    pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) void emu_set_exact(int exact)
{
    pthread_mutex_lock(&mutex);
    emu_cu_driver.exact = exact != 0;
    pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) void emu_set_limits(uint64_t memory_bytes, uint64_t steps,
                                                           uint32_t depth)
{
    pthread_mutex_lock(&mutex);
    emu_cu_driver.limits = (struct emu_limits){memory_bytes, steps, depth};
    pthread_mutex_unlock(&mutex);
}
