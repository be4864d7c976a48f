/* Instructions and operands: PTX ISA "Instruction Statements" and "Instruction Operands".
 *
 * Of all opcodes this file knows four ways to write operands: bra and brx.idx name labels and
 * tables, call has lists in parentheses, and memory accesses may have a[1] for an address. */
#include "emulator/ptx_parser.h"

#include <string.h>

enum { TOP, IN_LIST, IN_ADDRESS }; /* where an operand stands */

static bool parse_operand(struct emu_parser *p, int where, struct emu_operand *operand);

static bool is_first_word(const struct emu_instruction *instruction, const char *word)
{
    return strcmp(instruction->words[0], word) == 0;
}

/* ---- Opcodes ---- */

/* Splits "ld.global.u32" once for all instructions that have it. */
static bool split_words(struct emu_parser *p, struct emu_name *name)
{
    const char *words[EMU_WORD_LIMIT];
    char *copy = emu_arena_allocate(p->arena, name->length + 1, 1);
    int count = 0;

    if (!copy)
        return emu_no_memory(p);
    memcpy(copy, name->text, name->length);
    for (char *at = copy; at;) {
        char *dot = strchr(at, '.');

        if (count == EMU_WORD_LIMIT)
            return emu_fail(p->error, p->token.line, "an instruction of more than %d words",
                            EMU_WORD_LIMIT);
        words[count++] = at;
        if (dot)
            *dot = '\0';
        at = dot ? dot + 1 : NULL;
    }

    const char **kept = emu_arena_allocate(p->arena, (size_t)count, sizeof *kept);

    if (!kept)
        return emu_no_memory(p);
    memcpy(kept, words, (size_t)count * sizeof *kept);
    name->words = kept;
    name->word_count = count;
    return true;
}

static bool parse_opcode(struct emu_parser *p, struct emu_instruction *instruction)
{
    char text[EMU_OPCODE_LIMIT];
    size_t length = 0;

    if (p->token.kind != EMU_TOKEN_NAME)
        return emu_unexpected(p, "an instruction", p->opcode);
    do {
        if (length + p->token.length + 1 > sizeof text)
            return emu_fail(p->error, p->token.line, "an instruction of more than %d characters",
                            EMU_OPCODE_LIMIT);
        if (length > 0)
            text[length++] = '.';
        memcpy(text + length, p->token.text, p->token.length);
        length += p->token.length;
        emu_advance(p);
    } while (p->token.kind == EMU_TOKEN_DOTTED);

    struct emu_name *name = emu_name_of(&p->names, text, length, instruction->line);

    if (!name || (!name->words && !split_words(p, name)))
        return false;
    p->opcode = instruction->opcode = name->text;
    instruction->words = name->words;
    instruction->word_count = name->word_count;
    return true;
}

/* ---- Names as operands ---- */

/* .x and .r are the same part. */
static char part_of(const struct emu_token *token)
{
    static const char letters[] = "xyzwrgba", parts[] = "xyzwxyzw";
    const char *found = token->length == 1 ? strchr(letters, token->text[0]) : NULL;

    return found ? parts[found - letters] : '\0';
}

/* b0, h1, h10, b3210: a letter and digits. */
static bool is_selector(const struct emu_token *token)
{
    if (token->length < 2 || token->length > 5 || !strchr("bh", token->text[0]))
        return false;
    for (size_t i = 1; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '7')
            return false;
    }
    return true;
}

/* .x behind a vector's name, a selector behind a scalar register's. */
static bool parse_part(struct emu_parser *p, const char *name, bool is_vector,
                       struct emu_operand *operand)
{
    if (p->token.kind != EMU_TOKEN_DOTTED)
        return true;
    if (is_vector)
        operand->part = part_of(&p->token);
    if (operand->part == '\0' &&
        (is_vector || operand->kind != EMU_OPERAND_REGISTER || !is_selector(&p->token)))
        return emu_fail(p->error, p->token.line, "%s has no part .%.*s", name,
                        (int)(p->token.length < 40 ? p->token.length : 40), p->token.text);
    if (!is_vector) {
        const struct emu_name *selector =
            emu_name_of(&p->names, p->token.text, p->token.length, p->token.line);

        if (!selector)
            return false;
        operand->selector = selector->text;
    }
    emu_advance(p);
    return true;
}

