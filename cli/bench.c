/* bench.c: how fast a problem is, alone or beside another library; and what all ways to measure
 * begin with. */
#include "cli/bench.h"

#include "cli/bench_record.h"
#include "cli/build_id.h"
#include "cli/file.h"
#include "cli/request.h"
#include "cli/results.h"
#include "cli/verb.h"

#include <stdlib.h>
#include <string.h>

enum {
    PASSES_MAX = 16,
    PAIRS_MAX = 1000,
    BLOCK_MS_MAX = 10000,
    WARM_UP_MS_MAX = 60000,
    LIMIT_S_MAX = 86400
};

static const char contenders[] = "none cublaslt cublaslt-best";

static const struct key keys[] = {
    KEY_DEVICE,
    {"vs", KEY_TEXT, contenders, 0, 0, "none", "the contenders, apart by commas"},
    {"pairs", KEY_NUMBER, NULL, 1, PAIRS_MAX, "8", "of interleaved blocks"},
    {"block_ms", KEY_NUMBER, NULL, 1, BLOCK_MS_MAX, "20, of a suite 100",
     "how long a block lasts at least"},
    {"warm_up_ms", KEY_NUMBER, NULL, 1, WARM_UP_MS_MAX, "500", "before the first block"},
    {"seed", KEY_NUMBER, NULL, 0, INT64_MAX, "1", "draws the data"},
    {"isolated", KEY_CHOICE, "0 1", 0, 0, "0", "1: also one launch by itself"},
    {"warm", KEY_CHOICE, "0 1", 0, 0, "0", "1: also with operands that stay in L2"},
    {"suite", KEY_TEXT, "public FILE", 0, 0, "none", "many problems, one after the other"},
    {"class", KEY_TEXT, "WORD[,WORD]", 0, 0, "all", "of the suite"},
    {"resume", KEY_CHOICE, "0 1", 0, 0, "0", "1: leaves out what the file of -o holds"},
    {"limit_s", KEY_NUMBER, NULL, 1, LIMIT_S_MAX, "none",
     "a suite begins no problem later than this"},
    {"passes", KEY_NUMBER, NULL, 1, PASSES_MAX, "1", "through a suite, one after the other"},
    {"heat_ms", KEY_NUMBER, NULL, 0, WARM_UP_MS_MAX, "3000",
     "of 8192^3 products before a suite's first problem"},
    {"ladder", KEY_TEXT, "hopper", 0, 0, "none", "every variant hopper-..., one beside the other"},
    {0},
};

/* ---- What all begin with ---- */

static enum lathe_status refuse_contender(const char *word, struct lathe_error *err)
{
    const char *const known[] = {"none", "cublaslt", "cublaslt-best"};
    const char *nearest = lathe_nearest(word, known, sizeof known / sizeof known[0]);

    return fail(err, LATHE_BAD_WORD, "vs=%.40s: no such vs; nearest: vs=%s (known: %s)", word,
                nearest ? nearest : known[0], contenders);
}

static enum lathe_status read_contenders(const char *list, struct lathe_bench_options *options,
                                         struct lathe_error *err)
{
    char *copy = strdup(list), *rest = copy;
    bool none = false;
    enum lathe_status status = LATHE_OK;

    if (!copy)
        return fail(err, LATHE_OUT_OF_MEMORY, "no memory for vs=");
    for (char *word; status == LATHE_OK && (word = strsep(&rest, ","));) {
        if (strcmp(word, "none") == 0)
            none = true;
        else if (strcmp(word, "cublaslt") == 0)
            options->vs_cublaslt = 1;
        else if (strcmp(word, "cublaslt-best") == 0)
            options->vs_cublaslt_best = 1;
        else
            status = refuse_contender(word, err);
    }
    free(copy);
    if (status == LATHE_OK && none && (options->vs_cublaslt || options->vs_cublaslt_best))
        status = fail(err, LATHE_BAD_WORD, "vs=%.60s: none stands alone", list);
    return status;
}

enum lathe_status bench_options(const struct words *words, int64_t block_ms,
                                struct lathe_bench_options *options, struct lathe_error *err)
{
    *options = (struct lathe_bench_options)LATHE_BENCH_OPTIONS_INIT;
    options->pairs = (int)words_number(words, "pairs", 8);
    options->block_ms = (double)words_number(words, "block_ms", block_ms);
    options->warm_up_ms = (double)words_number(words, "warm_up_ms", 500);
    options->seed = (uint64_t)words_number(words, "seed", 1);
    options->isolated = words_are(words, "isolated", "1");
    options->warm = words_are(words, "warm", "1");
    return read_contenders(words_value(words, "vs"), options, err);
}

