/* check_finding.c: what was found, in words: who, where in the text, which place in memory. */
#include "emulator/check_state.h"
#include "emulator/text_map.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINDINGS_MAX = 64,
    NEAR_BYTES = 1 << 20 /* behind an allocation: what lies there was meant to be in it */
};

/* ---- Sides ---- */

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* The address that an access goes to: the last in brackets of those that read, the first of others;
 * of a wgmma its operands. */
static void name_operand(char *name, size_t size, const struct emu_instruction *text, bool reads)
{
    name[0] = '\0';
    if (strcmp(text->words[0], "wgmma") == 0 || strcmp(text->words[0], "tcgen05") == 0) {
        for (int i = strcmp(text->words[0], "wgmma") == 0; i < 3 && i < text->operand_count; i++)
            if (text->operands[i].kind != EMU_OPERAND_LIST && text->operands[i].name)
                append(name, size, "%s%s", name[0] ? ", " : "", text->operands[i].name);
        return;
    }
    for (int i = 0; i < text->operand_count; i++) {
        const struct emu_operand *operand = &text->operands[i];

        if (operand->kind != EMU_OPERAND_ADDRESS || !operand->name)
            continue;
        snprintf(name, size, "%s", operand->name);
        if (!reads)
            return;
    }
}

/* The function whose instruction it is. */
static const struct emu_function *function_of(const struct emu_program *program,
                                              const struct emu_op *op, int *index)
{
    for (int f = 0; f < program->module->function_count; f++) {
        const struct emu_code *code = &program->codes[f];

        if (code->ops && op >= code->ops && op < code->ops + code->op_count) {
            *index = (int)(op - code->ops);
            return code->function;
        }
    }
    return NULL;
}

const char *emu_check_role(const struct emu_program *program, const struct emu_op *op)
{
    int index = 0;
    const struct emu_function *function = function_of(program, op, &index);
    const char *heading = function && op->text
                              ? emu_text_map_heading(&program->map, function->line, op->text->line)
                              : NULL;

    for (; !heading && function && index >= 0; index--)
        heading = function->labels[index];
    return heading ? heading : "";
}

static void fill_side(struct emu_finding_side *side, const struct emu_program *program,
                      const struct emu_op *op, uint32_t kind)
{
    side->reads = kind & EMU_READS;
    side->writes = kind & EMU_WRITES;
    if (!op || !op->text)
        return;
    side->line = op->text->line;
    snprintf(side->role, sizeof side->role, "%s", emu_check_role(program, op));
    snprintf(side->instruction, sizeof side->instruction, "%s", op->text->opcode);
    name_operand(side->operand, sizeof side->operand, op->text, side->reads && !side->writes);
}

/* ---- Places ---- */

static void name_part(char *object, size_t size, const char *name, uint64_t offset)
{
    if (offset > 0)
        snprintf(object, size, "%s + %llu", name, (unsigned long long)offset);
    else
        snprintf(object, size, "%s", name);
}

static bool name_variable(char *object, size_t size, const struct emu_variable *variable,
                          uint64_t base, uint64_t address)
{
    if (variable->space != EMU_SPACE_SHARED || address < base || address - base >= variable->bytes)
        return false;
    name_part(object, size, variable->name, address - base);
    return true;
}

static bool name_static(char *object, size_t size, const struct emu_run *run, uint64_t address)
{
    const struct emu_program *program = run->program;
    const struct emu_module *module = program->module;

    for (int i = 0; i < module->variable_count; i++)
        if (name_variable(object, size, &module->variables[i], program->addresses[i], address))
            return true;
    for (int i = 0; i < run->code->function->local_count; i++)
        if (name_variable(object, size, &run->code->function->locals[i],
                          run->code->local_offsets[i], address))
            return true;
    return false;
}

