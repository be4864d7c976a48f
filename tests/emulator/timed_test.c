/* The schedule in which time is modelled: answers, cycles, and events. */
#include "emulator/trace.h"
#include "tests/emulator/machine_support.h"
#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#define FOUR(x) x x x x
#define FORTY(x) FOUR(x x x x x x x x x x)
#define ADD "add.u32 %r0, %r0, 1;\n"

/* A device whose launches are traced. */
struct timed {
    struct trial trial;
    struct emu_trace *trace;
};

static struct timed make(const char *text, uint64_t seed, const struct emu_trace_options *options)
{
    struct timed t = {trial_make(text, seed), emu_trace_create(options)};

    assert_non_null(t.trace);
    emu_device_set_trace(t.trial.device, t.trace);
    return t;
}

static void end(struct timed *t)
{
    trial_free(&t->trial);
    emu_trace_destroy(t->trace);
}

static uint64_t cycles(const char *text, uint32_t grid, uint32_t block)
{
    struct timed t = make(text, 1, NULL);
    uint64_t taken;

    trial_expect_done(&t.trial, grid, block, 0, 0);
    taken = t.trace->summary.cycles;
    end(&t);
    return taken;
}

/* ---- Cycles ---- */

static void instructions_take_their_time(void **state)
{
    (void)state;
    uint64_t none = cycles(KERNEL(""), 1, 32), forty = cycles(KERNEL(FORTY(ADD)), 1, 32),
             eighty = cycles(KERNEL(FORTY(ADD) FORTY(ADD)), 1, 32);

    assert_int_equal(forty - none, 80);
    assert_int_equal(eighty - forty, 80);
    assert_int_equal(cycles(KERNEL("div.u32 %r0, %r0, 3;\n"), 1, 32) - none, 60);
    assert_int_equal(cycles(KERNEL("@!%p0 bra OUT;\nOUT:\n"), 1, 32) - none, 8);
    assert_int_equal(cycles(KERNEL("@%p0 bra OUT;\nOUT:\n"), 1, 32) - none, 2);
}

/* Each of four schedulers issues an instruction a cycle, and one of a warp takes two. */
static void schedulers_share_their_cycles(void **state)
{
    (void)state;
    uint64_t one = cycles(KERNEL(FORTY(ADD)), 1, 32);

    assert_int_equal(cycles(KERNEL(FORTY(ADD)), 1, 4 * 32), one);
    assert_in_range(cycles(KERNEL(FORTY(ADD)), 1, 8 * 32), one, one + 8);
    assert_in_range(cycles(KERNEL(FORTY(ADD)), 1, 16 * 32), 2 * one - 40, 2 * one + 40);
    /* CTAs of one multiprocessor share them as well: there are eight of those. */
    assert_int_equal(cycles(KERNEL(FORTY(ADD)), 8, 8 * 32), cycles(KERNEL(FORTY(ADD)), 1, 8 * 32));
    assert_in_range(cycles(KERNEL(FORTY(ADD)), 16, 8 * 32), 2 * one - 40, 2 * one + 40);
}

static void loads_overlap_until_they_are_needed(void **state)
{
    (void)state;
    uint64_t one = cycles(KERNEL("ld.global.u32 %r0, [%out];\nadd.u32 %r0, %r0, 1;\n"), 1, 32);
    uint64_t side_by_side = cycles(KERNEL("ld.global.u32 %r0, [%out];\n"
                                          "ld.global.u32 %r1, [%out+4];\nadd.u32 %r0, %r0, %r1;\n"),
                                   1, 32);
    uint64_t in_turn = cycles(KERNEL("ld.global.u32 %r0, [%out];\nadd.u32 %r0, %r0, 1;\n"
                                     "ld.global.u32 %r1, [%out+4];\nadd.u32 %r1, %r1, 1;\n"),
                              1, 32);

    assert_in_range(side_by_side, one, one + 10);
    assert_in_range(in_turn, one + 250, one + 300);
}

