/* NVML, played by a stub: which GPU is asked, what is missing; and whose block a sample falls in.
 */
#include "runtime/clocks.h"

#include "tests/runtime/fixture.h"

#include <stdlib.h>

static int set_up(void **state)
{
    unsetenv("STUB_NVML_FAIL");
    unsetenv("STUB_NVML_DEVICES");
    return runtime_set_up(state);
}

#define CLOCKS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, runtime_tear_down)

/* The GPU with this number, of two. */
static const struct lt_device *device(struct runtime_fixture *f, int ordinal)
{
    const struct lt_device *opened = NULL;

    setenv("STUB_NVML_DEVICES", "2", 1);
    f->stub.set_device_count(2);
    f->options.device = ordinal + 1;
    runtime_again(f);
    assert_status(f, lt_context_probe(f->context, &opened, &f->error), LATHE_OK);
    return opened;
}

static void assert_asks_second_gpu(struct runtime_fixture *f)
{
    struct lt_nvml nvml;
    struct lt_clock_sample sample;

    assert_status(f, lt_nvml_open(&nvml, device(f, 1), STUB_NVML_PATH, &f->error), LATHE_OK);
    assert_true(lt_nvml_read(&nvml, &sample));
    assert_true(sample.sm_mhz == 1002 && sample.power_w == 302 && sample.temperature_c == 42);
    lt_nvml_close(&nvml);
}

static void a_gpu_is_found_by_its_bus(void **state)
{
    assert_asks_second_gpu(*state);
}

static void a_gpu_is_found_by_its_uuid(void **state)
{
    setenv("STUB_NVML_FAIL", "nvmlDeviceGetHandleByPciBusId_v2", 1);
    assert_asks_second_gpu(*state);
}

static void a_gpu_that_nvml_does_not_show_is_named(void **state)
{
    struct runtime_fixture *f = *state;
    const struct lt_device *second = device(f, 1);
    struct lt_nvml nvml;

    setenv("STUB_NVML_DEVICES", "1", 1);
    assert_status(f, lt_nvml_open(&nvml, second, STUB_NVML_PATH, &f->error), LATHE_NO_DEVICE);
    assert_message(f, "NVML does not show GPU 1: Not Found (6)");
}

static void without_the_library_it_says_what_was_looked_for(void **state)
{
    struct runtime_fixture *f = *state;
    const struct lt_device *first = device(f, 0);
    struct lt_nvml nvml;

    assert_status(f, lt_nvml_open(&nvml, first, "/nonexistent/libnothing.so", &f->error),
                  LATHE_NO_LIBRARY);
    assert_message(f, "no NVML: /nonexistent/libnothing.so");
    assert_status(f, lt_nvml_open(&nvml, first, STUB_DRIVER_PATH, &f->error), LATHE_NO_LIBRARY);
    assert_message(f, "it has no nvmlInit_v2");
}

static void what_a_gpu_does_not_tell_is_zero(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_nvml nvml;
    struct lt_clock_sample sample;

    assert_status(f, lt_nvml_open(&nvml, device(f, 0), STUB_NVML_PATH, &f->error), LATHE_OK);
    setenv("STUB_NVML_FAIL", "nvmlDeviceGetPowerUsage", 1);
    assert_true(lt_nvml_read(&nvml, &sample));
    assert_true(sample.sm_mhz == 1001 && sample.power_w == 0 && sample.temperature_c == 41);
    setenv("STUB_NVML_FAIL", "nvmlDeviceGetClockInfo", 1);
    assert_false(lt_nvml_read(&nvml, &sample));
    lt_nvml_close(&nvml);
}

/* ---- Samples ---- */

static void the_thread_takes_a_sample_at_once(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_clocks clocks = {.allocator = NULL};
    struct lt_turn all_time = {.contender = 0, .begin_us = 0, .end_us = 1e300};
    struct lathe_bench_clocks medians;

    lt_clocks_open(&clocks, device(f, 0), STUB_NVML_PATH, lt_context_allocator(f->context));
    for (int i = 0; i < 2; i++) { /* it can begin anew */
        lt_clocks_start(&clocks);
        lt_clocks_stop(&clocks);
        medians = lt_clocks_of(&clocks, &all_time, 1, 0);
        assert_true(medians.samples >= 1);
        assert_true(medians.sm_mhz == 1001);
    }
    lt_clocks_close(&clocks);
}

