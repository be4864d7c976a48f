#include "codegen/ring.h"

#include "codegen/control.h"
#include "codegen/text.h"

#include "tests/codegen/fixture.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/support/ptx_run.h"

#include <string.h>

/* Four stages of 48 KB, full barriers at 1024 and empty ones behind them, read by two warpgroups of
 * one CTA, or of two. */
static const struct lt_ring four_stages = {
    .name = "tiles", .stages = 4, .offset = 1024, .bytes = 49152, .readers = 8, .ctas = 1};
static const struct lt_ring four_shared_stages = {
    .name = "tiles", .stages = 4, .offset = 1024, .bytes = 49152, .readers = 16, .ctas = 2};
static const struct lt_ring two_stages = {
    .name = "rows", .stages = 2, .offset = 0, .bytes = 512, .readers = 4, .ctas = 1};

static lt_value smem(struct lt_builder *b)
{
    return lt_variable(b, LT_B32, "smem_start");
}

/* ---- Text ---- */

static void each_stage_has_a_full_and_an_empty_barrier(void **state)
{
    (void)state;

    assert_int_equal(lt_ring_barrier_bytes(&four_stages), 4 * (8 + 8));
    assert_int_equal(lt_ring_barrier_bytes(&two_stages), 2 * (8 + 8));
}

static void one_arrival_fills_a_stage_and_all_readers_empty_it(void **state)
{
    struct lt_builder *b = *state;

    lt_ring_init(b, &four_stages, smem(b));

    assert_no_mistake(b);
    assert_ends_with(written(b), "add.u32 %tiles_full, %smem_start, 1024;\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_full], 1;"
                                 "  // the filler announces its bytes with one arrival\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_full+8], 1;\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_full+16], 1;\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_full+24], 1;\n"
                                 "add.u32 %tiles_empty, %smem_start, 1056;\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_empty], 8;"
                                 "  // every reading warp arrives once\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_empty+8], 8;\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_empty+16], 8;\n"
                                 "mbarrier.init.shared::cta.b64 [%tiles_empty+24], 8;\n");
}

static void the_readers_of_all_ctas_empty_a_shared_stage(void **state)
{
    struct lt_builder *b = *state;

    lt_ring_init(b, &four_shared_stages, smem(b));

    assert_no_mistake(b);
    assert_int_equal(ptx_count(written(b), "], 16;"), 4);
    assert_has(written(b),
               "[%tiles_empty], 16;  // every reading warp of every CTA arrives once\n");
}

static void a_producer_starts_at_stage_0_with_parity_1(void **state)
{
    struct lt_builder *b = *state;

    lt_ring_producer(b, &four_stages, smem(b));

    assert_no_mistake(b);
    assert_ends_with(written(b),
                     "add.u32 %tiles_barriers, %smem_start, 1024;\n"
                     "mov.u32 %tiles_stage, 0;\n"
                     "mov.u32 %tiles_parity, 1;"
                     "  // a fresh ring is empty: the wait for parity 1 passes at once\n"
                     "mad.lo.u32 %tiles_full, %tiles_stage, 8, %tiles_barriers;\n"
                     "add.u32 %tiles_empty, %tiles_full, 32;\n");
}

static void a_consumer_starts_at_stage_0_with_parity_0(void **state)
{
    struct lt_builder *b = *state;

    lt_ring_late_consumer(b, &four_stages, smem(b));

    assert_no_mistake(b);
    assert_ends_with(written(b), "add.u32 %tiles_barriers, %smem_start, 1024;\n"
                                 "mov.u32 %tiles_stage, 0;\n"
                                 "mov.u32 %tiles_parity, 0;"
                                 "  // a fresh ring holds nothing: the wait for parity 0 blocks\n"
                                 "mad.lo.u32 %tiles_full, %tiles_stage, 8, %tiles_barriers;\n"
                                 "add.u32 %tiles_empty, %tiles_full, 32;\n"
                                 "mov.u32 %tiles_release, %tiles_empty;\n");
}

static void acquire_waits_for_the_stage_then_announces_its_bytes(void **state)
{
    struct lt_builder *b = *state;
    struct lt_cursor stage = lt_ring_producer(b, &four_stages, smem(b));

    lt_ring_acquire(b, &stage, lt_imm(49152));

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "// wait until the stage is free, then announce its bytes\n"
        "$tiles_free_wait:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %tiles_free, [%tiles_empty], %tiles_parity;\n"
        "@!%tiles_free bra $tiles_free_wait;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%tiles_full], 49152;\n");
}

