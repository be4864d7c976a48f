/* plot_ladder.c: a bar a rung: what each idea gives, up to the contenders. */
#include "cli/plot.h"

#include "cli/bench_record.h"
#include "cli/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

enum {
    WIDTH = 960,
    LEFT = 190,  /* where bars begin, behind the names    */
    RIGHT = 545, /* where the longest ends, before figures */
    FIGURES = RIGHT + 16,
    MARGIN = 30,
    HEAD = 96,
    ROW_STEP = 30,
    BAR = 18,
    FOOT = 24
};

static const char ours[] = "#4477aa", theirs[] = "#bbbbbb", unlike[] = "#ccbb44",
                  mark[] = "#cc3311";

struct chart {
    struct svg svg;
    double scale; /* of a TFLOPS */
    int y;
};

/* A file may hold any number; what no GPU can do is none. */
static double number_of(const json_t *row, const char *key)
{
    double number = json_number_value(json_object_get(row, key));

    return number >= 0 && number < 1e6 ? number : 0;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

static double most_of(const json_t *rows)
{
    double most = 0;
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row) most = fmax(most, number_of(row, "tflops"));
    return most;
}

static void put_bar(struct chart *chart, const char *name, double tflops, const char *colour)
{
    svg_text(&chart->svg, LEFT - 12, chart->y + BAR - 4, 14, SVG_END, "%.24s", name);
    svg_rect(&chart->svg, LEFT, chart->y, tflops * chart->scale, BAR, colour);
}

static void put_rung(struct chart *chart, const json_t *rung)
{
    double tflops = number_of(rung, "tflops"), ratio = number_of(rung, "ratio");
    bool is_unlike = record_has_f16_sums(rung);
    char share[32] = "", step[32] = "";

    if (json_object_get(rung, "refused")) {
        put_bar(chart, text_of(rung, "variant"), 0, ours);
        svg_text(&chart->svg, LEFT + 8, chart->y + BAR - 4, 13, SVG_START,
                 "refused: not for this problem");
        chart->y += ROW_STEP;
        return;
    }
    if (ratio > 0)
        snprintf(share, sizeof share, ", %.1f %%", 100 * ratio);
    if (number_of(rung, "step") > 0)
        snprintf(step, sizeof step, ", x %.2f", number_of(rung, "step"));
    put_bar(chart, text_of(rung, "variant"), tflops, is_unlike ? unlike : ours);
    svg_text(&chart->svg, FIGURES, chart->y + BAR - 4, 13, SVG_START, "%.0f%s%s%s%s%s", tflops,
             share, step, is_unlike ? "; " : "", is_unlike ? f16_sums_words : "",
             json_is_true(json_object_get(rung, "verified")) ? "" : "; wrong");
    chart->y += ROW_STEP;
}

static void put_contender(struct chart *chart, const json_t *contender)
{
    double tflops = number_of(contender, "tflops");

    put_bar(chart, text_of(contender, "vs"), tflops, theirs);
    svg_text(&chart->svg, FIGURES, chart->y + BAR - 4, 13, SVG_START, "%.0f", tflops);
    chart->y += ROW_STEP;
}

static void put_head(struct chart *chart, const json_t *record, bool has_contender)
{
    svg_text(&chart->svg, MARGIN, 34, 20, SVG_START, "The %.20s ladder on %.60s",
             text_of(record, "ladder"), text_of(record, "device"));
    svg_text(&chart->svg, MARGIN, 58, 13, SVG_START, "%.110s", text_of(record, "words"));
    svg_text(&chart->svg, MARGIN, 78, 13, SVG_START,
             has_contender ? "TFLOPS, the share of the contender's speed, and the step from the "
                             "rung before."
                           : "TFLOPS, and the step from the rung before.");
}

/* The first contender's speed, beneath all bars. */
static void put_mark(struct chart *chart, const json_t *contenders, int bottom)
{
    double tflops = number_of(json_array_get(contenders, 0), "tflops");
    double x = LEFT + tflops * chart->scale;

    if (tflops > 0)
        svg_line(&chart->svg, x, HEAD - 6, x, bottom, mark, 1.5);
}

char *plot_ladder(const json_t *record)
{
    const json_t *rungs = json_object_get(record, "rungs");
    const json_t *contenders = json_object_get(record, "contenders");
    double most = fmax(most_of(rungs), most_of(contenders));
    int rows = (int)(json_array_size(rungs) + json_array_size(contenders));
    int bottom = HEAD + rows * ROW_STEP;
    struct chart chart = {.scale = most > 0 ? (RIGHT - LEFT) / most : 0, .y = HEAD};
    size_t i;
    json_t *row;

    svg_begin(&chart.svg, WIDTH, bottom + FOOT);
    put_head(&chart, record, json_array_size(contenders) > 0);
    put_mark(&chart, contenders, bottom);
    json_array_foreach(rungs, i, row) put_rung(&chart, row);
    json_array_foreach(contenders, i, row) put_contender(&chart, row);
    return svg_end(&chart.svg);
}
