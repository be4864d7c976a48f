/* emulate.c: runs one launch of anyone's PTX text on the emulator. */
#include "cli/emulate_words.h"
#include "cli/file.h"
#include "cli/findings.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/trace_events.h"
#include "cli/verb.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMEM_MOST = 1 << 20, SEEDS_MAX = 1000000, PRINTED_ROW = 78 };

static const struct key keys[] = {
    {"entry", KEY_TEXT, "NAME", 0, 0, "the only one", "the kernel"},
    {"grid", KEY_TEXT, "X[xY[xZ]]", 0, 0, "1", "CTAs"},
    {"block", KEY_TEXT, "X[xY[xZ]]", 0, 0, "1", "threads of a CTA"},
    {"cluster", KEY_TEXT, "X[xY[xZ]]", 0, 0, "the text's, else 1", "CTAs of a cluster"},
    {"smem", KEY_BYTES, "BYTES[K]", 0, SMEM_MOST, "0", "dynamic shared memory of a CTA"},
    {"arch", KEY_TEXT, "sm_NN", 0, 0, "the oldest that takes it", "the emulator's device"},
    {"seed", KEY_NUMBER, NULL, 0, INT64_MAX, "0", "of the schedule"},
    {"check", KEY_CHOICE, "0 1 all", 0, 0, "0", "1: the sanitizer, up to a finding; all: past it"},
    {"seeds", KEY_NUMBER, NULL, 1, SEEDS_MAX, "1", "schedules that are checked, from seed= on"},
    {"exact", KEY_CHOICE, "0 1", 0, 0, "0", "1: tensor cores bit for bit, and slower"},
    {"steps", KEY_NUMBER, NULL, 1, INT64_MAX, "2^36", "warp instructions after which it is ended"},
    {"trace", KEY_TEXT, "FILE", 0, 0, "none", "model its time and write a timeline: lathe trace"},
    {"arg", KEY_LIST, "KIND:VALUE", 0, 0, NULL, "the next argument: see above"},
    {"buffer", KEY_LIST, "BYTES[:INIT]", 0, 0, NULL, "one that is no argument, for maps"},
    {"out", KEY_LIST, "BUFFER:FILE", 0, 0, NULL, "write it to a file afterwards"},
    {"expect", KEY_LIST, "BUFFER:FILE", 0, 0, NULL, "compare it with a file, byte by byte"},
    {"print", KEY_LIST, "BUFFER:TYPE[:COUNT]", 0, 0, NULL, "show its first elements, or all"},
    {0},
};

/* ---- A file or a comparison ---- */

/* The first byte that differs; as many as there are where none does. */
static size_t first_difference(const struct wish *wish)
{
    const char *data = wish->buffer->data;
    size_t at = 0;

    while (at < wish->buffer->bytes && data[at] == wish->expected[at])
        at++;
    return at;
}

/* Whether another schedule gave the buffer something else than the first did. */
static bool is_changed(const struct wish *wish, const struct lathe_findings *findings)
{
    char buffer[32];

    snprintf(buffer, sizeof buffer, "buffer %d", wish->index);
    for (size_t i = 0; i < lathe_findings_count(findings); i++) {
        const struct lathe_check_finding *finding = lathe_findings_at(findings, i);

        if (strcmp(finding->code, "answer-changes") == 0 && strcmp(finding->object, buffer) == 0)
            return true;
    }
    return false;
}

static bool is_met(const struct wish *wish)
{
    return wish->kind != WISH_EXPECT || first_difference(wish) == wish->buffer->bytes;
}

/* Of every schedule. */
static bool all_are_met(const struct job *job, const struct lathe_emulation_report *report)
{
    for (int i = 0; i < job->wish_count; i++) {
        const struct wish *wish = &job->wishes[i];

        if (wish->kind != WISH_EXPECT)
            continue;
        if (report->completed == 0 || !is_met(wish) || is_changed(wish, report->findings))
            return false;
    }
    return true;
}

static bool all_is_well(const struct job *job, const struct lathe_emulation_report *report)
{
    return all_are_met(job, report) && lathe_findings_errors(report->findings) == 0;
}

static enum lathe_status write_files(const struct job *job, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < job->wish_count && status == LATHE_OK; i++) {
        const struct wish *wish = &job->wishes[i];

