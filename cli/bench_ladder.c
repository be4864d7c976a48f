/* bench_ladder.c: every rung of a ladder beside the others and a contender: what each idea gives. A
 * rung is a variant whose name begins with the ladder's; the one called -best is the last. */
#include "cli/bench_record.h"
#include "cli/request.h"

#include <stdlib.h>
#include <string.h>

enum { RUNGS_MAX = 12, LADDER_BLOCK_MS = 20, PLAN_WORDS_SIZE = 1024 };

struct rung {
    const char *name;
    struct lathe_plan_options options;
    struct lathe_error refusal; /* LATHE_OK: there is none */
    char words[PLAN_WORDS_SIZE];
    const struct lathe_bench_row *row; /* null where it is refused */
};

struct ladder {
    struct bench_setup setup;
    struct lathe_request request;
    const char *name;
    struct rung rungs[RUNGS_MAX];
    int count;
    struct lathe_bench_report report;
};

/* ---- Rungs ---- */

static bool is_rung(const struct lathe_variant_info *info, const char *ladder)
{
    size_t length = strlen(ladder);

    return strncmp(info->name, ladder, length) == 0 && info->name[length] == '-';
}

static bool is_best(const struct lathe_variant_info *info, const char *ladder)
{
    return strcmp(info->name + strlen(ladder), "-best") == 0;
}

/* The names of the ladders, each once. */
static enum lathe_status refuse_ladder(const char *name, struct lathe_error *err)
{
    struct lathe_variant_info info;
    char names[RUNGS_MAX][32];
    const char *known[RUNGS_MAX];
    size_t count = 0;

    for (size_t i = 0; lathe_variant_at(i, &info) && count < RUNGS_MAX; i++) {
        bool is_new = true;

        snprintf(names[count], sizeof names[count], "%.*s", (int)strcspn(info.name, "-"),
                 info.name);
        for (size_t j = 0; j < count; j++)
            is_new = is_new && strcmp(known[j], names[count]) != 0;
        if (is_new) {
            known[count] = names[count];
            count++;
        }
    }
    return words_refuse(name, "ladder", known, count, err);
}

static void add_rung(struct ladder *ladder, const char *name)
{
    struct rung *rung = &ladder->rungs[ladder->count++];

    *rung = (struct rung){.name = name, .options = ladder->request.plan};
    snprintf(rung->options.variant, sizeof rung->options.variant, "%s", name);
}

/* In the order in which variants are listed, but the best last. */
static enum lathe_status find_rungs(struct ladder *ladder, struct lathe_error *err)
{
    struct lathe_variant_info info;

    for (int best = 0; best < 2; best++)
        for (size_t i = 0; lathe_variant_at(i, &info); i++)
            if (is_rung(&info, ladder->name) && is_best(&info, ladder->name) == (best == 1) &&
                ladder->count < RUNGS_MAX)
                add_rung(ladder, info.name);
    return ladder->count > 0 ? LATHE_OK : refuse_ladder(ladder->name, err);
}

/* Builds all rungs; one that cannot do the problem is refused, and the others go on. */
static enum lathe_status build_rungs(struct ladder *ladder, struct lathe_error *err)
{
    for (int i = 0; i < ladder->count; i++) {
        struct rung *rung = &ladder->rungs[i];
        struct lathe_function *function = NULL;
        enum lathe_status status =
            lathe_gemm_get(ladder->setup.context, &function, &ladder->request.gemm, &rung->options,
                           &rung->refusal);

        if (status == LATHE_OK) {
            rung->refusal.status = LATHE_OK;
            lathe_plan_words(lathe_function_plan(function), rung->words, sizeof rung->words);
        } else if (!bench_is_refusal(status)) {
            *err = rung->refusal;
            return status;
        }
    }
    return LATHE_OK;
}

static bool has_f16_sums(const struct rung *rung)
{
    return words_index(rung->words, "acc=f16") >= 0;
}

/* ---- Measuring ---- */

static enum lathe_status measure(struct ladder *ladder, struct lathe_error *err)
{
    struct lathe_plan_options options[RUNGS_MAX];
    struct lathe_bench_options *bench = &ladder->setup.options;
    int count = 0, row = 0;
    enum lathe_status status;

