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

enum { EMU_MESSAGE_SIZE = 2048 };

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
    EMU_E2M3,
    EMU_E3M2,
    EMU_E2M1,
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

/* ---- Special registers: PTX ISA "Special Registers" ---- */

enum emu_special {
    EMU_TID,  /* this and others marked v have parts .x, .y, .z, .w */
    EMU_NTID, /* v */
    EMU_LANEID,
    EMU_WARPID,
    EMU_NWARPID,
    EMU_CTAID,  /* v */
    EMU_NCTAID, /* v */
    EMU_SMID,
    EMU_NSMID,
    EMU_GRIDID,              /* 64 bits */
    EMU_IS_EXPLICIT_CLUSTER, /* a predicate */
    EMU_CLUSTERID,           /* v */
    EMU_NCLUSTERID,          /* v */
    EMU_CLUSTER_CTAID,       /* v */
    EMU_CLUSTER_NCTAID,      /* v */
    EMU_CLUSTER_CTARANK,
    EMU_CLUSTER_NCTARANK,
    EMU_LANEMASK_EQ,
    EMU_LANEMASK_LE,
    EMU_LANEMASK_LT,
    EMU_LANEMASK_GE,
    EMU_LANEMASK_GT,
    EMU_CLOCK,
    EMU_CLOCK_HI,
    EMU_CLOCK64,     /* 64 bits */
    EMU_PM,          /* %pm0 ... %pm7: the number is the operand's offset */
    EMU_PM64,        /* %pm0_64 ... %pm7_64: the same; 64 bits */
    EMU_ENVREG,      /* %envreg0 ... %envreg31: the same */
    EMU_GLOBALTIMER, /* 64 bits */
    EMU_GLOBALTIMER_LO,
    EMU_GLOBALTIMER_HI,
    EMU_RESERVED_SMEM_OFFSET_BEGIN,
    EMU_RESERVED_SMEM_OFFSET_END,
    EMU_RESERVED_SMEM_OFFSET_CAP,
    EMU_RESERVED_SMEM_OFFSET, /* %reserved_smem_offset_0, _1: the same */
    EMU_TOTAL_SMEM_SIZE,
    EMU_AGGR_SMEM_SIZE,
    EMU_DYNAMIC_SMEM_SIZE,
    EMU_CURRENT_GRAPH_EXEC /* 64 bits */
};

/* The register of that name, "%tid" or "%pm3" (of which *number is 3), or -1. */
int emu_special_of(const char *name, size_t length, int *number);
/* EMU_U32, EMU_U64 or EMU_PRED. */
enum emu_type emu_special_type(enum emu_special special);
bool emu_special_is_vector(enum emu_special special);

/* ---- Variables ---- */

/* A place in an initialiser that holds an address (of a variable or a function) plus an offset. */
struct emu_relocation {
    size_t at;
    int bytes;              /* of the place: 4 or 8; any where there is a shift               */
    int shift;              /* -1; of 0xff00(name) it is 8: the place gets one byte of the
                             * address, the one that begins at this bit, and zeros above it */
    int variable, function; /* index in the module, or -1                                     */
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
    bool is_managed;
    bool is_inner; /* declared in the body of a function: not known to the driver by its name */
    unsigned char *data; /* `bytes` of them; null: zeros */
    struct emu_relocation *relocations;
    int relocation_count;
};

/* ---- Operands ---- */

enum emu_operand_kind {
    EMU_OPERAND_NONE,
    EMU_OPERAND_REGISTER, /* `reg`, maybe negated (!p) or with a part (.x) of a vector */
    EMU_OPERAND_INTEGER,  /* `bits`                                                    */
    EMU_OPERAND_F32,      /* `bits` of a 0f literal                                    */
    EMU_OPERAND_F64,      /* `bits` of a 0d literal or of a decimal one                */
    EMU_OPERAND_SPECIAL,  /* `index` is an enum emu_special, `part` its part, `offset` its number */
    EMU_OPERAND_VARIABLE, /* the address of `index` of the module's variables, plus `offset` */
    EMU_OPERAND_LOCAL,    /* the same of the function's `locals`                       */
    EMU_OPERAND_PARAM,    /* the same of its `params`                                  */
    EMU_OPERAND_RETURN,   /* the same of its `returns`                                 */
    EMU_OPERAND_FUNCTION, /* `index` of the module's functions                         */
    EMU_OPERAND_LABEL,    /* `index` of the instruction that follows the label; it may be the
                           * instruction_count                                         */
    EMU_OPERAND_LIST,     /* (a, b) of a call, {a, b} of a vector: `items`             */
    EMU_OPERAND_ADDRESS,  /* [a+4], [a, {x, y}, b]: `items`, of which the first is the base with
                           * its `offset`; more where there is more within the brackets */
    EMU_OPERAND_SINK,     /* _                                                         */
    EMU_OPERAND_BOTH,     /* p|q: `items`, two                                         */
    EMU_OPERAND_TABLE     /* a .branchtargets, .calltargets or .callprototype: `index` */
};

struct emu_operand {
    enum emu_operand_kind kind;
    bool negated;         /* ! before it, or - before a register                         */
    bool is_unified;      /* [a].unified                                                 */
    char part;            /* 'x', 'y', 'z', 'w' or 0; of %tid.x or of a vector v.x (v.r) */
    int reg;              /* index among the function's registers, or -1                 */
    int index;            /* see above; -1 where it has no meaning                       */
    const char *selector; /* of r.b0, r.h1, r.h10, r.b3210 of video instructions: "b0"; or null */
    int64_t offset;
    uint64_t bits;
    const char *name;          /* the words, for messages  */
    struct emu_operand *items; /* null where there are none */
    int item_count;
};

/* ---- Instructions ---- */

/* Of "@!p ld.global.v2.f32 {a, b}, [c+8];" the words are "ld", "global", "v2", "f32".
 *
 * A call has three operands or four, whatever the text leaves out: the list of the returns (maybe
 * empty), the function or a register, the list of the arguments (maybe empty), and the table. */
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
    int vector; /* 1, 2, 4: a vector takes so many slots, one after the other; 128 bits take two */
    int slot;   /* first of its slots                                          */
};

/* How many slots it takes. */
int emu_register_slots(const struct emu_register *reg);

/* .branchtargets, .calltargets: `targets` are instructions or functions. .callprototype: params. */
struct emu_table {
    const char *name;
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
    /* Of %r<100> only those that the text names. */
    struct emu_register *registers;
    int register_count, slot_count;
    struct emu_variable *locals; /* .local, .shared and .param variables of the body: of its scopes;
                                  * those of .global and .const are with the module's */
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
    bool explicitcluster, blocksareclusters;
};

struct emu_module {
    int version;        /* 10 * major + minor                  */
    const char *target; /* "sm_90a"                            */
    bool is_debug;      /* .target ..., debug                  */
    int address_bits;   /* 64 or 32; 64 where it is not given  */
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

/* The function of that name, or -1. There is one of a name: a definition takes the place of its
 * declarations, and an .alias has what the function has that it is another name of. */
int emu_function_find(const struct emu_module *module, const char *name);
/* Of the module's own scope, or -1. */
int emu_variable_find(const struct emu_module *module, const char *name);

#endif
