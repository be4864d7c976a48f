/* Accumulators of a wgmma in flight: whoever touches one finds it written, and nothing else is done
 * any sooner for that. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

enum { SEEDS = 40, THREADS = 128, ONES = 16, NINE = 9 };

/* Shared memory full of ones of f16, as A and B of any layout; %d0 describes it. */
#define BEGIN                                                                                      \
    ".shared .align 128 .b8 ones[2048];\n.reg .f32 %g<4>;\n"                                       \
    "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 4;\nmov.u32 %r2, ones;\nadd.u32 %r3, %r2, %r1;\n"     \
    "mov.u32 %r4, 0x3c003c00;\nst.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};\n"                    \
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n"                                                \
    "and.b32 %r5, %r2, 0x3ffff;\nshr.u32 %r5, %r5, 4;\ncvt.u64.u32 %d0, %r5;\n"                    \
    "wgmma.fence.sync.aligned;\n"
#define MULTIPLY(d)                                                                                \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" d "0, " d "1, " d "2, " d                \
    "3}, %d0, %d0, 1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
#define STORE(reg) "cvt.rni.u32.f32 %r6, " reg ";\n" STORE_BY_THREAD("%r6")
#define WAIT "wgmma.wait_group.sync.aligned 0;\n"

/* How many of the seeds give every thread that word. */
static int count_right(const char *text, uint32_t word)
{
    int right = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);
        bool all = true;

        trial_expect_done(&t, 1, THREADS, 0, 0);
        for (int i = 0; i < THREADS; i++)
            all = all && t.words[i] == word;
        right += all;
        trial_free(&t);
    }
    return right;
}

static void one_that_is_read_has_been_written(void **state)
{
    (void)state;
    const char *text = KERNEL(BEGIN MULTIPLY("%f") MULTIPLY("%f") STORE("%f3") WAIT);

    assert_int_equal(count_right(text, 2 * ONES), SEEDS);
}

static void one_that_is_written_keeps_what_it_got_last(void **state)
{
    (void)state;
    const char *text = KERNEL(BEGIN MULTIPLY("%f") "mov.f32 %f2, 0f41100000;\n" WAIT STORE("%f2"));

    assert_int_equal(count_right(text, NINE), SEEDS);
}

/* The second still reads its operands late: a kernel that spoils them is wrong for some seed. */
static void other_multiplications_stay_in_flight(void **state)
{
    (void)state;
#define SPOILING(wait)                                                                             \
    KERNEL(BEGIN MULTIPLY("%f")                                                                    \
               MULTIPLY("%g") "add.f32 %f0, %f0, %f1;\n" wait                                      \
                              "bar.sync 0;\nst.shared.b32 [%r3], 0;\n" WAIT STORE("%g0"))
    int right = count_right(SPOILING(""), ONES);

    assert_true(right < SEEDS);
    assert_int_equal(count_right(SPOILING(WAIT), ONES), SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_read_has_been_written),
        cmocka_unit_test(one_that_is_written_keeps_what_it_got_last),
        cmocka_unit_test(other_multiplications_stay_in_flight),
    };

    return cmocka_run_group_tests_name("accumulators", tests, NULL, NULL);
}
