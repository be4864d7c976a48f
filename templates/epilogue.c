#include "templates/epilogue.h"

#include "codegen/control.h"
#include "codegen/fragment.h"
#include "codegen/tma.h"
#include "codegen/fields.h"
#include "codegen/wgmma.h"
#include "templates/epilogue_edge.h"

/* A chunk: `columns` of the 64 rows of block `block`, from column `first` of the tile. */
struct chunk {
    int index, block, first, columns;
};

int lt_epilogue_chunk_columns(enum lathe_type out)
{
    return LT_SPAN_BYTES / lathe_type_bytes(out);
}

int lt_epilogue_whole_columns(enum lathe_type out)
{
    return LT_TMA_STORE_BYTES / lathe_type_bytes(out);
}

int lt_epilogue_chunks(enum lathe_type out, int columns)
{
    int whole = lt_epilogue_chunk_columns(out);

    return (columns + whole - 1) / whole;
}

static int chunk_count(const struct lt_epilogue *e)
{
    return e->blocks * lt_epilogue_chunks(e->out, e->columns);
}

static int buffer_offset(const struct lt_epilogue *e, int index)
{
    return index % e->buffers * LT_EPILOGUE_BUFFER_BYTES;
}

static struct chunk chunk_at(const struct lt_epilogue *e, int index)
{
    int per_block = lt_epilogue_chunks(e->out, e->columns);
    int whole = lt_epilogue_chunk_columns(e->out);
    struct chunk chunk = {
        .index = index,
        .block = index / per_block,
        .first = index % per_block * whole,
    };

    chunk.columns = e->columns - chunk.first < whole ? e->columns - chunk.first : whole;
    return chunk;
}

/* A tile narrower than a chunk has one map alone, of its own width. */
static bool is_tail(const struct lt_epilogue *e, const struct chunk *chunk)
{
    return chunk->first > 0 && chunk->columns < lt_epilogue_chunk_columns(e->out);
}

static bool is_float_out(const struct lt_epilogue *e)
{
    return e->out == LATHE_F32;
}

/* Where this lane meets its row in a buffer, for each of the four groups of columns of a chunk: 16
 * columns of a 16-bit type (stmatrix: lane/16 picks the left or right 8), or 8 floats (two to a
 * lane). Rows are 128 bytes; the swizzle xors the number of a 16-byte piece with the row's. */
static void find_rows(struct lt_builder *b, struct lt_epilogue *e, lt_value thread, lt_value lane)
{
    bool floats = is_float_out(e);
    lt_value warp_row = lt_op(b, "warp_row", "shr.u32", thread, lt_imm(5));
    warp_row = lt_op(b, "warp_row", "and.b32", warp_row, lt_imm(3));
    warp_row = lt_op(b, "warp_row", "shl.b32", warp_row, lt_imm(4));
    lt_value lane_row = floats ? lt_op(b, "lane_row", "shr.u32", lane, lt_imm(2))
                               : lt_op(b, "lane_row", "and.b32", lane, lt_imm(15));
    lt_value row = lt_op(b, "staging_row", "add.u32", warp_row, lane_row);
    lt_value start = lt_op(b, "row_start", "mad.lo.u32", row, lt_imm(LT_SPAN_BYTES), e->staging);
    lt_value row_bits = lt_op(b, "row_bits", "and.b32", row, lt_imm(7));
    lt_value piece;

    if (floats) {
        lt_value odd = lt_op(b, "odd_lane", "and.b32", lane, lt_imm(1));

        start = lt_op(b, "row_start", "mad.lo.u32", odd, lt_imm(8), start);
        piece = lt_op(b, "piece", "shr.u32", lane, lt_imm(1));
        piece = lt_op(b, "piece", "and.b32", piece, lt_imm(1));
    } else {
        piece = lt_op(b, "piece", "shr.u32", lane, lt_imm(4));
    }

    lt_comment(b,
               "this lane's row of a buffer, at each quarter of its columns: the 128-byte swizzle");
    lt_comment(b, "xors the number of a 16-byte piece with the low three bits of the row");
    e->row = lt_vector(b, LT_B32, "chunk_row", 4);
    for (int group = 0; group < 4; group++) {
        lt_value swizzled = lt_op(b, "swizzled", "or.b32", piece, lt_imm(2 * group));

        swizzled = lt_op(b, "swizzled", "xor.b32", swizzled, row_bits);
        lt_set(b, lt_element(&e->row, group), "mad.lo.u32", swizzled, lt_imm(16), start);
    }
}

