/* Kernels that run: what threads are told, what they read and write, and how they end. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

static void every_thread_knows_who_it_is(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL("mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"
               "mad.lo.u32 %r3, %r0, %r1, %r2;\nmul.wide.u32 %d0, %r3, 4;\n"
               "add.u64 %d0, %out, %d0;\nmov.u32 %r4, %laneid;\nmov.u32 %r5, %nctaid.x;\n"
               "mad.lo.u32 %r4, %r5, 1000, %r4;\nst.global.u32 [%d0], %r4;\n"),
        3);

    trial_expect_done(&t, 20, 48, 0, 0);
    for (uint32_t i = 0; i < 20 * 48; i++)
        assert_int_equal(t.words[i], 20000 + i % 48 % 32);
    assert_int_equal(t.words[20 * 48], TRIAL_FRESH);
    trial_free(&t);
}

static void shared_memory_is_counted_with_and_without_the_reserved_bytes(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL(".shared .align 4 .b8 tile[112];\nst.shared.b8 [tile], 1;\n"
               "mov.u32 %r0, %total_smem_size;\nst.global.u32 [%out], %r0;\n"
               "mov.u32 %r0, %aggr_smem_size;\nst.global.u32 [%out+4], %r0;\n"
               "mov.u32 %r0, %dynamic_smem_size;\nst.global.u32 [%out+8], %r0;\n"
               "mov.u32 %r0, %reserved_smem_offset_end;\nst.global.u32 [%out+12], %r0;\n"
               "mov.u32 %r0, %reserved_smem_offset_cap;\nst.global.u32 [%out+16], %r0;\n"),
        1);

    trial_expect_done(&t, 1, 1, 0, 60);
    assert_int_equal(t.words[0], 256);
    assert_int_equal(t.words[1], 1024 + 112 + 60);
    assert_int_equal(t.words[2], 60);
    assert_int_equal(t.words[3], 288); /* measured on an H200, driver 580 */
    assert_int_equal(t.words[4], 1024);
    trial_free(&t);
}

static void a_guard_and_a_branch_take_some_lanes(void **state)
{
    (void)state;
    struct trial t = trial_make(KERNEL("mov.u32 %r2, %tid.x;\nmov.u32 %r0, 5;\n"
                                       "setp.lt.u32 %p0, %r2, 10;\n@%p0 mov.u32 %r0, 6;\n"
                                       "and.b32 %r3, %r2, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
                                       "@%p1 bra EVEN;\nadd.u32 %r0, %r0, 100;\nbra JOIN;\n"
                                       "EVEN:\nadd.u32 %r0, %r0, 200;\nJOIN:\n" //
                                       STORE_BY_THREAD("%r0")),
                                9);

    trial_expect_done(&t, 1, 64, 0, 0);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(t.words[i], (i < 10 ? 6 : 5) + (i % 2 ? 100 : 200));
    trial_free(&t);
}

/* The k-th lane goes round k times: the lanes leave the loop one by one, and meet behind it. */
static void lanes_that_loop_for_longer_are_waited_for(void **state)
{
    (void)state;
    struct trial t = trial_make(KERNEL("mov.u32 %r2, %tid.x;\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\n"
                                       "LOOP:\nsetp.ge.u32 %p0, %r0, %r2;\n@%p0 bra DONE;\n"
                                       "add.u32 %r0, %r0, 1;\nadd.u32 %r1, %r1, %r0;\nbra LOOP;\n"
                                       "DONE:\nshfl.sync.bfly.b32 %r3, %r1, 31, 31, -1;\n" //
                                       STORE_BY_THREAD("%r3")),
                                2);

    trial_expect_done(&t, 1, 32, 0, 0);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(t.words[i], (31 - i) * (32 - i) / 2);
    trial_free(&t);
}

