#include "templates/epilogue_tmem_edge.h"

#include "codegen/control.h"
#include "templates/epilogue_pieces.h"

lt_value lt_tmem_edge_find(struct lt_builder *b, const struct lt_tmem_epilogue *e)
{
    unsigned rest = (unsigned)lt_piece_elements(e->plan->out) - 1;

    lt_note(b, "TMA writes whole 16 bytes; the rest of a row is stored by its thread");
    return lt_op(b, "d_whole", "and.b32", e->n, lt_hex(~rest));
}

static lt_value element_of(struct lt_builder *b, enum lathe_type out, lt_value from)
{
    static const struct {
        enum lt_type type;
        const char *form;
    } loads[] = {
        [1] = {LT_B32, "ld.shared.b8 %0, [%1];"},
        [2] = {LT_B16, "ld.shared.b16 %0, [%1];"},
        [4] = {LT_B32, "ld.shared.b32 %0, [%1];"},
    };
    int bytes = lathe_type_bytes(out);
    lt_value element = lt_define(b, loads[bytes].type, "edge_element");

    lt_inst(b, loads[bytes].form, element, from);
    return element;
}

static void store_element(struct lt_builder *b, enum lathe_type out, lt_value element, lt_value to)
{
    static const char *const forms[] = {
        [1] = "st.b8 [%0], %1;", [2] = "st.b16 [%0], %1;", [4] = "st.b32 [%0], %1;"};

    lt_inst(b, forms[lathe_type_bytes(out)], to, element);
}

/* How many elements this thread stores. */
static lt_value count_of(struct lt_builder *b, const struct lt_tmem_epilogue *e, lt_value d_row)
{
    lt_value inside = lt_op(b, "edge_inside", "setp.lt.u32", d_row, e->m);
    lt_value count = lt_op(b, "edge_count", "sub.u32", e->n, e->d_whole);

    if (e->has_row.kind != LT_NOTHING)
        inside = lt_op(b, "edge_inside", "and.pred", inside, e->has_row);
    return lt_op(b, "edge_count", "selp.b32", count, lt_imm(0), inside);
}

struct edge {
    lt_value behind; /* its column in the chunk                */
    lt_value d_row;
    lt_value count; /* how many elements this thread stores   */
};

static void store_elements(struct lt_builder *b, const struct lt_tmem_epilogue *e,
                           const struct lt_staged_row *row, const struct edge *edge_of_row)
{
    enum lathe_type out = e->plan->out;
    lt_value bytes = lt_imm(lathe_type_bytes(out));
    lt_value to = lt_piece_address(b, out, "d", "ldd", edge_of_row->d_row, e->d_whole);
    lt_value from = lt_op(b, "edge_from", "mul.lo.u32", edge_of_row->behind, bytes);

    if (row->line.kind != LT_NOTHING) {
        lt_value swizzle =
            lt_op(b, "edge_swizzle", "mul.lo.u32", row->line, lt_imm(LT_PIECE_BYTES));

        from = lt_op(b, "edge_from", "xor.b32", from, swizzle);
    }
    from = lt_op(b, "edge_from", "add.u32", from, row->at);
    LT_REPEAT (b, edge, edge_of_row->count) {
        lt_keep_rolled(b);
        lt_value at = lt_op(b, "edge_element_at", "mad.lo.u32", edge.index, bytes, from);
        lt_value element = element_of(b, out, at);

        store_element(b, out, element, lt_op(b, "edge_at", "mad.wide.u32", edge.index, bytes, to));
    }
}

void lt_tmem_edge_store(struct lt_builder *b, const struct lt_tmem_epilogue *e,
                        const struct lt_staged_row *row, lt_value m, lt_value first)
{
    lt_value behind = lt_op(b, "edge_behind", "sub.u32", e->d_whole, first);

    lt_note(b, "as unsigned numbers: left of this chunk is far behind it");
    lt_value is_here = lt_op(b, "edge_is_here", "setp.lt.u32", behind, lt_imm(row->columns));

    LT_IF (b, "edge_stored", is_here) {
        lt_value d_row = lt_op(b, "edge_row", "add.u32", m, e->row);
        lt_value count = count_of(b, e, d_row);

        LT_IF (b, "edge_end", lt_op(b, "edge_is_mine", "setp.ne.u32", count, lt_imm(0)))
            store_elements(b, e, row, &(struct edge){behind, d_row, count});
    }
}
