/* control.c: branches, calls, returns, and how a program ends. Source: PTX ISA "Control Flow
 * Instructions", "Function declarations and definitions". */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

/* ---- Groups and frames ---- */

void emu_send(struct emu_warp *warp, struct emu_group *group, uint32_t lanes,
              struct emu_frame *frame, int at)
{
    if (lanes == group->lanes) {
        group->frame = frame;
        group->at = at;
        return;
    }
    group->lanes &= ~lanes;
    warp->groups[warp->group_count++] =
        (struct emu_group){.frame = frame, .at = at, .lanes = lanes};
}

uint64_t emu_frame_bytes(const struct emu_code *code)
{
    uint64_t of_lane = (uint64_t)code->function->slot_count * sizeof(uint64_t) +
                       code->return_bytes + code->frame_param_bytes;

    return sizeof(struct emu_frame) + of_lane * EMU_LANES;
}

struct emu_frame *emu_frame_make(struct emu_cluster *cluster, const struct emu_code *code,
                                 struct emu_frame *caller, uint32_t lanes)
{
    size_t registers = (size_t)code->function->slot_count * EMU_LANES;
    size_t given = (size_t)code->return_bytes * EMU_LANES,
           own = (size_t)code->frame_param_bytes * EMU_LANES;
    struct emu_frame *frame;

    if (!emu_hold(cluster, emu_frame_bytes(code)))
        return NULL;
    frame = calloc(1, sizeof *frame + registers * sizeof(uint64_t));
    if (!frame) {
        emu_let_go(cluster, emu_frame_bytes(code));
        return NULL;
    }
    frame->holder = cluster;
    frame->caller = caller;
    frame->code = code;
    frame->lanes = lanes;
    frame->depth = caller ? caller->depth + 1 : 0;
    frame->local_base = caller ? caller->local_base + caller->code->frame_local_bytes : 0;
    frame->params = calloc(own + 1, 1);
    frame->arguments = calloc(given + 1, 1);
    if (frame->params && frame->arguments)
        return frame;
    emu_frame_free(frame);
    return NULL;
}

void emu_frame_free(struct emu_frame *frame)
{
    if (!frame)
        return;
    emu_let_go(frame->holder, emu_frame_bytes(frame->code));
    free(frame->params);
    free(frame->arguments);
    free(frame);
}

/* ---- Branches ---- */

/* Lanes of the mask go to the target, the others on. */
static enum emu_step branch(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                            uint32_t mask)
{
    uint32_t rest = group->lanes & ~mask;

    if (rest) {
        emu_send(warp, group, mask, group->frame, op->target);
        group->at++;
    } else if (op->target <= group->at && emu_goes_round(warp, group, op)) {
        return EMU_STEP_FAULT;
    } else {
        group->at = op->target;
    }
    return EMU_STEP_MOVED;
}

/* brx.idx: each lane by its own index. */
static enum emu_step branch_by_index(struct emu_warp *warp, struct emu_group *group,
                                     const struct emu_op *op, uint32_t mask)
{
    const struct emu_table *table = &group->frame->code->function->tables[op->target];
    emu_lanes lanes;
    const uint64_t *index = emu_read(warp, group, &op->sources[0], mask, lanes);
    struct emu_frame *frame = group->frame;
    int next = group->at + 1;

    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && (uint32_t)index[lane] >= (uint32_t)table->target_count)
            return emu_fault(warp, op, lane, EMU_ILLEGAL_INSTRUCTION,
                             "index %u of %d branch targets", (unsigned)index[lane],
                             table->target_count);
    for (int target = 0; target < table->target_count; target++) {
        uint32_t lanes_there = 0;

        for (int lane = 0; lane < EMU_LANES; lane++)
            if ((mask >> lane & 1) && (int)(uint32_t)index[lane] == target)
                lanes_there |= 1u << lane;
        mask &= ~lanes_there;
        if (lanes_there)
            emu_send(warp, group, lanes_there, frame, table->targets[target]);
        if (lanes_there == group->lanes && !mask)
            return EMU_STEP_MOVED; /* they were the last of the group */
    }
    group->at = next;
    return EMU_STEP_MOVED;
}

/* ---- Ends ---- */

/* Takes the lanes out of the frame and of all that wait for it; frames of no lane are freed. */
static void leave_frames(struct emu_frame *frame, uint32_t lanes)
{
    while (frame) {
        struct emu_frame *caller = frame->caller;

        frame->lanes &= ~lanes;
        if (frame->lanes == 0)
            emu_frame_free(frame);
        frame = caller;
    }
}

void emu_leave(struct emu_group *group, uint32_t lanes)
{
    leave_frames(group->frame, lanes);
    group->lanes &= ~lanes;
}

