/* alu_pack.c: PTX ISA, "cvt" to and from several numbers in a register, and "cvt.pack".
 *
 * The first source lands in the topmost element. */
#include "emulator/alu_lane.h"

/* An element of a packed type: its format, its bits, and how far apart they are. */
struct element {
    enum emu_format format;
    int width, stride;
};

static struct element element_of(enum emu_type type)
{
    switch (type) {
    case EMU_E4M3X2:
    case EMU_E4M3X4:
        return (struct element){EMU_FORMAT_E4M3, 8, 8};
    case EMU_E5M2X2:
    case EMU_E5M2X4:
        return (struct element){EMU_FORMAT_E5M2, 8, 8};
    case EMU_E2M3X2:
    case EMU_E2M3X4:
        return (struct element){EMU_FORMAT_E2M3, 6, 8};
    case EMU_E3M2X2:
    case EMU_E3M2X4:
        return (struct element){EMU_FORMAT_E3M2, 6, 8};
    case EMU_E2M1X2:
    case EMU_E2M1X4:
        return (struct element){EMU_FORMAT_E2M1, 4, 4};
    case EMU_UE8M0X2:
        return (struct element){EMU_FORMAT_UE8M0, 8, 8};
    case EMU_BF16X2:
        return (struct element){EMU_FORMAT_BF16, 16, 16};
    default:
        return (struct element){EMU_FORMAT_F16, 16, 16};
    }
}

static struct emu_narrowing narrowing_of(const struct emu_alu *op)
{
    return (struct emu_narrowing){
        .rounding = op->rounding, .saturate_finite = op->saturate_finite, .relu = op->relu};
}

/* Two of f32. */
static uint64_t pair_from_f32(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    const struct emu_narrowing how = narrowing_of(op);
    struct element to = element_of(op->type);

    return emu_narrow(to.format, (double)emu_f32_of(a), &how) << to.stride |
           emu_narrow(to.format, (double)emu_f32_of(b), &how);
}

/* Two of 16 bits or less, which keep their places. */
static uint64_t pair_from_pair(const struct emu_alu *op, uint64_t a)
{
    const struct emu_narrowing how = narrowing_of(op);
    struct element to = element_of(op->type), from = element_of(op->from);
    double upper = emu_widen(from.format, emu_low_bits(a >> from.stride, from.width));
    double lower = emu_widen(from.format, emu_low_bits(a, from.width));

    return emu_narrow(to.format, upper, &how) << to.stride | emu_narrow(to.format, lower, &how);
}

EMU_LANEWISE_2(pair_from_f32)
EMU_LANEWISE_1(pair_from_pair)

/* ---- Stochastic rounding ---- */

/* The fraction of a unit that would be cut off, plus the random bits as a fraction, decides: one
 * or more rounds away from zero. The manual has the bits' alignment only in a figure; here the
 * highest random bit is worth a half. */
static uint64_t narrow_randomly(const struct emu_alu *op, struct element to, float source,
                                uint64_t random, int random_bits)
{
    struct emu_narrowing how = narrowing_of(op);
    double value = (double)source;

    how.rounding = EMU_TO_ZERO;
    if (!isfinite(value))
        return emu_narrow(to.format, value, &how);

    /* Away from zero and toward it are neighbours, whose distance is the unit. */
    struct emu_narrowing plain = {.rounding = EMU_TO_ZERO};
    double below = fabs(emu_widen(to.format, emu_narrow(to.format, fabs(value), &plain)));

    plain.rounding = EMU_UP;

    double above = fabs(emu_widen(to.format, emu_narrow(to.format, fabs(value), &plain)));

    if (isfinite(above) && above > below &&
        ldexp((fabs(value) - below) / (above - below), random_bits) + (double)random >=
            ldexp(1, random_bits))
        return emu_narrow(to.format, copysign(above, value), &how);
    return emu_narrow(to.format, value, &how);
}

static uint64_t random_pair(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t random)
{
    struct element to = element_of(op->type);
    /* As many as f32 has more fraction bits, at most. */
    int count = to.format == EMU_FORMAT_F16 ? 13 : 16;
    uint64_t upper = emu_low_bits(random >> 16, count), lower = emu_low_bits(random, count);

    return narrow_randomly(op, to, emu_f32_of(a), upper, count) << 16 |
           narrow_randomly(op, to, emu_f32_of(b), lower, count);
}

