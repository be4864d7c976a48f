#include "tests/templates/walk_model.h"

#include "tests/support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static void note_load(struct view *view, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct walk *walk = view->walk;
    struct load *load;

    walk->loads = realloc(walk->loads, (size_t)(walk->load_count + 1) * sizeof *walk->loads);
    assert_non_null(walk->loads);
    load = &walk->loads[walk->load_count++];
    *load = (struct load){
        .step = view->step,
        .cta = view->cta,
        .smem = walk_offset_of(ptx_read(thread, insn, 0, 0)),
        .map = walk_map_at(walk, ptx_read(thread, insn, 1, 0)),
        .column = (int32_t)ptx_read(thread, insn, 1, 1),
        .row = (int32_t)ptx_read(thread, insn, 1, 2),
        .barrier = walk_offset_of(ptx_read(thread, insn, 2, 0)),
        .mask = 1u << view->cta,
    };
    if (insn->operand_count > 3)
        load->mask = (uint32_t)ptx_read(thread, insn, 3, 0);
    assert_true(strstr(insn->opcode, ".multicast::cluster") ? insn->operand_count == 4
                                                            : insn->operand_count == 3);
    assert_int_equal(load->barrier, 8 * (view->step % walk->plan->stages));
    assert_int_equal(load->smem % 128, 0);
    assert_true(load->map->operand == LATHE_A || load->map->operand == LATHE_B);
}

static enum ptx_answer produce(void *user, struct ptx_thread *thread, const struct ptx_insn *insn)
{
    struct view *view = user;
    const struct lathe_plan *plan = view->walk->plan;
    int stages = plan->stages;

    if (ptx_is(insn, "mbarrier.init")) {
        uint32_t index = walk_offset_of(ptx_read(thread, insn, 0, 0)) / 8;

        assert_int_equal(view->thread, 0);
        assert_int_equal(
            ptx_read(thread, insn, 1, 0),
            index >= (uint32_t)stages && index < 2 * (uint32_t)stages ? view->walk->readers : 1);
    } else if (ptx_is(insn, "mbarrier.try_wait.parity")) {
        view->step++;
        walk_expect_wait(view, thread, insn, (uint32_t)(8 * (stages + view->step % stages)),
                         (view->step / stages & 1) ^ 1);
    } else if (ptx_is(insn, "mbarrier.arrive.expect_tx")) {
        assert_int_equal(walk_offset_of(ptx_read(thread, insn, 1, 0)), 8 * (view->step % stages));
        assert_int_equal(ptx_read(thread, insn, 2, 0), view->walk->arrive_bytes);
    } else if (ptx_is(insn, "cp.async.bulk.tensor.2d.shared::cluster.global.tile")) {
        note_load(view, thread, insn);
    } else if (ptx_is(insn, "elect.sync")) {
        ptx_write(thread, insn, 0, 0, view->thread % 32 == 0);
    } else {
        return ptx_is(insn, "fence.") || ptx_is(insn, "prefetch.") || ptx_is(insn, "bar") ||
                       ptx_is(insn, "setmaxnreg.")
                   ? PTX_DONE
                   : PTX_UNKNOWN;
    }
    return PTX_DONE;
}

/* One lane of the first warp fetches; the other threads of these warps do nothing. */
void walk_producer(struct walk *walk, int cta)
{
    static const struct ptx_host host = {walk_special, produce, walk_block};
    static const int threads[] = {0, 1, 31, 32, 127};

    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        struct view view = {.walk = walk, .cta = cta, .thread = threads[i], .step = -1};

        ptx_run(walk->program, &host, &view);
        /* In a cluster it waits until all stages were let go. */
        int drained = walk->ctas > 1 ? walk->plan->stages : 0;

        assert_int_equal(view.step + 1, threads[i] == 0 ? walk->steps + drained : 0);
    }
}
