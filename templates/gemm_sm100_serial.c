/* gemm_sm100_serial.c: flow=stepwise, serial and pipelined: one warpgroup does everything. Where
 * warps have roles of their own, gemm_sm100.c. */
#include "codegen/control.h"
#include "codegen/wgmma.h"
#include "templates/gemm_sm100_kernel.h"

/* Each CTA fetches for itself. */
static const struct lt_gemm_sm100_slices whole;

/* Tensor memory was read: those who multiply next may overwrite it, behind a barrier. */
static void write_back_alone(struct lt_builder *b, struct lt_gemm_sm100 *s,
                             const struct lt_tile *tile)
{
    lt_heading(b, "write-back: warps 0 to 3");
    lt_tcgen05_fence_after(b);
    lt_tmem_epilogue_store(b, &s->epilogue, s->tmem, tile->m, tile->n, NULL, NULL);
    if (!lt_schedule_walks(&s->g.schedule))
        return;
    lt_comment(b, "all warps have read the sums: the next tile may overwrite them");
    lt_tcgen05_fence_before(b);
    lt_bar_sync_cta(b);
}

/* ---- One after the other ---- */

struct serial {
    struct lt_cursor tiles, products;
    struct lt_tcgen05_operands operands;
};

static void load_step(struct lt_builder *b, struct lt_gemm_sm100 *s, const struct serial *serial,
                      const struct lt_tile *tile, lt_value k_block)
{
    if (s->g.plan->load == LATHE_COPY_TMA) {
        lt_heading(b, "load: one thread");
        LT_IF (b, "loaded", s->g.is_first)
            lt_gemm_sm100_load(b, s, &whole, &serial->tiles, tile, k_block);
        lt_ring_wait(b, &serial->tiles);
        lt_ring_flip(b, &serial->tiles);
        return;
    }
    lt_heading(b, "load: all warps copy");
    lt_gemm_sm100_copy(b, s, tile, k_block);
    lt_bar_sync_cta(b);
}

/* The barrier as it was before its first phase. */
static void renew(struct lt_builder *b, const struct lt_gemm_sm100 *s, const struct serial *serial)
{
    lt_comment(b, "the barrier is made anew: no phase to keep in mind");
    lt_bar_sync_cta(b);
    LT_IF (b, "renewed", s->g.is_first) {
        lt_mbarrier_inval(b, serial->products.full);
        lt_mbarrier_init(b, serial->products.full, 1);
        lt_fence_mbarrier_init(b);
    }
    lt_bar_sync_cta(b);
}

static void multiply_step(struct lt_builder *b, struct lt_gemm_sm100 *s,
                          const struct serial *serial, lt_value k_block)
{
    lt_heading(b, "multiply: one thread");
    LT_IF (b, "multiplied", s->g.is_first) {
        lt_tcgen05_fence_after(b);
        lt_gemm_sm100_multiply(b, s, &serial->operands, &serial->tiles, s->tmem,
                               lt_gemm_sm100_is_later(b, k_block));
        lt_tcgen05_commit(b, 1, serial->products.full, (lt_value){0});
    }
    lt_heading(b, "wait: all warps");
    lt_ring_wait(b, &serial->products);
    if (s->g.plan->flow == LATHE_STEPWISE) {
        renew(b, s, serial);
        return;
    }
    lt_ring_flip(b, &serial->products);
    if (s->g.plan->load == LATHE_COPY_TMA) {
        lt_comment(b, "a warp that fell two phases behind would wait for one that has long passed");
        lt_bar_sync_cta(b);
    }
}

static void make_serially(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value number,
                          void *user)
{
    struct serial *serial = user;
    struct lt_tile tile = lt_tile_at(b, &s->g.schedule, number);

    LT_REPEAT (b, k_block, s->g.k_blocks) {
        load_step(b, s, serial, &tile, k_block.index);
        multiply_step(b, s, serial, k_block.index);
    }
    write_back_alone(b, s, &tile);
}

void lt_gemm_sm100_serial(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct serial serial = {.operands = lt_gemm_sm100_operands(b, s, (lt_value){0})};

    lt_heading(b, "rings: all warps");
    if (s->g.plan->load == LATHE_COPY_TMA)
        serial.tiles = lt_ring_fixed(b, &s->g.tiles, s->g.smem, 0);
    serial.products = lt_ring_fixed(b, &s->products, s->g.smem, 0);
    serial.products = lt_ring_at(&serial.products, 0);
    serial.tiles = s->g.plan->load == LATHE_COPY_TMA
                       ? lt_ring_at(&serial.tiles, 0)
                       : (struct lt_cursor){.ring = &s->g.tiles, .stage = lt_imm(0)};
    lt_tmem_epilogue_begin(b, &s->epilogue, (lt_value){0}, s->g.warp, s->g.thread, s->g.lane);
    lt_heading(b, "tile: all warps");
    lt_gemm_sm100_each_tile(b, s, &(struct lt_gemm_sm100_maker){make_serially, &serial, false});
    lt_tmem_epilogue_end(b, &s->epilogue);
}

