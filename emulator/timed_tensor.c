/* timed_tensor.c: the units of the model of time that tensor cores are: products, tensor memory,
 * and what is copied into it. */
#include "emulator/mma_element.h"
#include "emulator/state.h"
#include "emulator/tcgen05_copy.h"
#include "emulator/tcgen05_pipe.h"
#include "emulator/timed.h"
#include "emulator/trace.h"

enum { WGMMA_ROWS = 64, K_BYTES = 32, K_OF_16_BITS = 16 };

static struct emu_timed *timed_of(const struct emu_warp *warp)
{
    return warp->cta->cluster->run->timed;
}

/* ---- Products ---- */

/* Of what is multiplied at a time all types take the same bytes of k, and the same time: that of 16
 * bits. But shared memory has to bring what stands there: so many rows of A and of B. */
static uint64_t product_cycles(const struct emu_timing *timing, uint64_t rows, uint64_t n,
                               uint64_t read_rows)
{
    return emu_later(emu_cycles_of(rows * n * K_OF_16_BITS, timing->products),
                     emu_cycles_of(read_rows * K_BYTES, timing->shared_bytes));
}

uint64_t emu_timed_product(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_timed *timed = timed_of(warp);
    const struct emu_wgmma *wgmma = &op->tensor.wgmma;
    uint32_t n = (uint32_t)wgmma->n;
    uint64_t cycles = product_cycles(timed->timing, WGMMA_ROWS, n,
                                     n + (wgmma->a_in_registers ? 0 : WGMMA_ROWS)),
             begin = emu_take(&emu_timed_sm(warp->cta)->products,
                              timed->now + timed->timing->product_start, cycles);

    timed->trace->summary.tensor_cycles += cycles;
    emu_trace_product(warp, op, n, begin, begin + cycles);
    return begin + cycles + timed->timing->product_end;
}

/* Of one multiprocessor. Rows of D stand in lanes of tensor memory, and all lanes multiply: who has
 * 64 rows in 64 lanes (PTX ISA, "Data Path Layout Organization": layout F) leaves half of them
 * idle; where 64 or 32 rows are spread over 128 lanes (B, E, G) none is. A pair brings half of B
 * each, and each gets the other half from its peer. */
static uint64_t tensor_cycles(const struct emu_timing *timing, const struct emu_product *product,
                              int cta_count)
{
    enum { HALF_OF_THE_LANES = 64 };
    uint64_t rows = (uint64_t)(product->m / cta_count), n = (uint64_t)product->n,
             busy_rows = cta_count == 1 && !product->ws && rows == HALF_OF_THE_LANES
                             ? EMU_TMEM_LANES
                             : rows;

    return product_cycles(timing, busy_rows, n,
                          n / (uint64_t)cta_count + (product->a_in_tmem ? 0 : rows));
}

/* Both multiprocessors of a pair begin at the same time. */
static uint64_t multiply(const struct emu_piped *item)
{
    struct emu_timed *timed = timed_of(item->warp);
    uint64_t cycles = tensor_cycles(timed->timing, &item->product, item->cta_count),
             begin = timed->now + timed->timing->product_start;

    for (int i = 0; i < item->cta_count; i++)
        begin = emu_later(begin, emu_timed_sm(item->ctas[i])->products);
    for (int i = 0; i < item->cta_count; i++)
        emu_timed_sm(item->ctas[i])->products = begin + cycles;
    timed->trace->summary.tensor_cycles += cycles * (uint64_t)item->cta_count;
    emu_trace_product(item->warp, item->op, (uint32_t)item->product.n, begin, begin + cycles);
    return begin + cycles + timed->timing->product_end;
}

uint64_t emu_timed_mma(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_timed *timed = timed_of(warp);
    const struct emu_timing *timing = timed->timing;
    const struct emu_mma_sync *mma = &op->tensor.mma;
    uint64_t bits = (uint64_t)mma->m * (uint64_t)mma->n * (uint64_t)mma->k *
                    (uint64_t)emu_element_bits(mma->a),
             rate = (uint64_t)timing->products * 16 * timing->mma_percent / 100 / EMU_SCHEDULERS,
             cycles = (bits + rate - 1) / rate,
             begin = emu_take(&emu_timed_sm(warp->cta)->mma[warp->index % EMU_SCHEDULERS],
                              timed->now, cycles);

    return begin + timing->costs[EMU_COST_MMA].latency;
}

/* ---- Tensor memory ---- */

/* tcgen05.cp and .shift. */
static uint64_t copy(const struct emu_piped *item)
{
    const struct emu_timing *timing = timed_of(item->warp)->timing;
    const struct emu_tcgen05 *form = &item->op->tensor.tcgen05;
    uint64_t cycles = form->what == EMU_TCGEN05_CP ? emu_cycles_of(emu_tmem_copy_bytes(form->copy),
                                                                   timing->tensor_copy_bytes)
                                                   : timing->tensor_shift,
             end = 0;

    for (int i = 0; i < item->cta_count; i++)
        end = emu_later(end, emu_take(&emu_timed_sm(item->ctas[i])->tensor_copies,
                                      timed_of(item->warp)->now, cycles) +
                                 cycles);
    return end + timing->tensor_copy_end;
}

uint64_t emu_timed_piped(const struct emu_piped *item, uint64_t before)
{
    const struct emu_timed *timed = timed_of(item->warp);

    switch (item->op->tensor.tcgen05.what) {
    case EMU_TCGEN05_MMA:
        return multiply(item);
    case EMU_TCGEN05_COMMIT:
        return emu_later(timed->now + 1, before) +
               (item->barrier_cta == item->warp->cta ? 0 : timed->timing->remote_latency);
    default:
        return copy(item);
    }
}

/* A warp reaches 32 lanes; warps at the same place of their warpgroups share these, and take turns.
 */
void emu_timed_tmem_move(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_timed *timed = timed_of(warp);
    const struct emu_timing *timing = timed->timing;
    struct emu_sm *sm = emu_timed_sm(warp->cta);
    int quarter = warp->index % EMU_SCHEDULERS;
    bool loads = op->cost == EMU_COST_TMEM_LOAD;
    uint64_t bytes = (uint64_t)op->tensor.tcgen05.registers * EMU_LANES * sizeof(uint32_t),
             cycles =
                 emu_cycles_of(bytes, loads ? timing->tmem_load_bytes : timing->tmem_store_bytes),
             begin = emu_take(loads ? &sm->tmem_loads[quarter] : &sm->tmem_stores[quarter],
                              timed->now, cycles),
             *until = loads ? &warp->timed->loaded : &warp->timed->stored;

    *until = emu_later(*until, begin + cycles + timing->costs[op->cost].latency);
}

uint64_t emu_timed_tmem_wait(const struct emu_warp *warp, const struct emu_op *op)
{
    return op->tensor.tcgen05.what == EMU_TCGEN05_WAIT_LD ? warp->timed->loaded
                                                          : warp->timed->stored;
}
