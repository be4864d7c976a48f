/* launch_control.c: clusterlaunchcontrol: a cluster that runs takes the place of one that has not
 * begun. Source: PTX ISA "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel". */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

/* The answer's 16 bytes, which query_cancel alone may read: the coordinates of the first CTA of the
 * cluster, and whether there is one. */
enum { ANSWER_BYTES = 16, PARTS = 4, IS_CANCELED = 3 };
enum { MULTICAST = 1, WHETHER = 2, ALL = 3 }; /* flags; `variant`: of one coordinate */

/* Sources of try_cancel. */
enum { TO, BARRIER };

/* ---- try_cancel ---- */

static void take_next(struct emu_cluster *cluster, uint32_t answer[PARTS])
{
    struct emu_run *run = cluster->run;
    uint64_t index = run->next_cluster;

    memset(answer, 0, ANSWER_BYTES);
    if (index == run->all_clusters)
        return;
    run->next_cluster++;
    for (int i = 0; i < 3; i++) {
        answer[i] = (uint32_t)(index % run->clusters_along[i]) * run->cluster_shape[i];
        index /= run->clusters_along[i];
    }
    answer[IS_CANCELED] = 1;
}

/* To one CTA, some time later. */
static bool send(struct emu_warp *warp, const struct emu_op *op, int lane,
                 const struct emu_async *usual, struct emu_cta *cta, const uint32_t *answer)
{
    struct emu_async work = *usual;

    work.to_cta = work.barrier_cta = cta;
    work.data = malloc(ANSWER_BYTES);
    if (!work.data) {
        emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for an answer");
        return false;
    }
    for (int i = 0; i < PARTS; i++)
        emu_store_bits(work.data + 4 * i, answer[i], 4);
    /* cppcheck-suppress memleak ; the list of copies owns it now */
    return emu_async_add(warp->cta->cluster, &work);
}

static bool cancel(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t to,
                   uint64_t barrier)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    struct emu_async work = {.warp = warp,
                             .op = op,
                             .lane = lane,
                             .is_read = true,
                             .bytes = ANSWER_BYTES,
                             .announced = ANSWER_BYTES};
    uint32_t offset, answer[PARTS];
    struct emu_cta *cta = emu_cta_of_address(warp->cta, to, &offset),
                   *barrier_cta = emu_mbarrier_place(warp, op, lane, barrier, &work.barrier);

    if (!barrier_cta)
        return false;
    if (cta != warp->cta || barrier_cta != warp->cta || offset % ANSWER_BYTES != 0 ||
        offset + ANSWER_BYTES > cta->shared_bytes) {
        emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS,
                  "the answer goes to 16 bytes of the CTA's own shared memory, aligned to 16, and "
                  "to an mbarrier there: not to 0x%llx and 0x%llx",
                  (unsigned long long)to, (unsigned long long)barrier);
        return false;
    }
    work.to = offset;
    take_next(cluster, answer);
    if (!(op->flags & MULTICAST))
        return send(warp, op, lane, &work, warp->cta, answer);
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++)
        if (!send(warp, op, lane, &work, &cluster->ctas[rank], answer))
            return false;
    return true;
}

/* Which cluster is next is a question between clusters: it is asked between rounds. */
static enum emu_step try_cancel(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes[2];
    const uint64_t *to = emu_read(warp, group, &op->sources[TO], mask, lanes[0]),
                   *barrier = emu_read(warp, group, &op->sources[BARRIER], mask, lanes[1]);

    if (emu_async_is_full(warp->cta->cluster))
        return EMU_STEP_BLOCKED;
    if (warp->cta->has_failed_to_cancel)
        return emu_fault(warp, op, __builtin_ctz(mask), EMU_ILLEGAL_INSTRUCTION,
                         "the CTA has seen that nothing is left to cancel: what another try gives "
                         "is undefined");
    if (warp->cta->cluster->apart)
        return EMU_STEP_HELD;
    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && !cancel(warp, op, lane, to[lane], barrier[lane]))
            return EMU_STEP_FAULT;
    return EMU_STEP_NEXT;
}

