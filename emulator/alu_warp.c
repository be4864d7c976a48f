/* alu_warp.c: instructions that see all lanes of a warp: shfl, vote, match, redux, elect,
 * activemask, movmatrix.
 *
 * Results go to a scratch array first, since they may be the arrays of the sources. */
#include "emulator/alu_lane.h"

static const char not_in_membermask[] = "a lane executes it that is not in its own membermask";
static const char membermasks_differ[] = "lanes of one membermask give different membermasks";

/* The lanes of `mask` that take part with a lane: those in its membermask. All of these must have
 * given the same. */
static bool check_membermasks(const uint64_t *membermasks, uint32_t mask, const char **why)
{
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        uint32_t members = (uint32_t)membermasks[i];

        if (!(members >> i & 1)) {
            *why = not_in_membermask;
            return false;
        }
        for (int j = 0; j < EMU_LANES; j++) {
            if ((mask & members) >> j & 1 && (uint32_t)membermasks[j] != members) {
                *why = membermasks_differ;
                return false;
            }
        }
    }
    return true;
}

static void write_lanes(uint64_t *result, const uint64_t *values, uint32_t mask)
{
    EMU_FOR_LANES(mask, result[i] = values[i])
}

/* ---- shfl.sync ---- */

/* The lane that lane `lane` reads, or -1 where it is out of range. */
static int shuffle_source(enum emu_variant mode, int lane, uint32_t b, uint32_t c)
{
    int value = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
    int least = lane & segment;
    int limit = least | (clamp & ~segment);
    int source;

    switch (mode) {
    case EMU_VARIANT_UP:
        source = lane - value;
        return source >= limit ? source : -1;
    case EMU_VARIANT_DOWN:
        source = lane + value;
        break;
    case EMU_VARIANT_BFLY:
        source = lane ^ value;
        break;
    default:
        source = least | (value & ~segment);
        break;
    }
    return source <= limit ? source : -1;
}

/* A lane that reads from one which does not take part keeps its own value: the manual leaves it
 * open. */
EMU_EXECUTE(shuffle)
{
    uint64_t values[EMU_LANES], in_range[EMU_LANES];

    if (!check_membermasks(sources[3], mask, why))
        return false;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        int from = shuffle_source(op->variant, i, (uint32_t)sources[1][i], (uint32_t)sources[2][i]);
        bool takes_part = from >= 0 && ((mask & (uint32_t)sources[3][i]) >> from & 1);

        values[i] = (uint32_t)sources[0][takes_part ? from : i];
        in_range[i] = from >= 0;
    }
    write_lanes(results[0], values, mask);
    if (op->result_count > 1)
        write_lanes(results[1], in_range, mask);
    return true;
}

/* ---- vote.sync ---- */

static uint64_t vote(enum emu_variant mode, uint32_t members, uint32_t yes)
{
    switch (mode) {
    case EMU_VARIANT_ALL:
        return yes == members;
    case EMU_VARIANT_ANY:
        return yes != 0;
    case EMU_VARIANT_UNI:
        return yes == 0 || yes == members;
    default:
        return yes;
    }
}

EMU_EXECUTE(vote)
{
    uint64_t values[EMU_LANES];
    uint32_t yes = 0;

    if (!check_membermasks(sources[1], mask, why))
        return false;
    for (int i = 0; i < EMU_LANES; i++)
        if (mask >> i & 1)
            yes |= (uint32_t)emu_predicate(op, 0, sources[0][i]) << i;
    EMU_FOR_LANES(mask, {
        uint32_t members = mask & (uint32_t)sources[1][i];
        values[i] = vote(op->variant, members, yes & members);
    })
    write_lanes(results[0], values, mask);
    return true;
}

/* ---- match.sync ---- */

static uint32_t lanes_equal(const struct emu_alu *op, const uint64_t *values, uint32_t members,
                            int lane)
{
    uint64_t value = emu_low_bits(values[lane], op->width);
    uint32_t equal = 0;

    for (int i = 0; i < EMU_LANES; i++)
        if (members >> i & 1)
            equal |= (uint32_t)(emu_low_bits(values[i], op->width) == value) << i;
    return equal;
}

EMU_EXECUTE(match)
{
    uint64_t values[EMU_LANES], all_equal[EMU_LANES];

    if (!check_membermasks(sources[1], mask, why))
        return false;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        uint32_t members = mask & (uint32_t)sources[1][i];
        uint32_t equal = lanes_equal(op, sources[0], members, i);

        all_equal[i] = equal == members;
        values[i] = op->variant == EMU_VARIANT_ALL && !all_equal[i] ? 0 : equal;
    }
    write_lanes(results[0], values, mask);
    if (op->result_count > 1)
        write_lanes(results[1], all_equal, mask);
    return true;
}

/* ---- redux.sync ---- */

