#include "runtime/trace.h"

#include "codegen/memory.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "runtime/operands.h"
#include "runtime/stream.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

struct lathe_trace {
    const struct lathe_allocator *allocator;
    struct lathe_trace_total total;
    struct lathe_trace_event *events;
    size_t count;
    char *words; /* that events point to, one behind the other */
    size_t word_bytes;
};

/* ---- The emulator's side ---- */

enum lathe_status lt_trace_begin(struct lt_tracer *tracer, const struct lt_emulator_calls *calls,
                                 const struct lathe_allocator *allocator,
                                 const struct lathe_trace_options *options, bool skip_products,
                                 struct lathe_error *err)
{
    struct lathe_trace_options own = LATHE_TRACE_OPTIONS_INIT;
    enum lathe_status status = lt_import(&own, options, "lathe_trace_options", err);
    const struct lt_emu_trace_options given = {own.first_cluster, own.clusters, own.events,
                                               skip_products};

    if (status != LATHE_OK)
        return status;
    if (!calls->set_trace(1, &given))
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a trace");
    *tracer = (struct lt_tracer){.allocator = allocator, .calls = calls};
    return LATHE_OK;
}

void lt_trace_end(struct lt_tracer *tracer)
{
    if (tracer->calls)
        tracer->calls->set_trace(0, NULL);
    tracer->calls = NULL;
}

/* ---- What was told ---- */

/* The words that a trace has: each once, with its end, of which there are few. */
static size_t find_word(const struct lathe_trace *trace, const char *word)
{
    size_t at = 0;

    while (at < trace->word_bytes && strcmp(trace->words + at, word) != 0)
        at += strlen(trace->words + at) + 1;
    return at;
}

static bool keep_word(struct lathe_trace *trace, const char *word)
{
    size_t at = find_word(trace, word), bytes = strlen(word) + 1;
    char *grown;

    if (at < trace->word_bytes)
        return true;
    grown = lt_reallocate(trace->allocator, trace->words, at + bytes);
    if (!grown)
        return false;
    memcpy(grown + at, word, bytes);
    trace->words = grown;
    trace->word_bytes = at + bytes;
    return true;
}

/* The emulator's words are gone when it forgets the events. */
static bool keep_words(struct lathe_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        if (!keep_word(trace, trace->events[i].role) || !keep_word(trace, trace->events[i].name))
            return false;
    for (size_t i = 0; i < trace->count; i++) {
        trace->events[i].role = trace->words + find_word(trace, trace->events[i].role);
        trace->events[i].name = trace->words + find_word(trace, trace->events[i].name);
    }
    return true;
}

enum lathe_status lt_trace_read(const struct lt_tracer *tracer, struct lathe_trace **trace,
                                struct lathe_error *err)
{
    struct lathe_trace *made = lt_allocate(tracer->allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for a trace");
    *made = (struct lathe_trace){.allocator = tracer->allocator};
    made->count = tracer->calls->events(NULL, 0);
    made->events = lt_allocate(made->allocator, (made->count + 1) * sizeof *made->events);
    if (made->events) {
        tracer->calls->trace_total(&made->total);
        tracer->calls->events(made->events, made->count);
    }
    if (!made->events || !keep_words(made)) {
        lathe_trace_free(made);
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for the events of a trace");
    }
    *trace = made;
    return LATHE_OK;
}

const struct lathe_trace_total *lathe_trace_total(const struct lathe_trace *trace)
{
    return &trace->total;
}

const struct lathe_trace_event *lathe_trace_events(const struct lathe_trace *trace, size_t *count)
{
    *count = trace->count;
    return trace->events;
}

void lathe_trace_free(struct lathe_trace *trace)
{
    if (!trace)
        return;
    lt_release(trace->allocator, trace->events);
    lt_release(trace->allocator, trace->words);
    lt_release(trace->allocator, trace);
}

/* ---- A problem ---- */

struct gemm {
    struct lathe_gemm problem;
    struct lathe_function *function;
    struct lt_stream stream;
    struct lt_operands operands;
    struct lt_emulator_calls calls;
    struct lt_tracer tracer;
    double emulated_ms;
};

static enum lathe_status launch(struct gemm *gemm, struct lathe_error *err)
{
    struct lathe_gemm_args args = lt_operands_args(&gemm->operands, 1, 0);
    double start = lt_now_us();
    enum lathe_status status = lathe_gemm_launch(gemm->function, &args, err);

    if (status == LATHE_OK)
        status = lt_stream_wait(&gemm->stream, err);
    gemm->emulated_ms = (lt_now_us() - start) / 1e3;
    return status;
}

static enum lathe_status run(struct gemm *gemm, struct lathe_context *context,
                             const struct lathe_trace_options *options, struct lathe_trace **trace,
                             struct lathe_error *err)
{
    enum lathe_status status = lt_stream_open(&gemm->stream, context, err);

    if (status == LATHE_OK && !lt_device_is_emulated(gemm->stream.device))
        status = lt_fail(err, LATHE_MISUSED, "lathe_trace_gemm: the context has no emulator");
    if (status == LATHE_OK)
        status = lt_operands_create(&gemm->operands, &gemm->stream, &gemm->problem, false, err);
    if (status == LATHE_OK)
        status = lt_emulator_load(&gemm->calls, &gemm->stream.device->driver, err);
    if (status == LATHE_OK)
        status = lt_trace_begin(&gemm->tracer, &gemm->calls, lt_context_allocator(context), options,
                                true, err);
    if (status == LATHE_OK)
        status = launch(gemm, err);
    return status == LATHE_OK ? lt_trace_read(&gemm->tracer, trace, err) : status;
}

static void fill(const struct gemm *gemm, struct lathe_trace_report *report)
{
    snprintf(report->device, sizeof report->device, "%s", gemm->stream.device->name);
    report->plan = *lathe_function_plan(gemm->function);
    report->emulated_ms = gemm->emulated_ms;
}

enum lathe_status lathe_trace_gemm(struct lathe_context *context, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options,
                                   const struct lathe_trace_options *trace,
                                   struct lathe_trace_report *report, struct lathe_error *err)
{
    struct gemm gemm = {.emulated_ms = 0};
    struct lathe_trace_report made = LATHE_TRACE_REPORT_INIT;
    enum lathe_status status;

    if (!context || !problem || !report)
        return lt_fail(err, LATHE_MISUSED, "lathe_trace_gemm: no %s",
                       !context   ? "context"
                       : !problem ? "problem"
                                  : "place for the report");
    status = lt_check_layout(report, "lathe_trace_report", err);
    if (status == LATHE_OK)
        status = lt_import(&gemm.problem, problem, "lathe_gemm", err);
    if (status == LATHE_OK)
        status = lt_gemm_resolve(&gemm.problem, err);
    if (status == LATHE_OK)
        status = lathe_gemm_get(context, &gemm.function, problem, options, err);
    if (status == LATHE_OK)
        status = run(&gemm, context, trace, &made.trace, err);
    if (status == LATHE_OK) {
        fill(&gemm, &made);
        lt_export(report, &made);
    }
    lt_trace_end(&gemm.tracer);
    lt_operands_destroy(&gemm.operands);
    lt_stream_close(&gemm.stream);
    return status;
}
