#include "tests/templates/walk.h"

#include "tests/support/cmocka_all.h"
#include "tests/templates/walk_model.h"

#include <stdlib.h>
#include <string.h>

/* ---- What the kernel asks for ---- */

uint32_t walk_offset_of(uint64_t address)
{
    uint32_t offset = (uint32_t)(address & 0xffffff);

    assert_true(offset >= SMEM_START && offset - SMEM_START < SMEM_BYTES);
    return offset - SMEM_START;
}

uint64_t walk_special(void *user, const char *name)
{
    const struct view *view = user;
    const struct walk *walk = view->walk;
    const struct {
        const char *name;
        uint64_t value;
    } known[] = {
        {"%tid.x", (uint64_t)view->thread},
        {"%ctaid.y", (uint64_t)(view->cta / walk->plan->cluster[0])},
        {"%ctaid.x", (uint64_t)(view->cta % walk->plan->cluster[0])},
        {"%nctaid.x", (uint64_t)walk->plan->cluster[0]},
        {"smem", SMEM_START | (uint64_t)view->cta << 24},
        {"m", (uint64_t)walk->m},
        {"n", (uint64_t)walk->n},
        {"k", (uint64_t)walk->k},
        {"d", D_BASE},
        {"ldd", (uint64_t)(walk->n + LDD_MORE)},
        {"alpha", ptx_float_bits(1.0f)},
        {"beta", ptx_float_bits(walk->beta)},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].value;
    for (int i = 0; i < walk->contract->tensor_map_count; i++)
        if (strcmp(walk->contract->tensor_maps[i].name, name) == 0)
            return MAP_BASE + (uint64_t)i;
    fail_msg("nobody knows %s", name);
    return 0;
}

const void *walk_block(void *user, const char *name)
{
    const struct view *view = user;

    return strcmp(name, "walk") == 0 ? &view->walk->order : NULL;
}

const struct lathe_tensor_map *walk_map_at(const struct walk *walk, uint64_t address)
{
    assert_in_range(address, MAP_BASE, MAP_BASE + walk->contract->tensor_map_count - 1);
    return &walk->contract->tensor_maps[address - MAP_BASE];
}

/* ---- Where things lie: the manual's rules ---- */

uint32_t walk_swizzled(uint32_t address)
{
    return address ^ ((address >> 7 & 7) << 4);
}

/* Small numbers that every 16-bit type holds exactly, and their double and triple too. */
float walk_d_value(int64_t row, int64_t column)
{
    uint32_t mixed = (uint32_t)row * 2654435761u ^ (uint32_t)column * 2246822519u;

    return (float)(1 + (mixed >> 7) % 85);
}

float walk_c_value(const struct walk *walk, int64_t row, int64_t column)
{
    return row < walk->m && column < walk->n ? 2 * walk_d_value(row, column) : 0;
}

/* ---- Tiles ---- */

static void list_tiles(struct walk *walk)
{
    int rows = walk->plan->tile[0] * walk->plan->cluster[0];
    int columns = walk->plan->tile[1] * walk->plan->cluster[1];
    int64_t tiles_m = (walk->m + rows - 1) / rows, tiles_n = (walk->n + columns - 1) / columns;

    walk->tiles = calloc((size_t)(tiles_m * tiles_n + 1), sizeof *walk->tiles);
    assert_non_null(walk->tiles);
    for (int64_t group = 0; group < tiles_m; group += walk->raster)
        for (int64_t column = 0; column < tiles_n; column++)
            for (int64_t row = group; row < tiles_m && row < group + walk->raster; row++)
                walk->tiles[walk->tile_count++] = (struct place){row * rows, column * columns};
}

struct place walk_tile_of(const struct walk *walk, int tile, int cta)
{
    struct place place = walk->tiles[tile];

    place.m += cta % walk->plan->cluster[0] * walk->plan->tile[0];
    place.n += cta / walk->plan->cluster[0] * walk->plan->tile[1];
    return place;
}