static bool set_register(struct emu_parser *p, const struct emu_symbol *symbol,
                         struct emu_name *name, struct emu_operand *operand)
{
    operand->kind = EMU_OPERAND_REGISTER;
    operand->reg = symbol->index;
    if (symbol->kind == EMU_SYMBOL_RANGE) {
        operand->reg = emu_make_register(p, name, symbol->type, symbol->vector);
        if (operand->reg < 0 || !emu_symbol_of_range(&p->names, name, symbol, operand->reg))
            return false;
    }

    const struct emu_register *reg = emu_list_at(&p->body.registers, (size_t)operand->reg);

    if (!parse_part(p, reg->name, reg->vector > 1, operand))
        return false;
    if (reg->vector == 2 && (operand->part == 'z' || operand->part == 'w'))
        return emu_fail(p->error, p->token.line, "%s has two parts, .x and .y", reg->name);
    return true;
}

static bool parse_special(struct emu_parser *p, const struct emu_name *name, int line,
                          struct emu_operand *operand)
{
    int number, special = emu_special_of(name->text, name->length, &number);

    if (special < 0)
        return emu_symbol_missing(&p->names, name, line);
    operand->kind = EMU_OPERAND_SPECIAL;
    operand->index = special;
    operand->offset = number;
    return parse_part(p, name->text, emu_special_is_vector((enum emu_special)special), operand);
}

/* x, x+4, and x[1], which counts in elements. */
static bool parse_variable_offset(struct emu_parser *p, const struct emu_variable *variable,
                                  int where, struct emu_operand *operand)
{
    if (emu_at_sign(p, '[') && where == TOP) {
        emu_advance(p);
        if (!emu_constant_here(p))
            return emu_fail(p->error, p->token.line,
                            "%s[register] is not supported: add the offset to the address",
                            variable->name);
        if (!emu_parse_offset(p, &operand->offset) || !emu_expect_sign(p, ']', "an element"))
            return false;
        if (operand->offset < 0 || (uint64_t)operand->offset > EMU_VARIABLE_LIMIT)
            return emu_fail(p->error, p->token.line, "%s has no such element", variable->name);
        operand->offset *= variable->vector * emu_type_bytes(variable->type);
        return true;
    }
    return !emu_take_sign(p, '+') || emu_parse_offset(p, &operand->offset);
}

/* The variable that the symbol means; null where it means something else. */
static const struct emu_variable *find_variable(struct emu_parser *p,
                                                const struct emu_symbol *symbol,
                                                enum emu_operand_kind *kind)
{
    const struct emu_function *function = emu_list_at(&p->functions, (size_t)p->body.function);
    size_t index = (size_t)symbol->index;

    switch (symbol->kind) {
    case EMU_SYMBOL_VARIABLE:
        *kind = EMU_OPERAND_VARIABLE;
        return emu_list_at(&p->variables, index);
    case EMU_SYMBOL_LOCAL:
        *kind = EMU_OPERAND_LOCAL;
        return emu_list_at(&p->body.locals, index);
    case EMU_SYMBOL_PARAM:
        *kind = EMU_OPERAND_PARAM;
        return &function->params[index];
    case EMU_SYMBOL_RETURN:
        *kind = EMU_OPERAND_RETURN;
        return &function->returns[index];
    default:
        return NULL;
    }
}

static bool parse_named(struct emu_parser *p, int where, struct emu_operand *operand)
{
    int line = p->token.line;
    struct emu_name *name = emu_expect_name(p, p->opcode);
    const struct emu_symbol *symbol = name ? emu_symbol_find(&p->names, name) : NULL;

    if (!name)
        return false;
    if (!symbol)
        return parse_special(p, name, line, operand);
    if (symbol->kind == EMU_SYMBOL_REGISTER || symbol->kind == EMU_SYMBOL_RANGE)
        return set_register(p, symbol, name, operand);
    operand->index = symbol->index;

    const struct emu_variable *variable = find_variable(p, symbol, &operand->kind);

    if (variable)
        return parse_variable_offset(p, variable, where, operand);
    if (symbol->kind == EMU_SYMBOL_LABEL)
        return emu_fail(p->error, line, "the label '%s' is no operand here", name->text);
    operand->kind = symbol->kind == EMU_SYMBOL_FUNCTION ? EMU_OPERAND_FUNCTION : EMU_OPERAND_TABLE;
    return true;
}

