/* tmem.c: tensor memory: who has which of its columns. Source: PTX ISA "tcgen05.alloc,
 * tcgen05.dealloc, tcgen05.relinquish_alloc_permit"; that one warp does it all is CUTLASS's rule.
 *
 * Each CTA has the tensor memory of a multiprocessor to itself. */
#include "emulator/tmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_CELL 0xcdcdcdcdu

/* ---- Of a CTA ---- */

/* It counts among the device's memory, as frames do. */
static bool has_tmem(struct emu_cta *cta)
{
    struct emu_tmem *tmem = cta->tmem;

    if (tmem)
        return true;
    if (!emu_hold(cta->cluster, sizeof *tmem))
        return false;
    tmem = cta->tmem = calloc(1, sizeof *tmem);
    if (!tmem) {
        emu_let_go(cta->cluster, sizeof *tmem);
        return false;
    }
    tmem->warp = -1;
    for (int i = 0; i < EMU_TMEM_CELLS; i++)
        tmem->cells[i] = FRESH_CELL;
    return true;
}

void emu_tmem_drop(struct emu_cta *cta)
{
    if (cta->tmem)
        emu_let_go(cta->cluster, sizeof *cta->tmem);
    free(cta->tmem);
    cta->tmem = NULL;
}

/* That of the thread's CTA, or of both of its pair. */
static enum emu_step make_tmem(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_cta *peer = op->tensor.tcgen05.group == 2 ? emu_pair_of(warp->cta) : NULL;

    if (has_tmem(warp->cta) && (!peer || has_tmem(peer)))
        return EMU_STEP_NEXT;
    return warp->cta->cluster->lacks_memory
               ? emu_stopped(warp->cta->cluster)
               : emu_fault(warp, op, -1, EMU_NO_RESOURCES, "no memory for tensor memory");
}

struct emu_cta *emu_pair_of(const struct emu_cta *cta)
{
    uint32_t rank = cta->rank ^ 1;

    return rank < cta->cluster->cta_count ? &cta->cluster->ctas[rank] : NULL;
}

int emu_tcgen05_ctas(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *ctas[2])
{
    int group = op->tensor.tcgen05.group;
    struct emu_cta *peer = emu_pair_of(warp->cta);

    ctas[0] = ctas[1] = warp->cta;
    if (group == 2 && !peer) {
        emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                     ".cta_group::2, and the cluster has no other CTA for a pair");
        return 0;
    }
    if (warp->cta->tmem && warp->cta->tmem->group && warp->cta->tmem->group != group) {
        emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                     ".cta_group::%d, and the CTA has allocated with .cta_group::%d", group,
                     warp->cta->tmem->group);
        return 0;
    }
    if (group == 2)
        ctas[warp->cta->rank & 1 ? 0 : 1] = peer;
    return group;
}

bool emu_uniform(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                 int place, uint32_t mask, uint32_t *value)
{
    int first = __builtin_ctz(mask);
    emu_lanes lanes;
    const uint64_t *values = emu_read(warp, group, &op->sources[place], mask, lanes);

    *value = (uint32_t)values[first];
    for (int lane = first; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && (uint32_t)values[lane] != *value) {
            emu_fault_as(warp, op, lane, EMU_ILLEGAL_INSTRUCTION, "divergence",
                         "an operand is 0x%x here and 0x%x in lane %d: all lanes have to give the "
                         "same",
                         (uint32_t)values[lane], *value, first);
            return false;
        }
    return true;
}

/* ---- Columns ---- */

static bool is_taken(const struct emu_tmem *tmem, uint32_t column, uint32_t columns)
{
    for (int i = 0; i < tmem->count; i++)
        if (column < tmem->list[i].column + tmem->list[i].columns &&
            tmem->list[i].column < column + columns)
            return true;
    return false;
}

/* Neighbouring allocations may be used as one. */
static bool has_columns(const struct emu_tmem *tmem, uint32_t column, uint32_t columns)
{
    for (uint32_t at = column; at < column + columns; at++)
        if (!is_taken(tmem, at, 1))
            return false;
    return true;
}

bool emu_tmem_check_columns(struct emu_warp *warp, const struct emu_op *op,
                            const struct emu_cta *cta, uint32_t column, uint32_t columns)
{
    if (column + columns <= EMU_TMEM_COLUMNS && cta->tmem &&
        has_columns(cta->tmem, column, columns))
        return true;
    if (columns == 1)
        emu_fault_as(warp, op, -1, EMU_ILLEGAL_ADDRESS, "tmem-unallocated",
                     "column %u of the tensor memory of CTA rank %u is not allocated", column,
                     cta->rank);
    else
        emu_fault_as(warp, op, -1, EMU_ILLEGAL_ADDRESS, "tmem-unallocated",
                     "columns %u to %u of the tensor memory of CTA rank %u are not all allocated",
                     column, column + columns - 1, cta->rank);
    return false;
}

static bool is_free(const struct emu_tmem *const tmems[2], uint32_t column, uint32_t columns)
{
    return !is_taken(tmems[0], column, columns) && !is_taken(tmems[1], column, columns);
}

