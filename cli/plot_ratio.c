/* plot_ratio.c: a line a shape: its name, the ratio with its interval on a common scale, and the
 * figure. The scale is linear and ends where a few outliers would squeeze all the others: those are
 * arrows at its ends. */
#include "cli/plot.h"

#include "cli/bench_record.h"
#include "cli/bench_table.h"
#include "cli/names.h"
#include "cli/svg.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 960,
    MARK_WIDTH = 90, /* more, where a mark stands among the figures */
    LEFT = 220,      /* where the scale begins, behind the names */
    RIGHT = 780,     /* where it ends, before the figures        */
    MARGIN = 30,
    HEAD = 96, /* what stands above the first class, but for a line that only some need */
    LINE_STEP = 20,
    CLASS_STEP = 26,
    ROW_STEP = 17,
    FOOT = 44
};

#define LEAST 0.85
#define MOST 1.25
#define TIE_LOW 0.98
#define TIE_HIGH 1.02
#define TICK 0.05

static const char *const colours[] = {
    [OUTCOME_WIN] = "#228833", [OUTCOME_TIE] = "#4477aa", [OUTCOME_LOSS] = "#cc3311"};
static const char grid[] = "#dddddd", band[] = "#eeeeee", axis[] = "#222222", marked[] = "#ccbb44";

struct chart {
    struct svg svg;
    const json_t *records;
    const char *contender;
    double low, high; /* ends of the scale */
    int rows, marked; /* that are drawn; of them, those that do not count */
    int y, top, bottom;
};

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static const char *class_of(const json_t *record)
{
    const char *class = json_string_value(json_object_get(record, "class"));

    return class ? class : "one by one";
}

static double x_of(const struct chart *chart, double ratio)
{
    double at = fmin(fmax(ratio, chart->low), chart->high);

    return LEFT + (at - chart->low) / (chart->high - chart->low) * (RIGHT - LEFT);
}

/* ---- What there is to draw ---- */

/* One that is refused may stand for passes that were measured. */
static const json_t *drawn_row(const struct chart *chart, const json_t *record)
{
    return record_is_refused(record) ? NULL : record_row(record, chart->contender);
}

/* False without memory. */
static bool list_classes(struct chart *chart, struct names *classes)
{
    bool has_memory = true;
    size_t i;
    json_t *record;

    json_array_foreach(chart->records, i, record)
    {
        if (!drawn_row(chart, record))
            continue;
        chart->rows++;
        chart->marked += record_mark(record) != NULL;
        has_memory = has_memory && names_add(classes, class_of(record));
    }
    return has_memory;
}

/* All intervals, to whole ticks, but no further than a few outliers are worth. */
static void set_scale(struct chart *chart)
{
    size_t i;
    json_t *record;

    chart->low = 0.95;
    chart->high = 1.05;
    json_array_foreach(chart->records, i, record)
    {
        const json_t *row = drawn_row(chart, record);

        if (!row)
            continue;
        chart->low = fmin(chart->low, floor(number_of(row, "ratio_low") / TICK) * TICK);
        chart->high = fmax(chart->high, ceil(number_of(row, "ratio_high") / TICK) * TICK);
    }
    chart->low = fmax(chart->low, LEAST);
    chart->high = fmin(chart->high, MOST);
}

/* ---- Drawing ---- */

static int without_ratio(const struct chart *chart)
{
    return (int)json_array_size(chart->records) - chart->rows;
}

static bool has_rest(const struct chart *chart)
{
    return chart->marked > 0 || without_ratio(chart) > 0;
}

/* What the figures leave out. */
static void put_rest(struct chart *chart)
{
    char yellow[80] = "", without[48] = "";

    if (chart->marked > 0)
        snprintf(yellow, sizeof yellow, "%d in yellow %s not counted. ", chart->marked,
                 chart->marked == 1 ? "is" : "are");
    if (without_ratio(chart) > 0)
        snprintf(without, sizeof without, "%d more have no ratio.", without_ratio(chart));
    if (has_rest(chart))
        svg_text(&chart->svg, MARGIN, 78 + LINE_STEP, 13, SVG_START, "%s%s", yellow, without);
}

/* On which all was measured that is drawn. */
static const char *device_of(const struct chart *chart)
{
    const char *device = NULL;
    size_t i;
    json_t *record;

    json_array_foreach(chart->records, i, record)
    {
        const char *other = json_string_value(json_object_get(record, "device"));

        if (!other || !drawn_row(chart, record))
            continue;
        if (device && strcmp(device, other) != 0)
            return "several devices";
        device = other;
    }
    return device ? device : "";
}

