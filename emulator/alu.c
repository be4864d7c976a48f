/* alu.c: from the words of an instruction to its form. */
#include "emulator/alu_form.h"

#include <stdio.h>
#include <string.h>

static const struct emu_chapter *const chapters[] = {
    &emu_integer_chapter, &emu_carry_chapter,   &emu_float_chapter, &emu_approximate_chapter,
    &emu_half_chapter,    &emu_compare_chapter, &emu_logic_chapter, &emu_move_chapter,
    &emu_convert_chapter, &emu_pack_chapter,    &emu_dot_chapter,   &emu_video_chapter,
    &emu_warp_chapter,
};

bool emu_type_is_signed(enum emu_type type)
{
    switch (type) {
    case EMU_S4:
    case EMU_S8:
    case EMU_S16:
    case EMU_S32:
    case EMU_S64:
    case EMU_S16X2:
        return true;
    default:
        return false;
    }
}

/* ---- Words ---- */

enum field {
    FIELD_ROUNDING,
    FIELD_INTEGRAL, /* the rounding of .rni and its like */
    FIELD_VARIANT,
    FIELD_COMPARE,
    FIELD_COMBINE,
    FIELD_FLAG,  /* the offset of a bool */
    FIELD_IGNORE /* says nothing that is not so anyway */
};

struct word {
    const char *text;
    enum field field;
    int value;
};

#define FLAG(name) FIELD_FLAG, (int)offsetof(struct emu_alu, name)

static const struct word words[] = {
    {"rn", FIELD_ROUNDING, EMU_NEAREST_EVEN},
    {"rz", FIELD_ROUNDING, EMU_TO_ZERO},
    {"rm", FIELD_ROUNDING, EMU_DOWN},
    {"rp", FIELD_ROUNDING, EMU_UP},
    {"rna", FIELD_ROUNDING, EMU_NEAREST_AWAY},
    {"rni", FIELD_INTEGRAL, EMU_NEAREST_EVEN},
    {"rzi", FIELD_INTEGRAL, EMU_TO_ZERO},
    {"rmi", FIELD_INTEGRAL, EMU_DOWN},
    {"rpi", FIELD_INTEGRAL, EMU_UP},
    {"rs", FLAG(stochastic)},
    {"ftz", FLAG(flush)},
    {"sat", FLAG(saturate)},
    {"satfinite", FLAG(saturate_finite)},
    {"relu", FLAG(relu)},
    {"NaN", FLAG(nan)},
    {"xorsign", FLAG(xorsign)},
    {"abs", FLAG(abs)},
    {"oob", FLAG(oob)},
    {"approx", FLAG(approximate)},
    {"full", FLAG(full)},
    {"wrap", FLAG(wrap)},
    {"shiftamt", FLAG(shift_amount)},
    {"po", FLAG(plus_one)},
    {"cc", FLAG(carry_out)},
    {"clamp", FIELD_IGNORE, 0},
    {"sync", FIELD_IGNORE, 0},
    {"aligned", FIELD_IGNORE, 0},
    {"m8n8", FIELD_IGNORE, 0},
    {"trans", FIELD_IGNORE, 0},
    {"pack", FIELD_IGNORE, 0},
    {"lo", FIELD_VARIANT, EMU_VARIANT_LO},
    {"hi", FIELD_VARIANT, EMU_VARIANT_HI},
    {"wide", FIELD_VARIANT, EMU_VARIANT_WIDE},
    {"l", FIELD_VARIANT, EMU_VARIANT_LEFT},
    {"r", FIELD_VARIANT, EMU_VARIANT_RIGHT},
    {"add", FIELD_VARIANT, EMU_VARIANT_ADD},
    {"min", FIELD_VARIANT, EMU_VARIANT_MIN},
    {"max", FIELD_VARIANT, EMU_VARIANT_MAX},
    {"all", FIELD_VARIANT, EMU_VARIANT_ALL},
    {"any", FIELD_VARIANT, EMU_VARIANT_ANY},
    {"uni", FIELD_VARIANT, EMU_VARIANT_UNI},
    {"ballot", FIELD_VARIANT, EMU_VARIANT_BALLOT},
    {"up", FIELD_VARIANT, EMU_VARIANT_UP},
    {"down", FIELD_VARIANT, EMU_VARIANT_DOWN},
    {"bfly", FIELD_VARIANT, EMU_VARIANT_BFLY},
    {"idx", FIELD_VARIANT, EMU_VARIANT_IDX},
    {"f4e", FIELD_VARIANT, EMU_VARIANT_F4E},
    {"b4e", FIELD_VARIANT, EMU_VARIANT_B4E},
    {"rc8", FIELD_VARIANT, EMU_VARIANT_RC8},
    {"ecl", FIELD_VARIANT, EMU_VARIANT_ECL},
    {"ecr", FIELD_VARIANT, EMU_VARIANT_ECR},
    {"rc16", FIELD_VARIANT, EMU_VARIANT_RC16},
    {"finite", FIELD_VARIANT, EMU_VARIANT_FINITE},
    {"infinite", FIELD_VARIANT, EMU_VARIANT_INFINITE},
    {"number", FIELD_VARIANT, EMU_VARIANT_NUMBER},
    {"notanumber", FIELD_VARIANT, EMU_VARIANT_NOTANUMBER},
    {"normal", FIELD_VARIANT, EMU_VARIANT_NORMAL},
    {"subnormal", FIELD_VARIANT, EMU_VARIANT_SUBNORMAL},
    {"shr7", FIELD_VARIANT, EMU_VARIANT_SHR7},
    {"shr15", FIELD_VARIANT, EMU_VARIANT_SHR15},
    {"and", FIELD_COMBINE, EMU_AND},
    {"or", FIELD_COMBINE, EMU_OR},
    {"xor", FIELD_COMBINE, EMU_XOR},
};

