/* The seed alone decides: with any number of threads a run gives the same bytes, the same words and
 * the same clocks. Kernels whose answer depends on the schedule show most. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 4, PRINTED_MAX = 16384 };

static const uint32_t thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

/* What a run shows of itself. */
struct shown {
    enum emu_outcome outcome;
    struct emu_error error;
    uint64_t used_bytes;
    uint32_t words[TRIAL_WORDS];
    char printed[PRINTED_MAX];
};

struct kernel {
    const char *name, *text;
    uint32_t grid, block, cluster;
    enum emu_outcome outcome;
    bool depends; /* on the schedule, whatever else is right */
    struct emu_limits limits;
};

/* ---- Kernels ---- */

#define IDENTITY                                                                                   \
    "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"                        \
    "mad.lo.u32 %r3, %r0, %r1, %r2;\n" /* %d1: of a word for each thread of the grid */            \
    "and.b32 %r4, %r3, 2047;\nmul.wide.u32 %d1, %r4, 4;\nadd.u64 %d1, %d1, %out;\n"
#define LOOP(times, body)                                                                          \
    "mov.u32 %r30, 0;\nLOOP:\n" body "add.u32 %r30, %r30, 1;\nsetp.lt.u32 %p7, %r30, " times       \
    ";\n@%p7 bra LOOP;\n"
/* %d2: of a word that %r30 and the thread choose among 64 behind 2048 */
#define CHOOSE                                                                                     \
    "mad.lo.u32 %r5, %r30, 40503, %r3;\nshr.u32 %r6, %r5, 5;\nxor.b32 %r5, %r5, %r6;\n"            \
    "and.b32 %r5, %r5, 63;\nmul.wide.u32 %d2, %r5, 4;\nadd.u64 %d2, %d2, %out;\n"
/* out[thread] = the clock, mixed into what is there */
#define CLOCK "mov.u64 %d3, %clock64;\nst.global.u32 [%d1+4], %d3;\n"
#define SHARED ".shared .align 128 .b8 box[1024];\n.shared .align 8 .b64 full;\n"

/* Reads, changes and writes words that all fight for, and tells what it saw. */
#define RACY                                                                                       \
    KERNEL(IDENTITY LOOP("20", CHOOSE                                                              \
                         "ld.global.u32 %r7, [%d2+8192];\nmad.lo.u32 %r7, %r7, 5, %r3;\n"          \
                         "st.global.u32 [%d2+8192], %r7;\nld.volatile.global.u32 %r8, [%d2+8200];" \
                         "\nxor.b32 %r9, %r9, %r8;\nst.global.u32 [%d1], %r9;\n"))
/* Each atomic gives back what depends on all before it. */
#define TICKETS                                                                                    \
    KERNEL(IDENTITY LOOP("6",                                                                      \
                         CHOOSE "atom.global.add.u32 %r7, [%out+16380], 1;\n"                      \
                                "atom.global.exch.b32 %r8, [%d2+8192], %r7;\n"                     \
                                "red.global.add.u32 [%d2+8448], %r8;\n"                            \
                                "mad.lo.u32 %r9, %r9, 3, %r7;\n") "st.global.u32 [%d1], %r9;")
/* Floating-point sums in the order that comes. */
#define SUMS                                                                                       \
    KERNEL(IDENTITY "cvt.rn.f32.u32 %f0, %r3;\nadd.f32 %f0, %f0, 0f3DCCCCCD;\n"                    \
                    "rcp.rn.f32 %f0, %f0;\n" LOOP("8", "red.global.add.f32 [%out+8192], %f0;\n"    \
                                                       "mul.f32 %f0, %f0, 0f3F99999A;\n"))
#define TURNSTILE                                                                                  \
    KERNEL(IDENTITY "setp.ne.u32 %p0, %r2, 0;\nmov.u32 %r5, %nctaid.x;\n"                          \
                    "@%p0 bra WAIT;\nred.release.gpu.global.add.u32 [%out+16000], 1;\n"            \
                    "WAIT:\nld.acquire.gpu.global.u32 %r6, [%out+16000];\n"                        \
                    "setp.lt.u32 %p1, %r6, %r5;\n@%p1 bra WAIT;\n" CLOCK)
