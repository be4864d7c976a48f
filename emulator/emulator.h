/* emulator.h: what a program can tell the emulator and ask of it beside the CUDA driver API.
 *
 * The one public header of libcuda-emu.so, plain C without other headers of the emulator. The
 * functions are exported beside the cu... ones; a program that opened the library finds them by
 * dlsym, and one that finds none has a real driver before it. All may be called from any thread at
 * any time, before cuInit too.
 *
 * Environment, read by cuInit:
 *   LATHE_EMU_ARCH  the devices, in this order: "sm_90a", "sm_90a,sm_100a"; without it one device
 *                   for each architecture that the emulator has
 *   LATHE_EMU_SMS   multiprocessors of every device; without it as many as a product has
 *   LATHE_EMU_THREADS  threads of the host that a launch uses; without it as many as there are
 *                      processors that the program may use
 *   LATHE_EMU_CHECK 1: the sanitizer watches every launch, goes on past findings, and prints them
 *                   to standard error */
#ifndef EMU_EMULATOR_H
#define EMU_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the last thing that went wrong in the process was, in words: why a module was refused, where
 * a kernel faulted, who waits for whom in a deadlock. Empty, never null, where nothing did. It is
 * the calling thread's copy, good until the thread asks again. */
const char *emu_last_report(void);

/* Of the schedule: in which order warps take turns and asynchronous work completes. The same seed
 * gives the same run, with any number of threads. For all launches from now on. */
void emu_set_seed(uint64_t seed);

/* Threads of the host that a launch uses, that of the caller among them: 1 to 1024; 0 (the
 * default): what LATHE_EMU_THREADS says, else one for each processor that the program may use. No
 * result and no report depends on it. For all launches from now on. */
void emu_set_threads(unsigned threads);

/* Not 0: tensor cores bit for bit as the hardware's; 0 (the default): fast, in f32. For devices
 * whose first context is made later. */
void emu_set_exact(int exact);

/* Bytes of memory of a device, warp instructions of a launch, depth of calls; 0 is the default
 * of each (16 GiB, 2^36, 4096). For devices whose first context is made later. */
void emu_set_limits(uint64_t memory_bytes, uint64_t steps, uint32_t depth);

/* ---- The sanitizer ----
 *
 * It watches what warps and asynchronous work do in memory and tells what is wrong with it, though
 * the run may have given the right answer: docs/sanitizer.md. */

enum emu_check_mode {
    EMU_CHECK_OFF,   /* the default */
    EMU_CHECK_FIRST, /* the first finding that is no warning ends the launch, which then fails */
    EMU_CHECK_ALL    /* goes on past findings */
};

/* For all launches from now on; what was allocated before counts as written. False without memory
 * for it, or for a mode that there is not. */
int emu_set_check(int mode);
/* The mode that holds: for a program that puts it back. */
int emu_check(void);

/* One of those who are part of it: a warp, and what it did. */
struct emu_finding_side {
    uint32_t cta[3];
    int32_t warp, lane; /* -1: none in particular */
    int32_t line;       /* of the text; 0: none */
    char role[48];      /* the heading or the label that it stands under; may be empty */
    char instruction[128];
    char operand[64]; /* as the text names the place: "[%full]" */
    int32_t reads, writes;
};

struct emu_finding {
    const char *code; /* "race": docs/sanitizer.md lists them; for good */
    char kernel[128];
    struct emu_finding_side who, other;
    int32_t has_other;
    char object[128]; /* the place in memory; may be empty */
    char what[1024];
    const char *needed; /* what would have been right; null: nothing to say; for good */
    uint64_t times;     /* that it was found, at the same instructions */
    int32_t is_warning; /* hardware makes up for it, and it costs time */
};

/* The first `room` of all findings since they were forgotten; returns how many there are. The list
 * may be null where the room is 0. */
size_t emu_findings(struct emu_finding *list, size_t room);
void emu_forget_findings(void);
/* All of it in words, in some lines without a last newline; cut off where there is no room. */
void emu_finding_words(const struct emu_finding *finding, char *text, size_t size);

/* ---- Time ----
 *
 * Launches may follow a schedule in which time is modelled: docs/trace.md. It is one more schedule
 * in which the answer is right; the seed and the threads mean nothing to it. */

struct emu_trace_options {
    uint64_t first_cluster, clusters; /* whose events are kept; 0 clusters: one                */
    uint64_t events_most;             /* that are kept, of all launches; 0: 2^20               */
    int32_t skip_products;            /* not 0: wgmma takes its time and multiplies nothing: D is
                                       * not computed                                          */
};

/* Not 0: for all launches from now on, as the options say, or their defaults where they are null;
 * what was kept before is forgotten. 0 (the default): no more. False without memory. */
int emu_set_trace(int on, const struct emu_trace_options *options);

enum emu_event_kind {
    EMU_EVENT_RUN,     /* a warp runs, from one wait to the next                              */
    EMU_EVENT_WAIT,    /* a warp waits                                                        */
    EMU_EVENT_COPY,    /* a bulk copy, from its issue to its end                              */
    EMU_EVENT_READ,    /* a bulk copy out of shared memory: until its source has been read    */
    EMU_EVENT_WRITE,   /* and from then on                                                    */
    EMU_EVENT_PRODUCT, /* a wgmma, while it has the tensor cores                              */
    EMU_EVENT_PHASE,   /* of an mbarrier, over: begin is end                                  */
    EMU_EVENT_BARRIER, /* a barrier of the CTA, complete: begin is end                        */
    EMU_EVENT_COMMIT   /* of a group of asynchronous work, by a warp: begin is end            */
};

struct emu_event {
    int32_t kind;
    uint32_t launch;     /* since they were forgotten, from 0 on            */
    uint64_t begin, end; /* cycles since the launch began                   */
    uint32_t cta[3];
    int32_t warp;     /* -1: none in particular                             */
    int32_t line;     /* of the text; 0: none                               */
    uint32_t address; /* of an mbarrier, in its CTA's shared memory         */
    uint32_t value;   /* the parity that is waited for, the phase that is over, N of a product, the
                       * number of a barrier */
    uint32_t bytes;   /* of a copy */
    const char *role; /* the heading that it stands under; the kernel where there is none */
    const char *name; /* as the text names the barrier, the map or the instruction */
};

/* The first `room` of all events since they were forgotten; returns how many there are. The list
 * may be null where the room is 0. Their words are good until events are forgotten. */
size_t emu_events(struct emu_event *list, size_t room);

/* Of all launches since events were forgotten, and all of their clusters. */
struct emu_trace_summary {
    uint64_t cycles;    /* of launches, one after the other                         */
    uint64_t clock_khz; /* that the model is for                                    */
    uint64_t launches;
    uint64_t multiprocessors;      /* that had a CTA, of the last launch                       */
    uint64_t instructions;         /* of warps                                                 */
    uint64_t tensor_cycles;        /* that tensor cores were busy by wgmma, all added up       */
    uint64_t copy_bytes;           /* that bulk loads have brought, in every CTA               */
    uint64_t store_bytes;          /* that bulk stores have taken                              */
    uint64_t l2_bytes, dram_bytes; /* that L2 has moved; that went from or to memory      */
    uint64_t events_lost;          /* for which there was no room                              */
};
void emu_trace_total(struct emu_trace_summary *summary);
void emu_forget_events(void);

#ifdef __cplusplus
}
#endif

#endif
