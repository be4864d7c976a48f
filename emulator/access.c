/* access.c: loads, stores and what turns addresses into others. Source: PTX ISA "Data Movement and
 * Conversion Instructions": ld, ldu, st, mov of 128 bits, prefetch, isspacep, cvta, createpolicy.
 */
#include "emulator/state.h"

#include <string.h>

/* ---- Loads and stores ---- */

static enum emu_step load(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    uint32_t size = (uint32_t)(op->bytes * op->vector);
    emu_lanes lanes;
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes);
    struct emu_places places;
    enum emu_step step =
        emu_find_places(warp, group, op, mask, op->space, address, size, size, EMU_LOADS, &places);

    if (step != EMU_STEP_NEXT)
        return step;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        for (int i = 0; i < op->vector; i++)
            if (op->results[i] >= 0)
                emu_slot(group, op->results[i])[lane] =
                    emu_load_bits(places.at[lane] + i * op->bytes, op->type, op->width);
    }
    return EMU_STEP_NEXT;
}

static enum emu_step store(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t mask)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    uint32_t size = (uint32_t)(op->bytes * op->vector);
    emu_lanes lanes, values[8];
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes), *value[8];
    struct emu_places places;
    enum emu_step step =
        emu_find_places(warp, group, op, mask, op->space, address, size, size, EMU_STORES, &places);

    if (step != EMU_STEP_NEXT)
        return step;
    for (int i = 0; i < op->vector; i++)
        value[i] = emu_read(warp, group, &op->sources[i + 1], mask, values[i]);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        unsigned char *at = places.at[lane];

        if (!(mask >> lane & 1))
            continue;
        if (places.logged >> lane & 1)
            at = emu_log_add(&cluster->log, address[lane], at, size, NULL);
        if (!at)
            return emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for a store");
        for (int i = 0; i < op->vector; i++)
            emu_store_bits(at + i * op->bytes, value[i][lane], op->bytes);
    }
    if (op->space != EMU_SPACE_LOCAL && op->space != EMU_SPACE_PARAM)
        cluster->progress++;
    return EMU_STEP_NEXT;
}

static bool right_vector(struct emu_decoder *d, const struct emu_instruction *i,
                         const struct emu_op *op, int have)
{
    if (op->bytes == 0 || op->bytes > 8)
        return emu_fail(d->error, i->line, "%s: of a type that this machine does not move",
                        i->opcode);
    if (op->vector * op->bytes > 32)
        return emu_fail(d->error, i->line, "%s: more than 32 bytes", i->opcode);
    if (have != op->vector)
        return emu_fail(d->error, i->line, "%s: %d registers for %d elements", i->opcode, have,
                        op->vector);
    return true;
}

/* Where a call passes values, a .param variable is named with no offset: an address all the same.
 */
static enum emu_decoded decode_load(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    if (i->operand_count < 2)
        return emu_refuse_form(d, i, "takes a register and an address");
    op->execute = load;
    op->width = emu_register_bytes(d, &i->operands[0]);
    op->source_count = 1;
    return emu_add_results(d, op, &i->operands[0]) && right_vector(d, i, op, op->result_count) &&
                   emu_bind_address(d, &i->operands[1], &op->sources[0])
               ? EMU_DECODED
               : EMU_REFUSED;
}

static enum emu_decoded decode_store(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op)
{
    if (i->operand_count < 2)
        return emu_refuse_form(d, i, "takes an address and a value");
    op->execute = store;
    op->source_count = 1;
    return emu_bind_address(d, &i->operands[0], &op->sources[0]) &&
                   emu_add_sources(d, op, &i->operands[1], op->type) &&
                   right_vector(d, i, op, op->source_count - 1)
               ? EMU_DECODED
               : EMU_REFUSED;
}

/* mov.b128: between two registers, or one and a list of its halves. */
static enum emu_step move_halves(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask)
{
    emu_lanes lanes[2];
    const uint64_t *halves[2];

    for (int i = 0; i < 2; i++)
        halves[i] = emu_read(warp, group, &op->sources[i], mask, lanes[i]);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        const uint64_t values[2] = {halves[0][lane], halves[1][lane]};

        for (int i = 0; i < 2 && (mask >> lane & 1); i++)
            if (op->results[i] >= 0)
                emu_slot(group, op->results[i])[lane] = values[i];
    }
    return EMU_STEP_NEXT;
}

static enum emu_decoded decode_move_halves(struct emu_decoder *d, const struct emu_instruction *i,
                                           struct emu_op *op)
{
    op->execute = move_halves;
    if (i->operand_count != 2 || !emu_add_results(d, op, &i->operands[0]) ||
        !emu_add_sources(d, op, &i->operands[1], EMU_B64))
        return emu_refuse_form(d, i, "takes a result and a source");
    return op->result_count == 2 && op->source_count == 2
               ? EMU_DECODED
               : emu_refuse_form(d, i, "takes registers of 128 bits, or their halves");
}

/* ---- Between spaces ---- */

static uint64_t window_of(enum emu_space space)
{
    switch (space) {
    case EMU_SPACE_SHARED:
        return EMU_SHARED_WINDOW;
    case EMU_SPACE_LOCAL:
        return EMU_LOCAL_WINDOW;
    case EMU_SPACE_PARAM:
        return EMU_PARAM_WINDOW;
    default:
        return 0;
    }
}

/* cvta, and cvta.to where `variant` is 1. */
static enum emu_step convert_address(struct emu_warp *warp, struct emu_group *group,
                                     const struct emu_op *op, uint32_t mask)
{
    uint64_t window = window_of(op->space), *result = emu_slot(group, op->results[0]);
    emu_lanes lanes;
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            result[lane] = op->variant ? address[lane] - window : address[lane] + window;
    return EMU_STEP_NEXT;
}