enum lathe_status bench_begin(struct bench_setup *setup, const struct words *words,
                              struct output *out, int64_t block_ms, struct lathe_error *err)
{
    enum lathe_status status;

    *setup = (struct bench_setup){.words = words,
                                  .out = out,
                                  .machine = LATHE_BENCH_MACHINE_INIT,
                                  .vs = words_value(words, "vs"),
                                  .git = build_git_id(),
                                  .path = words->output};
    status = bench_options(words, block_ms, &setup->options, err);
    if (status == LATHE_OK && setup->path && strcmp(setup->path, "-") == 0)
        status =
            fail(err, LATHE_BAD_WORD, "-o -: lines are appended to a file; --json prints them");
    if (status == LATHE_OK)
        status = context_open_device(&setup->context, words, err);
    if (status == LATHE_OK)
        status = lathe_bench_machine(setup->context, &setup->options, &setup->machine, err);
    if (status == LATHE_OK && setup->path)
        status = results_open(setup->path, &setup->file, &setup->held, err);
    return status;
}

void bench_end(struct bench_setup *setup)
{
    progress_end(&setup->progress);
    lathe_context_destroy(&setup->context);
    json_decref(setup->held);
    if (setup->file)
        fclose(setup->file);
}

enum lathe_status bench_keep(const struct bench_setup *setup, const json_t *record,
                             struct lathe_error *err)
{
    return setup->file ? results_append(setup->file, setup->path, record, err) : LATHE_OK;
}

bool bench_is_refusal(enum lathe_status status)
{
    switch (status) {
    case LATHE_UNSUPPORTED:
    case LATHE_DOES_NOT_FIT:
    case LATHE_OUT_OF_RANGE:
    case LATHE_OUT_OF_MEMORY:
    case LATHE_LINK_FAILED:
    case LATHE_INTERNAL:
        return true;
    case LATHE_OK:
    case LATHE_BAD_WORD:
    case LATHE_NO_DRIVER:
    case LATHE_NO_DEVICE:
    case LATHE_NO_LIBRARY:
    case LATHE_DRIVER_FAILED:
    case LATHE_IO_FAILED:
    case LATHE_MISUSED:
        return false;
    }
    return false;
}

/* ---- One problem ---- */

/* Columns of what was not asked for are left out. */
static void add_heads(struct table *table, const struct lathe_bench_report *r)
{
    static const char *const heads[] = {"",           "us",  "TFLOPS", "isolated us",
                                        "L2-warm us", "MHz", "W",      ""};
    enum { COUNT = sizeof heads / sizeof heads[0] };
    const bool shown[COUNT] = {true, true, true, r->isolated[0].time_us > 0, r->warm[0].time_us > 0,
                               true, true, true};

    table->columns = 0;
    for (int i = 0; i < COUNT; i++)
        table->columns += shown[i];
    table->right = (1u << (table->columns - 1)) - 2; /* all but the first and the last */
    for (int i = 0; i < COUNT; i++)
        if (shown[i])
            table_cell(table, "%s", heads[i]);
}

static void print_rows(struct output *out, const struct lathe_bench_report *r)
{
    struct table table = {.columns = 0};

    add_heads(&table, r);
    for (int i = 0; i < r->row_count; i++) {
        const struct lathe_bench_row *row = &r->rows[i];

        table_cell(&table, "%s", row->kind == LATHE_BENCH_PLAN ? "lathe" : row->name);
        table_cell(&table, "%.2f", row->time_us);
        table_cell(&table, "%.1f", row->tflops);
        if (r->isolated[0].time_us > 0)
            table_cell(&table, "%.2f", r->isolated[i].time_us);
        if (r->warm[0].time_us > 0)
            table_cell(&table, "%.2f", r->warm[i].time_us);
        for (int j = 0; j < 2; j++)
            if (row->clocks.samples > 0)
                table_cell(&table, "%.0f", j == 0 ? row->clocks.sm_mhz : row->clocks.power_w);
            else
                table_cell(&table, "-");
        if (row->kind == LATHE_BENCH_CUBLASLT_BEST)
            table_cell(&table, "heuristic %d of %d", row->heuristic, row->heuristics);
        else
            table_cell(&table, "%s", "");
    }
    table_print(&table, out, 0);
}