static void functions_call_themselves(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(
            ".func (.param .u32 r) fib(.param .u32 n)\n{\n.reg .b32 %r<8>;\n.reg .pred %p;\n"
            "ld.param.u32 %r0, [n];\nsetp.lt.u32 %p, %r0, 2;\n@%p bra SMALL;\n{\n"
            ".param .u32 a; .param .u32 b;\nsub.u32 %r1, %r0, 1;\n"
            "st.param.u32 [a], %r1;\ncall (b), fib, (a);\nld.param.u32 %r2, [b];\n"
            "sub.u32 %r1, %r0, 2;\nst.param.u32 [a], %r1;\ncall (b), fib, (a);\n"
            "ld.param.u32 %r3, [b];\nadd.u32 %r0, %r2, %r3;\n}\nSMALL:\n"
            "st.param.u32 [r], %r0;\nret;\n}",
            "mov.u32 %r2, %tid.x;\nand.b32 %r2, %r2, 15;\n{\n.param .u32 a; .param .u32 b;\n"
            "st.param.u32 [a], %r2;\ncall.uni (b), fib, (a);\nld.param.u32 %r0, [b];\n}\n" //
            STORE_BY_THREAD("%r0")),
        5);
    static const uint32_t fib[16] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};

    trial_expect_done(&t, 1, 32, 0, 0);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(t.words[i], fib[i % 16]);
    trial_free(&t);
}

static void each_lane_calls_its_own_function(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(".func (.reg .b32 r) twice(.reg .b32 x)\n{\nadd.u32 r, x, x;\nret;\n}\n"
                    ".func (.reg .b32 r) square(.reg .b32 x)\n{\nmul.lo.u32 r, x, x;\nret;\n}\n",
                    "mov.u32 %r2, %tid.x;\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p0, %r3, 0;\n"
                    "mov.u64 %d0, twice;\nmov.u64 %d1, square;\nselp.b64 %d2, %d0, %d1, %p0;\n"
                    "PROTO: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
                    "call (%r0), %d2, (%r2), PROTO;\n" //
                    STORE_BY_THREAD("%r0")),
        5);

    trial_expect_done(&t, 1, 32, 0, 0);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(t.words[i], i % 2 ? i * i : 2 * i);
    trial_free(&t);
}

static void a_table_of_targets_sends_each_lane(void **state)
{
    (void)state;
    struct trial t =
        trial_make(KERNEL("mov.u32 %r2, %tid.x;\nand.b32 %r3, %r2, 3;\n"
                          "TARGETS: .branchtargets L0, L1, L2, L1;\nbrx.idx %r3, TARGETS;\n"
                          "L0:\nmov.u32 %r0, 10;\nbra END;\nL1:\nmov.u32 %r0, 11;\nbra END;\n"
                          "L2:\nmov.u32 %r0, 12;\nEND:\n" //
                          STORE_BY_THREAD("%r0")),
                   5);
    static const uint32_t want[4] = {10, 11, 12, 11};

    trial_expect_done(&t, 1, 32, 0, 0);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(t.words[i], want[i % 4]);
    trial_free(&t);
}

/* A narrow result fills its register: by the sign where it has one. */
static void narrow_results_are_extended(void **state)
{
    (void)state;
    struct trial t =
        trial_make(KERNEL("mov.u32 %r1, 0x1f5;\ncvt.s8.s32 %r0, %r1;\nst.global.u32 [%out], %r0;\n"
                          "cvt.u8.u32 %r0, %r1;\nst.global.u32 [%out+4], %r0;\n"
                          "cvt.s16.s32 %d0, -3;\nst.global.u64 [%out+8], %d0;\n"),
                   5);
    static const uint32_t want[4] = {0xfffffff5, 0xf5, 0xfffffffd, 0xffffffff};

    trial_expect_done(&t, 1, 1, 0, 0);
    assert_memory_equal(t.words, want, sizeof want);
    trial_free(&t);
}

static void local_memory_is_each_threads_own(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL(".local .align 16 .b8 stack[64];\nmov.u32 %r2, %tid.x;\nmov.u64 %d0, stack;\n"
               "cvta.local.u64 %d1, %d0;\nst.u32 [%d1+12], %r2;\nld.local.u32 %r0, [stack+12];\n" //
               STORE_BY_THREAD("%r0")),
        5);

    trial_expect_done(&t, 1, 64, 0, 0);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(t.words[i], i);
    trial_free(&t);
}

