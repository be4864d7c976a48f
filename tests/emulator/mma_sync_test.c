/* mma.sync: integers in every shape and type against a plain product, with fragments placed by the
 * manual's maps read the other way round; then the numerics, and the forms that exist. */
#include "emulator/mma.h"
#include "tests/emulator/matrix.h"
#include "tests/emulator/random.h"
#include "tests/support/cmocka_all.h"

enum { M_MAX = 16, N = 8, K_MAX = 256, REGISTERS_MAX = 8 };

struct form {
    int m, n, k;
    enum emu_type d, a, b, c;
    bool is_xor, a_column, b_row;
    int target;
};

enum { FORMS_MAX = 128 };

static const char *const names[] = {
    [EMU_F64] = "f64",   [EMU_F32] = "f32",   [EMU_F16] = "f16", [EMU_BF16] = "bf16",
    [EMU_TF32] = "tf32", [EMU_E4M3] = "e4m3", [EMU_S32] = "s32", [EMU_E5M2] = "e5m2",
    [EMU_S8] = "s8",     [EMU_U8] = "u8",     [EMU_S4] = "s4",   [EMU_U4] = "u4",
    [EMU_B1] = "b1",
};

/* ---- The forms of the manual ---- */

static int add_form(struct form *forms, int count, struct form form)
{
    assert_in_range(count, 0, FORMS_MAX - 1);
    forms[count] = form;
    return count + 1;
}

/* Both or all four mixes of two types. */
static int add_mixes(struct form *forms, int count, struct form form, enum emu_type x,
                     enum emu_type y)
{
    for (int mix = 0; mix < 4; mix++) {
        form.a = mix & 1 ? y : x;
        form.b = mix & 2 ? y : x;
        count = add_form(forms, count, form);
    }
    return count;
}

static int all_forms(struct form *forms)
{
    static const struct {
        enum emu_type d, c;
    } quads[] = {{EMU_F32, EMU_F32}, {EMU_F32, EMU_F16}, {EMU_F16, EMU_F16}};
    int count = 0;

    for (int i = 0; i < 3; i++)
        for (int layout = 0; layout < 4; layout++)
            count = add_form(forms, count,
                             (struct form){8, 8, 4, quads[i].d, EMU_F16, EMU_F16, quads[i].c, false,
                                           layout & 1, layout & 2, 70});
    for (int i = 0; i < 2; i++) {
        enum emu_type d = i ? EMU_F16 : EMU_F32;

        count =
            add_form(forms, count, (struct form){16, 8, 8, d, EMU_F16, EMU_F16, d, .target = 75});
        count =
            add_form(forms, count, (struct form){16, 8, 16, d, EMU_F16, EMU_F16, d, .target = 80});
        for (int k = 16; k <= 32; k += 16)
            count = add_mixes(forms, count,
                              (struct form){16, 8, k, d, EMU_E4M3, EMU_E4M3, d, .target = 89},
                              EMU_E4M3, EMU_E5M2);
        count = add_form(
            forms, count,
            (struct form){16, 8, i ? 16 : 8, EMU_F32, EMU_BF16, EMU_BF16, EMU_F32, .target = 80});
        count = add_form(
            forms, count,
            (struct form){16, 8, i ? 8 : 4, EMU_F32, EMU_TF32, EMU_TF32, EMU_F32, .target = 80});
    }
    for (int i = 0; i < 4; i++)
        count = add_form(forms, count,
                         (struct form){i ? 16 : 8, 8, i ? 2 << i : 4, EMU_F64, EMU_F64, EMU_F64,
                                       EMU_F64, .target = i ? 90 : 80});
    for (int i = 0; i < 3; i++) {
        struct form form = {i ? 16 : 8, 8, i == 2 ? 32 : 16, .d = EMU_S32, .c = EMU_S32};

        form.target = i ? 80 : 75;
        count = add_mixes(forms, count, form, EMU_S8, EMU_U8);
        form.k *= 2;
        count = add_mixes(forms, count, form, EMU_S4, EMU_U4);
        form.k *= 4;
        form.a = form.b = EMU_B1;
        form.target = 80;
        count = add_form(forms, count, form);
        form.is_xor = true;
        form.target = i ? 80 : 75;
        count = add_form(forms, count, form);
    }
    return count;
}

