/* Barriers: of a CTA, of a cluster, mbarriers; and what a run says that can never end. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { SEEDS = 12 };

/* ---- Named barriers ---- */

static void a_barrier_holds_until_all_have_come(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        ".shared .b32 cell[256];",
        "mov.u32 %r2, %tid.x;\nshl.b32 %r3, %r2, 2;\nmov.u32 %r4, cell;\nadd.u32 %r5, %r4, %r3;\n"
        "st.shared.u32 [%r5], %r2;\nbar.sync 0;\nmov.u32 %r6, 255;\nsub.u32 %r6, %r6, %r2;\n"
        "shl.b32 %r6, %r6, 2;\nadd.u32 %r6, %r6, %r4;\nld.shared.u32 %r0, [%r6];\n" //
        STORE_BY_THREAD("%r0"));

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 1, 256, 0, 0);
        for (uint32_t i = 0; i < 256; i++)
            assert_int_equal(t.words[i], 255 - i);
        trial_free(&t);
    }
}

/* Warp 0 arrives and goes on; warp 1 waits for it. */
static void arriving_does_not_wait(void **state)
{
    (void)state;
    const char *text =
        KERNEL("mov.u32 %r2, %tid.x;\nsetp.lt.u32 %p0, %r2, 32;\n@%p0 bra FIRST;\n"
               "bar.sync 3, 64;\nld.global.u32 %r0, [%out+1024];\n"
               "bra STORE;\nFIRST:\nmov.u32 %r0, 1;\nst.global.u32 [%out+1024], 55;\n"
               "bar.arrive 3, 64;\nSTORE:\n" //
               STORE_BY_THREAD("%r0"));

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 1, 64, 0, 0);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(t.words[i], i < 32 ? 1 : 55);
        trial_free(&t);
    }
}

static void barriers_reduce_predicates(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL("mov.u32 %r2, %tid.x;\nsetp.lt.u32 %p0, %r2, 70;\n"
               "barrier.cta.red.popc.aligned.u32 %r0, 1, %p0;\n"
               "barrier.cta.red.and.aligned.pred %p1, 1, %p0;\n"
               "barrier.cta.red.or.aligned.pred %p2, 1, !%p0;\nselp.u32 %r3, 1000, 0, %p1;\n"
               "selp.u32 %r4, 2000, 0, %p2;\nadd.u32 %r0, %r0, %r3;\nadd.u32 %r0, %r0, %r4;\n" //
               STORE_BY_THREAD("%r0")),
        7);

    trial_expect_done(&t, 1, 96, 0, 0);
    for (uint32_t i = 0; i < 96; i++)
        assert_int_equal(t.words[i], 2070);
    trial_free(&t);
}

static void threads_that_have_exited_are_not_waited_for(void **state)
{
    (void)state;
    struct trial t = trial_make(KERNEL("mov.u32 %r2, %tid.x;\nsetp.ge.u32 %p0, %r2, 64;\n"
                                       "@%p0 exit;\nbar.sync 0;\n" //
                                       STORE_BY_THREAD("%r2")),
                                7);

    trial_expect_done(&t, 1, 160, 0, 0);
    assert_int_equal(t.words[63], 63);
    assert_int_equal(t.words[64], TRIAL_FRESH);
    trial_free(&t);
}

/* ---- mbarriers ---- */

#define MBARRIER(body) KERNEL_WITH(".shared .align 8 .b64 full;", body)
#define BY_ONE_THREAD "mov.u32 %r2, %tid.x;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra END;\n"
#define PARITY_INTO(word, parity)                                                                  \
    "mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], " parity ";\n"                         \
    "selp.u32 %r0, 1, 0, %p1;\nst.global.u32 [%out+" word "], %r0;\n"

