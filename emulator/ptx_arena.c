#include "emulator/ptx_arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct emu_block {
    struct emu_block *next;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = alignof(max_align_t), FIRST_ITEMS = 16 };

static bool charge(struct emu_arena *arena, size_t bytes)
{
    if (bytes > arena->limit - arena->used)
        return false;
    arena->used += bytes;
    return true;
}

static bool add_block(struct emu_arena *arena, size_t bytes)
{
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

    if (!charge(arena, size))
        return false;

    struct emu_block *block = calloc(1, sizeof *block + size);

    if (!block)
        return false;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->left = size;
    return true;
}

void *emu_arena_allocate(struct emu_arena *arena, size_t count, size_t size)
{
    if (count > (SIZE_MAX / 2 - ALIGNMENT) / size)
        return NULL;

    /* Of nothing an address too: callers take null for a lack of memory. */
    size_t bytes = count * size == 0 ? 1 : count * size;

    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > arena->left && !add_block(arena, bytes))
        return NULL;

    unsigned char *at = arena->blocks->bytes + (arena->blocks->size - arena->left);

    arena->left -= bytes;
    return at;
}

void emu_arena_free(struct emu_arena *arena)
{
    while (arena->blocks) {
        struct emu_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    arena->left = arena->used = 0;
}

static bool grow(struct emu_list *list, size_t count, struct emu_arena *arena)
{
    size_t capacity = list->capacity == 0 ? FIRST_ITEMS : 2 * list->capacity;

    if (capacity < count)
        capacity = count;
    if (capacity > SIZE_MAX / 2 / list->size ||
        !charge(arena, (capacity - list->capacity) * list->size))
        return false;

    unsigned char *items = realloc(list->items, capacity * list->size);

    if (!items) {
        arena->used -= (capacity - list->capacity) * list->size;
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

bool emu_list_extend(struct emu_list *list, size_t count, struct emu_arena *arena)
{
    if (count <= list->count)
        return true;
    if (count > list->capacity && !grow(list, count, arena))
        return false;
    memset(list->items + list->count * list->size, 0, (count - list->count) * list->size);
    list->count = count;
    return true;
}

void *emu_list_add(struct emu_list *list, struct emu_arena *arena)
{
    return emu_list_extend(list, list->count + 1, arena) ? emu_list_at(list, list->count - 1)
                                                         : NULL;
}

void *emu_list_at(const struct emu_list *list, size_t index)
{
    return list->items + index * list->size;
}

bool emu_list_take(struct emu_list *list, size_t first, struct emu_arena *arena, void *items)
{
    size_t count = list->count - first;
    void *copy = NULL;

    if (count > 0) {
        copy = emu_arena_allocate(arena, count, list->size);
        if (!copy)
            return false;
        memcpy(copy, emu_list_at(list, first), count * list->size);
    }
    list->count = first;
    memcpy(items, &copy, sizeof copy);
    return true;
}

void emu_list_free(struct emu_list *list, struct emu_arena *arena)
{
    arena->used -= list->capacity * list->size;
    free(list->items);
    list->items = NULL;
    list->count = list->capacity = 0;
}
