/* mma_sync.c: mma.sync on the registers of a warp: gathered into matrices, multiplied, spread. */
#include "emulator/bits.h"
#include "emulator/mma.h"
#include "emulator/mma_block.h"
#include "emulator/mma_fragment.h"

#include <math.h>

enum { COLUMNS = 8 };

struct matrices {
    union emu_element a[EMU_BLOCK_ROWS * EMU_BLOCK_DEPTH], b[EMU_BLOCK_DEPTH * COLUMNS];
    union emu_element d[EMU_BLOCK_ROWS * COLUMNS];
};

static uint32_t extract(uint64_t word, int element, int bits)
{
    return (uint32_t)(word >> element * bits & (UINT64_MAX >> (64 - bits)));
}

/* k in elements as a register holds them: b1 has words. */
static int depth_of(const struct emu_mma_sync *mma)
{
    return mma->a == EMU_B1 ? mma->k / 32 : mma->k;
}

static bool is_quad(const struct emu_mma_sync *mma)
{
    return mma->k == 4 && mma->a == EMU_F16;
}

/* ---- Registers and matrices ---- */

static void gather_a(const struct emu_mma_sync *mma, const uint64_t *const *registers,
                     union emu_element *a)
{
    int bits = emu_element_bits(mma->a), per_register = 32 / bits;

    for (int index = 0; index < mma->a_registers; index++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int e = 0; e < per_register; e++) {
                struct emu_place at = emu_place_a(lane, index, e, per_register);

                a[at.row * depth_of(mma) + at.column].bits =
                    extract(registers[index][lane], e, bits);
            }
}

static void gather_b(const struct emu_mma_sync *mma, const uint64_t *const *registers,
                     union emu_element *b)
{
    int bits = emu_element_bits(mma->b), per_register = 32 / bits;

    for (int index = 0; index < mma->b_registers; index++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            for (int e = 0; e < per_register; e++) {
                struct emu_place at = emu_place_b(lane, index, e, per_register);

                b[at.row * COLUMNS + at.column].bits = extract(registers[index][lane], e, bits);
            }
}

static void gather_quad(const struct emu_mma_sync *mma, const uint64_t *const *a_registers,
                        const uint64_t *const *b_registers, int quad, struct matrices *matrices)
{
    for (int lane = 0; lane < EMU_LANES; lane++) {
        if (emu_quad_pair(lane) != quad)
            continue;
        for (int e = 0; e < 4; e++) {
            struct emu_place a =
                mma->a_column ? emu_place_quad_other(lane, e) : emu_place_quad(lane, e);
            struct emu_place b =
                mma->b_row ? emu_place_quad_other(lane, e) : emu_place_quad(lane, e);

            matrices->a[a.row * 4 + a.column].bits = extract(a_registers[e / 2][lane], e % 2, 16);
            matrices->b[b.column * COLUMNS + b.row].bits =
                extract(b_registers[e / 2][lane], e % 2, 16);
        }
    }
}

static struct emu_place place_d(const struct emu_mma_sync *mma, enum emu_type type, int lane,
                                int index)
{
    if (!is_quad(mma))
        return emu_place_d(lane, index);
    return type == EMU_F16 ? emu_place_quad_f16(lane, index) : emu_place_quad_f32(lane, index);
}

/* C as D's type: f16 widens to f32 without loss. */
static void gather_c(const struct emu_mma_sync *mma, const uint64_t *const *registers, int quad,
                     union emu_element *d)
{
    int per_register = mma->c == EMU_F16 ? 2 : 1;

    for (int index = 0; index < mma->c_registers * per_register; index++)
        for (int lane = 0; lane < EMU_LANES; lane++) {
            if (quad >= 0 && emu_quad_pair(lane) != quad)
                continue;

            struct emu_place at = place_d(mma, mma->c, lane, index);
            union emu_element *out = &d[at.row * COLUMNS + at.column];

            uint32_t bits = extract(registers[index / per_register][lane], index % per_register,
                                    32 / per_register);

            out->bits = bits;
            if (mma->c != mma->d)
                out->real = emu_float_of_f16(bits);
        }
}

static void spread_d(const struct emu_mma_sync *mma, uint64_t *const *registers, int quad,
                     const union emu_element *d)
{
    int per_register = mma->d == EMU_F16 ? 2 : 1;

    for (int index = 0; index < mma->d_registers * per_register; index++)
        for (int lane = 0; lane < EMU_LANES; lane++) {
            if (quad >= 0 && emu_quad_pair(lane) != quad)
                continue;

            struct emu_place at = place_d(mma, mma->d, lane, index);
            uint32_t bits = d[at.row * COLUMNS + at.column].bits;
            uint64_t *out = &registers[index / per_register][lane];

            *out = index % per_register == 0 ? bits : *out | (uint64_t)bits << 16;
        }
}

/* ---- fp8 exactly ---- */

/* Hopper has no such instruction of its own. ptxas (13.0) widens to f16 and multiplies twice, the
 * elements 0 and 1 of every four along k and then the others, starting from zero, and adds C last,
 * to nearest. That is read off its code for sm_90a, and is an H200's bit for bit. */
static void multiply_fp8(struct emu_block block, const struct matrices *matrices,
                         union emu_element *d)
{
    union emu_element a[EMU_BLOCK_ROWS * EMU_BLOCK_DEPTH], b[EMU_BLOCK_DEPTH * COLUMNS];
    union emu_element sum[EMU_BLOCK_ROWS * COLUMNS] = {{0}};
    int k = block.k, count = block.m * block.n;
    enum emu_type type_a = block.a, type_b = block.b;

