/* fail_allocator.h: an allocator that counts what it gave out, fills it with nonsense, and says no
 * from a chosen call on. */
#ifndef LATHE_TESTS_FAIL_ALLOCATOR_H
#define LATHE_TESTS_FAIL_ALLOCATOR_H

#include "include/lathe.h"

#include <stdbool.h>

struct fail_allocator {
    struct lathe_allocator allocator; /* to hand to the code under test                  */
    long calls;                       /* that wanted memory so far                        */
    long fails_from;                  /* every call from this one on fails; -1: none does */
    bool recovers;                    /* only the call `fails_from` itself fails          */
    long live;                        /* blocks given out and not yet released            */
};

/* Fills in `fail`, which must not move afterwards. */
void fail_allocator_init(struct fail_allocator *fail, long fails_from);

#endif
