/* tcgen05 in small kernels: which forms there are, who may allocate what, loads and stores with
 * their waits, and commits. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS = 12, TEXT_SIZE = 1 << 14 };

/* A module for that target; `%c0` is of 8 bits, `%h0` of 16. */
#define TENSOR_FOR(target, body)                                                                   \
    ".version 8.8\n.target " target "\n.address_size 64\n"                                         \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .b32 %r<48>;\n.reg .b64 %d<16>, %out;\n.reg .pred %p<8>;\n.reg .b16 %h<4>;\n"            \
    ".shared .align 16 .b8 words[4096];\n.shared .align 8 .b64 bar;\n.shared .align 4 .b32 "       \
    "slot;\n"                                                                                      \
    "ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\n" body "\nret;\n}\n"
#define TENSOR(body) TENSOR_FOR("sm_100a", body)

#define ALLOC(columns)                                                                             \
    "mov.u32 %r30, slot;\n"                                                                        \
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r30], " columns ";\n"               \
    "ld.shared.b32 %r29, [%r30];\n"
#define DEALLOC(columns) "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r29, " columns ";\n"

static struct emu_options options_of(int target, uint64_t seed)
{
    return (struct emu_options){.target = target,
                                .multiprocessors = 4,
                                .seed = seed,
                                .threads = 2,
                                .eager = true,
                                .limits = {.steps = 1u << 22}};
}

static struct trial make(const char *text, uint64_t seed)
{
    const struct emu_options options = options_of(100, seed);

    return trial_make_on(text, &options);
}

/* ---- Forms ---- */

/* Whether a text for a target loads; if not, the line that is to blame is told. */
static bool loads(const char *line, const char *target, int device)
{
    static char text[TEXT_SIZE];
    const struct emu_options options = options_of(device, 1);
    struct emu_device *emulated = emu_device_create(&options);
    struct emu_error error = {.line = 0};
    struct emu_program *program;

    assert_non_null(emulated);
    snprintf(text, sizeof text,
             ".version 8.8\n.target %s\n.address_size 64\n.visible .entry k()\n{\n"
             ".reg .b32 %%r<140>;\n.reg .b64 %%d<4>;\n.reg .pred %%p<2>;\n.reg .b16 %%h<2>;\n"
             ".reg .b128 %%q<2>;\n%s\nret;\n}\n",
             target, line);
    program = emu_program_load(emulated, text, strlen(text), &error);
    if (!program) {
        /* The instruction, or the target of the whole text. */
        assert_true(error.line == 11 || error.line == 0);
        assert_non_null(strstr(error.message, error.line ? "tcgen05" : "the text is for"));
    }
    emu_program_unload(program);
    emu_device_destroy(emulated);
    return program != NULL;
}

/* ptxas 13.0 takes these for sm_100a. */
static const char *const accepted[] = {
    "tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d0], %r0;",
    "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 512;",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 32;",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
    "tcgen05.wait::ld.sync.aligned;",
    "tcgen05.wait::st.sync.aligned;",
    "tcgen05.fence::before_thread_sync;",
    "tcgen05.fence::after_thread_sync;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d0];",
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
    "[%r0], %h0;",
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%r2+8];",
    "tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r0, %r1, %r3, %r4}, [%r2];",
    "tcgen05.st.sync.aligned.16x32bx2.x1.unpack::16b.b32 [%r2], 16, {%r0};",
    "tcgen05.cp.cta_group::1.64x128b.warpx2::01_23.b8x16.b6x16_p32 [%r0], %d0;",
    "tcgen05.cp.cta_group::2.4x256b [%r0], %d0;",
    "tcgen05.shift.cta_group::1.down [%r0];",
    "tcgen05.shift.down.cta_group::1 [%r0];",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, 1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], [%r2], %d1, %r1, !%p0, 15;",
    "tcgen05.mma.cta_group::1.kind::tf32.ashift [%r0], [%r2], %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::i8.collector::a::use [%r0], %d0, %d1, %r1, "
    "{%r3, %r4, %r5, %r6}, %p0;",
    "tcgen05.mma.cta_group::2.kind::f8f6f4 [%r0], %d0, %d1, %r1, "
    "{%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, %p0;",
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b3::fill [%r0], %d0, %d1, %r1, %p0, %d2;",
};

