/* check_place.c: what was released at an address, and for whom: an atomic of the CTA's scope tells
 * other CTAs nothing, nor does one of the cluster's other clusters, and who reads with a narrow
 * scope learns of none but those. Source: PTX ISA "Memory Consistency Model", "Scope", "Morally
 * strong operations", "Release and acquire patterns". */
#include "emulator/check_state.h"

#include <stdlib.h>

#define WHOLE_CLUSTER UINT32_MAX /* no enumerator: that is an int */

/* What the threads of one CTA, or of one cluster, have told each other. */
struct near {
    uint32_t cluster, rank; /* rank: of the CTA, or WHOLE_CLUSTER */
    struct emu_clock clock;
};

struct emu_place {
    uint64_t address; /* global, or of shared memory with cluster and rank above */
    bool is_used;
    struct emu_clock all;    /* told with the widest scope */
    struct emu_clock narrow; /* told with others: for reports */
    struct near *near;       /* owned */
    uint32_t near_count;
};

/* ---- By address ---- */

static struct emu_place *slot_of(struct emu_place *places, size_t room, uint64_t address)
{
    size_t at = (size_t)(address * 0x9e3779b97f4a7c15u >> 20) & (room - 1);

    while (places[at].is_used && places[at].address != address)
        at = (at + 1) & (room - 1);
    return &places[at];
}

static bool widen(struct emu_check *check)
{
    size_t room = check->place_room ? 2 * check->place_room : 64;
    struct emu_place *wider;

    if (2 * (check->place_count + 1) <= check->place_room)
        return true;
    wider = calloc(room, sizeof *wider);
    if (!wider)
        return false;
    for (size_t i = 0; i < check->place_room; i++)
        if (check->places[i].is_used)
            *slot_of(wider, room, check->places[i].address) = check->places[i];
    free(check->places);
    check->places = wider;
    check->place_room = room;
    return true;
}

static struct emu_place *find(struct emu_check *check, uint64_t address)
{
    struct emu_place *place;

    if (check->place_count == 0)
        return NULL;
    place = slot_of(check->places, check->place_room, address);
    return place->is_used ? place : NULL;
}

static struct emu_place *make(struct emu_check *check, uint64_t address)
{
    struct emu_place *place;

    if (!widen(check))
        return NULL;
    place = slot_of(check->places, check->place_room, address);
    if (!place->is_used) {
        *place = (struct emu_place){.address = address, .is_used = true};
        check->place_count++;
    }
    return place;
}

void emu_check_forget_places(struct emu_check *check)
{
    for (size_t i = 0; i < check->place_room; i++) {
        struct emu_place *place = &check->places[i];

        for (uint32_t k = 0; k < place->near_count; k++)
            emu_clock_free(&place->near[k].clock);
        free(place->near);
        emu_clock_free(&place->all);
        emu_clock_free(&place->narrow);
    }
    free(check->places);
    check->places = NULL;
    check->place_count = check->place_room = 0;
}

/* ---- By CTA and cluster ---- */

static bool runs(const struct emu_run *run, uint32_t cluster)
{
    for (uint32_t i = 0; i < run->cluster_count; i++)
        if (run->clusters[i]->check && run->clusters[i]->check->number == cluster)
            return true;
    return false;
}

/* Whose cluster is over, nobody asks for: its room is the next one's. */
static struct near *room_for(const struct emu_run *run, struct emu_place *place)
{
    struct near *grown;

    for (uint32_t i = 0; i < place->near_count; i++)
        if (!runs(run, place->near[i].cluster)) {
            emu_clock_free(&place->near[i].clock);
            return &place->near[i];
        }
    grown = realloc(place->near, (place->near_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    place->near = grown;
    return &grown[place->near_count++];
}

static uint32_t rank_of(const struct emu_cta *cta, enum emu_scope scope)
{
    return scope == EMU_OF_CTA ? cta->rank : WHOLE_CLUSTER;
}

/* What the warp's CTA or cluster has of that place; null where there is nothing, and it is not to
 * be made, or without memory. */
static struct emu_clock *near_of(struct emu_warp *warp, struct emu_place *place,
                                 enum emu_scope scope, bool is_made)
{
    const struct emu_cluster *cluster = warp->cta->cluster;
    uint32_t number = cluster->check->number, rank = rank_of(warp->cta, scope);
    struct near *near;

    if (scope == EMU_OF_ALL)
        return &place->all;
    for (uint32_t i = 0; i < place->near_count; i++)
        if (place->near[i].cluster == number && place->near[i].rank == rank)
            return &place->near[i].clock;
    near = is_made ? room_for(cluster->run, place) : NULL;
    if (!near)
        return NULL;
    *near = (struct near){.cluster = number, .rank = rank};
    return &near->clock;
}

/* ---- Release and acquire ---- */

void emu_check_place_release(struct emu_warp *warp, uint64_t address, enum emu_scope scope,
                             const struct emu_clock *const clocks[EMU_SCOPES])
{
    struct emu_check *check = warp->cta->cluster->run->device->check;
    struct emu_place *place;

    if (clocks[EMU_OF_CTA]->count == 0)
        return;
    place = make(check, address);
    for (int level = 0; place && level <= (int)scope; level++) {
        struct emu_clock *to = near_of(warp, place, (enum emu_scope)level, true);

        if (!to)
            emu_check_no_memory(warp);
        else
            emu_check_join(warp, to, clocks[level]);
    }
    if (!place)
        emu_check_no_memory(warp);
    else if (scope < EMU_OF_ALL || warp->check->has_narrow_fence)
        emu_check_join(warp, &place->narrow, clocks[EMU_OF_CTA]);
}

void emu_check_place_acquire(struct emu_warp *warp, uint64_t address, enum emu_scope scope,
                             struct emu_clock *const clocks[EMU_SCOPES])
{
    struct emu_place *place = find(warp->cta->cluster->run->device->check, address);

    if (!place)
        return;
    for (int level = 0; level <= (int)scope; level++) {
        const struct emu_clock *from = near_of(warp, place, (enum emu_scope)level, false);

        if (from)
            emu_check_join(warp, clocks[level], from);
    }
    emu_check_join(warp, &warp->check->missed, &place->narrow);
    if (scope < EMU_OF_ALL)
        emu_check_join(warp, &warp->check->missed, &place->all);
}