static enum emu_step exit_lanes(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask)
{
    struct emu_cta *cta = warp->cta;
    enum emu_step step = emu_tensor_finish(warp);

    (void)op;
    if (step == EMU_STEP_NEXT && warp->live == mask)
        step = emu_copy_queue_finish(warp);
    if (step != EMU_STEP_NEXT)
        return step;
    emu_moves_settle(warp);
    warp->live &= ~mask;
    group->at++;
    emu_leave(group, mask);
    cta->exited_threads += (uint32_t)__builtin_popcount(mask);
    if (warp->check)
        emu_check_exit(warp);
    cta->cluster->progress++;
    emu_barriers_settle(cta);
    return emu_tmem_exit(warp) ? EMU_STEP_MOVED : EMU_STEP_FAULT;
}

static unsigned char *given_bytes(const struct emu_frame *frame, int lane, uint32_t offset)
{
    return frame->arguments + (size_t)lane * frame->code->return_bytes + offset;
}

static unsigned char *own_bytes(const struct emu_frame *frame, int lane, uint32_t offset)
{
    return frame->params + (size_t)lane * frame->code->frame_param_bytes + offset;
}

static void give_back(const struct emu_frame *frame, const struct emu_call *call, uint32_t mask)
{
    const struct emu_code *code = frame->code;

    for (int i = 0; i < call->return_count && i < code->function->return_count; i++) {
        const struct emu_passed *passed = &call->returns[i];
        uint32_t bytes = (uint32_t)code->function->returns[i].bytes;

        bytes = bytes < passed->bytes ? bytes : passed->bytes;
        for (int lane = 0; lane < EMU_LANES; lane++) {
            const unsigned char *from = given_bytes(frame, lane, code->return_offsets[i]);

            if (!(mask >> lane & 1))
                continue;
            if (passed->in_register && passed->slot < 0)
                continue;
            if (passed->in_register) {
                uint64_t value = 0;

                memcpy(&value, from, bytes);
                frame->caller->registers[(size_t)passed->slot * EMU_LANES + (size_t)lane] = value;
            } else {
                memcpy(own_bytes(frame->caller, lane, passed->offset), from, bytes);
            }
        }
    }
}

/* A function whose returned values are registers: they are put where the caller looks. One of 128
 * bits is two slots. */
static void store_return_registers(const struct emu_frame *frame, uint32_t mask)
{
    const struct emu_function *function = frame->code->function;

    for (int i = 0; i < function->return_count; i++)
        for (int lane = 0; lane < EMU_LANES; lane++)
            if (function->return_registers[i] >= 0 && (mask >> lane & 1)) {
                uint64_t bytes = function->returns[i].bytes;
                int slot = function->registers[function->return_registers[i]].slot;
                unsigned char *to = given_bytes(frame, lane, frame->code->return_offsets[i]);

                for (uint64_t at = 0; at < bytes; at += 8, slot++)
                    memcpy(to + at, &frame->registers[(size_t)slot * EMU_LANES + (size_t)lane],
                           bytes - at < 8 ? bytes - at : 8);
            }
}

enum emu_step emu_return(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                         uint32_t mask)
{
    struct emu_frame *frame = group->frame;
    enum emu_step step;

    if (!frame->caller)
        return exit_lanes(warp, group, op, mask);
    step = emu_tensor_finish(warp); /* they write registers of this frame */
    if (step != EMU_STEP_NEXT)
        return step;
    emu_moves_settle(warp);
    store_return_registers(frame, mask);
    give_back(frame, frame->by->call, mask);
    if (mask != group->lanes) {
        emu_send(warp, group, mask, frame->caller, frame->return_op);
        group->at++;
    } else {
        group->frame = frame->caller;
        group->at = frame->return_op;
    }
    frame->lanes &= ~mask;
    if (frame->lanes == 0)
        emu_frame_free(frame);
    return EMU_STEP_MOVED;
}

static enum emu_step trap(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    (void)group;
    return emu_fault(warp, op, __builtin_ctz(mask), EMU_TRAPPED, "the program traps");
}

/* A wait of a given time: others run first. */
static enum emu_step sleep_a_while(struct emu_warp *warp, struct emu_group *group,
                                   const struct emu_op *op, uint32_t mask)
{
    (void)warp, (void)group, (void)op, (void)mask;
    return EMU_STEP_YIELD;
}

static enum emu_step nothing(struct emu_warp *warp, struct emu_group *group,
                             const struct emu_op *op, uint32_t mask)
{
    (void)warp, (void)group, (void)op, (void)mask;
    return EMU_STEP_NEXT;
}

/* ---- Calls ---- */

