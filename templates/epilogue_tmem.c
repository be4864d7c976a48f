#include "templates/epilogue_tmem.h"

#include "codegen/control.h"
#include "codegen/fields.h"
#include "codegen/tcgen05.h"
#include "codegen/tma.h"
#include "codegen/wgmma.h"
#include "templates/epilogue_pieces.h"
#include "templates/epilogue_tmem_edge.h"
#include "templates/gemm_kernel.h"

enum { HALF_LANES = 16 /* of every 32, where there are 64 rows */ };

/* A chunk of columns: how its rows lie in a buffer. */
struct chunk {
    int columns, pieces, row_bytes, swizzle_bytes;
    bool is_tail;
};

int lt_tmem_row_bytes(const struct lathe_plan *plan, int columns)
{
    return columns * lathe_type_bytes(plan->out);
}

/* Rows of other lengths lie as they are. */
int lt_tmem_swizzle_bytes(const struct lathe_plan *plan, int columns)
{
    int bytes = lt_tmem_row_bytes(plan, columns);

    return bytes == 32 || bytes == 64 || bytes == 128 ? bytes : 0;
}

static struct chunk chunk_of(const struct lt_tmem_epilogue *e, int columns)
{
    return (struct chunk){
        .columns = columns,
        .pieces = lt_tmem_row_bytes(e->plan, columns) / LT_PIECE_BYTES,
        .row_bytes = lt_tmem_row_bytes(e->plan, columns),
        .swizzle_bytes = lt_tmem_swizzle_bytes(e->plan, columns),
        .is_tail = columns != e->chunk,
    };
}

static int buffer_bytes(const struct lt_tmem_epilogue *e)
{
    return e->lanes * lt_tmem_row_bytes(e->plan, e->chunk);
}

static bool reads_c(const struct lt_tmem_epilogue *e)
{
    return e->plan->beta == LATHE_BETA_ANY;
}

void lt_tmem_epilogue_init(struct lt_builder *b, const struct lt_tmem_epilogue *e, int warpgroups)
{
    if (!reads_c(e) || !e->by_tma)
        return;

    lt_value c_full = lt_op(b, "c_full", "add.u32", e->smem, lt_imm(e->c_full));

    for (int i = 0; i < warpgroups * e->buffers; i++) {
        if (i == 0)
            lt_note(b, "a buffer of C: the thread that fetches it announces its bytes");
        lt_mbarrier_init(b, lt_at(c_full, i * LT_MBARRIER_BYTES), 1);
    }
}

/* ---- Begin ---- */

/* value + factor * index, where there is an index. */
static lt_value behind(struct lt_builder *b, const char *name, lt_value value, lt_value index,
                       int factor)
{
    return index.kind == LT_NOTHING ? value
                                    : lt_op(b, name, "mad.lo.u32", index, lt_imm(factor), value);
}

static void find_row(struct lt_builder *b, struct lt_tmem_epilogue *e, lt_value warp, lt_value lane)
{
    lt_comment(b, "a warp reaches the 32 lanes of tensor memory that its number, modulo 4, says");
    lt_value part = lt_op(b, "warp_part", "and.b32", warp, lt_imm(3));

    e->lane_base = lt_op(b, "lane_base", "shl.b32", part, lt_imm(LT_TMEM_LANE_BIT + 5));
    e->lane = lt_op(b, "tmem_lane", "mad.lo.u32", part, lt_imm(32), lane);
    e->row = e->lane;
    if (e->is_folded) {
        lt_note(b, "lanes 64 to 127: the same rows, the other half of the columns");
        e->row = lt_op(b, "tmem_row", "and.b32", e->lane, lt_imm(63));
        lt_value half = lt_op(b, "half", "shr.u32", e->lane, lt_imm(6));
        e->column = lt_op(b, "half_column", "mul.lo.u32", half, lt_imm(e->columns));
    } else if (e->lanes < LT_TMEM_LANES) {
        lt_note(b, "16 of every 32 lanes hold rows");
        e->row = lt_op(b, "tmem_row", "mad.lo.u32", part, lt_imm(HALF_LANES), lane);
        e->has_row = lt_op(b, "has_row", "setp.lt.u32", lane, lt_imm(HALF_LANES));
    }
}

