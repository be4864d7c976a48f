/* References: integers and bits, by loops over bits and bytes. Sizes stand in cases.def. */
#include "tests/emulator/foreign/foreign.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/* ---- Bits ---- */

static uint32_t bit_of(uint64_t value, int at)
{
    return (uint32_t)(value >> at & 1);
}

static int count_ones(uint64_t value)
{
    int count = 0;

    for (int i = 0; i < 64; i++)
        count += (int)bit_of(value, i);
    return count;
}

/* The highest bit that is set, or -1. */
static int highest(uint64_t value)
{
    int at = -1;

    for (int i = 0; i < 64; i++)
        if (bit_of(value, i))
            at = i;
    return at;
}

static uint64_t reversed(uint64_t value, int width)
{
    uint64_t out = 0;

    for (int i = 0; i < width; i++)
        out |= (uint64_t)bit_of(value, i) << (width - 1 - i);
    return out;
}

/* prmt without its sign mode. */
static uint32_t permuted(uint32_t low, uint32_t high, uint32_t selectors)
{
    uint64_t both = (uint64_t)high << 32 | low;
    uint32_t out = 0;

    for (int i = 0; i < 4; i++)
        out |= (uint32_t)(both >> (selectors >> i * 4 & 7) * 8 & 0xff) << i * 8;
    return out;
}

/* PTX ISA, fns: the n-th bit that is set, from `base` upwards and with it. */
static uint32_t nth_bit(uint32_t mask, uint32_t base, int n)
{
    for (uint32_t at = base; at < 32; at++)
        if (bit_of(mask, (int)at) && --n == 0)
            return at;
    return UINT32_MAX;
}

static uint32_t field(uint32_t value, uint32_t at, uint32_t width, bool is_signed)
{
    uint32_t sign = 0, out = 0, last = at + width - 1;

    if (is_signed && width > 0)
        sign = bit_of(value, last > 31 ? 31 : (int)last);
    for (uint32_t i = 0; i < 32; i++)
        out |= (i < width && at + i < 32 ? bit_of(value, (int)(at + i)) : sign) << i;
    return out;
}

static uint64_t inserted(uint64_t from, uint64_t into, uint32_t at, uint32_t width, uint32_t bits)
{
    for (uint32_t i = 0; i < width && at + i < bits; i++) {
        into &= ~((uint64_t)1 << (at + i));
        into |= (uint64_t)bit_of(from, (int)i) << (at + i);
    }
    return into;
}

static uint32_t by_table(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t out = 0;

    for (int i = 0; i < 32; i++)
        out |= bit_of(table, (int)(bit_of(a, i) << 2 | bit_of(b, i) << 1 | bit_of(c, i))) << i;
    return out;
}

static uint32_t extended(uint32_t value, uint32_t width)
{
    if (width == 0)
        return 0;
    return field(value, 0, width, true);
}

void foreign_bits(void *const *arguments)
{
    const uint32_t *in = arguments[0];
    uint32_t *to = arguments[1];

    for (int at = 0; at < 256; at++, in += 3, to += 24) {
        uint32_t a = in[0], b = in[1], c = in[2], by = c & 31, far = c & 63, width = c >> 8 & 63;
        uint64_t wide = (uint64_t)a << 32 | b, pair = (uint64_t)b << 32 | a;

        to[0] = (uint32_t)count_ones(a);
        to[1] = (uint32_t)count_ones(wide);
        to[2] = (uint32_t)(31 - highest(a));
        to[3] = (uint32_t)(63 - highest(wide >> far));
        to[4] = (uint32_t)reversed(a, 32);
        to[5] = (uint32_t)(reversed(wide, 64) >> 16);
        to[6] = (uint32_t)highest((a & b & c) & (0 - (a & b & c))) + 1;
        to[7] = permuted(a, b, c);
        to[8] = (uint32_t)(pair << by >> 32);
        to[9] = (uint32_t)(pair >> by);
        to[10] = (uint32_t)(pair << (far < 32 ? far : 32) >> 32);
        to[11] = (uint32_t)(pair >> (far < 32 ? far : 32));
        to[12] = nth_bit(a, by, 2);
        to[13] = field(a, far, width, false);
        to[14] = field(a, far, width, true);
        to[15] = (uint32_t)inserted(a, b, far, width, 32);
        to[16] = (uint32_t)highest(a >> by);
        to[17] = (uint32_t)highest(a >> 31 ? (uint32_t)~a : a);
        to[17] = to[17] == UINT32_MAX ? UINT32_MAX : 31 - to[17];
        to[18] = by_table(a, b, c, 0x6a);
        to[19] = (uint32_t)((((uint64_t)1 << (width < 32 ? width : 32)) - 1) << by);
        to[20] = extended(a, by);
        to[21] = (uint32_t)(pair >> (c & 3) * 8);
        to[22] = !(a & 1);
        to[23] = (uint32_t)(inserted(wide, ~wide, far, width, 64) >> 7);
    }
}