static void pass_value(const struct emu_code *code, const struct emu_frame *frame, int lane, int i,
                       const void *value, size_t bytes)
{
    const struct emu_function *function = code->function;
    size_t room = (size_t)function->params[i].bytes;

    bytes = bytes < room ? bytes : room;
    if (function->param_registers[i] < 0) {
        memcpy(given_bytes(frame, lane, code->argument_offsets[i]), value, bytes);
        return;
    }

    int slot = function->registers[function->param_registers[i]].slot;
    uint64_t bits = 0;

    memcpy(&bits, value, bytes < sizeof bits ? bytes : sizeof bits);
    ((struct emu_frame *)frame)->registers[(size_t)slot * EMU_LANES + (size_t)lane] = bits;
}

static void pass_arguments(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           const struct emu_frame *frame, uint32_t mask)
{
    const struct emu_call *call = op->call;

    for (int i = 0; i < call->argument_count && i < frame->code->function->param_count; i++) {
        const struct emu_passed *passed = &call->arguments[i];
        emu_lanes lanes;
        const uint64_t *values =
            passed->in_register ? emu_read(warp, group, &passed->source, mask, lanes) : NULL;

        for (int lane = 0; lane < EMU_LANES; lane++) {
            if (!(mask >> lane & 1))
                continue;
            if (values)
                pass_value(frame->code, frame, lane, i, &values[lane], sizeof values[lane]);
            else
                pass_value(frame->code, frame, lane, i,
                           own_bytes(group->frame, lane, passed->offset), passed->bytes);
        }
    }
}

/* Lanes of the mask go into the function; a builtin is done at once, and they stay. */
static enum emu_step enter(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                           int function, uint32_t mask)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    const struct emu_run *run = cluster->run;
    const struct emu_code *code = &run->program->codes[function];
    uint32_t depth = run->device->options.limits.depth ? run->device->options.limits.depth : 4096;
    struct emu_frame *frame;

    if (!code->function->has_body)
        return emu_builtin_call(warp, group, op, code, mask);
    if (group->frame->depth >= depth)
        return emu_fault(warp, op, -1, EMU_OUT_OF_STEPS, "calls nest deeper than %u", depth);
    frame = emu_frame_make(cluster, code, group->frame, mask);
    if (!frame)
        return cluster->lacks_memory
                   ? emu_stopped(cluster)
                   : emu_fault(warp, op, -1, EMU_NO_RESOURCES, "no memory for a call");
    frame->by = op;
    frame->return_op = group->at + 1;
    pass_arguments(warp, group, op, frame, mask);
    emu_send(warp, group, mask, frame, 0);
    return EMU_STEP_NEXT;
}

/* Through a pointer: one after the other each function that lanes call. */
static enum emu_step enter_each(struct emu_warp *warp, struct emu_group *group,
                                const struct emu_op *op, uint32_t mask)
{
    const struct emu_program *program = warp->cta->cluster->run->program;
    emu_lanes lanes;
    const uint64_t *pointers = emu_read(warp, group, &op->sources[0], mask, lanes);
    enum emu_step step = EMU_STEP_NEXT;

    while (mask && step == EMU_STEP_NEXT) {
        int first = __builtin_ctz(mask);
        uint64_t wanted = pointers[first];
        uint32_t together = 0;

        if (wanted - EMU_FUNCTION_BASE >= (uint64_t)program->module->function_count)
            return emu_fault(warp, op, first, EMU_ILLEGAL_INSTRUCTION,
                             "a call to 0x%llx, where no function is", (unsigned long long)wanted);
        for (int lane = first; lane < EMU_LANES; lane++)
            if ((mask >> lane & 1) && pointers[lane] == wanted)
                together |= 1u << lane;
        mask &= ~together;
        step = enter(warp, group, op, (int)(wanted - EMU_FUNCTION_BASE), together);
    }
    return step;
}

/* A function of the device's own: what it does concerns all clusters. */
static bool is_builtin(const struct emu_program *program, uint64_t function)
{
    return function < (uint64_t)program->module->function_count &&
           !program->codes[function].function->has_body;
}

static bool calls_builtin(struct emu_warp *warp, const struct emu_group *group,
                          const struct emu_op *op, uint32_t mask)
{
    const struct emu_program *program = warp->cta->cluster->run->program;
    emu_lanes lanes;
    const uint64_t *pointers;

    if (op->call->function >= 0)
        return is_builtin(program, (uint64_t)op->call->function);
    pointers = emu_read(warp, group, &op->sources[0], mask, lanes);
    for (int lane = 0; lane < EMU_LANES; lane++)
        if ((mask >> lane & 1) && is_builtin(program, pointers[lane] - EMU_FUNCTION_BASE))
            return true;
    return false;
}

