/* emulate_map.c: the words of a tensor map, and shapes. */
#include "cli/emulate_words.h"

#include <stdlib.h>
#include <string.h>

const char map_words[] = "map:BUFFER:TYPE:DIMS:STRIDES:BOX:SWIZZLE";

/* The element's place is its number. */
static const char type_names[] = "u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz";
static const unsigned char type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

static const char swizzle_names[] = "none 32 64 128";
static const int swizzle_bytes[] = {0, 32, 64, 128};

int shape_parse(const char *text, size_t length, uint64_t *numbers, int most)
{
    const char *end = text + length;

    for (int count = 0; count < most && text < end; count++) {
        char digits[24];
        size_t here = strspn(text, "0123456789");

        if (here == 0 || here > 19 || text + here > end)
            return 0;
        memcpy(digits, text, here);
        digits[here] = '\0';
        numbers[count] = strtoull(digits, NULL, 10);
        text += here;
        if (text == end)
            return count + 1;
        if (*text++ != 'x')
            return 0;
    }
    return 0;
}

/* The rows stand one behind the other where no strides are given. */
static bool read_strides(const char *text, struct lathe_emulated_map *map)
{
    uint64_t stride = type_bytes[map->type];

    if (strcmp(text, "-") != 0)
        return shape_parse(text, strlen(text), map->strides, map->rank - 1) == map->rank - 1;
    for (int i = 0; i + 1 < map->rank; i++)
        map->strides[i] = stride *= map->dims[i];
    return true;
}

static bool read_box(const char *text, struct lathe_emulated_map *map)
{
    uint64_t box[LATHE_RANK_MAX];

    if (shape_parse(text, strlen(text), box, map->rank) != map->rank)
        return false;
    for (int i = 0; i < map->rank; i++) {
        if (box[i] > UINT32_MAX)
            return false;
        map->box[i] = (uint32_t)box[i];
    }
    return true;
}

static bool read_parts(char *parts[6], int *buffer, struct lathe_emulated_map *map)
{
    uint64_t number;
    int type = words_index(type_names, parts[1]);
    int swizzle = words_index(swizzle_names, parts[5]);

    if (shape_parse(parts[0], strlen(parts[0]), &number, 1) != 1 || number > INT16_MAX ||
        type < 0 || swizzle < 0)
        return false;
    *buffer = (int)number;
    map->type = (enum lathe_map_type)type;
    map->swizzle_bytes = swizzle_bytes[swizzle];
    map->rank = shape_parse(parts[2], strlen(parts[2]), map->dims, LATHE_RANK_MAX);
    return map->rank > 0 && read_strides(parts[3], map) && read_box(parts[4], map);
}

bool map_parse(const char *text, int *buffer, struct lathe_emulated_map *map)
{
    char copy[512];
    char *rest = copy, *parts[6];
    size_t length = strlen(text);

    *map = (struct lathe_emulated_map){.rank = 0};
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length + 1);
    for (int i = 0; i < 6; i++) {
        parts[i] = strsep(&rest, ":");
        if (!parts[i])
            return false;
    }
    return !rest && read_parts(parts, buffer, map);
}
