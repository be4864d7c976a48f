/* gemm_sm100_share.c: what the CTAs of a cluster fetch for each other (gemm_slice.h), and whom they
 * tell. Several CTAs fill each stage, so a commit that lets a stage go has to reach them all: those
 * of the row and those of the column, and of a pair both rows. */
#include "codegen/control.h"
#include "templates/gemm_sm100_kernel.h"

bool lt_gemm_sm100_shares(const struct lathe_plan *plan)
{
    return lt_gemm_a_sharers(plan) * lt_gemm_b_sharers(plan) > 1;
}

struct lt_gemm_sm100_slices lt_gemm_sm100_slices(struct lt_builder *b,
                                                 const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    int a_rows = lt_gemm_sm100_a_slice_rows(plan);
    struct lt_gemm_sm100_slices slices;

    slices.a = lt_slice_of_a(b, plan, &s->g.schedule, a_rows, s->cta_rows, lt_imm(a_rows));
    slices.b = lt_slice_of_b(b, plan, &s->g.schedule, lt_gemm_sm100_b_slice_rows(plan),
                             s->cta_columns, s->pair_rank);
    return slices;
}

/* ---- Letting a stage go: one thread of each CTA, or pair ---- */

/* All of the row and all of the column. */
static lt_value cross(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    int along = plan->cluster[0], group = plan->cta_group;
    lt_value first =
        lt_op(b, "column_first_rank", "mul.lo.u32", s->g.schedule.cluster_n, lt_imm(along));
    lt_value column = lt_ranks_from(b, "column_ranks", lt_rank_bits(along, 1), first);

    first = s->g.schedule.cluster_m;
    if (group == 2)
        first = lt_op(b, "row_first_rank", "mul.lo.u32", first, lt_imm(group));

    lt_value row = lt_ranks_from(
        b, "row_ranks", lt_rank_bits(group, 1) * lt_rank_bits(plan->cluster[1], along), first);

    return lt_op(b, "filling_ranks", "or.b32", column, row);
}

lt_value lt_gemm_sm100_filling_mask(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    lt_value mask;

    if (!lt_gemm_sm100_shares(plan))
        return s->pair_mask;
    lt_comment(b, "a stage is filled by all CTAs that hold the same of A or of B: a commit that "
                  "lets it");
    lt_comment(b, "go reaches each of them");
    if (lt_gemm_a_sharers(plan) > 1 && lt_gemm_b_sharers(plan) > 1)
        mask = cross(b, s);
    else /* the cluster is a single row or column */
        mask = lt_ranks_from(b, "filling_ranks", lt_rank_bits(lt_gemm_cluster_size(plan), 1),
                             (lt_value){0});
    return lt_op(b, "filling_mask", "cvt.u16.u32", mask);
}
