/* References: branches, calls, recursion, graphs. Sizes stand in cases.def. */
#include "tests/emulator/foreign/foreign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void foreign_collatz(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *steps = a[1], *peaks = a[2];

    for (int at = 0; at < 192; at++) {
        uint64_t value = in[at], peak = value;

        steps[at] = peaks[at] = UINT32_MAX;
        if (value == 0)
            continue;
        for (steps[at] = 0; value != 1; steps[at]++) {
            value = value % 2 ? value * 3 + 1 : value / 2;
            peak = value > peak ? value : peak;
        }
        peaks[at] = (uint32_t)(peak % 1000003);
    }
}

static bool is_prime(uint32_t value)
{
    for (uint32_t by = 2; by < value && by <= 1000; by++)
        if (value % by == 0)
            return false;
    return true;
}

void foreign_primes(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int at = 0; at < 160; at++) {
        uint32_t value = in[at] | 1;

        out[at * 2 + 1] = 1; /* the thread itself is active */
        for (; !is_prime(value); value += 2)
            out[at * 2 + 1]++;
        out[at * 2] = value;
    }
}

void foreign_mandelbrot(void *const *a)
{
    uint8_t *out = a[0];

    for (int64_t at = 0; at < 64 * 64; at++) {
        int64_t cr = (at % 64 * 3 - 128) * 65536 / 64, ci = (at / 64 * 2 - 64) * 65536 / 64;
        int64_t r = 0, i = 0;

        for (out[at] = 0; out[at] < 100 && r * r + i * i < (int64_t)4 << 32; out[at]++) {
            int64_t next = ((r * r - i * i) >> 16) + cr;

            i = (2 * r * i >> 16) + ci;
            r = next;
        }
    }
}

static uint32_t reversed(uint32_t value)
{
    uint32_t out = 0;

    for (int i = 0; i < 32; i++)
        out |= (value >> i & 1) << (31 - i);
    return out;
}

static uint32_t ones(uint32_t value)
{
    uint32_t count = 0;

    for (; value; value &= value - 1)
        count++;
    return count;
}

static uint32_t leading_zeros(uint32_t value)
{
    uint32_t count = 32;

    for (; value; value >>= 1)
        count--;
    return count;
}

static uint32_t at_least(uint32_t a, uint32_t b, bool larger)
{
    return ((int32_t)a > (int32_t)b) == larger ? a : b;
}

/* One step of the byte code of switch_table.cu on x, y and z. */
static void interpret(int code, uint32_t v[3], uint32_t at)
{
    uint32_t x = v[0], y = v[1], z = v[2];

    switch (code) {
    case 0:
        v[0] = x + y;
        break;
    case 1:
        v[1] = y - z;
        break;
    case 2:
        v[2] = z ^ x;
        break;
    case 3:
        v[0] = x * 5 + 1;
        break;
    case 4:
        v[1] = reversed(y);
        break;
    case 5:
        v[2] = ones(z) + y;
        break;
    case 6:
        v[0] = at_least(x, y, false);
        break;
    case 7:
        v[1] = at_least(y, z, true);
        break;
    case 8:
        v[2] = (uint32_t)((int32_t)x >> (y & 31));
        break;
    case 9:
        v[0] = z << (x & 31);
        break;
    case 10:
        v[1] = ~y;
        break;
    case 11:
        v[2] = 0 - z;
        break;
    case 12:
        v[0] = leading_zeros(x) + z;
        break;
    case 13:
        v[1] = (uint32_t)((int32_t)y / (abs((int32_t)z % 100) + 1));
        break;
    case 14:
        v[2] = (uint32_t)((int32_t)x % (abs((int32_t)y % 50) + 1));
        break;
    default:
        v[0] = y;
        v[1] = z;
        v[2] = at;
        break;
    }
}

void foreign_switch_table(void *const *a)
{
    const uint8_t *code = a[0];
    const uint32_t *in = a[1];
    uint32_t *out = a[2];

    for (uint32_t at = 0; at < 128; at++) {
        uint32_t v[3] = {in[at], at, 1};

        for (uint32_t i = 0; i < 61; i++)
            interpret(code[(i * 7 + at) % 61] % 16, v, at);
        memcpy(out + at * 3, v, sizeof v);
    }
}

void foreign_switch_branches(void *const *a)
{
    const uint8_t *code = a[0];
    const uint32_t *in = a[1];
    uint32_t *out = a[2];

    for (uint32_t at = 0; at < 128; at++) {
        uint32_t x = in[at];

        for (uint32_t i = 0; i < 61; i++) {
            uint32_t y = 0x9e3779b9 * i + at, what = code[(i * 3 + at / 4) % 61] % 6, by = y & 31;

            if (what == 0 || what == 4)
                x += y;
            else if (what == 1)
                x -= y;
            else if (what == 2)
                x ^= y;
            else if (what == 3)
                x = by ? x << by | x >> (32 - by) : x;
            else
                x = ~x;
        }
        out[at] = x;
    }
}

