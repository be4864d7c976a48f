/* plot.c: what `lathe bench -o FILE` kept, as a picture. */
#include "cli/plot.h"

#include "cli/bench_merge.h"
#include "cli/bench_record.h"
#include "cli/file.h"
#include "cli/results.h"
#include "cli/verb.h"
#include "lathe_tools.h"

#include <stdlib.h>
#include <string.h>

static const struct key keys[] = {
    {"chart", KEY_CHOICE, "auto ratio ladder", 0, 0, "auto",
     "auto: ratios, where the file has any"},
    {"vs", KEY_TEXT, "cublaslt cublaslt-best", 0, 0, "the first", "the contender of the ratios"},
    {0},
};

struct plot {
    json_t *ratios; /* all records, then the latest of each problem */
    json_t *ladder; /* the latest                                   */
    char contender[32];
    bool is_ladder;
    size_t marks; /* that are drawn */
};

/* ---- Records ---- */

static enum lathe_status sort_records(struct plot *plot, const json_t *records,
                                      struct lathe_error *err)
{
    size_t i;
    json_t *record;

    plot->ratios = json_array();
    json_array_foreach(records, i, record)
    {
        if (json_object_get(record, "ladder")) {
            json_decref(plot->ladder);
            plot->ladder = json_incref(record);
        } else if (json_array_append(plot->ratios, record) != 0) {
            return fail(err, LATHE_OUT_OF_MEMORY, "no memory for records");
        }
    }
    return plot->ratios ? LATHE_OK : fail(err, LATHE_OUT_OF_MEMORY, "no memory for records");
}

/* The first word of the first contender that has a ratio, where none is named. */
static enum lathe_status choose_contender(struct plot *plot, const struct words *words,
                                          const char *path, struct lathe_error *err)
{
    size_t i;
    json_t *record;

    snprintf(plot->contender, sizeof plot->contender, "%.31s",
             words_given(words, "vs") ? words_value(words, "vs") : "");
    json_array_foreach(plot->ratios, i, record)
    {
        const json_t *row = json_array_get(json_object_get(record, "rows"), 0);
        const char *vs = json_string_value(json_object_get(row, "vs"));

        if (plot->contender[0] ? record_row(record, plot->contender) != NULL : vs != NULL) {
            if (!plot->contender[0])
                snprintf(plot->contender, sizeof plot->contender, "%.*s", (int)strcspn(vs, " "),
                         vs);
            return LATHE_OK;
        }
    }
    return fail(err, LATHE_UNSUPPORTED,
                "%.200s: no ratio%s%s in it; measure with vs=cublaslt and -o", path,
                plot->contender[0] ? " to " : "", plot->contender);
}

/* The latest of each problem by record_problem(), as it was asked for beside the contender, in the
 * place of the first: an object keeps the order of its keys. */
static int add_latest(json_t *latest, json_t *record, const char *contender)
{
    char *key = record_problem(record);
    const json_t *older = key ? json_object_get(latest, key) : NULL;
    int status = key ? 0 : -1;

    if (status == 0 &&
        (!older || record_concerns(record, contender) || !record_concerns(older, contender)))
        status = json_object_set(latest, key, record);
    free(key);
    return status;
}

/* Whether the record is that latest one, or a pass of the same measurement. */
static bool is_of_latest(const json_t *latest, const json_t *record)
{
    char *key = record_problem(record);
    const json_t *last = key ? json_object_get(latest, key) : NULL;
    bool is_pass = json_object_get(record, "pass") != NULL;

    free(key);
    return last && record_is_same(last, record) &&
           is_pass == (json_object_get(last, "pass") != NULL);
}

/* Puts the passes of a problem in the place of the latest of them. */
static int merge_passes(json_t *latest, const json_t *records, const char *contender)
{
    json_t *passes = json_array(), *merged, *record;
    int status = passes ? 0 : -1;
    size_t i;

    json_array_foreach(records, i, record)
    {
        if (status == 0 && is_of_latest(latest, record))
            status = json_array_append(passes, record);
    }
    merged = status == 0 ? records_merge(passes) : NULL;
    if (!merged)
        status = -1;
    json_array_foreach(merged, i, record)
    {
        if (status == 0)
            status = add_latest(latest, record, contender);
    }
    json_decref(merged);
    json_decref(passes);
    return status;
}

static enum lathe_status keep_latest(struct plot *plot, struct lathe_error *err)
{
    json_t *latest = json_object(), *list = json_array(), *record;
    int status = latest && list ? 0 : -1;
    const char *key;
    size_t i;

