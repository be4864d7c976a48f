/* alu_form.h: instructions as tables: a line for each form, as the manual's syntax has it.
 *
 * Private to alu*.c. */
#ifndef EMU_ALU_FORM_H
#define EMU_ALU_FORM_H

#include "emulator/alu.h"

/* `modifiers` are groups apart by blanks: words apart by "/", of which one is there; none may be
 * where "?" follows. "@bits", "@signed", "@unsigned" and "@float" are the comparisons of such. As
 * ptxas, the decoder takes them in any order, but the first type is the first group's that has it.
 *
 * `operands` are letters, results before "=":
 *   T F   the first and the second type among the modifiers
 *   W     twice as wide as T
 *   p     a predicate;  P  one that may be negated, as a source
 *   B     one that is there where .and, .or or .xor is
 *   y h w d   8, 16, 32, 64 bits;  s u f   s32 u32 f32
 *   i     an immediate of 32 bits
 *   H Q   32 bits as two halves, as four bytes, maybe with a choice of them
 *   S     32 bits, maybe with a selector;  M  maybe negated too;  n  negated, no selector
 *   c     the condition code, which is not in the text
 *   {...} a vector of just those
 *   x|y   two results;  with "?" the second may be missing */
struct emu_form {
    const char *opcode, *modifiers, *operands;
    emu_alu_execute execute;
    int target; /* the least sm_NN; 0: any */
};

struct emu_chapter {
    const struct emu_form *forms;
    int count;
};

#define EMU_CHAPTER(table)                                                                         \
    {                                                                                              \
        table, (int)(sizeof table / sizeof *table)                                                 \
    }

extern const struct emu_chapter emu_integer_chapter, emu_carry_chapter, emu_float_chapter,
    emu_approximate_chapter, emu_half_chapter, emu_compare_chapter, emu_logic_chapter,
    emu_move_chapter, emu_convert_chapter, emu_pack_chapter, emu_dot_chapter, emu_video_chapter,
    emu_warp_chapter;

bool emu_type_is_signed(enum emu_type type);

#endif
