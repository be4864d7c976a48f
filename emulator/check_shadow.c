/* check_shadow.c: histories of bytes, each kept once, and what an access makes of one. */
#include "emulator/check_shadow.h"

#include <stdlib.h>
#include <string.h>

enum {
    OTHERS_MAX = 64, /* of one history; then the oldest is forgotten, and may be missed */
    MEMO_SIZE = 1 << 14,
    MANY = 1 << 20,
    KINDS = 512 /* of accesses: bits */
};

struct history {
    uint32_t writer; /* a record, or EMU_NEVER_WRITTEN, EMU_WRITTEN_BEFORE */
    uint32_t first, count;
    uint32_t next; /* of the same hash; 0: none */
};

/* What became of a history by an access that was fine, so that it need not be asked again. */
struct memo {
    uint32_t before, record, after;
    bool is_unwritten; /* before */
};

struct emu_histories {
    struct emu_access *records; /* counted as histories are: the first ones are none */
    uint32_t record_count, record_room;
    uint32_t last_records[KINDS]; /* by kind */
    struct history *list;
    uint32_t count, room;
    uint32_t *others; /* of all histories: records */
    uint32_t others_count, others_room;
    uint32_t *heads; /* by hash */
    uint32_t head_count;
    struct memo memo[MEMO_SIZE];
    uint32_t *numbers; /* of a sweep: marks, then new numbers */
    uint32_t many;
};

/* ---- Growing ---- */

static bool grow(void **list, uint32_t *room, uint32_t needed, size_t size)
{
    uint32_t wanted = *room ? *room : 256;
    void *grown;

    while (wanted < needed)
        wanted *= 2;
    if (wanted == *room)
        return true;
    grown = realloc(*list, wanted * size);
    if (!grown)
        return false;
    *list = grown;
    *room = wanted;
    return true;
}

/* ---- Lives ---- */

void emu_histories_reset(struct emu_histories *h)
{
    h->record_count = h->count = EMU_FIRST_HISTORY;
    h->others_count = 0;
    h->many = MANY;
    memset(h->heads, 0, h->head_count * sizeof *h->heads);
    memset(h->memo, 0, sizeof h->memo);
    memset(h->last_records, 0, sizeof h->last_records);
    for (uint32_t i = 0; i < EMU_FIRST_HISTORY; i++)
        h->list[i] = (struct history){.writer = i};
}

struct emu_histories *emu_histories_create(void)
{
    struct emu_histories *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->head_count = 1 << 12;
    h->heads = malloc(h->head_count * sizeof *h->heads);
    if (h->heads && grow((void **)&h->list, &h->room, EMU_FIRST_HISTORY, sizeof *h->list) &&
        grow((void **)&h->records, &h->record_room, EMU_FIRST_HISTORY, sizeof *h->records)) {
        emu_histories_reset(h);
        return h;
    }
    emu_histories_destroy(h);
    return NULL;
}

void emu_histories_destroy(struct emu_histories *h)
{
    if (!h)
        return;
    free(h->records);
    free(h->list);
    free(h->others);
    free(h->heads);
    free(h->numbers);
    free(h);
}

/* ---- One of each ---- */

/* Multiplied by 2^32 over the golden ratio, as Knuth does; the high bits, which depend on all of
 * the value, come down to where they count. */
