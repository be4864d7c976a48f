/* What the tables of Blackwell say of tcgen05: cycles of products by shape and type, of one CTA and
 * of pairs, and where shared memory is what they wait for; tensor memory; lines under way. */
#include "emulator/trace.h"
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 1 << 15, CHAIN = 6 };

#define MODULE                                                                                     \
    ".version 8.8\n.target %s\n.address_size 64\n"                                                 \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .b32 %%r<48>, %%v<64>;\n.reg .b64 %%d<16>, %%out;\n.reg .pred %%p<8>;\n"                 \
    ".reg .b16 %%h<4>;\n"                                                                          \
    ".shared .align 1024 .b8 bytes[65536];\n.shared .align 8 .b64 bars[2];\n"                      \
    ".shared .align 4 .b32 slot;\n"                                                                \
    "ld.param.u64 %%out, [out];\ncvta.to.global.u64 %%out, %%out;\n"                               \
    "mov.u32 %%r0, %%tid.x;\nsetp.eq.u32 %%p0, %%r0, 0;\nmov.u32 %%r28, bars;\n"                   \
    "@%%p0 mbarrier.init.shared.b64 [%%r28], 1;\n@%%p0 mbarrier.init.shared.b64 [%%r28+8], 1;\n"

static struct emu_options options_of(int target)
{
    return (struct emu_options){.target = target,
                                .multiprocessors = 4,
                                .seed = 1,
                                .threads = 1,
                                .eager = true,
                                .limits = {.steps = 1u << 24}};
}

/* A launch that has been traced. */
struct timed {
    struct trial trial;
    struct emu_trace *trace;
};

static struct timed run(const char *text, int target, uint32_t grid, uint32_t block,
                        uint32_t cluster)
{
    const struct emu_options options = options_of(target);
    const struct emu_trace_options traced = {.skip_products = 1};
    struct timed t = {trial_make_on(text, &options), emu_trace_create(&traced)};

    assert_non_null(t.trace);
    emu_device_set_trace(t.trial.device, t.trace);
    trial_expect_done(&t.trial, grid, block, cluster, 0);
    return t;
}

static void end(struct timed *t)
{
    trial_free(&t->trial);
    emu_trace_destroy(t->trace);
}

/* ---- Products ---- */

/* A chain of products that one thread issues, of a pair that of the even CTA, then a commit, to
 * both, and a wait of all for it. */
static const char *chain(const char *kind, int group, int m, int n, bool ws, bool a_in_tmem)
{
    static char text[TEXT_SIZE];
    uint32_t type = strcmp(kind, "tf32") == 0 ? 2 : 0,
             descriptor = 1u << 4 | type << 7 | type << 10 | (uint32_t)(n >> 3) << 17 |
                          (uint32_t)(m >> 4) << 24;
    int at = snprintf(text, sizeof text,
                      MODULE
                      "mov.u32 %%r1, slot;\n"
                      "tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [%%r1], 512;\n"
                      "ld.shared.b32 %%r29, [%%r1];\n"
                      "mov.u32 %%r2, bytes;\nshr.u32 %%r2, %%r2, 4;\ncvt.u64.u32 %%d0, %%r2;\n"
                      "or.b64 %%d0, %%d0, 0x4000404000010000;\nmov.b64 %%d1, %%d0;\n"
                      "mov.u32 %%r5, %u;\n"
                      "add.u32 %%r3, %%r29, 256;\nmov.u32 %%r4, %%cluster_ctarank;\n"
                      "setp.eq.and.u32 %%p1, %%r4, 0, %%p0;\nmov.u16 %%h0, 3;\n@!%%p1 bra WAIT;\n",
                      "sm_100a", group, descriptor);

    for (int i = 0; i < CHAIN; i++)
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "tcgen05.mma%s.cta_group::%d.kind::%s [%%r29], %s, %%d1, %%r5, 1;\n",
                       ws ? ".ws" : "", group, kind, a_in_tmem ? "[%r3]" : "%d0");
    snprintf(text + at, sizeof text - (size_t)at,
             "tcgen05.commit.cta_group::%d.mbarrier::arrive::one.shared::cluster%s;\n"
             "WAIT:\nmbarrier.try_wait.parity.shared.b64 %%p2, [%%r28], 0;\n@!%%p2 bra WAIT;\n"
             "bar.warp.sync 0xffffffff;\n%s"
             "tcgen05.dealloc.cta_group::%d.sync.aligned.b32 %%r29, 512;\nret;\n}\n",
             group, group == 2 ? ".multicast::cluster.b64 [%r28], %h0" : ".b64 [%r28]",
             group == 2 ? "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" : "",
             group);
    return text;
}

