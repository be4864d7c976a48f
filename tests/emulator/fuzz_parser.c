/* Any bytes as PTX: either there is a message, or every index in the tree is one of the tree.
 *
 * With clang and -Dfuzzers=true this is a libFuzzer target:
 *
 *     build/tests/emulator/fuzz_parser -max_len=65536 corpus/ tests/emulator/data tests/golden */
#include "tests/emulator/fuzz_parser.h"

#include "emulator/ptx_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 256 * 1024 * 1024 };

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_parser: %s\n", what);
    abort();
}

static bool is_below(int index, int count)
{
    return index >= 0 && index < count;
}

static void check_variable(const struct emu_module *module, const struct emu_variable *variable)
{
    require(variable->name && variable->align > 0, "a variable with a name and an alignment");
    require((variable->align & (variable->align - 1)) == 0, "an alignment is a power of two");
    for (int i = 0; i < variable->relocation_count; i++) {
        const struct emu_relocation *relocation = &variable->relocations[i];

        require(relocation->bytes > 0 &&
                    relocation->at + (size_t)relocation->bytes <= variable->bytes,
                "an address lies in its variable");
        require(is_below(relocation->variable, module->variable_count) !=
                    is_below(relocation->function, module->function_count),
                "an address is that of a variable or of a function");
        require(relocation->shift >= -1 && relocation->shift < 64, "a shift of an address");
    }
    /* Reads all of it, for a sanitizer to see. */
    for (uint64_t i = 0, sum = 0; variable->data && i < variable->bytes; i++) {
        sum += variable->data[i];
        require(sum < UINT64_MAX, "a sum of bytes");
    }
}

static void check_operand(const struct emu_module *module, const struct emu_function *function,
                          const struct emu_operand *operand, int depth)
{
    int index = operand->index;

    require(operand->name != NULL && depth < 5, "an operand has words and little depth");
    switch (operand->kind) {
    case EMU_OPERAND_REGISTER:
        require(is_below(operand->reg, function->register_count), "a register");
        break;
    case EMU_OPERAND_SPECIAL:
        require(is_below(index, EMU_CURRENT_GRAPH_EXEC + 1), "a special register");
        break;
    case EMU_OPERAND_VARIABLE:
        require(is_below(index, module->variable_count), "a variable");
        break;
    case EMU_OPERAND_LOCAL:
        require(is_below(index, function->local_count), "a local");
        break;
    case EMU_OPERAND_PARAM:
        require(is_below(index, function->param_count), "a parameter");
        break;
    case EMU_OPERAND_RETURN:
        require(is_below(index, function->return_count), "a return");
        break;
    case EMU_OPERAND_FUNCTION:
        require(is_below(index, module->function_count), "a function");
        break;
    case EMU_OPERAND_LABEL:
        require(is_below(index, function->instruction_count + 1), "a label");
        break;
    case EMU_OPERAND_TABLE:
        require(is_below(index, function->table_count), "a table");
        break;
    case EMU_OPERAND_BOTH:
        require(operand->item_count == 2, "a|b is two");
        break;
    case EMU_OPERAND_ADDRESS:
        require(operand->item_count > 0, "an address has a base");
        break;
    case EMU_OPERAND_NONE:
        require(false, "no operand is none");
        break;
    case EMU_OPERAND_INTEGER:
    case EMU_OPERAND_F32:
    case EMU_OPERAND_F64:
    case EMU_OPERAND_LIST:
    case EMU_OPERAND_SINK:
        break;
    }
    for (int i = 0; i < operand->item_count; i++)
        check_operand(module, function, &operand->items[i], depth + 1);
}

static void check_table(const struct emu_module *module, const struct emu_function *function,
                        const struct emu_table *table)
{
    int limit = table->kind == EMU_BRANCH_TARGETS ? function->instruction_count + 1
                                                  : module->function_count;

    for (int i = 0; i < table->target_count; i++)
        require(is_below(table->targets[i], limit), "a target");
    for (int i = 0; i < table->param_count; i++)
        check_variable(module, &table->params[i]);
    for (int i = 0; i < table->return_count; i++)
        check_variable(module, &table->returns[i]);
}

static void check_body(const struct emu_module *module, const struct emu_function *function)
{
    int slots = 0;

    for (int i = 0; i < function->register_count; i++) {
        const struct emu_register *reg = &function->registers[i];

        require(reg->slot == slots, "registers take slots in their order");
        slots += reg->vector * (reg->type == EMU_B128 ? 2 : 1);
    }
    require(slots == function->slot_count, "the slots are those of the registers");
    for (int i = 0; i < function->param_count; i++)
        require(function->params[i].space == EMU_SPACE_NONE
                    ? is_below(function->param_registers[i], function->register_count)
                    : function->param_registers[i] == -1,
                "a parameter is in memory or in a register");
    for (int i = 0; i < function->local_count; i++)
        check_variable(module, &function->locals[i]);
    for (int i = 0; i < function->table_count; i++)
        check_table(module, function, &function->tables[i]);
    for (int i = 0; i < function->instruction_count; i++) {
        const struct emu_instruction *instruction = &function->instructions[i];

        require(instruction->word_count > 0 && instruction->line > 0, "an instruction has words");
        require(instruction->guard == -1 ||
                    (is_below(instruction->guard, function->register_count) &&
                     function->registers[instruction->guard].type == EMU_PRED),
                "a guard is a predicate");
        require(!function->labels[i] || function->labels[i][0] != '\0', "a label has a name");
        for (int j = 0; j < instruction->operand_count; j++)
            check_operand(module, function, &instruction->operands[j], 0);
    }
    require(!function->labels[function->instruction_count] ||
                function->labels[function->instruction_count][0] != '\0',
            "there is a place for a label at the end");
}

static void check_module(const struct emu_module *module)
{
    require(module->target != NULL && module->version > 0, "a module has version and target");
    for (int i = 0; i < module->variable_count; i++)
        check_variable(module, &module->variables[i]);
    for (int i = 0; i < module->function_count; i++) {
        const struct emu_function *function = &module->functions[i];

        require(emu_function_find(module, function->name) == i, "a name is one function's");
        for (int j = 0; j < function->param_count; j++)
            check_variable(module, &function->params[j]);
        for (int j = 0; j < function->return_count; j++)
            check_variable(module, &function->returns[j]);
        if (function->has_body)
            check_body(module, function);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct emu_error error = {.line = 0};
    char *text = malloc(size > 0 ? size : 1); /* of its exact size, for a sanitizer */

    require(text != NULL, "memory for the text");
    if (size > 0)
        memcpy(text, data, size);

    struct emu_module *module = emu_module_parse_within(text, size, MEMORY, &error);

    require((module != NULL) == (error.message[0] == '\0'), "a module or a message");
    if (module)
        check_module(module);
    emu_module_free(module);
    free(text);
    return 0;
}