        if (wish->kind == WISH_OUT)
            status = file_write(wish->path, wish->buffer->data, wish->buffer->bytes, err);
    }
    return status;
}

/* ---- As text ---- */

static void print_elements(struct output *out, const struct wish *wish)
{
    const unsigned char *bytes = wish->buffer->data;
    char text[ELEMENT_TEXT_SIZE];
    int column = 0;

    for (size_t i = 0; i < wish->count; i++) {
        int length;

        element_text(wish->element, bytes + i * (size_t)wish->element->bytes, text);
        length = (int)strlen(text) + 1;
        if (column > 0 && column + length > PRINTED_ROW) {
            output_text(out, "\n        ");
            column = 0;
        }
        output_text(out, " %s", text);
        column += length;
    }
    output_text(out, "\n");
}

static void print_wish(struct output *out, const struct wish *wish)
{
    bool met = is_met(wish);

    output_text(out, "buffer %d", wish->index);
    switch (wish->kind) {
    case WISH_PRINT:
        output_text(out, " ");
        print_elements(out, wish);
        break;
    case WISH_OUT:
        output_text(out, "  %zu bytes written to %s\n", wish->buffer->bytes, wish->path);
        break;
    case WISH_EXPECT:
        output_text(out, "  %s%s%s %s", output_style(out, met ? STYLE_GOOD : STYLE_BAD),
                    met ? "is" : "is NOT", output_style(out, STYLE_PLAIN), wish->path);
        if (!met)
            output_text(out, ": they differ from byte %zu on", first_difference(wish));
        output_text(out, "\n");
        break;
    }
}

static void print_report(struct output *out, const struct job *job,
                         const struct lathe_emulation_report *report, const struct trace_view *view)
{
    const struct lathe_emulation *e = &job->emulation;

    output_text(out, "device    %s\n", report->device);
    output_text(out, "entry     %s\n", report->entry);
    output_text(out, "launch    grid %ux%ux%u, block %ux%ux%u", e->grid[0], e->grid[1], e->grid[2],
                e->block[0], e->block[1], e->block[2]);
    if (e->cluster[0] > 0)
        output_text(out, ", cluster %ux%ux%u", e->cluster[0], e->cluster[1], e->cluster[2]);
    output_text(out, ", %u bytes of dynamic shared memory, seed %llu%s\n", e->smem_bytes,
                (unsigned long long)e->seed, e->exact ? ", exact" : "");
    output_text(out, "time      %.2f ms on the CPU, loaded in %.2f ms\n", report->time_ms,
                report->load_ms);
    if (e->check != LATHE_CHECK_OFF) {
        output_text(out, "schedules ");
        findings_schedules(out, e->seed, report->runs, e->schedules);
    }
    for (int i = 0; i < job->wish_count && report->completed > 0; i++)
        print_wish(out, &job->wishes[i]);
    if (view)
        trace_print(out, view);
    else if (e->trace)
        output_text(out, "trace     none: the launch did not go to its end\n");
    if (e->check != LATHE_CHECK_OFF)
        findings_print(out, report->findings, report->runs);
}

/* ---- As JSON ---- */

static json_t *wish_json(const struct wish *wish)
{
    json_t *object =
        json_pack("{s:i, s:I}", "buffer", wish->index, "bytes", (json_int_t)wish->buffer->bytes);
    const unsigned char *bytes = wish->buffer->data;
    json_t *elements;

    switch (wish->kind) {
    case WISH_PRINT:
        elements = json_array();
        for (size_t i = 0; i < wish->count; i++)
            json_array_append_new(
                elements, element_json(wish->element, bytes + i * (size_t)wish->element->bytes));
        json_object_set_new(object, "type", json_string(wish->element->name));
        json_object_set_new(object, "elements", elements);
        break;
    case WISH_OUT:
        json_object_set_new(object, "out", json_text(wish->path));
        break;
    case WISH_EXPECT:
        json_object_set_new(object, "expect", json_text(wish->path));
        json_object_set_new(object, "ok", json_boolean(is_met(wish)));
        if (!is_met(wish))
            json_object_set_new(object, "first_difference",
                                json_integer((json_int_t)first_difference(wish)));
        break;
    }
    return object;
}

static json_t *shape_json(const uint32_t shape[3])
{
    return json_pack("[I, I, I]", (json_int_t)shape[0], (json_int_t)shape[1], (json_int_t)shape[2]);
}

