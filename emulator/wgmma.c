/* wgmma.c: wgmma.mma_async, executed at once: the matrices of shared memory and of the registers
 * of four warps, multiplied 16 rows, those of a warp, at a time. */
#include "emulator/mma.h"
#include "emulator/mma_block.h"
#include "emulator/mma_fragment.h"
#include "emulator/mma_operand.h"

enum { WARPS = 4, DEPTH_MAX = 32, A_REGISTERS = 4 };

struct matrices {
    union emu_element a[WARPS][EMU_BLOCK_ROWS * DEPTH_MAX];
    union emu_element b[DEPTH_MAX * EMU_BLOCK_COLUMNS];
    union emu_element d[EMU_BLOCK_ROWS * EMU_BLOCK_COLUMNS];
};

uint32_t emu_wgmma_offset(uint64_t bits, enum emu_type type, bool transpose, int mn, int k)
{
    const struct emu_descriptor descriptor = emu_descriptor_of(bits);
    uint32_t element = (uint32_t)k, byte = 0;

    if (type == EMU_B1) {
        byte = element % 32 / 8;
        element /= 32;
    }
    return byte + emu_descriptor_offset(&descriptor, transpose,
                                        (uint32_t)emu_element_bits(type) / 8, (uint32_t)mn,
                                        element);
}

/* ---- Shared memory ---- */

static struct emu_matrix source_of(uint64_t bits, enum emu_type type, bool mn_major, bool negate,
                                   const unsigned char *shared, uint32_t shared_bytes)
{
    const struct emu_descriptor descriptor = emu_descriptor_of(bits);

    return emu_matrix_of(&descriptor, type, mn_major, negate, shared, shared_bytes);
}

static bool load_a(const struct emu_matrix *source, int depth, struct matrices *matrices)
{
    for (int row = 0; row < WARPS * EMU_BLOCK_ROWS; row++) {
        union emu_element *out = matrices->a[row / EMU_BLOCK_ROWS] + row % EMU_BLOCK_ROWS * depth;

        for (int k = 0; k < depth; k++)
            if (!emu_matrix_element(source, row, k, &out[k]))
                return false;
    }
    return true;
}

static bool load_b(const struct emu_matrix *source, int depth, int columns,
                   struct matrices *matrices)
{
    for (int k = 0; k < depth; k++)
        for (int column = 0; column < columns; column++)
            if (!emu_matrix_element(source, column, k, &matrices->b[k * columns + column]))
                return false;
    return true;
}

/* ---- Registers ---- */

static void gather_a(const struct emu_wgmma *wgmma, const struct emu_wgmma_operands *operands,
                     int depth, struct matrices *matrices)
{
    int bits = emu_element_bits(wgmma->a), per_register = 32 / bits;
    uint32_t mask = UINT32_MAX >> (32 - bits);
    uint32_t sign = wgmma->negate_a ? UINT32_C(1) << (bits - 1) : 0;

    for (int warp = 0; warp < WARPS; warp++)
        for (int index = 0; index < A_REGISTERS; index++)
            for (int lane = 0; lane < EMU_LANES; lane++)
                for (int e = 0; e < per_register; e++) {
                    struct emu_place at = emu_place_a(lane, index, e, per_register);
                    uint32_t word = (uint32_t)operands->a_registers[warp][index][lane];

                    matrices->a[warp][at.row * depth + at.column].bits =
                        (word >> e * bits & mask) ^ sign;
                }
}

static void gather_c(const struct emu_wgmma *wgmma, uint64_t *const *registers,
                     union emu_element *d)
{
    int per_register = wgmma->d == EMU_F16 ? 2 : 1;

    for (int index = 0; index < wgmma->d_registers * per_register; index++)
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct emu_place at = emu_place_d(lane, index);
            uint32_t word = (uint32_t)registers[index / per_register][lane];

            d[at.row * wgmma->n + at.column].bits =
                per_register == 1 ? word : word >> 16 * (index % 2) & 0xffff;
        }
}

