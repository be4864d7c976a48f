/* bench.c: how fast a problem is, alone or beside another library. */
#include "cli/report.h"
#include "cli/session.h"
#include "cli/verb.h"

#include "lathe_tools.h"

enum { PAIRS_MAX = 1000, BLOCK_MS_MAX = 10000, WARM_UP_MS_MAX = 60000 };

static const struct key keys[] = {
    KEY_DEVICE,
    {"vs", KEY_CHOICE, "none cublaslt", 0, 0, "none", "the contender"},
    {"pairs", KEY_NUMBER, NULL, 1, PAIRS_MAX, "8", "of interleaved blocks"},
    {"block_ms", KEY_NUMBER, NULL, 1, BLOCK_MS_MAX, "20", "how long a block lasts at least"},
    {"warm_up_ms", KEY_NUMBER, NULL, 1, WARM_UP_MS_MAX, "500", "before the first block"},
    {"seed", KEY_NUMBER, NULL, 0, INT64_MAX, "1", "draws the data"},
    {0},
};

static json_t *row_json(const struct lathe_bench_report *r)
{
    bool versus = r->vs[0] != '\0';

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "vs",
                     versus ? json_text(r->vs) : json_null(), "time_us", json_number(r->time_us),
                     "tflops", json_number(r->tflops), "vs_time_us",
                     versus ? json_number(r->vs_time_us) : json_null(), "vs_tflops",
                     versus ? json_number(r->vs_tflops) : json_null(), "ratio",
                     versus ? json_number(r->ratio) : json_null(), "ratio_low",
                     versus ? json_number(r->ratio_low) : json_null(), "ratio_high",
                     versus ? json_number(r->ratio_high) : json_null());
}

static json_t *report_json(const struct lathe_bench_report *r)
{
    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:b, s:[o]}", "device", r->device, "arch",
                     lathe_arch_name(r->plan.arch), "plan", report_plan(&r->plan), "launches",
                     r->launches, "sets", r->sets, "verified", r->verified, "rows", row_json(r));
}

static void print_report(struct output *out, const struct lathe_bench_report *r)
{
    char plan[1024];
    struct table table = {.columns = 3, .right = 1U << 1 | 1U << 2};

    lathe_plan_words(&r->plan, plan, sizeof plan);
    output_text(out, "device    %s (%s)\n", r->device, lathe_arch_name(r->plan.arch));
    output_text(out, "plan      %s\n", plan);
    output_text(out, "blocks    of %d launches over %d sets of buffers\n", r->launches, r->sets);
    output_text(out, "verified  %s%s%s\n\n",
                output_style(out, r->verified ? STYLE_GOOD : STYLE_BAD),
                r->verified ? "yes" : "NO: the answer is wrong", output_style(out, STYLE_PLAIN));
    table_cell(&table, "%s", "");
    table_cell(&table, "us");
    table_cell(&table, "TFLOPS");
    table_cell(&table, "lathe");
    table_cell(&table, "%.2f", r->time_us);
    table_cell(&table, "%.1f", r->tflops);
    if (r->vs[0]) {
        table_cell(&table, "%s", r->vs);
        table_cell(&table, "%.2f", r->vs_time_us);
        table_cell(&table, "%.1f", r->vs_tflops);
    }
    table_print(&table, out, 0);
    if (r->vs[0])
        output_text(out, "\nratio     %s%.3f%s (95 %%: %.3f to %.3f); above 1 lathe is faster\n",
                    output_style(out, STYLE_BOLD), r->ratio, output_style(out, STYLE_PLAIN),
                    r->ratio_low, r->ratio_high);
}

static struct lathe_bench_options read_options(const struct words *words)
{
    struct lathe_bench_options options = LATHE_BENCH_OPTIONS_INIT;

    options.vs_cublaslt = words_are(words, "vs", "cublaslt");
    options.pairs = (int)words_number(words, "pairs", 8);
    options.block_ms = (double)words_number(words, "block_ms", 20);
    options.warm_up_ms = (double)words_number(words, "warm_up_ms", 500);
    options.seed = (uint64_t)words_number(words, "seed", 1);
    return options;
}

static int run(const struct words *words, struct output *out)
{
    struct lathe_bench_options options = read_options(words);
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct session session;
    struct lathe_error err;
    enum lathe_status status = session_begin(&session, words, out, SESSION_GPU, "measuring", &err);

    if (status == LATHE_OK)
        status = lathe_bench_gemm(session.context, &session.request.gemm, &session.request.plan,
                                  &options, &report, &err);
    session_end(&session);
    if (status != LATHE_OK)
        return output_refuse(out, &err);

    int code = report.verified ? EXIT_DONE : EXIT_CANNOT;

    if (out->json)
        return output_json(out, report_json(&report), code);
    print_report(out, &report);
    return code;
}

const struct verb verb_bench = {
    .name = "bench",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [vs=cublaslt]",
    .summary = "how fast a problem is, alone or beside another library",
    .about =
        "Times blocks of launches over buffers that exceed the L2 cache, interleaved with the\n"
        "contender's, and checks the answer afterwards. Needs a GPU. The exit code is 1 when\n"
        "the answer is wrong.\n"
        "\n"
        "--json: {\"device\", \"arch\", \"plan\": as of lathe plan, \"launches\": of a block, "
        "\"sets\": of\n"
        "buffers, \"verified\", \"rows\": one a contender [{\"vs\", \"time_us\", \"tflops\", "
        "\"vs_time_us\",\n"
        "\"vs_tflops\", \"ratio\": above 1 lathe is faster, \"ratio_low\", \"ratio_high\": 95 "
        "%}]}. Times\n"
        "are medians. With vs=none there is one row, and what is the contender's is null.\n",
    .examples = "  lathe bench gemm m=4096 n=4096 k=4096\n"
                "  lathe bench gemm m=8192 n=8192 k=8192 type=bf16 vs=cublaslt\n"
                "  lathe bench gemm m=64 n=4096 k=14336 pairs=4 --json\n",
    .takes_request = true,
    .keys = keys,
    .run = run,
};