/* These neither ptxas nor the machine takes, or the machine has not. */
static const char *const refused[] = {
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 48;",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 1024;",
    "tcgen05.alloc.sync.aligned.shared::cta.b32 [%r1], 32;",
    "tcgen05.alloc.cta_group::1.aligned.shared::cta.b32 [%r1], 32;",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cluster.b32 [%r1], 32;",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], %d0;",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 [%r0], 32;",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d0, 32;",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned %r0;",
    "tcgen05.wait::ld.aligned;",
    "tcgen05.wait::ld.sync.aligned.b32;",
    "tcgen05.wait.sync.aligned;",
    "tcgen05.fence::before_thread_sync.cta;",
    "tcgen05.fence;",
    "tcgen05;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [%r0];",
    "tcgen05.commit.cta_group::1.b64 [%r0];",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%r0], %h0;",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%r0];",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%r0], %r1;",
    "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0}, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 %r0, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d0}, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%p0}, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {_}, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%d2];",
    "tcgen05.ld.sync.aligned.32x32b.x3.b32 {%r0, %r1, %r2}, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.b32 {%r0}, [%r2];",
    "tcgen05.ld.sync.aligned.32x64b.x1.b32 {%r0}, [%r2];",
    "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r0}, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x1.unpack::16b.b32 {%r0}, [%r2];",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%r0, %r1}, %r3, [%r2];",
    "tcgen05.ld.sync.aligned.32x32b.x2.min.f32 {%r0, %r1}, [%r2];",
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], %r0;",
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {1};",
    "tcgen05.st.sync.aligned.32x32b.x1.f32 [%r2], {%r0};",
    "tcgen05.cp.cta_group::1.64x128b [%r0], %d0;",
    "tcgen05.cp.cta_group::1.32x128b.warpx2::01_23 [%r0], %d0;",
    "tcgen05.cp.cta_group::1.128x128b.b8x16 [%r0], %d0;",
    "tcgen05.cp.cta_group::1.128x128b.b4x16_p64 [%r0], %d0;",
    "tcgen05.cp.cta_group::1.128x256b [%r0], %r1;",
    "tcgen05.shift.cta_group::1 [%r0];",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %r2, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %d2, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %r2;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, {%r3, %r4}, %p0;",
    "tcgen05.mma.cta_group::2.kind::f16 [%r0], %d0, %d1, %r1, {%r3, %r4, %r5, %r6}, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %p0, 16;",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %p0, %r2;",
    "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r0], %d0, %d1, %r1, %p0, 1;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill [%r0], [%r2], %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16.collector::a::keep [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::f16.kind::tf32 [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.cta_group::2.kind::f16 [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::3.kind::f16 [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::f4 [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.kind::f16 [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.ws.cta_group::2.kind::f16 [%r0], %d0, %d1, %r1, %p0;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, {%r3, %r4, %r5, %r6}, %p0;",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %p0, 8;",
    "tcgen05.mma.sp.cta_group::1.kind::f16 [%r0], %d0, %d1, [%r2], %r1, %p0;",
    "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r0], %d0, %d1, %r1, [%r2], [%r3], %p0;",
    ("tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %p0;"
     " tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%d0];"),
};

static void forms_are_accepted_or_refused(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++)
        if (!loads(accepted[i], "sm_100a", 100))
            fail_msg("refused: %s", accepted[i]);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (loads(refused[i], "sm_100a", 100))
            fail_msg("accepted: %s", refused[i]);
}