/* The table of states that was measured on an H200: fresh, after one phase, after two. */
static void parity_tells_two_phases_apart(void **state)
{
    (void)state;
    struct trial t =
        trial_make(MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 1;\n" //
                            PARITY_INTO("0", "0") PARITY_INTO("4", "1")                //
                            "mbarrier.arrive.shared::cta.b64 _, [full];\n"             //
                            PARITY_INTO("8", "0") PARITY_INTO("12", "1")               //
                            "mbarrier.arrive.shared::cta.b64 _, [full];\n"             //
                            PARITY_INTO("16", "0") PARITY_INTO("20", "1") "END:\n"),
                   1);
    static const uint32_t want[6] = {0, 1, 1, 0, 0, 1};

    trial_expect_done(&t, 1, 32, 0, 0);
    assert_memory_equal(t.words, want, sizeof want);
    trial_free(&t);
}

/* Measured on an H200: bytes may come before they are expected, and an expectation completes. */
static void bytes_and_arrivals_are_both_waited_for(void **state)
{
    (void)state;
    struct trial t = trial_make(
        MBARRIER(
            BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 2;\n"
                          "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [full], 16;\n"
                          "mbarrier.arrive.shared::cta.b64 _, [full];\n"
                          "mbarrier.arrive.shared::cta.b64 _, [full];\n"                         //
            PARITY_INTO("0", "0") "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 16;\n" //
            PARITY_INTO("4", "0")                                                                //
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8;\n"
            "mbarrier.arrive.shared::cta.b64 _, [full];\n"                                        //
            PARITY_INTO("8", "1") "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], 8;\n" //
            PARITY_INTO("12", "1") "END:\n"),
        1);
    static const uint32_t want[4] = {0, 1, 0, 1};

    trial_expect_done(&t, 1, 32, 0, 0);
    assert_memory_equal(t.words, want, sizeof want);
    trial_free(&t);
}

/* Measured on an H200: three expected, one dropped; the next phase needs two. */
static void a_dropped_arrival_counts_once(void **state)
{
    (void)state;
    struct trial t = trial_make(
        MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 3;\n"
                               "mbarrier.arrive_drop.shared::cta.b64 _, [full];\n"
                               "mbarrier.arrive.shared::cta.b64 %d1, [full];\n"       //
                 PARITY_INTO("0", "0") "mbarrier.arrive.shared::cta.b64 _, [full];\n" //
                 PARITY_INTO("4", "0") "mbarrier.test_wait.shared::cta.b64 %p1, [full], %d1;\n"
                                       "selp.u32 %r0, 1, 0, %p1;\nst.global.u32 [%out+8], %r0;\n"
                                       "mbarrier.arrive.shared::cta.b64 _, [full], 2;\n" //
                 PARITY_INTO("12", "1") "END:\n"),
        1);
    static const uint32_t want[4] = {0, 1, 1, 1};

    trial_expect_done(&t, 1, 32, 0, 0);
    assert_memory_equal(t.words, want, sizeof want);
    trial_free(&t);
}

/* A ring of two stages between a warp that writes and one that reads, for all orders of turns. */
static void a_ring_hands_over_every_stage(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        ".shared .align 8 .b64 ring[4];\n.shared .b32 data[64];",
        "mov.u32 %r2, %tid.x;\nmov.u32 %r10, ring;\nmov.u32 %r11, data;\nand.b32 %r12, %r2, 31;\n"
        "setp.eq.u32 %p0, %r2, 0;\n@!%p0 bra READY;\n"
        "mbarrier.init.shared::cta.b64 [%r10], 32;\nmbarrier.init.shared::cta.b64 [%r10+8], 32;\n"
        "mbarrier.init.shared::cta.b64 [%r10+16], 32;\n"
        "mbarrier.init.shared::cta.b64 [%r10+24], 32;\nREADY:\nbar.sync 0;\n"
        "mov.u32 %r3, 0;\nmov.u32 %r6, 0;\nsetp.ge.u32 %p1, %r2, 32;\n"
        "LOOP:\nand.b32 %r4, %r3, 1;\nshr.u32 %r5, %r3, 1;\nand.b32 %r5, %r5, 1;\n"
        "shl.b32 %r7, %r4, 3;\nadd.u32 %r7, %r7, %r10;\n" /* full[stage]; empty is 16 behind */
        "shl.b32 %r8, %r4, 5;\nadd.u32 %r8, %r8, %r12;\nshl.b32 %r8, %r8, 2;\n"
        "add.u32 %r8, %r8, %r11;\n@%p1 bra READ;\nxor.b32 %r9, %r5, 1;\n"
        "EMPTY:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7+16], %r9;\n@!%p2 bra EMPTY;\n"
        "add.u32 %r13, %r3, %r12;\nst.shared.u32 [%r8], %r13;\n"
        "mbarrier.arrive.shared::cta.b64 _, [%r7];\nbra NEXT;\n"
        "READ:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], %r5;\n@!%p2 bra READ;\n"
        "ld.shared.u32 %r13, [%r8];\nadd.u32 %r6, %r6, %r13;\n"
        "mbarrier.arrive.shared::cta.b64 _, [%r7+16];\n"
        "NEXT:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 50;\n@%p3 bra LOOP;\n" //
        STORE_BY_THREAD("%r6"));

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 1, 64, 0, 0);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(t.words[32 + i], 50 * 49 / 2 + 50 * i);
        trial_free(&t);
    }
}

