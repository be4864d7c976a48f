/* environment.h: the environment variables that Lathe reads (environment.def), as they were when a
 * context was made, and what their values mean. */
#ifndef LT_RUNTIME_ENVIRONMENT_H
#define LT_RUNTIME_ENVIRONMENT_H

#include "include/lathe.h"

#include <stdbool.h>

enum {
#define LT_VARIABLE(name, doc) LT_VARIABLE_##name,
#include "runtime/environment.def"
#undef LT_VARIABLE
    LT_VARIABLES
};

/* Copies of the values; null where unset or empty. */
struct lt_environment {
    char *values[LT_VARIABLES];
};

/* False without memory; what was copied is to be freed then too. */
bool lt_environment_read(struct lt_environment *environment,
                         const struct lathe_allocator *allocator);
bool lt_environment_copy(struct lt_environment *environment, const struct lt_environment *like,
                         const struct lathe_allocator *allocator);
void lt_environment_free(struct lt_environment *environment,
                         const struct lathe_allocator *allocator);

/* The value of a variable by its name, which must be one of environment.def; null if unset. */
const char *lt_environment_value(const struct lt_environment *environment, const char *name);

/* on, 1, yes, true or off, 0, no, false; LATHE_SWITCH_DEFAULT for any other word. */
enum lathe_switch lt_switch_of(const char *word);

#endif
