/* alu_carry.c: PTX ISA, "Extended-Precision Integer Arithmetic Instructions".
 *
 * The condition code is the last source and the last result. Of a subtraction it is the borrow. */
#include "emulator/alu_lane.h"

/* a + b + carry, or a - b - carry, of `width` bits; the new condition code. */
static bool sum(int width, bool subtract, uint64_t a, uint64_t b, uint64_t carry, uint64_t *d)
{
    a = emu_low_bits(a, width);
    b = emu_low_bits(b, width);

    uint64_t first = emu_low_bits(subtract ? a - b : a + b, width);
    uint64_t second = emu_low_bits(subtract ? first - carry : first + carry, width);

    *d = second;
    return subtract ? a < b || first < carry : first < a || second < first;
}

/* One lane: sources a, b and the condition code, which are read before any result is written. */
static void step(const struct emu_alu *op, uint64_t *const *results, int i, bool subtract,
                 uint64_t a, uint64_t b, uint64_t carry)
{
    bool out = sum(op->width, subtract, a, b, carry & 1, &results[0][i]);

    if (op->carry_out)
        results[1][i] = out;
}

EMU_EXECUTE(add)
{
    (void)why;
    EMU_FOR_LANES(mask, step(op, results, i, false, sources[0][i], sources[1][i],
                             op->carry_in ? sources[2][i] : 0))
    return true;
}

EMU_EXECUTE(sub)
{
    (void)why;
    EMU_FOR_LANES(mask, step(op, results, i, true, sources[0][i], sources[1][i],
                             op->carry_in ? sources[2][i] : 0))
    return true;
}

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static uint64_t product(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    a = emu_extend(a, op->width, op->is_signed);
    b = emu_extend(b, op->width, op->is_signed);
    if (op->variant == EMU_VARIANT_LO)
        return a * b;

    u128 all = op->is_signed ? (u128)((s128)(int64_t)a * (s128)(int64_t)b) : (u128)a * (u128)b;

    return (uint64_t)(all >> op->width);
}

EMU_EXECUTE(mad)
{
    (void)why;
    EMU_FOR_LANES(mask, step(op, results, i, false, product(op, sources[0][i], sources[1][i]),
                             sources[2][i], op->carry_in ? sources[3][i] : 0))
    return true;
}

#define TYPES "u32/u64/s32/s64"

static const struct emu_form forms[] = {
    {"add", "cc " TYPES, "Tc=TT", run_add, 0},
    {"addc", TYPES, "T=TTc", run_add, 0},
    {"addc", "cc " TYPES, "Tc=TTc", run_add, 0},
    {"sub", "cc " TYPES, "Tc=TT", run_sub, 0},
    {"subc", TYPES, "T=TTc", run_sub, 0},
    {"subc", "cc " TYPES, "Tc=TTc", run_sub, 0},
    {"mad", "lo/hi cc " TYPES, "Tc=TTT", run_mad, 0},
    {"madc", "lo/hi " TYPES, "T=TTTc", run_mad, 0},
    {"madc", "lo/hi cc " TYPES, "Tc=TTTc", run_mad, 0},
};

const struct emu_chapter emu_carry_chapter = EMU_CHAPTER(forms);