/* ---- Clusters ---- */

static void ctas_of_a_cluster_write_to_each_other(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        ".shared .b32 cell[32];",
        "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %cluster_ctarank;\nmov.u32 %r4, %cluster_nctarank;\n"
        "mov.u32 %r5, %clusterid.x;\nadd.u32 %r6, %r3, 1;\nrem.u32 %r6, %r6, %r4;\n"
        "mov.u32 %r7, cell;\nmapa.shared::cluster.u32 %r8, %r7, %r6;\nshl.b32 %r9, %r2, 2;\n"
        "add.u32 %r8, %r8, %r9;\nmad.lo.u32 %r10, %r5, 1000, %r3;\nmad.lo.u32 %r10, %r2, 10, "
        "%r10;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "st.shared::cluster.u32 [%r8], %r10;\nbarrier.cluster.arrive.release;\n"
        "barrier.cluster.wait.acquire;\nadd.u32 %r9, %r9, %r7;\nld.shared.u32 %r0, [%r9];\n"
        "mov.u32 %r11, %ctaid.x;\nshl.b32 %r11, %r11, 5;\nadd.u32 %r11, %r11, %r2;\n"
        "mul.wide.u32 %d0, %r11, 4;\nadd.u64 %d0, %d0, %out;\nst.global.u32 [%d0], %r0;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 12, 32, 4, 0);
        for (uint32_t cta = 0; cta < 12; cta++)
            for (uint32_t i = 0; i < 32; i++)
                assert_int_equal(t.words[32 * cta + i], cta / 4 * 1000 + (cta + 3) % 4 + 10 * i);
        trial_free(&t);
    }
}

static void an_arrival_reaches_the_barrier_of_another_cta(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        ".shared .align 8 .b64 done;",
        "mov.u32 %r3, %cluster_ctarank;\nmov.u32 %r7, done;\nsetp.ne.u32 %p0, %r3, 0;\n"
        "@%p0 bra JOIN;\nmbarrier.init.shared::cta.b64 [%r7], 3;\n"
        "fence.mbarrier_init.release.cluster;\nJOIN:\nbarrier.cluster.arrive;\n"
        "barrier.cluster.wait;\n@!%p0 bra WAIT;\nmapa.shared::cluster.u32 %r8, %r7, 0;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\nbra LEAVE;\n"
        "WAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r7], 0;\n"
        "@!%p1 bra WAIT;\nst.global.u32 [%out], 77;\nLEAVE:\nbarrier.cluster.arrive;\n"
        "barrier.cluster.wait;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 4, 1, 4, 0);
        assert_int_equal(t.words[0], 77);
        trial_free(&t);
    }
}

/* ---- What can never end, and what is misused ---- */

