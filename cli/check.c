/* check.c: a problem under many schedules of the emulator, with the sanitizer on. */
#include "cli/findings.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/verb.h"

#include <stdlib.h>

enum { SEEDS_MAX = 1000000 };

static const struct key keys[] = {
    {"seeds", KEY_NUMBER, NULL, 1, SEEDS_MAX, "20", "how many schedules"},
    {"seed", KEY_NUMBER, NULL, 0, INT64_MAX, "1", "the first schedule's; then come those after it"},
    {"all", KEY_CHOICE, "0 1", 0, 0, "0", "1: goes on past findings"},
    {"data", KEY_CHOICE, "random integers", 0, 0, "random",
     "integers: small ones, whose answer is exact"},
    {"guard", KEY_CHOICE, "0 1", 0, 0, "0", "1: NaN around the inputs, canaries around D"},
    {"reference", KEY_CHOICE, "auto cpu", 0, 0, "auto", "cpu: also where that takes long"},
    KEY_KERNEL_TEXT,
    {0},
};

static json_t *report_json(const struct lathe_check_options *options,
                           const struct lathe_check_report *r)
{
    return json_pack("{s:b, s:i, s:o, s:s, s:s, s:o, s:i, s:I, s:s, s:o}", "ok",
                     lathe_findings_errors(r->findings) == 0, "runs", r->runs, "findings",
                     findings_json(r->findings), "device", r->device, "arch",
                     lathe_arch_name(r->plan.arch), "plan", report_plan(&r->plan), "seeds",
                     options->schedules, "seed", (json_int_t)options->seed, "reference",
                     r->reference, "emulated_ms", json_number(r->emulated_ms));
}

static void print_report(struct output *out, const struct lathe_request *request,
                         const struct lathe_check_options *options,
                         const struct lathe_check_report *r)
{
    char plan[1024];
    char *problem = request_words(request);

    lathe_plan_words(&r->plan, plan, sizeof plan);
    output_text(out, "device     %s (%s)\n", r->device, lathe_arch_name(r->plan.arch));
    output_text(out, "problem    %s\n", problem ? problem : "");
    output_text(out, "plan       %s\n", plan);
    output_text(out, "reference  %s\n", r->reference);
    output_text(out, "schedules  ");
    findings_schedules(out, options->seed, r->runs, options->schedules);
    output_text(out, "time       %.0f ms on the CPU\n", r->emulated_ms);
    findings_print(out, r->findings, r->runs);
    free(problem);
}

static struct lathe_check_options read_options(const struct words *words)
{
    struct lathe_check_options options = LATHE_CHECK_OPTIONS_INIT;

    options.schedules = (int)words_number(words, "seeds", 20);
    options.seed = (uint64_t)words_number(words, "seed", 1);
    options.mode = words_are(words, "all", "1") ? LATHE_CHECK_ALL : LATHE_CHECK_FIRST;
    options.data_seed = 1;
    options.integers = words_are(words, "data", "integers");
    options.guard = words_are(words, "guard", "1");
    options.reference = words_are(words, "reference", "cpu");
    options.progress = progress_parts;
    return options;
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_check_options options = read_options(words);
    struct lathe_check_report report = LATHE_CHECK_REPORT_INIT;
    struct session session;
    struct lathe_error err;
    enum lathe_status status =
        session_begin(&session, words, out, SESSION_NOWHERE, "checking schedules", &err);
    int code;

    options.progress_user = &session.progress;
    options.text = session.text;
    if (status == LATHE_OK)
        status = lathe_check_gemm(session.context, &session.request.gemm, &session.request.plan,
                                  &options, &report, &err);
    session_end(&session);
    if (status != LATHE_OK)
        return output_refuse(out, &err);

    code = findings_code(report.findings);
    if (out->json)
        code = output_json(out, report_json(&options, &report), code);
    else
        print_report(out, &session.request, &options, &report);
    lathe_findings_destroy(&report.findings);
    return code;
}

const struct verb verb_check = {
    .name = "check",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [seeds=N]",
    .summary = "looks for races, deadlocks and the like: many schedules on the CPU, each watched",
    .about =
        "Runs the kernel's text on the emulator, once for each seed. A seed is a schedule: the\n"
        "order in which warps take turns, and when copies and products complete. The sanitizer\n"
        "watches every access and every barrier, and tells what is wrong though the answer may be\n"
        "right; every answer is compared with a reference, too, as by lathe run. It stops at the\n"
        "first schedule that shows a finding, unless all=1. What a seed shows it shows again:\n"
        "seeds=1 seed=N runs that schedule alone.\n"
        "With text=FILE the kernel's text is that of `lathe emit` with the same words, as you "
        "have\n"
        "changed it: take a barrier away, and see what is told of it.\n"
        "docs/sanitizer.md tells of each finding what it means and what to do about it.\n"
        "\n"
        "A schedule of m=n=k=512 takes some tenths of a second, and eight times as long for sizes\n"
        "twice as large; beyond 2e9 multiply-adds it is refused, unless reference=cpu. What a\n"
        "loop does wrong shows where it goes round: k of more steps than stages, more tiles than\n"
        "CTAs run at a time; LATHE_EMU_SMS=4 in the environment makes a small device.\n"
        "The exit code is 1 when something was found that is no warning.\n"
        "\n"
        "--json: {\"ok\": nothing was found but warnings, \"runs\": schedules that ran, "
        "\"findings\":\n"
        "[{\"code\", \"warning\", \"message\", \"kernel\", \"cta\", \"warp\", \"lane\", "
        "\"role\", \"line\",\n"
        "\"instruction\", \"operand\", \"object\": the place in memory, \"other\": who else is "
        "part of it,\n"
        "\"needed\", \"seed\": of the first schedule that shows it, \"schedules\": how many do, "
        "\"times\",\n"
        "\"report\": all of it as lines}], null for what there is none of, \"device\", \"arch\", "
        "\"plan\": as\n"
        "of lathe plan, \"seeds\" and \"seed\": as asked for, \"reference\", \"emulated_ms\"}.\n",
    .examples = "  lathe check gemm m=256 n=128 k=128\n"
                "  lathe check gemm m=100 n=72 k=200 type=bf16 beta=any guard=1 seeds=5\n"
                "  lathe check gemm m=128 n=128 k=256 tile=128x128x64 stages=2 seeds=3 --json\n",
    .takes_request = true,
    .keys = keys,
    .run = run,
};