/* lo and its like are the unsigned comparisons; they mean the same where the type is unsigned. */
static const struct word comparisons[] = {
    {"eq", FIELD_COMPARE, EMU_EQ},   {"ne", FIELD_COMPARE, EMU_NE},
    {"lt", FIELD_COMPARE, EMU_LT},   {"le", FIELD_COMPARE, EMU_LE},
    {"gt", FIELD_COMPARE, EMU_GT},   {"ge", FIELD_COMPARE, EMU_GE},
    {"lo", FIELD_COMPARE, EMU_LT},   {"ls", FIELD_COMPARE, EMU_LE},
    {"hi", FIELD_COMPARE, EMU_GT},   {"hs", FIELD_COMPARE, EMU_GE},
    {"equ", FIELD_COMPARE, EMU_EQU}, {"neu", FIELD_COMPARE, EMU_NEU},
    {"ltu", FIELD_COMPARE, EMU_LTU}, {"leu", FIELD_COMPARE, EMU_LEU},
    {"gtu", FIELD_COMPARE, EMU_GTU}, {"geu", FIELD_COMPARE, EMU_GEU},
    {"num", FIELD_COMPARE, EMU_NUM}, {"nan", FIELD_COMPARE, EMU_NAN},
};

static const struct word *word_among(const struct word *table, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].text, text) == 0)
            return &table[i];
    return NULL;
}

static bool set_field(struct emu_alu *op, const struct word *word)
{
    if (!word)
        return false;
    switch (word->field) {
    case FIELD_INTEGRAL:
        op->integral = true;
        op->rounding = (enum emu_rounding)word->value;
        break;
    case FIELD_ROUNDING:
        op->rounding = (enum emu_rounding)word->value;
        break;
    case FIELD_VARIANT:
        op->variant = (enum emu_variant)word->value;
        break;
    case FIELD_COMPARE:
        op->compare = (enum emu_compare)word->value;
        break;
    case FIELD_COMBINE:
        op->combine = (enum emu_combine)word->value;
        break;
    case FIELD_FLAG:
        *(bool *)((char *)op + word->value) = true;
        break;
    case FIELD_IGNORE:
        break;
    }
    return true;
}

static bool set_type(struct emu_alu *op, int group_of_types, enum emu_type type)
{
    enum emu_type *const fields[] = {&op->type, &op->from, &op->third};

    if (group_of_types >= (int)(sizeof fields / sizeof *fields))
        return false;
    *fields[group_of_types] = type;
    return true;
}

/* ---- Groups of modifiers ---- */

enum { MOST_GROUPS = 16 };

struct group {
    const char *text;
    size_t length;
    bool optional, taken, of_types, of_comparisons;
};

static const struct {
    const char *name, *members;
} comparison_groups[] = {
    {"@bits", "eq/ne"},
    {"@signed", "eq/ne/lt/le/gt/ge"},
    {"@unsigned", "eq/ne/lt/le/gt/ge/lo/ls/hi/hs"},
    {"@float", "eq/ne/lt/le/gt/ge/equ/neu/ltu/leu/gtu/geu/num/nan"},
};

