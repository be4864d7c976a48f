/* Lanes of a warp that come to an instruction with .sync by different ways: at two places of the
 * text, in two calls, or not at all. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

/* Odd lanes go by one way and even ones by the other. */
#define TWO_WAYS(odd, even)                                                                        \
    "mov.u32 %r2, %tid.x;\nadd.u32 %r0, %r2, 1000;\nand.b32 %r3, %r2, 1;\n"                        \
    "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra EVEN;\n" odd "\nbra JOIN;\nEVEN:\n" even "\nJOIN:\n"

static void expect(const char *text, uint32_t (*value)(uint32_t lane))
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 1, 64, 0, 0);
        for (uint32_t i = 0; i < 64; i++)
            if (t.words[i] != value(i % 32) + i / 32 * 32)
                fail_msg("thread %u has %u, not %u", i, t.words[i], value(i % 32) + i / 32 * 32);
        trial_free(&t);
    }
}

static uint32_t neighbour(uint32_t lane)
{
    return 1000 + (lane ^ 1);
}

static void values_go_from_the_one_place_to_the_other(void **state)
{
    (void)state;

    expect(KERNEL(TWO_WAYS("shfl.sync.bfly.b32 %r4, %r0, 1, 31, 0xffffffff;",
                           "shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;") STORE_BY_THREAD("%r4")),
           neighbour);
    expect(KERNEL(TWO_WAYS("mov.u32 %r5, 0xffffffff;\nmov.u32 %r6, %r0;\n"
                           "shfl.sync.bfly.b32 %r7|%p2, %r6, 1, 31, %r5;\nmov.u32 %r4, %r7;",
                           "shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;") STORE_BY_THREAD("%r4")),
           neighbour);
}

/* Three instructions in each way, of which each has to be done for all before the next. */
static void one_meeting_comes_after_the_other(void **state)
{
    (void)state;

    expect(KERNEL(TWO_WAYS("shfl.sync.bfly.b32 %r4, %r0, 2, 31, -1;\nbar.warp.sync -1;\n"
                           "shfl.sync.bfly.b32 %r4, %r4, 3, 31, -1;",
                           "shfl.sync.bfly.b32 %r4, %r0, 2, 31, -1;\nbar.warp.sync -1;\n"
                           "shfl.sync.bfly.b32 %r4, %r4, 3, 31, -1;") STORE_BY_THREAD("%r4")),
           neighbour);
}

/* The one way says p, and the other not q. */
static void a_predicate_may_be_negated_in_one_of_them(void **state)
{
    (void)state;
    struct trial t =
        trial_make(KERNEL(TWO_WAYS("setp.eq.u32 %p2, %r3, 1;\nvote.sync.ballot.b32 %r4, %p2, -1;",
                                   "setp.eq.u32 %p3, %r3, 0;\nvote.sync.ballot.b32 %r4, !%p3, -1;")
                              STORE_BY_THREAD("%r4")),
                   1);

    trial_expect_done(&t, 1, 64, 0, 0);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(t.words[i], 0xaaaaaaaa);
    trial_free(&t);
}

static uint32_t sum_of_first_four(uint32_t lane)
{
    return lane < 4 ? 6 : lane;
}

/* Only lanes of the membermask have to come. */
static void lanes_outside_of_the_membermask_do_not_matter(void **state)
{
    (void)state;

    expect(KERNEL("mov.u32 %r2, %tid.x;\nand.b32 %r1, %r2, 31;\nsub.u32 %r6, %r2, %r1;\n"
                  "mov.u32 %r4, %r2;\nsetp.ge.u32 %p0, %r1, 4;\n@%p0 bra JOIN;\n"
                  "and.b32 %r3, %r2, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra EVEN;\n"
                  "redux.sync.add.u32 %r5, %r1, 15;\nadd.u32 %r4, %r5, %r6;\nbra JOIN;\n"
                  "EVEN:\nredux.sync.add.u32 %r5, %r1, 15;\nadd.u32 %r4, %r5, %r6;\nJOIN:\n" //
                  STORE_BY_THREAD("%r4")),
           sum_of_first_four);
}

/* As code without optimisation has it: the instruction in a function, called from both ways. */
static void calls_meet_each_other(void **state)
{
    (void)state;

    expect(KERNEL_WITH(".func (.param .b32 got) swap(.param .b32 given)\n{\n.reg .b32 %a<2>;\n"
                       "ld.param.u32 %a0, [given];\n"
                       "shfl.sync.bfly.b32 %a1, %a0, 1, 31, -1;\n"
                       "st.param.b32 [got], %a1;\nret;\n}\n",
                       TWO_WAYS("{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r0;\n"
                                "call (y), swap, (x);\nld.param.b32 %r4, [y];\n}\n",
                                "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r0;\n"
                                "call (y), swap, (x);\nld.param.b32 %r4, [y];\n}\n")
                           STORE_BY_THREAD("%r4")),
           neighbour);
}

/* Whoever comes last: what a register holds that nobody has written does not pass. */
static void who_meets_is_looked_at(void **state)
{
    (void)state;
    static const char *const texts[] = {
        KERNEL(TWO_WAYS("shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;",
                        "shfl.sync.bfly.b32 %r4, %r20, 1, 31, -1;")),
        KERNEL(TWO_WAYS("shfl.sync.bfly.b32 %r4, %r20, 1, 31, -1;",
                        "shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;")),
    };
    const struct emu_check_options options = {.is_on = true};

    for (size_t i = 0; i < 2; i++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct trial t = trial_make(texts[i], seed);

            assert_true(emu_device_set_check(t.device, &options));
            assert_int_equal(trial_run(&t, 1, 32, 0, 0), EMU_FOUND);
            trial_free(&t);
        }
}

static void expect_stuck(const char *text)
{
    struct trial t = trial_make(text, 1);

    assert_int_equal(trial_run(&t, 1, 32, 0, 0), EMU_DEADLOCK);
    trial_free(&t);
}

static void what_differs_does_not_meet(void **state)
{
    (void)state;

    expect_stuck(KERNEL(TWO_WAYS("shfl.sync.up.b32 %r4, %r0, 1, 0, -1;",
                                 "shfl.sync.down.b32 %r4, %r0, 1, 31, -1;")));
    expect_stuck(KERNEL(TWO_WAYS("shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;", "bar.warp.sync -1;")));
    expect_stuck(KERNEL(TWO_WAYS("bar.warp.sync -1;", "bar.warp.sync 0x5555ffff;\n"
                                                      "bar.warp.sync 0x5555fffd;")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_from_the_one_place_to_the_other),
        cmocka_unit_test(a_predicate_may_be_negated_in_one_of_them),
        cmocka_unit_test(one_meeting_comes_after_the_other),
        cmocka_unit_test(lanes_outside_of_the_membermask_do_not_matter),
        cmocka_unit_test(calls_meet_each_other),
        cmocka_unit_test(who_meets_is_looked_at),
        cmocka_unit_test(what_differs_does_not_meet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
