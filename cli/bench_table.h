/* bench_table.h: what the records of a suite come to, and a line for each. */
#ifndef LT_CLI_BENCH_TABLE_H
#define LT_CLI_BENCH_TABLE_H

#include "cli/output.h"

/* A win is an interval above 1, a loss a ratio below 0.98, and a tie all between: each shape is one
 * of the three. */
enum outcome { OUTCOME_WIN, OUTCOME_TIE, OUTCOME_LOSS };
enum outcome outcome_of(double ratio, double ratio_low);

/* Of the records of one class, beside one contender. Refused and wrong ones, and those that sum in
 * f16, count for nothing. */
struct tally {
    int shapes; /* that have a ratio that counts */
    int wins, ties, losses;
    double mean; /* geometric, of the ratios; 0: there are none */
    double worst;
    char worst_name[72];
};
/* `class` null: all; `contender` is the first word of its name. */
struct tally tally_records(const json_t *records, const char *class, const char *contender);

/* Records whose ratios do not count. */
struct failures {
    int refused, wrong;
    int f16_sums; /* right, but not like for like */
};
struct failures count_failures(const json_t *records);

/* One line; `held`: it was measured before. */
void print_record(struct output *out, const json_t *record, bool held);
/* A table a contender, by class and in all, and what was refused. */
void print_summary(struct output *out, const json_t *records);
/* The same: {"refused", "wrong", "f16_sums", "contenders": [{"vs", "classes": [{"class", "shapes",
 * "mean", "wins", "ties", "losses", "worst", "worst_name"}]}]}; the last class is "all". */
json_t *summary_json(const json_t *records);

#endif
