/* ptx_names.h: every name once, and what it means in the scope that one stands in.
 *
 * Scope 0 is the module, 1 a function with its parameters, more are the braces within. */
#ifndef EMU_PTX_NAMES_H
#define EMU_PTX_NAMES_H

#include "emulator/ptx.h"
#include "emulator/ptx_arena.h"

enum { EMU_SCOPE_LIMIT = 100 };

enum emu_symbol_kind {
    EMU_SYMBOL_REGISTER,
    EMU_SYMBOL_VARIABLE,
    EMU_SYMBOL_LOCAL,
    EMU_SYMBOL_PARAM,
    EMU_SYMBOL_RETURN,
    EMU_SYMBOL_FUNCTION,
    EMU_SYMBOL_LABEL,
    EMU_SYMBOL_TABLE,
    EMU_SYMBOL_RANGE /* %r of %r<100>: its own name is none */
};

struct emu_symbol {
    enum emu_symbol_kind kind;
    int index, line, scope;
    struct emu_name *name;
    struct emu_symbol *outer; /* what the name means outside of the scope      */
    struct emu_symbol *next;  /* of the same scope                             */
    enum emu_type type;       /* of a range: its registers, not yet made ...   */
    int vector;
    uint64_t count; /* ... and how many there may be                           */
};

struct emu_name {
    const char *text;
    size_t length;
    uint32_t hash;
    struct emu_symbol *symbol; /* of the innermost scope, or null */
    struct emu_symbol *range;  /* the same of ranges              */
    struct emu_symbol *found;  /* what emu_symbol_find gave when there were `found_at` changes */
    size_t found_at;
    const char *const *words; /* of an opcode; or null           */
    int word_count;
};

struct emu_names {
    struct emu_arena *arena;
    struct emu_error *error;
    struct emu_name **table; /* open addressing; the capacity is a power of two */
    size_t count, capacity;
    size_t changes; /* of what names mean */
    int scope;
    struct emu_symbol *scopes[EMU_SCOPE_LIMIT + 1];
};

/* The name of that text, now and later the same; null, and the error, without memory. */
struct emu_name *emu_name_of(struct emu_names *names, const char *text, size_t length, int line);

bool emu_scope_open(struct emu_names *names, int line);
void emu_scope_close(struct emu_names *names);

/* Declares the name in a scope; null where it already is there, or without memory. */
struct emu_symbol *emu_symbol_add(struct emu_names *names, struct emu_name *name, int scope,
                                  enum emu_symbol_kind kind, int index, int line);
/* Declares a register of a range, now that it is named; null without memory. */
struct emu_symbol *emu_symbol_of_range(struct emu_names *names, struct emu_name *name,
                                       const struct emu_symbol *range, int index);
/* The symbol of that name that is innermost, or null; a range if the name is one of its. */
struct emu_symbol *emu_symbol_find(struct emu_names *names, struct emu_name *name);
/* Fails: the name is not declared, and which is the nearest. */
bool emu_symbol_missing(struct emu_names *names, const struct emu_name *name, int line);

#endif
