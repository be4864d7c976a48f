/* explain.c: lathe_explain_gemm(): where a plan's shared memory goes, and what stands in the way of
 * one more stage. */
#include "codegen/arch.h"
#include "codegen/plan.h"
#include "codegen/status.h"
#include "include/lathe_tools.h"
#include "templates/budget_doors.h"
#include "templates/gemm_tile.h"
#include "templates/planner.h"
#include "templates/registry.h"

#include <stdio.h>
#include <string.h>

static bool is_serial(const struct lathe_plan *plan)
{
    return plan->flow == LATHE_STEPWISE || plan->flow == LATHE_SERIAL;
}

static void measure(struct lathe_explanation *e, const struct lathe_gemm *problem)
{
    const struct lathe_plan *plan = &e->plan;
    lt_gemm_budget_of budget_of = lt_variant_of(plan)->budget_of;
    struct lathe_plan beyond = *plan;
    struct lt_budget budget;

    e->a_bytes = lt_gemm_a_bytes(plan);
    e->b_bytes = lt_gemm_b_bytes(plan);
    e->expected_bytes = lt_gemm_expected_bytes(plan);
    e->most_stages = lt_gemm_stages_that_fit(plan, budget_of, 0);
    beyond.stages = e->most_stages + 1;
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
    size_t size = sizeof e->limit;

    if (plan->tmem_columns > tmem)
        snprintf(e->limit, size, "tensor memory: %d columns are needed, and there are %d",
                 plan->tmem_columns, tmem);
    else if (plan->smem_bytes > plan->smem_limit)
        snprintf(e->limit, size, "shared memory: %d bytes too many",
                 plan->smem_bytes - plan->smem_limit);
    else if (is_serial(plan))
        snprintf(e->limit, size, "the flow: one stage is all it can use; %d bytes stay free",
                 plan->smem_limit - plan->smem_bytes);
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

static void find_doors(struct lathe_explanation *e, const struct lathe_gemm *problem,
                       const struct lathe_plan *named)
{
    const struct lt_door_search search = {
        .problem = problem,
        .named = named,
        .plan = &e->plan,
        .stages = e->fits ? e->most_stages + 1 : lt_stages_asked_for(named),
    };

    e->door_count = lt_find_budget_doors(&search, e->doors, LATHE_DOORS_MAX);
}

static enum lathe_status explain(struct lathe_explanation *e, const struct lathe_gemm *given,
                                 const struct lathe_plan_options *given_options,
                                 const struct lathe_error *refusal, struct lathe_error *err)
{
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    struct lathe_plan named;
    enum lathe_status status = lt_import(&problem, given, "lathe_gemm", err);

    if (status == LATHE_OK)
        status = lt_import_options(&options, given_options, err);
    if (status == LATHE_OK)
        status = lt_gemm_resolve(&problem, err);
    if (status == LATHE_OK)
        status = lt_name_plan(&named, &problem, &options, err);
    if (status != LATHE_OK)
        return status;

    memset(e, 0, sizeof *e);
    e->plan = named;
    e->fits = lt_complete_plan(&e->plan, &problem, NULL) == LATHE_OK;
    if (!e->fits)
        snprintf(e->refusal, sizeof e->refusal, "%s", refusal->message);
    measure(e, &problem);
    name_limit(e);
    find_doors(e, &problem, &named);
    return LATHE_OK;
}

enum lathe_status lathe_explain_gemm(struct lathe_explanation *explanation,
                                     const struct lathe_gemm *problem,
                                     const struct lathe_plan_options *options,
                                     struct lathe_error *err)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_error refusal = {.status = LATHE_OK};

    if (!explanation || !problem)
        return lt_fail(err, LATHE_MISUSED, "lathe_explain_gemm: no %s",
                       problem ? "place for the explanation" : "problem");

    enum lathe_status status = lathe_plan_gemm(&plan, problem, options, &refusal);

    if (status == LATHE_OK || status == LATHE_DOES_NOT_FIT)
        return explain(explanation, problem, options, &refusal, err);
    if (err)
        *err = refusal;
    return status;
}
