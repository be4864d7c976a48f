/* reduce.h: what atomics and reductions do to one element. Source: PTX ISA "atom", "red",
 * "cp.reduce.async.bulk". */
#ifndef EMU_REDUCE_H
#define EMU_REDUCE_H

#include "emulator/ptx.h"

enum emu_reduction {
    EMU_REDUCE_NONE,
    EMU_REDUCE_ADD,
    EMU_REDUCE_MIN,
    EMU_REDUCE_MAX,
    EMU_REDUCE_INC, /* old >= value ? 0 : old + 1                          */
    EMU_REDUCE_DEC, /* old == 0 || old > value ? value : old - 1           */
    EMU_REDUCE_AND,
    EMU_REDUCE_OR,
    EMU_REDUCE_XOR,
    EMU_REDUCE_EXCH,
    EMU_REDUCE_CAS
};

/* The word among the instruction's that names one; EMU_REDUCE_NONE where none does. */
enum emu_reduction emu_reduction_of(const struct emu_instruction *instruction);
/* Whether there is such an operation on the type. */
bool emu_can_reduce(enum emu_reduction how, enum emu_type type);

struct emu_change {
    enum emu_reduction how;
    enum emu_type type;
    bool flush;    /* subnormals of f32 become zeros */
    bool is_local; /* of a multiprocessor: not in global memory */
};

/* The element after it: bits of the type. */
uint64_t emu_reduced(const struct emu_change *change, uint64_t old, uint64_t value);
/* The same to all elements of some bytes. */
void emu_change_bytes(const struct emu_change *change, unsigned char *to, const unsigned char *from,
                      uint64_t bytes);

#endif
