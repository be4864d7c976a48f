/* epilogue.h: accumulators to D, by way of swizzled staging and TMA; shared by the families of
 * sm_90a.
 *
 * Each consumer warpgroup has `buffers` staging buffers of its own, 64 rows of one swizzle span
 * (128 bytes). A block of 64 rows of accumulators leaves in chunks of as many columns as a span
 * holds: scale, round, store to a buffer, and one thread hands the buffer to TMA, which clips what
 * lies outside D. But TMA writes whole 16 bytes: where a row of D does not end with them, threads
 * copy the last few elements from staging themselves. With beta, TMA has brought the same chunk of
 * C into the buffer before, in the layout in which this thread is about to write D there; so C
 * costs no registers beyond a fragment.
 */
#ifndef LT_TEMPLATES_EPILOGUE_H
#define LT_TEMPLATES_EPILOGUE_H

#include "codegen/barrier.h"
#include "templates/gemm_tile.h"

enum { LT_EPILOGUE_ROWS = 64, LT_EPILOGUE_BUFFER_BYTES = LT_EPILOGUE_ROWS * LT_SPAN_BYTES };

struct lt_epilogue {
    const struct lathe_plan *plan;
    enum lathe_type out;
    int columns; /* of D a warpgroup's accumulators span  */
    int blocks;  /* of 64 rows a warpgroup                */
    int buffers;
    int turns;    /* warpgroups that share the buffers, one after the other; 0: each has its own */
    bool reads_c; /* beta = any                                                 */
    int c_barriers; /* offset in shared memory: one mbarrier a buffer a warpgroup */
    bool has_edge;  /* rows of D may end within 16 bytes                          */
    lt_value map_d, map_d_tail, map_c, map_c_tail; /* tail: the last, narrower chunk */
    lt_value alpha, beta;
    lt_value m, n; /* rows and columns of D */

    /* Per warpgroup, made by lt_epilogue_begin(). */
    lt_value consumer;    /* which it is                                         */
    lt_value staging;     /* address of its buffers                              */
    lt_value barrier;     /* id of its named barrier                             */
    lt_value stores;      /* predicate: the one thread that talks to TMA         */
    struct lt_vector row; /* where this lane's row holds the columns of a chunk */
    lt_value c_full;      /* address of the first buffer's mbarrier              */
    lt_value c_parity;    /* bit i: the parity that buffer i is waited for next   */
    lt_value uses_c;      /* predicate: beta is not 0                            */
    lt_value d_whole;     /* columns of D that TMA writes: n less its edge       */
};

/* Columns of a whole chunk, and how many chunks the columns of a tile make, the last one maybe
 * narrower. */
int lt_epilogue_chunk_columns(enum lathe_type out);
int lt_epilogue_chunks(enum lathe_type out, int columns);

/* Elements that TMA writes at least: the parameters "d" and "ldd" and an inner_multiple of this are
 * what has_edge asks for. */
int lt_epilogue_whole_columns(enum lathe_type out);

/* Initialises the mbarriers of C; one thread does it. `consumers` warpgroups. */
void lt_epilogue_init(struct lt_builder *b, const struct lt_epilogue *e, lt_value smem,
                      int consumers);

/* Addresses and predicates of this warpgroup; `consumer` counts warpgroups from 0. */
void lt_epilogue_begin(struct lt_builder *b, struct lt_epilogue *e, lt_value smem, int staging,
                       lt_value consumer, lt_value thread, lt_value lane);

/* With beta: lets TMA fetch the first chunks of C while the tile is being multiplied. */
void lt_epilogue_prefetch(struct lt_builder *b, struct lt_epilogue *e, lt_value m, lt_value n);

/* Stores the accumulators of the tile whose first row for this warpgroup is m. */
void lt_epilogue_store(struct lt_builder *b, struct lt_epilogue *e, const struct lt_vector *acc,
                       lt_value m, lt_value n);

/* Before the CTA may exit: TMA has read all staging. */
void lt_epilogue_end(struct lt_builder *b, struct lt_epilogue *e);

#endif
