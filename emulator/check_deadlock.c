/* check_deadlock.c: where nothing can move any more: which wait the others come from.
 *
 * A wait is a consequence where somebody is due to end it, and waits elsewhere. Of mbarriers
 * check_signal.c tells who is due; at other barriers it is who may still come to them. The wait
 * that nobody is due to end is the mistake: of several the first at which some have come, for there
 * it is known that someone comes. Who is due is a guess where a barrier is in its first phase, and
 * what a barrier waits for may be each other's fault; so all waits are told.
 *
 * Where all wait for somebody some do so in a circle, which is what the others come to in the end.
 * Of those in it, as bytes and products have to be waited for, it is one who waits for neither: for
 * room in a ring, which a role that starts wrong does while the ring is empty. */
#include "emulator/check_cycle.h"
#include "emulator/check_state.h"
#include "emulator/reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_MOST = 8, WORDS_SIZE = 256, FOLLOWED_MOST = 512 };

/* The likeliest first: whether nobody is due, maybe someone, or someone; and whether others than
 * those who wait have come. */
enum rank {
    WRONG_BY_ITSELF, /* lanes that should be there, registers that nobody has given back */
    BEGUN,
    UNTOUCHED,
    MAYBE_DUE_BEGUN,
    MAYBE_DUE,
    DUE_BEGUN,
    DUE,
    DUE_AS_THREADS, /* at a barrier for threads, as all who are done are soon */
    RANKS
};

struct wait {
    struct emu_warp *warp;
    const struct emu_group *group;
    const struct emu_op *op;            /* at which it waits                       */
    const struct emu_mbarrier *barrier; /* null: it waits for something else       */
    struct emu_reach *reach;            /* to which operations it could still come */
    const char *code;
    enum rank rank;
    bool is_told;
};

struct waits {
    struct wait *list;
    size_t count;
};

/* ---- All of them ---- */

static const char *code_of(const struct wait *wait)
{
    if (wait->barrier)
        return wait->barrier->pending == 0 && wait->barrier->tx != 0 ? "transaction-count"
                                                                     : "deadlock";
    if (emu_op_is(wait->op, "setmaxnreg"))
        return "setmaxnreg";
    return wait->op->aligned && wait->group->lanes != wait->warp->live ? "divergence" : "deadlock";
}

/* What it was in vain for before it came to another barrier does not count. */
static struct wait wait_of(struct emu_warp *warp, const struct emu_group *group)
{
    struct wait wait = {.warp = warp, .group = group, .op = &group->frame->code->ops[group->at]};

    if (group->vain && group->status != EMU_WAITING)
        wait.barrier =
            emu_mbarrier_at(&warp->cta->cluster->ctas[group->vain_rank], group->vain_offset);
    if (wait.barrier)
        wait.op = group->vain;
    wait.code = code_of(&wait);
    wait.reach = emu_reach_make(warp->cta->cluster->run->program, group);
    return wait;
}

static void look_at_cta(struct emu_cta *cta, struct waits *waits)
{
    for (uint32_t w = 0; w < cta->warp_count; w++)
        for (int g = 0; g < cta->warps[w].group_count; g++) {
            if (waits->list)
                waits->list[waits->count] = wait_of(&cta->warps[w], &cta->warps[w].groups[g]);
            waits->count++;
        }
}

static void look_at_run(struct emu_run *run, struct waits *waits)
{
    waits->count = 0;
    for (uint32_t c = 0; c < run->cluster_count; c++)
        for (uint32_t i = 0; i < run->clusters[c]->cta_count; i++)
            look_at_cta(&run->clusters[c]->ctas[i], waits);
}

static void free_waits(struct waits *waits)
{
    for (size_t i = 0; i < waits->count; i++)
        emu_reach_free(waits->list[i].reach);
    free(waits->list);
}

/* ---- Which is the mistake ---- */

static bool is_same_barrier(const struct emu_op *op, const struct emu_op *like)
{
    const struct emu_source *a = &op->sources[0], *b = &like->sources[0];

    return op->execute == like->execute && a->kind == b->kind && a->slot == b->slot &&
           a->bits == b->bits;
}

