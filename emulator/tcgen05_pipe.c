/* tcgen05_pipe.c: tcgen05.mma, .cp and .shift: issued by a thread, done in some later turn; and
 * tcgen05.commit, which arrives when those of its thread are done. Source: PTX ISA "tcgen05 Memory
 * Consistency Model": pairs of instructions that are pipelined keep the order of their issue, and
 * all others may be done in any. */
#include "emulator/tcgen05_pipe.h"

#include "emulator/tcgen05_copy.h"

#include <stdlib.h>
#include <string.h>

enum {
    IN_FLIGHT_MAX = 64, /* of a warp */
    ITEM_BYTES = 16384  /* what an item counts for in the limit of steps */
};

/* In the order of issue. */
struct emu_pipe {
    struct emu_piped *list;
    size_t count, room;
    uint64_t issued;
};

/* ---- Order ---- */

static bool is(const struct emu_piped *item, enum emu_tcgen05_what what)
{
    return item->op->tensor.tcgen05.what == what;
}

static bool has_same_accumulator(const struct emu_piped *a, const struct emu_piped *b)
{
    return a->product.d_address == b->product.d_address && a->product.m == b->product.m &&
           a->product.n == b->product.n && a->product.ws == b->product.ws;
}

bool emu_is_pipelined(const struct emu_piped *before, const struct emu_piped *after)
{
    if (before->ctas[0] != after->ctas[0] || before->cta_count != after->cta_count)
        return false;
    if (is(before, EMU_TCGEN05_MMA))
        return is(after, EMU_TCGEN05_SHIFT) ||
               (is(after, EMU_TCGEN05_MMA) && has_same_accumulator(before, after));
    if (is(before, EMU_TCGEN05_CP))
        return is(after, EMU_TCGEN05_MMA);
    return is(before, EMU_TCGEN05_SHIFT) &&
           (is(after, EMU_TCGEN05_MMA) ||
            (is(after, EMU_TCGEN05_CP) && after->op->tensor.tcgen05.copy == EMU_COPY_4X256B));
}

/* A commit comes behind all of its thread's. Among themselves they are not ordered: one may arrive
 * at another CTA before what an earlier one has sent there. */
static bool is_behind(const struct emu_piped *after, const struct emu_piped *before)
{
    if (is(after, EMU_TCGEN05_COMMIT))
        return !is(before, EMU_TCGEN05_COMMIT) && before->warp == after->warp &&
               before->lane == after->lane;
    return emu_is_pipelined(before, after);
}

static bool is_ready(const struct emu_pipe *pipe, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!pipe->list[i].is_done && is_behind(&pipe->list[at], &pipe->list[i]))
            return false;
    return true;
}

/* ---- The list ---- */

/* When what its thread has issued so far is done, where time is modelled: then it is known. */
static uint64_t last_due(const struct emu_pipe *pipe, const struct emu_piped *item)
{
    uint64_t last = 0;

    for (size_t i = 0; i < pipe->count; i++)
        if (pipe->list[i].warp == item->warp && pipe->list[i].lane == item->lane &&
            !is(&pipe->list[i], EMU_TCGEN05_COMMIT))
            last = emu_later(last, pipe->list[i].due);
    return last;
}

/* As those of copies. */
static uint64_t draw_due(struct emu_cluster *cluster, const struct emu_piped *item)
{
    if (cluster->timed)
        return emu_timed_piped(item, last_due(cluster->pipe, item));
    return emu_draw_due(cluster);
}

static bool grow(struct emu_pipe *pipe)
{
    size_t room = pipe->room ? 2 * pipe->room : 16;
    struct emu_piped *grown;

    if (pipe->count < pipe->room)
        return true;
    grown = realloc(pipe->list, room * sizeof *grown);
    if (!grown)
        return false;
    pipe->list = grown;
    pipe->room = room;
    return true;
}

static bool is_full(const struct emu_warp *warp)
{
    const struct emu_pipe *pipe = warp->cta->cluster->pipe;
    int count = 0;

    for (size_t i = 0; pipe && i < pipe->count; i++)
        count += pipe->list[i].warp == warp;
    return count >= IN_FLIGHT_MAX;
}