EMU_LANEWISE_3(random_pair)

/* a and b share their random bits, e and f likewise. */
static uint64_t random_four(const struct emu_alu *op, const uint64_t *const *sources, int i)
{
    struct element to = element_of(op->type);
    uint64_t random = sources[4][i], d = 0;
    bool bytes = to.width == 4; /* of e2m1: one byte of each half word, the upper for a and b */

    for (int s = 0; s < 4; s++) {
        uint64_t bits = s < 2 ? random >> 16 & 0xffff : random & 0xffff;

        if (bytes)
            bits = (random >> (s < 2 ? 8 : 0) & 0xff) | (random >> (s < 2 ? 24 : 16) & 0xff) << 8;
        d = d << to.stride | narrow_randomly(op, to, emu_f32_of(sources[s][i]), bits, 16);
    }
    return d;
}

EMU_EXECUTE(random_four)
{
    (void)why;
    EMU_FOR_LANES(mask, results[0][i] = random_four(op, sources, i))
    return true;
}

/* ---- cvt.pack ---- */

static uint64_t saturate(const struct emu_alu *op, int width, uint64_t value)
{
    int64_t number = emu_signed_bits(value, 32);
    int64_t largest = (INT64_C(1) << (op->is_signed ? width - 1 : width)) - 1;
    int64_t least = op->is_signed ? -largest - 1 : 0;

    return emu_low_bits((uint64_t)(number > largest ? largest
                                   : number < least ? least
                                                    : number),
                        width);
}

static int pack_width(enum emu_type type)
{
    return type == EMU_U4 || type == EMU_S4 ? 4 : 8 * emu_type_bytes(type);
}

static uint64_t pack_two(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    int width = pack_width(op->type);

    return saturate(op, width, a) << width | saturate(op, width, b);
}

static uint64_t pack_below(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return (uint32_t)(c << 2 * pack_width(op->type) | pack_two(op, a, b));
}

EMU_LANEWISE_2(pack_two)
EMU_LANEWISE_3(pack_below)

#define RS "rs relu? satfinite "

static const struct emu_form forms[] = {
    {"cvt", "rn/rz relu? satfinite? f16x2/bf16x2 f32", "w=FF", run_pair_from_f32, 80},
    {"cvt", "rs relu? satfinite? f16x2/bf16x2 f32", "w=FFw", run_random_pair, 100},

    {"cvt", "rn satfinite relu? e4m3x2/e5m2x2 f32", "h=FF", run_pair_from_f32, 89},
    {"cvt", "rn satfinite relu? e4m3x2/e5m2x2 f16x2", "h=w", run_pair_from_pair, 89},
    {"cvt", "rn relu? f16x2 e4m3x2/e5m2x2", "w=h", run_pair_from_pair, 89},
    {"cvt", RS "e4m3x4/e5m2x4/e2m3x4/e3m2x4 f32", "w={FFFF}w", run_random_four, 100},

    {"cvt", "rn satfinite relu? e2m3x2/e3m2x2 f32", "h=FF", run_pair_from_f32, 100},
    {"cvt", "rn relu? f16x2 e2m3x2/e3m2x2", "w=h", run_pair_from_pair, 100},
    {"cvt", "rn satfinite relu? e2m1x2 f32", "y=FF", run_pair_from_f32, 100},
    {"cvt", "rn relu? f16x2 e2m1x2", "w=y", run_pair_from_pair, 100},
    {"cvt", RS "e2m1x4 f32", "h={FFFF}w", run_random_four, 100},

    {"cvt", "rz/rp satfinite? ue8m0x2 f32", "h=FF", run_pair_from_f32, 100},
    {"cvt", "rz/rp satfinite? ue8m0x2 bf16x2", "h=w", run_pair_from_pair, 100},
    {"cvt", "rn bf16x2 ue8m0x2", "w=h", run_pair_from_pair, 100},

    {"cvt", "pack sat u16/s16 s32", "w=ss", run_pack_two, 72},
    {"cvt", "pack sat u8/s8 s32 b32", "w=ssw", run_pack_below, 72},
    {"cvt", "pack sat u4/s4 s32 b32", "w=ssw", run_pack_below, 75},
};

const struct emu_chapter emu_pack_chapter = EMU_CHAPTER(forms);