static void wait_waits_for_the_bytes(void **state)
{
    struct lt_builder *b = *state;
    struct lt_cursor stage = lt_ring_consumer(b, &four_stages, smem(b));

    lt_ring_wait(b, &stage);

    assert_no_mistake(b);
    assert_ends_with(
        written(b),
        "// wait until the stage is full\n"
        "$tiles_ready_wait:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %tiles_ready, [%tiles_full], %tiles_parity;\n"
        "@!%tiles_ready bra $tiles_ready_wait;\n");
}

static void release_arrives_at_the_stage_that_was_noted(void **state)
{
    struct lt_builder *b = *state;
    struct lt_cursor stage = lt_ring_late_consumer(b, &four_stages, smem(b));
    lt_value signals = lt_variable(b, LT_PRED, "signals"), lane = lt_variable(b, LT_B32, "lane");

    lt_ring_release_noted(b, &stage, signals, lane);
    lt_ring_release_later(b, &stage);

    assert_no_mistake(b);
    assert_ends_with(written(b), "@%signals mbarrier.arrive.shared::cta.b64 _, [%tiles_release];\n"
                                 "mov.u32 %tiles_release, %tiles_empty;\n");
}

static void release_in_a_cluster_arrives_at_the_cta_whose_rank_is_the_lane(void **state)
{
    struct lt_builder *b = *state;
    struct lt_cursor stage = lt_ring_late_consumer(b, &four_shared_stages, smem(b));
    lt_value signals = lt_variable(b, LT_PRED, "signals"), lane = lt_variable(b, LT_B32, "lane");

    lt_ring_release_noted(b, &stage, signals, lane);

    assert_no_mistake(b);
    assert_ends_with(written(b),
                     "@%signals mapa.shared::cluster.u32 %tiles_remote, %tiles_release, %lane;\n"
                     "@%signals mbarrier.arrive.shared::cluster.b64 _, [%tiles_remote];\n");
}

static void advance_flips_the_parity_where_it_wraps(void **state)
{
    struct lt_builder *b = *state;
    struct lt_cursor stage = lt_ring_producer(b, &four_stages, smem(b));

    lt_ring_advance(b, &stage);

    assert_no_mistake(b);
    assert_ends_with(written(b), "add.u32 %tiles_stage, %tiles_stage, 1;\n"
                                 "setp.eq.u32 %tiles_wraps, %tiles_stage, 4;\n"
                                 "@%tiles_wraps mov.u32 %tiles_stage, 0;\n"
                                 "@%tiles_wraps xor.b32 %tiles_parity, %tiles_parity, 1;\n"
                                 "mad.lo.u32 %tiles_full, %tiles_stage, 8, %tiles_barriers;\n"
                                 "add.u32 %tiles_empty, %tiles_full, 32;\n");
}

static void a_stage_that_is_known_is_a_constant_behind_the_first(void **state)
{
    struct lt_builder *b = *state;
    struct lt_cursor cursor = lt_ring_fixed(b, &four_stages, smem(b), 0);
    struct lt_cursor stage = lt_ring_at(&cursor, 2);

    assert_ends_with(written(b), "add.u32 %tiles_full, %smem_start, 1024;\n"
                                 "add.u32 %tiles_empty, %smem_start, 1056;\n"
                                 "mov.u32 %tiles_parity, 0;"
                                 "  // a fresh ring holds nothing: the wait for parity 0 blocks\n");
    lt_ring_acquire(b, &stage, lt_imm(16));
    lt_mbarrier_arrive(b, stage.empty);
    lt_ring_flip(b, &cursor);

    assert_no_mistake(b);
    assert_int_equal(stage.stage.number, 2);
    assert_ends_with(written(b),
                     "mbarrier.try_wait.parity.shared::cta.b64 %tiles_free, [%tiles_empty+16], "
                     "%tiles_parity;\n"
                     "@!%tiles_free bra $tiles_free_wait;\n"
                     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%tiles_full+16], 16;\n"
                     "mbarrier.arrive.shared::cta.b64 _, [%tiles_empty+16];\n"
                     "xor.b32 %tiles_parity, %tiles_parity, 1;\n");
}

