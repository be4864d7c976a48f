/* check_cycle.h: who waits for whom, followed to where it ends or goes in circles. */
#ifndef EMU_CHECK_CYCLE_H
#define EMU_CHECK_CYCLE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the first of two numbers waits for the second. */
typedef bool emu_waits_for(const void *user, size_t one, size_t other);

/* Of the numbers below `count` those from which nothing leads that does not lead back: who waits
 * for nobody, or in a circle. False without memory. */
bool emu_find_ends(size_t count, emu_waits_for *waits_for, const void *user, bool *is_end);

#endif
