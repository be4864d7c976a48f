/* trace.c: where a kernel's time goes, by the emulator's model of it. */
#include "cli/file.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/trace_events.h"
#include "cli/verb.h"

#include <stdlib.h>
#include <string.h>

enum { CLUSTERS_MOST = 1024, EVENTS_MOST = 1 << 24 };

static const struct key keys[] = {
    {"first", KEY_NUMBER, NULL, 0, INT64_MAX, "0", "the first cluster whose events are kept"},
    {"clusters", KEY_NUMBER, NULL, 1, CLUSTERS_MOST, "1", "how many"},
    {"events", KEY_NUMBER, NULL, 1, EVENTS_MOST, "1048576", "that are kept at most"},
    {"warps", KEY_CHOICE, "some all", 0, 0, "some", "all: those too that do what another does"},
    {0},
};

static struct lathe_trace_options read_options(const struct words *words)
{
    struct lathe_trace_options options = LATHE_TRACE_OPTIONS_INIT;

    options.first_cluster = (uint64_t)words_number(words, "first", 0);
    options.clusters = (uint64_t)words_number(words, "clusters", 1);
    options.events = (uint64_t)words_number(words, "events", 1 << 20);
    return options;
}

static json_t *report_json(const struct lathe_trace_report *report, const struct trace_view *view)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:b}", "device", report->device, "arch",
                               lathe_arch_name(report->plan.arch), "plan",
                               report_plan(&report->plan), "computed", 0);
    json_t *summary = trace_summary(view);

    if (!object || !summary || json_object_update(object, summary) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(summary);
    return object;
}

static int answer(struct output *out, const struct lathe_request *request,
                  const struct lathe_trace_report *report, const struct trace_view *view)
{
    char plan[1024];
    char *problem;

    if (out->json)
        return output_json(out, report_json(report, view), EXIT_DONE);
    problem = request_words(request);
    lathe_plan_words(&report->plan, plan, sizeof plan);
    output_text(out, "device    %s\n", report->device);
    output_text(out, "problem   %s\n", problem ? problem : "");
    output_text(out, "plan      %s\n", plan);
    output_text(out, "D         is not computed: time does not depend on it\n");
    trace_print(out, view);
    free(problem);
    return EXIT_DONE;
}

static enum lathe_status trace(const struct words *words, struct lathe_request *request,
                               struct lathe_trace_report *report, struct output *out,
                               struct lathe_error *err)
{
    struct lathe_trace_options options = read_options(words);
    struct session session;
    enum lathe_status status =
        session_begin(&session, words, out, SESSION_EMULATOR, "tracing", err);

    *request = session.request;
    if (status == LATHE_OK)
        status = lathe_trace_gemm(session.context, &request->gemm, &request->plan, &options, report,
                                  err);
    session_end(&session);
    return status;
}

static int print_timeline(struct output *out, const struct lathe_request *request,
                          const struct trace_view *view)
{
    char *problem = request_words(request), *text = trace_timeline(view, problem ? problem : "");

    if (text)
        output_bytes(out, text, strlen(text));
    free(problem);
    free(text);
    return text ? EXIT_DONE : EXIT_CANNOT;
}

static enum lathe_status write_timeline(const char *path, const struct lathe_request *request,
                                        const struct trace_view *view, struct lathe_error *err)
{
    char *problem = request_words(request);
    enum lathe_status status = trace_write(view, problem ? problem : "", path, err);

    free(problem);
    return status;
}

static enum lathe_status check_output(const struct words *words, const struct output *out,
                                      struct lathe_error *err)
{
    if (out->json && words->output && file_is_standard_output(words->output))
        return fail(err, LATHE_BAD_WORD, "-o %.80s and --json: both want standard output",
                    words->output);
    return LATHE_OK;
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_trace_report report = LATHE_TRACE_REPORT_INIT;
    struct trace_view view = {.warps = NULL};
    struct lathe_request request;
    struct lathe_error err;
    bool prints = words->output && file_is_standard_output(words->output);
    enum lathe_status status = check_output(words, out, &err);
    int code;

    if (status == LATHE_OK)
        status = trace(words, &request, &report, out, &err);
    if (status == LATHE_OK &&
        !trace_view_open(&view, report.trace, words_are(words, "warps", "all")))
        status = fail(&err, LATHE_OUT_OF_MEMORY, "no memory for the warps of a trace");
    if (status == LATHE_OK && words->output && !prints)
        status = write_timeline(words->output, &request, &view, &err);
    if (status != LATHE_OK)
        code = output_refuse(out, &err);
    else if (prints)
        code = print_timeline(out, &request, &view);
    else
        code = answer(out, &request, &report, &view);
    trace_view_close(&view);
    lathe_trace_free(report.trace);
    return code;
}

const struct verb verb_trace = {
    .name = "trace",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [-o FILE]",
    .summary = "where a kernel's time goes, by a model of the GPU's",
    .about =
        "Runs the kernel's text on the emulator in a schedule that models time, whose constants\n"
        "docs/trace.md names: no GPU is needed or used. Prints the cycles that it takes and what\n"
        "the warps of each role of the kept clusters do, and writes a timeline that\n"
        "ui.perfetto.dev opens: a process for each CTA, a track for each warp that does something\n"
        "of its own, for the tensor cores, for copies and for barriers. A microsecond there is a\n"
        "cycle. The operands hold no numbers, and D is not computed.\n"
        "\n"
        "--json: {\"device\", \"arch\", \"plan\": as of lathe plan, \"computed\": false, "
        "\"cycles\",\n"
        "\"time_us\", \"clock_mhz\", \"multiprocessors\", \"tensor_share\": of their time, by "
        "MMAs,\n"
        "\"instructions\", \"copy_bytes_cycle\": into each, \"l2_bytes_cycle\", "
        "\"dram_bytes_cycle\",\n"
        "\"events\", \"events_lost\", \"roles\": [{\"role\", \"wait\": or null where it runs, "
        "\"cycles\": the\n"
        "mean of its warps, \"share\"}]}.\n",
    .examples = "  lathe trace gemm m=512 n=512 k=512 arch=sm_90a\n"
                "  lathe trace gemm m=512 n=512 k=512 arch=sm_90a tile=128x128x64 stages=2 "
                "-o trace.json\n"
                "  lathe trace gemm m=512 n=512 k=512 variant=blackwell-8 first=3 --json\n",
    .output = "the timeline, as JSON",
    .takes_request = true,
    .keys = keys,
    .run = run,
};