    for (int i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].refusal.status == LATHE_OK)
            options[count++] = ladder->rungs[i].options;
    if (count == 0) {
        *err = ladder->rungs[ladder->count - 1].refusal;
        return err->status;
    }
    bench->rungs = options + 1;
    bench->rung_count = count - 1;
    progress_begin(&ladder->setup.progress, ladder->setup.out, "measuring");
    status = lathe_bench_gemm(ladder->setup.context, &ladder->request.gemm, &options[0], bench,
                              &ladder->report, err);
    progress_end(&ladder->setup.progress);
    bench->rungs = NULL;
    for (int i = 0; i < ladder->count && status == LATHE_OK; i++)
        if (ladder->rungs[i].refusal.status == LATHE_OK)
            ladder->rungs[i].row = &ladder->report.rows[row++];
    return status;
}

/* How many times faster than the rung before it that was measured; 0 for the first. */
static double step_of(const struct ladder *ladder, int index)
{
    const struct lathe_bench_row *row = ladder->rungs[index].row;

    for (int i = index - 1; row && i >= 0; i--)
        if (ladder->rungs[i].row && row->time_us > 0)
            return ladder->rungs[i].row->time_us / row->time_us;
    return 0;
}

/* The contenders' rows come behind those of the plans. */
static int first_contender(const struct ladder *ladder)
{
    int plans = 0;

    for (int i = 0; i < ladder->count; i++)
        plans += ladder->rungs[i].row != NULL;
    return plans;
}

/* ---- The record ---- */

static json_t *number_or_null(double number)
{
    return number > 0 ? json_number(number) : json_null();
}

static json_t *rung_json(const struct ladder *ladder, int index)
{
    const struct rung *rung = &ladder->rungs[index];
    const struct lathe_bench_row *row = rung->row;

    if (!row)
        return json_pack("{s:s, s:o}", "variant", rung->name, "refused",
                         output_error(&rung->refusal));
    return json_pack("{s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "variant",
                     rung->name, "plan_words", json_text(rung->words), "verified", row->verified,
                     "f16_sums", has_f16_sums(rung), "time_us", json_number(row->time_us), "tflops",
                     json_number(row->tflops), "ratio", number_or_null(row->ratio), "ratio_low",
                     number_or_null(row->ratio_low), "ratio_high", number_or_null(row->ratio_high),
                     "step", number_or_null(step_of(ladder, index)), "clocks",
                     record_clocks(&row->clocks));
}

static json_t *contender_json(const struct lathe_bench_row *row)
{
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:o}", "vs", json_text(row->name), "time_us",
                     json_number(row->time_us), "tflops", json_number(row->tflops), "heuristic",
                     row->heuristic, "heuristics", row->heuristics, "clocks",
                     record_clocks(&row->clocks));
}

static json_t *make_record(const struct ladder *ladder)
{
    json_t *record = record_head(&ladder->setup, &ladder->request);
    json_t *rungs = json_array(), *contenders = json_array(), *measured;

    for (int i = 0; i < ladder->count; i++)
        json_array_append_new(rungs, rung_json(ladder, i));
    for (int i = first_contender(ladder); i < ladder->report.row_count; i++)
        json_array_append_new(contenders, contender_json(&ladder->report.rows[i]));
    measured = json_pack("{s:o, s:i, s:b, s:o, s:o}", "ladder", json_text(ladder->name), "sets",
                         ladder->report.sets, "verified", ladder->report.verified, "rungs", rungs,
                         "contenders", contenders);
    if (!record || !measured || json_object_update(record, measured) != 0) {
        json_decref(record);
        record = NULL;
    }
    json_decref(measured);
    return record;
}

/* ---- In words ---- */

static void add_measured(struct table *table, const struct lathe_bench_row *row, double share,
                         double step)
{
    table_cell(table, "%.2f", row->time_us);
    table_cell(table, "%.1f", row->tflops);
    if (share > 0)
        table_cell(table, "%.1f %%", 100 * share);
    else
        table_cell(table, "-");
    if (step > 0)
        table_cell(table, "%.2f", step);
    else
        table_cell(table, "-");
}

