/* Copies that nobody stands still for: bulk, tensor, multicast, cp.async, and to other CTAs. */
#include "emulator/tensor_map.h"
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS = 12 };

#define SHARED ".shared .align 128 .b8 box[4096];\n.shared .align 8 .b64 full;\n"
#define INIT                                                                                       \
    "mov.u32 %r2, %tid.x;\nsetp.ne.u32 %p0, %r2, 0;\nmov.u32 %r20, box;\nmov.u32 %r21, full;\n"    \
    "@%p0 bra INITIALISED;\nmbarrier.init.shared::cta.b64 [%r21], 1;\n"                            \
    "fence.mbarrier_init.release.cluster;\nINITIALISED:\nbar.sync 0;\n"
#define WAIT_FOR_IT "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r21], 0;\n@!%p1 bra W;\n"
#define EXPECT(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], " bytes ";\n"
/* out[256 + tid] = the word of the box */
#define STORE_BOX                                                                                  \
    "shl.b32 %r3, %r2, 2;\nadd.u32 %r4, %r20, %r3;\nld.shared.u32 %r5, [%r4];\n"                   \
    "cvt.u64.u32 %d3, %r3;\nadd.u64 %d3, %d3, %out;\nst.global.u32 [%d3+1024], %r5;\n"

static void number_words(struct trial *t, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        t->words[i] = 1000 + i;
}

static void a_bulk_copy_completes_on_its_barrier(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        SHARED, INIT "@%p0 bra W;\n" EXPECT("256") //
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%out], 256, "
        "[%r21];\n" WAIT_FOR_IT STORE_BOX);

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        number_words(&t, 64);
        trial_expect_done(&t, 1, 64, 0, 0);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(t.words[256 + i], 1000 + i);
        trial_free(&t);
    }
}

/* Bytes that nobody expects, or that never come, are told. */
static void wrong_byte_counts_show(void **state)
{
    (void)state;
    static const char *const words[] = {"deadlock", "-16 bytes are still due", NULL};
    const char *text = KERNEL_WITH(
        SHARED, INIT "@%p0 bra W;\n" EXPECT("240") //
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%out], 256, "
        "[%r21];\n" WAIT_FOR_IT STORE_BOX);
    struct trial t = trial_make(text, 1);

    trial_expect_fault(&t, 1, 64, 0, EMU_DEADLOCK, words);
    trial_free(&t);
}

/* A group that has been read has left the source free; one that is done has written, too. A kernel
 * that overwrites its source without waiting is wrong for some seed. */
static void a_store_reads_its_source_late(void **state)
{
    (void)state;
#define STORING(wait)                                                                              \
    KERNEL_WITH(SHARED,                                                                            \
                "mov.u32 %r20, box;\nmov.u32 %r2, 7;\nst.shared.v2.u32 [%r20], {%r2, %r2};\n"      \
                "st.shared.v2.u32 [%r20+8], {%r2, %r2};\nfence.proxy.async.shared::cta;\n"         \
                "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r20], 16;\n"                \
                "cp.async.bulk.commit_group;\n" wait "st.shared.u32 [%r20+4], 9;\n")
    int spoilt = 0;

    for (uint64_t seed = 0; seed < 40; seed++) {
        struct trial careful = trial_make(STORING("cp.async.bulk.wait_group.read 0;\n"), seed),
                     careless = trial_make(STORING(""), seed);

        trial_expect_done(&careful, 1, 1, 0, 0);
        assert_int_equal(careful.words[1], 7);
        trial_expect_done(&careless, 1, 1, 0, 0);
        spoilt += careless.words[1] == 9;
        trial_free(&careful);
        trial_free(&careless);
    }
    assert_true(spoilt > 5 && spoilt < 40);
}

