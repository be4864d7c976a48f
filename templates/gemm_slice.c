#include "templates/gemm_slice.h"

#include "codegen/control.h"

int lt_rank_bits(int count, int step)
{
    int bits = 0;

    for (int i = 0; i < count; i++)
        bits |= 1 << (i * step);
    return bits;
}

lt_value lt_ranks_from(struct lt_builder *b, const char *name, int bits, lt_value first)
{
    lt_value value = lt_op(b, name, "mov.b32", lt_hex((uint64_t)bits));

    return first.kind == LT_NOTHING ? value : lt_op(b, name, "shl.b32", value, first);
}

lt_value lt_slice_plus(struct lt_builder *b, const char *name, lt_value value, lt_value more)
{
    return more.kind == LT_NOTHING ? value : lt_op(b, name, "add.u32", value, more);
}

struct lt_slice lt_slice_of_a(struct lt_builder *b, const struct lathe_plan *plan,
                              const struct lt_schedule *schedule, int rows, int of, lt_value now)
{
    int sharers = lt_gemm_a_sharers(plan);
    struct lt_slice slice = {.mask = {0}};
    lt_value first = schedule->cluster_m;

    if (sharers == 1)
        return slice;
    lt_comment(b, "%d CTAs hold the same rows of A: each fetches %d of every %d for all", sharers,
               rows, of);
    slice.row = lt_op(b, "a_slice_row", "mul.lo.u32", schedule->cluster_n, now);
    slice.offset = lt_op(b, "a_slice", "mul.lo.u32", slice.row, lt_imm(LT_SPAN_BYTES));
    if (plan->cta_group == 2) /* cluster_m is the pair's place */
        first = lt_cluster_place_m(b, schedule, "cta_m");
    slice.mask = lt_ranks_from(b, "a_ranks", lt_rank_bits(sharers, plan->cluster[0]), first);
    slice.mask = lt_op(b, "a_mask", "cvt.u16.u32", slice.mask);
    return slice;
}

/* The first rank of this CTA's column, or of its half of the pairs there. */
static lt_value column_first(struct lt_builder *b, const struct lathe_plan *plan,
                             const struct lt_schedule *schedule, lt_value pair_rank)
{
    lt_value along = lt_imm(plan->cluster[0]);

    if (plan->cluster[1] == 1)
        return pair_rank;
    if (plan->cta_group == 1)
        return lt_op(b, "b_first_rank", "mul.lo.u32", schedule->cluster_n, along);
    return lt_op(b, "b_first_rank", "mad.lo.u32", schedule->cluster_n, along, pair_rank);
}

struct lt_slice lt_slice_of_b(struct lt_builder *b, const struct lathe_plan *plan,
                              const struct lt_schedule *schedule, int rows, int of,
                              lt_value pair_rank)
{
    int sharers = lt_gemm_b_sharers(plan);
    struct lt_slice slice = {.mask = {0}};

    if (sharers == 1)
        return slice;
    lt_comment(b, "%d CTAs hold the same rows of B: each fetches %d of %d for all", sharers, rows,
               of);
    slice.row = lt_op(b, "b_slice_row", "mul.lo.u32", schedule->cluster_m, lt_imm(rows));
    slice.offset = lt_op(b, "b_slice", "mul.lo.u32", slice.row, lt_imm(LT_SPAN_BYTES));
    slice.mask = lt_ranks_from(b, "b_ranks", lt_rank_bits(sharers, plan->cta_group),
                               column_first(b, plan, schedule, pair_rank));
    slice.mask = lt_op(b, "b_mask", "cvt.u16.u32", slice.mask);
    return slice;
}
