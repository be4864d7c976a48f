/* check_flow.c: what a text alone tells of registers, along all ways that its branches leave open:
 * those that are read where no way from the start of the function has written them; and waits whose
 * result no way reads. That holds for every run, so the operations are marked once, before the
 * first launch that is watched, and are told of where they are executed.
 *
 * Doubts are in favour of the text: a guarded write may have written, and may have left what was
 * there; what a function is given, and what a call gives back, is written. */
#include "emulator/check_state.h"
#include "emulator/reach.h"

#include <stdlib.h>
#include <string.h>

enum {
    SET_BITS = 64,
    SETS_WORDS_MAX = 1 << 23, /* all sets of a function; more than those of any compiler take  */
    SWEEPS_MAX = 32,          /* as deep as loops are nested, and a few; else nothing is marked */
    SCALE_D = 2               /* its place among the sources of a wgmma                         */
};

/* Sets of slots: the one that goes along from operation to operation, and one for each operation
 * that branches lead to, where ways meet. */
struct flow {
    struct emu_code *code;
    size_t words;
    int *places; /* of each operation: which of the sets, or -1 */
    int place_count;
    uint64_t *sets, *here;
    bool has_changed; /* a set that this sweep has passed already */
    int at;
};

/* ---- Sets ---- */

static bool holds(const struct flow *flow, int slot)
{
    return flow->here[slot / SET_BITS] >> slot % SET_BITS & 1;
}

static void add(struct flow *flow, int slot)
{
    flow->here[slot / SET_BITS] |= (uint64_t)1 << slot % SET_BITS;
}

static void take_out(struct flow *flow, int slot)
{
    flow->here[slot / SET_BITS] &= ~((uint64_t)1 << slot % SET_BITS);
}

static uint64_t *set_at(const struct flow *flow, int at)
{
    return flow->sets + (size_t)flow->places[at] * flow->words;
}

/* Whether that changed it. */
static bool join(const struct flow *flow, uint64_t *to, const uint64_t *from)
{
    uint64_t added = 0;

    for (size_t i = 0; i < flow->words; i++) {
        added |= from[i] & ~to[i];
        to[i] |= from[i];
    }
    return added != 0;
}

static void clear(struct flow *flow)
{
    memset(flow->here, 0, flow->words * sizeof *flow->here);
}

/* Those of a function's parameters, or of what it gives back, that are registers. */
static void add_registers(struct flow *flow, const int *registers, int count)
{
    for (int i = 0; i < count; i++)
        if (registers[i] >= 0) {
            const struct emu_register *one = &flow->code->function->registers[registers[i]];

            for (int k = 0; k < emu_register_slots(one); k++)
                add(flow, one->slot + k);
        }
}

/* ---- What an operation reads and writes, and where it leads ---- */

typedef void (*slot_use)(struct flow *flow, struct emu_op *op, int slot);

static void use_source(struct flow *flow, struct emu_op *op, const struct emu_source *source,
                       slot_use use)
{
    if (source->kind == EMU_FROM_SLOT)
        use(flow, op, source->slot);
}

static bool is_store_of_many(const struct emu_op *op)
{
    return emu_op_is(op, "tcgen05") && op->tensor.tcgen05.what == EMU_TCGEN05_ST;
}

/* D is read, and not only written: where scale-d is a register nobody knows. */
static bool adds_to_many(const struct emu_op *op)
{
    const struct emu_source *scale = &op->sources[SCALE_D];

    return emu_op_is(op, "wgmma") && scale->kind == EMU_FROM_BITS &&
           (scale->bits & 1) != scale->negated;
}

static void each_read(struct flow *flow, struct emu_op *op, slot_use use)
{
    if (op->guard >= 0)
        use(flow, op, op->guard);
    for (int i = 0; i < op->source_count; i++)
        use_source(flow, op, &op->sources[i], use);
    for (int i = 0; op->call && i < op->call->argument_count; i++)
        if (op->call->arguments[i].in_register)
            use_source(flow, op, &op->call->arguments[i].source, use);
    if (op->many_count > 0 && (is_store_of_many(op) || adds_to_many(op)))
        for (int i = 0; i < op->many_count; i++)
            use(flow, op, op->many[i]);
}

