/* References for Triton's kernels: rows and what is summed along them, in double precision. */
#include "tests/emulator/foreign/foreign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NORM_ROWS = 7, NORM_GROUPS = 3, HEADS = 2, VARIANCE_ROWS = 16, SPLIT = 256 };

static size_t value_of(const void *argument)
{
    uint32_t value;

    memcpy(&value, argument, sizeof value);
    return value;
}

static double real_of(const void *argument)
{
    return foreign_element(FOREIGN_F32, argument, 0);
}

void triton_softmax(void *const *args)
{
    size_t columns = value_of(args[3]);
    const float *x = args[0];
    float *y = args[1];

    for (size_t row = 0; row < value_of(args[2]); row++, x += columns, y += columns) {
        double sum = 0;

        for (size_t j = 0; j < columns; j++)
            sum += exp((double)x[j]);
        for (size_t j = 0; j < columns; j++)
            y[j] = (float)(exp((double)x[j]) / sum);
    }
}

/* ---- Norms ---- */

struct moments {
    double mean, variance;
};

static struct moments moments_of(enum foreign_type type, const void *x, size_t first, size_t count)
{
    struct moments moments = {0, 0};

    for (size_t j = 0; j < count; j++)
        moments.mean += foreign_element(type, x, first + j) / (double)count;
    for (size_t j = 0; j < count; j++) {
        double apart = foreign_element(type, x, first + j) - moments.mean;

        moments.variance += apart * apart / (double)count;
    }
    return moments;
}

void triton_norm(void *const *args)
{
    size_t columns = value_of(args[6]);
    const float *weight = args[2], *bias = args[3];
    float *mean = args[4], *rstd = args[5];

    for (size_t row = 0; row < NORM_ROWS; row++) {
        struct moments moments = moments_of(FOREIGN_F16, args[0], row * columns, columns);
        double scale = 1 / sqrt(moments.variance + real_of(args[7]));

        mean[row] = (float)moments.mean;
        rstd[row] = (float)scale;
        for (size_t j = 0; j < columns; j++) {
            double x = foreign_element(FOREIGN_F16, args[0], row * columns + j);

            foreign_store(FOREIGN_F16, args[1], row * columns + j,
                          (x - moments.mean) * scale * (double)weight[j] + (double)bias[j]);
        }
    }
}

struct gradients {
    size_t columns;
    const float *dy, *x, *weight;
    double mean, rstd, along, level;
};

static double hat(const struct gradients *g, size_t j)
{
    return ((double)g->x[j] - g->mean) * g->rstd;
}

static void fit_row(struct gradients *g)
{
    g->along = g->level = 0;
    for (size_t j = 0; j < g->columns; j++) {
        double slope = (double)g->weight[j] * (double)g->dy[j];

        g->along += hat(g, j) * slope / (double)g->columns;
        g->level += slope / (double)g->columns;
    }
}

void triton_norm_back(void *const *args)
{
    struct gradients g = {
        .columns = value_of(args[9]), .dy = args[3], .x = args[4], .weight = args[5]};
    float *dx = args[0], *dw = args[1], *db = args[2];
    const float *means = args[6], *rstds = args[7];
    uint32_t *locks = args[8];

    for (size_t row = 0; row < NORM_ROWS; row++) {
        size_t to = row % NORM_GROUPS * g.columns;

        g.mean = (double)means[row];
        g.rstd = (double)rstds[row];
        fit_row(&g);
        for (size_t j = 0; j < g.columns; j++) {
            dx[j] =
                (float)(((double)g.weight[j] * (double)g.dy[j] - hat(&g, j) * g.along - g.level) *
                        g.rstd);
            dw[to + j] += (float)((double)g.dy[j] * hat(&g, j));
            db[to + j] += g.dy[j];
        }
        locks[NORM_GROUPS + row % NORM_GROUPS] = 1;
        g.x += g.columns;
        g.dy += g.columns;
        dx += g.columns;
    }
}