static void name_tensor(char *object, size_t size, const struct emu_run *run,
                        const struct emu_cta *cta, uint64_t cell)
{
    snprintf(object, size, "tensor memory, lane %u, column %u", (unsigned)(cell / EMU_TMEM_COLUMNS),
             (unsigned)(cell % EMU_TMEM_COLUMNS));
    if (run->cluster_ctas > 1)
        append(object, size, " of rank %u", cta->rank);
}

static void name_shared(char *object, size_t size, const struct emu_run *run,
                        const struct emu_cta *cta, uint64_t address)
{
    const struct emu_region *region;
    uint32_t offset = (uint32_t)address - run->dynamic_base;

    if (address >= cta->shared_bytes) {
        snprintf(object, size, "what is behind shared memory, of %u bytes", cta->shared_bytes);
    } else if (address >= run->dynamic_base) {
        region = emu_text_map_region(&run->program->map, offset);
        if (region)
            name_part(object, size, region->name, offset - region->offset);
        else
            name_part(object, size, "dynamic shared memory", offset);
    } else if (!name_static(object, size, run, address)) {
        snprintf(object, size, "shared memory");
    }
    append(object, size, " (shared 0x%llx", (unsigned long long)address);
    if (run->cluster_ctas > 1)
        append(object, size, " of rank %u", cta->rank);
    append(object, size, ")");
}

/* By the parameter that points into the same allocation, or into the nearest that ends before. */
static void name_global(char *object, size_t size, const struct emu_run *run, uint64_t address)
{
    const struct emu_function *function = run->code->function;
    uint64_t base, bytes, nearest = NEAR_BYTES;

    snprintf(object, size, "global 0x%llx", (unsigned long long)address);
    for (int i = 0; i < function->param_count && nearest > 0; i++) {
        uint64_t pointer, behind;

        if (function->params[i].bytes != sizeof pointer)
            continue;
        memcpy(&pointer, run->params + run->code->argument_offsets[i], sizeof pointer);
        if (address < pointer || !emu_range(run->device, pointer, &base, &bytes))
            continue;
        behind = address - base < bytes ? 0 : address - base - bytes + 1;
        if (behind >= nearest)
            continue;
        nearest = behind;
        name_part(object, size, function->params[i].name, address - pointer);
        if (behind)
            append(object, size, ", of %llu bytes", (unsigned long long)(base + bytes - pointer));
        append(object, size, " (global 0x%llx)", (unsigned long long)address);
    }
}

static void name_register(char *object, size_t size, const struct emu_frame *frame, int slot)
{
    const struct emu_function *function = frame->code->function;

    for (int i = 0; i < function->register_count; i++) {
        const struct emu_register *one = &function->registers[i];

        if (slot >= one->slot && slot < one->slot + emu_register_slots(one))
            snprintf(object, size, "register %s", one->name);
    }
}

/* ---- The list ---- */

static struct emu_finding *known(struct emu_check *check, const struct emu_found *found)
{
    const struct emu_op *other = found->other ? found->other->op : NULL;

    for (size_t i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].finding.code, found->code) == 0 &&
            (check->findings[i].op == found->op || found->is_one_of_many) &&
            check->findings[i].other == other)
            return &check->findings[i].finding;
    return NULL;
}

static struct emu_finding *add(struct emu_check *check, const struct emu_found *found)
{
    struct emu_known_finding *one;

    if (!check->findings)
        check->findings = calloc(FINDINGS_MAX, sizeof *check->findings);
    if (!check->findings || check->finding_count == FINDINGS_MAX)
        return NULL;
    one = &check->findings[check->finding_count++];
    *one = (struct emu_known_finding){.op = found->op,
                                      .other = found->other ? found->other->op : NULL};
    return &one->finding;
}

