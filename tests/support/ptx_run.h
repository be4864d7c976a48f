/* ptx_run.h: runs the text of a kernel on the host, one thread at a time, as far as it is scalar.
 *
 * A plain model after the PTX manual that shares nothing with codegen/. Arithmetic, predicates and
 * branches are done here; what touches memory or other threads is handed to the test, which says
 * what comes of it. Labels are looked for as PTX does, from the innermost braces outwards. An
 * instruction that nobody knows, a register that is read before it was written and a kernel that
 * does not end are failures of the test. */
#ifndef LATHE_TESTS_PTX_RUN_H
#define LATHE_TESTS_PTX_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum { PTX_OPERANDS_MAX = 8 };

struct ptx_program;
struct ptx_thread;

/* A register, a special register, a symbol or a number, with what is added to it. */
struct ptx_ref {
    int slot;         /* of a register, else -1          */
    const char *name; /* of what the host knows, or null */
    uint64_t number;
    int64_t offset;
};

/* "%x+8" is one reference; a group such as "[%map, {%x, %y}]" has as many as it names. */
struct ptx_operand {
    int count;
    struct ptx_ref *refs;
};

struct ptx_insn {
    char *opcode;
    int guard; /* the slot of its predicate, or -1 */
    bool negated;
    int operand_count;
    struct ptx_operand operand[PTX_OPERANDS_MAX];
    int compute; /* of the scalar instructions, else -1 */
    int scope, target;
    char *label; /* of a branch */
};

enum ptx_answer { PTX_UNKNOWN, PTX_DONE, PTX_PAUSE };

struct ptx_host {
    /* The value of a special register, a symbol or a parameter: "%tid.x", "smem", "k". */
    uint64_t (*special)(void *user, const char *name);
    /* Is asked about an instruction that is not scalar. PTX_PAUSE stops the thread behind it. */
    enum ptx_answer (*other)(void *user, struct ptx_thread *thread, const struct ptx_insn *insn);
    /* The bytes of a parameter that is a block of them, or null; may itself be null. */
    const void *(*block)(void *user, const char *name);
};

struct ptx_program *ptx_parse(const char *text);
void ptx_free(struct ptx_program *program);

/* A thread before the entry's first instruction. */
struct ptx_thread *ptx_start(const struct ptx_program *program, const struct ptx_host *host,
                             void *user);
/* Runs on; the instruction that it was stopped at, or null once it has ended. */
const struct ptx_insn *ptx_continue(struct ptx_thread *thread);
void ptx_end(struct ptx_thread *thread);

/* A thread from start to end, without a stop. */
void ptx_run(const struct ptx_program *program, const struct ptx_host *host, void *user);

/* The register that a reference names, "%acc12". */
const char *ptx_name(const struct ptx_thread *thread, const struct ptx_insn *insn, int operand,
                     int ref);

bool ptx_is(const struct ptx_insn *insn, const char *opcode_start);

/* What reference `ref` of operand `operand` holds, and giving it a value. */
uint64_t ptx_read(struct ptx_thread *thread, const struct ptx_insn *insn, int operand, int ref);
void ptx_write(struct ptx_thread *thread, const struct ptx_insn *insn, int operand, int ref,
               uint64_t value);

float ptx_float(uint64_t bits);
uint64_t ptx_float_bits(float value);

#endif
