/* check_state.h: the sanitizer from the inside. */
#ifndef EMU_CHECK_STATE_H
#define EMU_CHECK_STATE_H

#include "emulator/check.h"
#include "emulator/state.h"

enum { EMU_PAGE_BYTES = 4096, EMU_COPY_GROUPS = 64, EMU_CHECK_MAPS = 8 };

/* A page of global memory: one history for all of it, or one a byte. */
struct emu_page {
    uint64_t number;
    uint32_t all;
    uint32_t *bytes; /* owned; null: `all` */
    bool is_used;
};

/* For whom an operation orders: the CTA's threads, the cluster's, all. The wider ones are in the
 * count of scopes for the narrower too. */
enum emu_scope { EMU_OF_CTA, EMU_OF_CLUSTER, EMU_OF_ALL, EMU_SCOPES };

/* What was released at an address (check_place.c). */
struct emu_place;

struct emu_reach;

struct emu_found {
    const char *code;
    struct emu_warp *warp; /* who did it */
    const struct emu_op *op;
    int lane;                       /* -1: none */
    const struct emu_access *other; /* with whom it collides, or null */
    int other_lane;                 /* counted from 1; 0: none */
    uint32_t kind;
    struct emu_cta *cta; /* whose shared memory; null: global */
    uint64_t address;
    bool has_address;
    const struct emu_frame *frame; /* whose register the slot is, where it is about one */
    int slot;
    bool is_of_cta;      /* and of no warp of it */
    bool is_one_of_many; /* that all have that cause: whichever instruction it is, told once */
    const char *what, *needed;
    bool is_warning;
};

/* A finding that is told when the instruction is done, which may make a warning of it. */
struct emu_put_off {
    bool is_known;
    struct emu_found found;
    struct emu_access other;
    unsigned char bytes[8]; /* that were there before */
};

/* With what tells that another is the same. */
struct emu_known_finding {
    struct emu_finding finding;
    const struct emu_op *op, *other;
};

struct emu_check {
    struct emu_check_options options;
    struct emu_histories *histories;
    struct emu_page *pages; /* by hash */
    size_t page_count, page_room;
    struct emu_place *places; /* by hash */
    size_t place_count, place_room;
    uint32_t clusters; /* that have begun in this run */
    struct {
        bool is_known;
        struct emu_cta *cta;
        uint64_t address;
    } fault; /* where the one is that comes next */
    struct emu_put_off later;
    struct emu_known_finding *findings;
    size_t finding_count;
};

struct emu_snapshot {
    uint32_t holders;
    struct emu_clock clock;
};

struct emu_check_cluster {
    uint32_t number, agents;
    struct emu_lines *lines;            /* of tcgen05; null before the first; owned */
    struct emu_clock arrived, complete; /* of its barrier */
};

/* The last use of a CTA's shared memory by an agent that is no warp of it. */
struct emu_remote_use {
    struct emu_access access;
    uint64_t address;
};

/* That a warp has signalled an mbarrier by that operation, and in which phase it last did: an
 * arrival, bytes announced or brought, a commit. */
struct emu_signal {
    const struct emu_warp *warp;
    const struct emu_op *op;
    uint64_t phase;
};

/* Another CTA's arrival is of the cluster's scope, or orders nothing. */
enum { EMU_MBARRIER_SCOPES = EMU_OF_CLUSTER + 1 };

struct emu_check_mbarrier {
    uint32_t offset;
    struct emu_agent agent; /* of the copies that complete on it */
    uint32_t completions;
    struct emu_agent initialiser;
    uint32_t init_time;
    struct emu_access init;
    struct emu_access last_arrival; /* for reports */
    /* Of the phase that runs; of all that are over. Of the own CTA's arrivals; and of those of
     * others too, which an operation with .cta written does not order. */
    struct emu_clock arrived[EMU_MBARRIER_SCOPES], complete[EMU_MBARRIER_SCOPES];
    struct emu_clock missed;    /* that arrivals from elsewhere with .cta do not tell */
    struct emu_signal *signals; /* since it was initialised; owned */
    size_t signal_count, signal_room;
};

struct emu_check_cta {
    uint32_t *shadow;       /* a history a byte of shared memory */
    uint32_t *tmem;         /* the same a cell of tensor memory; null before the first allocation */
    struct emu_agent start; /* who knows of it knows that the CTA is there */
    struct emu_clock arrived[EMU_NAMED_BARRIERS];
    struct emu_clock complete[EMU_NAMED_BARRIERS][2]; /* by phases: the last, the one before */
    struct emu_agent tensor[EMU_WARPGROUPS_MAX];
    struct emu_check_mbarrier **mbarriers; /* all that ever were */
    size_t mbarrier_count, mbarrier_room;
    struct emu_remote_use *remote;
    size_t remote_count, remote_room, remote_last;
    struct emu_clock exited; /* what its warps knew in the end */
};

/* Of a register, while wgmma may touch it. */
struct emu_register_use {
    uint32_t written_by, read_by; /* items of the warpgroup, counted from 1 */
    uint32_t touched;             /* in which interval between fences an instruction did     */
    const struct emu_op *item, *toucher;
};

/* A tensor map, and what its proxy was told of last. */
struct emu_check_map {
    uint64_t address;
    struct emu_clock told;
};

