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

/* The wall in words: as far as memory goes, or as the flow does, whichever is met first. */
enum { EXPLAIN_TEXT_SIZE = 256 };
void explain_wall(const struct lathe_explanation *explanation, char text[EXPLAIN_TEXT_SIZE]);

#endif