/* ---- Lists, addresses, pairs ---- */

/* Takes what was read behind `first` into the operand. */
static bool take_items(struct emu_parser *p, size_t first, struct emu_operand *operand)
{
    operand->item_count = (int)(p->operands.count - first);
    return emu_list_take(&p->operands, first, p->arena, &operand->items) || emu_no_memory(p);
}

static bool add_operand(struct emu_parser *p, size_t first, const struct emu_operand *operand)
{
    if (p->operands.count - first >= EMU_ITEM_LIMIT)
        return emu_fail(p->error, p->token.line, "more than %d operands", EMU_ITEM_LIMIT);

    struct emu_operand *added = emu_list_add(&p->operands, p->arena);

    if (!added)
        return emu_no_memory(p);
    *added = *operand;
    return true;
}

/* a, b, c up to the closing sign. */
static bool parse_items(struct emu_parser *p, int closing, int where, struct emu_operand *operand)
{
    size_t first = p->operands.count;

    if (!emu_at_sign(p, closing)) {
        do {
            struct emu_operand item;

            if (!parse_operand(p, where, &item) || !add_operand(p, first, &item))
                return false;
        } while (emu_take_sign(p, ','));
    }
    return emu_expect_sign(p, closing, p->opcode) && take_items(p, first, operand);
}

/* The base of an address: a register or a variable plus a constant, or a constant alone. */
static bool parse_base(struct emu_parser *p, struct emu_operand *base)
{
    if (!parse_operand(p, IN_ADDRESS, base))
        return false;
    switch (base->kind) {
    case EMU_OPERAND_REGISTER:
        if (base->part || base->selector || base->negated)
            return emu_fail(p->error, p->token.line, "%s is no address, but a part of one",
                            base->name);
        if (emu_at_sign(p, '-'))
            return emu_fail(p->error, p->token.line,
                            "an address has its offset behind +: write "
                            "[%s+-4] for [%s-4]",
                            base->name, base->name);
        return !emu_take_sign(p, '+') || emu_parse_offset(p, &base->offset);
    case EMU_OPERAND_INTEGER:
    case EMU_OPERAND_VARIABLE:
    case EMU_OPERAND_LOCAL:
    case EMU_OPERAND_PARAM:
    case EMU_OPERAND_RETURN:
        return true;
    default:
        return emu_fail(p->error, p->token.line, "%s is no address", base->name);
    }
}

static bool parse_address(struct emu_parser *p, struct emu_operand *operand)
{
    size_t first = p->operands.count;
    struct emu_operand item;

    operand->kind = EMU_OPERAND_ADDRESS;
    if (!parse_base(p, &item) || !add_operand(p, first, &item))
        return false;
    while (emu_take_sign(p, ',')) {
        if (!parse_operand(p, IN_ADDRESS, &item) || !add_operand(p, first, &item))
            return false;
    }
    if (!emu_expect_sign(p, ']', p->opcode) || !take_items(p, first, operand))
        return false;
    operand->is_unified = emu_take_dotted(p, "unified");
    return true;
}

static bool parse_number(struct emu_parser *p, struct emu_operand *operand)
{
    struct emu_constant value;

    if (!emu_parse_constant(p, &value))
        return false;
    operand->bits = value.bits;
    operand->kind = value.kind == EMU_EXACT_F32                              ? EMU_OPERAND_F32
                    : value.kind == EMU_EXACT_F64 || value.kind == EMU_FLOAT ? EMU_OPERAND_F64
                                                                             : EMU_OPERAND_INTEGER;
    return true;
}