void lt_tmem_epilogue_begin(struct lt_builder *b, struct lt_tmem_epilogue *e, lt_value warpgroup,
                            lt_value warp, lt_value thread, lt_value lane)
{
    find_row(b, e, warp, lane);
    if (!e->by_tma)
        return;
    lt_comment(b, "staging: %d buffer%s of %d rows x %d bytes", e->buffers,
               e->buffers > 1 ? "s" : "", e->lanes, lt_tmem_row_bytes(e->plan, e->chunk));
    e->buffers_at = lt_op(b, "staging", "add.u32", e->smem, lt_imm(e->staging));
    e->buffers_at = behind(b, "staging", e->buffers_at, warpgroup, e->buffers * buffer_bytes(e));
    lt_note(b, "barrier 0 is the whole CTA's");
    e->barrier = lt_op(b, "store_barrier", "mov.u32", lt_imm(1));
    e->barrier = behind(b, "store_barrier", e->barrier, warpgroup, 1);

    lt_value in_group =
        lt_op(b, "thread_of_group", "and.b32", thread, lt_imm(LT_WARPGROUP_THREADS - 1));

    e->stores = lt_op(b, "stores", "setp.eq.u32", in_group, lt_imm(0));
    e->buffer = lt_variable(b, LT_B32, "buffer");
    lt_set(b, e->buffer, "mov.u32", lt_imm(0));
    if (lt_gemm_has_edge(e->plan))
        e->d_whole = lt_tmem_edge_find(b, e);
    if (!reads_c(e))
        return;
    e->barriers_at = lt_op(b, "c_full", "add.u32", e->smem, lt_imm(e->c_full));
    e->barriers_at = behind(b, "c_full", e->barriers_at, warpgroup, e->buffers * LT_MBARRIER_BYTES);
    e->c_parities = lt_variable(b, LT_B32, "c_parities");
    lt_set(b, e->c_parities, "mov.u32", lt_imm(0));
}

/* ---- Through staging ---- */

struct staged {
    lt_value at;     /* the buffer */
    lt_value column; /* of D, of the chunk's first in lane 0 */
};

static void hand_box(struct lt_builder *b, const struct lt_tmem_epilogue *e, lt_value map,
                     lt_value column, lt_value row, lt_value from)
{
    if (!lt_gemm_has_edge(e->plan)) {
        lt_tma_store(b, map, column, row, from);
        return;
    }
    lt_note(b, "else a D narrower than 16 bytes would be written all the same");
    LT_WHEN (b, lt_op(b, "has_whole", "setp.lt.u32", column, e->d_whole))
        lt_tma_store(b, map, column, row, from);
}

static void hand_to_tma(struct lt_builder *b, const struct lt_tmem_epilogue *e,
                        const struct chunk *chunk, const struct staged *s, lt_value m)
{
    lt_value map = chunk->is_tail ? e->map_d_tail : e->map_d;

    hand_box(b, e, map, s->column, m, s->at);
    if (e->is_folded) {
        lt_value column = lt_plus(b, "other_column", s->column, e->columns);

        hand_box(b, e, map, column, m, lt_at(s->at, LT_TMEM_LANES / 2 * chunk->row_bytes));
    }
    lt_tma_commit(b);
}

/* With beta = 0 nothing of C may be read: the column is moved outside the matrix, where TMA fills
 * in zeros and touches no memory. */
