/* reach.h: where an operation leads, and to which operations a group may still come, by the text
 * alone: whichever way its branches go, and behind the returns of what it is in. */
#ifndef EMU_REACH_H
#define EMU_REACH_H

#include <stdbool.h>

struct emu_code;
struct emu_group;
struct emu_op;
struct emu_program;
struct emu_reach;

/* Where an operation of the code may branch to. */
const int *emu_targets(const struct emu_code *code, const struct emu_op *op, int *count);
/* Whether some lane may come from it to the next one. */
bool emu_goes_on(const struct emu_op *op);

/* From where the group stands; null without memory. Functions that are called through a pointer are
 * left out. */
struct emu_reach *emu_reach_make(const struct emu_program *program, const struct emu_group *group);
/* Null reaches nothing. */
bool emu_reaches(const struct emu_reach *reach, const struct emu_op *op);
/* The same of any operation that is like it. */
bool emu_reaches_like(const struct emu_reach *reach, const struct emu_op *like,
                      bool (*is_like)(const struct emu_op *op, const struct emu_op *like));
void emu_reach_free(struct emu_reach *reach);

#endif