/* One operand without a | behind it. */
static bool parse_single(struct emu_parser *p, int where, struct emu_operand *operand)
{
    bool negates = (emu_at_sign(p, '!') || emu_at_sign(p, '-')) &&
                   p->ahead.kind == EMU_TOKEN_NAME &&
                   !emu_token_is(&p->ahead, EMU_TOKEN_NAME, "WARP_SZ");

    *operand = (struct emu_operand){.reg = -1, .index = -1};
    if (negates) {
        int line = p->token.line;

        emu_advance(p);
        operand->negated = true;
        return parse_named(p, where, operand) &&
               (operand->kind == EMU_OPERAND_REGISTER ||
                emu_fail(p->error, line, "only registers are negated"));
    }
    if (emu_token_is(&p->token, EMU_TOKEN_NAME, "_")) {
        emu_advance(p);
        operand->kind = EMU_OPERAND_SINK;
        return true;
    }
    if (emu_constant_here(p))
        return parse_number(p, operand);
    if (p->token.kind == EMU_TOKEN_NAME)
        return parse_named(p, where, operand);
    if (where != IN_LIST && emu_take_sign(p, '{')) {
        operand->kind = EMU_OPERAND_LIST;
        return parse_items(p, '}', IN_LIST, operand);
    }
    if (where == TOP && emu_take_sign(p, '['))
        return parse_address(p, operand);
    return emu_unexpected(p, "an operand", p->opcode);
}

static bool parse_operand(struct emu_parser *p, int where, struct emu_operand *operand)
{
    const char *begin = p->token.begin;
    size_t first = p->operands.count;

    if (!parse_single(p, where, operand))
        return false;
    operand->name = emu_words_since(p, begin);
    if (!operand->name)
        return false;
    if (where != TOP || !emu_at_sign(p, '|'))
        return true;

    struct emu_operand second;

    emu_advance(p);

    const char *second_begin = p->token.begin;

    if (!add_operand(p, first, operand) || !parse_single(p, IN_LIST, &second))
        return false;
    second.name = emu_words_since(p, second_begin);
    if (!second.name || !add_operand(p, first, &second))
        return false;
    *operand = (struct emu_operand){
        .kind = EMU_OPERAND_BOTH, .reg = -1, .index = -1, .name = emu_words_since(p, begin)};
    return operand->name && take_items(p, first, operand);
}

/* ---- Operands of instructions that have their own ways ---- */

/* (a, b), or an empty list where there is none. */
static bool parse_call_list(struct emu_parser *p, struct emu_operand *operand)
{
    const char *begin = p->token.begin;

    *operand = (struct emu_operand){.kind = EMU_OPERAND_LIST, .reg = -1, .index = -1, .name = "()"};
    if (!emu_take_sign(p, '('))
        return true;
    if (!parse_items(p, ')', IN_LIST, operand))
        return false;
    operand->name = emu_words_since(p, begin);
    return operand->name != NULL;
}

/* call (r), f, (a, b), table; of which all but f may be missing. */
static bool parse_call(struct emu_parser *p)
{
    struct emu_operand returns, callee, arguments, table;
    bool has_returns = emu_at_sign(p, '(');

    if (!parse_call_list(p, &returns) || (has_returns && !emu_expect_sign(p, ',', "call")) ||
        !parse_operand(p, TOP, &callee))
        return false;
    if (callee.kind != EMU_OPERAND_FUNCTION && callee.kind != EMU_OPERAND_REGISTER)
        return emu_fail(p->error, p->token.line, "call: %s is no function and no register",
                        callee.name);

    if (callee.kind == EMU_OPERAND_FUNCTION &&
        ((struct emu_function *)emu_list_at(&p->functions, (size_t)callee.index))->is_entry)
        return emu_fail(p->error, p->token.line, "call: %s is a kernel", callee.name);

    bool more = emu_take_sign(p, ',');
    bool has_arguments = more && emu_at_sign(p, '(');

    if (!has_arguments)
        arguments =
            (struct emu_operand){.kind = EMU_OPERAND_LIST, .reg = -1, .index = -1, .name = "()"};
    else if (!parse_call_list(p, &arguments))
        return false;
    if (!add_operand(p, 0, &returns) || !add_operand(p, 0, &callee) ||
        !add_operand(p, 0, &arguments))
        return false;
    if (has_arguments)
        more = emu_take_sign(p, ',');
    if (!more)
        return true;
    if (!parse_operand(p, TOP, &table))
        return false;
    if (table.kind != EMU_OPERAND_TABLE)
        return emu_fail(p->error, p->token.line,
                        "call: %s is no .callprototype and no .calltargets", table.name);
    return add_operand(p, 0, &table);
}

