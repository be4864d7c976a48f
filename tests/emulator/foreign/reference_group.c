/* References: threads that work together, and matrices. Sizes stand in cases.def. */
#include "tests/emulator/foreign/foreign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reductions, votes, shuffles ---- */

void foreign_reduce_shuffle(void *const *a)
{
    const float *in = a[0];
    float *sums = a[1];

    memset(sums, 0, 5 * sizeof *sums);
    for (int i = 0; i < 3001; i++)
        sums[i / 192 % 5] += in[i];
}

void foreign_reduce_redux(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int warp = 0; warp < 8; warp++, in += 32, out += 8) {
        uint32_t evens = 0, odds = 0;
        int32_t largest = INT32_MIN;

        out[0] = out[4] = out[5] = 0;
        out[1] = out[3] = UINT32_MAX;
        out[2] = 0;
        out[6] = (uint32_t)INT32_MAX;
        for (int i = 0; i < 32; i++) {
            out[0] += in[i];
            out[1] = in[i] < out[1] ? in[i] : out[1];
            out[2] = in[i] > out[2] ? in[i] : out[2];
            out[3] &= in[i];
            out[4] |= in[i];
            out[5] ^= in[i];
            out[6] = (int32_t)in[i] < (int32_t)out[6] ? in[i] : out[6];
            if (in[i] % 2 == 0) {
                evens += in[i];
                continue;
            }
            odds++;
            largest = (int32_t)in[i] > largest ? (int32_t)in[i] : largest;
        }
        out[7] = odds > 0 ? (uint32_t)largest : evens;
    }
}

void foreign_scan(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1], *ready = a[2], *prefix = a[3], sum = 0;

    for (int i = 0; i < 1700; i++) {
        sum += in[i];
        out[i] = sum;
        prefix[i / 256] = sum;
    }
    for (int i = 0; i < 7; i++)
        ready[i] = 1;
    *(uint32_t *)a[4] = 7;
}

/* The lanes whose value under a mask is the same as this one's. */
static uint32_t lanes_like(const uint32_t *warp, int lane, uint32_t mask)
{
    uint32_t out = 0;

    for (int i = 0; i < 32; i++)
        out |= (uint32_t)((warp[i] & mask) == (warp[lane] & mask)) << i;
    return out;
}

void foreign_vote(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *to = a[1];

    for (int at = 0; at < 256; at++, to += 10) {
        const uint32_t *warp = in + at / 32 * 32;
        int lane = at % 32;
        uint32_t odd = 0, twos = 0, before = 0, any_four = 0, any_none = 0, all_some = 1;

        for (int i = 0; i < 32; i++) {
            bool is_odd = warp[i] & 1;

            odd |= (uint32_t)is_odd << i;
            twos |= (uint32_t)(is_odd && (warp[i] & 2)) << i;
            before += is_odd && i < lane;
            any_four |= is_odd && (warp[i] & 4);
            any_none |= (warp[i] & 31) == 0;
            all_some &= (warp[i] & 0xff) != 0;
        }
        to[0] = odd;
        to[1] = any_none | all_some << 1;
        to[2] = lanes_like(warp, lane, 3);
        to[4] = lanes_like(warp, lane, 0x100) == UINT32_MAX;
        to[3] = to[4] ? UINT32_MAX : 0;
        to[5] = lanes_like(warp, lane, 1);
        to[6] = warp[lane] & 1 ? before + 1 : 0;
        to[7] = warp[lane] & 1 ? twos | any_four << 31 : 0;
        to[8] = lanes_like(warp, lane, 0x200) == UINT32_MAX;
        to[9] = (UINT32_MAX << lane) ^ (uint32_t)lane;
    }
}

