/* Which CTA makes which tile: the text of the schedule is run for every CTA of a grid, and compared
 * with the order written down by plain loops. */
#include "templates/schedule.h"

#include "codegen/text.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/ptx_assert.h"
#include "tests/support/ptx_run.h"

#include <stdlib.h>
#include <string.h>

struct grid {
    int tile[2], cluster[2];
    uint32_t m, n, raster;
    uint32_t clusters;            /* in the grid */
    enum lathe_schedule schedule; /* or persistent */
};

struct place {
    uint32_t m, n;
};

/* What one CTA is asked for while its text runs, and what it visits. */
struct cta {
    const struct grid *grid;
    struct lathe_walk walk;
    uint32_t cluster, place_m, place_n;
    int visits;
    struct place visited[4096];
};

static uint64_t special(void *user, const char *name)
{
    const struct cta *cta = user;
    const struct {
        const char *name;
        uint64_t value;
    } known[] = {
        {"m", cta->grid->m},
        {"n", cta->grid->n},
        {"%ctaid.x", cta->cluster * (uint32_t)cta->grid->cluster[0] + cta->place_m},
        {"%nctaid.x", cta->grid->clusters * (uint32_t)cta->grid->cluster[0]},
        {"%ctaid.y", cta->place_n},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].value;
    fail_msg("nobody knows %s", name);
    return 0;
}

static const void *block(void *user, const char *name)
{
    const struct cta *cta = user;

    return strcmp(name, "walk") == 0 ? &cta->walk : NULL;
}

static enum ptx_answer visit(void *user, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct cta *cta = user;

    if (!ptx_is(insn, "visit"))
        return PTX_UNKNOWN;
    assert_true(cta->visits < 4096);
    cta->visited[cta->visits++] = (struct place){(uint32_t)ptx_read(thread, insn, 0, 0),
                                                 (uint32_t)ptx_read(thread, insn, 1, 0)};
    return PTX_DONE;
}

static struct ptx_program *program_for(const struct grid *grid, struct lathe_walk *walk)
{
    struct lt_builder *b = lt_builder_create(LATHE_SM_90A, true, NULL);
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_contract contract;
    struct lathe_error err = {0};
    char *text = NULL;
    size_t length = 0;

    plan.threads = 128;
    plan.cta_group = 1;
    plan.schedule = grid->schedule ? grid->schedule : LATHE_PERSISTENT;
    memcpy(plan.tile, grid->tile, sizeof grid->tile);
    memcpy(plan.cluster, grid->cluster, sizeof grid->cluster);
    plan.cluster[2] = 1;
    lt_param(b, "m", LATHE_PARAM_M);
    lt_param(b, "n", LATHE_PARAM_N);
    if (plan.schedule != LATHE_GRID)
        lt_param(b, "walk", LATHE_PARAM_WALK);
    lt_entry(b, "walk", &plan);

    lt_value m = lt_param_load(b, "m"), n = lt_param_load(b, "n");
    struct lt_schedule schedule = lt_schedule_begin(b, &plan, m, n);

    if (plan.schedule == LATHE_PERSISTENT) {
        LT_TILES (b, it, &schedule) {
            struct lt_tile tile = lt_tile_at(b, &schedule, it.index);

            lt_inst(b, "visit %0, %1;", tile.m, tile.n);
        }
    } else {
        struct lt_tile tile = lt_tile_of_cta(b, &schedule);

        lt_inst(b, "visit %0, %1;", tile.m, tile.n);
    }
    if (lt_builder_finish(b, &text, &length, &contract, &err) != LATHE_OK)
        fail_msg("%s", err.message);
    if (lathe_contract_walk(&contract, grid->m, grid->n, (int)grid->raster, walk, &err) != LATHE_OK)
        fail_msg("%s", err.message);

    struct ptx_program *program = ptx_parse(text);

    lt_release(NULL, text);
    lt_builder_destroy(&b);
    return program;
}

