/* tcgen05.mma: products in all kinds and shapes, of one CTA and of a pair, against plain products;
 * who holds what is written here from the tables anew. */
#include "tests/emulator/random.h"
#include "tests/emulator/tcgen05_forms.h"
#include "tests/support/cmocka_all.h"

enum {
    LANES = 128,
    COLUMNS = 512,
    N_MAX = 256,
    M_MAX = 256,
    K_MAX = 32,
    SHARED_BYTES = 1 << 18,
    B_AT = 1 << 17
};

/* ---- What is multiplied ---- */

struct operand {
    int start, leading, stride;
    int code; /* of the swizzle */
    bool mn_major;
};

struct job {
    const struct kind *kind;
    const struct shape *shape;
    int n;
    bool a_in_tmem, add_d, negate_a, negate_b, saturate, ashift;
    int scale_d, base; /* lane of D */
    uint32_t masked[2][4];
    struct operand a, b;
    int d_column, a_column;
};

static unsigned char shared[2][SHARED_BYTES];
static uint32_t cells[2][LANES * COLUMNS], before[2][LANES * COLUMNS];
static uint32_t a_bits[M_MAX][K_MAX], b_bits[K_MAX][N_MAX], c_bits[M_MAX][N_MAX];

static uint32_t instruction_of(const struct job *job)
{
    return (uint32_t)job->saturate << 3 | job->kind->d_code << 4 | job->kind->a_code << 7 |
           job->kind->b_code << 10 | (uint32_t)job->negate_a << 13 | (uint32_t)job->negate_b << 14 |
           (uint32_t)job->a.mn_major << 15 | (uint32_t)job->b.mn_major << 16 |
           (uint32_t)(job->n >> 3) << 17 | (uint32_t)(job->shape->m >> 4) << 24;
}

static uint64_t descriptor_of(const struct operand *o)
{
    return (uint64_t)(o->start >> 4) | (uint64_t)(o->leading >> 4) << 16 |
           (uint64_t)(o->stride >> 4) << 32 | (uint64_t)1 << 46 | (uint64_t)o->code << 61;
}

/* ---- Shared memory: the table of canonical layouts ---- */

static int byte_of(const struct operand *o, int size, int mn, int k)
{
    static const int widths[8] = {1, 8, 8, 0, 4, 0, 2, 0};
    int w = widths[o->code], t = 16 / size, at = o->start;

    if (o->code == 1) {
        at += mn % 32 * 4 + mn / 32 * o->leading + k % 4 * 128 + k / 4 * o->stride;
        return at ^ (at >> 7 & 3) << 5;
    }
    if (!o->mn_major && o->code == 0)
        at += mn % 8 * 16 + mn / 8 * o->stride + k / t * o->leading + k % t * size;
    else if (!o->mn_major)
        at += mn % 8 * 16 * w + mn / 8 * o->stride + k * size;
    else if (o->code == 0)
        at += mn % t * size + mn / t * o->stride + k % 8 * 16 + k / 8 * o->leading;
    else
        at += mn % (w * t) * size + mn / (w * t) * o->leading + k % 8 * 16 * w + k / 8 * o->stride;
    return at ^ (at >> 7 & (w - 1)) << 4;
}

/* Sixteen elements of less than 8 bits lie in 16 bytes, their bits one behind the other. */
static void put_element(unsigned char *memory, const struct operand *o, enum emu_type type, int mn,
                        int k, uint32_t bits)
{
    int width = width_of(type);

    if (width < 8) {
        unsigned char *unit = memory + byte_of(o, 1, mn, k & ~15);

        for (int i = 0; i < width; i++) {
            int bit = k % 16 * width + i;
            unsigned one = 1u << bit % 8;

            unit[bit / 8] = (unsigned char)((unit[bit / 8] & ~one) | (bits >> i & 1 ? one : 0));
        }
        return;
    }
    for (int i = 0; i < width / 8; i++)
        memory[byte_of(o, width / 8, mn, k) + i] = (unsigned char)(bits >> 8 * i);
}

static struct operand draw_operand(uint64_t *seed, enum emu_type type, int from)
{
    static const int codes[] = {0, 2, 4, 6}, spans[8] = {16, 0, 128, 0, 64, 0, 32, 0};
    struct operand o = {.code = codes[draw(seed) % 4],
                        .start = from + 1024 * (int)(draw(seed) % 3)};
    int span;

