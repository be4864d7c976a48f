/* trace.c: events of launches whose time is modelled. */
#include "emulator/trace.h"

#include "emulator/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MOST = 1 << 20, NAME_SIZE = 96, NAMES_MOST = 4096, WARPS_OF_A_GROUP = 4 };

/* ---- Lives ---- */

struct emu_trace *emu_trace_create(const struct emu_trace_options *options)
{
    struct emu_trace *trace = calloc(1, sizeof *trace);

    if (!trace)
        return NULL;
    if (options)
        trace->options = *options;
    if (trace->options.clusters == 0)
        trace->options.clusters = 1;
    if (trace->options.events_most == 0)
        trace->options.events_most = EVENTS_MOST;
    return trace;
}

void emu_trace_forget(struct emu_trace *trace)
{
    for (size_t i = 0; i < trace->name_count; i++)
        free(trace->names[i]);
    trace->name_count = trace->count = 0;
    trace->summary = (struct emu_trace_summary){.cycles = 0};
}

void emu_trace_destroy(struct emu_trace *trace)
{
    if (!trace)
        return;
    emu_trace_forget(trace);
    free(trace->names);
    free(trace->events);
    free(trace);
}

/* ---- What is kept ---- */

/* False where there is no room for one more. */
static bool grow(void **list, size_t count, size_t *room, size_t size, size_t most)
{
    size_t wanted = *room ? 2 * *room : 64;
    void *grown;

    if (count < *room)
        return true;
    wanted = wanted < most ? wanted : most;
    grown = count < wanted ? realloc(*list, wanted * size) : NULL;
    if (!grown)
        return false;
    *list = grown;
    *room = wanted;
    return true;
}

static void add(struct emu_trace *trace, const struct emu_event *event)
{
    if (!grow((void **)&trace->events, trace->count, &trace->room, sizeof *event,
              trace->options.events_most)) {
        trace->summary.events_lost++;
        return;
    }
    trace->events[trace->count] = *event;
    trace->events[trace->count++].launch = (uint32_t)trace->summary.launches;
}

static const char *keep(struct emu_trace *trace, const char *name)
{
    size_t length = strlen(name);
    char *copy;

    for (size_t i = trace->name_count; i-- > 0;)
        if (strcmp(trace->names[i], name) == 0)
            return trace->names[i];
    if (!grow((void **)&trace->names, trace->name_count, &trace->name_room, sizeof(char *),
              NAMES_MOST))
        return "";
    copy = malloc(length + 1);
    if (!copy)
        return "";
    memcpy(copy, name, length + 1);
    return trace->names[trace->name_count++] = copy;
}

static struct emu_trace *trace_of(const struct emu_cta *cta)
{
    return cta->cluster->run->timed->trace;
}

static bool is_kept(const struct emu_cta *cta)
{
    return cta->warps[0].timed && cta->warps[0].timed->trace;
}

static struct emu_event event_of(const struct emu_cta *cta, enum emu_event_kind kind,
                                 uint64_t begin, uint64_t end)
{
    struct emu_event event = {
        .kind = (int32_t)kind, .begin = begin, .end = end, .warp = -1, .role = "", .name = ""};

    memcpy(event.cta, cta->id, sizeof event.cta);
    return event;
}

/* ---- Launches and clusters ---- */

void emu_trace_begin(struct emu_run *run)
{
    struct emu_trace_summary *summary = &run->device->trace->summary;
    uint64_t ctas = (uint64_t)run->cluster_room * run->cluster_ctas;

    run->device->trace->first = run->device->trace->count;
    run->device->trace->barrier_count = 0;
    summary->multiprocessors = ctas < run->timed->sm_count ? ctas : run->timed->sm_count;
}

/* Phases end before anyone has said how the barrier is called. */
static void name_phases(struct emu_trace *trace)
{
    for (size_t i = trace->first; i < trace->count; i++)
        for (size_t k = 0; trace->events[i].kind == EMU_EVENT_PHASE && k < trace->barrier_count;
             k++)
            if (trace->barriers[k].address == trace->events[i].address)
                trace->events[i].name = trace->barriers[k].name;
}

/* What the board's power leaves of the clock, under the load of all launches so far, of `count`
 * multiprocessors, busy or not. */
static uint64_t clock_under(const struct emu_timing *timing,
                            const struct emu_trace_summary *summary, uint32_t count)
{
    uint64_t whole = summary->cycles * count,
             percent = whole ? 100 * summary->tensor_cycles / whole : 0,
             above =
                 percent > timing->power_from_percent ? percent - timing->power_from_percent : 0;

    return (uint64_t)timing->clock_khz * 10000 / (10000 + above * timing->power_slope);
}

void emu_trace_end(struct emu_run *run)
{
    struct emu_trace *trace = run->device->trace;

    name_phases(trace);
    trace->summary.cycles += run->timed->now;
    trace->summary.launches++;
    trace->summary.clock_khz =
        clock_under(run->timed->timing, &trace->summary, run->timed->sm_count);
}

