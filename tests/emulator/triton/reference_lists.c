/* References for Triton's kernels: lists, and one number after the other. */
#include "tests/emulator/foreign/foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINED = 256, NUMBERS = 256 };

static size_t value_of(const void *argument)
{
    uint32_t value;

    memcpy(&value, argument, sizeof value);
    return value;
}

/* ---- Scans ---- */

/* One matrix of R rows and C columns; small whole numbers, so that every order is exact. */
static void scan(const float *x, const float *factors, float *const to[4], size_t R, size_t C)
{
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < C; j++) {
            size_t at = i * C + j, back = (R - 1 - i) * C + j;

            to[0][at] = (j ? to[0][at - 1] : 0) + x[at];
            to[1][back] = (i ? to[1][back + C] : 0) + x[back];
            to[2][at] = (j ? to[2][at - 1] * factors[at] : 0) + x[at];
            to[3][at] = (i ? to[3][at - C] : 1) * factors[at];
        }
}

static void scan_all(void *const *args, size_t programs, size_t R, size_t C)
{
    for (size_t p = 0; p < programs; p++) {
        size_t at = p * R * C;
        float *to[4];

        for (int i = 0; i < 4; i++)
            to[i] = (float *)args[2 + i] + at;
        scan((const float *)args[0] + at, (const float *)args[1] + at, to, R, C);
    }
}

void triton_scans_16x64(void *const *args)
{
    scan_all(args, 2, 16, 64);
}

void triton_scans_2x256(void *const *args)
{
    scan_all(args, 2, 2, 256);
}

void triton_scan_chained(void *const *args)
{
    size_t count = value_of(args[4]);
    const int64_t *x = args[0];
    int64_t *y = args[1], *state = args[2], sum = 0;
    uint32_t *ticket = args[3];

    for (size_t i = 0; i < count; i++) {
        y[i] = sum += x[i];
        state[i / CHAINED] = 2 * sum + 1;
        *ticket = (uint32_t)(i / CHAINED) + 1;
    }
}

/* ---- Order ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sort(void *const *args, enum foreign_type type, size_t N, size_t K)
{
    double values[128];

    for (size_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < N; i++)
            values[i] = foreign_element(type, args[0], p * N + i) + 0; /* no negative zero */
        qsort(values, N, sizeof values[0], compare_doubles);
        for (size_t i = 0; i < N; i++) {
            foreign_store(type, args[1], p * N + i, values[i]);
            foreign_store(type, args[2], p * N + i, values[i]);
        }
        for (size_t i = 0; i < K; i++)
            foreign_store(type, args[3], p * K + i, values[N - 1 - i]);
    }
}

void triton_sorts_u32(void *const *args)
{
    sort(args, FOREIGN_U32, 128, 8);
}

void triton_sorts_f16(void *const *args)
{
    sort(args, FOREIGN_F16, 64, 4);
}

static void count(void *const *args, size_t programs, size_t N)
{
    const uint32_t *x = args[0], *order = args[1];
    uint32_t *bins = args[2], *gathered = args[3];
    size_t valid = value_of(args[4]);

    for (size_t i = 0; i < programs * N; i++) {
        size_t from = i / N * N + order[i % N];

        if (i < valid)
            bins[x[i]]++;
        gathered[i] = from < valid ? x[from] : 0;
    }
}

void triton_counts_256(void *const *args)
{
    count(args, 3, 256);
}

void triton_counts_1024(void *const *args)
{
    count(args, 2, 1024);
}

/* ---- Reductions ---- */

static void reduce(const float *x, size_t C, size_t row, size_t R, float *reals, uint32_t *whole)
{
    size_t most = 0, least = 0;
    uint32_t all = 0, any = 0, odd = 0;
    float sum = 0;

    for (size_t j = 0; j < C; j++) {
        uint32_t word = (uint32_t)(int32_t)x[j];

        sum += x[j];
        most = x[j] > x[most] ? j : most; /* the first of the same */
        least = x[j] < x[least] ? j : least;
        all ^= word;
        any |= word;
        odd += word & 1;
    }
    const float of_reals[] = {sum, x[least], x[most]};
    const uint32_t of_whole[] = {(uint32_t)most, (uint32_t)least, all, any, odd};

    for (size_t i = 0; i < sizeof of_reals / sizeof of_reals[0]; i++)
        reals[i * R + row] = of_reals[i];
    for (size_t i = 0; i < sizeof of_whole / sizeof of_whole[0]; i++)
        whole[i * R + row] = of_whole[i];
}