    json_array_foreach(plot->ratios, i, record)
    {
        if (status == 0)
            status = add_latest(latest, record, plot->contender);
    }
    if (status == 0)
        status = merge_passes(latest, plot->ratios, plot->contender);
    json_object_foreach(latest, key, record)
    {
        if (status == 0)
            status = json_array_append(list, record);
    }
    json_decref(latest);
    json_decref(plot->ratios);
    plot->ratios = list;
    return status == 0 ? LATHE_OK : fail(err, LATHE_OUT_OF_MEMORY, "no memory for records");
}

static enum lathe_status draw(struct plot *plot, const struct words *words, const char *path,
                              char **text, struct lathe_error *err)
{
    plot->is_ladder =
        words_are(words, "chart", "ladder") ||
        (words_are(words, "chart", "auto") && json_array_size(plot->ratios) == 0 && plot->ladder);
    if (plot->is_ladder && !plot->ladder)
        return fail(err, LATHE_UNSUPPORTED,
                    "%.200s: no ladder in it; measure with ladder=hopper and -o", path);
    if (!plot->is_ladder) {
        enum lathe_status status = choose_contender(plot, words, path, err);

        if (status == LATHE_OK)
            status = keep_latest(plot, err);
        if (status != LATHE_OK)
            return status;
    }
    plot->marks = json_array_size(json_object_get(plot->ladder, "rungs"));
    *text = plot->is_ladder ? plot_ladder(plot->ladder)
                            : plot_ratios(plot->ratios, plot->contender, &plot->marks);
    return *text ? LATHE_OK : fail(err, LATHE_OUT_OF_MEMORY, "no memory for a picture");
}

/* ---- The verb ---- */

/* The picture goes where -o says, and without it to standard output. */
static int answer(struct output *out, const struct words *words, const struct plot *plot,
                  const char *text)
{
    bool to_file = words->output && !file_is_standard_output(words->output);
    struct lathe_error err;

    if (to_file && file_write(words->output, text, strlen(text), &err) != LATHE_OK)
        return output_refuse(out, &err);
    if (out->json)
        return output_json(out,
                           json_pack("{s:s, s:I, s:o, s:o}", "chart",
                                     plot->is_ladder ? "ladder" : "ratio", "marks",
                                     (json_int_t)plot->marks, "file",
                                     to_file ? json_text(words->output) : json_null(), "svg",
                                     to_file ? json_null() : json_text(text)),
                           EXIT_DONE);
    if (!to_file)
        output_bytes(out, text, strlen(text));
    return EXIT_DONE;
}

static int run(const struct words *words, struct output *out)
{
    struct plot plot = {.ratios = NULL};
    struct lathe_error err;
    json_t *records = NULL;
    char *text = NULL;
    enum lathe_status status = words_at_most(words, 1, &err);
    int code;

    if (status == LATHE_OK && words->count == 0)
        status = fail(&err, LATHE_BAD_WORD, "no file given; lathe bench -o FILE writes one");
    if (status == LATHE_OK) {
        records = results_read(words->list[0], &err);
        status = records ? LATHE_OK : err.status;
    }
    if (status == LATHE_OK)
        status = sort_records(&plot, records, &err);
    if (status == LATHE_OK)
        status = draw(&plot, words, words->list[0], &text, &err);
    code = status == LATHE_OK ? answer(out, words, &plot, text) : output_refuse(out, &err);
    free(text);
    json_decref(plot.ratios);
    json_decref(plot.ladder);
    json_decref(records);
    return code;
}

const struct verb verb_plot = {
    .name = "plot",
    .synopsis = "FILE.jsonl [-o PICTURE.svg] [chart=ratio|ladder] [vs=cublaslt]",
    .summary = "what lathe bench kept in a file, as a picture",
    .about =
        "Draws an SVG: ratios by shape with their intervals, classes together, or the rungs of\n"
        "a ladder beside the contenders. A problem that was measured more often is drawn as\n"
        "it was last beside that contender. What is wrong, or sums in f16, is yellow and\n"
        "counts in no mean. Without -o the picture is printed.\n"
        "\n"
        "--json: {\"chart\", \"marks\": shapes or rungs drawn, \"file\", \"svg\": the picture\n"
        "where no file receives it}.\n",
    .examples = "  lathe plot public.jsonl -o ratio.svg\n"
                "  lathe plot public.jsonl vs=cublaslt-best -o best.svg\n"
                "  lathe plot ladder.jsonl chart=ladder -o ladder.svg\n",
    .output = "receives the picture",
    .keys = keys,
    .run = run,
};
