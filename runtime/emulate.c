/* emulate.c: lathe_emulate(): one launch of anyone's text on the emulator. Buffers, arguments, the
 * launch itself; how the text gets there is in emulated_text.c. */
#include "include/lathe_tools.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "runtime/emulated_text.h"

#include <stdio.h>
#include <string.h>

enum { PORTABLE_CLUSTER = 8, NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14 };

struct emulate {
    struct lathe_emulation options;
    struct lathe_emulation_report report;
    struct lt_emulated_text text;
    const struct lathe_allocator *allocator;
    uint64_t *addresses; /* of the buffers; 0: none yet */
    /* What each parameter is copied from; tensor maps stand at multiples of 64 bytes. */
    struct lt_cu_tensor_map *storage;
    void *block; /* that the storage lies in */
    void **params;
};

static const struct lt_driver *driver_of(const struct emulate *e)
{
    return &e->text.device.driver;
}

/* ---- Arguments ---- */

static enum lathe_status check_index(const struct emulate *e, int index, struct lathe_error *err)
{
    const struct lathe_argument *a = &e->options.arguments[index];
    const struct lathe_emulation *o = &e->options;

    if (a->kind == LATHE_ARGUMENT_VALUE)
        return LATHE_OK;
    if (a->buffer < 0 || a->buffer >= o->buffer_count)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "argument %d: there is no buffer %d; there %s %d",
                       index, a->buffer, o->buffer_count == 1 ? "is" : "are", o->buffer_count);
    if (a->kind == LATHE_ARGUMENT_POINTER && a->offset > o->buffers[a->buffer].bytes)
        return lt_fail(err, LATHE_OUT_OF_RANGE,
                       "argument %d: offset %llu is outside of buffer %d, "
                       "which has %zu bytes",
                       index, (unsigned long long)a->offset, a->buffer,
                       o->buffers[a->buffer].bytes);
    return LATHE_OK;
}

static size_t bytes_of(const struct lathe_argument *a)
{
    switch (a->kind) {
    case LATHE_ARGUMENT_VALUE:
        return a->bytes;
    case LATHE_ARGUMENT_POINTER:
        return sizeof(uint64_t);
    case LATHE_ARGUMENT_MAP:
        return sizeof(struct lt_cu_tensor_map);
    }
    return 0;
}

/* A parameter too many or too few, or of another size, would be read as something else. */
static enum lathe_status check_arguments(const struct emulate *e, struct lathe_error *err)
{
    const struct lathe_emulation *o = &e->options;
    size_t offset, bytes;
    int count = 0;

    while (e->text.calls.param(e->text.function, (size_t)count, &offset, &bytes) == LT_CUDA_SUCCESS)
        count++;
    if (count != o->argument_count)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "%.200s takes %d argument%s, and %d %s given",
                       e->report.entry, count, count == 1 ? "" : "s", o->argument_count,
                       o->argument_count == 1 ? "is" : "are");
    for (int i = 0; i < count; i++) {
        size_t given = bytes_of(&o->arguments[i]);
        enum lathe_status status = check_index(e, i, err);

        if (status != LATHE_OK)
            return status;
        e->text.calls.param(e->text.function, (size_t)i, &offset, &bytes);
        if (bytes != given)
            return lt_fail(err, LATHE_OUT_OF_RANGE,
                           "argument %d of %.200s has %zu bytes, and %zu "
                           "are given",
                           i, e->report.entry, bytes, given);
    }
    return LATHE_OK;
}

static enum lathe_status encode(const struct emulate *e, int index, struct lathe_error *err)
{
    const struct lathe_argument *a = &e->options.arguments[index];
    const struct lathe_emulated_map *map = &a->map;
    static const uint32_t ones[LATHE_RANK_MAX] = {1, 1, 1, 1, 1};
    int swizzle = map->swizzle_bytes == 32    ? 1
                  : map->swizzle_bytes == 64  ? 2
                  : map->swizzle_bytes == 128 ? LT_TENSOR_MAP_SWIZZLE_128B
                                              : 0;
    int result = driver_of(e)->cuTensorMapEncodeTiled(
        &e->storage[index], (int)map->type, (uint32_t)map->rank,
        (void *)(uintptr_t)e->addresses[a->buffer], map->dims, map->strides, map->box, ones, 0,
        swizzle, 0, 0);

    if (result == LT_CUDA_SUCCESS)
        return LATHE_OK;
    return lt_fail(err, LATHE_OUT_OF_RANGE,
                   "argument %d: no tensor map can be so: strides are multiples of 16 bytes, a box "
                   "has at most 256 elements along each dimension, its rows multiples of 16 bytes "
                   "and no more than the swizzle",
                   index);
}

static enum lathe_status fill_params(struct emulate *e, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < e->options.argument_count && status == LATHE_OK; i++) {
        const struct lathe_argument *a = &e->options.arguments[i];

        e->params[i] = &e->storage[i];
        switch (a->kind) {
        case LATHE_ARGUMENT_VALUE:
            e->params[i] = (void *)(uintptr_t)a->value;
            break;
        case LATHE_ARGUMENT_POINTER:
            e->storage[i].opaque[0] = e->addresses[a->buffer] + a->offset;
            break;
        case LATHE_ARGUMENT_MAP:
            status = encode(e, i, err);
            break;
        }
    }
    return status;
}

/* ---- Buffers ---- */

