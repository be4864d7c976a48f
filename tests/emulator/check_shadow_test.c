/* Histories of bytes and the clocks of those who touch them: what is ordered, and what is not. */
#include "emulator/check_shadow.h"
#include "tests/support/cmocka_all.h"

#include <string.h>

enum { BYTES = 64 };

static const struct emu_agent first = {0, 0}, second = {0, 1}, copies = {0, 2}, afar = {7, 3};

struct world {
    struct emu_histories *histories;
    uint32_t shadow[BYTES];
};

static struct world create(void)
{
    struct world world = {.histories = emu_histories_create()};

    assert_non_null(world.histories);
    return world;
}

static enum emu_verdict touch(struct world *world, struct emu_agent agent, uint32_t time,
                              uint32_t kind, const struct emu_clock *clock, size_t at, size_t bytes)
{
    const struct emu_access access = {.agent = agent, .time = time, .kind = kind};

    return emu_histories_access(world->histories, world->shadow + at, bytes, &access, clock)
        .verdict;
}

static struct emu_clock knows(struct emu_agent agent, uint32_t seen, uint32_t fenced)
{
    struct emu_clock clock = {.parts = NULL};

    assert_true(emu_clock_see(&clock, agent,
                              (struct emu_time){.seen = seen, .global = fenced, .shared = fenced}));
    return clock;
}

static void clocks_keep_the_latest_of_each_agent(void **state)
{
    (void)state;
    struct emu_clock a = knows(first, 3, 1), b = knows(first, 2, 2);

    assert_true(emu_clock_see(&b, afar, (struct emu_time){.seen = 9}));
    assert_true(emu_clock_join(&a, &b));
    assert_int_equal(emu_clock_get(&a, first).seen, 3);
    assert_int_equal(emu_clock_get(&a, first).shared, 2);
    assert_int_equal(emu_clock_get(&a, afar).seen, 9);
    assert_int_equal(emu_clock_get(&a, second).seen, 0);
    emu_clock_fence(&a, true, true);
    assert_int_equal(emu_clock_get(&a, afar).shared, 9);
    assert_int_equal(emu_clock_get(&b, afar).shared, 0);
    emu_clock_free(&a);
    emu_clock_free(&b);
}

static void what_nothing_orders_is_a_race(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock nothing = {.parts = NULL}, told = knows(first, 4, 0);

    assert_int_equal(touch(&world, first, 4, EMU_WRITES, &nothing, 0, 8), EMU_FINE);
    assert_int_equal(touch(&world, second, 1, EMU_READS, &nothing, 7, 1), EMU_RACE);
    assert_int_equal(touch(&world, second, 2, EMU_READS, &told, 0, 8), EMU_FINE);
    /* The first writes again, and has not heard of the reads. */
    assert_int_equal(touch(&world, first, 5, EMU_WRITES, &told, 0, 1), EMU_RACE);
    emu_clock_free(&told);
    told = knows(second, 2, 0);
    assert_true(emu_clock_see(&told, first, (struct emu_time){.seen = 5}));
    assert_int_equal(touch(&world, first, 6, EMU_WRITES, &told, 1, 6), EMU_FINE);
    emu_clock_free(&told);
    emu_histories_destroy(world.histories);
}

static void a_conflict_names_its_byte_and_the_other(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock nothing = {.parts = NULL};
    const struct emu_access read = {.agent = second, .time = 1, .kind = EMU_READS, .warp = 9};
    struct emu_conflict conflict;

    for (size_t i = 0; i < BYTES; i++)
        world.shadow[i] = EMU_WRITTEN_BEFORE;
    assert_int_equal(touch(&world, first, 4, EMU_WRITES, &nothing, 33, 2), EMU_FINE);
    conflict = emu_histories_access(world.histories, world.shadow + 16, 32, &read, &nothing);
    assert_int_equal(conflict.verdict, EMU_RACE);
    assert_int_equal(conflict.at, 17);
    assert_int_equal(conflict.other.time, 4);
    assert_false(conflict.is_first);
    emu_histories_destroy(world.histories);
}

static void bytes_that_nobody_wrote_are_told(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock nothing = {.parts = NULL};

    assert_int_equal(touch(&world, first, 1, EMU_READS, &nothing, 0, 4), EMU_UNWRITTEN);
    world.shadow[8] = EMU_WRITTEN_BEFORE;
    assert_int_equal(touch(&world, first, 1, EMU_READS, &nothing, 8, 1), EMU_FINE);
    emu_histories_destroy(world.histories);
}

static void strong_accesses_do_not_race_among_themselves(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock nothing = {.parts = NULL};
    const uint32_t atomic = EMU_STRONG | EMU_READS | EMU_WRITES;

    world.shadow[0] = EMU_WRITTEN_BEFORE;
    assert_int_equal(touch(&world, first, 1, atomic, &nothing, 0, 1), EMU_FINE);
    assert_int_equal(touch(&world, second, 1, atomic, &nothing, 0, 1), EMU_FINE);
    assert_int_equal(touch(&world, afar, 1, EMU_READS, &nothing, 0, 1), EMU_RACE);
    emu_histories_destroy(world.histories);
}