/* Ackermann's function of a small m has these closed forms; the even numbers are even. */
void foreign_recursion(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int at = 0; at < 96; at++) {
        uint32_t value = in[at], n = value / 3 % 4, last = 0, next = 1;

        for (uint32_t i = 0; i < value % 12; i++) {
            uint32_t sum = last + next;

            last = next;
            next = sum;
        }
        out[at * 3] = last;
        out[at * 3 + 1] = value % 3 == 0 ? n + 1 : value % 3 == 1 ? n + 2 : 2 * n + 3;
        out[at * 3 + 2] = value % 20 % 2 == 0;
    }
}

static int compare_integers(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

    return (a > b) - (a < b);
}

void foreign_recursion_sort(void *const *a)
{
    for (int at = 0; at < 64; at++)
        qsort((int32_t *)a[0] + at * 24, 24, sizeof(int32_t), compare_integers);
}

void foreign_calls_by_table(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (uint32_t at = 0; at < 128; at++) {
        uint32_t x = in[at];

        for (uint32_t i = 0; i < 9; i++) {
            uint32_t y = i + at;
            const uint32_t results[4] = {x + y, x - y, x * y, (x ^ y) * 31 + (x & y)};

            x = results[x >> 3 & 3];
        }
        out[at] = x;
    }
}

static int32_t measure(int32_t value, int32_t which)
{
    int32_t disc = (value + 1) * (value + 1) * 355 / 113, hole = value / 2;

    if (which == 0)
        return value * value * 10 + 4;
    if (which == 1)
        return disc * 10;
    return ((value + 2) * (value + 2) * 355 / 113 - hole * hole * 355 / 113) * 10;
}

void foreign_calls_virtual(void *const *a)
{
    const int32_t *in = a[0];
    int32_t *out = a[1];

    for (int at = 0; at < 128; at++)
        out[at] = measure(in[at], in[at] % 3) - measure(in[at], (in[at] + at) % 3);
}

void foreign_calls_struct(void *const *a)
{
    const int32_t *in = a[0];
    double *out = a[1];

    for (int at = 0; at < 128; at++) {
        const int whole[3] = {in[at], at, 7};
        int turns = at % 4 + 1;
        double real = in[at];

        for (int i = 0; i < turns; i++)
            real /= 2;
        out[at] = real;
        /* Each turn moves the numbers one place on. */
        for (int i = 0; i < 3; i++)
            out[at] += whole[(i + 3 * 2 - turns) % 3] * (i == 0 ? 3 : i == 1 ? 5 : 1);
    }
}

static void append(char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char **to, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    *to += vsprintf(*to, format, arguments);
    va_end(arguments);
}

void foreign_print(void *const *a)
{
    const int32_t *in = a[0];
    char *to = a[2];

    for (int i = 0; i < 8; i++) {
        if (in[i] < 0)
            append(&to, "thread %d: %d is negative, as %u or 0x%x\n", i, in[i], (uint32_t)in[i],
                   (uint32_t)in[i]);
        else
            append(&to, "thread %d: %5d|%-5d|%05d|%s|%c|%%\n", i, in[i], in[i], in[i],
                   in[i] % 2 ? "odd" : "even", 'a' + in[i] % 26);
    }
    append(&to, "-5000000000 18446744073709551615 2.500 1.234500e+03 0.0625\ndone\n");
    *(float *)a[1] = 5; /* CUDA's printf returns the number of its arguments */
}

/* ---- Graphs ---- */

void foreign_graph_sparse(void *const *a)
{
    const uint32_t *begins = a[0], *columns = a[1];
    const float *values = a[2], *x = a[3];
    float *y = a[4];

    for (int row = 0; row < 45; row++) {
        y[row] = 0;
        for (uint32_t i = begins[row]; i < begins[row + 1]; i++)
            y[row] += values[i] * x[columns[i]];
    }
}

/* By relaxation until nothing changes. */
void foreign_graph_search(void *const *a)
{
    const uint32_t *edges = a[0];
    int32_t *distances = a[1];
    bool changed = true;

    for (int i = 0; i < 300; i++)
        distances[i] = i == 0 ? 0 : INT32_MAX - 1;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < 4 * 300; i++) {
            int32_t *to = &distances[edges[i] % 300], by = distances[i / 4] + 1;

            changed |= by < *to;
            *to = by < *to ? by : *to;
        }
    }
    for (int i = 0; i < 300; i++)
        distances[i] = distances[i] == INT32_MAX - 1 ? -1 : distances[i];
}

/* By passing the smaller name along every edge until nothing changes. */
void foreign_graph_join(void *const *a)
{
    const uint32_t *edges = a[0];
    uint32_t *names = a[1];
    bool changed = true;

    while (changed) {
        changed = false;
        for (int i = 0; i < 160; i++) {
            uint32_t *left = &names[edges[i * 2]], *right = &names[edges[i * 2 + 1]];

            changed |= *left != *right;
            *left = *right = *left < *right ? *left : *right;
        }
    }
}
