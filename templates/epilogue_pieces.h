/* epilogue_pieces.h: sums to elements of D, 16 bytes at a time: what one store moves at most, and
 * the least that TMA writes. */
#ifndef LT_TEMPLATES_EPILOGUE_PIECES_H
#define LT_TEMPLATES_EPILOGUE_PIECES_H

#include "codegen/builder.h"

enum { LT_PIECE_BYTES = 16, LT_PIECE_WORDS = 4 };

/* Neighbouring columns of one row, as one thread has them. */
struct lt_piece {
    const struct lathe_plan *plan;
    const struct lt_vector *sums; /* f32, or s32 for int8      */
    int count;                    /* of pieces                 */
    lt_value alpha, beta;         /* f32; whole numbers for an out of s32 */
    struct lt_vector words;       /* of all pieces, as D has them   */
    struct lt_vector c_words;     /* of C, of the piece that is made next */
};

/* Elements of D in a piece. */
int lt_piece_elements(enum lathe_type out);

struct lt_piece lt_pieces_begin(struct lt_builder *b, const struct lathe_plan *plan,
                                const struct lt_vector *sums, int columns, lt_value alpha,
                                lt_value beta);

/* C of the piece that is made next: from shared memory; from global memory, where `left` columns
 * are there (none: 0 or negative), the rest as zeros. */
void lt_piece_load_shared(struct lt_builder *b, const struct lt_piece *piece, lt_value address);
void lt_piece_load_global(struct lt_builder *b, const struct lt_piece *piece, lt_value address,
                          lt_value left);

/* Piece `index`: alpha * sum (+ beta * c), rounded and packed; of s32 the low 32 bits. */
void lt_piece_make(struct lt_builder *b, const struct lt_piece *piece, int index);

void lt_piece_store_shared(struct lt_builder *b, const struct lt_piece *piece, int index,
                           lt_value address);
/* As many columns as are left: all of it at once, or element by element. */
void lt_piece_store_global(struct lt_builder *b, const struct lt_piece *piece, int index,
                           lt_value address, lt_value left);

/* The generic address of an element of the matrix whose parameters have these names. */
lt_value lt_piece_address(struct lt_builder *b, enum lathe_type out, const char *matrix,
                          const char *pitch, lt_value row, lt_value column);

#endif
