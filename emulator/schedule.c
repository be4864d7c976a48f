/* schedule.c: how a cluster runs: in which order its warps, which of a warp's groups, and for how
 * long. */
#include "emulator/state.h"

enum {
    STEP_BYTES = 256, /* about what is moved in the time of an instruction */
    QUANTA = 9,       /* of 1, 2, 4 ... 256 instructions */
    PATIENCE = 16     /* instructions of a warp, of which one is of a group that is ahead */
};

uint64_t emu_draw(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u; /* splitmix64, Steele and others 2014 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t emu_draw_due(struct emu_cluster *cluster)
{
    uint64_t random = emu_draw(&cluster->random);

    switch (random % 3) {
    case 0:
        return cluster->turn;
    case 1:
        return cluster->turn + 1 + (random >> 8) % 3;
    default:
        return cluster->turn + 4 + (random >> 8) % 24;
    }
}

void emu_charge(struct emu_cluster *cluster, uint64_t bytes)
{
    cluster->steps += bytes / STEP_BYTES;
}

/* ---- Groups ---- */

static void remove_group(struct emu_warp *warp, int index)
{
    warp->groups[index] = warp->groups[--warp->group_count];
}

static bool can_merge(const struct emu_group *a, const struct emu_group *b)
{
    return a->frame == b->frame && a->at == b->at && !a->arrived && !b->arrived;
}

/* Groups that stand at one place go on as one; those without lanes are gone. */
static void tidy_groups(struct emu_warp *warp)
{
    for (int i = warp->group_count - 1; i >= 0; i--)
        if (warp->groups[i].lanes == 0)
            remove_group(warp, i);
    for (int i = 0; i < warp->group_count; i++)
        for (int k = warp->group_count - 1; k > i; k--)
            if (can_merge(&warp->groups[i], &warp->groups[k])) {
                warp->groups[i].lanes |= warp->groups[k].lanes;
                warp->groups[i].status = EMU_READY;
                warp->groups[i].tried = warp->groups[i].tried && warp->groups[k].tried;
                remove_group(warp, k);
            }
}

/* The one that is behind the others: in the deepest call, at the earliest instruction. So that
 * those that are ahead wait for it where they meet. */
static bool is_behind(const struct emu_group *a, const struct emu_group *b)
{
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->at < b->at;
}

static int pick_group(const struct emu_warp *warp)
{
    int best = -1;

    for (int i = 0; i < warp->group_count; i++)
        if (warp->groups[i].status == EMU_READY &&
            (best < 0 || is_behind(&warp->groups[i], &warp->groups[best])))
            best = i;
    return best;
}

/* ---- Steps ---- */

uint32_t emu_guarded(const struct emu_group *group, const struct emu_op *op)
{
    const uint64_t *predicate;
    uint32_t mask = 0;

    if (op->guard < 0)
        return group->lanes;
    predicate = emu_slot(group, op->guard);
    for (int lane = 0; lane < EMU_LANES; lane++)
        mask |= (uint32_t)(predicate[lane] & 1) << lane;
    return group->lanes & (op->guard_negated ? ~mask : mask);
}

static enum emu_step step_watched(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    enum emu_step done;

    emu_check_registers(warp, group, op);
    emu_check_loading(warp, group, op);
    done = op->execute(warp, group, op, mask);
    emu_check_done(warp);
    return done;
}

static enum emu_step step(struct emu_warp *warp, struct emu_group *group)
{
    const struct emu_op *op = &group->frame->code->ops[group->at];
    uint32_t mask = emu_guarded(group, op);

    if (op->unwritten && warp->check)
        emu_check_marked(warp, group, op, mask);
    if (mask == 0)
        return EMU_STEP_NEXT;
    if (op->aligned && group->lanes != warp->live)
        return EMU_STEP_BLOCKED;
    if (warp->moves)
        emu_moves_arrive(warp, group, op);
    return warp->check ? step_watched(warp, group, op, mask) : op->execute(warp, group, op, mask);
}

/* Its operation counts when it is done. */
static void put_off(struct emu_cluster *cluster, struct emu_warp *warp, struct emu_group *group,
                    bool is_held)
{
    cluster->steps--;
    group->status = EMU_HELD;
    warp->held = (int)(group - warp->groups);
    if (is_held)
        cluster->held[cluster->held_count++] = warp;
    else
        cluster->later[cluster->later_count++] = warp;
}

/* Does one step of the group; false after a fault. */
static bool advance(struct emu_cluster *cluster, struct emu_warp *warp, struct emu_group *group)
{
    enum emu_step done;

    cluster->steps++;
    done = step(warp, group);
    if (cluster->outcome != EMU_DONE)
        return false;
    group->tried = done == EMU_STEP_BLOCKED;
    switch (done) {
    case EMU_STEP_NEXT:
        group->at++;
        break;
    case EMU_STEP_MOVED:
        break;
    case EMU_STEP_YIELD:
        group->at++;
        group->status = EMU_YIELDED;
        group->waited = cluster->turn;
        break;
    case EMU_STEP_BLOCKED:
        group->status = EMU_WAITING;
        group->waited = cluster->turn;
        break;
    case EMU_STEP_LATER:
    case EMU_STEP_HELD:
        put_off(cluster, warp, group, done == EMU_STEP_HELD);
        break;
    case EMU_STEP_FAULT:
        return false;
    }
    return true;
}

/* Work of the warp that nobody waits for yet. */
static bool background(struct emu_warp *warp)
{
    return emu_copy_queue_turn(warp) && emu_tensor_turn(warp);
}

/* A group may go on in this turn; but for one whose wait would be in vain again. */
static void wake(const struct emu_cluster *cluster, const struct emu_warp *warp,
                 struct emu_group *group)
{
    group->status = EMU_READY;
    if (emu_mbarrier_suspends(warp, group)) {
        group->status = EMU_YIELDED;
        group->waited = cluster->turn;
    }
}

bool emu_warp_turn(struct emu_warp *warp, uint32_t quantum)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    int fixed = -1;

    if (warp->held >= 0)
        return true;
    if (!background(warp))
        return false;
    for (int i = 0; i < warp->group_count; i++)
        wake(cluster, warp, &warp->groups[i]);
    if (warp->group_count > 1 &&
        emu_draw(&cluster->random) % 4 == 0) /* also one that is ahead has its turn */
        fixed = (int)(emu_draw(&cluster->random) % (uint64_t)warp->group_count);
    while (quantum-- > 0 && warp->live && cluster->steps <= cluster->steps_left) {
        int index = fixed >= 0 ? fixed : warp->group_count == 1 ? 0 : pick_group(warp);

        if (index < 0 || warp->groups[index].status != EMU_READY)
            return true;
        if (!advance(cluster, warp, &warp->groups[index]))
            return false;
        if (warp->held >= 0)
            return true;
        if (warp->group_count > 1 || warp->groups[0].lanes == 0) {
            int before = warp->group_count;

            tidy_groups(warp);
            if (before != warp->group_count)
                fixed = -1;
        }
    }
    return true;
}

