/* gemm_sm100_load.c: A and B of one step of k: by TMA, or copied by threads. */
#include "codegen/control.h"
#include "codegen/fragment.h"
#include "codegen/tma.h"
#include "templates/gemm_sm100_kernel.h"

/* ---- By TMA ---- */

static bool has_pairs(const struct lt_gemm_sm100 *s)
{
    return s->g.plan->cta_group == 2;
}

/* The bytes count on the leader's barrier; it alone announces them, those of both CTAs. */
static lt_value announce(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                         const struct lt_cursor *stage)
{
    lt_value bytes = lt_imm(lt_gemm_expected_bytes(s->g.plan));

    if (!has_pairs(s)) {
        lt_mbarrier_arrive_expect_tx(b, stage->full, bytes);
        return stage->full;
    }
    LT_WHEN (b, s->is_leader)
        lt_mbarrier_arrive_expect_tx(b, stage->full, bytes);
    lt_note(b, lt_gemm_sm100_shares(s->g.plan)
                   ? "the same barrier in the even CTA of each pair that gets bytes"
                   : "the same barrier in the even CTA of the pair");
    return lt_op(b, "leader_full", "and.b32", stage->full, lt_hex(0xfeffffff));
}

static void fetch(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value map,
                  lt_value column, lt_value row, lt_value to, lt_value full, lt_value mask)
{
    if (has_pairs(s))
        lt_tma_load_for_pair(b, map, column, row, to, full, mask);
    else
        lt_tma_load(b, map, column, row, to, full, mask);
}

/* Where what this CTA fetches of a tile begins: in its half of the pair's rows, its slice. */
static lt_value own_part(struct lt_builder *b, const struct lt_gemm_sm100 *s, const char *name,
                         lt_value first, int rows, const struct lt_slice *slice)
{
    if (has_pairs(s))
        first = lt_op(b, name, "mad.lo.u32", s->pair_rank, lt_imm(rows), first);
    return lt_slice_plus(b, name, first, slice->row);
}

static lt_value stage_start(struct lt_builder *b, const struct lt_gemm_sm100 *s, lt_value stage)
{
    if (stage.kind == LT_INTEGER)
        return lt_at(s->g.ring_start, (int)stage.number * s->g.tiles.bytes);
    return lt_op(b, "a_tile", "mad.lo.u32", stage, lt_imm(s->g.tiles.bytes), s->g.ring_start);
}

void lt_gemm_sm100_load(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                        const struct lt_gemm_sm100_slices *slices, const struct lt_cursor *stage,
                        const struct lt_tile *tile, lt_value k_block)
{
    const struct lathe_plan *plan = s->g.plan;
    int mma_rows = plan->tile[0] / plan->consumers;
    lt_value full = announce(b, s, stage);
    lt_value start = stage_start(b, s, stage->stage);
    lt_value a = lt_slice_plus(b, "a_to", start, slices->a.offset);
    lt_value b_tile =
        lt_at(lt_slice_plus(b, "b_to", start, slices->b.offset), lt_gemm_a_bytes(plan));
    lt_value a_row = own_part(b, s, "a_row", tile->m, s->cta_rows, &slices->a);
    lt_value b_row = own_part(b, s, "b_row", tile->n, s->cta_columns, &slices->b);
    lt_value k = lt_op(b, "k_column", "mad.lo.u32", k_block, lt_imm(plan->tile[2]), s->g.k_first);

    for (int span = 0; span < s->g.spans; span++) {
        if (span > 0)
            k = lt_op(b, "k_column", "add.u32", k, lt_imm(s->g.span_k));
        for (int i = 0; i < plan->consumers; i++) {
            int rows_before = (span * plan->consumers + i) * s->cta_rows;
            lt_value row = lt_plus(b, "next_a_row", a_row, i * mma_rows);

            fetch(b, s, s->g.map_a, k, row, lt_at(a, rows_before * LT_SPAN_BYTES), full,
                  slices->a.mask);
        }
        fetch(b, s, s->g.map_b, k, b_row, lt_at(b_tile, span * s->cta_columns * LT_SPAN_BYTES),
              full, slices->b.mask);
    }
}

