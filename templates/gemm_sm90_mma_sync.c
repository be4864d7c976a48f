/* gemm_sm90_mma_sync.c: the products of one stage, by warps, each of which brings its part of A and
 * B to registers first. The warps of the consumers stand two abreast. */
#include "codegen/control.h"
#include "codegen/fragment.h"
#include "codegen/mma_sync.h"
#include "templates/gemm_sm90_parts.h"

enum { ABREAST = 2, PIECE_BYTES = 16, PAIR_COLUMNS = 2 * LT_MMA_COLUMNS };

int lt_gemm_sync_rows(const struct lathe_plan *plan)
{
    return plan->tile[0] * ABREAST / (plan->consumers * LT_WARPGROUP_WARPS);
}

int lt_gemm_sync_columns(const struct lathe_plan *plan)
{
    return plan->tile[1] / ABREAST;
}

/* The addresses from which a lane has ldmatrix read, for each step of k within a span: of row
 * `row`, the left or, where `right` is 1, the right half of the step's 32 bytes. */
static struct lt_vector find_pieces(struct lt_builder *b, const char *name, lt_value start,
                                    lt_value row, lt_value right, lt_value row_bits)
{
    struct lt_vector at = lt_vector(b, LT_B32, name, LT_SYNC_K_STEPS);
    lt_value row_start = lt_op(b, "row_start", "mad.lo.u32", row, lt_imm(LT_SPAN_BYTES), start);

    for (int step = 0; step < LT_SYNC_K_STEPS; step++) {
        lt_value piece = lt_op(b, "piece", "or.b32", right, lt_imm(2 * step));

        piece = lt_op(b, "piece", "xor.b32", piece, row_bits);
        lt_set(b, lt_element(&at, step), "mad.lo.u32", piece, lt_imm(PIECE_BYTES), row_start);
    }
    return at;
}

struct lt_sync_operands lt_gemm_sync_operands(struct lt_builder *b, const struct lt_gemm *g)
{
    struct lt_sync_operands o;
    lt_value warp_row = lt_op(b, "warp_row", "shr.u32", g->warp, lt_imm(1));
    lt_value warp_column = lt_op(b, "warp_column", "and.b32", g->warp, lt_imm(1));

    lt_comment(b, "a warp makes %d x %d of the tile, and they stand two abreast",
               lt_gemm_sync_rows(g->plan), lt_gemm_sync_columns(g->plan));
    o.first_row = lt_op(b, "first_row", "mul.lo.u32", warp_row, lt_imm(lt_gemm_sync_rows(g->plan)));
    o.first_column =
        lt_op(b, "first_column", "mul.lo.u32", warp_column, lt_imm(lt_gemm_sync_columns(g->plan)));

    lt_comment(b, "ldmatrix reads 16 bytes a lane: the 128-byte swizzle xors the number of such a");
    lt_comment(b, "piece with the low three bits of the row. A: lanes 0 to 15 the left halves of");
    lt_comment(b, "16 rows, 16 to 31 the right ones");
    lt_value row_bits = lt_op(b, "row_bits", "and.b32", g->lane, lt_imm(7));
    lt_value row = lt_op(b, "a_row", "and.b32", g->lane, lt_imm(15));
    lt_value right = lt_op(b, "a_half", "shr.u32", g->lane, lt_imm(4));

    row = lt_op(b, "a_row", "add.u32", row, o.first_row);
    o.a = find_pieces(b, "a_at", g->ring_start, row, right, row_bits);

    lt_comment(
        b, "B: lanes 0 to 7 and 8 to 15 the left and right halves of 8 rows, 16 to 31 the same");
    lt_comment(b, "of the next 8");
    row = lt_op(b, "b_row", "shr.u32", g->lane, lt_imm(4));
    row = lt_op(b, "b_row", "mad.lo.u32", row, lt_imm(LT_MMA_COLUMNS), row_bits);
    right = lt_op(b, "b_half", "shr.u32", g->lane, lt_imm(3));
    right = lt_op(b, "b_half", "and.b32", right, lt_imm(1));
    row = lt_op(b, "b_row", "add.u32", row, o.first_column);
    lt_value b_start =
        lt_op(b, "b_start", "add.u32", g->ring_start, lt_imm(lt_gemm_a_bytes(g->plan)));