bool emu_warp_resume(struct emu_warp *warp)
{
    struct emu_group *group = &warp->groups[warp->held];

    group->status = EMU_READY;
    warp->held = -1;
    if (!advance(warp->cta->cluster, warp, group))
        return false;
    if (warp->held < 0)
        tidy_groups(warp);
    return true;
}

/* ---- One instruction at a time, where time is modelled (timed.c) ---- */

/* A try_wait waits until its phase is over, however long. */
void emu_warp_wake(struct emu_warp *warp)
{
    for (int i = 0; i < warp->group_count; i++) {
        struct emu_group *group = &warp->groups[i];

        if (group->status != EMU_YIELDED || !emu_mbarrier_is_vain(warp, group))
            group->status = EMU_READY;
    }
}

/* The one that has not run for longest. */
static int pick_patient(const struct emu_warp *warp)
{
    int best = -1;

    for (int i = 0; i < warp->group_count; i++)
        if (warp->groups[i].status == EMU_READY &&
            (best < 0 || warp->groups[i].issued < warp->groups[best].issued))
            best = i;
    return best;
}

bool emu_warp_pick(struct emu_warp *warp, struct emu_issue *issue)
{
    const struct emu_group *group;

    if (!warp->live)
        return false;
    issue->group = warp->timed->issued % PATIENCE == 0 ? pick_patient(warp) : pick_group(warp);
    if (issue->group < 0)
        return false;
    group = &warp->groups[issue->group];
    issue->frame = group->frame;
    issue->code = group->frame->code;
    issue->op = &issue->code->ops[group->at];
    issue->mask = emu_guarded(group, issue->op);
    return true;
}

bool emu_warp_issue(struct emu_warp *warp, const struct emu_issue *issue)
{
    struct emu_group *group = &warp->groups[issue->group];

    if (!advance(warp->cta->cluster, warp, group) || group->status == EMU_WAITING)
        return false;
    group->issued = ++warp->timed->issued;
    tidy_groups(warp);
    return true;
}

/* ---- Turns of a cluster ---- */

static uint32_t list_warps(struct emu_cluster *cluster)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cluster->cta_count; i++) {
        struct emu_cta *cta = &cluster->ctas[i];

        for (uint32_t w = 0; w < cta->warp_count; w++)
            if (cta->warps[w].live)
                cluster->order[count++] = &cta->warps[w];
    }
    return count;
}

/* What needed the cluster's stores in memory finds them there, as long as nobody stores more. */
static bool do_later(struct emu_cluster *cluster)
{
    uint32_t count = cluster->later_count;

    cluster->later_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!emu_warp_resume(cluster->later[i]))
            return false;
    return true;
}

void emu_cluster_turn(struct emu_cluster *cluster)
{
    uint32_t count;

    if (!emu_cluster_fill(cluster))
        return;
    cluster->turn++;
    if (!do_later(cluster) || !emu_async_turn(cluster) || !emu_pipe_turn(cluster))
        return;
    count = list_warps(cluster);
    for (uint32_t left = count; left > 0; left--) {
        uint32_t drawn = (uint32_t)(emu_draw(&cluster->random) % left);
        struct emu_warp *warp = cluster->order[drawn];

        cluster->order[drawn] = cluster->order[left - 1];
        if (!emu_warp_turn(warp, 1u << (emu_draw(&cluster->random) % QUANTA)))
            return;
    }
}