static void a_reduction_adds_to_what_is_there(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(SHARED, "mov.u32 %r20, box;\nmov.u32 %r2, 7;\nst.shared.u32 [%r20], %r2;\n"
                            "st.shared.u32 [%r20+4], -1;\nst.shared.u32 [%r20+8], 1;\n"
                            "st.shared.u32 [%r20+12], 0;\n"
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], "
                            "[%r20], 16;\ncp.async.bulk.commit_group;\n"
                            "cp.async.bulk.wait_group 0;\n"),
        3);
    static const uint32_t want[4] = {1007, 1000, 1003, 1003};

    number_words(&t, 4);
    trial_expect_done(&t, 1, 1, 0, 0);
    assert_memory_equal(t.words, want, sizeof want);
    trial_free(&t);
}

/* ---- Tensors: the map is made by the host, in the buffer's last words ---- */

enum { MAP_AT = TRIAL_WORDS - 32, MAP_UINT32 = 2, MAP_SWIZZLE_128B = 3 };

/* 32 x 40 words in boxes of 32 x 8. */
static void put_map(struct trial *t, int swizzle)
{
    const struct emu_tensor_map map = {.type = MAP_UINT32,
                                       .rank = 2,
                                       .swizzle = swizzle,
                                       .address = t->buffer,
                                       .dims = {32, 40},
                                       .strides = {4, 128},
                                       .box = {32, 8},
                                       .element_strides = {1, 1}};
    unsigned char bytes[EMU_TENSOR_MAP_BYTES];

    assert_int_equal(emu_tensor_map_encode(bytes, &map), 0);
    memcpy(t->words + MAP_AT, bytes, sizeof bytes);
}

#define MAP "add.u64 %d1, %out, 16256;\n"

static void a_tensor_is_loaded_in_boxes(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        SHARED, MAP INIT "@%p0 bra W;\n" EXPECT("1024") //
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r20], "
        "[%d1, {0, 34}], [%r21];\n" WAIT_FOR_IT //
        "shl.b32 %r3, %r2, 2;\nadd.u32 %r4, %r20, %r3;\nld.shared.u32 %r5, [%r4];\n"
        "cvt.u64.u32 %d3, %r3;\nadd.u64 %d3, %d3, %out;\nst.global.u32 [%d3+8192], %r5;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int swizzle = 0; swizzle <= MAP_SWIZZLE_128B; swizzle += MAP_SWIZZLE_128B) {
            struct trial t = trial_make(text, seed);

            number_words(&t, 32 * 40);
            put_map(&t, swizzle);
            trial_expect_done(&t, 1, 256, 0, 0);
            for (uint32_t row = 0; row < 8; row++)
                for (uint32_t column = 0; column < 32; column++) {
                    uint32_t at = swizzle ? column ^ row << 2 : column,
                             want = row < 6 ? 1000 + 32 * (34 + row) + column : 0;

                    assert_int_equal(t.words[2048 + 32 * row + at], want);
                }
            trial_free(&t);
        }
}

/* CTA 1 of four sends rows to itself and to CTA 3. */
static void multicast_reaches_the_ctas_of_the_mask(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        SHARED,
        MAP INIT "mov.u32 %r6, %cluster_ctarank;\nand.b32 %r7, %r6, 1;\n"
                 "setp.eq.u32 %p2, %r7, 0;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                 "@%p2 bra LEAVE;\n@%p0 bra W;\n" EXPECT("1024") //
        "setp.ne.u32 %p3, %r6, 1;\n@%p3 bra W;\nmov.b16 mask, 10;\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%r20], [%d1, {0, 8}], [%r21], mask;\n" WAIT_FOR_IT //
        "shl.b32 %r3, %r2, 2;\nadd.u32 %r4, %r20, %r3;\nld.shared.u32 %r5, [%r4];\n"
        "shl.b32 %r8, %r6, 10;\nadd.u32 %r3, %r3, %r8;\ncvt.u64.u32 %d3, %r3;\n"
        "add.u64 %d3, %d3, %out;\nst.global.u32 [%d3+8192], %r5;\nLEAVE:\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n");
    char with_mask[8192];
    const char *at = strstr(text, ".reg .b32 %r");

    snprintf(with_mask, sizeof with_mask, "%.*s.reg .b16 mask;\n%s", (int)(at - text), text, at);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(with_mask, seed);

        number_words(&t, 32 * 40);
        put_map(&t, 0);
        trial_expect_done(&t, 4, 256, 4, 0);
        for (uint32_t cta = 0; cta < 4; cta++)
            for (uint32_t i = 0; i < 256; i++)
                assert_int_equal(t.words[2048 + 256 * cta + i],
                                 cta % 2 ? 1000 + 256 + i : TRIAL_FRESH);
        trial_free(&t);
    }
}

