/* emulate.c: lathe_emulate(): launches of anyone's text on the emulator, one a schedule. Buffers,
 * arguments, the launch itself; how the text gets there is in emulated_text.c. */
#include "include/lathe_tools.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "runtime/emulated_text.h"
#include "runtime/findings.h"
#include "runtime/tensormap.h"
#include "runtime/trace.h"

#include <stdio.h>
#include <string.h>

enum { PORTABLE_CLUSTER = 8, NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14, SCHEDULES_MOST = 1000000 };

struct emulate {
    struct lathe_emulation options;
    struct lathe_emulation_report report;
    struct lt_emulated_text text;
    struct lt_tracer tracer;
    const struct lathe_allocator *allocator;
    uint64_t *addresses; /* of the buffers; 0: none yet */
    /* What each parameter is copied from; tensor maps stand at multiples of 64 bytes. */
    struct lt_cu_tensor_map *storage;
    void *block; /* that the storage lies in */
    void **params;
    /* What the first schedule left in the buffers, where others follow, which begin with what that
     * began with; null of a schedule that is alone, and before. */
    void **answers;
    uint64_t answers_seed;
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
    int result = driver_of(e)->cuTensorMapEncodeTiled(
        &e->storage[index], (int)map->type, (uint32_t)map->rank,
        (void *)(uintptr_t)e->addresses[a->buffer], map->dims, map->strides, map->box, ones, 0,
        lt_tensor_map_swizzle(map->swizzle_bytes), 0, 0);

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

static enum lathe_status read_buffer(const struct emulate *e, int index, void *to,
                                     struct lathe_error *err)
{
    return lt_emulated_check(
        &e->text,
        driver_of(e)->cuMemcpyDtoH(to, e->addresses[index], e->options.buffers[index].bytes),
        "cuMemcpyDtoH", err);
}

static enum lathe_status read_buffers(const struct emulate *e, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < e->options.buffer_count && status == LATHE_OK; i++)
        status = read_buffer(e, i, e->options.buffers[i].data, err);
    return status;
}

/* ---- Answers of many schedules ---- */

static enum lathe_status note_difference(const struct emulate *e, int index, size_t at,
                                         struct lathe_error *err)
{
    struct lathe_check_finding finding =
        lt_finding_of("answer-changes", e->report.entry, e->options.seed);

    snprintf(finding.object, sizeof finding.object, "buffer %d", index);
    snprintf(finding.what, sizeof finding.what,
             "from byte %zu on it is not what the schedule of seed %llu gives", at,
             (unsigned long long)e->answers_seed);
    snprintf(finding.needed, sizeof finding.needed,
             "an order; where atomics may add in any, data whose sums are exact");
    return lt_findings_add(e->report.findings, &finding, err);
}

static enum lathe_status compare_answer(const struct emulate *e, int index,
                                        const unsigned char *answer, struct lathe_error *err)
{
    const unsigned char *first = e->answers[index];
    size_t bytes = e->options.buffers[index].bytes, at = 0;

    if (memcmp(first, answer, bytes) == 0)
        return LATHE_OK;
    while (first[at] == answer[at])
        at++;
    return note_difference(e, index, at, err);
}

static enum lathe_status take_answer(struct emulate *e, int index, struct lathe_error *err)
{
    size_t bytes = e->options.buffers[index].bytes;
    void *answer = lt_allocate(e->allocator, bytes > 0 ? bytes : 1);
    enum lathe_status status =
        answer ? read_buffer(e, index, answer, err)
               : lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a copy of %zu bytes", bytes);

    if (status == LATHE_OK && !e->answers[index]) {
        e->answers[index] = answer;
        return LATHE_OK;
    }
    if (status == LATHE_OK)
        status = compare_answer(e, index, answer, err);
    lt_release(e->allocator, answer);
    return status;
}

static enum lathe_status take_answers(struct emulate *e, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    if (e->options.schedules == 1)
        status = read_buffers(e, err);
    else if (e->report.completed == 0)
        e->answers_seed = e->options.seed;
    for (int i = 0; e->answers && i < e->options.buffer_count && status == LATHE_OK; i++)
        status = take_answer(e, i, err);
    e->report.completed += status == LATHE_OK;
    return status;
}

static enum lathe_status make_answers(struct emulate *e, struct lathe_error *err)
{
    size_t bytes = ((size_t)e->options.buffer_count + 1) * sizeof *e->answers;

