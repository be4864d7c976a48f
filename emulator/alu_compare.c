/* alu_compare.c: PTX ISA, "Comparison and Selection Instructions", also of half precision. */
#include "emulator/alu_lane.h"

enum order { LESS, EQUAL, GREATER, UNORDERED };

static enum order order_of(double a, double b)
{
    return isnan(a) || isnan(b) ? UNORDERED : a < b ? LESS : a > b ? GREATER : EQUAL;
}

static double f32_source(const struct emu_alu *op, uint64_t bits)
{
    return (double)emu_f32_source(op, bits);
}

static double half_source(const struct emu_alu *op, enum emu_type type, uint64_t bits)
{
    enum emu_format format = emu_half_format(type);

    if (op->flush && format == EMU_FORMAT_F16 && (bits & 0x7c00) == 0)
        bits &= 0x8000;
    return emu_widen(format, bits & 0xffff);
}

/* Of two sources of the type; of packed ones, the lower halves. */
static enum order compare(const struct emu_alu *op, enum emu_type type, uint64_t a, uint64_t b)
{
    int width = 8 * emu_type_bytes(type);
    bool is_signed = emu_type_is_signed(type);

    switch (type) {
    case EMU_F64:
        return order_of(emu_f64_of(a), emu_f64_of(b));
    case EMU_F32:
        return order_of(f32_source(op, a), f32_source(op, b));
    case EMU_F16:
    case EMU_F16X2:
    case EMU_BF16:
    case EMU_BF16X2:
        return order_of(half_source(op, type, a), half_source(op, type, b));
    default:
        a = emu_extend(a, width, is_signed);
        b = emu_extend(b, width, is_signed);
        if (a == b)
            return EQUAL;
        return (is_signed ? (int64_t)a < (int64_t)b : a < b) ? LESS : GREATER;
    }
}

/* eq is false of what is not ordered, ne too; equ and its like are true of it. */
static bool holds(enum emu_compare compare, enum order order)
{
    bool unordered = order == UNORDERED;

    switch (compare) {
    case EMU_COMPARE_NONE:
        return false;
    case EMU_EQ:
        return order == EQUAL;
    case EMU_NE:
        return order == LESS || order == GREATER;
    case EMU_LT:
        return order == LESS;
    case EMU_LE:
        return order == LESS || order == EQUAL;
    case EMU_GT:
        return order == GREATER;
    case EMU_GE:
        return order == GREATER || order == EQUAL;
    case EMU_EQU:
        return order == EQUAL || unordered;
    case EMU_NEU:
        return order != EQUAL;
    case EMU_LTU:
        return order == LESS || unordered;
    case EMU_LEU:
        return order != GREATER;
    case EMU_GTU:
        return order == GREATER || unordered;
    case EMU_GEU:
        return order != LESS;
    case EMU_NUM:
        return !unordered;
    case EMU_NAN:
        return unordered;
    }
    return false;
}

static bool combine(enum emu_combine with, bool t, bool c)
{
    switch (with) {
    case EMU_AND:
        return t && c;
    case EMU_OR:
        return t || c;
    case EMU_XOR:
        return t != c;
    case EMU_COMBINE_NONE:
        break;
    }
    return t;
}

/* The predicate to combine with, which not every form has. */
static bool third_source(const struct emu_alu *op, const uint64_t *const *sources, int i)
{
    return op->combine != EMU_COMBINE_NONE && emu_predicate(op, 2, sources[2][i]);
}

EMU_EXECUTE(set_predicates)
{
    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        bool c = third_source(op, sources, i);
        bool t = holds(op->compare, compare(op, op->type, sources[0][i], sources[1][i]));

        results[0][i] = combine(op->combine, t, c);
        if (op->result_count > 1)
            results[1][i] = combine(op->combine, !t, c);
    }
    return true;
}

/* The first result is of the lower halves, the second of the upper ones. */
EMU_EXECUTE(set_predicates_x2)
{
    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        uint64_t a = sources[0][i], b = sources[1][i];
        bool c = third_source(op, sources, i);

        results[0][i] = combine(op->combine, holds(op->compare, compare(op, op->type, a, b)), c);
        if (op->result_count > 1)
            results[1][i] = combine(op->combine,
                                    holds(op->compare, compare(op, op->type, a >> 16, b >> 16)), c);
    }
    return true;
}

/* What set writes for true. */
static uint64_t true_of(enum emu_type type)
{
    switch (type) {
    case EMU_F32:
        return 0x3f800000;
    case EMU_F16:
    case EMU_F16X2:
        return 0x3c00;
    case EMU_BF16:
    case EMU_BF16X2:
        return 0x3f80;
    case EMU_U16:
    case EMU_S16:
        return 0xffff;
    default:
        return 0xffffffff;
    }
}

