/* plan_json.h: JSON for plans and contracts; jansson does the work. */
#ifndef LT_CODEGEN_PLAN_JSON_H
#define LT_CODEGEN_PLAN_JSON_H

#include "include/lathe.h"

#include <jansson.h>

/* Copies the object's text like snprintf and drops the object (null counts as empty). */
size_t lt_json_copy(json_t *object, char *buffer, size_t size);

/* Reads the members of an object into a plan. */
enum lathe_status lt_plan_read_json(struct lathe_plan *plan, const char *text,
                                    struct lathe_error *err);

#endif