void lt_epilogue_init(struct lt_builder *b, const struct lt_epilogue *e, lt_value smem,
                      int consumers)
{
    if (!e->reads_c)
        return;

    lt_value c_full = lt_op(b, "c_full", "add.u32", smem, lt_imm(e->c_barriers));

    for (int i = 0; i < consumers * e->buffers; i++) {
        if (i == 0)
            lt_note(b, "a buffer of C: the thread that fetches it announces its bytes");
        lt_mbarrier_init(b, lt_at(c_full, i * LT_MBARRIER_BYTES), 1);
    }
}

void lt_epilogue_begin(struct lt_builder *b, struct lt_epilogue *e, lt_value smem, int staging,
                       lt_value consumer, lt_value thread, lt_value lane)
{
    lt_comment(b, "staging: %d buffer%s of 64 rows x 128 bytes %s, 128-byte swizzle", e->buffers,
               e->buffers > 1 ? "s" : "",
               e->turns > 1 ? "that goes from warpgroup to warpgroup" : "for each warpgroup");
    e->staging = lt_op(b, "staging", "add.u32", smem, lt_imm(staging));
    e->consumer = consumer;
    if (e->turns <= 1)
        e->staging = lt_op(b, "staging", "mad.lo.u32", consumer,
                           lt_imm(e->buffers * LT_EPILOGUE_BUFFER_BYTES), e->staging);
    lt_note(b, "barrier 0 is the whole CTA's");
    e->barrier = lt_op(b, "store_barrier", "add.u32", consumer, lt_imm(1));

    lt_value in_group =
        lt_op(b, "thread_of_group", "and.b32", thread, lt_imm(LT_WARPGROUP_THREADS - 1));

    e->stores = lt_op(b, "stores", "setp.eq.u32", in_group, lt_imm(0));
    find_rows(b, e, thread, lane);

    if (e->has_edge) {
        lt_note(b, "TMA writes whole 16 bytes; the rest of a row is copied");
        e->d_whole = lt_op(b, "d_whole", "and.b32", e->n,
                           lt_hex(0xffffffff - (unsigned)lt_epilogue_whole_columns(e->out) + 1));
    }
    if (!e->reads_c)
        return;
    e->c_full = lt_op(b, "c_full", "add.u32", smem, lt_imm(e->c_barriers));
    e->c_full = lt_op(b, "c_full", "mad.lo.u32", consumer, lt_imm(e->buffers * LT_MBARRIER_BYTES),
                      e->c_full);
    e->c_parity = lt_variable(b, LT_B32, "c_parity");
    lt_note(b, "one bit a buffer: the parity to wait for");
    lt_set(b, e->c_parity, "mov.u32", lt_imm(0));
    e->uses_c = lt_op(b, "uses_c", "setp.neu.f32", e->beta, lt_float(0.0f));
}

/* ---- C ---- */

/* With beta = 0 nothing of C may be read, NaN and bad addresses included: the column is moved
 * outside the matrix, where TMA fills in zeros and touches no memory. */
static lt_value c_column(struct lt_builder *b, const struct lt_epilogue *e, lt_value n,
                         const struct chunk *chunk)
{
    lt_value column = lt_plus(b, "c_column", n, chunk->first);

    lt_note(b, "beta = 0: outside the matrix");
    return lt_op(b, "c_column", "selp.b32", column, lt_imm(LT_SIZE_MAX), e->uses_c);
}

