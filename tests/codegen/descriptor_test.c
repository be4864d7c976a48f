#include "codegen/descriptor.h"

#include "tests/support/cmocka_all.h"

static const struct {
    enum lt_swizzle swizzle;
    int pieces; /* of 16 bytes in a row: W of the manual's formulas */
    uint64_t code;
} spans[] = {
    {LT_SWIZZLE_32B, 2, 3},
    {LT_SWIZZLE_64B, 4, 2},
    {LT_SWIZZLE_128B, 8, 1},
};
enum { SPANS = sizeof spans / sizeof spans[0] };

static void the_constant_of_a_128_byte_tile_is_the_one_known(void **state)
{
    (void)state;
    struct lt_smem_layout layout = lt_smem_layout_k_major(LT_SWIZZLE_128B);

    assert_true(lt_wgmma_descriptor(&layout, 0) == 0x4000004000010000);
}

static void an_advance_of_32_bytes_adds_2(void **state)
{
    (void)state;

    assert_true(lt_wgmma_descriptor_step(32) == 2);
    assert_true(lt_wgmma_descriptor_step(0) == 0);
    assert_true(lt_wgmma_descriptor_step(49152) == 3072);
}

static void the_fields_stand_at_the_bits_of_the_manuals_table(void **state)
{
    (void)state;
    struct lt_smem_layout layout = {LT_SWIZZLE_64B, 0x1230, 0x3450};
    uint64_t descriptor = lt_wgmma_descriptor(&layout, 0x2abc0);

    assert_true((descriptor & 0x3fff) == 0x2abc);
    assert_true((descriptor >> 14 & 3) == 0);
    assert_true((descriptor >> 16 & 0x3fff) == 0x123);
    assert_true((descriptor >> 30 & 3) == 0);
    assert_true((descriptor >> 32 & 0x3fff) == 0x345);
    assert_true((descriptor >> 46 & 0xffff) == 0); /* the base offset among them */
    assert_true(descriptor >> 62 == 2);
}

static void every_swizzle_has_the_code_of_the_manuals_table(void **state)
{
    (void)state;
    struct lt_smem_layout none = {LT_SWIZZLE_NONE, 128, 256};

    for (int i = 0; i < SPANS; i++) {
        struct lt_smem_layout layout = lt_smem_layout_k_major(spans[i].swizzle);

        assert_true(lt_wgmma_descriptor(&layout, 0) >> 62 == spans[i].code);
    }
    assert_true(lt_wgmma_descriptor(&none, 0) >> 62 == 0);
}

static void the_rank_bits_of_a_cluster_address_vanish(void **state)
{
    (void)state;
    struct lt_smem_layout layout = lt_smem_layout_k_major(LT_SWIZZLE_128B);

    assert_true(lt_wgmma_descriptor(&layout, 0x03000400) == lt_wgmma_descriptor(&layout, 0x400));
}

/* Where the tensor cores look for byte `at` of row `row`: the manual's formula for K-major
 * operands, from the fields of the descriptor alone. */
static uint32_t looked_for_at(uint64_t descriptor, int row, int at)
{
    static const uint32_t pieces_of_code[] = {1, 8, 4, 2};
    uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4;
    uint32_t leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
    uint32_t stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
    uint32_t pieces = pieces_of_code[descriptor >> 62];
    uint32_t r = (uint32_t)row, byte = (uint32_t)at, a;

    if (pieces == 1)
        return start + r % 8 * 16 + r / 8 * stride + byte / 16 * leading + byte % 16;
    a = start + r % 8 * 16 * pieces + r / 8 * stride + byte;
    return a ^ ((a >> 7 & 7 & (pieces - 1)) << 4);
}

/* Where TMA puts byte `at` of row `row`, for rows of one span at `start`: pieces of 16 bytes change
 * places within lines of 128 bytes of shared memory. */
static uint32_t put_at(uint32_t start, uint32_t pieces, int row, int at)
{
    uint32_t linear = start + (uint32_t)row * 16 * pieces + (uint32_t)at;
    uint32_t piece = linear / 16 % 8, line = linear / 128;

    return line * 128 + (piece ^ (line % pieces)) * 16 + linear % 16;
}

static void the_tensor_cores_find_every_byte_where_tma_put_it(void **state)
{
    (void)state;
    enum { ROWS = 256, MMA_BYTES = 32 };

    for (int i = 0; i < SPANS; i++) {
        int span = spans[i].pieces * 16;
        struct lt_smem_layout layout = lt_smem_layout_k_major(spans[i].swizzle);
        uint64_t constant = lt_wgmma_descriptor(&layout, 0);

        for (uint32_t start = 1024; start <= 197632; start += 49152)
            for (int step = 0; step < span; step += MMA_BYTES) {
                uint64_t descriptor =
                    lt_wgmma_descriptor(&layout, start) + lt_wgmma_descriptor_step((uint32_t)step);

                assert_true(descriptor == constant + lt_wgmma_descriptor_step(start) +
                                              lt_wgmma_descriptor_step((uint32_t)step));
                for (int row = 0; row < ROWS; row++)
                    for (int at = 0; at < MMA_BYTES; at++)
                        assert_int_equal(looked_for_at(descriptor, row, at),
                                         put_at(start, (uint32_t)spans[i].pieces, row, step + at));
            }
    }
}

/* Blocks of 64 rows of A, and what follows a span along k, are advances by whole rows. */
static void a_block_of_64_rows_further_is_found_by_an_advance_too(void **state)
{
    (void)state;
    struct lt_smem_layout layout = lt_smem_layout_k_major(LT_SWIZZLE_128B);
    uint64_t second = lt_wgmma_descriptor(&layout, 2048) + lt_wgmma_descriptor_step(64 * 128 + 96);

    for (int row = 0; row < 64; row++)
        for (int at = 0; at < 32; at++)
            assert_int_equal(looked_for_at(second, row, at), put_at(2048, 8, 64 + row, 96 + at));
}

static void rows_of_16_bytes_without_swizzle_are_found_where_they_lie_packed(void **state)
{
    (void)state;
    struct lt_smem_layout layout = lt_smem_layout_k_major(LT_SWIZZLE_NONE);
    uint64_t descriptor = lt_wgmma_descriptor(&layout, 1024);

    for (int row = 0; row < 64; row++)
        for (int at = 0; at < 16; at++)
            assert_int_equal(looked_for_at(descriptor, row, at), 1024 + row * 16 + at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_constant_of_a_128_byte_tile_is_the_one_known),
        cmocka_unit_test(an_advance_of_32_bytes_adds_2),
        cmocka_unit_test(the_fields_stand_at_the_bits_of_the_manuals_table),
        cmocka_unit_test(every_swizzle_has_the_code_of_the_manuals_table),
        cmocka_unit_test(the_rank_bits_of_a_cluster_address_vanish),
        cmocka_unit_test(the_tensor_cores_find_every_byte_where_tma_put_it),
        cmocka_unit_test(a_block_of_64_rows_further_is_found_by_an_advance_too),
        cmocka_unit_test(rows_of_16_bytes_without_swizzle_are_found_where_they_lie_packed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
