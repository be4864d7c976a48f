/* scalar.c: scalar operations, checked against scalar.def. */
#include "codegen/builder_state.h"

#include <string.h>

/* In the order of enum lt_type; no scalar operation has 128 bits. */
static const char type_letters[LT_TYPES + 1] = "philf-";

struct scalar {
    const char *opcode;
    const char *signature;
};

static const struct scalar scalars[] = {
#define LT_SCALAR(opcode, signature) {opcode, signature},
#include "codegen/scalar.def"
#undef LT_SCALAR
};

static const struct scalar *find_scalar(const char *opcode)
{
    size_t low = 0, high = sizeof scalars / sizeof scalars[0];

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(opcode, scalars[middle].opcode);

        if (order == 0)
            return &scalars[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Integers may stand for any type but f32 and predicates; floats for f32 alone. */
static bool operand_fits(lt_value operand, char letter)
{
    switch ((enum lt_value_kind)operand.kind) {
    case LT_NOTHING:
        return false;
    case LT_INTEGER:
    case LT_HEX:
        return letter == 'h' || letter == 'i' || letter == 'l';
    case LT_FLOAT:
    case LT_REGISTER:
    case LT_ELEMENT:
    case LT_NAMED:
        return letter == type_letters[operand.type];
    }
    return false;
}

static const struct scalar *checked_scalar(struct lt_builder *b, const char *opcode,
                                           const lt_value *operands, size_t count)
{
    const struct scalar *scalar = find_scalar(opcode);

    if (!scalar) {
        lt_mistake(b, "%s is not in scalar.def", opcode);
        return NULL;
    }
    if (strlen(scalar->signature) != count + 1) {
        lt_mistake(b, "%s takes %zu operands, not %zu", opcode, strlen(scalar->signature) - 1,
                   count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!operand_fits(operands[i], scalar->signature[i + 1]) || operands[i].negated ||
            operands[i].offset != 0) {
            lt_mistake(b, "%s: operand %zu has the wrong type", opcode, i + 1);
            return NULL;
        }
    return scalar;
}

static void append_scalar(struct lt_builder *b, const char *opcode, lt_value result,
                          const lt_value *operands, size_t count)
{
    lt_start_line(b);
    lt_append_guard(b, b->guard);
    lt_text_append(&b->text, opcode);
    lt_text_append_bytes(&b->text, " ", 1);
    lt_append_value(b, result);
    for (size_t i = 0; i < count; i++) {
        lt_text_append_bytes(&b->text, ", ", 2);
        lt_append_value(b, operands[i]);
    }
    lt_text_append_bytes(&b->text, ";", 1);
    lt_end_line(b);
}

static enum lt_type type_of_letter(char letter)
{
    return (enum lt_type)(strchr(type_letters, letter) - type_letters);
}

/* The result may overwrite an operand of the same name (`x = x + 1`), so operands are checked and
 * written with the generation that they had before. */
lt_value lt_op_(struct lt_builder *b, const char *name, const char *opcode,
                const lt_value *operands, size_t count)
{
    const struct scalar *scalar = checked_scalar(b, opcode, operands, count);

    if (!scalar)
        return (lt_value){0};
    for (size_t i = 0; i < count; i++)
        if (operands[i].kind == LT_REGISTER && !lt_usable(b, operands[i]))
            return (lt_value){0};

    lt_value result = lt_define(b, type_of_letter(scalar->signature[0]), name);
    lt_value renewed[8];

    for (size_t i = 0; i < count; i++) {
        renewed[i] = operands[i];
        if (operands[i].kind == LT_REGISTER && operands[i].id == result.id)
            renewed[i].generation = result.generation;
    }
    append_scalar(b, opcode, result, renewed, count);
    return result;
}

void lt_set_(struct lt_builder *b, lt_value variable, const char *opcode, const lt_value *operands,
             size_t count)
{
    const struct scalar *scalar = checked_scalar(b, opcode, operands, count);

    if (!scalar)
        return;
    if (variable.kind != LT_REGISTER && variable.kind != LT_ELEMENT)
        lt_mistake(b, "%s: what is set is no register", opcode);
    else if (variable.kind == LT_REGISTER && lt_usable(b, variable) &&
             !b->registers[variable.id].variable)
        lt_mistake(b, "%s: %%%s is no variable", opcode, b->registers[variable.id].name);
    else if (variable.type != type_of_letter(scalar->signature[0]))
        lt_mistake(b, "%s: the variable has another type", opcode);
    append_scalar(b, opcode, variable, operands, count);
}

lt_value lt_plus(struct lt_builder *b, const char *name, lt_value value, int64_t number)
{
    if (number == 0)
        return value;
    return lt_op(b, name, value.type == LT_B64 ? "add.s64" : "add.u32", value, lt_imm(number));
}

bool lt_is_power_of_two(int number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

lt_value lt_quotient(struct lt_builder *b, const char *name, lt_value value, int number)
{
    int shift = 0;

    if (number == 1)
        return value;
    if (!lt_is_power_of_two(number))
        return lt_op(b, name, "div.u32", value, lt_imm(number));
    while (1 << shift < number)
        shift++;
    return lt_op(b, name, "shr.u32", value, lt_imm(shift));
}

lt_value lt_remainder(struct lt_builder *b, const char *name, lt_value value, int number)
{
    if (lt_is_power_of_two(number))
        return lt_op(b, name, "and.b32", value, lt_imm(number - 1));
    return lt_op(b, name, "rem.u32", value, lt_imm(number));
}
