/* timed_unit.c: the units of the model of time: issue, loads, TMA, L2; those of tensor cores stand
 * in timed_tensor.c. Each has a cycle from which on it is free, and serves in the order in which it
 * is asked. */
#include "emulator/state.h"
#include "emulator/timed.h"
#include "emulator/trace.h"

#include <string.h>

enum { LINE_SHIFT = 7 };

static struct emu_timed *timed_of(const struct emu_cluster *cluster)
{
    return cluster->run->timed;
}

struct emu_sm *emu_timed_sm(const struct emu_cta *cta)
{
    const struct emu_cluster *cluster = cta->cluster;
    struct emu_timed *timed = timed_of(cluster);

    return &timed->sms[(cluster->timed->place * cluster->cta_count + cta->rank) % timed->sm_count];
}

/* The same for one whose rate is many bytes a cycle; returns when the last has gone through. */
static uint64_t pass(uint64_t *gone, uint64_t from, uint64_t bytes, uint32_t rate)
{
    *gone = emu_later(*gone, from * rate) + bytes;
    return emu_cycles_of(*gone, rate);
}

/* ---- L2 ---- */

struct traffic {
    struct emu_timed *timed;
    uint64_t bytes, missed;
    uint64_t comes; /* when lines that somebody else has asked for are in L2 */
};

/* A line that is read is in L2 when DRAM has sent it, and who wants it meanwhile waits as well. */
static void expect_line(struct traffic *traffic, uint64_t line, bool missed)
{
    struct emu_timed *timed = traffic->timed;
    const struct emu_timing *timing = timed->timing;

    if (missed)
        timed->comes[line] =
            emu_later(emu_cycles_of(timed->dram + traffic->missed, timing->dram_bytes),
                      timed->now) +
            timing->dram_latency;
    else
        traffic->comes = emu_later(traffic->comes, timed->comes[line]);
}

/* Bytes of global memory that are read: who is the first to read a line has it from DRAM. */
static void touch(struct traffic *traffic, uint64_t address, uint64_t bytes, bool reads)
{
    struct emu_timed *timed = traffic->timed;
    uint64_t first = (address - EMU_GLOBAL_BASE) >> LINE_SHIFT,
             last = (address + bytes - 1 - EMU_GLOBAL_BASE) >> LINE_SHIFT;

    traffic->bytes += bytes;
    for (uint64_t line = first; bytes > 0 && line <= last && line < timed->line_count; line++) {
        uint64_t bit = (uint64_t)1 << (line & 63);
        bool missed = reads && !(timed->lines[line >> 6] & bit);

        if (missed)
            traffic->missed += (uint64_t)1 << LINE_SHIFT;
        if (reads && timed->comes)
            expect_line(traffic, line, missed);
        timed->lines[line >> 6] |= bit;
    }
}

/* By an instruction of now: when L2 could have sent the last byte. */
static uint64_t read_l2(struct traffic *traffic)
{
    struct emu_timed *timed = traffic->timed;
    const struct emu_timing *timing = timed->timing;
    uint64_t end = pass(&timed->l2, timed->now, traffic->bytes, timing->l2_bytes);

    timed->trace->summary.l2_bytes += traffic->bytes;
    timed->trace->summary.dram_bytes += traffic->missed;
    if (traffic->missed > 0)
        end = emu_later(end, pass(&timed->dram, timed->now, traffic->missed, timing->dram_bytes) +
                                 timing->dram_latency);
    return emu_later(end, traffic->comes);
}

/* ---- TMA ---- */

static bool touch_piece(void *user, uint32_t shared, uint64_t global, uint32_t bytes,
                        uint32_t inside, const unsigned char *fill)
{
    struct traffic *traffic = user;

    (void)shared, (void)fill;
    if (inside)
        touch(traffic, global, bytes, true);
    return true;
}

/* What the copy touches of global memory; a copy that is not legal touches what it can. */
static void touch_global(const struct emu_async *work, struct traffic *traffic, bool reads)
{
    struct emu_tensor_copy copy = work->copy;
    const char *why;

    copy.map = &work->map;
    if (!reads)
        traffic->bytes = work->bytes;
    else if (work->is_tensor)
        emu_tensor_copy(&copy, touch_piece, traffic, &why);
    else
        touch(traffic, work->from, work->bytes, true);
}

/* A copy is asked for, and L2 sends it: `begin` and `arrives` are those of the first byte and of
 * the last at the way in. */
