/* epilogue_tmem_edge.h: the last columns of D where rows do not end with whole 16 bytes, which TMA
 * would write in full: the thread of a row stores what belongs to D, out of the staged row.
 * epilogue_edge.h is the same for accumulators in registers, of which a thread has no whole row. */
#ifndef LT_TEMPLATES_EPILOGUE_TMEM_EDGE_H
#define LT_TEMPLATES_EPILOGUE_TMEM_EDGE_H

#include "templates/epilogue_tmem.h"

/* This thread's row of a buffer. */
struct lt_staged_row {
    lt_value at;   /* where it begins in shared memory                                   */
    lt_value line; /* what the swizzle xors the numbers of its pieces with; nothing: none */
    int columns;
};

/* Columns of D that TMA writes: all but the rest behind the last whole 16 bytes. */
lt_value lt_tmem_edge_find(struct lt_builder *b, const struct lt_tmem_epilogue *e);

/* Stores the edge, if the staged row has it: the row begins in D at row m of the tile's first, and
 * column `first`. The thread has written the row itself. */
void lt_tmem_edge_store(struct lt_builder *b, const struct lt_tmem_epilogue *e,
                        const struct lt_staged_row *row, lt_value m, lt_value first);

#endif
