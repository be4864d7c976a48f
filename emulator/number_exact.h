/* number_exact.h: finite numbers as they are before rounding, and the one place that rounds.
 *
 * Private to number*.c. */
#ifndef EMU_NUMBER_EXACT_H
#define EMU_NUMBER_EXACT_H

#include "emulator/number.h"

__extension__ typedef unsigned __int128 emu_u128;

/* (-1)^negative * significand * 2^exponent. A set lowest bit may stand for anything between zero
 * and one of it (a "sticky" bit): who makes one leaves at least 64 bits above it. */
struct emu_exact {
    bool negative;
    int exponent;
    emu_u128 significand;
};

/* The value must be finite. */
struct emu_exact emu_exact_of(double value);

/* The bits of the number in the format. A zero keeps its sign. */
uint64_t emu_exact_round(enum emu_format format, struct emu_exact number,
                         const struct emu_narrowing *how);

#endif
