/* reach.c: to which operations a group may still come. */
#include "emulator/reach.h"

#include "emulator/state.h"

#include <stdlib.h>

struct place {
    const struct emu_code *code;
    int at;
};

/* `seen` has a byte for each operation of the program, function by function. */
struct emu_reach {
    const struct emu_program *program;
    unsigned char *seen;
};

struct walk {
    struct emu_reach *reach;
    struct place *open; /* seen, and what follows is not yet: room for all */
    size_t open_count;
};

static size_t count_ops(const struct emu_program *program)
{
    size_t count = 0;

    for (int f = 0; f < program->module->function_count; f++)
        count += (size_t)program->codes[f].op_count;
    return count;
}

static size_t number_of(const struct emu_program *program, const struct emu_code *code, int at)
{
    size_t number = (size_t)at;

    for (const struct emu_code *before = program->codes; before < code; before++)
        number += (size_t)before->op_count;
    return number;
}

/* ---- One operation ---- */

const int *emu_targets(const struct emu_code *code, const struct emu_op *op, int *count)
{
    const struct emu_table *table;

    *count = 1;
    if (emu_op_is(op, "bra"))
        return &op->target;
    *count = 0;
    if (!emu_op_is(op, "brx"))
        return NULL;
    table = &code->function->tables[op->target];
    *count = table->target_count;
    return table->targets;
}

bool emu_goes_on(const struct emu_op *op)
{
    static const char *const words[] = {"bra", "brx", "ret", "exit", "trap", "brkpt"};

    if (!op->text)
        return false;
    for (size_t i = 0; op->guard < 0 && i < sizeof words / sizeof words[0]; i++)
        if (emu_op_is(op, words[i]))
            return false;
    return true;
}

/* ---- The walk ---- */

static void see(struct walk *walk, const struct emu_code *code, int at)
{
    unsigned char *seen;

    if (!code->ops || at >= code->op_count)
        return;
    seen = &walk->reach->seen[number_of(walk->reach->program, code, at)];
    if (*seen)
        return;
    *seen = 1;
    walk->open[walk->open_count++] = (struct place){code, at};
}

static void see_next(struct walk *walk, struct place from)
{
    const struct emu_op *op = &from.code->ops[from.at];
    int count;
    const int *targets = emu_targets(from.code, op, &count);

    for (int i = 0; i < count; i++)
        see(walk, from.code, targets[i]);
    if (op->call && op->call->function >= 0)
        see(walk, &walk->reach->program->codes[op->call->function], 0);
    if (emu_goes_on(op)) /* what is behind a return is seen from the frames */
        see(walk, from.code, from.at + 1);
}

static void walk_from(struct walk *walk, const struct emu_group *group)
{
    see(walk, group->frame->code, group->at);
    for (const struct emu_frame *frame = group->frame; frame->caller; frame = frame->caller)
        see(walk, frame->caller->code, frame->return_op);
    while (walk->open_count > 0)
        see_next(walk, walk->open[--walk->open_count]);
}

struct emu_reach *emu_reach_make(const struct emu_program *program, const struct emu_group *group)
{
    size_t count = count_ops(program);
    struct emu_reach *reach = calloc(1, sizeof *reach);
    struct walk walk = {.reach = reach, .open = malloc((count + 1) * sizeof *walk.open)};

    if (reach) {
        reach->program = program;
        reach->seen = calloc(count + 1, 1);
    }
    if (walk.open && reach && reach->seen) {
        walk_from(&walk, group);
    } else {
        emu_reach_free(reach);
        reach = NULL;
    }
    free(walk.open);
    return reach;
}

void emu_reach_free(struct emu_reach *reach)
{
    if (!reach)
        return;
    free(reach->seen);
    free(reach);
}

/* ---- What was seen ---- */

bool emu_reaches(const struct emu_reach *reach, const struct emu_op *op)
{
    const struct emu_program *program = reach ? reach->program : NULL;

    for (int f = 0; program && f < program->module->function_count; f++) {
        const struct emu_code *code = &program->codes[f];

        if (code->ops && op >= code->ops && op < code->ops + code->op_count)
            return reach->seen[number_of(program, code, (int)(op - code->ops))];
    }
    return false;
}

bool emu_reaches_like(const struct emu_reach *reach, const struct emu_op *like,
                      bool (*is_like)(const struct emu_op *op, const struct emu_op *like))
{
    const struct emu_program *program = reach ? reach->program : NULL;

    for (int f = 0; program && f < program->module->function_count; f++) {
        const struct emu_code *code = &program->codes[f];

        for (int i = 0; code->ops && i < code->op_count; i++)
            if (is_like(&code->ops[i], like) && reach->seen[number_of(program, code, i)])
                return true;
    }
    return false;
}