/* From each CTA to the next through global memory, by all kinds of copies at once. */
#define COPIES                                                                                     \
    KERNEL_WITH(                                                                                   \
        SHARED, IDENTITY                                                                           \
        "mov.u32 %r20, box;\nmov.u32 %r21, full;\nshl.b32 %r10, %r2, 2;\nadd.u32 %r10, %r10, "     \
        "%r20;\nsetp.ne.u32 %p0, %r2, 0;\nst.shared.u32 [%r10], %r3;\n@%p0 bra READY;\n"           \
        "mbarrier.init.shared::cta.b64 [%r21], 1;\nREADY:\nbar.sync 0;\n"                          \
        "and.b32 %r11, %r0, 7;\nmul.wide.u32 %d4, %r11, 256;\nadd.u64 %d4, %d4, %out;\n"           \
        "xor.b32 %r12, %r11, 1;\nmul.wide.u32 %d5, %r12, 256;\nadd.u64 %d5, %d5, %out;\n"          \
        "st.global.u32 [%d1], %r3;\n"                                                              \
        "cp.async.ca.shared.global [%r10+512], [%d1], 4;\ncp.async.commit_group;\n"                \
        "@%p0 bra WAIT;\nfence.proxy.async.shared::cta;\n"                                         \
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d4+8192], [%r20], 128;\n"    \
        "cp.async.bulk.global.shared::cta.bulk_group [%d5+8320], [%r20], 128;\n"                   \
        "cp.async.bulk.commit_group;\n"                                                            \
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 256;\n"                              \
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20+256], "           \
        "[%d5+8192], 256, [%r21];\ncp.async.bulk.wait_group 0;\nld.global.u32 %r13, [%d4+8196];\n" \
        "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r21], 0;\n@!%p1 bra WAIT;\n"       \
        "cp.async.wait_all;\nld.shared.u32 %r14, [%r10+256];\nld.shared.u32 %r15, [%r10+512];\n"   \
        "add.u32 %r13, %r13, %r14;\nadd.u32 %r13, %r13, %r15;\nst.global.u32 [%d1], %r13;\n")
