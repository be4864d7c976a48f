/* References for Triton's kernels: products of matrices. Each sum in double precision, which is
 * exact for the whole numbers that cases.def draws. */
#include "tests/emulator/foreign/foreign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t value_of(const void *argument)
{
    uint32_t value;

    memcpy(&value, argument, sizeof value);
    return value;
}

/* One operand: element (i, k) of it is at i * row + k * step. */
struct operand {
    enum foreign_type type;
    const void *data;
    size_t first, row, step;
};

/* As rows of K doubles, the caller's to free; null without memory, and then no answer is right. */
static double *widen(const struct operand *operand, size_t rows, size_t K)
{
    double *wide = calloc(rows * K + 1, sizeof *wide);

    for (size_t i = 0; wide && i < rows; i++)
        for (size_t k = 0; k < K; k++)
            wide[i * K + k] =
                foreign_element(operand->type, operand->data,
                                operand->first + i * operand->row + k * operand->step);
    return wide;
}

static double dot(const double *a, const double *b, size_t K)
{
    double sum = 0;

    for (size_t k = 0; k < K; k++)
        sum += a[k] * b[k];
    return sum;
}

struct result {
    enum foreign_type type;
    void *data;
    size_t first;
};

/* `finish` makes an element of its sum and its column; null: it is the sum. */
static void multiply_and(const struct operand *a, const struct operand *b, const struct result *c,
                         size_t M, size_t N, size_t K, double (*finish)(const float *, double),
                         const float *by_column)
{
    double *of_a = widen(a, M, K), *of_b = widen(b, N, K);

    for (size_t i = 0; of_a && of_b && i < M; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = dot(of_a + i * K, of_b + j * K, K);

            foreign_store(c->type, c->data, c->first + i * N + j,
                          finish ? finish(by_column + j, sum) : sum);
        }
    free(of_a);
    free(of_b);
}

static void multiply(const struct operand *a, const struct operand *b, const struct result *c,
                     size_t M, size_t N, size_t K)
{
    multiply_and(a, b, c, M, N, K, NULL, NULL);
}

/* a, b, c, M, N, K, and what is between rows, which are dense. */
static void matmul(void *const *args, enum foreign_type of_a, enum foreign_type of_b,
                   enum foreign_type of_c)
{
    size_t M = value_of(args[3]), N = value_of(args[4]), K = value_of(args[5]);
    struct operand a = {of_a, args[0], 0, K, 1}, b = {of_b, args[1], 0, 1, N};

    multiply(&a, &b, &(struct result){of_c, args[2], 0}, M, N, K);
}

