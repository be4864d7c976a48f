#include "cli/diff_text.h"

#include "cli/compare.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 2 };

/* ---- Texts: sections begin with a heading, a comment between dashes ---- */

static bool is_heading(struct line line)
{
    static const char mark[] = "// ----";

    return memmem(line.at, line.length, mark, sizeof mark - 1) != NULL;
}

/* "producer" of "// ---- producer: warps 0 to 3 ----"; sections of two texts meet by it. */
static struct line role_of(struct line heading)
{
    const char *end = heading.at + heading.length, *at = memchr(heading.at, '-', heading.length);

    while (at < end && (*at == '-' || *at == ' '))
        at++;

    const char *stop = memchr(at, ':', (size_t)(end - at));

    return (struct line){at, (size_t)((stop ? stop : end) - at)};
}

/* A stretch of lines that begins with its heading; the first of a text has none. */
struct section {
    struct line role;
    const struct line *lines;
    size_t count;
};

static bool next_section(const struct lines *lines, size_t *at, struct section *section)
{
    size_t first = *at;

    if (first >= lines->count)
        return false;
    *section = (struct section){{"head", 4}, lines->list + first, 0};
    if (is_heading(lines->list[first]))
        section->role = role_of(lines->list[first]);
    for (++*at; *at < lines->count && !is_heading(lines->list[*at]);)
        ++*at;
    section->count = *at - first;
    return true;
}

/* Where the text has none of that role an empty one, in the text like all others: not null. */
static struct section section_of_role(const struct lines *lines, struct line role)
{
    struct section section;

    for (size_t at = 0; next_section(lines, &at, &section);)
        if (section.role.length == role.length &&
            memcmp(section.role.at, role.at, role.length) == 0)
            return section;
    return (struct section){role, lines->list, 0};
}

/* What is to be said of one pair of sections; false without memory. */
typedef bool (*tell_section)(void *user, struct line role, const struct edit *edits, size_t count);

static bool compare_pair(const struct section *a, const struct section *b, tell_section tell,
                         void *user)
{
    size_t count = 0;
    struct edit *edits = lines_compare(a->lines, a->count, b->lines, b->count, &count);
    bool told = edits && tell(user, a->role, edits, count);

    free(edits);
    return told;
}

static bool compare_sections(const struct lines *a, const struct lines *b, tell_section tell,
                             void *user)
{
    struct section section;

    for (size_t at = 0; next_section(a, &at, &section);) {
        struct section theirs = section_of_role(b, section.role);

        if (!compare_pair(&section, &theirs, tell, user))
            return false;
    }
    for (size_t at = 0; next_section(b, &at, &section);) {
        struct section theirs = section_of_role(a, section.role);

        if (theirs.count == 0 && !compare_pair(&theirs, &section, tell, user))
            return false;
    }
    return true;
}

static bool has_headings(const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        if (is_heading(lines->list[i]))
            return true;
    return false;
}

/* Headings are comments: a text without comments is one stretch, and so is what it meets. */
static bool compare_lines(const struct lines *a, const struct lines *b, tell_section tell,
                          void *user)
{
    struct section whole = {{"text", 4}, a->list, a->count};
    struct section theirs = {whole.role, b->list, b->count};

    return has_headings(a) && has_headings(b) ? compare_sections(a, b, tell, user)
                                              : compare_pair(&whole, &theirs, tell, user);
}

static bool compare_texts(const char *a, const char *b, tell_section tell, void *user)
{
    struct lines a_lines = {0}, b_lines = {0};
    bool told = lines_split(&a_lines, a) == 0 && lines_split(&b_lines, b) == 0 &&
                compare_lines(&a_lines, &b_lines, tell, user);

    lines_free(&a_lines);
    lines_free(&b_lines);
    return told;
}

static size_t count_steps(const struct edit *edits, size_t count, enum step step)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += edits[i].step == step;
    return sum;
}

/* ---- In words ---- */

static void print_line(struct output *out, const struct edit *edit)
{
    static const char marks[] = {[STEP_SAME] = ' ', [STEP_A_ONLY] = '-', [STEP_B_ONLY] = '+'};
    static const enum style styles[] = {
        [STEP_SAME] = STYLE_PLAIN, [STEP_A_ONLY] = STYLE_BAD, [STEP_B_ONLY] = STYLE_GOOD};

    output_text(out, "%s%c %.*s%s\n",
                edit->step == STEP_SAME ? "" : output_style(out, styles[edit->step]),
                marks[edit->step], (int)edit->line.length, edit->line.at,
                edit->step == STEP_SAME ? "" : output_style(out, STYLE_PLAIN));
}

static bool is_near_a_change(const struct edit *edits, size_t count, size_t at)
{
    size_t first = at > CONTEXT ? at - CONTEXT : 0;

    for (size_t i = first; i < count && i <= at + CONTEXT; i++)
        if (edits[i].step != STEP_SAME)
            return true;
    return false;
}

static bool print_section(void *user, struct line role, const struct edit *edits, size_t count)
{
    struct output *out = user;
    size_t out_count = count_steps(edits, count, STEP_A_ONLY);
    size_t in_count = count_steps(edits, count, STEP_B_ONLY);
    bool skipped = false;

    output_text(out, "\n%s== %.*s%s: ", output_style(out, STYLE_BOLD), (int)role.length, role.at,
                output_style(out, STYLE_PLAIN));
    if (out_count + in_count == 0) {
        output_text(out, "the same, %zu lines\n", count);
        return true;
    }
    output_text(out, "%zu lines the same, - %zu, + %zu\n", count - out_count - in_count, out_count,
                in_count);
    for (size_t i = 0; i < count; i++) {
        if (is_near_a_change(edits, count, i)) {
            if (skipped)
                output_text(out, "  ...\n");
            print_line(out, &edits[i]);
            skipped = false;
        } else {
            skipped = true;
        }
    }
    return true;
}

bool diff_text_print(struct output *out, const char *a, const char *b)
{
    return compare_texts(a, b, print_section, out);
}

/* ---- As an object ---- */

static bool add_section(void *user, struct line role, const struct edit *edits, size_t count)
{
    static const char *const marks[] = {
        [STEP_SAME] = " ", [STEP_A_ONLY] = "-", [STEP_B_ONLY] = "+"};
    json_t *sections = user;
    json_t *changes = json_array();

    for (size_t i = 0; i < count; i++)
        if (edits[i].step != STEP_SAME)
            json_array_append_new(changes,
                                  json_pack("{s:s, s:o}", "op", marks[edits[i].step], "line",
                                            json_stringn(edits[i].line.at, edits[i].line.length)));
    return json_array_append_new(
               sections, json_pack("{s:o, s:I, s:o}", "name", json_stringn(role.at, role.length),
                                   "same", (json_int_t)count_steps(edits, count, STEP_SAME),
                                   "changes", changes)) == 0;
}

json_t *diff_text_json(const char *a, const char *b)
{
    json_t *sections = json_array();

    if (sections && !compare_texts(a, b, add_section, sections)) {
        json_decref(sections);
        return NULL;
    }
    return sections;
}