static void write_opcode(char *opcode, size_t size, const struct form *form, const char *extra)
{
    snprintf(opcode, size, "mma.sync.aligned.m%dn%dk%d.%s.%s%s.%s.%s.%s.%s%s", form->m, form->n,
             form->k, form->a_column ? "col" : "row", form->b_row ? "row" : "col", extra,
             names[form->d], names[form->a], names[form->b], names[form->c],
             form->a != EMU_B1 ? ""
             : form->is_xor    ? ".xor.popc"
                               : ".and.popc");
}

static bool is_quad(const struct form *form)
{
    return form->k == 4 && form->a == EMU_F16;
}

static int bits_in(enum emu_type type)
{
    return type == EMU_F64 ? 64 : width_of(type);
}

static int registers_for(const struct form *form, enum emu_type type, int elements)
{
    int bits = bits_in(type);

    return elements * bits * (is_quad(form) ? 4 : 1) / (32 * (bits == 64 ? 64 : 32));
}

static void begin_mma(struct text *text, const struct form *form, const char *opcode)
{
    begin_text(text, opcode);
    add_vector(text, registers_for(form, form->d, form->m * form->n));
    add_vector(text, registers_for(form, form->a, form->m * form->k));
    add_vector(text, registers_for(form, form->b, form->k * form->n));
    add_vector(text, registers_for(form, form->c, form->m * form->n));
}

static struct emu_mma_sync decode_form(const struct form *form, const char *extra)
{
    static struct text text;
    struct emu_mma_sync mma;
    struct emu_error error = {.line = 0};
    char opcode[128];

    write_opcode(opcode, sizeof opcode, form, extra);
    begin_mma(&text, form, opcode);
    assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, form->target, &error),
                     EMU_DECODED);
    return mma;
}

/* ---- A warp ---- */

struct warp {
    uint64_t a[REGISTERS_MAX][32], b[REGISTERS_MAX][32], c[REGISTERS_MAX][32], d[REGISTERS_MAX][32];
    /* By the four products of m8n8k4; all others have one. */
    uint64_t a_bits[4][M_MAX][K_MAX], b_bits[4][K_MAX][N], c_bits[4][M_MAX][N];
};

static void put(uint64_t registers[][32], int index, int lane, int bit, uint64_t bits)
{
    assert_in_range(index, 0, REGISTERS_MAX - 1);
    registers[index][lane] |= bits << bit;
}

/* 4 lanes share 16 bytes of a row of k, 32 of f64. */
static void put_factors(struct warp *warp, const struct form *form)
{
    int bits = bits_in(form->a), unit = bits == 64 ? 64 : 32;

    for (int k = 0; k < form->k; k++) {
        int word = k * bits / unit, bit = k * bits % unit;

        for (int row = 0; row < form->m; row++)
            put(warp->a, row / 8 + form->m / 8 * (word / 4), row % 8 * 4 + word % 4, bit,
                warp->a_bits[0][row][k]);
        for (int column = 0; column < N; column++)
            put(warp->b, word / 4, column * 4 + word % 4, bit, warp->b_bits[0][k][column]);
    }
}

static void put_quad_factors(struct warp *warp, const struct form *form)
{
    for (int quad = 0; quad < 4; quad++)
        for (int k = 0; k < 4; k++)
            for (int mn = 0; mn < 8; mn++) {
                int lane = 4 * quad + 16 * (mn / 4);
                int a_element = form->a_column ? mn % 4 : k, b_element = form->b_row ? mn % 4 : k;

                put(warp->a, a_element / 2, lane + (form->a_column ? k : mn % 4),
                    a_element % 2 * 16, warp->a_bits[quad][mn][k]);
                put(warp->b, b_element / 2, lane + (form->b_row ? k : mn % 4), b_element % 2 * 16,
                    warp->b_bits[quad][k][mn]);
            }
}

