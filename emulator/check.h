/* check.h: what the machine tells the sanitizer: who accesses what, and what orders it.
 *
 * All but the first group are called only where the run's device has a sanitizer. Each may end the
 * run, by a finding or for want of memory: run->outcome tells. */
#ifndef EMU_CHECK_H
#define EMU_CHECK_H

#include "emulator/check_shadow.h"
#include "emulator/machine.h"

struct emu_async;
struct emu_check;
struct emu_cluster;
struct emu_cta;
struct emu_group;
struct emu_mbarrier;
struct emu_op;
struct emu_queued;
struct emu_run;
struct emu_snapshot;
struct emu_warp;

/* ---- Lives ---- */

struct emu_check *emu_check_create(const struct emu_check_options *options);
void emu_check_destroy(struct emu_check *check);
/* Global memory: allocated anew; written by the host. False without memory. */
bool emu_check_unwritten(struct emu_check *check, uint64_t address, uint64_t bytes);
bool emu_check_written(struct emu_check *check, uint64_t address, uint64_t bytes);

bool emu_check_begin_cluster(struct emu_cluster *cluster);
void emu_check_end_cluster(struct emu_cluster *cluster);
/* Before the first cluster. False without memory. */
bool emu_check_begin_run(struct emu_run *run);
/* All that a launch wrote is written before the next. */
void emu_check_end_run(struct emu_run *run);
/* Now and then: forgets what no byte remembers any more. */
void emu_check_sweep(struct emu_run *run);

/* ---- Accesses (check_access.c) ---- */

/* By the lanes of the mask, `bytes` each, at addresses where the machine has found memory. */
void emu_check_lanes(struct emu_warp *warp, const struct emu_op *op, uint32_t mask,
                     enum emu_space space, const uint64_t *addresses, uint32_t bytes);
/* What the words of an instruction say of its access: enum of check_shadow.h. */
uint32_t emu_check_kind(const struct emu_instruction *text);

/* What a warp knows when it issues work that is done later; null without memory, and then the run
 * has ended. */
struct emu_snapshot *emu_check_issue(struct emu_warp *warp);
struct emu_snapshot *emu_check_keep(struct emu_snapshot *snapshot);
void emu_check_drop(struct emu_snapshot *snapshot);

/* A piece of a bulk copy, in the shared memory of a CTA, or in global memory where that is null. */
void emu_check_copy(const struct emu_async *work, struct emu_cta *cta, uint64_t address,
                    uint64_t bytes, uint32_t kind);
/* A cp.async of a lane, done. */
void emu_check_queued(struct emu_warp *warp, const struct emu_queued *item);

/* ---- Order (check_order.c) ---- */

void emu_check_fence(struct emu_warp *warp, const struct emu_op *op, uint32_t mask);
/* Of accesses that are strong: what they release and acquire. */
void emu_check_strong(struct emu_warp *warp, const struct emu_op *op, uint32_t mask,
                      const uint64_t *addresses);

void emu_check_barrier_arrive(struct emu_warp *warp, uint32_t id);
void emu_check_barrier_complete(struct emu_cta *cta, uint32_t id);
void emu_check_barrier_leave(struct emu_warp *warp, uint32_t id, uint64_t phase, uint32_t mask);
void emu_check_cluster_arrive(struct emu_warp *warp, const struct emu_op *op);
void emu_check_cluster_complete(struct emu_cluster *cluster);
/* A wait is an acquire, said or not. */
void emu_check_cluster_leave(struct emu_warp *warp, uint32_t mask);
/* The last thread of a warp has exited; of its CTA: what others still do there. */
void emu_check_exit(struct emu_warp *warp);

/* Groups of bulk copies whose sources are read, or that are done altogether. */
void emu_check_bulk_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t groups);
/* Groups of cp.async: one ends; all but so many of the last are done; all copies are. */
void emu_check_copies_commit(struct emu_warp *warp);
/* The time of a copy, or of an arrival behind copies, that is issued now. */
uint32_t emu_check_copies_time(struct emu_warp *warp, bool is_arrival);
void emu_check_copies_wait(struct emu_warp *warp, uint64_t allowed, bool all);

/* Of lanes of a warp: those of the mask know of each other's accesses, or of those of all lanes. */
void emu_check_lane_order(struct emu_warp *warp, uint32_t mask, bool of_all);

/* ---- Tensor maps that kernels change (check_map.c) ---- */

/* fence.proxy.tensormap with .acquire: of the map at that address. */
void emu_check_map_fence(struct emu_warp *warp, uint64_t address);
/* A lane has issued a copy by it. */
void emu_check_map_use(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address);

/* ---- Registers along the ways of a text (check_flow.c) ---- */

/* The group comes to an operation that reads a register which nothing has written. */
void emu_check_marked(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                      uint32_t mask);

/* ---- Mbarriers (check_mbarrier.c) ---- */

void emu_check_mbarrier_init(struct emu_warp *warp, const struct emu_op *op, int lane,
                             struct emu_mbarrier *barrier);