EMU_EXECUTE(set)
{
    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        bool c = third_source(op, sources, i);
        bool t = holds(op->compare, compare(op, op->from, sources[0][i], sources[1][i]));

        results[0][i] = combine(op->combine, t, c) ? true_of(op->type) : 0;
    }
    return true;
}

EMU_EXECUTE(set_x2)
{
    (void)why;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        uint64_t a = sources[0][i], b = sources[1][i], d = 0;
        uint64_t yes = true_of(op->type) & 0xffff;
        bool c = third_source(op, sources, i);

        if (combine(op->combine, holds(op->compare, compare(op, op->from, a, b)), c))
            d |= yes;
        if (combine(op->combine, holds(op->compare, compare(op, op->from, a >> 16, b >> 16)), c))
            d |= yes << 16;
        results[0][i] = d;
    }
    return true;
}

static uint64_t select_by_predicate(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return emu_low_bits(emu_predicate(op, 2, c) ? a : b, op->width);
}

static uint64_t select_by_sign(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return emu_low_bits((int32_t)(uint32_t)c >= 0 ? a : b, op->width);
}

/* -0 is not less than zero; a NaN is not at least zero. */
static uint64_t select_by_float(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    return emu_low_bits(emu_f32_source(op, c) >= 0 ? a : b, op->width);
}

EMU_LANEWISE_3(select_by_predicate)
EMU_LANEWISE_3(select_by_sign)
EMU_LANEWISE_3(select_by_float)

#define BITS "b16/b32/b64"
#define UNSIGNED "u16/u32/u64"
#define SIGNED "s16/s32/s64"
#define ANY BITS "/" UNSIGNED "/" SIGNED "/f32/f64"
#define COMBINE " and/or/xor? "

static const struct emu_form forms[] = {
    {"setp", "@bits" COMBINE BITS, "p|p?=TTB", run_set_predicates, 0},
    {"setp", "@unsigned" COMBINE UNSIGNED, "p|p?=TTB", run_set_predicates, 0},
    {"setp", "@signed" COMBINE SIGNED, "p|p?=TTB", run_set_predicates, 0},
    {"setp", "@float" COMBINE "ftz? f32", "p|p?=TTB", run_set_predicates, 0},
    {"setp", "@float" COMBINE "f64", "p|p?=TTB", run_set_predicates, 0},
    {"setp", "@float" COMBINE "ftz? f16", "p=TTB", run_set_predicates, 0},
    {"setp", "@float" COMBINE "bf16", "p=TTB", run_set_predicates, 90},
    {"setp", "@float" COMBINE "ftz? f16x2", "p|p?=TTB", run_set_predicates_x2, 0},
    {"setp", "@float" COMBINE "bf16x2", "p|p?=TTB", run_set_predicates_x2, 90},

    {"set", "@bits" COMBINE "u32/s32/f32/f16 " BITS, "T=FFB", run_set, 0},
    {"set", "@unsigned" COMBINE "u32/s32/f32/f16 " UNSIGNED, "T=FFB", run_set, 0},
    {"set", "@signed" COMBINE "u32/s32/f32/f16 " SIGNED, "T=FFB", run_set, 0},
    {"set", "@bits" COMBINE "bf16 " BITS, "T=FFB", run_set, 90},
    {"set", "@unsigned" COMBINE "bf16 " UNSIGNED, "T=FFB", run_set, 90},
    {"set", "@signed" COMBINE "bf16 " SIGNED, "T=FFB", run_set, 90},
    {"set", "@float" COMBINE "ftz? u32/s32/f32/f16 f32", "T=FFB", run_set, 0},
    {"set", "@float" COMBINE "u32/s32/f32/f16 f64", "T=FFB", run_set, 0},
    {"set", "@float" COMBINE "bf16 f16/bf16/f32/f64", "T=FFB", run_set, 90},
    {"set", "@float" COMBINE "ftz? u16/s16/u32/s32/f16 f16", "T=FFB", run_set, 0},
    {"set", "@float" COMBINE "u16/s16/u32/s32 bf16", "T=FFB", run_set, 90},
    {"set", "@float" COMBINE "ftz? u32/s32/f16x2 f16x2", "T=FFB", run_set_x2, 0},
    {"set", "@float" COMBINE "u32/s32/bf16x2 bf16x2", "T=FFB", run_set_x2, 90},

    {"selp", ANY, "T=TTP", run_select_by_predicate, 0},
    {"slct", ANY " s32", "T=TTF", run_select_by_sign, 0},
    {"slct", "ftz? " ANY " f32", "T=TTF", run_select_by_float, 0},
};

const struct emu_chapter emu_compare_chapter = EMU_CHAPTER(forms);