#define PRINTS                                                                                     \
    KERNEL_WITH(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"           \
                ".global .align 1 .b8 text[4] = {37, 117, 10, 0};\n",                              \
                IDENTITY ".local .align 8 .b8 values[8];\nst.local.u32 [values], %r3;\n"           \
                         "mov.u64 %d4, values;\ncvta.local.u64 %d4, %d4;\nmov.u64 %d5, text;\n"    \
                         "cvta.global.u64 %d5, %d5;\n{\n.param .b64 f; .param .b64 a; "            \
                         ".param .b32 r;\nst.param.b64 [f], %d5;\nst.param.b64 [a], %d4;\n"        \
                         "call.uni (r), vprintf, (f, a);\n}\n" CLOCK)
/* Those that fault do so in one round or another; what they stored before is there. */
#define TRAPS                                                                                      \
    KERNEL(IDENTITY "and.b32 %r5, %r0, 3;\nsetp.ne.u32 %p0, %r5, 2;\n"                             \
                    "st.global.u32 [%d1], %r3;\n" LOOP(                                            \
                        "9", CHOOSE) "@%p0 bra LEAVE;\n"                                           \
                                     "st.global.u32 [%d1+4096], %r3;\ntrap;\nLEAVE:\n")
#define STRAYS                                                                                     \
    KERNEL(IDENTITY LOOP("30", "ld.global.u32 %r5, [%d1];\n"                                       \
                               "mad.wide.u32 %d1, %r0, 8, %d1;\nst.global.u32 [%d1], %r30;\n"))
#define DEADLOCKS                                                                                  \
    KERNEL_WITH(SHARED, IDENTITY "mov.u32 %r21, full;\nsetp.ne.u32 %p0, %r2, 0;\n"                 \
                                 "@%p0 bra READY;\nmbarrier.init.shared::cta.b64 [%r21], 2;\n"     \
                                 "READY:\nbar.sync 0;\nand.b32 %r5, %r0, 1;\n"                     \
                                 "setp.ne.u32 %p1, %r5, 0;\n@%p1 bra LEAVE;\n@%p0 bra WAIT;\n"     \
                                 "mbarrier.arrive.shared::cta.b64 _, [%r21];\nWAIT:\n"             \
                                 "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r21], 0;\n"      \
                                 "@!%p2 bra WAIT;\nLEAVE:\n")
#define ENDLESS KERNEL(IDENTITY "FOREVER:\nadd.u32 %r5, %r5, 1;\nbra FOREVER;\n")
/* Frames for as long as there is memory, which all share. */
#define DEEP                                                                                       \
    KERNEL_WITH(".func (.reg .b32 r) deep(.reg .b32 x)\n{\n.reg .b32 y;\n.reg .pred p;\n"          \
                "setp.eq.u32 p, x, 0;\nmov.b32 r, 0;\n@p bra UP;\nsub.u32 y, x, 1;\n"              \
                "call (r), deep, (y);\nadd.u32 r, r, x;\nUP:\nret;\n}\n",                          \
                IDENTITY "mad.lo.u32 %r5, %r0, 9, 40;\ncall (%r6), deep, (%r5);\n"                 \
                         "st.global.u32 [%d1], %r6;\n")
/* Local memory that doubles. */
#define WIDE                                                                                       \
    KERNEL(".local .align 4 .b8 mine[65536];\n" IDENTITY                                           \
           "mov.u64 %d4, mine;\nmov.u64 %d5, 0;\nmul.wide.u32 %d7, %r0, 256;\n" LOOP(              \
               "40", "add.u64 %d5, %d5, 200;\nadd.u64 %d5, %d5, %d7;\nadd.u64 %d6, %d4, %d5;\n"    \
                     "st.local.u32 [%d6], %r30;\nld.local.u32 %r5, [%d6];\n"                       \
                     "add.u32 %r6, %r6, %r5;\n") "st.global.u32 [%d1], %r6;\n")
/* As many pieces as there are, and half of them given back. */
#define HEAP                                                                                       \
    KERNEL_WITH(                                                                                   \
        ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);" \
        "\n",                                                                                      \
        IDENTITY LOOP("6", "{\n.param .b64 a; .param .b64 r;\nst.param.b64 [a], 2000;\n"           \
                           "call.uni (r), malloc, (a);\nld.param.b64 %d4, [r];\n}\n"               \
                           "setp.eq.u64 %p0, %d4, 0;\n@%p0 bra NONE;\nadd.u32 %r5, %r5, 1;\n"      \
                           "st.u32 [%d4], %r3;\nld.u32 %r6, [%d4];\nadd.u32 %r7, %r7, %r6;\n"      \
                           "and.b32 %r6, %r30, 1;\nsetp.eq.u32 %p1, %r6, 0;\n@%p1 bra NONE;\n"     \
                           "{\n.param .b64 a;\nst.param.b64 [a], %d4;\ncall.uni free, (a);\n}\n"   \
                           "NONE:\n") "st.global.u32 [%d1], %r5;\n")

static const struct kernel kernels[] = {
    {"racy", RACY, 24, 64, 0, EMU_DONE, true, {0}},
    {"racy in clusters", RACY, 24, 32, 4, EMU_DONE, true, {0}},
    {"tickets", TICKETS, 20, 96, 0, EMU_DONE, true, {0}},
    {"sums", SUMS, 30, 64, 0, EMU_DONE, true, {0}},
    {"turnstile", TURNSTILE, 16, 64, 0, EMU_DONE, true, {0}},
    {"copies", COPIES, 24, 64, 0, EMU_DONE, true, {0}},
    {"prints", PRINTS, 12, 33, 0, EMU_DONE, true, {0}},
    {"traps", TRAPS, 16, 64, 0, EMU_TRAPPED, true, {0}},
    {"strays", STRAYS, 200, 32, 0, EMU_ILLEGAL_ADDRESS, false, {0}},
    {"deadlocks", DEADLOCKS, 6, 64, 0, EMU_DEADLOCK, false, {0}},
    {"endless", ENDLESS, 6, 64, 0, EMU_OUT_OF_STEPS, false, {.steps = 50000}},
    {"deep", DEEP, 16, 32, 0, EMU_DONE, false, {0}},
    {"too deep", DEEP, 16, 32, 0, EMU_NO_RESOURCES, false, {.memory_bytes = 600000}},
    {"wide", WIDE, 8, 32, 0, EMU_DONE, false, {0}},
    {"too wide", WIDE, 8, 32, 0, EMU_NO_RESOURCES, false, {.memory_bytes = 3000000}},
    {"heap", HEAP, 12, 64, 0, EMU_DONE, true, {.memory_bytes = 3000000}},
};

/* ---- A run, and all that it shows ---- */

static enum emu_outcome run(struct trial *t, const struct kernel *kernel)
{
    return trial_run(t, kernel->grid, kernel->block, kernel->cluster, 0);
}

/* What goes to stdout meanwhile is kept. */
static enum emu_outcome run_keeping(struct trial *t, const struct kernel *kernel, char *printed)
{
    enum emu_outcome outcome;
    FILE *kept = tmpfile();
    int out;

    assert_non_null(kept);
    fflush(stdout);
    out = dup(STDOUT_FILENO);
    assert_true(out >= 0 && dup2(fileno(kept), STDOUT_FILENO) >= 0);
    outcome = run(t, kernel);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(kept);
    printed[fread(printed, 1, PRINTED_MAX - 1, kept)] = '\0';
    fclose(kept);
    return outcome;
}

static void show(const struct kernel *kernel, uint64_t seed, uint32_t threads, struct shown *shown)
{
    const struct emu_options options = {.target = 90,
                                        .multiprocessors = 3,
                                        .seed = seed,
                                        .threads = threads,
                                        .eager = true,
                                        .limits = kernel->limits};
    struct trial t = trial_make_on(kernel->text, &options);

    uint64_t used = emu_used_bytes(t.device);

    memset(shown, 0, sizeof *shown);
    memset(t.words, 0, sizeof shown->words);
    shown->outcome =
        strstr(kernel->text, "vprintf") ? run_keeping(&t, kernel, shown->printed) : run(&t, kernel);
    shown->error = t.error;
    shown->used_bytes = emu_used_bytes(t.device) - used;
    if (!strstr(kernel->text, "malloc") && shown->used_bytes != 0)
        fail_msg("%s: %lld bytes are left", kernel->name, (long long)shown->used_bytes);
    memcpy(shown->words, t.words, sizeof shown->words);
    trial_free(&t);
}

/* Where they differ is told in the words of the test. */
static void expect_same(const struct kernel *kernel, uint64_t seed, uint32_t threads,
                        const struct shown *one, const struct shown *many)
{
    const char *name = kernel->name;

    if (one->outcome != many->outcome || strcmp(one->error.message, many->error.message) != 0)
        fail_msg("%s, seed %u, %u threads: %s\nand with one: %s", name, (unsigned)seed, threads,
                 many->error.message, one->error.message);
    if (strcmp(one->printed, many->printed) != 0)
        fail_msg("%s, seed %u, %u threads: prints something else", name, (unsigned)seed, threads);
    for (uint32_t i = 0; i < TRIAL_WORDS; i++)
        if (one->words[i] != many->words[i])
            fail_msg("%s, seed %u, %u threads: word %u is 0x%x, and 0x%x with one thread", name,
                     (unsigned)seed, threads, i, many->words[i], one->words[i]);
    assert_memory_equal(one, many, sizeof *one);
}

/* ---- Tests ---- */

static void threads_change_nothing(void **state)
{
    struct shown *first = calloc(SEEDS, sizeof *first), *other = calloc(1, sizeof *other);

    (void)state;
    assert_true(first && other);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        const struct kernel *kernel = &kernels[k];
        int different = 0;

        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            show(kernel, seed, thread_counts[0], &first[seed]);
            if (first[seed].outcome != kernel->outcome)
                fail_msg("%s, seed %u: %s", kernel->name, (unsigned)seed,
                         first[seed].error.message);
            for (int i = 1; i < THREAD_COUNTS; i++) {
                show(kernel, seed, thread_counts[i], other);
                expect_same(kernel, seed, thread_counts[i], &first[seed], other);
            }
            if (seed > 0)
                different += memcmp(&first[seed], &first[0], sizeof *first) != 0;
        }
        if (kernel->depends && different < SEEDS - 1)
            fail_msg("%s: %d of %d seeds give what the first gives", kernel->name,
                     SEEDS - 1 - different, SEEDS - 1);
    }
    free(other);
    free(first);
}

