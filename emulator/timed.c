/* timed.c: the schedule in which a turn of a cluster is a clock cycle of its multiprocessors. It is
 * one more schedule that a GPU might have: what it does is right, and when it does it is a model.
 *
 * Cycles in which nothing happens anywhere are left out. One thread does it all, and clusters see
 * each other's stores at once. */
#include "emulator/timed.h"

#include "emulator/state.h"
#include "emulator/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES_OF_A_WORD = 64,
    LINE_BYTES = 128,
    /* All sleep, and are woken as a try_wait's time limit does; so often in vain it is a deadlock.
     */
    IDLE_MAX = 3,
    IDLE_CYCLES = 1000,
    NAP_CYCLES = 200, /* a nanosleep of a time that is no number in the text */
    SWEEP = 256
};

/* ---- Making and ending ---- */

static bool make_lines(struct emu_timed *timed, const struct emu_memory *memory)
{
    const struct emu_allocation *last = memory->count ? &memory->list[memory->count - 1] : NULL;
    uint64_t bytes = last ? last->base + last->bytes - EMU_GLOBAL_BASE : 0;

    timed->line_count = (bytes + LINE_BYTES - 1) / LINE_BYTES;
    timed->lines = calloc(timed->line_count / LINES_OF_A_WORD + 1, sizeof *timed->lines);
    if (timed->timing->waits_for_lines)
        timed->comes = calloc(timed->line_count + 1, sizeof *timed->comes);
    return timed->lines && (timed->comes || !timed->timing->waits_for_lines);
}

bool emu_timed_begin(struct emu_run *run)
{
    const struct emu_options *options = &run->device->options;
    struct emu_timed *timed;

    if (!run->device->trace)
        return true;
    timed = run->timed = calloc(1, sizeof *timed);
    if (!timed)
        return false;
    timed->timing = emu_timing_of(options->target);
    timed->trace = run->device->trace;
    timed->skips_products = timed->trace->options.skip_products;
    timed->sm_count = (uint32_t)options->multiprocessors;
    timed->sms = calloc(timed->sm_count, sizeof *timed->sms);
    timed->taken = calloc(run->cluster_room, sizeof *timed->taken);
    emu_trace_begin(run);
    return timed->sms && timed->taken && make_lines(timed, &run->device->memory);
}

void emu_timed_end(struct emu_run *run)
{
    struct emu_timed *timed = run->timed;

    if (!timed)
        return;
    emu_trace_end(run);
    free(timed->sms);
    free(timed->taken);
    free(timed->lines);
    free(timed->comes);
    free(timed);
    run->timed = NULL;
}

bool emu_timed_begin_cluster(struct emu_cluster *cluster)
{
    struct emu_timed *timed = cluster->run->timed;
    uint32_t warps = cluster->ctas[0].warp_count;
    struct emu_timed_cluster *own = cluster->timed = calloc(1, sizeof *own);

    if (own)
        own->warps = calloc((size_t)warps * cluster->cta_count, sizeof *own->warps);
    if (!own || !own->warps)
        return false;
    while (timed->taken[own->place])
        own->place++;
    timed->taken[own->place] = true;
    own->next = timed->now + (timed->now ? timed->timing->cta_start : 0);
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t w = 0; w < warps; w++) {
            cluster->ctas[i].warps[w].timed = &own->warps[i * warps + w];
            own->warps[i * warps + w].ready = own->next;
        }
    return emu_trace_begin_cluster(cluster);
}

void emu_timed_end_cluster(struct emu_cluster *cluster)
{
    struct emu_timed_cluster *own = cluster->timed;

    if (!own)
        return;
    if (own->warps) {
        emu_trace_end_cluster(cluster);
        cluster->run->timed->taken[own->place] = false;
    }
    free(own->warps);
    free(own);
}

/* ---- A warp ---- */

static uint64_t nap(const struct emu_timing *timing, const struct emu_instruction *text)
{
    if (text->operand_count != 1 || text->operands[0].kind != EMU_OPERAND_INTEGER)
        return NAP_CYCLES;
    return (text->operands[0].bits & UINT32_MAX) * (timing->clock_khz / 1000) / 1000 + 1;
}