/* ---- query_cancel ---- */

static enum emu_step query(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    emu_lanes lanes[2];
    const uint64_t *low = emu_read(warp, group, &op->sources[0], mask, lanes[0]),
                   *high = emu_read(warp, group, &op->sources[1], mask, lanes[1]);

    for (int lane = 0; lane < EMU_LANES; lane++) {
        const uint32_t parts[PARTS] = {(uint32_t)low[lane], (uint32_t)(low[lane] >> 32),
                                       (uint32_t)high[lane], (uint32_t)(high[lane] >> 32)};

        if (!(mask >> lane & 1))
            continue;
        if (op->flags == WHETHER && parts[IS_CANCELED] == 0)
            warp->cta->has_failed_to_cancel = true;
        for (int i = 0; i < op->result_count; i++)
            if (op->results[i] >= 0)
                emu_slot(group, op->results[i])[lane] =
                    parts[op->flags == WHETHER ? IS_CANCELED : op->variant + i];
    }
    return EMU_STEP_NEXT;
}

/* ---- Decoding ---- */

static enum emu_decoded decode_try(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    struct emu_target target = emu_target_of(d->target, d->program->module->target);

    op->execute = try_cancel;
    op->flags = emu_has_word(i, "multicast::cluster::all") ? MULTICAST : 0;
    if (op->flags == MULTICAST && target.number < 100)
        return emu_refuse_form(d, i,
                               "exists with .multicast::cluster::all for targets with an a "
                               "or an f alone");
    if (!emu_has_word(i, "async") || !emu_has_word(i, "mbarrier::complete_tx::bytes") ||
        !emu_has_word(i, "b128") || i->operand_count != 2)
        return emu_refuse_form(d, i,
                               "takes .async.mbarrier::complete_tx::bytes.b128, an address "
                               "and an mbarrier");
    op->source_count = 2;
    return emu_bind_address(d, &i->operands[0], &op->sources[TO]) &&
                   emu_bind_address(d, &i->operands[1], &op->sources[BARRIER])
               ? EMU_DECODED
               : EMU_REFUSED;
}

/* Results of the operation; 0: it is none of these. */
static int results_of(const struct emu_instruction *i, struct emu_op *op)
{
    static const char *const coordinates[] = {"get_first_ctaid::x", "get_first_ctaid::y",
                                              "get_first_ctaid::z"};

    op->flags = emu_has_word(i, "is_canceled") ? WHETHER : ALL;
    if (op->flags == WHETHER)
        return emu_has_word(i, "pred") ? 1 : 0;
    for (int k = 0; k < 3; k++)
        if (emu_has_word(i, coordinates[k])) {
            op->variant = k;
            return emu_has_word(i, "b32") && !emu_has_word(i, "v4") ? 1 : 0;
        }
    return emu_has_word(i, "get_first_ctaid") && emu_has_word(i, "v4") && emu_has_word(i, "b32")
               ? PARTS
               : 0;
}

static enum emu_decoded decode_query(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op)
{
    int results = results_of(i, op);

    op->execute = query;
    if (results == 0 || !emu_has_word(i, "b128") || i->operand_count != 2)
        return emu_refuse_form(d, i,
                               "takes .is_canceled.pred or .get_first_ctaid, .b128, and a "
                               "result and an answer");
    if (!emu_add_results(d, op, &i->operands[0]) ||
        !emu_add_sources(d, op, &i->operands[1], EMU_B64))
        return EMU_REFUSED;
    return op->result_count == results && op->source_count == 2
               ? EMU_DECODED
               : emu_refuse_form(d, i, "takes an answer in a register of 128 bits");
}

enum emu_decoded emu_decode_launch_control(struct emu_decoder *d, const struct emu_instruction *i,
                                           struct emu_op *op)
{
    if (strcmp(i->words[0], "clusterlaunchcontrol") != 0)
        return EMU_NOT_MINE;
    if (d->target < 100)
        return emu_refuse_form(d, i, "exists from sm_100 on");
    if (emu_has_word(i, "try_cancel"))
        return decode_try(d, i, op);
    return decode_query(d, i, op);
}
