/* help.h: help texts, made from the verbs' own tables. */
#ifndef LT_CLI_HELP_H
#define LT_CLI_HELP_H

#include "cli/verb.h"

/* What `lathe` is and its verbs. */
void help_all(struct output *out);
/* One verb. Returns the exit code. */
int help_verb(struct output *out, const struct verb *verb);

#endif
