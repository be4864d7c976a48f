/* program.c: from text to a program: parsed, its variables placed, every instruction decoded. */
#include "emulator/state.h"
#include "emulator/tcgen05.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of decoded code: as much as the parser may take for all of the text. */
#define CODE_BYTES_MAX ((uint64_t)2 << 30)
/* Of one function's .param space; the manual's limit of an entry is 32,764. */
enum { PARAM_BYTES_MAX = 32764 };
/* Of a thread; of a CTA; what they are handed out in. */
enum { REGISTERS_MAX = 255, REGISTERS_OF_CTA = 65536, REGISTERS_UNIT = 8 };

/* ---- Variables ---- */

uint64_t emu_align_up(uint64_t offset, uint64_t alignment)
{
    return alignment > 1 ? (offset + alignment - 1) / alignment * alignment : offset;
}

bool emu_place(const struct emu_variable *variable, uint32_t limit, uint32_t *end, uint32_t *offset,
               struct emu_error *error)
{
    uint64_t at = emu_align_up(*end, variable->align);

    if (at > limit || variable->bytes > limit - at)
        return emu_fail(error, variable->line, "%s: more than the %u bytes that there are",
                        variable->name, limit);
    *offset = (uint32_t)at;
    *end = (uint32_t)(at + variable->bytes);
    return true;
}

static bool place_global(struct emu_program *program, int index, struct emu_error *error)
{
    const struct emu_variable *variable = &program->module->variables[index];

    if (variable->is_extern && !variable->data)
        return emu_fail(error, variable->line, "%s is declared .extern and defined nowhere",
                        variable->name);
    program->addresses[index] =
        emu_allocate(program->device, variable->bytes ? variable->bytes : 1);
    if (program->addresses[index] == 0)
        return emu_fail(error, variable->line, "no memory for %s of %llu bytes", variable->name,
                        (unsigned long long)variable->bytes);

    unsigned char *host = emu_bytes(program->device, program->addresses[index], 1);

    if (variable->space == EMU_SPACE_CONST)
        emu_set_constant(program->device, program->addresses[index]);
    if (variable->data)
        memcpy(host, variable->data, variable->bytes);
    else
        memset(host, 0, variable->bytes);
    emu_written(program->device, program->addresses[index], variable->bytes);
    return true;
}

static uint64_t relocated(const struct emu_program *program, const struct emu_relocation *at)
{
    uint64_t base = at->variable >= 0 ? program->addresses[at->variable]
                                      : EMU_FUNCTION_BASE + (uint64_t)at->function;

    return base + (uint64_t)at->offset;
}

/* Of a masked address only one byte counts. */
static void relocate(const struct emu_program *program, int index)
{
    const struct emu_variable *variable = &program->module->variables[index];

    for (int i = 0; i < variable->relocation_count; i++) {
        const struct emu_relocation *at = &variable->relocations[i];
        uint64_t value = relocated(program, at);
        unsigned char *host =
            emu_bytes(program->device, program->addresses[index] + at->at, (uint64_t)at->bytes);

        if (at->shift >= 0)
            value = value >> at->shift & 0xff;
        if (host)
            emu_store_bits(host, value, at->bytes);
    }
}

static bool is_global(const struct emu_variable *variable)
{
    return variable->space == EMU_SPACE_GLOBAL || variable->space == EMU_SPACE_CONST;
}

static bool place_variables(struct emu_program *program, struct emu_error *error)
{
    int count = program->module->variable_count;

    program->addresses = calloc((size_t)count + 1, sizeof *program->addresses);
    if (!program->addresses)
        return emu_fail(error, 0, "no memory for the addresses of %d variables", count);
    for (int i = 0; i < count; i++)
        if (is_global(&program->module->variables[i]) && !place_global(program, i, error))
            return false;
    for (int i = 0; i < count; i++)
        if (is_global(&program->module->variables[i]))
            relocate(program, i);
    return true;
}

/* ---- Functions ---- */

/* The parameters of a function, one behind the other. */
static bool place_params(const struct emu_variable *params, int count, uint32_t *end,
                         uint32_t *offsets, struct emu_error *error)
{
    for (int i = 0; i < count; i++)
        if (!emu_place(&params[i], PARAM_BYTES_MAX, end, &offsets[i], error))
            return false;
    return true;
}

