/* tcgen05.cp and .shift: which bytes of shared memory go to which cells of tensor memory. */
#include "emulator/tcgen05_copy.h"
#include "emulator/tcgen05_product.h"
#include "tests/emulator/random.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { LANES = 128, COLUMNS = 512, SHARED_BYTES = 1 << 17 };

static unsigned char shared[SHARED_BYTES];
static uint32_t cells[LANES * COLUMNS], expected[LANES * COLUMNS];

static const struct {
    enum emu_tmem_copy copy;
    int rows, bytes;
    int lanes[4]; /* of row 0 and its replicas; -1: none */
    int second;   /* lane of row 32, where there is one; of 4x256b that of row 1 */
} shapes[] = {
    {EMU_COPY_128X256B, 128, 32, {0, -1, -1, -1}, 32},
    {EMU_COPY_4X256B, 4, 32, {0, -1, -1, -1}, 32},
    {EMU_COPY_128X128B, 128, 16, {0, -1, -1, -1}, 32},
    {EMU_COPY_64X128B_02_13, 64, 16, {0, 64, -1, -1}, 32},
    {EMU_COPY_64X128B_01_23, 64, 16, {0, 32, -1, -1}, 64},
    {EMU_COPY_32X128B, 32, 16, {0, 32, 64, 96}, 0},
};

/* The reference's: a = start + (r % 8) * K + (r / 8) * SBO + u * LD, and the swizzle's bits. */
static int byte_at(int row, int byte, int code, int start, int stride, int leading)
{
    static const int spans[8] = {16, 0, 128, 0, 64, 0, 32, 0};
    int span = spans[code], unit = byte / 16,
        at = start + row % 8 * span + row / 8 * stride + unit * (code == 0 ? leading : 16);

    return (at ^ ((at >> 7 & (span / 16 - 1)) << 4)) + byte % 16;
}

static uint64_t descriptor_of(int code, int start, int stride, int leading)
{
    return (uint64_t)code << 61 | (uint64_t)1 << 46 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)(leading >> 4) << 16 | (uint64_t)(start >> 4);
}

static int lane_of(int shape, int row, int replica)
{
    int first = shapes[shape].lanes[replica];

    if (shapes[shape].rows == 4)
        return first + 32 * row;
    return first + row % 32 + (row >= 64 ? row / 32 * 32 : row >= 32 ? shapes[shape].second : 0);
}

static void put_expected(int shape, int row, int column, int byte, unsigned char value)
{
    for (int replica = 0; replica < 4 && shapes[shape].lanes[replica] >= 0; replica++) {
        uint32_t *cell = &expected[lane_of(shape, row, replica) * COLUMNS + column + byte / 4];

        *cell = (*cell & ~(0xffu << 8 * (byte % 4))) | (uint32_t)value << 8 * (byte % 4);
    }
}

/* A value of 4 or 6 bits, out of 16 that lie one behind the other in the first bytes of 16. */
static unsigned char unpacked(int at, int byte, int bits)
{
    unsigned value = 0;

    for (int i = 0; i < bits; i++) {
        int bit = byte % 16 * bits + i;

        value |= (unsigned)(shared[at - byte % 16 + bit / 8] >> bit % 8 & 1) << i;
    }
    return (unsigned char)(bits == 4 ? value << 2 : value);
}

static void check_copy(int shape, int code, int bits, uint64_t *seed)
{
    const struct emu_tcgen05 form = {
        .what = EMU_TCGEN05_CP, .copy = shapes[shape].copy, .packed_bits = bits};
    int start = 1024 * (int)draw_between(seed, 0, 7), stride = 1024 + 1024 * (int)(draw(seed) % 2),
        leading = 256, column = (int)draw_between(seed, 0, COLUMNS - 8);
    struct emu_descriptor matrix;
    const char *why = NULL;

    for (int i = 0; i < SHARED_BYTES; i++)
        shared[i] = (unsigned char)draw(seed);
    for (int i = 0; i < LANES * COLUMNS; i++)
        cells[i] = expected[i] = (uint32_t)draw(seed);
    for (int row = 0; row < shapes[shape].rows; row++)
        for (int byte = 0; byte < shapes[shape].bytes; byte++) {
            int at = byte_at(row, byte, code, start, stride, leading);

            put_expected(shape, row, column, byte, bits ? unpacked(at, byte, bits) : shared[at]);
        }
    assert_true(emu_tcgen05_descriptor(&matrix, descriptor_of(code, start, stride, leading), &why));
    assert_int_equal(emu_tmem_copy_columns(form.copy), shapes[shape].bytes / 4);
    assert_true(emu_tmem_copy(&form, &matrix, shared, SHARED_BYTES, cells, (uint32_t)column));
    assert_memory_equal(cells, expected, sizeof cells);
    assert_false(
        emu_tmem_copy(&form, &matrix, shared, (uint32_t)start + 8, cells, (uint32_t)column));
}

static void copies_go_where_the_table_says(void **state)
{
    (void)state;
    static const int codes[] = {0, 2, 4, 6}, packed[] = {0, 4, 6};
    uint64_t seed = 1;

    for (int shape = 0; shape < 6; shape++)
        for (int code = 0; code < 4; code++)
            for (int bits = 0; bits < 3; bits++)
                check_copy(shape, codes[code], packed[bits], &seed);
}

static void lanes_that_are_written_are_known(void **state)
{
    (void)state;

    for (int shape = 0; shape < 6; shape++) {
        uint32_t lanes[4], wanted[4] = {0};

        for (int row = 0; row < shapes[shape].rows; row++)
            for (int replica = 0; replica < 4 && shapes[shape].lanes[replica] >= 0; replica++) {
                int lane = lane_of(shape, row, replica);

                wanted[lane / 32] |= 1u << lane % 32;
            }
        emu_tmem_copy_lanes(shapes[shape].copy, 0, lanes);
        assert_memory_equal(lanes, wanted, sizeof lanes);
    }
}

/* Eight columns of each lane come from the lane behind it, but for the last of 32. */
static void shifts_go_down_one_lane(void **state)
{
    (void)state;
    uint64_t seed = 3;

    for (uint32_t lane = 0; lane < LANES; lane += 32) {
        for (int i = 0; i < LANES * COLUMNS; i++)
            cells[i] = expected[i] = (uint32_t)draw(&seed);
        for (uint32_t row = lane; row < LANES; row++)
            for (uint32_t column = 100; column < 108 && row % 32 != 31; column++)
                expected[row * COLUMNS + column] = cells[(row + 1) * COLUMNS + column];
        emu_tmem_shift(cells, lane << 16 | 100);
        assert_memory_equal(cells, expected, sizeof cells);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_go_where_the_table_says),
        cmocka_unit_test(lanes_that_are_written_are_known),
        cmocka_unit_test(shifts_go_down_one_lane),
    };

    return cmocka_run_group_tests_name("emulator tcgen05 copies", tests, NULL, NULL);
}