static void without_readers_there_are_no_empty_barriers(void **state)
{
    static const struct lt_ring ring = {.name = "tiles", .stages = 3, .bytes = 1024, .ctas = 1};
    struct lt_builder *b = *state;

    lt_ring_init(b, &ring, smem(b));

    assert_no_mistake(b);
    assert_int_equal(lt_ring_barrier_bytes(&ring), 3 * 8);
    assert_int_equal(ptx_count(written(b), "mbarrier.init"), 3);
}

static void rings_of_two_names_live_side_by_side(void **state)
{
    struct lt_builder *b = *state;
    lt_value start = smem(b);
    struct lt_cursor tiles = lt_ring_producer(b, &four_stages, start);
    struct lt_cursor rows = lt_ring_consumer(b, &two_stages, start);

    lt_ring_acquire(b, &tiles, lt_imm(four_stages.bytes));
    lt_ring_wait(b, &rows);
    lt_ring_advance(b, &tiles);
    lt_ring_advance(b, &rows);

    char *text = finished(b);

    assert_has(text, "[%rows_full], %rows_parity;");
    assert_has(text, "[%tiles_empty], %tiles_parity;");
    lt_release(NULL, text);
}

/* ---- Walks: the text is run for one thread ---- */

struct walk {
    int waits, signals;
    uint64_t waited_at[64], parity[64], signalled_at[64];
};

static uint64_t walk_special(void *user, const char *name)
{
    (void)user;
    if (strcmp(name, "smem") == 0)
        return 0x400;
    fail_msg("nobody knows %s", name);
    return 0;
}

static enum ptx_answer walk_other(void *user, struct ptx_thread *thread,
                                  const struct ptx_insn *insn)
{
    struct walk *walk = user;

    if (ptx_is(insn, "mbarrier.try_wait.parity")) {
        walk->waited_at[walk->waits] = ptx_read(thread, insn, 1, 0);
        walk->parity[walk->waits++] = ptx_read(thread, insn, 2, 0);
        ptx_write(thread, insn, 0, 0, 1);
        return PTX_DONE;
    }
    if (ptx_is(insn, "mbarrier.arrive")) {
        walk->signalled_at[walk->signals++] = ptx_read(thread, insn, 1, 0);
        return PTX_DONE;
    }
    return PTX_UNKNOWN;
}

static struct walk walk_of(struct lt_builder *b)
{
    struct walk walk = {0};
    static const struct ptx_host host = {walk_special, walk_other, NULL};
    char *text = finished(b);
    struct ptx_program *program = ptx_parse(text);

    ptx_run(program, &host, &walk);
    ptx_free(program);
    lt_release(NULL, text);
    return walk;
}

static struct lt_ring ring_of(int stages)
{
    return (struct lt_ring){
        .name = "tiles", .stages = stages, .offset = 64, .bytes = 4096, .readers = 4, .ctas = 1};
}

enum { TURNS = 23, BARRIERS = 0x400 + 64 };

/* parity = (turn / stages) & 1 of a consumer, the other of a producer: mbarriers have completed as
 * many phases as the ring was walked around. */
static void a_producers_walk_waits_for_the_phase_before_and_signals_its_stage(void **state)
{
    (void)state;

    for (int stages = 1; stages <= 7; stages++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
        struct lt_ring ring = ring_of(stages);
        lt_value start = lt_op(b, "smem_start", "mov.u32", lt_special("smem"));
        struct lt_cursor stage = lt_ring_producer(b, &ring, start);

        LT_REPEAT (b, turn, lt_imm(TURNS)) {
            lt_ring_acquire(b, &stage, lt_imm(ring.bytes));
            lt_ring_advance(b, &stage);
        }

        struct walk walk = walk_of(b);

        assert_int_equal(walk.waits, TURNS);
        assert_int_equal(walk.signals, TURNS);
        for (int turn = 0; turn < TURNS; turn++) {
            int at = turn % stages;

            assert_int_equal(walk.waited_at[turn], BARRIERS + (stages + at) * 8);
            assert_int_equal(walk.parity[turn], (turn / stages & 1) ^ 1);
            assert_int_equal(walk.signalled_at[turn], BARRIERS + at * 8);
        }
        lt_builder_destroy(&b);
    }
}

