#include "cli/bench_table.h"

#include "cli/bench_record.h"
#include "cli/names.h"

#include <math.h>
#include <string.h>

#define TIE_LEAST 0.98

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* ---- Arithmetic ---- */

enum outcome outcome_of(double ratio, double ratio_low)
{
    if (ratio_low > 1)
        return OUTCOME_WIN;
    return ratio >= TIE_LEAST ? OUTCOME_TIE : OUTCOME_LOSS;
}

struct tally tally_records(const json_t *records, const char *class, const char *contender)
{
    struct tally tally = {.shapes = 0};
    double logs = 0;
    size_t i;
    json_t *record;

    json_array_foreach(records, i, record)
    {
        const json_t *row = record_mark(record) ? NULL : record_row(record, contender);
        double ratio = number_of(row, "ratio");

        if (!row || (class && strcmp(class, text_of(record, "class")) != 0))
            continue;
        switch (outcome_of(ratio, number_of(row, "ratio_low"))) {
        case OUTCOME_WIN:
            tally.wins++;
            break;
        case OUTCOME_TIE:
            tally.ties++;
            break;
        case OUTCOME_LOSS:
            tally.losses++;
            break;
        }
        if (tally.shapes++ == 0 || ratio < tally.worst) {
            tally.worst = ratio;
            record_name(record, tally.worst_name);
        }
        logs += log(ratio);
    }
    tally.mean = tally.shapes > 0 ? exp(logs / tally.shapes) : 0;
    return tally;
}

struct failures count_failures(const json_t *records)
{
    struct failures failures = {.refused = 0};
    size_t i;
    json_t *record;

    json_array_foreach(records, i, record)
    {
        failures.refused += record_is_refused(record);
        failures.wrong += record_is_wrong(record);
        failures.f16_sums += record_mark(record) == f16_sums_words;
    }
    return failures;
}

/* ---- Classes and contenders ---- */

/* False without memory. */
static bool collect(const json_t *records, struct names *classes, struct names *contenders)
{
    bool has_memory = true;
    size_t i, j;
    json_t *record, *row;

    json_array_foreach(records, i, record)
    {
        if (text_of(record, "class")[0])
            has_memory = names_add(classes, text_of(record, "class")) && has_memory;
        json_array_foreach(json_object_get(record, "rows"), j, row)
        {
            if (text_of(row, "vs")[0])
                has_memory = names_add(contenders, text_of(row, "vs")) && has_memory;
        }
    }
    return has_memory;
}

/* The first word of a contender's name. */
static const char *first_word(const char *name, char word[32])
{
    snprintf(word, 32, "%.*s", (int)strcspn(name, " "), name);
    return word;
}

/* ---- In words ---- */

static void print_rows(struct output *out, const json_t *record)
{
    size_t i;
    json_t *row;

    json_array_foreach(json_object_get(record, "rows"), i, row)
    {
        char word[32], plain[PLAIN_SIZE];

        if (number_of(row, "ratio") > 0)
            output_text(out, "   %s %.3f (%.3f to %.3f)",
                        output_plain(first_word(text_of(row, "vs"), word), plain),
                        number_of(row, "ratio"), number_of(row, "ratio_low"),
                        number_of(row, "ratio_high"));
    }
}

/* A time beside that of the blocks, where it was measured. */
static void print_part(struct output *out, const json_t *record, const char *part,
                       const char *title)
{
    const json_t *rows = json_object_get(record, "rows");
    const json_t *plan = json_object_get(json_array_get(rows, 0), part);
    size_t i;
    json_t *row;

    if (!json_is_object(plan))
        return;
    output_text(out, "   %s %.2f us", title, number_of(plan, "time_us"));
    json_array_foreach(rows, i, row)
    {
        double ratio = number_of(json_object_get(row, part), "ratio");
        char word[32];

        if (ratio > 0)
            output_text(out, " %s %.3f", first_word(text_of(row, "vs"), word), ratio);
    }
}

void print_record(struct output *out, const json_t *record, bool held)
{
    char name[RECORD_NAME_SIZE], plain[PLAIN_SIZE];
    const json_t *refused = json_object_get(record, "refused");
    const json_t *row = json_array_get(json_object_get(record, "rows"), 0);

    output_text(out, "%-8s %-20s", output_plain(text_of(record, "class"), plain),
                record_name(record, name));
    if (refused) {
        output_text(out, " refused: %s\n", output_plain(text_of(refused, "message"), plain));
        return;
    }
    output_text(out, " %10.2f us %7.1f TFLOPS", number_of(row, "time_us"),
                number_of(row, "tflops"));
    if (json_is_object(json_object_get(record, "clocks")))
        output_text(out, " %5.0f MHz", number_of(json_object_get(record, "clocks"), "sm_mhz"));
    print_rows(out, record);
    print_part(out, record, "isolated", "isolated");
    print_part(out, record, "warm", "L2-warm");
    if (json_is_true(json_object_get(record, "measured_again")))
        output_text(out, "   measured twice: clocks differed");
    if (record_has_f16_sums(record))
        output_text(out, "   %s", f16_sums_words);
    if (record_is_wrong(record))
        output_text(out, "   %sWRONG ANSWER%s", output_style(out, STYLE_BAD),
                    output_style(out, STYLE_PLAIN));
    output_text(out, "%s\n", held ? "   as held" : "");
}

