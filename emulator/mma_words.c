#include "emulator/mma_words.h"
#include "emulator/mma_element.h"

#include <stdarg.h>
#include <stdio.h>

bool emu_word_is(const char *word, const char *name)
{
    return strcmp(word, name) == 0;
}

bool emu_take_word(const char *word, const char *name, bool *taken)
{
    if (*taken || strcmp(word, name) != 0)
        return false;
    return *taken = true;
}

enum emu_type emu_mma_type_of(const char *word)
{
    static const struct {
        const char *word;
        enum emu_type type;
    } types[] = {
        {"f16", EMU_F16}, {"bf16", EMU_BF16}, {"tf32", EMU_TF32}, {"f32", EMU_F32},
        {"f64", EMU_F64}, {"e4m3", EMU_E4M3}, {"e5m2", EMU_E5M2}, {"s8", EMU_S8},
        {"u8", EMU_U8},   {"s4", EMU_S4},     {"u4", EMU_U4},     {"b1", EMU_B1},
        {"s32", EMU_S32},
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(word, types[i].word) == 0)
            return types[i].type;
    return EMU_TYPE_NONE;
}

int emu_mma_type_bits(enum emu_type type)
{
    return type == EMU_B1 ? 1 : emu_element_bits(type);
}

bool emu_mma_type_is_integer(enum emu_type type)
{
    return emu_element_is_integer(type);
}

bool emu_is_vector(const struct emu_operand *operand, int count)
{
    return operand->kind == EMU_OPERAND_LIST && operand->item_count == count;
}

enum emu_decoded emu_refuse(struct emu_error *error, const struct emu_instruction *instruction,
                            const char *format, ...)
{
    char reason[EMU_MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    emu_fail(error, instruction->line, "%s: %s", instruction->opcode, reason);
    return EMU_REFUSED;
}