/* ---- Some steps ahead ---- */

struct pipelined {
    struct lt_ring ahead_ring;     /* the same barriers, by another name */
    struct lt_cursor ahead, tiles; /* where it loads, and where it multiplies */
    lt_value last, last_parity;    /* of the stage that was multiplied last: its empty barrier */
    struct lt_tcgen05_operands operands;
};

static void load_ahead(struct lt_builder *b, struct lt_gemm_sm100 *s, struct pipelined *p,
                       const struct lt_tile *tile, lt_value k_block)
{
    lt_ring_wait_free(b, &p->ahead);
    lt_gemm_sm100_load(b, s, &whole, &p->ahead, tile, k_block);
    lt_ring_advance(b, &p->ahead);
}

static void multiply_ahead(struct lt_builder *b, struct lt_gemm_sm100 *s, struct pipelined *p,
                           lt_value k_block)
{
    lt_ring_wait(b, &p->tiles);
    lt_tcgen05_fence_after(b);
    lt_gemm_sm100_multiply(b, s, &p->operands, &p->tiles, s->tmem,
                           lt_gemm_sm100_is_later(b, k_block));
    lt_tcgen05_commit(b, 1, p->tiles.empty, (lt_value){0});
    lt_set(b, p->last, "mov.u32", p->tiles.empty);
    lt_set(b, p->last_parity, "mov.u32", p->tiles.parity);
    lt_ring_advance(b, &p->tiles);
}

static void fill_ahead(struct lt_builder *b, struct lt_gemm_sm100 *s, struct pipelined *p,
                       const struct lt_tile *tile)
{
    lt_comment(b, "before the first product: all stages but one, or fewer");
    lt_value count =
        lt_op(b, "ahead_blocks", "min.u32", s->g.k_blocks, lt_imm(s->g.plan->stages - 1));

    LT_SCOPE (b)
        LT_REPEAT (b, filled, count)
            load_ahead(b, s, p, tile, filled.index);
}

static void make_pipelined(struct lt_builder *b, struct lt_gemm_sm100 *s, lt_value number,
                           void *user)
{
    struct pipelined *p = user;
    struct lt_tile tile = lt_tile_at(b, &s->g.schedule, number);

    LT_IF (b, "tile_multiplied", s->g.is_first)
        LT_SCOPE (b) {
            lt_heading(b, "fill: one thread");
            fill_ahead(b, s, p, &tile);
            LT_REPEAT (b, k_block, s->g.k_blocks) {
                lt_heading(b, "multiply: one thread");
                multiply_ahead(b, s, p, k_block.index);
                lt_heading(b, "load: one thread");
                lt_value next =
                    lt_op(b, "next_block", "add.u32", k_block.index, lt_imm(s->g.plan->stages - 1));

                LT_SCOPE (b)
                    LT_IF (b, "next_loaded",
                           lt_op(b, "is_there", "setp.lt.u32", next, s->g.k_blocks))
                        load_ahead(b, s, p, &tile, next);
            }
            lt_heading(b, "sums: one thread waits for all");
            lt_comment(
                b, "a commit tracks all that was issued: with the last stage all sums are there");
            lt_mbarrier_wait(b, "sums_ready", p->last, p->last_parity);
        }
    lt_heading(b, "wait: all warps");
    lt_warp_sync(b);
    lt_bar_sync_cta(b);
    write_back_alone(b, s, &tile);
}

void lt_gemm_sm100_pipelined(struct lt_builder *b, struct lt_gemm_sm100 *s)
{
    struct pipelined p = {.ahead_ring = s->g.tiles,
                          .operands = lt_gemm_sm100_operands(b, s, (lt_value){0})};

    lt_heading(b, "rings: all warps");
    p.ahead_ring.name = "ahead";
    p.ahead = lt_ring_producer(b, &p.ahead_ring, s->g.smem);
    p.tiles = lt_ring_consumer(b, &s->g.tiles, s->g.smem);
    p.last = lt_variable(b, LT_B32, "last_empty");
    p.last_parity = lt_variable(b, LT_B32, "last_parity");
    lt_set(b, p.last, "mov.u32", p.tiles.empty);
    lt_set(b, p.last_parity, "mov.u32", lt_imm(1));
    lt_tmem_epilogue_begin(b, &s->epilogue, (lt_value){0}, s->g.warp, s->g.thread, s->g.lane);
    lt_heading(b, "tile: all warps");
    lt_gemm_sm100_each_tile(b, s, &(struct lt_gemm_sm100_maker){make_pipelined, &p, false});
    lt_tmem_epilogue_end(b, &s->epilogue);
}
