#include "templates/epilogue_direct.h"

#include "codegen/control.h"
#include "codegen/fragment.h"
#include "templates/epilogue.h"

enum { HALF_ROWS = 8, GROUP_COLUMNS = 8 };

/* A matrix from this lane's first element on. */
struct place {
    lt_value start, pitch; /* address; bytes from row to row                             */
    lt_value left;         /* columns from there to the matrix's end; none: 0 or negative */
};

static bool reads_c(const struct lt_direct *d)
{
    return d->plan->beta == LATHE_BETA_ANY;
}

/* Whether D may end between the two columns of a pair. */
static bool may_be_odd(const struct lt_direct *d)
{
    return d->plan->static_size[1] < 0 || d->plan->static_size[1] % 2 != 0;
}

static struct place find(struct lt_builder *b, const struct lt_direct *d, const char *matrix,
                         const char *pitch)
{
    lt_value bytes = lt_imm(lathe_type_bytes(d->plan->out));
    struct place place = {.start = {0}};
    lt_value elements = lt_param_load(b, pitch);
    lt_value row = lt_op(b, "row_64", "cvt.u64.u32", d->row);
    lt_value at = lt_op(b, "column_64", "cvt.u64.u32", d->column);

    at = lt_op(b, "first_element", "mad.lo.u64", row, elements, at);
    place.start = lt_op(b, matrix[0] == 'c' ? "c_first" : "d_first", "mad.lo.u64", at, bytes,
                        lt_param_load(b, matrix));
    place.pitch = lt_op(b, matrix[0] == 'c' ? "c_pitch" : "d_pitch", "mul.lo.u64", elements, bytes);
    return place;
}

/* ---- A pair of columns ---- */

/* Of the columns from `at` on: whether both are there, and whether the first alone is. */
struct there {
    lt_value both, one; /* `one` is nothing where that cannot be */
};

static struct there look(struct lt_builder *b, const struct lt_direct *d, const char *both,
                         const char *one, lt_value left, int at)
{
    struct there there = {.both = lt_op(b, both, "setp.gt.s32", left, lt_imm(at + 1))};

    if (may_be_odd(d))
        there.one = lt_op(b, one, "setp.eq.s32", left, lt_imm(at + 1));
    return there;
}

static struct lt_halves load_c(struct lt_builder *b, const struct lt_direct *d, lt_value address,
                               const struct there *there)
{
    enum lathe_type out = d->plan->out;
    struct lt_halves c;

    if (out == LATHE_F32) {
        c.low = lt_op(b, "c_low", "mov.f32", lt_float(0.0f));
        c.high = lt_op(b, "c_high", "mov.f32", lt_float(0.0f));
        LT_WHEN (b, there->both)
            lt_inst(b, "ld.v2.f32 {%0, %1}, [%2];", c.low, c.high, address);
        if (there->one.kind != LT_NOTHING)
            LT_WHEN (b, there->one)
                lt_load_global(b, out, c.low, address);
        return c;
    }

    lt_value pair = lt_op(b, "c_pair", "mov.b32", lt_imm(0));

    LT_WHEN (b, there->both)
        lt_inst(b, "ld.b32 %0, [%1];", pair, address);
    if (there->one.kind != LT_NOTHING) {
        lt_value first = lt_op(b, "c_first_half", "mov.b16", lt_imm(0));
        lt_value none = lt_op(b, "c_no_half", "mov.b16", lt_imm(0));

        LT_WHEN (b, there->one) {
            lt_load_global(b, out, first, address);
            lt_inst(b, "mov.b32 %0, {%1, %2};", pair, first, none);
        }
    }
    return lt_unpack(b, out, pair, "c_low", "c_high");
}

static void store(struct lt_builder *b, const struct lt_direct *d, lt_value address,
                  struct lt_halves sums, const struct there *there)
{
    enum lathe_type out = d->plan->out;
    lt_value first = sums.low;

    if (out == LATHE_F32) {
        LT_WHEN (b, there->both)
            lt_inst(b, "st.v2.f32 [%0], {%1, %2};", address, sums.low, sums.high);
    } else {
        lt_value pair = lt_pack(b, "pair", out, sums.high, sums.low);

        LT_WHEN (b, there->both)
            lt_inst(b, "st.b32 [%0], %1;", address, pair);
        if (there->one.kind != LT_NOTHING) {
            first = lt_define(b, LT_B16, "first_half");
            lt_inst(b, "mov.b32 {%0, %1}, %2;", first, lt_define(b, LT_B16, "second_half"), pair);
        }
    }
    if (there->one.kind != LT_NOTHING)
        LT_WHEN (b, there->one)
            lt_store_global(b, out, address, first);
}

/* ---- Rows ---- */

/* One row of a block: `half` 1 is the one 8 rows below. */
static void store_row(struct lt_builder *b, const struct lt_direct *d, const struct lt_vector *acc,
                      const struct place *to, const struct place *from, int block, int half)
{
    int bytes = lathe_type_bytes(d->plan->out);
    lt_value below = lt_imm(block * d->block_rows + half * HALF_ROWS);
    lt_value to_row = lt_op(b, "d_row", "mad.lo.u64", below, to->pitch, to->start);
    lt_value from_row = {0};

    if (reads_c(d))
        from_row = lt_op(b, "c_row", "mad.lo.u64", below, from->pitch, from->start);
    for (int at = 0; at < d->columns; at += GROUP_COLUMNS) {
        struct there there = look(b, d, "both", "one", to->left, at);
        struct lt_halves sums =
            lt_sum_pair(b, acc, block * d->columns / 2 + at / 2 + 2 * half, "low", "high");
        struct lt_halves c = {.low = {0}};

        if (reads_c(d)) {
            struct there c_there = look(b, d, "c_both", "c_one", from->left, at);

            c = load_c(b, d, lt_at(from_row, at * bytes), &c_there);
        }
        sums.low = lt_scaled(b, "low", d->alpha, sums.low, d->beta, c.low);
        sums.high = lt_scaled(b, "high", d->alpha, sums.high, d->beta, c.high);
        store(b, d, lt_at(to_row, at * bytes), sums, &there);
    }
}

void lt_direct_store(struct lt_builder *b, const struct lt_direct *d, const struct lt_vector *acc)
{
    struct place to = find(b, d, "d", "ldd"), from = {.start = {0}};

    to.left = lt_op(b, "columns_left", "sub.u32", d->n, d->column);
    if (reads_c(d)) {
        from = find(b, d, "c", "ldc");
        lt_value uses_c = lt_op(b, "uses_c", "setp.neu.f32", d->beta, lt_float(0.0f));

        lt_note(b, "beta = 0: no column of C is there");
        from.left = lt_op(b, "c_columns_left", "selp.b32", to.left, lt_imm(0), uses_c);
    }
    lt_comment(b, "of every 8 columns a lane holds two, in its row and 8 rows below");
    for (int block = 0; block < d->blocks; block++)
        for (int half = 0; half < 2; half++)
            LT_SCOPE (b) {
                int below = block * d->block_rows + half * HALF_ROWS;
                lt_value row = lt_plus(b, "row_below", d->row, below);

                LT_IF (b, "row_stored", lt_op(b, "row_inside", "setp.lt.u32", row, d->m))
                    store_row(b, d, acc, &to, &from, block, half);
            }
}
