/* decode.c: what the decoders of all instructions share: words, and operands as sources, results
 * and addresses. */
#include "emulator/bits.h"
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

bool emu_has_word(const struct emu_instruction *instruction, const char *word)
{
    for (int i = 1; i < instruction->word_count; i++)
        if (strcmp(instruction->words[i], word) == 0)
            return true;
    return false;
}

bool emu_op_is(const struct emu_op *op, const char *word)
{
    return op->text && strcmp(op->text->words[0], word) == 0;
}

enum emu_type emu_last_type(const struct emu_instruction *instruction)
{
    for (int i = instruction->word_count - 1; i > 0; i--) {
        const char *word = instruction->words[i];
        enum emu_type type = emu_type_of(word, strlen(word));

        if (type != EMU_TYPE_NONE)
            return type;
    }
    return EMU_TYPE_NONE;
}

enum emu_decoded emu_refuse_form(struct emu_decoder *d, const struct emu_instruction *i,
                                 const char *why)
{
    emu_fail(d->error, i->line, "%s: %s", i->opcode, why);
    return EMU_REFUSED;
}

/* ---- Sources ---- */

static bool is_float(enum emu_type type)
{
    return type == EMU_F32 || type == EMU_F64;
}

/* A decimal literal is of f64; where f32 is wanted it is rounded to that. */
static uint64_t literal_bits(const struct emu_operand *operand, enum emu_type type)
{
    double value;

    if (operand->kind == EMU_OPERAND_INTEGER && is_float(type))
        value = (double)(int64_t)operand->bits; /* ptxas takes 0 and 1 for floats */
    else if (operand->kind == EMU_OPERAND_F64 && type == EMU_F32)
        value = emu_f64_of(operand->bits);
    else
        return operand->bits;
    return type == EMU_F64 ? emu_f64_bits(value) : emu_f32_bits((float)value);
}

static uint64_t mask_of(enum emu_type type)
{
    int bytes = emu_type_bytes(type);

    return bytes > 0 && bytes < 8 ? ((uint64_t)1 << (8 * bytes)) - 1 : ~(uint64_t)0;
}

/* Of .x to .w; 0 where there is none. */
static int part_index(char part)
{
    static const char parts[] = "xyzw";
    const char *at = part ? strchr(parts, part) : NULL;

    return at ? (int)(at - parts) : 0;
}

static int register_slot(const struct emu_decoder *d, const struct emu_operand *operand)
{
    return d->function->registers[operand->reg].slot + part_index(operand->part);
}

/* A variable of the body: of its .param space, or of the local or shared memory. */
static bool local_address(struct emu_decoder *d, const struct emu_operand *operand,
                          struct emu_source *source)
{
    const struct emu_variable *local = &d->function->locals[operand->index];

    source->kind = local->space == EMU_SPACE_SHARED  ? EMU_FROM_SHARED
                   : local->space == EMU_SPACE_LOCAL ? EMU_FROM_LOCAL
                                                     : EMU_FROM_BITS;
    source->bits = d->code->local_offsets[operand->index] + (uint64_t)operand->offset;
    if (local->space == EMU_SPACE_PARAM)
        source->bits |= (uint64_t)EMU_PARAM_OWN << EMU_PARAM_AREA_SHIFT;
    return true;
}

/* What the function was given, or gives back. */
static bool param_address(struct emu_decoder *d, const struct emu_operand *operand,
                          struct emu_source *source)
{
    const uint32_t *offsets =
        operand->kind == EMU_OPERAND_RETURN ? d->code->return_offsets : d->code->argument_offsets;
    uint64_t area = d->function->is_entry ? EMU_PARAM_ENTRY : EMU_PARAM_GIVEN;

    source->kind = EMU_FROM_BITS;
    source->bits =
        area << EMU_PARAM_AREA_SHIFT | (offsets[operand->index] + (uint64_t)operand->offset);
    return true;
}

/* The address of a variable: what `mov` of its name gives, in its own space. */
static bool variable_address(struct emu_decoder *d, const struct emu_operand *operand,
                             struct emu_source *source)
{
    const struct emu_variable *variable = &d->program->module->variables[operand->index];

    bool is_dynamic = variable->space == EMU_SPACE_SHARED && variable->bytes == 0;

    source->kind = is_dynamic                            ? EMU_FROM_DYNAMIC
                   : variable->space == EMU_SPACE_SHARED ? EMU_FROM_SHARED
                                                         : EMU_FROM_BITS;
    source->bits = d->program->addresses[operand->index] + (uint64_t)operand->offset;
    return true;
}

