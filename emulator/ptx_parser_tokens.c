/* Looking at tokens, taking them, and saying what is wrong with them. */
#include "emulator/ptx_parser.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 60, WORDS_LIMIT = 256 }; /* characters */

void emu_advance(struct emu_parser *p)
{
    p->taken = p->token.end;
    p->token = p->ahead;
    emu_lexer_next(&p->lexer, &p->ahead);
}

bool emu_at_sign(const struct emu_parser *p, int sign)
{
    return p->token.kind == EMU_TOKEN_SIGN && p->token.sign == sign;
}

bool emu_at_dotted(const struct emu_parser *p, const char *word)
{
    return emu_token_is(&p->token, EMU_TOKEN_DOTTED, word);
}

bool emu_take_sign(struct emu_parser *p, int sign)
{
    if (!emu_at_sign(p, sign))
        return false;
    emu_advance(p);
    return true;
}

bool emu_take_dotted(struct emu_parser *p, const char *word)
{
    if (!emu_at_dotted(p, word))
        return false;
    emu_advance(p);
    return true;
}

bool emu_unexpected(struct emu_parser *p, const char *what, const char *where)
{
    size_t length = (size_t)(p->token.end - p->token.begin);

    if (p->token.kind == EMU_TOKEN_ERROR)
        return false;
    if (p->token.kind == EMU_TOKEN_END)
        return emu_fail(p->error, p->token.line, "%s: expected %s, but the text ends", where, what);
    return emu_fail(p->error, p->token.line, "%s: expected %s, not '%.*s'", where, what,
                    (int)(length < SHOWN ? length : SHOWN), p->token.begin);
}

bool emu_expect_sign(struct emu_parser *p, int sign, const char *where)
{
    char what[] = "'?'";

    if (emu_take_sign(p, sign))
        return true;
    what[1] = (char)sign;
    return emu_unexpected(p, what, where);
}

struct emu_name *emu_expect_name(struct emu_parser *p, const char *where)
{
    if (p->token.kind != EMU_TOKEN_NAME || emu_token_is(&p->token, EMU_TOKEN_NAME, "_") ||
        emu_token_is(&p->token, EMU_TOKEN_NAME, "WARP_SZ")) {
        emu_unexpected(p, "a name", where);
        return NULL;
    }

    struct emu_name *name = emu_name_of(&p->names, p->token.text, p->token.length, p->token.line);

    emu_advance(p);
    return name;
}

bool emu_expect_integer(struct emu_parser *p, uint64_t least, uint64_t most, const char *where,
                        uint64_t *value)
{
    if (p->token.kind != EMU_TOKEN_INTEGER)
        return emu_unexpected(p, "an integer", where);
    if (p->token.bits < least || p->token.bits > most)
        return emu_fail(p->error, p->token.line, "%s: %llu is not from %llu to %llu", where,
                        (unsigned long long)p->token.bits, (unsigned long long)least,
                        (unsigned long long)most);
    *value = p->token.bits;
    emu_advance(p);
    return true;
}

bool emu_no_memory(struct emu_parser *p)
{
    return emu_fail(p->error, p->token.line, "no memory, or more than a module may have");
}

const char *emu_words_since(struct emu_parser *p, const char *begin)
{
    char words[WORDS_LIMIT];
    size_t count = 0;

    for (const char *at = begin; at < p->taken && count < sizeof words; at++) {
        bool is_space = *at == ' ' || (*at >= '\t' && *at <= '\r');

        if (!is_space)
            words[count++] = *at;
        else if (count > 0 && words[count - 1] != ' ')
            words[count++] = ' ';
    }

    const struct emu_name *name = emu_name_of(&p->names, words, count, p->token.line);

    return name ? name->text : NULL;
}
