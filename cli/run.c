/* run.c: runs a problem on random data and says whether the answer is right. */
#include "cli/report.h"
#include "cli/session.h"
#include "cli/verb.h"

#include "lathe_tools.h"

#include <stdlib.h>

enum { REPEATS_MAX = 100000 };

static const struct key keys[] = {
    KEY_DEVICE_OR_EMULATOR,
    {"seed", KEY_NUMBER, NULL, 0, INT64_MAX, "1", "draws the data"},
    {"data", KEY_CHOICE, "random integers", 0, 0, "random",
     "integers: small ones, whose answer is exact"},
    {"guard", KEY_CHOICE, "0 1", 0, 0, "0", "1: NaN around the inputs, canaries around D"},
    {"repeats", KEY_NUMBER, NULL, 1, REPEATS_MAX, "10", "launches that are timed"},
    {"reference", KEY_CHOICE, "auto cpu", 0, 0, "auto", "what the answer is compared with"},
    KEY_KERNEL_TEXT,
    {0},
};

static json_t *report_json(const struct lathe_request *request,
                           const struct lathe_run_options *options,
                           const struct lathe_run_report *r)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:b, s:o, s:o, s:o, s:o}", "device", r->device,
                               "arch", lathe_arch_name(r->arch), "plan", report_plan(&r->plan),
                               "ok", r->ok, "rel_error", json_number(r->rel_error), "max_abs_error",
                               json_number(r->max_abs_error), "time_us", json_number(r->time_us),
                               "tflops", json_number(problem_tflops(&request->gemm, r->time_us)));
    json_t *cost =
        json_pack("{s:o, s:o, s:o, s:s, s:i, s:i, s:i}", "emit_us", json_number(r->emit_us),
                  "link_ms", json_number(r->link_ms), "load_ms", json_number(r->load_ms), "cache",
                  cache_result_name(r->cache), "registers", r->registers, "spills", r->spill_bytes,
                  "warnings", r->warning_count);
    json_t *answer = json_pack("{s:s, s:I, s:o, s:o, s:I, s:I}", "reference", r->reference, "seed",
                               (json_int_t)options->seed, "alpha", json_number((double)r->alpha),
                               "beta", json_number((double)r->beta), "wrong", (json_int_t)r->wrong,
                               "guard_damage", (json_int_t)r->guard_damage);

    if (object && r->emulated) { /* of a GPU's time the emulator knows nothing */
        json_object_set_new(object, "time_us", json_null());
        json_object_set_new(object, "tflops", json_null());
        json_object_set_new(object, "emulated_ms", json_number(r->emulated_ms));
    }
    if (answer && r->wrong > 0)
        json_object_set_new(answer, "first_wrong",
                            json_pack("{s:I, s:I, s:o, s:o, s:o}", "row", (json_int_t)r->wrong_row,
                                      "column", (json_int_t)r->wrong_column, "got",
                                      json_number(r->wrong_got), "want", json_number(r->wrong_want),
                                      "bound", json_number(r->wrong_bound)));
    if (!object || json_object_update(object, cost) != 0 ||
        json_object_update(object, answer) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(cost);
    json_decref(answer);
    return object;
}

static void print_verdict(struct output *out, const struct lathe_request *request,
                          const struct lathe_run_report *r)
{
    long long elements = (long long)(request->gemm.m * request->gemm.n);
    const char *style = output_style(out, r->ok ? STYLE_GOOD : STYLE_BAD);
    const char *plain = output_style(out, STYLE_PLAIN);
    int digits = r->plan.out == LATHE_S32 ? 10 : 9; /* that tell numbers of the type apart */

    if (r->ok)
        output_text(out, "right    %syes%s: all %lld elements (reference: %s)\n", style, plain,
                    elements, r->reference);
    else
        output_text(out, "right    %sNO%s: %lld of %lld elements are wrong (reference: %s)\n",
                    style, plain, (long long)r->wrong, elements, r->reference);
    if (r->wrong > 0)
        output_text(
            out, "         the first at row %lld, column %lld: got %.*g, want %.*g within %.3g\n",
            (long long)r->wrong_row, (long long)r->wrong_column, digits, r->wrong_got, digits,
            r->wrong_want, r->wrong_bound);
    if (r->guard_damage > 0)
        output_text(out, "         %lld bytes around D were overwritten\n",
                    (long long)r->guard_damage);
}

