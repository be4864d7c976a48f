/* wgmma: where descriptors point, products of integers in every shape and type against a plain
 * product, products of reals against the models. */
#include "emulator/mma.h"
#include "emulator/tensor_map.h"
#include "tests/emulator/random.h"
#include "tests/emulator/wgmma_forms.h"
#include "tests/support/cmocka_all.h"

#include <stdlib.h>

enum { ROWS = 64, N_MAX = 256, K_MAX = 256, SHARED_BYTES = 1 << 18, A_AT = 0, B_AT = 1 << 17 };

/* ---- Descriptors ---- */

struct operand {
    uint32_t start, leading, stride, base_offset;
    int swizzle; /* the descriptor's code: 0 none, 1 128B, 2 64B, 3 32B */
};

static uint64_t descriptor_of(const struct operand *o)
{
    return (uint64_t)(o->start >> 4) | (uint64_t)(o->leading >> 4) << 16 |
           (uint64_t)(o->stride >> 4) << 32 | (uint64_t)o->base_offset << 49 |
           (uint64_t)o->swizzle << 62;
}

/* Byte offset of a bit-addressed element, by the rows of the reference's table. */
static uint32_t model_offset(const struct operand *o, int bits, bool mn_major, int mn, int k)
{
    static const int widths[] = {1, 8, 4, 2};
    int w = widths[o->swizzle], t = 128 / bits;
    int sbo = (int)o->stride, lbo = (int)o->leading, offset;

    if (!mn_major && o->swizzle == 0)
        offset = (mn % 8) * 16 + (mn / 8) * sbo + (k / t) * lbo + (k % t) * bits / 8;
    else if (!mn_major)
        offset = (mn % 8) * 16 * w + (mn / 8) * sbo + k * bits / 8;
    else if (o->swizzle == 0)
        offset = (mn % t) * bits / 8 + (mn / t) * sbo + (k % 8) * 16 + (k / 8) * lbo;
    else
        offset =
            (mn % (w * t)) * bits / 8 + (mn / (w * t)) * lbo + (k % 8) * 16 * w + (k / 8) * sbo;

    int a = (int)o->start + offset, row = ((a >> 7) - (int)o->base_offset) & 7;

    return (uint32_t)(a ^ (row & (w - 1)) << 4);
}

static void offsets_are_those_of_the_table(void **state)
{
    (void)state;
    static const enum emu_type types[] = {EMU_F16, EMU_BF16, EMU_TF32, EMU_E4M3, EMU_S8, EMU_B1};
    uint64_t seed = 1;

    for (int i = 0; i < 200000; i++) {
        enum emu_type type = types[draw(&seed) % 6];
        struct operand o = {
            .start = 16 * (uint32_t)draw_between(&seed, 0, 0x3fff),
            .leading = 16 * (uint32_t)draw_between(&seed, 0, 0x3fff),
            .stride = 16 * (uint32_t)draw_between(&seed, 0, 0x3fff),
            .base_offset = (uint32_t)draw_between(&seed, 0, 7),
            .swizzle = (int)draw_between(&seed, 0, 3),
        };
        int width = width_of(type), mn = (int)draw_between(&seed, 0, 255);
        int k = (int)draw_between(&seed, 0, 256 / width - 1);
        bool mn_major = width == 16 && draw(&seed) % 2;

        assert_int_equal(emu_wgmma_offset(descriptor_of(&o), type, mn_major, mn, k),
                         model_offset(&o, width, mn_major, mn, k));
    }
}