static void a_tensor_is_stored_and_cut_at_its_end(void **state)
{
    (void)state;
    struct trial t = trial_make(
        KERNEL_WITH(SHARED, MAP
                    "mov.u32 %r2, %tid.x;\nmov.u32 %r20, box;\nshl.b32 %r3, %r2, 2;\n"
                    "add.u32 %r4, %r20, %r3;\nst.shared.u32 [%r4], %r2;\n"
                    "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p0, %r2, 0;\n"
                    "@%p0 bra LEAVE;\n"
                    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d1, {0, 36}], "
                    "[%r20];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
                    "LEAVE:\n"),
        3);

    put_map(&t, 0);
    trial_expect_done(&t, 1, 256, 0, 0);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(t.words[36 * 32 + i], i);
    assert_int_equal(t.words[36 * 32 - 1], TRIAL_FRESH);
    assert_int_equal(t.words[40 * 32], TRIAL_FRESH);
    trial_free(&t);
}

static void what_a_copy_may_not_do_is_a_fault(void **state)
{
    (void)state;
#define LOAD(coordinates, box)                                                                     \
    KERNEL_WITH(SHARED,                                                                            \
                MAP INIT "@%p0 bra LEAVE;\n" EXPECT(                                               \
                    "1024") "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"       \
                            "complete_tx::bytes [%r20+" box "], [%d1, {" coordinates               \
                            "}], [%r21];\n"                                                        \
                            "LEAVE:\n")
    static const struct {
        const char *text;
        enum emu_outcome outcome;
        const char *words[3];
    } cases[] = {
        {LOAD("1, 0", "0"), EMU_ILLEGAL_INSTRUCTION, {"cp.async.bulk.tensor"}},
        {LOAD("0, 0", "64"), EMU_MISALIGNED_ADDRESS, {"cp.async.bulk.tensor"}},
        {LOAD("0, 0", "3968"), EMU_ILLEGAL_ADDRESS, {"a copy of"}},
        {KERNEL_WITH(SHARED,
                     "add.u64 %d1, %out, 8192;\n" INIT "@%p0 bra LEAVE;\n" EXPECT(
                         "1024") "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
                                 "complete_tx::bytes [%r20], [%d1, {0, 0}], [%r21];\nLEAVE:\n"),
         EMU_ILLEGAL_INSTRUCTION,
         {"no tensor map"}},
        {KERNEL_WITH(
             SHARED,
             INIT "@%p0 bra LEAVE;\n" EXPECT(
                 "16") "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], "
                       "[%out+8], 16, [%r21];\nLEAVE:\n"),
         EMU_MISALIGNED_ADDRESS,
         {"no multiples of 16"}},
        {KERNEL_WITH(
             SHARED,
             INIT "@%p0 bra LEAVE;\n" EXPECT(
                 "32") "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], "
                       "[%out+16368], 32, [%r21];\nLEAVE:\n"),
         EMU_ILLEGAL_ADDRESS,
         {"32 bytes at global address"}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trial t = trial_make(cases[i].text, i);

        put_map(&t, 0);
        trial_expect_fault(&t, 1, 32, 0, cases[i].outcome, cases[i].words);
        trial_free(&t);
    }
}

/* ---- cp.async, and values for other CTAs ---- */

static void small_copies_are_waited_for_by_groups(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        SHARED,
        "mov.u32 %r2, %tid.x;\nmov.u32 %r20, box;\nshl.b32 %r3, %r2, 4;\nadd.u32 %r4, %r20, %r3;\n"
        "cvt.u64.u32 %d3, %r3;\nadd.u64 %d4, %d3, %out;\n"
        "cp.async.cg.shared.global [%r4], [%d4], 16;\ncp.async.commit_group;\n"
        "cp.async.ca.shared.global [%r4+1024], [%d4+512], 4, 0;\ncp.async.commit_group;\n"
        "cp.async.wait_group 1;\nld.shared.u32 %r5, [%r4+12];\nst.global.u32 [%d4+1024], %r5;\n"
        "cp.async.wait_all;\nld.shared.u32 %r5, [%r4+1024];\nst.global.u32 [%d4+1028], %r5;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        number_words(&t, 256);
        trial_expect_done(&t, 1, 32, 0, 0);
        for (uint32_t i = 0; i < 32; i++) {
            assert_int_equal(t.words[256 + 4 * i], 1000 + 4 * i + 3);
            assert_int_equal(t.words[257 + 4 * i], 0);
        }
        trial_free(&t);
    }
}