/* False after a fault. */
static bool add(const struct emu_piped *item)
{
    struct emu_cluster *cluster = item->warp->cta->cluster;
    struct emu_piped *added;

    if (!cluster->pipe || !grow(cluster->pipe)) {
        emu_fault(item->warp, item->op, item->lane, EMU_NO_RESOURCES,
                  "no memory for work of the tensor cores");
        return false;
    }
    added = &cluster->pipe->list[cluster->pipe->count];
    *added = *item;
    added->due = draw_due(cluster, item);
    cluster->pipe->count++;
    if (item->warp->check && is(item, EMU_TCGEN05_COMMIT))
        emu_check_tcgen05_commit(added);
    else if (item->warp->check)
        emu_check_tcgen05_issue(added);
    return true;
}

static uint64_t next_number(struct emu_cluster *cluster)
{
    if (!cluster->pipe)
        cluster->pipe = calloc(1, sizeof *cluster->pipe);
    return cluster->pipe ? cluster->pipe->issued++ : 0;
}

static void free_item(struct emu_piped *item)
{
    emu_check_piped_drop(item->check);
    item->check = NULL;
}

bool emu_pipe_is_idle(const struct emu_cluster *cluster)
{
    return !cluster->pipe || cluster->pipe->count == 0;
}

void emu_pipe_drop(struct emu_cluster *cluster)
{
    struct emu_pipe *pipe = cluster->pipe;

    for (size_t i = 0; pipe && i < pipe->count; i++)
        free_item(&pipe->list[i]);
    if (pipe)
        free(pipe->list);
    free(pipe);
    cluster->pipe = NULL;
}

uint64_t emu_pipe_next(const struct emu_cluster *cluster)
{
    const struct emu_pipe *pipe = cluster->pipe;
    uint64_t next = EMU_NEVER;

    for (size_t i = 0; pipe && i < pipe->count; i++)
        if (pipe->list[i].due < next && is_ready(pipe, i))
            next = pipe->list[i].due;
    return next > cluster->turn ? next : cluster->turn + 1;
}

/* ---- Doing it ---- */

static bool fault_descriptor(const struct emu_piped *item, const char *why)
{
    emu_fault_as(item->warp, item->op, item->lane, EMU_ILLEGAL_ADDRESS, "invalid-descriptor", "%s",
                 why);
    return false;
}

/* Columns have to be there when it is issued, and still when it is done. */
static bool check_columns(const struct emu_piped *item)
{
    const struct emu_tcgen05 *form = &item->op->tensor.tcgen05;
    const struct emu_product *product = &item->product;

    for (int i = 0; i < item->cta_count; i++) {
        const struct emu_cta *cta = item->ctas[i];

        if (form->what == EMU_TCGEN05_MMA &&
            (!emu_tmem_check_columns(item->warp, item->op, cta, emu_tmem_column(product->d_address),
                                     emu_product_d_columns(product)) ||
             (product->a_in_tmem && !emu_tmem_check_columns(item->warp, item->op, cta,
                                                            emu_tmem_column(product->a_address),
                                                            emu_product_a_columns(product)))))
            return false;
        if (form->what != EMU_TCGEN05_MMA &&
            !emu_tmem_check_columns(item->warp, item->op, cta, emu_tmem_column(item->address),
                                    form->what == EMU_TCGEN05_CP ? emu_tmem_copy_columns(form->copy)
                                                                 : EMU_SHIFT_COLUMNS))
            return false;
    }
    return true;
}

static bool multiply(const struct emu_piped *item)
{
    struct emu_tcgen05_memory memories[EMU_PAIR];
    const struct emu_run *run = item->warp->cta->cluster->run;
    const char *why = "";

    if (run->timed && run->timed->skips_products)
        return true;
    for (int i = 0; i < item->cta_count; i++)
        memories[i] = (struct emu_tcgen05_memory){
            item->ctas[i]->shared, item->ctas[i]->shared_bytes, item->ctas[i]->tmem->cells};
    return emu_product_multiply(&item->product, memories, run->device->options.exact, &why) ||
           fault_descriptor(item, why);
}

