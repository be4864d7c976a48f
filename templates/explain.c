/* explain.c: lathe_explain_gemm(): where a plan's shared memory goes, and what stands in the way of
 * one more stage. */
#include "codegen/arch.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "include/lathe_tools.h"
#include "templates/doors.h"
#include "templates/gemm_tile.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

static void measure(struct lathe_explanation *e, const struct lathe_gemm *problem)
{
    const struct lathe_plan *plan = &e->plan;
    lt_gemm_budget_of budget_of = lt_variant_of(plan)->budget_of;
    struct lathe_plan beyond = *plan;
    struct lt_budget budget;

    e->a_bytes = lt_gemm_a_bytes(plan);
    e->b_bytes = lt_gemm_b_bytes(plan);
    e->expected_bytes = lt_gemm_expected_bytes(plan);
    e->room_stages = lt_gemm_stages_that_fit(plan, budget_of, 0);
    e->least_stages = lt_variant_of(plan)->stages_of(plan).least;
    e->most_stages = lt_most_stages(plan);
    beyond.stages = e->room_stages + 1;
    budget_of(&beyond, &budget);
    e->wall_bytes = budget.bytes;
    e->l2_bytes = lt_gemm_l2_bytes(plan);
    e->waves = lt_gemm_waves(plan, problem);
}

/* Shared memory, tensor memory, or the rules of the flow: whichever is met first. */
static void name_limit(struct lathe_explanation *e)
{
    const struct lathe_plan *plan = &e->plan;
    int tmem = lt_arch(plan->arch)->tmem_columns;
    char bytes[LATHE_GROUPED_SIZE];
    size_t size = sizeof e->limit;

    if (plan->tmem_columns > tmem)
        snprintf(e->limit, size, "tensor memory: %d columns are needed, and there are %d",
                 plan->tmem_columns, tmem);
    else if (plan->smem_bytes > plan->smem_limit)
        snprintf(e->limit, size, "shared memory: %s bytes too many",
                 lathe_grouped(plan->smem_bytes - plan->smem_limit, bytes));
    else if (lt_gemm_is_serial(plan))
        snprintf(e->limit, size, "the flow: one stage is all it can use; %s bytes stay free",
                 lathe_grouped(plan->smem_limit - plan->smem_bytes, bytes));
    else if (plan->stages < e->most_stages)
        snprintf(e->limit, size, "nothing yet: %d stages are used, %d fit", plan->stages,
                 e->most_stages);
    else
        snprintf(e->limit, size, "shared memory is full");
    if (tmem > 0 && plan->tmem_columns <= tmem) {
        size_t length = strlen(e->limit);

        snprintf(e->limit + length, size - length, "; tensor memory: %d of %d columns",
                 plan->tmem_columns, tmem);
    }
}

static void explain(struct lathe_explanation *e, const struct lt_attempt *attempt,
                    const struct lathe_error *refusal)
{
    *e = (struct lathe_explanation)LATHE_EXPLANATION_INIT;
    e->plan = attempt->plan;
    e->fits = refusal->status == LATHE_OK;
    measure(e, &attempt->problem);
    name_limit(e);
    e->door_count = lt_find_ways_around(attempt, e->doors, LATHE_DOORS_MAX);
    e->refusal = *refusal;
    lt_add_ways_out(attempt, e->doors, e->door_count, &e->refusal);
}

static enum lathe_status check_place(const struct lathe_explanation *explanation,
                                     struct lathe_error *err)
{
    if (!explanation)
        return lt_fail(err, LATHE_MISUSED, "lathe_explain_gemm: no place for the explanation");
    return lt_check_layout(explanation, "lathe_explanation", err);
}

enum lathe_status lathe_explain_gemm(struct lathe_explanation *explanation,
                                     const struct lathe_gemm *given,
                                     const struct lathe_plan_options *given_options,
                                     struct lathe_error *err)
{
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    struct lathe_error refusal = {.status = LATHE_OK};
    struct lt_attempt attempt;
    enum lathe_status status = check_place(explanation, err);

    if (status == LATHE_OK && !given)
        status = lt_fail(err, LATHE_MISUSED, "lathe_explain_gemm: no problem");
    if (status == LATHE_OK)
        status = lt_import_request(&problem, &options, given, given_options, err);
    if (status != LATHE_OK)
        return status;
    status = lt_attempt_plan(&attempt, &problem, &options, &refusal);
    if (status == LATHE_OK || status == LATHE_DOES_NOT_FIT) {
        explain(explanation, &attempt, &refusal);
        return LATHE_OK;
    }
    lt_find_ways_out(&attempt, &refusal);
    if (err)
        *err = refusal;
    return status;
}