static const char *comparison_group(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof comparison_groups / sizeof *comparison_groups; i++)
        if (strlen(comparison_groups[i].name) == length &&
            memcmp(comparison_groups[i].name, text, length) == 0)
            return comparison_groups[i].members;
    return NULL;
}

static int split_groups(struct group groups[MOST_GROUPS], const char *text)
{
    int count = 0;

    while (*text != '\0' && count < MOST_GROUPS) {
        size_t length = strcspn(text, " ");
        struct group *group = &groups[count++];
        const char *members = comparison_group(text, length);

        *group = (struct group){.text = text, .length = length};
        if (text[length - 1] == '?') {
            group->optional = true;
            group->length--;
        }
        if (members) {
            group->of_comparisons = true;
            group->text = members;
            group->length = strlen(members);
        } else {
            size_t first = strcspn(text, "/ ?");
            group->of_types = emu_type_of(text, first) != EMU_TYPE_NONE;
        }
        text += length;
        text += strspn(text, " ");
    }
    return count;
}

static bool group_has(const struct group *group, const char *word)
{
    size_t length = strlen(word);
    const char *at = group->text, *end = at + group->length;

    while (at < end) {
        size_t member = strcspn(at, "/ ?");

        if (member > (size_t)(end - at))
            member = (size_t)(end - at);
        if (member == length && memcmp(at, word, length) == 0)
            return true;
        at += member + 1;
    }
    return false;
}

/* The word takes the first group that is free and has it; types stand in their order. */
static bool take_word(struct emu_alu *op, struct group *groups, int count, const char *word)
{
    int group_of_types = 0;

    for (int i = 0; i < count; i++) {
        struct group *group = &groups[i];

        if (!group->taken && group_has(group, word)) {
            group->taken = true;
            if (group->of_types)
                return set_type(op, group_of_types, emu_type_of(word, strlen(word)));
            if (group->of_comparisons)
                return set_field(
                    op, word_among(comparisons, sizeof comparisons / sizeof *comparisons, word));
            return set_field(op, word_among(words, sizeof words / sizeof *words, word));
        }
        if (group->of_types && !group->taken && emu_type_of(word, strlen(word)) != EMU_TYPE_NONE)
            return false;
        group_of_types += group->of_types;
    }
    return false;
}

static bool match_words(struct emu_alu *op, const struct emu_form *form,
                        const struct emu_instruction *instruction)
{
    struct group groups[MOST_GROUPS];
    int count = split_groups(groups, form->modifiers);

    for (int i = 1; i < instruction->word_count; i++)
        if (!take_word(op, groups, count, instruction->words[i]))
            return false;
    for (int i = 0; i < count; i++)
        if (!groups[i].taken && !groups[i].optional)
            return false;
    op->width = 8 * emu_type_bytes(op->type);
    op->is_signed = emu_type_is_signed(op->type);
    return true;
}

/* ---- Operands ---- */

struct binding {
    struct emu_alu *op;
    const struct emu_operand *operands; /* the next, and how many are left */
    int left;
};

static enum emu_type twice(enum emu_type type)
{
    switch (type) {
    case EMU_U16:
        return EMU_U32;
    case EMU_S16:
        return EMU_S32;
    case EMU_U32:
        return EMU_U64;
    case EMU_S32:
        return EMU_S64;
    default:
        return EMU_TYPE_NONE;
    }
}

static enum emu_type type_of_letter(const struct emu_alu *op, char letter)
{
    switch (letter) {
    case 'T':
        return op->type;
    case 'F':
        return op->from;
    case 'W':
        return twice(op->type);
    case 'p':
    case 'P':
    case 'B':
    case 'c':
        return EMU_PRED;
    case 'y':
        return EMU_B8;
    case 'h':
        return EMU_B16;
    case 'w':
        return EMU_B32;
    case 'd':
        return EMU_B64;
    case 's':
        return EMU_S32;
    case 'u':
    case 'i':
        return EMU_U32;
    case 'f':
        return EMU_F32;
    case 'S':
    case 'M':
    case 'n':
    case 'H':
    case 'Q':
        return EMU_B32;
    default:
        return EMU_TYPE_NONE;
    }
}

/* Of r.b0 to r.b7, r.h0 and r.h1: see EMU_SELECTOR_BITS; 0 where there is none. */
static int selector_code(const struct emu_operand *operand)
{
    const char *word = operand->selector;
    bool is_half = word && word[0] == 'h';

    if (!word || word[1] < '0' || word[1] > (is_half ? '1' : '7') || word[2] != '\0')
        return 0;
    return word[1] - '0' + 1 + (is_half ? EMU_HALF_H0 : 0);
}

