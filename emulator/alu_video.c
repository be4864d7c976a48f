/* alu_video.c: PTX ISA, "Video Instructions": scalar ones, and SIMD ones.
 *
 * The first type is the result's, the others are those of a and b; vset has no type of a result.
 *
 * Hopper has none of these instructions: ptxas makes each of several of 64 bits, and where these
 * and the manual differ, what is here is what they do (measured on an H200). */
#include "emulator/alu_lane.h"

static bool is_signed_type(enum emu_type type)
{
    return emu_type_is_signed(type);
}

/* ---- Parts of a register ---- */

/* Where a selector's part begins, and its bits; all 32 without one. */
struct part {
    int first, width;
};

/* Source 0 and up; -1 is the result. */
static struct part part_of(const struct emu_alu *op, int operand)
{
    int half = (int)(op->selectors >> EMU_SELECTOR_BITS * (operand + 1) & 15) - 1;

    if (half < 0)
        return (struct part){0, 32};
    if (half >= EMU_HALF_H0)
        return (struct part){half == EMU_HALF_H0 ? 0 : 16, 16};
    return (struct part){8 * (half & 3), 8};
}

static int64_t source(const struct emu_alu *op, int operand, enum emu_type type, uint64_t value)
{
    struct part part = part_of(op, operand);

    return (int64_t)emu_extend((uint32_t)value >> part.first, part.width, is_signed_type(type));
}

static int64_t largest_of(int width, bool is_signed)
{
    return ((int64_t)1 << (is_signed ? width - 1 : width)) - 1;
}

static int64_t clamp(int64_t value, int width, bool is_signed)
{
    int64_t largest = largest_of(width, is_signed);
    int64_t least = is_signed ? -largest - 1 : 0;

    return value > largest ? largest : value < least ? least : value;
}

/* ---- What scalar operations end with ---- */

typedef int64_t (*operation)(const struct emu_alu *op, int64_t a, int64_t b);

struct scalar {
    operation operate;
    bool is_sum, is_shift;
};

/* Whole results that are unsigned have no upper bound: they lose their upper bits. Parts have no
 * lower one: a negative number becomes the largest. */
static int64_t saturate(int64_t value, int width, bool is_signed)
{
    if (width == 32 && !is_signed)
        return value < 0 ? 0 : value;
    if (width == 32)
        return clamp(value, 32, true);

    int64_t largest = largest_of(width, is_signed);

    return value < 0 || value > largest ? largest : value;
}

/* Shifted numbers have 34 bits, and saturate to 32 though a part of them is written. What comes
 * next has the result as a signed number. */
static int64_t saturate_shifted(int64_t value, bool is_signed)
{
    return emu_signed_bits((uint64_t)clamp(emu_signed_bits((uint64_t)value, 34), 32, is_signed),
                           32);
}

/* On all 64 bits of the value, with c as the result's type has it. */
static uint64_t second_operation(const struct emu_alu *op, int64_t value, uint64_t c,
                                 bool is_signed)
{
    uint64_t a = (uint64_t)value, b = emu_extend(c, 32, is_signed);
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;

    if (op->variant == EMU_VARIANT_ADD)
        return (uint32_t)(a + b);
    return (uint32_t)(less == (op->variant == EMU_VARIANT_MIN) ? a : b);
}

/* Saturation, then the second operation or the rest of c. */
static uint64_t finish(const struct emu_alu *op, const struct scalar *scalar, int64_t value,
                       bool is_signed, uint64_t c)
{
    struct part part = part_of(op, -1);

    if (op->saturate)
        value = scalar->is_shift ? saturate_shifted(value, is_signed)
                                 : saturate(value, part.width, is_signed);
    if (op->variant == EMU_VARIANT_ADD || op->variant == EMU_VARIANT_MIN ||
        op->variant == EMU_VARIANT_MAX) {
        /* A sum is signed and of 32 bits by now, whatever its type. */
        if (scalar->is_sum)
            value = emu_signed_bits((uint64_t)value, 32);
        return second_operation(op, value, c, is_signed);
    }
    if (part.width == 32)
        return (uint32_t)value;

    uint64_t written = emu_low_bits(UINT64_MAX, part.width) << part.first;

    return ((uint64_t)value << part.first & written) | (uint32_t)(c & ~written);
}

/* ---- Scalar operations ---- */

static int64_t sum(const struct emu_alu *op, int64_t a, int64_t b)
{
    (void)op;
    return a + b;
}

static int64_t difference(const struct emu_alu *op, int64_t a, int64_t b)
{
    (void)op;
    return a - b;
}

static int64_t distance(const struct emu_alu *op, int64_t a, int64_t b)
{
    (void)op;
    return a < b ? b - a : a - b;
}

static int64_t smaller(const struct emu_alu *op, int64_t a, int64_t b)
{
    (void)op;
    return a < b ? a : b;
}

static int64_t larger(const struct emu_alu *op, int64_t a, int64_t b)
{
    (void)op;
    return a < b ? b : a;
}

