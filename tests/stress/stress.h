/* stress.h: what the programs of this folder that need a driver share: the stubs of the driver and
 * of the linker, a directory for a cache, numbers drawn from a seed, and results in TAP. */
#ifndef LATHE_TESTS_STRESS_H
#define LATHE_TESTS_STRESS_H

#include "tests/runtime/cache_sample.h"
#include "tests/support/stub_driver.h"
#include "tests/support/stub_linker.h"

#include <stdbool.h>

struct stress {
    void *driver; /* the stub, as dlopen gave it */
    struct stub_control stub;
    stub_linker_set_function link_mode;
    stub_linker_delay_function link_delay;
    char scratch[SAMPLE_PATH_SIZE]; /* removed at the end                           */
    char cache[SAMPLE_PATH_SIZE];   /* in it; not there until a context makes it */
    int results, failed;
};

/* Ends the program if there is something that it cannot do without. */
void stress_open(struct stress *stress);
/* Prints the plan; the exit status: 0 if all results were good. */
int stress_close(struct stress *stress);

/* For a context on the stubs, with the cache in the directory. */
struct lathe_context_options stress_options(const struct stress *stress);

/* Whether nothing is left alive in the driver, and nothing died with its CUDA context. */
bool stress_driver_is_clean(const struct stress *stress);

/* Whether the error is what a call that returned this status must leave behind: the same status,
 * and one line that says something. */
bool stress_error_is_told(const struct lathe_error *error, enum lathe_status status);

/* One line of TAP. */
void stress_result(struct stress *stress, bool ok, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* From 0 to count - 1. */
uint64_t stress_draw(uint64_t *state, uint64_t count);

#endif