/* .b0 to .b3, .h0 and .h1 of a register, where the form has selectors; or none. */
static bool selector_suits(const struct emu_operand *operand, bool has_selectors)
{
    int half = selector_code(operand) - 1;

    return !operand->selector || (has_selectors && half >= 0 &&
                                  (half <= 3 || half == EMU_HALF_H0 || half == EMU_HALF_H1));
}

/* Of d, .h10 or .b3210 without those that are not written. */
static bool choose_written(struct emu_alu *op, const char *digits, int count)
{
    for (int last = count; *digits; digits++) {
        int element = *digits - '0';

        if (element < 0 || element >= last)
            return false;
        op->elements[0] |= (uint16_t)(1 << element);
        last = element;
    }
    return op->elements[0] != 0;
}

/* Of a or b: one digit for each element, of those of a and, behind them, b. */
static bool choose_read(struct emu_alu *op, int operand, const char *digits, int count)
{
    if ((int)strlen(digits) != count)
        return false;
    for (int element = count - 1; element >= 0; element--, digits++) {
        int choice = *digits - '0';

        if (choice < 0 || choice >= 2 * count)
            return false;
        op->elements[operand] |= (uint16_t)((choice | EMU_CHOSEN) << EMU_CHOICE_BITS * element);
    }
    return true;
}

/* `operand`: 0 of d, 1 of a, 2 of b. */
static bool choose_elements(struct emu_alu *op, char letter, int operand, const char *selector)
{
    int count = letter == 'H' ? 2 : 4;

    if (!selector)
        return true;
    if (selector[0] != (letter == 'H' ? 'h' : 'b'))
        return false;
    return operand == 0 ? choose_written(op, selector + 1, count)
                        : choose_read(op, operand, selector + 1, count);
}

static bool is_simd(char letter)
{
    return letter == 'H' || letter == 'Q';
}

static bool add_result(struct binding *binding, char letter, const struct emu_operand *operand)
{
    struct emu_alu *op = binding->op;

    if (op->result_count == EMU_ALU_RESULTS)
        return false;
    op->result_types[op->result_count++] = type_of_letter(op, letter);
    if (!operand)
        return true;
    if (is_simd(letter)) {
        if (!choose_elements(op, letter, 0, operand->selector))
            return false;
    } else if (!selector_suits(operand, letter == 'S')) {
        return false;
    } else {
        op->selectors |= (uint64_t)selector_code(operand);
    }
    return !operand->negated &&
           (operand->kind == EMU_OPERAND_REGISTER || operand->kind == EMU_OPERAND_SINK);
}

static bool is_value(const struct emu_operand *operand)
{
    switch (operand->kind) {
    case EMU_OPERAND_REGISTER:
    case EMU_OPERAND_INTEGER:
    case EMU_OPERAND_F32:
    case EMU_OPERAND_F64:
    case EMU_OPERAND_SPECIAL:
    case EMU_OPERAND_VARIABLE:
    case EMU_OPERAND_LOCAL:
    case EMU_OPERAND_PARAM:
    case EMU_OPERAND_RETURN:
    case EMU_OPERAND_FUNCTION:
        return true;
    default:
        return false;
    }
}

static bool add_source(struct binding *binding, char letter, const struct emu_operand *operand)
{
    struct emu_alu *op = binding->op;

    if (op->source_count == EMU_ALU_SOURCES)
        return false;

    int index = op->source_count++;

    op->source_types[index] = type_of_letter(op, letter);
    if (!operand)
        return true;
    if (operand->negated) {
        if (!strchr("PBMn", letter))
            return false;
        op->negated |= UINT32_C(1) << index;
    }
    if (is_simd(letter)) {
        if (!choose_elements(op, letter, index + 1, operand->selector))
            return false;
    } else if (!selector_suits(operand, letter == 'S' || letter == 'M')) {
        return false;
    } else {
        op->selectors |= (uint64_t)selector_code(operand) << EMU_SELECTOR_BITS * (index + 1);
    }
    return letter == 'i' ? operand->kind == EMU_OPERAND_INTEGER : is_value(operand);
}

typedef bool (*add_function)(struct binding *binding, char letter,
                             const struct emu_operand *operand);

static const struct emu_operand *next_operand(struct binding *binding)
{
    if (binding->left == 0)
        return NULL;
    binding->left--;
    return binding->operands++;
}

