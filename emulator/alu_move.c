/* alu_move.c: mov of a register, and mov that packs and unpacks. */
#include "emulator/alu_lane.h"

static uint64_t copy(const struct emu_alu *op, uint64_t a)
{
    return emu_low_bits(a, op->type == EMU_PRED ? 1 : op->width);
}

EMU_LANEWISE_1(copy)

EMU_EXECUTE(pack)
{
    int part = op->width / op->source_count;

    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t packed = 0;

        if (!(mask >> i & 1))
            continue;
        for (int s = 0; s < op->source_count; s++)
            packed |= emu_low_bits(sources[s][i], part) << part * s;
        results[0][i] = packed;
    }
    return true;
}

EMU_EXECUTE(unpack)
{
    int part = op->width / op->result_count;

    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t packed = sources[0][i];

        for (int r = 0; (mask >> i & 1) && r < op->result_count; r++)
            results[r][i] = emu_low_bits(packed >> part * r, part);
    }
    return true;
}

static const struct emu_form forms[] = {
    {"mov", "pred/b16/b32/b64/u16/u32/u64/s16/s32/s64/f32/f64", "T=T", run_copy, 0},
    {"mov", "b16", "h={yy}", run_pack, 0},
    {"mov", "b32", "w={hh}", run_pack, 0},
    {"mov", "b32", "w={yyyy}", run_pack, 0},
    {"mov", "b64", "d={ww}", run_pack, 0},
    {"mov", "b64", "d={hhhh}", run_pack, 0},
    {"mov", "b16", "{yy}=h", run_unpack, 0},
    {"mov", "b32", "{hh}=w", run_unpack, 0},
    {"mov", "b32", "{yyyy}=w", run_unpack, 0},
    {"mov", "b64", "{ww}=d", run_unpack, 0},
    {"mov", "b64", "{hhhh}=d", run_unpack, 0},
};

const struct emu_chapter emu_move_chapter = EMU_CHAPTER(forms);
