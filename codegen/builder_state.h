/* builder_state.h: the inside of a builder, for the files that are the builder: builder.c (names
 * and values), instruction.c (lines), scalar.c (scalar.def), scope.c (braces and labels) and
 * entry.c (head and parameters). Everybody else uses builder.h. */
#ifndef LT_CODEGEN_BUILDER_STATE_H
#define LT_CODEGEN_BUILDER_STATE_H

#include "codegen/builder.h"
#include "codegen/text.h"

enum {
    NAME_SIZE = 32,
    REGISTERS_MAX = 512, /* live names at one time; far above what a kernel has */
    LABELS_MAX = 64,
    SCOPES_MAX = 12,
    BUCKETS = 128,
    INDENT = 4,
    LINE_WIDTH = 100,
    TEXT_EXPECTED = 48 << 10 /* bytes: what most kernels take */
};

struct reg {
    char name[NAME_SIZE];
    size_t length; /* of the name */
    enum lt_type type;
    int count; /* of a vector, else 0 */
    uint32_t generation;
    bool variable;
    int next; /* of the same bucket, -1 at the end */
};

struct scope {
    int first_register, first_label;
    size_t text_start; /* where its declarations will go */
    const char *role;
};

struct lt_builder {
    const struct lt_arch *arch;
    bool annotate;
    const struct lathe_allocator *allocator;
    struct lt_text text;
    struct lathe_error error; /* the first mistake */

    struct reg registers[REGISTERS_MAX];
    int register_count;
    uint32_t
        generation; /* the newest; never used twice, so that no old value fits a new register */
    int buckets[BUCKETS];
    char labels[LABELS_MAX][LT_LABEL_SIZE];
    int label_count;
    struct scope scopes[SCOPES_MAX];
    int depth;
    int open_regions; /* of control.h that were begun and not yet ended */

    lt_value guard;
    char note[160];
    bool entered;
    struct lathe_contract contract;
};

/* Whether the handle's register is in scope and still holds what the handle stands for; a mistake
 * if not. */
bool lt_usable(struct lt_builder *b, lt_value value);
/* Takes a register out of the table of names, when its scope ends. */
void lt_forget_register(struct lt_builder *b);

void lt_start_line(struct lt_builder *b);
/* Ends the line, with the note that is waiting for it. */
void lt_end_line(struct lt_builder *b);
void lt_append_value(struct lt_builder *b, lt_value value);
/* "@%p " or nothing. */
void lt_append_guard(struct lt_builder *b, lt_value predicate);

#endif
