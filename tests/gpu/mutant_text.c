#include "tests/gpu/mutant_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 512 };

const char *mutant_change_name(enum mutant_change change)
{
    static const char *const names[MUTANT_CHANGES] = {
        "deleted",        "deleted with its loop",
        "tried once",     "one more",
        "one less",       "eight more",
        "16 more",        "16 less",
        "flipped",        "unguarded",
        "guard inverted",
    };

    return names[change];
}

/* ---- Lines ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Behind "@%p " or "@!%p ". */
static const char *skip_guard(const char *at)
{
    return *at == '@' ? skip_blanks(at + strcspn(at, " \n")) : at;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');

    return end ? end + 1 : line + strlen(line);
}

static const char *find(const char *text, const char *start, int which, int *number)
{
    *number = 1;
    for (const char *line = text; *line; line = next_line(line), ++*number) {
        const char *at = skip_guard(skip_blanks(line));

        if (strncmp(at, start, strlen(start)) == 0 && which-- == 0)
            return line;
    }
    return NULL;
}

/* ---- Changes of one line, which has no newline ---- */

/* The last number before the semicolon. */
static char *last_number(char *line)
{
    char *end = strchr(line, ';'), *at = end;

    while (at && at > line && isdigit((unsigned char)at[-1]))
        at--;
    return at && at < end && at > line && at[-1] == ' ' ? at : NULL;
}

static bool add(char *line, long more)
{
    char *at = last_number(line), rest[LINE_SIZE];
    long value = at ? strtol(at, NULL, 10) + more : -1;

    if (value < 0)
        return false;
    snprintf(rest, sizeof rest, "%s", strchr(at, ';'));
    snprintf(at, LINE_SIZE - (size_t)(at - line), "%ld%s", value, rest);
    return true;
}

static bool flip(char *line)
{
    char *at = last_number(line);

    if (!at || (*at != '0' && *at != '1') || at[1] != ';')
        return false;
    *at = *at == '0' ? '1' : '0';
    return true;
}

static bool unguard(char *line)
{
    char *guard = strchr(line, '@');

    if (!guard)
        return false;
    memset(guard, ' ', strcspn(guard, " "));
    return true;
}

static bool invert(char *line)
{
    char *guard = strchr(line, '@'), rest[LINE_SIZE];

    if (!guard)
        return false;
    snprintf(rest, sizeof rest, "%s", guard[1] == '!' ? guard + 2 : guard + 1);
    snprintf(guard, LINE_SIZE - (size_t)(guard - line), "@%s%s", guard[1] == '!' ? "" : "!", rest);
    return true;
}

static bool change_line(char line[LINE_SIZE], enum mutant_change change)
{
    switch (change) {
    case MUTANT_LOOP_DELETED:
        return true;
    case MUTANT_ONE_MORE:
        return add(line, 1);
    case MUTANT_ONE_LESS:
        return add(line, -1);
    case MUTANT_EIGHT_MORE:
        return add(line, 8);
    case MUTANT_SIXTEEN_MORE:
        return add(line, 16);
    case MUTANT_SIXTEEN_LESS:
        return add(line, -16);
    case MUTANT_FLIPPED:
        return flip(line);
    case MUTANT_UNGUARDED:
        return unguard(line);
    case MUTANT_GUARD_INVERTED:
        return invert(line);
    default: /* an instruction of several lines stays */
        line[0] = '\0';
        return true;
    }
}

char *mutant_make(const char *text, const char *start, int which, enum mutant_change change,
                  int *number, bool *is_changed)
{
    const char *at = find(text, start, which, number), *rest = at ? next_line(at) : NULL;
    bool without_loop = change == MUTANT_DELETED_WITH_LOOP || change == MUTANT_LOOP_DELETED;
    char line[LINE_SIZE], *made;
    size_t room;

    if (!at)
        return NULL;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    *is_changed = change_line(line, change);
    if (without_loop) {
        *is_changed = strstr(rest, "bra") && strstr(rest, "bra") < next_line(rest);
        rest = *is_changed ? next_line(rest) : rest;
    }
    room = (size_t)(at - text) + strlen(line) + strlen(rest) + 3;
    made = malloc(room);
    if (made)
        snprintf(made, room, "%.*s%s\n%s%s", (int)(at - text), text, line, without_loop ? "\n" : "",
                 rest);
    return made;
}