    o.b = find_pieces(b, "b_at", b_start, row, right, row_bits);
    return o;
}

void lt_gemm_sync_clear(struct lt_builder *b, const struct lt_vector *acc)
{
    for (int i = 0; i < acc->count; i++)
        lt_set(b, lt_element(acc, i), "mov.f32", lt_float(0.0f));
}

/* ---- One step of k ---- */

/* Four matrices into the registers of these names. */
static void load(struct lt_builder *b, lt_value address, const char *const names[4],
                 lt_value matrices[4])
{
    for (int i = 0; i < 4; i++)
        matrices[i] = lt_define(b, LT_B32, names[i]);
    lt_ldmatrix(b, address, matrices, 4);
}

/* All of A's blocks of 16 rows against 16 columns of B after the other, so that A stays. */
static void multiply_step(struct lt_builder *b, const struct lt_gemm *g, lt_value a_at,
                          lt_value b_at, const struct lt_vector *acc)
{
    static const char *const b_names[4] = {"b_left", "b_right", "b_next_left", "b_next_right"};
    int columns = lt_gemm_sync_columns(g->plan);
    int blocks = lt_gemm_sync_rows(g->plan) / LT_MMA_ROWS;
    struct lt_vector a = lt_vector(b, LT_B32, "a", 4 * blocks);

    for (int block = 0; block < blocks; block++) {
        lt_value matrices[4];

        for (int i = 0; i < 4; i++)
            matrices[i] = lt_element(&a, 4 * block + i);
        lt_ldmatrix(b, lt_at(a_at, block * LT_MMA_ROWS * LT_SPAN_BYTES), matrices, 4);
    }
    for (int column = 0; column < columns; column += PAIR_COLUMNS) {
        lt_value pair[4];

        load(b, lt_at(b_at, column * LT_SPAN_BYTES), b_names, pair);
        for (int half = 0; half < 2; half++)
            for (int block = 0; block < blocks; block++) {
                int first = block * columns / 2 + column / 2 + half * 4;
                lt_value rows[4];

                for (int i = 0; i < 4; i++)
                    rows[i] = lt_element(&a, 4 * block + i);
                lt_mma_sync(b, g->plan->type, acc, first, rows, pair[2 * half], pair[2 * half + 1]);
            }
    }
}

/* The address in the stage of what lies at `first` in stage 0. */
static lt_value in_stage(struct lt_builder *b, const struct lt_gemm *g, const char *name,
                         lt_value first, lt_value stage, int bytes)
{
    if (stage.kind == LT_INTEGER)
        return lt_at(first, (int)stage.number * g->tiles.bytes + bytes);
    return lt_at(lt_op(b, name, "mad.lo.u32", stage, lt_imm(g->tiles.bytes), first), bytes);
}

void lt_gemm_sync(struct lt_builder *b, const struct lt_gemm *g, const struct lt_sync_operands *o,
                  const struct lt_cursor *stage, const struct lt_vector *acc)
{
    const int *tile = g->plan->tile;

    for (int span = 0; span < g->spans; span++)
        for (int step = 0; step < LT_SYNC_K_STEPS; step++)
            LT_SCOPE (b) {
                lt_value a_at = in_stage(b, g, "a_now", lt_element(&o->a, step), stage->stage,
                                         span * tile[0] * LT_SPAN_BYTES);
                lt_value b_at = in_stage(b, g, "b_now", lt_element(&o->b, step), stage->stage,
                                         span * tile[1] * LT_SPAN_BYTES);

                multiply_step(b, g, a_at, b_at, acc);
            }
}
