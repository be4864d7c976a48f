/* report.h: values of the library as JSON objects, and what emit and build say of a kernel. */
#ifndef LT_CLI_REPORT_H
#define LT_CLI_REPORT_H

#include "lathe.h"

#include <jansson.h>

/* Null: no memory. */
json_t *report_plan(const struct lathe_plan *plan);
/* Registers, spills and warnings are null where nothing was linked. */
json_t *report_contract(const struct lathe_contract *contract);
/* {"arch", "plan", "kernel", "emit_us"} */
json_t *report_kernel(const struct lathe_plan *plan, const struct lathe_contract *contract,
                      double emit_us);

/* The lines of a text as an array of strings. */
json_t *report_lines(const char *text);

/* "hit", "miss" or "off". */
const char *cache_result_name(enum lathe_cache_result result);

#endif