static lt_value c_barrier(const struct lt_epilogue *e, int index)
{
    return lt_at(e->c_full, index % e->buffers * LT_MBARRIER_BYTES);
}

/* One thread; the buffer is free. */
static void load_c(struct lt_builder *b, const struct lt_epilogue *e, int index, lt_value m,
                   lt_value n)
{
    struct chunk chunk = chunk_at(e, index);
    int bytes = LT_EPILOGUE_ROWS * chunk.columns * lathe_type_bytes(e->out);
    lt_value column = c_column(b, e, n, &chunk);
    lt_value row = lt_plus(b, "c_row", m, chunk.block * LT_EPILOGUE_ROWS);
    lt_value buffer = lt_at(e->staging, buffer_offset(e, index));
    lt_value full = c_barrier(e, index);

    lt_mbarrier_arrive_expect_tx(b, full, lt_imm(bytes));
    lt_tma_load(b, is_tail(e, &chunk) ? e->map_c_tail : e->map_c, column, row, buffer, full,
                (lt_value){0});
}

static void wait_for_c(struct lt_builder *b, const struct lt_epilogue *e, int index)
{
    int buffer = index % e->buffers;
    lt_value parity = lt_op(b, "c_phase", "shr.u32", e->c_parity, lt_imm(buffer));

    parity = lt_op(b, "c_phase", "and.b32", parity, lt_imm(1));
    lt_mbarrier_wait(b, "c_ready", c_barrier(e, index), parity);
    lt_set(b, e->c_parity, "xor.b32", e->c_parity, lt_imm(1 << buffer));
}

static void fetch_first_c(struct lt_builder *b, const struct lt_epilogue *e, lt_value m, lt_value n)
{
    LT_SCOPE (b) {
        LT_IF (b, "prefetched", e->stores) {
            lt_tma_wait_read(b, 0);
            for (int index = 0; index < e->buffers && index < chunk_count(e); index++)
                load_c(b, e, index, m, n);
        }
    }
}

void lt_epilogue_prefetch(struct lt_builder *b, struct lt_epilogue *e, lt_value m, lt_value n)
{
    if (!e->reads_c || e->turns > 1)
        return;
    lt_comment(b, "C of the first chunks comes while the tile is multiplied");
    fetch_first_c(b, e, m, n);
}

/* ---- Fragments ---- */

/* Two neighbouring columns, rounded and packed; c holds the same two of C when it is read. */
static lt_value rounded_pair(struct lt_builder *b, const struct lt_epilogue *e, const char *name,
                             const struct lt_vector *acc, int first, lt_value c_pair)
{
    struct lt_halves c = {.low = {0}}, sums = lt_sum_pair(b, acc, first, "low", "high");

    if (e->reads_c)
        c = lt_unpack(b, e->out, c_pair, "c_low", "c_high");

    lt_value low = lt_scaled(b, "low", e->alpha, sums.low, e->beta, c.low);
    lt_value high = lt_scaled(b, "high", e->alpha, sums.high, e->beta, c.high);

    return lt_pack(b, name, e->out, high, low);
}

/* 8 or 16 columns: two or four 8x8 matrices a warp. */
static void store_matrices(struct lt_builder *b, const struct lt_epilogue *e,
                           const struct lt_vector *acc, int first, lt_value address, int columns)
{
    static const char *const names[] = {"upper_left", "lower_left", "upper_right", "lower_right"};
    static const char *const c_names[] = {"c_upper_left", "c_lower_left", "c_upper_right",
                                          "c_lower_right"};
    int count = columns / 4;
    lt_value packed[4], c[4] = {{0}};

    if (e->reads_c) {
        for (int i = 0; i < count; i++)
            c[i] = lt_define(b, LT_B32, c_names[i]);
        lt_ldmatrix(b, address, c, count);
    }
    for (int i = 0; i < count; i++)
        packed[i] = rounded_pair(b, e, names[i], acc, first + 2 * i, c[i]);
    lt_stmatrix(b, address, packed, count);
}

