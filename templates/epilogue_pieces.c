#include "templates/epilogue_pieces.h"

#include "codegen/control.h"
#include "codegen/fragment.h"

#include <stdio.h>

int lt_piece_elements(enum lathe_type out)
{
    return LT_PIECE_BYTES / lathe_type_bytes(out);
}

static int word_elements(enum lathe_type out)
{
    return 4 / lathe_type_bytes(out);
}

static bool reads_c(const struct lt_piece *piece)
{
    return piece->plan->beta == LATHE_BETA_ANY;
}

/* Whole floats are words of their own. */
static enum lt_type word_type(enum lathe_type out)
{
    return out == LATHE_F32 ? LT_F32 : LT_B32;
}

/* Factors of s32 are whole numbers, given as floats: the launch sees to it. */
static lt_value whole_factor(struct lt_builder *b, const char *name, lt_value factor)
{
    lt_value whole = lt_define(b, LT_B32, name);

    lt_inst(b, "cvt.rzi.s32.f32 %0, %1;", whole, factor);
    return whole;
}

struct lt_piece lt_pieces_begin(struct lt_builder *b, const struct lathe_plan *plan,
                                const struct lt_vector *sums, int columns, lt_value alpha,
                                lt_value beta)
{
    enum lathe_type out = plan->out;
    struct lt_piece piece = {.plan = plan,
                             .sums = sums,
                             .count = columns / lt_piece_elements(out),
                             .alpha = alpha,
                             .beta = beta};

    piece.words = lt_vector(b, word_type(out), "word", LT_PIECE_WORDS * piece.count);
    if (reads_c(&piece))
        piece.c_words = lt_vector(b, word_type(out), "c_word", LT_PIECE_WORDS);
    if (out == LATHE_S32) {
        piece.alpha = whole_factor(b, "whole_alpha", alpha);
        if (reads_c(&piece))
            piece.beta = whole_factor(b, "whole_beta", beta);
    }
    return piece;
}

/* ---- C ---- */

static void move_quad(struct lt_builder *b, const char *form, const struct lt_vector *words,
                      int first, lt_value address)
{
    lt_inst(b, form, lt_element(words, first), lt_element(words, first + 1),
            lt_element(words, first + 2), lt_element(words, first + 3), address);
}

void lt_piece_load_shared(struct lt_builder *b, const struct lt_piece *piece, lt_value address)
{
    move_quad(b, "ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];", &piece->c_words, 0, address);
}

/* The bytes of a word of 8-bit elements. */
static void load_bytes(struct lt_builder *b, const struct lt_piece *piece, int word,
                       lt_value address, lt_value left)
{
    lt_value to = lt_element(&piece->c_words, word);

    for (int i = 0; i < 4; i++) {
        lt_value byte = lt_op(b, "c_byte", "mov.b32", lt_imm(0));

        LT_WHEN (b, lt_op(b, "c_has", "setp.gt.s32", left, lt_imm(4 * word + i)))
            lt_inst(b, "ld.b8 %0, [%1];", byte, lt_at(address, 4 * word + i));
        if (i > 0)
            byte = lt_op(b, "c_placed", "shl.b32", byte, lt_imm(8 * i));
        lt_set(b, to, "or.b32", to, byte);
    }
}

/* Element i of a word of 16-bit elements, or the word. */
static void load_word(struct lt_builder *b, const struct lt_piece *piece, int word,
                      lt_value address, lt_value left)
{
    enum lathe_type out = piece->plan->out;
    int per_word = word_elements(out), first = word * per_word;
    lt_value halves[2];

    if (per_word == 4) {
        load_bytes(b, piece, word, address, left);
        return;
    }
    if (per_word == 1) {
        LT_WHEN (b, lt_op(b, "c_has", "setp.gt.s32", left, lt_imm(first)))
            lt_load_global(b, out, lt_element(&piece->c_words, word), lt_at(address, 4 * word));
        return;
    }
    for (int i = 0; i < 2; i++) {
        halves[i] = lt_op(b, i == 0 ? "c_first" : "c_second", "mov.b16", lt_imm(0));
        LT_WHEN (b, lt_op(b, "c_has", "setp.gt.s32", left, lt_imm(first + i)))
            lt_load_global(b, out, halves[i], lt_at(address, 4 * word + 2 * i));
    }
    lt_inst(b, "mov.b32 %0, {%1, %2};", lt_element(&piece->c_words, word), halves[0], halves[1]);
}

