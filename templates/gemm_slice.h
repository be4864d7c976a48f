/* gemm_slice.h: what a CTA of a cluster fetches for all who need it. Rank r of an A x B cluster
 * stands at (x, y) = (r % A, r / A). CTAs of one x, a row of the cluster, hold the same rows of A:
 * ranks x + A * i. Those of one y, a column, hold the same rows of B: ranks A * y + i; of pairs
 * those of the same half, every second one. Each fetches a slice of what it holds, and TMA brings
 * it to all who hold it. */
#ifndef LT_TEMPLATES_GEMM_SLICE_H
#define LT_TEMPLATES_GEMM_SLICE_H

#include "templates/gemm_tile.h"
#include "templates/schedule.h"

/* Nothing in it where a CTA fetches all for itself. */
struct lt_slice {
    lt_value mask;        /* who holds it, in 16 bits                              */
    lt_value row, offset; /* where it begins in what the CTA holds, in bytes too   */
};

/* Of `rows` rows each, of every `of` that a CTA holds at a time; `now` are the rows that a slice
 * has in this launch. */
struct lt_slice lt_slice_of_a(struct lt_builder *b, const struct lathe_plan *plan,
                              const struct lt_schedule *schedule, int rows, int of, lt_value now);
/* `pair_rank`: the CTA's half of its pair; of plans with pairs alone. */
struct lt_slice lt_slice_of_b(struct lt_builder *b, const struct lathe_plan *plan,
                              const struct lt_schedule *schedule, int rows, int of,
                              lt_value pair_rank);

/* value + more, where there is more. */
lt_value lt_slice_plus(struct lt_builder *b, const char *name, lt_value value, lt_value more);

/* A bit for each of so many ranks, `step` apart; and those from rank `first` on (nothing: 0). */
int lt_rank_bits(int count, int step);
lt_value lt_ranks_from(struct lt_builder *b, const char *name, int bits, lt_value first);

#endif