static void targets_have_what_they_have(void **state)
{
    (void)state;
    const char *const mma = "tcgen05.mma.cta_group::1.kind::f16 [%r0], %d0, %d1, %r1, %p0;";
    const char *const i8 = "tcgen05.mma.cta_group::1.kind::i8 [%r0], %d0, %d1, %r1, %p0;";
    const char *const shift = "tcgen05.shift.cta_group::1.down [%r0];";
    const char *const reduce =
        "tcgen05.ld.red.sync.aligned.32x32b.x2.u32.max {%r0, %r1}, %r3, [%r2];";

    assert_true(loads(mma, "sm_100a", 100));
    assert_true(loads(mma, "sm_100f", 100));
    assert_true(loads(mma, "sm_100f", 103));
    assert_true(loads(mma, "sm_103a", 103));
    assert_false(loads(mma, "sm_100", 100));
    assert_false(loads(mma, "sm_100a", 103));
    assert_false(loads(mma, "sm_90a", 100));
    assert_false(loads(mma, "sm_120a", 120));
    assert_true(loads(i8, "sm_100a", 100));
    assert_false(loads(i8, "sm_100f", 100));
    assert_false(loads(i8, "sm_103a", 103));
    assert_true(loads(shift, "sm_103a", 103));
    assert_false(loads(shift, "sm_103f", 103));
    assert_true(loads(reduce, "sm_103a", 103));
    assert_true(loads(reduce, "sm_103f", 103));
    assert_false(loads(reduce, "sm_100a", 100));
}

/* ---- Allocation ---- */

static void fails(const char *text, uint32_t block, enum emu_outcome outcome, const char *words)
{
    const char *const list[] = {words, NULL};

    for (uint64_t seed = 0; seed < 3; seed++) {
        struct trial trial = make(text, seed);

        trial_expect_fault(&trial, 1, block, 0, outcome, list);
        trial_free(&trial);
    }
}

/* Addresses are of lane 0, do not overlap, and are not always the same. */
static void allocations_do_not_overlap(void **state)
{
    (void)state;
    static const char text[] =
        TENSOR(ALLOC("256") "mov.u32 %r1, %r29;\n" ALLOC("128") "mov.u32 %r2, %r29;\n" ALLOC(
            "128") "st.global.v4.b32 [%out], {%r1, %r2, %r29, "
                   "%r29};\n" DEALLOC("128") "mov.u32 %r29, "
                                             "%r1;\n" DEALLOC("256") "mov."
                                                                     "u32 "
                                                                     "%r29,"
                                                                     " %r2;"
                                                                     "\n" DEALLOC("128"));
    bool differs = false;
    uint32_t first = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial trial = make(text, seed);
        const uint32_t *words = trial.words;

        trial_expect_done(&trial, 1, 32, 0, 0);
        assert_true(words[0] % 256 == 0 && words[0] < 512);
        assert_true(words[1] % 128 == 0 && words[1] < 512 && words[1] / 256 != words[0] / 256);
        assert_true(words[2] == (words[1] ^ 128));
        first = seed == 0 ? words[0] : first;
        differs = differs || words[0] != first;
        trial_free(&trial);
    }
    assert_true(differs);
}

/* What has been given back may be had again, also by two CTAs one after the other. */
static void columns_come_back(void **state)
{
    (void)state;
    static const char text[] = TENSOR(ALLOC("512") DEALLOC("512") ALLOC("512") DEALLOC("512") ALLOC(
        "32") DEALLOC("32") "st.global.b32 [%out], %r29;\n");
    struct trial trial = make(text, 1);

    trial_expect_done(&trial, 9, 32, 0, 0);
    trial_free(&trial);
}

