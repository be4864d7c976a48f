/* state.h: the machine from the inside: programs as decoded operations, and what runs them.
 *
 * A warp is up to 32 lanes that run as groups: the lanes of a group stand at one instruction of one
 * frame. A branch that not all lanes take splits a group; groups that meet at an instruction run on
 * as one. A frame holds the registers of one activation of a function, for all lanes of the warp.
 */
#ifndef EMU_STATE_H
#define EMU_STATE_H

#include "emulator/alu.h"
#include "emulator/check.h"
#include "emulator/machine.h"
#include "emulator/mma.h"
#include "emulator/reduce.h"
#include "emulator/tcgen05.h"
#include "emulator/tensor_map.h"
#include "emulator/text_map.h"
#include "emulator/timed.h"

#include <time.h>

/* ---- Addresses ----
 *
 * Generic addresses: windows for what is not global. Within the shared window bits 24 and up are
 * the CTA's rank in its cluster, as on Hopper (measured; a CTA's own addresses carry its rank too).
 */
#define EMU_SHARED_WINDOW 0x1000000000u
#define EMU_LOCAL_WINDOW 0x2000000000u
#define EMU_PARAM_WINDOW 0x3000000000u
#define EMU_WINDOW_BYTES 0x1000000000u
#define EMU_GLOBAL_BASE 0x700000000000u
/* Addresses of functions: no memory is behind them. */
#define EMU_FUNCTION_BASE 0x600000000000u

/* Within .param space bits 32 and up say whose: the entry's, those that a function was given and
 * gives back, or those that its body declares. */
enum { EMU_PARAM_AREA_SHIFT = 32, EMU_PARAM_ENTRY = 0, EMU_PARAM_GIVEN = 1, EMU_PARAM_OWN = 2 };

enum {
    EMU_RANK_SHIFT = 24,
    EMU_SHARED_RESERVED = 1024,      /* static shared data begins behind it, as on Hopper */
    EMU_SHARED_BYTES_MAX = 233472,   /* 228 KB of sm_90, with what the system reserves */
    EMU_LOCAL_BYTES_MAX = 512 << 10, /* of a thread */
    EMU_CLUSTER_MAX = 16,
    EMU_NAMED_BARRIERS = 16,
    EMU_WARPGROUPS_MAX = 8,
    EMU_OP_SOURCES = 16,
    EMU_OP_RESULTS = 16
};

/* ---- Operations ---- */

struct emu_warp;
struct emu_group;
struct emu_op;

enum emu_step {
    EMU_STEP_NEXT,    /* on to the next operation                                    */
    EMU_STEP_MOVED,   /* the handler has set where the group goes, or split it       */
    EMU_STEP_YIELD,   /* as next, but another should run first: a wait looked in vain */
    EMU_STEP_BLOCKED, /* not done: to be tried again when something has changed      */
    EMU_STEP_LATER,   /* not done: it needs to see the cluster's own stores in memory */
    EMU_STEP_HELD,    /* not done: what it touches is not the cluster's alone        */
    EMU_STEP_FAULT    /* the run ends; the reason is told                            */
};

typedef enum emu_step (*emu_execute)(struct emu_warp *warp, struct emu_group *group,
                                     const struct emu_op *op, uint32_t mask);

/* Where a value comes from. */
struct emu_source {
    enum {
        EMU_FROM_NOWHERE, /* `_`, and places of operands that the text has not       */
        EMU_FROM_SLOT,
        EMU_FROM_BITS,
        EMU_FROM_SPECIAL,
        EMU_FROM_SHARED,  /* `bits` with the rank of the CTA that runs                */
        EMU_FROM_DYNAMIC, /* dynamic shared memory, plus `bits`                      */
        EMU_FROM_LOCAL    /* `bits` behind the local memory of the frame that runs    */
    } kind;
    int slot;
    int special, part; /* enum emu_special, and 0 to 3 of a vector */
    uint64_t bits;
    int64_t offset; /* added: of an address */
    bool negated;
};

/* What an address names: a base and an offset, in a space. */
struct emu_op {
    emu_execute execute;
    const struct emu_instruction *text;
    int guard; /* slot of a predicate, or -1 */
    bool guard_negated, aligned;
    /* Of all ways through the text, where the sanitizer is on (check_flow.c): a register that it
     * reads and none has written, as its slot plus 1, and whether that is only padding; and whether
     * it waits, and none reads the result. */
    int unwritten;
    bool is_padding, is_unread;