struct emu_check_warp {
    struct emu_agent self, inits, bulk_reads, bulk_writes, copies;
    struct emu_clock clock;
    /* By the scope that it holds for: what fences let relaxed operations publish, and what relaxed
     * ones have read, which a fence makes known. */
    struct emu_clock released[EMU_SCOPES], acquired[EMU_SCOPES];
    bool has_narrow_fence;   /* released differs */
    struct emu_clock missed; /* what it would know, were the scopes wider: for reports */
    uint32_t init_time;
    const struct emu_op *waited; /* the last at an mbarrier, which one, and its completions */
    const struct emu_check_mbarrier *waited_at;
    uint32_t waited_completions;
    struct emu_snapshot *snapshot; /* of the clock as it is, or null */
    bool has_issued;               /* with that snapshot: what comes is later */
    uint32_t copy_time, copy_groups, copy_ends[EMU_COPY_GROUPS];
    struct emu_register_use *registers; /* by slot; null before the first wgmma */
    const struct emu_frame *frame;      /* whose they are */
    struct emu_check_map maps[EMU_CHECK_MAPS];
    uint32_t map_fences;
    struct emu_lane_memory *lanes;     /* null before shared memory is first touched */
    struct emu_check_tcgen05 *tcgen05; /* null before the first; owned */
    uint32_t register_fences, items, items_fenced, items_seen; /* items_fenced: at the last fence */
};

/* ---- Helpers ---- */

/* Ends the run for want of memory. */
void emu_check_no_memory(struct emu_warp *warp);
/* The warp's clock has changed, or is about to be told to others: what it does from now on is
 * later. */
void emu_check_tick(struct emu_warp *warp);
/* A clock's join that ends the run without memory. */
void emu_check_join(struct emu_warp *warp, struct emu_clock *to, const struct emu_clock *from);
struct emu_agent emu_check_agent(struct emu_cluster *cluster);
/* The scope that is written in the text of an instruction, or that. */
enum emu_scope emu_check_scope(const struct emu_instruction *text, enum emu_scope otherwise);
/* A write at an address that publishes, for each scope up to its own, one clock; and a read there
 * that joins to those what it may know. */
void emu_check_place_release(struct emu_warp *warp, uint64_t address, enum emu_scope scope,
                             const struct emu_clock *const clocks[EMU_SCOPES]);
void emu_check_place_acquire(struct emu_warp *warp, uint64_t address, enum emu_scope scope,
                             struct emu_clock *const clocks[EMU_SCOPES]);
void emu_check_forget_places(struct emu_check *check);
/* Histories of part of a page of global memory, up to its end; null without memory. */
uint32_t *emu_check_page(struct emu_check *check, uint64_t address, uint64_t *bytes);
/* The access, by someone who knows the clock, and what is wrong with it: whether nobody had written
 * some of it before. */
bool emu_check_access(struct emu_warp *warp, int lane, const struct emu_access *access,
                      const struct emu_clock *clock, struct emu_cta *cta, uint64_t address,
                      uint64_t bytes);
/* Whether anybody has written a byte of shared memory, or a cell of tensor memory. */
bool emu_check_is_written(const struct emu_cta *cta, uint64_t address);
/* Tells of what is wrong with one, if anything is. */
void emu_check_conflict(struct emu_warp *warp, int lane, const struct emu_access *now,
                        const struct emu_conflict *conflict, struct emu_cta *cta, uint64_t address);
/* An access to the memory of another CTA, which must have begun, and may not end. */
void emu_check_peer(struct emu_warp *warp, int lane, struct emu_cta *cta, uint64_t address,
                    const struct emu_access *access);
/* An access to the shared memory of a CTA by a warp of another, or by work beside warps. */
void emu_check_remote(struct emu_warp *warp, struct emu_cta *cta, uint64_t address,
                      const struct emu_access *access);
struct emu_access emu_access_of(const struct emu_warp *warp, const struct emu_op *op,
                                struct emu_agent agent, uint32_t time, uint32_t kind);
/* What was the last to write a byte of shared memory in this launch; false where nothing did. */
bool emu_check_writer(const struct emu_cta *cta, uint32_t offset, struct emu_access *access);

/* ---- Who signals an mbarrier (check_signal.c) ---- */

/* A new object: nobody has signalled it. */
void emu_check_signals_forget(struct emu_check_mbarrier *check);
/* Whether the phase that runs, for which somebody waits, is to be signalled by a warp, which may
 * still come to those operations: by what it has done before; or maybe, by what others have. */
enum emu_due { EMU_NOT_DUE, EMU_MAYBE_DUE, EMU_DUE };
enum emu_due emu_check_due(const struct emu_mbarrier *barrier, const struct emu_op *wait,
                           const struct emu_warp *warp, const struct emu_reach *reach);
/* What somebody who may still come to those operations brings to the barrier that is waited for, by
 * the names of the text: that bytes have come, that products are done, or neither. */
enum emu_brings { EMU_BRINGS_NOTHING, EMU_BRINGS_PRODUCTS, EMU_BRINGS_BYTES };
enum emu_brings emu_check_brings(const struct emu_op *wait, const struct emu_reach *reach);
/* Whether a warp that counts has signalled that phase; of the first one, whether it has signalled
 * the barrier at that place in any CTA. */
bool emu_check_is_signalled(const struct emu_mbarrier *barrier,
                            bool (*counts)(const void *user, const struct emu_warp *warp),
                            const void *user);

/* ---- Lanes of a warp (check_lane.c) ---- */

/* Another instruction, and its plain accesses to shared memory, lane by lane. */
void emu_check_lane_begin(struct emu_warp *warp);
void emu_check_lane_access(struct emu_warp *warp, const struct emu_op *op, int lane,
                           struct emu_cta *cta, uint64_t address, uint32_t bytes);

/* ---- Findings ---- */

void emu_check_found(const struct emu_found *found);
/* The same of what ends the run by itself. */
void emu_check_note(struct emu_check *check, const struct emu_found *found);
/* Under which heading or label of the text an operation stands; "" where there is none. */
const char *emu_check_role(const struct emu_program *program, const struct emu_op *op);
/* What would have been right, where the code alone tells; or null. */
const char *emu_check_needed(const char *code);

#endif
