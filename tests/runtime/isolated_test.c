/* One launch by itself: the kernel that spins, on the emulator; when the host is late, on the stub;
 * and which sets of buffers launches take. */
#include "runtime/isolated.h"

#include "codegen/status.h"
#include "tests/runtime/fixture.h"

#include <stdlib.h>
#include <time.h>

static void the_kernel_spins_and_ends(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_stream stream = {.device = NULL};
    struct lt_spin spin = {.stream = NULL};

    setenv("LATHE_EMU_LIBRARY", EMULATOR_PATH, 1);
    f->options.emulator = LATHE_EMULATOR_ALWAYS;
    f->options.emulated_arch = LATHE_SM_90A;
    runtime_again(f);
    unsetenv("LATHE_EMU_LIBRARY");
    assert_status(f, lt_stream_open(&stream, f->context, &f->error), LATHE_OK);
    assert_status(f, lt_spin_open(&spin, &stream, &f->error), LATHE_OK);
    assert_status(f, lt_spin_launch(&spin, 0, &f->error), LATHE_OK);
    assert_status(f, lt_spin_launch(&spin, 20, &f->error), LATHE_OK);
    assert_status(f, lt_stream_wait(&stream, &f->error), LATHE_OK);
    lt_spin_close(&spin);
    lt_stream_close(&stream);
}

static void a_driver_that_cannot_compile_it_says_so(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_stream stream = {.device = NULL};
    struct lt_spin spin = {.stream = NULL};

    assert_status(f, lt_stream_open(&stream, f->context, &f->error), LATHE_OK);
    f->stub.fail_call("cuModuleLoadData", 218, 0, 1);
    assert_status(f, lt_spin_open(&spin, &stream, &f->error), LATHE_DRIVER_FAILED);
    assert_message(f, "cuModuleLoadData of a kernel that spins: CUDA_ERROR_INVALID_PTX");
    f->stub.fail_call("cuModuleGetFunction", 500, 0, 1);
    assert_status(f, lt_spin_open(&spin, &stream, &f->error), LATHE_DRIVER_FAILED);
    assert_int_equal(f->stub.live(STUB_MODULE), 0);
    lt_spin_close(&spin);
    lt_stream_close(&stream);
}

/* ---- Launches ---- */

/* Who launched on which set, in their order. */
struct diary {
    int wait_us; /* how long the host takes for a launch */
    int count, contenders[64], indices[64];
};

struct writer {
    struct diary *diary;
    int contender;
};

static enum lathe_status write_down(void *user, int index, struct lathe_error *err)
{
    const struct writer *writer = user;
    struct diary *diary = writer->diary;
    struct timespec wait = {.tv_nsec = diary->wait_us * 1000L};

    if (diary->count == 64)
        return lt_fail(err, LATHE_INTERNAL, "more launches than were asked for");
    diary->contenders[diary->count] = writer->contender;
    diary->indices[diary->count++] = index;
    nanosleep(&wait, NULL);
    return LATHE_OK;
}

/* Two contenders, so many sets; how long the kernel spun in the end. */
static double take(struct runtime_fixture *f, struct diary *diary, int sets, struct lt_times *times)
{
    struct writer writers[] = {{diary, 0}, {diary, 1}};
    struct lt_contender contenders[] = {{.enqueue = write_down, .user = &writers[0]},
                                        {.enqueue = write_down, .user = &writers[1]}};
    struct lt_stream stream = {.device = NULL};
    struct lt_spin spin = {.stream = NULL};
    struct lt_turns turns = {.stream = &stream, .contenders = contenders, .count = 2, .sets = sets};
    double spin_us = 0;

    assert_status(f, lt_stream_open(&stream, f->context, &f->error), LATHE_OK);
    assert_status(f, lt_spin_open(&spin, &stream, &f->error), LATHE_OK);
    assert_status(f, lt_isolated_take(&turns, &spin, times, &spin_us, &f->error), LATHE_OK);
    assert_int_equal(f->stub.launches(), diary->count);
    assert_string_equal(f->stub.launch_at(0)->kernel, "lathe_spin");
    assert_int_equal(f->stub.live(STUB_EVENT), 0);
    lt_spin_close(&spin);
    lt_stream_close(&stream);
    return spin_us;
}

