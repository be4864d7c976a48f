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

/* A request that was refused, and how far it came. */
struct lt_refusal {
    const struct lathe_gemm *given;           /* as it was asked for  */
    const struct lathe_plan_options *options; /* what was named       */
    lt_planner planner;
    const struct lathe_gemm *problem; /* resolved; null where the problem itself was refused */
    const struct lathe_plan *named;   /* see lt_name_plan()                                  */
    const struct lathe_plan *plan;    /* as far as it came                                   */
};

/* Adds the doors of the refusal to the error that says why. */
void lt_find_doors(const struct lt_refusal *refusal, struct lathe_error *err);

#endif
