#include "runtime/cache_flight.h"

#include "codegen/memory.h"

#include <errno.h>
#include <string.h>

bool lt_flights_init(struct lt_flights *flights, const struct lathe_allocator *allocator)
{
    pthread_condattr_t attributes;

    *flights = (struct lt_flights){.allocator = allocator};
    if (pthread_condattr_init(&attributes) != 0)
        return false;

    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&flights->landing, &attributes) == 0;

    pthread_condattr_destroy(&attributes);
    if (made && pthread_mutex_init(&flights->mutex, NULL) != 0) {
        pthread_cond_destroy(&flights->landing);
        made = false;
    }
    return made;
}

void lt_flights_destroy(struct lt_flights *flights)
{
    pthread_mutex_destroy(&flights->mutex);
    pthread_cond_destroy(&flights->landing);
}

/* With the mutex held. */
static void leave(struct lt_flights *flights, struct lt_flight *flight)
{
    if (--flight->aboard > 0)
        return;
    lt_release(flights->allocator, flight->entry.data);
    lt_release(flights->allocator, flight);
}

static struct lt_flight *start(struct lt_flights *flights, const char *name)
{
    struct lt_flight *flight = lt_allocate(flights->allocator, sizeof *flight);

    if (!flight)
        return NULL;
    *flight = (struct lt_flight){.next = flights->first, .aboard = 1};
    memcpy(flight->name, name, sizeof flight->name);
    flights->first = flight;
    return flight;
}

static enum lt_role follow(struct lt_flights *flights, struct lt_flight *flight,
                           const struct timespec *deadline)
{
    int trouble = 0;

    flight->aboard++;
    while (!flight->landed && trouble == 0)
        trouble = pthread_cond_timedwait(&flights->landing, &flights->mutex, deadline);
    if (flight->landed)
        return LT_FOLLOWED;
    leave(flights, flight);
    return LT_ALONE;
}

enum lt_role lt_flight_join(struct lt_flights *flights, const char *name,
                            const struct timespec *deadline, struct lt_flight **flight)
{
    enum lt_role role;

    pthread_mutex_lock(&flights->mutex);

    struct lt_flight *found = flights->first;

    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    if (found) {
        role = follow(flights, found, deadline);
    } else {
        found = start(flights, name);
        role = found ? LT_LEADS : LT_ALONE;
    }
    pthread_mutex_unlock(&flights->mutex);
    *flight = found;
    return role;
}

void lt_flight_land(struct lt_flights *flights, struct lt_flight *flight)
{
    struct lt_flight **link = &flights->first;

    pthread_mutex_lock(&flights->mutex);
    while (*link != flight)
        link = &(*link)->next;
    *link = flight->next;
    flight->landed = true;
    pthread_cond_broadcast(&flights->landing);
    leave(flights, flight);
    pthread_mutex_unlock(&flights->mutex);
}

void lt_flight_leave(struct lt_flights *flights, struct lt_flight *flight)
{
    pthread_mutex_lock(&flights->mutex);
    leave(flights, flight);
    pthread_mutex_unlock(&flights->mutex);
}
