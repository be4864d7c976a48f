#include "codegen/swizzle.h"

#include "tests/support/cmocka_all.h"

#include <stdbool.h>

static const enum lt_swizzle spans[] = {LT_SWIZZLE_32B, LT_SWIZZLE_64B, LT_SWIZZLE_128B};

/* The same by counting: the byte lies in a piece of 16 of a line of 128; the piece changes places
 * with the one whose number differs in the bits of the line's number, of which a span of W pieces
 * uses as many as there are numbers below W. */
static uint32_t placed_by_hand(int span, uint32_t address)
{
    uint32_t pieces = (uint32_t)span / 16;
    uint32_t line = address / 128, piece = address % 128 / 16, byte = address % 16;
    uint32_t within = piece % pieces, group = piece / pieces;
    uint32_t moved = 0;

    for (uint32_t bit = 1; bit < pieces; bit *= 2)
        if ((within / bit) % 2 != (line / bit) % 2)
            moved += bit;
    return line * 128 + (group * pieces + moved) * 16 + byte;
}

static void every_byte_of_a_tile_lies_where_counting_puts_it(void **state)
{
    (void)state;

    for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++)
        for (uint32_t address = 0; address < 16384; address++)
            assert_int_equal(lt_swizzle(spans[s], address), placed_by_hand((int)spans[s], address));
}

/* The worked example of the manual's swizzling modes for 64 columns of a 16-bit type. */
static void an_element_of_a_128_byte_tile_lies_at_its_row_and_permuted_piece(void **state)
{
    (void)state;

    for (uint32_t r = 0; r < 256; r++)
        for (uint32_t c = 0; c < 64; c++)
            assert_int_equal(lt_swizzle(LT_SWIZZLE_128B, r * 128 + c * 2),
                             r * 128 + (((c / 8) ^ (r & 7)) * 16) + (c % 8) * 2);
}

/* The first rows of the tables in PTX ISA "Swizzling modes": the pieces of each line in order. */
static void lines_are_permuted_as_in_the_manuals_tables(void **state)
{
    (void)state;
    static const struct {
        enum lt_swizzle span;
        int line;
        int piece[8]; /* where pieces 0 to 7 lie */
    } rows[] = {
        {LT_SWIZZLE_128B, 0, {0, 1, 2, 3, 4, 5, 6, 7}},
        {LT_SWIZZLE_128B, 1, {1, 0, 3, 2, 5, 4, 7, 6}},
        {LT_SWIZZLE_128B, 2, {2, 3, 0, 1, 6, 7, 4, 5}},
        {LT_SWIZZLE_128B, 7, {7, 6, 5, 4, 3, 2, 1, 0}},
        {LT_SWIZZLE_128B, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
        {LT_SWIZZLE_64B, 0, {0, 1, 2, 3, 4, 5, 6, 7}},
        {LT_SWIZZLE_64B, 1, {1, 0, 3, 2, 5, 4, 7, 6}},
        {LT_SWIZZLE_64B, 2, {2, 3, 0, 1, 6, 7, 4, 5}},
        {LT_SWIZZLE_64B, 3, {3, 2, 1, 0, 7, 6, 5, 4}},
        {LT_SWIZZLE_64B, 4, {0, 1, 2, 3, 4, 5, 6, 7}},
        {LT_SWIZZLE_32B, 0, {0, 1, 2, 3, 4, 5, 6, 7}},
        {LT_SWIZZLE_32B, 1, {1, 0, 3, 2, 5, 4, 7, 6}},
        {LT_SWIZZLE_32B, 2, {0, 1, 2, 3, 4, 5, 6, 7}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int piece = 0; piece < 8; piece++)
            assert_int_equal(lt_swizzle(rows[i].span, (uint32_t)(rows[i].line * 128 + piece * 16)),
                             rows[i].line * 128 + rows[i].piece[piece] * 16);
}

static void without_swizzle_every_byte_stays(void **state)
{
    (void)state;

    for (uint32_t address = 0; address < 4096; address++)
        assert_int_equal(lt_swizzle(LT_SWIZZLE_NONE, address), address);
    assert_int_equal(lt_swizzle_repeat(LT_SWIZZLE_NONE), 16);
}

static void the_pattern_repeats_after_as_many_bytes_as_it_says_and_no_fewer(void **state)
{
    (void)state;
    static const uint32_t repeats[] = {256, 512, 1024};

    for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++) {
        uint32_t repeat = lt_swizzle_repeat(spans[s]);
        bool shifts = false;

        assert_int_equal(repeat, repeats[s]);
        for (uint32_t address = 0; address < repeat; address++) {
            assert_int_equal(lt_swizzle(spans[s], address + repeat),
                             lt_swizzle(spans[s], address) + repeat);
            shifts = shifts || lt_swizzle(spans[s], address + repeat / 2) !=
                                   lt_swizzle(spans[s], address) + repeat / 2;
        }
        assert_true(shifts);
    }
}

static void a_pattern_is_a_permutation_of_its_bytes(void **state)
{
    (void)state;

    for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++) {
        uint8_t seen[1024] = {0};
        uint32_t repeat = lt_swizzle_repeat(spans[s]);

        for (uint32_t address = 0; address < repeat; address++) {
            uint32_t moved = lt_swizzle(spans[s], address);

            assert_true(moved < repeat);
            assert_int_equal(seen[moved]++, 0);
            assert_int_equal(lt_swizzle(spans[s], moved), address);
        }
    }
}

static void the_rank_bits_of_a_cluster_address_change_nothing(void **state)
{
    (void)state;

    for (uint32_t address = 0; address < 2048; address += 16)
        assert_int_equal(lt_swizzle(LT_SWIZZLE_128B, 0x03000000u + address),
                         0x03000000u + lt_swizzle(LT_SWIZZLE_128B, address));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_of_a_tile_lies_where_counting_puts_it),
        cmocka_unit_test(an_element_of_a_128_byte_tile_lies_at_its_row_and_permuted_piece),
        cmocka_unit_test(lines_are_permuted_as_in_the_manuals_tables),
        cmocka_unit_test(without_swizzle_every_byte_stays),
        cmocka_unit_test(the_pattern_repeats_after_as_many_bytes_as_it_says_and_no_fewer),
        cmocka_unit_test(a_pattern_is_a_permutation_of_its_bytes),
        cmocka_unit_test(the_rank_bits_of_a_cluster_address_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
