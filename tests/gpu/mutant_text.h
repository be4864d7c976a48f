/* mutant_text.h: a text with one line changed. */
#ifndef LATHE_TESTS_GPU_MUTANT_TEXT_H
#define LATHE_TESTS_GPU_MUTANT_TEXT_H

#include <stdbool.h>

enum mutant_change {
    MUTANT_DELETED,
    MUTANT_DELETED_WITH_LOOP, /* with the branch behind it that tries again */
    MUTANT_LOOP_DELETED,      /* that branch alone */
    MUTANT_ONE_MORE,          /* the number at its end */
    MUTANT_ONE_LESS,
    MUTANT_EIGHT_MORE,
    MUTANT_SIXTEEN_MORE,
    MUTANT_SIXTEEN_LESS,
    MUTANT_FLIPPED, /* 0 and 1 change places; of a register another has its other parity */
    MUTANT_UNGUARDED,
    MUTANT_GUARD_INVERTED,
    MUTANT_CHANGES
};

const char *mutant_change_name(enum mutant_change change);

/* The text with the how manyeth line changed of those whose instruction, behind its guard, begins
 * with `start`; *number is the line's. Null behind the last. Where the line cannot be changed so
 * *is_changed is false, and the text is as it was. To be freed. */
char *mutant_make(const char *text, const char *start, int which, enum mutant_change change,
                  int *number, bool *is_changed);

#endif