static void without_nvml_there_are_no_samples(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_clocks clocks = {.allocator = NULL};
    struct lathe_bench_clocks medians;

    lt_clocks_open(&clocks, device(f, 0), "/nonexistent/libnothing.so",
                   lt_context_allocator(f->context));
    lt_clocks_start(&clocks);
    lt_clocks_stop(&clocks);
    medians = lt_clocks_of(&clocks, NULL, 0, -1);
    assert_int_equal(medians.samples, 0);
    lt_clocks_close(&clocks);
}

static void a_sample_belongs_to_the_block_that_ran(void **state)
{
    (void)state;
    const struct lt_turn taken[] = {
        {.contender = 0, .begin_us = 0, .end_us = 10},
        {.contender = 1, .begin_us = 11, .end_us = 20},
        {.contender = 1, .begin_us = 21, .end_us = 30},
        {.contender = 0, .begin_us = 31, .end_us = 40},
    };
    struct lt_clock_sample samples[] = {
        {5, 1500, 100, 50},  {10.5, 9, 9, 9},     {15, 1400, 200, 52}, {25, 1300, 300, 54},
        {35, 1600, 150, 51}, {38, 1700, 160, 51}, {50, 9, 9, 9},
    };
    double scratch[7];
    const struct lt_clocks clocks = {.samples = samples, .scratch = scratch, .count = 7};
    struct lathe_bench_clocks medians = lt_clocks_of(&clocks, taken, 4, 0);

    assert_int_equal(medians.samples, 3);
    assert_true(medians.sm_mhz == 1600 && medians.power_w == 150 && medians.temperature_c == 51);
    medians = lt_clocks_of(&clocks, taken, 4, 1);
    assert_int_equal(medians.samples, 2);
    assert_true(medians.sm_mhz == 1350);
    medians = lt_clocks_of(&clocks, taken, 4, -1);
    assert_int_equal(medians.samples, 5);
    assert_true(medians.sm_mhz == 1500);
}

static void clocks_differ_beyond_one_and_a_half_per_cent(void **state)
{
    (void)state;
    struct lathe_bench_clocks clocks[] = {
        {3, 1000, 0, 0}, {3, 1014, 0, 0}, {2, 2000, 0, 0}, {3, 0, 0, 0}};

    assert_false(lt_clocks_differ(clocks, 4)); /* two samples are too few, 0 MHz is no clock */
    clocks[1].sm_mhz = 1016;
    assert_true(lt_clocks_differ(clocks, 4));
    assert_false(lt_clocks_differ(clocks, 1));
    assert_false(lt_clocks_differ(clocks, 0));
}

static void the_peak_is_the_data_sheets(void **state)
{
    (void)state;
    double peak = lt_peak_tflops(LATHE_SM_90A, LATHE_BF16, 132, 1830);

    assert_true(peak > 989.3 && peak < 989.5);
    assert_true(lt_peak_tflops(LATHE_SM_90A, LATHE_F16, 132, 1830) == peak);
    assert_true(lt_peak_tflops(LATHE_SM_90A, LATHE_E4M3, 132, 1830) == 0);
    assert_true(lt_peak_tflops(LATHE_SM_100A, LATHE_BF16, 148, 1830) == 0);
    assert_true(lt_peak_tflops(LATHE_SM_90A, LATHE_BF16, 132, 0) == 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CLOCKS_TEST(a_gpu_is_found_by_its_bus),
        CLOCKS_TEST(a_gpu_is_found_by_its_uuid),
        CLOCKS_TEST(a_gpu_that_nvml_does_not_show_is_named),
        CLOCKS_TEST(without_the_library_it_says_what_was_looked_for),
        CLOCKS_TEST(what_a_gpu_does_not_tell_is_zero),
        CLOCKS_TEST(the_thread_takes_a_sample_at_once),
        CLOCKS_TEST(without_nvml_there_are_no_samples),
        cmocka_unit_test(a_sample_belongs_to_the_block_that_ran),
        cmocka_unit_test(clocks_differ_beyond_one_and_a_half_per_cent),
        cmocka_unit_test(the_peak_is_the_data_sheets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