static enum lathe_status allocate_host(struct emulate *e, struct lathe_error *err)
{
    size_t buffers = (size_t)e->options.buffer_count + 1;
    size_t arguments = (size_t)e->options.argument_count + 1;
    unsigned char *block = lt_allocate(e->allocator, (arguments + 1) * sizeof *e->storage);

    e->addresses = lt_allocate(e->allocator, buffers * sizeof *e->addresses);
    e->params = lt_allocate(e->allocator, arguments * sizeof *e->params);
    e->block = block;
    if (!block || !e->addresses || !e->params)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d arguments",
                       e->options.argument_count);
    memset(e->addresses, 0, buffers * sizeof *e->addresses);
    e->storage = (void *)(block + (64 - (uintptr_t)block % 64) % 64);
    return LATHE_OK;
}

static enum lathe_status write_buffers(struct emulate *e, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < e->options.buffer_count && status == LATHE_OK; i++) {
        const struct lathe_emulated_buffer *b = &e->options.buffers[i];

        status = lt_emulated_check(&e->text, driver_of(e)->cuMemAlloc(&e->addresses[i], b->bytes),
                                   "cuMemAlloc", err);
        if (status == LATHE_OK)
            status = lt_emulated_check(
                &e->text, driver_of(e)->cuMemcpyHtoD(e->addresses[i], b->data, b->bytes),
                "cuMemcpyHtoD", err);
    }
    return status;
}

static enum lathe_status read_buffers(const struct emulate *e, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < e->options.buffer_count && status == LATHE_OK; i++) {
        const struct lathe_emulated_buffer *b = &e->options.buffers[i];

        status = lt_emulated_check(&e->text,
                                   driver_of(e)->cuMemcpyDtoH(b->data, e->addresses[i], b->bytes),
                                   "cuMemcpyDtoH", err);
    }
    return status;
}

/* ---- The launch ---- */

static enum lathe_status set_attributes(const struct emulate *e, struct lathe_error *err)
{
    const struct lathe_emulation *o = &e->options;
    uint64_t cluster = (uint64_t)o->cluster[0] * o->cluster[1] * o->cluster[2];
    int result = LT_CUDA_SUCCESS;

    if (o->smem_bytes > 0)
        result = driver_of(e)->cuFuncSetAttribute(
            e->text.function, LT_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)o->smem_bytes);
    if (result == LT_CUDA_SUCCESS && cluster > PORTABLE_CLUSTER)
        result = driver_of(e)->cuFuncSetAttribute(e->text.function,
                                                  NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return lt_emulated_check(&e->text, result, "cuFuncSetAttribute", err);
}

static enum lathe_status launch(struct emulate *e, struct lathe_error *err)
{
    const struct lathe_emulation *o = &e->options;
    struct lt_cu_launch_attribute cluster = {
        .id = LT_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        .value.cluster = {o->cluster[0], o->cluster[1], o->cluster[2]},
    };
    const struct lt_cu_launch_config config = {
        .grid_x = o->grid[0],
        .grid_y = o->grid[1],
        .grid_z = o->grid[2],
        .block_x = o->block[0],
        .block_y = o->block[1],
        .block_z = o->block[2],
        .smem_bytes = o->smem_bytes,
        .attributes = &cluster,
        .attribute_count = o->cluster[0] > 0,
    };
    double start = lt_now_us();
    enum lathe_status status = lt_emulated_check(
        &e->text, driver_of(e)->cuLaunchKernelEx(&config, e->text.function, e->params, NULL),
        "cuLaunchKernelEx", err);

    if (status == LATHE_OK)
        status =
            lt_emulated_check(&e->text, driver_of(e)->cuCtxSynchronize(), "cuCtxSynchronize", err);
    e->report.time_ms = (lt_now_us() - start) / 1e3;
    return status;
}

static enum lathe_status run(struct emulate *e, struct lathe_context *context,
                             struct lathe_error *err)
{
    enum lathe_status status = lt_emulated_text_open(&e->text, context, &e->options, err);

    if (status == LATHE_OK)
        status = check_arguments(e, err);
    if (status == LATHE_OK)
        status = allocate_host(e, err);
    if (status == LATHE_OK)
        status = write_buffers(e, err);
    if (status == LATHE_OK)
        status = fill_params(e, err);
    if (status == LATHE_OK)
        status = set_attributes(e, err);
    if (status == LATHE_OK)
        status = launch(e, err);
    return status == LATHE_OK ? read_buffers(e, err) : status;
}

enum lathe_status lathe_emulate(struct lathe_context *context,
                                const struct lathe_emulation *emulation,
                                struct lathe_emulation_report *report, struct lathe_error *err)
{
    struct emulate e = {.report = LATHE_EMULATION_REPORT_INIT};
    enum lathe_status status = lt_import(&e.options, emulation, "lathe_emulation", err);

    if (status == LATHE_OK && (!context || !e.options.text || !report))
        status = lt_fail(err, LATHE_MISUSED, "lathe_emulate: no context, no text, or no report");
    if (status == LATHE_OK)
        status = lt_check_size(report, "lathe_emulation_report", err);
    if (status != LATHE_OK)
        return status;
    e.allocator = lt_context_allocator(context);
    e.text.report = &e.report;
    status = run(&e, context, err);
    for (int i = 0; e.addresses && i < e.options.buffer_count; i++)
        if (e.addresses[i])
            driver_of(&e)->cuMemFree(e.addresses[i]);
    lt_emulated_text_close(&e.text);
    lt_release(e.allocator, e.addresses);
    lt_release(e.allocator, e.params);
    lt_release(e.allocator, e.block);
    lt_export(report, &e.report);
    return status;
}
