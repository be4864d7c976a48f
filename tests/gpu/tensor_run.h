/* tensor_run.h: a case on a machine, and whether two machines did the same. */
#ifndef LATHE_TESTS_TENSOR_RUN_H
#define LATHE_TESTS_TENSOR_RUN_H

#include "tests/gpu/form_machine.h"
#include "tests/gpu/tensor_case.h"

/* How far it came, and what the driver answered there. */
enum tensor_stage { TENSOR_ENCODE, TENSOR_KERNEL, TENSOR_ENDED };

struct tensor_outcome {
    enum tensor_stage stage;
    int code;                                 /* CUresult */
    bool is_lost;                             /* the machine is of no more use */
    unsigned char memory[TENSOR_MEMORY_SIZE]; /* where the kernel has ended */
};

/* Prints why where it does not end, as a comment of TAP. */
void tensor_run(const struct form_machine *machine, const struct tensor_case *it,
                struct tensor_outcome *outcome);

/* Whether it is what a case of its kind comes to at all: an encoding that is refused is none but
 * where it is asked for, a wait that timed out never. Prints what is wrong. */
bool tensor_is_sound(const struct tensor_case *it, const struct tensor_outcome *outcome);

uint64_t tensor_hash(const struct tensor_case *it, const struct tensor_outcome *outcome);

/* Prints the first difference. */
bool tensor_compare(const struct tensor_case *it, const struct tensor_outcome *got,
                    const struct tensor_outcome *want);

#endif
