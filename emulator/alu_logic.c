/* alu_logic.c: PTX ISA, "Logic and Shift Instructions", and prmt. */
#include "emulator/alu_lane.h"

/* A predicate is one bit. */
static int width_of(const struct emu_alu *op)
{
    return op->type == EMU_PRED ? 1 : op->width;
}

static uint64_t and_bits(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_low_bits(a & b, width_of(op));
}

static uint64_t or_bits(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_low_bits(a | b, width_of(op));
}

static uint64_t xor_bits(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_low_bits(a ^ b, width_of(op));
}

static uint64_t not_bits(const struct emu_alu *op, uint64_t a)
{
    return emu_low_bits(~a, width_of(op));
}

static uint64_t not_zero(const struct emu_alu *op, uint64_t a)
{
    return emu_low_bits(a, op->width) == 0;
}

EMU_LANEWISE_2(and_bits)
EMU_LANEWISE_2(or_bits)
EMU_LANEWISE_2(xor_bits)
EMU_LANEWISE_1(not_bits)
EMU_LANEWISE_1(not_zero)

/* Bit 4a + 2b + c of the table is the result for the bits a, b and c. */
static uint64_t look_up(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c,
                        uint64_t table)
{
    uint64_t result = 0;

    (void)op;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1)
            result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return (uint32_t)result;
}

EMU_LANEWISE_4(look_up)

EMU_EXECUTE(look_up_predicate)
{
    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        bool q = emu_predicate(op, 4, sources[4][i]);
        uint64_t d = look_up(op, sources[0][i], sources[1][i], sources[2][i], sources[3][i]);

        results[0][i] = d;
        results[1][i] = op->combine == EMU_AND ? (d != 0) && q : (d != 0) || q;
    }
    return true;
}

/* ---- Shifts ---- */

static uint64_t funnel_shift(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t both = (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
    uint32_t amount = (uint32_t)c;

    if (op->wrap)
        amount &= 31;
    else if (amount > 32)
        amount = 32;
    if (op->variant == EMU_VARIANT_RIGHT)
        return (uint32_t)(both >> amount);
    return (uint32_t)(both >> (32 - amount));
}

/* An amount of more than the width counts as the width. */
static uint64_t shift_left(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    uint32_t amount = (uint32_t)b;

    return amount >= (uint32_t)op->width ? 0 : emu_low_bits(a << amount, op->width);
}

static uint64_t shift_right(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    uint32_t amount = (uint32_t)b;

    a = emu_extend(a, op->width, op->is_signed);
    if (op->is_signed)
        return emu_low_bits((uint64_t)((int64_t)a >> (amount > 63 ? 63 : amount)), op->width);
    return amount >= (uint32_t)op->width ? 0 : a >> amount;
}

EMU_LANEWISE_3(funnel_shift)
EMU_LANEWISE_2(shift_left)
EMU_LANEWISE_2(shift_right)

/* ---- prmt ---- */

/* Which of the eight bytes of b:a each byte of the result is; bit 3 of the general mode's
 * selectors asks for its sign alone. */
static uint32_t permute_selectors(enum emu_variant mode, uint32_t c)
{
    static const uint16_t table[][4] = {
        [0] = {0x3210, 0x4321, 0x5432, 0x6543}, /* .f4e */
        [1] = {0x5670, 0x6701, 0x7012, 0x0123}, /* .b4e */
        [2] = {0x0000, 0x1111, 0x2222, 0x3333}, /* .rc8 */
        [3] = {0x3210, 0x3211, 0x3222, 0x3333}, /* .ecl */
        [4] = {0x0000, 0x1110, 0x2210, 0x3210}, /* .ecr */
        [5] = {0x1010, 0x3232, 0x1010, 0x3232}, /* .rc16 */
    };

    switch (mode) {
    case EMU_VARIANT_F4E:
    case EMU_VARIANT_B4E:
    case EMU_VARIANT_RC8:
    case EMU_VARIANT_ECL:
    case EMU_VARIANT_ECR:
    case EMU_VARIANT_RC16:
        return table[mode - EMU_VARIANT_F4E][c & 3];
    default:
        return c & 0xffff;
    }
}

static uint64_t permute(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t bytes = (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
    uint32_t selectors = permute_selectors(op->variant, (uint32_t)c);
    uint64_t result = 0;

    for (int i = 0; i < 4; i++) {
        uint32_t selector = selectors >> 4 * i & 15;
        uint64_t byte = bytes >> 8 * (selector & 7) & 0xff;

        if (selector & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

EMU_LANEWISE_3(permute)

static const struct emu_form forms[] = {
    {"and", "b16/b32/b64/pred", "T=TT", run_and_bits, 0},
    {"or", "b16/b32/b64/pred", "T=TT", run_or_bits, 0},
    {"xor", "b16/b32/b64/pred", "T=TT", run_xor_bits, 0},
    {"not", "b16/b32/b64/pred", "T=T", run_not_bits, 0},
    {"cnot", "b16/b32/b64", "T=T", run_not_zero, 0},
    {"lop3", "b32", "w=wwwi", run_look_up, 0},
    {"lop3", "and/or b32", "w|p=wwwiP", run_look_up_predicate, 70},
    {"shf", "l/r clamp/wrap b32", "w=wwu", run_funnel_shift, 0},
    {"shl", "b16/b32/b64", "T=Tu", run_shift_left, 0},
    {"shr", "b16/b32/b64/u16/u32/u64/s16/s32/s64", "T=Tu", run_shift_right, 0},
    {"prmt", "b32 f4e/b4e/rc8/ecl/ecr/rc16?", "w=wwu", run_permute, 0},
};

const struct emu_chapter emu_logic_chapter = EMU_CHAPTER(forms);