/* ---- By threads ---- */

/* Of a matrix of 16-bit elements: a thread copies the same piece of 16 bytes of every 16th row. */
enum { PIECE_BYTES = 16, PIECE_ELEMENTS = 8, PIECES_A_ROW = 8, ROWS_AT_A_TIME = 16 };

struct copier {
    lt_value row, piece; /* of this thread, in a tile                                  */
    lt_value swizzled;   /* where that piece of that row lies, in bytes from the row's */
    lt_value column;     /* of k, in the matrix                                        */
    lt_value left;       /* columns of k from there on; none: 0 or negative            */
    struct lt_vector words;
};

static struct copier begin_copy(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                                lt_value k_block, int span)
{
    struct copier c;

    lt_comment(
        b, "a thread has one piece of 16 bytes in every 16th row; the 128-byte swizzle xors its");
    lt_comment(b, "number with the low three bits of the row");
    c.row = lt_op(b, "copy_row", "shr.u32", s->g.thread, lt_imm(3));
    c.piece = lt_op(b, "copy_piece", "and.b32", s->g.thread, lt_imm(PIECES_A_ROW - 1));
    lt_value bits = lt_op(b, "copy_bits", "and.b32", c.row, lt_imm(7));

    c.swizzled = lt_op(b, "copy_to", "xor.b32", c.piece, bits);
    c.swizzled = lt_op(b, "copy_to", "mul.lo.u32", c.swizzled, lt_imm(PIECE_BYTES));
    c.column =
        lt_op(b, "copy_column", "mad.lo.u32", k_block, lt_imm(s->g.plan->tile[2]), s->g.k_first);
    c.column = lt_plus(b, "copy_column", c.column, span * s->g.span_k);
    c.column = lt_op(b, "copy_column", "mad.lo.u32", c.piece, lt_imm(PIECE_ELEMENTS), c.column);
    c.left = lt_op(b, "copy_left", "sub.u32", s->g.k, c.column);
    c.words = lt_vector(b, LT_B32, "word", 4);
    return c;
}

/* The elements of a piece that ends within it. */
static void load_elements(struct lt_builder *b, const struct copier *c, lt_value from)
{
    for (int i = 0; i < PIECE_ELEMENTS; i += 2) {
        lt_value low = lt_op(b, "copy_low", "mov.b16", lt_imm(0));
        lt_value high = lt_op(b, "copy_high", "mov.b16", lt_imm(0));

        LT_WHEN (b, lt_op(b, "copy_has", "setp.gt.s32", c->left, lt_imm(i)))
            lt_load_global(b, LATHE_F16, low, lt_at(from, 2 * i));
        if (i + 1 < PIECE_ELEMENTS - 1)
            LT_WHEN (b, lt_op(b, "copy_has", "setp.gt.s32", c->left, lt_imm(i + 1)))
                lt_load_global(b, LATHE_F16, high, lt_at(from, 2 * i + 2));
        lt_inst(b, "mov.b32 %0, {%1, %2};", lt_element(&c->words, i / 2), low, high);
    }
}

static void store_piece(struct lt_builder *b, const struct lt_vector *w, lt_value at)
{
    lt_inst(b, "st.shared.v4.b32 [%0], {%1, %2, %3, %4};", at, lt_element(w, 0), lt_element(w, 1),
            lt_element(w, 2), lt_element(w, 3));
}

