/* Instructions that see all lanes. */
#include "tests/emulator/alu_fixture.h"
#include "tests/support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct lanes {
    emu_lanes values[4]; /* sources; all lanes of the rest are the membermask or what a test sets */
    emu_lanes results[2];
    const char *why;
};

static void fill(uint64_t *lanes, uint64_t value)
{
    for (int i = 0; i < EMU_LANES; i++)
        lanes[i] = value;
}

static bool run(const char *text, struct lanes *lanes, uint32_t mask)
{
    struct emu_alu op = fixture_op(text);
    const uint64_t *sources[4];
    uint64_t *results[2] = {lanes->results[0], lanes->results[1]};

    for (int s = 0; s < 4; s++)
        sources[s] = lanes->values[s];
    lanes->why = NULL;
    fill(lanes->results[0], 0xdead);
    fill(lanes->results[1], 0xdead);
    return op.execute(&op, results, sources, mask, &lanes->why);
}

/* PTX ISA, "shfl.sync", by its own pseudo-code. */
static int source_by_manual(const char *mode, int lane, int b, int c, bool *in_range)
{
    int bval = b & 31, cval = c & 31, segment = c >> 8 & 31;
    int max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment, j;

    if (strcmp(mode, "up") == 0) {
        j = lane - bval;
        *in_range = j >= max_lane;
    } else if (strcmp(mode, "down") == 0) {
        j = lane + bval;
        *in_range = j <= max_lane;
    } else if (strcmp(mode, "bfly") == 0) {
        j = lane ^ bval;
        *in_range = j <= max_lane;
    } else {
        j = min_lane | (bval & ~segment);
        *in_range = j <= max_lane;
    }
    return *in_range ? j : lane;
}

static void shuffles_follow_the_manual(void **state)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const int clamps[] = {0x1f, 0, 0x181f, 0x1800, 0x1c1f, 0x1c00, 0x100f, 0x1e1f, 0x07};
    struct lanes lanes;

    (void)state;
    fill(lanes.values[3], UINT32_MAX);
    for (int i = 0; i < EMU_LANES; i++)
        lanes.values[0][i] = 100 + (uint64_t)i;
    for (size_t m = 0; m < 4; m++) {
        char text[FIXTURE_TEXT];

        snprintf(text, sizeof text, "shfl.sync.%s.b32 d|p, a, b, c, m", modes[m]);
        for (size_t c = 0; c < sizeof clamps / sizeof *clamps; c++) {
            for (int b = 0; b < 40; b++) {
                fill(lanes.values[1], (uint64_t)b);
                fill(lanes.values[2], (uint64_t)clamps[c]);
                assert_true(run(text, &lanes, UINT32_MAX));
                for (int i = 0; i < EMU_LANES; i++) {
                    bool in_range;
                    int from = source_by_manual(modes[m], i, b, clamps[c], &in_range);

                    assert_int_equal(lanes.results[0][i], 100 + from);
                    assert_int_equal(lanes.results[1][i], in_range);
                }
            }
        }
    }
}

static void a_lane_that_is_not_there_is_not_read(void **state)
{
    struct lanes lanes;

    (void)state;
    for (int i = 0; i < EMU_LANES; i++)
        lanes.values[0][i] = 100 + (uint64_t)i;
    fill(lanes.values[1], 9);
    fill(lanes.values[2], 0x1f);
    fill(lanes.values[3], 0xff);
    assert_true(run("shfl.sync.idx.b32 d, a, b, c, m", &lanes, 0xff));
    assert_int_equal(lanes.results[0][3], 103);
    assert_int_equal(lanes.results[0][8], 0xdead);
}

