/* mma_block.c: products of matrices: integers and bits exactly, floating point in f32. */
#include "emulator/mma_block.h"

#include <math.h>

/* Columns that are summed side by side. */
enum { STRIP = 8 };

/* ---- Preparation ---- */

static int32_t extend_sign(uint32_t bits, int width)
{
    uint32_t sign = UINT32_C(1) << (width - 1);

    return (int32_t)((bits ^ sign) - sign);
}

/* With a constant type, so that each is a loop of its own. */
static inline void make_real(enum emu_type type, union emu_element *elements, int count)
{
    for (int i = 0; i < count; i++)
        elements[i].real = emu_float_of_element(type, elements[i].bits);
}

static void make_integer(enum emu_type type, union emu_element *elements, int count)
{
    int width = emu_element_bits(type);

    if (type == EMU_U8 || type == EMU_U4)
        return;
    for (int i = 0; i < count; i++)
        elements[i].integer = extend_sign(elements[i].bits, width);
}

void emu_block_prepare(const struct emu_block *block, enum emu_type type,
                       union emu_element *elements, int count)
{
    if (emu_element_is_integer(type))
        make_integer(type, elements, count);
    else if (block->exact || type == EMU_B1)
        return;
    else if (type == EMU_F16)
        make_real(EMU_F16, elements, count);
    else if (type == EMU_BF16)
        make_real(EMU_BF16, elements, count);
    else
        make_real(type, elements, count);
}

/* ---- Floating point in f32 ---- */

static void multiply_real(const struct emu_block *block, const union emu_element *a,
                          const union emu_element *b, union emu_element *d)
{
    for (int row = 0; row < block->m; row++)
        for (int column = 0; column < block->n; column += STRIP) {
            union emu_element *out = d + row * block->n + column;
            float sum[STRIP];

            for (int i = 0; i < STRIP; i++)
                sum[i] = out[i].real;
            for (int k = 0; k < block->k; k++) {
                const union emu_element *in = b + k * block->n + column;
                float factor = a[row * block->k + k].real;

                for (int i = 0; i < STRIP; i++)
                    sum[i] += factor * in[i].real;
            }
            for (int i = 0; i < STRIP; i++)
                out[i].real = sum[i];
        }
}

/* The one NaN that tensor cores give; and no zero of theirs is negative. */
static uint32_t finish_real(enum emu_type type, float value)
{
    if (value != value)
        return type == EMU_F16 ? 0x7fff : 0x7fffffff;
    value += 0.0f;
    return type == EMU_F16 ? emu_f16_of((double)value) : emu_f32_bits(value);
}

static void multiply_fast(const struct emu_block *block, const union emu_element *a,
                          const union emu_element *b, union emu_element *d)
{
    int count = block->m * block->n;

    if (block->d == EMU_F16)
        make_real(EMU_F16, d, count);
    for (int i = 0; i < count && block->scale_c; i++)
        d[i].real = ldexpf(d[i].real, -block->scale_c);
    multiply_real(block, a, b, d);
    for (int i = 0; i < count; i++)
        d[i].bits = finish_real(block->d, d[i].real);
}

/* ---- Integers ---- */

static uint32_t add_integer(const struct emu_block *block, uint32_t c, int32_t sum)
{
    int64_t exact = (int64_t)(int32_t)c + sum;

    if (!block->saturate)
        return c + (uint32_t)sum;
    return (uint32_t)(exact > INT32_MAX   ? INT32_MAX
                      : exact < INT32_MIN ? INT32_MIN
                                          : (int32_t)exact);
}

/* No sum of products leaves 32 bits: 64 of 255 * 255 do not come near. */
static void multiply_integer(const struct emu_block *block, const union emu_element *a,
                             const union emu_element *b, union emu_element *d)
{
    for (int row = 0; row < block->m; row++)
        for (int column = 0; column < block->n; column += STRIP) {
            union emu_element *out = d + row * block->n + column;
            int32_t sum[STRIP] = {0};

            for (int k = 0; k < block->k; k++) {
                const union emu_element *in = b + k * block->n + column;
                int32_t factor = a[row * block->k + k].integer;

                for (int i = 0; i < STRIP; i++)
                    sum[i] += factor * in[i].integer;
            }
            for (int i = 0; i < STRIP; i++)
                out[i].bits = add_integer(block, out[i].bits, sum[i]);
        }
}

/* b1: the bits of `and` or `xor` are counted, 32 of k at a time. */
static void multiply_bits(const struct emu_block *block, const union emu_element *a,
                          const union emu_element *b, union emu_element *d)
{
    for (int row = 0; row < block->m; row++)
        for (int column = 0; column < block->n; column++) {
            int32_t sum = 0;

            for (int k = 0; k < block->k; k++) {
                uint32_t left = a[row * block->k + k].bits, right = b[k * block->n + column].bits;

                sum += __builtin_popcount(block->is_xor ? left ^ right : left & right);
            }
            d[row * block->n + column].bits += (uint32_t)sum;
        }
}

void emu_block_multiply(const struct emu_block *block, const union emu_element *a,
                        const union emu_element *b, union emu_element *d)
{
    if (emu_element_is_integer(block->a))
        multiply_integer(block, a, b, d);
    else if (block->a == EMU_B1)
        multiply_bits(block, a, b, d);
    else if (block->exact)
        emu_block_multiply_exact(block, a, b, d);
    else
        multiply_fast(block, a, b, d);
}