static bool copy(const struct emu_piped *item)
{
    for (int i = 0; i < item->cta_count; i++) {
        struct emu_cta *cta = item->ctas[i];

        if (!emu_tmem_copy(&item->op->tensor.tcgen05, &item->matrix, cta->shared, cta->shared_bytes,
                           cta->tmem->cells, item->address))
            return fault_descriptor(item, "the descriptor leads outside of shared memory");
    }
    return true;
}

static bool do_item(struct emu_piped *item)
{
    struct emu_cluster *cluster = item->warp->cta->cluster;

    item->is_done = true;
    cluster->progress++;
    emu_charge(cluster, ITEM_BYTES);
    if (item->warp->check && is(item, EMU_TCGEN05_COMMIT))
        emu_check_tcgen05_arrive(item);
    if (is(item, EMU_TCGEN05_COMMIT))
        return emu_mbarrier_arrive(item->warp, item->op, item->barrier_cta, item->barrier);
    if (!check_columns(item))
        return false;
    if (item->warp->check)
        emu_check_tcgen05_reads(item);
    if (is(item, EMU_TCGEN05_MMA))
        return multiply(item);
    if (is(item, EMU_TCGEN05_CP))
        return copy(item);
    for (int i = 0; i < item->cta_count; i++)
        emu_tmem_shift(item->ctas[i]->tmem->cells, item->address);
    return true;
}

static void remove_done(struct emu_pipe *pipe)
{
    size_t kept = 0;

    for (size_t i = 0; i < pipe->count; i++)
        if (pipe->list[i].is_done)
            free_item(&pipe->list[i]);
        else
            pipe->list[kept++] = pipe->list[i];
    pipe->count = kept;
}

bool emu_pipe_turn(struct emu_cluster *cluster)
{
    struct emu_pipe *pipe = cluster->pipe;
    bool any = false;

    for (size_t i = 0; pipe && i < pipe->count; i++) {
        if (pipe->list[i].due > cluster->turn || !is_ready(pipe, i))
            continue;
        if (!do_item(&pipe->list[i]))
            return false;
        any = true;
    }
    if (any)
        remove_done(pipe);
    return true;
}

/* ---- Issue ---- */

static uint64_t value_of(struct emu_warp *warp, const struct emu_group *group,
                         const struct emu_op *op, int lane, int place)
{
    emu_lanes lanes;

    return emu_read(warp, group, &op->sources[place], 1u << lane, lanes)[lane];
}

static bool refuse(const struct emu_piped *item, const char *why)
{
    emu_fault_as(item->warp, item->op, item->lane, EMU_ILLEGAL_INSTRUCTION, "invalid-descriptor",
                 "%s", why);
    return false;
}

static bool set_product(const struct emu_group *group, struct emu_piped *item)
{
    const struct emu_tcgen05 *form = &item->op->tensor.tcgen05;
    struct emu_product *product = &item->product;
    uint64_t values[EMU_PLACES];
    const char *why = NULL;

    for (int place = 0; place < EMU_PLACE_LANES + form->mask_registers; place++)
        values[place] = value_of(item->warp, group, item->op, item->lane, place);
    if (!emu_product_of(product, form, (uint32_t)values[EMU_PLACE_DESCRIPTOR], &why) ||
        (!form->a_in_tmem &&
         !emu_tcgen05_descriptor(&product->a_matrix, values[EMU_PLACE_SECOND], &why)) ||
        !emu_tcgen05_descriptor(&product->b_matrix, values[EMU_PLACE_B], &why))
        return refuse(item, why);
    product->d_address = (uint32_t)values[EMU_PLACE_TO];
    product->a_address = form->a_in_tmem ? (uint32_t)values[EMU_PLACE_SECOND] : 0;
    product->add_d = (values[EMU_PLACE_ENABLE] & 1) != item->op->sources[EMU_PLACE_ENABLE].negated;
    for (int i = 0; i < form->mask_registers; i++)
        product->masked[i / EMU_LANE_WORDS][i % EMU_LANE_WORDS] =
            (uint32_t)values[EMU_PLACE_LANES + i];
    if (form->has_zero_mask && values[EMU_PLACE_ZERO_MASK] != 0)
        return refuse(item, "a mask of columns other than 0 is not supported");
    why = emu_product_fault(product);
    return !why || refuse(item, why);
}

