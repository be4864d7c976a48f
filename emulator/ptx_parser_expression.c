/* Constant expressions: PTX ISA "Constants", "Constant Expressions", and "Summary of Constant
 * Expression Evaluation Rules". Where that is silent, ptxas 13.0 was asked: a shift counts modulo
 * 64, what ?: gives keeps its own type. */
#include "emulator/bits.h"
#include "emulator/ptx_parser.h"

#include <string.h>

struct operator_rule {
    int sign, precedence;
};

/* As in C. */
static const struct operator_rule operators[] = {
    {EMU_SIGN_OR, 1},
    {EMU_SIGN_AND, 2},
    {'|', 3},
    {'^', 4},
    {'&', 5},
    {EMU_SIGN_EQUAL, 6},
    {EMU_SIGN_UNEQUAL, 6},
    {'<', 7},
    {'>', 7},
    {EMU_SIGN_AT_MOST, 7},
    {EMU_SIGN_AT_LEAST, 7},
    {EMU_SIGN_SHIFT_LEFT, 8},
    {EMU_SIGN_SHIFT_RIGHT, 8},
    {'+', 9},
    {'-', 9},
    {'*', 10},
    {'/', 10},
    {'%', 10},
};

static bool parse_choice(struct emu_parser *p, struct emu_constant *value);

static bool is_integer(const struct emu_constant *value)
{
    return value->kind == EMU_SIGNED || value->kind == EMU_UNSIGNED;
}

static bool set_signed(struct emu_constant *value, int64_t result)
{
    *value = (struct emu_constant){.kind = EMU_SIGNED, .bits = (uint64_t)result};
    return true;
}

static bool set_float(struct emu_parser *p, struct emu_constant *value, double result)
{
    if (!(result - result == 0))
        return emu_fail(p->error, p->token.line, "a constant expression overflows .f64");
    value->kind = EMU_FLOAT;
    memcpy(&value->bits, &result, sizeof result);
    return true;
}

bool emu_constant_here(const struct emu_parser *p)
{
    switch (p->token.kind) {
    case EMU_TOKEN_INTEGER:
    case EMU_TOKEN_F32:
    case EMU_TOKEN_F64:
        return true;
    case EMU_TOKEN_NAME:
        return emu_token_is(&p->token, EMU_TOKEN_NAME, "WARP_SZ");
    case EMU_TOKEN_SIGN:
        return p->token.sign != 0 && p->token.sign < 256 && strchr("(+-~!", p->token.sign);
    default:
        return false;
    }
}

static bool parse_literal(struct emu_parser *p, struct emu_constant *value)
{
    value->bits = p->token.bits;
    if (p->token.kind == EMU_TOKEN_INTEGER) {
        value->kind = p->token.is_unsigned ? EMU_UNSIGNED : EMU_SIGNED;
    } else if (p->token.kind == EMU_TOKEN_F64) {
        value->kind = p->token.is_exact ? EMU_EXACT_F64 : EMU_FLOAT;
    } else if (p->token.kind == EMU_TOKEN_F32) {
        value->kind = EMU_EXACT_F32;
    } else if (emu_token_is(&p->token, EMU_TOKEN_NAME, "WARP_SZ")) {
        set_signed(value, 32);
    } else {
        return emu_unexpected(p, "a number", "a constant expression");
    }
    emu_advance(p);
    return true;
}

static bool apply_unary(struct emu_parser *p, int sign, struct emu_constant *value)
{
    if (value->kind == EMU_FLOAT && sign != '~') {
        double operand = emu_f64_of(value->bits);

        if (sign == '!')
            return set_signed(value, operand == 0);
        return set_float(p, value, sign == '-' ? -operand : operand);
    }
    if (!is_integer(value))
        return emu_fail(p->error, p->token.line,
                        "'%c' cannot stand before this number in a constant expression", sign);
    if (sign == '-')
        value->bits = -value->bits;
    else if (sign == '!')
        set_signed(value, value->bits == 0);
    else if (sign == '~')
        *value = (struct emu_constant){.kind = EMU_UNSIGNED, .bits = ~value->bits};
    return true;
}