static int shift_amount(const struct emu_alu *op, int64_t b)
{
    return (int)(op->wrap ? b & 31 : b > 32 ? 32 : b);
}

static int64_t shifted_left(const struct emu_alu *op, int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a << shift_amount(op, b));
}

static int64_t shifted_right(const struct emu_alu *op, int64_t a, int64_t b)
{
    return a >> shift_amount(op, b);
}

static int64_t compared(const struct emu_alu *op, int64_t a, int64_t b)
{
    switch (op->compare) {
    case EMU_EQ:
        return a == b;
    case EMU_NE:
        return a != b;
    case EMU_LT:
        return a < b;
    case EMU_LE:
        return a <= b;
    case EMU_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* Rounds away from zero. */
static int64_t average(const struct emu_alu *op, int64_t a, int64_t b)
{
    (void)op;
    return (a + b + (a + b >= 0)) >> 1;
}

static void run_scalar(const struct emu_alu *op, const struct scalar *scalar,
                       uint64_t *const *results, const uint64_t *const *sources, uint32_t mask)
{
    bool has_c = op->source_count > 2;

    EMU_FOR_LANES(mask, {
        int64_t a = source(op, 0, op->from, sources[0][i]);
        int64_t b = source(op, 1, op->third, sources[1][i]);

        results[0][i] =
            finish(op, scalar, scalar->operate(op, a, b), op->is_signed, has_c ? sources[2][i] : 0);
    })
}

/* Its second operation is of the type of a, though the manual has it unsigned. */
EMU_EXECUTE(set)
{
    static const struct scalar scalar = {.operate = compared};
    bool has_c = op->source_count > 2;

    (void)why;
    EMU_FOR_LANES(mask, {
        int64_t a = source(op, 0, op->type, sources[0][i]);
        int64_t b = source(op, 1, op->from, sources[1][i]);

        results[0][i] = finish(op, &scalar, compared(op, a, b), is_signed_type(op->type),
                               has_c ? sources[2][i] : 0);
    })
    return true;
}

#define SCALAR(name, ...)                                                                          \
    EMU_EXECUTE(name)                                                                              \
    {                                                                                              \
        static const struct scalar scalar = {__VA_ARGS__};                                         \
        (void)why;                                                                                 \
        run_scalar(op, &scalar, results, sources, mask);                                           \
        return true;                                                                               \
    }

SCALAR(add, .operate = sum, .is_sum = true)
SCALAR(sub, .operate = difference, .is_sum = true)
SCALAR(absdiff, .operate = distance)
SCALAR(min, .operate = smaller)
SCALAR(max, .operate = larger)
SCALAR(shl, .operate = shifted_left, .is_shift = true)
SCALAR(shr, .operate = shifted_right, .is_shift = true)

/* Whole registers count as signed, whatever the type says: so an H200 has it. */
static int64_t factor(const struct emu_alu *op, int operand, enum emu_type type, uint64_t value)
{
    if (part_of(op, operand).width == 32)
        return emu_signed_bits(value, 32);
    return source(op, operand, type, value);
}

/* The manual's text of vmad; negation is by complement and one more in the sum. */
static uint64_t mad(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    bool negate_product = (op->negated & 1) != (op->negated >> 1 & 1);
    bool negate_c = op->negated >> 2 & 1;
    bool is_signed =
        is_signed_type(op->from) || is_signed_type(op->third) || negate_product || negate_c;
    int64_t value = factor(op, 0, op->from, a) * factor(op, 1, op->third, b);
    bool one_more = op->plus_one || negate_product || negate_c;

    if (!op->plus_one && negate_product)
        value = ~value;
    else if (!op->plus_one && negate_c)
        c = ~c;
    value += emu_signed_bits(c, 32) + one_more;
    if (op->variant == EMU_VARIANT_SHR7 || op->variant == EMU_VARIANT_SHR15) {
        int shift = op->variant == EMU_VARIANT_SHR7 ? 7 : 15;

        value = is_signed ? value >> shift : (int64_t)((uint64_t)value >> shift);
    }
    if (op->saturate)
        value = clamp(value, 32, is_signed);
    return (uint32_t)value;
}

EMU_LANEWISE_3(mad)

/* ---- SIMD: two halves or four bytes ---- */

/* Element `at` of operand 0 or 1, of those of a and b. */
static int64_t element(const struct emu_alu *op, int operand, int at, int width, enum emu_type type,
                       const uint64_t abc[3])
{
    int count = 32 / width,
        chosen = op->elements[operand + 1] >> EMU_CHOICE_BITS * at & (EMU_CHOSEN * 2 - 1),
        from = chosen ? chosen & (EMU_CHOSEN - 1) : at + operand * count;

    return (int64_t)emu_extend(abc[from / count] >> from % count * width, width,
                               is_signed_type(type));
}

/* Elements that are not written are those of c, or are not added to it. */
static uint64_t on_elements(const struct emu_alu *op, operation operate, int width,
                            enum emu_type a_type, enum emu_type b_type, const uint64_t abc[3])
{
    uint64_t d = abc[2], total = abc[2];

    for (int at = 0; at < 32 / width; at++) {
        uint64_t place = emu_low_bits(UINT64_MAX, width) << at * width;
        int64_t value = operate(op, element(op, 0, at, width, a_type, abc),
                                element(op, 1, at, width, b_type, abc));

        if (op->elements[0] && !(op->elements[0] >> at & 1))
            continue;
        if (op->saturate)
            value = clamp(value, width, op->is_signed);
        d = (d & ~place) | ((uint64_t)value << at * width & place);
        total += (uint64_t)value;
    }
    return (uint32_t)(op->variant == EMU_VARIANT_ADD ? total : d);
}

#define SIMD(name, operate, width, a_type, b_type)                                                 \
    EMU_EXECUTE(name)                                                                              \
    {                                                                                              \
        (void)why;                                                                                 \
        EMU_FOR_LANES(mask, {                                                                      \
            const uint64_t abc[3] = {sources[0][i], sources[1][i], sources[2][i]};                 \
            results[0][i] = on_elements(op, operate, width, op->a_type, op->b_type, abc);          \
        })                                                                                         \
        return true;                                                                               \
    }

SIMD(add_2, sum, 16, from, third)
SIMD(sub_2, difference, 16, from, third)
SIMD(average_2, average, 16, from, third)
SIMD(absdiff_2, distance, 16, from, third)
SIMD(min_2, smaller, 16, from, third)
SIMD(max_2, larger, 16, from, third)
SIMD(set_2, compared, 16, type, from)
SIMD(add_4, sum, 8, from, third)
SIMD(sub_4, difference, 8, from, third)
SIMD(average_4, average, 8, from, third)
SIMD(absdiff_4, distance, 8, from, third)
SIMD(min_4, smaller, 8, from, third)
SIMD(max_4, larger, 8, from, third)
SIMD(set_4, compared, 8, type, from)

#define T "u32/s32"
#define DAB T " " T " " T
#define SECOND " add/min/max"

/* With c there is either a second operation or a selector of the result. */
#define SCALAR_FORMS(name, words, run)                                                             \
    {name, words " sat?", "w=SS", run, 0}, {name, words " sat?" SECOND, "w=SSw", run, 0},          \
    {                                                                                              \
        name, words " sat?", "S=SSw", run, 0                                                       \
    }
#define SIMD_FORMS(name, operands, run)                                                            \
    {name, DAB " sat?", operands, run, 0},                                                         \
    {                                                                                              \
        name, DAB " add", operands, run, 0                                                         \
    }
#define HALVES "H=HHw"
#define BYTES "Q=QQw"

static const struct emu_form forms[] = {
    SCALAR_FORMS("vadd", DAB, run_add),
    SCALAR_FORMS("vsub", DAB, run_sub),
    SCALAR_FORMS("vabsdiff", DAB, run_absdiff),
    SCALAR_FORMS("vmin", DAB, run_min),
    SCALAR_FORMS("vmax", DAB, run_max),
    SCALAR_FORMS("vshl", T " " T " u32 clamp/wrap", run_shl),
    SCALAR_FORMS("vshr", T " " T " u32 clamp/wrap", run_shr),
    {"vset", T " " T " @signed", "w=SS", run_set, 0},
    {"vset", T " " T " @signed" SECOND, "w=SSw", run_set, 0},
    {"vset", T " " T " @signed", "S=SSw", run_set, 0},
    {"vmad", DAB " sat? shr7/shr15?", "w=MMn", run_mad, 0},
    {"vmad", DAB " po sat? shr7/shr15?", "w=SSw", run_mad, 0},

    SIMD_FORMS("vadd2", HALVES, run_add_2),
    SIMD_FORMS("vsub2", HALVES, run_sub_2),
    SIMD_FORMS("vavrg2", HALVES, run_average_2),
    SIMD_FORMS("vabsdiff2", HALVES, run_absdiff_2),
    SIMD_FORMS("vmin2", HALVES, run_min_2),
    SIMD_FORMS("vmax2", HALVES, run_max_2),
    SIMD_FORMS("vadd4", BYTES, run_add_4),
    SIMD_FORMS("vsub4", BYTES, run_sub_4),
    SIMD_FORMS("vavrg4", BYTES, run_average_4),
    SIMD_FORMS("vabsdiff4", BYTES, run_absdiff_4),
    SIMD_FORMS("vmin4", BYTES, run_min_4),
    SIMD_FORMS("vmax4", BYTES, run_max_4),
    {"vset2", T " " T " @signed", HALVES, run_set_2, 0},
    {"vset2", T " " T " @signed add", HALVES, run_set_2, 0},
    {"vset4", T " " T " @signed", BYTES, run_set_4, 0},
    {"vset4", T " " T " @signed add", BYTES, run_set_4, 0},
};

const struct emu_chapter emu_video_chapter = EMU_CHAPTER(forms);
