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

/* What was released at an address. */
struct emu_place_clock {
    uint64_t address; /* global, or of shared memory with cluster and rank above */
    struct emu_clock clock;
    bool is_used;
};

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
    bool is_of_cta; /* and of no warp of it */
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
    struct emu_place_clock *places; /* by hash */
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
    struct emu_clock arrived, complete; /* of its barrier */
};

/* The last use of a CTA's shared memory by an agent that is no warp of it. */
struct emu_remote_use {
    struct emu_access access;
    uint64_t address;
};

struct emu_check_mbarrier {
    uint32_t offset;
    struct emu_agent agent; /* of the copies that complete on it */
    uint32_t completions;
    struct emu_agent initialiser;
    uint32_t init_time;
    struct emu_access init;
    struct emu_access last_arrival;     /* for reports                                    */
    struct emu_clock arrived, complete; /* of the phase that runs; of all that are over   */
};

struct emu_check_cta {
    uint32_t *shadow;       /* a history a byte of shared memory */
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
    struct emu_clock released; /* by fences: what relaxed operations publish */
    struct emu_clock acquired; /* by relaxed ones: what a fence makes known  */
    uint32_t init_time;
    struct emu_snapshot *snapshot; /* of the clock as it is, or null */
    bool has_issued;               /* with that snapshot: what comes is later */
    uint32_t copy_time, copy_groups, copy_ends[EMU_COPY_GROUPS];
    struct emu_register_use *registers; /* by slot; null before the first wgmma */
    const struct emu_frame *frame;      /* whose they are */
    struct emu_check_map maps[EMU_CHECK_MAPS];
    uint32_t map_fences;
    struct emu_lane_memory *lanes; /* null before shared memory is first touched */
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
/* The clock of what was released at an address, or null: made if it is to be. */
struct emu_clock *emu_check_place(struct emu_check *check, uint64_t address, bool make);
/* Histories of part of a page of global memory, up to its end; null without memory. */
uint32_t *emu_check_page(struct emu_check *check, uint64_t address, uint64_t *bytes);
/* The access, by someone who knows the clock, and what is wrong with it. */
void emu_check_access(struct emu_warp *warp, int lane, const struct emu_access *access,
                      const struct emu_clock *clock, struct emu_cta *cta, uint64_t address,
                      uint64_t bytes);
/* Tells of what is wrong with one, if anything is. */
void emu_check_conflict(struct emu_warp *warp, int lane, const struct emu_access *now,
                        const struct emu_conflict *conflict, struct emu_cta *cta, uint64_t address);
/* An access to the shared memory of a CTA by a warp of another, or by work beside warps. */
void emu_check_remote(struct emu_warp *warp, struct emu_cta *cta, uint64_t address,
                      const struct emu_access *access);
struct emu_access emu_access_of(const struct emu_warp *warp, const struct emu_op *op,
                                struct emu_agent agent, uint32_t time, uint32_t kind);
/* What was the last to write a byte of shared memory in this launch; false where nothing did. */
bool emu_check_writer(const struct emu_cta *cta, uint32_t offset, struct emu_access *access);

/* ---- Lanes of a warp (check_lane.c) ---- */

/* Another instruction, and its plain accesses to shared memory, lane by lane. */
void emu_check_lane_begin(struct emu_warp *warp);
void emu_check_lane_access(struct emu_warp *warp, const struct emu_op *op, int lane,
                           struct emu_cta *cta, uint64_t address, uint32_t bytes);

/* ---- Findings ---- */

void emu_check_found(const struct emu_found *found);
/* The same of what ends the run by itself. */
void emu_check_note(struct emu_check *check, const struct emu_found *found);

#endif