static void constants_and_globals_keep_what_they_hold(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(
            ".const .align 4 .u32 table[4] = {7, 8, 9, 10};\n"
            ".global .align 8 .u64 pointer = table;\n.global .u32 counter = 40;\n",
            "mov.u32 %r2, %tid.x;\nmul.wide.u32 %d0, %r2, 4;\nld.global.u64 %d1, [pointer];\n"
            "add.u64 %d1, %d1, %d0;\nld.const.u32 %r0, [%d1];\n"
            "atom.global.add.u32 %r1, [counter], 1;\n" //
            STORE_BY_THREAD("%r0")),
        5);
    uint64_t address, bytes;
    uint32_t *counter;

    trial_expect_done(&t, 1, 4, 0, 0);
    trial_expect_done(&t, 1, 4, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(t.words[i], 7 + i);
    assert_true(emu_program_variable(t.program, "counter", &address, &bytes));
    assert_int_equal(bytes, 4);
    counter = emu_bytes(t.device, address, bytes);
    assert_int_equal(*counter, 48);
    trial_free(&t);
}

static void atomics_of_all_threads_add_up(void **state)
{
    (void)state;
    struct trial t = trial_make(KERNEL("mov.u32 %r2, %tid.x;\n"
                                       "atom.global.add.u32 %r0, [%out], %r2;\n"
                                       "red.global.max.s32 [%out+4], %r2;\n"
                                       "red.global.add.f32 [%out+8], 0f3F000000;\n"
                                       "atom.global.inc.u32 %r1, [%out+12], 5;\n"),
                                5);

    memset(t.words, 0, 16);
    trial_expect_done(&t, 5, 100, 0, 0);
    assert_int_equal(t.words[0], 5 * 99 * 50);
    assert_int_equal(t.words[1], 99);
    float sum;
    memcpy(&sum, &t.words[2], 4);
    assert_true(sum == 250.0f);
    assert_int_equal(t.words[3], 500 % 6);
    trial_free(&t);
}

/* A lock that the lanes of one warp fight for: a machine that runs the first lane alone hangs. */
/* Measured on an H200: the NaN that is there wins in shared memory, and is made quiet; in global
 * memory the one that is added wins, as it is. */
static void sums_of_f64_keep_a_nan(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(".shared .align 8 .b64 tile;\n",
                    "mov.b64 %d1, 0x7ff0000000000001;\nmov.b64 %d2, 0xfff0000000000002;\n"
                    "st.shared.b64 [tile], %d1;\nred.shared.add.f64 [tile], %d2;\n"
                    "ld.shared.b64 %d3, [tile];\nst.global.b64 [%out], %d3;\n"
                    "mov.u64 %d4, tile;\ncvta.shared.u64 %d4, %d4;\nst.shared.b64 [tile], 0;\n"
                    "atom.add.f64 %d3, [%d4], %d2;\nld.shared.b64 %d3, [tile];\n"
                    "st.global.b64 [%out+8], %d3;\n"
                    "st.global.b64 [%out+16], %d1;\nred.global.add.f64 [%out+16], %d2;\n"
                    "st.global.b64 [%out+24], 0;\natom.add.f64 %d3, [%out+24], %d1;\n"),
        1);
    const uint64_t expected[] = {
        UINT64_C(0x7ff8000000000001),
        UINT64_C(0xfff8000000000002),
        UINT64_C(0xfff0000000000002),
        UINT64_C(0x7ff0000000000001),
    };

    trial_expect_done(&t, 1, 1, 0, 0);
    assert_memory_equal(t.words, expected, sizeof expected);
    trial_free(&t);
}

