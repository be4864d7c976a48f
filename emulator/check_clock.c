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

static void raise(struct emu_time *to, struct emu_time time)
{
    to->seen = time.seen > to->seen ? time.seen : to->seen;
    to->fenced = time.fenced > to->fenced ? time.fenced : to->fenced;
}

struct emu_time emu_clock_get(const struct emu_clock *clock, struct emu_agent agent)
{
    const struct emu_clock_part *part = find(clock, agent.cluster);

    if (!part || agent.index >= part->count)
        return (struct emu_time){0, 0};
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

void emu_clock_fence(struct emu_clock *clock)
{
    for (uint32_t i = 0; i < clock->count; i++)
        for (uint32_t k = 0; k < clock->parts[i].count; k++)
            clock->parts[i].times[k].fenced = clock->parts[i].times[k].seen;
}

void emu_clock_forget(struct emu_clock *clock, struct emu_agent agent)
{
    struct emu_clock_part *part = find(clock, agent.cluster);

    if (part && agent.index < part->count)
        part->times[agent.index] = (struct emu_time){0, 0};
}

void emu_clock_free(struct emu_clock *clock)
{
    for (uint32_t i = 0; i < clock->count; i++)
        free(clock->parts[i].times);
    free(clock->parts);
    *clock = (struct emu_clock){.parts = NULL};
}
