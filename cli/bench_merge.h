/* bench_merge.h: several measurements of one problem as one.
 *
 * The interval of one measurement says how far its own pairs of blocks lie apart. It does not know
 * of what changes from one measurement to the next: where buffers lie, how warm the board is, who
 * else is at work. So a suite can be measured in passes, one after the other, and what is claimed
 * is the median of the passes with all that their intervals reach. */
#ifndef LT_CLI_BENCH_MERGE_H
#define LT_CLI_BENCH_MERGE_H

#include <jansson.h>

/* The records without passes: of those that record_key() takes for the same, one in the place of
 * the first; what was measured alone is no pass, and its latest stands. Its times, rates and ratios
 * are medians over the passes, ratio_low and ratio_high the least and the greatest; "passes" says
 * how many there were. Null without memory. */
json_t *records_merge(const json_t *records);

#endif