/* 8 columns of f32: two to a lane in its row, two more 8 rows below. */
static void store_floats(struct lt_builder *b, const struct lt_epilogue *e,
                         const struct lt_vector *acc, int first, lt_value address)
{
    for (int half = 0; half < 2; half++) {
        lt_value at = lt_at(address, half * 8 * LT_SPAN_BYTES);
        lt_value c_left = {0}, c_right = {0};

        if (e->reads_c) {
            c_left = lt_define(b, LT_F32, "c_left");
            c_right = lt_define(b, LT_F32, "c_right");
            lt_load_pair(b, at, c_left, c_right);
        }

        struct lt_halves sums = lt_sum_pair(b, acc, first + 2 * half, "left", "right");
        lt_value left = lt_scaled(b, "left", e->alpha, sums.low, e->beta, c_left);
        lt_value right = lt_scaled(b, "right", e->alpha, sums.high, e->beta, c_right);

        lt_store_pair(b, at, left, right);
    }
}

static void store_fragments(struct lt_builder *b, const struct lt_epilogue *e,
                            const struct lt_vector *acc, const struct chunk *chunk)
{
    int first = chunk->block * e->columns / 2 + chunk->first / 2;
    int group_columns = is_float_out(e) ? 8 : 16;

    for (int column = 0; column < chunk->columns; column += group_columns) {
        int left = chunk->columns - column;
        lt_value address =
            lt_at(lt_element(&e->row, column / group_columns), buffer_offset(e, chunk->index));

        if (is_float_out(e))
            store_floats(b, e, acc, first + column / 2, address);
        else
            store_matrices(b, e, acc, first + column / 2, address,
                           left < group_columns ? left : group_columns);
    }
}

/* ---- Chunks ---- */

/* Before a buffer is written: the store that used it last has been read. The previous tile's stores
 * had a whole main loop for it, so the first chunk waits for all of them. */
static void wait_for_buffer(struct lt_builder *b, const struct lt_epilogue *e, int index)
{
    if (e->reads_c) {
        wait_for_c(b, e, index); /* which could only come into a free buffer */
        return;
    }
    if (index > 0 && index < e->buffers) {
        lt_comment(b, "this buffer has been free since the tile's first wait");
        return;
    }
    lt_comment(b, "until TMA has read what this buffer held; then all may write to it");
    LT_WHEN (b, e->stores)
        lt_tma_wait_read(b, index == 0 ? 0 : e->buffers - 1);
    lt_bar_sync(b, e->barrier, LT_WARPGROUP_THREADS);
}

/* Fetches C for the next chunk that has none yet, into the buffer of the store before the newest,
 * so that the newest need not be waited for; with a single buffer there is no choice. */
static void refill_c(struct lt_builder *b, const struct lt_epilogue *e, int index, lt_value m,
                     lt_value n)
{
    int behind = e->buffers > 1 ? 1 : 0;
    int next = index - behind + e->buffers;

    if (index < behind || next >= chunk_count(e))
        return;
    lt_tma_wait_read(b, behind);
    load_c(b, e, next, m, n);
}

static void hand_to_tma(struct lt_builder *b, const struct lt_epilogue *e,
                        const struct chunk *chunk, lt_value m, lt_value n)
{
    lt_value row = lt_plus(b, "d_row", m, chunk->block * LT_EPILOGUE_ROWS);
    lt_value column = lt_plus(b, "d_column", n, chunk->first);

    lt_value map = is_tail(e, chunk) ? e->map_d_tail : e->map_d;
    lt_value buffer = lt_at(e->staging, buffer_offset(e, chunk->index));

    if (e->has_edge) {
        lt_note(b, "else a D narrower than 16 bytes would be written all the same");
        LT_WHEN (b, lt_op(b, "has_whole", "setp.lt.u32", column, e->d_whole))
            lt_tma_store(b, map, column, row, buffer);
    } else {
        lt_tma_store(b, map, column, row, buffer);
    }
    lt_tma_commit(b);
    if (e->reads_c)
        refill_c(b, e, chunk->index, m, n);
}