/* Cycles of each product of such a chain, of which none has to wait but for the one before. */
static uint64_t product_cycles(const char *kind, int group, int m, int n, bool ws, bool a_in_tmem)
{
    struct timed t =
        run(chain(kind, group, m, n, ws, a_in_tmem), 100, (uint32_t)group, 32, group == 2 ? 2 : 0);
    uint64_t cycles = 0, last = 0;
    int count = 0;

    for (size_t i = 0; i < t.trace->count; i++) {
        const struct emu_event *event = &t.trace->events[i];

        if (event->kind != EMU_EVENT_PRODUCT)
            continue;
        if (count > 0) {
            assert_int_equal(event->begin, last);
            assert_int_equal(event->end - event->begin, cycles);
        }
        cycles = event->end - event->begin;
        last = event->end;
        count++;
    }
    assert_int_equal(count, CHAIN);
    assert_int_equal(t.trace->summary.tensor_cycles, (uint64_t)(CHAIN * group) * cycles);
    end(&t);
    return cycles;
}

static void products_take_half_of_n(void **state)
{
    (void)state;

    assert_int_equal(product_cycles("f16", 1, 128, 256, false, false), 128);
    assert_int_equal(product_cycles("f16", 1, 128, 192, false, false), 96);
    assert_int_equal(product_cycles("f16", 1, 128, 128, false, false), 64);
}

/* Whatever the type is, an instruction multiplies 32 bytes of k: of tf32 half as many elements, of
 * 8 bits twice as many. */
static void types_take_the_time_of_their_bytes(void **state)
{
    (void)state;

    assert_int_equal(product_cycles("tf32", 1, 128, 256, false, false), 128);
    assert_int_equal(product_cycles("f8f6f4", 1, 128, 256, false, false), 128);
}

/* 128 bytes a cycle of (M + N) rows of 32 bytes. */
static void shared_memory_is_what_narrow_products_wait_for(void **state)
{
    (void)state;

    assert_int_equal(product_cycles("f16", 1, 128, 64, false, false), 48);
    assert_int_equal(product_cycles("f16", 1, 128, 32, false, false), 40);
    assert_int_equal(product_cycles("f16", 1, 128, 64, false, true), 32);
    assert_int_equal(product_cycles("f16", 1, 128, 32, false, true), 16);
}

/* 64 rows leave half of the lanes idle, but where they are spread over all. */
static void few_rows_take_as_long_as_many(void **state)
{
    (void)state;

    assert_int_equal(product_cycles("f16", 1, 64, 256, false, false), 128);
    assert_int_equal(product_cycles("f16", 1, 64, 256, true, true), 64);
    assert_int_equal(product_cycles("f16", 1, 64, 256, true, false), 80);
}

/* Each of two multiprocessors makes its rows by all columns, and reads half of B. */
static void a_pair_makes_twice_as_much_in_the_same_time(void **state)
{
    (void)state;

    assert_int_equal(product_cycles("f16", 2, 256, 256, false, false), 128);
    assert_int_equal(product_cycles("f16", 2, 128, 256, false, false), 64);
    /* Alone it would be 48 for half of the rows. */
    assert_int_equal(product_cycles("f16", 2, 256, 64, false, false), 40);
}

/* What is to be told to the other CTA has a way to go. */
static void a_commit_arrives_later_at_the_peer(void **state)
{
    (void)state;
    struct timed t = run(chain("f16", 2, 256, 256, false, false), 100, 2, 32, 2);
    uint64_t done[2] = {0, 0};

    for (size_t i = 0; i < t.trace->count; i++)
        if (t.trace->events[i].kind == EMU_EVENT_PHASE)
            done[t.trace->events[i].cta[0]] = t.trace->events[i].end;
    assert_true(done[0] > 0);
    assert_int_equal(done[1] - done[0], 180);
    end(&t);
}

/* ---- Tensor memory ---- */