static bool is_barrier(const struct emu_op *op)
{
    return emu_op_is(op, "bar") || emu_op_is(op, "barrier");
}

/* bar.warp.sync, shfl.sync and the like, which have a membermask. */
static bool waits_for_lanes(const struct emu_op *op)
{
    return op->text && !op->aligned && emu_has_word(op->text, "sync") &&
           (!is_barrier(op) || emu_has_word(op->text, "warp"));
}

/* Whether the threads of the one are among those that the barrier of the other is for. */
static bool meet(const struct wait *wait, const struct wait *other)
{
    if (emu_has_word(wait->op->text, "warp"))
        return other->warp == wait->warp;
    return emu_has_word(wait->op->text, "cluster") || other->warp->cta == wait->warp->cta;
}

static enum emu_due due_of(const struct wait *wait, const struct wait *other)
{
    if (other->warp->cta->cluster != wait->warp->cta->cluster)
        return EMU_NOT_DUE;
    if (wait->barrier)
        return other->barrier != wait->barrier
                   ? emu_check_due(wait->barrier, wait->op, other->warp, other->reach)
                   : EMU_NOT_DUE;
    return is_barrier(wait->op) && meet(wait, other) &&
                   (other->barrier || !is_same_barrier(other->op, wait->op)) &&
                   emu_reaches_like(other->reach, wait->op, is_same_barrier)
               ? EMU_DUE
               : EMU_NOT_DUE;
}

/* Whether anybody is due to end it, who waits elsewhere. */
static enum emu_due any_due(const struct waits *waits, const struct wait *wait)
{
    enum emu_due any = EMU_NOT_DUE;

    for (size_t i = 0; i < waits->count && any != EMU_DUE; i++) {
        enum emu_due due = due_of(wait, &waits->list[i]);

        any = due > any ? due : any;
    }
    return any;
}

struct others {
    const struct waits *waits;
    const struct emu_mbarrier *barrier;
};

/* What those who wait have done themselves tells nothing of others. */
static bool waits_elsewhere(const void *user, const struct emu_warp *warp)
{
    const struct others *others = user;
    const struct waits *waits = others->waits;

    for (size_t i = 0; i < waits->count; i++)
        if (waits->list[i].warp == warp && waits->list[i].barrier == others->barrier)
            return false;
    return true;
}

static bool some_have_come(const struct waits *waits, const struct wait *wait)
{
    const struct others others = {waits, wait->barrier};

    return wait->barrier ? emu_check_is_signalled(wait->barrier, waits_elsewhere, &others)
                         : is_barrier(wait->op);
}

static enum rank rank_of(const struct waits *waits, const struct wait *wait)
{
    bool is_begun = some_have_come(waits, wait);

    if (!wait->barrier && strcmp(wait->code, "deadlock") != 0)
        return WRONG_BY_ITSELF;
    switch (any_due(waits, wait)) {
    case EMU_NOT_DUE:
        return is_begun ? BEGUN : UNTOUCHED;
    case EMU_MAYBE_DUE:
        return is_begun ? MAYBE_DUE_BEGUN : MAYBE_DUE;
    case EMU_DUE:
        break;
    }
    if (!wait->barrier)
        return DUE_AS_THREADS;
    return is_begun ? DUE_BEGUN : DUE;
}

/* By somebody who waits elsewhere. */
static bool may_be_ended(enum rank rank)
{
    return rank >= MAYBE_DUE_BEGUN;
}

static enum emu_brings brought_to(const struct waits *waits, const struct wait *wait)
{
    enum emu_brings most = EMU_BRINGS_NOTHING;

    for (size_t i = 0; i < waits->count; i++) {
        const struct wait *other = &waits->list[i];

        if (other->warp->cta->cluster == wait->warp->cta->cluster) {
            enum emu_brings brings = emu_check_brings(wait->op, other->reach);

            most = brings > most ? brings : most;
        }
    }
    return most;
}

