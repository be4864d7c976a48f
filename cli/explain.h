/* explain.h: lathe plan --explain: a budget as words, as an object, and as a picture. */
#ifndef LT_CLI_EXPLAIN_H
#define LT_CLI_EXPLAIN_H

#include "cli/words.h"

#include "lathe_tools.h"

struct output;

/* The exit code: that of the plan, for what does not fit is explained and refused. */
int explain_run(const struct words *words, struct output *out);

/* The picture, a slide of 960 x 540: to be freed. Null without memory. */
char *explain_svg(const struct lathe_explanation *explanation);

/* "232,448"; returns the buffer. */
enum { GROUPED_SIZE = 24 };
const char *explain_number(int64_t number, char buffer[GROUPED_SIZE]);

#endif
