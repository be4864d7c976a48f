/* remote.c: st.async and red.async: values that travel to another CTA of the cluster and complete
 * on an mbarrier there. Source: PTX ISA "st.async", "red.async". */
#include "emulator/reduce.h"
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

/* Sources: address, barrier, values. */
enum { TO, BARRIER, VALUES, VECTOR_MAX = 4 };

static enum emu_step send_lane(struct emu_warp *warp, const struct emu_op *op, int lane,
                               uint64_t to, uint64_t barrier, const uint64_t *const *values)
{
    struct emu_async work = {
        .warp = warp, .op = op, .lane = lane, .is_read = true, .type = op->type};
    uint32_t size = (uint32_t)(op->bytes * op->vector), offset;

    work.to_cta = emu_cta_of_address(warp->cta, to, &offset);
    work.to = offset;
    work.bytes = work.announced = size;
    if (!work.to_cta || offset % size != 0)
        return emu_fault(warp, op, lane, work.to_cta ? EMU_MISALIGNED_ADDRESS : EMU_ILLEGAL_ADDRESS,
                         "%u bytes at shared address 0x%llx", size, (unsigned long long)to);
    work.barrier_cta = emu_mbarrier_place(warp, op, lane, barrier, &work.barrier);
    if (!work.barrier_cta)
        return EMU_STEP_FAULT;
    if (work.barrier_cta != work.to_cta)
        return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION,
                         "the mbarrier is in another CTA than the address");
    work.data = malloc(size);
    if (!work.data)
        return emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for a value on its way");
    for (int i = 0; i < op->vector; i++)
        emu_store_bits(work.data + i * op->bytes, values[i][lane], op->bytes);
    /* cppcheck-suppress memleak ; the list of copies owns it now */
    return emu_async_add(warp->cta->cluster, &work) ? EMU_STEP_NEXT : EMU_STEP_FAULT;
}

static enum emu_step send(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    emu_lanes lanes[VALUES + VECTOR_MAX];
    const uint64_t *sources[VALUES + VECTOR_MAX];

    if (emu_async_is_full(warp->cta->cluster))
        return EMU_STEP_BLOCKED;
    for (int i = 0; i < op->source_count; i++)
        sources[i] = emu_read(warp, group, &op->sources[i], mask, lanes[i]);
    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) &&
            send_lane(warp, op, lane, sources[TO][lane], sources[BARRIER][lane],
                      sources + VALUES) != EMU_STEP_NEXT)
            return EMU_STEP_FAULT;
    return EMU_STEP_NEXT;
}

enum emu_decoded emu_decode_remote(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    bool is_store = strcmp(i->words[0], "st") == 0, is_red = strcmp(i->words[0], "red") == 0;

    if ((!is_store && !is_red) || !emu_has_word(i, "async"))
        return EMU_NOT_MINE;
    op->execute = send;
    op->source_count = VALUES;
    op->variant = (int)emu_reduction_of(i);
    op->flags = is_red ? EMU_ASYNC_REDUCES : 0u;
    if (!emu_has_word(i, "mbarrier::complete_tx::bytes") || i->operand_count != 3)
        return emu_refuse_form(d, i, "takes an address, a value and an mbarrier");
    if (is_red && !emu_can_reduce((enum emu_reduction)op->variant, op->type))
        return emu_refuse_form(d, i, "no such reduction on this type");
    if (op->bytes != 4 && op->bytes != 8)
        return emu_refuse_form(d, i, "takes values of 4 or 8 bytes");
    if (!emu_bind_address(d, &i->operands[0], &op->sources[TO]) ||
        !emu_bind_address(d, &i->operands[2], &op->sources[BARRIER]) ||
        !emu_add_sources(d, op, &i->operands[1], op->type))
        return EMU_REFUSED;
    return op->source_count - VALUES == op->vector && op->vector <= VECTOR_MAX
               ? EMU_DECODED
               : emu_refuse_form(d, i, "takes a register for each element");
}