/* Variables of the body, but for those in shared memory. */
static bool place_body(struct emu_code *code, struct emu_error *error)
{
    const struct emu_function *function = code->function;

    for (int i = 0; i < function->local_count; i++) {
        const struct emu_variable *local = &function->locals[i];
        bool is_param = local->space == EMU_SPACE_PARAM;

        if (!is_param && local->space != EMU_SPACE_LOCAL)
            continue;
        if (!emu_place(local, is_param ? PARAM_BYTES_MAX : EMU_LOCAL_BYTES_MAX,
                       is_param ? &code->frame_param_bytes : &code->frame_local_bytes,
                       &code->local_offsets[i], error))
            return false;
    }
    code->frame_local_bytes = (uint32_t)emu_align_up(code->frame_local_bytes, 16);
    return true;
}

/* What a function gives back lies behind what it is given. */
static bool place_locals(struct emu_program *program, int index, struct emu_error *error)
{
    const struct emu_function *function = &program->module->functions[index];
    struct emu_code *code = &program->codes[index];

    code->function = function;
    code->local_offsets = calloc((size_t)function->local_count + 1, sizeof *code->local_offsets);
    code->argument_offsets =
        calloc((size_t)function->param_count + 1, sizeof *code->argument_offsets);
    code->return_offsets = calloc((size_t)function->return_count + 1, sizeof *code->return_offsets);
    if (!code->local_offsets || !code->argument_offsets || !code->return_offsets)
        return emu_fail(error, function->line, "no memory for the variables of %s", function->name);
    if (!place_params(function->params, function->param_count, &code->argument_bytes,
                      code->argument_offsets, error))
        return false;
    code->return_bytes = code->argument_bytes;
    return place_params(function->returns, function->return_count, &code->return_bytes,
                        code->return_offsets, error) &&
           place_body(code, error);
}

/* ---- Decoding ---- */

/* Bytes of the register, where a signed result is narrower than it; else 0. */
static int width_to_extend(const struct emu_decoder *d, const struct emu_op *op,
                           const struct emu_instruction *instruction)
{
    enum emu_type type = op->alu.result_types[0];
    int width =
        instruction->operand_count > 0 ? emu_register_bytes(d, &instruction->operands[0]) : 0;

    return op->result_count == 1 && emu_is_signed(type) && emu_type_bytes(type) < width ? width : 0;
}

static bool bind_alu(struct emu_decoder *d, const struct emu_instruction *instruction,
                     struct emu_op *op)
{
    int results = op->alu.result_count - (op->alu.carry_out ? 1 : 0), at = 0;

    for (; at < instruction->operand_count && op->result_count < results; at++)
        if (!emu_add_results(d, op, &instruction->operands[at]))
            return false;
    for (; at < instruction->operand_count; at++) {
        int next = op->source_count < EMU_ALU_SOURCES ? op->source_count : EMU_ALU_SOURCES - 1;

        if (!emu_add_sources(d, op, &instruction->operands[at], op->alu.source_types[next]))
            return false;
    }
    if (op->result_count > EMU_ALU_RESULTS || op->source_count > EMU_ALU_SOURCES)
        return emu_fail(d->error, instruction->line, "%s has too many operands",
                        instruction->opcode);
    op->width = width_to_extend(d, op, instruction);
    op->execute = emu_has_word(instruction, "sync") ? emu_execute_together : emu_execute_alu;
    return true;
}

static enum emu_decoded decode_alu(struct emu_decoder *d, const struct emu_instruction *i,
                                   struct emu_op *op)
{
    enum emu_decoded decoded = emu_alu_decode(&op->alu, i, d->target, d->error);

    if (decoded != EMU_DECODED)
        return decoded;
    return bind_alu(d, i, op) ? EMU_DECODED : EMU_REFUSED;
}

static bool decode_guard(struct emu_decoder *d, const struct emu_instruction *i, struct emu_op *op)
{
    op->guard = -1;
    if (i->guard >= 0) {
        op->guard = d->function->registers[i->guard].slot;
        op->guard_negated = i->guard_negated;
    }
    return true;
}

