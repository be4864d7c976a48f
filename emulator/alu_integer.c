/* alu_integer.c: PTX ISA, "Integer Arithmetic Instructions", without dp4a and dp2a. */
#include "emulator/alu_lane.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static uint64_t extend(const struct emu_alu *op, uint64_t value)
{
    return emu_extend(value, op->width, op->is_signed);
}

/* ---- Sums and products ---- */

static uint64_t saturate_s32(uint64_t value)
{
    int64_t number = (int64_t)value;

    return (uint32_t)(number > INT32_MAX ? INT32_MAX : number < INT32_MIN ? INT32_MIN : number);
}

static uint64_t add(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_low_bits(a + b, op->width);
}

static uint64_t add_saturated(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return saturate_s32(extend(op, a) + extend(op, b));
}

static uint64_t sub(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return emu_low_bits(a - b, op->width);
}

static uint64_t sub_saturated(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return saturate_s32(extend(op, a) - extend(op, b));
}

EMU_LANEWISE_2(add)
EMU_LANEWISE_2(add_saturated)
EMU_LANEWISE_2(sub)
EMU_LANEWISE_2(sub_saturated)

/* The halves of a word, each by itself. */
static uint64_t add_x2(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    (void)op;
    return ((a + b) & 0xffff) | (((a & 0xffff0000) + (b & 0xffff0000)) & 0xffff0000);
}

EMU_LANEWISE_2(add_x2)

/* The upper half of the product of two numbers of `width` bits, already extended. */
static uint64_t multiply_high(uint64_t a, uint64_t b, int width, bool is_signed)
{
    u128 product = is_signed ? (u128)((s128)(int64_t)a * (s128)(int64_t)b) : (u128)a * (u128)b;

    return emu_low_bits((uint64_t)(product >> width), width);
}

/* The part of the product that .lo, .hi or .wide ask for. */
static uint64_t multiply(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    a = extend(op, a);
    b = extend(op, b);
    if (op->variant == EMU_VARIANT_HI)
        return multiply_high(a, b, op->width, op->is_signed);
    return emu_low_bits(a * b, op->variant == EMU_VARIANT_WIDE ? 2 * op->width : op->width);
}

static uint64_t mad(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product = multiply(op, a, b);

    if (op->saturate)
        return saturate_s32(extend(op, product) + extend(op, c));
    return emu_low_bits(product + c, op->variant == EMU_VARIANT_WIDE ? 2 * op->width : op->width);
}

EMU_LANEWISE_2(multiply)
EMU_LANEWISE_3(mad)

/* 24 bits by 24 are 48: .lo takes the lower 32 of them, .hi the upper 32. */
static uint64_t multiply_24(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    uint64_t product = emu_extend(a, 24, op->is_signed) * emu_extend(b, 24, op->is_signed);

    return (uint32_t)(op->variant == EMU_VARIANT_HI ? product >> 16 : product);
}

static uint64_t mad_24(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product = multiply_24(op, a, b);

    if (op->saturate)
        return saturate_s32(extend(op, product) + extend(op, c));
    return (uint32_t)(product + c);
}

EMU_LANEWISE_2(multiply_24)
EMU_LANEWISE_3(mad_24)

static bool less(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return op->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t sad(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    a = extend(op, a);
    b = extend(op, b);
    return emu_low_bits(c + (less(op, a, b) ? b - a : a - b), op->width);
}

EMU_LANEWISE_3(sad)

/* ---- Quotients ---- */

/* Division by zero the manual leaves open; an H200 gives all ones, for the rest too. */
static uint64_t divide(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    a = extend(op, a);
    b = extend(op, b);
    if (b == 0)
        return emu_low_bits(UINT64_MAX, op->width);
    if (!op->is_signed)
        return a / b;
    /* The smallest by -1 wraps, which in C is undefined. */
    return emu_low_bits(b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b), op->width);
}

static uint64_t remainder_of(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    a = extend(op, a);
    b = extend(op, b);
    if (b == 0)
        return emu_low_bits(UINT64_MAX, op->width);
    if (!op->is_signed)
        return a % b;
    return emu_low_bits(b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b), op->width);
}

EMU_LANEWISE_2(divide)
EMU_LANEWISE_2(remainder_of)

/* ---- Signs and order ---- */

static uint64_t absolute(const struct emu_alu *op, uint64_t a)
{
    a = extend(op, a);
    return emu_low_bits((int64_t)a < 0 ? 0 - a : a, op->width);
}

