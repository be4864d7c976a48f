#include "codegen/control.h"

#include <stdio.h>

/* The label behind all roles; roles are opened in the kernel's own scope, so it is visible there.
 */
static const char roles_end[] = "$roles_end";

struct lt_region lt_when_begin(struct lt_builder *b, lt_value predicate)
{
    lt_guard(b, predicate);
    return (struct lt_region){.open = true};
}

void lt_when_end(struct lt_builder *b, struct lt_region *block)
{
    lt_unguard(b);
    block->open = false;
}

struct lt_region lt_if_begin(struct lt_builder *b, const char *name, lt_value predicate)
{
    struct lt_region block = {.open = true};

    lt_region_opened(b);
    lt_label_name(b, block.after, name);
    lt_branch(b, block.after, lt_not(predicate));
    return block;
}

void lt_if_end(struct lt_builder *b, struct lt_region *block)
{
    lt_region_closed(b);
    lt_label(b, block->after);
    block->open = false;
}

struct lt_region lt_scope_begin(struct lt_builder *b)
{
    lt_scope_open(b, NULL);
    return (struct lt_region){.open = true};
}

void lt_scope_end(struct lt_builder *b, struct lt_region *block)
{
    lt_scope_close(b);
    block->open = false;
}

/* The names of a loop's parts: NAME, NAME_done, NAME_more, labels NAME and NAME_end. */
static void derived_name(char out[LT_LABEL_SIZE], const char *name, const char *suffix)
{
    snprintf(out, LT_LABEL_SIZE, "%s%s", name, suffix);
}

struct lt_region lt_for_begin(struct lt_builder *b, const char *name, lt_value first, lt_value end,
                              lt_value step)
{
    struct lt_region block = {.open = true, .end = end, .step = step};
    char derived[LT_LABEL_SIZE];

    lt_region_opened(b);
    block.index = lt_variable(b, LT_B32, name);
    lt_label_name(b, block.start, name);
    derived_name(derived, name, "_end");
    lt_label_name(b, block.after, derived);

    lt_set(b, block.index, "mov.u32", first);
    lt_label(b, block.start);
    derived_name(derived, name, "_done");
    lt_branch(b, block.after, lt_op(b, derived, "setp.ge.u32", block.index, end));
    return block;
}

void lt_for_end(struct lt_builder *b, struct lt_region *block)
{
    lt_region_closed(b);
    lt_set(b, block->index, "add.u32", block->index, block->step);
    lt_branch(b, block->start, (lt_value){0});
    lt_label(b, block->after);
    block->open = false;
}

struct lt_region lt_repeat_begin(struct lt_builder *b, const char *name, lt_value count)
{
    struct lt_region block = {.open = true, .end = count};

    lt_region_opened(b);
    block.index = lt_variable(b, LT_B32, name);
    lt_label_name(b, block.start, name);
    derived_name(block.after, name, "_more"); /* here the name of the predicate */

    lt_set(b, block.index, "mov.u32", lt_imm(0));
    lt_label(b, block.start);
    return block;
}

/* PTX ISA "Pragma Strings": in the loop's first block. */
void lt_keep_rolled(struct lt_builder *b)
{
    lt_note(b, "a few rounds: they are not worth ptxas's time");
    lt_raw(b, ".pragma \"nounroll\";");
}

void lt_repeat_end(struct lt_builder *b, struct lt_region *block)
{
    lt_region_closed(b);
    lt_set(b, block->index, "add.u32", block->index, lt_imm(1));
    lt_branch(b, block->start, lt_op(b, block->after, "setp.lt.u32", block->index, block->end));
    block->open = false;
}

struct lt_region lt_loop_begin(struct lt_builder *b, const char *name)
{
    struct lt_region block = {.open = true};
    char derived[LT_LABEL_SIZE];

    lt_region_opened(b);
    lt_label_name(b, block.start, name);
    derived_name(derived, name, "_end");
    lt_label_name(b, block.after, derived);
    lt_label(b, block.start);
    return block;
}

void lt_loop_leave(struct lt_builder *b, const struct lt_region *block, lt_value predicate)
{
    lt_branch(b, block->after, predicate);
}

void lt_loop_end(struct lt_builder *b, struct lt_region *block)
{
    lt_region_closed(b);
    lt_branch(b, block->start, (lt_value){0});
    lt_label(b, block->after);
    block->open = false;
}

struct lt_region lt_role_begin(struct lt_builder *b, const char *name, lt_value predicate,
                               const char *who)
{
    struct lt_region block = {.open = true};
    char label[LT_LABEL_SIZE];

    lt_heading(b, "%s: %s", name, who);
    derived_name(label, name, "_end");
    lt_label_name(b, block.after, label);
    lt_branch(b, block.after, lt_not(predicate));
    lt_scope_open(b, name);
    return block;
}

void lt_role_end(struct lt_builder *b, struct lt_region *block)
{
    lt_branch(b, roles_end, (lt_value){0});
    lt_scope_close(b);
    lt_label(b, block->after);
    block->open = false;
}

void lt_roles_end(struct lt_builder *b)
{
    lt_label(b, roles_end);
}

struct lt_region lt_elect_begin(struct lt_builder *b)
{
    lt_require(b, LT_HAS_TMA, "elect.sync");

    lt_value elected = lt_define(b, LT_PRED, "elected");

    lt_inst(b, "elect.sync _|%0, 0xffffffff;", elected);
    return lt_if_begin(b, "unelected", elected);
}

static void set_registers(struct lt_builder *b, const char *form, int registers)
{
    lt_require(b, LT_HAS_SETMAXNREG, "setmaxnreg");
    if (registers < 24 || registers > 256 || registers % 8 != 0)
        lt_mistake(b, "setmaxnreg takes a multiple of 8 from 24 to 256, not %d", registers);
    lt_inst(b, form, lt_imm(registers));
}

void lt_setmaxnreg_dec(struct lt_builder *b, int registers)
{
    set_registers(b, "setmaxnreg.dec.sync.aligned.u32 %0;", registers);
}

void lt_setmaxnreg_inc(struct lt_builder *b, int registers)
{
    set_registers(b, "setmaxnreg.inc.sync.aligned.u32 %0;", registers);
}