static uint64_t cost_of(struct emu_warp *warp, const struct emu_issue *issue)
{
    const struct emu_timed *timed = warp->cta->cluster->run->timed;

    if (issue->op->text && strcmp(issue->op->text->words[0], "nanosleep") == 0)
        return timed->now + nap(timed->timing, issue->op->text);
    return emu_timed_cost(warp, issue->frame, issue->op, issue->mask);
}

static void note_issue(struct emu_warp *warp, const struct emu_issue *issue)
{
    struct emu_timed_warp *own = warp->timed;
    struct emu_timed *timed = warp->cta->cluster->run->timed;

    emu_trace_issue(warp, issue);
    timed->trace->summary.instructions++;
    own->ready = cost_of(warp, issue) + (own->asleep ? timed->timing->wake : 0);
    own->asleep = false;
    if (!warp->live)
        emu_trace_exit(warp);
}

static void sleep_on(struct emu_warp *warp)
{
    struct emu_timed_warp *own = warp->timed;

    own->progress = warp->cta->cluster->progress;
    if (!own->asleep)
        emu_trace_sleep(warp);
    own->asleep = true;
}

/* Whether it took the issue slot. To look in vain whether a wait is over takes none. */
static bool try_warp(struct emu_warp *warp)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    struct emu_timed_warp *own = warp->timed;
    struct emu_issue issue;

    own->tried = cluster->turn + 1;
    emu_warp_wake(warp);
    while (emu_warp_pick(warp, &issue)) {
        uint64_t operands = emu_timed_operands(warp, issue.frame, issue.op);

        if (operands > cluster->turn) {
            own->ready = operands;
            own->asleep = false;
            return false;
        }
        if (emu_warp_issue(warp, &issue)) {
            note_issue(warp, &issue);
            return true;
        }
        if (cluster->outcome != EMU_DONE)
            return false;
    }
    sleep_on(warp);
    return false;
}

/* ---- A cluster ---- */

static bool may_issue(const struct emu_warp *warp)
{
    const struct emu_cluster *cluster = warp->cta->cluster;
    const struct emu_timed_warp *own = warp->timed;

    return warp->live && own->tried <= cluster->turn &&
           (own->asleep ? own->progress != cluster->progress : own->ready <= cluster->turn);
}

/* Of a scheduler's warps the one that has been ready for longest. */
static struct emu_warp *oldest(struct emu_cta *cta, uint32_t scheduler)
{
    struct emu_warp *best = NULL;

    for (uint32_t w = scheduler; w < cta->warp_count; w += EMU_SCHEDULERS)
        if (may_issue(&cta->warps[w]) && (!best || cta->warps[w].timed->ready < best->timed->ready))
            best = &cta->warps[w];
    return best;
}