static uint64_t negate(const struct emu_alu *op, uint64_t a)
{
    return emu_low_bits(0 - a, op->width);
}

EMU_LANEWISE_1(absolute)
EMU_LANEWISE_1(negate)

static uint64_t choose(const struct emu_alu *op, uint64_t a, uint64_t b, int width, bool larger)
{
    a = emu_extend(a, width, op->is_signed);
    b = emu_extend(b, width, op->is_signed);

    uint64_t chosen = less(op, a, b) != larger ? a : b;

    return op->relu && (int64_t)chosen < 0 ? 0 : emu_low_bits(chosen, width);
}

static uint64_t minimum(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return choose(op, a, b, op->width, false);
}

static uint64_t maximum(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return choose(op, a, b, op->width, true);
}

static uint64_t minimum_x2(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return choose(op, a, b, 16, false) | choose(op, a >> 16, b >> 16, 16, false) << 16;
}

static uint64_t maximum_x2(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    return choose(op, a, b, 16, true) | choose(op, a >> 16, b >> 16, 16, true) << 16;
}

EMU_LANEWISE_2(minimum)
EMU_LANEWISE_2(maximum)
EMU_LANEWISE_2(minimum_x2)
EMU_LANEWISE_2(maximum_x2)

/* ---- Bits ---- */

static uint64_t count_ones(const struct emu_alu *op, uint64_t a)
{
    return (uint64_t)__builtin_popcountll(emu_low_bits(a, op->width));
}

static uint64_t count_leading_zeros(const struct emu_alu *op, uint64_t a)
{
    a = emu_low_bits(a, op->width);
    return a == 0 ? (uint64_t)op->width : (uint64_t)(__builtin_clzll(a) - (64 - op->width));
}

/* The highest bit that differs from the sign, or is set where there is none. */
static uint64_t find_bit(const struct emu_alu *op, uint64_t a)
{
    a = extend(op, a);
    if (op->is_signed && (int64_t)a < 0)
        a = ~a;
    if (a == 0)
        return UINT32_MAX;

    uint64_t position = 63 - (uint64_t)__builtin_clzll(a);

    return op->shift_amount ? (uint64_t)op->width - 1 - position : position;
}

static uint64_t reverse(const struct emu_alu *op, uint64_t a)
{
    uint64_t reversed = 0;

    for (int i = 0; i < op->width; i++)
        reversed |= (a >> i & 1) << (op->width - 1 - i);
    return reversed;
}

EMU_LANEWISE_1(count_ones)
EMU_LANEWISE_1(count_leading_zeros)
EMU_LANEWISE_1(find_bit)
EMU_LANEWISE_1(reverse)

static uint64_t find_nth_set(const struct emu_alu *op, uint64_t set, uint64_t base, uint64_t offset)
{
    int64_t nth = emu_signed_bits(offset, 32);
    int64_t position = (int64_t)(uint32_t)base;
    int64_t step = nth > 0 ? 1 : -1;
    int64_t left = nth > 0 ? nth - 1 : -nth - 1;

    (void)op;
    if (nth == 0)
        return position < 32 && (set >> position & 1) ? (uint64_t)position : UINT32_MAX;
    for (; position >= 0 && position < 32; position += step)
        if ((set >> position & 1) && left-- == 0)
            return (uint64_t)position;
    return UINT32_MAX;
}

EMU_LANEWISE_3(find_nth_set)

/* A position or a length: it counts modulo 256, but for 64 bits as it is (measured on an H200; the
 * manual has modulo 256 for all). */
static int field_number(const struct emu_alu *op, uint64_t value)
{
    uint32_t number = (uint32_t)value;

    if (op->width < 64)
        return (int)(number & 0xff);
    return number < 0xff ? (int)number : 0xff;
}

static uint64_t extract_field(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c)
{
    int position = field_number(op, b), length = field_number(op, c);
    int last = position + length - 1 < op->width - 1 ? position + length - 1 : op->width - 1;
    bool sign = op->is_signed && length > 0 && (a >> last & 1);
    uint64_t field = position < op->width ? emu_low_bits(a, op->width) >> position : 0;

    if (length < op->width)
        field = emu_low_bits(field, length);
    if (!sign)
        return field;

    /* Above the field, and above what the source has of it. */
    int filled = last - position + 1;

    return emu_low_bits(filled > 0 ? field | ~emu_low_bits(UINT64_MAX, filled) : UINT64_MAX,
                        op->width);
}

