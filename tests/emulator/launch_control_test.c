/* clusterlaunchcontrol: running clusters take over the work of those that have not begun. */
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS = 20, SHARED_BYTES = 200000 /* one CTA a multiprocessor */ };

#define HEAD(target)                                                                               \
    ".version 8.6\n.target " target "\n.address_size 64\n"                                         \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .b32 %r<32>;\n.reg .b64 %d<8>, %out;\n.reg .pred %p<8>;\n.reg .b128 %q;\n"               \
    ".shared .align 16 .b8 answer[16];\n.shared .align 8 .b64 full;\n"                             \
    "ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\n"
#define KERNEL_FOR(target, body) HEAD(target) body "\nret;\n}\n"

/* Each CTA adds 1 at its own place, and at those of the CTAs that it takes over. */
static const char persistent[] = KERNEL_FOR("sm_100a", "\
mov.u32 %r0, %ctaid.x;\n\
mov.u32 %r1, %ctaid.y;\n\
mov.u32 %r2, %nctaid.x;\n\
mov.u32 %r3, 0;\n\
mov.u32 %r20, answer;\n\
mov.u32 %r21, full;\n\
mbarrier.init.shared.b64 [%r21], 1;\n\
fence.mbarrier_init.release.cluster;\n\
NEXT:\n\
mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 16;\n\
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r20], [%r21];\n\
mad.lo.u32 %r4, %r1, %r2, %r0;\n\
mul.wide.u32 %d0, %r4, 4;\n\
add.u64 %d0, %out, %d0;\n\
red.global.add.u32 [%d0], 1;\n\
WAIT:\n\
mbarrier.try_wait.parity.shared.b64 %p0, [%r21], %r3;\n\
@!%p0 bra WAIT;\n\
xor.b32 %r3, %r3, 1;\n\
ld.shared.b128 %q, [%r20];\n\
fence.proxy.async.shared::cta;\n\
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;\n\
@!%p1 bra END;\n\
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r5, _}, %q;\n\
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r6, %q;\n\
clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r7, %q;\n\
clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r8, %q;\n\
setp.ne.u32 %p2, %r6, %r0;\n\
setp.ne.or.u32 %p2, %r7, %r1, %p2;\n\
setp.ne.or.u32 %p2, %r8, %r5, %p2;\n\
@%p2 trap;\n\
bra NEXT;\n\
END:");