static enum emu_step call(struct emu_warp *warp, struct emu_group *group, const struct emu_op *op,
                          uint32_t mask)
{
    const struct emu_frame *frame = group->frame;
    enum emu_step step;

    if (warp->cta->cluster->apart && calls_builtin(warp, group, op, mask))
        return EMU_STEP_HELD;
    step = op->call->function >= 0 ? enter(warp, group, op, op->call->function, mask)
                                   : enter_each(warp, group, op, mask);

    if (step != EMU_STEP_NEXT)
        return step;
    if (group->frame == frame) /* lanes that did not call, or called a builtin */
        group->at++;
    return EMU_STEP_MOVED;
}

/* ---- Decoding ---- */

static bool bind_passed(struct emu_decoder *d, const struct emu_operand *operand,
                        struct emu_passed *passed, bool is_result)
{
    *passed = (struct emu_passed){.offset = 0};
    if (operand->kind == EMU_OPERAND_LOCAL) {
        const struct emu_variable *local = &d->function->locals[operand->index];

        if (local->space != EMU_SPACE_PARAM)
            return emu_fail(d->error, 0, "call: %s is no .param variable", local->name);
        passed->offset = d->code->local_offsets[operand->index];
        passed->bytes = (uint32_t)local->bytes;
        return true;
    }
    passed->in_register = true;
    passed->bytes = sizeof(uint64_t);
    return is_result ? emu_bind_result(d, operand, &passed->slot)
                     : emu_bind_source(d, operand, EMU_U64, &passed->source);
}

static bool bind_list(struct emu_decoder *d, const struct emu_operand *operand,
                      struct emu_passed **list, int *count, bool is_result)
{
    *list = calloc((size_t)operand->item_count + 1, sizeof **list);
    if (!*list)
        return emu_fail(d->error, 0, "no memory for a call");
    *count = operand->item_count;
    for (int i = 0; i < operand->item_count; i++)
        if (!bind_passed(d, &operand->items[i], &(*list)[i], is_result))
            return false;
    return true;
}

/* The parser has set what the text leaves out: returns, function, arguments {, table}. */
static enum emu_decoded decode_call(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    const struct emu_operand *function = &i->operands[1];

    op->execute = call;
    op->call = calloc(1, sizeof *op->call);
    if (!op->call)
        return emu_refuse_form(d, i, "no memory");
    op->call->function = function->kind == EMU_OPERAND_FUNCTION ? function->index : -1;
    if (op->call->function < 0 && !emu_add_sources(d, op, function, EMU_U64))
        return EMU_REFUSED;
    return bind_list(d, &i->operands[0], &op->call->returns, &op->call->return_count, true) &&
                   bind_list(d, &i->operands[2], &op->call->arguments, &op->call->argument_count,
                             false)
               ? EMU_DECODED
               : EMU_REFUSED;
}

static enum emu_decoded decode_branch(struct emu_decoder *d, const struct emu_instruction *i,
                                      struct emu_op *op)
{
    if (strcmp(i->words[0], "bra") == 0) {
        if (i->operand_count != 1 || i->operands[0].kind != EMU_OPERAND_LABEL)
            return emu_refuse_form(d, i, "goes to a label");
        op->execute = branch;
        op->target = i->operands[0].index;
        return EMU_DECODED;
    }
    if (i->operand_count != 2 || i->operands[1].kind != EMU_OPERAND_TABLE ||
        d->function->tables[i->operands[1].index].kind != EMU_BRANCH_TARGETS)
        return emu_refuse_form(d, i, "takes an index and a list of branch targets");
    op->execute = branch_by_index;
    op->target = i->operands[1].index;
    return emu_add_sources(d, op, &i->operands[0], EMU_U32) ? EMU_DECODED : EMU_REFUSED;
}

enum emu_decoded emu_decode_control(struct emu_decoder *d, const struct emu_instruction *i,
                                    struct emu_op *op)
{
    static const struct {
        const char *word;
        emu_execute execute;
    } plain[] = {
        {"ret", emu_return}, {"exit", exit_lanes},         {"trap", trap},
        {"brkpt", trap},     {"nanosleep", sleep_a_while}, {"pmevent", nothing},
    };
    const char *word = i->words[0];

    if (strcmp(word, "bra") == 0 || strcmp(word, "brx") == 0)
        return decode_branch(d, i, op);
    if (strcmp(word, "call") == 0)
        return decode_call(d, i, op);
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; k++)
        if (strcmp(plain[k].word, word) == 0) {
            op->execute = plain[k].execute;
            return EMU_DECODED;
        }
    return EMU_NOT_MINE;
}