static void request(struct emu_timed_cluster *own, const struct emu_async *work)
{
    struct emu_timed *timed = timed_of(work->warp->cta->cluster);
    const struct emu_timing *timing = timed->timing;
    struct traffic traffic = {timed, 0, 0, 0};
    uint64_t begin;

    touch_global(work, &traffic, true);
    begin = emu_take(&emu_timed_sm(work->warp->cta)->copies, timed->now + timing->copy_start,
                     emu_cycles_of(work->announced, timing->copy_bytes));
    own->op = work->op;
    own->warp = work->warp;
    own->lane = work->lane;
    own->issued = timed->now;
    own->begin = begin + timing->l2_latency;
    own->arrives = emu_later(read_l2(&traffic) + timing->copy_start, begin) + timing->l2_latency;
}

/* From L2 to a CTA: all targets of a multicast have what one request brings. */
static uint64_t load(struct emu_cluster *cluster, const struct emu_async *work,
                     const struct emu_cta *to)
{
    struct emu_timed *timed = timed_of(cluster);
    const struct emu_timing *timing = timed->timing;
    struct emu_timed_cluster *own = cluster->timed;
    uint64_t cycles = emu_cycles_of(work->announced, timing->ingress_bytes), begin;

    if (own->op != work->op || own->warp != work->warp || own->lane != work->lane ||
        own->issued != timed->now)
        request(own, work);
    timed->trace->summary.copy_bytes += work->announced;
    begin = emu_take(&emu_timed_sm(to)->ingress, timed->now, cycles) + timing->copy_start +
            timing->l2_latency;
    return emu_later(own->arrives, emu_later(begin, own->begin) + cycles);
}

/* Out of shared memory, and out of the multiprocessor. */
static uint64_t read_shared(const struct emu_async *work)
{
    const struct emu_timed *timed = timed_of(work->warp->cta->cluster);
    uint32_t bytes = work->is_tensor ? work->announced : work->bytes;
    uint64_t cycles = emu_cycles_of(bytes, timed->timing->copy_bytes);

    return emu_take(&emu_timed_sm(work->warp->cta)->copies, timed->now + timed->timing->copy_start,
                    cycles) +
           cycles;
}

static uint64_t write_global(const struct emu_async *work)
{
    struct emu_timed *timed = timed_of(work->warp->cta->cluster);
    struct traffic traffic = {timed, 0, 0, 0};

    touch_global(work, &traffic, false);
    timed->trace->summary.l2_bytes += traffic.bytes;
    timed->trace->summary.dram_bytes += traffic.bytes;
    pass(&timed->dram, timed->now, traffic.bytes, timed->timing->dram_bytes); /* sooner or later */
    timed->trace->summary.store_bytes += traffic.bytes;
    return pass(&timed->l2, timed->now, traffic.bytes, timed->timing->l2_bytes) +
           timed->timing->store_latency;
}

static uint64_t write_remote(const struct emu_async *work)
{
    const struct emu_timed *timed = timed_of(work->warp->cta->cluster);
    uint64_t cycles = emu_cycles_of(work->bytes, timed->timing->ingress_bytes);

    return emu_take(&emu_timed_sm(work->to_cta)->ingress, timed->now, cycles) + cycles +
           timed->timing->remote_latency;
}

uint64_t emu_timed_copy(struct emu_cluster *cluster, const struct emu_async *work)
{
    const struct emu_timed *timed = timed_of(cluster);
    bool reads_global = work->is_tensor ? work->copy.is_load : !work->cta && !work->is_read;
    uint64_t due = timed->now + 1;

    if (reads_global)
        due = load(cluster, work, work->is_tensor ? work->cta : work->to_cta);
    else if (!work->is_read)
        due = read_shared(work);
    else if (!work->to_cta)
        due = write_global(work);
    else if (work->cta || !work->barrier_cta || work->op->cost == EMU_COST_REMOTE)
        due = write_remote(work);
    emu_trace_copy(work, timed->now, due);
    return due;
}

uint64_t emu_timed_small_copy(struct emu_warp *warp, uint64_t from, uint32_t bytes)
{
    struct emu_timed *timed = timed_of(warp->cta->cluster);
    struct traffic traffic = {timed, 0, 0, 0};

    touch(&traffic, from, bytes, true);
    return read_l2(&traffic) + timed->timing->costs[EMU_COST_GLOBAL_LOAD].latency;
}