void foreign_shuffle(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *to = a[1];

    for (int at = 0; at < 128; at++, to += 10) {
        const uint32_t *warp = in + at / 32 * 32;
        int lane = at % 32;
        uint64_t other = warp[lane ^ 9];
        bool inside = lane - 6 >= (lane & 8); /* of a row that begins where bit 3 says */

        to[0] = warp[warp[lane] % 32];
        to[1] = warp[lane / 8 * 8 + 5];
        to[2] = warp[lane < 3 ? lane : lane - 3];
        to[3] = warp[lane % 4 < 2 ? lane : lane - 2];
        to[4] = warp[lane % 16 + 7 > 15 ? lane : lane + 7];
        to[5] = warp[lane ^ 21];
        to[6] = warp[lane & 4 ? lane ^ 4 : lane]; /* lanes of rows before may be read */
        to[7] = (uint32_t)(other * other >> 32) ^ (uint32_t)(other * other);
        to[8] = (uint32_t)((double)warp[lane == 31 ? 31 : lane + 1] / 3 * 2);
        to[9] = warp[inside ? lane - 6 : lane] + inside;
    }
}

static int compare_records(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

void foreign_sort_bitonic(void *const *a)
{
    const uint32_t *keys = a[0];
    uint64_t *out = a[1];

    for (uint32_t i = 0; i < 3 * 256; i++)
        out[i] = (uint64_t)keys[i] << 32 | i % 256;
    for (int block = 0; block < 3; block++)
        qsort(out + block * 256, 256, sizeof *out, compare_records);
}

static int compare_downwards(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

    return (a < b) - (a > b);
}

void foreign_sort_warp(void *const *a)
{
    for (int warp = 0; warp < 6; warp++)
        qsort((int32_t *)a[0] + warp * 32, 32, sizeof(int32_t), compare_downwards);
}

/* ---- Barriers ---- */

void foreign_barriers_count(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int block = 0; block < 3; block++, in += 160, out += 160) {
        uint32_t odd = 0, all = 1, any = 0;

        for (int i = 0; i < 160; i++) {
            odd += in[i] & 1;
            all &= in[i] != 0;
            any |= (in[i] & 0xff) == 7;
        }
        for (int i = 0; i < 160; i++)
            out[i] = odd << 8 | all << 4 | any;
    }
}

void foreign_barriers_named(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    out[256] = 0;
    for (uint32_t i = 0; i < 256; i++)
        out[i] = in[i ^ 32] + in[i] * 2;
    for (uint32_t turn = 0; turn < 3; turn++)
        for (uint32_t i = 128; i < 256; i++)
            out[i] ^= out[(i * 5 + turn) % 128] * (turn + 1);
    for (uint32_t i = 0; i < 256; i++)
        out[256] += out[i] & 1;
}

void foreign_mbarrier(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int at = 0; at < 96; at++) {
        out[at] = 0;
        for (int i = 0; i < 9; i++)
            out[at] = out[at] * 31 + in[i * 32 + (at + at / 32 + 1) % 32];
    }
}

void foreign_mbarrier_token(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (size_t i = 0; i < 384; i++)
        memcpy(out + i * 4, in + (i / 128 * 128 + 127 - i % 128) * 4, 16);
}

/* ---- Atomics ---- */

void foreign_atomics_wide(void *const *a)
{
    const uint64_t *in = a[0];
    uint64_t *out = a[1];

    for (int i = 0; i < 256; i++) {
        uint64_t value = in[i];

        out[0] += value;
        out[1] = value < out[1] ? value : out[1];
        out[2] = value > out[2] ? value : out[2];
        out[3] = (int64_t)value < (int64_t)out[3] ? value : out[3];
        out[4] = (int64_t)value > (int64_t)out[4] ? value : out[4];
        out[5] &= value | 0xffff;
        out[6] |= value & 0xff00ff;
        out[7] ^= value;
        out[8] *= value | 1;
        out[9 + value % 4] = 0x1234567887654321;
    }
}

