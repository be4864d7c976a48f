/* check_tcgen05.h: what the sanitizer knows of tcgen05: for its files check_tcgen05*.c.
 *
 * Instructions of tcgen05 are ordered by more than threads are. What a warp has loaded or stored
 * counts for others when it has waited for it, and a fence::before_thread_sync has come; and what
 * the warp knows by barriers counts for its own instructions of tcgen05 behind a
 * fence::after_thread_sync. Source: PTX ISA "tcgen05 Memory Consistency Model". */
#ifndef EMU_CHECK_TCGEN05_H
#define EMU_CHECK_TCGEN05_H

#include "emulator/check_state.h"
#include "emulator/tcgen05_pipe.h"

/* What a warp issues to the tensor cores and they do in the order of issue: an agent. */
struct emu_line {
    struct emu_agent agent; /* of what is done: its time is the number of the item in the line */
    struct emu_agent order; /* of what is issued, for who comes behind it in the pipeline      */
    struct emu_piped first; /* stands for all of the line */
    uint32_t issued;
};

struct emu_lines {
    int count, room;
    struct emu_line list[];
};

/* The loads or the stores of a warp. */
struct emu_check_moves {
    struct emu_agent agent; /* of those that count for others */
    struct emu_agent waits; /* of those that the warp has waited for, with a fence or without */
    uint32_t issued, waited;
    uint32_t last; /* the warp's own time when it issued the last: who knows of more came behind */
};

struct emu_check_tcgen05 {
    struct emu_check_moves loads, stores;
    struct emu_clock known; /* by the warp's instructions of tcgen05 */
};

/* What an item carries with it. */
struct emu_check_piped {
    struct emu_snapshot *known; /* of shared memory, at issue */
    struct emu_agent agent;
    uint32_t time;
    struct emu_clock done; /* of a commit: what it tells of */
};

/* That of the warp, or null without memory, which ends the run. */
struct emu_check_tcgen05 *emu_check_tcgen05_of(struct emu_warp *warp);
/* Of conflicts in tensor memory; false where it is none after all. */
bool emu_check_tmem_describe(struct emu_found *found, const struct emu_access *now,
                             const struct emu_access *before);

#endif
