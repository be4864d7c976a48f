/* form.h: one form of an instruction, or a sequence about one: what its kernel is, which values it
 * reads, and whether two machines gave the same. They stand in forms.def and sequences_*.def. */
#ifndef LATHE_TESTS_FORM_H
#define LATHE_TESTS_FORM_H

#include "tests/gpu/form_machine.h"

enum {
    FORM_LANES = 32,
    FORM_THREADS = 1024,    /* of the grid, however large its blocks are */
    FORM_OPERANDS_MAX = 16, /* registers and immediates */
    FORM_CHOICES_MAX = 9,
    FORM_NAME_SIZE = 256,
    FORM_TEXT_SIZE = 16384,
    FORM_SLOT_BYTES = 8, /* of an operand of a thread, whatever its type */

    FORM_OWN_BYTES = 64, /* of global memory, of a thread; the last of it are common to all */
    FORM_COMMON_BYTES = 4096,
    FORM_MEMORY_WORDS = (FORM_THREADS * FORM_OWN_BYTES + FORM_COMMON_BYTES) / 8
};

struct form_operand {
    char type[16]; /* "f32"; "#" for immediates */
    char immediate[16];
    bool joined;                      /* the second of two results of one operand        */
    bool is_in_vector, opens, closes; /* one of {a, b}; its first; its last */
};

/* How far from the right result the manual lets one be. All 0: not at all. */
struct form_bound {
    double relative, absolute; /* -log2 of the error; one of them is enough */
    int ulps;                  /* of an f32 */
};

/* Of a sequence. Zero is the default in any field. */
struct form_setting {
    unsigned block;        /* threads; 32 */
    unsigned cluster;      /* blocks; none */
    unsigned shared_bytes; /* dynamic */
    int version;           /* of PTX, times ten; 84 */
    int maxnreg;           /* registers of a thread; as many as the compiler likes */
    bool drawn;            /* what global memory holds before: any; zeros */
};

struct form {
    char name[FORM_NAME_SIZE], operand_text[FORM_NAME_SIZE];
    char choices[FORM_CHOICES_MAX][FORM_NAME_SIZE]; /* of the pattern's braces */
    const char *chapter, *module, *body;            /* no body: the name is the instruction */
    struct form_setting setting;
    struct form_bound bound;
    struct form_operand operands[FORM_OPERANDS_MAX];
    int count, results;
};

/* Of a value of that type: 1 of a predicate. */
int form_type_bits(const char *type);

/* Operands of all threads. */
typedef uint64_t form_values[FORM_THREADS][FORM_OPERANDS_MAX];

/* What a form reads, and what it leaves. */
struct form_state {
    form_values values;
    uint64_t memory[FORM_MEMORY_WORDS]; /* of sequences */
};

/* Calls `use` for every form of the tables. False if a row makes no sense, which is printed. */
bool form_each(void (*use)(void *user, const struct form *form), void *user);

/* Replaces OP by the instruction's name, ?1 by the first choice, and so on; false where there is
 * too little room. */
bool form_substitute(const struct form *form, const char *text, char *result, size_t size);

/* Its module: the entry k(in, out, memory) of addresses. False where it is too long. */
bool form_write_kernel(const struct form *form, char text[FORM_TEXT_SIZE]);

/* The same ones every time. */
void form_draw(const struct form *form, struct form_state *state);

uint64_t form_hash(const struct form *form, const struct form_state *state);

/* Whether `got` is as good as `want`; prints the first difference, as a comment of TAP. */
bool form_compare(const struct form *form, const struct form_state *given,
                  const struct form_state *got, const struct form_state *want);

#endif
