/* alu_dot.c: PTX ISA, "dp4a" and "dp2a". */
#include "emulator/alu_lane.h"

static uint64_t dot_of_4(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    bool is_signed = emu_type_is_signed(op->from);

    for (int i = 0; i < 4; i++)
        c += emu_extend(a >> 8 * i, 8, op->is_signed) * emu_extend(b >> 8 * i, 8, is_signed);
    return (uint32_t)c;
}

/* Two of 16 bits by two of 8: the lower or the upper two of b. */
static uint64_t dot_of_2(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    bool is_signed = emu_type_is_signed(op->from);

    if (op->variant == EMU_VARIANT_HI)
        b >>= 16;
    for (int i = 0; i < 2; i++)
        c += emu_extend(a >> 16 * i, 16, op->is_signed) * emu_extend(b >> 8 * i, 8, is_signed);
    return (uint32_t)c;
}

EMU_LANEWISE_3(dot_of_4)
EMU_LANEWISE_3(dot_of_2)

static const struct emu_form forms[] = {
    {"dp4a", "u32/s32 u32/s32", "w=TFw", run_dot_of_4, 61},
    {"dp2a", "lo/hi u32/s32 u32/s32", "w=TFw", run_dot_of_2, 61},
};

const struct emu_chapter emu_dot_chapter = EMU_CHAPTER(forms);
