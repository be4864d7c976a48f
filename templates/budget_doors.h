/* budget_doors.h: the way around a wall. A search over stage counts ends where shared memory does;
 * this one looks along the other axes, the atom of the MMA, the tile, its k, the staging, the type
 * of D, the accumulators and a flow that can use more, for plans in which the ring is deeper. */
#ifndef LT_TEMPLATES_BUDGET_DOORS_H
#define LT_TEMPLATES_BUDGET_DOORS_H

#include "include/lathe_tools.h"

struct lt_door_search {
    const struct lathe_gemm *problem; /* resolved */
    const struct lathe_plan *named;   /* what was asked for, the rest at zero; labelled */
    const struct lathe_plan *plan;    /* the same, complete                             */
    int stages;                       /* that a door must give at least                 */
};

/* Finds doors, best first: those that leave the type of D as it is, then the fewest bytes from L2,
 * then the most stages. A door is one move along an axis, or a move along two that takes fewer
 * bytes from L2 than what either of them alone leads to. Returns how many there are, `room` at
 * most. */
int lt_find_budget_doors(const struct lt_door_search *search, struct lathe_door *doors, int room);

/* What is said of a door besides its words, by the plan that it leads to. */
void lt_describe_door(const struct lt_door_search *search, const struct lathe_plan *plan,
                      struct lathe_door *door);

#endif