    o.mn_major = width_of(type) >= 8 && draw(seed) % 2;
    if (o.mn_major && type == EMU_TF32) {
        o.code = 1;
        o.stride = 512;
        o.leading = 1024;
        return o;
    }
    span = spans[o.code];
    if (o.code == 0) { /* blocks of 8 x 16 bytes, side by side in either way */
        o.stride = draw(seed) % 2 ? 128 : 4096;
        o.leading = o.stride == 128 ? 4096 : 128;
        if (o.stride == 4096)
            o.stride = 512;
    } else if (o.mn_major) { /* four blocks of 8 k */
        o.stride = 8 * span;
        o.leading = 4 * 8 * span;
    } else {
        o.stride = 8 * span;
        o.leading = 16 * (int)draw_between(seed, 0, 0x3fff); /* without effect */
    }
    return o;
}

/* ---- Tensor memory: the tables of layouts ---- */

struct place {
    int cta, lane, column;
};

static struct place place_of(const struct job *job, int m, int n)
{
    const struct shape *shape = job->shape;
    int rows = shape->m / shape->group, half = job->n / 2, quarter = job->n / 4;
    struct place at = {.cta = m / rows, .lane = m % rows, .column = n};

    if (shape->ws && shape->m == 32)
        at = (struct place){0, m + 32 * (n / quarter), n % quarter};
    else if ((shape->ws && shape->m == 64) || (shape->group == 2 && shape->m == 128))
        at = (struct place){at.cta, at.lane + 64 * (n >= half), n % half};
    else if (shape->m == 64)
        at = (struct place){0, 32 * (m / 16) + m % 16 + job->base, n};
    at.column += job->d_column;
    return at;
}

/* Row m of A stands in each lane that holds a part of row m of D. */
static void put_a_tmem(const struct job *job, int m)
{
    enum emu_type type = job->kind->a;
    int width = width_of(type), space = width < 8 ? 8 : width;

    for (int n = 0; n < job->n; n++) {
        struct place at = place_of(job, m, n);
        uint32_t *row = &cells[at.cta][at.lane * COLUMNS + job->a_column];

        for (int k = 0; k < depth_of(job->kind); k++) {
            int bit = k * space;
            uint32_t value = width == 4 ? a_bits[m][k] << 2 : a_bits[m][k];
            uint32_t mask = (space == 32 ? UINT32_MAX : (1u << space) - 1) << bit % 32;

            row[bit / 32] = (row[bit / 32] & ~mask) | value << bit % 32;
        }
    }
}

/* Shifted, a lane takes the row of the next one, but for the last of 32. */
static int row_of_a(const struct job *job, int m)
{
    return job->ashift && m % 32 != 31 ? m + 1 : m;
}

static void put_all(const struct job *job, uint64_t *seed)
{
    int k_count = depth_of(job->kind), half = job->n / job->shape->group,
        rows = job->shape->m / job->shape->group;

    for (int cta = 0; cta < 2; cta++)
        for (int i = 0; i < LANES * COLUMNS; i++)
            cells[cta][i] = (uint32_t)draw(seed);
    for (int m = 0; m < job->shape->m; m++) {
        for (int n = 0; n < job->n; n++) {
            struct place at = place_of(job, m, n);

            cells[at.cta][at.lane * COLUMNS + at.column] = c_bits[m][n];
        }
        if (job->a_in_tmem)
            put_a_tmem(job, m);
        for (int k = 0; k < k_count && !job->a_in_tmem; k++)
            put_element(shared[m / rows], &job->a, job->kind->a, m % rows, k, a_bits[m][k]);
    }
    for (int n = 0; n < job->n; n++)
        for (int k = 0; k < k_count; k++)
            put_element(shared[n / half], &job->b, job->kind->b, n % half, k, b_bits[k][n]);
    memcpy(before, cells, sizeof cells);
}

static struct emu_product product_of(const struct job *job)
{
    const struct emu_tcgen05 form = {.what = EMU_TCGEN05_MMA,
                                     .kind = job->kind->kind,
                                     .group = job->shape->group,
                                     .ws = job->shape->ws,
                                     .a_in_tmem = job->a_in_tmem,
                                     .ashift = job->ashift,
                                     .scale_d = job->scale_d};
    struct emu_product product;
    const char *why = NULL;

    if (!emu_product_of(&product, &form, instruction_of(job), &why))
        fail_msg("%s", why);
    assert_true(emu_tcgen05_descriptor(&product.b_matrix, descriptor_of(&job->b), &why));
    if (!job->a_in_tmem)
        assert_true(emu_tcgen05_descriptor(&product.a_matrix, descriptor_of(&job->a), &why));
    product.add_d = job->add_d;
    product.d_address = (uint32_t)job->base << 16 | (uint32_t)job->d_column;
    product.a_address = (uint32_t)job->base << 16 | (uint32_t)job->a_column;
    memcpy(product.masked, job->masked, sizeof product.masked);
    if (emu_product_fault(&product))
        fail_msg("%s", emu_product_fault(&product));
    return product;
}