/* (.s64) and (.u64) */
static bool parse_cast(struct emu_parser *p, struct emu_constant *value);

static bool parse_unary(struct emu_parser *p, struct emu_constant *value)
{
    bool done;

    if (++p->depth > EMU_EXPRESSION_DEPTH)
        return emu_fail(p->error, p->token.line, "a constant expression deeper than %d",
                        EMU_EXPRESSION_DEPTH);
    if (emu_at_sign(p, '-') || emu_at_sign(p, '+') || emu_at_sign(p, '~') || emu_at_sign(p, '!')) {
        int sign = p->token.sign;

        emu_advance(p);
        done = parse_unary(p, value) && apply_unary(p, sign, value);
    } else if (emu_at_sign(p, '(')) {
        emu_advance(p);
        done = p->token.kind == EMU_TOKEN_DOTTED
                   ? parse_cast(p, value)
                   : parse_choice(p, value) && emu_expect_sign(p, ')', "a constant expression");
    } else {
        done = parse_literal(p, value);
    }
    p->depth--;
    return done;
}

static bool parse_cast(struct emu_parser *p, struct emu_constant *value)
{
    bool is_signed = emu_at_dotted(p, "s64");

    if (!is_signed && !emu_at_dotted(p, "u64"))
        return emu_unexpected(p, ".s64 or .u64", "a cast");
    emu_advance(p);
    if (!emu_expect_sign(p, ')', "a cast") || !parse_unary(p, value))
        return false;
    if (!is_integer(value))
        return emu_fail(p->error, p->token.line, "a cast of what is no integer");
    value->kind = is_signed ? EMU_SIGNED : EMU_UNSIGNED;
    return true;
}

static bool apply_float(struct emu_parser *p, int sign, struct emu_constant *left,
                        const struct emu_constant *right)
{
    double a = emu_f64_of(left->bits), b = emu_f64_of(right->bits);

    switch (sign) {
    case '+':
        return set_float(p, left, a + b);
    case '-':
        return set_float(p, left, a - b);
    case '*':
        return set_float(p, left, a * b);
    case '/':
        if (b == 0)
            return emu_fail(p->error, p->token.line, "a constant expression divides by zero");
        return set_float(p, left, a / b);
    case '<':
        return set_signed(left, a < b);
    case '>':
        return set_signed(left, a > b);
    case EMU_SIGN_AT_MOST:
        return set_signed(left, a <= b);
    case EMU_SIGN_AT_LEAST:
        return set_signed(left, a >= b);
    case EMU_SIGN_EQUAL:
        return set_signed(left, a == b);
    case EMU_SIGN_UNEQUAL:
        return set_signed(left, a != b);
    default:
        return emu_fail(p->error, p->token.line,
                        "an operator of integers between floating-point numbers");
    }
}