static void run_cta(const struct ptx_program *program, struct cta *cta)
{
    static const struct ptx_host host = {special, visit, block};

    cta->visits = 0;
    ptx_run(program, &host, cta);
}

static uint32_t ceil_div(uint32_t a, int b)
{
    return (a + (uint32_t)b - 1) / (uint32_t)b;
}

/* Cluster tiles in order: `raster` rows of them are walked column by column, then the next. */
static int order_by_hand(const struct grid *grid, struct place *order)
{
    int rows_of_tile = grid->tile[0] * grid->cluster[0];
    int columns_of_tile = grid->tile[1] * grid->cluster[1];
    uint32_t tiles_m = ceil_div(grid->m, rows_of_tile),
             tiles_n = ceil_div(grid->n, columns_of_tile);
    int count = 0;

    for (uint32_t group = 0; group < tiles_m; group += grid->raster)
        for (uint32_t column = 0; column < tiles_n; column++)
            for (uint32_t row = group; row < tiles_m && row < group + grid->raster; row++)
                order[count++] = (struct place){row * (uint32_t)rows_of_tile,
                                                column * (uint32_t)columns_of_tile};
    return count;
}

static void assert_walks_as_by_hand(const struct grid *grid)
{
    static struct place order[65536];
    static struct cta cta;
    struct ptx_program *program = program_for(grid, &cta.walk);
    int tiles = order_by_hand(grid, order), visits = 0;

    for (uint32_t cluster = 0; cluster < grid->clusters; cluster++)
        for (int place_n = 0; place_n < grid->cluster[1]; place_n++)
            for (int place_m = 0; place_m < grid->cluster[0]; place_m++) {
                cta.grid = grid;
                cta.cluster = cluster;
                cta.place_m = (uint32_t)place_m;
                cta.place_n = (uint32_t)place_n;
                run_cta(program, &cta);
                for (int i = 0; i < cta.visits; i++) {
                    int at = (int)cluster + i * (int)grid->clusters;

                    assert_true(at < tiles);
                    assert_int_equal(cta.visited[i].m,
                                     order[at].m + (uint32_t)(place_m * grid->tile[0]));
                    assert_int_equal(cta.visited[i].n,
                                     order[at].n + (uint32_t)(place_n * grid->tile[1]));
                }
                visits += cta.visits;
            }
    assert_int_equal(visits, tiles * grid->cluster[0] * grid->cluster[1]);
    ptx_free(program);
}

static void every_tile_is_made_once_in_groups_of_rows(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 63, 64, 65, 500, 640};
    static const uint32_t rasters[] = {1, 2, 3, 100};
    static const int clusters[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}};

    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            for (size_t r = 0; r < 4; r++)
                for (size_t c = 0; c < 5; c++)
                    assert_walks_as_by_hand(&(struct grid){
                        .tile = {64, 24},
                        .cluster = {clusters[c][0], clusters[c][1]},
                        .m = sizes[i],
                        .n = sizes[j],
                        .raster = rasters[r],
                        .clusters = 1 + (uint32_t)(i + j) % 5,
                    });
}

static void a_grid_of_any_size_shares_the_tiles(void **state)
{
    (void)state;

    for (uint32_t clusters = 1; clusters < 80; clusters++)
        assert_walks_as_by_hand(&(struct grid){.tile = {128, 64},
                                               .cluster = {2, 1},
                                               .m = 2000,
                                               .n = 500,
                                               .raster = 3,
                                               .clusters = clusters});
}

static void a_cta_for_each_tile_has_the_one_of_its_number(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 64, 65, 500, 640};

    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (uint32_t raster = 1; raster < 5; raster++) {
                struct grid grid = {.tile = {64, 24},
                                    .cluster = {1, 1},
                                    .m = sizes[i],
                                    .n = sizes[j],
                                    .raster = raster,
                                    .clusters = (sizes[i] + 63) / 64 * ((sizes[j] + 23) / 24),
                                    .schedule = LATHE_GROUPED};

                assert_walks_as_by_hand(&grid);
                grid.schedule = LATHE_DYNAMIC; /* of its own, before it asks for others */
                assert_walks_as_by_hand(&grid);
                grid.raster = 1; /* row by row is what groups of one are */
                grid.schedule = LATHE_GRID;
                assert_walks_as_by_hand(&grid);
            }
}