bool emu_trace_begin_cluster(struct emu_cluster *cluster)
{
    const struct emu_trace_options *options = &cluster->run->timed->trace->options;
    uint32_t warps = cluster->ctas[0].warp_count;
    struct emu_trace_warp *list;

    if (cluster->index - options->first_cluster >= options->clusters)
        return true;
    list = calloc((size_t)warps * cluster->cta_count, sizeof *list);
    if (!list)
        return false;
    for (uint32_t i = 0; i < warps * cluster->cta_count; i++) {
        cluster->timed->warps[i].trace = &list[i];
        list[i].since = cluster->timed->next;
    }
    return true;
}

void emu_trace_end_cluster(struct emu_cluster *cluster)
{
    uint32_t warps = cluster->ctas[0].warp_count;

    if (!cluster->timed->warps[0].trace)
        return;
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t w = 0; w < warps; w++)
            emu_trace_exit(&cluster->ctas[i].warps[w]);
    free(cluster->timed->warps[0].trace);
    cluster->timed->warps[0].trace = NULL;
}

/* ---- Warps ---- */

static void end_span(struct emu_warp *warp)
{
    struct emu_trace_warp *own = warp->timed->trace;
    uint64_t now = warp->cta->cluster->run->timed->now;
    struct emu_event event = event_of(warp->cta, EMU_EVENT_RUN, own->since, now);

    if (own->waits) {
        event = own->wait;
        event.end = now;
    }
    event.warp = warp->index;
    event.role = own->role;
    if (!own->waits)
        event.line = own->line;
    if ((own->waits || own->runs) && event.begin < event.end)
        add(trace_of(warp->cta), &event);
    own->waits = own->runs = false;
    own->since = now;
}

/* Under another heading it is in another role. */
static void set_role(struct emu_warp *warp, const struct emu_code *code, const struct emu_op *op)
{
    struct emu_trace_warp *own = warp->timed->trace;
    const struct emu_program *program = warp->cta->cluster->run->program;
    const char *heading =
        op->text ? emu_text_map_heading(&program->map, code->function->line, op->text->line) : NULL;

    heading = heading ? heading : code->function->name;
    if (own->heading == heading)
        return;
    end_span(warp);
    own->heading = heading;
    own->role = keep(trace_of(warp->cta), heading);
}

static void note_commit(struct emu_warp *warp, const struct emu_op *op)
{
    uint64_t now = warp->cta->cluster->run->timed->now;
    struct emu_event event = event_of(warp->cta, EMU_EVENT_COMMIT, now, now);

    if (op->cost != EMU_COST_GROUP || !emu_has_word(op->text, "commit_group"))
        return;
    event.warp = warp->index;
    event.line = op->text->line;
    event.role = warp->timed->trace->role;
    event.name = keep(trace_of(warp->cta), op->text->opcode);
    add(trace_of(warp->cta), &event);
}

void emu_trace_issue(struct emu_warp *warp, const struct emu_issue *issue)
{
    struct emu_trace_warp *own = warp->timed->trace;

    if (!own || !issue->op->text)
        return;
    if (own->waits)
        end_span(warp);
    if (issue->op->cost != EMU_COST_BRANCH || !own->role) /* a role that is jumped over is none */
        set_role(warp, issue->code, issue->op);
    if (!own->runs)
        own->line = issue->op->text->line;
    own->runs = true;
    if (issue->mask)
        note_commit(warp, issue->op);
}

void emu_trace_exit(struct emu_warp *warp)
{
    if (warp->timed->trace)
        end_span(warp);
}

/* ---- Waits ---- */

/* Of a warp's groups the one that is furthest behind holds up the rest. */
static const struct emu_group *behind(const struct emu_warp *warp)
{
    const struct emu_group *found = &warp->groups[0];

    for (int i = 1; i < warp->group_count; i++)
        if (warp->groups[i].at < found->at)
            found = &warp->groups[i];
    return found;
}

/* Of "[%full+8]", "[%map, {%x, %y}]" the register: %full, %map. */
static const char *name_of_address(struct emu_trace *trace, const struct emu_operand *operand)
{
    char name[NAME_SIZE];
    const char *from = operand->name ? operand->name : "";

    from += *from == '[';
    snprintf(name, sizeof name, "%.*s", (int)strcspn(from, "+,]"), from);
    return keep(trace, name);
}

/* The instruction, and what it waits at where that is not its own. */
static const char *name_of(struct emu_trace *trace, const struct emu_instruction *text)
{
    char name[NAME_SIZE];
    const struct emu_operand *first = text->operand_count > 0 ? &text->operands[0] : NULL;

    snprintf(name, sizeof name, "%s%s%s", text->opcode, first && first->name ? " " : "",
             first && first->name ? first->name : "");
    return keep(trace, name);
}

static void learn(struct emu_trace *trace, uint32_t address, const char *name)
{
    for (size_t i = 0; i < trace->barrier_count; i++)
        if (trace->barriers[i].address == address)
            return;
    if (trace->barrier_count < EMU_TRACE_BARRIERS)
        trace->barriers[trace->barrier_count++] = (struct emu_trace_barrier){address, name};
}

