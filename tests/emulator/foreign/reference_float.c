/* References: floating point. Functions by the host's double precision, exact ones by its
 * roundings. Sizes stand in cases.def. */
#include "tests/emulator/foreign/foreign.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define ULPS(n) ((n)*0x1p-23)

/* CUDA C++ Programming Guide, "Mathematical Functions", with one more for the reference's own
 * rounding. */
const struct foreign_near foreign_math_near[14] = {
    {ULPS(3), 0}, {ULPS(3), 0}, {ULPS(5), 0}, {ULPS(3), 0}, {ULPS(2), 0},
    {ULPS(5), 0}, {ULPS(3), 0}, {ULPS(3), 0}, {ULPS(3), 0}, {ULPS(2), 0},
    {ULPS(2), 0}, {ULPS(2), 0}, {ULPS(3), 0}, {ULPS(4), 0}};

/* The same, "Intrinsic Functions", and PTX ISA for the instructions that are named. */
const struct foreign_near foreign_math_fast_near[10] = {
    {0, 0x1p-20}, {0, 0x1p-20}, {ULPS(7), 0}, {ULPS(4), 0x1p-21}, {ULPS(3), 0x1p-21},
    {ULPS(3), 0}, {ULPS(1), 0}, {0x1p-10, 0}, {ULPS(3), 0},       {ULPS(2), 0}};

void foreign_math(void *const *a)
{
    const float *in = a[0];
    float *to = a[1];

    for (int i = 0; i < 512; i++, to += 14) {
        float size = fabsf(in[i]) + 0.001f, large = in[i] * 100000;
        double x = (double)in[i], s = (double)size;
        const double values[14] = {sin(x),      cos((double)large),
                                   tan(x),      exp(x),
                                   log(s),      pow(s, x * 0.25),
                                   tanh(x),     atan(x),
                                   erf(x),      cbrt(x),
                                   log1p(s),    expm1(x),
                                   1 / sqrt(s), hypot(x, 3)};

        for (int j = 0; j < 14; j++)
            to[j] = (float)values[j];
    }
}

void foreign_math_fast(void *const *a)
{
    const float *in = a[0];
    float *to = a[1];

    for (int i = 0; i < 512; i++, to += 10) {
        float size = fabsf(in[i]) + 0.25f;
        double x = (double)in[i], s = (double)size;
        const double values[10] = {sin(x), cos(x),      exp(x),  log(s),  log2(s),
                                   x / s,  1 / sqrt(s), tanh(x), sqrt(s), 1 / s};

        for (int j = 0; j < 10; j++)
            to[j] = (float)values[j];
    }
}

/* ---- By the host's roundings; volatile, so that no operation leaves its rounding ---- */

enum operation { ADD, MULTIPLY, DIVIDE, ROOT, FUSED };

