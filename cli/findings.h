/* findings.h: what the sanitizer found, as `lathe check` and `lathe emulate` tell it. */
#ifndef LT_CLI_FINDINGS_H
#define LT_CLI_FINDINGS_H

#include "cli/output.h"

#include "lathe_tools.h"

/* [{"code", "message", "kernel", ...}]; null: no memory. */
json_t *findings_json(const struct lathe_findings *findings);
/* Each in its words, and how many there are. `runs` is how many schedules ran. */
void findings_print(struct output *out, const struct lathe_findings *findings, int runs);
/* "20, seeds 1 to 20"; fewer where it stopped, and then so many of how many. */
void findings_schedules(struct output *out, uint64_t seed, int runs, int wanted);
/* EXIT_CANNOT where one is no warning. */
int findings_code(const struct lathe_findings *findings);

#endif
