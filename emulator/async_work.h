/* async_work.h: what the parts of bulk copies share: async.c keeps the list of those under way,
 * async_move.c moves their bytes, async_issue.c makes them of instructions, and async_decode.c
 * reads those. */
#ifndef EMU_ASYNC_WORK_H
#define EMU_ASYNC_WORK_H

#include "emulator/state.h"

enum { EMU_BULK_ALIGNMENT = 16 };

/* Of an operation. */
enum {
    EMU_BULK_MULTICAST = 1,
    EMU_BULK_REDUCES = EMU_ASYNC_REDUCES,
    EMU_BULK_IM2COL = 4,
    EMU_BULK_FROM_SHARED = 8,
    EMU_BULK_ON_BARRIER = 16,
    EMU_BULK_OF_PAIR = 32 /* .cta_group::2 */
};

/* Sources of an operation, by place. */
enum {
    EMU_BULK_TO,
    EMU_BULK_FROM,
    EMU_BULK_BARRIER,
    EMU_BULK_BYTES,
    EMU_BULK_MASK,
    EMU_BULK_COORDINATES,
    EMU_BULK_OFFSETS = EMU_BULK_COORDINATES + 5,
    EMU_BULK_PLACES = EMU_BULK_OFFSETS + 3
};

/* Ends the launch with this reason; false. */
bool emu_async_fault(const struct emu_async *work, enum emu_outcome outcome, const char *why);

/* A load of a tensor, all at once; false after a fault. */
bool emu_async_load(struct emu_async *work);
/* Any other copy: its bytes into `data`, and from there to where they belong. */
bool emu_async_read(struct emu_async *work);
bool emu_async_write(struct emu_async *work);

/* cp.async.bulk and its kin, cp.async.bulk.tensor; the groups of bulk copies. */
enum emu_step emu_bulk_copy(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask);
enum emu_step emu_bulk_tensor_copy(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask);
enum emu_step emu_bulk_commit(struct emu_warp *warp, struct emu_group *group,
                              const struct emu_op *op, uint32_t mask);
/* op->variant: that sources have been read is enough. */
enum emu_step emu_bulk_wait(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask);

#endif