/* A copy may begin at any lane from which its rows do not reach behind the last. */
static bool set_copy(const struct emu_group *group, struct emu_piped *item)
{
    const struct emu_tcgen05 *form = &item->op->tensor.tcgen05;
    uint32_t lane = emu_tmem_lane(item->address), most = form->copy == EMU_COPY_4X256B ? 31 : 0;
    const char *why = NULL;

    if (lane > most)
        return refuse(item, "the copy begins at a lane from which its rows reach behind the last");
    return emu_tcgen05_descriptor(
               &item->matrix, value_of(item->warp, group, item->op, item->lane, EMU_PLACE_SECOND),
               &why) ||
           refuse(item, why);
}

static bool set_operands(const struct emu_group *group, struct emu_piped *item)
{
    enum { PARTITION = 32 };

    item->address = (uint32_t)value_of(item->warp, group, item->op, item->lane, EMU_PLACE_TO);
    if (is(item, EMU_TCGEN05_MMA))
        return set_product(group, item);
    if (is(item, EMU_TCGEN05_CP))
        return set_copy(group, item);
    return (emu_tmem_lane(item->address) % PARTITION == 0 &&
            emu_tmem_lane(item->address) < EMU_TMEM_LANES) ||
           refuse(item, "the lane of a shift is no multiple of 32");
}

enum emu_step emu_tcgen05_issue(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask)
{
    if (is_full(warp))
        return EMU_STEP_BLOCKED;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        struct emu_piped item = {.warp = warp, .lane = lane, .op = op};

        if (!(mask >> lane & 1))
            continue;
        item.cta_count = emu_tcgen05_ctas(warp, op, item.ctas);
        item.number = next_number(warp->cta->cluster);
        if (item.cta_count == 0 || !set_operands(group, &item) || !check_columns(&item) ||
            !add(&item))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}

/* One arrival at the barrier, or at that of the same offset in each CTA of the mask. */
static bool add_arrivals(struct emu_piped *item, uint32_t ranks)
{
    struct emu_cluster *cluster = item->warp->cta->cluster;

    if (ranks == 0 || ranks >> cluster->cta_count != 0) {
        emu_fault_as(item->warp, item->op, item->lane, EMU_ILLEGAL_INSTRUCTION, "invalid-copy",
                     "a multicast to CTAs that the cluster does not have");
        return false;
    }
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        item->barrier_cta = &cluster->ctas[rank];
        if ((ranks >> rank & 1) && !add(item))
            return false;
    }
    return true;
}

enum emu_step emu_tcgen05_commit(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask)
{
    if (is_full(warp))
        return EMU_STEP_BLOCKED;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        struct emu_piped item = {.warp = warp, .lane = lane, .op = op};
        const struct emu_cta *cta;
        uint32_t ranks;

        if (!(mask >> lane & 1))
            continue;
        item.cta_count = emu_tcgen05_ctas(warp, op, item.ctas);
        cta = emu_mbarrier_place(warp, op, lane, value_of(warp, group, op, lane, EMU_PLACE_TO),
                                 &item.barrier);
        if (item.cta_count == 0 || !cta)
            return EMU_STEP_FAULT;
        ranks = op->tensor.tcgen05.multicast
                    ? (uint32_t)value_of(warp, group, op, lane, EMU_PLACE_SECOND) & 0xffff
                    : 1u << cta->rank;
        item.number = next_number(warp->cta->cluster);
        if (!add_arrivals(&item, ranks))
            return EMU_STEP_FAULT;
    }
    return EMU_STEP_NEXT;
}
