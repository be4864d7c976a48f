/* trace_events.c: which warps are shown, and the timeline. */
#include "cli/trace_events.h"

#include "cli/file.h"
#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLES_MAX = 64, FOUR = 4, NAME_SIZE = 160 };

/* ---- Warps ---- */

static int compare_ctas(const uint32_t a[3], const uint32_t b[3])
{
    for (int i = 2; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool is_of(const struct lathe_trace_event *event, const struct trace_warp *warp)
{
    return event->warp == warp->warp && compare_ctas(event->cta, warp->cta) == 0;
}

static bool is_span(const struct lathe_trace_event *event)
{
    return event->kind == LATHE_TRACE_RUN || event->kind == LATHE_TRACE_WAIT;
}

static int by_place(const void *a, const void *b)
{
    const struct trace_warp *x = a, *y = b;
    int order = compare_ctas(x->cta, y->cta);

    return order ? order : x->warp < y->warp ? -1 : x->warp > y->warp;
}

static struct trace_warp *find_warp(struct trace_view *view, const struct lathe_trace_event *event)
{
    for (size_t i = view->warp_count; i-- > 0;)
        if (is_of(event, &view->warps[i]))
            return &view->warps[i];
    return NULL;
}

static struct trace_warp *add_warp(struct trace_view *view, const struct lathe_trace_event *event)
{
    struct trace_warp *grown = realloc(view->warps, (view->warp_count + 1) * sizeof *view->warps);

    if (!grown)
        return NULL;
    view->warps = grown;
    grown += view->warp_count++;
    *grown = (struct trace_warp){.warp = event->warp, .role = event->role};
    memcpy(grown->cta, event->cta, sizeof grown->cta);
    return grown;
}

/* Words of a trace are there once, so that a role is its address. */
static int index_of(const char *role, const char *roles[ROLES_MAX], int *count)
{
    int i = 0;

    while (i < *count && roles[i] != role)
        i++;
    if (i == *count && i < ROLES_MAX - 1)
        roles[(*count)++] = role;
    return i;
}

static bool list_warps(struct trace_view *view)
{
    const char *roles[ROLES_MAX];
    int role_count = 0;

    for (size_t i = 0; i < view->count; i++) {
        const struct lathe_trace_event *event = &view->events[i];
        struct trace_warp *warp;

        if (!is_span(event))
            continue;
        warp = find_warp(view, event);
        if (!warp)
            warp = add_warp(view, event);
        if (!warp)
            return false;
        if (event->kind == LATHE_TRACE_RUN)
            warp->cycles += event->end - event->begin;
        warp->roles |= (uint64_t)1 << index_of(event->role, roles, &role_count);
    }
    qsort(view->warps, view->warp_count, sizeof *view->warps, by_place);
    return true;
}

static bool is_of_four(const struct trace_warp *a, const struct trace_warp *b)
{
    return compare_ctas(a->cta, b->cta) == 0 && a->warp / FOUR == b->warp / FOUR;
}

/* The busiest of those that have a role which none that is kept has. */
static struct trace_warp *next_of_four(struct trace_warp *four, size_t count, uint64_t roles)
{
    struct trace_warp *best = NULL;

    for (size_t i = 0; i < count; i++)
        if ((four[i].roles & ~roles) && (!best || four[i].cycles > best->cycles))
            best = &four[i];
    return best;
}

/* What is kept moves to the front; returns how many there are. */
static size_t choose_of_four(struct trace_warp *four, size_t count)
{
    struct trace_warp *next;
    uint64_t roles = 0;
    size_t kept = 0;

    while ((next = next_of_four(four, count, roles)) != NULL) {
        struct trace_warp moved = *next;

        *next = four[kept];
        four[kept++] = moved;
        roles |= moved.roles;
    }
    qsort(four, kept, sizeof *four, by_place);
    return kept;
}

static void choose_warps(struct trace_view *view)
{
    size_t kept = 0, begin = 0, end;

    for (; begin < view->warp_count; begin = end) {
        size_t count;

        for (end = begin;
             end < view->warp_count && is_of_four(&view->warps[begin], &view->warps[end]);)
            end++;
        count = choose_of_four(view->warps + begin, end - begin);
        memmove(view->warps + kept, view->warps + begin, count * sizeof *view->warps);
        kept += count;
    }
    view->warp_count = kept;
}

static uint64_t cycles_in(const struct trace_view *view, const struct trace_warp *warp,
                          const char *role)
{
    uint64_t cycles = 0;

    for (size_t i = 0; i < view->count; i++)
        if (is_span(&view->events[i]) && is_of(&view->events[i], warp) &&
            view->events[i].role == role)
            cycles += view->events[i].end - view->events[i].begin;
    return cycles;
}

static void name_warps(struct trace_view *view)
{
    for (size_t w = 0; w < view->warp_count; w++) {
        struct trace_warp *warp = &view->warps[w];
        const char *seen = NULL;
        uint64_t most = 0;

        for (size_t i = 0; i < view->count; i++) {
            const struct lathe_trace_event *event = &view->events[i];

            if (!is_span(event) || !is_of(event, warp) || event->role == seen)
                continue;
            seen = event->role;
            if (seen == warp->role && most > 0)
                continue;

            uint64_t cycles = cycles_in(view, warp, seen);

            if (cycles > most) {
                most = cycles;
                warp->role = seen;
            }
        }
    }
}

bool trace_view_open(struct trace_view *view, const struct lathe_trace *trace, bool all_warps)
{
    *view = (struct trace_view){.total = lathe_trace_total(trace)};
    view->events = lathe_trace_events(trace, &view->count);
    if (!list_warps(view))
        return false;
    if (!all_warps)
        choose_warps(view);
    name_warps(view);
    return true;
}

void trace_view_close(struct trace_view *view)
{
    free(view->warps);
    view->warps = NULL;
}

/* ---- The timeline ---- */

/* Tracks of a CTA, by their numbers: the warps' from 1 on, then these. */
enum { TENSOR = 1000, BARRIERS = 1001, COPIES_IN = 1100, COPIES_OUT = 1300, LANES_MAX = 200 };

struct timeline {
    const struct trace_view *view;
    json_t *events;
    int process; /* of the CTA that is written */
    uint32_t cta[3];
    uint64_t lanes[2][LANES_MAX]; /* in, out: when the last copy of each ends */
    int lane_count[2];
};

static void add_name(struct timeline *t, const char *kind, int track, const char *name)
{
    json_array_append_new(t->events,
                          json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", kind, "ph", "M", "pid",
                                    t->process, "tid", track, "args", "name", name));
}

/* Tracks stand in the order of their numbers. */
static void name_track(struct timeline *t, int track, const char *name)
{
    add_name(t, "thread_name", track, name);
    json_array_append_new(t->events, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "name",
                                               "thread_sort_index", "ph", "M", "pid", t->process,
                                               "tid", track, "args", "sort_index", track));
}

