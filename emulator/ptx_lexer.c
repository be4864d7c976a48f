#include "emulator/ptx_lexer.h"

#include <stdlib.h>
#include <string.h>

enum { DECIMAL_LIMIT = 1024 }; /* characters of a decimal floating-point literal */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What follows the first character of an identifier: "followsym". */
static bool is_name_part(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* The character so far ahead, NUL behind the end. */
static char ahead(const struct emu_lexer *lexer, size_t distance)
{
    return distance < (size_t)(lexer->end - lexer->at) ? lexer->at[distance] : '\0';
}

/* Not even a comment may have other characters: ptxas refuses them, too. */
static bool check_ascii(const struct emu_lexer *lexer)
{
    int line = 1;

    for (const char *at = lexer->at; at < lexer->end; at++) {
        if ((unsigned char)*at > 127)
            return emu_fail(lexer->error, line, "the byte 0x%02x is no ASCII character",
                            (unsigned char)*at);
        line += *at == '\n';
    }
    return true;
}

bool emu_lexer_open(struct emu_lexer *lexer, const char *text, size_t length,
                    struct emu_error *error)
{
    const char *nul = length > 0 ? memchr(text, '\0', length) : NULL;

    *lexer =
        (struct emu_lexer){.at = text, .end = nul ? nul : text + length, .line = 1, .error = error};
    if (!check_ascii(lexer))
        return false;
    lexer->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return lexer->locale != (locale_t)0 || emu_fail(error, 0, "no memory");
}

void emu_lexer_close(struct emu_lexer *lexer)
{
    if (lexer->locale != (locale_t)0)
        freelocale(lexer->locale);
    lexer->locale = (locale_t)0;
}

static bool skip_block_comment(struct emu_lexer *lexer)
{
    int line = lexer->line;

    for (lexer->at += 2; lexer->at < lexer->end; lexer->at++) {
        if (*lexer->at == '*' && ahead(lexer, 1) == '/') {
            lexer->at += 2;
            return true;
        }
        lexer->line += *lexer->at == '\n';
    }
    return emu_fail(lexer->error, line, "a comment begins here that nothing ends");
}

/* White space and comments. */
static bool skip_space(struct emu_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;

        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            lexer->line += c == '\n';
            lexer->at++;
        } else if (c == '/' && ahead(lexer, 1) == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (c == '/' && ahead(lexer, 1) == '*') {
            if (!skip_block_comment(lexer))
                return false;
        } else {
            break;
        }
    }
    return true;
}

static bool read_string(struct emu_lexer *lexer, struct emu_token *token)
{
    token->kind = EMU_TOKEN_STRING;
    token->text = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at +=
            *lexer->at == '\\' && ahead(lexer, 1) != '\n' && ahead(lexer, 1) != '\0' ? 2 : 1;
    if (lexer->at >= lexer->end || *lexer->at != '"')
        return emu_fail(lexer->error, token->line, "a string begins here that nothing ends");
    token->length = (size_t)(lexer->at - token->text);
    lexer->at++;
    return true;
}

/* .global, .shared::cta, .mbarrier::complete_tx::bytes, .1d */
static void read_dotted(struct emu_lexer *lexer, struct emu_token *token)
{
    token->kind = EMU_TOKEN_DOTTED;
    token->text = ++lexer->at;
    for (;;) {
        while (is_name_part(ahead(lexer, 0)))
            lexer->at++;
        if (ahead(lexer, 0) != ':' || ahead(lexer, 1) != ':' || !is_name_part(ahead(lexer, 2)))
            break;
        lexer->at += 2;
    }
    token->length = (size_t)(lexer->at - token->text);
}

static bool refuse_number(struct emu_lexer *lexer, const struct emu_token *token, const char *why)
{
    const char *end = token->begin;

    while (end < lexer->end && end - token->begin < 40 && (is_name_part(*end) || *end == '.'))
        end++;
    return emu_fail(lexer->error, token->line, "%.*s: %s", (int)(end - token->begin), token->begin,
                    why);
}

/* The bits of 0f and 0d literals. */
static bool read_exact(struct emu_lexer *lexer, struct emu_token *token, int digits)
{
    token->kind = digits == 8 ? EMU_TOKEN_F32 : EMU_TOKEN_F64;
    token->is_exact = true;
    lexer->at += 2;
    for (int i = 0; i < digits; i++, lexer->at++) {
        if (digit_value(ahead(lexer, 0)) > 15)
            return refuse_number(lexer, token,
                                 digits == 8 ? "0f is followed by eight hexadecimal digits"
                                             : "0d is followed by sixteen hexadecimal digits");
        token->bits = token->bits << 4 | (uint64_t)digit_value(*lexer->at);
    }
    return true;
}

/* How many characters of a decimal floating-point literal stand here; 0 if none: there must be a
 * point or an exponent. */
static size_t decimal_length(const struct emu_lexer *lexer)
{
    size_t length = 0, digits = 0;
    bool is_float = false;

    for (; is_digit(ahead(lexer, length)); length++)
        digits++;
    if (ahead(lexer, length) == '.') {
        is_float = true;
        for (length++; is_digit(ahead(lexer, length)); length++)
            digits++;
    }
    if (digits > 0 && (ahead(lexer, length) == 'e' || ahead(lexer, length) == 'E')) {
        size_t exponent = length + 1;

        exponent += ahead(lexer, exponent) == '+' || ahead(lexer, exponent) == '-';
        if (is_digit(ahead(lexer, exponent))) {
            is_float = true;
            for (length = exponent; is_digit(ahead(lexer, length)); length++)
                continue;
        }
    }
    return is_float && digits > 0 ? length : 0;
}