/* A place that is free in both, any of those that there are: an address is to be read, and not to
 * be guessed. False where there is none. */
static bool draw_column(struct emu_cluster *cluster, const struct emu_tmem *const tmems[2],
                        uint32_t columns, uint32_t *column)
{
    uint32_t places[EMU_TMEM_UNITS], count = 0;

    for (uint32_t at = 0; at < EMU_TMEM_COLUMNS; at += columns)
        if (is_free(tmems, at, columns))
            places[count++] = at;
    if (count == 0)
        return false;
    *column = places[cluster->timed || count == 1 ? 0 : emu_draw(&cluster->random) % count];
    return true;
}

static void take(struct emu_tmem *tmem, const struct emu_op *op, uint32_t column, uint32_t columns)
{
    tmem->list[tmem->count++] = (struct emu_allocated){column, columns, op};
    tmem->last_columns = columns;
    tmem->group = op->tensor.tcgen05.group;
}

/* ---- alloc ---- */

static enum emu_step misuse(struct emu_warp *warp, const struct emu_op *op, const char *what)
{
    return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse", "%s", what);
}

static bool is_whole(const struct emu_warp *warp, uint32_t mask)
{
    return mask == UINT32_MAX && warp->live == UINT32_MAX;
}

static enum emu_step check_columns(struct emu_warp *warp, const struct emu_op *op, uint32_t columns)
{
    if (columns < EMU_TMEM_UNIT || columns > EMU_TMEM_COLUMNS || (columns & (columns - 1)) != 0)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                            "%u columns: there are 32, 64, 128, 256 or 512", columns);
    return EMU_STEP_NEXT;
}

static enum emu_step check_allocation(struct emu_warp *warp, const struct emu_op *op, uint32_t mask,
                                      struct emu_tmem *tmem, uint32_t columns)
{
    if (!is_whole(warp, mask))
        return misuse(warp, op, "all 32 threads of a warp must execute it");
    if (tmem->has_relinquished)
        return misuse(warp, op, "the CTA has relinquished its permit to allocate");
    if (tmem->warp >= 0 && tmem->warp != warp->index)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                            "warp %d of the CTA allocates: one warp does it all", tmem->warp);
    if (tmem->last_columns && columns > tmem->last_columns)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                            "%u columns, and the allocation before was of %u: they may not grow",
                            columns, tmem->last_columns);
    return check_columns(warp, op, columns);
}

/* Of a pair both ask, and both get the same address. */
static enum emu_step give(struct emu_warp *warp, const struct emu_op *op, struct emu_tmem *own,
                          struct emu_tmem *peer, uint32_t columns)
{
    const struct emu_tmem *const both[2] = {own, peer ? peer : own};
    uint32_t column;

    if (own->is_given)
        return EMU_STEP_NEXT;
    own->wanted_by = op;
    own->wanted_columns = columns;
    if (peer && !peer->wanted_by)
        return EMU_STEP_BLOCKED;
    if (peer && peer->wanted_columns != columns)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                            "%u columns, and the other CTA of the pair asks for %u", columns,
                            peer->wanted_columns);
    if (!draw_column(warp->cta->cluster, both, columns, &column))
        return EMU_STEP_BLOCKED;
    take(own, op, column, columns);
    own->is_given = true;
    own->given_column = column;
    if (peer) {
        take(peer, peer->wanted_by, column, columns);
        peer->is_given = true;
        peer->given_column = column;
    }
    if (warp->check)
        emu_check_tmem_allocate(warp, warp->cta, column, columns);
    if (warp->check && peer)
        emu_check_tmem_allocate(warp, emu_pair_of(warp->cta), column, columns);
    warp->cta->cluster->progress++;
    return EMU_STEP_NEXT;
}

/* A store by the generic proxy of one lane. */
static enum emu_step tell_address(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask, uint32_t value)
{
    enum { ADDRESS_BYTES = 4 };
    int lane = __builtin_ctz(mask);
    emu_lanes lanes;
    const uint64_t *addresses = emu_read(warp, group, &op->sources[EMU_PLACE_TO], mask, lanes);
    struct emu_places places;
    const struct emu_cta *cta;
    uint32_t offset;
    enum emu_step step;

    cta = emu_cta_of_address(warp->cta, addresses[lane], &offset);
    if (cta != warp->cta && !(cta && cta->rank == 0 && op->space == EMU_SPACE_SHARED))
        return emu_fault(warp, op, lane, EMU_ILLEGAL_ADDRESS,
                         "the address 0x%llx is not in the shared memory of the CTA",
                         (unsigned long long)addresses[lane]);
    step = emu_find_places(warp, group, op, 1u << lane, op->space, addresses, ADDRESS_BYTES,
                           ADDRESS_BYTES, EMU_STORES, &places);
    if (step != EMU_STEP_NEXT)
        return step;
    emu_store_bits(places.at[lane], value, ADDRESS_BYTES);
    if (warp->check)
        emu_check_lane_order(warp, mask, true); /* they have all executed it */
    return EMU_STEP_NEXT;
}