static void an_empty_output_has_no_tiles(void **state)
{
    (void)state;

    assert_walks_as_by_hand(&(struct grid){
        .tile = {64, 64}, .cluster = {1, 1}, .m = 0, .n = 640, .raster = 8, .clusters = 3});
    assert_walks_as_by_hand(&(struct grid){
        .tile = {64, 64}, .cluster = {1, 1}, .m = 640, .n = 0, .raster = 8, .clusters = 3});
    assert_walks_as_by_hand(&(struct grid){
        .tile = {64, 64}, .cluster = {2, 1}, .m = 0, .n = 0, .raster = 8, .clusters = 1});
}

static struct place only_visit_of(const struct grid *grid, uint32_t cluster)
{
    static struct cta cta;
    struct ptx_program *program = program_for(grid, &cta.walk);

    cta.grid = grid;
    cta.cluster = cluster;
    cta.place_m = cta.place_n = 0;
    run_cta(program, &cta);
    ptx_free(program);
    assert_int_equal(cta.visits, 1);
    return cta.visited[0];
}

static void the_last_tile_of_the_longest_output_is_found(void **state)
{
    (void)state;
    uint32_t tiles = (2147479552 + 63) / 64;
    struct grid grid = {.tile = {64, 64},
                        .cluster = {1, 1},
                        .m = 2147479552,
                        .n = 64,
                        .raster = 32,
                        .clusters = tiles};
    struct place last = only_visit_of(&grid, tiles - 1);

    assert_int_equal(last.m, (tiles - 1) * 64);
    assert_int_equal(last.n, 0);
}

/* raster may be named up to 65536; together with 65536 tiles along n that is 2^32 of them. */
static void more_rows_together_than_there_are_is_all_of_them(void **state)
{
    (void)state;
    struct grid grid = {.tile = {64, 256},
                        .cluster = {1, 1},
                        .m = 64,
                        .n = 16777216,
                        .raster = 65536,
                        .clusters = 65536};
    struct place third = only_visit_of(&grid, 2);

    assert_int_equal(third.m, 0);
    assert_int_equal(third.n, 512);
}

/* ---- What the host works out ---- */

static void assert_divides(const struct lathe_divisor *by, uint32_t divisor, uint32_t x)
{
    uint64_t sum = (uint64_t)(uint32_t)((uint64_t)x * by->factor >> 32) + x;

    if (sum > UINT32_MAX || (uint32_t)sum >> by->shift != x / divisor)
        fail_msg("%u / %u: factor %u and shift %u give %u", x, divisor, by->factor, by->shift,
                 (uint32_t)sum >> by->shift);
}

/* Around multiples of the divisor, where a factor that is off by one is wrong first. */
static void assert_divides_all(const struct lathe_divisor *by, uint32_t divisor)
{
    const uint32_t last = INT32_MAX;
    uint32_t quotients[] = {0, 1, 2, 3, last / divisor / 2, last / divisor - 1, last / divisor};

    for (size_t i = 0; i < sizeof quotients / sizeof quotients[0]; i++)
        for (int64_t near = -1; near <= 1; near++) {
            int64_t x = (int64_t)quotients[i] * divisor + near;

            if (x >= 0 && x <= last)
                assert_divides(by, divisor, (uint32_t)x);
        }
    assert_divides(by, divisor, last);
}