void lt_piece_load_global(struct lt_builder *b, const struct lt_piece *piece, lt_value address,
                          lt_value left)
{
    enum lathe_type out = piece->plan->out;
    lt_value whole = lt_op(b, "c_whole", "setp.gt.s32", left, lt_imm(lt_piece_elements(out) - 1));

    for (int i = 0; i < LT_PIECE_WORDS; i++) {
        lt_value zero = out == LATHE_F32 ? lt_float(0.0f) : lt_imm(0);

        lt_set(b, lt_element(&piece->c_words, i), out == LATHE_F32 ? "mov.f32" : "mov.b32", zero);
    }
    LT_WHEN (b, whole)
        move_quad(b, "ld.v4.b32 {%0, %1, %2, %3}, [%4];", &piece->c_words, 0, address);
    LT_IF (b, "c_loaded", lt_not(whole))
        for (int word = 0; word < LT_PIECE_WORDS; word++)
            load_word(b, piece, word, address, left);
}

/* ---- Elements ---- */

static lt_value scaled(struct lt_builder *b, const struct lt_piece *piece, const char *name,
                       int sum, lt_value c)
{
    return lt_scaled(b, name, piece->alpha, lt_element(piece->sums, sum), piece->beta, c);
}

static void make_pair(struct lt_builder *b, const struct lt_piece *piece, int word, int c_word)
{
    enum lathe_type out = piece->plan->out;
    struct lt_halves c = {.low = {0}};
    lt_value low, high;

    if (reads_c(piece))
        c = lt_unpack(b, out, lt_element(&piece->c_words, c_word), "c_low", "c_high");
    low = scaled(b, piece, "low", 2 * word, c.low);
    high = scaled(b, piece, "high", 2 * word + 1, c.high);
    lt_set(b, lt_element(&piece->words, word),
           out == LATHE_F16 ? "cvt.rn.f16x2.f32" : "cvt.rn.bf16x2.f32", high, low);
}

/* Four 8-bit floats to f32, by way of f16, which holds them all. */
static void unpack_quad(struct lt_builder *b, const struct lt_piece *piece, int c_word,
                        lt_value c[4])
{
    const char *form = piece->plan->out == LATHE_E4M3 ? "cvt.rn.f16x2.e4m3x2 %0, %1;"
                                                      : "cvt.rn.f16x2.e5m2x2 %0, %1;";
    static const char *const names[] = {"c_first", "c_second", "c_third", "c_fourth"};
    lt_value halves[2];

    for (int i = 0; i < 2; i++)
        halves[i] = lt_define(b, LT_B16, i == 0 ? "c_lower" : "c_upper");
    lt_inst(b, "mov.b32 {%0, %1}, %2;", halves[0], halves[1], lt_element(&piece->c_words, c_word));
    for (int i = 0; i < 2; i++) {
        lt_value pair = lt_define(b, LT_B32, "c_pair");

        lt_inst(b, form, pair, halves[i]);

        struct lt_halves both = lt_unpack(b, LATHE_F16, pair, names[2 * i], names[2 * i + 1]);

        c[2 * i] = both.low;
        c[2 * i + 1] = both.high;
    }
}

/* Four 8-bit floats, the first in the lowest bits. Source: PTX ISA "cvt": the first source goes to
 * the upper half, and what is too large becomes the largest. */
static void make_quad(struct lt_builder *b, const struct lt_piece *piece, int word, int c_word)
{
    const char *form = piece->plan->out == LATHE_E4M3 ? "cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
                                                      : "cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;";
    static const char *const names[] = {"first", "second", "third", "fourth"};
    lt_value values[4], halves[2], c[4] = {{0}};

    if (reads_c(piece))
        unpack_quad(b, piece, c_word, c);
    for (int i = 0; i < 4; i++)
        values[i] = scaled(b, piece, names[i], 4 * word + i, c[i]);
    for (int i = 0; i < 2; i++) {
        halves[i] = lt_define(b, LT_B16, i == 0 ? "lower" : "upper");
        lt_inst(b, form, halves[i], values[2 * i + 1], values[2 * i]);
    }
    lt_inst(b, "mov.b32 %0, {%1, %2};", lt_element(&piece->words, word), halves[0], halves[1]);
}

/* A word of 32 bits: its own element. The low half of a product is the same with a sign and
 * without, and wraps, as the sums of int8 do. */
static void make_single(struct lt_builder *b, const struct lt_piece *piece, int word, int c_word)
{
    lt_value c = reads_c(piece) ? lt_element(&piece->c_words, c_word) : (lt_value){0};

    if (piece->plan->out != LATHE_S32) {
        lt_set(b, lt_element(&piece->words, word), "mov.f32", scaled(b, piece, "value", word, c));
        return;
    }

    lt_value value = lt_op(b, "value", "mul.lo.u32", lt_element(piece->sums, word), piece->alpha);

    if (reads_c(piece))
        value = lt_op(b, "value", "mad.lo.u32", piece->beta, c, value);
    lt_set(b, lt_element(&piece->words, word), "mov.b32", value);
}

