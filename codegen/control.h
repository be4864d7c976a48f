/* control.h: roles, branches and loops as scopes, so that C's indentation shows the kernel's.
 *
 * The body of a scope macro runs once, while emitting; leaving it by `break` or `return` leaves the
 * scope open, and lt_builder_finish() says so. **A lower-case `for` unrolls while emitting; LT_FOR
 * and LT_REPEAT are loops in the kernel.** */
#ifndef LT_CODEGEN_CONTROL_H
#define LT_CODEGEN_CONTROL_H

#include "codegen/builder.h"

struct lt_region {
    bool open;
    bool braces;
    lt_value index; /* of a loop: the running number */
    lt_value end, step;
    char start[LT_LABEL_SIZE], after[LT_LABEL_SIZE];
};

#define LT_JOIN_(a, b) a##b
#define LT_JOIN(a, b) LT_JOIN_(a, b)

/* Instructions under a predicate, without a branch. */
#define LT_WHEN(b, predicate)                                                                      \
    for (struct lt_region LT_JOIN(when_, __LINE__) = lt_when_begin(b, predicate);                  \
         LT_JOIN(when_, __LINE__).open; lt_when_end(b, &LT_JOIN(when_, __LINE__)))
struct lt_region lt_when_begin(struct lt_builder *b, lt_value predicate);
void lt_when_end(struct lt_builder *b, struct lt_region *block);

/* A branch around the body where the predicate is false; `name` labels its end. */
#define LT_IF(b, name, predicate)                                                                  \
    for (struct lt_region LT_JOIN(if_, __LINE__) = lt_if_begin(b, name, predicate);                \
         LT_JOIN(if_, __LINE__).open; lt_if_end(b, &LT_JOIN(if_, __LINE__)))
struct lt_region lt_if_begin(struct lt_builder *b, const char *name, lt_value predicate);
void lt_if_end(struct lt_builder *b, struct lt_region *block);

/* Braces: names and labels of their own, for code that is unrolled while emitting. */
#define LT_SCOPE(b)                                                                                \
    for (struct lt_region LT_JOIN(scope_, __LINE__) = lt_scope_begin(b);                           \
         LT_JOIN(scope_, __LINE__).open; lt_scope_end(b, &LT_JOIN(scope_, __LINE__)))
struct lt_region lt_scope_begin(struct lt_builder *b);
void lt_scope_end(struct lt_builder *b, struct lt_region *block);

/* it.index runs from `first` by `step` while it is below `end`; perhaps not at all. */
#define LT_FOR(b, it, first, end, step)                                                            \
    for (struct lt_region it = lt_for_begin(b, #it, first, end, step); it.open; lt_for_end(b, &it))
struct lt_region lt_for_begin(struct lt_builder *b, const char *name, lt_value first, lt_value end,
                              lt_value step);
void lt_for_end(struct lt_builder *b, struct lt_region *block);

/* it.index runs from 0 to count - 1; count is at least 1, so that the test stands at the end. */
#define LT_REPEAT(b, it, count)                                                                    \
    for (struct lt_region it = lt_repeat_begin(b, #it, count); it.open; lt_repeat_end(b, &it))
struct lt_region lt_repeat_begin(struct lt_builder *b, const char *name, lt_value count);
void lt_repeat_end(struct lt_builder *b, struct lt_region *block);

/* First in a repeat of few rounds: ptxas leaves it as it is, and takes less time. */
void lt_keep_rolled(struct lt_builder *b);

/* A loop that only lt_loop_leave() ends. */
#define LT_LOOP(b, it)                                                                             \
    for (struct lt_region it = lt_loop_begin(b, #it); it.open; lt_loop_end(b, &it))
struct lt_region lt_loop_begin(struct lt_builder *b, const char *name);
void lt_loop_end(struct lt_builder *b, struct lt_region *block);
void lt_loop_leave(struct lt_builder *b, const struct lt_region *block, lt_value predicate);

/* What the warps of one role do. Warps for which `predicate` is false skip it; those that did it go
 * on behind lt_roles_end(). `name` heads its section and its labels; `who` says which warps. */
#define LT_ROLE(b, name, predicate, who)                                                           \
    for (struct lt_region LT_JOIN(role_, __LINE__) = lt_role_begin(b, name, predicate, who);       \
         LT_JOIN(role_, __LINE__).open; lt_role_end(b, &LT_JOIN(role_, __LINE__)))
struct lt_region lt_role_begin(struct lt_builder *b, const char *name, lt_value predicate,
                               const char *who);
void lt_role_end(struct lt_builder *b, struct lt_region *block);
void lt_roles_end(struct lt_builder *b);

/* One lane of a converged warp (elect.sync); the others skip the body. */
#define LT_ELECT(b)                                                                                \
    for (struct lt_region LT_JOIN(elect_, __LINE__) = lt_elect_begin(b);                           \
         LT_JOIN(elect_, __LINE__).open; lt_if_end(b, &LT_JOIN(elect_, __LINE__)))
struct lt_region lt_elect_begin(struct lt_builder *b);

/* Changes the registers a thread of this warpgroup has: 24 to 256, a multiple of 8. All four warps
 * execute it. Source: PTX ISA "setmaxnreg". */
void lt_setmaxnreg_dec(struct lt_builder *b, int registers);
void lt_setmaxnreg_inc(struct lt_builder *b, int registers);

#endif
