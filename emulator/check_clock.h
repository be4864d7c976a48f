/* check_clock.h: vector clocks: what an agent knows to have happened.
 *
 * An agent is whoever accesses memory: a warp, or work that runs beside warps and completes by its
 * own means (the copies that complete on one mbarrier, the bulk copies of a warp, the products of a
 * warpgroup). Its accesses carry the time of its own clock. Another may touch the same bytes when
 * it has seen that time: by a barrier, or a release and an acquire. Lamport 1978; epochs as in
 * FastTrack, Flanagan and Freund 2009. */
#ifndef EMU_CHECK_CLOCK_H
#define EMU_CHECK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Agents are counted in their cluster; clusters in the order in which they begin. */
struct emu_agent {
    uint32_t cluster, index;
};

/* Of an agent: up to which of its times all is seen; and up to which a proxy fence has made what it
 * wrote by the generic proxy good for the async proxy. */
struct emu_time {
    uint32_t seen, fenced;
};

struct emu_clock_part {
    uint32_t cluster, count;
    struct emu_time *times;
};

struct emu_clock {
    struct emu_clock_part *parts; /* the own cluster's first, if it has any */
    uint32_t count;
};

struct emu_time emu_clock_get(const struct emu_clock *clock, struct emu_agent agent);
/* Never backwards. These two are false without memory, and the clock is as it was or has less of
 * the other. */
bool emu_clock_see(struct emu_clock *clock, struct emu_agent agent, struct emu_time time);
bool emu_clock_join(struct emu_clock *clock, const struct emu_clock *other);
/* A proxy fence: all that is seen is good for the async proxy. */
void emu_clock_fence(struct emu_clock *clock);
/* Nothing of the agent is seen any more. */
void emu_clock_forget(struct emu_clock *clock, struct emu_agent agent);
/* Empties it. */
void emu_clock_free(struct emu_clock *clock);

#endif
