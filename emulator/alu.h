/* alu.h: instructions that read and write registers alone, for the 32 lanes of a warp at a time.
 *
 * Scalar arithmetic, logic, conversion, comparison and selection work lane by lane; shuffles, votes
 * and other warp-wide ones see all lanes of the mask. None of them knows memory, control flow or
 * what a warp is beyond its lanes. */
#ifndef EMU_ALU_H
#define EMU_ALU_H

#include "emulator/number.h"
#include "emulator/ptx.h"

/* The code of a selector (.b0 is 1, .h0 is 9), of so many bits; 0 where there is none. */
enum { EMU_LANES = 32, EMU_ALU_RESULTS = 4, EMU_ALU_SOURCES = 8, EMU_SELECTOR_BITS = 4 };

enum { EMU_CHOICE_BITS = 4, EMU_CHOSEN = 8 }; /* of `elements` */

/* A selector's code less one: .b0 to .b7 are 0 to 7. */
enum { EMU_HALF_H0 = 8, EMU_HALF_H1 = 9 };

/* Bits of a register in each lane, in the low bits of a word; a predicate is 0 or 1. What is above
 * a register's width is zero when it is written, and to be ignored when it is read. */
typedef uint64_t emu_lanes[EMU_LANES];

struct emu_alu;

/* Lanes outside of `mask` are neither read nor written, but for what the instruction says of them.
 * `results` may be the same arrays as `sources`. False where the instruction faults: the reason is
 * in `why` (a static string). */
typedef bool (*emu_alu_execute)(const struct emu_alu *op, uint64_t *const *results,
                                const uint64_t *const *sources, uint32_t mask, const char **why);

/* What a word among the modifiers selects, where no flag of its own says it. */
enum emu_variant {
    EMU_VARIANT_NONE,
    EMU_VARIANT_LO,
    EMU_VARIANT_HI,
    EMU_VARIANT_WIDE,
    EMU_VARIANT_LEFT,
    EMU_VARIANT_RIGHT,
    EMU_VARIANT_ADD,
    EMU_VARIANT_MIN,
    EMU_VARIANT_MAX,
    EMU_VARIANT_ALL,
    EMU_VARIANT_ANY,
    EMU_VARIANT_UNI,
    EMU_VARIANT_BALLOT,
    EMU_VARIANT_UP,
    EMU_VARIANT_DOWN,
    EMU_VARIANT_BFLY,
    EMU_VARIANT_IDX,
    EMU_VARIANT_F4E,
    EMU_VARIANT_B4E,
    EMU_VARIANT_RC8,
    EMU_VARIANT_ECL,
    EMU_VARIANT_ECR,
    EMU_VARIANT_RC16,
    EMU_VARIANT_FINITE,
    EMU_VARIANT_INFINITE,
    EMU_VARIANT_NUMBER,
    EMU_VARIANT_NOTANUMBER,
    EMU_VARIANT_NORMAL,
    EMU_VARIANT_SUBNORMAL,
    EMU_VARIANT_SHR7,
    EMU_VARIANT_SHR15
};

enum emu_compare {
    EMU_COMPARE_NONE,
    EMU_EQ,
    EMU_NE,
    EMU_LT,
    EMU_LE,
    EMU_GT,
    EMU_GE,
    EMU_EQU,
    EMU_NEU,
    EMU_LTU,
    EMU_LEU,
    EMU_GTU,
    EMU_GEU,
    EMU_NUM,
    EMU_NAN
};

enum emu_combine { EMU_COMBINE_NONE, EMU_AND, EMU_OR, EMU_XOR };

/* What is narrower than the register it goes to (cvt alone may do that) is written with zeros above
 * its type's width: the caller extends it, by the sign for signed types of `result_types`.
 *
 * A decoded instruction. The first operands of the text are results, the others sources, in order;
 * a|b is two results, the items of {a, b} one after the other; !p is a source that `execute` sees
 * as it stands in the register, with the negation in `negated`. `_` is a result too: its array may
 * be any that nobody reads.
 *
 * The condition code of add.cc and its like is a register that the text does not name: one of each
 * lane, hidden, 0 or 1, zero at the start. Where `carry_in` is set it is one more source, behind
 * all of the text; where `carry_out` is, one more result likewise. The counts include it. */
struct emu_alu {
    emu_alu_execute execute;
    int result_count, source_count;
    enum emu_type result_types[EMU_ALU_RESULTS];
    /* What an immediate is converted to: an integer to the width, a literal of f64 to f32 ... */
    enum emu_type source_types[EMU_ALU_SOURCES];
    uint32_t negated; /* bit i: source i is !p, or -r where vmad allows it */
    bool carry_in, carry_out;

    /* For `execute`, of the words: `type` is the first among them, `from` the second. */
    enum emu_type type, from, third;
    int width; /* bits of `type` */
    bool is_signed;
    enum emu_rounding rounding;
    enum emu_variant variant;
    enum emu_compare compare;
    enum emu_combine combine;
    bool flush, saturate, saturate_finite, relu, nan, xorsign, abs, oob, approximate, full;
    bool wrap, shift_amount, integral, stochastic, plus_one;
    uint64_t selectors; /* of video operands: EMU_SELECTOR_BITS each, results first */
    /* Of SIMD video operands: of d a bit for each element that is written, or 0 for all; of a and b
     * four bits for each element: which one of {b, a}, with EMU_CHOSEN, or 0 for its own. */
    uint16_t elements[3];
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