/* CTA i of a pair stores to word 32 * i of its pair's 64, and loads the other one. */
#define CROSSING(fence)                                                                            \
    KERNEL(IDENTITY "shr.u32 %r5, %r0, 1;\nand.b32 %r6, %r0, 1;\nxor.b32 %r7, %r6, 1;\n"           \
                    "shl.b32 %r5, %r5, 8;\nshl.b32 %r6, %r6, 7;\nshl.b32 %r7, %r7, 7;\n"           \
                    "add.u32 %r6, %r6, %r5;\nadd.u32 %r7, %r7, %r5;\ncvt.u64.u32 %d4, %r6;\n"      \
                    "cvt.u64.u32 %d5, %r7;\nadd.u64 %d4, %d4, %out;\nadd.u64 %d5, %d5, %out;\n"    \
                    "st.relaxed.gpu.global.u32 [%d4+8192], 1;\n" fence                             \
                    "ld.relaxed.gpu.global.u32 %r8, [%d5+8192];\nst.global.u32 [%d1], %r8;\n")

/* Pairs of which both missed the other's store. */
static int both_missed(const char *text, uint64_t seed)
{
    struct trial t = trial_make(text, seed);
    int missed = 0;

    memset(t.words, 0, TRIAL_WORDS * sizeof(uint32_t));
    trial_expect_done(&t, 32, 1, 0, 0);
    for (int pair = 0; pair < 16; pair++)
        missed += t.words[2 * pair] == 0 && t.words[2 * pair + 1] == 0;
    trial_free(&t);
    return missed;
}

