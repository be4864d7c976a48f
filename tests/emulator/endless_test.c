/* Loops that never end are told of, and no loop that ends is. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

/* Each goes round for ever, from the label `again`. */
static const char *const endless[] = {
    KERNEL("again: bra again;\n"),
    KERNEL("setp.ne.u32 %p0, 0, 0;\nagain: @!%p0 bra again;\n"),
    /* What is computed is the same each time, or one of a few. */
    KERNEL("again: add.u32 %r1, %r2, 1;\nmov.u32 %r3, %laneid;\nsetp.eq.u32 %p0, %r1, 1;\n"
           "@%p0 bra again;\n"),
    KERNEL("again: xor.b32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 2;\n@%p0 bra again;\n"),
    KERNEL("again: add.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 15;\nbra again;\n"),
    /* Branches on the way, and one lane alone, while others have gone on. */
    KERNEL("again: @%p0 bra end;\n@!%p0 bra near;\nst.global.u32 [%out], 1;\n"
           "near: bra again;\nend:\n"),
    KERNEL("mov.u32 %r1, %laneid;\nsetp.eq.u32 %p0, %r1, 3;\nagain: @%p0 bra again;\n"),
};

/* Each ends, some late, and some by what another warp or the time does. */
static const char *const ending[] = {
    KERNEL("again: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 200000;\n@%p0 bra again;\n"),
    KERNEL("again: add.u32 %r1, %r1, 1;\nand.b32 %r1, %r1, 0x3ffff;\nsetp.ne.u32 %p0, %r1, 0;\n"
           "@%p0 bra again;\n"),
    KERNEL("again: mov.u64 %d1, %clock64;\nsetp.lt.u64 %p0, %d1, 1000000;\n@%p0 bra again;\n"),
    KERNEL("mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra poll;\n"
           "count: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 150000;\n@%p0 bra count;\n"
           "st.volatile.global.u32 [%out], 1;\nbra end;\n"
           "poll: ld.volatile.global.u32 %r3, [%out];\nsetp.ne.u32 %p0, %r3, 1;\n"
           "@%p0 bra poll;\nend:\n"),
    /* The condition code is a register that the text does not name. */
    KERNEL("mov.u32 %r1, 0xfff00000;\nagain: add.cc.u32 %r1, %r1, 1;\naddc.u32 %r2, 0, 0;\n"
           "setp.eq.u32 %p0, %r2, 0;\n@%p0 bra again;\n"),
    /* Until all lanes are there. */
    KERNEL("mov.u32 %r1, %laneid;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra slow;\n"
           "meet: activemask.b32 %r4;\nsetp.ne.u32 %p0, %r4, 0xffffffff;\n@%p0 bra meet;\n"
           "bra end;\nslow: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 100000;\n"
           "@%p0 bra slow;\nbra meet;\nend:\n"),
};

static void a_loop_that_never_ends_is_told_of(void **state)
{
    static const char *const words[] = {"CTA (0,0,0) warp ", "bra",
                                        "goes round for ever: nothing changes in the loop", NULL};

    (void)state;
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct trial trial = trial_make(endless[i], seed);

            trial_expect_fault(&trial, 1, 64, 0, EMU_OUT_OF_STEPS, words);
            trial_free(&trial);
        }
}

static void a_loop_that_ends_is_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            struct trial trial = trial_make(ending[i], seed);

            trial_expect_done(&trial, 1, 64, 0, 0);
            trial_free(&trial);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_that_never_ends_is_told_of),
        cmocka_unit_test(a_loop_that_ends_is_not),
    };

    return cmocka_run_group_tests_name("emulator endless", tests, NULL, NULL);
}