void foreign_shifts(void *const *a)
{
    const uint32_t *in = a[0];
    uint32_t *out = a[1];

    for (int i = 0; i < 256; i++, out += 5) {
        uint32_t by = in[i] >> 3 & 127;
        uint64_t wide = in[i] * 0x9e3779b97f4a7c15u;
        uint64_t sign = wide >> 63 ? UINT64_MAX : 0;

        out[0] = by < 32 ? in[i] << by : 0;
        out[1] = by < 32 ? in[i] >> by : 0;
        out[2] = (uint32_t)(((uint64_t)(in[i] >> 31 ? UINT32_MAX : 0) << 32 | in[i]) >>
                            (by < 32 ? by : 32));
        out[3] = (uint32_t)(by == 0 ? wide : by < 64 ? wide >> by | sign << (64 - by) : sign);
        out[4] = (uint32_t)((by < 64 ? wide << by : 0) >> 32);
    }
}

/* ---- Arithmetic ---- */

static int32_t clamped(int64_t value)
{
    return (int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

static int64_t low24(int32_t value)
{
    return (value & 0xffffff) - ((value & 0x800000) ? 0x1000000 : 0);
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

void foreign_integers(void *const *arguments)
{
    const int32_t *in = arguments[0];
    int32_t *to = arguments[1];

    for (int at = 0; at < 256; at++, in += 3, to += 24) {
        int64_t a = in[0], b = in[1], c = in[2];
        uint32_t ua = (uint32_t)a, ub = (uint32_t)b, uc = (uint32_t)c;
        int64_t dot = c, unsigned_dot = uc;

        to[0] = (int32_t)(a * b >> 32);
        to[1] = (int32_t)((uint64_t)ua * ub >> 32);
        to[2] = (int32_t)(uint32_t)(low24(in[0]) * low24(in[1]));
        to[3] = (int32_t)((ua & 0xffffff) * (ub & 0xffffff));
        to[4] = (int32_t)(uint32_t)(magnitude(a - b) + uc);
        to[5] = (int32_t)(uint32_t)(magnitude((int64_t)ua - ub) + uc);
        to[6] = (int32_t)((a + b) >> 1);
        to[7] = (int32_t)(((uint64_t)ua + ub + 1) >> 1);
        to[8] = (int32_t)(a / (b | 1));
        to[9] = (int32_t)(a % (b | 1));
        to[10] = (int32_t)(ua / (ub >> 20 | 1));
        to[11] = (int32_t)(ua % (ub >> 20 | 1));
        to[12] = (int32_t)(a / 7 + ub % 1000);
        for (int i = 0; i < 4; i++) {
            dot += (int8_t)(ua >> i * 8) * (int8_t)(ub >> i * 8);
            unsigned_dot += (uint8_t)(ua >> i * 8) * (uint8_t)(ub >> i * 8);
        }
        to[13] = (int32_t)(uint32_t)dot;
        to[14] = (int32_t)(uint32_t)unsigned_dot;
        dot = c + (int16_t)ua * (int8_t)ub + (int16_t)(ua >> 16) * (int8_t)(ub >> 8);
        unsigned_dot =
            uc + (int64_t)(ua & 0xffff) * (ub >> 16 & 0xff) + (int64_t)(ua >> 16) * (ub >> 24);
        to[15] = (int32_t)(uint32_t)dot;
        to[16] = (int32_t)(uint32_t)unsigned_dot;
        to[17] = clamped((a * b >> 32) + c);
        to[18] = clamped(a + b);
        to[19] = clamped(a - b);
        to[20] = (int32_t)(uint32_t)((int16_t)a * (int16_t)b + c);
        to[21] = (int32_t)(uint32_t)(((uint64_t)(ua & 0xffffff) * (ub & 0xffffff) >> 16) + uc);
        to[22] = (int32_t)(c >= 0 ? a : b);
        to[23] = (int16_t)a * (int16_t)b + (int8_t)c - (uint8_t)(a >> 8);
    }
}

void foreign_integers_wide(void *const *arguments)
{
    const int64_t *in = arguments[0];
    uint64_t *to = arguments[1];

    for (int at = 0; at < 256; at++, in += 2, to += 10) {
        s128 a = in[0], b = in[1];
        uint64_t ua = (uint64_t)in[0], ub = (uint64_t)in[1];
        s128 half = in[1] >> 1;

        to[0] = (uint64_t)(a * b >> 64);
        to[1] = (uint64_t)((u128)ua * ub >> 64);
        to[2] = ua * ub + (uint64_t)(in[0] >> 7);
        to[3] = (uint64_t)(a / (b | 1));
        to[4] = (uint64_t)(a % (in[1] >> 30 | 1));
        to[5] = ua / (ub >> 33 | 1);
        to[6] = ua % 1000000007;
        to[7] = (uint64_t)(a < b ? a : b) ^ (uint64_t)(half < 0 ? -half : half);
        to[8] = (ua > ub ? ua : ub) - (a < b);
        to[9] =
            (uint64_t)((int64_t)(int32_t)ua * (int32_t)ub) + (ua & 0xffffffff) * (ub & 0xffffffff);
    }
}

/* One operation on each lane of a word. */
typedef int32_t lane_operation(int32_t a, int32_t b);

static uint32_t by_lanes(uint32_t a, uint32_t b, int width, bool is_signed, lane_operation *of)
{
    uint32_t out = 0, mask = (1u << width) - 1;

    for (int at = 0; at < 32; at += width) {
        int32_t x = (int32_t)(a >> at & mask), y = (int32_t)(b >> at & mask);

        if (is_signed) {
            x -= x >> (width - 1) ? (int32_t)mask + 1 : 0;
            y -= y >> (width - 1) ? (int32_t)mask + 1 : 0;
        }
        out |= ((uint32_t)of(x, y) & mask) << at;
    }
    return out;
}

static int32_t sum(int32_t a, int32_t b)
{
    return a + b;
}

static int32_t difference(int32_t a, int32_t b)
{
    return a - b;
}

static int32_t distance(int32_t a, int32_t b)
{
    return abs(a - b);
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t sum_to_255(int32_t a, int32_t b)
{
    return smaller(a + b, 255);
}

static int32_t average(int32_t a, int32_t b)
{
    return (a + b + 1) / 2;
}

static int32_t all_if_greater(int32_t a, int32_t b)
{
    return a > b ? -1 : 0;
}

static int32_t one_if_equal(int32_t a, int32_t b)
{
    return a == b;
}

static int32_t difference_of_16(int32_t a, int32_t b)
{
    return larger(smaller(a - b, 32767), -32768);
}

void foreign_integers_packed(void *const *arguments)
{
    const uint32_t *in = arguments[0];
    uint32_t *to = arguments[1];

    for (int at = 0; at < 256; at++, in += 2, to += 12) {
        uint32_t a = in[0], b = in[1];

        to[0] = by_lanes(a, b, 8, false, sum);
        to[1] = by_lanes(a, b, 16, false, difference);
        to[2] = by_lanes(a, b, 8, false, distance);
        to[3] = (to[2] & 0xff) + (to[2] >> 8 & 0xff) + (to[2] >> 16 & 0xff) + (to[2] >> 24);
        to[4] = by_lanes(a, b, 16, true, larger);
        to[5] = by_lanes(a, b, 16, false, smaller);
        to[6] = by_lanes(a, b, 8, false, sum_to_255);
        to[7] = by_lanes(a, b, 8, false, average);
        to[8] = by_lanes(a, b, 8, true, all_if_greater);
        to[9] = by_lanes(a, b & a, 8, false, one_if_equal);
        to[10] = by_lanes(a, b, 8, true, larger);
        to[11] = by_lanes(a, b, 16, true, difference_of_16);
    }
}

void foreign_carry_128(void *const *arguments)
{
    const uint64_t *in = arguments[0];
    uint64_t *to = arguments[1];

    for (int at = 0; at < 128; at++, in += 4, to += 12) {
        u128 a = (u128)in[1] << 64 | in[0], b = (u128)in[3] << 64 | in[2];
        u128 results[6] = {
            a + b, a - b, a * b, a >> (in[2] & 127), a << (in[0] & 127), (a >> 3) + (a < b)};

        if (a >> 127)
            results[5] += (u128)7 << 125;
        for (int i = 0; i < 6; i++) {
            to[i * 2] = (uint64_t)results[i];
            to[i * 2 + 1] = (uint64_t)(results[i] >> 64);
        }
    }
}

void foreign_carry_chain(void *const *arguments)
{
    const uint32_t *a = arguments[0], *b = a + 8;
    uint32_t *to = arguments[1];

    for (int at = 0; at < 128; at++, a += 16, b += 16, to += 24) {
        uint64_t carry = 0, borrow = 0;
        u128 column = 0; /* of the product: at most eight products of 64 bits */

        for (int i = 0; i < 8; i++) {
            uint64_t add = (uint64_t)a[i] + b[i] + carry, take = (uint64_t)a[i] - b[i] - borrow;

            to[i] = (uint32_t)add;
            carry = add >> 32;
            to[8 + i] = (uint32_t)take;
            borrow = take >> 63;
            for (int j = 0; j <= i; j++)
                column += (uint64_t)a[j] * b[i - j];
            to[16 + i] = (uint32_t)column;
            column >>= 32;
        }
    }
}

/* ---- Hashes ---- */

/* The first 32 bits of the fraction of a root of a prime: FIPS 180-4's constants, computed. */
static uint32_t cube_root_bits(uint32_t prime)
{
    u128 root = 0; /* floor(cbrt(prime) * 2^32) */

    for (int bit = 35; bit >= 0; bit--) {
        u128 trial = root | (u128)1 << bit;

        if (trial * trial * trial <= (u128)prime << 96)
            root = trial;
    }
    return (uint32_t)root;
}

static uint32_t square_root_bits(uint32_t prime)
{
    u128 root = 0;

    for (int bit = 35; bit >= 0; bit--) {
        u128 trial = root | (u128)1 << bit;

        if (trial * trial <= (u128)prime << 64)
            root = trial;
    }
    return (uint32_t)root;
}

static uint32_t next_prime(uint32_t after)
{
    for (uint32_t prime = after + 1;; prime++) {
        uint32_t by = 2;

        while (by * by <= prime && prime % by != 0)
            by++;
        if (by * by > prime)
            return prime;
    }
}

static uint32_t turned(uint32_t value, int by)
{
    return value >> by | value << (32 - by);
}

static void sha256(const uint32_t *in, const uint32_t *rounds, const uint32_t *first, uint32_t *out)
{
    uint32_t w[64], a = first[0], b = first[1], c = first[2], d = first[3];
    uint32_t e = first[4], f = first[5], g = first[6], h = first[7];

    for (int i = 0; i < 64; i++) {
        uint32_t t1, t2;

        if (i < 16)
            w[i] = in[i];
        else
            w[i] = w[i - 16] + w[i - 7] +
                   (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) +
                   (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
        t1 = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + (e & f) + (~e & g) + rounds[i] +
             w[i];
        t2 = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) | (a & c) | (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    out[0] = first[0] + a;
    out[1] = first[1] + b;
    out[2] = first[2] + c;
    out[3] = first[3] + d;
    out[4] = first[4] + e;
    out[5] = first[5] + f;
    out[6] = first[6] + g;
    out[7] = first[7] + h;
}

void foreign_hashes_sha256(void *const *a)
{
    uint32_t rounds[64], first[8], prime = 1;

    for (int i = 0; i < 64; i++) {
        prime = next_prime(prime);
        rounds[i] = cube_root_bits(prime);
        if (i < 8)
            first[i] = square_root_bits(prime);
    }
    for (int i = 0; i < 64; i++)
        sha256((const uint32_t *)a[0] + i * 16, rounds, first, (uint32_t *)a[1] + i * 8);
}

void foreign_hashes_philox(void *const *a)
{
    float *out = a[0];
    uint32_t *inside = a[1], seed = *(const uint32_t *)a[2];

    for (uint32_t at = 0; at < 256; at++, out += 4) {
        uint32_t c[4] = {at, 0, 7, 0};

        for (uint32_t i = 0; i < 10; i++) {
            uint64_t first = (uint64_t)c[0] * 0xd2511f53, second = (uint64_t)c[2] * 0xcd9e8d57;

            c[0] = (uint32_t)(second >> 32) ^ c[1] ^ (seed + i * 0x9e3779b9);
            c[1] = (uint32_t)second;
            c[2] = (uint32_t)(first >> 32) ^ c[3] ^ (~seed + i * 0xbb67ae85);
            c[3] = (uint32_t)first;
        }
        for (int i = 0; i < 4; i++)
            out[i] = (float)(c[i] >> 8) / 16777216;
        /* In double the sum is exact, and then rounded once, as the kernel's fma does. */
        *inside += (float)((double)out[0] * (double)out[0] + (double)(out[1] * out[1])) < 1;
    }
}

/* ---- Text ---- */

void foreign_text_words(void *const *a)
{
    const uint8_t *text = a[0];
    uint8_t *upper = a[1];
    uint32_t *counts = a[2], length = 0;

    for (int at = 0; at < 1000; at++)
        upper[at] = (uint8_t)toupper(text[at]);
    for (int at = 0; at <= 1000; at++) {
        if (at < 1000 && isalpha(text[at])) {
            length++;
            continue;
        }
        if (length > 0) {
            counts[0]++;
            counts[1] = length > counts[1] ? length : counts[1];
            counts[2 + (length < 13 ? length : 13)]++;
        }
        length = 0;
    }
}

void foreign_text_lines(void *const *a)
{
    const uint8_t *line = a[0];
    uint32_t *numbers = a[1], *crc = a[2];

    for (int at = 0; at < 48; at++, line += 40) {
        uint32_t number = 0, mirrored = 0, sum_of = UINT32_MAX;

        for (int i = 0; i < 40; i++) {
            if (isdigit(line[i]))
                number = number * 10 + (uint32_t)(line[i] - '0');
            mirrored += line[i] == line[39 - i];
            for (int bit = 0; bit < 8; bit++) {
                uint32_t out = (sum_of ^ line[i] >> bit) & 1;

                sum_of = sum_of >> 1 ^ (out ? 0xedb88320 : 0);
            }
        }
        numbers[at] = number * 64 + mirrored;
        crc[at] = ~sum_of;
    }
}