static bool decode_one(struct emu_decoder *d, const struct emu_instruction *i, struct emu_op *op)
{
    static const emu_decode decoders[] = {
        emu_decode_control,   emu_decode_memory,         emu_decode_atomic, emu_decode_barrier,
        emu_decode_async,     emu_decode_mbarrier,       emu_decode_matrix, emu_decode_tensor,
        emu_decode_tcgen05,   emu_decode_copy_queue,     emu_decode_map,    emu_decode_remote,
        emu_decode_registers, emu_decode_launch_control, decode_alu,
    };

    if (!emu_check_words(d, i))
        return false;
    for (size_t k = 0; k < sizeof decoders / sizeof decoders[0]; k++) {
        *op = (struct emu_op){.text = i, .target = -1};
        emu_set_default_words(op, i);
        decode_guard(d, i, op);

        enum emu_decoded decoded = decoders[k](d, i, op);

        if (decoded == EMU_DECODED) {
            op->kind = emu_check_kind(i);
            op->cost = emu_cost_class_of(i);
            return true;
        }
        if (decoded == EMU_REFUSED) {
            if (d->error->line == 0)
                d->error->line = i->line;
            return emu_fail(d->error, i->line, "%s is not supported in this form", i->opcode);
        }
    }
    return emu_fail(d->error, i->line, "%s is no instruction that this machine knows", i->opcode);
}

static bool decode_function(struct emu_program *program, int index, struct emu_error *error)
{
    struct emu_code *code = &program->codes[index];
    const struct emu_function *function = &program->module->functions[index];
    struct emu_decoder decoder = {.program = program,
                                  .function = function,
                                  .code = code,
                                  .error = error,
                                  .target = program->device->options.target};

    code->ops = calloc((size_t)function->instruction_count + 1, sizeof *code->ops);
    if (!code->ops)
        return emu_fail(error, function->line, "no memory for the code of %s", function->name);
    for (int i = 0; i < function->instruction_count; i++) {
        code->op_count = i + 1;
        if (!decode_one(&decoder, &function->instructions[i], &code->ops[i]))
            return false;
    }
    code->ops[code->op_count] = (struct emu_op){.execute = emu_return, .guard = -1};
    code->op_count++;
    return emu_guard_accumulators(code) ||
           emu_fail(error, function->line, "no memory for the code of %s", function->name);
}

/* ---- The program ---- */

/* PTX ISA ".target": later devices take it, but of one with an "a" none, and of one with an "f"
 * those of its family. */
static bool check_target(const struct emu_program *program, struct emu_error *error)
{
    const char *target = program->module->target;
    int wanted = target && strncmp(target, "sm_", 3) == 0 ? atoi(target + 3) : 0;
    int have = program->device->options.target;
    bool has_letter = wanted > 0 && strspn(target + 3, "0123456789") < strlen(target + 3);

    if (wanted == 0 || wanted > have || (has_letter && emu_target_of(have, target).number == 0))
        return emu_fail(error, 0, "the text is for %s%s, and this device is sm_%d",
                        target ? target : "no target", has_letter ? " alone" : "", have);
    if (program->module->address_bits == 32)
        return emu_fail(error, 0, "the text has addresses of 32 bits; write .address_size 64");
    return true;
}

/* Operations are much larger than their text: ret; becomes a kilobyte. */
static bool check_size(const struct emu_module *module, struct emu_error *error)
{
    uint64_t count = 0;

    for (int i = 0; i < module->function_count; i++)
        count += (uint64_t)module->functions[i].instruction_count + 1;
    return count <= CODE_BYTES_MAX / sizeof(struct emu_op) ||
           emu_fail(error, 0, "%llu instructions are more than this machine holds",
                    (unsigned long long)count);
}

static bool load(struct emu_program *program, const char *text, size_t length,
                 struct emu_error *error)
{
    program->module = emu_module_parse(text, length, error);
    if (!program->module || !check_target(program, error) || !check_size(program->module, error) ||
        !place_variables(program, error))
        return false;
    program->codes = calloc((size_t)program->module->function_count + 1, sizeof *program->codes);
    if (!program->codes)
        return emu_fail(error, 0, "no memory for the functions");
    for (int i = 0; i < program->module->function_count; i++)
        if (!place_locals(program, i, error))
            return false;
    if (!emu_place_shared(program, error))
        return false;
    for (int i = 0; i < program->module->function_count; i++)
        if (!decode_function(program, i, error))
            return false;
    return true;
}

