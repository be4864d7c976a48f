/* fixture.h: a context on the stub driver and the stub linker, with a cache directory of its own.
 */
#ifndef LATHE_TESTS_RUNTIME_FIXTURE_H
#define LATHE_TESTS_RUNTIME_FIXTURE_H

#include "include/lathe.h"
#include "tests/runtime/cache_sample.h"
#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"
#include "tests/support/stub_driver.h"
#include "tests/support/stub_linker.h"

struct runtime_fixture {
    struct stub_control stub;
    stub_linker_set_function link_mode;
    stub_linker_count_function links;
    stub_linker_delay_function link_delay;
    char cache[SAMPLE_PATH_SIZE];
    struct sample_log log;
    struct lathe_context_options options; /* what the context is made with */
    struct lathe_context *context;
    struct lathe_error error;
};

/* For cmocka: `state` is the fixture, its context made. */
int runtime_set_up(void **state);
int runtime_tear_down(void **state);

#define RUNTIME_TEST(name) cmocka_unit_test_setup_teardown(name, runtime_set_up, runtime_tear_down)

/* The context anew, with the options as they are now, as in a new process; the stub and the cache
 * stay. */
void runtime_again(struct runtime_fixture *f);

/* A small problem that stands for any. */
struct lathe_gemm runtime_problem(void);

/* A function for the problem that must be had. */
struct lathe_function *runtime_get(struct runtime_fixture *f, const struct lathe_gemm *problem,
                                   const struct lathe_plan_options *options);

/* Addresses that the stub knows nothing of: nothing is computed. Aligned, apart from each other. */
struct lathe_gemm_args runtime_args(int64_t m, int64_t n, int64_t k);

#define assert_status(f, call, expected)                                                           \
    do {                                                                                           \
        enum lathe_status got_ = (call);                                                           \
        if (got_ != (expected))                                                                    \
            fail_msg("%s gave %s: %s", #call, lathe_status_name(got_), (f)->error.message);        \
    } while (0)

#define assert_message(f, words)                                                                   \
    do {                                                                                           \
        if (!strstr((f)->error.message, (words)))                                                  \
            fail_msg("'%s' is not in: %s", (words), (f)->error.message);                           \
    } while (0)

#endif