/* The canonical tiles: what a tensor copy with the swizzle wrote is what the descriptor reads. */
static void descriptors_read_what_tensor_copies_write(void **state)
{
    (void)state;
    static const struct {
        int code, swizzle;
        uint32_t span;
    } modes[] = {{1, 3, 128}, {2, 2, 64}, {3, 1, 32}};
    static const enum emu_type types[] = {EMU_F16, EMU_TF32, EMU_E5M2};

    for (int mode = 0; mode < 3; mode++) {
        uint32_t span = modes[mode].span, start = 3072;

        /* K-major: rows of the span's length; 32 bytes further along k a step. */
        for (int t = 0; t < 3; t++)
            for (uint32_t step = 0; step < span / 32; step++) {
                uint32_t size = (uint32_t)width_of(types[t]) / 8;
                struct operand o = {.start = start + 32 * step,
                                    .stride = 8 * span,
                                    .leading = 4096,
                                    .swizzle = modes[mode].code};

                for (int mn = 0; mn < 256; mn++)
                    for (int k = 0; k < (int)(32 / size); k++)
                        assert_int_equal(
                            emu_wgmma_offset(descriptor_of(&o), types[t], false, mn, k),
                            emu_swizzle(modes[mode].swizzle, start + (uint32_t)mn * span +
                                                                 32 * step + (uint32_t)k * size));
            }
        /* MN-major: boxes of one span of mn and 64 rows of k, side by side. */
        for (int step = 0; step < 4; step++) {
            struct operand o = {.start = start + 16 * (uint32_t)step * span,
                                .stride = 8 * span,
                                .leading = 64 * span,
                                .swizzle = modes[mode].code};

            for (int mn = 0; mn < 128; mn++)
                for (int k = 0; k < 16; k++) {
                    uint32_t block = (uint32_t)mn / (span / 2), in = (uint32_t)mn % (span / 2);
                    uint32_t row = (uint32_t)(16 * step + k);

                    assert_int_equal(emu_wgmma_offset(descriptor_of(&o), EMU_F16, true, mn, k),
                                     emu_swizzle(modes[mode].swizzle,
                                                 start + block * 64 * span + row * span + 2 * in));
                }
        }
    }
}

static void base_offsets_move_the_pattern(void **state)
{
    (void)state;
    /* A pattern that starts at +128: with b = 1 its first row is not swizzled. */
    struct operand o = {.start = 128, .stride = 1024, .base_offset = 1, .swizzle = 1};

    assert_int_equal(emu_wgmma_offset(descriptor_of(&o), EMU_F16, false, 0, 8), 128 + 16);
    assert_int_equal(emu_wgmma_offset(descriptor_of(&o), EMU_F16, false, 1, 8), 256 + 0);
    o.base_offset = 0;
    assert_int_equal(emu_wgmma_offset(descriptor_of(&o), EMU_F16, false, 0, 8), 128 + 0);
}

/* ---- A warpgroup ---- */

struct group {
    unsigned char shared[SHARED_BYTES];
    uint64_t d[4][N_MAX / 2][32], a[4][4][32];
    uint64_t *d_rows[4][N_MAX / 2];
    const uint64_t *a_rows[4][4];
    uint32_t a_bits[ROWS][K_MAX], b_bits[K_MAX][N_MAX], c_bits[ROWS][N_MAX];
};

static struct group *create_group(void)
{
    struct group *group = test_calloc(1, sizeof *group);

    for (int w = 0; w < 4; w++) {
        for (int i = 0; i < N_MAX / 2; i++)
            group->d_rows[w][i] = group->d[w][i];
        for (int i = 0; i < 4; i++)
            group->a_rows[w][i] = group->a[w][i];
    }
    return group;
}

static void put_bits(unsigned char *at, int width, int k, uint32_t bits)
{
    if (width == 1)
        *at = (unsigned char)((*at & ~(1u << k % 8)) | bits << k % 8);
    for (int byte = 0; byte < width / 8; byte++)
        at[byte] = (unsigned char)(bits >> 8 * byte);
}