static void find_accumulator(const struct form *form, enum emu_type type, int quad, int row,
                             int column, int *index, int *lane, int *bit)
{
    int element;

    if (!is_quad(form)) {
        element = row / 8 * 2 + column % 2;
        *lane = row % 8 * 4 + column / 2;
    } else if (type == EMU_F16) {
        element = column;
        *lane = 4 * quad + row % 4 + 16 * (row / 4);
    } else {
        element = (column & 4) | (row & 2) | (column & 1);
        *lane = 4 * quad + (row & 1) + (column & 2) + 16 * (row / 4);
    }
    *index = type == EMU_F16 ? element / 2 : element;
    *bit = type == EMU_F16 ? element % 2 * 16 : 0;
}

static void put_registers(struct warp *warp, const struct form *form)
{
    memset(warp->a, 0, sizeof warp->a);
    memset(warp->b, 0, sizeof warp->b);
    memset(warp->c, 0, sizeof warp->c);
    memset(warp->d, 0xff, sizeof warp->d);
    if (is_quad(form))
        put_quad_factors(warp, form);
    else
        put_factors(warp, form);
    for (int quad = 0; quad < (is_quad(form) ? 4 : 1); quad++)
        for (int row = 0; row < form->m; row++)
            for (int column = 0; column < N; column++) {
                int index, lane, bit;

                find_accumulator(form, form->c, quad, row, column, &index, &lane, &bit);
                put(warp->c, index, lane, bit, warp->c_bits[quad][row][column]);
            }
}

static uint64_t get_d(const struct warp *warp, const struct form *form, int quad, int row,
                      int column)
{
    int index, lane, bit;

    find_accumulator(form, form->d, quad, row, column, &index, &lane, &bit);
    if (form->d != EMU_F64)
        assert_int_equal(warp->d[index][lane] >> 32, 0);
    return form->d == EMU_F64
               ? warp->d[index][lane]
               : warp->d[index][lane] >> bit & (form->d == EMU_F16 ? 0xffff : 0xffffffff);
}

static void run(struct warp *warp, const struct emu_mma_sync *mma, bool exact)
{
    uint64_t *d[REGISTERS_MAX];
    const uint64_t *a[REGISTERS_MAX], *b[REGISTERS_MAX], *c[REGISTERS_MAX];

    for (int i = 0; i < REGISTERS_MAX; i++) {
        d[i] = warp->d[i];
        a[i] = warp->a[i];
        b[i] = warp->b[i];
        c[i] = warp->c[i];
    }
    emu_mma_sync(mma, d, a, b, c, exact);
}

/* ---- Integers in all types ---- */

