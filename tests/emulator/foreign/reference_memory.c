/* References: memory, tables, parameters. Sizes stand in cases.def. */
#include "tests/emulator/foreign/foreign.h"

#include <stdlib.h>
#include <string.h>

static void transpose(void *const *a, size_t bytes)
{
    const unsigned char *in = a[0];
    unsigned char *out = a[1];
    uint32_t rows = *(const uint32_t *)a[2], columns = *(const uint32_t *)a[3];

    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < columns; x++)
            memcpy(out + (x * rows + y) * bytes, in + (y * columns + x) * bytes, bytes);
}

void foreign_transpose_f32(void *const *a)
{
    transpose(a, 4);
}

void foreign_transpose_u8(void *const *a)
{
    transpose(a, 1);
}

void foreign_transpose_f64(void *const *a)
{
    transpose(a, 8);
}

void foreign_histogram(void *const *a)
{
    const uint8_t *in = a[0];
    uint32_t *bins = a[1];

    for (int i = 0; i < 5001; i++)
        bins[in[i]]++;
}

void foreign_extremes(void *const *a)
{
    const int32_t *in = a[0];
    int32_t *out = a[1];

    for (int kind = 0; kind < 16; kind++) {
        out[kind] = INT32_MAX;
        out[16 + kind] = INT32_MIN;
        out[32 + kind] = 0;
        out[48 + kind] = -1;
        out[64 + kind] = 0;
    }
    for (int i = 0; i < 1000; i++) {
        int32_t *of = out + (in[i] & 15);

        of[0] = in[i] < of[0] ? in[i] : of[0];
        of[16] = in[i] > of[16] ? in[i] : of[16];
        of[32] |= in[i];
        of[48] &= in[i];
        of[64] ^= in[i];
    }
    out[80] = 1000 % 100;
}

void foreign_vectors(void *const *a)
{
    const uint8_t *bytes = a[0];
    const int16_t *shorts = a[1];
    const float *floats = a[2];
    const double *doubles = a[3];
    int32_t *out = a[4];
    uint16_t *narrow = a[5];
    uint64_t *wide = a[6];

    for (int i = 0; i < 192; i++) {
        const uint8_t *b = bytes + i * 4;
        const int16_t *s = shorts + i * 2;
        const float *f = floats + i * 4;

        out[i * 4] = b[0] + s[0];
        out[i * 4 + 1] = b[1] - s[1];
        out[i * 4 + 2] = (int32_t)f[0] + b[2];
        out[i * 4 + 3] = (int32_t)f[1] * (int32_t)f[2] - b[3];
        narrow[i * 4] = (uint16_t)(s[0] * 3);
        narrow[i * 4 + 1] = (uint16_t)f[3];
        narrow[i * 4 + 2] = b[3];
        narrow[i * 4 + 3] = (uint16_t)s[1];
        wide[i * 2] = (uint64_t)(int64_t)doubles[i * 2];
        wide[i * 2 + 1] = (uint64_t)(int64_t)doubles[i * 2 + 1];
    }
}

void foreign_caches(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sum = 0;

        for (uint32_t other = 0; other < 7; other++)
            sum += (other + 1) * in[i ^ other];
        out[i * 4] = sum;
        out[i * 4 + 1] = ~sum;
        out[i * 4 + 2] = sum * 2;
        out[i * 4 + 3] = sum - 1;
    }
}

void foreign_tables(void *const *a)
{
    static const double weights[3][4] = {
        {1, 2, 3, 4}, {-0.5, 0.25, -0.125, 1e-3}, {100, 0, -100, 1}};
    static const char *const words[] = {"zero", "one", "two", "three and more"};
    const uint32_t *in = a[0];
    float *out = a[1];
    uint32_t *letters = a[2];

    for (int at = 0; at < 200; at++) {
        uint32_t value = in[at], square = value >> 8 & 15, power = 1, word = value >> 4 & 7;
        double sum = 0;

        for (int i = 0; i < 4; i++)
            sum += weights[value % 3][i] * (value >> i * 4 & 15);
        for (uint32_t i = 0; i < value % 12; i++)
            power = power * 3 & 0xffff;
        sum += (value % 12 == 11 ? 7 : power) + square * square;
        square = (value >> 16 & 7) + 4;
        if (value & 1)
            sum += square * square;
        out[at] = (float)sum;
        letters[at] = 0;
        for (const char *c = words[word < 3 ? word : 3]; *c; c++)
            letters[at] = letters[at] * 33 + (unsigned char)*c;
    }
}

void foreign_tables_count(void *const *a)
{
    *(uint64_t *)a[0] = 96 * 95 / 2;
}

void foreign_params(void *const *a)
{
    struct foreign_settings all;
    const int32_t *in = a[3];
    double *out = a[4];

    memcpy(&all, a[1], sizeof all);
    for (int at = 0; at < 150; at++)
        out[at] = -5 + 60000 + all.scale * in[at] + (double)all.table[(uint32_t)in[at] % 9] +
                  all.name[at % 6] * all.step + (double)(all.seed >> at % 64 & 0xff) - 2.5;
}

void foreign_params_changed(void *const *a)
{
    const uint32_t *in = a[1];
    uint32_t *out = a[2];

    for (int at = 0; at < 128; at++) {
        uint32_t values[8];

        memcpy(values, a[0], sizeof values);
        for (int i = 0; i < 4; i++)
            values[in[at * 4 + i] & 7] += in[at * 4 + i];
        out[at] = 0;
        for (int i = 0; i < 8; i++)
            out[at] = out[at] * 17 + values[i];
    }
}

static int compare_words(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

void foreign_local_sort(void *const *a)
{
    uint32_t *out = a[1];

    memcpy(out, a[0], 16 * 96 * sizeof *out);
    for (size_t i = 0; i < 96; i++)
        qsort(out + i * 16, 16, sizeof *out, compare_words);
}

void foreign_local_records(void *const *a)
{
    const uint32_t *in = a[0];
    double *sums = a[1];
    uint64_t *links = a[2];

    for (int at = 0; at < 80; at++) {
        uint32_t seeds[11], seed = in[at], next = in[at] % 11;

        for (int i = 0; i < 11; i++)
            seeds[i] = seed = seed * 1664525u + 1013904223u;
        sums[at] = 0;
        links[at] = 0;
        for (uint32_t i = 0; i < 20; i++) {
            seed = seeds[next];
            sums[at] += (double)(int32_t)seed / 65536 * (int16_t)(seed >> 12);
            links[at] ^= (uint64_t)seed * (next % 3 + 1);
            next = ((seed >> 24) + i) % 11;
        }
    }
}