/* More at a time than the machine keeps in mind. */
static void a_warp_has_so_many_loads_at_a_time(void **state)
{
    (void)state;
    uint64_t six = cycles(KERNEL("ld.global.u32 %r0, [%out];\nld.global.u32 %r1, [%out];\n"
                                 "ld.global.u32 %r2, [%out];\nld.global.u32 %r3, [%out];\n"
                                 "ld.global.u32 %r4, [%out];\nld.global.u32 %r5, [%out];\n"
                                 "add.u32 %r0, %r0, 1;\n"),
                          1, 32),
             seven = cycles(KERNEL("ld.global.u32 %r0, [%out];\nld.global.u32 %r1, [%out];\n"
                                   "ld.global.u32 %r2, [%out];\nld.global.u32 %r3, [%out];\n"
                                   "ld.global.u32 %r4, [%out];\nld.global.u32 %r5, [%out];\n"
                                   "ld.global.u32 %r6, [%out];\nadd.u32 %r6, %r6, 1;\n"),
                            1, 32);

    assert_in_range(seven - six, 200, 300);
}

static void clocks_tell_cycles(void **state)
{
    (void)state;
    struct timed t =
        make(KERNEL("mov.u32 %r1, %clock;\n" FORTY(
                 ADD) "mov.u32 %r2, %clock;\nsub.u32 %r3, %r2, %r1;\n" STORE_BY_THREAD("%r3")),
             1, NULL);

    trial_expect_done(&t.trial, 1, 32, 0, 0);
    assert_int_equal(t.trial.words[0], 82);
    end(&t);
}

/* ---- Waits ---- */

/* The second warp arrives at the mbarrier after it has counted to forty, then both meet. */
static const char waiting[] = KERNEL_WITH(
    ".shared .align 8 .b64 bar;\n",
    "mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;\nsetp.eq.u32 %p0, %r1, 0;\n"
    "@%p0 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\nsetp.eq.u32 %p1, %r2, 0;\n"
    "@%p1 bra LOOK;\n" FORTY(
        ADD) "mbarrier.arrive.shared.b64 _, [bar];\nbra.uni MEET;\n"
             "LOOK:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra LOOK;\n"
             "MEET:\nbar.sync 1;\nadd.u32 %r0, %r0, %r1;\n" STORE_BY_THREAD("%r0"));

static const struct emu_event *event(const struct timed *t, int kind, int warp, const char *name)
{
    for (size_t i = 0; i < t->trace->count; i++)
        if (t->trace->events[i].kind == kind && t->trace->events[i].warp == warp &&
            strcmp(t->trace->events[i].name, name) == 0)
            return &t->trace->events[i];
    fail_msg("no event of kind %d of warp %d is called %s", kind, warp, name);
    return NULL;
}

static void waits_are_told(void **state)
{
    (void)state;
    struct timed t = make(waiting, 1, NULL);
    const struct emu_event *wait, *phase;

    trial_expect_done(&t.trial, 1, 64, 0, 0);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(t.trial.words[i], i < 32 ? i : i + 40);
    wait = event(&t, EMU_EVENT_WAIT, 0, "bar");
    assert_in_range(wait->end - wait->begin, 70, 110);
    assert_int_equal(wait->value, 0);
    assert_string_equal(wait->role, "k");
    phase = event(&t, EMU_EVENT_PHASE, -1, "bar");
    assert_int_equal(phase->address, wait->address);
    assert_true(phase->end <= wait->end);
    event(&t, EMU_EVENT_WAIT, 1, "bar.sync 1");
    event(&t, EMU_EVENT_BARRIER, -1, "barrier");
    end(&t);
}

static void a_deadlock_is_found(void **state)
{
    (void)state;
    struct timed t = make(KERNEL_WITH(".shared .align 8 .b64 bar;\n",
                                      "mbarrier.init.shared.b64 [bar], 2;\nLOOK:\n"
                                      "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n"
                                      "@!%p2 bra LOOK;\n"),
                          1, NULL);

    trial_expect_fault(&t.trial, 1, 1, 0, EMU_DEADLOCK,
                       (const char *const[]){"[bar]", "2 of 2 arrivals", NULL});
    end(&t);
}