static void what_divides_by_the_tiles_of_a_group_is_right_for_every_number(void **state)
{
    (void)state;
    const struct lathe_contract contract = {.cluster_tile = {1, 1}};
    uint32_t random = 1;

    for (int i = 0; i < 40000; i++) {
        struct lathe_walk walk;
        uint32_t divisor = (uint32_t)i + 1;

        if (i >= 20000) { /* of any length */
            random = random * 1664525u + 1013904223u;
            divisor = 1 + (random >> 1) % 2147479552u;
            divisor = 1 + (divisor - 1) / (1u << random % 29);
        } else if (i >= 19000) { /* next to powers of two */
            divisor = (1u << (1 + i % 30)) + (uint32_t)(i / 30 % 3) - 1;
        }
        assert_int_equal(lathe_contract_walk(&contract, 1, divisor, 1, &walk, NULL), LATHE_OK);
        assert_int_equal(walk.group_tiles, divisor);
        assert_divides_all(&walk.by_group_tiles, divisor);
    }
}

static void rows_of_whole_and_of_last_groups_have_divisors(void **state)
{
    (void)state;
    const struct lathe_contract contract = {.cluster_tile = {64, 256}};
    struct lathe_walk walk;

    assert_int_equal(lathe_contract_walk(&contract, 64 * 11 - 5, 1000, 4, &walk, NULL), LATHE_OK);
    assert_int_equal(walk.tiles, 44);
    assert_int_equal(walk.tiles_m, 11);
    assert_int_equal(walk.raster, 4);
    assert_int_equal(walk.group_tiles, 16);
    assert_divides_all(&walk.by_raster, 4);
    assert_divides_all(&walk.by_last_rows, 3);
    assert_int_equal(lathe_contract_walk(&contract, 64 * 8, 1000, 4, &walk, NULL), LATHE_OK);
    assert_divides_all(&walk.by_last_rows, 4);
    assert_int_equal(lathe_contract_walk(&contract, 64 * 8, 1000, 65536, &walk, NULL), LATHE_OK);
    assert_int_equal(walk.raster, 8);
    assert_divides_all(&walk.by_last_rows, 8);
}

static void a_walk_that_cannot_be_is_refused(void **state)
{
    (void)state;
    const struct lathe_contract contract = {.cluster_tile = {1, 1}}, empty = {0};
    struct lathe_walk walk;
    struct lathe_error err;

    assert_int_equal(lathe_contract_walk(NULL, 1, 1, 1, &walk, &err), LATHE_MISUSED);
    assert_int_equal(lathe_contract_walk(&contract, 1, 1, 1, NULL, &err), LATHE_MISUSED);
    assert_int_equal(lathe_contract_walk(&empty, 1, 1, 1, &walk, &err), LATHE_MISUSED);
    assert_int_equal(lathe_contract_walk(&contract, -1, 1, 1, &walk, &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lathe_contract_walk(&contract, 1, INT64_MAX, 1, &walk, &err),
                     LATHE_OUT_OF_RANGE);
    assert_int_equal(lathe_contract_walk(&contract, 1, 1, 0, &walk, &err), LATHE_OUT_OF_RANGE);
    assert_int_equal(lathe_contract_walk(&contract, 65536, 32768, 1, &walk, &err),
                     LATHE_UNSUPPORTED);
    assert_int_equal(lathe_contract_walk(&contract, 65536, 32767, 1, &walk, &err), LATHE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tile_is_made_once_in_groups_of_rows),
        cmocka_unit_test(a_grid_of_any_size_shares_the_tiles),
        cmocka_unit_test(a_cta_for_each_tile_has_the_one_of_its_number),
        cmocka_unit_test(an_empty_output_has_no_tiles),
        cmocka_unit_test(the_last_tile_of_the_longest_output_is_found),
        cmocka_unit_test(more_rows_together_than_there_are_is_all_of_them),
        cmocka_unit_test(what_divides_by_the_tiles_of_a_group_is_right_for_every_number),
        cmocka_unit_test(rows_of_whole_and_of_last_groups_have_divisors),
        cmocka_unit_test(a_walk_that_cannot_be_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
