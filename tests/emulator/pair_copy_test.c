/* Tensor copies with .cta_group: which barrier hears of the bytes that come to a CTA of a pair. */
#include "emulator/tensor_map.h"
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { SEEDS = 12, MAP_WORDS = EMU_TENSOR_MAP_BYTES / 4, TILE_WORDS = 256, MAP_UINT32 = 2 };

/* The map at `out`, its tensor 4096 bytes behind it; the results behind that. */
#define PAIR_FOR(target, body)                                                                     \
    ".version 8.6\n.target " target "\n.address_size 64\n"                                         \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .b32 %r<32>;\n.reg .b64 %d<8>, %out;\n.reg .pred %p<8>;\n.reg .b16 %h<2>;\n"             \
    ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 full;\n"                            \
    "ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\n"                                  \
    "mov.u32 %r0, %cluster_ctarank;\nmov.u32 %r1, tile;\nmov.u32 %r2, full;\nmov.u32 %r3, 0;\n"    \
    "mov.u32 %r4, %tid.x;\nsetp.ne.u32 %p0, %r4, 0;\n"                                             \
    "@!%p0 mbarrier.init.shared::cta.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\n"        \
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" body                        \
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n}\n"
#define PAIR(body) PAIR_FOR("sm_100a", body)

/* Word `thread` of the tile to its place behind the tensor. */
#define STORE_TILE                                                                                 \
    "mad.lo.u32 %r10, %r4, 4, %r1;\nld.shared.b32 %r11, [%r10];\n"                                 \
    "mad.lo.u32 %r10, %r0, 32, %r4;\nmul.wide.u32 %d1, %r10, 4;\nadd.u64 %d1, %out, %d1;\n"        \
    "st.global.b32 [%d1 + 12288], %r11;\n"
#define WAIT_FOR(register)                                                                         \
    "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [" register "], 0;\n"        \
                                                                                  "@!%p1 bra W;\n"
#define COPY(group, target, barrier, mask)                                                         \
    "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" group       \
    " [" target "], [%out, {%r3}], [" barrier "]" mask ";\n"

static struct trial make(const char *text, uint64_t seed, int target)
{
    const struct emu_options options = {.target = target,
                                        .multiprocessors = 4,
                                        .seed = seed,
                                        .threads = 2,
                                        .limits = {.steps = 1u << 22}};
    struct trial trial = trial_make_on(text, &options);
    const struct emu_tensor_map map = {.type = MAP_UINT32,
                                       .rank = 1,
                                       .address = trial.buffer + 4096,
                                       .dims = {TILE_WORDS},
                                       .strides = {4},
                                       .box = {TILE_WORDS},
                                       .element_strides = {1}};

    assert_int_equal(emu_tensor_map_encode((unsigned char *)trial.words, &map), 0);
    for (uint32_t i = 0; i < TILE_WORDS; i++)
        trial.words[1024 + i] = 1000 + i;
    return trial;
}

static void check_tiles(const struct trial *trial, uint32_t ctas)
{
    for (uint32_t i = 0; i < 32 * ctas; i++)
        assert_int_equal(trial->words[3072 + i], 1000 + i % 32);
}

/* Each CTA of a pair loads for itself, and tells the even one, which waits for the bytes of both.
 */
static void the_even_cta_hears_of_both(void **state)
{
    (void)state;
    static const char text[] = PAIR(
        "and.b32 %r5, %r2, 0xfeffffff;\nand.b32 %r6, %r0, 1;\nsetp.ne.or.u32 %p2, %r6, 0, %p0;\n"
        "@!%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;\n"
        "@!%p0 " COPY(".cta_group::2", "%r1", "%r5",
                      "") "setp.ne.u32 %p3, %r6, 0;\n@%p3 bra "
                          "D;\n" WAIT_FOR("%r2") "D: "
                                                 "barrier.cluster.arrive."
                                                 "aligned;\nbarrier.cluster."
                                                 "wait.aligned;\n" STORE_TILE);

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial trial = make(text, seed, 100);

        trial_expect_done(&trial, 4, 32, 4, 0);
        check_tiles(&trial, 4);
        trial_free(&trial);
    }
}

/* A multicast tells, for each target, the CTA of its pair with the parity of the barrier's. */
static void a_multicast_tells_one_of_each_pair(void **state)
{
    (void)state;
    static const char text[] =
        PAIR("and.b32 %r6, %r0, 1;\nsetp.ne.or.u32 %p2, %r6, 1, %p0;\n"
             "@!%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;\n"
             "mov.b16 %h0, 15;\nmapa.shared::cluster.u32 %r5, %r2, 1;\n"
             "setp.ne.or.u32 %p4, %r0, 2, %p0;\n"
             "@!%p4 " COPY(".multicast::cluster.cta_group::2", "%r1", "%r5",
                           ", %h0") "setp.ne.u32 %p3, %r6, 1;\n@%p3 bra "
                                    "D;\n" WAIT_FOR("%r2") "D: "
                                                           "barrier.cluster.arrive."
                                                           "aligned;\nbarrier."
                                                           "cluster.wait.aligned;"
                                                           "\n" STORE_TILE);

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial trial = make(text, seed, 100);

        trial_expect_done(&trial, 4, 32, 4, 0);
        check_tiles(&trial, 4);
        trial_free(&trial);
    }
}

static void fails(const char *text, uint32_t cluster, int target, const char *words)
{
    const char *const list[] = {words, NULL};
    struct trial trial = make(text, 1, target);

    trial_expect_fault(&trial, cluster, 32, cluster, EMU_ILLEGAL_INSTRUCTION, list);
    trial_free(&trial);
}

static void barriers_elsewhere_are_refused(void **state)
{
    (void)state;

    fails(PAIR("xor.b32 %r5, %r2, 0x1000000;\n" COPY("", "%r1", "%r5", "")), 2, 100,
          ".cta_group::2 is not there");
    fails(PAIR("xor.b32 %r5, %r2, 0x1000000;\n" COPY(".cta_group::1", "%r1", "%r5", "")), 2, 100,
          ".cta_group::2 is not there");
    fails(PAIR("xor.b32 %r5, %r2, 0x2000000;\n" COPY(".cta_group::2", "%r1", "%r5", "")), 4, 100,
          "of another pair");
    fails(PAIR(COPY(".cta_group::2", "%r1", "%r2", "")), 1, 100, "no other CTA");
}

static void other_targets_have_no_groups(void **state)
{
    (void)state;
    static const char text[] = PAIR_FOR("sm_90a", COPY(".cta_group::2", "%r1", "%r2", ""));

    assert_non_null(strstr(trial_refused(text).message, "of a group of CTAs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_even_cta_hears_of_both),
        cmocka_unit_test(a_multicast_tells_one_of_each_pair),
        cmocka_unit_test(barriers_elsewhere_are_refused),
        cmocka_unit_test(other_targets_have_no_groups),
    };

    return cmocka_run_group_tests_name("emulator pair copies", tests, NULL, NULL);
}