static uint32_t mix(uint32_t hash, uint32_t value)
{
    hash = (hash ^ value) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

static uint32_t hash_of(uint32_t writer, const uint32_t *others, uint32_t count)
{
    uint32_t hash = mix(count, writer);

    for (uint32_t i = 0; i < count; i++)
        hash = mix(hash, others[i]);
    return hash;
}

static void enter(struct emu_histories *h, uint32_t number)
{
    const struct history *history = &h->list[number];
    uint32_t *head =
        &h->heads[hash_of(history->writer, h->others + history->first, history->count) %
                  h->head_count];

    h->list[number].next = *head;
    *head = number;
}

static bool widen(struct emu_histories *h)
{
    uint32_t count = 4 * h->head_count;
    uint32_t *heads = calloc(count, sizeof *heads);

    if (!heads)
        return false;
    free(h->heads);
    h->heads = heads;
    h->head_count = count;
    for (uint32_t i = EMU_FIRST_HISTORY; i < h->count; i++)
        enter(h, i);
    return true;
}

/* The number of that history; 0 without memory. */
static uint32_t intern(struct emu_histories *h, uint32_t writer, const uint32_t *others,
                       uint32_t count)
{
    if (count == 0 && writer < EMU_FIRST_HISTORY)
        return writer;
    for (uint32_t i = h->heads[hash_of(writer, others, count) % h->head_count]; i;
         i = h->list[i].next)
        if (h->list[i].writer == writer && h->list[i].count == count &&
            (count == 0 ||
             memcmp(h->others + h->list[i].first, others, count * sizeof *others) == 0))
            return i;
    if (!grow((void **)&h->list, &h->room, h->count + 1, sizeof *h->list) ||
        !grow((void **)&h->others, &h->others_room, h->others_count + count + 1,
              sizeof *h->others) ||
        (h->count > h->head_count && !widen(h)))
        return 0;
    h->list[h->count] =
        (struct history){.writer = writer, .first = h->others_count, .count = count};
    if (count > 0)
        memcpy(h->others + h->others_count, others, count * sizeof *others);
    h->others_count += count;
    enter(h, h->count);
    return h->count++;
}

static bool is_same(const struct emu_access *a, const struct emu_access *b)
{
    return a->op == b->op && a->time == b->time && a->agent.index == b->agent.index &&
           a->agent.cluster == b->agent.cluster && a->kind == b->kind && a->warp == b->warp;
}

/* Lanes of a warp come one after the other, and so do the rows that a copy reads and writes by
 * turns: the last record of its kind is theirs too. */
static uint32_t record_of(struct emu_histories *h, const struct emu_access *access)
{
    uint32_t *last = &h->last_records[access->kind % KINDS];

    if (*last && is_same(&h->records[*last], access))
        return *last;
    if (!grow((void **)&h->records, &h->record_room, h->record_count + 1, sizeof *h->records))
        return 0;
    h->records[h->record_count] = *access;
    return *last = h->record_count++;
}

/* ---- Conflicts ---- */

/* Whether each is strong for the other. Source: PTX ISA "Morally strong operations". */
static bool are_strong(const struct emu_access *a, const struct emu_access *b)
{
    uint32_t scopes = (a->kind | b->kind) & (EMU_FOR_CTA | EMU_FOR_CLUSTER);

    if (!(a->kind & b->kind & EMU_STRONG))
        return false;
    return !scopes || (a->agent.cluster == b->agent.cluster &&
                       (!(scopes & EMU_FOR_CTA) || memcmp(a->cta, b->cta, sizeof a->cta) == 0));
}

/* A pair of fences that act one way may order the two where nothing else does. */
static enum emu_verdict judge_proxies(struct emu_conflict *conflict, const struct emu_access *now,
                                      const struct emu_time *time)
{
    const struct emu_access *before = &conflict->other;
    bool is_shared = now->kind & EMU_OF_SHARED;

    if ((is_shared ? time->shared : time->global) >= before->time)
        return EMU_FINE;
    conflict->is_offered = is_shared && time->offered >= before->time;
    if (time->seen < before->time)
        return conflict->is_offered ? EMU_UNFENCED : EMU_RACE;
    return (before->kind & EMU_WRITES) || (now->kind & EMU_BEHIND_READS) ? EMU_UNFENCED : EMU_FINE;
}

/* Of the access that the conflict names, which came before. */
static enum emu_verdict judge(struct emu_conflict *conflict, const struct emu_access *now,
                              const struct emu_clock *clock)
{
    const struct emu_access *before = &conflict->other;
    struct emu_time time;

    if (!((before->kind | now->kind) & EMU_WRITES) || are_strong(before, now))
        return EMU_FINE;
    time = emu_clock_get(clock, before->agent);
    if ((now->kind & EMU_BY_ASYNC) && !(before->kind & EMU_BY_ASYNC))
        return judge_proxies(conflict, now, &time);
    /* A copy ends with a proxy fence, and so fences that act one way tell of it as of the rest. */
    if (now->kind & EMU_OF_SHARED && time.shared >= before->time)
        return EMU_FINE;
    return time.seen < before->time ? EMU_RACE : EMU_FINE;
}

/* What the last launch has read may be read, by one that has not waited for it. */
static bool is_too_early(uint32_t writer, const struct emu_access *now,
                         const struct emu_clock *clock)
{
    bool matters =
        writer == EMU_WRITTEN_BY_LAST || (writer == EMU_READ_BY_LAST && (now->kind & EMU_WRITES));

    return matters && emu_clock_get(clock, EMU_LAST_LAUNCH).seen == 0;
}

static struct emu_conflict look(const struct emu_histories *h, uint32_t number,
                                const struct emu_access *now, const struct emu_clock *clock)
{
    const struct history *history = &h->list[number];
    struct emu_conflict conflict = {.verdict = EMU_FINE,
                                    .is_first = history->writer == EMU_NEVER_WRITTEN};

    if (history->writer >= EMU_FIRST_HISTORY) {
        conflict.other = h->records[history->writer];
        conflict.verdict = judge(&conflict, now, clock);
    } else if (is_too_early(history->writer, now, clock)) {
        conflict.verdict = EMU_TOO_EARLY;
    } else if (history->writer == EMU_NEVER_WRITTEN && (now->kind & EMU_READS)) {
        conflict.verdict = EMU_UNWRITTEN;
    }
    for (uint32_t i = 0; i < history->count && conflict.verdict == EMU_FINE; i++) {
        conflict.other = h->records[h->others[history->first + i]];
        conflict.verdict = judge(&conflict, now, clock);
    }
    return conflict;
}

/* ---- What becomes of a history ---- */

/* The others without those that the new one takes the place of. */
static uint32_t keep_others(const struct emu_histories *h, uint32_t number,
                            const struct emu_access *access, uint32_t kept[OTHERS_MAX + 1])
{
    const struct history *history = &h->list[number];
    uint32_t count = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        uint32_t other = h->others[history->first + i];
        const struct emu_access *record = &h->records[other];

        if (record->agent.index == access->agent.index &&
            record->agent.cluster == access->agent.cluster && record->kind == access->kind)
            continue;
        kept[count++] = other;
    }
    if (count < OTHERS_MAX)
        return count;
    memmove(kept, kept + 1, (count - 1) * sizeof *kept);
    return count - 1;
}