#define MATMUL(name, a, b, c)                                                                      \
    void triton_matmul_##name(void *const *args)                                                   \
    {                                                                                              \
        matmul(args, FOREIGN_##a, FOREIGN_##b, FOREIGN_##c);                                       \
    }
MATMUL(f16, F16, F16, F16)
MATMUL(bf16, BF16, BF16, BF16)
MATMUL(e4m3, E4M3, E4M3, F32)
MATMUL(e5m2, E5M2, E5M2, F16)
MATMUL(f32, F32, F32, F32)
MATMUL(s8, S8, S8, U32)
MATMUL(e4m3_f16, E4M3, F16, F32)
MATMUL(e5m2_bf16, E5M2, BF16, F32)
MATMUL(f64, F64, F64, F64)

static double activate(const float *bias, double sum)
{
    sum += (double)*bias;
    return sum >= 0 ? sum : sum / 8;
}

void triton_layer(void *const *args)
{
    size_t M = value_of(args[4]), N = value_of(args[5]), K = value_of(args[6]);
    struct operand a = {FOREIGN_F16, args[0], 0, K, 1}, b = {FOREIGN_F16, args[1], 0, K, 1};

    multiply_and(&a, &b, &(struct result){FOREIGN_F16, args[3], 0}, M, N, K, activate, args[2]);
}

void triton_grouped(void *const *args)
{
    const uint32_t *sizes = args[3];
    struct operand a = {FOREIGN_F16, args[0], 0, 0, 1}, b = {FOREIGN_F16, args[1], 0, 1, 0};
    struct result c = {FOREIGN_F16, args[2], 0};

    for (size_t group = 0; group < value_of(args[4]); group++, sizes += 3) {
        size_t M = sizes[0], N = sizes[1], K = sizes[2];

        a.row = K;
        b.step = N;
        multiply(&a, &b, &c, M, N, K);
        a.first += M * K;
        b.first += K * N;
        c.first += M * N;
    }
}

/* ---- With powers of two for each 32 elements of a row ---- */

static double e4m3_of(const void *data, size_t index)
{
    return foreign_element(FOREIGN_E4M3, data, index);
}

/* Two in a byte, the first in its lower half. */
static double e2m1_of(const void *data, size_t index)
{
    static const double sizes[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    unsigned code = ((const unsigned char *)data)[index / 2] >> index % 2 * 4 & 15;

    return code & 8 ? -sizes[code & 7] : sizes[code & 7];
}

static void scaled(void *const *args, double (*value)(const void *data, size_t index))
{
    size_t M = value_of(args[5]), N = value_of(args[6]), K = value_of(args[7]);
    const unsigned char *scale_a = args[1], *scale_b = args[3];

    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;

            for (size_t k = 0; k < K; k++)
                sum += ldexp(value(args[0], i * K + k) * value(args[2], j * K + k),
                             scale_a[(i * K + k) / 32] + scale_b[(j * K + k) / 32] - 2 * 127);
            foreign_store(FOREIGN_F32, args[4], i * N + j, sum);
        }
}

void triton_scaled_e4m3(void *const *args)
{
    scaled(args, e4m3_of);
}

void triton_scaled_e2m1(void *const *args)
{
    scaled(args, e2m1_of);
}

/* ---- Convolution ---- */

enum { CHANNELS = 32, FILTERS = 32 };

static double filtered(void *const *args, int row, int column, size_t filter)
{
    int H = (int)value_of(args[3]), W = (int)value_of(args[4]);
    double sum = 0;

    for (int tap = 0; tap < 9; tap++) {
        int y = row + tap / 3 - 1, x = column + tap % 3 - 1;

        for (size_t c = 0; y >= 0 && y < H && x >= 0 && x < W && c < CHANNELS; c++)
            sum += foreign_element(FOREIGN_F16, args[0], (size_t)(y * W + x) * CHANNELS + c) *
                   foreign_element(FOREIGN_F16, args[1],
                                   ((size_t)tap * CHANNELS + c) * FILTERS + filter);
    }
    return sum;
}

void triton_convolve(void *const *args)
{
    size_t H = value_of(args[3]), W = value_of(args[4]);
    float *y = args[2];

    for (size_t p = 0; p < H * W; p++)
        for (size_t f = 0; f < FILTERS; f++)
            y[p * FILTERS + f] = (float)filtered(args, (int)(p / W), (int)(p % W), f);
}

/* ---- By TMA: B has a row for each column of C ---- */

static void multiply_rows(const void *a, const void *b, void *c, void *const *sizes)
{
    size_t M = value_of(sizes[0]), N = value_of(sizes[1]), K = value_of(sizes[2]);
    struct operand of_a = {FOREIGN_F16, a, 0, K, 1}, of_b = {FOREIGN_F16, b, 0, K, 1};

    multiply(&of_a, &of_b, &(struct result){FOREIGN_F16, c, 0}, M, N, K);
}

void triton_tma(void *const *args)
{
    multiply_rows(args[0], args[1], args[2], args + 3);
}

/* Each map is followed by two sizes and two strides. */
void triton_tma_given(void *const *args)
{
    multiply_rows(args[0], args[5], args[10], args + 11);
}

void triton_tma_batch(void *const *args)
{
    size_t M = value_of(args[4]), N = value_of(args[5]), K = value_of(args[6]);
    struct operand a = {FOREIGN_F16, args[0], 0, K, 1}, b = {FOREIGN_F16, args[1], 0, 1, N};
    struct result c = {FOREIGN_F16, args[2], 0};

    for (size_t which = 0; which < value_of(args[3]); which++) {
        multiply(&a, &b, &c, M, N, K);
        a.first += M * K;
        b.first += K * N;
        c.first += M * N;
    }
}

void triton_tma_reduce(void *const *args)
{
    const int32_t *x = args[0];
    uint32_t *add = args[1];
    int32_t *most = args[2], *least = args[3];

    for (size_t i = 0; i < value_of(args[4]) * value_of(args[5]); i++) {
        add[i] += (uint32_t)x[i];
        most[i] = x[i] > most[i] ? x[i] : most[i];
        least[i] = x[i] < least[i] ? x[i] : least[i];
    }
}