static void put_a_registers(struct group *group, enum emu_type type, int k_count)
{
    int width = width_of(type);

    memset(group->a, 0, sizeof group->a);
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < k_count; k++) {
            /* What lane and register hold (row, k): 16 rows a warp, 8 to the lower registers; 16
             * bytes of k to the first two. */
            int bit = k * width, lane = row % 8 * 4 + bit / 32 % 4;
            int index = row / 8 % 2 + 2 * (bit / 128);

            group->a[row / 16][index][lane] |= (uint64_t)group->a_bits[row][k] << bit % 32;
        }
    /* What is above 32 bits is not read. */
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < 4; i++)
            for (int lane = 0; lane < 32; lane++)
                group->a[w][i][lane] |= UINT64_C(0xabcdef) << 32;
}

static uint64_t *d_word(struct group *group, enum emu_type type, int row, int column, int *shift)
{
    int lane = row % 8 * 4 + column % 8 / 2, index = column / 8 * 4 + row / 8 % 2 * 2 + column % 2;

    *shift = type == EMU_F16 ? index % 2 * 16 : 0;
    return &group->d[row / 16][type == EMU_F16 ? index / 2 : index][lane];
}

static void put_c(struct group *group, const struct emu_wgmma *wgmma)
{
    memset(group->d, 0, sizeof group->d);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < wgmma->n; column++) {
            int shift;
            uint64_t *word = d_word(group, wgmma->d, row, column, &shift);

            *word |= (uint64_t)group->c_bits[row][column] << shift;
        }
}

static uint32_t get_d(struct group *group, const struct emu_wgmma *wgmma, int row, int column)
{
    int shift;
    uint64_t word = *d_word(group, wgmma->d, row, column, &shift);

    assert_int_equal(word >> 32, 0);
    return (uint32_t)(word >> shift) & (wgmma->d == EMU_F16 ? 0xffff : 0xffffffff);
}

static bool run(struct group *group, const struct emu_wgmma *wgmma, const struct operand *a,
                const struct operand *b, bool add_d, bool exact, uint32_t shared_bytes)
{
    const struct emu_wgmma_operands operands = {
        .a_descriptor = descriptor_of(a),
        .b_descriptor = descriptor_of(b),
        .a_registers = {group->a_rows[0], group->a_rows[1], group->a_rows[2], group->a_rows[3]},
        .add_d = add_d,
    };
    uint64_t *const *const d[] = {group->d_rows[0], group->d_rows[1], group->d_rows[2],
                                  group->d_rows[3]};
    const char *why = NULL;
    bool done = emu_wgmma(wgmma, &operands, group->shared, shared_bytes, d, exact, &why);

    assert_true(done == (why == NULL));
    return done;
}

/* A layout in which elements do not overlap, in half of the shared memory that begins at `from`. */
static struct operand draw_operand(uint64_t *seed, bool mn_major, int mn_count, uint32_t from)
{
    static const uint32_t widths[] = {1, 8, 4, 2};
    struct operand o = {.swizzle = (int)draw_between(seed, 0, 3)};
    uint32_t span = 16 * widths[o.swizzle], pad = 16 * (uint32_t)draw_between(seed, 0, 1);

    o.start = from + 128 * (uint32_t)draw_between(seed, 0, 9);
    o.base_offset = (uint32_t)draw_between(seed, 0, 7);
    if (o.swizzle == 0) {
        /* Blocks of 8 x 16 bytes: two along one way, the rest along the other. */
        uint32_t blocks = (uint32_t)mn_count / 8, apart = 128 + pad;

        o.start += pad;
        if (draw(seed) % 2)
            o.stride = apart, o.leading = apart * blocks;
        else
            o.leading = apart, o.stride = 2 * apart;
    } else if (mn_major) {
        o.stride = 8 * span;
        o.leading = 16 * span;
        if (draw(seed) % 2)
            o.leading = 1024 + 16 * span;
    } else {
        o.stride = 8 * span * (uint32_t)draw_between(seed, 1, 2);
        /* Without effect. */
        o.leading = 16 * (uint32_t)draw_between(seed, 0, 0x3fff);
    }
    if (o.swizzle != 0)
        o.start = from + 1024 * (uint32_t)draw_between(seed, 0, 2);
    return o;
}

