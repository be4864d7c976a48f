/* turns.h: contenders that take turns on one stream, A B C C B A ..., a block of launches each. The
 * stream never runs dry, a block is one graph over rotating buffers, and a pair of events around it
 * gives its time. */
#ifndef LT_RUNTIME_TURNS_H
#define LT_RUNTIME_TURNS_H

#include "runtime/graph.h"

/* A block has at most so many launches, where they do not fill its time, and whole rounds through
 * the sets of buffers. */
enum { LT_BLOCK_LAUNCHES = 2000 };

/* One that is timed: launch number `index` of its block is enqueued with `user`. */
struct lt_contender {
    lt_graph_enqueue enqueue;
    void *user;
    double launch_us;      /* of one launch, roughly */
    struct lt_graph block; /* what is timed           */
};

struct lt_turns {
    const struct lt_stream *stream;
    const struct lathe_allocator *allocator;
    struct lt_contender *contenders;
    int count;
    int sets;        /* of buffers that launches go through */
    double block_ms; /* how long a block lasts at least     */
};

/* A block as it ran. */
struct lt_turn {
    int contender, round;
    double us;               /* of a launch                     */
    double begin_us, end_us; /* of the block, by lt_now_us()     */
};

/* How many launches a block has. */
int lt_turns_launches(const struct lt_turns *turns, double launch_us);

/* Runs a contender for the first time, outside of any capture, and fills in `launch_us`. */
enum lathe_status lt_turns_probe(const struct lt_turns *turns, struct lt_contender *contender,
                                 struct lathe_error *err);
/* Makes its block. The contender has been probed. */
enum lathe_status lt_turns_capture(const struct lt_turns *turns, struct lt_contender *contender,
                                   struct lathe_error *err);
/* Frees the blocks of all. */
void lt_turns_release(struct lt_turns *turns);

/* Runs blocks of all in turn for so long at least, once in any case. */
enum lathe_status lt_turns_warm_up(const struct lt_turns *turns, double ms,
                                   struct lathe_error *err);

/* Lets each take its turn once a round, and fills in count * rounds turns, in the order in which
 * they ran: every other round backwards. */
enum lathe_status lt_turns_take(const struct lt_turns *turns, int rounds, struct lt_turn *taken,
                                struct lathe_error *err);

#endif
