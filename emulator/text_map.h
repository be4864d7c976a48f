/* text_map.h: what comments of a text tell people, for reports: the headings that stand over its
 * parts, and the names of what lies in dynamic shared memory.
 *
 * A heading is a line "// ---- producer: one warp ----". Names stand below a line that begins with
 * "// Shared memory of a CTA", one a line: "// 1024  196608  stage ring", offset and bytes. Both
 * are how Lathe writes; other texts may, and lose nothing if they do not. */
#ifndef EMU_TEXT_MAP_H
#define EMU_TEXT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_HEADING_SIZE = 48, EMU_REGION_NAME_SIZE = 48 };

struct emu_heading {
    int line;
    char text[EMU_HEADING_SIZE]; /* up to its colon: "producer" */
};

struct emu_region {
    uint32_t offset, bytes; /* from where dynamic shared memory begins */
    char name[EMU_REGION_NAME_SIZE];
};

struct emu_text_map {
    struct emu_heading *headings;
    struct emu_region *regions;
    size_t heading_count, heading_room, region_count, region_room;
};

/* False without memory. */
bool emu_text_map_read(struct emu_text_map *map, const char *text, size_t length);
void emu_text_map_free(struct emu_text_map *map);
/* The last heading between two lines, or null. */
const char *emu_text_map_heading(const struct emu_text_map *map, int first, int line);
const struct emu_region *emu_text_map_region(const struct emu_text_map *map, uint32_t offset);

#endif