static void put_head(struct chart *chart, const char *vs)
{
    struct tally all = tally_records(chart->records, NULL, chart->contender);

    svg_text(&chart->svg, MARGIN, 34, 20, SVG_START, "Speed of Lathe by that of %.40s, %.60s", vs,
             device_of(chart));
    svg_text(
        &chart->svg, MARGIN, 58, 13, SVG_START,
        "Right of 1 Lathe is faster. Dots are medians, bars their 95 %% intervals; the band is "
        "0.98 to 1.02.");
    if (all.shapes > 0)
        svg_text(&chart->svg, MARGIN, 78, 13, SVG_START,
                 "%d shapes, geometric mean %.3f, worst %.3f (%.24s); %d wins, %d ties, %d losses.",
                 all.shapes, all.mean, all.worst, all.worst_name, all.wins, all.ties, all.losses);
    else
        svg_text(&chart->svg, MARGIN, 78, 13, SVG_START, "No shape that counts.");
    put_rest(chart);
}

static void put_scale(struct chart *chart)
{
    double top = chart->top, bottom = chart->bottom;
    int first = (int)lround(chart->low / TICK), last = (int)lround(chart->high / TICK);
    int step = last - first > 8 ? 2 : 1;

    svg_rect(&chart->svg, x_of(chart, TIE_LOW), top, x_of(chart, TIE_HIGH) - x_of(chart, TIE_LOW),
             bottom - top, band);
    for (int i = first; i <= last; i++) {
        double x = x_of(chart, i * TICK);

        if (i % step != 0)
            continue;
        svg_line(&chart->svg, x, top, x, bottom, grid, 1);
        svg_text(&chart->svg, x, bottom + 18, 12, SVG_MIDDLE, "%.2f", i * TICK);
    }
    svg_line(&chart->svg, x_of(chart, 1), top, x_of(chart, 1), bottom, axis, 1.5);
}

/* Short, also where a ratio is beyond all that a GPU does. */
static const char *figure(double number, char text[16])
{
    snprintf(text, 16, number < 10 ? "%.3f" : number < 100 ? "%.2f" : "%.0f", number);
    return text;
}

static void put_figures(struct chart *chart, const json_t *row, const char *mark)
{
    char ratio[16], low[16], high[16];

    figure(number_of(row, "ratio"), ratio);
    if (mark)
        svg_text(&chart->svg, RIGHT + 16, chart->y, 12, SVG_START, "%s; %s", ratio, mark);
    else
        svg_text(&chart->svg, RIGHT + 16, chart->y, 12, SVG_START, "%s (%s to %s)", ratio,
                 figure(number_of(row, "ratio_low"), low),
                 figure(number_of(row, "ratio_high"), high));
}

static void put_record(struct chart *chart, const json_t *record, const json_t *row)
{
    double ratio = number_of(row, "ratio"), low = number_of(row, "ratio_low");
    double high = number_of(row, "ratio_high"), y = chart->y - 4;
    const char *mark = record_mark(record);
    const char *colour = mark ? marked : colours[outcome_of(ratio, low)];
    char name[RECORD_NAME_SIZE];

    svg_text(&chart->svg, LEFT - 12, chart->y, 12, SVG_END, "%.24s", record_name(record, name));
    if (ratio < chart->low || ratio > chart->high) {
        svg_arrow(&chart->svg, x_of(chart, ratio), y, ratio < chart->low ? -1 : 1, colour);
    } else {
        svg_line(&chart->svg, x_of(chart, low), y, x_of(chart, high), y, colour, 3);
        svg_dot(&chart->svg, x_of(chart, ratio), y, 4, colour);
    }
    put_figures(chart, row, mark);
    chart->y += ROW_STEP;
}

static void put_class(struct chart *chart, const char *class)
{
    size_t i;
    json_t *record;

    chart->y += CLASS_STEP - ROW_STEP;
    svg_text(&chart->svg, MARGIN, chart->y, 14, SVG_START, "%.24s", class);
    chart->y += ROW_STEP;
    json_array_foreach(chart->records, i, record)
    {
        const json_t *row = drawn_row(chart, record);

        if (row && strcmp(class_of(record), class) == 0)
            put_record(chart, record, row);
    }
}

/* The contender's whole name, as the first record has it. */
static const char *whole_name(const struct chart *chart)
{
    size_t i;
    json_t *record;

    json_array_foreach(chart->records, i, record)
    {
        const json_t *row = drawn_row(chart, record);

        if (row)
            return json_string_value(json_object_get(row, "vs"));
    }
    return chart->contender;
}

char *plot_ratios(const json_t *records, const char *contender, size_t *marks)
{
    struct chart chart = {.records = records, .contender = contender};
    struct names classes = {0};
    char *text = NULL;

    if (list_classes(&chart, &classes)) {
        chart.top = HEAD + (has_rest(&chart) ? LINE_STEP : 0);
        chart.y = chart.top + ROW_STEP;
        chart.bottom =
            chart.top + (int)classes.count * CLASS_STEP + chart.rows * ROW_STEP + ROW_STEP / 2;
        set_scale(&chart);
        svg_begin(&chart.svg, WIDTH + (chart.marked > 0 ? MARK_WIDTH : 0), chart.bottom + FOOT);
        put_head(&chart, whole_name(&chart));
        put_scale(&chart);
        for (size_t i = 0; i < classes.count; i++)
            put_class(&chart, classes.list[i]);
        text = svg_end(&chart.svg);
        *marks = (size_t)chart.rows;
    }
    names_free(&classes);
    return text;
}