static uint64_t bits_of_double(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int64_t draw_integer(uint64_t *seed, enum emu_type type, uint64_t *bits)
{
    int64_t value;

    switch ((int)type) {
    case EMU_S8:
        value = draw_between(seed, -128, 127);
        break;
    case EMU_U8:
        value = draw_between(seed, 0, 255);
        break;
    case EMU_S4:
        value = draw_between(seed, -8, 7);
        break;
    case EMU_U4:
        value = draw_between(seed, 0, 15);
        break;
    case EMU_B1:
        value = draw_between(seed, 0, 1);
        break;
    default:
        value = draw_between(seed, -4, 4);
        *bits = type == EMU_F64 ? bits_of_double((double)value) : bits_for(type, (double)value);
        return value;
    }
    *bits = (uint64_t)value & ((1u << width_of(type)) - 1);
    return value;
}

static uint64_t draw_c(uint64_t *seed, enum emu_type type, int64_t *value)
{
    if (type == EMU_S32) {
        *value = draw(seed) % 2 ? (int32_t)draw(seed) : INT32_MAX - draw_between(seed, 0, 9999);
        *value = draw(seed) % 4 == 0 ? -*value - 1 : *value;
        return (uint32_t)*value;
    }
    *value = draw_between(seed, -500, 500);
    return type == EMU_F64 ? bits_of_double((double)*value) : bits_for(type, (double)*value);
}

static uint64_t expected_integer(const struct form *form, bool saturate, int64_t sum)
{
    if (form->d == EMU_F64)
        return bits_of_double((double)sum);
    if (form->d != EMU_S32)
        return bits_for(form->d, (double)sum);
    if (!saturate)
        return (uint32_t)sum;
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static void multiply_integers(struct warp *warp, uint64_t *seed, const struct form *form,
                              bool saturate, bool exact)
{
    static int64_t left[4][M_MAX][K_MAX], right[4][K_MAX][N], addend[4][M_MAX][N];
    const struct emu_mma_sync mma = decode_form(form, saturate ? ".satfinite" : "");
    int products = is_quad(form) ? 4 : 1;

    for (int quad = 0; quad < products; quad++)
        for (int row = 0; row < form->m; row++)
            for (int column = 0; column < N; column++) {
                for (int k = 0; k < form->k; k++) {
                    left[quad][row][k] = draw_integer(seed, form->a, &warp->a_bits[quad][row][k]);
                    right[quad][k][column] =
                        draw_integer(seed, form->b, &warp->b_bits[quad][k][column]);
                }
                warp->c_bits[quad][row][column] = draw_c(seed, form->c, &addend[quad][row][column]);
            }
    put_registers(warp, form);
    run(warp, &mma, exact);
    for (int quad = 0; quad < products; quad++)
        for (int row = 0; row < form->m; row++)
            for (int column = 0; column < N; column++) {
                int64_t sum = addend[quad][row][column];

                for (int k = 0; k < form->k; k++) {
                    int64_t x = left[quad][row][k], y = right[quad][k][column];

                    sum += form->is_xor ? x != y : x * y;
                }
                assert_int_equal(get_d(warp, form, quad, row, column),
                                 expected_integer(form, saturate, sum));
            }
}

static void integers_are_multiplied_exactly_in_all_forms(void **state)
{
    (void)state;
    struct warp *warp = test_calloc(1, sizeof *warp);
    struct form forms[FORMS_MAX];
    int count = all_forms(forms);
    uint64_t seed = 1;

    assert_int_equal(count, 12 + 2 * (2 + 8 + 2) + 4 + 3 * 10);
    for (int i = 0; i < count; i++)
        for (int round = 0; round < 12; round++)
            multiply_integers(warp, &seed, &forms[i],
                              forms[i].d == EMU_S32 && forms[i].a != EMU_B1 && round % 2,
                              round % 4 > 1);
    test_free(warp);
}

static void results_may_take_the_place_of_the_operands(void **state)
{
    (void)state;
    struct warp *warp = test_calloc(1, sizeof *warp), *other = test_calloc(1, sizeof *other);
    struct form forms[FORMS_MAX];
    int count = all_forms(forms);
    uint64_t seed = 2;

    for (int i = 0; i < count; i++) {
        const struct emu_mma_sync mma = decode_form(&forms[i], "");
        uint64_t *d[REGISTERS_MAX];
        const uint64_t *a[REGISTERS_MAX], *b[REGISTERS_MAX], *c[REGISTERS_MAX];

        multiply_integers(warp, &seed, &forms[i], false, false);
        /* D's registers are C's, C's in another order, or A's and then B's. */
        for (int alias = 0; alias < 3; alias++) {
            *other = *warp;
            for (int r = 0; r < REGISTERS_MAX; r++) {
                a[r] = other->a[r];
                b[r] = other->b[r];
                c[r] = other->c[r];
                d[r] = other->c[r];
                if (alias == 1 && r < mma.c_registers)
                    d[r] = other->c[mma.c_registers - 1 - r];
                if (alias == 2)
                    d[r] = r < mma.a_registers ? other->a[r] : other->b[r - mma.a_registers];
            }
            emu_mma_sync(&mma, d, a, b, c, false);
            for (int r = 0; r < mma.d_registers; r++)
                assert_memory_equal(d[r], warp->d[r], sizeof warp->d[r]);
        }
    }
    test_free(other);
    test_free(warp);
}

/* ---- Real numbers ---- */

static uint32_t draw_real(uint64_t *seed, enum emu_type type)
{
    struct layout layout = layout_of(type);
    uint32_t mask = layout.bits == 32 ? UINT32_MAX : (1u << layout.bits) - 1;
    uint32_t bits = (uint32_t)draw(seed) & mask;

    if (draw(seed) % 4 == 0)
        return isfinite(value_of(type, bits)) || draw(seed) % 50 == 0 ? bits : 0;
    return bits_for(type, ldexp((double)draw_between(seed, 1 << layout.mantissa,
                                                     (2 << layout.mantissa) - 1),
                                (int)draw_between(seed, -4, 4) - layout.mantissa)) |
           (draw(seed) % 2 ? 1u << (layout.bits - 1) : 0);
}

static void draw_reals(struct warp *warp, uint64_t *seed, const struct form *form)
{
    for (int quad = 0; quad < 4; quad++)
        for (int row = 0; row < form->m; row++)
            for (int column = 0; column < N; column++) {
                for (int k = 0; k < form->k; k++) {
                    warp->a_bits[quad][row][k] = draw_real(seed, form->a);
                    warp->b_bits[quad][k][column] = draw_real(seed, form->b);
                }
                warp->c_bits[quad][row][column] = draw_real(seed, form->c);
            }
}

/* Hopper's fp8: elements 0 and 1 of every four of k as f16, then the others, then C. */
static uint32_t model_fp8(const struct form *form, const uint32_t *left, const uint32_t *right,
                          uint32_t c)
{
    uint32_t halves[2][2][16], sum = 0;

    for (int k = 0; k < form->k; k++) {
        int half = k % 4 / 2, at = k / 4 * 2 + k % 2;

        for (int side = 0; side < 2; side++) {
            enum emu_type type = side ? form->b : form->a;
            double value = value_of(type, side ? right[k] : left[k]);

            halves[half][side][at] = isnan(value) ? 0x7fff : bits_for(EMU_F16, value);
        }
    }
    for (int half = 0; half < 2; half++)
        sum = model_dot(form->d, EMU_F16, EMU_F16, form->k / 2, halves[half][0], halves[half][1], 1,
                        sum);

    volatile float total = (float)value_of(form->d, sum) + (float)value_of(form->d, c);

    if (isnan(total))
        return form->d == EMU_F16 ? 0x7fff : 0x7fffffff;
    if (form->d == EMU_F16 && isfinite(total)) {
        /* The sum of two f16 is exact in f64, so this rounds once. */
        double exact = value_of(EMU_F16, sum) + value_of(EMU_F16, c);

        return bits_for(EMU_F16, exact == 0 ? exact : round_result(EMU_F16, exact, 0));
    }
    return bits_for(form->d, (double)total);
}

static uint32_t model_exact(const struct warp *warp, const struct form *form, int quad, int row,
                            int column)
{
    uint32_t left[K_MAX], right[K_MAX], c = (uint32_t)warp->c_bits[quad][row][column];

    for (int k = 0; k < form->k; k++) {
        left[k] = (uint32_t)warp->a_bits[quad][row][k];
        right[k] = (uint32_t)warp->b_bits[quad][k][column];
    }
    if (layout_of(form->a).bits == 8)
        return model_fp8(form, left, right, c);
    if (form->c == EMU_F16 && form->d == EMU_F32) {
        double value = value_of(EMU_F16, c);

        c = isnan(value) ? 0x7fffffff : bits_for(EMU_F32, value);
    }
    return model_dot(form->d, form->a, form->b, form->k, left, right, 1, c);
}

static void exact_results_are_those_of_the_model(void **state)
{
    (void)state;
    struct warp *warp = test_calloc(1, sizeof *warp);
    struct form forms[FORMS_MAX];
    int count = all_forms(forms);
    uint64_t seed = 3;

    for (int i = 0; i < count; i++) {
        if (forms[i].d == EMU_S32 || forms[i].d == EMU_F64)
            continue;

        const struct emu_mma_sync mma = decode_form(&forms[i], "");

        for (int round = 0; round < 40; round++) {
            draw_reals(warp, &seed, &forms[i]);
            put_registers(warp, &forms[i]);
            run(warp, &mma, true);
            for (int quad = 0; quad < (is_quad(&forms[i]) ? 4 : 1); quad++)
                for (int row = 0; row < forms[i].m; row++)
                    for (int column = 0; column < N; column++)
                        assert_int_equal(get_d(warp, &forms[i], quad, row, column),
                                         model_exact(warp, &forms[i], quad, row, column));
        }
    }
    test_free(warp);
}

static uint32_t model_fast(const struct warp *warp, const struct form *form, int quad, int row,
                           int column)
{
    volatile float sum = (float)value_of(form->c, (uint32_t)warp->c_bits[quad][row][column]);

    for (int k = 0; k < form->k; k++) {
        volatile float product = (float)value_of(form->a, (uint32_t)warp->a_bits[quad][row][k]) *
                                 (float)value_of(form->b, (uint32_t)warp->b_bits[quad][k][column]);

        sum = sum + product;
    }
    if (isnan(sum))
        return form->d == EMU_F16 ? 0x7fff : 0x7fffffff;
    if (form->d == EMU_F16 && isfinite(sum))
        return bits_for(EMU_F16, round_result(EMU_F16, sum, 0));
    return bits_for(form->d, (double)sum + 0.0);
}

static void fast_results_are_those_of_f32(void **state)
{
    (void)state;
    struct warp *warp = test_calloc(1, sizeof *warp);
    struct form forms[FORMS_MAX];
    int count = all_forms(forms);
    uint64_t seed = 4;

    for (int i = 0; i < count; i++) {
        if (forms[i].d == EMU_S32 || forms[i].d == EMU_F64)
            continue;

        const struct emu_mma_sync mma = decode_form(&forms[i], "");

        for (int round = 0; round < 10; round++) {
            draw_reals(warp, &seed, &forms[i]);
            put_registers(warp, &forms[i]);
            run(warp, &mma, false);
            for (int quad = 0; quad < (is_quad(&forms[i]) ? 4 : 1); quad++)
                for (int row = 0; row < forms[i].m; row++)
                    for (int column = 0; column < N; column++)
                        assert_int_equal(get_d(warp, &forms[i], quad, row, column),
                                         model_fast(warp, &forms[i], quad, row, column));
        }
    }
    test_free(warp);
}

/* One fused multiply-add after the other along k, from C on. */
static void f64_is_rounded_after_every_product(void **state)
{
    (void)state;
    struct warp *warp = test_calloc(1, sizeof *warp);
    uint64_t seed = 5;

    for (int k = 4; k <= 16; k *= 2)
        for (int round = 0; round < 20; round++) {
            struct form form = {16, 8, k, EMU_F64, EMU_F64, EMU_F64, EMU_F64, .target = 90};
            const struct emu_mma_sync mma = decode_form(&form, round % 2 ? ".rn" : "");
            double left[16][16], right[16][8], addend[16][8];

            for (int row = 0; row < 16; row++)
                for (int i = 0; i < 16; i++) {
                    left[row][i] = ldexp((double)(int64_t)draw(&seed), -60);
                    right[row][i % 8] = ldexp((double)(int64_t)draw(&seed), -60);
                    addend[row][i % 8] = ldexp((double)(int64_t)draw(&seed), -60);
                    warp->a_bits[0][row][i] = bits_of_double(left[row][i]);
                    warp->b_bits[0][row][i % 8] = bits_of_double(right[row][i % 8]);
                    warp->c_bits[0][row][i % 8] = bits_of_double(addend[row][i % 8]);
                }
            put_registers(warp, &form);
            run(warp, &mma, round % 3 == 0);
            for (int row = 0; row < 16; row++)
                for (int column = 0; column < 8; column++) {
                    double sum = addend[row][column];

                    for (int i = 0; i < k; i++)
                        sum = fma(left[row][i], right[i][column], sum);
                    assert_int_equal(get_d(warp, &form, 0, row, column), bits_of_double(sum));
                }
        }
    test_free(warp);
}

static void f64_has_one_nan(void **state)
{
    (void)state;
    struct warp *warp = test_calloc(1, sizeof *warp);
    const struct form form = {8, 8, 4, EMU_F64, EMU_F64, EMU_F64, EMU_F64, .target = 80};
    const struct emu_mma_sync mma = decode_form(&form, "");

    warp->c_bits[0][3][5] = UINT64_C(0x7ff0000000000123);
    put_registers(warp, &form);
    run(warp, &mma, false);
    assert_int_equal(get_d(warp, &form, 0, 3, 5), UINT64_C(0xfff8000000000000));
    assert_int_equal(get_d(warp, &form, 0, 3, 4), 0);
    test_free(warp);
}

/* ---- Decoding ---- */

static void all_forms_are_decoded(void **state)
{
    (void)state;
    struct form forms[FORMS_MAX];
    int count = all_forms(forms);

    for (int i = 0; i < count; i++) {
        static struct text text;
        const struct form *form = &forms[i];
        struct emu_mma_sync mma = decode_form(form, "");
        struct emu_error error = {.line = 0};
        char opcode[128];

        assert_int_equal(mma.m, form->m);
        assert_int_equal(mma.n, form->n);
        assert_int_equal(mma.k, form->k);
        assert_int_equal(mma.d, form->d);
        assert_int_equal(mma.a, form->a);
        assert_int_equal(mma.b, form->b);
        assert_int_equal(mma.c, form->c);
        assert_int_equal(mma.is_xor, form->is_xor);
        assert_int_equal(mma.a_column, form->a_column);
        assert_int_equal(mma.b_row, form->b_row);
        assert_false(mma.saturate);
        assert_int_equal(mma.a_registers, registers_for(form, form->a, form->m * form->k));
        assert_int_equal(mma.b_registers, registers_for(form, form->b, form->k * form->n));
        assert_int_equal(mma.c_registers, registers_for(form, form->c, form->m * form->n));
        assert_int_equal(mma.d_registers, registers_for(form, form->d, form->m * form->n));

        write_opcode(opcode, sizeof opcode, form, "");
        begin_mma(&text, form, opcode);
        assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, form->target - 1, &error),
                         EMU_REFUSED);
        for (int operand = 0; operand < 4; operand++) {
            text.operands[operand].item_count++;
            assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_REFUSED);
            text.operands[operand].item_count--;
        }
        text.instruction.operand_count = 3;
        assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_REFUSED);
    }
}