static void put_shared(struct group *group, const struct emu_wgmma *wgmma, const struct operand *a,
                       const struct operand *b)
{
    for (int row = 0; row < ROWS && !wgmma->a_in_registers; row++)
        for (int k = 0; k < wgmma->k; k++)
            put_bits(group->shared +
                         model_offset(a, width_of(wgmma->a), wgmma->transpose_a, row, k),
                     width_of(wgmma->a), k, group->a_bits[row][k]);
    for (int column = 0; column < wgmma->n; column++)
        for (int k = 0; k < wgmma->k; k++)
            put_bits(group->shared +
                         model_offset(b, width_of(wgmma->b), wgmma->transpose_b, column, k),
                     width_of(wgmma->b), k, group->b_bits[k][column]);
}

/* ---- Integers in all types ---- */

/* An integer that every format of its kind holds, and its bits. */
static int64_t draw_integer(uint64_t *seed, enum emu_type type, uint32_t *bits)
{
    int64_t value;

    if (is_float(type)) {
        value = draw_between(seed, -4, 4);
        *bits = bits_for(type, (double)value);
        if (type == EMU_TF32) /* dropped */
            *bits |= (uint32_t)draw(seed) & 0x1fff;
        return value;
    }
    if (type == EMU_B1)
        value = draw_between(seed, 0, 1);
    else
        value = type == EMU_S8 ? draw_between(seed, -128, 127) : draw_between(seed, 0, 255);
    *bits = (uint32_t)value & (type == EMU_B1 ? 1 : 0xff);
    return value;
}

static uint32_t expected_integer(const struct emu_wgmma *wgmma, int64_t sum, uint32_t c)
{
    if (wgmma->d != EMU_S32)
        return bits_for(wgmma->d, (double)sum + value_of(wgmma->d, c) + 0.0);
    sum += (int32_t)c;
    if (!wgmma->saturate)
        return (uint32_t)sum;
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static void multiply_integers(struct group *group, uint64_t *seed, const struct emu_wgmma *wgmma,
                              bool exact)
{
    static int64_t left[ROWS][K_MAX], right[K_MAX][N_MAX];
    bool add_d = draw(seed) % 2;
    struct operand a = draw_operand(seed, wgmma->transpose_a, ROWS, A_AT);
    struct operand b = draw_operand(seed, wgmma->transpose_b, wgmma->n, B_AT);
    int64_t sign = wgmma->negate_a == wgmma->negate_b ? 1 : -1;

    for (int k = 0; k < wgmma->k; k++) {
        for (int row = 0; row < ROWS; row++)
            left[row][k] = draw_integer(seed, wgmma->a, &group->a_bits[row][k]);
        for (int column = 0; column < wgmma->n; column++)
            right[k][column] = draw_integer(seed, wgmma->b, &group->b_bits[k][column]);
    }
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < wgmma->n; column++)
            group->c_bits[row][column] =
                wgmma->d == EMU_S32
                    ? (uint32_t)(draw(seed) % 2 ? draw(seed) : INT32_MAX - draw(seed) % 1000)
                    : bits_for(wgmma->d, (double)draw_between(seed, -500, 500));
    put_shared(group, wgmma, &a, &b);
    put_a_registers(group, wgmma->a, wgmma->k);
    put_c(group, wgmma);
    assert_true(run(group, wgmma, &a, &b, add_d, exact, SHARED_BYTES));
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < wgmma->n; column++) {
            int64_t sum = 0;

            for (int k = 0; k < wgmma->k; k++)
                sum += left[row][k] * right[k][column];
            assert_int_equal(
                get_d(group, wgmma, row, column),
                expected_integer(wgmma, sign * sum, add_d ? group->c_bits[row][column] : 0));
        }
}