    block.k = k / 2;
    block.a = block.b = EMU_F16;
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < k / 2; i++) {
            int from = i / 2 * 4 + i % 2 + 2 * half;

            for (int row = 0; row < block.m; row++)
                a[row * block.k + i].bits = emu_f16_of(
                    (double)emu_float_of_element(type_a, matrices->a[row * k + from].bits));
            for (int column = 0; column < block.n; column++)
                b[i * block.n + column].bits = emu_f16_of((double)emu_float_of_element(
                    type_b, matrices->b[from * block.n + column].bits));
        }
        emu_block_multiply(&block, a, b, sum);
    }
    for (int i = 0; i < count; i++) {
        float total =
            emu_float_of_element(block.d, d[i].bits) + emu_float_of_element(block.d, sum[i].bits);

        if (total != total)
            d[i].bits = block.d == EMU_F16 ? 0x7fff : 0x7fffffff;
        else
            d[i].bits = block.d == EMU_F16 ? emu_f16_of((double)total) : emu_f32_bits(total);
    }
}

/* ---- f64 ---- */

/* Products are added one after the other along k, each rounded once. */
static void multiply_f64(const struct emu_mma_sync *mma, uint64_t *const *d,
                         const uint64_t *const *a, const uint64_t *const *b,
                         const uint64_t *const *c)
{
    double left[EMU_BLOCK_ROWS][EMU_BLOCK_ROWS], right[EMU_BLOCK_ROWS][COLUMNS];
    double sum[EMU_BLOCK_ROWS][COLUMNS];

    for (int lane = 0; lane < EMU_LANES; lane++) {
        for (int index = 0; index < mma->a_registers; index++) {
            struct emu_place at = emu_place_a(lane, index, 0, 1);

            left[at.row][at.column] = emu_f64_of(a[index][lane]);
        }
        for (int index = 0; index < mma->b_registers; index++) {
            struct emu_place at = emu_place_b(lane, index, 0, 1);

            right[at.row][at.column] = emu_f64_of(b[index][lane]);
        }
        for (int index = 0; index < mma->c_registers; index++) {
            struct emu_place at = emu_place_d(lane, index);

            sum[at.row][at.column] = emu_f64_of(c[index][lane]);
        }
    }
    for (int row = 0; row < mma->m; row++)
        for (int column = 0; column < COLUMNS; column++)
            for (int k = 0; k < mma->k; k++)
                sum[row][column] = fma(left[row][k], right[k][column], sum[row][column]);
    for (int index = 0; index < mma->d_registers; index++)
        for (int lane = 0; lane < EMU_LANES; lane++) {
            struct emu_place at = emu_place_d(lane, index);

            memcpy(&d[index][lane], &sum[at.row][at.column], sizeof sum[0][0]);
            if (sum[at.row][at.column] != sum[at.row][at.column])
                d[index][lane] = UINT64_C(0xfff8000000000000); /* the NaN of f64 arithmetic */
        }
}

/* ---- All kinds ---- */

static void multiply(const struct emu_block *block, struct matrices *matrices)
{
    if (block->exact && emu_element_is_fp8(block->a)) {
        multiply_fp8(*block, matrices, matrices->d);
        return;
    }
    emu_block_prepare(block, block->a, matrices->a, block->m * block->k);
    emu_block_prepare(block, block->b, matrices->b, block->k * block->n);
    emu_block_multiply(block, matrices->a, matrices->b, matrices->d);
}

/* The exact path takes the model of wgmma, with all of K in one step: bit for bit an H200's. Only
 * sm_70 has the m8n8k4 of f16: what ptxas (13.0) calls in its place for sm_80 and later exchanges
 * nothing between lanes, so that a newer GPU does not give the manual's product, as this does. */
void emu_mma_sync(const struct emu_mma_sync *mma, uint64_t *const *d, const uint64_t *const *a,
                  const uint64_t *const *b, const uint64_t *const *c, bool exact)
{
    const struct emu_block block = {
        .m = mma->m,
        .n = mma->n,
        .k = depth_of(mma),
        .d = mma->d,
        .a = mma->a,
        .b = mma->b,
        .saturate = mma->saturate,
        .is_xor = mma->is_xor,
        .exact = exact,
    };
    struct matrices matrices[4];

    if (mma->a == EMU_F64) {
        multiply_f64(mma, d, a, b, c);
        return;
    }
    if (!is_quad(mma)) {
        gather_a(mma, a, matrices->a);
        gather_b(mma, b, matrices->b);
        gather_c(mma, c, -1, matrices->d);
        multiply(&block, matrices);
        spread_d(mma, d, -1, matrices->d);
        return;
    }
    /* D may be C's registers, or A's: nothing is written before all is read. */
    for (int quad = 0; quad < 4; quad++) {
        gather_quad(mma, a, b, quad, &matrices[quad]);
        gather_c(mma, c, quad, matrices[quad].d);
        multiply(&block, &matrices[quad]);
    }
    for (int quad = 0; quad < 4; quad++)
        spread_d(mma, d, quad, matrices[quad].d);
}