/* All updates count, not the last alone. */
static void a_plain_read_comes_after_every_atomic(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock nothing = {.parts = NULL}, told = knows(second, 1, 0);
    const uint32_t atomic = EMU_STRONG | EMU_READS | EMU_WRITES;

    world.shadow[0] = EMU_WRITTEN_BEFORE;
    touch(&world, first, 1, atomic, &nothing, 0, 1);
    touch(&world, second, 1, atomic, &nothing, 0, 1);
    assert_int_equal(touch(&world, afar, 1, EMU_READS, &told, 0, 1), EMU_RACE);
    emu_clock_free(&told);
    emu_histories_destroy(world.histories);
}

static void the_async_proxy_needs_a_fence(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock nothing = {.parts = NULL}, seen = knows(first, 1, 0),
                     fenced = knows(first, 1, 1);
    const uint32_t copy = EMU_READS | EMU_BY_ASYNC;

    touch(&world, first, 1, EMU_WRITES, &nothing, 0, 4);
    assert_int_equal(touch(&world, copies, 1, copy, &seen, 0, 4), EMU_UNFENCED);
    touch(&world, first, 1, EMU_WRITES, &fenced, 8, 4);
    assert_int_equal(touch(&world, copies, 1, copy, &fenced, 8, 4), EMU_FINE);
    /* What was read by the generic proxy needs none. */
    world.shadow[16] = EMU_WRITTEN_BEFORE;
    touch(&world, first, 1, EMU_READS, &fenced, 16, 1);
    assert_int_equal(touch(&world, copies, 1, EMU_WRITES | EMU_BY_ASYNC, &seen, 16, 1), EMU_FINE);
    emu_clock_free(&seen);
    emu_clock_free(&fenced);
    emu_histories_destroy(world.histories);
}

/* What no byte has any more is dropped, and the rest means what it meant. */
static void a_sweep_keeps_what_bytes_remember(void **state)
{
    (void)state;
    struct world world = create();
    struct emu_clock told = knows(first, 1000, 0);

    for (uint32_t time = 1; time <= 1000; time++)
        touch(&world, first, time, EMU_WRITES, &told, 0, 32);
    touch(&world, first, 2000, EMU_WRITES, &told, 8, 1);
    assert_true(emu_histories_begin_sweep(world.histories));
    emu_histories_mark(world.histories, world.shadow, BYTES);
    assert_true(emu_histories_end_sweep(world.histories));
    emu_histories_renumber(world.histories, world.shadow, BYTES);
    assert_true(world.shadow[0] < 10);
    assert_true(world.shadow[8] < 10);
    assert_int_equal(touch(&world, second, 1, EMU_READS, &told, 0, 8), EMU_FINE);
    assert_int_equal(touch(&world, second, 1, EMU_READS, &told, 8, 1), EMU_RACE);
    assert_int_equal(touch(&world, second, 1, EMU_READS, &told, 40, 1), EMU_UNWRITTEN);
    emu_clock_free(&told);
    emu_histories_destroy(world.histories);
}

/* Far more histories than the first tables hold. */
static void many_histories_stay_apart(void **state)
{
    (void)state;
    enum { MANY = 30000 };
    static uint32_t shadow[MANY];
    struct world world = create();
    struct emu_clock told = knows(first, MANY, 0);

    for (uint32_t i = 0; i < MANY; i++) {
        const struct emu_access access = {.agent = first, .time = i + 1, .kind = EMU_WRITES};

        emu_histories_access(world.histories, shadow + i, 1, &access, &told);
    }
    for (uint32_t i = 0; i < MANY; i += 97) {
        struct emu_clock less = knows(first, i, 0);
        const struct emu_access read = {.agent = second, .time = 1, .kind = EMU_READS};

        assert_int_equal(emu_histories_access(world.histories, shadow + i, 1, &read, &less).verdict,
                         EMU_RACE);
        emu_clock_free(&less);
    }
    emu_clock_free(&told);
    emu_histories_destroy(world.histories);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_keep_the_latest_of_each_agent),
        cmocka_unit_test(what_nothing_orders_is_a_race),
        cmocka_unit_test(a_conflict_names_its_byte_and_the_other),
        cmocka_unit_test(bytes_that_nobody_wrote_are_told),
        cmocka_unit_test(strong_accesses_do_not_race_among_themselves),
        cmocka_unit_test(a_plain_read_comes_after_every_atomic),
        cmocka_unit_test(the_async_proxy_needs_a_fence),
        cmocka_unit_test(a_sweep_keeps_what_bytes_remember),
        cmocka_unit_test(many_histories_stay_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
