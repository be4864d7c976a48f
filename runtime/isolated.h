/* isolated.h: how long one launch takes by itself: it waits behind a kernel that spins until the
 * host has enqueued all of it, nothing runs beside it, and events before and behind it tell the
 * time. That is more than its share of a block: the GPU's own steps from one kernel to the next are
 * in it, which launches in a row overlap. */
#ifndef LT_RUNTIME_ISOLATED_H
#define LT_RUNTIME_ISOLATED_H

#include "runtime/spin.h"
#include "runtime/times.h"
#include "runtime/turns.h"

/* Launches of each contender. */
enum { LT_ISOLATED_ROUNDS = 50 };

/* Everybody launches once a round, A B C C B A ...; launches go through the sets of buffers one
 * after the other, whoever launches. Fills in all of `times`, and how long the kernel spun in the
 * end: 50 us, unless the host was not done in half of that; then it spins twice as long, and the
 * launch is measured once more, on the next set. The contenders have run before. */
enum lathe_status lt_isolated_take(const struct lt_turns *turns, const struct lt_spin *spin,
                                   struct lt_times *times, double *spin_us,
                                   struct lathe_error *err);

/* How many sets further every other round begins, with so many contenders: enough for the launches
 * in between, and where that would give each contender the same few sets for ever, some more. */
int lt_isolated_stride(int contenders, int sets);

#endif