/* Rows of one operand: `first` is that of the tile in the matrix, of which there are `rows`. */
static void copy_rows(struct lt_builder *b, const struct copier *c, const char *matrix,
                      const char *pitch, lt_value first, lt_value rows, int count, lt_value to)
{
    const struct lt_vector *w = &c->words;
    lt_value start = lt_param_load(b, matrix), elements = lt_param_load(b, pitch);
    lt_value column = lt_op(b, "copy_column_64", "cvt.u64.u32", c->column);

    LT_REPEAT (b, pass, lt_imm((count + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME)) {
        lt_value row =
            lt_op(b, "pass_row", "mad.lo.u32", pass.index, lt_imm(ROWS_AT_A_TIME), c->row);
        lt_value at = lt_op(b, "pass_to", "mad.lo.u32", row, lt_imm(LT_SPAN_BYTES), to);

        at = lt_op(b, "pass_to", "add.u32", at, c->swizzled);
        lt_value is_of_tile = {0};

        if (count % ROWS_AT_A_TIME != 0) {
            lt_note(b, "the last pass goes beyond the tile");
            is_of_tile = lt_op(b, "pass_of_tile", "setp.lt.u32", row, lt_imm(count));
        }
        row = lt_op(b, "pass_row", "add.u32", row, first);
        lt_value inside = lt_op(b, "pass_inside", "setp.lt.u32", row, rows);
        lt_value whole = lt_op(b, "pass_whole", "setp.gt.s32", c->left, lt_imm(PIECE_ELEMENTS - 1));
        lt_value some = lt_op(b, "pass_some", "setp.gt.s32", c->left, lt_imm(0));
        lt_value wide_row = lt_op(b, "pass_row_64", "cvt.u64.u32", row);
        lt_value from = lt_op(b, "pass_from", "mad.lo.u64", wide_row, elements, column);

        from = lt_op(b, "pass_from", "mad.lo.u64", from, lt_imm(2), start);
        lt_note(b, "what lies outside is zero");
        for (int i = 0; i < 4; i++)
            lt_set(b, lt_element(w, i), "mov.b32", lt_imm(0));
        whole = lt_op(b, "pass_whole", "and.pred", whole, inside);
        some = lt_op(b, "pass_some", "and.pred", some, inside);
        LT_WHEN (b, whole)
            lt_inst(b, "ld.v4.b32 {%0, %1, %2, %3}, [%4];", lt_element(w, 0), lt_element(w, 1),
                    lt_element(w, 2), lt_element(w, 3), from);
        lt_note(b, "k ends within this piece");
        lt_value partial = lt_op(b, "pass_partial", "xor.pred", some, whole);

        LT_IF (b, "piece_loaded", partial)
            load_elements(b, c, from);
        if (is_of_tile.kind == LT_NOTHING)
            store_piece(b, w, at);
        else
            LT_WHEN (b, is_of_tile)
                store_piece(b, w, at);
    }
}

static void copy_span(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                      const struct lt_tile *tile, lt_value k_block, int span)
{
    const struct lathe_plan *plan = s->g.plan;
    struct copier c = begin_copy(b, s, k_block, span);
    lt_value a_tile = lt_plus(b, "a_tile", s->g.ring_start, span * plan->tile[0] * LT_SPAN_BYTES);
    lt_value b_tile = lt_plus(b, "b_tile", s->g.ring_start,
                              lt_gemm_a_bytes(plan) + span * plan->tile[1] * LT_SPAN_BYTES);

    LT_SCOPE (b)
        copy_rows(b, &c, "a", "lda", tile->m, s->g.m, plan->tile[0], a_tile);
    LT_SCOPE (b)
        copy_rows(b, &c, "b", "ldb", tile->n, s->g.n, plan->tile[1], b_tile);
}

void lt_gemm_sm100_copy(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                        const struct lt_tile *tile, lt_value k_block)
{
    for (int span = 0; span < s->g.spans; span++)
        LT_SCOPE (b)
            copy_span(b, s, tile, k_block, span);
    lt_note(b, "the tensor cores read what ordinary stores have written");
    lt_fence_proxy_async(b);
}
