/* epilogue_edge.h: the edge of D: the last columns, where rows do not end with whole 16 bytes. TMA
 * would write all 16, so threads store what belongs to D.
 *
 * The edge of a tile lies in one 16-byte piece of its rows. When the chunk that holds it has been
 * staged, a thread a row keeps that piece in registers, and stores it after the chunks; so the
 * unrolled chunks carry one load each and no more. */
#ifndef LT_TEMPLATES_EPILOGUE_EDGE_H
#define LT_TEMPLATES_EPILOGUE_EDGE_H

#include "templates/epilogue.h"

struct lt_edge {
    lt_value chunk, from;  /* which chunk of a block (none: -1), and where in the first buffer */
    lt_value row;          /* of a block: this thread's                                        */
    lt_value count;        /* elements that this thread stores                                 */
    struct lt_vector kept; /* 16 bytes                                                         */
};

/* Where the edge of the tile is whose first column of D is n. */
struct lt_edge lt_edge_find(struct lt_builder *b, const struct lt_epilogue *e, lt_value n);

/* Keeps the edge if it lies in chunk `in_block` of a block, which has been staged `buffer` bytes
 * behind the first buffer; all threads of the warpgroup have passed the barrier. */
void lt_edge_keep(struct lt_builder *b, const struct lt_epilogue *e, const struct lt_edge *edge,
                  int in_block, int buffer);

/* Stores it, after the last chunk of a block of rows whose first is m. */
void lt_edge_store(struct lt_builder *b, const struct lt_epilogue *e, const struct lt_edge *edge,
                   lt_value m);

#endif