static void rules_of_allocation_are_kept(void **state)
{
    (void)state;

    fails(TENSOR("mov.u32 %r0, 48;\n" ALLOC("%r0")), 32, EMU_ILLEGAL_INSTRUCTION, "48 columns");
    fails(TENSOR("mov.u32 %r0, 16;\n" ALLOC("%r0")), 32, EMU_ILLEGAL_INSTRUCTION, "16 columns");
    fails(TENSOR("mov.u32 %r0, %tid.x;\nadd.u32 %r0, %r0, 32;\n" ALLOC("%r0")), 32,
          EMU_ILLEGAL_INSTRUCTION, "all lanes have to give the same");
    fails(TENSOR(ALLOC("32") ALLOC("64")), 32, EMU_ILLEGAL_INSTRUCTION, "may not grow");
    fails(TENSOR(ALLOC("32")), 32, EMU_ILLEGAL_INSTRUCTION, "not deallocated");
    fails(TENSOR(ALLOC("32") DEALLOC("64")), 32, EMU_ILLEGAL_INSTRUCTION, "64 columns");
    fails(TENSOR(ALLOC("32") DEALLOC("32") DEALLOC("32")), 32, EMU_ILLEGAL_ADDRESS,
          "no allocation");
    fails(TENSOR(ALLOC("64") "add.u32 %r29, %r29, 32;\n" DEALLOC("32")), 32, EMU_ILLEGAL_ADDRESS,
          "no allocation");
    fails(TENSOR("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" ALLOC("32")), 32,
          EMU_ILLEGAL_INSTRUCTION, "relinquished");
    fails(TENSOR(ALLOC("32")), 16, EMU_ILLEGAL_INSTRUCTION, "all 32 threads");
    fails(TENSOR("mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra B;\n" ALLOC(
              "32") "B: bar.sync 0;\n@!%p0 bra C;\n" ALLOC("32") "C: bar.sync 0;\n"),
          64, EMU_ILLEGAL_INSTRUCTION, "warp 0 of the CTA allocates");
    fails(
        TENSOR("mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra B;\n" ALLOC(
            "32") "B: bar.sync 0;\nld.shared.b32 %r29, [slot];\n@!%p0 bra C;\n" DEALLOC("32") "C: "
                                                                                              "bar."
                                                                                              "sync"
                                                                                              " "
                                                                                              "0;"
                                                                                              "\n"),
        64, EMU_ILLEGAL_INSTRUCTION, "warp 0 of the CTA has allocated");
    fails(TENSOR("tcgen05.alloc.cta_group::2.sync.aligned.b32 [slot], 32;\n"), 32,
          EMU_ILLEGAL_INSTRUCTION, "no other CTA");
}

/* In one function ptxas refuses both; in two it is the kernel that must not. */
static void groups_are_not_mixed(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.6\n.target sm_100a\n.address_size 64\n"
        ".func other(.reg .b32 address)\n{\n"
        "tcgen05.dealloc.cta_group::2.sync.aligned.b32 address, 32;\nret;\n}\n"
        ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n"
        ".shared .align 4 .b32 slot;\nmov.u32 %r0, slot;\n"
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;\n"
        "ld.shared.b32 %r1, [%r0];\ncall other, (%r1);\nret;\n}\n";
    static const char *const words[] = {"allocated with .cta_group::1", NULL};
    struct trial trial = make(text, 1);

    trial_expect_fault(&trial, 2, 32, 2, EMU_ILLEGAL_INSTRUCTION, words);
    trial_free(&trial);
}

/* One that finds no columns waits, here for ever. */
static void allocations_block(void **state)
{
    (void)state;

    fails(TENSOR(ALLOC("512") ALLOC("32")), 32, EMU_DEADLOCK,
          "waits for 32 columns of tensor memory: 0 are free");
}

#define PAIR_ALLOC                                                                                 \
    "mov.u32 %r30, slot;\n"                                                                        \
    "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r30], 64;\n"                        \
    "ld.shared.b32 %r29, [%r30];\n"

/* Both CTAs get one address, and each has tensor memory of its own. */
static void pairs_allocate_together(void **state)
{
    (void)state;
    static const char text[] = TENSOR(
        PAIR_ALLOC "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %laneid;\nmad.lo.u32 %r1, %r0, 32, %r1;\n"
                   "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r29], {%r1};\n"
                   "tcgen05.wait::st.sync.aligned;\n"
                   "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                   "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r29];\n"
                   "tcgen05.wait::ld.sync.aligned;\n"
                   "mul.wide.u32 %d0, %r1, 4;\nadd.u64 %d0, %out, %d0;\n"
                   "st.global.b32 [%d0], %r2;\nst.global.b32 [%d0 + 1024], %r29;\n"
                   "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                   "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r29, 64;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial trial = make(text, seed);

        trial_expect_done(&trial, 4, 32, 4, 0);
        for (uint32_t i = 0; i < 128; i++) {
            assert_int_equal(trial.words[i], i);
            assert_int_equal(trial.words[256 + i], trial.words[256 + i / 64 * 64]);
        }
        trial_free(&trial);
    }
}

