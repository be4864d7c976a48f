/* atomic.c: atom and red: one lane after the other, each at once. Source: PTX ISA "atom", "red". */
#include "emulator/reduce.h"
#include "emulator/state.h"

#include <string.h>

enum { VECTOR_MAX = 8 };

/* What an atomic does at an address. PTX ISA "atom": add.f32 flushes subnormals in global memory,
 * and keeps them in shared; in vectors too (measured on an H200). */
static struct emu_change change_at(const struct emu_op *op, uint64_t address)
{
    bool is_global = emu_is_global(op->space, address);

    return (struct emu_change){
        .how = (enum emu_reduction)op->variant,
        .type = op->type,
        .flush = is_global && op->type == EMU_F32 && op->variant == EMU_REDUCE_ADD,
        .is_local = !is_global,
    };
}

/* What it does to the element at `at`; what was there before. */
static uint64_t update_element(const struct emu_op *op, const struct emu_change *change,
                               unsigned char *at, uint64_t value, uint64_t other)
{
    uint64_t old = emu_load_bits(at, op->type, op->bytes);

    if (change->how != EMU_REDUCE_CAS)
        emu_store_bits(at, emu_reduced(change, old, value), op->bytes);
    else if (emu_reduced(change, old, value) == old)
        emu_store_bits(at, other, op->bytes);
    return old;
}

/* All elements of a lane, at once. */
static void update_lane(const struct emu_group *group, const struct emu_op *op, int lane,
                        uint64_t address, unsigned char *at, const uint64_t *const *values)
{
    const struct emu_change change = change_at(op, address);
    const uint64_t *others = values[op->source_count > 2]; /* of cas */

    for (int i = 0; i < op->vector; i++, at += op->bytes) {
        uint64_t old = update_element(op, &change, at, values[i][lane], others[lane]);

        if (i < op->result_count && op->results[i] >= 0)
            emu_slot(group, op->results[i])[lane] = emu_extend(old, op->type, op->width);
    }
}

/* The same at the end of the round; false without memory. */
static bool log_lane(struct emu_cluster *cluster, const struct emu_op *op, int lane,
                     uint64_t address, unsigned char *to, const uint64_t *const *values)
{
    const struct emu_change change = change_at(op, address);
    unsigned char *at =
        emu_log_add(&cluster->log, address, to, (uint32_t)(op->bytes * op->vector), &change);

    for (int i = 0; i < op->vector && at; i++)
        emu_store_bits(at + i * op->bytes, values[i][lane], op->bytes);
    return at != NULL;
}

/* `variant` is the reduction; sources: address, values, and of cas the new value. A red gives
 * nothing back, so the log takes it like a store. */
static enum emu_step update(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    bool gives_nothing = op->result_count == 0 && op->variant != EMU_REDUCE_CAS;
    uint32_t size = (uint32_t)(op->bytes * op->vector);
    emu_lanes lanes[VECTOR_MAX + 1];
    const uint64_t *address = emu_read(warp, group, &op->sources[0], mask, lanes[0]);
    const uint64_t *values[VECTOR_MAX] = {address};
    struct emu_places places;
    enum emu_step step = emu_find_places(warp, group, op, mask, op->space, address, size, size,
                                         gives_nothing ? EMU_STORES : EMU_UPDATES, &places);

    if (step != EMU_STEP_NEXT)
        return step;
    for (int i = 0; i + 1 < op->source_count && i < VECTOR_MAX; i++)
        values[i] = emu_read(warp, group, &op->sources[i + 1], mask, lanes[i + 1]);
    for (int lane = 0; lane < EMU_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        if (!(places.logged >> lane & 1))
            update_lane(group, op, lane, address[lane], places.at[lane], values);
        else if (!log_lane(cluster, op, lane, address[lane], places.at[lane], values))
            return emu_fault(warp, op, lane, EMU_NO_RESOURCES, "no memory for a reduction");
    }
    cluster->progress++;
    return EMU_STEP_NEXT;
}

/* cas.b128. Sources: address, the halves to compare with, those of the new value. */
static enum emu_step update_wide(struct emu_warp *warp, struct emu_group *group,
                                 const struct emu_op *op, uint32_t mask)
{
    enum { BYTES = 16 };
    emu_lanes lanes[5];
    const uint64_t *sources[5];
    struct emu_places places;
    enum emu_step step;

    for (int i = 0; i < 5; i++)
        sources[i] = emu_read(warp, group, &op->sources[i], mask, lanes[i]);
    step = emu_find_places(warp, group, op, mask, op->space, sources[0], BYTES, BYTES, EMU_UPDATES,
                           &places);
    if (step != EMU_STEP_NEXT)
        return step;
    for (int lane = 0; lane < EMU_LANES; lane++) {
        uint64_t old[2], next[2] = {sources[3][lane], sources[4][lane]};

        if (!(mask >> lane & 1))
            continue;
        memcpy(old, places.at[lane], sizeof old);
        if (old[0] == sources[1][lane] && old[1] == sources[2][lane])
            memcpy(places.at[lane], next, sizeof next);
        for (int i = 0; i < op->result_count; i++)
            if (op->results[i] >= 0)
                emu_slot(group, op->results[i])[lane] = old[i];
    }
    warp->cta->cluster->progress++;
    return EMU_STEP_NEXT;
}

static bool right_values(struct emu_decoder *d, const struct emu_instruction *i,
                         const struct emu_op *op, int values)
{
    int wanted = op->variant == EMU_REDUCE_CAS ? 2 * op->vector : op->vector;

    if (values != wanted || (op->vector > 1 + op->wide && op->variant == EMU_REDUCE_CAS))
        return emu_fail(d->error, i->line, "%s: %d values where it takes %d", i->opcode, values,
                        wanted);
    return true;
}

/* A cache policy stands last; only the words tell that it is there. */
enum emu_decoded emu_decode_atomic(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    bool is_atom = strcmp(i->words[0], "atom") == 0, is_red = strcmp(i->words[0], "red") == 0;
    int at = is_atom, end = i->operand_count - emu_has_word(i, "L2::cache_hint");

    if ((!is_atom && !is_red) || emu_has_word(i, "async"))
        return EMU_NOT_MINE;
    op->variant = (int)emu_reduction_of(i);
    op->execute = op->wide && op->variant == EMU_REDUCE_CAS ? update_wide : update;
    if (!emu_can_reduce((enum emu_reduction)op->variant, op->type) ||
        (op->wide && op->variant != EMU_REDUCE_EXCH && op->variant != EMU_REDUCE_CAS))
        return emu_refuse_form(d, i, "no such operation on this type");
    if (end < at + 2 || (is_atom && !emu_add_results(d, op, &i->operands[0])))
        return emu_refuse_form(d, i, "has too few operands");
    if (is_atom)
        op->width = emu_register_bytes(d, &i->operands[0]);
    op->source_count = 1;
    if (!emu_bind_address(d, &i->operands[at], &op->sources[0]))
        return EMU_REFUSED;
    for (int k = at + 1; k < end; k++)
        if (!emu_add_sources(d, op, &i->operands[k], op->type))
            return EMU_REFUSED;
    return right_values(d, i, op, op->source_count - 1) ? EMU_DECODED : EMU_REFUSED;
}
