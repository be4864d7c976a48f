/* store_log.c: what a cluster has stored in global memory since the round began. Others do not see
 * it yet, and the cluster itself must not look for it in memory: a set of lines tells where. */
#include "emulator/state.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE_SHIFT = 7,
    LOG_BYTES_MAX = 256 << 20, /* of all clusters together ... */
    LOG_BYTES_LEAST = 64 << 10 /* ... and at least of each     */
};

/* In the log's bytes; as many of data follow, up to the next multiple of its own alignment. */
struct entry {
    unsigned char *to;
    uint32_t bytes;
    struct emu_change change; /* none: a plain store */
};

static size_t padded(size_t bytes)
{
    return (bytes + _Alignof(struct entry) - 1) & ~(_Alignof(struct entry) - 1);
}

/* ---- Lines ---- */

/* By the device's address: the host's differ from run to run. */
static uint32_t place_of(uint64_t line)
{
    return (uint32_t)line * 0x9e3779b1u >> (32 - EMU_LOG_LINES_SHIFT); /* Fibonacci hashing */
}

static void mark(struct emu_store_log *log, uint64_t address, uint64_t bytes)
{
    for (uint64_t line = address >> LINE_SHIFT; line <= (address + bytes - 1) >> LINE_SHIFT; line++)
        log->lines[place_of(line) / 64] |= (uint64_t)1 << place_of(line) % 64;
}

bool emu_log_may_hold(const struct emu_store_log *log, uint64_t address, uint64_t bytes)
{
    if (log->count == 0 || bytes == 0)
        return false;
    for (uint64_t line = address >> LINE_SHIFT; line <= (address + bytes - 1) >> LINE_SHIFT; line++)
        if (log->lines[place_of(line) / 64] >> place_of(line) % 64 & 1)
            return true;
    return false;
}

/* ---- Entries ---- */

bool emu_log_is_full(const struct emu_cluster *cluster)
{
    return cluster->log.count >= emu_share(cluster->run, LOG_BYTES_MAX, LOG_BYTES_LEAST);
}

static bool make_room(struct emu_store_log *log, size_t more)
{
    size_t room = log->room ? log->room : 1024;
    unsigned char *grown;

    while (room < log->count + more)
        room *= 2;
    if (room == log->room)
        return true;
    grown = realloc(log->bytes, room);
    if (!grown)
        return false;
    log->bytes = grown;
    log->room = room;
    return true;
}

static struct entry *entry_at(const struct emu_store_log *log, size_t at)
{
    return (struct entry *)(void *)(log->bytes + at);
}

/* Stores of neighbouring lanes become one entry. */
static bool goes_on(const struct emu_store_log *log, const unsigned char *to,
                    const struct emu_change *change)
{
    const struct entry *last = entry_at(log, log->last);

    return log->count > 0 && last->to + last->bytes == to && last->change.how == change->how &&
           last->change.type == change->type && last->change.flush == change->flush;
}

unsigned char *emu_log_add(struct emu_store_log *log, uint64_t address, unsigned char *to,
                           uint32_t bytes, const struct emu_change *change)
{
    static const struct emu_change plain = {.how = EMU_REDUCE_NONE};
    struct entry *entry;
    unsigned char *data;

    change = change ? change : &plain;
    if (!make_room(log, sizeof *entry + padded(bytes)))
        return NULL;
    if (!goes_on(log, to, change)) {
        log->last = log->count;
        *entry_at(log, log->last) = (struct entry){.to = to, .change = *change};
    }
    entry = entry_at(log, log->last);
    data = (unsigned char *)(entry + 1) + entry->bytes;
    entry->bytes += bytes;
    log->count = log->last + sizeof *entry + padded(entry->bytes);
    mark(log, address, bytes);
    return data;
}

void emu_log_apply(struct emu_store_log *log)
{
    for (size_t at = 0; at < log->count;) {
        const struct entry *entry = entry_at(log, at);
        const unsigned char *data = (const unsigned char *)(entry + 1);

        if (entry->change.how == EMU_REDUCE_NONE)
            memcpy(entry->to, data, entry->bytes);
        else
            emu_change_bytes(&entry->change, entry->to, data, entry->bytes);
        at += sizeof *entry + padded(entry->bytes);
    }
    if (log->count)
        memset(log->lines, 0, sizeof log->lines);
    log->count = 0;
}
