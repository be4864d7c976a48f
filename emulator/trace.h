/* trace.h: events of launches whose time is modelled: who tells what, and where they are kept. */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "emulator/emulator.h"

#include <stdbool.h>

struct emu_async;
struct emu_cluster;
struct emu_cta;
struct emu_issue;
struct emu_mbarrier;
struct emu_named_barrier;
struct emu_op;
struct emu_run;
struct emu_warp;

enum { EMU_TRACE_BARRIERS = 128 };

/* How waits call the mbarrier at an address. */
struct emu_trace_barrier {
    uint32_t address;
    const char *name;
};

struct emu_trace {
    struct emu_trace_options options;
    struct emu_trace_summary summary;
    struct emu_event *events;
    size_t count, room;
    char **names; /* that events point to; each is there once */
    size_t name_count, name_room;
    size_t first; /* event of the launch that runs, and what its text calls barriers */
    struct emu_trace_barrier barriers[EMU_TRACE_BARRIERS];
    size_t barrier_count;
};

/* Of a warp whose events are kept: what it is at. */
struct emu_trace_warp {
    const char *role, *heading; /* kept, and as the text's map has it */
    uint64_t since;
    int line;
    bool runs, waits;
    struct emu_event wait;
};

/* Null without memory. */
struct emu_trace *emu_trace_create(const struct emu_trace_options *options);
void emu_trace_destroy(struct emu_trace *trace);
void emu_trace_forget(struct emu_trace *trace);

void emu_trace_begin(struct emu_run *run);
void emu_trace_end(struct emu_run *run);
bool emu_trace_begin_cluster(struct emu_cluster *cluster);
void emu_trace_end_cluster(struct emu_cluster *cluster);

/* A warp has done an instruction; all of it waits; it is over. */
void emu_trace_issue(struct emu_warp *warp, const struct emu_issue *issue);
void emu_trace_sleep(struct emu_warp *warp);
void emu_trace_exit(struct emu_warp *warp);

/* One step of a bulk copy, which begins now. */
void emu_trace_copy(const struct emu_async *work, uint64_t begin, uint64_t end);
void emu_trace_product(struct emu_warp *warp, const struct emu_op *op, uint32_t columns,
                       uint64_t begin, uint64_t end);
/* A phase is over: the one before that which now runs. */
void emu_trace_phase(const struct emu_mbarrier *barrier);
void emu_trace_barrier(const struct emu_cta *cta, const struct emu_named_barrier *barrier);

#endif