static void reduce_all(void *const *args, size_t R, size_t C)
{
    for (size_t row = 0; row < R; row++)
        reduce((const float *)args[0] + row * C, C, row, R, args[1], args[2]);
}

void triton_reductions_16x64(void *const *args)
{
    reduce_all(args, 16, 64);
}

void triton_reductions_4x512(void *const *args)
{
    reduce_all(args, 4, 512);
}

/* ---- Atomics ---- */

void triton_atomics(void *const *args)
{
    const uint32_t *x = args[0];
    uint32_t *slots = args[1];

    for (size_t i = 0; i < value_of(args[2]); i++) {
        uint32_t *slot = slots + x[i] % 8;

        slot[0] += x[i];
        slot[8] = (int32_t)x[i] > (int32_t)slot[8] ? x[i] : slot[8];
        slot[16] = (int32_t)x[i] < (int32_t)slot[16] ? x[i] : slot[16];
        slot[24] &= x[i];
        slot[32] |= x[i];
        slot[40] ^= x[i];
    }
}

static void add(enum foreign_type type, void *to, size_t index, double value)
{
    foreign_store(type, to, index, foreign_element(type, to, index) + value);
}

void triton_atomics_real(void *const *args)
{
    const float *x = args[0];
    float *singles = args[1];

    for (size_t i = 0; i < value_of(args[5]); i++) {
        float *single = singles + i % 16;

        single[0] += x[i];
        single[16] = fmaxf(single[16], x[i]);
        single[32] = fminf(single[32], x[i]);
        add(FOREIGN_F16, args[2], i % 32, (double)x[i]);
        add(FOREIGN_F64, args[3], i % 4, (double)x[i]);
        add(FOREIGN_BF16, args[4], i % 32, (double)x[i]);
    }
}

/* ---- The same elements in other orders ---- */

static void reorder(void *const *args, size_t R, size_t C)
{
    size_t all = R * C;
    const uint16_t *x = args[0];
    uint16_t *y = args[1];

    for (size_t i = 0; i < all; i++) {
        size_t row = i / C, column = i % C;

        y[column * R + row] = x[i];
        y[all + (i ^ 1)] = x[i];
        foreign_store(FOREIGN_F16, y, 2 * all + i,
                      foreign_element(FOREIGN_F16, x, i) * (i % 2 ? 2 : 1));
        y[3 * all + (row % 4 * C + column) * (R / 4) + row / 4] = x[i];
    }
}

void triton_shapes_32x64(void *const *args)
{
    reorder(args, 32, 64);
}

void triton_shapes_16x16(void *const *args)
{
    reorder(args, 16, 16);
}

/* ---- Random numbers ---- */

/* Philox 4x32-10, Salmon and others 2011. */
static void philox(int32_t seed, uint32_t counter, uint32_t out[4])
{
    uint32_t key[2] = {(uint32_t)seed, seed < 0 ? UINT32_MAX : 0}, c[4] = {counter, 0, 0, 0};

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c[0] * 0xd2511f53, b = (uint64_t)c[2] * 0xcd9e8d57;

        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ key[0];
        c[1] = (uint32_t)b;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ key[1];
        c[3] = (uint32_t)a;
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
    memcpy(out, c, sizeof c);
}

/* From 0 to below 1: the word as a signed one, its bits turned over where it is negative, times
 * what keeps the largest below 1. */
static float uniform(uint32_t word)
{
    int32_t folded = (int32_t)(word >> 31 ? ~word : word);

    return (float)folded * 4.6566127342e-10f;
}

void triton_dropout(void *const *args)
{
    const float *x = args[0];
    float *y = args[1], p = (float)foreign_element(FOREIGN_F32, args[3], 0);

    for (size_t i = 0; i < value_of(args[2]); i++) {
        uint32_t words[4];

        philox((int32_t)value_of(args[4]), (uint32_t)i, words);
        y[i] = uniform(words[0]) > p ? x[i] / (1 - p) : 0;
    }
}

void triton_randoms(void *const *args)
{
    uint32_t *words = args[0];
    float *normal = args[1];

    for (size_t i = 0; i < value_of(args[2]); i++, words += 4) {
        double radius, angle;

        philox((int32_t)value_of(args[3]), (uint32_t)i, words);
        radius = sqrt(-2 * log(fmax(1e-7, (double)uniform(words[0]))));
        angle = 2 * acos(-1) * (double)uniform(words[1]);
        normal[i] = (float)(radius * cos(angle));
    }
}

