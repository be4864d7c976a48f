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

/* Of an agent: up to which of its times all is seen; and up to which proxy fences have made what it
 * did by the generic proxy in global memory, and in shared memory, good for the async proxy: of
 * shared memory that may be more than is seen. And up to which that may become so of shared memory
 * by a fence that acquires, because one that releases has been. */
struct emu_time {
    uint32_t seen, global, shared, offered;
};

/* All of it. */
static inline struct emu_time emu_time_of(uint32_t time)
{
    return (struct emu_time){.seen = time, .global = time, .shared = time};
}

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
/* A proxy fence: all that is seen is good for the async proxy, in the memories that are named. */
void emu_clock_fence(struct emu_clock *clock, bool of_global, bool of_shared);
/* The halves of one that acts one way, and for shared memory alone: what `from` has seen `to` may
 * offer; what `from` has seen, or offers, becomes good. False without memory, as above. */
bool emu_clock_offer(struct emu_clock *to, const struct emu_clock *from);
bool emu_clock_accept(struct emu_clock *to, const struct emu_clock *from);
/* Nothing of the agent is seen any more. */
void emu_clock_forget(struct emu_clock *clock, struct emu_agent agent);
/* Empties it. */
void emu_clock_free(struct emu_clock *clock);

#endif