static void fetch_c(struct lt_builder *b, struct lt_tmem_epilogue *e, const struct chunk *chunk,
                    const struct staged *s, lt_value m)
{
    lt_value map = chunk->is_tail ? e->map_c_tail : e->map_c;
    lt_value full =
        lt_op(b, "c_ready_at", "mad.lo.u32", e->buffer, lt_imm(LT_MBARRIER_BYTES), e->barriers_at);
    lt_value parity = lt_op(b, "c_parity", "shr.u32", e->c_parities, e->buffer);

    LT_IF (b, "c_fetched", e->stores) {
        lt_value uses = lt_op(b, "uses_c", "setp.neu.f32", e->beta, lt_float(0.0f));

        lt_note(b, "beta = 0: outside the matrix");
        lt_value column = lt_op(b, "c_column", "selp.b32", s->column, lt_imm(LT_SIZE_MAX), uses);

        lt_mbarrier_arrive_expect_tx(b, full, lt_imm(e->lanes * chunk->row_bytes));
        lt_tma_load(b, map, column, m, s->at, full, (lt_value){0});
        if (e->is_folded) {
            lt_value other = lt_plus(b, "c_other", s->column, e->columns);

            other = lt_op(b, "c_other", "selp.b32", other, lt_imm(LT_SIZE_MAX), uses);
            lt_tma_load(b, map, other, m, lt_at(s->at, LT_TMEM_LANES / 2 * chunk->row_bytes), full,
                        (lt_value){0});
        }
    }
    parity = lt_op(b, "c_parity", "and.b32", parity, lt_imm(1));
    lt_mbarrier_wait(b, "c_ready", full, parity);
    lt_value bit = lt_op(b, "c_bit", "shl.b32", lt_imm(1), e->buffer);

    lt_set(b, e->c_parities, "xor.b32", e->c_parities, bit);
}

static struct lt_staged_row find_row_of_buffer(struct lt_builder *b,
                                               const struct lt_tmem_epilogue *e,
                                               const struct chunk *chunk, lt_value buffer)
{
    lt_value number = e->is_folded ? e->lane : e->row;
    struct lt_staged_row row = {.columns = chunk->columns};

    row.at = lt_op(b, "row_at", "mad.lo.u32", number, lt_imm(chunk->row_bytes), buffer);
    if (chunk->swizzle_bytes == 0)
        return row;
    lt_comment(b,
               "the swizzle xors the number of a piece of 16 bytes with bits of the 128-byte line");
    row.line = lt_quotient(b, "line", number, LT_SPAN_BYTES / chunk->row_bytes);
    row.line = lt_remainder(b, "line", row.line, chunk->pieces);
    return row;
}

static struct lt_vector find_pieces(struct lt_builder *b, const struct chunk *chunk,
                                    const struct lt_staged_row *row)
{
    struct lt_vector at =
        lt_vector(b, LT_B32, chunk->is_tail ? "tail_piece" : "piece", chunk->pieces);

    for (int i = 0; i < chunk->pieces; i++) {
        lt_value piece = lt_imm(i);

        if (row->line.kind != LT_NOTHING)
            piece = i == 0 ? row->line : lt_op(b, "swizzled", "xor.b32", row->line, lt_imm(i));
        lt_set(b, lt_element(&at, i), "mad.lo.u32", piece, lt_imm(LT_PIECE_BYTES), row->at);
    }
    return at;
}

static void wait_for_buffer(struct lt_builder *b, const struct lt_tmem_epilogue *e)
{
    lt_comment(b, "until TMA has read what this buffer held; then all may write to it");
    LT_WHEN (b, e->stores)
        lt_tma_wait_read(b, e->buffers - 1);
    lt_bar_sync(b, e->barrier, LT_WARPGROUP_THREADS);
}

static void next_buffer(struct lt_builder *b, const struct lt_tmem_epilogue *e)
{
    if (e->buffers == 1)
        return;
    lt_set(b, e->buffer, "add.u32", e->buffer, lt_imm(1));
    lt_value wraps = lt_op(b, "buffer_wraps", "setp.eq.u32", e->buffer, lt_imm(e->buffers));

    LT_WHEN (b, wraps)
        lt_set(b, e->buffer, "mov.u32", lt_imm(0));
}

