/* Descriptors bit for bit, and instructions as the PTX manual spells them. */
#include "codegen/tcgen05.h"

#include "codegen/cluster.h"
#include "codegen/tma.h"
#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

/* ---- Host arithmetic ---- */

/* Fields of PTX ISA, "Instruction descriptor", one by one. */
static void an_instruction_descriptor_says_types_and_shape(void **state)
{
    (void)state;
    static const struct {
        enum lathe_type type;
        uint32_t d_type, operand_type;
    } types[] = {
        {LATHE_F16, 1, 0},  {LATHE_BF16, 1, 1}, {LATHE_TF32, 1, 2},
        {LATHE_E4M3, 1, 0}, {LATHE_E5M2, 1, 1}, {LATHE_INT8, 2, 1},
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int rows = 64; rows <= 256; rows *= 2)
            for (int columns = 16; columns <= 256; columns += 16) {
                uint32_t bits = lt_tcgen05_instruction(types[i].type, rows, columns);

                assert_int_equal(bits >> 4 & 3, types[i].d_type);
                assert_int_equal(bits >> 7 & 7, types[i].operand_type);
                assert_int_equal(bits >> 10 & 7, types[i].operand_type);
                assert_int_equal((bits >> 17 & 63) * 8, columns);
                assert_int_equal((bits >> 24 & 31) * 16, rows);
                /* Sparsity, saturation, signs, transposes, what is reserved. */
                assert_int_equal(bits & 0xe081e04f, 0);
            }
}

static void known_descriptors_come_out(void **state)
{
    (void)state;
    /* As assembled and documented: M=128 N=128, and a pair's M=256 N=256, of f16. */
    assert_int_equal(lt_tcgen05_instruction(LATHE_F16, 128, 128), 0x08200010);
    assert_int_equal(lt_tcgen05_instruction(LATHE_F16, 256, 256), 0x10400010);
    /* 8 rows of 128 bytes every 1024; 0b001 in bits 46 to 48; swizzle code 2 in bits 61 to 63. */
    assert_true(lt_tcgen05_descriptor(LT_SWIZZLE_128B, 0) == 0x4000404000010000);
    assert_true(lt_tcgen05_descriptor(LT_SWIZZLE_64B, 0x8000) == 0x8000402000010800);
    assert_true(lt_tcgen05_descriptor(LT_SWIZZLE_32B, 0x400) == 0xc000401000010040);
    /* An address has 18 bits: the rank of a CTA above them is not told. */
    assert_true(lt_tcgen05_descriptor(LT_SWIZZLE_128B, 0x03000400) == 0x4000404000010040);
}

static void types_that_nothing_multiplies_have_no_kind(void **state)
{
    (void)state;
    assert_string_equal(lt_tcgen05_kind(LATHE_BF16), "f16");
    assert_string_equal(lt_tcgen05_kind(LATHE_TF32), "tf32");
    assert_string_equal(lt_tcgen05_kind(LATHE_E5M2), "f8f6f4");
    assert_string_equal(lt_tcgen05_kind(LATHE_INT8), "i8");
    assert_null(lt_tcgen05_kind(LATHE_F32));
    assert_null(lt_tcgen05_kind(LATHE_S32));
}

/* ---- Text ---- */

static int open_blackwell(void **state)
{
    *state = kernel_for(LATHE_SM_100A, false, NULL);
    return *state ? 0 : -1;
}

static void a_pair_says_so_in_every_instruction(void **state)
{
    struct lt_builder *b = *state;
    lt_value at = number(b, "at", 0), mask = lt_define(b, LT_B16, "mask");
    lt_value wide = lt_define(b, LT_B64, "wide");

    lt_tmem_alloc(b, 2, at, 256);
    assert_ends_with(written(b),
                     "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%at], 256;\n");
    lt_tmem_relinquish(b, 2);
    assert_ends_with(written(b), "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n");
    lt_tcgen05_mma(b, 2, LATHE_E4M3, at, wide, wide, at, lt_imm(1));
    assert_ends_with(written(b),
                     "tcgen05.mma.cta_group::2.kind::f8f6f4 [%at], %wide, %wide, %at, 1;\n");
    lt_tcgen05_commit(b, 2, at, mask);
    assert_ends_with(written(b), "tcgen05.commit.cta_group::2.mbarrier::arrive::one"
                                 ".shared::cluster.multicast::cluster.b64 [%at], %mask;\n");
    lt_tma_load_for_pair(b, wide, at, at, at, at, (lt_value){0});
    assert_ends_with(written(b), "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                                 ".mbarrier::complete_tx::bytes.cta_group::2 "
                                 "[%at], [%wide, {%at, %at}], [%at];\n");
    lt_tma_load_for_pair(b, wide, at, at, at, at, mask);
    assert_ends_with(written(b), "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                                 ".mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 "
                                 "[%at], [%wide, {%at, %at}], [%at], %mask;\n");
    lt_cluster_sync_with_memory(b);
    assert_ends_with(written(b), "barrier.cluster.arrive.release.aligned;\n    "
                                 "barrier.cluster.wait.acquire.aligned;\n");
    lt_tmem_dealloc(b, 2, at, 256);
    assert_ends_with(written(b), "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %at, 256;\n");
    assert_no_mistake(b);
}

static void one_cta_alone_tells_itself(void **state)
{
    struct lt_builder *b = *state;
    lt_value at = number(b, "at", 0);
    struct lt_vector sums = lt_vector(b, LT_F32, "sum", 8);

    lt_tcgen05_commit(b, 1, at, (lt_value){0});
    assert_ends_with(written(b), "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                                 ".shared::cluster.b64 [%at];\n");
    lt_tcgen05_ld(b, &sums, 4, 4, at);
    lt_tcgen05_wait_ld(b);
    assert_ends_with(written(b), "tcgen05.wait::ld.sync.aligned;\n");
    assert_no_mistake(b);
}

static void hopper_has_none_of_it(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);

    lt_tmem_alloc(b, 1, number(b, "at", 0), 32);

    assert_mistake(b, "tcgen05 needs sm_100a, sm_103a or sm_110a; this kernel is for sm_90a");
    lt_builder_destroy(&b);
}

static void hopper_has_multicasts_but_no_pairs(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
    lt_value at = number(b, "at", 0), mask = lt_define(b, LT_B16, "mask");

    lt_tma_load_for_pair(b, lt_define(b, LT_B64, "wide"), at, at, at, at, mask);

    assert_mistake(b, "cp.async.bulk.tensor with .cta_group::2 needs sm_100a, sm_103a or sm_110a; "
                      "this kernel is for sm_90a");
    lt_builder_destroy(&b);
}

#define on_blackwell(test) cmocka_unit_test_setup_teardown(test, open_blackwell, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_descriptor_says_types_and_shape),
        cmocka_unit_test(known_descriptors_come_out),
        cmocka_unit_test(types_that_nothing_multiplies_have_no_kind),
        on_blackwell(a_pair_says_so_in_every_instruction),
        on_blackwell(one_cta_alone_tells_itself),
        cmocka_unit_test(hopper_has_none_of_it),
        cmocka_unit_test(hopper_has_multicasts_but_no_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