bool emu_bind_source(struct emu_decoder *d, const struct emu_operand *operand, enum emu_type type,
                     struct emu_source *source)
{
    *source = (struct emu_source){.negated = operand->negated};
    switch (operand->kind) {
    case EMU_OPERAND_REGISTER:
        source->kind = EMU_FROM_SLOT;
        source->slot = register_slot(d, operand);
        return true;
    case EMU_OPERAND_INTEGER:
    case EMU_OPERAND_F32:
    case EMU_OPERAND_F64:
        source->kind = EMU_FROM_BITS;
        source->bits = literal_bits(operand, type) & mask_of(type);
        return true;
    case EMU_OPERAND_SPECIAL:
        source->kind = EMU_FROM_SPECIAL;
        source->special = operand->index;
        source->part = part_index(operand->part);
        return true;
    case EMU_OPERAND_VARIABLE:
        return variable_address(d, operand, source);
    case EMU_OPERAND_LOCAL:
        return local_address(d, operand, source);
    case EMU_OPERAND_PARAM:
    case EMU_OPERAND_RETURN:
        return param_address(d, operand, source);
    case EMU_OPERAND_FUNCTION:
        source->kind = EMU_FROM_BITS;
        source->bits = EMU_FUNCTION_BASE + (uint64_t)operand->index;
        return true;
    case EMU_OPERAND_SINK:
        source->kind = EMU_FROM_NOWHERE;
        return true;
    default:
        break;
    }
    return emu_fail(d->error, 0, "%s is no operand that can be read here",
                    operand->name ? operand->name : "this");
}

/* Whether it is a register of 128 bits: two slots, the low one first. */
static bool is_wide(const struct emu_decoder *d, const struct emu_operand *operand)
{
    return operand->kind == EMU_OPERAND_REGISTER &&
           d->function->registers[operand->reg].type == EMU_B128;
}

int emu_register_bytes(const struct emu_decoder *d, const struct emu_operand *operand)
{
    if (operand->kind == EMU_OPERAND_LIST && operand->item_count > 0)
        operand = &operand->items[0];
    return operand->kind == EMU_OPERAND_REGISTER && !is_wide(d, operand)
               ? emu_type_bytes(d->function->registers[operand->reg].type)
               : (int)sizeof(uint64_t);
}

bool emu_bind_result(struct emu_decoder *d, const struct emu_operand *operand, int *slot)
{
    *slot = -1;
    if (operand->kind == EMU_OPERAND_SINK)
        return true;
    if (operand->kind != EMU_OPERAND_REGISTER)
        return emu_fail(d->error, 0, "%s is no register to be written",
                        operand->name ? operand->name : "this");
    *slot = register_slot(d, operand);
    return true;
}

bool emu_bind_address(struct emu_decoder *d, const struct emu_operand *operand,
                      struct emu_source *source)
{
    if (operand->kind != EMU_OPERAND_ADDRESS || operand->item_count < 1)
        return emu_fail(d->error, 0, "%s is no address", operand->name ? operand->name : "this");

    const struct emu_operand *base = &operand->items[0];
    struct emu_operand plain = *base;

    plain.offset = 0;
    if (!emu_bind_source(d, &plain, EMU_U64, source))
        return false;
    source->offset = base->offset;
    return true;
}

/* ---- Lists ----
 *
 * None is empty: whoever adds a list may count on its first item. Registers of 128 bits are two
 * items, as instructions on them are vectors of two. */

static bool add_result(struct emu_decoder *d, struct emu_op *op, const struct emu_operand *operand)
{
    int *slots = &op->results[op->result_count], count = 1 + is_wide(d, operand);

    if (op->result_count + count > EMU_OP_RESULTS)
        return emu_fail(d->error, 0, "too many results");
    op->result_count += count;
    if (!emu_bind_result(d, operand, &slots[0]))
        return false;
    if (count == 2)
        slots[1] = slots[0] + 1;
    return true;
}

bool emu_add_results(struct emu_decoder *d, struct emu_op *op, const struct emu_operand *operand)
{
    bool is_list = operand->kind == EMU_OPERAND_LIST || operand->kind == EMU_OPERAND_BOTH;
    int count = is_list ? operand->item_count : 1;

    if (count == 0)
        return emu_fail(d->error, 0, "no results");
    for (int i = 0; i < count; i++)
        if (!add_result(d, op, is_list ? &operand->items[i] : operand))
            return false;
    return true;
}

static bool add_source(struct emu_decoder *d, struct emu_op *op, const struct emu_operand *operand,
                       enum emu_type type)
{
    struct emu_source *sources = &op->sources[op->source_count];
    int count = 1 + is_wide(d, operand);