/* The sums of the chunk stand in `sums`. */
static void stage_chunk(struct lt_builder *b, struct lt_tmem_epilogue *e, const struct chunk *chunk,
                        const struct lt_vector *sums, lt_value m, lt_value column)
{
    struct staged s = {.column = column};
    struct lt_staged_row row;
    struct lt_vector at;
    struct lt_piece piece;

    wait_for_buffer(b, e);
    s.at = lt_op(b, "buffer_at", "mad.lo.u32", e->buffer, lt_imm(buffer_bytes(e)), e->buffers_at);
    if (reads_c(e))
        fetch_c(b, e, chunk, &s, m);
    row = find_row_of_buffer(b, e, chunk, s.at);
    at = find_pieces(b, chunk, &row);
    piece = lt_pieces_begin(b, e->plan, sums, chunk->columns, e->alpha, e->beta);
    for (int i = 0; i < chunk->pieces; i++) {
        if (reads_c(e) && e->has_row.kind == LT_NOTHING)
            lt_piece_load_shared(b, &piece, lt_element(&at, i));
        else if (reads_c(e))
            LT_WHEN (b, e->has_row)
                lt_piece_load_shared(b, &piece, lt_element(&at, i));
        lt_piece_make(b, &piece, i);
        if (e->has_row.kind == LT_NOTHING)
            lt_piece_store_shared(b, &piece, i, lt_element(&at, i));
        else
            LT_WHEN (b, e->has_row)
                lt_piece_store_shared(b, &piece, i, lt_element(&at, i));
    }
    if (e->d_whole.kind != LT_NOTHING) {
        lt_value first = e->column.kind == LT_NOTHING
                             ? column
                             : lt_op(b, "lane_column", "add.u32", column, e->column);

        /* Before the fence, which so also stands between what is read here and the next C. */
        lt_tmem_edge_store(b, e, &row, m, first);
    }
    lt_note(b, "TMA reads what ordinary stores have written");
    lt_fence_proxy_async(b);
    lt_bar_sync(b, e->barrier, LT_WARPGROUP_THREADS);
    LT_IF (b, "stored", e->stores)
        hand_to_tma(b, e, chunk, &s, m);
    next_buffer(b, e);
}

/* ---- From registers ---- */

static void store_directly(struct lt_builder *b, const struct lt_tmem_epilogue *e,
                           const struct chunk *chunk, const struct lt_vector *sums, lt_value m,
                           lt_value column)
{
    enum lathe_type out = e->plan->out;
    int per_piece = lt_piece_elements(out);
    struct lt_piece piece = lt_pieces_begin(b, e->plan, sums, chunk->columns, e->alpha, e->beta);
    lt_value row = lt_op(b, "row", "add.u32", m, e->row);
    lt_value inside = lt_op(b, "row_inside", "setp.lt.u32", row, e->m);

    if (e->column.kind != LT_NOTHING)
        column = lt_op(b, "lane_column", "add.u32", column, e->column);
    if (e->has_row.kind != LT_NOTHING)
        inside = lt_op(b, "row_inside", "and.pred", inside, e->has_row);
    LT_IF (b, "row_stored", inside) {
        lt_value to = lt_piece_address(b, out, "d", "ldd", row, column);
        lt_value left = lt_op(b, "columns_left", "sub.u32", e->n, column);
        lt_value from = {0}, c_left = {0};

        if (reads_c(e)) {
            lt_value uses = lt_op(b, "uses_c", "setp.neu.f32", e->beta, lt_float(0.0f));

            from = lt_piece_address(b, out, "c", "ldc", row, column);
            lt_note(b, "beta = 0: no column of C is there");
            c_left = lt_op(b, "c_columns_left", "selp.b32", left, lt_imm(0), uses);
        }
        for (int i = 0; i < chunk->pieces; i++)
            LT_SCOPE (b) {
                lt_value here = lt_plus(b, "left_here", left, -(int64_t)i * per_piece);

                if (reads_c(e))
                    lt_piece_load_global(
                        b, &piece, lt_at(from, i * LT_PIECE_BYTES),
                        lt_plus(b, "c_left_here", c_left, -(int64_t)i * per_piece));
                lt_piece_make(b, &piece, i);
                lt_piece_store_global(b, &piece, i, lt_at(to, i * LT_PIECE_BYTES), here);
            }
    }
}