/* ---- Functions ---- */

void triton_functions(void *const *args)
{
    const float *in = args[0];
    float *y = args[1];

    for (size_t i = 0; i < NUMBERS; i++) {
        float v = in[i], large = v * 100000;
        double x = (double)v, size = (double)(fabsf(v) + 0.125f);
        const double values[] = {exp(x),
                                 log(size),
                                 sin(x),
                                 cos(x),
                                 sqrt(size),
                                 1 / sqrt(size),
                                 sqrt(size),
                                 x / size,
                                 erf(x),
                                 1 / (1 + exp(-x)),
                                 tanh(x),
                                 pow(size, x),
                                 nearbyint(x),
                                 fmod(x, size),
                                 fmin(fmax(x, -1), 1),
                                 log1p(size),
                                 sin((double)large),
                                 x * size + 1,
                                 floor(x) + ceil(x)};

        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++)
            y[j * NUMBERS + i] = (float)values[j];
    }
}

static uint32_t reversed(uint32_t word)
{
    uint32_t out = 0;

    for (int i = 0; i < 32; i++)
        out |= (word >> i & 1) << (31 - i);
    return out;
}

/* The bits that are set, and a hundred for each above them all that is not. */
static uint32_t counted(uint32_t word)
{
    uint32_t set = 0, above = 32;

    for (uint32_t i = 0; i < 32; i++)
        if (word >> i & 1) {
            set++;
            above = 31 - i;
        }
    return set + 100 * above;
}

void triton_integers(void *const *args)
{
    const int32_t *x = args[0], *y = args[1];
    int32_t *narrow = args[2];
    int64_t *wide = args[3];

    for (size_t i = 0; i < NUMBERS; i++) {
        int32_t a = x[i], b = y[i];
        uint32_t word = (uint32_t)a, shift = (uint32_t)b & 31;
        int64_t c = (int64_t)a * 123456789;
        const uint32_t of_narrow[] = {(uint32_t)(a / b),
                                      (uint32_t)(a % b),
                                      (uint32_t)((uint64_t)word * (uint32_t)b >> 32),
                                      word << shift,
                                      (uint32_t)(a >> shift),
                                      counted(word),
                                      reversed(word),
                                      (word & 0xff) / 7 % 5};
        const uint64_t of_wide[] = {(uint64_t)(c / b), (uint64_t)(c % b),
                                    (uint64_t)c * (uint64_t)c ^ (uint64_t)(c >> 7),
                                    (uint64_t)c / 1000003};

        for (size_t j = 0; j < sizeof of_narrow / sizeof of_narrow[0]; j++)
            narrow[j * NUMBERS + i] = (int32_t)of_narrow[j];
        for (size_t j = 0; j < sizeof of_wide / sizeof of_wide[0]; j++)
            wide[j * NUMBERS + i] = (int64_t)of_wide[j];
    }
}

void triton_casts(void *const *args)
{
    const float *x = args[0];
    uint16_t *half = args[1];
    int8_t *byte = args[5];
    int64_t *whole = args[6];

    for (size_t i = 0; i < NUMBERS; i++) {
        double value = (double)x[i];
        uint16_t brain[1];

        half[i] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_ZEROWARD, value);
        foreign_store(FOREIGN_BF16, brain, 0, foreign_element(FOREIGN_F16, half, i));
        foreign_store(FOREIGN_F16, half, NUMBERS + i, foreign_element(FOREIGN_BF16, brain, 0));
        foreign_store(FOREIGN_BF16, args[2], i, value);
        foreign_store(FOREIGN_E4M3, args[3], i, value);
        foreign_store(FOREIGN_E5M2, args[4], i, value);
        byte[i] = (int8_t)value;
        whole[i] = (int64_t)value;
    }
}

void triton_assembly(void *const *args)
{
    const uint32_t *x = args[0];
    uint32_t *y = args[1];
    unsigned char *z = args[2];

    for (size_t i = 0; i < NUMBERS; i++) {
        y[i] = x[i] << 7 | x[i] >> 25;
        z[i ^ 3] = (unsigned char)x[i];
    }
}

void triton_dependent(void *const *args)
{
    memcpy(args[1], args[0], value_of(args[2]) * sizeof(float));
}

void triton_prints(void *const *args)
{
    const int32_t *x = args[0];
    char *text = args[1];

    for (int i = 0; i < 32; i++)
        text += sprintf(text, "pid (0, 0, 0) idx (%2d) value: %d\n", i, x[i]);
}