static void spread_d(const struct emu_wgmma *wgmma, uint64_t *const *registers,
                     const union emu_element *d)
{
    if (wgmma->d == EMU_F16) {
        for (int index = 0; index < wgmma->d_registers; index++)
            for (int lane = 0; lane < EMU_LANES; lane++) {
                struct emu_place at = emu_place_d(lane, 2 * index);
                const union emu_element *pair = d + at.row * wgmma->n + at.column;

                registers[index][lane] = pair[0].bits | (uint64_t)pair[1].bits << 16;
            }
        return;
    }
    for (int index = 0; index < wgmma->d_registers; index++)
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct emu_place at = emu_place_d(lane, index);

            registers[index][lane] = d[at.row * wgmma->n + at.column].bits;
        }
}

/* ---- The instruction ---- */

static bool load_operands(const struct emu_wgmma *wgmma, const struct emu_wgmma_operands *operands,
                          const unsigned char *shared, uint32_t shared_bytes, int depth,
                          struct matrices *matrices, const char **why)
{
    const struct emu_matrix b = source_of(operands->b_descriptor, wgmma->b, wgmma->transpose_b,
                                          wgmma->negate_b, shared, shared_bytes);
    const struct emu_matrix a = source_of(operands->a_descriptor, wgmma->a, wgmma->transpose_a,
                                          wgmma->negate_a, shared, shared_bytes);

    if (wgmma->a_in_registers) {
        gather_a(wgmma, operands, depth, matrices);
    } else if (!load_a(&a, depth, matrices)) {
        *why = "the descriptor of A leads outside of shared memory";
        return false;
    }
    if (!load_b(&b, depth, wgmma->n, matrices)) {
        *why = "the descriptor of B leads outside of shared memory";
        return false;
    }
    return true;
}

int emu_wgmma_in_shared(const struct emu_wgmma *wgmma, uint64_t a_descriptor, uint64_t b_descriptor,
                        uint32_t shared_bytes,
                        struct emu_shared_operand operands[EMU_SHARED_OPERANDS])
{
    int depth = wgmma->a == EMU_B1 ? wgmma->k / 32 : wgmma->k, count = 0;

    if (!wgmma->a_in_registers)
        operands[count++] = (struct emu_shared_operand){
            .name = 'A',
            .matrix =
                source_of(a_descriptor, wgmma->a, wgmma->transpose_a, false, NULL, shared_bytes),
            .rows = WARPS * EMU_BLOCK_ROWS,
            .depth = depth};
    operands[count++] = (struct emu_shared_operand){
        .name = 'B',
        .matrix = source_of(b_descriptor, wgmma->b, wgmma->transpose_b, false, NULL, shared_bytes),
        .rows = wgmma->n,
        .depth = depth};
    return count;
}

bool emu_wgmma(const struct emu_wgmma *wgmma, const struct emu_wgmma_operands *operands,
               const unsigned char *shared, uint32_t shared_bytes, uint64_t *const *const d[4],
               bool exact, const char **why)
{
    const struct emu_block block = {
        .m = EMU_BLOCK_ROWS,
        .n = wgmma->n,
        .k = wgmma->a == EMU_B1 ? wgmma->k / 32 : wgmma->k,
        .d = wgmma->d,
        .a = wgmma->a,
        .b = wgmma->b,
        .saturate = wgmma->saturate,
        .exact = exact,
    };
    struct matrices matrices;

    if (!load_operands(wgmma, operands, shared, shared_bytes, block.k, &matrices, why))
        return false;
    emu_block_prepare(&block, block.b, matrices.b, block.k * block.n);
    for (int warp = 0; warp < WARPS; warp++) {
        emu_block_prepare(&block, block.a, matrices.a[warp], block.m * block.k);
        if (operands->add_d)
            gather_c(wgmma, d[warp], matrices.d);
        else
            memset(matrices.d, 0, sizeof *matrices.d * (size_t)(block.m * block.n));
        emu_block_multiply(&block, matrices.a[warp], matrices.b, matrices.d);
        spread_d(wgmma, d[warp], matrices.d);
    }
    return true;
}
