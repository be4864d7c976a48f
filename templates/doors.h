/* doors.h: what would make a refused plan possible.
 *
 * Each door is a set of words that, appended to the request, gives a plan that can exist; every one
 * is tried before it is named. */
#ifndef LT_TEMPLATES_DOORS_H
#define LT_TEMPLATES_DOORS_H

#include "include/lathe.h"

/* Plans the request; used to try doors, without looking for further ones. */
typedef enum lathe_status (*lt_planner)(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                        const struct lathe_plan_options *options,
                                        struct lathe_error *err);

/* Adds the doors of a refused gemm to the error that says why. `refused` is the plan as far as it
 * came, or null where the problem itself was refused. */
void lt_find_doors(const struct lathe_gemm *problem, const struct lathe_plan_options *options,
                   const struct lathe_plan *refused, lt_planner planner, struct lathe_error *err);

#endif
