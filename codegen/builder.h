/* builder.h: writing PTX one instruction at a time, values in, values out.
 *
 * A value is born with the name it has in the text. lt_op() checks an operation against scalar.def
 * and the types of its operands; what carries rules (barriers, TMA, wgmma) has typed functions in
 * files of their own, written on lt_inst().
 *
 * A mistake (a wrong type, a name that is taken, a value that was overwritten) does not fail at the
 * call: the first one sticks to the builder with its cause, later calls do nothing that matters,
 * and lt_builder_finish() reports it. So does running out of memory.
 *
 * Names live in scopes, which are braces in the text. An inner scope may not reuse an outer name.
 * Within one scope lt_op() may define a name again (code that is unrolled while emitting does): the
 * register is the same, and the old value may no longer be used; trying to is a mistake that the
 * builder reports. Registers that change on purpose are made by lt_variable() and changed by
 * lt_set(). */
#ifndef LT_CODEGEN_BUILDER_H
#define LT_CODEGEN_BUILDER_H

#include "codegen/arch.h"
#include "include/lathe.h"

#include <stdbool.h>

enum lt_type { LT_PRED, LT_B16, LT_B32, LT_B64, LT_F32, LT_B128, LT_TYPES };

enum lt_value_kind {
    LT_NOTHING, /* the zero value: no operand                */
    LT_REGISTER,
    LT_ELEMENT, /* of a vector of registers                  */
    LT_INTEGER, /* immediate                                 */
    LT_HEX,     /* immediate that reads better in base 16    */
    LT_FLOAT,   /* immediate                                 */
    LT_NAMED    /* a special register, a symbol: by its name */
};

typedef struct lt_value {
    uint8_t kind;        /* of enum lt_value_kind */
    uint8_t type;        /* of enum lt_type       */
    bool negated;        /* as a guard: unless    */
    uint32_t generation; /* of the register when the value was made   */
    uint32_t id;         /* register or vector                        */
    int64_t number;      /* immediate, or index of the element        */
    int32_t offset;      /* of an address in bytes: see lt_at()       */
    const char *name;    /* of LT_NAMED; a literal                    */
} lt_value;

struct lt_vector {
    lt_value base;
    int count;
};

struct lt_builder;

/* The builder of one kernel. Null when there is no memory for it. */
struct lt_builder *lt_builder_create(enum lathe_arch arch, bool annotate,
                                     const struct lathe_allocator *allocator);
void lt_builder_destroy(struct lt_builder **builder);

/* Ends the kernel. On success the text (ended by NUL, to be freed with lt_release()) and the
 * contract are the caller's. */
enum lathe_status lt_builder_finish(struct lt_builder *b, char **text, size_t *length,
                                    struct lathe_contract *contract, struct lathe_error *err);