void triton_norm_sums(void *const *args)
{
    size_t rows = value_of(args[2]), columns = value_of(args[3]);
    const float *parts = args[0];
    float *sums = args[1];

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            sums[j] = (i > 0 ? sums[j] : 0) + parts[i * columns + j];
}

void triton_variance(void *const *args)
{
    size_t columns = value_of(args[3]);
    float *mean = args[1], *spread = args[2];

    for (size_t row = 0; row < VARIANCE_ROWS; row++) {
        struct moments moments = moments_of(FOREIGN_F32, args[0], row * columns, columns);

        mean[row] = (float)moments.mean;
        spread[row] = (float)moments.variance;
    }
}

void triton_sum_split(void *const *args)
{
    size_t count = value_of(args[3]);
    const float *x = args[0];
    float *sums = args[1];
    uint32_t *done = args[2];

    for (size_t i = 0; i < count; i++) {
        size_t at = 1 + i / SPLIT;

        sums[at] = (i % SPLIT ? sums[at] : 0) + x[i];
        sums[0] = (i ? sums[0] : 0) + x[i];
        *done = (uint32_t)at;
    }
}

/* ---- Attention ---- */

struct head {
    double *queries, *keys, *values, *weights; /* rows of `depth`; a weight for each key */
    size_t length, depth;
};

static double *widen(const void *data, size_t first, size_t count)
{
    double *wide = calloc(count + 1, sizeof *wide);

    for (size_t i = 0; wide && i < count; i++)
        wide[i] = foreign_element(FOREIGN_F16, data, first + i);
    return wide;
}

/* The weights of the first `seen` keys for a query; their sum. */
static double weigh(const struct head *head, size_t i, size_t seen, double scale)
{
    double total = 0;

    for (size_t j = 0; j < seen; j++) {
        double sum = 0;

        for (size_t d = 0; d < head->depth; d++)
            sum += head->queries[i * head->depth + d] * head->keys[j * head->depth + d];
        total += head->weights[j] = exp(sum * scale);
    }
    return total;
}

static void mix(const struct head *head, size_t seen, double total, float *o)
{
    for (size_t d = 0; d < head->depth; d++) {
        double sum = 0;

        for (size_t j = 0; j < seen; j++)
            sum += head->weights[j] * head->values[j * head->depth + d];
        o[d] = (float)(sum / total);
    }
}

static void attend_head(void *const *args, struct head *head, size_t first, bool causal)
{
    float *o = (float *)args[3] + first, *logs = (float *)args[4] + first / head->depth;

    for (size_t i = 0; i < head->length; i++) {
        size_t seen = causal ? i + 1 : head->length;
        double total = weigh(head, i, seen, real_of(args[6]));

        mix(head, seen, total, o + i * head->depth);
        logs[i] = (float)log2(total);
    }
}

static void attend(void *const *args, size_t depth, bool causal)
{
    size_t length = value_of(args[5]), count = length * depth;

    for (size_t first = 0; first < HEADS * count; first += count) {
        struct head head = {.queries = widen(args[0], first, count),
                            .keys = widen(args[1], first, count),
                            .values = widen(args[2], first, count),
                            .weights = calloc(length + 1, sizeof(double)),
                            .length = length,
                            .depth = depth};

        if (head.queries && head.keys && head.values && head.weights)
            attend_head(args, &head, first, causal);
        free(head.queries);
        free(head.keys);
        free(head.values);
        free(head.weights);
    }
}

#define ATTENTION(name, depth, causal)                                                             \
    void triton_attention_##name(void *const *args)                                                \
    {                                                                                              \
        attend(args, depth, causal);                                                               \
    }
ATTENTION(64_causal, 64, true)
ATTENTION(64, 64, false)
ATTENTION(32_causal, 32, true)
ATTENTION(16_causal, 16, true)