/* The label is known when its scope ends: see emu_add_reference. */
static bool parse_label_operand(struct emu_parser *p, struct emu_name **label)
{
    *label = emu_expect_name(p, "bra");
    return *label && add_operand(p, 0,
                                 &(struct emu_operand){.kind = EMU_OPERAND_LABEL,
                                                       .reg = -1,
                                                       .index = -1,
                                                       .name = (*label)->text});
}

/* ld.global.u32 r, a[1]: what stands without brackets is an address all the same. */
static bool wrap_element(struct emu_parser *p, struct emu_operand *operand)
{
    size_t first = p->operands.count;

    if (!add_operand(p, first, operand))
        return false;
    *operand = (struct emu_operand){
        .kind = EMU_OPERAND_ADDRESS, .reg = -1, .index = -1, .name = operand->name};
    return take_items(p, first, operand);
}

static bool parse_operands(struct emu_parser *p, const struct emu_instruction *instruction)
{
    static const char *const accesses[] = {"ld", "ldu", "st", "atom", "red"};
    bool is_access = false;

    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++)
        is_access |= is_first_word(instruction, accesses[i]);
    if (emu_at_sign(p, ';'))
        return true;
    do {
        struct emu_operand operand;
        bool is_element = p->token.kind == EMU_TOKEN_NAME && p->ahead.sign == '[';

        if (!parse_operand(p, TOP, &operand) ||
            (is_access && is_element && !wrap_element(p, &operand)) || !add_operand(p, 0, &operand))
            return false;
    } while (emu_take_sign(p, ','));
    return true;
}

/* ---- Instructions ---- */

/* @p or @!p */
static bool parse_guard(struct emu_parser *p, struct emu_instruction *instruction)
{
    struct emu_operand guard = {.reg = -1, .index = -1};
    int line = p->token.line;

    instruction->guard = -1;
    if (!emu_take_sign(p, '@'))
        return true;
    instruction->guard_negated = emu_take_sign(p, '!');
    if (p->token.kind != EMU_TOKEN_NAME)
        return emu_unexpected(p, "a predicate", p->opcode);
    if (!parse_named(p, IN_LIST, &guard))
        return false;

    const struct emu_register *reg = guard.kind == EMU_OPERAND_REGISTER
                                         ? emu_list_at(&p->body.registers, (size_t)guard.reg)
                                         : NULL;

    if (!reg || reg->type != EMU_PRED || guard.selector)
        return emu_fail(p->error, line, "a guard is a register of type .pred");
    instruction->guard = guard.reg;
    return true;
}

bool emu_parse_instruction(struct emu_parser *p)
{
    struct emu_instruction instruction;
    struct emu_name *label = NULL;
    bool done;

    memset(&instruction, 0, sizeof instruction);
    p->operands.count = 0;
    p->opcode = "a guard";
    if (!parse_guard(p, &instruction))
        return false;
    instruction.line = p->token.line;
    if (!parse_opcode(p, &instruction))
        return false;
    if (is_first_word(&instruction, "call"))
        done = parse_call(p);
    else if (is_first_word(&instruction, "bra"))
        done = parse_label_operand(p, &label);
    else
        done = parse_operands(p, &instruction);
    if (!done || !emu_expect_sign(p, ';', instruction.opcode))
        return false;
    instruction.operand_count = (int)p->operands.count;
    if (!emu_list_take(&p->operands, 0, p->arena, &instruction.operands))
        return emu_no_memory(p);
    if (label && !emu_add_reference(p, label, &instruction.operands[0].index, instruction.line))
        return false;

    struct emu_instruction *added = emu_list_add(&p->body.instructions, p->arena);

    if (!added)
        return emu_no_memory(p);
    *added = instruction;
    return true;
}
