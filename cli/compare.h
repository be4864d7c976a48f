/* compare.h: two texts line by line: which lines are of both, and which of one alone. */
#ifndef LT_CLI_COMPARE_H
#define LT_CLI_COMPARE_H

#include <stddef.h>

/* A line of a text, without its end; not a string. */
struct line {
    const char *at;
    size_t length;
};

struct lines {
    struct line *list;
    size_t count;
};

/* The lines of a text, which must stay. 0, or -1 without memory. */
int lines_split(struct lines *lines, const char *text);
void lines_free(struct lines *lines);

/* One step from the text A to the text B. */
enum step { STEP_SAME, STEP_A_ONLY, STEP_B_ONLY };
struct edit {
    enum step step;
    struct line line;
};

/* The steps from `a` to `b`, in which as many lines as can be are the same; what is of A stands
 * before what is of B. Neither is null, whatever its count. To be freed with free(). Null without
 * memory. */
struct edit *lines_compare(const struct line *a, size_t a_count, const struct line *b,
                           size_t b_count, size_t *count);

#endif