/* A try_wait that has waited long enough says no, and the program does something else. */
static void a_try_wait_gives_up(void **state)
{
    (void)state;
    struct timed t = make(KERNEL_WITH(".shared .align 8 .b64 bar;\n",
                                      "mbarrier.init.shared.b64 [bar], 1;\n"
                                      "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n"
                                      "selp.u32 %r1, 1, 2, %p2;\n" STORE_BY_THREAD("%r1")),
                          1, NULL);

    trial_expect_done(&t.trial, 1, 1, 0, 0);
    assert_int_equal(t.trial.words[0], 2);
    end(&t);
}

/* ---- Events ---- */

static int by_warp(const void *a, const void *b)
{
    const struct emu_event *x = a, *y = b;

    if (x->cta[0] != y->cta[0])
        return x->cta[0] < y->cta[0] ? -1 : 1;
    if (x->warp != y->warp)
        return x->warp < y->warp ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* A warp runs or waits, without a gap from its first instruction on. */
static void spans_of_a_warp_follow_each_other(void **state)
{
    (void)state;
    const struct emu_trace_options options = {.clusters = 4};
    struct timed t = make(waiting, 1, &options);
    size_t spans = 0;

    trial_expect_done(&t.trial, 6, 64, 0, 0);
    qsort(t.trace->events, t.trace->count, sizeof t.trace->events[0], by_warp);
    for (size_t i = 1; i < t.trace->count; i++) {
        const struct emu_event *a = &t.trace->events[i - 1], *b = a + 1;

        assert_true(b->cta[0] < 4);
        if (a->warp < 0 || a->warp != b->warp || a->cta[0] != b->cta[0])
            continue;
        spans++;
        assert_int_equal(a->end, b->begin);
    }
    assert_true(spans >= 4 * 2 * 3);
    end(&t);
}

static void the_seed_means_nothing(void **state)
{
    (void)state;
    struct timed a = make(waiting, 1, NULL), b = make(waiting, 77, NULL);

    trial_expect_done(&a.trial, 6, 64, 2, 0);
    trial_expect_done(&b.trial, 6, 64, 2, 0);
    assert_memory_equal(&a.trace->summary, &b.trace->summary, sizeof a.trace->summary);
    assert_int_equal(a.trace->count, b.trace->count);
    for (size_t i = 0; i < a.trace->count; i++) {
        const struct emu_event *x = &a.trace->events[i], *y = &b.trace->events[i];

        assert_int_equal(x->begin, y->begin);
        assert_int_equal(x->end, y->end);
        assert_string_equal(x->name, y->name);
    }
    end(&a);
    end(&b);
}

static void events_have_so_much_room(void **state)
{
    (void)state;
    const struct emu_trace_options options = {.first_cluster = 2, .events_most = 3};
    struct timed t = make(waiting, 1, &options);

    trial_expect_done(&t.trial, 6, 64, 0, 0);
    assert_int_equal(t.trace->count, 3);
    assert_true(t.trace->summary.events_lost > 3);
    assert_int_equal(t.trace->events[0].cta[0], 2);
    emu_trace_forget(t.trace);
    trial_expect_done(&t.trial, 2, 64, 0, 0); /* the third is not there */
    assert_int_equal(t.trace->count, 0);
    assert_int_equal(t.trace->summary.events_lost, 0);
    assert_int_equal(t.trace->summary.launches, 1);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_take_their_time),
        cmocka_unit_test(schedulers_share_their_cycles),
        cmocka_unit_test(loads_overlap_until_they_are_needed),
        cmocka_unit_test(a_warp_has_so_many_loads_at_a_time),
        cmocka_unit_test(clocks_tell_cycles),
        cmocka_unit_test(waits_are_told),
        cmocka_unit_test(a_deadlock_is_found),
        cmocka_unit_test(a_try_wait_gives_up),
        cmocka_unit_test(spans_of_a_warp_follow_each_other),
        cmocka_unit_test(the_seed_means_nothing),
        cmocka_unit_test(events_have_so_much_room),
    };

    return cmocka_run_group_tests_name("timed", tests, NULL, NULL);
}
