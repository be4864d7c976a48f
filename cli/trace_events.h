/* trace_events.h: what the emulator told of a launch: the warps that stand for the others, the
 * timeline of all of it, and where the time went. */
#ifndef LT_CLI_TRACE_EVENTS_H
#define LT_CLI_TRACE_EVENTS_H

#include "lathe_tools.h"

#include <jansson.h>
#include <stdbool.h>

struct output;

/* One warp of a CTA that is shown. */
struct trace_warp {
    uint32_t cta[3];
    int warp;
    const char *role;       /* in which it is for longest                         */
    uint64_t roles, cycles; /* a bit for each role that it has; in which it runs */
};

struct trace_view {
    const struct lathe_trace_total *total;
    const struct lathe_trace_event *events;
    size_t count;
    struct trace_warp *warps; /* by CTA and number */
    size_t warp_count;
};

/* Of each four warps those that have a role which no other shown one of the four has, the busiest
 * first; or all warps. False without memory. */
bool trace_view_open(struct trace_view *view, const struct lathe_trace *trace, bool all_warps);
void trace_view_close(struct trace_view *view);

/* Chrome's trace-event format, which ui.perfetto.dev opens: a process for each CTA, a track for
 * each warp that is shown, for the tensor cores, for copies, and for barriers. A microsecond of its
 * axis is a cycle. To be freed; null without memory. */
char *trace_timeline(const struct trace_view *view, const char *title);
/* The same, into a file. */
enum lathe_status trace_write(const struct trace_view *view, const char *title, const char *path,
                              struct lathe_error *err);

/* {"cycles", "time_us", "clock_mhz", ...} and "roles": where the time of each role went. */
json_t *trace_summary(const struct trace_view *view);
void trace_print(struct output *out, const struct trace_view *view);

#endif