/* With one group in flight a consumer lets a stage go a turn after it was read. */
static void a_consumers_walk_waits_for_this_phase_and_releases_the_stage_before(void **state)
{
    (void)state;

    for (int stages = 2; stages <= 7; stages++) {
        struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
        struct lt_ring ring = ring_of(stages);
        lt_value start = lt_op(b, "smem_start", "mov.u32", lt_special("smem"));
        struct lt_cursor stage = lt_ring_late_consumer(b, &ring, start);
        lt_value signals = lt_op(b, "signals", "setp.eq.u32", lt_imm(0), lt_imm(0));

        LT_REPEAT (b, turn, lt_imm(TURNS)) {
            lt_value later = lt_op(b, "later", "setp.ne.u32", turn.index, lt_imm(0));

            lt_ring_wait(b, &stage);
            lt_ring_release_noted(b, &stage, later, lt_imm(0));
            lt_ring_release_later(b, &stage);
            lt_ring_advance(b, &stage);
        }
        lt_ring_release_noted(b, &stage, signals, lt_imm(0));

        struct walk walk = walk_of(b);

        assert_int_equal(walk.waits, TURNS);
        assert_int_equal(walk.signals, TURNS);
        for (int turn = 0; turn < TURNS; turn++) {
            int at = turn % stages;

            assert_int_equal(walk.waited_at[turn], BARRIERS + at * 8);
            assert_int_equal(walk.parity[turn], turn / stages & 1);
            assert_int_equal(walk.signalled_at[turn], BARRIERS + (stages + at) * 8);
        }
        lt_builder_destroy(&b);
    }
}

/* Having gone around for a while, a producer waits until what it filled last was let go: as if it
 * were to fill every stage once more. */
static void a_producer_that_drains_waits_for_every_stage_once_more(void **state)
{
    (void)state;

    for (int stages = 1; stages <= 7; stages++)
        for (int turns = 1; turns <= 15; turns += 7) {
            struct lt_builder *b = kernel_for(LATHE_SM_90A, true, NULL);
            struct lt_ring ring = ring_of(stages);
            lt_value start = lt_op(b, "smem_start", "mov.u32", lt_special("smem"));
            struct lt_cursor stage = lt_ring_producer(b, &ring, start);

            LT_REPEAT (b, turn, lt_imm(turns)) {
                lt_ring_acquire(b, &stage, lt_imm(ring.bytes));
                lt_ring_advance(b, &stage);
            }
            lt_ring_drain(b, &stage);

            struct walk walk = walk_of(b);

            assert_int_equal(walk.waits, turns + stages);
            assert_int_equal(walk.signals, turns);
            for (int turn = 0; turn < turns + stages; turn++) {
                assert_int_equal(walk.waited_at[turn], BARRIERS + (stages + turn % stages) * 8);
                assert_int_equal(walk.parity[turn], (turn / stages & 1) ^ 1);
            }
            lt_builder_destroy(&b);
        }
}

#define in_kernel(test) cmocka_unit_test_setup_teardown(test, open_kernel, close_kernel)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_has_a_full_and_an_empty_barrier),
        in_kernel(one_arrival_fills_a_stage_and_all_readers_empty_it),
        in_kernel(the_readers_of_all_ctas_empty_a_shared_stage),
        in_kernel(a_producer_starts_at_stage_0_with_parity_1),
        in_kernel(a_consumer_starts_at_stage_0_with_parity_0),
        in_kernel(acquire_waits_for_the_stage_then_announces_its_bytes),
        in_kernel(wait_waits_for_the_bytes),
        in_kernel(release_arrives_at_the_stage_that_was_noted),
        in_kernel(release_in_a_cluster_arrives_at_the_cta_whose_rank_is_the_lane),
        in_kernel(advance_flips_the_parity_where_it_wraps),
        in_kernel(a_stage_that_is_known_is_a_constant_behind_the_first),
        in_kernel(without_readers_there_are_no_empty_barriers),
        in_kernel(rings_of_two_names_live_side_by_side),
        cmocka_unit_test(a_producers_walk_waits_for_the_phase_before_and_signals_its_stage),
        cmocka_unit_test(a_consumers_walk_waits_for_this_phase_and_releases_the_stage_before),
        cmocka_unit_test(a_producer_that_drains_waits_for_every_stage_once_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