static void set_phase(struct emu_trace *trace, const struct emu_group *group,
                      struct emu_event *wait)
{
    wait->name = name_of_address(trace, &group->vain->text->operands[1]);
    wait->address = group->vain_offset;
    wait->value = group->vain_parity;
    learn(trace, wait->address, wait->name);
}

static void begin_wait(struct emu_warp *warp, const struct emu_group *group)
{
    struct emu_trace_warp *own = warp->timed->trace;
    struct emu_trace *trace = trace_of(warp->cta);
    uint64_t now = warp->cta->cluster->run->timed->now;
    bool on_phase = group->status == EMU_YIELDED && group->vain;
    const struct emu_op *op = on_phase ? group->vain : &group->frame->code->ops[group->at];

    if (!op->text)
        return;
    set_role(warp, group->frame->code, op);
    end_span(warp);
    own->waits = true;
    own->wait = event_of(warp->cta, EMU_EVENT_WAIT, now, now);
    own->wait.line = op->text->line;
    if (on_phase)
        set_phase(trace, group, &own->wait);
    else
        own->wait.name = name_of(trace, op->text);
}

void emu_trace_sleep(struct emu_warp *warp)
{
    if (warp->timed->trace && warp->live)
        begin_wait(warp, behind(warp));
}

/* ---- Units ---- */

static const char *role_of_warp(const struct emu_warp *warp)
{
    const struct emu_trace_warp *own = warp->timed->trace;

    return own && own->role ? own->role : "";
}

/* Of a tensor's copy its map, else the instruction. */
static const char *name_of_copy(struct emu_trace *trace, const struct emu_instruction *text)
{
    for (int i = 0; i < text->operand_count; i++)
        if (text->operands[i].kind == EMU_OPERAND_ADDRESS && text->operands[i].item_count == 2)
            return name_of_address(trace, &text->operands[i]);
    return keep(trace, text->opcode);
}

/* A copy to another CTA is that one's event. */
void emu_trace_copy(const struct emu_async *work, uint64_t begin, uint64_t end)
{
    bool from_shared = work->is_tensor ? !work->copy.is_load : work->cta != NULL;
    const struct emu_cta *cta = work->barrier_cta ? work->barrier_cta : work->warp->cta;
    enum emu_event_kind kind = !from_shared    ? EMU_EVENT_COPY
                               : work->is_read ? EMU_EVENT_WRITE
                                               : EMU_EVENT_READ;
    struct emu_event event = event_of(cta, kind, begin, end);

    if (!is_kept(cta) || (!from_shared && work->is_read && work->op->cost != EMU_COST_REMOTE))
        return;
    event.warp = work->warp->index;
    event.line = work->op->text->line;
    event.bytes = work->announced;
    event.address = work->barrier_cta ? work->barrier : 0;
    event.role = role_of_warp(work->warp);
    event.name = name_of_copy(trace_of(cta), work->op->text);
    add(trace_of(cta), &event);
}

/* "m64n256k16" */
static const char *shape_of(struct emu_trace *trace, const struct emu_instruction *text)
{
    for (int i = 1; i < text->word_count; i++)
        if (strncmp(text->words[i], "m64", 3) == 0)
            return keep(trace, text->words[i]);
    return keep(trace, text->opcode);
}

void emu_trace_product(struct emu_warp *warp, const struct emu_op *op, uint32_t columns,
                       uint64_t begin, uint64_t end)
{
    struct emu_event event = event_of(warp->cta, EMU_EVENT_PRODUCT, begin, end);

    if (!is_kept(warp->cta))
        return;
    event.warp = warp->index / WARPS_OF_A_GROUP * WARPS_OF_A_GROUP;
    event.line = op->text->line;
    event.value = columns;
    event.role = role_of_warp(warp);
    event.name = shape_of(trace_of(warp->cta), op->text);
    add(trace_of(warp->cta), &event);
}

/* ---- Barriers ---- */

void emu_trace_phase(const struct emu_mbarrier *barrier)
{
    const struct emu_cta *cta = barrier->cta;
    uint64_t now = cta->cluster->run->timed->now;
    struct emu_event event = event_of(cta, EMU_EVENT_PHASE, now, now);

    if (!is_kept(cta))
        return;
    event.address = barrier->offset;
    event.value = (uint32_t)(barrier->phase - 1);
    event.name = keep(trace_of(cta), "mbarrier");
    add(trace_of(cta), &event);
}

void emu_trace_barrier(const struct emu_cta *cta, const struct emu_named_barrier *barrier)
{
    uint64_t now = cta->cluster->run->timed->now;
    struct emu_event event = event_of(cta, EMU_EVENT_BARRIER, now, now);

    if (!is_kept(cta))
        return;
    event.value = (uint32_t)(barrier - cta->barriers);
    event.name = keep(trace_of(cta), "barrier");
    add(trace_of(cta), &event);
}
