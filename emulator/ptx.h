/* ptx.h: PTX text as a tree: what stands in a module, with every name resolved.
 *
 * The parser knows the grammar and the scopes (PTX ISA, "Syntax", "Directives", "Instruction
 * Operands"), not what instructions mean: an instruction is its words and its operands. What does
 * not follow the grammar is an error with the line and the words, and nothing is skipped. */
#ifndef EMU_PTX_H
#define EMU_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Errors: one line, "line 12: ...: what is wrong" ---- */

enum { EMU_MESSAGE_SIZE = 512 };

struct emu_error {
    int line; /* of the text; 0: of none */
    char message[EMU_MESSAGE_SIZE];
};

/* Fills the error if there is none in it yet; returns false always. */
bool emu_fail(struct emu_error *error, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Types and spaces ---- */

enum emu_type {
    EMU_TYPE_NONE,
    EMU_PRED,
    EMU_B8,
    EMU_B16,
    EMU_B32,
    EMU_B64,
    EMU_B128,
    EMU_U8,
    EMU_U16,
    EMU_U32,
    EMU_U64,
    EMU_S8,
    EMU_S16,
    EMU_S32,
    EMU_S64,
    EMU_F16,
    EMU_F16X2,
    EMU_BF16,
    EMU_BF16X2,
    EMU_TF32,
    EMU_F32,
    EMU_F32X2,
    EMU_F64,
    EMU_E4M3,
    EMU_E5M2,
    EMU_E4M3X2,
    EMU_E5M2X2,
    EMU_E4M3X4,
    EMU_E5M2X4,
    EMU_E2M3X2,
    EMU_E3M2X2,
    EMU_E2M1X2,
    EMU_E2M3X4,
    EMU_E3M2X4,
    EMU_E2M1X4,
    EMU_UE8M0X2,
    EMU_U16X2,
    EMU_S16X2,
    EMU_U4,
    EMU_S4,
    EMU_B1,
    EMU_TEXREF,
    EMU_SAMPLERREF,
    EMU_SURFREF
};

/* The type of a word without its dot, "u32"; EMU_TYPE_NONE for others. */
enum emu_type emu_type_of(const char *word, size_t length);
/* "u32"; never null. */
const char *emu_type_name(enum emu_type type);
/* Of a register or a variable of that type; 0 for predicates and types that have no size. */
int emu_type_bytes(enum emu_type type);

enum emu_space {
    EMU_SPACE_NONE, /* generic addressing, in instructions */
    EMU_SPACE_CONST,
    EMU_SPACE_GLOBAL,
    EMU_SPACE_LOCAL,
    EMU_SPACE_PARAM,
    EMU_SPACE_SHARED
};

/* ---- Variables ---- */

/* A place in an initialiser that holds an address (of a variable or a function) plus an offset. */
struct emu_relocation {
    size_t at;
    int bytes;              /* 4 or 8 */
    int variable, function; /* index in the module, or -1 */
    int64_t offset;
    bool generic; /* generic(name) */
};

struct emu_variable {
    const char *name; /* as in the text; several of one name differ by scope */
    int line;
    enum emu_space space;
    enum emu_type type;
    int vector;     /* 1, 2, 4 (8) */
    uint64_t count; /* elements of an array, all dimensions; 1; 0 for [] of unknown size */
    uint64_t bytes; /* of all of it */
    uint32_t align;
    bool is_extern, is_visible, is_weak, is_common;
    unsigned char *data; /* `bytes` of them; null: zeros */
    struct emu_relocation *relocations;
    int relocation_count;
};

/* ---- Operands ---- */

enum emu_operand_kind {
    EMU_OPERAND_NONE,
    EMU_OPERAND_REGISTER, /* `reg`, maybe negated (!p) or with a part (.x) of a vector */
    EMU_OPERAND_INTEGER,  /* `bits`                                                    */
    EMU_OPERAND_F32,      /* `bits` of a 0f literal, or of a decimal one rounded to f32 as PTX does
                           * not: decimal literals are EMU_OPERAND_F64                 */
    EMU_OPERAND_F64,      /* `bits`                                                    */
    EMU_OPERAND_SPECIAL,  /* `special` and `part`: %tid.x, %clock64 ...                 */
    EMU_OPERAND_VARIABLE, /* the address of a variable, plus `offset`                   */
    EMU_OPERAND_PARAM,    /* the same of a parameter of the function, or of a .param variable of its
                           * body                                                      */
    EMU_OPERAND_FUNCTION, /* `index` of the module's functions                          */
    EMU_OPERAND_LABEL,    /* `index` of the instruction that follows the label          */
    EMU_OPERAND_LIST,     /* (a, b) of a call, {a, b} of a vector: `items`              */
    EMU_OPERAND_ADDRESS,  /* [a+4], [a, {x, y}, b]: `items`, of which the first is the base with
                           * its `offset`; more where there is more within the brackets */
    EMU_OPERAND_SINK,     /* _                                                          */
    EMU_OPERAND_BOTH,     /* p|q: `items`, two                                          */
    EMU_OPERAND_TABLE,    /* a .branchtargets, .calltargets or .callprototype: `index`   */
    EMU_OPERAND_WORD      /* anything else that is one word: `name`                     */
};

struct emu_operand {
    enum emu_operand_kind kind;
    bool negated; /* ! before it, or - before a register                   */
    char part;    /* 'x', 'y', 'z', 'w' or 0; of %tid.x or of a vector v.x */
    int reg;      /* index among the function's registers                  */
    int index;    /* see above                                             */
    int half;     /* of a register r.b0..b7, .h0, .h1 in video and byte selectors: 0; else -1 */
    int64_t offset;
    uint64_t bits;
    const char *name;          /* the words, for messages  */
    struct emu_operand *items; /* null where there are none */
    int item_count;
};

/* ---- Instructions ---- */

/* Of "@!p ld.global.v2.f32 {a, b}, [c+8];" the words are "ld", "global", "v2", "f32". */
struct emu_instruction {
    int line;
    int guard; /* register, or -1 */
    bool guard_negated;
    const char *opcode;       /* all of it, "ld.global.v2.f32"                                  */
    const char *const *words; /* its parts between dots; "::" stays: "shared::cta"               */
    int word_count;
    struct emu_operand *operands;
    int operand_count;
};

/* ---- Functions ---- */

struct emu_register {
    const char *name; /* "%r12" as in the text */
    enum emu_type type;
    int vector; /* 1, 2, 4: a vector takes so many slots, one after the other */
    int slot;   /* first of its slots                                          */
};

/* .branchtargets, .calltargets: `targets` are instructions or functions. .callprototype: params. */
struct emu_table {
    enum { EMU_BRANCH_TARGETS, EMU_CALL_TARGETS, EMU_CALL_PROTOTYPE } kind;
    int *targets;
    int target_count;
    struct emu_variable *returns, *params;
    int return_count, param_count;
};

struct emu_function {
    const char *name;
    int line;
    bool is_entry, is_extern, is_visible, is_weak, has_body, is_noreturn;
    struct emu_variable *params, *returns; /* .param, or of .reg type for functions: space NONE  */
    int param_count, return_count;
    int *param_registers, *return_registers; /* of those that are registers; else -1             */
    struct emu_register *registers;
    int register_count, slot_count;
    struct emu_variable
        *locals; /* .local, .shared and .param variables of the body: of its scopes */
    int local_count;
    struct emu_instruction *instructions;
    int instruction_count;
    struct emu_table *tables;
    int table_count;
    const char **labels; /* for messages: the label before an instruction, or null; one each, and
                          * one more for the end */

    /* Performance and cluster directives; 0 where not given. */
    uint32_t maxntid[3], reqntid[3], reqnctapercluster[3];
    uint32_t minnctapersm, maxnreg, maxclusterrank;
    bool explicitcluster;
};

struct emu_module {
    int version;        /* 10 * major + minor                  */
    const char *target; /* "sm_90a"                            */
    int address_bits;   /* 64 or 32                            */
    struct emu_variable *variables;
    int variable_count;
    struct emu_function *functions;
    int function_count;
};

/* Parses the text, of which `length` bytes count and a NUL ends it too. Null and the error where it
 * is not PTX, where memory is short, or where it is larger or deeper than any compiler's (the
 * limits are the parser's own). The module owns everything in it. */
struct emu_module *emu_module_parse(const char *text, size_t length, struct emu_error *error);
void emu_module_free(struct emu_module *module);

/* The function of that name that has a body, else one of that name, else -1. */
int emu_function_find(const struct emu_module *module, const char *name);
int emu_variable_find(const struct emu_module *module, const char *name);

#endif
