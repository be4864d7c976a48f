#include "codegen/fragment.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"

static void the_low_float_goes_to_the_low_half(void **state)
{
    struct lt_builder *b = *state;
    lt_value low = lt_variable(b, LT_F32, "low"), high = lt_variable(b, LT_F32, "high");

    lt_value pair = lt_pack(b, "pair", LATHE_F16, high, low);
    lt_pack(b, "brains", LATHE_BF16, high, low);

    assert_no_mistake(b);
    assert_int_equal(pair.type, LT_B32);
    assert_ends_with(written(b), "cvt.rn.f16x2.f32 %pair, %high, %low;\n"
                                 "cvt.rn.bf16x2.f32 %brains, %high, %low;\n");
}

static void halves_of_f16_are_taken_apart_and_converted(void **state)
{
    struct lt_builder *b = *state;

    struct lt_halves halves =
        lt_unpack(b, LATHE_F16, lt_variable(b, LT_B32, "pair"), "low", "high");

    assert_no_mistake(b);
    assert_true(halves.low.type == LT_F32 && halves.high.type == LT_F32);
    assert_ends_with(written(b), "mov.b32 {%low_half, %high_half}, %pair;\n"
                                 "cvt.f32.f16 %low, %low_half;\n"
                                 "cvt.f32.f16 %high, %high_half;\n");
}

static void halves_of_bf16_are_the_upper_bits_of_floats(void **state)
{
    struct lt_builder *b = *state;

    struct lt_halves halves =
        lt_unpack(b, LATHE_BF16, lt_variable(b, LT_B32, "pair"), "low", "high");

    assert_no_mistake(b);
    assert_true(halves.low.type == LT_F32 && halves.high.type == LT_F32);
    assert_ends_with(written(b), "shl.b32 %low, %pair, 16;\n"
                                 "and.b32 %high, %pair, 0xffff0000;\n");
}

static void two_sums_are_two_floats_or_two_halves_of_a_register(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector floats = lt_vector(b, LT_F32, "sum", 8),
                     halves = lt_vector(b, LT_B32, "pair", 4);
    struct lt_halves sums = lt_sum_pair(b, &floats, 4, "low", "high");

    lt_inst(b, "use %0, %1;", sums.low, sums.high);
    sums = lt_sum_pair(b, &halves, 4, "low", "high");
    lt_inst(b, "use %0, %1;", sums.low, sums.high);

    assert_no_mistake(b);
    assert_has(written(b), "use %sum4, %sum5;\n");
    assert_ends_with(written(b), "mov.b32 {%low_half, %high_half}, %pair2;\n"
                                 "cvt.f32.f16 %low, %low_half;\n"
                                 "cvt.f32.f16 %high, %high_half;\n"
                                 "use %low, %high;\n");
}

static void declare(struct lt_builder *b, lt_value packed[4])
{
    packed[0] = lt_variable(b, LT_B32, "r0a");
    packed[1] = lt_variable(b, LT_B32, "r1a");
    packed[2] = lt_variable(b, LT_B32, "r2a");
    packed[3] = lt_variable(b, LT_B32, "r3a");
}

static void matrices_are_stored_and_read_two_or_four_at_a_time(void **state)
{
    struct lt_builder *b = *state;
    lt_value row = lt_variable(b, LT_B32, "row"), packed[4];

    declare(b, packed);
    lt_stmatrix(b, lt_at(row, 8192), packed, 4);
    lt_stmatrix(b, row, packed, 2);
    lt_ldmatrix(b, row, packed, 4);
    lt_ldmatrix(b, row, packed, 2);

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%row+8192], {%r0a, %r1a, %r2a, %r3a};\n"
        "stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%row], {%r0a, %r1a};\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r0a, %r1a, %r2a, %r3a}, [%row];\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r0a, %r1a}, [%row];\n");
}

static void other_numbers_of_matrices_are_mistakes(void **state)
{
    struct lt_builder *b = *state;
    lt_value row = lt_variable(b, LT_B32, "row"), packed[4];

    declare(b, packed);
    lt_ldmatrix(b, row, packed, 3);

    assert_mistake(b, "ldmatrix and stmatrix are used with 2 or 4 matrices here, not 3");
}

static void stmatrix_is_refused_where_the_target_lacks_it(void **state)
{
    (void)state;
    struct lt_builder *b = kernel_for(LATHE_SM_89, true, NULL);
    lt_value row = lt_variable(b, LT_B32, "row"), packed[4];

    declare(b, packed);
    lt_ldmatrix(b, row, packed, 4); /* every target has it */
    assert_no_mistake(b);
    lt_stmatrix(b, row, packed, 4);

    assert_mistake(b, "stmatrix needs sm_90a, sm_100a, sm_103a, sm_110a or sm_120a; this kernel is "
                      "for sm_89");
    lt_builder_destroy(&b);
}

static void two_neighbouring_floats_move_together(void **state)
{
    struct lt_builder *b = *state;
    lt_value row = lt_variable(b, LT_B32, "row");
    lt_value left = lt_variable(b, LT_F32, "left"), right = lt_variable(b, LT_F32, "right");

    lt_load_pair(b, lt_at(row, 1024), left, right);
    lt_store_pair(b, row, left, right);

    assert_no_mistake(b);
    assert_ends_with(written(b), "ld.shared.v2.f32 {%left, %right}, [%row+1024];\n"
                                 "st.shared.v2.f32 [%row], {%left, %right};\n");
}

static void sixteen_bytes_come_at_once_and_go_element_by_element(void **state)
{
    struct lt_builder *b = *state;
    struct lt_vector kept = lt_vector(b, LT_B32, "kept", 4);
    lt_value to = lt_variable(b, LT_B64, "to"), half = lt_variable(b, LT_B16, "half");

    lt_load_quad(b, lt_at(lt_variable(b, LT_B32, "from"), 8192), &kept);
    lt_store_global(b, LATHE_F32, lt_at(to, 4), lt_element(&kept, 1));
    lt_store_global(b, LATHE_BF16, to, half);

    assert_no_mistake(b);
    assert_ends_with(written(b),
                     "ld.shared.v4.b32 {%kept0, %kept1, %kept2, %kept3}, [%from+8192];\n"
                     "st.b32 [%to+4], %kept1;\n"
                     "st.b16 [%to], %half;\n");
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_kernel(the_low_float_goes_to_the_low_half),
        in_kernel(halves_of_f16_are_taken_apart_and_converted),
        in_kernel(halves_of_bf16_are_the_upper_bits_of_floats),
        in_kernel(two_sums_are_two_floats_or_two_halves_of_a_register),
        in_kernel(matrices_are_stored_and_read_two_or_four_at_a_time),
        in_kernel(other_numbers_of_matrices_are_mistakes),
        cmocka_unit_test(stmatrix_is_refused_where_the_target_lacks_it),
        in_kernel(two_neighbouring_floats_move_together),
        in_kernel(sixteen_bytes_come_at_once_and_go_element_by_element),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