static void contenders_take_turns(void **state)
{
    int last = -1, changes = 0;
    struct runtime_fixture *f = *state;
    struct lt_times times = {.allocator = NULL};
    struct diary diary = {.wait_us = 0};

    setenv("STUB_ELAPSED_US", "7", 1);
    f->stub.reset();
    assert_status(f, lt_times_create(&times, 2, 3, NULL, &f->error), LATHE_OK);
    take(f, &diary, 2, &times);
    unsetenv("STUB_ELAPSED_US");
    /* A B B A A B, but a host that is late launches once more. */
    for (int i = 0; i < diary.count; last = diary.contenders[i++]) {
        changes += diary.contenders[i] != last;
        assert_true(i == 0 || diary.indices[i] > diary.indices[i - 1]);
    }
    assert_true(diary.count >= 6 && diary.contenders[0] == 0);
    assert_int_equal(changes, 4);
    for (int i = 0; i < 6; i++)
        assert_true(times.us[i] > 6.9 && times.us[i] < 7.1);
    lt_times_destroy(&times);
}

static void a_late_host_makes_the_kernel_spin_longer(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_times times = {.allocator = NULL};
    struct diary diary = {.wait_us = 150};

    assert_status(f, lt_times_create(&times, 2, 3, NULL, &f->error), LATHE_OK);
    assert_true(take(f, &diary, 2, &times) >= 400);
    assert_true(diary.count >= 6 + 3);
    assert_int_equal(diary.contenders[3], 0); /* the first was late three times */
    lt_times_destroy(&times);
}

static void a_host_that_is_too_late_is_waited_for_no_more(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_times times = {.allocator = NULL};
    struct diary diary = {.wait_us = 2000};

    assert_status(f, lt_times_create(&times, 2, 1, NULL, &f->error), LATHE_OK);
    assert_true(take(f, &diary, 2, &times) == 1600);
    assert_int_equal(diary.count, 2 + 5);
    lt_times_destroy(&times);
}

/* Each contender meets all sets, and no set comes again before half of them have passed. */
static void launches_go_through_all_sets(void **state)
{
    (void)state;
    for (int contenders = 2; contenders <= 3; contenders++)
        for (int sets = 3; sets <= 40; sets++) {
            int stride = lt_isolated_stride(contenders, sets);
            bool met[40] = {false};

            assert_true(stride >= 2 * contenders && 2 * (stride - 2 * contenders) < sets);
            for (int pair = 0; pair < sets; pair++)
                met[pair * stride % sets] = true;
            for (int set = 0; set < sets; set++)
                assert_true(met[set]);
        }
    assert_int_equal(lt_isolated_stride(2, 2), 4); /* both meet both as it is */
    assert_int_equal(lt_isolated_stride(2, 1), 4);
    assert_int_equal(lt_isolated_stride(1, 6), 2);
}

/* ---- What times come to ---- */

static void figures_are_medians_and_ratios(void **state)
{
    struct runtime_fixture *f = *state;
    struct lt_times times = {.allocator = NULL};
    static const double us[3][3] = {{2, 2, 4}, {4, 6, 8}, {1, 1, 2}};

    assert_status(f, lt_times_create(&times, 3, 3, NULL, &f->error), LATHE_OK);
    for (int row = 0; row < 3; row++)
        for (int round = 0; round < 3; round++)
            lt_times_set(&times, row, round, us[row][round]);

    struct lathe_bench_figures plan = lt_times_figures(&times, 0, 1, 1);
    struct lathe_bench_figures first = lt_times_figures(&times, 1, 1, 1);
    struct lathe_bench_figures second = lt_times_figures(&times, 2, 1, 1);

    assert_true(plan.time_us == 2 && plan.ratio == 2);
    assert_true(first.time_us == 6 && first.ratio == 2 && first.ratio_low == 2 &&
                first.ratio_high == 3);
    assert_true(second.time_us == 1 && second.ratio == 0.5);
    assert_true(lt_times_figures(&times, 0, 3, 1).ratio == 0);
    lt_times_destroy(&times);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RUNTIME_TEST(the_kernel_spins_and_ends),
        RUNTIME_TEST(a_driver_that_cannot_compile_it_says_so),
        RUNTIME_TEST(contenders_take_turns),
        RUNTIME_TEST(a_late_host_makes_the_kernel_spin_longer),
        RUNTIME_TEST(a_host_that_is_too_late_is_waited_for_no_more),
        RUNTIME_TEST(launches_go_through_all_sets),
        RUNTIME_TEST(figures_are_medians_and_ratios),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
