/* form.h: one form of an instruction: what its kernel is, which values it reads, and whether two
 * machines gave the same. The forms stand in forms.def. */
#ifndef LATHE_TESTS_FORM_H
#define LATHE_TESTS_FORM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    FORM_LANES = 32,
    FORM_BLOCKS = 32,
    FORM_THREADS = FORM_LANES * FORM_BLOCKS,
    FORM_OPERANDS_MAX = 16, /* registers and immediates */
    FORM_NAME_SIZE = 128,
    FORM_TEXT_SIZE = 8192,
    FORM_SLOT_BYTES = 8 /* of an operand of a thread, whatever its type */
};

struct form_operand {
    char type[16]; /* "f32"; "#" for immediates */
    char immediate[16];
    bool joined;                      /* the second of two results of one operand        */
    bool is_in_vector, opens, closes; /* one of {a, b}; its first; its last */
};

struct form {
    char opcode[FORM_NAME_SIZE];
    const char *chapter;
    double tolerance;
    struct form_operand operands[FORM_OPERANDS_MAX];
    int count, results;
};

/* Of a value of that type: 1 of a predicate. */
int form_type_bits(const char *type);

/* Operands of all threads. */
typedef uint64_t form_values[FORM_THREADS][FORM_OPERANDS_MAX];

/* Calls `use` for every form of the table. */
void form_each(void (*use)(void *user, struct form *form), void *user);

/* Its module: the entry k(in, out) of two addresses of form_values. */
void form_write_kernel(const struct form *form, char text[FORM_TEXT_SIZE]);

/* The same ones every time. */
void form_draw_inputs(const struct form *form, form_values values);

uint64_t form_hash(const struct form *form, form_values results);

/* Whether `got` is as good as `want`; prints the first difference, as a comment of TAP. */
bool form_compare(const struct form *form, form_values values, form_values got, form_values want);

#endif