void foreign_atomics_float(void *const *a)
{
    const float *in = a[0];
    float *sums = a[1];
    double *wide = a[2];
    uint16_t *pair = a[3], *halves = a[4];
    int positive = 0, negative = 0;

    for (int i = 0; i < 512; i++) {
        sums[0] += in[i];
        sums[1] = in[i] > sums[1] ? in[i] : sums[1];
        *wide += (double)in[i];
        positive += in[i] > 0;
        negative += in[i] < 0;
    }
    pair[0] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_NEAREST, positive);
    pair[1] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_NEAREST, negative);
    halves[1] = (uint16_t)(halves[1] + 3 * 512);
}

void foreign_atomics_lock(void *const *a)
{
    uint32_t *tickets = a[0], *words = a[1];

    for (uint32_t i = 0; i < 128; i++) {
        tickets[i] = i ^ 0x5555;
        words[0]++;
        words[1] = words[1] == 0 ? 40 : words[1] - 1;
        words[2] -= i;
        words[4] = words[4] * 3 + 1;
        words[5]++;
        words[6] += 2;
    }
}

void foreign_orders(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *message = a[1];
    uint64_t *sum = a[3];

    for (int block = 0; block < 6; block++) {
        *sum += (uint64_t)*message * (64 * 63 / 2) + 64;
        *message = *message * 5 + in[block];
    }
    *(uint32_t *)a[2] = 6;
}

/* ---- Grids and clusters ---- */

void foreign_grid_last(void *const *a)
{
    const float *in = a[0];
    float *sums = a[1], *result = a[2];

    memset(sums, 0, 6 * sizeof *sums);
    *result = 0;
    for (int i = 0; i < 4000; i++) {
        sums[i / 128 % 6] += in[i];
        *result += in[i];
    }
}

void foreign_grid_barrier(void *const *a)
{
    for (uint32_t turn = 0; turn < 5; turn++) {
        const uint32_t *from = a[turn % 2];
        uint32_t *to = a[1 - turn % 2];

        for (int i = 0; i < 256; i++)
            to[i] = from[(i + 37) % 256] * 3 + turn;
    }
    *(uint32_t *)a[2] = 5 * 4;
}

void foreign_grid_shape(void *const *a)
{
    uint32_t *to = a[0];

    for (uint32_t block = 0; block < 12; block++)
        for (uint32_t thread = 0; thread < 36; thread++, to += 5) {
            to[0] = thread % 4 | thread / 4 % 3 << 8 | thread / 12 << 16 | thread % 32 << 24;
            to[1] = block % 2 | block / 2 % 3 << 8 | block / 6 << 16;
            to[2] = 4 | 3 << 8 | 3 << 16 | 32u << 24;
            to[3] = 2 | 3 << 8 | 2 << 16 | 1 << 24;
            to[4] = 1;
        }
}

void foreign_cluster_histogram(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *bins = a[1];

    for (int i = 0; i < 3000; i++)
        bins[in[i] % 256]++;
}

void foreign_cluster_ring(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1], *ids = a[2];

    for (uint32_t block = 0; block < 8; block++) {
        uint32_t rank = (block + 3) % 4;

        for (uint32_t i = 0; i < 32; i++)
            out[block * 32 + i] = in[(block / 4 * 4 + rank) * 32 + i] ^ rank;
        ids[block] = block / 4 | 0 << 8 | 2 << 16 | block % 4 << 24;
    }
}

void foreign_bulk_pipeline(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (uint32_t i = 0; i < 3 * 5 * 256; i++)
        out[i] = in[i] * 3 + i / 256 % 5;
}

void foreign_bulk_reduce(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *sums = a[1], *least = a[2];

    for (int i = 0; i < 320; i++) {
        sums[i % 64] += in[i];
        least[i % 64] = in[i] < least[i % 64] ? in[i] : least[i % 64];
    }
}

void foreign_roles(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int at = 0; at < 128; at++) {
        out[at] = 0;
        for (int i = at % 16; i < 128; i += 16)
            out[at] += in[i] * in[i];
    }
    out[128] = 4;
}

