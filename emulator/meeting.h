/* meeting.h: an instruction with .sync at which the lanes of a warp meet by different ways. All
 * lanes of the membermask have to execute it, with the same qualifiers and the same membermask;
 * nothing says that it be at one place of the text, or in one call. Source: PTX ISA "shfl.sync",
 * "bar.warp.sync" and the like. */
#ifndef EMU_MEETING_H
#define EMU_MEETING_H

#include "emulator/state.h"

struct emu_meeting {
    int count;
    struct emu_group *groups[EMU_LANES]; /* the caller's first                      */
    const struct emu_op *ops[EMU_LANES]; /* at which they stand                     */
    uint32_t masks[EMU_LANES];           /* of each the lanes that take part ...    */
    uint32_t lanes;                      /* ... and of all                          */
};

/* Finds who has come for the membermask that all lanes of `mask` give as the last source, and has
 * tried in vain, so that the sanitizer has looked at it; false where somebody is still to come.
 * Groups are not taken apart: also false where lanes of one give several membermasks, and lanes
 * that the guard of one leaves out wait with it. */
bool emu_meet(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
              uint32_t mask, struct emu_meeting *meeting);
/* Whether for each lane of `mask` all those of the membermask that it gives are among them. */
bool emu_have_all_come(const struct emu_warp *warp, uint32_t mask, const uint64_t *membermasks);
/* The others are done with it too. */
void emu_part(struct emu_meeting *meeting);

#endif
