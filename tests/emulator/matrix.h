/* matrix.h: formats, models and instructions for the tests of tensor cores, in f64 and by the
 * definitions, not by the emulator's ways. */
#ifndef EMU_TESTS_MATRIX_H
#define EMU_TESTS_MATRIX_H

#include "emulator/mma.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Formats ---- */

struct layout {
    int bits, mantissa, bias, drop; /* `drop` bits below the format's own */
};

static inline struct layout layout_of(enum emu_type type)
{
    switch ((int)type) {
    case EMU_F16:
        return (struct layout){16, 10, 15, 0};
    case EMU_BF16:
        return (struct layout){16, 7, 127, 0};
    case EMU_TF32:
        return (struct layout){32, 10, 127, 13};
    case EMU_E4M3:
        return (struct layout){8, 3, 7, 0};
    case EMU_E5M2:
        return (struct layout){8, 2, 15, 0};
    case EMU_E2M3:
        return (struct layout){6, 3, 1, 0};
    case EMU_E3M2:
        return (struct layout){6, 2, 3, 0};
    case EMU_E2M1:
        return (struct layout){4, 1, 1, 0};
    default:
        return (struct layout){32, 23, 127, 0};
    }
}

static inline bool is_float(enum emu_type type)
{
    return type == EMU_F16 || type == EMU_BF16 || type == EMU_TF32 || type == EMU_E4M3 ||
           type == EMU_E5M2 || type == EMU_F32 || layout_of(type).bits < 8;
}

/* Bits of an element where it lies. */
static inline int width_of(enum emu_type type)
{
    if (is_float(type))
        return layout_of(type).bits;
    return type == EMU_S32 ? 32 : type == EMU_B1 ? 1 : type == EMU_S4 || type == EMU_U4 ? 4 : 8;
}

/* The format's value, by its definition. */
static inline double value_of(enum emu_type type, uint32_t bits)
{
    struct layout layout = layout_of(type);
    uint32_t sign = bits >> (layout.bits - 1) & 1;
    uint32_t fraction = bits >> layout.drop & ((1u << layout.mantissa) - 1);
    int exponent_bits = layout.bits - layout.drop - 1 - layout.mantissa;
    int exponent = (int)(bits >> (layout.drop + layout.mantissa) & ((1u << exponent_bits) - 1));
    double value;

    if (type == EMU_E4M3 && (bits & 0x7f) == 0x7f)
        return (double)NAN;
    if (type != EMU_E4M3 && layout.bits >= 8 && exponent == (1 << exponent_bits) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - layout.bias - layout.mantissa);
    else
        value = ldexp((double)fraction + (double)(1u << layout.mantissa),
                      exponent - layout.bias - layout.mantissa);
    return sign ? -value : value;
}

/* The bits of a value that the format holds exactly, or of an infinity. */
static inline uint32_t bits_for(enum emu_type type, double value)
{
    struct layout layout = layout_of(type);
    uint32_t sign = signbit(value) ? 1u << (layout.bits - 1) : 0, bits;
    int exponent;
    double magnitude = fabs(value);

    if (isinf(magnitude))
        bits = ((1u << (layout.bits - layout.drop - 1 - layout.mantissa)) - 1) << layout.mantissa;
    else if (magnitude < ldexp(1, 1 - layout.bias))
        bits = (uint32_t)ldexp(magnitude, layout.bias - 1 + layout.mantissa);
    else {
        double fraction = frexp(magnitude, &exponent);

        bits = (uint32_t)(exponent - 1 + layout.bias) << layout.mantissa;
        bits += (uint32_t)ldexp(fraction, layout.mantissa + 1) - (1u << layout.mantissa);
    }
    return sign | bits << layout.drop;
}

/* ---- Tensor cores, as measured ---- */

/* Of a finite value: its own, but no less than the format's; of zero -126. */
static inline int exponent_of(enum emu_type type, double value)
{
    int exponent, smallest = 1 - layout_of(type).bias;

    if (value == 0)
        return -126;
    frexp(value, &exponent);
    return exponent - 1 < smallest ? smallest : exponent - 1;
}