static void fill(struct emu_finding *finding, const struct emu_found *found)
{
    const struct emu_run *run = found->warp->cta->cluster->run;

    finding->code = found->code;
    finding->needed = found->needed;
    finding->is_warning = found->is_warning;
    finding->times = 1;
    snprintf(finding->kernel, sizeof finding->kernel, "%s", run->code->function->name);
    memcpy(finding->who.cta, found->warp->cta->id, sizeof finding->who.cta);
    finding->who.warp = found->is_of_cta ? -1 : found->warp->index;
    finding->who.lane = found->lane;
    fill_side(&finding->who, run->program, found->op, found->kind);
    finding->has_other = found->other != NULL;
    if (found->other) {
        memcpy(finding->other.cta, found->other->cta, sizeof finding->other.cta);
        finding->other.warp = found->other->warp;
        finding->other.lane = found->other_lane - 1;
        fill_side(&finding->other, run->program, found->other->op, found->other->kind);
    }
    if (found->frame)
        name_register(finding->object, sizeof finding->object, found->frame, found->slot);
    else if (found->has_address && found->cta && found->address >= EMU_TMEM_AT)
        name_tensor(finding->object, sizeof finding->object, run, found->cta,
                    found->address - EMU_TMEM_AT);
    else if (found->has_address && found->cta)
        name_shared(finding->object, sizeof finding->object, run, found->cta, found->address);
    else if (found->has_address)
        name_global(finding->object, sizeof finding->object, run, found->address);
    snprintf(finding->what, sizeof finding->what, "%s", found->what);
}

void emu_check_found(const struct emu_found *found)
{
    struct emu_device *device = found->warp->cta->cluster->run->device;
    struct emu_finding *finding = known(device->check, found);
    char text[EMU_MESSAGE_SIZE];

    if (finding) {
        finding->times++;
        return;
    }
    finding = add(device->check, found);
    if (!finding)
        return;
    fill(finding, found);
    if (device->check->options.goes_on || found->is_warning)
        return;
    emu_finding_text(finding, text, sizeof text);
    emu_found_fault(found->warp, text);
}

void emu_check_note(struct emu_check *check, const struct emu_found *found)
{
    struct emu_finding *finding = add(check, found);

    if (finding)
        fill(finding, found);
}

/* ---- In words ---- */

static void append_side(char *text, size_t size, const struct emu_finding_side *side)
{
    append(text, size, "CTA (%u,%u,%u)", side->cta[0], side->cta[1], side->cta[2]);
    if (side->warp >= 0)
        append(text, size, " warp %d", side->warp);
    if (side->lane >= 0)
        append(text, size, " lane %d", side->lane);
    if (side->role[0])
        append(text, size, " (%s)", side->role);
    if (side->line > 0)
        append(text, size, ", line %d, %s", side->line, side->instruction);
    if (side->operand[0])
        append(text, size, " %s", side->operand);
}

static const char *verb_of(const struct emu_finding_side *side)
{
    return side->reads && side->writes ? "updates"
           : side->writes              ? "writes"
           : side->reads               ? "reads"
                                       : "at";
}

void emu_finding_text(const struct emu_finding *finding, char *text, size_t size)
{
    text[0] = '\0';
    append(text, size, "%s%s: %s: ", finding->is_warning ? "warning: " : "", finding->code,
           finding->kernel);
    append_side(text, size, &finding->who);
    if (finding->object[0])
        append(text, size, " %s %s", verb_of(&finding->who), finding->object);
    if (finding->has_other) {
        append(text, size, "\n  and ");
        append_side(text, size, &finding->other);
        if (finding->object[0] && (finding->other.reads || finding->other.writes))
            append(text, size, " %s %s", verb_of(&finding->other),
                   finding->who.reads || finding->who.writes ? "it" : "there");
    }
    append(text, size, ": %s", finding->what);
    if (finding->needed)
        append(text, size, "\n  needed: %s", finding->needed);
}

/* ---- For others ---- */

size_t emu_device_findings(const struct emu_device *device)
{
    return device->check ? device->check->finding_count : 0;
}

const struct emu_finding *emu_device_finding(const struct emu_device *device, size_t index)
{
    return &device->check->findings[index].finding;
}

void emu_device_forget(struct emu_device *device)
{
    if (device->check)
        device->check->finding_count = 0;
}