/* ---- Matrices. Of a fragment of 8 x 8 lane l has row l / 4, columns 2 * (l % 4) and one more ----
 */

void foreign_roles_matrix(void *const *a)
{
    const uint32_t *in = a[0];
    uint16_t *out = a[1];
    float *sums = a[2];

    for (int at = 0; at < 256; at++) {
        int tile = at / 64, row = at / 8 % 8, column = at % 8;

        out[at] = (uint16_t)(in[tile * 32 + row * 4 + column / 2] >> column % 2 * 16);
    }
    for (int at = 0; at < 64; at++)
        out[256 + at] = out[at % 8 * 8 + at / 8];
    for (int lane = 0; lane < 32; lane++) {
        sums[0] += 1;
        sums[1] += (float)lane;
        sums[2] += (float)(in[lane] & 15);
        sums[3] -= 2;
    }
}

static uint32_t fragment(const uint16_t *tile, int lane, bool transposed)
{
    int row = lane / 4, column = lane % 4 * 2;

    if (transposed)
        return tile[column * 8 + row] | (uint32_t)tile[(column + 1) * 8 + row] << 16;
    return tile[row * 8 + column] | (uint32_t)tile[row * 8 + column + 1] << 16;
}

void foreign_matrix_moves(void *const *a)
{
    const uint16_t *in = a[0];
    uint32_t *out = a[1];

    for (int lane = 0; lane < 32; lane++) {
        out[lane] = fragment(in, lane, false);
        out[32 + lane] = fragment(in, lane, false) ^ fragment(in + 64, lane, false) * 5;
        for (int i = 0; i < 4; i++)
            out[64 + i * 32 + lane] = fragment(in + i * 64, lane, true);
        out[192 + lane] = fragment(in + 128, lane, false);
    }
}

/* An element of f32 as tf32: to nearest, halves away from zero. */
static double tf32(double value)
{
    int exponent;
    double fraction = frexp(value, &exponent);

    return ldexp(round(ldexp(fraction, 11)), exponent - 11);
}

/* Sum over k of a[i][k] * b[j][k] in double; exact for what is exact in the kernel. */
static double dot(enum foreign_type type, const void *a, size_t i, const void *b, size_t j,
                  size_t k)
{
    double sum = 0;

    for (size_t at = 0; at < k; at++)
        sum += foreign_element(type, a, i * k + at) * foreign_element(type, b, j * k + at);
    return sum;
}

void foreign_mma_bf16(void *const *a)
{
    for (size_t i = 0; i < 16 * 8; i++)
        ((float *)a[3])[i] =
            (float)dot(FOREIGN_BF16, a[0], i / 8, a[1], i % 8, 16) + ((const float *)a[2])[i];
}

void foreign_mma_f16(void *const *a)
{
    for (size_t i = 0; i < 16 * 8; i++) {
        double sum =
            dot(FOREIGN_F16, a[0], i / 8, a[1], i % 8, 8) + foreign_element(FOREIGN_F16, a[2], i);

        ((uint16_t *)a[3])[i] = (uint16_t)foreign_narrow(&foreign_f16, FOREIGN_NEAREST, sum);
    }
}

void foreign_mma_tf32(void *const *arguments)
{
    const float *a = arguments[0], *b = arguments[1], *c = arguments[2];
    float *d = arguments[3];

    for (int i = 0; i < 16 * 8; i++) {
        double sum = (double)c[i];

        for (int k = 0; k < 8; k++)
            sum += tf32((double)a[i / 8 * 8 + k]) * tf32((double)b[i % 8 * 8 + k]);
        d[i] = (float)sum;
    }
}

