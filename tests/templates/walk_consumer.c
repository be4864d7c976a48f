#include "tests/templates/walk_model.h"

#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

/* Row and column of accumulator `i` of thread `t`: PTX ISA, "WGMMA .m64nNk16 register fragment". */
static int fragment_row(int t, int i)
{
    return 16 * (t / 32) + t % 32 / 4 + 8 * (i / 2 % 2);
}

static int fragment_column(int t, int i)
{
    return 8 * (i / 4) + 2 * (t % 4) + i % 2;
}

/* Lets the loads of a step land in the shared memory of a CTA: rows of 128 bytes, swizzled. */
static void land(const struct walk *walk, struct group *group, int cta, int step)
{
    const struct lathe_plan *plan = walk->plan;
    uint32_t stage = (uint32_t)tenant_of(plan, "stage ring")->offset +
                     (uint32_t)(step % plan->stages * walk->stage_bytes);
    int landed = 0;

    for (int i = 0; i < walk->load_count; i++) {
        const struct load *load = &walk->loads[i];

        if (load->step != step || !(load->mask >> cta & 1))
            continue;
        int rows = load->map->operand == LATHE_A ? walk->a_rows : load->map->box[1];

        for (int row = 0; row < rows; row++)
            for (int at = 0; at < load->map->box[0] * 2; at += 16) {
                uint32_t offset = load->smem + (uint32_t)(row * 128 + at);
                struct piece *piece;

                assert_true(offset >= stage && offset < stage + (uint32_t)walk->stage_bytes);
                piece = &group->pieces[(walk_swizzled(SMEM_START + offset) - SMEM_START) / 16];
                assert_int_not_equal(piece->step, step); /* nothing lands twice */
                *piece = (struct piece){step, load->map->operand, load->row + row,
                                        load->column + at / 2};
                landed += 16;
            }
    }
    assert_int_equal(landed, walk->arrive_bytes);
}

/* What an MMA finds at a row and half of its operand: the matrix descriptor's formula for K-major
 * tiles with the 128-byte swizzle. */
static const struct piece *found_at(const struct group *group, uint64_t descriptor, int row,
                                    int half)
{
    uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4;
    uint32_t stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
    uint32_t address =
        start + (uint32_t)(row % 8 * 128) + (uint32_t)(row / 8) * stride + (uint32_t)half * 16;

    assert_int_equal(descriptor >> 62, 1);
    assert_int_equal(descriptor >> 46 & 0xffff, 0);
    return &group->pieces[walk_offset_of(walk_swizzled(address)) / 16];
}

static void expect_piece(const struct piece *piece, int step, enum lathe_operand operand,
                         int64_t row, int64_t k)
{
    assert_int_equal(piece->step, step);
    assert_int_equal(piece->operand, operand);
    assert_int_equal(piece->row, row);
    assert_int_equal(piece->k, k);
}

/* MMAs come in the order of k, and within that of the blocks of 64 rows. */
static void check_operands(const struct view *view, struct ptx_thread *thread,
                           const struct ptx_insn *insn, int block)
{
    const struct walk *walk = view->walk;
    const struct group *group = view->group;
    int blocks = walk->plan->tile[0] / (64 * walk->plan->consumers);
    struct place tile = walk_tile_of(walk, group->tile, view->cta);
    int64_t k = walk_k_of(walk, view->step) + group->mmas / blocks * 16;
    int64_t first_row = tile.m + (group->consumer * blocks + block) * 64;
    uint64_t a = ptx_read(thread, insn, 1, 0), b = ptx_read(thread, insn, 2, 0);

    for (int half = 0; half < 2; half++) {
        for (int row = 0; row < 64 && first_row + row < walk->m; row++)
            expect_piece(found_at(group, a, row, half), view->step, LATHE_A, first_row + row,
                         k + 8 * half);
        for (int row = 0; row < walk->plan->tile[1]; row++)
            expect_piece(found_at(group, b, row, half), view->step, LATHE_B, tile.n + row,
                         k + 8 * half);
    }
}

static void multiply(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    const struct walk *walk = view->walk;
    struct group *group = view->group;
    int columns = walk->plan->tile[1];
    int blocks = walk->plan->tile[0] / (64 * walk->plan->consumers);
    int block = atoi(ptx_name(thread, insn, 0, 0) + strlen("%acc")) / (columns / 2);
    struct place tile = walk_tile_of(walk, group->tile, view->cta);
    bool first_of_tile = view->step % walk->k_blocks == 0 && group->mmas < blocks;

    assert_true(view->fenced);
    assert_int_equal(insn->operand[0].count, columns / 2);
    assert_int_equal(block, group->mmas % blocks);
    assert_int_equal(ptx_read(thread, insn, 3, 0), first_of_tile ? 0 : 1);
    if (view->thread % WARPGROUP == 0)
        check_operands(view, thread, insn, block);
    for (int i = 0; i < columns / 2; i++)
        ptx_write(
            thread, insn, 0, i,
            ptx_float_bits(walk_d_value(tile.m + (group->consumer * blocks + block) * 64 +
                                            fragment_row(view->thread % WARPGROUP, i),
                                        tile.n + fragment_column(view->thread % WARPGROUP, i))));
    view->pending = 1;
}