enum emu_step emu_tmem_allocate(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask)
{
    struct emu_cta *ctas[2], *peer;
    int group_size = emu_tcgen05_ctas(warp, op, ctas);
    struct emu_tmem *own;
    uint32_t columns;
    enum emu_step step;

    if (group_size == 0 || !emu_uniform(warp, group, op, EMU_PLACE_SECOND, mask, &columns))
        return EMU_STEP_FAULT;
    step = make_tmem(warp, op);
    if (step != EMU_STEP_NEXT)
        return step;
    peer = group_size == 2 ? emu_pair_of(warp->cta) : NULL;
    own = warp->cta->tmem;
    if (!own->is_given) {
        step = check_allocation(warp, op, mask, own, columns);
        if (step != EMU_STEP_NEXT)
            return step;
    }
    own->warp = warp->index;
    step = give(warp, op, own, peer ? peer->tmem : NULL, columns);
    if (step != EMU_STEP_NEXT)
        return step;
    step = tell_address(warp, group, op, mask, own->given_column);
    if (step != EMU_STEP_NEXT)
        return step;
    own->is_given = false;
    own->wanted_by = NULL;
    return EMU_STEP_NEXT;
}

/* ---- dealloc, relinquish_alloc_permit ---- */

static struct emu_allocated *find(struct emu_tmem *tmem, uint32_t address)
{
    for (int i = 0; tmem && i < tmem->count; i++)
        if (tmem->list[i].column == address)
            return &tmem->list[i];
    return NULL;
}

enum emu_step emu_tmem_deallocate(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    struct emu_cta *ctas[2];
    struct emu_tmem *tmem = warp->cta->tmem;
    uint32_t address, columns;
    struct emu_allocated *found;

    if (!emu_tcgen05_ctas(warp, op, ctas) ||
        !emu_uniform(warp, group, op, EMU_PLACE_TO, mask, &address) ||
        !emu_uniform(warp, group, op, EMU_PLACE_SECOND, mask, &columns))
        return EMU_STEP_FAULT;
    if (!is_whole(warp, mask))
        return misuse(warp, op, "all 32 threads of a warp must execute it");
    found = find(tmem, address);
    if (!found)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_ADDRESS, "tmem-unallocated",
                            "no allocation of the CTA begins at 0x%x", address);
    if (found->columns != columns)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                            "%u columns, and the allocation is of %u", columns, found->columns);
    if (tmem->warp != warp->index)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-misuse",
                            "warp %d of the CTA has allocated: one warp does it all", tmem->warp);
    if (warp->check)
        emu_check_tmem_deallocate(warp, op, address, columns);
    *found = tmem->list[--tmem->count];
    warp->cta->cluster->progress++;
    return EMU_STEP_NEXT;
}

enum emu_step emu_tmem_relinquish(struct emu_warp *warp, struct emu_group *group,
                                  const struct emu_op *op, uint32_t mask)
{
    struct emu_cta *ctas[2];
    enum emu_step step;

    (void)group;
    if (!emu_tcgen05_ctas(warp, op, ctas))
        return EMU_STEP_FAULT;
    if (!is_whole(warp, mask))
        return misuse(warp, op, "all 32 threads of a warp must execute it");
    step = make_tmem(warp, op);
    if (step == EMU_STEP_NEXT)
        warp->cta->tmem->has_relinquished = true;
    return step;
}

/* ---- The end of a CTA, and of a wait ---- */

bool emu_tmem_exit(struct emu_warp *warp)
{
    const struct emu_cta *cta = warp->cta;

    if (cta->exited_threads < cta->thread_count || !cta->tmem || cta->tmem->count == 0)
        return true;

    const struct emu_allocated *left = &cta->tmem->list[0];

    /* Whoever is the last to exit has done nothing wrong: it is about the warp that allocated. */
    emu_fault_as(&cta->warps[cta->tmem->warp], left->by, -1, EMU_ILLEGAL_INSTRUCTION, "tmem-leak",
                 "the CTA ends, and its %u columns from %u on are not deallocated", left->columns,
                 left->column);
    return false;
}

void emu_tmem_wait_words(const struct emu_warp *warp, const struct emu_op *op, char *words,
                         size_t size)
{
    const struct emu_tmem *tmem = warp->cta->tmem;
    uint32_t left = EMU_TMEM_COLUMNS;

    words[0] = '\0';
    if (op->tensor.tcgen05.what != EMU_TCGEN05_ALLOC || !tmem)
        return;
    for (int i = 0; i < tmem->count; i++)
        left -= tmem->list[i].columns;
    if (op->tensor.tcgen05.group == 2 && emu_pair_of(warp->cta) &&
        !(emu_pair_of(warp->cta)->tmem && emu_pair_of(warp->cta)->tmem->wanted_by))
        snprintf(words, size, " for the other CTA of its pair to allocate too");
    else
        snprintf(words, size, " for %u columns of tensor memory: %u are free", tmem->wanted_columns,
                 left);
}