static void store_chunk(struct lt_builder *b, const struct lt_epilogue *e,
                        const struct lt_vector *acc, const struct chunk *chunk,
                        const struct lt_edge *edge, lt_value m, lt_value n)
{
    lt_comment(b, "rows %d to %d, columns %d to %d", chunk->block * LT_EPILOGUE_ROWS,
               (chunk->block + 1) * LT_EPILOGUE_ROWS - 1, chunk->first,
               chunk->first + chunk->columns - 1);
    wait_for_buffer(b, e, chunk->index);
    store_fragments(b, e, acc, chunk);
    lt_note(b, "TMA reads what ordinary stores have written");
    lt_fence_proxy_async(b);
    lt_bar_sync(b, e->barrier, LT_WARPGROUP_THREADS);
    if (e->has_edge)
        lt_edge_keep(b, e, edge, chunk->index % lt_epilogue_chunks(e->out, e->columns),
                     buffer_offset(e, chunk->index));
    LT_IF (b, "stored", e->stores)
        hand_to_tma(b, e, chunk, m, n);
}

/* ---- Turns ---- */

/* Barrier `turns` + c is where warpgroup c waits for the one before it; below stand those of the
 * warpgroups alone. */
static void take_turn(struct lt_builder *b, const struct lt_epilogue *e)
{
    lt_comment(b, "the buffers go from warpgroup to warpgroup: wait for the one before");
    lt_value waits = lt_op(b, "waits_for_turn", "setp.ne.u32", e->consumer, lt_imm(0));

    LT_WHEN (b, waits)
        lt_bar_sync(b, lt_op(b, "turn", "add.u32", e->consumer, lt_imm(e->turns)),
                    2 * LT_WARPGROUP_THREADS);
}

static void pass_turn(struct lt_builder *b, const struct lt_epilogue *e)
{
    lt_comment(b, "the next warpgroup may write to the buffers once TMA has read them");
    LT_WHEN (b, e->stores)
        lt_tma_wait_read(b, 0);

    lt_value passes = lt_op(b, "passes_turn", "setp.ne.u32", e->consumer, lt_imm(e->turns - 1));

    LT_WHEN (b, passes)
        lt_bar_arrive(b, lt_op(b, "next_turn", "add.u32", e->consumer, lt_imm(e->turns + 1)),
                      2 * LT_WARPGROUP_THREADS);
}

void lt_epilogue_store(struct lt_builder *b, struct lt_epilogue *e, const struct lt_vector *acc,
                       lt_value m, lt_value n)
{
    int per_block = lt_epilogue_chunks(e->out, e->columns);

    LT_SCOPE (b) {
        struct lt_edge edge = {.row = {0}};

        if (e->turns > 1)
            take_turn(b, e);
        if (e->turns > 1 && e->reads_c)
            fetch_first_c(b, e, m, n);
        if (!is_float_out(e))
            lt_comment(
                b, "16 columns are four 8x8 matrices a warp: rows 0-7 and 8-15, left and right");
        if (e->has_edge)
            edge = lt_edge_find(b, e, n);
        for (int block = 0; block < e->blocks; block++) {
            for (int i = 0; i < per_block; i++) {
                struct chunk chunk = chunk_at(e, block * per_block + i);

                LT_SCOPE (b)
                    store_chunk(b, e, acc, &chunk, &edge, m, n);
            }
            if (e->has_edge)
                LT_SCOPE (b)
                    lt_edge_store(b, e, &edge,
                                  lt_plus(b, "block_row", m, block * LT_EPILOGUE_ROWS));
        }
        if (e->turns > 1)
            pass_turn(b, e);
    }
}

void lt_epilogue_end(struct lt_builder *b, struct lt_epilogue *e)
{
    lt_comment(b, "shared memory must outlive the stores that read it");
    LT_WHEN (b, e->stores)
        lt_tma_wait_read(b, 0);
}
