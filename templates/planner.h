/* planner.h: from what was asked for to a plan, in two steps: what is named, then the rest. */
#ifndef LT_TEMPLATES_PLANNER_H
#define LT_TEMPLATES_PLANNER_H

#include "include/lathe.h"

/* A plan in which what the options name stands, the rest is zero, and the label says from which
 * preset it starts. `problem` is resolved. Errors: LATHE_BAD_WORD, LATHE_UNSUPPORTED (no such
 * variant, or not for this architecture). */
enum lathe_status lt_name_plan(struct lathe_plan *named, const struct lathe_gemm *problem,
                               const struct lathe_plan_options *options, struct lathe_error *err);

/* Chooses the rest and checks the whole; also after a failure the plan is as complete as it came.
 */
enum lathe_status lt_complete_plan(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                   struct lathe_error *err);

/* The refusal of a plan for whose label there is no variant. */
enum lathe_status lt_refuse_variant(const struct lathe_plan *plan, struct lathe_error *err);

#endif