static bool read_decimal(struct emu_lexer *lexer, struct emu_token *token, size_t length)
{
    char digits[DECIMAL_LIMIT + 1];

    if (length > DECIMAL_LIMIT)
        return refuse_number(lexer, token, "a number of more than a thousand digits");
    memcpy(digits, lexer->at, length);
    digits[length] = '\0';

    double value = strtod_l(digits, NULL, lexer->locale);

    if (value > 1.7976931348623157e308)
        return refuse_number(lexer, token, "too large for .f64");
    token->kind = EMU_TOKEN_F64;
    memcpy(&token->bits, &value, sizeof value);
    lexer->at += length;
    return true;
}

static bool read_integer(struct emu_lexer *lexer, struct emu_token *token)
{
    unsigned base = 10;

    token->kind = EMU_TOKEN_INTEGER;
    if (ahead(lexer, 0) == '0') {
        char mark = ahead(lexer, 1);

        base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
        lexer->at += base == 8 ? 0 : 2;
        if (base != 8 && digit_value(ahead(lexer, 0)) >= (int)base)
            return refuse_number(lexer, token, "digits are missing");
    }
    for (; digit_value(ahead(lexer, 0)) < (int)base; lexer->at++) {
        if (__builtin_mul_overflow(token->bits, (uint64_t)base, &token->bits) ||
            __builtin_add_overflow(token->bits, (uint64_t)digit_value(*lexer->at), &token->bits))
            return refuse_number(lexer, token, "an integer of more than 64 bits");
    }
    token->is_unsigned = token->bits > INT64_MAX;
    if (ahead(lexer, 0) == 'U') {
        token->is_unsigned = true;
        lexer->at++;
    }
    return true;
}

static bool read_number(struct emu_lexer *lexer, struct emu_token *token)
{
    size_t decimal = decimal_length(lexer);
    char mark = ahead(lexer, 0) == '0' ? ahead(lexer, 1) : '\0';
    bool done;

    if (mark == 'f' || mark == 'F')
        done = read_exact(lexer, token, 8);
    else if (mark == 'd' || mark == 'D')
        done = read_exact(lexer, token, 16);
    else
        done = decimal > 0 ? read_decimal(lexer, token, decimal) : read_integer(lexer, token);
    if (done && is_name_part(ahead(lexer, 0)))
        return refuse_number(lexer, token, "a number with something behind it");
    return done;
}

static bool read_sign(struct emu_lexer *lexer, struct emu_token *token)
{
    static const struct {
        char text[3];
        int sign;
    } pairs[] = {
        {"<<", EMU_SIGN_SHIFT_LEFT}, {">>", EMU_SIGN_SHIFT_RIGHT}, {"<=", EMU_SIGN_AT_MOST},
        {">=", EMU_SIGN_AT_LEAST},   {"==", EMU_SIGN_EQUAL},       {"!=", EMU_SIGN_UNEQUAL},
        {"&&", EMU_SIGN_AND},        {"||", EMU_SIGN_OR},
    };
    char c = ahead(lexer, 0), next = ahead(lexer, 1);

    token->kind = EMU_TOKEN_SIGN;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (c == pairs[i].text[0] && next == pairs[i].text[1]) {
            token->sign = pairs[i].sign;
            lexer->at += 2;
            return true;
        }
    }
    if (!strchr(",;:{}[]()<>=+-*/%!~&|^?@", c)) {
        if (c > ' ' && c <= '~')
            return emu_fail(lexer->error, token->line, "'%c' has no meaning in PTX here", c);
        return emu_fail(lexer->error, token->line, "the byte 0x%02x is no character of PTX",
                        (unsigned char)c);
    }
    token->sign = c;
    lexer->at++;
    return true;
}

static bool read_token(struct emu_lexer *lexer, struct emu_token *token)
{
    char c = ahead(lexer, 0), next = ahead(lexer, 1);

    if (lexer->at == lexer->end) {
        token->kind = EMU_TOKEN_END;
        return true;
    }
    if (is_letter(c) || c == '_' || ((c == '$' || c == '%') && is_name_part(next))) {
        token->kind = EMU_TOKEN_NAME;
        token->text = lexer->at++;
        while (is_name_part(ahead(lexer, 0)))
            lexer->at++;
        token->length = (size_t)(lexer->at - token->text);
        return true;
    }
    if (c == '"')
        return read_string(lexer, token);
    if (is_digit(c))
        return read_number(lexer, token);
    if (c == '.' && is_digit(next)) {
        size_t decimal = decimal_length(lexer);

        /* .5 is a number, .5d a word. */
        if (decimal > 0 && !is_name_part(ahead(lexer, decimal)))
            return read_decimal(lexer, token, decimal);
    }
    if (c == '.' && is_name_part(next)) {
        read_dotted(lexer, token);
        return true;
    }
    return read_sign(lexer, token);
}

void emu_lexer_next(struct emu_lexer *lexer, struct emu_token *token)
{
    lexer->failed = lexer->failed || !skip_space(lexer);
    *token = (struct emu_token){.line = lexer->line, .text = lexer->at, .begin = lexer->at};
    if (lexer->failed || !read_token(lexer, token)) {
        lexer->failed = true;
        token->kind = EMU_TOKEN_ERROR;
    }
    token->end = lexer->at;
}

bool emu_token_is(const struct emu_token *token, enum emu_token_kind kind, const char *word)
{
    return token->kind == kind && strlen(word) == token->length &&
           memcmp(word, token->text, token->length) == 0;
}