    struct emu_source sources[EMU_OP_SOURCES];
    int results[EMU_OP_RESULTS]; /* slots; -1: none */
    int source_count, result_count;

    enum emu_space space;
    bool cluster; /* shared::cluster */
    bool wide;    /* of b128: then `vector` counts halves of 64 bits, and `type` is theirs */
    enum emu_type type;
    int bytes, vector, variant, target;
    int width; /* bytes of a result's register */
    uint32_t flags;
    uint32_t kind; /* of its access to memory, for the sanitizer */
    enum emu_cost_class cost;
    struct emu_alu alu;
    union {
        struct emu_mma_sync mma;
        struct emu_wgmma wgmma;
        struct emu_tcgen05 tcgen05;
    } tensor;
    struct emu_call *call; /* owned */
    int *many;             /* registers beyond those above: accumulators, and those of tcgen05.ld
                            * and .st; owned */
    int many_count;
    /* Sets of accumulators: that of a wgmma, and those that the operation touches; see
     * accumulators.c. */
    uint64_t accumulators, touched;
    emu_execute then; /* what `execute` guards */
};

/* One argument or returned value of a call: a .param variable of the caller's body, or registers.
 */
struct emu_passed {
    bool in_register;
    int slot;
    struct emu_source source;
    uint32_t offset, bytes; /* in the caller's .param space */
};

struct emu_call {
    int function; /* -1: indirect, by source 0 */
    struct emu_passed *arguments, *returns;
    int argument_count, return_count;
};

/* A function, decoded: operation i is of instruction i; one more ends it like ret. */
struct emu_code {
    const struct emu_function *function;
    struct emu_op *ops;
    int op_count;
    uint32_t *local_offsets;    /* of variables of the body, by index   */
    uint32_t frame_local_bytes; /* local memory of one activation    */
    uint32_t frame_param_bytes; /* .param space of one activation    */
    uint32_t *argument_offsets, *return_offsets;
    uint32_t argument_bytes, return_bytes;
    uint32_t shared_end; /* of an entry: where its static shared variables end */
    bool has_wgmma;
    bool is_looked_at; /* by check_flow.c */
};

struct emu_program {
    struct emu_device *device;
    struct emu_module *module;
    struct emu_code *codes; /* one for each function                              */
    uint64_t *addresses;    /* of the module's variables: global, or offset in shared memory */
    uint32_t dynamic_alignment;
    struct emu_text_map map;
};

/* ---- Memory ---- */

struct emu_allocation {
    uint64_t base, bytes;
    bool is_heap;     /* by a kernel's malloc: only that may be freed by one */
    bool is_constant; /* a .const variable                                    */
    unsigned char *host;
};

struct emu_memory {
    struct emu_allocation *list; /* by base */
    size_t count, room;
    size_t packed; /* the first of the list, which have no gap before any of them */
    uint64_t used, limit;
};

struct emu_device {
    struct emu_options options;
    struct emu_memory memory;
    struct emu_check *check; /* null: launches are not watched */
    struct emu_trace *trace; /* null: time is not modelled; borrowed */
};

/* Memory of the host that a cluster takes, for registers and for local memory, counts among the
 * device's until it is let go; false where that has not so much left. A cluster that runs apart
 * takes from its share of what is left; where that is not enough it `lacks` memory, and the step
 * has to be held. */
struct emu_cluster;
bool emu_hold(struct emu_cluster *cluster, uint64_t bytes);
void emu_let_go(struct emu_cluster *cluster, uint64_t bytes);
/* malloc and free of kernels. */
uint64_t emu_heap_allocate(struct emu_device *device, uint64_t bytes);
bool emu_heap_release(struct emu_device *device, uint64_t address);
/* The allocation around an address, or null. */
const struct emu_allocation *emu_allocation_of(const struct emu_device *device, uint64_t address);
/* What begins at that address is a .const variable. */
void emu_set_constant(struct emu_device *device, uint64_t address);

/* ---- What runs ---- */

