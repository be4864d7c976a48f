/* check_clock.c: vector clocks, in parts by cluster: most agents know of their own cluster alone.
 */
#include "emulator/check_clock.h"

#include <stdlib.h>
#include <string.h>

static struct emu_clock_part *find(const struct emu_clock *clock, uint32_t cluster)
{
    for (uint32_t i = 0; i < clock->count; i++)
        if (clock->parts[i].cluster == cluster)
            return &clock->parts[i];
    return NULL;
}

static struct emu_clock_part *make(struct emu_clock *clock, uint32_t cluster)
{
    struct emu_clock_part *part = find(clock, cluster), *grown;

    if (part)
        return part;
    grown = realloc(clock->parts, (clock->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    clock->parts = grown;
    grown[clock->count] = (struct emu_clock_part){.cluster = cluster};
    return &grown[clock->count++];
}

static bool reach(struct emu_clock_part *part, uint32_t count)
{
    struct emu_time *grown;

    if (count <= part->count)
        return true;
    grown = realloc(part->times, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + part->count, 0, (count - part->count) * sizeof *grown);
    part->times = grown;
    part->count = count;
    return true;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void raise(struct emu_time *to, struct emu_time time)
{
    to->seen = later(to->seen, time.seen);
    to->global = later(to->global, time.global);
    to->shared = later(to->shared, time.shared);
    to->offered = later(to->offered, time.offered);
}

struct emu_time emu_clock_get(const struct emu_clock *clock, struct emu_agent agent)
{
    const struct emu_clock_part *part = find(clock, agent.cluster);

    if (!part || agent.index >= part->count)
        return emu_time_of(0);
    return part->times[agent.index];
}

bool emu_clock_see(struct emu_clock *clock, struct emu_agent agent, struct emu_time time)
{
    struct emu_clock_part *part = make(clock, agent.cluster);

    if (!part || !reach(part, agent.index + 1))
        return false;
    raise(&part->times[agent.index], time);
    return true;
}

bool emu_clock_join(struct emu_clock *clock, const struct emu_clock *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct emu_clock_part *from = &other->parts[i];
        struct emu_clock_part *to = make(clock, from->cluster);

        if (!to || !reach(to, from->count))
            return false;
        for (uint32_t k = 0; k < from->count; k++)
            raise(&to->times[k], from->times[k]);
    }
    return true;
}

void emu_clock_fence(struct emu_clock *clock, bool of_global, bool of_shared)
{
    for (uint32_t i = 0; i < clock->count; i++)
        for (uint32_t k = 0; k < clock->parts[i].count; k++) {
            struct emu_time *time = &clock->parts[i].times[k];

            if (of_global)
                time->global = later(time->global, time->seen);
            if (of_shared)
                time->shared = later(time->shared, time->seen);
        }
}

static struct emu_time offered(struct emu_time from)
{
    return (struct emu_time){.offered = from.seen};
}

static struct emu_time accepted(struct emu_time from)
{
    return (struct emu_time){.shared = later(later(from.seen, from.offered), from.shared)};
}

static bool raise_all(struct emu_clock *to, const struct emu_clock *from,
                      struct emu_time (*made_of)(struct emu_time from))
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct emu_clock_part *part = &from->parts[i];
        struct emu_clock_part *raised = make(to, part->cluster);

        if (!raised || !reach(raised, part->count))
            return false;
        for (uint32_t k = 0; k < part->count; k++)
            raise(&raised->times[k], made_of(part->times[k]));
    }
    return true;
}

bool emu_clock_offer(struct emu_clock *to, const struct emu_clock *from)
{
    return raise_all(to, from, offered);
}

bool emu_clock_accept(struct emu_clock *to, const struct emu_clock *from)
{
    return raise_all(to, from, accepted);
}

void emu_clock_forget(struct emu_clock *clock, struct emu_agent agent)
{
    struct emu_clock_part *part = find(clock, agent.cluster);

    if (part && agent.index < part->count)
        part->times[agent.index] = emu_time_of(0);
}

void emu_clock_free(struct emu_clock *clock)
{
    for (uint32_t i = 0; i < clock->count; i++)
        free(clock->parts[i].times);
    free(clock->parts);
    *clock = (struct emu_clock){.parts = NULL};
}