static uint64_t insert_field(const struct emu_alu *op, uint64_t a, uint64_t b, uint64_t c,
                             uint64_t d)
{
    int position = field_number(op, c), length = field_number(op, d);

    if (position >= op->width)
        return emu_low_bits(b, op->width);

    uint64_t field = emu_low_bits(emu_low_bits(UINT64_MAX, length) << position, op->width);

    return (emu_low_bits(b, op->width) & ~field) | (a << position & field);
}

EMU_LANEWISE_3(extract_field)
EMU_LANEWISE_4(insert_field)

static uint64_t extend_from(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    int length = (int)(b & 31);

    if (!op->wrap && (uint32_t)b >= 32)
        return (uint32_t)a;
    return length == 0 ? 0 : (uint32_t)emu_extend(a, length, op->is_signed);
}

static uint64_t bit_mask(const struct emu_alu *op, uint64_t a, uint64_t b)
{
    int first = (int)(a & 31), length = (int)(b & 31);

    if (!op->wrap && (uint32_t)a >= 32)
        return 0;
    if (!op->wrap && (uint32_t)b >= 32)
        length = 32;
    return (uint32_t)(emu_low_bits(UINT64_MAX, length) << first);
}

EMU_LANEWISE_2(extend_from)
EMU_LANEWISE_2(bit_mask)

static const struct emu_form forms[] = {
    {"add", "u16/u32/u64/s16/s32/s64", "T=TT", run_add, 0},
    {"add", "sat s32", "T=TT", run_add_saturated, 0},
    {"add", "u16x2/s16x2", "T=TT", run_add_x2, 90},
    {"sub", "u16/u32/u64/s16/s32/s64", "T=TT", run_sub, 0},
    {"sub", "sat s32", "T=TT", run_sub_saturated, 0},
    {"mul", "lo/hi u16/u32/u64/s16/s32/s64", "T=TT", run_multiply, 0},
    {"mul", "wide u16/u32/s16/s32", "W=TT", run_multiply, 0},
    {"mad", "lo/hi u16/u32/u64/s16/s32/s64", "T=TTT", run_mad, 0},
    {"mad", "hi sat s32", "T=TTT", run_mad, 0},
    {"mad", "wide u16/u32/s16/s32", "W=TTW", run_mad, 0},
    {"mul24", "lo/hi u32/s32", "T=TT", run_multiply_24, 0},
    {"mad24", "lo/hi u32/s32", "T=TTT", run_mad_24, 0},
    {"mad24", "hi sat s32", "T=TTT", run_mad_24, 0},
    {"sad", "u16/u32/u64/s16/s32/s64", "T=TTT", run_sad, 0},
    {"div", "u16/u32/u64/s16/s32/s64", "T=TT", run_divide, 0},
    {"rem", "u16/u32/u64/s16/s32/s64", "T=TT", run_remainder_of, 0},
    {"abs", "s16/s32/s64", "T=T", run_absolute, 0},
    {"neg", "s16/s32/s64", "T=T", run_negate, 0},
    {"min", "u16/u32/u64/s16/s32/s64", "T=TT", run_minimum, 0},
    {"min", "relu s32", "T=TT", run_minimum, 90},
    {"min", "u16x2/s16x2", "T=TT", run_minimum_x2, 90},
    {"min", "relu s16x2", "T=TT", run_minimum_x2, 90},
    {"max", "u16/u32/u64/s16/s32/s64", "T=TT", run_maximum, 0},
    {"max", "relu s32", "T=TT", run_maximum, 90},
    {"max", "u16x2/s16x2", "T=TT", run_maximum_x2, 90},
    {"max", "relu s16x2", "T=TT", run_maximum_x2, 90},
    {"popc", "b32/b64", "u=T", run_count_ones, 0},
    {"clz", "b32/b64", "u=T", run_count_leading_zeros, 0},
    {"bfind", "shiftamt? u32/u64/s32/s64", "u=T", run_find_bit, 0},
    {"brev", "b32/b64", "T=T", run_reverse, 0},
    {"fns", "b32", "w=wws", run_find_nth_set, 0},
    {"bfe", "u32/u64/s32/s64", "T=Tuu", run_extract_field, 0},
    {"bfi", "b32/b64", "T=TTuu", run_insert_field, 0},
    {"szext", "clamp/wrap u32/s32", "T=Tu", run_extend_from, 70},
    {"bmsk", "clamp/wrap b32", "w=ww", run_bit_mask, 70},
};

const struct emu_chapter emu_integer_chapter = EMU_CHAPTER(forms);