static void each_write(struct flow *flow, struct emu_op *op, slot_use use)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i] >= 0)
            use(flow, op, op->results[i]);
    for (int i = 0; op->call && i < op->call->return_count; i++)
        if (op->call->returns[i].in_register && op->call->returns[i].slot >= 0)
            use(flow, op, op->call->returns[i].slot);
    if (op->many_count > 0 && !is_store_of_many(op))
        for (int i = 0; i < op->many_count; i++)
            use(flow, op, op->many[i]);
}

typedef void (*target_use)(struct flow *flow, int target);

static void each_target(struct flow *flow, const struct emu_op *op, target_use use)
{
    int count;
    const int *targets = emu_targets(flow->code, op, &count);

    for (int i = 0; i < count; i++)
        use(flow, targets[i]);
}

/* As a use of each slot. */
static void note(struct flow *flow, struct emu_op *op, int slot)
{
    (void)op;
    add(flow, slot);
}

static void forget(struct flow *flow, struct emu_op *op, int slot)
{
    (void)op;
    take_out(flow, slot);
}

/* ---- Forward: what has been written ---- */

/* What stands for a value that the program does not say: compilers leave it unwritten. That is an
 * element of a vector that is stored or packed, beside one that is there (LLVM), and what a call is
 * given for an empty class and for the gaps of a struct (nvcc -G). */
static bool is_padding(const struct flow *flow, const struct emu_op *op, int slot)
{
    bool is_store = emu_op_is(op, "st"), is_element = false, has_written = false;

    if (!is_store && !emu_op_is(op, "mov"))
        return false;
    if (is_store && emu_has_word(op->text, "param"))
        return true;
    for (int i = is_store; i < op->source_count; i++) {
        const struct emu_source *source = &op->sources[i];
        bool is_slot = source->kind == EMU_FROM_SLOT;

        is_element |= is_slot && source->slot == slot;
        has_written |= !is_slot || holds(flow, source->slot);
    }
    return is_element && has_written;
}

static void mark_read(struct flow *flow, struct emu_op *op, int slot)
{
    if (holds(flow, slot) || op->unwritten)
        return;
    op->unwritten = slot + 1;
    op->is_padding = is_padding(flow, op, slot);
}

static void send(struct flow *flow, int target)
{
    if (join(flow, set_at(flow, target), flow->here) && target <= flow->at)
        flow->has_changed = true;
}

/* From the first operation to the last: slots that may have been written before each. */
static void sweep_writes(struct flow *flow, bool marks)
{
    const struct emu_function *function = flow->code->function;

    flow->has_changed = false;
    clear(flow);
    add_registers(flow, function->param_registers, function->param_count);
    for (flow->at = 0; flow->at < flow->code->op_count; flow->at++) {
        struct emu_op *op = &flow->code->ops[flow->at];

        if (flow->places[flow->at] >= 0) {
            join(flow, set_at(flow, flow->at), flow->here);
            memcpy(flow->here, set_at(flow, flow->at), flow->words * sizeof *flow->here);
        }
        if (marks)
            each_read(flow, op, mark_read);
        each_write(flow, op, note);
        each_target(flow, op, send);
        if (!emu_goes_on(op))
            clear(flow);
    }
}

/* ---- Backward: what will be read ---- */

static bool is_wait(const struct emu_op *op)
{
    return emu_op_is(op, "mbarrier") &&
           (emu_has_word(op->text, "try_wait") || emu_has_word(op->text, "test_wait"));
}

static void take(struct flow *flow, int target)
{
    join(flow, flow->here, set_at(flow, target));
}

/* It does more than to fill registers that nobody reads, such as that of the selp by which CUDA C++
 * hands a predicate on. */
static bool is_of_use(const struct flow *flow, const struct emu_op *op)
{
    bool is_read = !op->alu.execute || op->alu.carry_out;

    for (int i = 0; i < op->result_count && !is_read; i++)
        is_read = op->results[i] >= 0 && holds(flow, op->results[i]);
    return is_read;
}

