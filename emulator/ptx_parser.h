/* ptx_parser.h: what the files of the parser share.
 *
 *   ptx_parser.c               the module: directives at the top, debug information, the whole
 *   ptx_parser_tokens.c        looking at tokens, taking them, saying what is wrong with them
 *   ptx_parser_declaration.c   variables and registers
 *   ptx_parser_initialiser.c   what stands behind = in a declaration
 *   ptx_parser_function.c      functions, their scopes, labels and tables
 *   ptx_parser_instruction.c   instructions and operands
 *   ptx_parser_expression.c    constant expressions
 *
 * A function that returns bool has failed with false, and the error says why. */
#ifndef EMU_PTX_PARSER_H
#define EMU_PTX_PARSER_H

#include "emulator/ptx_arena.h"
#include "emulator/ptx_lexer.h"
#include "emulator/ptx_names.h"

/* Far beyond what compilers write; the memory is for the worst that so much text can want. */
enum {
    EMU_TEXT_LIMIT = 64 * 1024 * 1024,
    EMU_EXPRESSION_DEPTH = 100,
    EMU_DIMENSIONS = 16,
    EMU_OPCODE_LIMIT = 512, /* characters */
    EMU_WORD_LIMIT = 48,
    EMU_ITEM_LIMIT = 4096,  /* operands of an instruction, items of a list */
    EMU_RANGE_LIMIT = 65536 /* variables of one x<100>; of registers only the named ones count */
};
#define EMU_MEMORY_LIMIT ((size_t)2 << 30)
#define EMU_VARIABLE_LIMIT ((uint64_t)1 << 47)
#define EMU_INITIALISED_LIMIT ((uint64_t)1 << 28)

/* A place that waits for the label that it names. */
struct emu_reference {
    struct emu_name *name;
    int *index;
    int line;
};

/* .alias name, of; */
struct emu_alias {
    struct emu_name *name, *of;
    int line;
};

/* Of the function whose body is being read. */
struct emu_body {
    int function; /* index in the module, or -1 outside of bodies */
    int slots;
    struct emu_list registers, locals, instructions, tables, labels, references;
    size_t first_reference[EMU_SCOPE_LIMIT + 1]; /* of a scope */
};

struct emu_parser {
    struct emu_lexer lexer;
    struct emu_token token, ahead; /* the next to take, and the one behind it */
    const char *taken;             /* end of what was taken last              */
    struct emu_error *error;
    struct emu_arena *arena;
    struct emu_names names;
    struct emu_module *module;
    struct emu_list variables, functions, aliases;
    struct emu_list operands; /* of what is being read, innermost last */
    struct emu_body body;
    int depth;          /* of expressions                              */
    const char *opcode; /* of the instruction being read, for messages */
};

/* ---- Tokens ---- */

void emu_advance(struct emu_parser *p);
bool emu_at_sign(const struct emu_parser *p, int sign);
bool emu_at_dotted(const struct emu_parser *p, const char *word);
bool emu_take_sign(struct emu_parser *p, int sign);
bool emu_take_dotted(struct emu_parser *p, const char *word);
bool emu_expect_sign(struct emu_parser *p, int sign, const char *where);
/* Fails with "where: expected what, not 'the token'". */
bool emu_unexpected(struct emu_parser *p, const char *what, const char *where);
/* The name that stands here. */
struct emu_name *emu_expect_name(struct emu_parser *p, const char *where);
/* An integer literal from `least` to `most`. */
bool emu_expect_integer(struct emu_parser *p, uint64_t least, uint64_t most, const char *where,
                        uint64_t *value);
bool emu_no_memory(struct emu_parser *p);
/* The text from there to what was taken last, with a blank for any white space; null: no memory. */
const char *emu_words_since(struct emu_parser *p, const char *begin);

/* ---- Constant expressions ---- */

struct emu_constant {
    enum { EMU_SIGNED, EMU_UNSIGNED, EMU_FLOAT, EMU_EXACT_F32, EMU_EXACT_F64 } kind;
    uint64_t bits;
};
bool emu_constant_here(const struct emu_parser *p);
bool emu_parse_constant(struct emu_parser *p, struct emu_constant *value);
bool emu_parse_offset(struct emu_parser *p, int64_t *offset); /* an integer expression */

/* ---- Declarations ---- */

enum emu_linkage { EMU_LINKAGE_NONE, EMU_EXTERN, EMU_VISIBLE, EMU_WEAK, EMU_COMMON };

bool emu_parse_linkage(struct emu_parser *p, enum emu_linkage *linkage);
/* The space of .global, .reg (NONE) ... that stands here. */
bool emu_space_here(const struct emu_parser *p, enum emu_space *space, bool *is_register);
/* .attribute(...), if it stands here. */
bool emu_parse_attributes(struct emu_parser *p, bool *is_managed);
/* From the space to the semicolon. */
bool emu_parse_variables(struct emu_parser *p, enum emu_linkage linkage);
/* One of the parameters of a function or prototype. */
bool emu_parse_parameter(struct emu_parser *p, bool is_entry, struct emu_variable *variable,
                         bool *is_register);
/* A register of the body, with its slots but without a symbol; -1 without memory. */
int emu_make_register(struct emu_parser *p, const struct emu_name *name, enum emu_type type,
                      int vector);
/* `dimension_count` of them; the first is 0 where the initialiser says how many there are. */
bool emu_parse_initialiser(struct emu_parser *p, struct emu_variable *variable,
                           const uint64_t *dimensions, int dimension_count);

/* ---- Functions ---- */

bool emu_parse_function(struct emu_parser *p, enum emu_linkage linkage);
bool emu_parse_alias(struct emu_parser *p);
bool emu_finish_aliases(struct emu_parser *p);
/* The place gets the index of the label, when its scope ends. */
bool emu_add_reference(struct emu_parser *p, struct emu_name *name, int *index, int line);

/* ---- Instructions ---- */

bool emu_parse_instruction(struct emu_parser *p);

/* ---- The module ---- */

/* .file, .loc, .section, .pragma: true and *found where one of them stood here. */
bool emu_parse_remark(struct emu_parser *p, bool *found);
/* emu_module_parse with a limit of memory. */
struct emu_module *emu_module_parse_within(const char *text, size_t length, size_t memory,
                                           struct emu_error *error);

#endif