/* Never the one division of signed numbers that overflows. */
static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned)
{
    if (is_unsigned)
        return a / b;
    return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift_right(uint64_t a, unsigned count, bool is_unsigned)
{
    uint64_t sign = !is_unsigned && a >> 63 && count > 0 ? ~(UINT64_MAX >> count) : 0;

    return a >> count | sign;
}

static bool compare(int sign, uint64_t a, uint64_t b, bool is_unsigned)
{
    /* The order of signed numbers is that of unsigned ones with the sign bit turned. */
    uint64_t turn = is_unsigned ? 0 : (uint64_t)1 << 63;
    bool less = (a ^ turn) < (b ^ turn);

    switch (sign) {
    case '<':
        return less;
    case EMU_SIGN_AT_LEAST:
        return !less;
    case '>':
        return !less && a != b;
    case EMU_SIGN_AT_MOST:
        return less || a == b;
    case EMU_SIGN_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

static bool apply_integer(struct emu_parser *p, int sign, struct emu_constant *left,
                          const struct emu_constant *right)
{
    bool is_unsigned = left->kind == EMU_UNSIGNED || right->kind == EMU_UNSIGNED;
    uint64_t a = left->bits, b = right->bits;
    struct emu_constant result = {.kind = is_unsigned ? EMU_UNSIGNED : EMU_SIGNED};

    switch (sign) {
    case '+':
        result.bits = a + b;
        break;
    case '-':
        result.bits = a - b;
        break;
    case '*':
        result.bits = a * b;
        break;
    case '/':
    case '%':
        if (b == 0)
            return emu_fail(p->error, p->token.line, "a constant expression divides by zero");
        /* % takes its operands as unsigned. */
        result.bits = sign == '/' ? divide(a, b, is_unsigned) : a % b;
        result.kind = sign == '/' ? result.kind : EMU_UNSIGNED;
        break;
    case '&':
        result.bits = a & b;
        break;
    case '|':
        result.bits = a | b;
        break;
    case '^':
        result.bits = a ^ b;
        break;
    case EMU_SIGN_SHIFT_LEFT:
        result = (struct emu_constant){.kind = left->kind, .bits = a << (b & 63)};
        break;
    case EMU_SIGN_SHIFT_RIGHT:
        result.kind = left->kind;
        result.bits = shift_right(a, b & 63, left->kind == EMU_UNSIGNED);
        break;
    case EMU_SIGN_AND:
        return set_signed(left, a != 0 && b != 0);
    case EMU_SIGN_OR:
        return set_signed(left, a != 0 || b != 0);
    default:
        return set_signed(left, compare(sign, a, b, is_unsigned));
    }
    *left = result;
    return true;
}

static bool apply_binary(struct emu_parser *p, int sign, struct emu_constant *left,
                         const struct emu_constant *right)
{
    if (is_integer(left) && is_integer(right))
        return apply_integer(p, sign, left, right);
    if (left->kind == EMU_FLOAT && right->kind == EMU_FLOAT)
        return apply_float(p, sign, left, right);
    if (left->kind == EMU_EXACT_F32 || right->kind == EMU_EXACT_F32 ||
        left->kind == EMU_EXACT_F64 || right->kind == EMU_EXACT_F64)
        return emu_fail(p->error, p->token.line, "0f and 0d numbers are no part of expressions");
    return emu_fail(p->error, p->token.line,
                    "a constant expression with an integer and a floating-point number");
}

static int precedence_here(const struct emu_parser *p)
{
    if (p->token.kind != EMU_TOKEN_SIGN)
        return 0;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (operators[i].sign == p->token.sign)
            return operators[i].precedence;
    }
    return 0;
}

/* Operators of that precedence at least; all are of the left. */
static bool parse_binary(struct emu_parser *p, int least, struct emu_constant *value)
{
    if (!parse_unary(p, value))
        return false;
    for (int precedence = precedence_here(p); precedence >= least && precedence > 0;
         precedence = precedence_here(p)) {
        struct emu_constant right;
        int sign = p->token.sign;

        emu_advance(p);
        if (!parse_binary(p, precedence + 1, &right) || !apply_binary(p, sign, value, &right))
            return false;
    }
    return true;
}

static bool parse_choice(struct emu_parser *p, struct emu_constant *value)
{
    struct emu_constant yes, no;

    if (++p->depth > EMU_EXPRESSION_DEPTH)
        return emu_fail(p->error, p->token.line, "a constant expression deeper than %d",
                        EMU_EXPRESSION_DEPTH);
    if (!parse_binary(p, 1, value))
        return false;
    if (emu_take_sign(p, '?')) {
        if (!parse_choice(p, &yes) || !emu_expect_sign(p, ':', "a constant expression") ||
            !parse_choice(p, &no))
            return false;
        if (!is_integer(value) || !is_integer(&yes) || !is_integer(&no))
            return emu_fail(p->error, p->token.line, "?: takes integers");
        *value = value->bits != 0 ? yes : no;
    }
    p->depth--;
    return true;
}

bool emu_parse_constant(struct emu_parser *p, struct emu_constant *value)
{
    p->depth = 0;
    return parse_choice(p, value);
}

bool emu_parse_offset(struct emu_parser *p, int64_t *offset)
{
    struct emu_constant value;
    int line = p->token.line;

    if (!emu_parse_constant(p, &value))
        return false;
    if (!is_integer(&value))
        return emu_fail(p->error, line, "an offset is an integer");
    *offset = (int64_t)value.bits;
    return true;
}