static bool is_likelier(const struct waits *waits, const struct wait *wait, const struct wait *than)
{
    if (wait->rank != than->rank)
        return wait->rank < than->rank;
    return brought_to(waits, wait) < brought_to(waits, than);
}

/* The waits of one cluster, by their numbers there. */
struct cluster_waits {
    const struct waits *waits;
    size_t list[FOLLOWED_MOST];
    size_t count;
};

static bool waits_for(const void *user, size_t one, size_t other)
{
    const struct cluster_waits *all = user;
    const struct wait *list = all->waits->list;

    return one != other && due_of(&list[all->list[one]], &list[all->list[other]]) != EMU_NOT_DUE;
}

/* Of somebody's wait, where it ends: in a cluster of more waits than that it is not looked for. */
static const struct wait *follow(const struct waits *waits, const struct wait *from)
{
    struct cluster_waits all = {.waits = waits};
    bool is_end[FOLLOWED_MOST];
    const struct wait *first = NULL;

    for (size_t i = 0; i < waits->count; i++) {
        if (waits->list[i].warp->cta->cluster != from->warp->cta->cluster)
            continue;
        if (all.count == FOLLOWED_MOST)
            return from;
        all.list[all.count++] = i;
    }
    if (!emu_find_ends(all.count, waits_for, &all, is_end))
        return from;
    for (size_t i = 0; i < all.count; i++) {
        const struct wait *wait = &waits->list[all.list[i]];

        if (is_end[i] && (!first || is_likelier(waits, wait, first)))
            first = wait;
    }
    return first ? first : from;
}

static const struct wait *find_mistake(const struct waits *waits)
{
    const struct wait *first = &waits->list[0];

    for (size_t i = 0; i < waits->count; i++) {
        waits->list[i].rank = rank_of(waits, &waits->list[i]);
        if (waits->list[i].rank < first->rank)
            first = &waits->list[i];
    }
    return may_be_ended(first->rank) ? follow(waits, first) : first;
}

/* ---- In words ---- */

static void describe(const struct wait *wait, char words[WORDS_SIZE])
{
    const struct emu_mbarrier *barrier = wait->barrier;
    char bytes[32] = "";

    if (!barrier) {
        emu_wait_words(wait->warp, wait->group, words, WORDS_SIZE);
        return;
    }
    if (barrier->tx != 0)
        snprintf(bytes, sizeof bytes, " and %lld bytes", (long long)barrier->tx);
    snprintf(words, WORDS_SIZE, "in phase %llu, %u of %u arrivals%s are still due",
             (unsigned long long)barrier->phase, barrier->pending, barrier->expected, bytes);
}

/* At mbarriers of one place that lack the same, or at one instruction, in whichever CTA. */
static bool are_alike(const struct wait *a, const struct wait *b)
{
    char words_a[WORDS_SIZE], words_b[WORDS_SIZE];

    if (a->barrier && b->barrier ? a->barrier->offset != b->barrier->offset
                                 : a->barrier || b->barrier || a->op != b->op)
        return false;
    describe(a, words_a);
    describe(b, words_b);
    return strcmp(words_a, words_b) == 0;
}

static uint32_t tell_alike(const struct waits *waits, const struct wait *wait)
{
    uint32_t count = 0;

    for (size_t i = 0; i < waits->count; i++)
        if (!waits->list[i].is_told && are_alike(wait, &waits->list[i])) {
            waits->list[i].is_told = true;
            count++;
        }
    return count;
}

