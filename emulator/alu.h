/* alu.h: instructions that read and write registers alone, for the 32 lanes of a warp at a time.
 *
 * Scalar arithmetic, logic, conversion, comparison and selection work lane by lane; shuffles, votes
 * and other warp-wide ones see all lanes of the mask. None of them knows memory, control flow or
 * what a warp is beyond its lanes. */
#ifndef EMU_ALU_H
#define EMU_ALU_H

#include "emulator/ptx.h"

enum { EMU_LANES = 32, EMU_ALU_RESULTS = 4, EMU_ALU_SOURCES = 8 };

/* Bits of a register in each lane, in the low bits of a word; a predicate is 0 or 1. What is above
 * a register's width is zero when it is written, and to be ignored when it is read. */
typedef uint64_t emu_lanes[EMU_LANES];

struct emu_alu;

/* Lanes outside of `mask` are neither read nor written, but for what the instruction says of them.
 * `results` may be the same arrays as `sources`. False where the instruction faults: the reason is
 * in `why` (a static string). */
typedef bool (*emu_alu_execute)(const struct emu_alu *op, uint64_t *const *results,
                                const uint64_t *const *sources, uint32_t mask, const char **why);

/* A decoded instruction. The first operands of the text are results, the others sources, in order;
 * a|b is two results, !p a source of its own that `execute` sees as it stands in the register,
 * with the negation in `negated`. */
struct emu_alu {
    emu_alu_execute execute;
    int result_count, source_count;
    enum emu_type result_types[EMU_ALU_RESULTS];
    /* What an immediate is converted to: an integer to the width, a literal of f64 to f32 ... */
    enum emu_type source_types[EMU_ALU_SOURCES];
    uint32_t negated; /* bit i: source i is !p, or -r of a type that allows it */

    /* For `execute`; what each means is its own affair. */
    enum emu_type type, from;
    int rounding, variant, compare, combine, width, selector;
    bool flush, saturate, saturate_finite, relu, carry_in, carry_out, negate, abs;
    uint64_t table;
};

enum emu_decoded {
    EMU_DECODED,
    EMU_NOT_MINE, /* no instruction of this file: another may know it */
    EMU_REFUSED /* one of these, but in a form that does not exist or is not supported: see error */
};

/* `target` is the number of sm_NN; what it lacks is refused with the words of the instruction. */
enum emu_decoded emu_alu_decode(struct emu_alu *op, const struct emu_instruction *instruction,
                                int target, struct emu_error *error);

#endif
