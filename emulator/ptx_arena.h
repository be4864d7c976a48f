/* ptx_arena.h: memory of a module, given back all at once, and lists that grow while one parses.
 *
 * Everything counts against one limit, so that hostile text ends in a message. */
#ifndef EMU_PTX_ARENA_H
#define EMU_PTX_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct emu_block;

struct emu_arena {
    struct emu_block *blocks;
    size_t left; /* of the newest block */
    size_t used, limit;
};

/* Zeros, aligned for anything; null where memory or the limit is short. */
void *emu_arena_allocate(struct emu_arena *arena, size_t count, size_t size);
void emu_arena_free(struct emu_arena *arena);

/* A list of items of one size. What it holds moves when it grows. */
struct emu_list {
    unsigned char *items;
    size_t count, capacity, size;
};

/* A zeroed item at the end; null where memory or the limit is short. */
void *emu_list_add(struct emu_list *list, struct emu_arena *arena);
/* Zeroed items up to so many of them; false where memory or the limit is short. */
bool emu_list_extend(struct emu_list *list, size_t count, struct emu_arena *arena);
void *emu_list_at(const struct emu_list *list, size_t index);
/* Copies the items from `first` on into the arena and cuts them off; false without memory. */
bool emu_list_take(struct emu_list *list, size_t first, struct emu_arena *arena, void *items);
void emu_list_free(struct emu_list *list, struct emu_arena *arena);

#endif
