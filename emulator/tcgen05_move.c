/* tcgen05_move.c: tcgen05.ld and .st: between the registers of a warp and the lanes of tensor
 * memory that it may reach. Source: PTX ISA "tcgen05.ld", "tcgen05.st", "tcgen05.wait".
 *
 * They are done early, when they are issued, or late, when their wait is: as the schedule draws.
 * Until then the registers of a load hold what is no sensible value of any type; but who reads one
 * waits for that load by it (PTX ISA, "Register dependencies, same thread"). */
#include "emulator/tmem.h"

#include <stdlib.h>
#include <string.h>

/* Of a warp under way; then all are done. */
enum { MOVES_MAX = 16 };

/* A NaN as f32, and as two f16. */
#define POISON 0x7fff7fffu

struct move {
    const struct emu_op *op;
    struct emu_frame *frame;
    uint32_t address;
    uint32_t *values; /* [register][lane]: of a store, and of a load that is done; owned, or null */
};

struct emu_moves {
    struct move *list;
    size_t count, room;
};

/* ---- The list ---- */

static struct move *push(struct emu_warp *warp)
{
    struct emu_moves *moves = warp->moves;

    if (!moves)
        moves = warp->moves = calloc(1, sizeof *moves);
    if (moves && moves->count == moves->room) {
        size_t room = moves->room ? 2 * moves->room : 8;
        struct move *grown = realloc(moves->list, room * sizeof *grown);

        if (!grown)
            return NULL;
        moves->list = grown;
        moves->room = room;
    }
    if (!moves)
        return NULL;
    moves->list[moves->count] = (struct move){.values = NULL};
    return &moves->list[moves->count++];
}

void emu_moves_drop(struct emu_warp *warp)
{
    for (size_t i = 0; warp->moves && i < warp->moves->count; i++)
        free(warp->moves->list[i].values);
    if (warp->moves)
        free(warp->moves->list);
    free(warp->moves);
    warp->moves = NULL;
}

/* ---- Doing them ---- */

