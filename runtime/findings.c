#include "runtime/findings.h"

#include "codegen/memory.h"
#include "codegen/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct kept {
    struct lathe_check_finding finding;
    uint64_t last_seed; /* of a schedule that shows it */
};

struct lathe_findings {
    bool has_allocator;
    struct lathe_allocator allocator;
    size_t count, room;
    struct kept *list;
};

static const struct lathe_allocator *allocator_of(const struct lathe_findings *findings)
{
    return findings->has_allocator ? &findings->allocator : NULL;
}

/* ---- The list ---- */

enum lathe_status lt_findings_create(struct lathe_findings **findings,
                                     const struct lathe_allocator *allocator,
                                     struct lathe_error *err)
{
    struct lathe_findings *made = lt_allocate(allocator, sizeof *made);

    if (!made)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for findings");
    *made = (struct lathe_findings){.has_allocator = allocator != NULL};
    if (allocator)
        made->allocator = *allocator;
    *findings = made;
    return LATHE_OK;
}

void lathe_findings_destroy(struct lathe_findings **findings)
{
    struct lathe_findings *gone = findings ? *findings : NULL;
    struct lathe_allocator allocator;
    bool has_allocator;

    if (!gone)
        return;
    allocator = gone->allocator;
    has_allocator = gone->has_allocator;
    lt_release(has_allocator ? &allocator : NULL, gone->list);
    lt_release(has_allocator ? &allocator : NULL, gone);
    *findings = NULL;
}

size_t lathe_findings_count(const struct lathe_findings *findings)
{
    return findings ? findings->count : 0;
}

const struct lathe_check_finding *lathe_findings_at(const struct lathe_findings *findings,
                                                    size_t index)
{
    return index < lathe_findings_count(findings) ? &findings->list[index].finding : NULL;
}

size_t lathe_findings_errors(const struct lathe_findings *findings)
{
    size_t errors = 0;

    for (size_t i = 0; i < lathe_findings_count(findings); i++)
        errors += !findings->list[i].finding.is_warning;
    return errors;
}

static enum lathe_status make_room(struct lathe_findings *findings, struct lathe_error *err)
{
    size_t room = findings->room ? 2 * findings->room : 8;
    struct kept *moved;

    if (findings->count < findings->room)
        return LATHE_OK;
    moved = lt_allocate(allocator_of(findings), room * sizeof *moved);
    if (!moved)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %zu findings", room);
    if (findings->count > 0)
        memcpy(moved, findings->list, findings->count * sizeof *moved);
    lt_release(allocator_of(findings), findings->list);
    findings->list = moved;
    findings->room = room;
    return LATHE_OK;
}

/* ---- Adding ---- */

/* The place in memory may be another in another schedule; where no instruction tells two apart, it
 * does. */
static bool are_one(const struct lathe_check_finding *a, const struct lathe_check_finding *b)
{
    if (strcmp(a->code, b->code) != 0 || strcmp(a->kernel, b->kernel) != 0 ||
        a->who.line != b->who.line || a->has_other != b->has_other)
        return false;
    return a->who.line > 0 ? !a->has_other || a->other.line == b->other.line
                           : strcmp(a->object, b->object) == 0;
}

static struct kept *known(struct lathe_findings *findings,
                          const struct lathe_check_finding *finding)
{
    for (size_t i = 0; i < findings->count; i++)
        if (are_one(&findings->list[i].finding, finding))
            return &findings->list[i];
    return NULL;
}

/* As emu_finding_words() has it. */
static void fill_words(struct lathe_check_finding *finding)
{
    snprintf(finding->words, sizeof finding->words, "%s%s: %s: %s%s%s%s%s",
             finding->is_warning ? "warning: " : "", finding->code, finding->kernel,
             finding->object, finding->object[0] ? ": " : "", finding->what,
             finding->needed[0] ? "\n  needed: " : "", finding->needed);
}