static void name_unit(struct timeline *t, int track, const char *what, int number)
{
    char name[NAME_SIZE];

    if (number > 0)
        snprintf(name, sizeof name, "%s %d", what, number + 1);
    else
        snprintf(name, sizeof name, "%s", what);
    name_track(t, track, name);
}

static json_t *details(const struct lathe_trace_event *event)
{
    json_t *args = json_object();

    if (event->role[0])
        json_object_set_new(args, "role", json_string(event->role));
    if (event->warp >= 0)
        json_object_set_new(args, "warp", json_integer(event->warp));
    if (event->line > 0)
        json_object_set_new(args, "line", json_integer(event->line));
    if (event->bytes > 0)
        json_object_set_new(args, "bytes", json_integer((json_int_t)event->bytes));
    if (event->address > 0) {
        char address[16];

        snprintf(address, sizeof address, "0x%x", event->address);
        json_object_set_new(args, "mbarrier", json_string(address));
    }
    if (event->kind == LATHE_TRACE_WAIT && event->address > 0)
        json_object_set_new(args, "parity", json_integer((json_int_t)event->value));
    if (event->kind == LATHE_TRACE_PRODUCT)
        json_object_set_new(args, "n", json_integer((json_int_t)event->value));
    if (event->kind == LATHE_TRACE_PHASE)
        json_object_set_new(args, "phase", json_integer((json_int_t)event->value));
    return args;
}

static void name_event(const struct lathe_trace_event *event, char name[NAME_SIZE])
{
    switch (event->kind) {
    case LATHE_TRACE_RUN:
        snprintf(name, NAME_SIZE, "%s", event->role);
        break;
    case LATHE_TRACE_WAIT:
        snprintf(name, NAME_SIZE, "wait %s", event->name);
        break;
    case LATHE_TRACE_READ:
    case LATHE_TRACE_WRITE:
        snprintf(name, NAME_SIZE, "%s %s", event->name,
                 event->kind == LATHE_TRACE_READ ? "read" : "written");
        break;
    case LATHE_TRACE_PHASE:
        snprintf(name, NAME_SIZE, "%s 0x%x", event->name, event->address);
        break;
    case LATHE_TRACE_BARRIER:
        snprintf(name, NAME_SIZE, "barrier %u", event->value);
        break;
    default:
        snprintf(name, NAME_SIZE, "%s", event->name);
    }
}

