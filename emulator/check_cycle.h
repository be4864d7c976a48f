/* check_cycle.h: who waits for whom, followed to where it ends or goes in circles. */
#ifndef EMU_CHECK_CYCLE_H
#define EMU_CHECK_CYCLE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the first of two numbers waits for the second. */
typedef bool emu_waits_for(const void *user, size_t one, size_t other);

/* Marks of the numbers below `count` the strongly connected components that nothing leaves: who
 * waits for nobody, or in a circle for each other. False without memory. */
bool emu_find_ends(size_t count, emu_waits_for *waits_for, const void *user, bool *is_end);

#endif