static void a_deadlock_is_told_with_who_waits_for_what(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t block;
        const char *words[8];
    } cases[] = {
        {MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 2;\n"
                                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 96;\n"
                                "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n"
                                "@!%p1 bra W;\nEND:\n"),
         32,
         {"deadlock", "CTA (0,0,0) warp 0", "line 19", "parity 0", "full", "0x400",
          "in phase 0, 1 of 2 arrivals and 96 bytes are still due"}},
        {KERNEL("mov.u32 %r2, %tid.x;\nsetp.lt.u32 %p0, %r2, 32;\n@%p0 bra A;\nbar.sync 2, 64;\n"
                "bra B;\nA:\nbar.sync 1, 64;\nB:\n"),
         64,
         {"deadlock", "warp 0, line 19", "waits at barrier 1: 32 threads are there",
          "warp 1, line 16", "waits at barrier 2"}},
        {MBARRIER("mbarrier.init.shared::cta.b64 [full], 1;\n"
                  "mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;\nbar.sync 4, 64;\n"),
         32,
         {"deadlock", "waits at barrier 4: 32 threads are there"}},
        {KERNEL("mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p0, %r2, 3;\n@%p0 bra A;\nbar.sync 0;\nbra B;\n"
                "A:\nbar.sync 1;\nB:\n"),
         32,
         {"deadlock", "waits for all lanes: only 0x00000008 of 0xffffffff are here"}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trial t = trial_make(cases[i].text, i);

        trial_expect_fault(&t, 1, cases[i].block, 0, EMU_DEADLOCK, cases[i].words);
        trial_free(&t);
    }
}

static void misuse_of_barriers_is_a_fault(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *words[3];
    } cases[] = {
        {MBARRIER(BY_ONE_THREAD "mbarrier.arrive.shared::cta.b64 _, [full];\nEND:\n"),
         {"no mbarrier was initialised at shared address 0x400"}},
        {MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 1;\n"
                                "st.shared.u32 [full+4], %r2;\nst.shared.u32 [full+4], 9;\n"
                                "mbarrier.arrive.shared::cta.b64 _, [full];\nEND:\n"),
         {"has been written over", "line 19"}},
        {MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 2;\n"
                                "mbarrier.arrive.shared::cta.b64 _, [full], 3;\nEND:\n"),
         {"3 arrivals", "waits for 2 more"}},
        {MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 0;\nEND:\n"),
         {"an mbarrier of 0 arrivals"}},
        {MBARRIER(BY_ONE_THREAD "mbarrier.init.shared::cta.b64 [full], 1;\n"
                                "mbarrier.inval.shared::cta.b64 [full];\n"
                                "mbarrier.arrive.shared::cta.b64 _, [full];\nEND:\n"),
         {"no mbarrier was initialised"}},
        {MBARRIER(BY_ONE_THREAD
                  "mbarrier.init.shared::cta.b64 [full], 1;\n"
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 1048575;\n"
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 1;\nEND:\n"),
         {"counts 1048576 bytes"}},
        {KERNEL("barrier.cluster.wait;\n"), {"without having arrived"}},
        {KERNEL("barrier.cluster.arrive;\nbarrier.cluster.arrive;\n"), {"again without"}},
        {KERNEL("mov.u32 %r0, 16;\nbar.sync %r0;\n"), {"barrier 16 of 16"}},
        {KERNEL("bar.sync 0, 33;\n"), {"33 threads, no multiple of 32"}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trial t = trial_make(cases[i].text, i);

        trial_expect_fault(&t, 1, 32, 0, EMU_ILLEGAL_INSTRUCTION, cases[i].words);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_holds_until_all_have_come),
        cmocka_unit_test(arriving_does_not_wait),
        cmocka_unit_test(barriers_reduce_predicates),
        cmocka_unit_test(threads_that_have_exited_are_not_waited_for),
        cmocka_unit_test(parity_tells_two_phases_apart),
        cmocka_unit_test(bytes_and_arrivals_are_both_waited_for),
        cmocka_unit_test(a_dropped_arrival_counts_once),
        cmocka_unit_test(a_ring_hands_over_every_stage),
        cmocka_unit_test(ctas_of_a_cluster_write_to_each_other),
        cmocka_unit_test(an_arrival_reaches_the_barrier_of_another_cta),
        cmocka_unit_test(a_deadlock_is_told_with_who_waits_for_what),
        cmocka_unit_test(misuse_of_barriers_is_a_fault),
    };

    return cmocka_run_group_tests_name("barrier", tests, NULL, NULL);
}
