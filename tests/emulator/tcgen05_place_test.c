/* tcgen05.ld and .st: which cell of tensor memory each register of each thread is, against the
 * figures of the manual written out: a row of 32 bits a thread, or the fragments of mma. */
#include "emulator/tcgen05.h"
#include "tests/emulator/random.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { LANES = 128, COLUMNS = 512 };

static uint32_t cells[LANES * COLUMNS];

/* Which of 32-bit units, counted along the columns, and which lane. */
struct unit {
    int lane, column;
};

/* As in the table: threads along the rows of a figure, and registers beside each other. */
static struct unit unit_of(enum emu_tmem_shape shape, int thread, int index, int split)
{
    static const struct unit none = {-1, -1};

    switch (shape) {
    case EMU_TMEM_32X32B: /* thread t has row t */
        return (struct unit){thread, index};
    case EMU_TMEM_16X64B: /* two units a row; four threads have rows r and r + 8 of them */
        return (struct unit){thread / 4 + (thread & 1 ? 8 : 0), (thread & 2 ? 1 : 0) + 2 * index};
    case EMU_TMEM_16X128B: /* four threads a row; every other register is 8 rows below */
        return (struct unit){thread / 4 + (index & 1 ? 8 : 0), thread % 4 + index / 2 * 4};
    case EMU_TMEM_16X256B: /* the accumulator of mma.m16n8: pairs, then 8 rows below, then on */
        return (struct unit){thread / 4 + (index & 2 ? 8 : 0),
                             thread % 4 * 2 + (index & 1) + index / 4 * 8};
    case EMU_TMEM_16X32BX2: /* two halves of the warp, a distance apart */
        return (struct unit){thread % 16, index + (thread >= 16 ? split : 0)};
    }
    return none;
}

struct form {
    enum emu_tmem_shape shape;
    int registers; /* of .x1 */
    int lanes;
};

static const struct form forms[] = {{EMU_TMEM_32X32B, 1, 32},
                                    {EMU_TMEM_16X64B, 1, 16},
                                    {EMU_TMEM_16X128B, 2, 16},
                                    {EMU_TMEM_16X256B, 4, 16},
                                    {EMU_TMEM_16X32BX2, 1, 16}};

static struct emu_tcgen05 form_of(const struct form *form, int repeat, bool is_packed, int split)
{
    return (struct emu_tcgen05){.what = EMU_TCGEN05_LD,
                                .shape = form->shape,
                                .registers = form->registers * repeat,
                                .is_packed = is_packed,
                                .split = (uint32_t)split};
}

static void fill_cells(uint64_t *seed)
{
    for (int i = 0; i < LANES * COLUMNS; i++)
        cells[i] = (uint32_t)draw(seed);
}

static uint32_t cell_at(uint32_t address, int lane, int column)
{
    return cells[((int)(address >> 16) + lane) * COLUMNS + (int)(address & 0xffff) + column];
}

/* Of a packed one two columns of 16 bits are a unit. */
static void check_load(const struct form *form, int repeat, bool is_packed, uint64_t *seed)
{
    bool is_split = form->shape == EMU_TMEM_16X32BX2;
    int split = is_split ? (int)draw_between(seed, 0, 128) : 0, wide = is_packed ? 2 : 1;
    const struct emu_tcgen05 load = form_of(form, repeat, is_packed, split);
    uint32_t columns = emu_tmem_shape_columns(&load),
             address = (uint32_t)draw_between(seed, 0, 3) << 21 |
                       (uint32_t)draw_between(seed, 0, COLUMNS - (int64_t)columns);

    assert_int_equal(emu_tmem_shape_lanes(form->shape), form->lanes);
    assert_int_equal(columns,
                     is_split ? repeat * wide + split : load.registers * 32 / form->lanes * wide);
    for (int thread = 0; thread < 32; thread++)
        for (int i = 0; i < load.registers; i++) {
            struct unit unit = unit_of(form->shape, thread, i, 0);
            int column = unit.column * wide + (is_split && thread >= 16 ? split : 0);
            uint32_t expected = cell_at(address, unit.lane, column);

            if (is_packed)
                expected = (expected & 0xffff) | cell_at(address, unit.lane, column + 1) << 16;
            assert_int_equal(emu_tmem_load(&load, cells, address, thread, i), expected);
        }
}

static void loads_are_those_of_the_figures(void **state)
{
    (void)state;
    uint64_t seed = 1;

    fill_cells(&seed);
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        for (int repeat = 1; forms[f].registers * repeat <= 128; repeat *= 2)
            for (int packed = 0; packed < 2; packed++)
                check_load(&forms[f], repeat, packed, &seed);
}

/* What was stored is loaded again, and nothing beside it is touched. */
static void stores_are_the_reverse(void **state)
{
    (void)state;
    static uint32_t before[LANES * COLUMNS];
    uint64_t seed = 2;

    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        for (int packed = 0; packed < 2; packed++) {
            bool is_split = forms[f].shape == EMU_TMEM_16X32BX2;
            const struct emu_tcgen05 form = form_of(&forms[f], 8, packed, is_split ? 40 : 0);
            uint32_t values[32][128], address = 64 << 16 | 100;
            int changed = 0;

            fill_cells(&seed);
            memcpy(before, cells, sizeof cells);
            for (int thread = 0; thread < 32; thread++)
                for (int i = 0; i < form.registers; i++) {
                    values[thread][i] = (uint32_t)draw(&seed);
                    emu_tmem_store(&form, cells, address, thread, i, values[thread][i]);
                }
            for (int thread = 0; thread < 32; thread++)
                for (int i = 0; i < form.registers; i++)
                    assert_int_equal(emu_tmem_load(&form, cells, address, thread, i),
                                     values[thread][i]);
            for (int i = 0; i < LANES * COLUMNS; i++)
                changed += before[i] != cells[i];
            assert_in_range(changed, form.registers * 32 * (packed ? 2 : 1) - 2,
                            form.registers * 32 * (packed ? 2 : 1));
        }
}

static void reductions_take_the_least_or_the_greatest(void **state)
{
    (void)state;
    static const uint32_t floats[] = {0x3f800000, 0xc0000000, 0x40400000, 0x7fc00000};
    static const uint32_t integers[] = {5, 0xfffffffe, 7, 0x80000000};
    struct emu_tcgen05 form = {.registers = 4, .type = EMU_F32};

    assert_int_equal(emu_tmem_reduce(&form, floats, 1), 0xc0000000);
    form.is_max = true;
    assert_int_equal(emu_tmem_reduce(&form, floats, 1), 0x40400000);
    form.has_nan = true;
    assert_int_equal(emu_tmem_reduce(&form, floats, 1), 0x7fffffff);
    form.registers = 3;
    form.has_abs = true;
    form.is_max = false;
    assert_int_equal(emu_tmem_reduce(&form, floats, 1), 0x3f800000);
    form = (struct emu_tcgen05){.registers = 4, .type = EMU_S32};
    assert_int_equal(emu_tmem_reduce(&form, integers, 1), 0x80000000);
    form.is_max = true;
    assert_int_equal(emu_tmem_reduce(&form, integers, 1), 7);
    form.type = EMU_U32;
    assert_int_equal(emu_tmem_reduce(&form, integers, 1), 0xfffffffe);
    form.is_max = false;
    assert_int_equal(emu_tmem_reduce(&form, integers, 1), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_those_of_the_figures),
        cmocka_unit_test(stores_are_the_reverse),
        cmocka_unit_test(reductions_take_the_least_or_the_greatest),
    };

    return cmocka_run_group_tests_name("emulator tcgen05 places", tests, NULL, NULL);
}