struct emu_frame {
    struct emu_frame *caller; /* null: the entry's */
    const struct emu_code *code;
    int return_op;           /* in the caller's code                                    */
    const struct emu_op *by; /* the call                                                */
    uint32_t lanes;          /* that have not returned                                  */
    uint32_t depth, local_base;
    struct emu_cluster *holder; /* whose memory it counts among */
    unsigned char *params;      /* .param space: of each lane, frame_param_bytes            */
    unsigned char *arguments;   /* of each lane: its own arguments and returns             */
    uint64_t registers[];       /* [slot][lane]                                             */
};

enum emu_status { EMU_READY, EMU_YIELDED, EMU_WAITING, EMU_HELD };

struct emu_group {
    struct emu_frame *frame;
    int at; /* operation */
    uint32_t lanes;
    enum emu_status status;
    uint64_t waited;   /* the turn in which it last waited                 */
    bool arrived;      /* at the barrier that it stands at                 */
    bool tried;        /* the operation that it stands at, in vain         */
    uint64_t awaiting; /* phase of that barrier that has to be over        */
    /* The mbarrier's wait that was last in vain, for reports; else null. */
    const struct emu_op *vain;
    uint32_t vain_rank, vain_offset, vain_parity;
    uint64_t vain_phase;
    uint32_t suspended; /* turns that a try_wait has been left to wait */
    uint64_t issued;    /* where time is modelled: its warp's instructions up to its last */
    uint32_t rounds;    /* branches back that it has taken */
};

/* cp.async: the copies of a warp in their order. */
struct emu_queued {
    int lane;
    bool is_arrival, is_done;
    uint64_t from;
    uint32_t group, to, bytes, read_bytes; /* the rest of `bytes` is zeros */
    const struct emu_op *op;
    struct emu_snapshot *known; /* at issue; the sanitizer's */
    uint32_t time;
    uint64_t due; /* where time is modelled */
};

struct emu_queue {
    struct emu_queued *items;
    size_t count, room;
    uint32_t group[EMU_LANES]; /* that a commit will close */
};

struct emu_warpgroup; /* wgmma: see tensor.c */
struct emu_moves;     /* tcgen05.ld and .st: see tcgen05_move.c */
struct emu_pipe;      /* tcgen05.mma and what else completes by a commit: see tcgen05_pipe.c */
struct emu_tmem;      /* tensor memory: see tmem.h */

struct emu_warp {
    struct emu_cta *cta;
    int index;
    uint32_t live; /* lanes that have not exited */
    int group_count;
    struct emu_group groups[EMU_LANES];
    unsigned char *local[EMU_LANES]; /* made when first touched, and grown */
    uint32_t local_bytes[EMU_LANES];
    uint32_t bulk_group[EMU_LANES]; /* of bulk copies, that a commit will close */
    uint64_t carry[EMU_LANES];      /* the condition code of add.cc and its kin */
    uint32_t cluster_arrived; /* lanes that have arrived at the cluster's barrier, and not waited */
    uint32_t cluster_counted; /* those of its phase that runs */
    uint32_t registers;       /* of a thread, by setmaxnreg; 0: nobody knows */
    int held;                 /* the group whose operation waits for the round's end; or -1 */
    struct emu_queue queue;   /* cp.async */
    struct emu_moves *moves;  /* under way; null before the first; owned */
    struct emu_check_warp *check; /* this and its like: null without the sanitizer */
    struct emu_timed_warp *timed; /* this and its like: null where time is not modelled */
};

struct emu_mbarrier {
    struct emu_cta *cta; /* in whose shared memory it lies */
    uint32_t offset;
    uint64_t phase;
    uint32_t expected, pending;
    int64_t tx;
    struct emu_check_mbarrier *check;
};

/* What threads gave a barrier that reduces: all of them true, any of them, how many. */
struct emu_votes {
    bool all, any;
    uint32_t count;
};

struct emu_named_barrier {
    uint32_t threads;  /* that have arrived                                            */
    uint32_t padded;   /* the same where a warp that is not full counts as one that is */
    uint32_t expected; /* padded ones; 0: all that have not exited                    */
    uint64_t phase;    /* how often it was complete                                   */
    struct emu_votes votes, result;
};

struct emu_cta {
    struct emu_cluster *cluster;
    uint32_t rank, id[3], in_cluster[3];
    unsigned char *shared;
    uint32_t shared_bytes;
    struct emu_warp *warps;
    uint32_t warp_count, thread_count, exited_threads;
    uint32_t free_registers; /* that setmaxnreg.dec has given back */
    struct emu_mbarrier *mbarriers;
    size_t mbarrier_count, mbarrier_room;
    struct emu_named_barrier barriers[EMU_NAMED_BARRIERS];
    struct emu_warpgroup *warpgroups[EMU_WARPGROUPS_MAX]; /* made when first used; owned */
    struct emu_tmem *tmem;                                /* the same */
    bool has_failed_to_cancel; /* it has seen that no cluster is left to cancel */
    struct emu_check_cta *check;
};