static bool is_constant(const struct emu_warp *warp, uint64_t address)
{
    const struct emu_allocation *here = emu_allocation_of(warp->cta->cluster->run->device, address);

    return here && here->is_constant;
}

/* Global is what is nothing else, whether there is memory or not. */
static bool is_in_space(const struct emu_warp *warp, const struct emu_op *op, uint64_t address)
{
    uint64_t window = window_of(op->space);
    uint32_t offset;

    if (window && address - window >= EMU_WINDOW_BYTES)
        return false;
    if (op->space == EMU_SPACE_SHARED) {
        const struct emu_cta *cta = emu_cta_of_address(warp->cta, address, &offset);

        return cta && (op->cluster || cta == warp->cta);
    }
    if (window)
        return true;
    if (op->space == EMU_SPACE_CONST)
        return is_constant(warp, address);
    return address - EMU_SHARED_WINDOW >= 3 * EMU_WINDOW_BYTES && !is_constant(warp, address);
}

static enum emu_step is_space(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask)
{
    uint64_t *result = emu_slot(group, op->results[0]);
    emu_lanes lanes;
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes);

    for (int lane = 0; lane < EMU_LANES; lane++)
        if (mask >> lane & 1)
            result[lane] = is_in_space(warp, op, address[lane]);
    return EMU_STEP_NEXT;
}

/* mapa: the same offset in another CTA of the cluster. */
static enum emu_step map_to_rank(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask)
{
    uint64_t *result = emu_slot(group, op->results[0]);
    emu_lanes lanes[2];
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes[0]),
                   *rank = emu_read(warp, group, &op->sources[1], mask, lanes[1]);
    uint64_t window = op->space == EMU_SPACE_NONE ? EMU_SHARED_WINDOW : 0;
    uint32_t offset;

    for (int lane = 0; lane < EMU_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        if ((uint32_t)rank[lane] >= warp->cta->cluster->cta_count)
            return emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS, "rank %u of a cluster of %u CTAs",
                             (unsigned)rank[lane], warp->cta->cluster->cta_count);
        if (!emu_cta_of_address(warp->cta, address[lane], &offset))
            return emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS,
                             "0x%llx is no address in shared memory",
                             (unsigned long long)address[lane]);
        result[lane] = window + ((rank[lane] & UINT32_MAX) << EMU_RANK_SHIFT | offset);
    }
    return EMU_STEP_NEXT;
}

static enum emu_step rank_of_address(struct emu_warp *warp, struct emu_group *group,
                                     const struct emu_op *op, uint32_t mask)
{
    uint64_t *result = emu_slot(group, op->results[0]);
    emu_lanes lanes;
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes);
    uint32_t offset;

    for (int lane = 0; lane < EMU_LANES; lane++) {
        const struct emu_cta *cta =
            mask >> lane & 1 ? emu_cta_of_address(warp->cta, address[lane], &offset) : NULL;

        if (cta)
            result[lane] = cta->rank;
    }
    return EMU_STEP_NEXT;
}

/* Hints: what they name is not touched, and their results are never wrong. */
static enum emu_step hint(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    (void)warp;
    for (int lane = 0; lane < EMU_LANES && op->result_count && op->results[0] >= 0; lane++)
        if (mask >> lane & 1)
            emu_slot(group, op->results[0])[lane] = 0;
    return EMU_STEP_NEXT;
}

/* ---- Decoding ---- */

/* One result, then sources; the operand of an address may be a variable's name. */
static enum emu_decoded decode_values(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op, emu_execute execute, int operands)
{
    if (i->operand_count != operands)
        return emu_refuse_form(d, i, "has another number of operands");
    op->execute = execute;
    if (!emu_add_results(d, op, &i->operands[0]) || op->results[0] < 0)
        return emu_refuse_form(d, i, "needs a register for its result");
    for (int k = 1; k < operands; k++)
        if (!emu_add_sources(d, op, &i->operands[k], EMU_U64))
            return EMU_REFUSED;
    return EMU_DECODED;
}

enum emu_decoded emu_decode_memory(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    static const char *const hints[] = {"prefetch", "prefetchu", "discard", "applypriority"};
    const char *word = i->words[0];

    if (strcmp(word, "ld") == 0 || strcmp(word, "ldu") == 0)
        return decode_load(d, i, op);
    if (strcmp(word, "st") == 0 && !emu_has_word(i, "async") && !emu_has_word(i, "bulk"))
        return decode_store(d, i, op);
    if (strcmp(word, "mov") == 0 && op->wide)
        return decode_move_halves(d, i, op);
    if (strcmp(word, "cvta") == 0) {
        op->variant = emu_has_word(i, "to");
        return decode_values(d, i, op, convert_address, 2);
    }
    if (strcmp(word, "isspacep") == 0)
        return decode_values(d, i, op, is_space, 2);
    if (strcmp(word, "mapa") == 0)
        return decode_values(d, i, op, map_to_rank, 3);
    if (strcmp(word, "getctarank") == 0)
        return decode_values(d, i, op, rank_of_address, 2);
    if (strcmp(word, "createpolicy") == 0) {
        op->execute = hint;
        return i->operand_count > 0 && emu_add_results(d, op, &i->operands[0]) ? EMU_DECODED
                                                                               : EMU_REFUSED;
    }
    for (size_t k = 0; k < sizeof hints / sizeof hints[0]; k++)
        if (strcmp(hints[k], word) == 0) {
            op->execute = hint;
            return EMU_DECODED;
        }
    return EMU_NOT_MINE;
}