static inline double round_result(enum emu_type type, double sum, int precision)
{
    int exponent, unit;

    if (sum == 0)
        return 0;
    frexp(sum, &exponent);
    if (type == EMU_F16) {
        unit = exponent - 11 < -24 ? -24 : exponent - 11;
        sum = ldexp(rint(ldexp(sum, -unit)), unit);
        return fabs(sum) > 65504 ? copysign((double)INFINITY, sum) : sum;
    }
    unit = exponent - precision < -149 ? -149 : exponent - precision;
    sum = ldexp(trunc(ldexp(sum, -unit)), unit);
    return fabs(sum) >= ldexp(1, 128) ? copysign((double)INFINITY, sum) : sum;
}

/* How much of a sum is kept, and how much of C there is of it. */
struct model {
    int fraction, precision, scale_c;
};

static inline uint32_t model_dot_of(const struct model *model, enum emu_type d, enum emu_type a,
                                    enum emu_type b, int k, const uint32_t *left,
                                    const uint32_t *right, int step, uint32_t c)
{
    int fraction = model->fraction;
    double addend = ldexp(value_of(d, c), -model->scale_c), plain = addend, sum;
    int largest = addend == 0 ? -126 : exponent_of(d, value_of(d, c)) - model->scale_c;

    for (int i = 0; i < k; i++)
        plain += value_of(a, left[i]) * value_of(b, right[i * step]);
    if (isnan(plain))
        return d == EMU_F16 ? 0x7fff : 0x7fffffff;
    if (isinf(plain))
        return bits_for(d, plain);
    largest = largest < -126 ? -126 : largest;
    for (int i = 0; i < k; i++) {
        double x = value_of(a, left[i]), y = value_of(b, right[i * step]);

        if (x != 0 && y != 0 && exponent_of(a, x) + exponent_of(b, y) > largest)
            largest = exponent_of(a, x) + exponent_of(b, y);
    }
    sum = trunc(ldexp(addend, fraction - largest));
    for (int i = 0; i < k; i++)
        sum +=
            trunc(ldexp(value_of(a, left[i]) * value_of(b, right[i * step]), fraction - largest));
    sum = round_result(d, ldexp(sum, largest - fraction), model->precision);
    return sum == 0 && d != EMU_F16 ? 0 : bits_for(d, sum);
}

/* One element of D: elements of a row of A and of a column of B, `step` apart, and C's bits; as a
 * Hopper has it. */
static inline uint32_t model_dot(enum emu_type d, enum emu_type a, enum emu_type b, int k,
                                 const uint32_t *left, const uint32_t *right, int step, uint32_t c)
{
    bool fp8 = layout_of(a).bits == 8;
    const struct model model = {.fraction = fp8 ? 13 : 25, .precision = fp8 ? 14 : 24};

    return model_dot_of(&model, d, a, b, k, left, right, step, c);
}

/* ---- Instructions ---- */

enum { WORDS_MAX = 24, OPERANDS_MAX = 12 };

struct text {
    char opcode[128], copy[128];
    const char *words[WORDS_MAX];
    struct emu_operand operands[OPERANDS_MAX];
    struct emu_operand items[OPERANDS_MAX][130];
    struct emu_instruction instruction;
};

/* An instruction without operands, line 7. */
static inline void begin_text(struct text *text, const char *opcode)
{
    *text = (struct text){.instruction = {.line = 7, .guard = -1}};
    snprintf(text->opcode, sizeof text->opcode, "%s", opcode);
    snprintf(text->copy, sizeof text->copy, "%s", opcode);
    text->instruction.opcode = text->opcode;
    text->instruction.words = text->words;
    text->instruction.operands = text->operands;
    for (char *rest = text->copy, *word; (word = strsep(&rest, ".")) != NULL;)
        text->words[text->instruction.word_count++] = word;
}

static inline void add_vector(struct text *text, int count)
{
    int at = text->instruction.operand_count++;

    text->operands[at] = (struct emu_operand){
        .kind = EMU_OPERAND_LIST, .items = text->items[at], .item_count = count};
    for (int i = 0; i < count; i++)
        text->items[at][i] = (struct emu_operand){.kind = EMU_OPERAND_REGISTER, .reg = i};
}

static inline void add_register(struct text *text)
{
    text->operands[text->instruction.operand_count++] =
        (struct emu_operand){.kind = EMU_OPERAND_REGISTER};
}

static inline void add_integer(struct text *text, int64_t value)
{
    text->operands[text->instruction.operand_count++] =
        (struct emu_operand){.kind = EMU_OPERAND_INTEGER, .bits = (uint64_t)value};
}

#endif