/* {xyz}: returns what is behind the brace, or null. */
static const char *bind_list(struct binding *binding, const char *letters, add_function add)
{
    const struct emu_operand *list = next_operand(binding);
    int count = (int)strcspn(letters, "}");

    if (!list || list->kind != EMU_OPERAND_LIST || list->item_count != count)
        return NULL;
    for (int i = 0; i < count; i++)
        if (!add(binding, letters[i], &list->items[i]))
            return NULL;
    return letters + count + 1;
}

/* x|y and x|y?: returns what is behind, or null. */
static const char *bind_pair(struct binding *binding, const char *letters)
{
    const struct emu_operand *operand = next_operand(binding);
    bool optional = letters[3] == '?';

    if (!operand)
        return NULL;
    if (operand->kind == EMU_OPERAND_BOTH && operand->item_count == 2) {
        if (!add_result(binding, letters[0], &operand->items[0]) ||
            !add_result(binding, letters[2], &operand->items[1]))
            return NULL;
    } else if (!optional || !add_result(binding, letters[0], operand)) {
        return NULL;
    }
    return letters + (optional ? 4 : 3);
}

static bool bind_side(struct binding *binding, const char **letters, add_function add)
{
    const char *at = *letters;

    while (at && *at != '\0' && *at != '=') {
        if (*at == 'B' && binding->op->combine == EMU_COMBINE_NONE) {
            at++;
        } else if (*at == '{') {
            at = bind_list(binding, at + 1, add);
        } else if (at[1] == '|') {
            at = bind_pair(binding, at);
        } else if (*at == 'c') {
            if (!add(binding, *at++, NULL))
                return false;
        } else {
            const struct emu_operand *operand = next_operand(binding);

            if (!operand || !add(binding, *at++, operand))
                return false;
        }
    }
    *letters = at;
    return at != NULL;
}

static bool bind_operands(struct emu_alu *op, const struct emu_form *form,
                          const struct emu_instruction *instruction)
{
    struct binding binding = {
        .op = op, .operands = instruction->operands, .left = instruction->operand_count};
    const char *letters = form->operands;

    if (!bind_side(&binding, &letters, add_result) || *letters++ != '=' ||
        !bind_side(&binding, &letters, add_source))
        return false;
    op->carry_in = op->source_count > 0 && letters[-1] == 'c';
    op->carry_out = strstr(form->operands, "c=") != NULL;
    return binding.left == 0;
}

/* ---- Instructions ---- */

/* How near a form came; the error tells of the nearest. */
enum nearness { NO_OPCODE, NO_WORDS, NO_OPERANDS, NO_TARGET };

static enum emu_decoded refuse(enum nearness nearness, const struct emu_instruction *instruction,
                               int target, int least, struct emu_error *error)
{
    switch (nearness) {
    case NO_OPCODE:
        return EMU_NOT_MINE;
    case NO_WORDS:
        emu_fail(error, instruction->line, "%s: no known form of %s has these words",
                 instruction->opcode, instruction->words[0]);
        break;
    case NO_OPERANDS:
        emu_fail(error, instruction->line, "%s: the operands do not suit this instruction",
                 instruction->opcode);
        break;
    case NO_TARGET:
        emu_fail(error, instruction->line, "%s: needs sm_%d, the device is sm_%d",
                 instruction->opcode, least, target);
        break;
    }
    return EMU_REFUSED;
}

enum emu_decoded emu_alu_decode(struct emu_alu *op, const struct emu_instruction *instruction,
                                int target, struct emu_error *error)
{
    enum nearness nearest = NO_OPCODE;
    int least = 0;

    if (instruction->word_count < 1)
        return EMU_NOT_MINE;
    for (size_t c = 0; c < sizeof chapters / sizeof *chapters; c++) {
        for (int i = 0; i < chapters[c]->count; i++) {
            const struct emu_form *form = &chapters[c]->forms[i];
            enum nearness near = NO_WORDS;

            if (strcmp(form->opcode, instruction->words[0]) != 0)
                continue;
            *op = (struct emu_alu){.execute = form->execute};
            if (match_words(op, form, instruction)) {
                near = NO_OPERANDS;
                if (bind_operands(op, form, instruction)) {
                    if (target >= form->target)
                        return EMU_DECODED;
                    near = NO_TARGET;
                    least = form->target;
                }
            }
            if (near > nearest)
                nearest = near;
        }
    }
    return refuse(nearest, instruction, target, least, error);
}