struct emu_program *emu_program_load(struct emu_device *device, const char *text, size_t length,
                                     struct emu_error *error)
{
    struct emu_program *program = calloc(1, sizeof *program);
    struct emu_error own = {.line = 0};

    if (!program) {
        emu_fail(error, 0, "no memory for a program");
        return NULL;
    }
    program->device = device;
    if (!emu_text_map_read(&program->map, text, length))
        emu_fail(error, 0, "no memory for a program");
    else if (load(program, text, length, error ? error : &own))
        return program;
    emu_program_unload(program);
    return NULL;
}

static void free_op(struct emu_op *op)
{
    if (op->call) {
        free(op->call->arguments);
        free(op->call->returns);
        free(op->call);
    }
    free(op->many);
}

static void free_code(struct emu_code *code)
{
    for (int i = 0; i < code->op_count; i++)
        free_op(&code->ops[i]);
    free(code->ops);
    free(code->local_offsets);
    free(code->argument_offsets);
    free(code->return_offsets);
}

void emu_program_unload(struct emu_program *program)
{
    struct emu_module *module = program ? program->module : NULL;

    if (!program)
        return;
    for (int i = 0; program->codes && i < module->function_count; i++)
        free_code(&program->codes[i]);
    /* The last first: it stands at the end of the device's list, where the others need not move. */
    for (int i = program->addresses ? module->variable_count - 1 : -1; i >= 0; i--)
        if (is_global(&module->variables[i]) && program->addresses[i])
            emu_release(program->device, program->addresses[i]);
    free(program->codes);
    free(program->addresses);
    emu_text_map_free(&program->map);
    emu_module_free(module);
    free(program);
}

/* ---- What it holds ---- */

int emu_program_entry(const struct emu_program *program, const char *name)
{
    int index = emu_function_find(program->module, name);

    return index >= 0 && program->module->functions[index].is_entry &&
                   program->module->functions[index].has_body
               ? index
               : -1;
}

bool emu_program_variable(const struct emu_program *program, const char *name, uint64_t *address,
                          uint64_t *bytes)
{
    int index = emu_variable_find(program->module, name);

    if (index < 0 || !is_global(&program->module->variables[index]))
        return false;
    *address = program->addresses[index];
    *bytes = program->module->variables[index].bytes;
    return true;
}

static uint32_t product(const uint32_t along[3])
{
    return along[0] * (along[1] ? along[1] : 1) * (along[2] ? along[2] : 1);
}

/* What a compiler would give a thread: as many as it names, within what the directives leave. Warps
 * have their registers in the four parts of a multiprocessor by turns, so that nine need as much
 * room as twelve. */
static int registers_of(const struct emu_function *function)
{
    uint32_t named =
        product(function->reqntid) ? product(function->reqntid) : product(function->maxntid);
    uint32_t threads = (named + 4 * EMU_LANES - 1) / (4 * EMU_LANES) * (4 * EMU_LANES);
    uint32_t most = REGISTERS_MAX;

    if (threads > 0 && REGISTERS_OF_CTA / threads / REGISTERS_UNIT * REGISTERS_UNIT < most)
        most = REGISTERS_OF_CTA / threads / REGISTERS_UNIT * REGISTERS_UNIT;
    if (function->maxnreg > 0 && function->maxnreg < most)
        most = function->maxnreg;
    return (uint32_t)function->slot_count < most ? function->slot_count : (int)most;
}

void emu_program_entry_info(const struct emu_program *program, int entry,
                            struct emu_entry_info *info)
{
    const struct emu_code *code = &program->codes[entry];

    *info = (struct emu_entry_info){
        .function = code->function,
        .static_shared_bytes = code->shared_end - EMU_SHARED_RESERVED,
        .local_bytes = code->frame_local_bytes,
        .param_bytes = code->argument_bytes,
        .param_count = code->function->param_count,
        .registers = registers_of(code->function),
    };
}

bool emu_program_param(const struct emu_program *program, int entry, int index, uint32_t *offset,
                       uint32_t *bytes)
{
    const struct emu_code *code = &program->codes[entry];

    if (index < 0 || index >= code->function->param_count)
        return false;
    *offset = code->argument_offsets[index];
    *bytes = (uint32_t)code->function->params[index].bytes;
    return true;
}