/* Of times that stand beside those of the blocks, if they were measured. */
static void print_ratios(struct output *out, const struct lathe_bench_report *r, const char *title,
                         const struct lathe_bench_figures *figures)
{
    for (int i = 1; i < r->row_count && figures[i].time_us > 0; i++)
        output_text(out, "%-9s %.3f to %s (95 %%: %.3f to %.3f)\n", title, figures[i].ratio,
                    r->rows[i].name, figures[i].ratio_low, figures[i].ratio_high);
}

static void print_report(struct output *out, const struct lathe_bench_report *r)
{
    char plan[1024];

    lathe_plan_words(&r->plan, plan, sizeof plan);
    output_text(out, "device    %s (%s)\n", r->device, lathe_arch_name(r->plan.arch));
    output_text(out, "plan      %s\n", plan);
    output_text(out, "blocks    of %d launches over %d sets of buffers\n", r->launches, r->sets);
    if (r->measured_again)
        output_text(out, "clocks    differed by more than 1.5 %%: measured twice\n");
    if (r->rows[0].efficiency > 0)
        output_text(out, "of peak   %.1f %% of what the tensor cores can do at %.0f MHz\n",
                    100 * r->rows[0].efficiency, r->rows[0].clocks.sm_mhz);
    if (r->warm_refused[0])
        output_text(out, "L2-warm   not measured: %s\n", r->warm_refused);
    if (r->plan.acc == LATHE_F16)
        output_text(out, "note      %s\n", f16_sums_words);
    output_text(out, "verified  %s%s%s\n\n",
                output_style(out, r->verified ? STYLE_GOOD : STYLE_BAD),
                r->verified ? "yes" : "NO: the answer is wrong", output_style(out, STYLE_PLAIN));
    print_rows(out, r);
    if (r->row_count > 1)
        output_text(out, "\n");
    for (int i = 1; i < r->row_count; i++)
        output_text(out,
                    "ratio     %s%.3f%s to %s (95 %%: %.3f to %.3f); above 1 lathe is faster\n",
                    output_style(out, STYLE_BOLD), r->rows[i].ratio, output_style(out, STYLE_PLAIN),
                    r->rows[i].name, r->rows[i].ratio_low, r->rows[i].ratio_high);
    print_ratios(out, r, "isolated", r->isolated);
    print_ratios(out, r, "L2-warm", r->warm);
}

/* The record, printed or not, goes to the file. */
static int answer(const struct bench_setup *setup, const struct lathe_request *request,
                  const struct lathe_bench_report *report)
{
    json_t *record = record_head(setup, request);
    int code = report->verified ? EXIT_DONE : EXIT_CANNOT;
    struct lathe_error err = {.status = LATHE_OK};

    if (!record || !record_report(record, request, report))
        fail(&err, LATHE_OUT_OF_MEMORY, "no memory for the answer");
    else
        bench_keep(setup, record, &err);
    if (err.status != LATHE_OK) {
        json_decref(record);
        return output_refuse(setup->out, &err);
    }
    if (setup->out->json)
        return output_json(setup->out, record, code);
    json_decref(record);
    print_report(setup->out, report);
    return code;
}

static int bench_problem(const struct words *words, struct output *out)
{
    struct lathe_bench_report report = {.plan = LATHE_PLAN_INIT};
    struct lathe_request request;
    struct bench_setup setup = {.words = words};
    struct lathe_error err;
    enum lathe_status status = request_read(words, &request, &err);
    int code;

    if (status == LATHE_OK)
        status = bench_begin(&setup, words, out, 20, &err);
    if (status == LATHE_OK) {
        progress_begin(&setup.progress, out, "measuring");
        status = lathe_bench_gemm(setup.context, &request.gemm, &request.plan, &setup.options,
                                  &report, &err);
        progress_end(&setup.progress);
    }
    code = status == LATHE_OK ? answer(&setup, &request, &report) : output_refuse(out, &err);
    bench_end(&setup);
    return code;
}

/* ---- The verb ---- */

/* A key that means something to a suite alone, or null. */
static const char *stray_key(const struct words *words)
{
    static const char *const of_suites[] = {"class", "resume", "limit_s", "passes", "heat_ms"};

    for (size_t i = 0; i < sizeof of_suites / sizeof of_suites[0]; i++)
        if (words_given(words, of_suites[i]))
            return of_suites[i];
    return NULL;
}