/* With a fence between one of the two at least sees the other's store (PTX ISA "membar/fence":
 * fence.sc). Without it both may miss it. */
static void a_fence_keeps_a_load_behind_a_store(void **state)
{
    int without = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        assert_int_equal(both_missed(CROSSING("fence.sc.gpu;\n"), seed), 0);
        assert_int_equal(both_missed(CROSSING("membar.gl;\n"), seed), 0);
        without += both_missed(CROSSING(""), seed);
    }
    assert_true(without > 0);
}

/* A thread, and its CTA behind a barrier, load what was stored just before: by ld and by cp.async.
 */
static void stores_are_there_for_the_own_loads(void **state)
{
    (void)state;
    const char *text = KERNEL_WITH(
        SHARED,
        IDENTITY "xor.b32 %r5, %r3, 33;\nand.b32 %r5, %r5, 2047;\nmul.wide.u32 %d2, %r5, 4;\n"
                 "add.u64 %d2, %d2, %out;\nmov.u32 %r20, box;\nshl.b32 %r11, %r2, 2;\n"
                 "add.u32 %r20, %r20, %r11;\nxor.b32 %r9, %r3, 33;\n" //
        LOOP("10", "add.u32 %r6, %r3, %r30;\nst.global.u32 [%d1], %r6;\n"
                   "cp.async.ca.shared.global [%r20], [%d1], 4;\ncp.async.wait_all;\n"
                   "ld.shared.u32 %r12, [%r20];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%d1], %r6;\n"
                   "ld.global.u32 %r7, [%d1];\nbar.sync 0;\nld.global.u32 %r8, [%d2];\n"
                   "sub.u32 %r7, %r7, %r6;\nsub.u32 %r6, %r6, 1;\nsub.u32 %r12, %r12, %r6;\n"
                   "sub.u32 %r8, %r8, %r9;\nsub.u32 %r8, %r8, %r30;\nsub.u32 %r8, %r8, 1;\n"
                   "or.b32 %r10, %r10, %r7;\nor.b32 %r10, %r10, %r8;\nor.b32 %r10, %r10, %r12;\n"
                   "bar.sync 0;\n") "st.global.u32 [%d1], %r10;\n");

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(text, seed);

        trial_expect_done(&t, 20, 64, 0, 0);
        for (uint32_t i = 0; i < 20 * 64; i++)
            assert_int_equal(t.words[i], 0);
        trial_free(&t);
    }
}

