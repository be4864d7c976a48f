/* setmaxnreg: registers that warps of a CTA give to each other. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#define BOUNDS ".maxntid 256, 1, 1 .minnctapersm 2"

enum { SEEDS = 12, BLOCK = 256 };

/* Two warpgroups: the first gives back, the second takes. */
#define TWO_ROLES(bounds, gives, takes)                                                            \
    ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) " bounds   \
    "\n{\n.reg .b32 %r<4>;\n.reg .pred %p0;\nmov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 128;\n"   \
    "@%p0 bra FIRST;\nsetmaxnreg.inc.sync.aligned.u32 " takes ";\nret;\nFIRST:\n"                  \
    "setmaxnreg.dec.sync.aligned.u32 " gives ";\nret;\n}\n"

static void what_one_gives_the_other_takes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(TWO_ROLES(".maxnreg 128", "24", "232"), seed);

        trial_expect_done(&t, 2, BLOCK, 0, 0);
        trial_free(&t);
    }
}

static void who_takes_more_than_there_is_waits_forever(void **state)
{
    (void)state;
    const char *const words[] = {"deadlock", "setmaxnreg", "waits for 240 registers a thread",
                                 "it has 128", NULL};
    struct trial t = trial_make(TWO_ROLES(".maxnreg 128", "24", "240"), 1);

    trial_expect_fault(&t, 1, BLOCK, 0, EMU_DEADLOCK, words);
    trial_free(&t);
}

/* 65536 registers for twice 256 threads: at most 128 for each. */
static void the_bounds_of_the_launch_tell_how_many_there_may_be(void **state)
{
    (void)state;
    const char *const words[] = {"waits for 240 registers a thread", "it has 128", NULL};
    struct trial t = trial_make(TWO_ROLES(BOUNDS, "24", "240"), 1);

    trial_expect_fault(&t, 1, BLOCK, 0, EMU_DEADLOCK, words);
    trial_free(&t);
    /* There may be fewer, so this is no mistake. */
    t = trial_make(TWO_ROLES(BOUNDS, "24", "120"), 1);
    trial_expect_done(&t, 1, BLOCK, 0, 0);
    trial_free(&t);
}

static void giving_back_is_no_taking(void **state)
{
    (void)state;
    const char *const words[] = {"setmaxnreg.inc", "24 registers a thread, and it has 128", NULL};
    struct trial t = trial_make(TWO_ROLES(".maxnreg 128", "24", "24"), 1);

    trial_expect_fault(&t, 1, BLOCK, 0, EMU_ILLEGAL_INSTRUCTION, words);
    trial_free(&t);
}

static void without_bounds_nobody_knows_and_nobody_waits(void **state)
{
    (void)state;
    struct trial t = trial_make(TWO_ROLES("", "24", "240"), 1);

    trial_expect_done(&t, 1, BLOCK, 0, 0);
    trial_free(&t);
}

static void other_numbers_are_refused(void **state)
{
    (void)state;
    trial_refused(TWO_ROLES(".maxnreg 128", "16", "240"));
    trial_refused(TWO_ROLES(".maxnreg 128", "24", "264"));
    trial_refused(TWO_ROLES(".maxnreg 128", "24", "236"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_gives_the_other_takes),
        cmocka_unit_test(who_takes_more_than_there_is_waits_forever),
        cmocka_unit_test(the_bounds_of_the_launch_tell_how_many_there_may_be),
        cmocka_unit_test(giving_back_is_no_taking),
        cmocka_unit_test(without_bounds_nobody_knows_and_nobody_waits),
        cmocka_unit_test(other_numbers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