static uint32_t reduce_integer(const struct emu_alu *op, uint32_t a, uint32_t b)
{
    bool less = op->is_signed ? (int32_t)a < (int32_t)b : a < b;

    switch (op->variant) {
    case EMU_VARIANT_ADD:
        return a + b;
    case EMU_VARIANT_MIN:
        return less ? a : b;
    case EMU_VARIANT_MAX:
        return less ? b : a;
    default:
        return op->combine == EMU_AND ? a & b : op->combine == EMU_OR ? a | b : a ^ b;
    }
}

/* As min and max of f32: -0 below +0, a NaN only where .NaN asks for it or there is nothing else.
 */
static uint32_t reduce_float(const struct emu_alu *op, uint32_t a, uint32_t b)
{
    bool a_is_nan = (a & 0x7fffffff) > 0x7f800000, b_is_nan = (b & 0x7fffffff) > 0x7f800000;

    if (a_is_nan || b_is_nan)
        return op->nan || (a_is_nan && b_is_nan) ? (uint32_t)EMU_NAN_F32 : a_is_nan ? b : a;

    float x = emu_f32_of(a), y = emu_f32_of(b);
    bool less = x < y || (x == y && (a & 0x80000000));

    return less == (op->variant == EMU_VARIANT_MIN) ? a : b;
}

static uint32_t reduce_lane(const struct emu_alu *op, uint32_t value, uint32_t more)
{
    return op->type == EMU_F32 ? reduce_float(op, value, more) : reduce_integer(op, value, more);
}

EMU_EXECUTE(reduce)
{
    uint64_t values[EMU_LANES];
    uint32_t magnitude = op->abs ? 0x7fffffff : UINT32_MAX;

    if (!check_membermasks(sources[1], mask, why))
        return false;
    for (int i = 0; i < EMU_LANES; i++) {
        if (!(mask >> i & 1))
            continue;

        uint32_t members = mask & (uint32_t)sources[1][i];
        uint32_t value = (uint32_t)sources[0][i] & magnitude;

        for (int j = 0; j < EMU_LANES; j++)
            if (j != i && (members >> j & 1))
                value = reduce_lane(op, value, (uint32_t)sources[0][j] & magnitude);
        if (op->type == EMU_F32 && (value & 0x7fffffff) > 0x7f800000)
            value = (uint32_t)EMU_NAN_F32;
        values[i] = value;
    }
    write_lanes(results[0], values, mask);
    return true;
}

/* ---- elect.sync, activemask ---- */

/* The lowest of the membermask that is here. */
EMU_EXECUTE(elect)
{
    uint64_t leaders[EMU_LANES], elected[EMU_LANES];

    (void)op;
    if (!check_membermasks(sources[0], mask, why))
        return false;
    EMU_FOR_LANES(mask, {
        leaders[i] = (uint64_t)__builtin_ctz(mask & (uint32_t)sources[0][i]);
        elected[i] = leaders[i] == (uint64_t)i;
    })
    write_lanes(results[0], leaders, mask);
    write_lanes(results[1], elected, mask);
    return true;
}

EMU_EXECUTE(active_mask)
{
    (void)op, (void)sources, (void)why;
    EMU_FOR_LANES(mask, results[0][i] = mask)
    return true;
}

/* ---- movmatrix ---- */

/* Lane 4r + c holds the elements (r, 2c) and (r, 2c + 1) of an 8x8 matrix of 16 bits. */
EMU_EXECUTE(transpose)
{
    uint64_t values[EMU_LANES];

    (void)op;
    if (mask != UINT32_MAX) {
        *why = "movmatrix needs all lanes of the warp";
        return false;
    }
    for (int i = 0; i < EMU_LANES; i++) {
        uint64_t d = 0;

        for (int half = 0; half < 2; half++) {
            int row = 2 * (i % 4) + half, column = i / 4;
            uint64_t pair = sources[0][4 * row + column / 2];

            d |= (pair >> 16 * (column % 2) & 0xffff) << 16 * half;
        }
        values[i] = d;
    }
    write_lanes(results[0], values, mask);
    return true;
}

static const struct emu_form forms[] = {
    {"shfl", "sync up/down/bfly/idx b32", "w|p?=wwww", run_shuffle, 30},
    {"vote", "sync all/any/uni pred", "p=Pw", run_vote, 30},
    {"vote", "sync ballot b32", "w=Pw", run_vote, 30},
    {"match", "any sync b32/b64", "w=Tw", run_match, 70},
    {"match", "all sync b32/b64", "w|p?=Tw", run_match, 70},
    {"redux", "sync add/min/max u32/s32", "T=Tw", run_reduce, 80},
    {"redux", "sync and/or/xor b32", "T=Tw", run_reduce, 80},
    {"redux", "sync min/max abs? NaN? f32", "T=Tw", run_reduce, 100},
    {"activemask", "b32", "w=", run_active_mask, 30},
    {"elect", "sync", "w|p=w", run_elect, 90},
    {"movmatrix", "sync aligned m8n8 trans b16", "w=w", run_transpose, 75},
};

const struct emu_chapter emu_warp_chapter = EMU_CHAPTER(forms);