/* Some registers of the manual's tables, by number. */
static void registers_are_as_many_as_the_manual_says(void **state)
{
    (void)state;
    static const struct {
        struct form form;
        int d, a, b, c;
    } cases[] = {
        {{16, 8, 16, EMU_F32, EMU_F16, EMU_F16, EMU_F32, .target = 80}, 4, 4, 2, 4},
        {{16, 8, 8, EMU_F16, EMU_F16, EMU_F16, EMU_F16, .target = 80}, 2, 2, 1, 2},
        {{8, 8, 4, EMU_F32, EMU_F16, EMU_F16, EMU_F16, .target = 80}, 8, 2, 2, 4},
        {{16, 8, 4, EMU_F32, EMU_TF32, EMU_TF32, EMU_F32, .target = 80}, 4, 2, 1, 4},
        {{16, 8, 32, EMU_S32, EMU_S8, EMU_U8, EMU_S32, .target = 80}, 4, 4, 2, 4},
        {{8, 8, 32, EMU_S32, EMU_U4, EMU_S4, EMU_S32, .target = 80}, 2, 1, 1, 2},
        {{16, 8, 256, EMU_S32, EMU_B1, EMU_B1, EMU_S32, .target = 80}, 4, 4, 2, 4},
        {{16, 8, 16, EMU_F64, EMU_F64, EMU_F64, EMU_F64, .target = 90}, 4, 8, 4, 4},
        {{8, 8, 4, EMU_F64, EMU_F64, EMU_F64, EMU_F64, .target = 80}, 2, 1, 1, 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu_mma_sync mma = decode_form(&cases[i].form, "");

        assert_int_equal(mma.d_registers, cases[i].d);
        assert_int_equal(mma.a_registers, cases[i].a);
        assert_int_equal(mma.b_registers, cases[i].b);
        assert_int_equal(mma.c_registers, cases[i].c);
    }
}

/* As ptxas refuses them, with the number of registers that the types would have. */
static void forms_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        int d, a, b, c;
    } cases[] = {
        {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f32", 4, 2, 2, 8},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16", 4, 2, 1, 2},
        {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f32", 2, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.row.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16", 2, 4, 2, 2},
        {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f16", 4, 4, 2, 2},
        {"mma.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", 4, 8, 4, 4},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32", 4, 4, 1, 4},
        {"mma.sync.aligned.m16n8k256.row.col.satfinite.s32.b1.b1.s32.and.popc", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.xor.popc", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.and.popc", 4, 4, 2, 4},
        {"mma.sync.aligned.m16n8k8.row.col.satfinite.f32.f16.f16.f32", 4, 2, 1, 4},
        {"mma.sync.aligned.m16n8k8.row.col.rn.f32.f16.f16.f32", 4, 2, 1, 4},
        /* Not supported. */
        {"mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64", 2, 1, 1, 2},
        {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 2, 4},
        {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 4, 4, 2, 4},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct text text;
        struct emu_mma_sync mma;
        struct emu_error error = {.line = 0};

        begin_text(&text, cases[i].opcode);
        add_vector(&text, cases[i].d);
        add_vector(&text, cases[i].a);
        add_vector(&text, cases[i].b);
        add_vector(&text, cases[i].c);
        assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_REFUSED);
        assert_int_equal(error.line, 7);
        assert_non_null(strstr(error.message, cases[i].opcode));
    }

    static struct text other;
    struct emu_mma_sync mma;
    struct emu_error error = {.line = 0};

    begin_text(&other, "wmma.mma.sync.aligned");
    assert_int_equal(emu_mma_sync_decode(&mma, &other.instruction, 90, &error), EMU_NOT_MINE);
    assert_int_equal(error.message[0], '\0');
    /* A vector of one is still a vector. */
    begin_text(&other, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
    add_vector(&other, 4);
    add_vector(&other, 2);
    add_register(&other);
    add_vector(&other, 4);
    assert_int_equal(emu_mma_sync_decode(&mma, &other.instruction, 90, &error), EMU_REFUSED);
}