void foreign_mma_s8(void *const *arguments)
{
    const int8_t *a = arguments[0];
    const uint8_t *b = arguments[1];
    const int32_t *c = arguments[2];
    int32_t *d = arguments[3];

    for (int i = 0; i < 16 * 8; i++) {
        int64_t sum = c[i];

        for (int k = 0; k < 32; k++)
            sum += a[i / 8 * 32 + k] * b[i % 8 * 32 + k];
        d[i] = (int32_t)(sum > INT32_MAX ? INT32_MAX : sum);
    }
}

void foreign_mma_f64(void *const *a)
{
    for (size_t i = 0; i < 8 * 8; i++)
        ((double *)a[3])[i] =
            dot(FOREIGN_F64, a[0], i / 8, a[1], i % 8, 4) + ((const double *)a[2])[i];
}

void foreign_gemm_mma(void *const *arguments)
{
    const uint16_t *a = arguments[0], *b = arguments[1];
    float *d = arguments[2];

    for (int i = 0; i < 128; i++)
        for (int j = 0; j < 128; j++) {
            double sum = 0;

            for (int k = 0; k < 96; k++)
                sum += foreign_widen(&foreign_f16, a[i * 96 + k]) *
                       foreign_widen(&foreign_f16, b[k * 128 + j]);
            d[i * 128 + j] = (float)sum;
        }
}

void foreign_gemm_cp_async(void *const *arguments)
{
    const float *a = arguments[0], *b = arguments[1];
    float *d = arguments[2];

    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 96; j++) {
            d[i * 96 + j] = 0;
            for (int k = 0; k < 76; k++)
                d[i * 96 + j] += a[i * 76 + k] * b[k * 96 + j];
        }
}

void foreign_attention(void *const *a)
{
    float *out = a[3];

    for (size_t query = 0; query < 64; query++, out += 16) {
        double weights[80], total = 0;

        for (size_t key = 0; key < 80; key++) {
            weights[key] = exp(dot(FOREIGN_F16, a[0], query, a[1], key, 16));
            total += weights[key];
        }
        for (size_t i = 0; i < 16; i++) {
            double sum = 0;

            for (size_t key = 0; key < 80; key++)
                sum += weights[key] * foreign_element(FOREIGN_F16, a[2], key * 16 + i);
            out[i] = (float)(sum / total);
        }
    }
}

void foreign_gemm_wgmma_f16(void *const *a)
{
    for (size_t i = 0; i < 64 * 32; i++)
        ((float *)a[2])[i] = (float)dot(FOREIGN_F16, a[0], i / 32, a[1], i % 32, 192);
}

void foreign_gemm_wgmma_registers(void *const *arguments)
{
    const uint16_t *a = arguments[0], *b = arguments[1];
    float *d = arguments[2];

    for (int i = 0; i < 64 * 8; i++) {
        double sum = 0;

        for (int k = 0; k < 32; k++)
            sum += (k < 16 ? 1 : -1) * foreign_widen(&foreign_bf16, a[i / 8 * 32 + k]) *
                   foreign_widen(&foreign_bf16, b[i % 8 * 32 + k]);
        d[i] = (float)sum;
    }
}

void foreign_gemm_wgmma_s8(void *const *arguments)
{
    const int8_t *a = arguments[0], *b = arguments[1];
    int32_t *d = arguments[2];

    for (int i = 0; i < 64 * 16; i++) {
        d[i] = 0;
        for (int k = 0; k < 64; k++)
            d[i] += a[i / 16 * 64 + k] * b[i % 16 * 64 + k];
    }
}

void foreign_gemm_tcgen05_cta(void *const *a)
{
    for (size_t i = 0; i < 128 * 64; i++)
        ((float *)a[2])[i] = (float)dot(FOREIGN_F16, a[0], i / 64, a[1], i % 64, 320);
}

void foreign_gemm_tcgen05_pair(void *const *a)
{
    for (size_t i = 0; i < 256 * 64; i++)
        ((float *)a[2])[i] = (float)dot(FOREIGN_F16, a[0], i / 64, a[1], i % 64, 320);
}