static uint32_t after(struct emu_histories *h, uint32_t number, const struct emu_access *access,
                      uint32_t record)
{
    uint32_t kept[OTHERS_MAX + 1], count;
    uint32_t writer = h->list[number].writer;

    if ((access->kind & EMU_WRITES) && !(access->kind & EMU_READS))
        return intern(h, record, NULL, 0);
    if (writer == EMU_NEVER_WRITTEN && (access->kind & EMU_WRITES))
        writer = EMU_WRITTEN_BEFORE;
    count = keep_others(h, number, access, kept);
    kept[count++] = record;
    return intern(h, writer, kept, count);
}

bool emu_histories_is_written(const struct emu_histories *h, uint32_t history)
{
    return h->list[history].writer != EMU_NEVER_WRITTEN;
}

struct emu_conflict emu_histories_access(struct emu_histories *h, uint32_t *shadow, size_t bytes,
                                         const struct emu_access *access,
                                         const struct emu_clock *clock)
{
    struct emu_conflict first = {.verdict = EMU_FINE};
    uint32_t record = record_of(h, access);
    bool has_unwritten = false, has_written = false;

    if (!record)
        return (struct emu_conflict){.verdict = EMU_NO_MEMORY};
    for (size_t i = 0, end; i < bytes; i = end) {
        uint32_t before = shadow[i];
        struct memo *memo = &h->memo[mix(before, record) % MEMO_SIZE];

        if (memo->before != before || memo->record != record) {
            struct emu_conflict conflict = look(h, before, access, clock);
            uint32_t made = after(h, before, access, record);

            if (!made)
                return (struct emu_conflict){.verdict = EMU_NO_MEMORY};
            if (conflict.verdict != EMU_FINE && first.verdict == EMU_FINE) {
                first = conflict;
                first.at = i;
            }
            *memo = (struct memo){before, record, made, !emu_histories_is_written(h, before)};
        }
        has_unwritten |= memo->is_unwritten;
        has_written |= !memo->is_unwritten;
        for (end = i; end < bytes && shadow[end] == before; end++)
            shadow[end] = memo->after;
    }
    first.has_unwritten = has_unwritten;
    first.has_written = has_written;
    return first;
}

