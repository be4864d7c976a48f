/* timed.h: the schedule in which a turn of a cluster is a clock cycle: what other files ask of it.
 * All but emu_timed_begin() are called only where the run has it. */
#ifndef EMU_TIMED_H
#define EMU_TIMED_H

#include "emulator/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_async;
struct emu_cluster;
struct emu_cta;
struct emu_frame;
struct emu_op;
struct emu_piped;
struct emu_run;
struct emu_trace;
struct emu_warp;

#define EMU_NEVER UINT64_MAX

/* Four schedulers: CUDA C Programming Guide, "Compute Capability 9.x", and those before it. */
enum { EMU_SCHEDULERS = 4, EMU_LOADS_MAX = 8 };

/* What the CTAs of a multiprocessor share. Cycles from which on a unit is free. */
struct emu_sm {
    uint64_t issued[EMU_SCHEDULERS]; /* one more than the cycle of the last instruction */
    uint64_t mma[EMU_SCHEDULERS];    /* tensor cores, for mma.sync                      */
    uint64_t products;               /* all four of them, for wgmma and tcgen05.mma     */
    uint64_t tensor_copies;          /* into tensor memory                              */
    uint64_t tmem_loads[EMU_SCHEDULERS], tmem_stores[EMU_SCHEDULERS];
    uint64_t copies;         /* TMA                                             */
    uint64_t ingress;        /* the way in from L2                              */
    uint64_t shared, global; /* the ways of loads and stores                    */
};

/* A load whose result is not there yet. */
struct emu_loading {
    const struct emu_frame *frame;
    const struct emu_op *op;
    uint64_t until;
};

struct emu_timed_warp {
    uint64_t ready;    /* the cycle from which on it may issue                  */
    uint64_t progress; /* of its cluster, when all of it was found to wait      */
    uint64_t tried;    /* one more than the cycle in which it was last looked at */
    uint64_t issued;   /* instructions                                          */
    bool asleep;       /* all of it waits                                       */
    struct emu_loading loads[EMU_LOADS_MAX];
    uint32_t load_count;
    uint64_t loaded, stored;      /* cycles in which its tcgen05.ld and .st are over */
    struct emu_trace_warp *trace; /* null: its events are not kept */
};

struct emu_timed_cluster {
    uint64_t next;  /* the cycle in which something may happen, or EMU_NEVER */
    uint32_t place; /* among those that are resident at a time               */
    struct emu_timed_warp *warps;
    /* The last copy that was issued: a multicast reads L2 once for all its targets. */
    const struct emu_op *op;
    const struct emu_warp *warp;
    int lane;
    uint64_t issued, begin, arrives;
};

struct emu_timed {
    const struct emu_timing *timing;
    struct emu_trace *trace;
    uint64_t now;
    bool skips_products;
    struct emu_sm *sms;
    uint32_t sm_count;
    bool *taken;       /* places of resident clusters                               */
    uint64_t l2, dram; /* bytes that have gone through, as if from cycle 0 on       */
    uint64_t *lines;   /* of global memory that L2 has: a bit for each 128 bytes    */
    uint64_t *comes;   /* the cycle in which a line is in L2; null: at once */
    uint64_t line_count;
    uint32_t idle; /* times in a row that all slept, and were woken in vain     */
};

/* Makes it where the device's launches are traced. False without memory. */
bool emu_timed_begin(struct emu_run *run);
void emu_timed_end(struct emu_run *run);
bool emu_timed_begin_cluster(struct emu_cluster *cluster);
void emu_timed_end_cluster(struct emu_cluster *cluster);

/* The next cycle in which something happens. False where the run has ended. */
bool emu_timed_round(struct emu_run *run);

/* ---- Units ----
 *
 * Each is a cycle from which on it is free. */

static inline uint64_t emu_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t emu_cycles_of(uint64_t bytes, uint32_t rate)
{
    return (bytes + rate - 1) / rate;
}

/* A unit is busy for so many cycles, from `from` on or when it is free; returns when it begins.
 * Who asks for the units that all share gives the time of its instruction, and adds what lies
 * between: what is asked for now and needed later would else keep others from what is free. */
static inline uint64_t emu_take(uint64_t *unit, uint64_t from, uint64_t cycles)
{
    uint64_t begin = emu_later(*unit, from);

    *unit = begin + cycles;
    return begin;
}

/* ---- Those of timed_unit.c ---- */

struct emu_sm *emu_timed_sm(const struct emu_cta *cta);
/* The cycle in which the next step of a copy is done. */
uint64_t emu_timed_copy(struct emu_cluster *cluster, const struct emu_async *work);
/* The same of a cp.async of one lane. */
uint64_t emu_timed_small_copy(struct emu_warp *warp, uint64_t from, uint32_t bytes);
/* An instruction of the warp has been issued: until when its warp is busy. */
uint64_t emu_timed_cost(struct emu_warp *warp, const struct emu_frame *frame,
                        const struct emu_op *op, uint32_t mask);
/* The cycle in which what the operation reads and writes is there. */
uint64_t emu_timed_operands(const struct emu_warp *warp, const struct emu_frame *frame,
                            const struct emu_op *op);

/* ---- Those of timed_tensor.c ---- */

/* The cycle in which a wgmma that is issued now by the last of its warps is done. */
uint64_t emu_timed_product(struct emu_warp *warp, const struct emu_op *op);
/* The same of what a thread issues of tcgen05, and of a commit, whose thread has nothing under way
 * from the cycle `before` on. */
uint64_t emu_timed_piped(const struct emu_piped *item, uint64_t before);
/* The cycle in which the result of an mma.sync is there. */
uint64_t emu_timed_mma(struct emu_warp *warp, const struct emu_op *op);
/* A tcgen05.ld or .st is issued; and the cycle in which a wait for all of either is over. */
void emu_timed_tmem_move(struct emu_warp *warp, const struct emu_op *op);
uint64_t emu_timed_tmem_wait(const struct emu_warp *warp, const struct emu_op *op);

#endif
