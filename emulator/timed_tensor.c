/* timed_tensor.c: the units of the model of time that tensor cores are. */
#include "emulator/mma_element.h"
#include "emulator/state.h"
#include "emulator/timed.h"
#include "emulator/trace.h"

enum { WGMMA_ROWS = 64 };

/* Of what is multiplied at a time all types take the same bytes of k, and the same time: N / 2 for
 * 16 bits; but shared memory has to bring A, if it is there, and B. */
static uint64_t product_cycles(const struct emu_timing *timing, uint32_t rows, uint32_t n,
                               bool reads_a)
{
    enum { K_BYTES = 32, K_OF_16_BITS = 16 };
    uint64_t products = emu_cycles_of((uint64_t)rows * n * K_OF_16_BITS, timing->products),
             bytes = (uint64_t)K_BYTES * (n + (reads_a ? rows : 0));

    return emu_later(products, emu_cycles_of(bytes, timing->shared_bytes));
}

uint64_t emu_timed_product(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_timed *timed = warp->cta->cluster->run->timed;
    const struct emu_wgmma *wgmma = &op->tensor.wgmma;
    uint64_t cycles = product_cycles(timed->timing, WGMMA_ROWS, (uint32_t)wgmma->n,
                                     !wgmma->a_in_registers),
             begin = emu_take(&emu_timed_sm(warp->cta)->products,
                              timed->now + timed->timing->product_start, cycles);

    timed->trace->summary.tensor_cycles += cycles;
    emu_trace_product(warp, op, (uint32_t)wgmma->n, begin, begin + cycles);
    return begin + cycles + timed->timing->product_end;
}

/* Both multiprocessors of a pair begin at the same time. */
uint64_t emu_timed_tensor(struct emu_warp *warp, const struct emu_op *op,
                          struct emu_cta *const *ctas, int cta_count, uint32_t rows, uint32_t n,
                          bool a_in_tmem)
{
    struct emu_timed *timed = warp->cta->cluster->run->timed;
    uint64_t cycles = product_cycles(timed->timing, rows, n, !a_in_tmem),
             begin = timed->now + timed->timing->product_start;

    for (int i = 0; i < cta_count; i++)
        begin = emu_later(begin, emu_timed_sm(ctas[i])->products);
    for (int i = 0; i < cta_count; i++)
        emu_timed_sm(ctas[i])->products = begin + cycles;
    timed->trace->summary.tensor_cycles += cycles * (uint64_t)cta_count;
    emu_trace_product(warp, op, n, begin, begin + cycles);
    return begin + cycles + timed->timing->product_end;
}

uint64_t emu_timed_mma(struct emu_warp *warp, const struct emu_op *op)
{
    struct emu_timed *timed = warp->cta->cluster->run->timed;
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