static json_t *report_json(const struct job *job, const struct lathe_emulation_report *report,
                           const struct trace_view *view)
{
    const struct lathe_emulation *e = &job->emulation;
    json_t *results = json_array();
    json_t *object;

    for (int i = 0; i < job->wish_count && report->completed > 0; i++)
        json_array_append_new(results, wish_json(&job->wishes[i]));
    object = json_pack(
        "{s:s, s:o, s:b, s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o, s:o}", "device", report->device,
        "entry", json_text(report->entry), "ok", all_is_well(job, report), "grid",
        shape_json(e->grid), "block", shape_json(e->block), "cluster",
        e->cluster[0] > 0 ? shape_json(e->cluster) : json_null(), "smem", (json_int_t)e->smem_bytes,
        "seed", (json_int_t)e->seed, "exact", e->exact, "emulated_ms", json_number(report->time_ms),
        "load_ms", json_number(report->load_ms), "results", results);
    if (object && e->check != LATHE_CHECK_OFF) {
        json_object_set_new(object, "runs", json_integer(report->runs));
        json_object_set_new(object, "completed", json_integer(report->completed));
        json_object_set_new(object, "findings", findings_json(report->findings));
    }
    if (object && e->trace)
        json_object_set_new(object, "trace", view ? trace_summary(view) : json_null());
    return object;
}

/* ---- A fault ---- */

/* The message has the first line of what the emulator says; here is the rest. */
static int refuse(struct output *out, const struct lathe_error *err, const char *trouble)
{
    const char *rest = strchr(trouble, '\n');

    if (!out->json) {
        int code = output_refuse(out, err);

        for (; rest; rest = strchr(rest + 1, '\n'))
            fprintf(stderr, "%.*s\n", (int)strcspn(rest + 1, "\n"), rest + 1);
        return code;
    }

    json_t *error = output_error(err);

    output_note("%s", err->message);
    if (trouble[0])
        json_object_set_new(error, "report", report_lines(trouble));
    return output_json(out, json_pack("{s:o}", "error", error), output_code(err));
}

/* ---- The verb ---- */

/* With --json standard output is for one object: what the kernel prints goes to standard error. */
static int divert(const struct output *out)
{
    int kept = -1;

    fflush(stdout);
    if (out->json)
        kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    return kept;
}

