/* plot.h: records of `lathe bench` as pictures. */
#ifndef LT_CLI_PLOT_H
#define LT_CLI_PLOT_H

#include <jansson.h>

/* Ratios by shape beside one contender (the first word of its name), classes together, with their
 * intervals and the line at 1; `marks` receives how many are drawn. What is wrong, or sums in f16,
 * is marked and counts for nothing. Null: no memory. To be freed. */
char *plot_ratios(const json_t *records, const char *contender, size_t *marks);
/* TFLOPS by rung of one ladder's record, beside its contenders. */
char *plot_ladder(const json_t *record);

#endif
