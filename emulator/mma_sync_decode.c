/* mma_sync_decode.c: the forms of mma.sync that exist (PTX ISA, "mma"), but for those with
 * block scaling, of sparse matrices, and of types below fp8. */
#include "emulator/mma.h"
#include "emulator/mma_words.h"

#include <stdio.h>

struct shape {
    int m, n, k, target;
};

/* By the type of A; the target is the first that has it. */
static const struct kind {
    enum emu_type types[2];
    struct shape shapes[4];
} kinds[] = {
    {{EMU_F16, EMU_F16}, {{8, 8, 4, 70}, {16, 8, 8, 75}, {16, 8, 16, 80}}},
    {{EMU_BF16, EMU_BF16}, {{16, 8, 8, 80}, {16, 8, 16, 80}}},
    {{EMU_TF32, EMU_TF32}, {{16, 8, 4, 80}, {16, 8, 8, 80}}},
    {{EMU_E4M3, EMU_E5M2}, {{16, 8, 16, 89}, {16, 8, 32, 89}}},
    {{EMU_F64, EMU_F64}, {{8, 8, 4, 80}, {16, 8, 4, 90}, {16, 8, 8, 90}, {16, 8, 16, 90}}},
    {{EMU_S8, EMU_U8}, {{8, 8, 16, 75}, {16, 8, 16, 80}, {16, 8, 32, 80}}},
    {{EMU_S4, EMU_U4}, {{8, 8, 32, 75}, {16, 8, 32, 80}, {16, 8, 64, 80}}},
    {{EMU_B1, EMU_B1}, {{8, 8, 128, 75}, {16, 8, 128, 80}, {16, 8, 256, 80}}},
};

/* What the words of the instruction say, in whatever order they stand. */
struct words {
    enum emu_type types[4]; /* d, a, b, c */
    int type_count, layout_count;
    bool column[2];
    bool has_shape, sync, aligned, saturate, is_and, is_xor, popc, rounding;
};

static bool read_shape(const char *word, struct emu_mma_sync *mma)
{
    int length = 0;

    return sscanf(word, "m%3dn%3dk%3d%n", &mma->m, &mma->n, &mma->k, &length) == 3 &&
           word[length] == '\0';
}

static bool read_word(struct words *words, const char *word, struct emu_mma_sync *mma)
{
    enum emu_type type = emu_mma_type_of(word);

    if (type != EMU_TYPE_NONE && words->type_count < 4) {
        words->types[words->type_count++] = type;
        return true;
    }
    if ((emu_word_is(word, "row") || emu_word_is(word, "col")) && words->layout_count < 2) {
        words->column[words->layout_count++] = emu_word_is(word, "col");
        return true;
    }
    if (!words->has_shape && read_shape(word, mma))
        return words->has_shape = true;
    return emu_take_word(word, "sync", &words->sync) ||
           emu_take_word(word, "aligned", &words->aligned) ||
           emu_take_word(word, "satfinite", &words->saturate) ||
           emu_take_word(word, "and", &words->is_and) ||
           emu_take_word(word, "xor", &words->is_xor) ||
           emu_take_word(word, "popc", &words->popc) || emu_take_word(word, "rn", &words->rounding);
}

static const struct kind *find_kind(enum emu_type a, enum emu_type b)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const enum emu_type *types = kinds[i].types;

        if ((a == types[0] || a == types[1]) && (b == types[0] || b == types[1]))
            return &kinds[i];
    }
    return NULL;
}

static const struct shape *find_shape(const struct kind *kind, const struct emu_mma_sync *mma)
{
    for (size_t i = 0; i < sizeof kind->shapes / sizeof *kind->shapes; i++) {
        const struct shape *shape = &kind->shapes[i];

        if (shape->m != 0 && shape->m == mma->m && shape->n == mma->n && shape->k == mma->k)
            return shape;
    }
    return NULL;
}