static void issue(struct emu_cta *cta)
{
    struct emu_sm *sm = emu_timed_sm(cta);
    struct emu_cluster *cluster = cta->cluster;

    for (uint32_t scheduler = 0; scheduler < EMU_SCHEDULERS; scheduler++) {
        struct emu_warp *warp;

        if (sm->issued[scheduler] > cluster->turn)
            continue;
        while ((warp = oldest(cta, scheduler)) != NULL && cluster->outcome == EMU_DONE)
            if (try_warp(warp)) {
                sm->issued[scheduler] = cluster->turn + 1;
                break;
            }
    }
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_of_warp(const struct emu_warp *warp)
{
    const struct emu_cluster *cluster = warp->cta->cluster;
    const struct emu_timed_warp *own = warp->timed;
    uint64_t soon = cluster->turn + 1, copies = emu_copy_queue_next(warp);

    if (!warp->live)
        return copies;
    if (own->asleep)
        return own->progress != cluster->progress ? soon : copies;
    return earlier(copies, own->ready > soon ? own->ready : soon);
}

static uint64_t next_of(const struct emu_cluster *cluster)
{
    uint64_t next = earlier(emu_async_next(cluster), emu_pipe_next(cluster));

    for (uint32_t i = 0; i < cluster->cta_count; i++) {
        struct emu_cta *cta = &cluster->ctas[i];

        next = earlier(next, emu_tensor_next(cta));
        for (uint32_t w = 0; w < cta->warp_count; w++)
            next = earlier(next, next_of_warp(&cta->warps[w]));
    }
    return next;
}

/* What is done beside the warps. False after a fault. */
static bool do_background(struct emu_cluster *cluster)
{
    if (!emu_async_turn(cluster) || !emu_pipe_turn(cluster))
        return false;
    for (uint32_t i = 0; i < cluster->cta_count; i++) {
        if (!emu_tensor_until(&cluster->ctas[i], cluster->turn))
            return false;
        for (uint32_t w = 0; w < cluster->ctas[i].warp_count; w++)
            if (!emu_copy_queue_until(&cluster->ctas[i].warps[w], cluster->turn))
                return false;
    }
    return true;
}

static void turn(struct emu_cluster *cluster)
{
    cluster->turn = cluster->run->timed->now;
    if (!do_background(cluster))
        return;
    for (uint32_t i = 0; i < cluster->cta_count && cluster->outcome == EMU_DONE; i++)
        issue(&cluster->ctas[i]);
    cluster->timed->next = next_of(cluster);
    cluster->run->steps += cluster->steps;
    cluster->steps = 0;
}

/* ---- Rounds ---- */

static uint64_t next_cycle(const struct emu_run *run)
{
    uint64_t next = EMU_NEVER;

    for (uint32_t i = 0; i < run->cluster_count; i++)
        next = earlier(next, run->clusters[i]->timed->next);
    return next;
}

static void wake_all(struct emu_run *run)
{
    struct emu_timed *timed = run->timed;

    for (uint32_t c = 0; c < run->cluster_count; c++) {
        struct emu_cluster *cluster = run->clusters[c];

        cluster->timed->next = timed->now + IDLE_CYCLES;
        for (uint32_t i = 0; i < cluster->cta_count; i++)
            for (uint32_t w = 0; w < cluster->ctas[i].warp_count; w++) {
                struct emu_warp *warp = &cluster->ctas[i].warps[w];

                if (warp->timed->asleep && emu_mbarrier_gives_up(warp)) {
                    warp->timed->asleep = false;
                    warp->timed->ready = cluster->timed->next;
                }
            }
    }
}

/* Nothing is ever going to happen, but that a try_wait gives up: false where that led to nothing
 * more. */
static bool goes_on(struct emu_run *run)
{
    if (run->timed->idle++ == IDLE_MAX) {
        emu_report_deadlock(run);
        return false;
    }
    wake_all(run);
    return true;
}

/* The first in its turn is another each time, so that none is always ahead. */
static bool have_turns(struct emu_run *run)
{
    uint64_t now = run->timed->now;
    uint32_t count = run->cluster_count, first = (uint32_t)(now % count);

    for (uint32_t i = 0; i < count; i++) {
        struct emu_cluster *cluster = run->clusters[(first + i) % count];
        uint64_t progress = cluster->progress;

        if (cluster->timed->next > now)
            continue;
        turn(cluster);
        if (cluster->progress != progress)
            run->timed->idle = 0;
        if (emu_has_fault(run))
            return false;
    }
    return true;
}

static bool fill_all(struct emu_run *run)
{
    for (uint32_t i = 0; i < run->cluster_count; i++)
        emu_cluster_fill(run->clusters[i]);
    return !emu_has_fault(run);
}

bool emu_timed_round(struct emu_run *run)
{
    struct emu_timed *timed = run->timed;
    uint64_t next;

    if (!emu_refill(run)) {
        run->outcome = EMU_NO_RESOURCES;
        return emu_fail(run->error, 0, "%s: no memory for its CTAs", run->code->function->name);
    }
    if (run->cluster_count == 0 || !fill_all(run))
        return false;
    next = next_cycle(run);
    if (next == EMU_NEVER)
        return goes_on(run);
    timed->now = next;
    if (!have_turns(run) || emu_is_out_of_steps(run))
        return false;
    if (run->device->check && timed->now % SWEEP == 0)
        emu_check_sweep(run);
    return true;
}
