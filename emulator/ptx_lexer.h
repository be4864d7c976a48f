/* ptx_lexer.h: PTX text as tokens (PTX ISA "Syntax": identifiers, constants, comments). */
#ifndef EMU_PTX_LEXER_H
#define EMU_PTX_LEXER_H

#include "emulator/ptx.h"

#include <locale.h>

enum emu_token_kind {
    EMU_TOKEN_END,
    EMU_TOKEN_ERROR,  /* the error says what; nothing follows it */
    EMU_TOKEN_NAME,   /* also keywords without a dot, and "_"    */
    EMU_TOKEN_DOTTED, /* .global, .shared::cta, .1d: the text is what follows the dot */
    EMU_TOKEN_INTEGER,
    EMU_TOKEN_F32,    /* 0f3f800000 */
    EMU_TOKEN_F64,    /* 0d3ff0000000000000 and decimal ones */
    EMU_TOKEN_STRING, /* the text is what stands between the quotes */
    EMU_TOKEN_SIGN    /* `sign` */
};

/* Signs of one character are that character. */
enum emu_sign {
    EMU_SIGN_SHIFT_LEFT = 256,
    EMU_SIGN_SHIFT_RIGHT,
    EMU_SIGN_AT_MOST,
    EMU_SIGN_AT_LEAST,
    EMU_SIGN_EQUAL,
    EMU_SIGN_UNEQUAL,
    EMU_SIGN_AND,
    EMU_SIGN_OR
};

struct emu_token {
    enum emu_token_kind kind;
    int line;
    int sign;
    const char *text;
    size_t length;
    const char *begin, *end; /* all of it in the text, with dot and quotes */
    uint64_t bits;
    bool is_unsigned, is_exact; /* of 0x12U; of 0d..., which is no part of expressions */
};

struct emu_lexer {
    const char *at, *end;
    int line;
    locale_t locale; /* "C": decimal numbers have a point, whatever the program says */
    struct emu_error *error;
    bool failed;
};

/* False without memory. */
bool emu_lexer_open(struct emu_lexer *lexer, const char *text, size_t length,
                    struct emu_error *error);
void emu_lexer_close(struct emu_lexer *lexer);
void emu_lexer_next(struct emu_lexer *lexer, struct emu_token *token);

/* Whether it is that word: a name, or what follows a dot. */
bool emu_token_is(const struct emu_token *token, enum emu_token_kind kind, const char *word);

#endif
