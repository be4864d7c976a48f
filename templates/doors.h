/* doors.h: what would make a refused plan possible, and what would give a plan more stages.
 *
 * Each door is a set of words that, appended to the request, gives a plan that can exist; every one
 * is planned as any request is before it is named. */
#ifndef LT_TEMPLATES_DOORS_H
#define LT_TEMPLATES_DOORS_H

#include "include/lathe_tools.h"
#include "templates/planner.h"

/* The deepest ring that the flow of a complete plan can use and that fits beside the rest of it; 0
 * where there is none. */
int lt_most_stages(const struct lathe_plan *plan);

/* The doors around the budget of a plan that fits, to more stages than do; of one that does not, to
 * as many as were asked for, or, where there is no such way, to more than fit. Best first; returns
 * how many there are, `room` at most. */
int lt_find_ways_around(const struct lt_attempt *attempt, struct lathe_door *doors, int room);

/* Adds to the error that says why the attempt failed what would not. Where it does not fit that
 * begins with the given doors around its budget. */
void lt_add_ways_out(const struct lt_attempt *attempt, const struct lathe_door *doors, int count,
                     struct lathe_error *err);
/* The same; the doors are looked for. */
void lt_find_ways_out(const struct lt_attempt *attempt, struct lathe_error *err);

#endif