static void multiply(const struct job *job, bool exact)
{
    const struct emu_tcgen05_memory memories[] = {{shared[0], SHARED_BYTES, cells[0]},
                                                  {shared[1], SHARED_BYTES, cells[1]}};
    const struct emu_product product = product_of(job);
    const char *why = NULL;

    if (!emu_product_multiply(&product, memories, exact, &why))
        fail_msg("%s", why);
}

/* ---- Whole numbers ---- */

static bool draw_shape(const struct kind *kind, const struct shape *shape, struct job *job,
                       uint64_t *seed)
{
    job->kind = kind;
    job->shape = shape;
    job->a_in_tmem = draw(seed) % 2;
    job->n = 8 * (int)draw_between(seed, 1, 32);
    while (!has_n(kind, shape, job->n, job->a_in_tmem))
        job->n = 8 * (int)draw_between(seed, 1, 32);
    job->base = shape->m == 64 && !shape->ws && draw(seed) % 2 ? 16 : 0;
    job->d_column = (int)draw_between(seed, 0, 200);
    job->a_column = 460 + (int)draw_between(seed, 0, 44);
    job->ashift = job->a_in_tmem && shape->m >= 128 && draw(seed) % 4 == 0;
    job->a = draw_operand(seed, kind->a, 0);
    job->b = draw_operand(seed, kind->b, B_AT);
    if (job->a_in_tmem)
        job->a.mn_major = false;
    if (width_of(kind->b) == 8 && job->n % (16 * shape->group) != 0 && job->b.mn_major)
        return false;
    return true;
}

static struct job draw_job(const struct kind *kind, const struct shape *shape, uint64_t *seed)
{
    struct job job = {.n = 0};

    while (!draw_shape(kind, shape, &job, seed))
        continue;
    job.add_d = draw(seed) % 4 != 0;
    if (kind->kind == EMU_KIND_I8)
        job.saturate = draw(seed) % 2;
    else
        job.negate_a = draw(seed) % 2, job.negate_b = draw(seed) % 2;
    if ((kind->kind == EMU_KIND_F16 || kind->kind == EMU_KIND_TF32) && draw(seed) % 2)
        job.scale_d = (int)draw_between(seed, 0, kind->d == EMU_F16 ? 8 : 15);
    for (int i = 0; i < 8 && draw(seed) % 2; i++)
        job.masked[i / 4][i % 4] = (uint32_t)(draw(seed) & draw(seed));
    return job;
}

static int64_t draw_integer(uint64_t *seed, enum emu_type type, uint32_t *bits)
{
    int64_t value;

    if (is_float(type)) {
        value = draw_between(seed, -4, 4);
        *bits = bits_for(type, (double)value);
        if (type == EMU_TF32)
            *bits |= (uint32_t)draw(seed) & 0x1fff;
        return value;
    }
    value = type == EMU_S8 ? draw_between(seed, -128, 127) : draw_between(seed, 0, 255);
    *bits = (uint32_t)value & 0xff;
    return value;
}