static void add_tally(struct table *table, const char *class, const struct tally *tally)
{
    char plain[PLAIN_SIZE];

    if (tally->shapes == 0)
        return;
    table_cell(table, "%s", output_plain(class, plain));
    table_cell(table, "%d", tally->shapes);
    table_cell(table, "%.3f", tally->mean);
    table_cell(table, "%d", tally->wins);
    table_cell(table, "%d", tally->ties);
    table_cell(table, "%d", tally->losses);
    table_cell(table, "%.3f", tally->worst);
    table_cell(table, "%s", tally->worst_name);
}

/* Whether there were any. */
static bool print_tallies(struct output *out, const json_t *records, const struct names *classes,
                          const char *contender)
{
    static const char *const heads[] = {"shapes", "mean", "wins", "ties", "losses", "worst", ""};
    struct table table = {.columns = 8, .right = 0x7e};
    char word[32], plain[PLAIN_SIZE];
    struct tally tally = tally_records(records, NULL, first_word(contender, word));

    if (tally.shapes == 0)
        return false;
    table_cell(&table, "vs %s", output_plain(contender, plain));
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < classes->count; i++) {
        tally = tally_records(records, classes->list[i], word);
        add_tally(&table, classes->list[i], &tally);
    }
    tally = tally_records(records, NULL, word);
    add_tally(&table, "all", &tally);
    output_text(out, "\n");
    table_print(&table, out, 0);
    return true;
}

void print_summary(struct output *out, const json_t *records)
{
    struct names classes = {0}, contenders = {0};
    struct failures failures = count_failures(records);
    bool has_ratios = false;

    if (!collect(records, &classes, &contenders))
        output_note("no memory for a line a class");
    for (size_t i = 0; i < contenders.count; i++)
        has_ratios = print_tallies(out, records, &classes, contenders.list[i]) || has_ratios;
    output_text(out, "\n%d measured", (int)json_array_size(records) - failures.refused);
    if (failures.refused > 0)
        output_text(out, ", %d refused", failures.refused);
    if (failures.f16_sums > 0)
        output_text(out, ", %d with %s", failures.f16_sums, f16_sums_words);
    if (failures.wrong > 0)
        output_text(out, ", %s%d WRONG%s", output_style(out, STYLE_BAD), failures.wrong,
                    output_style(out, STYLE_PLAIN));
    output_text(out, "%s\n", has_ratios ? "; above 1 lathe is faster, means are geometric" : "");
    names_free(&classes);
    names_free(&contenders);
}

/* ---- In JSON ---- */

static json_t *tally_json(const char *class, const struct tally *tally)
{
    return json_pack("{s:o, s:i, s:o, s:i, s:i, s:i, s:o, s:o}", "class", json_text(class),
                     "shapes", tally->shapes, "mean", json_number(tally->mean), "wins", tally->wins,
                     "ties", tally->ties, "losses", tally->losses, "worst",
                     json_number(tally->worst), "worst_name", json_text(tally->worst_name));
}

static json_t *contender_json(const json_t *records, const struct names *classes,
                              const char *contender)
{
    json_t *list = json_array();
    char word[32];
    struct tally tally;

    first_word(contender, word);
    for (size_t i = 0; i < classes->count; i++) {
        tally = tally_records(records, classes->list[i], word);
        if (tally.shapes > 0)
            json_array_append_new(list, tally_json(classes->list[i], &tally));
    }
    tally = tally_records(records, NULL, word);
    json_array_append_new(list, tally_json("all", &tally));
    return json_pack("{s:o, s:o}", "vs", json_text(contender), "classes", list);
}

json_t *summary_json(const json_t *records)
{
    struct names classes = {0}, contenders = {0};
    struct failures failures = count_failures(records);
    json_t *list = collect(records, &classes, &contenders) ? json_array() : NULL;

    for (size_t i = 0; list && i < contenders.count; i++)
        json_array_append_new(list, contender_json(records, &classes, contenders.list[i]));
    names_free(&classes);
    names_free(&contenders);
    return json_pack("{s:i, s:i, s:i, s:o}", "refused", failures.refused, "wrong", failures.wrong,
                     "f16_sums", failures.f16_sums, "contenders", list);
}