/* Where the address is decides, not what the text says of it. */
static void sums_of_f32_flush_subnormals_in_global_memory(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(".shared .align 8 .b32 tile[2];\n",
                    "mov.b32 %f1, 0x00000003;\nmov.b32 %f2, 0x00000004;\n"
                    "mov.u64 %d4, tile;\ncvta.shared.u64 %d4, %d4;\n"
                    "st.shared.f32 [tile], %f1;\natom.shared.add.f32 %f3, [tile], %f2;\n"
                    "atom.add.f32 %f3, [%d4], %f2;\nld.shared.f32 %f3, [tile];\n"
                    "st.global.f32 [%out], %f3;\n"
                    "st.global.v2.f32 [%out+8], {%f1, %f1};\nred.add.f32 [%out+8], %f2;\n"
                    "atom.global.v2.f32.add {%f3, %f4}, [%out+8], {%f2, %f2};\n"),
        1);

    trial_expect_done(&t, 1, 1, 0, 0);
    assert_int_equal(t.words[0], 3 + 4 + 4);
    assert_int_equal(t.words[2], 0);
    assert_int_equal(t.words[3], 0);
    trial_free(&t);
}

static void constants_are_not_global_memory(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(".const .align 4 .u32 five = 5;\n",
                    "mov.u64 %d1, five;\ncvta.const.u64 %d1, %d1;\ncvta.global.u64 %d2, %out;\n"
                    "isspacep.const %p0, %d1;\nisspacep.global %p1, %d1;\n"
                    "isspacep.const %p2, %d2;\nisspacep.global %p3, %d2;\n"
                    "selp.b32 %r0, 1, 0, %p0;\nselp.b32 %r1, 1, 0, %p1;\n"
                    "selp.b32 %r2, 1, 0, %p2;\nselp.b32 %r3, 1, 0, %p3;\n"
                    "st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};\n"),
        1);
    const uint32_t expected[] = {1, 0, 0, 1};

    trial_expect_done(&t, 1, 1, 0, 0);
    assert_memory_equal(t.words, expected, sizeof expected);
    trial_free(&t);
}

static void lanes_of_one_warp_can_wait_for_each_other(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL("TRY:\natom.global.cas.b32 %r0, [%out], 0, 1;\nsetp.ne.u32 %p0, %r0, 0;\n"
               "@%p0 bra TRY;\nld.volatile.global.u32 %r1, [%out+4];\nadd.u32 %r1, %r1, 3;\n"
               "st.volatile.global.u32 [%out+4], %r1;\natom.global.exch.b32 %r0, [%out], 0;\n"),
        5);

    memset(t.words, 0, 8);
    trial_expect_done(&t, 2, 64, 0, 0);
    assert_int_equal(t.words[1], 3 * 128);
    trial_free(&t);
}

/* CTAs that wait for each other run to their end: all resident ones make progress. */
static void a_turnstile_lets_all_ctas_through(void **state)
{
    (void)state;
    struct trial t = trial_make(KERNEL("mov.u32 %r5, %nctaid.x;\nred.global.add.u32 [%out], 1;\n"
                                       "WAIT:\nld.acquire.gpu.global.u32 %r0, [%out];\n"
                                       "setp.lt.u32 %p0, %r0, %r5;\n@%p0 bra WAIT;\n"
                                       "red.global.add.u32 [%out+4], 1;\n"),
                                5);

    memset(t.words, 0, 8);
    trial_expect_done(&t, 8, 1, 0, 0);
    assert_int_equal(t.words[1], 8);
    trial_free(&t);
}

static void the_seed_alone_decides_the_order(void **state)
{
    (void)state;
    const char *text = KERNEL("mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\n"
                              "shl.b32 %r4, %r3, 8;\nor.b32 %r4, %r4, %r2;\n"
                              "atom.global.add.u32 %r0, [%out], 1;\nmul.wide.u32 %d0, %r0, 4;\n"
                              "add.u64 %d0, %d0, %out;\nst.global.u32 [%d0+4], %r4;\n");
    uint32_t first[257];
    int different = 0;

    for (uint64_t seed = 0; seed < 6; seed++)
        for (int again = 0; again < 2; again++) {
            struct trial t = trial_make(text, seed);

            t.words[0] = 0;
            trial_expect_done(&t, 8, 32, 0, 0);
            assert_int_equal(t.words[0], 256);
            if (again)
                assert_memory_equal(t.words, first, sizeof first);
            else if (seed > 0)
                different += memcmp(t.words, first, sizeof first) != 0;
            memcpy(first, t.words, sizeof first);
            trial_free(&t);
        }
    assert_true(different >= 4);
}

