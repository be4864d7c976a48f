/* mma.h: the arithmetic of tensor cores: mma.sync on registers and wgmma on shared memory.
 *
 * The exact path follows the measured model of Hopper (products and addend aligned to the largest
 * exponent, truncated to F fraction bits, summed exactly, truncated; docs/emulator.md); the fast
 * one multiplies and adds in f32, in the order of k. Integer kinds are exact in both. */
#ifndef EMU_MMA_H
#define EMU_MMA_H

#include "emulator/alu.h"

/* ---- mma.sync: registers of one warp ---- */

struct emu_mma_sync {
    int m, n, k;
    enum emu_type d, a, b, c;
    bool saturate;
    bool is_xor;          /* b1: exclusive or instead of and                            */
    bool a_column, b_row; /* the other layouts of m8n8k4, of which a warp computes four */
    int a_registers, b_registers, c_registers, d_registers; /* of a lane, 32 bits each (f64: 64) */
};

/* mma.sync.aligned of f16, bf16, tf32, int8 (s8, u8), int4, b1, fp8 and f64 shapes of the PTX ISA.
 */
enum emu_decoded emu_mma_sync_decode(struct emu_mma_sync *mma,
                                     const struct emu_instruction *instruction, int target,
                                     struct emu_error *error);
/* Registers as arrays of lanes, each `registers` long; all 32 lanes take part. */
void emu_mma_sync(const struct emu_mma_sync *mma, uint64_t *const *d, const uint64_t *const *a,
                  const uint64_t *const *b, const uint64_t *const *c, bool exact);

/* ---- wgmma: four warps, operands in shared memory ---- */

struct emu_wgmma {
    int n, k; /* m is 64 */
    enum emu_type d, a, b;
    bool a_in_registers, saturate;
    bool negate_a, negate_b;       /* imm-scale of -1                               */
    bool transpose_a, transpose_b; /* 1: MN-major                                   */
    int d_registers;               /* of a lane, 32 bits each; A in registers has 4 */
};

/* wgmma.mma_async; its operands are D, A, B's descriptor and scale-d, then immediates. */
enum emu_decoded emu_wgmma_decode(struct emu_wgmma *wgmma,
                                  const struct emu_instruction *instruction, int target,
                                  struct emu_error *error);

/* The values of the operands that are registers; the immediates are in the decoded instruction. */
struct emu_wgmma_operands {
    uint64_t a_descriptor, b_descriptor;
    const uint64_t *const *a_registers[4]; /* of each warp: four arrays of lanes; for A in
                                            * registers */
    bool add_d;                            /* scale-d                                    */
};

/* `shared` is the CTA's shared memory, of `shared_bytes`; d[w] the registers of warp w. False where
 * a descriptor leads outside of it: `why` says which (a static string). */
bool emu_wgmma(const struct emu_wgmma *wgmma, const struct emu_wgmma_operands *operands,
               const unsigned char *shared, uint32_t shared_bytes, uint64_t *const *const d[4],
               bool exact, const char **why);

/* Is told of bytes of shared memory. */
typedef void (*emu_bytes_read)(void *user, uint32_t offset, uint32_t bytes);

/* The offset in shared memory of element (mn, k) of an operand, by its descriptor. */
uint32_t emu_wgmma_offset(uint64_t descriptor, enum emu_type type, bool transpose, int mn, int k);

#endif