/* From the last operation to the first: slots that may be read from each on. */
static void sweep_reads(struct flow *flow, bool marks)
{
    const struct emu_function *function = flow->code->function;

    flow->has_changed = false;
    clear(flow);
    for (flow->at = flow->code->op_count - 1; flow->at >= 0; flow->at--) {
        struct emu_op *op = &flow->code->ops[flow->at];

        if (!emu_goes_on(op))
            clear(flow);
        if (op->execute == emu_return)
            add_registers(flow, function->return_registers, function->return_count);
        each_target(flow, op, take);
        if (marks && is_wait(op))
            op->is_unread = op->results[0] < 0 || !holds(flow, op->results[0]);
        if (is_of_use(flow, op)) {
            if (op->guard < 0)
                each_write(flow, op, forget);
            each_read(flow, op, note);
        }
        if (flow->places[flow->at] >= 0)
            flow->has_changed |= join(flow, set_at(flow, flow->at), flow->here);
    }
}

/* ---- A function ---- */

static void give_place(struct flow *flow, int target)
{
    if (flow->places[target] < 0)
        flow->places[target] = flow->place_count++;
}

/* False without memory. Where the sets would be too large there are none. */
static bool begin(struct flow *flow)
{
    const struct emu_code *code = flow->code;

    flow->words = (size_t)code->function->slot_count / SET_BITS + 1;
    flow->places = malloc((size_t)code->op_count * sizeof *flow->places);
    flow->here = calloc(flow->words, sizeof *flow->here);
    if (!flow->places || !flow->here)
        return false;
    for (int i = 0; i < code->op_count; i++)
        flow->places[i] = -1;
    for (int i = 0; i < code->op_count; i++)
        each_target(flow, &code->ops[i], give_place);
    if ((size_t)flow->place_count > SETS_WORDS_MAX / flow->words)
        return true;
    flow->sets = calloc((size_t)flow->place_count * flow->words + 1, sizeof *flow->sets);
    return flow->sets != NULL;
}

static void end(struct flow *flow)
{
    free(flow->places);
    free(flow->here);
    free(flow->sets);
}

typedef void (*sweep)(struct flow *flow, bool marks);

static void mark(struct flow *flow, sweep sweep_once)
{
    int sweeps = 0;

    memset(flow->sets, 0, (size_t)flow->place_count * flow->words * sizeof *flow->sets);
    do
        sweep_once(flow, false);
    while (flow->has_changed && ++sweeps < SWEEPS_MAX);
    if (!flow->has_changed)
        sweep_once(flow, true);
}

static bool look_at(struct emu_code *code)
{
    struct flow flow = {.code = code};
    bool has_memory = begin(&flow);

    if (has_memory && flow.sets) {
        mark(&flow, sweep_writes);
        mark(&flow, sweep_reads);
    }
    end(&flow);
    code->is_looked_at = has_memory;
    return has_memory;
}

bool emu_check_begin_run(struct emu_run *run)
{
    const struct emu_program *program = run->program;

    for (int i = 0; i < program->module->function_count; i++) {
        struct emu_code *code = &program->codes[i];

        if (code->function->has_body && !code->is_looked_at && !look_at(code))
            return false;
    }
    return true;
}

/* ---- Where it runs ---- */

void emu_check_marked(struct emu_warp *warp, const struct emu_group *group, const struct emu_op *op,
                      uint32_t mask)
{
    const struct emu_found found = {
        .code = "uninitialised",
        .warp = warp,
        .op = op,
        .lane = -1,
        .kind = EMU_READS,
        .frame = group->frame,
        .slot = op->unwritten - 1,
        .is_warning = op->is_padding,
        .what = "no way that leads here from the start of the function has written it",
        .needed = "a write before it, or another register: one of that name in a scope around, or "
                  "in one beside, is not the same"};

    /* Of what no lane does the guard is read all the same. */
    if (mask || op->guard == op->unwritten - 1)
        emu_check_found(&found);
}