static void shared_memory_of_a_kernel_is_what_it_names(void **state)
{
    (void)state;
    const char *text =
        KERNEL_WITH(".shared .align 8 .b8 mine[96];\n.shared .b8 others[50000];\n"
                    ".extern .shared .align 128 .b8 dynamic[];\n"
                    ".visible .entry other()\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, others;\nret;\n}\n",
                    "mov.u32 %r0, mine;\nmov.u32 %r1, dynamic;\nst.global.u32 [%out], %r0;\n"
                    "st.global.u32 [%out+4], %r1;\nst.shared.u32 [dynamic+96], %r1;\n");
    struct trial t = trial_make(text, 5);
    struct emu_entry_info info;

    trial_expect_done(&t, 1, 1, 0, 100);
    assert_int_equal(t.words[0], 1024); /* as on Hopper */
    assert_int_equal(t.words[1], 1024 + 128);
    emu_program_entry_info(t.program, emu_program_entry(t.program, "k"), &info);
    assert_int_equal(info.static_shared_bytes, 96);
    emu_program_entry_info(t.program, emu_program_entry(t.program, "other"), &info);
    assert_int_equal(info.static_shared_bytes, 50000);
    assert_int_equal(trial_run(&t, 1, 1, 0, 99), EMU_ILLEGAL_ADDRESS);
    trial_free(&t);
}

/* ---- Ends ---- */

static void what_a_kernel_may_not_touch_is_a_fault(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum emu_outcome outcome;
        const char *words[5];
    } cases[] = {
        {KERNEL("mov.u32 %r0, 1;\nst.global.u32 [%out+16384], %r0;"),
         EMU_ILLEGAL_ADDRESS,
         {"line 14", "st.global.u32", "lane 0", "4 bytes at global address"}},
        {KERNEL("ld.global.u64 %d0, [%out+4];"),
         EMU_MISALIGNED_ADDRESS,
         {"line 13", "no multiple of 8"}},
        {KERNEL("mov.u64 %d0, 0;\nld.u32 %r0, [%d0];"),
         EMU_ILLEGAL_ADDRESS,
         {"generic address 0x0"}},
        {KERNEL("ld.shared.u32 %r0, [65536];"), EMU_ILLEGAL_ADDRESS, {"shared address 0x10000"}},
        {KERNEL("mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 5;\n@%p0 trap;"),
         EMU_TRAPPED,
         {"lane 5", "line 15", "trap"}},
        {KERNEL("FOREVER:\nld.global.u32 %r0, [%out];\nbra FOREVER;"),
         EMU_OUT_OF_STEPS,
         {"not over after"}},
        {KERNEL_WITH(".func deep()\n{\ncall deep, ();\nret;\n}", "call deep, ();"),
         EMU_OUT_OF_STEPS,
         {"deeper than 4096"}},
        {KERNEL_WITH(".extern .func nobody();", "call nobody, ();"),
         EMU_ILLEGAL_INSTRUCTION,
         {"nobody"}},
        {KERNEL("mov.u64 %d0, 77;\nP: .callprototype _ ();\ncall %d0, (), P;"),
         EMU_ILLEGAL_INSTRUCTION,
         {"0x4d, where no function is"}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trial t = trial_make(cases[i].text, 1);

        trial_expect_fault(&t, 1, 32, 0, cases[i].outcome, cases[i].words);
        trial_free(&t);
    }
}

