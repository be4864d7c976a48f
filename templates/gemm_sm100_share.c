/* gemm_sm100_share.c: what the CTAs of a cluster do for each other. Rank r of an A x B cluster
 * stands at (x, y) = (r % A, r / A). CTAs of one x, a row of the cluster, hold the same rows of A:
 * ranks x + A * i. Those of one y, a column, hold the same rows of B: ranks A * y + i; of pairs
 * those of the same half, every second one. Each fetches a slice of what it holds and has TMA bring
 * it to all who hold it.
 *
 * So several CTAs fill each stage, and a commit that lets a stage go has to reach them all: those
 * of the row and those of the column, and of a pair both rows. */
#include "codegen/control.h"
#include "templates/gemm_sm100_kernel.h"

bool lt_gemm_sm100_shares(const struct lathe_plan *plan)
{
    return lt_gemm_a_sharers(plan) * lt_gemm_b_sharers(plan) > 1;
}

/* A bit for each of so many ranks, `step` apart. */
static int ranks(int count, int step)
{
    int mask = 0;

    for (int i = 0; i < count; i++)
        mask |= 1 << (i * step);
    return mask;
}

/* `mask` from rank `first` on, which is 0 where there is nothing. */
static lt_value shifted(struct lt_builder *b, const char *name, int mask, lt_value first)
{
    lt_value value = lt_op(b, name, "mov.b32", lt_hex((uint64_t)mask));

    return first.kind == LT_NOTHING ? value : lt_op(b, name, "shl.b32", value, first);
}

/* ---- Slices: one thread of each CTA ---- */

/* Where the slice with that number begins. */
static void place(struct lt_builder *b, struct lt_gemm_sm100_slice *slice, const char *row_name,
                  const char *offset_name, lt_value number, int rows)
{
    slice->row = lt_op(b, row_name, "mul.lo.u32", number, lt_imm(rows));
    slice->offset = lt_op(b, offset_name, "mul.lo.u32", slice->row, lt_imm(LT_SPAN_BYTES));
}

static struct lt_gemm_sm100_slice slice_a(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    int sharers = lt_gemm_a_sharers(plan), rows = lt_gemm_sm100_a_slice_rows(plan);
    struct lt_gemm_sm100_slice slice = {.mask = {0}};
    lt_value first = s->g.schedule.cluster_m;

    if (sharers == 1)
        return slice;
    lt_comment(b, "%d CTAs hold the same rows of A: each fetches %d of every %d for all", sharers,
               rows, s->cta_rows);
    place(b, &slice, "a_slice_row", "a_slice", s->g.schedule.cluster_n, rows);
    if (plan->cta_group == 2)
        first = lt_op(b, "cta_m", "mov.u32", lt_special("%cluster_ctaid.x"));
    slice.mask = shifted(b, "a_ranks", ranks(sharers, plan->cluster[0]), first);
    slice.mask = lt_op(b, "a_mask", "cvt.u16.u32", slice.mask);
    return slice;
}

/* The first rank of this CTA's column, or of its half of the pairs there. */
static lt_value column_first(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    lt_value column = s->g.schedule.cluster_n, along = lt_imm(plan->cluster[0]);

    if (plan->cluster[1] == 1)
        return s->pair_rank;
    if (plan->cta_group == 1)
        return lt_op(b, "b_first_rank", "mul.lo.u32", column, along);
    return lt_op(b, "b_first_rank", "mad.lo.u32", column, along, s->pair_rank);
}

static struct lt_gemm_sm100_slice slice_b(struct lt_builder *b, const struct lt_gemm_sm100 *s)
{
    const struct lathe_plan *plan = s->g.plan;
    int sharers = lt_gemm_b_sharers(plan), rows = lt_gemm_sm100_b_slice_rows(plan);
    struct lt_gemm_sm100_slice slice = {.mask = {0}};

    if (sharers == 1)
        return slice;
    lt_comment(b, "%d CTAs hold the same rows of B: each fetches %d of %d for all", sharers, rows,
               s->cta_columns);
    place(b, &slice, "b_slice_row", "b_slice", s->g.schedule.cluster_m, rows);
    slice.mask = shifted(b, "b_ranks", ranks(sharers, plan->cta_group), column_first(b, s));
    slice.mask = lt_op(b, "b_mask", "cvt.u16.u32", slice.mask);
    return slice;
}

struct lt_gemm_sm100_slices lt_gemm_sm100_slices(struct lt_builder *b,
                                                 const struct lt_gemm_sm100 *s)
{
    struct lt_gemm_sm100_slices slices;

    slices.a = slice_a(b, s);
    slices.b = slice_b(b, s);
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
    lt_value column = shifted(b, "column_ranks", ranks(along, 1), first);

    first = s->g.schedule.cluster_m;
    if (group == 2)
        first = lt_op(b, "row_first_rank", "mul.lo.u32", first, lt_imm(group));

    lt_value row = shifted(b, "row_ranks", ranks(group, 1) * ranks(plan->cluster[1], along), first);

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
        mask = shifted(b, "filling_ranks", ranks(lt_gemm_cluster_size(plan), 1), (lt_value){0});
    return lt_op(b, "filling_mask", "cvt.u16.u32", mask);
}
