#include "cli/compare.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int lines_split(struct lines *lines, const char *text)
{
    size_t room = 1;

    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        room++;
    lines->count = 0;
    lines->list = malloc(room * sizeof *lines->list);
    if (!lines->list)
        return -1;
    while (*text) {
        size_t length = strcspn(text, "\n");

        lines->list[lines->count++] = (struct line){text, length};
        text += length + (text[length] == '\n');
    }
    return 0;
}

void lines_free(struct lines *lines)
{
    free(lines->list);
    *lines = (struct lines){NULL, 0};
}

static bool is_same(struct line a, struct line b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/* ---- The longest common subsequence, by the table of its lengths ---- */

struct comparison {
    const struct line *a, *b;
    size_t a_count, b_count;
    uint32_t *longest; /* [i][j]: of what follows line i of A and line j of B */
    struct edit *edits;
    size_t count;
};

static uint32_t *cell(const struct comparison *c, size_t i, size_t j)
{
    return &c->longest[i * (c->b_count + 1) + j];
}

static void fill_table(const struct comparison *c)
{
    for (size_t i = c->a_count; i-- > 0;)
        for (size_t j = c->b_count; j-- > 0;) {
            uint32_t without_a = *cell(c, i + 1, j), without_b = *cell(c, i, j + 1);

            if (is_same(c->a[i], c->b[j]))
                *cell(c, i, j) = *cell(c, i + 1, j + 1) + 1;
            else
                *cell(c, i, j) = without_a > without_b ? without_a : without_b;
        }
}

static void add(struct comparison *c, enum step step, struct line line)
{
    c->edits[c->count++] = (struct edit){step, line};
}

/* Lines of A before those of B, until the next that both have. */
static void walk_table(struct comparison *c)
{
    size_t i = 0, j = 0;

    while (i < c->a_count && j < c->b_count) {
        if (is_same(c->a[i], c->b[j])) {
            add(c, STEP_SAME, c->a[i]);
            i++;
            j++;
        } else if (*cell(c, i + 1, j) >= *cell(c, i, j + 1)) {
            add(c, STEP_A_ONLY, c->a[i++]);
        } else {
            add(c, STEP_B_ONLY, c->b[j++]);
        }
    }
    while (i < c->a_count)
        add(c, STEP_A_ONLY, c->a[i++]);
    while (j < c->b_count)
        add(c, STEP_B_ONLY, c->b[j++]);
}

struct edit *lines_compare(const struct line *a, size_t a_count, const struct line *b,
                           size_t b_count, size_t *count)
{
    size_t before = 0, behind = 0;
    struct comparison c = {.count = 0};

    c.edits = malloc((a_count + b_count + 1) * sizeof *c.edits);
    if (!c.edits)
        return NULL;

    /* What both begin and end with needs no table. */
    while (before < a_count && before < b_count && is_same(a[before], b[before]))
        add(&c, STEP_SAME, a[before++]);
    while (behind < a_count - before && behind < b_count - before &&
           is_same(a[a_count - 1 - behind], b[b_count - 1 - behind]))
        behind++;
    c.a = a + before;
    c.b = b + before;
    c.a_count = a_count - before - behind;
    c.b_count = b_count - before - behind;
    c.longest = calloc((c.a_count + 1) * (c.b_count + 1), sizeof *c.longest);
    if (!c.longest) {
        free(c.edits);
        return NULL;
    }
    fill_table(&c);
    walk_table(&c);
    for (size_t i = a_count - behind; i < a_count; i++)
        add(&c, STEP_SAME, a[i]);
    free(c.longest);
    *count = c.count;
    return c.edits;
}