static void add_rung_row(struct table *table, const struct ladder *ladder, int index)
{
    const struct rung *rung = &ladder->rungs[index];

    table_cell(table, "%s", rung->name);
    if (rung->row) {
        add_measured(table, rung->row, rung->row->ratio, step_of(ladder, index));
        table_cell(table, "%s%s%s", rung->row->verified ? "" : "WRONG ANSWER",
                   !rung->row->verified && has_f16_sums(rung) ? "; " : "",
                   has_f16_sums(rung) ? f16_sums_words : "");
        return;
    }
    for (int i = 0; i < 4; i++)
        table_cell(table, "-");
    table_cell(table, "refused: %s", rung->refusal.message);
}

static void print_ladder(struct output *out, const struct ladder *ladder)
{
    static const char *const heads[] = {"", "us", "TFLOPS", "of vs", "step", ""};
    struct table table = {.columns = 6, .right = 0x1e};
    char *problem = request_words(&ladder->request);

    output_text(out, "device    %s (%s)\nproblem   %s\n\n", ladder->report.device,
                lathe_arch_name(ladder->report.plan.arch), problem ? problem : "");
    free(problem);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(&table, "%s", heads[i]);
    for (int i = 0; i < ladder->count; i++)
        add_rung_row(&table, ladder, i);
    for (int i = first_contender(ladder); i < ladder->report.row_count; i++) {
        const struct lathe_bench_row *row = &ladder->report.rows[i];

        table_cell(&table, "%s", row->name);
        add_measured(&table, row, 0, 0);
        if (row->kind == LATHE_BENCH_CUBLASLT_BEST)
            table_cell(&table, "heuristic %d of %d", row->heuristic, row->heuristics);
        else
            table_cell(&table, "%s", "");
    }
    table_print(&table, out, 0);
    output_text(out, "\nstep: how many times faster than the rung before; of vs: the share of the "
                     "first contender's speed\n");
}

static int answer(struct ladder *ladder)
{
    struct output *out = ladder->setup.out;
    int code = ladder->report.verified ? EXIT_DONE : EXIT_CANNOT;
    json_t *record = make_record(ladder);
    struct lathe_error err = {.status = LATHE_OK};

    if (!record)
        fail(&err, LATHE_OUT_OF_MEMORY, "no memory for the answer");
    else
        bench_keep(&ladder->setup, record, &err);
    if (err.status != LATHE_OK) {
        json_decref(record);
        return output_refuse(out, &err);
    }
    if (out->json)
        return output_json(out, record, code);
    json_decref(record);
    print_ladder(out, ladder);
    return code;
}

int bench_ladder(const struct words *words, struct output *out)
{
    static const char *const extras[] = {"isolated", "warm"};
    struct ladder *ladder = calloc(1, sizeof *ladder);
    struct lathe_error err;
    enum lathe_status status;
    int code;

    if (!ladder) {
        fail(&err, LATHE_OUT_OF_MEMORY, "no memory for a ladder");
        return output_refuse(out, &err);
    }
    ladder->name = words_value(words, "ladder");
    ladder->report.plan = (struct lathe_plan)LATHE_PLAN_INIT;
    status = request_read(words, &ladder->request, &err);
    if (status == LATHE_OK && ladder->request.plan.variant[0])
        status = fail(&err, LATHE_BAD_WORD, "variant=%s: a ladder takes all of its variants",
                      ladder->request.plan.variant);
    for (size_t i = 0; i < sizeof extras / sizeof extras[0] && status == LATHE_OK; i++)
        if (words_are(words, extras[i], "1"))
            status = fail(&err, LATHE_BAD_WORD, "%s=1: a ladder has times of cold blocks alone",
                          extras[i]);
    if (status == LATHE_OK)
        status = find_rungs(ladder, &err);
    if (status == LATHE_OK)
        status = bench_begin(&ladder->setup, words, out, LADDER_BLOCK_MS, &err);
    if (status == LATHE_OK)
        status = build_rungs(ladder, &err);
    if (status == LATHE_OK)
        status = measure(ladder, &err);
    code = status == LATHE_OK ? answer(ladder) : output_refuse(out, &err);
    bench_end(&ladder->setup);
    free(ladder);
    return code;
}
