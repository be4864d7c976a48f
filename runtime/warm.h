/* warm.h: what a launch takes whose operands are in L2 already: blocks over one set of buffers, for
 * problems that L2 can hold. */
#ifndef LT_RUNTIME_WARM_H
#define LT_RUNTIME_WARM_H

#include "runtime/contest.h"
#include "runtime/times.h"

struct lt_warm {
    struct lt_rotation first; /* the first set of the contest's, borrowed */
    struct lt_entrant entrants[LATHE_BENCH_ROWS_MAX];
    struct lt_contender contenders[LATHE_BENCH_ROWS_MAX]; /* contender i launches entrant i */
    struct lt_turns turns;
};

/* Whether L2 holds what a launch touches; writes the reason why not, in one line. */
bool lt_warm_fits(const struct lathe_gemm *problem, const struct lt_device *device, char *reason,
                  size_t size);

/* Makes everybody's block. `warm` is all zero, and stays in place until it is closed, which comes
 * before the contest's end. The contest's contenders have run before. */
enum lathe_status lt_warm_open(struct lt_warm *warm, const struct lt_contest *contest,
                               struct lathe_error *err);
/* Accepts one that is all zero. */
void lt_warm_close(struct lt_warm *warm);

/* Fills in all of `times`, A B B A. `taken` has room for a turn of each in each round. */
enum lathe_status lt_warm_take(const struct lt_warm *warm, struct lt_turn *taken,
                               struct lt_times *times, struct lathe_error *err);

#endif
