/* pool.c: see pool.h.
 *
 * Rounds of work are short, so helpers look for the next one for a while before they sleep, and are
 * woken only by a round that turns out to be long. */
#include "emulator/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOKS = 1000,        /* before a thread sleeps: some 20 us */
    WAKE_AFTER_NS = 5000 /* of a round: about what waking costs */
};

/* A ticket is (round << 40 | pieces << 20 | next piece): to take a piece is to add 1, and what was
 * there before tells of which round it is, and whether there was one left. */
enum { PIECE_BITS = 20, ROUND_SHIFT = 2 * PIECE_BITS };
#define PIECE_MASK (((uint64_t)1 << PIECE_BITS) - 1)

struct emu_pool {
    emu_pool_work work;
    void *user;
    uint32_t looks;
    _Atomic uint64_t ticket;
    _Atomic uint32_t left; /* pieces of the round that are not done */
    /* Who sleeps says so, then looks once more; who brings something looks for sleepers after that.
     */
    _Atomic uint32_t asleep;
    _Atomic bool caller_sleeps, ends;
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
    uint32_t helper_count;
    pthread_t helpers[];
};

uint32_t emu_processors(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

static void relax(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* ---- Pieces ---- */

static void finish_piece(struct emu_pool *pool)
{
    if (atomic_fetch_sub(&pool->left, 1) > 1 || !atomic_load(&pool->caller_sleeps))
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
}

/* Does one piece. False where none was left; *round is that which was looked at. */
static bool do_piece(struct emu_pool *pool, uint64_t *round)
{
    uint64_t ticket = atomic_fetch_add(&pool->ticket, 1), piece = ticket & PIECE_MASK;

    *round = ticket >> ROUND_SHIFT;
    if (piece >= (ticket >> PIECE_BITS & PIECE_MASK))
        return false;
    pool->work(pool->user, (uint32_t)piece);
    finish_piece(pool);
    return true;
}

/* ---- Helpers ---- */

static bool has_news(struct emu_pool *pool, uint64_t round)
{
    return atomic_load(&pool->ends) || atomic_load(&pool->ticket) >> ROUND_SHIFT != round;
}

static void await_news(struct emu_pool *pool, uint64_t round)
{
    for (uint32_t i = 0; i < pool->looks; i++) {
        if (has_news(pool, round))
            return;
        relax();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->asleep, 1);
    while (!has_news(pool, round))
        pthread_cond_wait(&pool->begun, &pool->mutex);
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *help(void *user)
{
    struct emu_pool *pool = user;
    uint64_t round;

    while (!atomic_load(&pool->ends))
        if (!do_piece(pool, &round))
            await_news(pool, round);
    return NULL;
}

/* ---- The caller ---- */

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void wake(struct emu_pool *pool, uint64_t pieces)
{
    pthread_mutex_lock(&pool->mutex);
    for (uint32_t i = atomic_load(&pool->asleep); i > 0 && pieces > 0; i--, pieces--)
        pthread_cond_signal(&pool->begun);
    pthread_mutex_unlock(&pool->mutex);
}

static uint64_t pieces_left(struct emu_pool *pool)
{
    uint64_t ticket = atomic_load(&pool->ticket), pieces = ticket >> PIECE_BITS & PIECE_MASK,
             taken = ticket & PIECE_MASK;

    return taken < pieces ? pieces - taken : 0;
}

/* What helpers have taken and not done. */
static void await_left(struct emu_pool *pool)
{
    for (uint32_t i = 0; i < pool->looks; i++) {
        if (atomic_load(&pool->left) == 0)
            return;
        relax();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->left) > 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

void emu_pool_do(struct emu_pool *pool, uint32_t pieces)
{
    uint64_t round = (atomic_load(&pool->ticket) >> ROUND_SHIFT) + 1, began = now();
    bool is_waking = true;

    atomic_store(&pool->left, pieces);
    atomic_store(&pool->ticket, round << ROUND_SHIFT | (uint64_t)pieces << PIECE_BITS);
    while (do_piece(pool, &round))
        if (is_waking && atomic_load(&pool->asleep) > 0 && now() - began > WAKE_AFTER_NS) {
            wake(pool, pieces_left(pool));
            is_waking = false;
        }
    await_left(pool);
}

/* ---- Making and ending ---- */

/* Signals are for the program's own threads. */
static void start_helpers(struct emu_pool *pool, uint32_t helpers)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->helper_count < helpers &&
           pthread_create(&pool->helpers[pool->helper_count], NULL, help, pool) == 0)
        pool->helper_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct emu_pool *emu_pool_start(uint32_t helpers, emu_pool_work work, void *user)
{
    struct emu_pool *pool = calloc(1, sizeof *pool + helpers * sizeof pool->helpers[0]);

    if (!pool)
        return NULL;
    pool->work = work;
    pool->user = user;
    /* Who looks takes the time of who works, where there are more threads than processors. */
    pool->looks = helpers < emu_processors() ? LOOKS : 1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begun, NULL);
    pthread_cond_init(&pool->done, NULL);
    start_helpers(pool, helpers);
    return pool;
}

void emu_pool_end(struct emu_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->ends, true);
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->helper_count; i++)
        pthread_join(pool->helpers[i], NULL);
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