static float f32(enum operation what, int rounding, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, out = 0;

    fesetround(rounding);
    switch (what) {
    case ADD:
        out = x + y;
        break;
    case MULTIPLY:
        out = x * y;
        break;
    case DIVIDE:
        out = x / y;
        break;
    case ROOT:
        out = sqrtf(x);
        break;
    case FUSED:
        out = fmaf(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return out;
}

static double f64(enum operation what, int rounding, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, out = 0;

    fesetround(rounding);
    switch (what) {
    case ADD:
        out = x + y;
        break;
    case MULTIPLY:
        out = x * y;
        break;
    case DIVIDE:
        out = x / y;
        break;
    case ROOT:
        out = sqrt(x);
        break;
    case FUSED:
        out = fma(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return out;
}

static float narrow(int rounding, double value)
{
    volatile double x = value;
    volatile float out;

    fesetround(rounding);
    out = (float)x;
    fesetround(FE_TONEAREST);
    return out;
}

static uint32_t code(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fc00000 : bits;
}

static float flushed(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

/* .sat: from 0 to 1, NaN and -0 as +0. */
static float saturated(float value)
{
    return value > 0 ? (value < 1 ? value : 1) : 0;
}

/* Of a pair the smaller, where -0 is smaller than +0 and NaN is none. */
static float smaller(float a, float b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

void foreign_math_exact(void *const *arguments)
{
    const float *in = arguments[0];
    uint32_t *to = arguments[1];

    for (int i = 0; i < 1024; i++, in += 3, to += 20) {
        float a = in[0], b = in[1], c = in[2];

        to[0] = code(f32(ADD, FE_TONEAREST, a, b, 0));
        to[1] = code(f32(ADD, FE_TOWARDZERO, a, b, 0));
        to[2] = code(f32(ADD, FE_UPWARD, a, b, 0));
        to[3] = code(f32(ADD, FE_DOWNWARD, a, b, 0));
        to[4] = code(f32(MULTIPLY, FE_TOWARDZERO, a, b, 0));
        to[5] = code(f32(MULTIPLY, FE_UPWARD, a, b, 0));
        to[6] = code(f32(FUSED, FE_TONEAREST, a, b, c));
        to[7] = code(f32(FUSED, FE_DOWNWARD, a, b, c));
        to[8] = code(f32(DIVIDE, FE_TONEAREST, a, b, 0));
        to[9] = code(f32(DIVIDE, FE_TOWARDZERO, a, b, 0));
        to[10] = code(f32(ROOT, FE_TONEAREST, fabsf(a), 0, 0));
        to[11] = code(f32(DIVIDE, FE_TONEAREST, 1, a, 0));
        to[12] = code(smaller(a, b));
        to[13] = code(-smaller(-a, -c));
        to[14] = code(saturated(a));
        to[15] = code(flushed(flushed(a) + flushed(b)));
        to[16] = code(saturated(flushed(flushed(a) * flushed(b))));
        to[17] = isnan(a) || isnan(b) ? 0x7fc00000 : code(smaller(a, b));
        to[18] =
            (uint32_t)((a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a >= c) << 4 |
                       (a > c) << 5 | (isnan(a) != 0) << 6 | (isinf(b) != 0) << 7 |
                       (isnan(c) || a < c) << 8 | (signbit(a) != 0) << 9);
        memcpy(&to[19], &a, sizeof a);
        to[19] = (to[19] & 1) ^ (uint32_t) !(a >= b);
    }
}

void foreign_f64_exact(void *const *arguments)
{
    const double *in = arguments[0];
    double *to = arguments[1];

    for (int i = 0; i < 256; i++, in += 3, to += 16) {
        double a = in[0], b = in[1], c = in[2];

        to[0] = f64(ADD, FE_TONEAREST, a, b, 0);
        to[1] = f64(ADD, FE_TOWARDZERO, a, b, 0);
        to[2] = f64(MULTIPLY, FE_UPWARD, a, b, 0);
        to[3] = f64(MULTIPLY, FE_DOWNWARD, a, b, 0);
        to[4] = f64(FUSED, FE_TONEAREST, a, b, c);
        to[5] = f64(FUSED, FE_TOWARDZERO, a, b, c);
        to[6] = f64(DIVIDE, FE_TONEAREST, a, b, 0);
        to[7] = f64(DIVIDE, FE_UPWARD, a, c, 0);
        to[8] = f64(ROOT, FE_TONEAREST, fabs(a), 0, 0);
        to[9] = f64(ROOT, FE_DOWNWARD, fabs(b), 0, 0);
        to[10] = f64(DIVIDE, FE_TONEAREST, 1, c, 0);
        to[11] = floor(a) + ceil(b) + trunc(c) + nearbyint(a * 2);
        to[12] = (a < b ? a : b) + (b > c ? b : c);
        to[13] = signbit(b) ? -fabs(a) : fabs(a);
        to[14] = (double)(float)a;
        to[15] = trunc(a * 1e6) + nearbyint(b) + floor(fabs(c));
    }
}

void foreign_f64_functions(void *const *a)
{
    const double *in = a[0];
    double *to = a[1];

    for (int i = 0; i < 256; i++, to += 6) {
        to[0] = exp(in[i]);
        to[1] = log(fabs(in[i]));
        to[2] = sin(in[i] * 1000);
        to[3] = cbrt(in[i]);
        to[4] = atan2(in[i], 2);
        to[5] = 1 / sqrt(fabs(in[i]));
    }
}

/* ---- Conversions ---- */

/* A whole number as an integer from low to high: clamped; NaN is `nan`. */
static int64_t integer(double whole, int64_t low, int64_t high, int64_t nan)
{
    if (isnan(whole))
        return nan;
    if (whole <= (double)low)
        return low;
    return whole >= (double)high ? high : (int64_t)whole;
}

static uint32_t integer32(double whole)
{
    return (uint32_t)integer(whole, INT32_MIN, INT32_MAX, 0);
}

static uint32_t unsigned32(double whole)
{
    return (uint32_t)integer(whole, 0, UINT32_MAX, 0);
}

static float from_integer(int rounding, int64_t value)
{
    return narrow(rounding, (double)value); /* of 32 bits: exact in between */
}

void foreign_convert(void *const *a)
{
    const float *in = a[0];
    const int32_t *bits = a[1];
    uint32_t *to = a[2];

    for (int i = 0; i < 256; i++, to += 24) {
        double x = (double)in[i], wide = x * 1000003;
        int32_t any = bits[i];
        float square = (float)((int64_t)any * any), least;

        to[0] = integer32(nearbyint(x));
        to[1] = integer32(trunc(x));
        to[2] = integer32(ceil(x));
        to[3] = integer32(floor(x));
        to[4] = unsigned32(nearbyint(x));
        to[5] = unsigned32(ceil(x));
        to[6] = (uint32_t)(integer(nearbyint(x), INT64_MIN, INT64_MAX, INT64_MIN) >> 4);
        /* Behind 2^63 the host has no conversion of its own that is defined. */
        to[7] = isnan(x)      ? (uint32_t)((uint64_t)1 << 63 >> 8)
                : x >= 0x1p64 ? (uint32_t)(UINT64_MAX >> 8)
                : x >= 0x1p63 ? (uint32_t)(((uint64_t)(x - 0x1p63) | (uint64_t)1 << 63) >> 8)
                : x > 0       ? (uint32_t)((uint64_t)x >> 8)
                              : 0;
        to[8] = (uint32_t)integer(ceil(wide), INT32_MIN, INT32_MAX, INT32_MIN);
        to[9] = (uint32_t)(integer(floor(wide), INT64_MIN, INT64_MAX, INT64_MIN) >> 3);
        to[10] = code(from_integer(FE_TONEAREST, any));
        to[11] = code(from_integer(FE_TOWARDZERO, any));
        to[12] = code(from_integer(FE_UPWARD, (uint32_t)any));
        to[13] = code(from_integer(FE_DOWNWARD, (uint32_t)any));
        to[14] = code(square);
        to[15] = code(narrow(FE_TOWARDZERO, wide));
        to[16] = code(narrow(FE_UPWARD, wide));
        to[17] = (uint32_t)integer(nearbyint(x), 0, 255, 0);
        to[18] = (uint32_t)integer(any >> 20, INT8_MIN, INT8_MAX, 0);
        to[19] = (uint32_t)integer(any >> 12, 0, UINT16_MAX, 0);
        to[20] = code(floorf(in[i]) + ceilf(in[i]) * 2);
        to[21] = code(nearbyintf(in[i]) - truncf(in[i]));
        least = saturated(nearbyintf(flushed(in[i])));
        to[22] = code(least);
        to[23] = (uint32_t)((int16_t)any + (int8_t)(any >> 8) + (uint8_t)(any >> 16));
    }
}

/* ---- Small formats ---- */

static double h(const uint16_t *codes, int at)
{
    return foreign_widen(&foreign_f16, codes[at]);
}

static double bf(const uint16_t *codes, int at)
{
    return foreign_widen(&foreign_bf16, codes[at]);
}

static uint16_t to_h(double value)
{
    return (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_NEAREST, value);
}

static uint16_t to_bf(double value)
{
    return (uint16_t)foreign_narrow(&foreign_bf16, FOREIGN_NEAREST, value);
}

/* Of these sizes sums and products, and a product with a sum, are exact in double. */
void foreign_half2_math(void *const *a)
{
    uint16_t *to = a[3];

    for (int at = 0; at < 256; at++, to += 24) {
        const uint16_t *in[3] = {(const uint16_t *)a[0] + at * 2, (const uint16_t *)a[1] + at * 2,
                                 (const uint16_t *)a[2] + at * 2};
        double low;

        for (int i = 0; i < 2; i++) {
            double x = h(in[0], i), y = h(in[1], i), z = h(in[2], i);
            const double values[11] = {
                x + y,      x - y, x * y,   x * y + z, fmax(x * y + z, 0),     fmax(x, y),
                fmin(x, y), -x,    fabs(y), x > y,     fmin(fmax(x + z, 0), 1)};

            for (int j = 0; j < 11; j++)
                to[j * 2 + i] = to_h(values[j]);
        }
        low = h(in[0], 0);
        to[22] = to_h(low <= h(in[1], 1) ? h(in[0], 1) : h(in[1], 0));
        to[23] = to_h(fmin(fmax(low * h(in[1], 0) + h(in[2], 1), 0), 1));
    }
}

void foreign_half_math(void *const *a)
{
    const uint16_t *in = a[0];
    uint16_t *to = a[1];

    for (int at = 0; at < 256; at++, to += 6) {
        double x = h(in, at);

        to[0] = to_h(exp(x));
        to[1] = to_h(log2(fabs(x)));
        to[2] = to_h(sqrt(fabs(x)));
        to[3] = to_h(1 / x);
        to[4] = to_h(1.5 / x);
        to[5] = to_h(exp2(x));
    }
}

void foreign_half_convert(void *const *a)
{
    const float *in = a[0];
    const uint32_t *bits = a[1];
    uint16_t *to = a[2];
    uint32_t *whole = a[3];
    float *wide = a[4];

    for (int at = 0; at < 512; at++, to += 8, whole += 4, wide += 2) {
        double x = (double)in[at], near = foreign_widen(&foreign_f16, to_h(x));
        uint16_t any = (uint16_t)bits[at];

        to[0] = to_h(x);
        to[1] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_ZEROWARD, x);
        to[2] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_UP, x);
        to[3] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_DOWN, x);
        to[4] = to_h((int32_t)bits[at] >> 12);
        to[5] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_ZEROWARD, any);
        to[6] = to_h(x);
        to[7] = to_h(nearbyint(near));
        whole[0] = integer32(trunc(near));
        whole[1] = integer32(nearbyint(-near));
        whole[2] = (uint32_t)integer(ceil(near), INT16_MIN, INT16_MAX, 0);
        whole[3] = unsigned32(floor(near));
        wide[0] = (float)foreign_widen(&foreign_f16, any);
        wide[1] = (float)ceil(near);
    }
}

void foreign_bfloat_math(void *const *a)
{
    uint16_t *to = a[3];

    for (int at = 0; at < 256; at++, to += 16)
        for (int i = 0; i < 2; i++) {
            double x = bf(a[0], at * 2 + i), y = bf(a[1], at * 2 + i), z = bf(a[2], at * 2 + i);
            const double values[8] = {x + y,      x - y,      x * y,    x * y + z,
                                      fmax(x, y), fmin(y, z), -fabs(x), fmax(x * z + y, 0)};

            for (int j = 0; j < 8; j++)
                to[j * 2 + i] = to_bf(values[j]);
        }
}

void foreign_bfloat_convert(void *const *a)
{
    const float *in = a[0];
    uint16_t *to = a[1];
    float *wide = a[2];

    for (int at = 0; at < 256; at++, to += 4, wide += 2) {
        float triple = in[at] * 3;

        to[0] = to_bf((double)in[at]);
        to[1] = (uint16_t)foreign_narrow(&foreign_bf16, FOREIGN_ZEROWARD, (double)in[at]);
        to[2] = to[0];
        to[3] = to_bf((double)triple);
        wide[0] = (float)bf(to, 0);
        wide[1] = (float)bf(to, 2) + (float)bf(to, 3);
    }
}

static uint32_t to_fp8(const struct foreign_format *format, double value)
{
    double within = fmin(fmax(value, -format->largest), format->largest);

    return foreign_narrow(format, FOREIGN_NEAREST, within);
}

void foreign_fp8_narrow(void *const *a)
{
    const float *in = a[0];
    uint16_t *e4m3 = a[1], *e5m2 = a[2];

    for (int at = 0; at < 512; at++, in += 2, e4m3 += 2, e5m2 += 2) {
        double x = (double)in[0], y = (double)in[1];
        double half_x = foreign_widen(&foreign_f16, to_h(x));
        double half_y = foreign_widen(&foreign_f16, to_h(y));

        e4m3[0] = (uint16_t)(to_fp8(&foreign_e4m3, x) | to_fp8(&foreign_e4m3, y) << 8);
        e4m3[1] = (uint16_t)(to_fp8(&foreign_e4m3, half_x) | to_fp8(&foreign_e4m3, half_y) << 8);
        e5m2[0] = (uint16_t)(to_fp8(&foreign_e5m2, x) | to_fp8(&foreign_e5m2, y) << 8);
        e5m2[1] = (uint16_t)(to_fp8(&foreign_e5m2, half_x) | to_fp8(&foreign_e5m2, half_y) << 8);
    }
}

void foreign_fp8_widen(void *const *a)
{
    const uint8_t *in = a[0];
    float *e4m3 = a[1], *e5m2 = a[2];

    for (int at = 0; at < 256; at++) {
        e4m3[at] = (float)foreign_widen(&foreign_e4m3, in[at]) +
                   2 * (float)foreign_widen(&foreign_e4m3, in[at ^ 1]);
        e5m2[at] = (float)foreign_widen(&foreign_e5m2, in[at]);
    }
}

void foreign_fp8_dot(void *const *arguments)
{
    const uint8_t *a = arguments[0], *b = arguments[1];
    float *out = arguments[2];

    for (int at = 0; at < 64; at++) {
        out[at] = 0;
        for (int i = at * 64; i < (at + 1) * 64; i++)
            out[at] = fmaf((float)foreign_widen(&foreign_e4m3, a[i]),
                           (float)foreign_widen(&foreign_e4m3, b[i]), out[at]);
    }
}

/* ---- Numerical kernels ---- */

void foreign_simulate_bodies(void *const *a)
{
    const float *bodies = a[0];
    float *forces = a[1];

    for (int at = 0; at < 128; at++) {
        double sums[3] = {0};

        for (int i = 0; i < 128; i++) {
            double d[3], square = 0.0625, force;

            for (int j = 0; j < 3; j++) {
                d[j] = (double)bodies[i * 4 + j] - (double)bodies[at * 4 + j];
                square += d[j] * d[j];
            }
            force = (double)bodies[i * 4 + 3] / (square * sqrt(square));
            for (int j = 0; j < 3; j++)
                sums[j] += d[j] * force;
        }
        for (int j = 0; j < 3; j++)
            forces[at * 4 + j] = (float)sums[j];
        forces[at * 4 + 3] = bodies[at * 4 + 3];
    }
}

void foreign_simulate_fourier(void *const *a)
{
    const float *in = a[0];
    float *out = a[1];
    const double turn = -2 * acos(-1.0) / 256;

    for (int block = 0; block < 2; block++, in += 512, out += 512)
        for (int k = 0; k < 256; k++) {
            double real = 0, imaginary = 0;

            for (int i = 0; i < 256; i++) {
                double c = cos(turn * (i * k % 256)), s = sin(turn * (i * k % 256));

                real += (double)in[i * 2] * c - (double)in[i * 2 + 1] * s;
                imaginary += (double)in[i * 2] * s + (double)in[i * 2 + 1] * c;
            }
            out[k * 2] = (float)real;
            out[k * 2 + 1] = (float)imaginary;
        }
}

void foreign_simulate_blur(void *const *a)
{
    static const int weights[5] = {1, 4, 6, 4, 1};
    const uint8_t *in = a[0];
    uint8_t *out = a[1];

    for (int y = 0; y < 18; y++)
        for (int x = 0; x < 37; x++) {
            int sum = 128;

            for (int j = 0; j < 5; j++)
                for (int i = 0; i < 5; i++) {
                    int u = x + i - 2, v = y + j - 2;

                    u = u < 0 ? 0 : u > 36 ? 36 : u;
                    v = v < 0 ? 0 : v > 17 ? 17 : v;
                    sum += weights[i] * weights[j] * in[v * 37 + u];
                }
            out[y * 37 + x] = (uint8_t)(sum / 256);
        }
}

void foreign_softmax(void *const *a)
{
    const float *in = a[0];
    float *out = a[1];

    for (int row = 0; row < 5; row++, in += 300, out += 300) {
        double sum = 0;

        for (int i = 0; i < 300; i++)
            sum += exp((double)in[i]);
        for (int i = 0; i < 300; i++)
            out[i] = (float)(exp((double)in[i]) / sum);
    }
}