/* ---- Chunks ---- */

/* In powers of two, as tcgen05.ld has them. */
static void load_sums(struct lt_builder *b, const struct lt_vector *sums, int columns, lt_value at)
{
    int first = 0;

    for (int count = LT_TCGEN05_LD_MOST; count > 0; count /= 2)
        for (; columns - first >= count; first += count)
            lt_tcgen05_ld(b, sums, first, count, first > 0 ? lt_at(at, first) : at);
    lt_tcgen05_wait_ld(b);
}

/* What is called when all of an accumulator was read. */
struct release {
    void (*read_all)(struct lt_builder *b, void *user);
    void *user;
};

static void let_go(struct lt_builder *b, const struct release *release, lt_value is_last)
{
    if (!release->read_all)
        return;
    if (is_last.kind == LT_NOTHING) {
        release->read_all(b, release->user);
        return;
    }
    LT_IF (b, "sums_left", is_last)
        release->read_all(b, release->user);
}

/* `is_last`: a predicate, or nothing where it surely is; `release` is null where it surely is not.
 */
static void store_chunk(struct lt_builder *b, struct lt_tmem_epilogue *e, const struct chunk *chunk,
                        lt_value at, lt_value m, lt_value column, const struct release *release,
                        lt_value is_last)
{
    struct lt_vector sums = lt_vector(b, e->plan->type == LATHE_INT8 ? LT_B32 : LT_F32,
                                      chunk->is_tail ? "tail_sum" : "sum", chunk->columns);

    load_sums(b, &sums, chunk->columns, at);
    if (release)
        let_go(b, release, is_last);
    if (e->by_tma)
        stage_chunk(b, e, chunk, &sums, m, column);
    else
        store_directly(b, e, chunk, &sums, m, column);
}

void lt_tmem_epilogue_store(struct lt_builder *b, struct lt_tmem_epilogue *e, lt_value d,
                            lt_value m, lt_value n,
                            void (*read_all)(struct lt_builder *b, void *user), void *user)
{
    int whole = e->columns / e->chunk, rest = e->columns % e->chunk;
    struct chunk chunk = chunk_of(e, e->chunk), tail = chunk_of(e, rest);
    const struct release release = {read_all, user};

    LT_SCOPE (b) {
        lt_value start = lt_op(b, "lane_start", "add.u32", d, e->lane_base);

        if (whole > 0)
            LT_REPEAT (b, chunk_number, lt_imm(whole)) {
                lt_value at =
                    lt_op(b, "chunk_at", "mad.lo.u32", chunk_number.index, lt_imm(e->chunk), start);
                lt_value column =
                    lt_op(b, "chunk_column", "mad.lo.u32", chunk_number.index, lt_imm(e->chunk), n);

                lt_value is_last = {0};

                if (whole > 1 && rest == 0 && read_all)
                    is_last =
                        lt_op(b, "is_last", "setp.eq.u32", chunk_number.index, lt_imm(whole - 1));
                LT_SCOPE (b)
                    store_chunk(b, e, &chunk, at, m, column, rest == 0 ? &release : NULL, is_last);
            }
        if (rest > 0)
            LT_SCOPE (b) {
                lt_value at = lt_plus(b, "tail_at", start, whole * e->chunk);
                lt_value column = lt_plus(b, "tail_column", n, whole * e->chunk);

                store_chunk(b, e, &tail, at, m, column, &release, (lt_value){0});
            }
    }
}

void lt_tmem_epilogue_end(struct lt_builder *b, const struct lt_tmem_epilogue *e)
{
    if (!e->by_tma)
        return;
    lt_comment(b, "shared memory must outlive the stores that read it");
    LT_WHEN (b, e->stores)
        lt_tma_wait_read(b, 0);
}
