/* clocks.h: how fast the GPU was clocked while blocks ran: a thread asks NVML 20 times a second,
 * and what it hears is given to the contender whose block ran at that moment. */
#ifndef LT_RUNTIME_CLOCKS_H
#define LT_RUNTIME_CLOCKS_H

#include "include/lathe_tools.h"
#include "runtime/nvml.h"
#include "runtime/turns.h"

#include <pthread.h>

struct lt_clocks {
    const struct lathe_allocator *allocator;
    struct lt_nvml nvml;
    struct lt_clock_sample *samples;
    double *scratch; /* as long as the samples */
    int count;
    bool is_open, running, stop;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
};

/* Without NVML or memory there are no samples, and nothing else changes. `clocks` is all zero, and
 * stays in place until it is closed. */
void lt_clocks_open(struct lt_clocks *clocks, const struct lt_device *device, const char *path,
                    const struct lathe_allocator *allocator);
/* Accepts one that was never opened. */
void lt_clocks_close(struct lt_clocks *clocks);

/* Begins anew, and ends; both may be called where nothing is open. */
void lt_clocks_start(struct lt_clocks *clocks);
void lt_clocks_stop(struct lt_clocks *clocks);

/* Medians of the samples taken in turns of one contender, or with -1 in any turn. Not while the
 * thread runs. */
struct lathe_bench_clocks lt_clocks_of(const struct lt_clocks *clocks, const struct lt_turn *taken,
                                       int turns, int contender);

/* Whether two of them differ so much that figures cannot be compared; a handful of samples is
 * needed to say so. */
bool lt_clocks_differ(const struct lathe_bench_clocks *all, int count);

/* What the tensor cores could do at this clock, in TFLOPS; 0 where that is not known. */
double lt_peak_tflops(enum lathe_arch arch, enum lathe_type type, int sms, double sm_mhz);

#endif
