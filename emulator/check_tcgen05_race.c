/* check_tcgen05_race.c: which mistake a conflict in tensor memory is; and registers that a
 * tcgen05.ld has not filled yet. */
#include "emulator/check_tcgen05.h"

#include <string.h>

static enum emu_tcgen05_what what_of(const struct emu_access *access)
{
    return access->op->tensor.tcgen05.what;
}

static bool is_move(const struct emu_access *access)
{
    return what_of(access) == EMU_TCGEN05_LD || what_of(access) == EMU_TCGEN05_ST;
}

static bool is_in_pipe(const struct emu_access *access)
{
    return what_of(access) == EMU_TCGEN05_MMA || what_of(access) == EMU_TCGEN05_CP ||
           what_of(access) == EMU_TCGEN05_SHIFT;
}

static struct emu_warp *warp_of(const struct emu_cluster *cluster, const struct emu_access *access)
{
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        if (memcmp(cluster->ctas[i].id, access->cta, sizeof access->cta) == 0)
            return &cluster->ctas[i].warps[access->warp];
    return NULL;
}

/* ---- Behind a load or a store ---- */

static void call_unwaited(struct emu_found *found, bool is_load)
{
    found->code = "missing-tcgen05-wait";
    found->what =
        is_load ? "nobody has waited for the tcgen05.ld" : "nobody has waited for the tcgen05.st";
    found->needed = is_load ? "tcgen05.wait::ld behind the load, by the warp that loads"
                            : "tcgen05.wait::st behind the store, by the warp that stores";
}

static void call_unfenced(struct emu_found *found)
{
    found->code = "missing-tcgen05-fence";
    found->what = "the threads are ordered, and their instructions of tcgen05 are not";
    found->needed = "tcgen05.fence::before_thread_sync before the arrival of the one, and "
                    "tcgen05.fence::after_thread_sync behind the wait of the other (a "
                    "tcgen05.commit is the first by itself)";
}

static bool is_dealloc(const struct emu_access *access)
{
    return what_of(access) == EMU_TCGEN05_DEALLOC;
}

static bool is_of_pair(const struct emu_access *access)
{
    return is_dealloc(access) && access->op->tensor.tcgen05.group == 2;
}

/* Whether the thread comes behind the issue of the move: then it lacks no barrier. */
static bool is_behind(const struct emu_found *found, const struct emu_warp *owner,
                      const struct emu_check_moves *moves)
{
    return owner == found->warp ||
           emu_clock_get(&found->warp->check->clock, owner->check->self).seen > moves->last;
}

static void describe_move(struct emu_found *found, const struct emu_access *now,
                          const struct emu_access *before)
{
    const struct emu_warp *owner = warp_of(found->warp->cta->cluster, before);
    const struct emu_check_tcgen05 *its = owner ? owner->check->tcgen05 : NULL;
    bool is_load = what_of(before) == EMU_TCGEN05_LD;
    const struct emu_check_moves *moves = its ? is_load ? &its->loads : &its->stores : NULL;

    if (moves && moves->waited < before->time && is_behind(found, owner, moves)) {
        call_unwaited(found, is_load);
    } else if (moves &&
               emu_clock_get(&found->warp->check->clock, moves->waits).seen >= before->time) {
        call_unfenced(found);
    } else if (is_load && is_in_pipe(now)) {
        found->code = "stage-reused";
        found->what = "nothing tells that the load is done";
        found->needed = "an arrival by the warps that load, behind tcgen05.wait::ld and "
                        "tcgen05.fence::before_thread_sync, and a wait for it and "
                        "tcgen05.fence::after_thread_sync by who writes";
    }
}

/* ---- Behind a product, a copy, a shift ---- */

/* The wait for its commit, or the issue of what it is pipelined with, is known to the thread. */
static bool is_known(const struct emu_found *found, const struct emu_access *before)
{
    const struct emu_clock *clock = &found->warp->check->clock;
    const struct emu_lines *lines = found->warp->cta->cluster->check->lines;

    if (emu_clock_get(clock, before->agent).seen >= before->time)
        return true;
    for (int i = 0; lines && i < lines->count; i++)
        if (lines->list[i].agent.index == before->agent.index)
            return emu_clock_get(clock, lines->list[i].order).seen >= before->time;
    return false;
}

static void describe_piped(struct emu_found *found, const struct emu_access *now,
                           const struct emu_access *before)
{
    static const char needed[] =
        "tcgen05.commit behind it, a wait for the phase of that mbarrier, and "
        "tcgen05.fence::after_thread_sync behind the wait";

    found->needed = needed;
    if (is_known(found, before)) {
        call_unfenced(found);
    } else if (before->kind & EMU_WRITES && what_of(now) == EMU_TCGEN05_LD) {
        found->code = "premature-use";
        found->what = "nobody has waited for what the tensor cores write";
    } else if (!(before->kind & EMU_WRITES)) {
        found->code = "stage-reused";
        found->what = "nothing tells that the tensor cores have read it";
    } else {
        found->what = "nothing orders the two: they are done in any order";
    }
}

bool emu_check_tmem_describe(struct emu_found *found, const struct emu_access *now,
                             const struct emu_access *before)
{
    bool is_pair = is_of_pair(now) || is_of_pair(before);

    if (is_dealloc(now) && is_dealloc(before))
        return false; /* each of its own columns */
    found->code = "race";
    found->what =
        is_pair ? "nothing orders the two: a pair deallocates together" : "nothing orders the two";
    found->needed = "a barrier between the two, with tcgen05.fence::before_thread_sync before it "
                    "and tcgen05.fence::after_thread_sync behind it";
    if (is_dealloc(now) || is_dealloc(before))
        found->needed = is_pair ? "barrier.cluster.arrive and .wait by both CTAs between the two"
                                : "a barrier of the CTA between the two";
    if (is_move(before))
        describe_move(found, now, before);
    else if (is_in_pipe(before))
        describe_piped(found, now, before);
    return true;
}

/* ---- Registers ---- */

static void report_register(struct emu_warp *warp, const struct emu_group *group,
                            const struct emu_op *op, int slot, const struct emu_op *by)
{
    const struct emu_access other = emu_access_of(warp, by, warp->check->self, 0, 0);
    const struct emu_found found = {
        .code = "missing-tcgen05-wait",
        .warp = warp,
        .op = op,
        .lane = -1,
        .other = &other,
        .frame = group->frame,
        .slot = slot,
        .is_one_of_many = true,
        .what = "nobody has waited for the tcgen05.ld that fills the register",
        .needed = "tcgen05.wait::ld.sync.aligned between the two"};

    emu_check_found(&found);
}

static void look(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                 int slot)
{
    const struct emu_op *by = emu_moves_loading(warp, group->frame, slot);

    if (slot >= 0 && by)
        report_register(warp, group, op, slot, by);
}

/* Who reads a register of a load has waited for it by that; who overwrites one has not. */
void emu_check_loading(struct emu_warp *warp, const struct emu_group *group,
                       const struct emu_op *op)
{
    if (!emu_moves_any(warp))
        return;
    for (int i = 0; i < op->result_count; i++)
        look(warp, group, op, op->results[i]);
    for (int i = 0; i < op->many_count; i++)
        look(warp, group, op, op->many[i]);
}