/* ---- Instructions ---- */

/* Registers of an operation's results that a later one touches. */
static bool writes(const struct emu_op *op, int slot)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] == slot)
            return true;
    return false;
}

static bool touches(const struct emu_op *op, const struct emu_op *load)
{
    if (op->guard >= 0 && writes(load, op->guard))
        return true;
    for (int i = 0; i < op->source_count; i++)
        if (op->sources[i].kind == EMU_FROM_SLOT && writes(load, op->sources[i].slot))
            return true;
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0 && writes(load, op->results[i]))
            return true;
    return false;
}

static void forget_loads(struct emu_timed_warp *own, uint64_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < own->load_count; i++)
        if (own->loads[i].until > now)
            own->loads[kept++] = own->loads[i];
    own->load_count = kept;
}

uint64_t emu_timed_operands(const struct emu_warp *warp, const struct emu_frame *frame,
                            const struct emu_op *op)
{
    struct emu_timed_warp *own = warp->timed;
    const struct emu_timed *timed = timed_of(warp->cta->cluster);
    uint64_t until = op->cost == EMU_COST_TMEM_WAIT ? emu_timed_tmem_wait(warp, op) : 0,
             first = EMU_NEVER;

    forget_loads(own, timed->now);
    for (uint32_t i = 0; i < own->load_count; i++) {
        const struct emu_loading *loading = &own->loads[i];

        first = loading->until < first ? loading->until : first;
        if (loading->frame == frame && touches(op, loading->op))
            until = emu_later(until, loading->until);
    }
    if (own->load_count == timed->timing->loads_under_way &&
        timed->timing->costs[op->cost].latency > 0)
        until = emu_later(until, first);
    return until;
}

static void expect(struct emu_timed_warp *own, const struct emu_frame *frame,
                   const struct emu_op *op, uint64_t until)
{
    if (op->result_count > 0 && own->load_count < EMU_LOADS_MAX)
        own->loads[own->load_count++] = (struct emu_loading){frame, op, until};
}

static uint64_t bytes_moved(const struct emu_op *op, uint32_t mask)
{
    enum { MATRIX_BYTES = 128 };
    bool is_matrix = op->text && strstr(op->text->words[0], "matrix") != NULL;

    return is_matrix ? (uint64_t)op->vector * MATRIX_BYTES
                     : (uint64_t)(op->bytes * op->vector) * (uint64_t)__builtin_popcount(mask);
}

/* When a unit has moved what a load or a store moves. */
static uint64_t moved(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct emu_timed *timed = timed_of(warp->cta->cluster);
    struct emu_sm *sm = emu_timed_sm(warp->cta);
    uint64_t bytes = bytes_moved(op, mask), cycles;

    switch (op->cost) {
    case EMU_COST_SHARED_LOAD:
    case EMU_COST_SHARED_STORE:
        cycles = emu_cycles_of(bytes, timed->timing->shared_bytes);
        return emu_take(&sm->shared, timed->now, cycles) + cycles;
    case EMU_COST_GLOBAL_LOAD:
    case EMU_COST_GLOBAL_STORE:
        timed->trace->summary.l2_bytes += bytes;
        cycles = emu_cycles_of(bytes, timed->timing->global_bytes);
        return emu_later(emu_take(&sm->global, timed->now, cycles) + cycles,
                         pass(&timed->l2, timed->now, bytes, timed->timing->l2_bytes));
    default:
        return timed->now;
    }
}

uint64_t emu_timed_cost(struct emu_warp *warp, const struct emu_frame *frame,
                        const struct emu_op *op, uint32_t mask)
{
    const struct emu_timed *timed = timed_of(warp->cta->cluster);
    const struct emu_cost *cost = &timed->timing->costs[mask ? op->cost : EMU_COST_ALU];
    uint64_t end;

    if (mask && (op->cost == EMU_COST_TMEM_LOAD || op->cost == EMU_COST_TMEM_STORE)) {
        emu_timed_tmem_move(warp, op);
        return timed->now + cost->busy;
    }
    if (!mask || cost->latency == 0)
        return emu_later(timed->now + cost->busy, mask ? moved(warp, op, mask) : 0);
    end =
        op->cost == EMU_COST_MMA ? emu_timed_mma(warp, op) : moved(warp, op, mask) + cost->latency;
    expect(warp->timed, frame, op, end);
    return timed->now + cost->busy;
}
