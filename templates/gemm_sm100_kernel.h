/* gemm_sm100_kernel.h: what the kernels for sm_100a and sm_103a are put together from. Each part is
 * written by all threads of the role that it is for; which role that is, and in which order they
 * come, gemm_sm100.c says. */
#ifndef LT_TEMPLATES_GEMM_SM100_KERNEL_H
#define LT_TEMPLATES_GEMM_SM100_KERNEL_H

#include "codegen/tcgen05.h"
#include "templates/epilogue_tmem.h"
#include "templates/gemm_kernel.h"
#include "templates/gemm_sm100_check.h"

struct lt_gemm_sm100 {
    struct lt_gemm g;
    int cta_rows;    /* of one MMA's A, and of its D, in one CTA */
    int cta_columns; /* rows of B in one CTA                      */
    struct lt_accumulator accumulator;
    struct lt_ring products; /* flow=stepwise, serial: the MMA -> all threads: products are done */
    struct lt_ring accs;     /* of one consumer; MMA -> write-back: sums in tensor memory        */
    struct lt_ring replies;  /* schedule=dynamic: the scheduler -> all roles: the next tile      */
    struct lt_tmem_epilogue epilogue;
    lt_value tmem;                               /* address of the first accumulator             */
    lt_value rank, pair_rank, leader, is_leader; /* in the cluster; in the pair, from 0; the even
                                                    CTA's rank; predicate. Nothing without pairs,
                                                    but rank where replies go to a cluster       */
    lt_value pair_mask;                          /* both CTAs, for multicasts                    */
};

struct lt_gemm_sm100 lt_gemm_sm100_of(const struct lathe_plan *plan);

/* Writes all up to the kernel's first instruction. */
void lt_gemm_sm100_head(struct lt_builder *b, const struct lt_gemm_sm100 *s);

/* All threads: names, barriers, tensor memory. */
void lt_gemm_sm100_setup(struct lt_builder *b, struct lt_gemm_sm100 *s);
/* All threads, behind their roles: tensor memory goes back. */
void lt_gemm_sm100_teardown(struct lt_builder *b, const struct lt_gemm_sm100 *s);

/* ---- What the CTAs of a cluster do for each other (gemm_sm100_share.c) ---- */

/* Whether any of them fetch together. */
bool lt_gemm_sm100_shares(const struct lathe_plan *plan);

struct lt_gemm_sm100_slices {
    struct lt_slice a, b;
};

/* One thread of each CTA. */
struct lt_gemm_sm100_slices lt_gemm_sm100_slices(struct lt_builder *b,
                                                 const struct lt_gemm_sm100 *s);

/* Who fills the stages of this CTA, or of its pair, of which this is the leader; nothing where that
 * is the CTA alone. */
lt_value lt_gemm_sm100_filling_mask(struct lt_builder *b, const struct lt_gemm_sm100 *s);

/* ---- A and B of a stage (gemm_sm100_load.c) ---- */

/* One thread of each CTA: announces the bytes, of both CTAs in the leader, whoever fetches them,
 * and has TMA fetch this CTA's slices. */
void lt_gemm_sm100_load(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                        const struct lt_gemm_sm100_slices *slices, const struct lt_cursor *stage,
                        const struct lt_tile *tile, lt_value k_block);
/* All threads of a warpgroup copy the only stage; the tensor cores may read it behind a barrier. */
void lt_gemm_sm100_copy(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                        const struct lt_tile *tile, lt_value k_block);

/* ---- Products (gemm_sm100_mma.c): one thread, of the leader ---- */

struct lt_tcgen05_operands {
    lt_value ring;     /* descriptor of stage 0                                        */
    lt_value a_behind; /* what to add for a consumer's rows of A; nothing where all are */
    lt_value instruction;
};

/* `consumer`: whose rows of A; nothing where there is one. */
struct lt_tcgen05_operands lt_gemm_sm100_operands(struct lt_builder *b,
                                                  const struct lt_gemm_sm100 *s, lt_value consumer);
/* Predicate: not a tile's first step. */
lt_value lt_gemm_sm100_is_later(struct lt_builder *b, lt_value k_block);
/* All MMAs of a stage into the accumulator at `d`; `later` is false in a tile's first step. */
void lt_gemm_sm100_multiply(struct lt_builder *b, const struct lt_gemm_sm100 *s,
                            const struct lt_tcgen05_operands *o, const struct lt_cursor *stage,
                            lt_value d, lt_value later);

/* ---- Which tiles (gemm_sm100_schedule.c) ---- */

/* With schedule=dynamic. */
struct lt_ring lt_gemm_sm100_replies(const struct lathe_plan *plan, int offset);

/* One thread of the cluster, in the CTA of rank 0: asks for tiles until none is left. */
void lt_gemm_sm100_scheduler(struct lt_builder *b, const struct lt_gemm_sm100 *s);

/* What a role does for each tile. */
struct lt_gemm_sm100_maker {
    void (*make)(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value number, void *user);
    void *user;
    bool is_blind; /* it need not know the tile's number */
};
/* All threads of a role, for each tile of this CTA: one, or as many as it walks; with
 * schedule=dynamic the cluster's own, then one after the other those taken over. */
void lt_gemm_sm100_each_tile(struct lt_builder *b, struct lt_gemm_sm100 *s,
                             const struct lt_gemm_sm100_maker *maker);

/* ---- One warpgroup that does everything (gemm_sm100_serial.c) ---- */

/* All threads, for all tiles: flow=stepwise and serial; flow=pipelined. */
void lt_gemm_sm100_serial(struct lt_builder *b, struct lt_gemm_sm100 *s);
void lt_gemm_sm100_pipelined(struct lt_builder *b, struct lt_gemm_sm100 *s);

#endif