static void load(const struct emu_warp *warp, const struct move *move, uint32_t *values)
{
    const struct emu_tcgen05 *form = &move->op->tensor.tcgen05;

    for (int i = 0; i < form->registers; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            values[i * EMU_LANES + lane] =
                emu_tmem_load(form, warp->cta->tmem->cells, move->address, lane, i);
}

static void store(struct emu_warp *warp, const struct move *move)
{
    const struct emu_tcgen05 *form = &move->op->tensor.tcgen05;

    for (int i = 0; i < form->registers; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            emu_tmem_store(form, warp->cta->tmem->cells, move->address, lane, i,
                           move->values[i * EMU_LANES + lane]);
    warp->cta->cluster->progress++;
}

static void fill_registers(const struct move *move, const uint32_t *values)
{
    const struct emu_op *op = move->op;
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;

    for (int i = 0; i < form->registers; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            move->frame->registers[(size_t)op->many[i] * EMU_LANES + (size_t)lane] =
                values[i * EMU_LANES + lane];
    for (int lane = 0; form->reduces && lane < EMU_LANES; lane++)
        move->frame->registers[(size_t)op->results[0] * EMU_LANES + (size_t)lane] =
            emu_tmem_reduce(form, values + lane, EMU_LANES);
}

/* A load that has no values yet is done now. */
static void complete(struct emu_warp *warp, struct move *move)
{
    enum { REGISTERS_MAX = 128 };
    uint32_t values[REGISTERS_MAX * EMU_LANES];

    if (move->op->tensor.tcgen05.what == EMU_TCGEN05_ST) {
        if (move->values)
            store(warp, move);
    } else if (move->values) {
        fill_registers(move, move->values);
    } else {
        load(warp, move, values);
        fill_registers(move, values);
    }
    free(move->values);
}

static void complete_all(struct emu_warp *warp, enum emu_tcgen05_what what)
{
    struct emu_moves *moves = warp->moves;
    size_t kept = 0;

    for (size_t i = 0; moves && i < moves->count; i++)
        if (moves->list[i].op->tensor.tcgen05.what == what)
            complete(warp, &moves->list[i]);
        else
            moves->list[kept++] = moves->list[i];
    if (moves)
        moves->count = kept;
}

void emu_moves_settle(struct emu_warp *warp)
{
    complete_all(warp, EMU_TCGEN05_LD);
    complete_all(warp, EMU_TCGEN05_ST);
}

bool emu_moves_any(const struct emu_warp *warp)
{
    return warp->moves && warp->moves->count > 0;
}

static bool is_to_fill(const struct move *move, const struct emu_frame *frame, int slot)
{
    const struct emu_op *op = move->op;

    if (op->tensor.tcgen05.what != EMU_TCGEN05_LD || move->frame != frame || slot < 0)
        return false;
    for (int k = 0; k < op->many_count; k++)
        if (op->many[k] == slot)
            return true;
    return op->result_count && op->results[0] == slot;
}

const struct emu_op *emu_moves_loading(const struct emu_warp *warp, const struct emu_frame *frame,
                                       int slot)
{
    for (size_t i = 0; emu_moves_any(warp) && i < warp->moves->count; i++) {
        const struct move *move = &warp->moves->list[i];

        if (is_to_fill(move, frame, slot))
            return move->op;
    }
    return NULL;
}

/* Loads that fill the register are done; in their order, as the last one's value stays. */
static void arrive(struct emu_warp *warp, const struct emu_frame *frame, int slot)
{
    struct emu_moves *moves = warp->moves;
    size_t kept = 0;

    for (size_t i = 0; i < moves->count; i++)
        if (is_to_fill(&moves->list[i], frame, slot))
            complete(warp, &moves->list[i]);
        else
            moves->list[kept++] = moves->list[i];
    moves->count = kept;
}

void emu_moves_arrive(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op)
{
    if (!emu_moves_any(warp))
        return;
    for (int i = 0; i < op->source_count; i++)
        if (op->sources[i].kind == EMU_FROM_SLOT)
            arrive(warp, group->frame, op->sources[i].slot);
    if (op->execute != emu_tcgen05_move || op->tensor.tcgen05.what != EMU_TCGEN05_ST)
        return;
    for (int i = 0; i < op->many_count; i++)
        arrive(warp, group->frame, op->many[i]);
}

/* ---- Issue ---- */

/* A warp reaches the sub-partition of its place in its warpgroup, and with a shape of 16 lanes
 * either half. */
static bool check_lanes(struct emu_warp *warp, const struct emu_op *op, uint32_t address)
{
    enum { PARTITION = 32, PARTITIONS = 4, HALF = 16 };
    uint32_t first = (uint32_t)(warp->index % PARTITIONS) * PARTITION,
             lane = emu_tmem_lane(address), lanes = emu_tmem_shape_lanes(op->tensor.tcgen05.shape);

    if (lane == first || (lanes == HALF && lane == first + HALF))
        return true;
    emu_fault_as(warp, op, -1, EMU_ILLEGAL_ADDRESS, "tmem-lanes",
                 "lanes %u to %u, and warp %d reaches lanes %u to %u", lane, lane + lanes - 1,
                 warp->index, first, first + PARTITION - 1);
    return false;
}

static bool keep_values(struct emu_warp *warp, const struct emu_group *group,
                        const struct emu_op *op, struct move *move)
{
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;

    move->values = malloc((size_t)form->registers * EMU_LANES * sizeof *move->values);
    if (!move->values)
        return false;
    if (form->what == EMU_TCGEN05_LD) {
        load(warp, move, move->values);
        return true;
    }
    for (int i = 0; i < form->registers; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            move->values[i * EMU_LANES + lane] = (uint32_t)emu_slot(group, op->many[i])[lane];
    return true;
}

static void poison(const struct emu_group *group, const struct emu_op *op)
{
    for (int i = 0; i < op->many_count; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            emu_slot(group, op->many[i])[lane] = POISON;
    for (int lane = 0; op->result_count && lane < EMU_LANES; lane++)
        emu_slot(group, op->results[0])[lane] = POISON;
}

enum emu_step emu_tcgen05_move(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask)
{
    const struct emu_tcgen05 *form = &op->tensor.tcgen05;
    bool is_load = form->what == EMU_TCGEN05_LD, is_early;
    struct move *move;
    uint32_t address;

    if (mask != UINT32_MAX)
        return emu_fault_as(warp, op, -1, EMU_ILLEGAL_INSTRUCTION, "divergence",
                            "all 32 threads of a warp must execute it");
    if (!emu_uniform(warp, group, op, EMU_PLACE_TO, mask, &address) ||
        !check_lanes(warp, op, address) ||
        !emu_tmem_check_columns(warp, op, warp->cta, emu_tmem_column(address),
                                emu_tmem_shape_columns(form)))
        return EMU_STEP_FAULT;
    if (warp->check)
        emu_check_tmem_move(warp, op, address);
    if (warp->moves && warp->moves->count == MOVES_MAX)
        emu_moves_settle(warp);
    emu_charge(warp->cta->cluster, (uint64_t)form->registers * EMU_LANES * sizeof(uint32_t));
    is_early = warp->cta->cluster->timed || emu_draw(&warp->cta->cluster->random) % 2 == 0;
    move = push(warp);
    if (move)
        *move = (struct move){.op = op, .frame = group->frame, .address = address};
    if (!move || ((is_early || !is_load) && !keep_values(warp, group, op, move)))
        return emu_fault(warp, op, -1, EMU_NO_RESOURCES, "no memory for a load or a store");
    if (is_load)
        poison(group, op);
    if (!is_load && is_early) {
        complete(warp, move);
        warp->moves->count--;
    }
    return EMU_STEP_NEXT;
}

enum emu_step emu_tcgen05_wait(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, uint32_t mask)
{
    bool is_load = op->tensor.tcgen05.what == EMU_TCGEN05_WAIT_LD;

    (void)group, (void)mask;
    complete_all(warp, is_load ? EMU_TCGEN05_LD : EMU_TCGEN05_ST);
    if (warp->check)
        emu_check_tmem_wait(warp, is_load);
    return EMU_STEP_NEXT;
}