/* Qualifiers may stand in any order. */
static void words_are_taken_in_any_order(void **state)
{
    (void)state;
    static struct text text;
    struct emu_mma_sync mma;
    struct emu_error error = {.line = 0};

    begin_text(&text, "mma.sync.aligned.row.col.m16n8k32.s32.s8.u8.s32.satfinite");
    add_vector(&text, 4);
    add_vector(&text, 4);
    add_vector(&text, 2);
    add_vector(&text, 4);
    assert_int_equal(emu_mma_sync_decode(&mma, &text.instruction, 90, &error), EMU_DECODED);
    assert_true(mma.saturate);
    assert_int_equal(mma.b, EMU_U8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_multiplied_exactly_in_all_forms),
        cmocka_unit_test(results_may_take_the_place_of_the_operands),
        cmocka_unit_test(exact_results_are_those_of_the_model),
        cmocka_unit_test(fast_results_are_those_of_f32),
        cmocka_unit_test(f64_is_rounded_after_every_product),
        cmocka_unit_test(f64_has_one_nan),
        cmocka_unit_test(all_forms_are_decoded),
        cmocka_unit_test(registers_are_as_many_as_the_manual_says),
        cmocka_unit_test(forms_that_do_not_exist_are_refused),
        cmocka_unit_test(words_are_taken_in_any_order),
    };

    return cmocka_run_group_tests_name("emulator mma.sync", tests, NULL, NULL);
}