static struct emu_wgmma shape_of(int kind, int n)
{
    struct emu_wgmma wgmma = {
        .n = n,
        .k = 256 / width_of(kinds[kind].a),
        .d = kinds[kind].d,
        .a = kinds[kind].a,
        .b = kinds[kind].b,
        .d_registers = kinds[kind].d == EMU_F16 ? n / 4 : n / 2,
    };

    return wgmma;
}

static void integers_are_multiplied_exactly_in_all_shapes(void **state)
{
    (void)state;
    struct group *group = create_group();
    uint64_t seed = 2;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int n = 8; n <= N_MAX; n += 8)
            for (int round = 0; round < 2 && has_n(kinds[kind].d, n); round++) {
                struct emu_wgmma wgmma = shape_of(kind, n);
                bool is_16_bit = width_of(wgmma.a) == 16;

                wgmma.a_in_registers = draw(&seed) % 2;
                wgmma.transpose_a = is_16_bit && !wgmma.a_in_registers && draw(&seed) % 2;
                wgmma.transpose_b = is_16_bit && draw(&seed) % 2;
                wgmma.negate_a = wgmma.d != EMU_S32 && draw(&seed) % 2;
                wgmma.negate_b = wgmma.d != EMU_S32 && draw(&seed) % 2;
                wgmma.saturate = wgmma.a != EMU_B1 && wgmma.d == EMU_S32 && draw(&seed) % 2;
                multiply_integers(group, &seed, &wgmma, round == 1);
            }
    test_free(group);
}

/* ---- Real numbers ---- */

/* Bits of any finite or other value, most of them of near exponents so that sums cancel. */
static uint32_t draw_bits(uint64_t *seed, enum emu_type type)
{
    struct layout layout = layout_of(type);
    uint32_t mask = layout.bits == 32 ? UINT32_MAX : (1u << layout.bits) - 1;

    if (draw(seed) % 64 == 0)
        return 0;
    if (draw(seed) % 4 == 0) {
        uint32_t bits = (uint32_t)draw(seed) & mask;

        return isfinite(value_of(type, bits)) || draw(seed) % 50 == 0 ? bits : 1;
    }
    return bits_for(type, ldexp((double)draw_between(seed, 1 << layout.mantissa,
                                                     (2 << layout.mantissa) - 1),
                                (int)draw_between(seed, -4, 4) - layout.mantissa)) |
           (draw(seed) % 2 ? 1u << (layout.bits - 1) : 0);
}

static void draw_reals(struct group *group, uint64_t *seed, const struct emu_wgmma *wgmma)
{
    for (int k = 0; k < wgmma->k; k++) {
        for (int row = 0; row < ROWS; row++)
            group->a_bits[row][k] = draw_bits(seed, wgmma->a);
        for (int column = 0; column < wgmma->n; column++)
            group->b_bits[k][column] = draw_bits(seed, wgmma->b);
    }
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < wgmma->n; column++)
            group->c_bits[row][column] = draw_bits(seed, wgmma->d);
}

static const struct operand plain_a = {.start = A_AT, .stride = 256, .leading = 128};
static const struct operand plain_b = {.start = B_AT, .stride = 256, .leading = 128};

static void exact_results_are_those_of_the_model(void **state)
{
    (void)state;
    struct group *group = create_group();
    uint64_t seed = 3;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int round = 0; round < 4 && kinds[kind].d != EMU_S32; round++) {
            struct emu_wgmma wgmma = shape_of(kind, 64);

            draw_reals(group, &seed, &wgmma);
            put_shared(group, &wgmma, &plain_a, &plain_b);
            put_c(group, &wgmma);
            assert_true(run(group, &wgmma, &plain_a, &plain_b, true, true, SHARED_BYTES));
            for (int row = 0; row < ROWS; row++)
                for (int column = 0; column < wgmma.n; column++)
                    assert_int_equal(get_d(group, &wgmma, row, column),
                                     model_dot(wgmma.d, wgmma.a, wgmma.b, wgmma.k,
                                               group->a_bits[row], &group->b_bits[0][column], N_MAX,
                                               group->c_bits[row][column]));
        }
    test_free(group);
}

