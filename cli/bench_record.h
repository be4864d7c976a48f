/* bench_record.h: a measurement as a JSON object: what was asked for, on which machine and how, and
 * what was measured, or why it could not be. The same object is printed by --json and appended to
 * files; docs/benchmark.md names its keys. */
#ifndef LT_CLI_BENCH_RECORD_H
#define LT_CLI_BENCH_RECORD_H

#include "cli/bench.h"

/* What is known before anything is measured. Null without memory. */
json_t *record_head(const struct bench_setup *setup, const struct lathe_request *request);
/* Adds what was measured, or the refusal; false without memory. */
bool record_report(json_t *record, const struct lathe_request *request,
                   const struct lathe_bench_report *report);
bool record_refusal(json_t *record, const struct lathe_error *err);

/* {"sm_mhz", "power_w", "temperature_c", "samples"}, or null where there are no samples. */
json_t *record_clocks(const struct lathe_bench_clocks *clocks);

/* The same text for records of the same problem, contenders, protocol, device and versions,
 * whatever the pass; but what was measured in passes is not what was measured alone. To be freed;
 * null without memory. */
char *record_key(const json_t *record);
/* The same text for records of the same problem of the same class, however it was measured. */
char *record_problem(const json_t *record);
/* Whether it was asked for beside this contender, the first word of its name. */
bool record_concerns(const json_t *record, const char *contender);

/* Whether two are of the same problem, contenders, protocol, device and versions, whatever the
 * pass. */
bool record_is_same(const json_t *one, const json_t *other);
/* Whether the held record answers what the head asks: the same, in the same pass, measured and
 * right, or refused for what it is. */
bool record_answers(const json_t *held, const json_t *head);

/* Refused for what it is. What our own mistake or a contender's kept from being measured is wrong,
 * as is an answer that is. */
bool record_is_refused(const json_t *record);
bool record_is_wrong(const json_t *record);
/* The row beside the contender, the first word of its name, whose ratio is one that can be drawn
 * and counted; else null. */
const json_t *record_row(const json_t *record, const char *contender);
/* Sums in f16 are another, easier product than that of the contenders, which sum in f32. Records
 * that were made before there was a key for it are known by their plan. */
bool record_has_f16_sums(const json_t *record);
extern const char f16_sums_words[];
/* Why the record's ratios are shown and not counted, or null where they count. */
const char *record_mark(const json_t *record);

/* "4096x4096x4096" */
enum { RECORD_NAME_SIZE = 72 };
const char *record_name(const json_t *record, char name[RECORD_NAME_SIZE]);

#endif
