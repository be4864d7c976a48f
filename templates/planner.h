/* planner.h: from what was asked for to a plan, in two steps: what is named, then the rest. */
#ifndef LT_TEMPLATES_PLANNER_H
#define LT_TEMPLATES_PLANNER_H

#include "include/lathe.h"

#include <stdbool.h>

/* A plan in which what the options name stands, the rest is zero, and the label says from which
 * preset it starts. `problem` is resolved. Errors: LATHE_BAD_WORD, LATHE_UNSUPPORTED (no such
 * variant, or not for this architecture). */
enum lathe_status lt_name_plan(struct lathe_plan *named, const struct lathe_gemm *problem,
                               const struct lathe_plan_options *options, struct lathe_error *err);

/* Chooses the rest and checks the whole; also after a failure the plan is as complete as it came.
 */
enum lathe_status lt_complete_plan(struct lathe_plan *plan, const struct lathe_gemm *problem,
                                   struct lathe_error *err);

/* Copies what the caller gave, of whatever header, and checks that each option is in range. */
enum lathe_status lt_import_request(struct lathe_gemm *problem, struct lathe_plan_options *options,
                                    const struct lathe_gemm *given,
                                    const struct lathe_plan_options *given_options,
                                    struct lathe_error *err);

/* A request, and how far its planning came. */
struct lt_attempt {
    const struct lathe_gemm *given;           /* as it was asked for                           */
    const struct lathe_plan_options *options; /* what was named                                */
    bool resolved;                            /* false: the problem itself was refused, and the
                                               * rest is empty */
    struct lathe_gemm problem;                /* resolved                                      */
    struct lathe_plan named;                  /* see lt_name_plan()                            */
    struct lathe_plan plan;                   /* as complete as it came                        */
};

/* Resolves and plans, and looks for no way out of a refusal. The attempt points to what is given.
 */
enum lathe_status lt_attempt_plan(struct lt_attempt *attempt, const struct lathe_gemm *given,
                                  const struct lathe_plan_options *options,
                                  struct lathe_error *err);

/* The refusal of a plan for whose label there is no variant. */
enum lathe_status lt_refuse_variant(const struct lathe_plan *plan, struct lathe_error *err);

#endif