void lt_piece_make(struct lt_builder *b, const struct lt_piece *piece, int index)
{
    for (int i = 0; i < LT_PIECE_WORDS; i++) {
        int word = LT_PIECE_WORDS * index + i;

        switch (lathe_type_bytes(piece->plan->out)) {
        case 1:
            make_quad(b, piece, word, i);
            break;
        case 2:
            make_pair(b, piece, word, i);
            break;
        default:
            make_single(b, piece, word, i);
            break;
        }
    }
}

/* ---- Stores ---- */

void lt_piece_store_shared(struct lt_builder *b, const struct lt_piece *piece, int index,
                           lt_value address)
{
    const struct lt_vector *words = &piece->words;
    int first = LT_PIECE_WORDS * index;

    lt_inst(b, "st.shared.v4.b32 [%0], {%1, %2, %3, %4};", address, lt_element(words, first),
            lt_element(words, first + 1), lt_element(words, first + 2),
            lt_element(words, first + 3));
}

/* The 16-bit halves of a word. */
static void split(struct lt_builder *b, lt_value word, lt_value halves[2])
{
    halves[0] = lt_define(b, LT_B16, "element_low");
    halves[1] = lt_define(b, LT_B16, "element_high");
    lt_inst(b, "mov.b32 {%0, %1}, %2;", halves[0], halves[1], word);
}

/* One element of its word, where `has` holds. */
static void store_element(struct lt_builder *b, enum lathe_type out, lt_value word,
                          const lt_value halves[2], int in_word, lt_value address, lt_value has)
{
    switch (lathe_type_bytes(out)) {
    case 4:
        LT_WHEN (b, has)
            lt_inst(b, "st.b32 [%0], %1;", address, word);
        return;
    case 2:
        LT_WHEN (b, has)
            lt_inst(b, "st.b16 [%0], %1;", address, halves[in_word]);
        return;
    default:
        break;
    }

    lt_value byte = lt_op(b, "element", "shr.u32", word, lt_imm(8 * in_word));

    LT_WHEN (b, has)
        lt_inst(b, "st.b8 [%0], %1;", address, byte);
}

/* The first `count` elements, fewer than a piece has. */
static void store_elements(struct lt_builder *b, enum lathe_type out, const struct lt_piece *piece,
                           int index, lt_value address, lt_value count)
{
    int per_word = word_elements(out);

    for (int i = 0; i < lt_piece_elements(out) - 1; i++) {
        lt_value word = lt_element(&piece->words, LT_PIECE_WORDS * index + i / per_word);
        lt_value halves[2] = {{0}};
        lt_value has = lt_op(b, "has_element", "setp.gt.s32", count, lt_imm(i));

        if (per_word == 2)
            split(b, word, halves);
        store_element(b, out, word, halves, i % per_word, lt_at(address, i * lathe_type_bytes(out)),
                      has);
    }
}

void lt_piece_store_global(struct lt_builder *b, const struct lt_piece *piece, int index,
                           lt_value address, lt_value left)
{
    enum lathe_type out = piece->plan->out;
    const struct lt_vector *words = &piece->words;
    int first = LT_PIECE_WORDS * index;
    lt_value whole =
        lt_op(b, "piece_whole", "setp.gt.s32", left, lt_imm(lt_piece_elements(out) - 1));

    LT_WHEN (b, whole)
        lt_inst(b, "st.v4.b32 [%0], {%1, %2, %3, %4};", address, lt_element(words, first),
                lt_element(words, first + 1), lt_element(words, first + 2),
                lt_element(words, first + 3));
    if (piece->plan->static_size[1] >= 0 &&
        piece->plan->static_size[1] % lt_piece_elements(out) == 0)
        return;
    LT_IF (b, "elements_stored", lt_not(whole))
        store_elements(b, out, piece, index, address, left);
}

lt_value lt_piece_address(struct lt_builder *b, enum lathe_type out, const char *matrix,
                          const char *pitch, lt_value row, lt_value column)
{
    char name[24];
    lt_value bytes = lt_imm(lathe_type_bytes(out));
    lt_value elements, start, at, wide;

    snprintf(name, sizeof name, "%s_at", matrix);
    elements = lt_param_load(b, pitch);
    start = lt_param_load(b, matrix);
    wide = lt_op(b, "row_64", "cvt.u64.u32", row);
    at = lt_op(b, "column_64", "cvt.u64.u32", column);
    at = lt_op(b, name, "mad.lo.u64", wide, elements, at);
    return lt_op(b, name, "mad.lo.u64", at, bytes, start);
}