/* Any use of it by an instruction of the warp: its initialisation has to be visible. */
void emu_check_mbarrier_use(struct emu_warp *warp, const struct emu_op *op,
                            const struct emu_mbarrier *barrier);
/* ... and by work that the warp issues: for the async proxy too. */
void emu_check_mbarrier_issue(const struct emu_async *work);
/* The bytes of a copy are about to be counted. */
void emu_check_mbarrier_bytes(const struct emu_async *work);
void emu_check_mbarrier_arrive(struct emu_warp *warp, const struct emu_op *op,
                               struct emu_mbarrier *barrier);
/* A tcgen05.commit is issued: to be done by that access, or by none where nothing is behind it. */
void emu_check_mbarrier_commit(struct emu_warp *warp, const struct emu_op *op,
                               const struct emu_mbarrier *barrier, const struct emu_access *access);
/* A cp.async.mbarrier.arrive: by the copies of the warp before it. */
void emu_check_mbarrier_copies(struct emu_warp *warp, const struct emu_queued *item);
void emu_check_mbarrier_complete(struct emu_warp *warp, struct emu_mbarrier *barrier);
/* The parity that a wait is given. */
void emu_check_mbarrier_parity(struct emu_warp *warp, const struct emu_op *op, int lane,
                               const struct emu_mbarrier *barrier, uint64_t parity);
/* A wait whose result nobody reads. */
void emu_check_mbarrier_unread(struct emu_warp *warp, const struct emu_op *op,
                               const struct emu_mbarrier *barrier);
/* A wait has seen the phase before the one that runs end. */
void emu_check_mbarrier_wait(struct emu_warp *warp, const struct emu_op *op, int lane,
                             struct emu_mbarrier *barrier);

/* ... of who signals what (check_signal.c): of all that arrives there, bytes or not, and before the
 * phase ends by it. */
void emu_check_mbarrier_signal(struct emu_warp *warp, const struct emu_op *op,
                               const struct emu_mbarrier *barrier);

/* ---- The tensor cores (check_tensor.c) ---- */

/* Registers that an instruction touches, while products are under way or before their fence. */
void emu_check_registers(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op);
void emu_check_wgmma_fence(struct emu_warp *warp);
/* The warp's item of that number, counted from 1. */
void emu_check_wgmma_issue(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           uint32_t item);
/* A product reads shared memory: with what its four warps knew. */
struct emu_snapshot *emu_check_together(struct emu_warp *warp, struct emu_snapshot *const known[4]);
void emu_check_wgmma_reads(struct emu_warp *warp, const struct emu_op *op, uint32_t item,
                           const struct emu_snapshot *known, uint64_t a_descriptor,
                           uint64_t b_descriptor);
/* The items up to that one are done. */
void emu_check_wgmma_wait(struct emu_warp *warp, uint32_t item);

/* ---- Tensor memory (check_tcgen05.c) ---- */

/* Places in it are addresses from here on, in the shadow of a CTA. */
#define EMU_TMEM_AT ((uint64_t)1 << 32)

struct emu_check_piped;
struct emu_check_warp;
struct emu_piped;

void emu_check_tmem_allocate(struct emu_warp *warp, struct emu_cta *cta, uint32_t column,
                             uint32_t columns);
void emu_check_tmem_deallocate(struct emu_warp *warp, const struct emu_op *op, uint32_t column,
                               uint32_t columns);
/* tcgen05.ld and .st, and the waits for them. */
void emu_check_tmem_move(struct emu_warp *warp, const struct emu_op *op, uint32_t address);
void emu_check_tmem_wait(struct emu_warp *warp, bool is_load);
/* Registers that an instruction touches, and that a load is to fill. */
void emu_check_loading(struct emu_warp *warp, const struct emu_group *group,
                       const struct emu_op *op);
/* An item is issued; it reads shared memory; a commit is issued, and arrives. */
void emu_check_tcgen05_issue(struct emu_piped *item);
void emu_check_tcgen05_reads(const struct emu_piped *item);
void emu_check_tcgen05_commit(struct emu_piped *item);
void emu_check_tcgen05_arrive(const struct emu_piped *item);
/* fence::before_thread_sync, or ::after_thread_sync. */
void emu_check_tcgen05_fence(struct emu_warp *warp, bool is_before);
void emu_check_piped_drop(struct emu_check_piped *check);
void emu_check_tcgen05_drop(struct emu_check_warp *check);

/* An instruction of a warp is done: what was to be told then. */
void emu_check_done(struct emu_warp *warp);

/* ---- Findings (check_fault.c) ---- */

/* What ends the run is a finding too. Before it: the place that it is about, an offset in a CTA's
 * shared memory, or a global address where that is null. */
void emu_check_fault_place(struct emu_warp *warp, struct emu_cta *cta, uint64_t address);
void emu_check_fault(struct emu_warp *warp, const struct emu_op *op, int lane,
                     enum emu_outcome outcome, const char *code, const char *what);
void emu_check_endless(struct emu_run *run);
/* Of all the waits of a run that has come to a stop the one that it comes from (check_deadlock.c).
 */
void emu_check_deadlock(struct emu_run *run);

#endif