static void votes_count_the_members(void **state)
{
    struct lanes lanes;

    (void)state;
    fill(lanes.values[1], 0x0000ffff);
    for (int i = 0; i < EMU_LANES; i++)
        lanes.values[0][i] = i % 2 == 0;
    assert_true(run("vote.sync.ballot.b32 d, a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][5], 0x5555);
    assert_int_equal(lanes.results[0][16], 0xdead);
    assert_true(run("vote.sync.ballot.b32 d, !a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][0], 0xaaaa);
    assert_true(run("vote.sync.all.pred p, a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][0], 0);
    assert_true(run("vote.sync.any.pred p, a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][0], 1);
    assert_true(run("vote.sync.uni.pred p, a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][0], 0);
    fill(lanes.values[0], 0);
    assert_true(run("vote.sync.uni.pred p, a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][15], 1);
    assert_true(run("vote.sync.all.pred p, !a, m", &lanes, 0x0000ffff));
    assert_int_equal(lanes.results[0][15], 1);
}

static void groups_of_one_membermask_vote_apart(void **state)
{
    struct lanes lanes;

    (void)state;
    for (int i = 0; i < EMU_LANES; i++) {
        lanes.values[0][i] = i < 16;
        lanes.values[1][i] = i < 16 ? 0x0000ffff : 0xffff0000;
    }
    assert_true(run("vote.sync.any.pred p, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][0], 1);
    assert_int_equal(lanes.results[0][31], 0);
}

static void wrong_membermasks_are_faults(void **state)
{
    struct lanes lanes;

    (void)state;
    fill(lanes.values[0], 1);
    fill(lanes.values[1], 0x0000ffff);
    assert_false(run("vote.sync.any.pred p, a, m", &lanes, UINT32_MAX));
    assert_non_null(lanes.why);
    fill(lanes.values[1], UINT32_MAX);
    lanes.values[1][3] = 0xff;
    assert_false(run("match.any.sync.b32 d, a, m", &lanes, UINT32_MAX));
    assert_non_null(lanes.why);
    assert_false(run("movmatrix.sync.aligned.m8n8.trans.b16 d, a", &lanes, 0xffff));
}

static void equal_values_find_each_other(void **state)
{
    struct lanes lanes;

    (void)state;
    fill(lanes.values[1], UINT32_MAX);
    for (int i = 0; i < EMU_LANES; i++)
        lanes.values[0][i] = (uint64_t)(i % 3) | (uint64_t)i << 32;
    assert_true(run("match.any.sync.b32 d, a, m", &lanes, UINT32_MAX));
    for (int i = 0; i < EMU_LANES; i++) {
        uint32_t wanted = 0;

        for (int j = i % 3; j < EMU_LANES; j += 3)
            wanted |= UINT32_C(1) << j;
        assert_int_equal(lanes.results[0][i], wanted);
    }
    assert_true(run("match.any.sync.b64 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][4], 1 << 4);
    assert_true(run("match.all.sync.b32 d|p, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][4], 0);
    assert_int_equal(lanes.results[1][4], 0);
    fill(lanes.values[0], 5);
    assert_true(run("match.all.sync.b32 d|p, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][4], UINT32_MAX);
    assert_int_equal(lanes.results[1][4], 1);
}

static void reductions_give_all_lanes_the_result(void **state)
{
    struct lanes lanes;
    uint32_t sum = 0;

    (void)state;
    fill(lanes.values[1], UINT32_MAX);
    for (int i = 0; i < EMU_LANES; i++) {
        lanes.values[0][i] = (uint32_t)(i - 10) * 0x10000001u;
        sum += (uint32_t)lanes.values[0][i];
    }
    assert_true(run("redux.sync.add.u32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][0], sum);
    assert_int_equal(lanes.results[0][31], sum);
    for (int i = 0; i < EMU_LANES; i++)
        lanes.values[0][i] = (uint32_t)(i - 10);
    assert_true(run("redux.sync.min.s32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][7], (uint32_t)-10);
    assert_true(run("redux.sync.max.u32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][7], (uint32_t)-1);
    assert_true(run("redux.sync.max.s32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][7], 21);
    for (int i = 0; i < EMU_LANES; i++)
        lanes.values[0][i] = UINT32_C(1) << i;
    assert_true(run("redux.sync.or.b32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][7], UINT32_MAX);
    assert_true(run("redux.sync.xor.b32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][7], UINT32_MAX);
    assert_true(run("redux.sync.and.b32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][7], 0);
}

static void reductions_of_floats_know_nan_and_zeros(void **state)
{
    struct lanes lanes;

    (void)state;
    fill(lanes.values[1], UINT32_MAX);
    fill(lanes.values[0], 0);
    lanes.values[0][5] = 0x80000000;
    lanes.values[0][6] = 0x7fc00001;
    assert_true(run("redux.sync.min.f32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][0], 0x80000000);
    assert_true(run("redux.sync.max.f32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][6], 0);
    assert_true(run("redux.sync.max.NaN.f32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][0], 0x7fffffff);
    lanes.values[0][6] = fixture_f32(-9);
    assert_true(run("redux.sync.max.abs.f32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][0], fixture_f32(9));
    fill(lanes.values[0], 0xffc00000);
    assert_true(run("redux.sync.min.f32 d, a, m", &lanes, UINT32_MAX));
    assert_int_equal(lanes.results[0][0], 0x7fffffff);
}

/* reference/misc.md section 4: the lowest lane, measured. */
static void the_lowest_lane_is_elected(void **state)
{
    struct lanes lanes;

    (void)state;
    fill(lanes.values[0], 0xffffffe0);
    assert_true(run("elect.sync d|p, m", &lanes, 0xffffffe0));
    for (int i = 5; i < EMU_LANES; i++) {
        assert_int_equal(lanes.results[0][i], 5);
        assert_int_equal(lanes.results[1][i], i == 5);
    }
    assert_int_equal(lanes.results[0][4], 0xdead);
}

static void activemask_is_who_executes_it(void **state)
{
    struct lanes lanes;

    (void)state;
    assert_true(run("activemask.b32 d", &lanes, 0x80000011));
    assert_int_equal(lanes.results[0][4], 0x80000011);
    assert_int_equal(lanes.results[0][1], 0xdead);
}

static void movmatrix_transposes(void **state)
{
    struct lanes lanes;

    (void)state;
    /* element (row, column) is 16 * row + column; lane 4r + c has (r, 2c) low and (r, 2c+1) high */
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t low = (uint64_t)(16 * (i / 4) + 2 * (i % 4));

        lanes.values[0][i] = low | (low + 1) << 16;
    }
    assert_true(run("movmatrix.sync.aligned.m8n8.trans.b16 d, a", &lanes, UINT32_MAX));
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t low = (uint64_t)(16 * (2 * (i % 4)) + i / 4);

        assert_int_equal(lanes.results[0][i], low | (low + 16) << 16);
    }
}

static void results_may_lie_where_the_sources_are(void **state)
{
    struct emu_alu op = fixture_op("shfl.sync.bfly.b32 a, a, b, c, m");
    emu_lanes a, b, c, m;
    uint64_t *results[] = {a};
    const uint64_t *sources[] = {a, b, c, m};
    const char *why;

    (void)state;
    for (int i = 0; i < EMU_LANES; i++) {
        a[i] = (uint64_t)i;
        b[i] = 1;
        c[i] = 0x1f;
        m[i] = UINT32_MAX;
    }
    assert_true(op.execute(&op, results, sources, UINT32_MAX, &why));
    for (int i = 0; i < EMU_LANES; i++)
        assert_int_equal(a[i], i ^ 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles_follow_the_manual),
        cmocka_unit_test(a_lane_that_is_not_there_is_not_read),
        cmocka_unit_test(votes_count_the_members),
        cmocka_unit_test(groups_of_one_membermask_vote_apart),
        cmocka_unit_test(wrong_membermasks_are_faults),
        cmocka_unit_test(equal_values_find_each_other),
        cmocka_unit_test(reductions_give_all_lanes_the_result),
        cmocka_unit_test(reductions_of_floats_know_nan_and_zeros),
        cmocka_unit_test(the_lowest_lane_is_elected),
        cmocka_unit_test(activemask_is_who_executes_it),
        cmocka_unit_test(movmatrix_transposes),
        cmocka_unit_test(results_may_lie_where_the_sources_are),
    };

    return cmocka_run_group_tests_name("emulator alu warp", tests, NULL, NULL);
}