/* Stores in global memory that others do not see yet, in their order (store_log.c). */
enum { EMU_LOG_LINES_SHIFT = 13 };
struct emu_store_log {
    unsigned char *bytes; /* entries and their data */
    size_t count, room, last;
    uint64_t lines[(1 << EMU_LOG_LINES_SHIFT) / 64]; /* a set of what it touches, by hashes */
};

/* What runs by itself: its CTAs, and its own part of the schedule. What it does depends on the
 * seed, on its index and on global memory, and on no other cluster beside. */
struct emu_cluster {
    struct emu_run *run;
    uint64_t index;       /* in the grid */
    struct emu_cta *ctas; /* null: it has not had a turn */
    uint32_t cta_count, id[3];
    struct emu_warp **order; /* room for all its warps */

    uint64_t random;            /* its stream of the schedule's numbers           */
    uint64_t turn;              /* how many it has had                            */
    uint64_t steps, steps_left; /* since the run has counted them; and may be yet */
    uint64_t progress;          /* changes that others can see, since then        */
    enum emu_outcome outcome;   /* of its first fault, and what is said of it     */
    struct emu_error error;

    struct emu_async *async; /* bulk copies under way */
    size_t async_count, async_room;
    uint64_t async_bytes;  /* read, and not written yet */
    struct emu_pipe *pipe; /* made when first used; owned */

    bool apart; /* others run at the same time: what is not its own may only be read */
    struct emu_store_log log;
    /* Warps whose operation is done between this round and the next, and those where it is when the
     * next begins; room for all. */
    struct emu_warp **held, **later;
    uint32_t held_count, later_count;
    uint64_t memory_left, memory_taken; /* that it may take by itself, and what it has */
    uint64_t memory_reserved;           /* for its first frames                        */
    bool lacks_memory;
    struct emu_check_cluster *check;
    struct emu_timed_cluster *timed;
};

/* A bulk copy under way, of one thread, to one CTA or to global memory. */
struct emu_async {
    uint64_t due; /* turn of the cluster */
    struct emu_warp *warp;
    const struct emu_op *op;
    int lane;
    bool is_tensor;
    bool is_read; /* the source has been read: into `data` */
    bool flush;   /* of a reduction: subnormals become zeros */
    struct emu_tensor_map map;
    struct emu_tensor_copy copy;
    struct emu_cta *cta;         /* of a tensor's shared side; of a source in shared memory */
    struct emu_cta *to_cta;      /* of a target there; null: global memory                  */
    struct emu_cta *barrier_cta; /* null: it is waited for by groups                        */
    uint32_t barrier, announced; /* offset, and the bytes that complete on it               */
    uint32_t group, bytes, room;
    uint64_t from, to; /* of plain copies: global addresses or offsets */
    enum emu_type type;
    unsigned char *data;        /* owned */
    struct emu_snapshot *known; /* at issue; the sanitizer's */
    uint64_t issued_in;         /* the phase of its barrier then */
};

struct emu_run {
    struct emu_device *device;
    const struct emu_launch *launch;
    const struct emu_program *program;
    const struct emu_code *code;
    unsigned char *params; /* a copy of the launch's */
    struct emu_error *error;
    enum emu_outcome outcome;

    struct emu_cluster **clusters; /* resident */
    uint32_t cluster_count, cluster_room;
    uint64_t next_cluster, all_clusters;
    uint32_t cluster_ctas, cta_warps, shared_bytes, dynamic_base;
    uint32_t clusters_along[3], cluster_shape[3];
    struct emu_warp **held; /* room for all resident warps */

    struct emu_pool *pool; /* null: one thread does it all, so far */
    uint32_t threads;      /* that it may use                      */
    struct timespec began;

    uint64_t steps, step_limit;
    uint64_t quiet;          /* rounds in which nothing changed */
    uint64_t random;         /* what concerns more than one cluster is drawn from it */
    struct emu_timed *timed; /* null: the schedule is drawn */
};