uint32_t emu_histories_to_last(const struct emu_histories *h, uint32_t number)
{
    const struct history *history = &h->list[number];

    if (number < EMU_FIRST_HISTORY)
        return number == EMU_NEVER_WRITTEN ? EMU_NEVER_WRITTEN : EMU_WRITTEN_BEFORE;
    if (history->writer >= EMU_FIRST_HISTORY)
        return EMU_WRITTEN_BY_LAST;
    for (uint32_t i = 0; i < history->count; i++)
        if (h->records[h->others[history->first + i]].kind & EMU_WRITES)
            return EMU_WRITTEN_BY_LAST;
    return history->writer == EMU_NEVER_WRITTEN ? EMU_NEVER_WRITTEN : EMU_READ_BY_LAST;
}

bool emu_histories_writer(const struct emu_histories *h, uint32_t history,
                          struct emu_access *access)
{
    if (h->list[history].writer < EMU_FIRST_HISTORY)
        return false;
    *access = h->records[h->list[history].writer];
    return true;
}

/* ---- Sweeps ---- */

bool emu_histories_are_many(const struct emu_histories *h)
{
    return h->count > h->many || h->record_count > h->many;
}

bool emu_histories_begin_sweep(struct emu_histories *h)
{
    free(h->numbers);
    h->numbers = calloc(h->count, sizeof *h->numbers);
    return h->numbers != NULL;
}

void emu_histories_mark(struct emu_histories *h, const uint32_t *shadow, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        h->numbers[shadow[i]] = 1;
}

static bool move_record(struct emu_histories *to, const struct emu_histories *from,
                        uint32_t *numbers, uint32_t *record)
{
    if (*record < EMU_FIRST_HISTORY)
        return true;
    if (!numbers[*record]) {
        if (!grow((void **)&to->records, &to->record_room, to->record_count + 1,
                  sizeof *to->records))
            return false;
        to->records[to->record_count] = from->records[*record];
        numbers[*record] = to->record_count++;
    }
    *record = numbers[*record];
    return true;
}

/* Into `to` what is marked; the marks become the new numbers. */
static bool move_marked(struct emu_histories *to, struct emu_histories *from, uint32_t *records)
{
    for (uint32_t i = EMU_FIRST_HISTORY; i < from->count; i++) {
        const struct history *history = &from->list[i];
        uint32_t others[OTHERS_MAX + 1], writer = history->writer;

        if (!from->numbers[i])
            continue;
        if (!move_record(to, from, records, &writer))
            return false;
        for (uint32_t k = 0; k < history->count; k++) {
            others[k] = from->others[history->first + k];
            if (!move_record(to, from, records, &others[k]))
                return false;
        }
        from->numbers[i] = intern(to, writer, others, history->count);
        if (!from->numbers[i])
            return false;
    }
    for (uint32_t i = 0; i < EMU_FIRST_HISTORY; i++)
        from->numbers[i] = i;
    return true;
}

static void swap(struct emu_histories *a, struct emu_histories *b)
{
    struct emu_histories kept = *a;

    *a = *b;
    *b = kept;
}

bool emu_histories_end_sweep(struct emu_histories *h)
{
    struct emu_histories *made = emu_histories_create();
    uint32_t *records = calloc(h->record_count, sizeof *records);
    bool done = made && records && move_marked(made, h, records);

    if (done) {
        made->many = made->count > MANY / 2 || made->record_count > MANY / 2 ? 2 * h->many : MANY;
        made->numbers = h->numbers;
        h->numbers = NULL;
        swap(made, h);
    }
    emu_histories_destroy(made);
    free(records);
    return done;
}

void emu_histories_renumber(const struct emu_histories *h, uint32_t *shadow, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        shadow[i] = h->numbers[shadow[i]];
}
