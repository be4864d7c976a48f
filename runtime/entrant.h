/* entrant.h: what a contender launches: a function of Lathe's, or an algorithm of cuBLASLt, on the
 * same rotating operands. */
#ifndef LT_RUNTIME_ENTRANT_H
#define LT_RUNTIME_ENTRANT_H

#include "runtime/cublaslt.h"
#include "runtime/rotation.h"

struct lt_entrant {
    const struct lt_rotation *rotation;
    float alpha, beta;
    struct lathe_function *function; /* null: cuBLASLt */
    const struct lt_cublaslt *cublaslt;
    int algorithm;
};

/* A lt_graph_enqueue: `user` is the entrant, `index` that of the set. */
enum lathe_status lt_entrant_enqueue(void *user, int index, struct lathe_error *err);

/* The fastest of cuBLASLt's algorithms on the entrant's operands, by turns in short: a few
 * milliseconds a block. Those that fail, or are far slower when first run, are left out. Fills in
 * `algorithm`. Errors: of the algorithm that failed last, where none is left. */
enum lathe_status lt_entrant_search(struct lt_entrant *entrant, const struct lt_stream *stream,
                                    const struct lathe_allocator *allocator,
                                    struct lathe_error *err);

/* The index of the least of the medians over the rounds; sorts nothing that is the caller's.
 * `times[contender * rounds + round]`, at most LT_SEARCH_ROUNDS of them. */
enum { LT_SEARCH_ROUNDS = 5 };
int lt_fastest(const double *times, int count, int rounds);

#endif