    if (e->options.schedules == 1)
        return LATHE_OK;
    e->answers = lt_allocate(e->allocator, bytes);
    if (!e->answers)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %d answers",
                       e->options.buffer_count);
    memset(e->answers, 0, bytes);
    return LATHE_OK;
}

static void hand_answers_over(struct emulate *e)
{
    for (int i = 0; e->answers && i < e->options.buffer_count; i++) {
        if (e->report.completed > 0)
            memcpy(e->options.buffers[i].data, e->answers[i], e->options.buffers[i].bytes);
        lt_release(e->allocator, e->answers[i]);
    }
    lt_release(e->allocator, e->answers);
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
    e->report.time_ms += (lt_now_us() - start) / 1e3;
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
    if (status == LATHE_OK && e->options.trace)
        status =
            lt_trace_begin(&e->tracer, &e->text.calls, e->allocator, e->options.trace, false, err);
    if (status == LATHE_OK)
        status = launch(e, err);
    if (status == LATHE_OK)
        status = take_answers(e, err);
    return status == LATHE_OK && e->options.trace ? lt_trace_read(&e->tracer, &e->report.trace, err)
                                                  : status;
}

/* What ended the launch is among the findings, or it is an error as without a check. */
static enum lathe_status judge(struct emulate *e, enum lathe_status ran, struct lathe_error *err)
{
    size_t errors = 0;
    enum lathe_status status =
        lt_findings_take(e->report.findings, &e->text.calls, e->options.seed, &errors, err);

    if (status != LATHE_OK)
        return status;
    return ran == LATHE_DRIVER_FAILED && errors > 0 ? LATHE_OK : ran;
}

static enum lathe_status run_schedule(struct emulate *e, struct lathe_context *context,
                                      struct lathe_error *err)
{
    enum lathe_status status = run(e, context, err);

    if (e->text.checks)
        status = judge(e, status, err);
    e->report.runs++;
    lt_trace_end(&e->tracer);
    lt_emulated_text_close(&e->text); /* and with it the buffers on the device */
    lt_release(e->allocator, e->addresses);
    lt_release(e->allocator, e->params);
    lt_release(e->allocator, e->block);
    e->addresses = NULL;
    e->params = NULL;
    e->block = NULL;
    return status;
}

static enum lathe_status run_schedules(struct emulate *e, struct lathe_context *context,
                                       struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;
    int count = e->options.schedules;

    for (int i = 0; i < count && status == LATHE_OK; i++) {
        e->text = (struct lt_emulated_text){.report = &e->report};
        status = run_schedule(e, context, err);
        if (status == LATHE_OK && e->options.progress)
            e->options.progress(e->options.progress_user, e->report.runs, count);
        if (e->options.check == LATHE_CHECK_FIRST && lathe_findings_errors(e->report.findings) > 0)
            break;
        e->options.seed++;
    }
    return status;
}

/* ---- All of it ---- */

static enum lathe_status check_options(struct emulate *e, struct lathe_error *err)
{
    struct lathe_emulation *o = &e->options;

    if (o->check < LATHE_CHECK_OFF || o->check > LATHE_CHECK_ALL)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "check: %d is no enum lathe_check", (int)o->check);
    if (o->schedules < 0 || o->schedules > SCHEDULES_MOST)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "schedules=%d: must be from 0 (for one) to %d",
                       o->schedules, SCHEDULES_MOST);
    if (o->schedules > 1 && o->check == LATHE_CHECK_OFF)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "schedules=%d: more than one need a check",
                       o->schedules);
    if (o->schedules > 1 && o->trace)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "schedules=%d: a trace is of one", o->schedules);
    if (o->schedules == 0)
        o->schedules = 1;
    return LATHE_OK;
}

static enum lathe_status emulate(struct emulate *e, struct lathe_context *context,
                                 struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    e->allocator = lt_context_allocator(context);
    if (e->options.check != LATHE_CHECK_OFF)
        status = lt_findings_create(&e->report.findings, e->allocator, err);
    if (status == LATHE_OK)
        status = make_answers(e, err);
    if (status == LATHE_OK)
        status = run_schedules(e, context, err);
    hand_answers_over(e);
    if (status == LATHE_OK)
        return status;
    lathe_findings_destroy(&e->report.findings);
    lathe_trace_free(e->report.trace);
    e->report.trace = NULL;
    return status;
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
    if (status == LATHE_OK)
        status = check_options(&e, err);
    if (status != LATHE_OK)
        return status;
    status = emulate(&e, context, err);
    lt_export(report, &e.report);
    return status;
}
