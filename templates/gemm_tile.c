#include "templates/gemm_tile.h"

int lt_gemm_span_columns(const struct lathe_plan *plan)
{
    return LT_SPAN_BYTES / lathe_type_bytes(plan->type);
}

bool lt_gemm_is_serial(const struct lathe_plan *plan)
{
    return plan->flow == LATHE_STEPWISE || plan->flow == LATHE_SERIAL;
}

int lt_gemm_cluster_size(const struct lathe_plan *plan)
{
    return plan->cluster[0] * plan->cluster[1];
}

void lt_gemm_cluster_tile(const struct lathe_plan *plan, int tile[2])
{
    tile[0] = plan->tile[0] / plan->cta_group * plan->cluster[0];
    tile[1] = plan->tile[1] * plan->cluster[1];
}

static bool shares(const struct lathe_plan *plan)
{
    return plan->flow == LATHE_SPECIALISED && plan->load == LATHE_COPY_TMA;
}

int lt_gemm_a_sharers(const struct lathe_plan *plan)
{
    return shares(plan) ? plan->cluster[1] : 1;
}

int lt_gemm_b_sharers(const struct lathe_plan *plan)
{
    return shares(plan) ? plan->cluster[0] / plan->cta_group : 1;
}

static int row_bytes(const struct lathe_plan *plan)
{
    return plan->tile[2] * lathe_type_bytes(plan->type);
}

int lt_gemm_a_bytes(const struct lathe_plan *plan)
{
    return plan->tile[0] / plan->cta_group * row_bytes(plan);
}

int lt_gemm_b_bytes(const struct lathe_plan *plan)
{
    return plan->tile[1] / plan->cta_group * row_bytes(plan);
}

int lt_gemm_stage_bytes(const struct lathe_plan *plan)
{
    return lt_gemm_a_bytes(plan) + lt_gemm_b_bytes(plan);
}

int lt_gemm_expected_bytes(const struct lathe_plan *plan)
{
    return plan->load == LATHE_COPY_THREADS ? 0 : plan->cta_group * lt_gemm_stage_bytes(plan);
}

double lt_gemm_l2_bytes(const struct lathe_plan *plan)
{
    int tile[2] = {plan->tile[0] / plan->cta_group, plan->tile[1]};

    if (shares(plan))
        lt_gemm_cluster_tile(plan, tile);
    return (double)(tile[0] + tile[1]) * lathe_type_bytes(plan->type) /
           (2.0 * (double)tile[0] * (double)tile[1]);
}

int lt_gemm_places(const struct lathe_plan *plan)
{
    int places = plan->sms / lt_gemm_cluster_size(plan);

    return plan->schedule == LATHE_SINGLE || places < 1 ? 1 : places;
}

static double ceil_div(int64_t a, int b)
{
    return (double)((a + b - 1) / b);
}

double lt_gemm_waves(const struct lathe_plan *plan, const struct lathe_gemm *problem)
{
    int places = lt_gemm_places(plan);
    int tile[2];

    lt_gemm_cluster_tile(plan, tile);
    return ceil_div(problem->m, tile[0]) * ceil_div(problem->n, tile[1]) / places;
}

bool lt_gemm_goes_by_rows(enum lathe_schedule schedule)
{
    return schedule == LATHE_GRID || schedule == LATHE_SINGLE;
}