static int run(const struct words *words, struct output *out)
{
    const char *stray = stray_key(words);
    struct lathe_error err;

    if (words_given(words, "suite")) {
        if (!words_given(words, "ladder"))
            return bench_suite(words, out);
        fail(&err, LATHE_BAD_WORD, "ladder=%.40s: one problem has a ladder, a suite has not",
             words_value(words, "ladder"));
        return output_refuse(out, &err);
    }
    if (stray) {
        fail(&err, LATHE_BAD_WORD, "%s=%.40s: only for suite=", stray, words_value(words, stray));
        return output_refuse(out, &err);
    }
    return words_given(words, "ladder") ? bench_ladder(words, out) : bench_problem(words, out);
}

const struct verb verb_bench = {
    .name = "bench",
    .synopsis = "gemm m=M n=N k=K [KEY=VALUE...] [vs=cublaslt] | suite=public|FILE ...",
    .summary = "how fast problems are, alone or beside another library",
    .about =
        "Times blocks of launches over buffers that exceed the L2 cache, interleaved with those\n"
        "of the contenders, and checks the answer afterwards. Needs a GPU. The exit code is 1\n"
        "when an answer is wrong, or nothing could be measured. Contenders are cublaslt, the\n"
        "first choice of its heuristic, and cublaslt-best, the fastest of up to 32.\n"
        "\n"
        "suite=public measures 44 dense shapes, in bf16 unless type= says otherwise; suite=FILE\n"
        "one problem a line: [class=WORD] m=M n=N k=K [KEY=VALUE...], # begins a comment. Words\n"
        "of the command hold for all. What is refused is counted apart. ladder=hopper takes\n"
        "every variant hopper-... as a row, hopper-best last.\n"
        "\n"
        "isolated=1 also times one launch by itself, as a caller sees it who waits for it;\n"
        "warm=1 blocks over one set of buffers, where L2 holds what a launch touches.\n"
        "\n"
        "--json: {\"words\", \"m\", \"n\", \"k\", \"type\", \"vs\", \"protocol\", \"device\", "
        "\"device_hash\", \"arch\",\n"
        "\"sms\", \"cuda\", \"driver\", \"cublaslt\", \"lathe\", \"git\": the commit, \"date\",\n"
        "\"plan\": as of lathe plan, \"plan_words\", \"f16_sums\", \"launches\": of a block, "
        "\"sets\": of "
        "buffers,\n"
        "\"verified\", \"measured_again\", \"clocks\", \"efficiency\": of what the clock allows,\n"
        "\"tb_per_s\", \"rows\": one a contender [{\"vs\", \"time_us\", \"tflops\", "
        "\"vs_time_us\", \"vs_tflops\",\n"
        "\"ratio\": above 1 lathe is faster, \"ratio_low\", \"ratio_high\": 95 %, \"heuristic\": "
        "the\n"
        "chosen one, from 1, of \"heuristics\", \"vs_clocks\"}]}.\n"
        "With isolated=1 also \"isolated_spin_us\", and in a row \"isolated\": {\"time_us\", "
        "\"vs_time_us\",\n"
        "\"ratio\", \"ratio_low\", \"ratio_high\"}; with warm=1 likewise \"warm\" in a row, null "
        "where\n"
        "\"warm_refused\" says why.\n"
        "Times are medians. With vs=none there is one row, and what is the contender's is null.\n"
        "A suite gives {\"suite\", \"records\": [...], \"summary\", \"left\"}. A ladder has, "
        "behind "
        "\"date\",\n"
        "\"ladder\", \"sets\", \"verified\", \"rungs\" and \"contenders\" alone. docs/benchmark.md "
        "says more.\n",
    .examples = "  lathe bench gemm m=4096 n=4096 k=4096\n"
                "  lathe bench gemm m=8192 n=8192 k=8192 type=bf16 vs=cublaslt,cublaslt-best\n"
                "  lathe bench gemm m=64 n=4096 k=14336 pairs=4 --json\n"
                "  lathe bench gemm m=16 n=4096 k=4096 vs=cublaslt isolated=1 warm=1\n"
                "  lathe bench suite=public class=decode vs=cublaslt -o decode.jsonl\n"
                "  lathe bench suite=public vs=cublaslt limit_s=240 -o public.jsonl resume=1\n"
                "  lathe bench gemm m=8192 n=8192 k=8192 ladder=hopper vs=cublaslt\n",
    .output = "appends a JSON object a problem, a line each",
    .takes_request = true,
    .keys = keys,
    .run = run,
};