/* Products and sums each rounded to f32, from C on, in the order of k; f16 is rounded at the end.
 */
static void fast_results_are_those_of_f32(void **state)
{
    (void)state;
    struct group *group = create_group();
    uint64_t seed = 4;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (int round = 0; round < 2 && kinds[kind].d != EMU_S32; round++) {
            struct emu_wgmma wgmma = shape_of(kind, 72);

            draw_reals(group, &seed, &wgmma);
            put_shared(group, &wgmma, &plain_a, &plain_b);
            put_c(group, &wgmma);
            assert_true(run(group, &wgmma, &plain_a, &plain_b, true, false, SHARED_BYTES));
            for (int row = 0; row < ROWS; row++)
                for (int column = 0; column < wgmma.n; column++) {
                    volatile float sum = (float)value_of(wgmma.d, group->c_bits[row][column]);
                    uint32_t expected;

                    for (int k = 0; k < wgmma.k; k++) {
                        volatile float product = (float)value_of(wgmma.a, group->a_bits[row][k]) *
                                                 (float)value_of(wgmma.b, group->b_bits[k][column]);

                        sum = sum + product;
                    }
                    if (isnan(sum))
                        expected = wgmma.d == EMU_F16 ? 0x7fff : 0x7fffffff;
                    else if (wgmma.d == EMU_F16)
                        expected = bits_for(EMU_F16, isinf(sum) ? (double)sum
                                                                : round_result(EMU_F16, sum, 0));
                    else
                        expected = bits_for(EMU_F32, (double)sum + 0.0);
                    assert_int_equal(get_d(group, &wgmma, row, column), expected);
                }
        }
    test_free(group);
}

/* ---- Edges that were measured ---- */

static void tf32_drops_13_bits(void **state)
{
    (void)state;
    static const uint32_t cases[][2] = {{0x3f801fff, 0x3f800000}, {0x3f803fff, 0x3f802000}};
    struct group *group = create_group();
    struct emu_wgmma wgmma = shape_of(3, 8);

    for (int exact = 0; exact < 2; exact++)
        for (int i = 0; i < 2; i++) {
            group->a_bits[0][0] = cases[i][0];
            group->b_bits[0][0] = 0x3f801fff;
            put_shared(group, &wgmma, &plain_a, &plain_b);
            assert_true(run(group, &wgmma, &plain_a, &plain_b, false, exact, SHARED_BYTES));
            assert_int_equal(get_d(group, &wgmma, 0, 0), cases[i][1]);
        }
    test_free(group);
}

static void no_zero_is_negative(void **state)
{
    (void)state;
    struct group *group = create_group();

    for (int exact = 0; exact < 2; exact++) {
        struct emu_wgmma wgmma = shape_of(0, 8);

        group->c_bits[0][0] = 0x80000000;
        put_c(group, &wgmma);
        wgmma.negate_a = true; /* the products are -0 */
        assert_true(run(group, &wgmma, &plain_a, &plain_b, true, exact, SHARED_BYTES));
        assert_int_equal(get_d(group, &wgmma, 0, 0), 0);
    }
    test_free(group);
}

static void integers_wrap_or_clamp(void **state)
{
    (void)state;
    static const struct {
        uint32_t b, c, wrapped, clamped;
    } cases[] = {{0x80, 0x7fffffff, 0x8007ffff, 0x7fffffff},
                 {0x7f, 0x80000000, 0x7ff81000, 0x80000000}};
    struct group *group = create_group();
    struct emu_wgmma wgmma = shape_of(12, 8);

    for (int i = 0; i < 2; i++)
        for (int saturate = 0; saturate < 2; saturate++) {
            for (int k = 0; k < 32; k++) {
                group->a_bits[0][k] = 0x80;
                group->b_bits[k][0] = cases[i].b;
            }
            group->c_bits[0][0] = cases[i].c;
            put_shared(group, &wgmma, &plain_a, &plain_b);
            put_c(group, &wgmma);
            wgmma.saturate = saturate;
            assert_true(run(group, &wgmma, &plain_a, &plain_b, true, true, SHARED_BYTES));
            assert_int_equal(get_d(group, &wgmma, 0, 0),
                             saturate ? cases[i].clamped : cases[i].wrapped);
        }
    test_free(group);
}

