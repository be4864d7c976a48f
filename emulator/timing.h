/* timing.h: what the model of time knows of an architecture: one table for each, and what an
 * instruction costs by its class. docs/trace.md tells what the model leaves out. */
#ifndef EMU_TIMING_H
#define EMU_TIMING_H

#include "emulator/ptx.h"

#include <stdbool.h>
#include <stdint.h>

/* Instructions that cost the same. */
enum emu_cost_class {
    EMU_COST_ALU,
    EMU_COST_MULTI,   /* functions of the slow unit: rcp, ex2, sqrt ... */
    EMU_COST_DIVIDE,  /* what ptxas makes a sequence of                 */
    EMU_COST_BRANCH,  /* and calls, and returns                         */
    EMU_COST_SHUFFLE, /* between lanes, and votes                       */
    EMU_COST_ELECT,
    EMU_COST_SHARED_LOAD,  /* ldmatrix too */
    EMU_COST_SHARED_STORE, /* stmatrix too */
    EMU_COST_SHARED_ATOMIC,
    EMU_COST_REMOTE, /* shared memory of another CTA */
    EMU_COST_GLOBAL_LOAD,
    EMU_COST_GLOBAL_STORE,
    EMU_COST_GLOBAL_ATOMIC,
    EMU_COST_SMALL_COPY,    /* cp.async                                        */
    EMU_COST_MBARRIER,      /* init, arrive, expect                            */
    EMU_COST_MBARRIER_WAIT, /* one look                                        */
    EMU_COST_BARRIER,       /* after the last has come                         */
    EMU_COST_CLUSTER_BARRIER,
    EMU_COST_FENCE,
    EMU_COST_PROXY_FENCE,
    EMU_COST_SYSTEM_FENCE,
    EMU_COST_COPY_ISSUE,    /* TMA */
    EMU_COST_GROUP,         /* commits and waits that need not wait */
    EMU_COST_PRODUCT_ISSUE, /* wgmma */
    EMU_COST_MMA,           /* mma.sync */
    EMU_COST_SETMAXNREG,
    EMU_COST_TENSOR_ISSUE,  /* tcgen05.mma, .cp, .shift */
    EMU_COST_TENSOR_COMMIT, /* tcgen05.commit */
    EMU_COST_TMEM_ALLOC,    /* tcgen05.alloc */
    EMU_COST_TMEM_LOAD,     /* tcgen05.ld */
    EMU_COST_TMEM_STORE,    /* tcgen05.st */
    EMU_COST_TMEM_WAIT,     /* for either, once it is over */
    EMU_COST_CLASSES
};

struct emu_cost {
    uint16_t busy;    /* cycles until its warp may issue again                     */
    uint16_t latency; /* cycles until its result is there; 0: when the warp goes on */
};

struct emu_timing {
    const char *arch;
    int target;
    uint32_t clock_khz;
    /* Where tensor cores are busy for more than so much of the time, the board's power lowers the
     * clock: each percent more makes a launch longer by so many hundredths of a percent. */
    uint32_t power_from_percent, power_slope;

    uint32_t loads_under_way; /* of a warp                                                   */
    uint32_t cta_start;       /* from the end of a CTA to the first instruction of the next  */
    uint32_t wake;            /* from the end of a phase to the next instruction of who waits */
    uint32_t shared_bytes;    /* a cycle, of a multiprocessor's shared memory                */
    uint32_t global_bytes;    /* a cycle, between a multiprocessor and L2, by its warps      */

    uint32_t copy_start;     /* TMA: from the instruction to the first request               */
    uint32_t copy_bytes;     /* a cycle that its unit asks for, or reads of shared memory   */
    uint32_t ingress_bytes;  /* a cycle that arrive in a multiprocessor                     */
    uint32_t l2_latency;     /* from the request to the first byte                          */
    uint32_t l2_bytes;       /* a cycle, of all multiprocessors together                    */
    uint32_t dram_latency;   /* on top of that of L2                                        */
    uint32_t dram_bytes;     /* a cycle                                                     */
    bool waits_for_lines;    /* a line that another has asked for is there when it has come */
    uint32_t store_latency;  /* from the last byte's way out to the end of the store        */
    uint32_t remote_latency; /* from one multiprocessor of a cluster to another             */

    /* wgmma and tcgen05.mma */
    uint32_t product_start; /* from the last warp's instruction to the first product       */
    uint32_t product_end;   /* from the last product until a wait or a commit sees it      */
    uint32_t products;      /* of 16-bit elements a cycle, of a multiprocessor             */
    uint32_t mma_percent;   /* of that rate that mma.sync comes to                         */

    /* Tensor memory. The rates of a warp, for each has the lanes of one scheduler to itself. */
    uint32_t tmem_load_bytes;   /* a cycle                                                  */
    uint32_t tmem_store_bytes;  /* a cycle                                                  */
    uint32_t tensor_copy_bytes; /* a cycle, tcgen05.cp, of a multiprocessor                */
    uint32_t tensor_copy_end;   /* of cp and shift, from the last byte until a commit sees it */
    uint32_t tensor_shift;      /* cycles of a tcgen05.shift                                */

    struct emu_cost costs[EMU_COST_CLASSES];
};

/* The tables (timing_table.c), the oldest architecture first. */
extern const struct emu_timing emu_timings[];
extern const int emu_timing_count;

/* Of the newest architecture that is not newer than the target, else of the oldest. */
const struct emu_timing *emu_timing_of(int target);
enum emu_cost_class emu_cost_class_of(const struct emu_instruction *text);

#endif