static void print_report(struct output *out, const struct lathe_request *request,
                         const struct lathe_run_report *r)
{
    char plan[1024];
    char *problem = request_words(request);

    lathe_plan_words(&r->plan, plan, sizeof plan);
    output_text(out, "device   %s (%s)\n", r->device, lathe_arch_name(r->arch));
    output_text(out, "problem  %s\n", problem ? problem : "");
    output_text(out, "plan     %s\n", plan);
    print_verdict(out, request, r);
    output_text(out, "error    relative %.3g, largest %.3g\n", r->rel_error, r->max_abs_error);
    if (r->emulated) {
        output_text(out, "time     %.0f ms on the CPU: the emulator cannot time a GPU\n",
                    r->emulated_ms);
        output_text(out, "cost     emit %.0f us, load %.2f ms: the text itself runs\n", r->emit_us,
                    r->load_ms);
    } else {
        output_text(out, "time     %.2f us, %.1f TFLOPS\n", r->time_us,
                    problem_tflops(&request->gemm, r->time_us));
        output_text(out, "cost     emit %.0f us, link %.1f ms, load %.2f ms, cache %s\n",
                    r->emit_us, r->link_ms, r->load_ms, cache_result_name(r->cache));
        output_text(out, "kernel   %d registers, %d bytes spilled, %d linker warning%s\n",
                    r->registers, r->spill_bytes, r->warning_count,
                    r->warning_count == 1 ? "" : "s");
    }
    free(problem);
}

static struct lathe_run_options read_options(const struct words *words)
{
    struct lathe_run_options options = LATHE_RUN_OPTIONS_INIT;

    options.seed = (uint64_t)words_number(words, "seed", 1);
    options.integers = words_are(words, "data", "integers");
    options.guard = words_are(words, "guard", "1");
    options.repeats = (int)words_number(words, "repeats", 10);
    options.reference = words_are(words, "reference", "cpu");
    return options;
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_run_options options = read_options(words);
    struct lathe_run_report report = {.plan = LATHE_PLAN_INIT};
    struct session session;
    struct lathe_error err;
    enum lathe_status status =
        session_begin(&session, words, out, SESSION_ANYWHERE, "running and checking", &err);

    options.text = session.text;
    if (status == LATHE_OK)
        status = lathe_run_gemm(session.context, &session.request.gemm, &session.request.plan,
                                &options, &report, &err);
    session_end(&session);
    if (status != LATHE_OK)
        return output_refuse(out, &err);

    int code = report.ok ? EXIT_DONE : EXIT_CANNOT;

    if (out->json)
        return output_json(out, report_json(&session.request, &options, &report), code);
    print_report(out, &session.request, &report);
    return code;
}

const struct verb verb_run = {
    .name = "run",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...]",
    .summary = "runs a problem on random data and says whether the answer is right",
    .about =
        "Every element of D is compared with a reference r in f64 and must satisfy\n"
        "|d - r| <= 1 ulp(r) + (k/16 + 2) * 2^-20 * (|alpha| sum|a||b| + |beta c|).\n"
        "Without a GPU the emulator runs the kernel's text on the CPU, and says so. The exit code\n"
        "is 1 when the answer is wrong. text=FILE runs what `lathe emit` gives for the same "
        "words,\n"
        "as you have changed it.\n"
        "\n"
        "--json: {\"device\", \"arch\", \"plan\": as of lathe plan, \"ok\", \"rel_error\": ||d-r|| "
        "/ ||r||,\n"
        "\"max_abs_error\", \"time_us\": the median, \"tflops\", \"emit_us\", \"link_ms\", "
        "\"load_ms\",\n"
        "\"cache\": \"hit\", \"miss\" or \"off\", \"registers\", \"spills\", \"warnings\", "
        "\"reference\", \"seed\",\n"
        "\"alpha\" and \"beta\": as drawn, \"wrong\": elements, \"guard_damage\": bytes, and "
        "where\n"
        "elements are wrong \"first_wrong\": {\"row\", \"column\", \"got\", \"want\", "
        "\"bound\"}}.\n",
    .examples = "  lathe run gemm m=4096 n=4096 k=4096\n"
                "  lathe run gemm m=1000 n=1000 k=1000 type=bf16 beta=any seed=7 guard=1\n"
                "  lathe run gemm m=512 n=512 k=512 data=integers device=gpu --json\n",
    .takes_request = true,
    .keys = keys,
    .run = run,
};