/* ---- Bounds ---- */

static void descriptors_that_lead_outside_are_refused(void **state)
{
    (void)state;
    struct group *group = create_group();
    struct emu_wgmma wgmma = shape_of(0, 8);
    struct operand a = {.start = 0, .stride = 256, .leading = 128};
    struct operand b = {.start = 2048, .stride = 256, .leading = 128};

    memset(group->d, 0x55, sizeof group->d);
    /* A has 64 rows, of 8 in 256 bytes: 2048; B has 8. */
    assert_false(run(group, &wgmma, &a, &b, false, false, 2303));
    assert_int_equal(group->d[0][0][0], UINT64_C(0x5555555555555555));
    assert_true(run(group, &wgmma, &a, &b, false, false, 2304));
    a.start = 512;
    assert_false(run(group, &wgmma, &a, &b, false, false, 2304));
    a.start = 256;
    assert_true(run(group, &wgmma, &a, &b, false, false, 2304));
    a.stride = 0x3fff0;
    assert_false(run(group, &wgmma, &a, &b, false, false, SHARED_BYTES));
    b.start = 0x3fff0;
    a.stride = 256;
    assert_false(run(group, &wgmma, &a, &b, false, false, SHARED_BYTES));
    assert_false(run(group, &wgmma, &a, &b, false, false, 0));
    test_free(group);
}

static void hostile_descriptors_do_no_harm(void **state)
{
    (void)state;
    struct group *group = create_group();
    unsigned char *small = malloc(4096);
    uint64_t *const *const d[] = {group->d_rows[0], group->d_rows[1], group->d_rows[2],
                                  group->d_rows[3]};
    uint64_t seed = 5;
    int refused = 0;

    assert_non_null(small);
    memset(small, 0, 4096);
    for (int i = 0; i < 3000; i++) {
        struct emu_wgmma wgmma = shape_of((int)draw_between(&seed, 0, KIND_COUNT - 1), 16);
        struct emu_wgmma_operands operands = {.a_descriptor = draw(&seed),
                                              .b_descriptor = draw(&seed)};
        const char *why = NULL;

        /* Some small enough to be inside now and then; a sanitizer sees what is not. */
        if (i % 2) {
            operands.a_descriptor &= UINT64_C(0xc00e0007000f003f);
            operands.b_descriptor &= UINT64_C(0xc00e0007000f003f);
        }
        refused += !emu_wgmma(&wgmma, &operands, small, 4096, d, false, &why);
    }
    assert_in_range(refused, 1500, 2990);
    free(small);
    test_free(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_table),
        cmocka_unit_test(descriptors_read_what_tensor_copies_write),
        cmocka_unit_test(base_offsets_move_the_pattern),
        cmocka_unit_test(integers_are_multiplied_exactly_in_all_shapes),
        cmocka_unit_test(exact_results_are_those_of_the_model),
        cmocka_unit_test(fast_results_are_those_of_f32),
        cmocka_unit_test(tf32_drops_13_bits),
        cmocka_unit_test(no_zero_is_negative),
        cmocka_unit_test(integers_wrap_or_clamp),
        cmocka_unit_test(descriptors_that_lead_outside_are_refused),
        cmocka_unit_test(hostile_descriptors_do_no_harm),
    };

    return cmocka_run_group_tests_name("emulator wgmma", tests, NULL, NULL);
}
