/* diff_text.h: two kernel texts beside each other, section by section. */
#ifndef LT_CLI_DIFF_TEXT_H
#define LT_CLI_DIFF_TEXT_H

#include <jansson.h>
#include <stdbool.h>

struct output;

/* Sections meet by their role. Where a text has no headings, for it has no comments, the texts are
 * compared whole, as one section "text". */

/* Of each section how many lines differ, and which, with two lines around. False without memory. */
bool diff_text_print(struct output *out, const char *a, const char *b);

/* [{"name", "same", "changes": [{"op", "line"}]}]; null without memory. */
json_t *diff_text_json(const char *a, const char *b);

#endif