/* A lane lets a stage go in the CTA of its number, once the MMAs that read it are done. */
static void release(struct view *view, uint64_t address)
{
    const struct walk *walk = view->walk;
    int step = view->releases++, target = (int)(address >> 24);

    assert_true(step < walk->steps);
    assert_true(view->committed - view->pending > step);
    assert_int_equal(target, walk->ctas > 1 ? view->thread % 32 : view->cta);
    assert_int_equal(walk_offset_of(address), 8 * (walk->plan->stages + step % walk->plan->stages));
    walk->releases[target * walk->steps + step]++;
}

static void wait_at(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct walk *walk = view->walk;
    struct group *group = view->group;
    uint32_t barrier = walk_offset_of(ptx_read(thread, insn, 1, 0));
    int stages = walk->plan->stages;

    if (barrier >= (uint32_t)(16 * stages)) {
        uint32_t index = (barrier - walk_c_barriers(view)) / 8;

        /* All threads pass the same wait in turn; the first of them counts. */
        if (view->thread % WARPGROUP == 0)
            group->c_waits[index]++;
        assert_int_equal(group->c_phases[index], group->c_waits[index]);
        walk_expect_wait(view, thread, insn, barrier, (group->c_waits[index] - 1) & 1);
        return;
    }
    view->step++;
    group->mmas = 0;
    group->tile = view->step / walk->k_blocks;
    walk_expect_wait(view, thread, insn, (uint32_t)(8 * (view->step % stages)),
                     view->step / stages & 1);
    if (view->thread % WARPGROUP == 0)
        land(walk, group, view->cta, view->step);
}

static bool take_mma(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    if (ptx_is(insn, "wgmma.fence")) {
        view->fenced = 1;
    } else if (ptx_is(insn, "wgmma.mma_async")) {
        multiply(view, thread, insn);
        view->group->mmas++;
    } else if (ptx_is(insn, "wgmma.commit_group")) {
        assert_int_equal(view->group->mmas * 1024, view->walk->plan->tile[0] /
                                                       view->walk->plan->consumers *
                                                       view->walk->plan->tile[2]);
        view->committed++;
    } else if (ptx_is(insn, "wgmma.wait_group")) {
        view->pending = (int)ptx_read(thread, insn, 0, 0);
        view->fenced = 0;
    } else {
        return false;
    }
    return true;
}

static enum ptx_answer consume(void *user, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct view *view = user;

    if (take_mma(view, thread, insn) || walk_take_epilogue(view, thread, insn))
        return PTX_DONE;
    if (ptx_is(insn, "stmatrix.") || ptx_is(insn, "ldmatrix.")) {
        assert_int_equal(view->pending, 0);
        return PTX_PAUSE;
    }
    if (ptx_is(insn, "bar.sync") && insn->operand_count == 2) {
        assert_int_equal(ptx_read(thread, insn, 0, 0), view->group->consumer + 1);
        assert_int_equal(ptx_read(thread, insn, 1, 0), WARPGROUP);
        return PTX_PAUSE;
    }
    if (ptx_is(insn, "mbarrier.try_wait.parity")) {
        wait_at(view, thread, insn);
    } else if (ptx_is(insn, "mbarrier.arrive.expect_tx")) {
        view->c_bytes = (int)ptx_read(thread, insn, 2, 0);
    } else if (ptx_is(insn, view->walk->ctas > 1 ? "mbarrier.arrive.shared::cluster.b64"
                                                 : "mbarrier.arrive.shared::cta.b64")) {
        release(view, ptx_read(thread, insn, 1, 0));
    } else if (ptx_is(insn, "mapa.")) {
        ptx_write(thread, insn, 0, 0,
                  (ptx_read(thread, insn, 1, 0) & 0xffffff) | ptx_read(thread, insn, 2, 0) << 24);
    } else {
        return ptx_is(insn, "bar") || ptx_is(insn, "setmaxnreg.") ? PTX_DONE : PTX_UNKNOWN;
    }
    return PTX_DONE;
}

/* All threads of a warpgroup, from one instruction that they do together to the next. */
void walk_warpgroup(struct walk *walk, int cta, int consumer)
{
    static const struct ptx_host host = {walk_special, consume, walk_block};
    static struct view views[WARPGROUP];
    struct ptx_thread *threads[WARPGROUP];
    struct group *group = calloc(1, sizeof *group);
    const struct ptx_insn *together;

    assert_non_null(group);
    group->consumer = consumer;
    group->epoch = 1;
    group->views = views;
    for (int i = 0; i < PIECES; i++)
        group->pieces[i].step = -1;
    for (int t = 0; t < WARPGROUP; t++) {
        views[t] = (struct view){.walk = walk,
                                 .group = group,
                                 .cta = cta,
                                 .step = -1,
                                 .thread = WARPGROUP * (1 + consumer) + t};
        threads[t] = ptx_start(walk->program, &host, &views[t]);
    }
    do {
        together = ptx_continue(threads[0]);
        for (int t = 1; t < WARPGROUP; t++)
            assert_ptr_equal(ptx_continue(threads[t]), together);
        if (together && !ptx_is(together, "bar.sync"))
            walk_move_matrices(views, threads, together);
        if (together && ptx_is(together, "bar.sync"))
            group->epoch++;
    } while (together);
    for (int t = 0; t < WARPGROUP; t++) {
        assert_int_equal(views[t].step + 1, walk->steps);
        assert_int_equal(views[t].releases, t % 32 < walk->ctas ? walk->steps : 0);
        ptx_end(threads[t]);
    }
    assert_int_equal(group->groups, group->groups_read); /* smem outlives its readers */
    free(group);
}
