/* mma.sync: integers in every shape and type against a plain product, with fragments placed by the
 * manual's maps read the other way round; then the numerics. */
#include "emulator/mma.h"
#include "tests/emulator/mma_forms.h"
#include "tests/emulator/random.h"

enum { M_MAX = 16, N = 8, K_MAX = 256, REGISTERS_MAX = 8 };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_multiplied_exactly_in_all_forms),
        cmocka_unit_test(results_may_take_the_place_of_the_operands),
        cmocka_unit_test(exact_results_are_those_of_the_model),
        cmocka_unit_test(fast_results_are_those_of_f32),
        cmocka_unit_test(f64_is_rounded_after_every_product),
        cmocka_unit_test(f64_has_one_nan),
    };

    return cmocka_run_group_tests_name("emulator mma.sync", tests, NULL, NULL);
}