/* The first CTA of each cluster asks for both; each takes its own part. */
static const char clusters[] = KERNEL_FOR("sm_100a", "\
mov.u32 %r0, %ctaid.x;\n\
mov.u32 %r9, %cluster_ctarank;\n\
setp.ne.u32 %p3, %r9, 0;\n\
mov.u32 %r3, 0;\n\
mov.u32 %r20, answer;\n\
mov.u32 %r21, full;\n\
mbarrier.init.shared.b64 [%r21], 1;\n\
fence.mbarrier_init.release.cluster;\n\
NEXT:\n\
mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 16;\n\
barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
@!%p3 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes\
.multicast::cluster::all.b128 [%r20], [%r21];\n\
mul.wide.u32 %d0, %r0, 4;\n\
add.u64 %d0, %out, %d0;\n\
red.global.add.u32 [%d0], 1;\n\
WAIT:\n\
mbarrier.try_wait.parity.shared.b64 %p0, [%r21], %r3;\n\
@!%p0 bra WAIT;\n\
xor.b32 %r3, %r3, 1;\n\
ld.shared.b128 %q, [%r20];\n\
fence.proxy.async.shared::cta;\n\
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;\n\
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r0, %q;\n\
add.u32 %r0, %r0, %r9;\n\
@%p1 bra NEXT;\n\
barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;");

static struct emu_options options_of(int target, uint64_t seed)
{
    return (struct emu_options){.target = target,
                                .multiprocessors = 4,
                                .seed = seed,
                                .threads = 3,
                                .eager = true,
                                .limits = {.steps = 1u << 22}};
}

static void run(const char *text, uint64_t seed, const uint32_t grid[2], uint32_t cluster)
{
    const struct emu_options options = options_of(100, seed);
    const struct emu_check_options check = {.is_on = true, .goes_on = true};
    struct trial trial = trial_make_on(text, &options);
    struct emu_launch launch = {.program = trial.program,
                                .grid = {grid[0], grid[1], 1},
                                .block = {1, 1, 1},
                                .cluster = {cluster, 1, 1},
                                .dynamic_shared_bytes = SHARED_BYTES,
                                .params = (const unsigned char *)&trial.buffer};

    assert_true(seed % 2 == 0 || emu_device_set_check(trial.device, &check));
    memset(trial.words, 0, TRIAL_WORDS * sizeof *trial.words);
    emu_written(trial.device, trial.buffer, TRIAL_WORDS * sizeof *trial.words);
    if (emu_run(trial.device, &launch, &trial.error) != EMU_DONE)
        fail_msg("%s", trial.error.message);
    for (uint32_t i = 0; i < grid[0] * grid[1]; i++)
        assert_int_equal(trial.words[i], 1);
    assert_int_equal(trial.words[grid[0] * grid[1]], 0);
    if (emu_device_findings(trial.device) > 0) {
        char words[2048];

        emu_finding_text(emu_device_finding(trial.device, 0), words, sizeof words);
        fail_msg("%s", words);
    }
    trial_free(&trial);
}

static void each_cta_is_done_once(void **state)
{
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run(persistent, seed, (uint32_t[]){13, 3}, 1);
        run(persistent, seed, (uint32_t[]){1, 1}, 1);
    }
}

static void clusters_are_taken_whole(void **state)
{
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        run(clusters, seed, (uint32_t[]){24, 1}, 2);
        run(clusters, seed, (uint32_t[]){24, 1}, 4);
    }
}

/* The same seed gives the same run with any number of threads. */
static void threads_change_nothing(void **state)
{
    (void)state;
    uint32_t first[64] = {0};

    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct emu_options options = options_of(100, 7);
        struct trial trial;
        struct emu_launch launch = {
            .grid = {40, 1, 1}, .block = {1, 1, 1}, .dynamic_shared_bytes = SHARED_BYTES};

        options.threads = threads;
        trial = trial_make_on(KERNEL_FOR("sm_100", "\
mov.u32 %r20, answer;\nmov.u32 %r21, full;\nmov.u32 %r22, %ctaid.x;\nmov.u32 %r3, 0;\n\
mbarrier.init.shared.b64 [%r21], 1;\n\
NEXT: mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 16;\n\
clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [%r20], [%r21];\n\
WAIT: mbarrier.try_wait.parity.shared.b64 %p0, [%r21], %r3;\n@!%p0 bra WAIT;\n\
xor.b32 %r3, %r3, 1;\nld.shared.b128 %q, [%r20];\n\
fence.proxy.async.shared::cta;\n\
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q;\n@!%p1 bra END;\n\
clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r0, %q;\n\
mul.wide.u32 %d0, %r0, 4;\nadd.u64 %d0, %out, %d0;\nst.global.b32 [%d0], %r22;\nbra NEXT;\nEND:"),
                              &options);
        launch.program = trial.program;
        launch.params = (const unsigned char *)&trial.buffer;
        if (emu_run(trial.device, &launch, &trial.error) != EMU_DONE)
            fail_msg("%s", trial.error.message);
        if (threads == 1)
            memcpy(first, trial.words, sizeof first);
        assert_memory_equal(first, trial.words, sizeof first);
        trial_free(&trial);
    }
}

/* ---- What may not be ---- */

#define TRY                                                                                        \
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r20], " \
    "[%r21];\n"
#define PREPARED                                                                                   \
    "mov.u32 %r20, answer;\nmov.u32 %r21, full;\nmbarrier.init.shared.b64 [%r21], 1;\n"            \
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r21], 16;\n"