/* D and C that go with the factors. */
static bool accumulators_fit(const struct emu_mma_sync *mma, bool is_quad)
{
    switch ((int)mma->a) {
    case EMU_F16:
        if (is_quad && mma->d == EMU_F32 && mma->c == EMU_F16)
            return true;
        return mma->c == mma->d && (mma->d == EMU_F32 || mma->d == EMU_F16);
    case EMU_E4M3:
    case EMU_E5M2:
        return mma->c == mma->d && (mma->d == EMU_F32 || mma->d == EMU_F16);
    case EMU_BF16:
    case EMU_TF32:
        return mma->c == EMU_F32 && mma->d == EMU_F32;
    case EMU_F64:
        return mma->c == EMU_F64 && mma->d == EMU_F64;
    default:
        return mma->c == EMU_S32 && mma->d == EMU_S32;
    }
}

static const char *find_fault(const struct words *words, const struct emu_mma_sync *mma, int target)
{
    const struct kind *kind = find_kind(mma->a, mma->b);
    const struct shape *shape = kind ? find_shape(kind, mma) : NULL;
    bool is_quad = shape && shape->target == 70, is_bits = mma->a == EMU_B1;
    bool is_integer = emu_mma_type_is_integer(mma->a);

    if (!words->sync || !words->aligned || !words->has_shape || words->type_count != 4 ||
        words->layout_count != 2)
        return "needs .sync.aligned, a shape, two layouts and four types";
    if (!shape)
        return "has no such types and shape";
    if (!accumulators_fit(mma, is_quad))
        return "has no such accumulator for its types";
    if (!is_quad && (words->column[0] || !words->column[1]))
        return "must be .row.col";
    if (words->saturate && !is_integer)
        return "takes .satfinite for integers alone";
    if (words->rounding && mma->a != EMU_F64)
        return "takes a rounding for .f64 alone";
    if (is_bits != words->popc || is_bits != (words->is_and != words->is_xor) ||
        (words->is_and && words->is_xor))
        return "takes .and.popc or .xor.popc for .b1, and for nothing else";
    if (target < (words->is_and ? 80 : shape->target))
        return "needs a newer target";
    return NULL;
}

/* Registers of a lane; the four products of m8n8k4 take four times as many. */
static int count_registers(int elements, enum emu_type type, bool is_quad)
{
    int bits = emu_mma_type_bits(type);

    return elements * bits * (is_quad ? 4 : 1) / (EMU_LANES * (bits == 64 ? 64 : 32));
}

enum emu_decoded emu_mma_sync_decode(struct emu_mma_sync *mma,
                                     const struct emu_instruction *instruction, int target,
                                     struct emu_error *error)
{
    struct words words = {.type_count = 0};

    if (!emu_word_is(instruction->words[0], "mma"))
        return EMU_NOT_MINE;
    *mma = (struct emu_mma_sync){.m = 0};
    for (int i = 1; i < instruction->word_count; i++)
        if (!read_word(&words, instruction->words[i], mma))
            return emu_refuse(error, instruction, "has a modifier that is not supported: .%s",
                              instruction->words[i]);
    mma->d = words.types[0];
    mma->a = words.types[1];
    mma->b = words.types[2];
    mma->c = words.types[3];

    const char *fault = find_fault(&words, mma, target);

    if (fault)
        return emu_refuse(error, instruction, "%s", fault);

    bool is_quad = mma->a == EMU_F16 && mma->k == 4;

    mma->saturate = words.saturate;
    mma->is_xor = words.is_xor;
    mma->a_column = words.column[0];
    mma->b_row = !words.column[1];
    mma->a_registers = count_registers(mma->m * mma->k, mma->a, is_quad);
    mma->b_registers = count_registers(mma->k * mma->n, mma->b, is_quad);
    mma->c_registers = count_registers(mma->m * mma->n, mma->c, is_quad);
    mma->d_registers = count_registers(mma->m * mma->n, mma->d, is_quad);

    const int counts[] = {mma->d_registers, mma->a_registers, mma->b_registers, mma->c_registers};

    if (instruction->operand_count != 4)
        return emu_refuse(error, instruction, "needs four operands");
    for (int i = 0; i < 4; i++)
        if (!emu_is_vector(&instruction->operands[i], counts[i]))
            return emu_refuse(error, instruction, "needs a vector of %d as operand %d", counts[i],
                              i + 1);
    return EMU_DECODED;
}