/* Keeps the first mistake. */
void lt_mistake(struct lt_builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A mistake unless the target has the feature: "wgmma needs sm_90a; this kernel is for sm_80". */
void lt_require(struct lt_builder *b, unsigned feature, const char *what);

/* ---- The head of a kernel, in this order ---- */

/* A comment line of the file, before the entry. */
void lt_remark(struct lt_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Dynamic shared memory under the name `smem`, aligned to `alignment`. */
void lt_shared(struct lt_builder *b, int bytes, int alignment);
void lt_param(struct lt_builder *b, const char *name, enum lathe_param_kind kind);
/* "u32", "u64" or "f32"; "tensor_map" and "walk" are blocks of bytes. */
const char *lt_param_type(enum lathe_param_kind kind);
void lt_param_tensor_map(struct lt_builder *b, const struct lathe_tensor_map *map);
/* Opens the kernel; block, cluster and cluster tile are the plan's. */
void lt_entry(struct lt_builder *b, const char *name, const struct lathe_plan *plan);

/* ---- Values ---- */

lt_value lt_imm(int64_t number);
lt_value lt_hex(uint64_t number);
lt_value lt_float(float number);
/* "%tid.x", "%cluster_ctarank": a 32-bit special register; or the address of a symbol. */
lt_value lt_special(const char *name);
/* As the address of a memory operand: `bytes` behind the one that the register holds. */
lt_value lt_at(lt_value address, int bytes);
/* The predicate as a guard that holds when it is false. */
lt_value lt_not(lt_value predicate);

lt_value lt_variable(struct lt_builder *b, enum lt_type type, const char *name);
struct lt_vector lt_vector(struct lt_builder *b, enum lt_type type, const char *name, int count);
lt_value lt_element(const struct lt_vector *vector, int index);
/* A name for the result of an instruction that lt_inst() is about to write. */
lt_value lt_define(struct lt_builder *b, enum lt_type type, const char *name);

/* The value of a scalar parameter, and the generic address of a tensor map parameter. */
lt_value lt_param_load(struct lt_builder *b, const char *name);
lt_value lt_param_address(struct lt_builder *b, const char *name, const char *address);
/* The u32 `name` that lies `offset` bytes within a parameter that is a block. */
lt_value lt_param_member(struct lt_builder *b, const char *param, size_t offset, const char *name);

/* ---- Instructions ---- */

/* One scalar operation of scalar.def: lt_op(b, "k", "shl.b32", block, lt_imm(6)). */
#define lt_op(b, name, opcode, ...)                                                                \
    lt_op_(b, name, opcode, (const lt_value[]){__VA_ARGS__},                                       \
           sizeof((const lt_value[]){__VA_ARGS__}) / sizeof(lt_value))
lt_value lt_op_(struct lt_builder *b, const char *name, const char *opcode,
                const lt_value *operands, size_t count);

/* The same into a variable. */
#define lt_set(b, variable, opcode, ...)                                                           \
    lt_set_(b, variable, opcode, (const lt_value[]){__VA_ARGS__},                                  \
            sizeof((const lt_value[]){__VA_ARGS__}) / sizeof(lt_value))
void lt_set_(struct lt_builder *b, lt_value variable, const char *opcode, const lt_value *operands,
             size_t count);

/* value + number; the value itself where the number is 0. */
lt_value lt_plus(struct lt_builder *b, const char *name, lt_value value, int64_t number);

bool lt_is_power_of_two(int number);

/* value / number and value % number of 32 bits without a sign; number > 0. By powers of two they
 * shift and mask: ptxas divides by any constant as it does by a register. */
lt_value lt_quotient(struct lt_builder *b, const char *name, lt_value value, int number);
lt_value lt_remainder(struct lt_builder *b, const char *name, lt_value value, int number);

/* Any instruction: %0 to %9 in the form stand for the operands. For the typed helpers, which know
 * the rules of what they write. */
#define lt_inst(b, form, ...)                                                                      \
    lt_inst_(b, form, (const lt_value[]){__VA_ARGS__},                                             \
             sizeof((const lt_value[]){__VA_ARGS__}) / sizeof(lt_value))
void lt_inst_(struct lt_builder *b, const char *form, const lt_value *operands, size_t count);

/* The raw escape: an instruction without operands of ours, such as "trap;". */
void lt_raw(struct lt_builder *b, const char *instruction);

/* Instructions written while a guard is open are predicated with it. See LT_WHEN in control.h. */
void lt_guard(struct lt_builder *b, lt_value predicate);
void lt_unguard(struct lt_builder *b);

/* ---- What readers see ---- */

/* A line that names the part that follows: "// ---- producer: warp 0 ----". */
void lt_heading(struct lt_builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A comment line before what follows. */
void lt_comment(struct lt_builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A comment at the end of the next instruction's line. */
void lt_note(struct lt_builder *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Scopes and labels, for control.c ---- */

enum { LT_LABEL_SIZE = 64 };

/* Opens a brace; names and labels inside are its own. `role` (may be null) goes before its labels.
 */
void lt_scope_open(struct lt_builder *b, const char *role);
/* A branch or a loop begins or ends; lt_builder_finish() wants as many ends as beginnings. */
void lt_region_opened(struct lt_builder *b);
void lt_region_closed(struct lt_builder *b);
void lt_scope_close(struct lt_builder *b);
int lt_scope_depth(const struct lt_builder *b);
/* "$producer_tiles": the role's name and the given one; a mistake if the scope has it already. */
void lt_label_name(struct lt_builder *b, char label[LT_LABEL_SIZE], const char *name);
void lt_label(struct lt_builder *b, const char *label);
/* A branch to a label; `predicate` may be nothing. Not under a guard. */
void lt_branch(struct lt_builder *b, const char *label, lt_value predicate);

/* ---- Vectors in text, for wgmma.c ---- */

/* Opens a line of a longer instruction, writes the elements from `first` as "{a, b, ...}". */
void lt_inst_open(struct lt_builder *b, const char *form);
void lt_inst_elements(struct lt_builder *b, const struct lt_vector *vector, int first, int count);
void lt_inst_close_(struct lt_builder *b, const char *form, const lt_value *operands, size_t count);
#define lt_inst_close(b, form, ...)                                                                \
    lt_inst_close_(b, form, (const lt_value[]){__VA_ARGS__},                                       \
                   sizeof((const lt_value[]){__VA_ARGS__}) / sizeof(lt_value))

#endif