/* All fault in the first round: the first CTA tells. */
static void of_faults_in_one_round_the_first_cta_tells(void **state)
{
    (void)state;
    static const char *const words[] = {"CTA (0,0,0)", NULL};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct trial t = trial_make(KERNEL("trap;\n"), seed);

        trial_expect_fault(&t, 12, 1024, 0, EMU_TRAPPED, words);
        trial_free(&t);
    }
}

/* Whose store in one round is the last, and whose atomic: each of four CTAs in about a quarter of
 * all runs. */
static void who_is_last_in_a_round_is_drawn(void **state)
{
    enum { CTAS = 4, RUNS = 200 };
    int stored[CTAS] = {0}, exchanged[CTAS] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct trial t = trial_make(KERNEL("mov.u32 %r0, %ctaid.x;\nst.global.u32 [%out], %r0;\n"
                                           "atom.global.exch.b32 %r1, [%out+4], %r0;\n"),
                                    seed);

        trial_expect_done(&t, CTAS, 1, 0, 0);
        assert_true(t.words[0] < CTAS && t.words[1] < CTAS);
        stored[t.words[0]]++;
        exchanged[t.words[1]]++;
        trial_free(&t);
    }
    for (int i = 0; i < CTAS; i++) {
        assert_in_range(stored[i], RUNS / 6, RUNS / 3);
        assert_in_range(exchanged[i], RUNS / 6, RUNS / 3);
    }
}

/* ---- Beside other threads and processes ---- */

static void *show_all(void *user)
{
    struct shown *shown = user;

    for (size_t k = 0; k < 5; k++)
        show(&kernels[k], 1, 3, &shown[k]);
    return NULL;
}

static void devices_of_several_threads_do_not_meet(void **state)
{
    enum { PROGRAMS = 3 };
    struct shown *shown[PROGRAMS];
    pthread_t threads[PROGRAMS];

    (void)state;
    for (int i = 0; i < PROGRAMS; i++) {
        shown[i] = calloc(5, sizeof *shown[i]);
        assert_non_null(shown[i]);
        assert_int_equal(pthread_create(&threads[i], NULL, show_all, shown[i]), 0);
    }
    for (int i = 0; i < PROGRAMS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < PROGRAMS; i++)
        for (size_t k = 0; k < 5; k++)
            assert_memory_equal(shown[i][k].words, shown[0][k].words, sizeof shown[0][k].words);
    for (int i = 0; i < PROGRAMS; i++)
        free(shown[i]);
}

static void a_child_has_helpers_of_its_own(void **state)
{
    struct shown *here = calloc(2, sizeof *here);
    int status = 0;
    pid_t child;

    (void)state;
    assert_non_null(here);
    show(&kernels[0], 7, 3, &here[0]);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        show(&kernels[0], 7, 3, &here[1]);
        _exit(memcmp(&here[0], &here[1], sizeof here[0]) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_fence_keeps_a_load_behind_a_store),
        cmocka_unit_test(stores_are_there_for_the_own_loads),
        cmocka_unit_test(of_faults_in_one_round_the_first_cta_tells),
        cmocka_unit_test(who_is_last_in_a_round_is_drawn),
        cmocka_unit_test(devices_of_several_threads_do_not_meet),
        cmocka_unit_test(a_child_has_helpers_of_its_own),
    };

    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