static void add_event(struct timeline *t, const struct lathe_trace_event *event, int track)
{
    static const char *const categories[] = {"run",   "wait",    "copy",    "copy",  "copy",
                                             "wgmma", "barrier", "barrier", "commit"};
    char name[NAME_SIZE];
    json_t *object;

    name_event(event, name);
    object = json_pack("{s:s, s:s, s:I, s:i, s:i, s:o}", "name", name, "cat",
                       categories[event->kind], "ts", (json_int_t)event->begin, "pid", t->process,
                       "tid", track, "args", details(event));
    if (event->begin < event->end) {
        json_object_set_new(object, "ph", json_string("X"));
        json_object_set_new(object, "dur", json_integer((json_int_t)(event->end - event->begin)));
    } else {
        json_object_set_new(object, "ph", json_string("i"));
        json_object_set_new(object, "s", json_string("t"));
    }
    json_array_append_new(t->events, object);
}

/* Copies overlap: each goes to the first lane that is free again, or to a new one. */
static int lane_of(struct timeline *t, const struct lathe_trace_event *event)
{
    int way = event->kind != LATHE_TRACE_COPY, lane = 0;
    int first = way ? COPIES_OUT : COPIES_IN;

    while (lane < t->lane_count[way] && t->lanes[way][lane] > event->begin)
        lane++;
    if (lane == LANES_MAX)
        return -1;
    if (lane == t->lane_count[way]) {
        t->lane_count[way]++;
        name_unit(t, first + lane, way ? "TMA out" : "TMA in", lane);
    }
    t->lanes[way][lane] = event->end;
    return first + lane;
}

static void add_of_unit(struct timeline *t, const struct lathe_trace_event *event)
{
    int track = -1;

    switch (event->kind) {
    case LATHE_TRACE_PRODUCT:
        track = TENSOR;
        break;
    case LATHE_TRACE_PHASE:
    case LATHE_TRACE_BARRIER:
        track = BARRIERS;
        break;
    case LATHE_TRACE_COPY:
    case LATHE_TRACE_READ:
    case LATHE_TRACE_WRITE:
        track = lane_of(t, event);
        break;
    default:
        break;
    }
    if (track >= 0)
        add_event(t, event, track);
}

static void add_warps(struct timeline *t)
{
    int track = 0;

    for (size_t w = 0; w < t->view->warp_count; w++) {
        const struct trace_warp *warp = &t->view->warps[w];
        char name[NAME_SIZE];

        if (compare_ctas(warp->cta, t->cta) != 0)
            continue;
        snprintf(name, sizeof name, "%s (warp %d)", warp->role, warp->warp);
        name_track(t, ++track, name);
        for (size_t i = 0; i < t->view->count; i++) {
            const struct lathe_trace_event *event = &t->view->events[i];

            if (is_of(event, warp) && (is_span(event) || event->kind == LATHE_TRACE_COMMIT))
                add_event(t, event, track);
        }
    }
}

static void add_cta(struct timeline *t, const uint32_t cta[3])
{
    char name[NAME_SIZE];

    t->process++;
    memcpy(t->cta, cta, sizeof t->cta);
    memset(t->lane_count, 0, sizeof t->lane_count);
    snprintf(name, sizeof name, "CTA (%u,%u,%u)", cta[0], cta[1], cta[2]);
    add_name(t, "process_name", 0, name);
    add_warps(t);
    name_track(t, TENSOR, "tensor cores");
    name_track(t, BARRIERS, "barriers");
    for (size_t i = 0; i < t->view->count; i++)
        if (compare_ctas(t->view->events[i].cta, cta) == 0)
            add_of_unit(t, &t->view->events[i]);
}

static json_t *timeline_json(const struct trace_view *view, const char *title)
{
    struct timeline t = {.view = view, .events = json_array()};

    for (size_t w = 0; w < view->warp_count; w++)
        if (w == 0 || compare_ctas(view->warps[w].cta, view->warps[w - 1].cta) != 0)
            add_cta(&t, view->warps[w].cta);
    return json_pack("{s:s, s:{s:s, s:s, s:I, s:I}, s:o}", "displayTimeUnit", "ns", "otherData",
                     "launch", title, "unit", "a microsecond of the axis is a clock cycle",
                     "cycles", (json_int_t)view->total->cycles, "clock_khz",
                     (json_int_t)view->total->clock_khz, "traceEvents", t.events);
}

char *trace_timeline(const struct trace_view *view, const char *title)
{
    json_t *object = timeline_json(view, title);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    json_decref(object);
    return text;
}

enum lathe_status trace_write(const struct trace_view *view, const char *title, const char *path,
                              struct lathe_error *err)
{
    char *text = trace_timeline(view, title);
    enum lathe_status status = text ? file_write(path, text, strlen(text), err)
                                    : fail(err, LATHE_OUT_OF_MEMORY,
                                           "no memory for a timeline of %zu events", view->count);

    free(text);
    return status;
}
