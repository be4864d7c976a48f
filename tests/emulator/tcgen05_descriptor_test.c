/* What the descriptors of tcgen05.mma may say, and what its operands may be together. */
#include "tests/emulator/tcgen05_forms.h"
#include "tests/support/cmocka_all.h"

static uint32_t instruction_of(const struct kind *kind, const struct shape *shape, int n)
{
    return kind->d_code << 4 | kind->a_code << 7 | kind->b_code << 10 | (uint32_t)(n >> 3) << 17 |
           (uint32_t)(shape->m >> 4) << 24;
}

static bool is_legal(const struct emu_tcgen05 *form, uint32_t bits)
{
    struct emu_product product;
    const char *why = NULL;
    bool done = emu_product_of(&product, form, bits, &why);

    assert_true(done == (why == NULL));
    return done;
}

static void instruction_descriptors_are_read(void **state)
{
    (void)state;
    static const struct {
        enum emu_tcgen05_kind kind;
        int group;
        uint32_t bits;
        int m, n;
        enum emu_type a, d;
    } list[] = {
        {EMU_KIND_F16, 1, 0x08400010, 128, 256, EMU_F16, EMU_F32},
        {EMU_KIND_F16, 1, 0x08400490, 128, 256, EMU_BF16, EMU_F32},
        {EMU_KIND_TF32, 1, 0x08200910, 128, 128, EMU_TF32, EMU_F32},
        {EMU_KIND_F8F6F4, 1, 0x08200010, 128, 128, EMU_E4M3, EMU_F32},
        {EMU_KIND_I8, 1, 0x082004a0, 128, 128, EMU_S8, EMU_S32},
        {EMU_KIND_F16, 1, 0x04410490, 64, 256, EMU_BF16, EMU_F32},
        {EMU_KIND_F16, 2, 0x10400490, 256, 256, EMU_BF16, EMU_F32},
    };

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const struct emu_tcgen05 form = {.kind = list[i].kind, .group = list[i].group};
        struct emu_product product;
        const char *why = NULL;

        assert_true(emu_product_of(&product, &form, list[i].bits, &why));
        assert_int_equal(product.m, list[i].m);
        assert_int_equal(product.n, list[i].n);
        assert_int_equal(product.a, list[i].a);
        assert_int_equal(product.d, list[i].d);
        assert_int_equal(product.b_mn_major, list[i].bits >> 16 & 1);
        /* Sparse, bits that are zero, another type of D, another number of rows. */
        assert_false(is_legal(&form, list[i].bits | 4));
        assert_false(is_legal(&form, list[i].bits | 1 << 6));
        assert_false(is_legal(&form, list[i].bits | 1 << 23));
        assert_false(is_legal(&form, list[i].bits | 1 << 29));
        assert_false(is_legal(&form, list[i].bits | 1u << 30));
        assert_false(is_legal(&form, list[i].bits | 3 << 4));
        assert_false(is_legal(&form, list[i].bits & ~(31u << 24)));
        assert_false(is_legal(&form, list[i].bits | 7 << 7));
    }
}

/* N from 0 to 256 in steps of 8, of all kinds and numbers of rows. */
static void shapes_that_there_are_are_known(void **state)
{
    (void)state;

    for (int kind = 0; kind < KINDS; kind++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int n = 0; n <= 256; n += 8)
                for (int in_tmem = 0; in_tmem < 2; in_tmem++) {
                    const struct emu_tcgen05 form = {.kind = kinds[kind].kind,
                                                     .group = shapes[shape].group,
                                                     .ws = shapes[shape].ws,
                                                     .a_in_tmem = in_tmem};
                    assert_true(is_legal(&form, instruction_of(&kinds[kind], &shapes[shape], n)) ==
                                has_n(&kinds[kind], &shapes[shape], n, in_tmem));
                }
}

static bool is_descriptor(uint64_t bits)
{
    struct emu_descriptor matrix;
    const char *why = NULL;

    return emu_tcgen05_descriptor(&matrix, bits, &why);
}

static void matrix_descriptors_are_read(void **state)
{
    (void)state;
    const uint64_t usual = UINT64_C(0x4000404000010000);
    struct emu_descriptor matrix;
    const char *why = NULL;

    assert_true(emu_tcgen05_descriptor(&matrix, usual | 0x1234, &why));
    assert_int_equal(matrix.start, 0x12340);
    assert_int_equal(matrix.stride, 1024);
    assert_int_equal(matrix.width, 8);
    assert_false(is_descriptor(usual & ~(UINT64_C(1) << 46)));
    assert_false(is_descriptor(usual | UINT64_C(1) << 47));
    assert_false(is_descriptor(usual | UINT64_C(1) << 52));
    assert_false(is_descriptor(usual | UINT64_C(1) << 53));
    assert_false(is_descriptor(usual | 1 << 14));
    for (uint64_t code = 0; code < 8; code++)
        assert_true(is_descriptor((usual & ~(UINT64_C(7) << 61)) | code << 61) ==
                    (code == 0 || code == 1 || code == 2 || code == 4 || code == 6));
}

/* What the fields of a product may not be together. */
static void operands_that_may_not_be_are_told(void **state)
{
    (void)state;
    const struct emu_product usual = {
        .m = 128, .n = 128, .k = 16, .group = 1, .d = EMU_F32, .a = EMU_F16, .b = EMU_F16};
    struct emu_product product = usual;

    assert_null(emu_product_fault(&product));
    product.d_address = 16 << 16;
    assert_non_null(emu_product_fault(&product));
    product.m = 64;
    assert_null(emu_product_fault(&product));
    product.a_in_tmem = true;
    assert_non_null(emu_product_fault(&product));
    product.a_address = 16 << 16 | 8;
    assert_null(emu_product_fault(&product));
    product.a_mn_major = true;
    assert_non_null(emu_product_fault(&product));
    product = usual;
    product.a = product.b = EMU_TF32;
    product.b_mn_major = true;
    assert_non_null(emu_product_fault(&product));
    product.b_matrix.has_atoms_of_32 = true;
    assert_null(emu_product_fault(&product));
    product.b_mn_major = false;
    assert_non_null(emu_product_fault(&product));
    product = usual;
    product.a = product.b = EMU_E2M1;
    product.a_mn_major = true;
    assert_non_null(emu_product_fault(&product));
    product = usual;
    product.a = product.b = EMU_S8;
    product.b_mn_major = true;
    product.n = 24;
    assert_non_null(emu_product_fault(&product));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_descriptors_are_read),
        cmocka_unit_test(shapes_that_there_are_are_known),
        cmocka_unit_test(matrix_descriptors_are_read),
        cmocka_unit_test(operands_that_may_not_be_are_told),
    };

    return cmocka_run_group_tests_name("emulator tcgen05 descriptors", tests, NULL, NULL);
}
