/* Elements as f32 and back to f16: all of them. */
#include "emulator/mma_element.h"
#include "tests/emulator/matrix.h"
#include "tests/support/cmocka_all.h"

static void assert_widens(enum emu_type type, uint32_t bits)
{
    double value = value_of(type, bits);
    float real = emu_float_of_element(type, bits);

    if (isnan(value))
        assert_true(isnan(real));
    else
        assert_true((double)real == value && !signbit(real) == !signbit(value));
}

static void all_elements_widen_to_their_value(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        assert_widens(EMU_F16, bits);
        assert_widens(EMU_BF16, bits);
        /* Of tf32 all that it keeps, and others below. */
        for (uint32_t low = 0; low < 0x10000; low += 0x1000)
            assert_widens(EMU_TF32, bits << 16 | low | (bits & 0xfff));
    }
    for (uint32_t bits = 0; bits < 0x100; bits++) {
        assert_widens(EMU_E4M3, bits);
        assert_widens(EMU_E5M2, bits);
    }
}

/* Both sides of the middle of any two neighbours, and the middle, which goes to the even one. */
static void all_of_f16_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++)
        for (int negative = 0; negative < 2; negative++) {
            uint32_t sign = negative ? 0x8000 : 0, even = bits + (bits & 1);
            double low = value_of(EMU_F16, bits), high = value_of(EMU_F16, bits + 1);
            double s = negative ? -1 : 1;

            /* After the largest comes what would be 2^16. */
            high = isinf(high) ? 65536 : high;

            double middle = (low + high) / 2;

            assert_int_equal(emu_f16_of(s * low), sign | bits);
            assert_int_equal(emu_f16_of(s * nextafter(middle, 0)), sign | bits);
            assert_int_equal(emu_f16_of(s * middle), sign | even);
            assert_int_equal(emu_f16_of(s * nextafter(middle, 1e9)), sign | (bits + 1));
        }
    assert_int_equal(emu_f16_of(1e300), 0x7c00);
    assert_int_equal(emu_f16_of((double)-INFINITY), 0xfc00);
    assert_int_equal(emu_f16_of((double)NAN), 0x7fff);
    assert_int_equal(emu_f16_of(-(double)NAN), 0x7fff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_elements_widen_to_their_value),
        cmocka_unit_test(all_of_f16_rounds_to_nearest_even),
    };

    return cmocka_run_group_tests_name("emulator elements", tests, NULL, NULL);
}