static void write_line(char *line, size_t size, const struct wait *wait, uint32_t count)
{
    const struct emu_instruction *text = wait->op->text;
    const uint32_t *id = wait->warp->cta->id;
    const char *role = emu_check_role(wait->warp->cta->cluster->run->program, wait->op);
    char words[WORDS_SIZE], place[WORDS_SIZE] = "", more[32] = "";

    describe(wait, words);
    if (wait->barrier && text->operands[1].name)
        snprintf(place, sizeof place, "%s", text->operands[1].name);
    else if (text)
        snprintf(place, sizeof place, "%s", text->opcode);
    if (wait->barrier && wait->warp->cta->cluster->cta_count > 1)
        snprintf(place + strlen(place), sizeof place - strlen(place), " of rank %u",
                 wait->barrier->cta->rank);
    if (count > 1)
        snprintf(more, sizeof more, " and %u more", count - 1);
    snprintf(line, size, "\n  also waiting: CTA (%u,%u,%u) warp %d (%s)%s, line %d, %s%s %s", id[0],
             id[1], id[2], wait->warp->index, role, more, text ? text->line : 0, place,
             wait->barrier ? ":" : "", words);
}

/* Of each kind one, the likeliest first, as many as there is room for. */
static void list_others(const struct waits *waits, char *what, size_t size)
{
    const size_t end = sizeof "\n  and 4294967295 more kinds of wait";
    uint32_t listed = 0, left_out = 0;

    for (int rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < waits->count; i++) {
            const struct wait *wait = &waits->list[i];
            char line[3 * WORDS_SIZE];

            if (wait->is_told || (int)wait->rank != rank)
                continue;
            write_line(line, sizeof line, wait, tell_alike(waits, wait));
            if (listed == LISTED_MOST || strlen(what) + strlen(line) + end > size) {
                left_out++;
                continue;
            }
            strcat(what, line);
            listed++;
        }
    if (left_out > 0)
        snprintf(what + strlen(what), size - strlen(what), "\n  and %u more kind%s of wait",
                 left_out, left_out == 1 ? "" : "s");
}

/* What waits at the same barrier is told by that. */
static void tell_mistake(const struct waits *waits, const struct wait *mistake, char *what,
                         size_t size)
{
    char words[WORDS_SIZE];

    for (size_t i = 0; i < waits->count; i++) {
        struct wait *other = &waits->list[i];

        other->is_told =
            other == mistake || (mistake->barrier ? other->barrier == mistake->barrier
                                                  : !other->barrier && other->op == mistake->op &&
                                                        meet(mistake, other));
    }
    describe(mistake, words);
    snprintf(what, size, "nothing can move any more\n  %s%s%s", mistake->barrier ? "" : "it ",
             words,
             mistake->barrier && !may_be_ended(mistake->rank)
                 ? ", and nobody who waits is known to give them"
                 : "");
}

static void report(const struct waits *waits, const struct wait *mistake)
{
    const struct emu_mbarrier *barrier = mistake->barrier;
    struct emu_check *check = mistake->warp->cta->cluster->run->device->check;
    char what[sizeof((struct emu_finding *)0)->what];
    struct emu_found found = {.code = mistake->code,
                              .warp = mistake->warp,
                              .op = mistake->op,
                              .lane = -1,
                              .what = what,
                              .needed = emu_check_needed(mistake->code)};

    if (barrier) {
        found.has_address = true;
        found.cta = barrier->cta;
        found.address = barrier->offset;
    }
    if (strcmp(found.code, "transaction-count") == 0 && barrier->check &&
        barrier->check->last_arrival.op)
        found.other = &barrier->check->last_arrival; /* it told of the bytes */
    if (!found.needed)
        found.needed = barrier ? "the arrivals that are still due, or another parity"
                       : waits_for_lanes(mistake->op)
                           ? "all lanes of the membermask, at this instruction or one like it"
                           : "as many threads as the barrier waits for, all of which come to "
                             "it: none for the whole CTA where only some warps are";
    tell_mistake(waits, mistake, what, sizeof what);
    list_others(waits, what, sizeof what);
    emu_check_note(check, &found);
}

void emu_check_deadlock(struct emu_run *run)
{
    struct waits waits = {.list = NULL};

    look_at_run(run, &waits);
    waits.list = calloc(waits.count + 1, sizeof *waits.list);
    if (waits.list && waits.count > 0) {
        look_at_run(run, &waits);
        report(&waits, find_mistake(&waits));
    } else {
        waits.count = 0;
    }
    free_waits(&waits);
}