static void text_that_no_machine_knows_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *word;
    } cases[] = {
        {KERNEL("frobnicate.u32 %r0, %r1;"), 13, "frobnicate.u32"},
        {KERNEL("add.u32 %r0, %r1;"), 13, "add.u32"},
        {KERNEL("bra NOWHERE;"), 13, "NOWHERE"},
        {KERNEL("ld.global.v4.u32 {%r0, %r1}, [%out];"), 13, "ld.global.v4.u32"},
        {KERNEL("atom.global.inc.f32 %f0, [%out], %f1;"), 13, "atom.global.inc.f32"},
        {KERNEL("mbarrier.arrive.expect_tx.shared.b64 _, [%r0];"), 13, "mbarrier.arrive.expect_tx"},
        {".version 8.6\n.target sm_100a\n.address_size 64\n", 0, "sm_100a"},
        {"#include <cuda.h>\n", 1, "#"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct emu_error error = trial_refused(cases[i].text);

        if (error.line != cases[i].line || !strstr(error.message, cases[i].word))
            fail_msg("case %zu: line %d: %s", i, error.line, error.message);
    }
}

/* So that what is launched with the block that the text names has room. */
static void registers_fit_the_block_that_is_required(void **state)
{
    (void)state;
    struct trial t = trial_make(".version 8.3\n.target sm_90a\n.address_size 64\n"
                                ".visible .entry k(.param .u64 out) .maxntid 1024, 1, 1\n{\n"
                                ".reg .b32 %r<8>;\n.reg .v4 .b32 many<50>;\n"
                                "mov.u32 many0.x, 0;\nret;\n}\n"
                                ".visible .entry other()\n{\n.reg .b32 %r<8>;\n"
                                "mov.u32 %r1, 0;\nmov.u32 %r5, 0;\nret;\n}\n",
                                1);
    struct emu_entry_info info;

    emu_program_entry_info(t.program, emu_program_entry(t.program, "k"), &info);
    assert_true(info.registers <= 64);
    emu_program_entry_info(t.program, emu_program_entry(t.program, "other"), &info);
    assert_int_equal(info.registers, 2);
    trial_free(&t);
}

static void launches_that_cannot_begin_say_why(void **state)
{
    (void)state;
    struct trial t = trial_make(KERNEL(""), 1);

    assert_int_equal(trial_run(&t, 1, 1025, 0, 0), EMU_NO_RESOURCES);
    assert_int_equal(trial_run(&t, 0, 32, 0, 0), EMU_NO_RESOURCES);
    assert_int_equal(trial_run(&t, 3, 32, 2, 0), EMU_NO_RESOURCES);
    assert_int_equal(trial_run(&t, 17, 32, 17, 0), EMU_NO_RESOURCES);
    assert_int_equal(trial_run(&t, 1, 32, 0, 232448 + 1), EMU_NO_RESOURCES);
    assert_int_equal(trial_run(&t, 1, 32, 0, 232448), EMU_DONE);
    trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_knows_who_it_is),
        cmocka_unit_test(shared_memory_is_counted_with_and_without_the_reserved_bytes),
        cmocka_unit_test(a_guard_and_a_branch_take_some_lanes),
        cmocka_unit_test(lanes_that_loop_for_longer_are_waited_for),
        cmocka_unit_test(functions_call_themselves),
        cmocka_unit_test(each_lane_calls_its_own_function),
        cmocka_unit_test(a_table_of_targets_sends_each_lane),
        cmocka_unit_test(narrow_results_are_extended),
        cmocka_unit_test(local_memory_is_each_threads_own),
        cmocka_unit_test(constants_and_globals_keep_what_they_hold),
        cmocka_unit_test(atomics_of_all_threads_add_up),
        cmocka_unit_test(sums_of_f64_keep_a_nan),
        cmocka_unit_test(sums_of_f32_flush_subnormals_in_global_memory),
        cmocka_unit_test(constants_are_not_global_memory),
        cmocka_unit_test(lanes_of_one_warp_can_wait_for_each_other),
        cmocka_unit_test(a_turnstile_lets_all_ctas_through),
        cmocka_unit_test(the_seed_alone_decides_the_order),
        cmocka_unit_test(shared_memory_of_a_kernel_is_what_it_names),
        cmocka_unit_test(what_a_kernel_may_not_touch_is_a_fault),
        cmocka_unit_test(text_that_no_machine_knows_is_refused_with_its_line),
        cmocka_unit_test(registers_fit_the_block_that_is_required),
        cmocka_unit_test(launches_that_cannot_begin_say_why),
    };

    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