/* Threads from `first` on see the third of the words that one of them copies. */
static void expect_copied(const char *text, uint32_t first)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        number_words(&t, 4);
        trial_expect_done(&t, 1, 64, 0, 0);
        for (uint32_t i = first; i < 64; i++)
            assert_int_equal(t.words[i], 1002);
        trial_free(&t);
    }
}

#define COPY_AND_TELL                                                                              \
    "cp.async.cg.shared.global [%r20], [%out], 16;\n"                                              \
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r21];\n"
#define SEE_COPIED WAIT_FOR_IT "ld.shared.u32 %r5, [%r20+8];\n" STORE_BY_THREAD("%r5")

static void small_copies_arrive_on_a_barrier(void **state)
{
    (void)state;
    expect_copied(KERNEL_WITH(SHARED, INIT "@%p0 bra W;\n" COPY_AND_TELL SEE_COPIED), 0);
}

/* Nobody of their warp is there any more. */
static void small_copies_outlive_their_threads(void **state)
{
    (void)state;
    expect_copied(KERNEL_WITH(SHARED, INIT "@%p0 bra REST;\n" COPY_AND_TELL
                                           "ret;\nREST:\nsetp.lt.u32 %p2, %r2, 32;\n"
                                           "@%p2 ret;\n" SEE_COPIED),
                  32);
}

static void values_travel_to_another_cta(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        SHARED, INIT
        "mov.u32 %r6, %cluster_ctarank;\nxor.b32 %r7, %r6, 1;\n"
        "mapa.shared::cluster.u32 %r8, %r20, %r7;\n"
        "mapa.shared::cluster.u32 %r9, %r21, %r7;\nbarrier.cluster.arrive;\n"
        "barrier.cluster.wait;\n@%p0 bra W;\n" EXPECT(
            "12") "add.u32 %r10, %r6, 50;\n"
                  "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r8], "
                  "{%r10, %r6}, [%r9];\n"
                  "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r8+8], %r10, "
                  "[%r9];\n" WAIT_FOR_IT "ld.shared.u32 %r5, [%r20];\n"
                  "ld.shared.u32 %r3, [%r20+8];\nadd.u32 %r5, %r5, %r3;\n"
                  "mul.wide.u32 %d3, %r6, 4;\nadd.u64 %d3, %d3, %out;\nst.global.u32 [%d3], %r5;\n"
                  "barrier.cluster.arrive;\nbarrier.cluster.wait;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 2, 32, 2, 0);
        assert_int_equal(t.words[0], 102);
        assert_int_equal(t.words[1], 100);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bulk_copy_completes_on_its_barrier),
        cmocka_unit_test(wrong_byte_counts_show),
        cmocka_unit_test(a_store_reads_its_source_late),
        cmocka_unit_test(a_reduction_adds_to_what_is_there),
        cmocka_unit_test(a_tensor_is_loaded_in_boxes),
        cmocka_unit_test(multicast_reaches_the_ctas_of_the_mask),
        cmocka_unit_test(a_tensor_is_stored_and_cut_at_its_end),
        cmocka_unit_test(what_a_copy_may_not_do_is_a_fault),
        cmocka_unit_test(small_copies_are_waited_for_by_groups),
        cmocka_unit_test(small_copies_arrive_on_a_barrier),
        cmocka_unit_test(small_copies_outlive_their_threads),
        cmocka_unit_test(values_travel_to_another_cta),
    };

    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