static void pairs_wait_for_each_other(void **state)
{
    (void)state;
    static const char *const words[] = {"waits for the other CTA of its pair to allocate too",
                                        NULL};
    struct trial trial =
        make(TENSOR("mov.u32 %r0, %ctaid.x;\nsetp.eq.u32 %p0, %r0, 1;\n@%p0 ret;\n" PAIR_ALLOC), 1);

    trial_expect_fault(&trial, 2, 32, 2, EMU_DEADLOCK, words);
    trial_free(&trial);
}

/* ---- Loads and stores ---- */

/* Sixteen columns of all lanes and back again by four warps, through two shapes. */
static void what_is_stored_is_loaded(void **state)
{
    (void)state;
    static const char text[] =
        TENSOR("mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bra B;\n" ALLOC(
            "32") "B: bar.sync 0;\nld.shared.b32 %r29, [slot];\n"
                  "and.b32 %r1, %r0, 96;\nshl.b32 %r1, %r1, 16;\nadd.u32 %r1, %r1, %r29;\n"
                  "mul.lo.u32 %r2, %r0, 4;\nadd.u32 %r3, %r2, 1;\nadd.u32 %r4, %r2, 2;\nadd.u32 "
                  "%r5, "
                  "%r2, 3;\n"
                  "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r1 + 8], {%r2, %r3, %r4, %r5};\n"
                  "tcgen05.wait::st.sync.aligned;\n"
                  "tcgen05.ld.sync.aligned.16x64b.x2.b32 {%r6, %r7}, [%r1 + 8];\n"
                  "tcgen05.ld.sync.aligned.16x64b.x2.b32 {%r8, %r9}, [%r1 + 1048584];\n"
                  "tcgen05.wait::ld.sync.aligned;\n"
                  "mul.wide.u32 %d0, %r0, 16;\nadd.u64 %d0, %out, %d0;\n"
                  "st.global.v4.b32 [%d0], {%r6, %r7, %r8, %r9};\n"
                  "bar.sync 0;\n@%p0 bra C;\n" DEALLOC("32") "C:\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial trial = make(text, seed);

        trial_expect_done(&trial, 1, 128, 0, 0);
        for (uint32_t t = 0; t < 128; t++)
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t thread = t % 32, lane = thread / 4 + 8 * (thread % 2) + 16 * (i / 2),
                         column = thread / 2 % 2 + 2 * (i % 2);

                assert_int_equal(trial.words[4 * t + i], 4 * (t / 32 * 32 + lane) + column);
            }
        trial_free(&trial);
    }
}

/* Without its wait a store may come before a load and not be there; but a register that is read has
 * arrived. */
static void moves_take_their_time(void **state)
{
    (void)state;
    static const char text[] =
        TENSOR(ALLOC("32") "mov.u32 %r0, 7;\nmov.u32 %r1, 9;\n"
                           "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r29], {%r0};\n"
                           "tcgen05.wait::st.sync.aligned;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r29];\n"
                           "st.global.b32 [%out], %r2;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r29];\n"
                           "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r29], {%r1};\n"
                           "tcgen05.wait::ld.sync.aligned;\n"
                           "st.global.b32 [%out + 4], %r3;\n"
                           "tcgen05.wait::st.sync.aligned;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r29];\n"
                           "tcgen05.wait::ld.sync.aligned;\n"
                           "st.global.b32 [%out + 8], %r2;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r29];\n"
                           "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r29 + 1], {%r4};\n"
                           "tcgen05.wait::st.sync.aligned;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r29 + 1];\n"
                           "tcgen05.wait::ld.sync.aligned;\n"
                           "st.global.b32 [%out + 12], %r5;\n" DEALLOC("32"));
    int late = 0;

    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        struct trial trial = make(text, seed);

        trial_expect_done(&trial, 1, 32, 0, 0);
        assert_int_equal(trial.words[0], 7);
        assert_true(trial.words[1] == 7 || trial.words[1] == 9);
        late += trial.words[1] == 9;
        assert_int_equal(trial.words[2], 9);
        assert_int_equal(trial.words[3], 9);
        trial_free(&trial);
    }
    assert_in_range(late, 1, 4 * SEEDS - 1);
}

