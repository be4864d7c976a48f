/* trace_table.c: where the time of a traced launch went, in numbers. */
#include "cli/output.h"
#include "cli/trace_events.h"

#include <stdlib.h>
#include <string.h>

/* What warps of a role do, or wait for: the mean of those that are shown. */
struct spent {
    const char *role, *wait; /* null: it runs */
    uint64_t cycles, of_role;
    size_t warps; /* of the role */
};

struct spending {
    struct spent *list;
    size_t count;
};

static bool is_shown(const struct trace_view *view, const struct lathe_trace_event *event)
{
    for (size_t i = 0; i < view->warp_count; i++)
        if (view->warps[i].warp == event->warp &&
            memcmp(view->warps[i].cta, event->cta, sizeof event->cta) == 0)
            return true;
    return false;
}

static struct spent *find(struct spending *s, const char *role, const char *wait)
{
    struct spent *grown;

    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].role == role && s->list[i].wait == wait)
            return &s->list[i];
    grown = realloc(s->list, (s->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    s->list = grown;
    s->list[s->count] = (struct spent){.role = role, .wait = wait};
    return &s->list[s->count++];
}

static bool is_in_role(const struct trace_view *view, const struct trace_warp *warp,
                       const char *role)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->events[i].warp == warp->warp && view->events[i].kind <= LATHE_TRACE_WAIT &&
            view->events[i].role == role &&
            memcmp(view->events[i].cta, warp->cta, sizeof warp->cta) == 0)
            return true;
    return false;
}

static void add_up(const struct trace_view *view, struct spending *s)
{
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->count; k++)
            if (s->list[k].role == s->list[i].role)
                s->list[i].of_role += s->list[k].cycles;
        for (size_t w = 0; w < view->warp_count; w++)
            s->list[i].warps += is_in_role(view, &view->warps[w], s->list[i].role);
    }
}

/* Roles in the order in which they begin, and of each the longest first. */
static void sort(struct spending *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = i + 1, at = i + 1; k < s->count; k++) {
            struct spent moved = s->list[k];

            if (moved.role != s->list[i].role)
                continue;
            memmove(&s->list[at + 1], &s->list[at], (k - at) * sizeof moved);
            s->list[at++] = moved;
        }
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = i + 1; k < s->count && s->list[k].role == s->list[i].role; k++)
            if (s->list[k].cycles > s->list[i].cycles) {
                struct spent moved = s->list[k];

                s->list[k] = s->list[i];
                s->list[i] = moved;
            }
}

static bool spend(const struct trace_view *view, struct spending *s)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct lathe_trace_event *event = &view->events[i];
        struct spent *spent;

        if (event->kind > LATHE_TRACE_WAIT || !is_shown(view, event))
            continue;
        spent = find(s, event->role, event->kind == LATHE_TRACE_WAIT ? event->name : NULL);
        if (!spent)
            return false;
        spent->cycles += event->end - event->begin;
    }
    sort(s);
    add_up(view, s);
    return true;
}

/* ---- Numbers ---- */

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double time_us(const struct lathe_trace_total *total)
{
    return ratio((double)total->cycles * 1e3, (double)total->clock_khz);
}

/* Of the time that all tensor cores had. */
static double tensor_share(const struct lathe_trace_total *total)
{
    return ratio((double)total->tensor_cycles,
                 (double)total->cycles * (double)total->multiprocessors);
}

static double bytes_a_cycle(const struct lathe_trace_total *total, uint64_t bytes)
{
    return ratio((double)bytes, (double)total->cycles);
}

static double mean(const struct spent *spent)
{
    return ratio((double)spent->cycles, (double)spent->warps);
}

json_t *trace_summary(const struct trace_view *view)
{
    const struct lathe_trace_total *t = view->total;
    struct spending s = {.list = NULL};
    json_t *roles = json_array();

    if (!spend(view, &s)) {
        json_decref(roles);
        roles = NULL;
    }
    for (size_t i = 0; roles && i < s.count; i++)
        json_array_append_new(
            roles,
            json_pack("{s:s, s:s?, s:o, s:o}", "role", s.list[i].role, "wait", s.list[i].wait,
                      "cycles", json_number(mean(&s.list[i])), "share",
                      json_number(ratio((double)s.list[i].cycles, (double)s.list[i].of_role))));
    free(s.list);
    return json_pack(
        "{s:I, s:o, s:o, s:I, s:o, s:I, s:o, s:o, s:o, s:I, s:I, s:o}", "cycles",
        (json_int_t)t->cycles, "time_us", json_number(time_us(t)), "clock_mhz",
        json_number((double)t->clock_khz / 1e3), "multiprocessors", (json_int_t)t->multiprocessors,
        "tensor_share", json_number(tensor_share(t)), "instructions", (json_int_t)t->instructions,
        "copy_bytes_cycle",
        json_number(ratio(bytes_a_cycle(t, t->copy_bytes), (double)t->multiprocessors)),
        "l2_bytes_cycle", json_number(bytes_a_cycle(t, t->l2_bytes)), "dram_bytes_cycle",
        json_number(bytes_a_cycle(t, t->dram_bytes)), "events", (json_int_t)view->count,
        "events_lost", (json_int_t)t->events_lost, "roles", roles);
}

static void print_roles(struct output *out, const struct trace_view *view)
{
    struct spending s = {.list = NULL};
    struct table table = {.columns = 4, .right = 1u << 2 | 1u << 3};

    if (!spend(view, &s) || s.count == 0) {
        free(s.list);
        return;
    }
    table_cell(&table, "role");
    table_cell(&table, "a warp of it");
    table_cell(&table, "cycles");
    table_cell(&table, "share");
    for (size_t i = 0; i < s.count; i++) {
        const struct spent *spent = &s.list[i];

        table_cell(&table, "%s", spent->role);
        table_cell(&table, "%s%s", spent->wait ? "waits: " : "runs",
                   spent->wait ? spent->wait : "");
        table_cell(&table, "%.0f", mean(spent));
        table_cell(&table, "%.1f %%", 100 * ratio((double)spent->cycles, (double)spent->of_role));
    }
    free(s.list);
    table_print(&table, out, 0);
}

void trace_print(struct output *out, const struct trace_view *view)
{
    const struct lathe_trace_total *t = view->total;
    char grouped[LATHE_GROUPED_SIZE];

    output_text(out, "model     %s cycles, %.2f us at %.0f MHz\n",
                lathe_grouped((int64_t)t->cycles, grouped), time_us(t), (double)t->clock_khz / 1e3);
    output_text(out, "MMA       %.1f %% of the time of %llu multiprocessor%s\n",
                100 * tensor_share(t), (unsigned long long)t->multiprocessors,
                t->multiprocessors == 1 ? "" : "s");
    output_text(out, "TMA       %.1f bytes a cycle into each\n",
                ratio(bytes_a_cycle(t, t->copy_bytes), (double)t->multiprocessors));
    output_text(out, "L2        %.0f bytes a cycle, memory %.0f\n", bytes_a_cycle(t, t->l2_bytes),
                bytes_a_cycle(t, t->dram_bytes));
    if (t->events_lost > 0)
        output_text(out, "events    %llu are lost: there is room for %zu\n",
                    (unsigned long long)t->events_lost, view->count);
    print_roles(out, view);
}