static uint32_t expected_of(const struct job *job, int64_t sum, uint32_t c)
{
    if (job->kind->d != EMU_S32) {
        double addend = ldexp(value_of(job->kind->d, c), -job->scale_d);

        return bits_for(job->kind->d, (double)sum + addend + 0.0);
    }
    sum += (int32_t)c;
    if (!job->saturate)
        return (uint32_t)sum;
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static void draw_c(const struct job *job, uint64_t *seed)
{
    for (int m = 0; m < job->shape->m; m++)
        for (int n = 0; n < job->n; n++)
            c_bits[m][n] =
                job->kind->d == EMU_S32
                    ? (uint32_t)(draw(seed) % 2 ? draw(seed) : INT32_MAX - draw(seed) % 1000)
                    : bits_for(job->kind->d,
                               ldexp((double)draw_between(seed, -100, 100), job->scale_d));
}

/* Of each cell: D's new value, or what was there before. */
static void check_cells(const struct job *job, uint32_t (*expected)[N_MAX])
{
    static bool is_d[2][LANES * COLUMNS];

    memset(is_d, 0, sizeof is_d);
    for (int m = 0; m < job->shape->m; m++)
        for (int n = 0; n < job->n; n++) {
            struct place at = place_of(job, m, n);
            int cell = at.lane * COLUMNS + at.column;

            if (job->masked[at.cta][at.lane / 32] >> at.lane % 32 & 1)
                continue;
            is_d[at.cta][cell] = true;
            assert_int_equal(cells[at.cta][cell], expected[m][n]);
        }
    for (int cta = 0; cta < 2; cta++)
        for (int i = 0; i < LANES * COLUMNS; i++)
            if (!is_d[cta][i] && cells[cta][i] != before[cta][i])
                fail_msg("lane %d, column %d was written", i / COLUMNS, i % COLUMNS);
}

static void multiply_integers(const struct job *job, bool exact, uint64_t *seed)
{
    static int64_t left[M_MAX][K_MAX], right[K_MAX][N_MAX];
    static uint32_t expected[M_MAX][N_MAX];
    int k_count = depth_of(job->kind);
    int64_t sign = job->negate_a == job->negate_b ? 1 : -1;

    for (int k = 0; k < k_count; k++) {
        for (int m = 0; m < job->shape->m; m++)
            left[m][k] = draw_integer(seed, job->kind->a, &a_bits[m][k]);
        for (int n = 0; n < job->n; n++)
            right[k][n] = draw_integer(seed, job->kind->b, &b_bits[k][n]);
    }
    draw_c(job, seed);
    put_all(job, seed);
    for (int m = 0; m < job->shape->m; m++)
        for (int n = 0; n < job->n; n++) {
            int64_t sum = 0;

            for (int k = 0; k < k_count; k++)
                sum += left[row_of_a(job, m)][k] * right[k][n];
            expected[m][n] = expected_of(job, sign * sum, job->add_d ? c_bits[m][n] : 0);
        }
    multiply(job, exact);
    check_cells(job, expected);
}

static void whole_numbers_are_exact_in_all_shapes(void **state)
{
    (void)state;
    uint64_t seed = 1;

    for (int kind = 0; kind < KINDS; kind++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int round = 0; round < 6; round++) {
                const struct job job = draw_job(&kinds[kind], &shapes[shape], &seed);

                multiply_integers(&job, round % 3 == 2, &seed);
            }
}

/* ---- Real numbers ---- */

static uint32_t draw_bits(uint64_t *seed, enum emu_type type)
{
    struct layout layout = layout_of(type);
    uint32_t mask = layout.bits == 32 ? UINT32_MAX : (1u << layout.bits) - 1;
    uint32_t bits = (uint32_t)draw(seed) & mask;

    if (draw(seed) % 64 == 0)
        return 0;
    if (layout.bits <= 8 || draw(seed) % 4 == 0)
        return isfinite(value_of(type, bits)) || draw(seed) % 50 == 0 ? bits : 1;
    return bits_for(type, ldexp((double)draw_between(seed, 1 << layout.mantissa,
                                                     (2 << layout.mantissa) - 1),
                                (int)draw_between(seed, -4, 4) - layout.mantissa)) |
           (draw(seed) % 2 ? 1u << (layout.bits - 1) : 0);
}

static void exact_results_are_those_of_the_model(void **state)
{
    (void)state;
    static uint32_t expected[M_MAX][N_MAX];
    static const struct shape shape = {64, 1, false};
    uint64_t seed = 3;

    for (int kind = 0; kind < KINDS; kind++)
        for (int round = 0; round < 6 && kinds[kind].d != EMU_S32; round++) {
            struct job job = {.kind = &kinds[kind], .shape = &shape, .n = 32, .add_d = true};
            bool scales = kinds[kind].kind != EMU_KIND_F8F6F4;
            struct model model = {25, 24, scales ? 3 * round : 0};

            job.scale_d = model.scale_c;
            job.a = (struct operand){.stride = 256, .leading = 128};
            job.b = (struct operand){.start = B_AT, .stride = 256, .leading = 128};
            for (int k = 0; k < depth_of(job.kind); k++) {
                for (int m = 0; m < shape.m; m++)
                    a_bits[m][k] = draw_bits(&seed, job.kind->a);
                for (int n = 0; n < job.n; n++)
                    b_bits[k][n] = draw_bits(&seed, job.kind->b);
            }
            for (int m = 0; m < shape.m; m++)
                for (int n = 0; n < job.n; n++) {
                    c_bits[m][n] = draw_bits(&seed, job.kind->d);
                    expected[m][n] = model_dot_of(&model, job.kind->d, job.kind->a, job.kind->b,
                                                  depth_of(job.kind), a_bits[m], &b_bits[0][n],
                                                  N_MAX, c_bits[m][n]);
                }
            put_all(&job, &seed);
            multiply(&job, true);
            check_cells(&job, expected);
        }
}

/* fp8 keeps what Hopper's 14 bits lose: 64 + 2^-8, and 2^-19 of it. */
static void fp8_keeps_all_bits_of_f32(void **state)
{
    (void)state;
    static const struct shape shape = {64, 1, false};
    struct job job = {.kind = &kinds[4], .shape = &shape, .n = 8, .add_d = true};
    uint64_t seed = 4;

    memset(a_bits, 0, sizeof a_bits);
    memset(b_bits, 0, sizeof b_bits);
    job.a = (struct operand){.stride = 256, .leading = 128};
    job.b = (struct operand){.start = B_AT, .stride = 256, .leading = 128};
    for (int m = 0; m < shape.m; m++) {
        a_bits[m][0] = bits_for(EMU_E4M3, ldexp(1, -6));
        for (int n = 0; n < job.n; n++) {
            b_bits[0][n] = bits_for(EMU_E4M3, 1);
            c_bits[m][n] = bits_for(EMU_F32, 64 + ldexp(1, -17));
        }
    }
    put_all(&job, &seed);
    multiply(&job, true);
    assert_int_equal(cells[0][0], bits_for(EMU_F32, 64 + ldexp(1, -6) + ldexp(1, -17)));
}

/* ---- What it reads ---- */

static unsigned char touched[SHARED_BYTES];

static void touch(void *user, uint32_t offset, uint32_t bytes)
{
    (void)user;
    memset(touched + offset, 1, bytes);
}

static void what_is_read_is_told(void **state)
{
    (void)state;
    uint64_t seed = 5;

    for (int kind = 0; kind < KINDS; kind++)
        for (int shape = 0; shape < SHAPES; shape++) {
            const struct job job = draw_job(&kinds[kind], &shapes[shape], &seed);
            const struct emu_product product = product_of(&job);
            struct emu_shared_operand operands[EMU_SHARED_OPERANDS];
            int half = job.n / shapes[shape].group, count = 0, told = 0;
            int width = width_of(job.kind->b), size = width < 8 ? 1 : width / 8;

            if (!job.a_in_tmem)
                continue;
            memset(touched, 0, sizeof touched);
            memset(shared[0], 0, SHARED_BYTES);
            for (int i = emu_product_in_shared(&product, SHARED_BYTES, operands); i > 0; i--)
                emu_shared_operand_tell(&operands[i - 1], touch, NULL);
            for (int n = 0; n < half; n++)
                for (int k = 0; k < product.k; k++) {
                    int at = byte_of(&job.b, size, n, width < 8 ? k & ~15 : k);

                    if (width < 8)
                        at += k % 16 * width / 8;
                    memset(shared[0] + at, 1, (size_t)size);
                }
            for (int i = 0; i < SHARED_BYTES; i++) {
                count += shared[0][i];
                told += touched[i];
            }
            assert_int_equal(told, count);
            assert_memory_equal(touched, shared[0], SHARED_BYTES);
        }
}

static void operands_outside_are_refused(void **state)
{
    (void)state;
    const struct kind *kind = &kinds[0];
    static const struct shape shape = {128, 1, false};
    struct job job = {.kind = kind, .shape = &shape, .n = 64};
    const struct emu_tcgen05_memory memory = {shared[0], 40960, cells[0]};
    struct emu_product product;
    const char *why = NULL;

    job.a = (struct operand){.stride = 256, .leading = 128};
    job.b = (struct operand){.start = 40960 - 2048, .stride = 256, .leading = 128};
    product = product_of(&job);
    assert_true(emu_product_multiply(&product, &memory, false, &why));
    job.b.start += 16;
    product = product_of(&job);
    assert_false(emu_product_multiply(&product, &memory, false, &why));
    assert_non_null(strstr(why, " B "));
    job.b.start = 0;
    job.a.start = 40960 - 4096 + 16;
    product = product_of(&job);
    assert_false(emu_product_multiply(&product, &memory, false, &why));
    assert_non_null(strstr(why, " A "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact_in_all_shapes),
        cmocka_unit_test(exact_results_are_those_of_the_model),
        cmocka_unit_test(fp8_keeps_all_bits_of_f32),
        cmocka_unit_test(what_is_read_is_told),
        cmocka_unit_test(operands_outside_are_refused),
    };

    return cmocka_run_group_tests_name("emulator tcgen05 products", tests, NULL, NULL);
}
