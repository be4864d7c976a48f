#include "runtime/entrant.h"

#include "codegen/status.h"
#include "runtime/statistics.h"
#include "runtime/turns.h"

#include <math.h>
#include <string.h>

/* Of the search: how long a block lasts, and by how much an algorithm may be slower than the
 * fastest, as both are first run, to be timed at all. */
#define SEARCH_BLOCK_MS 3.0
#define SEARCH_SLACK 1.3

enum lathe_status lt_entrant_enqueue(void *user, int index, struct lathe_error *err)
{
    const struct lt_entrant *entrant = user;
    struct lathe_gemm_args args =
        lt_operands_args(lt_rotation_at(entrant->rotation, index), entrant->alpha, entrant->beta);

    return entrant->function
               ? lathe_gemm_launch(entrant->function, &args, err)
               : lt_cublaslt_launch(entrant->cublaslt, entrant->algorithm, &args, err);
}

/* ---- The search ---- */

struct search {
    struct lt_turns turns;
    struct lt_contender contenders[LT_CUBLASLT_ALGORITHMS_MOST];
    struct lt_entrant entrants[LT_CUBLASLT_ALGORITHMS_MOST]; /* contender i launches entrant i */
    struct lt_turn taken[LT_CUBLASLT_ALGORITHMS_MOST * LT_SEARCH_ROUNDS];
    double times[LT_CUBLASLT_ALGORITHMS_MOST * LT_SEARCH_ROUNDS];
};

int lt_fastest(const double *times, int count, int rounds)
{
    double sorted[LT_SEARCH_ROUNDS], least = HUGE_VAL;
    int fastest = 0;

    for (int i = 0; i < count; i++) {
        double median;

        memcpy(sorted, times + i * rounds, (size_t)rounds * sizeof *sorted);
        median = lt_median(sorted, rounds);
        if (median < least) {
            least = median;
            fastest = i;
        }
    }
    return fastest;
}

/* Takes those that run; the message of the last that does not is kept. */
static enum lathe_status probe_all(struct search *search, const struct lt_entrant *like,
                                   struct lathe_error *err)
{
    struct lt_turns *turns = &search->turns;
    enum lathe_status last = LATHE_OK;

    for (int i = 0; i < lt_cublaslt_algorithms(like->cublaslt); i++) {
        struct lt_contender *contender = &search->contenders[turns->count];
        enum lathe_status status;

        search->entrants[turns->count] = *like;
        search->entrants[turns->count].algorithm = i;
        *contender = (struct lt_contender){.enqueue = lt_entrant_enqueue,
                                           .user = &search->entrants[turns->count]};
        status = lt_turns_probe(turns, contender, err);
        if (status == LATHE_OK)
            turns->count++;
        else
            last = status;
    }
    return turns->count > 0 ? LATHE_OK : last;
}

/* Keeps those near the fastest, in their order. */
static void drop_slow(struct search *search)
{
    struct lt_turns *turns = &search->turns;
    double least_us = HUGE_VAL;
    int kept = 0;

    for (int i = 0; i < turns->count; i++)
        least_us = fmin(least_us, search->contenders[i].launch_us);
    for (int i = 0; i < turns->count; i++) {
        if (search->contenders[i].launch_us > SEARCH_SLACK * least_us)
            continue;
        search->entrants[kept] = search->entrants[i];
        search->contenders[kept] = search->contenders[i];
        search->contenders[kept].user = &search->entrants[kept];
        kept++;
    }
    turns->count = kept;
}

static enum lathe_status time_all(struct search *search, struct lathe_error *err)
{
    struct lt_turns *turns = &search->turns;
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < turns->count && status == LATHE_OK; i++)
        status = lt_turns_capture(turns, &turns->contenders[i], err);
    if (status == LATHE_OK)
        status = lt_turns_take(turns, LT_SEARCH_ROUNDS, search->taken, err);
    for (int i = 0; i < turns->count * LT_SEARCH_ROUNDS && status == LATHE_OK; i++) {
        const struct lt_turn *turn = &search->taken[i];

        search->times[turn->contender * LT_SEARCH_ROUNDS + turn->round] = turn->us;
    }
    return status;
}

enum lathe_status lt_entrant_search(struct lt_entrant *entrant, const struct lt_stream *stream,
                                    const struct lathe_allocator *allocator,
                                    struct lathe_error *err)
{
    struct search search = {.turns = {.stream = stream,
                                      .allocator = allocator,
                                      .sets = entrant->rotation->count,
                                      .block_ms = SEARCH_BLOCK_MS}};
    enum lathe_status status;

    search.turns.contenders = search.contenders;
    status = probe_all(&search, entrant, err);
    if (status == LATHE_OK) {
        drop_slow(&search);
        status = time_all(&search, err);
    }
    if (status == LATHE_OK)
        entrant->algorithm =
            search.entrants[lt_fastest(search.times, search.turns.count, LT_SEARCH_ROUNDS)]
                .algorithm;
    lt_turns_release(&search.turns);
    return status;
}
