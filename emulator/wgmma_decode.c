/* wgmma_decode.c: the forms of wgmma.mma_async (PTX ISA, "wgmma.mma_async"), which sm_90a alone
 * has. Sparse ones are not supported. */
#include "emulator/mma.h"
#include "emulator/mma_words.h"

#include <stdio.h>

enum { ROWS = 64, COLUMNS_MAX = 256, A_REGISTERS = 4, IMMEDIATES_AT = 4 };

struct words {
    enum emu_type types[3]; /* d, a, b */
    int type_count, m;
    bool has_shape, sync, aligned, saturate, is_and, popc;
};

static bool read_shape(const char *word, struct words *words, struct emu_wgmma *wgmma)
{
    int length = 0;

    return sscanf(word, "m%3dn%3dk%3d%n", &words->m, &wgmma->n, &wgmma->k, &length) == 3 &&
           word[length] == '\0';
}

static bool read_word(struct words *words, const char *word, struct emu_wgmma *wgmma)
{
    enum emu_type type = emu_mma_type_of(word);

    if (type != EMU_TYPE_NONE && words->type_count < 3) {
        words->types[words->type_count++] = type;
        return true;
    }
    if (!words->has_shape && read_shape(word, words, wgmma))
        return words->has_shape = true;
    return emu_take_word(word, "sync", &words->sync) ||
           emu_take_word(word, "aligned", &words->aligned) ||
           emu_take_word(word, "satfinite", &words->saturate) ||
           emu_take_word(word, "and", &words->is_and) || emu_take_word(word, "popc", &words->popc);
}

static bool is_fp8(enum emu_type type)
{
    return type == EMU_E4M3 || type == EMU_E5M2;
}

static bool is_int8(enum emu_type type)
{
    return type == EMU_S8 || type == EMU_U8;
}

static bool types_fit(const struct emu_wgmma *wgmma)
{
    switch ((int)wgmma->a) {
    case EMU_F16:
        return wgmma->b == EMU_F16 && (wgmma->d == EMU_F32 || wgmma->d == EMU_F16);
    case EMU_BF16:
    case EMU_TF32:
        return wgmma->b == wgmma->a && wgmma->d == EMU_F32;
    case EMU_E4M3:
    case EMU_E5M2:
        return is_fp8(wgmma->b) && (wgmma->d == EMU_F32 || wgmma->d == EMU_F16);
    case EMU_S8:
    case EMU_U8:
        return is_int8(wgmma->b) && wgmma->d == EMU_S32;
    case EMU_B1:
        return wgmma->b == EMU_B1 && wgmma->d == EMU_S32;
    default:
        return false;
    }
}

/* K is 32 bytes of it in all kinds; integers have fewer N above 32. */
static bool shape_fits(const struct words *words, const struct emu_wgmma *wgmma)
{
    int n = wgmma->n;
    bool integer = wgmma->d == EMU_S32;

    if (words->m != ROWS || wgmma->k * emu_mma_type_bits(wgmma->a) != 256)
        return false;
    return n >= 8 && n <= COLUMNS_MAX && n % (integer && n > 32 ? 16 : 8) == 0;
}

static const char *find_fault(const struct words *words, const struct emu_wgmma *wgmma, int target)
{
    bool is_bits = wgmma->a == EMU_B1;

    if (target != 90)
        return "exists for sm_90a alone";
    if (!words->sync || !words->aligned || !words->has_shape || words->type_count != 3)
        return "needs .sync.aligned, a shape and three types";
    if (!types_fit(wgmma))
        return "has no such types";
    if (!shape_fits(words, wgmma))
        return "has no such shape for its types";
    if (words->saturate && !is_int8(wgmma->a))
        return "takes .satfinite for 8-bit integers alone";
    if (words->is_and != is_bits || words->popc != is_bits)
        return "takes .and.popc for .b1, and for nothing else";
    return NULL;
}

/* ---- Operands ---- */

