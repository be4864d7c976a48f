/* shared.c: where variables lie in shared memory.
 *
 * A variable that one entry alone names lies in that entry's part, and the parts of entries lie
 * over each other: a module of many kernels needs no more than the largest of them. What functions
 * name, or several entries, lies in front of all parts. Variables of unknown size, the dynamic
 * shared memory, begin where the entry's part ends. */
#include "emulator/state.h"

#include <stdlib.h>

enum { NOBODY = -1, MANY = -2 };

/* ---- Who names what ---- */

static void note_users(const struct emu_operand *operand, int function, int *users)
{
    if (operand->kind == EMU_OPERAND_VARIABLE) {
        int *user = &users[operand->index];

        *user = *user == NOBODY || *user == function ? function : MANY;
    }
    for (int i = 0; i < operand->item_count; i++)
        note_users(&operand->items[i], function, users);
}

static void find_users(const struct emu_module *module, int *users)
{
    for (int i = 0; i < module->variable_count; i++)
        users[i] = NOBODY;
    for (int f = 0; f < module->function_count; f++) {
        const struct emu_function *function = &module->functions[f];

        for (int i = 0; i < function->instruction_count; i++)
            for (int k = 0; k < function->instructions[i].operand_count; k++)
                note_users(&function->instructions[i].operands[k], f, users);
    }
}

static bool belongs_to_entry(const struct emu_module *module, int user)
{
    return user >= 0 && module->functions[user].is_entry;
}

/* ---- Placing ---- */

static bool is_static(const struct emu_variable *variable)
{
    return variable->space == EMU_SPACE_SHARED && variable->bytes > 0;
}

static bool put(const struct emu_variable *variable, uint32_t *end, uint64_t *address,
                struct emu_error *error)
{
    uint32_t offset = 0;
    bool placed = emu_place(variable, EMU_SHARED_BYTES_MAX, end, &offset, error);

    *address = offset;
    return placed;
}

static bool put_locals(struct emu_code *code, uint32_t *end, struct emu_error *error)
{
    for (int i = 0; i < code->function->local_count; i++) {
        const struct emu_variable *local = &code->function->locals[i];

        if (is_static(local) &&
            !emu_place(local, EMU_SHARED_BYTES_MAX, end, &code->local_offsets[i], error))
            return false;
    }
    return true;
}

static bool put_common(struct emu_program *program, const int *users, uint32_t *end,
                       struct emu_error *error)
{
    const struct emu_module *module = program->module;

    for (int i = 0; i < module->variable_count; i++)
        if (is_static(&module->variables[i]) && !belongs_to_entry(module, users[i]) &&
            !put(&module->variables[i], end, &program->addresses[i], error))
            return false;
    for (int f = 0; f < module->function_count; f++)
        if (!module->functions[f].is_entry && !put_locals(&program->codes[f], end, error))
            return false;
    return true;
}

static bool put_entry(struct emu_program *program, const int *users, int entry, uint32_t end,
                      struct emu_error *error)
{
    const struct emu_module *module = program->module;

    for (int i = 0; i < module->variable_count; i++)
        if (is_static(&module->variables[i]) && users[i] == entry &&
            !put(&module->variables[i], &end, &program->addresses[i], error))
            return false;
    if (!put_locals(&program->codes[entry], &end, error))
        return false;
    program->codes[entry].shared_end = end;
    return true;
}

/* The dynamic part is aligned as the most demanding of its variables. */
static uint32_t dynamic_alignment(const struct emu_module *module)
{
    uint32_t alignment = 16;

    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].space == EMU_SPACE_SHARED && module->variables[i].bytes == 0 &&
            module->variables[i].align > alignment)
            alignment = module->variables[i].align;
    return alignment;
}

bool emu_place_shared(struct emu_program *program, struct emu_error *error)
{
    const struct emu_module *module = program->module;
    uint32_t end = EMU_SHARED_RESERVED;
    int *users = malloc(((size_t)module->variable_count + 1) * sizeof *users);
    bool done;

    if (!users)
        return emu_fail(error, 0, "no memory for the shared variables");
    find_users(module, users);
    done = put_common(program, users, &end, error);
    for (int f = 0; f < module->function_count && done; f++)
        if (module->functions[f].is_entry)
            done = put_entry(program, users, f, end, error);
    program->dynamic_alignment = dynamic_alignment(module);
    free(users);
    return done;
}
