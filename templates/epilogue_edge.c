#include "templates/epilogue_edge.h"

#include "codegen/control.h"
#include "codegen/fragment.h"
#include "codegen/tma.h"
#include "codegen/wgmma.h"

struct lt_edge lt_edge_find(struct lt_builder *b, const struct lt_epilogue *e, lt_value n)
{
    int bytes = lathe_type_bytes(e->out);
    struct lt_edge edge;

    lt_comment(b, "the edge: columns of D behind the last whole 16 bytes, which TMA would write");
    lt_note(b, "huge in tiles behind the edge");
    lt_value column = lt_op(b, "edge_column", "sub.u32", e->d_whole, n);
    lt_value exists = lt_op(b, "edge_exists", "setp.lt.u32", column, lt_imm(e->columns));
    lt_value byte = lt_op(b, "edge_byte", "mul.lo.u32", column, lt_imm(bytes));
    edge.chunk = lt_quotient(b, "edge_chunk", byte, LT_SPAN_BYTES);
    lt_note(b, "the chunk of the tile that holds it, or none");
    edge.chunk = lt_op(b, "edge_chunk", "selp.b32", edge.chunk, lt_hex(0xffffffff), exists);
    lt_comment(b, "its 16 bytes in this thread's row of a buffer, at their swizzled place");
    lt_value thread = lt_op(b, "edge_thread", "mov.u32", lt_special("%tid.x"));
    edge.row = lt_op(b, "edge_row", "and.b32", thread, lt_imm(LT_EPILOGUE_ROWS - 1));
    lt_value swizzle = lt_op(b, "edge_swizzle", "and.b32", edge.row, lt_imm(7));
    swizzle = lt_op(b, "edge_swizzle", "shl.b32", swizzle, lt_imm(4));
    byte = lt_op(b, "edge_byte", "and.b32", byte, lt_imm(LT_SPAN_BYTES - 1));
    byte = lt_op(b, "edge_byte", "xor.b32", byte, swizzle);
    edge.from = lt_op(b, "edge_from", "add.u32", e->staging, byte);
    edge.from = lt_op(b, "edge_from", "mad.lo.u32", edge.row, lt_imm(LT_SPAN_BYTES), edge.from);
    edge.kept = lt_vector(b, LT_B32, "edge", 4);

    lt_value other = lt_op(b, "edge_other", "and.b32", thread, lt_imm(LT_EPILOGUE_ROWS));
    lt_value stores = lt_op(b, "edge_stores", "setp.eq.u32", other, lt_imm(0));
    edge.count = lt_op(b, "edge_columns", "sub.u32", e->n, e->d_whole);
    lt_note(b, "64 threads, a row each");
    edge.count = lt_op(b, "edge_columns", "selp.b32", edge.count, lt_imm(0), stores);
    return edge;
}

void lt_edge_keep(struct lt_builder *b, const struct lt_epilogue *e, const struct lt_edge *edge,
                  int in_block, int buffer)
{
    lt_value here = lt_op(b, "edge_here", "setp.eq.u32", edge->chunk, lt_imm(in_block));

    LT_WHEN (b, here) {
        lt_load_quad(b, lt_at(edge->from, buffer), &edge->kept);
        if (e->reads_c && e->buffers == 1) {
            lt_note(b, "before C of the next chunk may come into the only buffer");
            lt_bar_sync(b, e->barrier, LT_WARPGROUP_THREADS);
        }
    }
}

/* One element after the other, as many as there are. */
static void store_kept(struct lt_builder *b, const struct lt_epilogue *e,
                       const struct lt_edge *edge, lt_value to, lt_value count)
{
    int bytes = lathe_type_bytes(e->out);
    int most = LT_TMA_STORE_BYTES / bytes - 1;
    lt_value low = {0}, high = {0};

    for (int i = 0; i < most; i++) {
        lt_value element = lt_element(&edge->kept, i * bytes / 4);

        if (bytes == 2 && i % 2 == 0) {
            low = lt_define(b, LT_B16, "edge_low");
            high = lt_define(b, LT_B16, "edge_high");
            lt_inst(b, "mov.b32 {%0, %1}, %2;", low, high, element);
        }
        if (bytes == 2)
            element = i % 2 == 0 ? low : high;
        LT_WHEN (b, lt_op(b, "edge_has", "setp.lt.u32", lt_imm(i), count))
            lt_store_global(b, e->out, lt_at(to, i * bytes), element);
    }
}

void lt_edge_store(struct lt_builder *b, const struct lt_epilogue *e, const struct lt_edge *edge,
                   lt_value m)
{
    int bytes = lathe_type_bytes(e->out);
    lt_value exists = lt_op(b, "edge_in_tile", "setp.ne.u32", edge->chunk, lt_hex(0xffffffff));

    LT_IF (b, "edge_stored", exists) {
        if (e->reads_c) {
            lt_note(b, "before C of the next tile may come into the buffer");
            lt_bar_sync(b, e->barrier, LT_WARPGROUP_THREADS);
        }
        lt_value row = lt_op(b, "edge_d_row", "add.u32", m, edge->row);
        lt_value inside = lt_op(b, "edge_inside", "setp.lt.u32", row, e->m);
        lt_value count = lt_op(b, "edge_count", "selp.b32", edge->count, lt_imm(0), inside);
        lt_value to = lt_op(b, "edge_to", "cvt.u64.u32", e->d_whole);

        row = lt_op(b, "edge_d_row_64", "cvt.u64.u32", row);
        to = lt_op(b, "edge_to", "mad.lo.u64", row, lt_param_load(b, "ldd"), to);
        to = lt_op(b, "edge_to", "mad.lo.u64", to, lt_imm(bytes), lt_param_load(b, "d"));
        store_kept(b, e, edge, to, count);
    }
}