/* imm-scale-a and -b of all floating-point kinds, then imm-trans of those of 16 bits, of A only
 * where it has a descriptor. */
static int count_immediates(const struct emu_wgmma *wgmma)
{
    if (wgmma->d == EMU_S32)
        return 0;
    if (wgmma->a != EMU_F16 && wgmma->a != EMU_BF16)
        return 2;
    return wgmma->a_in_registers ? 3 : 4;
}

/* One of two values; the second says yes. */
static bool read_immediate(const struct emu_operand *operand, int64_t no, int64_t yes, bool *value)
{
    int64_t bits = (int64_t)operand->bits;

    *value = bits == yes;
    return operand->kind == EMU_OPERAND_INTEGER && (bits == no || bits == yes);
}

static bool read_immediates(struct emu_wgmma *wgmma, const struct emu_operand *operands, int count)
{
    if (count >= 2 && (!read_immediate(&operands[0], 1, -1, &wgmma->negate_a) ||
                       !read_immediate(&operands[1], 1, -1, &wgmma->negate_b)))
        return false;
    if (count == 4 && !read_immediate(&operands[2], 0, 1, &wgmma->transpose_a))
        return false;
    return count < 3 || read_immediate(&operands[count - 1], 0, 1, &wgmma->transpose_b);
}

static const char *read_operands(struct emu_wgmma *wgmma, const struct emu_instruction *instruction)
{
    const struct emu_operand *operands = instruction->operands;
    bool ignored;

    if (instruction->operand_count < IMMEDIATES_AT)
        return "needs D, A, B and scale-d";
    wgmma->a_in_registers = operands[1].kind == EMU_OPERAND_LIST;
    if (!emu_is_vector(&operands[0], wgmma->d_registers))
        return "has a D of another size than its shape needs";
    if (wgmma->a_in_registers ? operands[1].item_count != A_REGISTERS
                              : operands[1].kind != EMU_OPERAND_REGISTER)
        return "needs a descriptor or a vector of four registers as A";
    if (operands[2].kind != EMU_OPERAND_REGISTER)
        return "needs a descriptor as B";
    if (operands[3].kind != EMU_OPERAND_REGISTER && !read_immediate(&operands[3], 0, 1, &ignored))
        return "needs a predicate, 0 or 1 as scale-d";
    if (instruction->operand_count - IMMEDIATES_AT != count_immediates(wgmma))
        return "has the wrong number of immediates for its types";
    if (!read_immediates(wgmma, operands + IMMEDIATES_AT, count_immediates(wgmma)))
        return "needs 1 or -1 as imm-scale, and 0 or 1 as imm-trans";
    return NULL;
}

enum emu_decoded emu_wgmma_decode(struct emu_wgmma *wgmma,
                                  const struct emu_instruction *instruction, int target,
                                  struct emu_error *error)
{
    struct words words = {.type_count = 0};

    if (instruction->word_count < 2 || !emu_word_is(instruction->words[0], "wgmma") ||
        !emu_word_is(instruction->words[1], "mma_async"))
        return EMU_NOT_MINE;
    *wgmma = (struct emu_wgmma){.n = 0};
    for (int i = 2; i < instruction->word_count; i++)
        if (!read_word(&words, instruction->words[i], wgmma))
            return emu_refuse(error, instruction, "has a modifier that is not supported: .%s",
                              instruction->words[i]);
    wgmma->d = words.types[0];
    wgmma->a = words.types[1];
    wgmma->b = words.types[2];

    const char *fault = find_fault(&words, wgmma, target);

    if (!fault) {
        wgmma->saturate = words.saturate;
        wgmma->d_registers = ROWS * wgmma->n * emu_mma_type_bits(wgmma->d) / (4 * EMU_LANES * 32);
        fault = read_operands(wgmma, instruction);
    }
    return fault ? emu_refuse(error, instruction, "%s", fault) : EMU_DECODED;
}