/* The first column of k of a step; k = 0 takes one step that lies outside of A and B. */
int64_t walk_k_of(const struct walk *walk, int step)
{
    return walk->k == 0 ? walk->plan->tile[2]
                        : (int64_t)(step % walk->k_blocks) * walk->plan->tile[2];
}

void walk_expect_wait(const struct view *view, struct ptx_thread *thread,
                      const struct ptx_insn *insn, uint32_t barrier, int parity)
{
    assert_int_equal(ptx_read(thread, insn, 1, 0) >> 24, view->cta);
    assert_int_equal(walk_offset_of(ptx_read(thread, insn, 1, 0)), barrier);
    assert_int_equal(ptx_read(thread, insn, 2, 0), parity);
    ptx_write(thread, insn, 0, 0, 1);
}

/* ---- The whole ---- */

static void check_output(const struct walk *walk)
{
    for (int64_t row = 0; row < walk->m; row++)
        for (int64_t column = 0; column < walk->n; column++) {
            int64_t at = row * walk->n + column;
            float want = walk_d_value(row, column) + walk->beta * walk_c_value(walk, row, column);

            if (walk->written[at] != 1 || walk->d[at] != want)
                fail_msg("D[%d][%d] was written %d times and is %g instead of %g", (int)row,
                         (int)column, walk->written[at], (double)walk->d[at], (double)want);
        }
}

/* A box of A has no more rows than A, in eights; boxes that begin below A are not fetched, but for
 * an A that is longer than a tile, whose last tile has all. */
static void measure_a(struct walk *walk)
{
    const struct lathe_plan *plan = walk->plan;
    int slice = plan->tile[0] / plan->cluster[1];
    int rows = (int)(walk->m < slice ? (walk->m + 7) / 8 * 8 : slice);
    int boxes = 0;

    for (int box = 0; box < plan->cluster[1]; box++)
        boxes += box == 0 || box * rows < walk->m;
    walk->a_rows = rows;
    walk->arrive_bytes = walk->stage_bytes - (plan->tile[0] - boxes * rows) * plan->tile[2] * 2;
}

void walk_cluster(const struct lathe_kernel *kernel, int64_t m, int64_t n, int64_t k, int raster,
                  float beta)
{
    const struct lathe_plan *plan = lathe_kernel_plan(kernel);
    struct ptx_program *program = ptx_parse(lathe_kernel_text(kernel, NULL));
    struct walk walk = {
        .plan = plan,
        .contract = lathe_kernel_contract(kernel),
        .program = program,
        .m = m,
        .n = n,
        .k = k,
        .raster = raster,
        .beta = plan->beta == LATHE_BETA_ANY ? beta : 0,
        .ctas = plan->cluster[0] * plan->cluster[1],
        .k_blocks = k == 0 ? 1 : (int)((k + plan->tile[2] - 1) / plan->tile[2]),
        .stage_bytes = (plan->tile[0] + plan->tile[1]) * plan->tile[2] * 2,
    };

    assert_int_equal(lathe_contract_walk(walk.contract, m, n, raster, &walk.order, NULL), LATHE_OK);
    measure_a(&walk);
    walk.readers = 4 * plan->consumers * walk.ctas;
    list_tiles(&walk);
    walk.steps = walk.tile_count * walk.k_blocks;
    walk.releases = calloc((size_t)(walk.ctas * walk.steps + 1), sizeof *walk.releases);
    walk.d = calloc((size_t)(m * n + 1), sizeof *walk.d);
    walk.written = calloc((size_t)(m * n + 1), 1);
    assert_true(walk.releases && walk.d && walk.written);

    for (int cta = 0; cta < walk.ctas; cta++)
        walk_producer(&walk, cta);
    for (int cta = 0; cta < walk.ctas; cta++)
        for (int consumer = 0; consumer < plan->consumers; consumer++)
            walk_warpgroup(&walk, cta, consumer);
    for (int i = 0; i < walk.ctas * walk.steps; i++)
        assert_int_equal(walk.releases[i], walk.readers);
    check_output(&walk);

    free(walk.releases);
    free(walk.written);
    free(walk.d);
    free(walk.loads);
    free(walk.tiles);
    ptx_free(program);
}