static void divert_back(int kept)
{
    fflush(stdout);
    if (kept < 0)
        return;
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

static enum lathe_status emulate(struct job *job, struct lathe_emulation_report *report,
                                 struct output *out, struct lathe_error *err)
{
    struct lathe_context *context = NULL;
    struct progress progress;
    enum lathe_status status = context_open(&context, err);

    if (status == LATHE_OK) {
        int kept = divert(out);

        job->emulation.progress = progress_parts;
        job->emulation.progress_user = &progress;
        progress_begin(&progress, out, "emulating");
        status = lathe_emulate(context, &job->emulation, report, err);
        progress_end(&progress);
        divert_back(kept);
    }
    lathe_context_destroy(&context);
    return status == LATHE_OK && report->completed > 0 ? write_files(job, err) : status;
}

static int answer(struct output *out, const struct job *job,
                  const struct lathe_emulation_report *report, const struct trace_view *view)
{
    int code = all_is_well(job, report) ? EXIT_DONE : EXIT_CANNOT;

    if (out->json)
        return output_json(out, report_json(job, report, view), code);
    print_report(out, job, report, view);
    return code;
}

static enum lathe_status write_trace(const char *path, const struct lathe_emulation_report *report,
                                     struct trace_view *view, struct lathe_error *err)
{
    if (!trace_view_open(view, report->trace, false))
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for the warps of a trace");
    return trace_write(view, report->entry, path, err);
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_emulation_report report = LATHE_EMULATION_REPORT_INIT;
    const struct lathe_trace_options options = LATHE_TRACE_OPTIONS_INIT;
    const char *trace = words_given(words, "trace") ? words_value(words, "trace") : NULL;
    struct trace_view view = {.warps = NULL};
    struct lathe_error err;
    struct job job;
    enum lathe_status status = job_read(&job, words, &err);
    int code;

    job.emulation.trace = trace ? &options : NULL;
    if (status == LATHE_OK)
        status = emulate(&job, &report, out, &err);
    if (status == LATHE_OK && report.trace)
        status = write_trace(trace, &report, &view, &err);
    if (status != LATHE_OK)
        code = refuse(out, &err, report.trouble);
    else
        code = answer(out, &job, &report, report.trace ? &view : NULL);
    trace_view_close(&view);
    lathe_trace_free(report.trace);
    lathe_findings_destroy(&report.findings);
    job_free(&job);
    return code;
}

const struct verb verb_emulate = {
    .name = "emulate",
    .synopsis = "FILE.ptx [KEY=VALUE...]",
    .summary = "runs anyone's PTX text on the CPU: one launch of one kernel",
    .about =
        "Arguments are given in the order of the kernel's parameters, an arg= each:\n"
        "  TYPE:NUMBER[,NUMBER...] u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64; several are an\n"
        "                          array or a struct of them\n"
        "  buf:BYTES[:INIT]        the address of a new buffer of device memory\n"
        "  ptr:BUFFER[:OFFSET]     an address in a buffer that another word makes\n"
        "  map:BUFFER:TYPE:DIMS:STRIDES:BOX:SWIZZLE\n"
        "                          a tiled tensor map: as f16:64x128:-:64x64:128. The first "
        "dimension\n"
        "                          is the one without gaps; STRIDES are bytes, of the others, and "
        "-\n"
        "                          leaves no gaps; SWIZZLE is none, 32, 64 or 128 bytes; TYPE "
        "also\n"
        "                          tf32, f32_ftz, tf32_ftz\n"
        "  file:FILE               a parameter of the file's bytes\n"
        "Buffers are counted from 0 in the order in which buf: and buffer= make them. INIT is "
        "zero\n"
        "(the default), iota32 or iota-TYPE (0, 1, 2, ...), random (bytes), random-TYPE (of "
        "floats\n"
        "multiples of 1/8 from -2 to 2), or a file.\n"
        "\n"
        "With check= the sanitizer watches: it finds races, deadlocks, missing fences and waits,\n"
        "and says who did it, where, and what was needed; a fault is a finding then. seeds=N has\n"
        "it watch N schedules, each of which begins with the same buffers; out=, print= and\n"
        "expect= are about what the first leaves in them, and one that leaves something else is a\n"
        "finding. docs/sanitizer.md tells of each finding what it means and what to do about it.\n"
        "\n"
        "The exit code is 1 when the kernel faults or hangs, with the emulator's report, when\n"
        "something was found that is no warning, and when an expect= is not met by each schedule.\n"
        "docs/emulator.md tells what the emulator does.\n"
        "\n"
        "--json: {\"device\", \"entry\", \"ok\": every expect= is met, \"grid\", \"block\", "
        "\"cluster\": or\n"
        "null, \"smem\", \"seed\", \"exact\", \"emulated_ms\", \"load_ms\", \"results\": as asked "
        "for,\n"
        "[{\"buffer\", \"bytes\", and \"type\" and \"elements\", or \"out\", or \"expect\", \"ok\" "
        "and\n"
        "\"first_difference\"}]}. What the kernel prints goes to standard error then. A fault is\n"
        "{\"error\": {\"code\", \"message\", \"report\": [its lines]}}.\n"
        "With check= there are also \"runs\": schedules, \"completed\": those that went to their "
        "end,\n"
        "and \"findings\": as of lathe check; \"ok\" is false where one is no warning. With "
        "trace=\n"
        "there is \"trace\": as of lathe trace, or null where a finding ended the launch.\n",
    .examples = "  lathe emulate examples/saxpy.ptx grid=2 block=32 arg=u32:50 arg=f32:0.5 "
                "arg=buf:200:iota-f32 arg=buf:200 print=1:f32:6\n"
                "  lathe emulate examples/tile.ptx block=128 buffer=768:iota-f32 "
                "arg=map:0:f32:20x8:96:16x8:none arg=s32:8 arg=u32:512 arg=buf:512 "
                "print=1:f32:32\n"
                "  lathe emulate examples/tile.ptx check=1 seeds=5 block=128 buffer=768:iota-f32 "
                "arg=map:0:f32:20x8:96:16x8:none arg=s32:8 arg=u32:512 arg=buf:512\n",
    .keys = keys,
    .run = run,
};
