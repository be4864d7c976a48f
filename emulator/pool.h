/* pool.h: threads that do numbered pieces of work together with the one that has it done.
 *
 * Who does which piece is left to chance. The caller does pieces too and never waits for a helper
 * that has taken none, so a pool is right with helpers that sleep, and with none at all. */
#ifndef EMU_POOL_H
#define EMU_POOL_H

#include <stdint.h>

enum { EMU_POOL_PIECES_MAX = (1 << 20) - 4096 };

struct emu_pool;
typedef void (*emu_pool_work)(void *user, uint32_t piece);

/* Processors that this thread may run on; at least 1. */
uint32_t emu_processors(void);

/* With so many helpers, or as many of them as there are to be had; null without memory. */
struct emu_pool *emu_pool_start(uint32_t helpers, emu_pool_work work, void *user);
/* Every piece below `pieces` (at most EMU_POOL_PIECES_MAX), each once; all are done when it
 * returns. Only by one thread at a time. */
void emu_pool_do(struct emu_pool *pool, uint32_t pieces);
/* Ends the helpers. Null is nothing. */
void emu_pool_end(struct emu_pool *pool);

#endif