/* What a schedule draws depends on the seed and on nothing else. */
static void threads_change_nothing(void **state)
{
    (void)state;
    static const char text[] =
        TENSOR(ALLOC("32") "mov.u32 %r0, 7;\nmov.u32 %r1, 9;\n"
                           "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r29], {%r0};\n"
                           "tcgen05.wait::st.sync.aligned;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r29];\n"
                           "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r29], {%r1};\n"
                           "tcgen05.wait::ld.sync.aligned;\n"
                           "mov.u32 %r3, %ctaid.x;\nmul.wide.u32 %d0, %r3, 8;\n"
                           "add.u64 %d0, %out, %d0;\nst.global.v2.b32 [%d0], {%r2, %r29};\n"
                           "tcgen05.wait::st.sync.aligned;\n" DEALLOC("32"));
    uint32_t first[64] = {0};

    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct emu_options options = options_of(100, 5);
        struct trial trial;

        options.threads = threads;
        trial = trial_make_on(text, &options);
        trial_expect_done(&trial, 32, 32, 0, 0);
        if (threads == 1)
            memcpy(first, trial.words, sizeof first);
        assert_memory_equal(first, trial.words, sizeof first);
        trial_free(&trial);
    }
}

static void loads_that_may_not_be_are_faults(void **state)
{
    (void)state;

    fails(TENSOR(ALLOC("32") "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r29 + 32];\n"), 32,
          EMU_ILLEGAL_ADDRESS, "is not allocated");
    fails(TENSOR("mov.u32 %r29, 0;\n"
                 "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r29];\n"),
          32, EMU_ILLEGAL_ADDRESS, "is not allocated");
    fails(TENSOR(ALLOC("32") "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r29 + 1048576];\n"),
          32, EMU_ILLEGAL_ADDRESS, "reaches lanes 0 to 31");
    fails(TENSOR(ALLOC("32") "mov.u32 %r1, %tid.x;\nadd.u32 %r29, %r29, %r1;\n"
                             "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r29];\n"),
          32, EMU_ILLEGAL_INSTRUCTION, "all lanes have to give the same");
    fails(TENSOR("mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p0, %r1, 3;\n" ALLOC(
              "32") "@%p0 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%r29];\n"),
          32, EMU_ILLEGAL_INSTRUCTION, "all 32 threads");
}

/* ---- Commits ---- */

/* With nothing before it a commit arrives all the same; by .multicast in each CTA of the mask. */
static void commits_arrive(void **state)
{
    (void)state;
    static const char text[] = TENSOR(
        "mov.u32 %r1, bar;\nmov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n"
        "@!%p0 mbarrier.init.shared.b64 [%r1], 1;\nfence.mbarrier_init.release.cluster;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
        "mov.u32 %r2, %cluster_ctarank;\nsetp.ne.or.u32 %p1, %r2, 2, %p0;\nmov.b16 %h0, 11;\n"
        "@!%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
        ".multicast::cluster.b64 [%r1], %h0;\n"
        "@!%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra W;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial trial = make(text, seed);

        trial_expect_done(&trial, 4, 32, 4, 0);
        trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_accepted_or_refused),
        cmocka_unit_test(targets_have_what_they_have),
        cmocka_unit_test(allocations_do_not_overlap),
        cmocka_unit_test(columns_come_back),
        cmocka_unit_test(rules_of_allocation_are_kept),
        cmocka_unit_test(groups_are_not_mixed),
        cmocka_unit_test(allocations_block),
        cmocka_unit_test(pairs_allocate_together),
        cmocka_unit_test(pairs_wait_for_each_other),
        cmocka_unit_test(what_is_stored_is_loaded),
        cmocka_unit_test(moves_take_their_time),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(loads_that_may_not_be_are_faults),
        cmocka_unit_test(commits_arrive),
    };

    return cmocka_run_group_tests_name("emulator tcgen05", tests, NULL, NULL);
}
