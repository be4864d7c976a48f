/* cache_flight.h: threads of one process that want the same entry at the same time.
 *
 * The first to ask leads: it reads or builds, and lands. The others follow: they wait, and share
 * what the leader made, or its failure. Knows nothing of what an entry is. */
#ifndef LT_RUNTIME_CACHE_FLIGHT_H
#define LT_RUNTIME_CACHE_FLIGHT_H

#include "runtime/cache.h"
#include "runtime/cache_file.h"

#include <pthread.h>
#include <time.h>

struct lt_flight {
    struct lt_flight *next;
    char name[LT_CACHE_NAME_SIZE];
    int aboard; /* threads that have yet to leave */
    bool landed;

    /* What the leader says when it lands; constant from then on. */
    enum lathe_status status;
    struct lathe_error err;
    enum lathe_cache_result result;
    struct lt_bytes entry; /* null: read it as the leader did */
};

struct lt_flights {
    pthread_mutex_t mutex;
    pthread_cond_t landing;
    struct lt_flight *first; /* those in the air */
    const struct lathe_allocator *allocator;
};

bool lt_flights_init(struct lt_flights *flights, const struct lathe_allocator *allocator);
void lt_flights_destroy(struct lt_flights *flights);

enum lt_role {
    LT_LEADS,    /* fill in the flight, then lt_flight_land()               */
    LT_FOLLOWED, /* the flight has landed: read it, then lt_flight_leave()  */
    LT_ALONE     /* no memory, or the deadline passed: no flight            */
};

/* Joins the flight for the name, or starts one. Waits until `deadline` of CLOCK_MONOTONIC at most.
 */
enum lt_role lt_flight_join(struct lt_flights *flights, const char *name,
                            const struct timespec *deadline, struct lt_flight **flight);
/* The leader's last word; leaves too. The flight's entry is the flight's to free. */
void lt_flight_land(struct lt_flights *flights, struct lt_flight *flight);
void lt_flight_leave(struct lt_flights *flights, struct lt_flight *flight);

#endif