    if (op->source_count + count > EMU_OP_SOURCES)
        return emu_fail(d->error, 0, "too many operands");
    op->source_count += count;
    if (!emu_bind_source(d, operand, type, &sources[0]))
        return false;
    if (count == 2) {
        sources[1] = sources[0];
        sources[1].slot++;
    }
    return true;
}

bool emu_add_sources(struct emu_decoder *d, struct emu_op *op, const struct emu_operand *operand,
                     enum emu_type type)
{
    bool is_list = operand->kind == EMU_OPERAND_LIST || operand->kind == EMU_OPERAND_BOTH;
    int count = is_list ? operand->item_count : 1;

    if (count == 0)
        return emu_fail(d->error, 0, "no operands");
    for (int i = 0; i < count; i++)
        if (!add_source(d, op, is_list ? &operand->items[i] : operand, type))
            return false;
    return true;
}

bool emu_bind_many(struct emu_decoder *d, const struct emu_operand *list, struct emu_op *op)
{
    op->many = calloc((size_t)list->item_count + 1, sizeof *op->many);
    if (!op->many)
        return emu_fail(d->error, 0, "no memory for a list of registers");
    op->many_count = list->item_count;
    for (int i = 0; i < list->item_count; i++)
        if (!emu_bind_result(d, &list->items[i], &op->many[i]) || op->many[i] < 0)
            return emu_fail(d->error, 0, "%s is no list of registers",
                            list->name ? list->name : "this");
    return true;
}

static enum emu_space space_of(const char *word)
{
    static const struct {
        const char *word;
        enum emu_space space;
    } spaces[] = {
        {"const", EMU_SPACE_CONST},
        {"global", EMU_SPACE_GLOBAL},
        {"local", EMU_SPACE_LOCAL},
        {"param", EMU_SPACE_PARAM},
        {"param::entry", EMU_SPACE_PARAM},
        {"param::func", EMU_SPACE_PARAM},
        {"shared", EMU_SPACE_SHARED},
        {"shared::cta", EMU_SPACE_SHARED},
        {"shared::cluster", EMU_SPACE_SHARED},
    };

    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (strcmp(spaces[i].word, word) == 0)
            return spaces[i].space;
    return EMU_SPACE_NONE;
}

void emu_set_default_words(struct emu_op *op, const struct emu_instruction *instruction)
{
    op->vector = 1;
    for (int i = 1; i < instruction->word_count; i++) {
        const char *word = instruction->words[i];

        if (op->space == EMU_SPACE_NONE)
            op->space = space_of(word);
        if (strcmp(word, "shared::cluster") == 0)
            op->cluster = true;
        if (word[0] == 'v' && word[1] >= '2' && word[1] <= '8' && word[2] == '\0')
            op->vector = word[1] - '0';
        if (strcmp(word, "aligned") == 0)
            op->aligned = true;
    }
    op->type = emu_last_type(instruction);
    if (op->type == EMU_B128) {
        op->type = EMU_B64;
        op->vector *= 2;
        op->wide = true;
    }
    op->bytes = emu_type_bytes(op->type);
}

/* ---- When it runs ---- */

/* What a source is in all lanes alike. */
static uint64_t value_for_all(const struct emu_warp *warp, const struct emu_group *group,
                              const struct emu_source *source)
{
    uint64_t rank = (uint64_t)warp->cta->rank << EMU_RANK_SHIFT;
    uint64_t offset = (uint64_t)source->offset;

    switch (source->kind) {
    case EMU_FROM_BITS:
        return source->bits + offset;
    case EMU_FROM_SHARED:
        return (rank | source->bits) + offset;
    case EMU_FROM_DYNAMIC:
        return (rank | warp->cta->cluster->run->dynamic_base) + source->bits + offset;
    case EMU_FROM_LOCAL:
        return group->frame->local_base + source->bits + offset;
    default:
        return 0;
    }
}

const uint64_t *emu_read(struct emu_warp *warp, const struct emu_group *group,
                         const struct emu_source *source, uint32_t mask, emu_lanes lanes)
{
    if (source->kind == EMU_FROM_SLOT) {
        const uint64_t *slot = emu_slot(group, source->slot);

        if (source->offset == 0)
            return slot;
        for (int lane = 0; lane < EMU_LANES; lane++)
            lanes[lane] = slot[lane] + (uint64_t)source->offset;
    } else if (source->kind == EMU_FROM_SPECIAL) {
        for (int lane = 0; lane < EMU_LANES; lane++)
            if (mask >> lane & 1)
                lanes[lane] = emu_special(warp, lane, source->special, source->part);
    } else {
        uint64_t value = value_for_all(warp, group, source);

        for (int lane = 0; lane < EMU_LANES; lane++)
            lanes[lane] = value;
    }
    return lanes;
}