/* ---- For handlers ---- */

static inline uint64_t *emu_slot(const struct emu_group *group, int slot)
{
    return group->frame->registers + (size_t)slot * EMU_LANES;
}

/* The source's value in every lane of the mask, into `lanes`, or the register itself. */
const uint64_t *emu_read(struct emu_warp *warp, const struct emu_group *group,
                         const struct emu_source *source, uint32_t mask, emu_lanes lanes);

/* Ends the run with the reason; returns EMU_STEP_FAULT. */
enum emu_step emu_fault(struct emu_warp *warp, const struct emu_op *op, int lane,
                        enum emu_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Whether an instruction of that space has a global address there, by the windows. */
bool emu_is_global(enum emu_space space, uint64_t address);

/* The bytes behind an address of a lane, for `bytes` that may be read or written; null after a
 * fault has been told. emu_access() demands that the address is a multiple of `alignment`. */
unsigned char *emu_translate(struct emu_warp *warp, struct emu_group *group,
                             const struct emu_op *op, int lane, enum emu_space space,
                             uint64_t address, uint64_t bytes);
unsigned char *emu_access(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          int lane, enum emu_space space, uint64_t address, uint64_t bytes,
                          uint32_t alignment);

/* The same for all lanes of a mask, and whether the cluster may do now what it wants to. While it
 * runs apart, loads of what its log may hold are for later, and updates of global memory have to be
 * held; stores in lanes of `logged` are for the log. EMU_STEP_NEXT, _LATER, _HELD or _FAULT. */
enum emu_use { EMU_LOADS, EMU_STORES, EMU_UPDATES };
struct emu_places {
    unsigned char *at[EMU_LANES];
    uint32_t logged;
};
enum emu_step emu_find_places(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask, enum emu_space space,
                              const uint64_t *address, uint32_t bytes, uint32_t alignment,
                              enum emu_use use, struct emu_places *places);
/* After a null of those above, or of emu_frame_make(): a fault, or the step has to be held. */
enum emu_step emu_stopped(struct emu_cluster *cluster);
/* The same, with the sanitizer's code of it: null where the outcome and the words tell enough. */
enum emu_step emu_fault_as(struct emu_warp *warp, const struct emu_op *op, int lane,
                           enum emu_outcome outcome, const char *code, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* The same by a finding, whose words they are. */
void emu_found_fault(struct emu_warp *warp, const char *words);

/* The value of a special register in a lane. */
uint64_t emu_special(const struct emu_warp *warp, int lane, int special, int part);
/* It is another one each time that it is read. */
bool emu_special_is_clock(int special);

/* Bytes that one instruction moves count as instructions too, so that the limit of steps is one of
 * time for programs that print, allocate or copy much. */
void emu_charge(struct emu_cluster *cluster, uint64_t bytes);

/* The next random number of a stream. */
uint64_t emu_draw(uint64_t *random);
/* The turn in which what begins now is done: early, soon and late are as likely as each other. */
uint64_t emu_draw_due(struct emu_cluster *cluster);
/* What one resident cluster may take of something that there is so much of: at least `least`. */
uint64_t emu_share(const struct emu_run *run, uint64_t all, uint64_t least);

/* Null without memory. It is made empty, with a right to the memory that its threads' first frames
 * take. */
struct emu_cluster *emu_cluster_make(struct emu_run *run, uint64_t index);
/* Once, before its first turn. False after a fault, without memory of the host. */
bool emu_cluster_fill(struct emu_cluster *cluster);
void emu_cluster_free(struct emu_cluster *cluster);
/* All its threads have exited, and nothing is under way. */
bool emu_cluster_is_over(const struct emu_cluster *cluster);
/* One turn: what is due of its asynchronous work, then every warp once, in an order that is drawn.
 * It ends early after a fault. */
void emu_cluster_turn(struct emu_cluster *cluster);
/* Runs the warp for so many instructions, or until all of it waits. False after a fault. */
bool emu_warp_turn(struct emu_warp *warp, uint32_t quantum);
/* Does the operation that was held, or left for later. False after a fault. */
bool emu_warp_resume(struct emu_warp *warp);
/* All resident clusters have a turn. False where the run has ended. */
bool emu_round(struct emu_run *run);
/* Parts of it: clusters that are over make room, false without memory for a single one; a fault of
 * any cluster, or too many steps, end the run. */
bool emu_refill(struct emu_run *run);
bool emu_has_fault(struct emu_run *run);
bool emu_is_out_of_steps(struct emu_run *run);

/* What a warp is about to do. */
struct emu_issue {
    int group;
    const struct emu_frame *frame; /* of the group then */
    const struct emu_code *code;
    const struct emu_op *op;
    uint32_t mask; /* of lanes that do it */
};
/* Where time is modelled: groups that may go on are ready, one is picked, which is false where all
 * wait, and does one instruction: false after a fault, or where it waits after all. */
void emu_warp_wake(struct emu_warp *warp);
bool emu_warp_pick(struct emu_warp *warp, struct emu_issue *issue);
bool emu_warp_issue(struct emu_warp *warp, const struct emu_issue *issue);
/* Ends the run with who waits for what. */
void emu_report_deadlock(struct emu_run *run);
/* What a group waits for, where that is no mbarrier: "waits at barrier 0: 64 threads are there". */
void emu_wait_words(const struct emu_warp *warp, const struct emu_group *group, char *words,
                    size_t size);

/* ---- Stores that wait for the end of a round (store_log.c) ---- */

/* Where to put the data of a store at an address, whose bytes are at `to`; of a plain one `change`
 * is null. Null without memory. */
unsigned char *emu_log_add(struct emu_store_log *log, uint64_t address, unsigned char *to,
                           uint32_t bytes, const struct emu_change *change);
/* False where no entry touches any of the bytes. */
bool emu_log_may_hold(const struct emu_store_log *log, uint64_t address, uint64_t bytes);
/* So much is in it that further stores should wait for the end of the round. */
bool emu_log_is_full(const struct emu_cluster *cluster);
/* Does them all, and empties it. */
void emu_log_apply(struct emu_store_log *log);

/* ---- Instructions of alu.h (execute_alu.c) ---- */

enum emu_step emu_execute_alu(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask);
/* With .sync: the last source says which lanes take part. */
enum emu_step emu_execute_together(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask);

/* ---- Barriers (barrier.c, mbarrier.c) ---- */

/* Completes what waits for no thread any more: after threads have exited. */
void emu_barriers_settle(struct emu_cta *cta);
/* The live object at an offset, or null. */
struct emu_mbarrier *emu_mbarrier_at(struct emu_cta *cta, uint32_t offset);
/* A try_wait that looked in vain, and would again: it is left to wait for some turns. */
bool emu_mbarrier_suspends(const struct emu_warp *warp, struct emu_group *group);
/* It looked in vain, and would again. */
bool emu_mbarrier_is_vain(const struct emu_warp *warp, const struct emu_group *group);
/* All that wait so are to look once more; whether any does. */
bool emu_mbarrier_gives_up(struct emu_warp *warp);
/* Bytes that asynchronous work has moved; false after a fault. */
bool emu_mbarrier_complete(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *cta,
                           uint32_t offset, uint32_t bytes);
/* The CTA and the offset of the mbarrier that an address of a lane means; null after a fault. */
struct emu_cta *emu_mbarrier_place(struct emu_warp *warp, const struct emu_op *op, int lane,
                                   uint64_t address, uint32_t *offset);
/* One more arrival in the phase that runs: of cp.async.mbarrier.arrive without .noinc. */
bool emu_mbarrier_expect_arrival(struct emu_warp *warp, const struct emu_op *op, int lane,
                                 uint64_t address);
/* An arrival by asynchronous work. */
bool emu_mbarrier_arrive(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *cta,
                         uint32_t offset);

/* ---- Asynchronous work (async.c, tensor.c) ---- */

/* Flag of operations whose asynchronous work reduces, by their `variant`. */
enum { EMU_ASYNC_REDUCES = 2 };
/* Takes a copy of the work, and what it owns: it is done in some later turn. False after a fault.
 */
bool emu_async_add(struct emu_cluster *cluster, const struct emu_async *work);
/* So much is under way that who issues more waits for some of it first. */
bool emu_async_is_full(const struct emu_cluster *cluster);
/* Does what is due in this turn. False after a fault. */
bool emu_async_turn(struct emu_cluster *cluster);
/* All bulk copies of the cluster are done: it may go. */
bool emu_async_is_idle(const struct emu_cluster *cluster);
void emu_async_drop(struct emu_cluster *cluster);
/* Where time is modelled: the cycle in which the first of what is under way is due, or EMU_NEVER;
 * and what is due by a cycle is done. */
uint64_t emu_async_next(const struct emu_cluster *cluster);
uint64_t emu_copy_queue_next(const struct emu_warp *warp);
bool emu_copy_queue_until(struct emu_warp *warp, uint64_t cycle);
uint64_t emu_tensor_next(const struct emu_cta *cta);
bool emu_tensor_until(struct emu_cta *cta, uint64_t cycle);
/* Does one of the warp's cp.async copies, as drawn. False after a fault. */
bool emu_copy_queue_turn(struct emu_warp *warp);
/* The warp is about to have no more turns: what it has asked for is done. Where time is modelled
 * that comes by itself. */
enum emu_step emu_copy_queue_finish(struct emu_warp *warp);
void emu_copy_queue_drop(struct emu_warp *warp);
/* Does what the warp has issued to the tensor cores, if the others of its warpgroup have too. */
enum emu_step emu_tensor_finish(struct emu_warp *warp);
/* The same up to the last whose accumulators are in one of these sets of the frame's registers. */
enum emu_step emu_tensor_settle(struct emu_warp *warp, const struct emu_frame *frame,
                                uint64_t accumulators);
/* Lets what touches accumulators settle them first. False without memory. */
bool emu_guard_accumulators(struct emu_code *code);
void emu_tensor_drop(struct emu_cta *cta);
/* Does one multiplication of its warpgroup, as drawn. False after a fault. */
bool emu_tensor_turn(struct emu_warp *warp);

/* ---- tcgen05 (tmem.c, tcgen05_move.c, tcgen05_pipe.c) ---- */

void emu_tmem_drop(struct emu_cta *cta);
/* The last thread of the CTA has exited. False where it leaves tensor memory allocated. */
bool emu_tmem_exit(struct emu_warp *warp);
/* What an allocation that blocks waits for, in words. */
void emu_tmem_wait_words(const struct emu_warp *warp, const struct emu_op *op, char *words,
                         size_t size);
/* Loads and stores of the warp that are under way are done: they use registers of its frames. */
void emu_moves_settle(struct emu_warp *warp);
void emu_moves_drop(struct emu_warp *warp);
/* Loads under way that are to fill what the operation reads are done. */
void emu_moves_arrive(struct emu_warp *warp, const struct emu_group *group,
                      const struct emu_op *op);
/* Does what is due in this turn. False after a fault. */
bool emu_pipe_turn(struct emu_cluster *cluster);
bool emu_pipe_is_idle(const struct emu_cluster *cluster);
uint64_t emu_pipe_next(const struct emu_cluster *cluster);
void emu_pipe_drop(struct emu_cluster *cluster);

/* Lanes of the group for which the operation's guard holds. */
uint32_t emu_guarded(const struct emu_group *group, const struct emu_op *op);
/* The group takes a branch back, as a whole: whether it will for ever, and then that fault is told
 * (endless.c). */
bool emu_goes_round(struct emu_warp *warp, struct emu_group *group, const struct emu_op *branch);
/* Lanes of the group that go on elsewhere become a group of their own. */
void emu_send(struct emu_warp *warp, struct emu_group *group, uint32_t lanes,
              struct emu_frame *frame, int at);
/* A frame for lanes that enter a function; null without memory. */
struct emu_frame *emu_frame_make(struct emu_cluster *cluster, const struct emu_code *code,
                                 struct emu_frame *caller, uint32_t lanes);
void emu_frame_free(struct emu_frame *frame);
/* That it counts for among the device's memory. */
uint64_t emu_frame_bytes(const struct emu_code *code);
/* Lanes of the group run no more: out of its frames, and out of it. */
void emu_leave(struct emu_group *group, uint32_t lanes);
/* Functions that have no body but are known: vprintf and its kin. A fault for others. */
enum emu_step emu_builtin_call(struct emu_warp *warp, struct emu_group *group,
                               const struct emu_op *op, const struct emu_code *code, uint32_t mask);

/* Ends an activation: of the entry, the lanes exit. */
enum emu_step emu_return(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                         uint32_t mask);

/* ---- Decoding: each file's instructions ---- */

struct emu_decoder {
    struct emu_program *program;
    const struct emu_function *function;
    struct emu_code *code;
    struct emu_error *error;
    int target;
};

/* Whether each word behind the instruction's name may stand there; else an error that names it. */
bool emu_check_words(struct emu_decoder *decoder, const struct emu_instruction *instruction);

typedef enum emu_decoded (*emu_decode)(struct emu_decoder *decoder,
                                       const struct emu_instruction *instruction,
                                       struct emu_op *op);
enum emu_decoded emu_decode_control(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op);
enum emu_decoded emu_decode_memory(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op);
enum emu_decoded emu_decode_atomic(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op);
enum emu_decoded emu_decode_barrier(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op);
enum emu_decoded emu_decode_mbarrier(struct emu_decoder *d, const struct emu_instruction *i,
                                     struct emu_op *op);
enum emu_decoded emu_decode_async(struct emu_decoder *d, const struct emu_instruction *i,
                                  struct emu_op *op);
enum emu_decoded emu_decode_copy_queue(struct emu_decoder *d, const struct emu_instruction *i,
                                       struct emu_op *op);
enum emu_decoded emu_decode_matrix(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op);
enum emu_decoded emu_decode_map(struct emu_decoder *d, const struct emu_instruction *i,
                                struct emu_op *op);
enum emu_decoded emu_decode_remote(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op);
enum emu_decoded emu_decode_registers(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op);
/* Registers of a thread when a CTA of that many threads begins; 0 where the text does not say. */
uint32_t emu_first_registers(const struct emu_function *function, uint32_t threads);
enum emu_decoded emu_decode_tensor(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op);
enum emu_decoded emu_decode_launch_control(struct emu_decoder *d, const struct emu_instruction *i,
                                           struct emu_op *op);
enum emu_decoded emu_decode_tcgen05(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op);

/* Helpers of all of them. */
/* Shared memory by a shared address or a generic one: whose it is, and where; null if no CTA's. */
struct emu_cta *emu_cta_of_address(struct emu_cta *own, uint64_t address, uint32_t *offset);

/* Values in memory, and as they stand in a register of `width` bytes: sign and all. */
uint64_t emu_load_bits(const unsigned char *bytes, enum emu_type type, int width);
void emu_store_bits(unsigned char *bytes, uint64_t value, int count);
uint64_t emu_extend(uint64_t value, enum emu_type type, int width);
bool emu_is_signed(enum emu_type type);

bool emu_has_word(const struct emu_instruction *instruction, const char *word);
/* Whether the instruction's name begins with that word. */
bool emu_op_is(const struct emu_op *op, const char *word);
/* A list of registers into `many`: of results, or of sources. */
bool emu_bind_many(struct emu_decoder *d, const struct emu_operand *list, struct emu_op *op);
/* The last of its words that is a type. */
enum emu_type emu_last_type(const struct emu_instruction *instruction);
/* Refuses with the instruction's words. */
enum emu_decoded emu_refuse_form(struct emu_decoder *d, const struct emu_instruction *i,
                                 const char *why);
uint64_t emu_align_up(uint64_t offset, uint64_t alignment);
/* Puts a variable behind `end`, which moves on; false where that would be behind the limit. */
bool emu_place(const struct emu_variable *variable, uint32_t limit, uint32_t *end, uint32_t *offset,
               struct emu_error *error);
/* Places all shared variables: see shared.c. */
bool emu_place_shared(struct emu_program *program, struct emu_error *error);
/* A scalar operand as a source; false with the error where it is none. */
bool emu_bind_source(struct emu_decoder *d, const struct emu_operand *operand, enum emu_type type,
                     struct emu_source *source);
/* Bytes of the register that an operand is; 8 for others. */
int emu_register_bytes(const struct emu_decoder *d, const struct emu_operand *operand);
/* A register, or one of a vector, as a result; _ is -1. */
bool emu_bind_result(struct emu_decoder *d, const struct emu_operand *operand, int *slot);
/* The base of [base+offset]. */
bool emu_bind_address(struct emu_decoder *d, const struct emu_operand *operand,
                      struct emu_source *source);
/* Appends results and sources of an operand, the items of a list one by one. */
bool emu_add_results(struct emu_decoder *d, struct emu_op *op, const struct emu_operand *operand);
bool emu_add_sources(struct emu_decoder *d, struct emu_op *op, const struct emu_operand *operand,
                     enum emu_type type);
void emu_set_default_words(struct emu_op *op, const struct emu_instruction *instruction);

#endif
