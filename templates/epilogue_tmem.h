/* epilogue_tmem.h: accumulators in tensor memory to D, by the four warps of a warpgroup: each lane
 * of tensor memory is a row, and a thread reads its lane, chunk by chunk of columns.
 *
 * With staging a chunk goes to shared memory, rows swizzled as TMA wants them, and one thread hands
 * it to TMA, which clips what lies outside D. But TMA writes whole 16 bytes: where a row of D does
 * not end with them, threads store the last few elements themselves. Without staging each thread
 * stores its row. C, if any, comes by the same way as D goes. */
#ifndef LT_TEMPLATES_EPILOGUE_TMEM_H
#define LT_TEMPLATES_EPILOGUE_TMEM_H

#include "codegen/ring.h"

struct lt_tmem_epilogue {
    const struct lathe_plan *plan;
    int lanes;      /* that hold rows: 128, or 64, 16 in every 32                        */
    int columns;    /* of tensor memory an accumulator has                               */
    bool is_folded; /* lanes from 64 on hold the same 64 rows, of the next columns of D  */
    bool by_tma;
    int chunk;           /* columns at a time                                           */
    int buffers;         /* of a chunk, in shared memory                                */
    int staging, c_full; /* offsets in shared memory: the first warpgroup's buffers, and
                            its mbarriers for C, one a buffer                           */
    lt_value map_c, map_c_tail, map_d, map_d_tail;
    lt_value smem, m, n, alpha, beta;

    /* Per warpgroup, made by lt_tmem_epilogue_begin(). */
    lt_value buffers_at, barriers_at;
    lt_value barrier;    /* id of its named barrier                                     */
    lt_value stores;     /* predicate: the one thread that talks to TMA                 */
    lt_value lane_base;  /* of this warp, as part of an address of tensor memory        */
    lt_value lane;       /* of tensor memory                                            */
    lt_value row;        /* of the accumulator that this thread has                     */
    lt_value has_row;    /* predicate; nothing where every thread has one               */
    lt_value column;     /* of D that its lane begins with, behind the tile's first     */
    lt_value buffer;     /* which comes next                                            */
    lt_value c_parities; /* a bit for each buffer of C                                  */
    lt_value d_whole;    /* columns of D that TMA writes                                */
};

/* Initialises the mbarriers of C; one thread does it. `warpgroups` of them. */
void lt_tmem_epilogue_init(struct lt_builder *b, const struct lt_tmem_epilogue *e, int warpgroups);

/* `warpgroup` counts those that write back from 0 (nothing: there is one); `warp`, `thread` are the
 * CTA's. */
void lt_tmem_epilogue_begin(struct lt_builder *b, struct lt_tmem_epilogue *e, lt_value warpgroup,
                            lt_value warp, lt_value thread, lt_value lane);

/* Stores the accumulator at `d`, whose rows begin at m and whose columns at n. `read_all` (may be
 * null) is called when all of it was read. */
void lt_tmem_epilogue_store(struct lt_builder *b, struct lt_tmem_epilogue *e, lt_value d,
                            lt_value m, lt_value n,
                            void (*read_all)(struct lt_builder *b, void *user), void *user);

/* Before the CTA may exit: TMA has read all staging. */
void lt_tmem_epilogue_end(struct lt_builder *b, const struct lt_tmem_epilogue *e);

/* Bytes between the rows of a buffer, and the swizzle that goes with them. */
int lt_tmem_row_bytes(const struct lathe_plan *plan, int columns);
int lt_tmem_swizzle_bytes(const struct lathe_plan *plan, int columns);

#endif