static void fails(const char *text, enum emu_outcome outcome, const char *words)
{
    const char *const list[] = {words, NULL};
    const struct emu_options options = options_of(100, 1);
    struct trial trial = trial_make_on(text, &options);

    trial_expect_fault(&trial, 1, 1, 0, outcome, list);
    trial_free(&trial);
}

static void misuse_is_a_fault(void **state)
{
    (void)state;

    fails(KERNEL_FOR("sm_100", PREPARED "add.u32 %r20, %r20, 8;\n" TRY), EMU_ILLEGAL_ADDRESS,
          "aligned to 16");
    fails(KERNEL_FOR("sm_100", "mov.u32 %r20, answer;\nmov.u32 %r21, full;\n" TRY
                               "W: mbarrier.try_wait.parity.shared.b64 %p0, [%r21], 0;\n@!%p0 bra "
                               "W;\n"),
          EMU_ILLEGAL_INSTRUCTION, "no mbarrier was initialised");
    fails(KERNEL_FOR("sm_100",
                     PREPARED TRY "W: mbarrier.try_wait.parity.shared.b64 %p0, [%r21], 0;\n"
                                  "@!%p0 bra W;\nld.shared.b128 %q, [%r20];\n"
                                  "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, "
                                  "%q;\n" TRY),
          EMU_ILLEGAL_INSTRUCTION, "nothing is left to cancel");
}

static bool loads(const char *text, int device)
{
    const struct emu_options options = options_of(device, 1);
    struct emu_device *emulated = emu_device_create(&options);
    struct emu_error error = {.line = 0};
    struct emu_program *program;

    assert_non_null(emulated);
    program = emu_program_load(emulated, text, strlen(text), &error);
    emu_program_unload(program);
    emu_device_destroy(emulated);
    return program != NULL;
}

static void forms_are_accepted_or_refused(void **state)
{
    (void)state;
#define QUERY(words, operands)                                                                     \
    KERNEL_FOR("sm_100", "clusterlaunchcontrol.query_cancel." words " " operands ";\n")

    assert_true(loads(persistent, 100));
    assert_false(loads(persistent, 103)); /* it is for sm_100a */
    assert_false(loads(KERNEL_FOR("sm_90a", PREPARED TRY), 90));
    assert_false(loads(KERNEL_FOR("sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cta"
                                            ".mbarrier::complete_tx::bytes.multicast::cluster::all"
                                            ".b128 [%r20], [%r21];\n"),
                       100));
    assert_false(loads(KERNEL_FOR("sm_100", "clusterlaunchcontrol.try_cancel.async.shared::cluster"
                                            ".mbarrier::complete_tx::bytes.b128 [%r20], [%r21];\n"),
                       100));
    assert_true(loads(QUERY("is_canceled.pred.b128", "%p0, %q"), 100));
    assert_false(loads(QUERY("is_canceled.pred.b128", "%p0, %d0"), 100));
    assert_false(loads(QUERY("is_canceled.b128", "%p0, %q"), 100));
    assert_false(loads(QUERY("get_first_ctaid.b32.b128", "%r0, %q"), 100));
    assert_false(loads(QUERY("get_first_ctaid::w.b32.b128", "%r0, %q"), 100));
    assert_false(loads(QUERY("get_first_ctaid.v4.b32.b128", "{%r0, %r1}, %q"), 100));
    assert_false(loads(KERNEL_FOR("sm_100", "clusterlaunchcontrol.try %r0;\n"), 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cta_is_done_once),         cmocka_unit_test(clusters_are_taken_whole),
        cmocka_unit_test(threads_change_nothing),        cmocka_unit_test(misuse_is_a_fault),
        cmocka_unit_test(forms_are_accepted_or_refused),
    };

    return cmocka_run_group_tests_name("emulator launch control", tests, NULL, NULL);
}
