/* text_map.c: headings and names out of the comments of a text. */
#include "emulator/text_map.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 9 };

/* A line without its blanks before and behind. */
struct line {
    const char *text;
    size_t length;
};

static bool begins(const struct line *line, const char *words)
{
    size_t length = strlen(words);

    return line->length >= length && memcmp(line->text, words, length) == 0;
}

static void skip(struct line *line, size_t count)
{
    line->text += count;
    line->length -= count;
}

static void skip_blanks(struct line *line)
{
    while (line->length > 0 && (*line->text == ' ' || *line->text == '\t'))
        skip(line, 1);
}

static void copy(char *to, size_t size, const struct line *line)
{
    size_t length = line->length < size - 1 ? line->length : size - 1;

    memcpy(to, line->text, length);
    to[length] = '\0';
}

static bool grow(void **list, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : 16;
    void *grown;

    if (count < *room)
        return true;
    grown = realloc(*list, wanted * size);
    if (!grown)
        return false;
    *list = grown;
    *room = wanted;
    return true;
}

static bool add_heading(struct emu_text_map *map, struct line line, int number)
{
    static const char rule[] = "// ---- ";
    struct emu_heading *heading;

    if (!begins(&line, rule))
        return true;
    if (!grow((void **)&map->headings, map->heading_count, &map->heading_room, sizeof *heading))
        return false;
    skip(&line, sizeof rule - 1);
    for (size_t i = 0; i < line.length; i++)
        if (line.text[i] == ':' ||
            (line.length - i > 5 && memcmp(line.text + i, " ----", 5) == 0) ||
            (line.length - i == 5 && memcmp(line.text + i, " ----", 5) == 0))
            line.length = i;
    heading = &map->headings[map->heading_count++];
    heading->line = number;
    copy(heading->text, sizeof heading->text, &line);
    return true;
}

static bool read_number(struct line *line, uint32_t *number)
{
    size_t digits = 0;

    *number = 0;
    skip_blanks(line);
    while (digits < line->length && line->text[digits] >= '0' && line->text[digits] <= '9') {
        if (digits == DIGITS_MAX)
            return false;
        *number = *number * 10 + (uint32_t)(line->text[digits++] - '0');
    }
    skip(line, digits);
    return digits > 0;
}

/* *inside: below the heading of the names. */
static bool add_region(struct emu_text_map *map, struct line line, bool *inside)
{
    struct emu_region region = {.offset = 0};

    if (begins(&line, "// Shared memory of a CTA")) {
        *inside = true;
        return true;
    }
    if (!*inside)
        return true;
    *inside = begins(&line, "//");
    if (!*inside)
        return true;
    skip(&line, 2);
    *inside = read_number(&line, &region.offset) && read_number(&line, &region.bytes);
    if (!*inside)
        return true;
    skip_blanks(&line);
    copy(region.name, sizeof region.name, &line);
    if (!grow((void **)&map->regions, map->region_count, &map->region_room, sizeof region))
        return false;
    map->regions[map->region_count++] = region;
    return true;
}

bool emu_text_map_read(struct emu_text_map *map, const char *text, size_t length)
{
    bool inside = false;
    int number = 1;

    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        struct line line = {text + at, end ? (size_t)(end - text) - at : length - at};

        at += line.length + 1;
        skip_blanks(&line);
        if (!add_heading(map, line, number) || !add_region(map, line, &inside))
            return false;
    }
    return true;
}

void emu_text_map_free(struct emu_text_map *map)
{
    free(map->headings);
    free(map->regions);
    *map = (struct emu_text_map){.headings = NULL};
}

const char *emu_text_map_heading(const struct emu_text_map *map, int first, int line)
{
    const char *found = NULL;

    for (size_t i = 0; i < map->heading_count && map->headings[i].line <= line; i++)
        if (map->headings[i].line >= first)
            found = map->headings[i].text;
    return found;
}

const struct emu_region *emu_text_map_region(const struct emu_text_map *map, uint32_t offset)
{
    for (size_t i = 0; i < map->region_count; i++)
        if (offset >= map->regions[i].offset &&
            offset - map->regions[i].offset < map->regions[i].bytes)
            return &map->regions[i];
    return NULL;
}