/* Cycles of a kernel with so many of the lines between allocation and the end. */
static uint64_t cycles_with(const char *line, int count, const char *behind, uint32_t warps)
{
    static char text[TEXT_SIZE];
    struct timed t;
    uint64_t cycles;
    int at = snprintf(
        text, sizeof text,
        MODULE "mov.u32 %%r1, slot;\nsetp.ge.u32 %%p3, %%r0, 32;\n@%%p3 bra MADE;\n"
               "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r1], 512;\n"
               "MADE:\nbar.sync 0;\nld.shared.b32 %%r29, [%%r1];\n"
               "and.b32 %%r2, %%r0, 0x60;\nshl.b32 %%r2, %%r2, 16;\nadd.u32 %%r3, %%r29, %%r2;\n"
               "mov.u32 %%r4, bytes;\nshr.u32 %%r4, %%r4, 4;\ncvt.u64.u32 %%d0, %%r4;\n"
               "or.b64 %%d0, %%d0, 0x4000404000010000;\n",
        "sm_100a");

    for (int i = 0; i < count; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s\n", line);
    snprintf(text + at, sizeof text - (size_t)at,
             "%s\nbar.sync 0;\n@%%p3 bra OVER;\n"
             "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r29, 512;\nOVER:\nret;\n}\n",
             behind);
    t = run(text, 100, 1, 32 * warps, 0);
    cycles = t.trace->summary.cycles;
    end(&t);
    return cycles;
}

#define REGISTERS                                                                                  \
    "{%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15, "      \
    "%v16, "                                                                                       \
    "%v17, %v18, %v19, %v20, %v21, %v22, %v23, %v24, %v25, %v26, %v27, %v28, %v29, %v30, %v31}"

/* 4096 bytes a warp: 57 a cycle, and 85. Each warp has lanes of its own. */
static void tensor_memory_has_a_rate(void **state)
{
    (void)state;
    static const char load[] = "tcgen05.ld.sync.aligned.32x32b.x32.b32 " REGISTERS ", [%r3];",
                      store[] = "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r3], " REGISTERS ";",
                      loaded[] = "tcgen05.wait::ld.sync.aligned;",
                      stored[] = "tcgen05.wait::st.sync.aligned;";
    uint64_t one = cycles_with(load, 1, loaded, 1);

    assert_int_equal(cycles_with(load, 5, loaded, 1) - one, 4 * 72);
    assert_int_equal(cycles_with(load, 5, loaded, 4) - cycles_with(load, 1, loaded, 4), 4 * 72);
    assert_int_equal(cycles_with(store, 5, stored, 1) - cycles_with(store, 1, stored, 1), 4 * 49);
}

/* Who does not wait goes on at once. */
static void loads_of_tensor_memory_are_waited_for(void **state)
{
    (void)state;
    static const char load[] = "tcgen05.ld.sync.aligned.32x32b.x32.b32 " REGISTERS ", [%r3];";

    assert_int_equal(cycles_with(load, 1, "tcgen05.wait::ld.sync.aligned;", 1) -
                         cycles_with(load, 1, "tcgen05.wait::st.sync.aligned;", 1),
                     72 + 30 - 4);
}

/* 4096 bytes at 64 a cycle. */
static void copies_into_tensor_memory_have_a_rate(void **state)
{
    (void)state;
    static const char copy[] = "@%p0 tcgen05.cp.cta_group::1.128x256b [%r29], %d0;",
                      commit[] =
                          "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
                          ".b64 [%r28];\nWAIT:\n"
                          "mbarrier.try_wait.parity.shared.b64 %p2, [%r28], 0;\n@!%p2 bra WAIT;";

    assert_int_equal(cycles_with(copy, 6, commit, 1) - cycles_with(copy, 2, commit, 1), 4 * 64);
}

/* ---- What is the same for all of a target ---- */

static void each_target_has_its_clock(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int target;
        uint64_t khz;
    } targets[] = {{"sm_90a", 90, 1980000}, {"sm_100a", 100, 1965000}, {"sm_103a", 103, 2032000}};

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        char text[TEXT_SIZE];
        struct timed t;

        snprintf(text, sizeof text, MODULE "ret;\n}\n", targets[i].name);
        t = run(text, targets[i].target, 1, 32, 0);
        assert_int_equal(t.trace->summary.clock_khz, targets[i].khz);
        end(&t);
    }
}

/* The bytes are asked for twice; cycles that the second copy takes. */
static uint64_t second_copy(const char *name, int target)
{
    static const char copies[] =
        "@!%p0 bra OVER;\nmov.u32 %r2, bytes;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r28], 1024;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%out], 1024, "
        "[%r28];\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r28+8], 1024;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+1024], [%out], "
        "1024, [%r28+8];\n"
        "A:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r28], 0;\n@!%p2 bra A;\n"
        "B:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r28+8], 0;\n@!%p2 bra B;\nOVER:\nret;\n}\n";
    char text[TEXT_SIZE];
    struct timed t;
    uint64_t cycles = 0;
    int at = snprintf(text, sizeof text, MODULE, name);

    memcpy(text + at, copies, sizeof copies);
    t = run(text, target, 1, 32, 0);
    for (size_t i = 0; i < t.trace->count; i++)
        if (t.trace->events[i].kind == EMU_EVENT_COPY)
            cycles = t.trace->events[i].end - t.trace->events[i].begin;
    end(&t);
    return cycles;
}

/* Of a line that DRAM has not sent yet nobody can have anything. */
static void a_line_is_there_when_it_has_come(void **state)
{
    (void)state;

    assert_in_range(second_copy("sm_100a", 100), 680 + 200, 680 + 400);
    assert_in_range(second_copy("sm_90a", 90), 600, 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_take_half_of_n),
        cmocka_unit_test(types_take_the_time_of_their_bytes),
        cmocka_unit_test(shared_memory_is_what_narrow_products_wait_for),
        cmocka_unit_test(few_rows_take_as_long_as_many),
        cmocka_unit_test(a_pair_makes_twice_as_much_in_the_same_time),
        cmocka_unit_test(a_commit_arrives_later_at_the_peer),
        cmocka_unit_test(tensor_memory_has_a_rate),
        cmocka_unit_test(loads_of_tensor_memory_are_waited_for),
        cmocka_unit_test(copies_into_tensor_memory_have_a_rate),
        cmocka_unit_test(each_target_has_its_clock),
        cmocka_unit_test(a_line_is_there_when_it_has_come),
    };

    return cmocka_run_group_tests_name("timed_tensor", tests, NULL, NULL);
}