enum lathe_status lt_findings_add(struct lathe_findings *findings,
                                  const struct lathe_check_finding *finding,
                                  struct lathe_error *err)
{
    struct kept *here = known(findings, finding);
    enum lathe_status status = here ? LATHE_OK : make_room(findings, err);

    if (status != LATHE_OK)
        return status;
    if (here) {
        here->finding.schedules += here->last_seed != finding->seed;
        here->finding.times += finding->times;
        here->last_seed = finding->seed;
        return LATHE_OK;
    }
    here = &findings->list[findings->count++];
    *here = (struct kept){.finding = *finding, .last_seed = finding->seed};
    here->finding.schedules = 1;
    if (!here->finding.words[0])
        fill_words(&here->finding);
    return LATHE_OK;
}

struct lathe_check_finding lt_finding_of(const char *code, const char *kernel, uint64_t seed)
{
    struct lathe_check_finding finding = {
        .struct_size = sizeof finding,
        .seed = seed,
        .times = 1,
        .who = {.warp = -1, .lane = -1},
        .other = {.warp = -1, .lane = -1},
    };

    snprintf(finding.code, sizeof finding.code, "%s", code);
    snprintf(finding.kernel, sizeof finding.kernel, "%s", kernel);
    return finding;
}

/* ---- Taking ---- */

static struct lathe_check_side side_of(const struct lt_emu_side *theirs)
{
    struct lathe_check_side side = {
        .cta = {theirs->cta[0], theirs->cta[1], theirs->cta[2]},
        .warp = theirs->warp,
        .lane = theirs->lane,
        .line = theirs->line,
        .reads = theirs->reads != 0,
        .writes = theirs->writes != 0,
    };

    snprintf(side.role, sizeof side.role, "%s", theirs->role);
    snprintf(side.instruction, sizeof side.instruction, "%s", theirs->instruction);
    snprintf(side.operand, sizeof side.operand, "%s", theirs->operand);
    return side;
}

static struct lathe_check_finding finding_of(const struct lt_emulator_calls *calls,
                                             const struct lt_emu_finding *theirs, uint64_t seed)
{
    struct lathe_check_finding finding = lt_finding_of(theirs->code, theirs->kernel, seed);

    finding.is_warning = theirs->is_warning != 0;
    finding.times = theirs->times;
    finding.has_who = 1;
    finding.who = side_of(&theirs->who);
    finding.has_other = theirs->has_other != 0;
    if (finding.has_other)
        finding.other = side_of(&theirs->other);
    snprintf(finding.object, sizeof finding.object, "%s", theirs->object);
    snprintf(finding.what, sizeof finding.what, "%s", theirs->what);
    snprintf(finding.needed, sizeof finding.needed, "%s", theirs->needed ? theirs->needed : "");
    calls->finding_words(theirs, finding.words, sizeof finding.words);
    return finding;
}

static enum lathe_status add_all(struct lathe_findings *findings,
                                 const struct lt_emulator_calls *calls,
                                 const struct lt_emu_finding *list, size_t count, uint64_t seed,
                                 size_t *errors, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (size_t i = 0; i < count && status == LATHE_OK; i++) {
        struct lathe_check_finding finding = finding_of(calls, &list[i], seed);

        *errors += !finding.is_warning;
        status = lt_findings_add(findings, &finding, err);
    }
    return status;
}

enum lathe_status lt_findings_take(struct lathe_findings *findings,
                                   const struct lt_emulator_calls *calls, uint64_t seed,
                                   size_t *errors, struct lathe_error *err)
{
    size_t count = calls->findings(NULL, 0);
    struct lt_emu_finding *list;
    enum lathe_status status;

    *errors = 0;
    if (count == 0)
        return LATHE_OK;
    list = lt_allocate(allocator_of(findings), count * sizeof *list);
    if (!list)
        return lt_fail(err, LATHE_OUT_OF_MEMORY, "no memory for %zu findings", count);
    calls->findings(list, count);
    calls->forget_findings();
    status = add_all(findings, calls, list, count, seed, errors, err);
    lt_release(allocator_of(findings), list);
    return status;
}
