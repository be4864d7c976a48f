/* gemm_sm90_load.c: A and B of one step of k, by TMA; in a cluster what the CTAs share is fetched
 * once, a slice by each. */
#include "codegen/control.h"
#include "codegen/tma.h"
#include "templates/gemm_sm90_parts.h"

/* Whether A may be shorter than a tile. Rows of a box that lie outside A come as zeros, but take
 * TMA longer than real ones: 5 us of 21 with m = 1, n = 6144, k = 4096 on an H200. So the boxes
 * have no more rows than A; what stands in shared memory below them only reaches rows of D that are
 * none. */
static bool may_be_short(const struct lathe_plan *plan)
{
    return plan->static_size[0] < plan->tile[0];
}

static void measure_a(struct lt_builder *b, const struct lt_gemm *g, struct lt_slices *s)
{
    const struct lathe_plan *plan = g->plan;
    int shared_by = lt_gemm_a_sharers(plan), slice = lt_gemm_a_slice_rows(plan);
    int b_bytes = g->tiles.bytes - lt_gemm_a_bytes(plan);

    s->a_rows = lt_imm(slice);
    s->stage_bytes = lt_imm(g->tiles.bytes);
    if (!may_be_short(plan) || !lt_gemm_fits_a(plan))
        return;

    lt_comment(b, "boxes of A end with A: rows outside take TMA longer than rows inside");
    lt_value rows = lt_op(b, "a_rows", "add.u32", g->m, lt_imm(LT_SWIZZLE_ROWS - 1));
    lt_note(b, "the swizzle repeats every %d rows", LT_SWIZZLE_ROWS);
    rows = lt_op(b, "a_rows", "and.b32", rows, lt_hex(0xffffffff - LT_SWIZZLE_ROWS + 1));
    s->a_rows = lt_op(b, "a_rows", "min.u32", rows, lt_imm(slice));

    lt_value all = s->a_rows;

    if (shared_by > 1) {
        lt_value boxes = lt_op(b, "a_boxes", "add.u32", g->m, s->a_rows);
        boxes = lt_op(b, "a_boxes", "sub.u32", boxes, lt_imm(1));
        boxes = lt_op(b, "a_boxes", "div.u32", boxes, s->a_rows);
        boxes = lt_op(b, "a_boxes", "min.u32", boxes, lt_imm(shared_by));
        s->fetches_a = lt_op(b, "fetches_a", "setp.lt.u32", g->schedule.cluster_n, boxes);
        all = lt_op(b, "a_rows_of_all", "mul.lo.u32", boxes, s->a_rows);
    }
    lt_note(b, "what lands in a stage, also by other CTAs' multicasts");
    s->stage_bytes = lt_op(b, "stage_bytes", "mad.lo.u32", all, lt_imm(g->spans * LT_SPAN_BYTES),
                           lt_imm(b_bytes));
}

struct lt_slices lt_gemm_slices(struct lt_builder *b, const struct lt_gemm *g)
{
    const int *tile = g->plan->tile;
    struct lt_slices s = {.a_rows = {0}};

    measure_a(b, g, &s);
    s.a = lt_slice_of_a(b, g->plan, &g->schedule, lt_gemm_a_slice_rows(g->plan), tile[0], s.a_rows);
    s.b = lt_slice_of_b(b, g->plan, &g->schedule, lt_gemm_b_slice_rows(g->plan), tile[1],
                        (lt_value){0});
    return s;
}

struct lt_tile lt_gemm_slice_rows(struct lt_builder *b, const struct lt_slices *s,
                                  const struct lt_tile *tile)
{
    return (struct lt_tile){.m = lt_slice_plus(b, "a_row", tile->m, s->a.row),
                            .n = lt_slice_plus(b, "b_row", tile->n, s->b.row)};
}

/* Where the stage begins: a register, or a constant distance behind the ring's start. */
static lt_value stage_start(struct lt_builder *b, const struct lt_gemm *g, lt_value stage)
{
    if (stage.kind == LT_INTEGER)
        return lt_at(g->ring_start, (int)stage.number * g->tiles.bytes);
    return lt_op(b, "a_tile", "mad.lo.u32", stage, lt_imm(g->tiles.bytes), g->ring_start);
}

void lt_gemm_load(struct lt_builder *b, const struct lt_gemm *g, const struct lt_slices *s,
                  const struct lt_cursor *stage, const struct lt_tile *rows, lt_value k_block)
{
    const struct lathe_plan *plan = g->plan;
    lt_value a = stage_start(b, g, stage->stage);
    lt_value b_tile = stage->stage.kind == LT_INTEGER
                          ? lt_at(a, lt_gemm_a_bytes(plan))
                          : lt_op(b, "b_tile", "add.u32", a, lt_imm(lt_gemm_a_bytes(plan)));
    lt_value k = lt_op(b, "k_column", "mad.lo.u32", k_block, lt_imm(plan->tile[2]), g->k_first);

    a = lt_slice_plus(b, "a_tile", a, s->a.offset);
    b_tile = lt_slice_plus(b, "b_tile", b_tile, s->b.offset);
    for (int span = 0; span < g->spans; span++) {
        lt_value a_now = lt_at(a, span * plan->tile[0] * LT_SPAN_BYTES);
        lt_value b_now = lt_at(b_tile, span * plan->tile[1] * LT_SPAN_BYTES);

        if (span > 0)
            k = lt_op(b, "k_column", "add.u32", k, lt_imm(g->span_k));
        if (s->fetches_a.kind == LT_NOTHING)
            lt_tma_load(b, g->map_a, k, rows->m, a_now, stage->full, s->a.mask);
        else
            LT_WHEN (b, s->fetches_a)
                lt_tma_load(b, g->map_a, k, rows->m, a_now, stage->full, s->a.mask);
        lt_tma_load(b, g->map_b, k, rows->n, b_now, stage->full, s->b.mask);
    }
}
