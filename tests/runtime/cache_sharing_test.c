#include "tests/runtime/cache_fixture.h"

#include "tests/support/cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8 };

struct caller {
    pthread_t thread;
    struct lt_cache *cache;
    struct sample *sample;
    enum lathe_status status;
    enum lathe_cache_result result;
    bool right;
    char message[64];
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    struct lt_cache_value value;
    struct lathe_error err = {.status = LATHE_OK};

    caller->status = lt_cache_obtain(caller->cache, &caller->sample->key, sample_build,
                                     caller->sample, &value, &caller->result, &err);
    snprintf(caller->message, sizeof caller->message, "%.60s", err.message);
    if (caller->status == LATHE_OK) {
        caller->right = sample_is(caller->sample, &value);
        lt_cache_value_release(caller->cache, &value);
    }
    return NULL;
}

static void call_from_threads(struct lt_cache *cache, struct sample *sample,
                              struct caller callers[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){.cache = cache, .sample = sample};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
}

static int count_results(const struct caller callers[THREADS], enum lathe_cache_result result)
{
    int count = 0;

    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(callers[i].status, LATHE_OK);
        assert_true(callers[i].right);
        count += callers[i].result == result;
    }
    return count;
}

static void threads_that_want_the_same_build_it_once(void **state)
{
    struct cache_fixture *f = *state;
    struct caller callers[THREADS];

    f->sample.build_ms = 50;
    call_from_threads(f->cache, &f->sample, callers);
    assert_int_equal(count_results(callers, LATHE_CACHE_MISS), 1);
    assert_int_equal(count_results(callers, LATHE_CACHE_HIT), THREADS - 1);
    assert_int_equal(atomic_load(&f->sample.builds), 1);
}

/* How many builds there are depends on which threads come in time: at most one each, and fewer
 * with a build that takes long. */
static void threads_share_a_build_also_without_a_directory(void **state)
{
    struct cache_fixture *f = *state;
    struct caller callers[THREADS];

    f->settings.enabled = false;
    make_again(f);
    f->sample.build_ms = 200;
    call_from_threads(f->cache, &f->sample, callers);
    assert_int_equal(count_results(callers, LATHE_CACHE_OFF), THREADS);
    assert_true(atomic_load(&f->sample.builds) < THREADS);
}

static void threads_share_a_failure(void **state)
{
    struct cache_fixture *f = *state;
    struct caller callers[THREADS];

    f->sample.build_ms = 200;
    f->sample.status = LATHE_LINK_FAILED;
    call_from_threads(f->cache, &f->sample, callers);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(callers[i].status, LATHE_LINK_FAILED);
        assert_string_equal(callers[i].message, "the linker does not like it");
    }
    assert_true(atomic_load(&f->sample.builds) < THREADS);
}

static void a_thread_does_not_wait_for_ever(void **state)
{
    struct cache_fixture *f = *state;
    struct caller callers[THREADS];

    f->settings.lock_timeout_ms = 20;
    make_again(f);
    f->sample.build_ms = 300;
    call_from_threads(f->cache, &f->sample, callers);
    assert_true(count_results(callers, LATHE_CACHE_MISS) > 1);
    assert_log_has(f, 1, "has not finished");
}

static void two_caches_of_one_process_build_once(void **state)
{
    struct cache_fixture *f = *state;
    struct lt_cache *second;
    struct caller callers[2];

    assert_int_equal(lt_cache_create(&second, &f->settings, NULL), LATHE_OK);
    f->sample.build_ms = 50;
    for (int i = 0; i < 2; i++) {
        callers[i] = (struct caller){.cache = i ? second : f->cache, .sample = &f->sample};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    assert_true(callers[0].right && callers[1].right);
    assert_int_equal(atomic_load(&f->sample.builds), 1);
    lt_cache_destroy(&second);
}

/* Another process holds the byte of the sample's entry: found by trying, since only cache_file.c
 * knows which one it is. All bytes are held. */
static void a_lock_that_is_never_given_back_delays_only_so_long(void **state)
{
    struct cache_fixture *f = *state;
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
    struct timespec start, end;
    char path[CACHE_PATH_SIZE];

    f->settings.lock_timeout_ms = 100;
    make_again(f);
    assert_int_equal(mkdir(f->place, 0700), 0);
    path_of(f, "lock", path);

    int holder = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_int_equal(fcntl(holder, F_OFD_SETLK, &all), 0);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 >= 99);
    assert_log_has(f, 1, "has not finished");
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_HIT);
    close(holder);
}

static enum lathe_status die(void *user, struct lt_cache_value *value, struct lathe_error *err)
{
    (void)user;
    (void)value;
    (void)err;
    raise(SIGKILL);
    return LATHE_OK;
}

static void a_builder_that_is_killed_holds_nobody_up(void **state)
{
    struct cache_fixture *f = *state;
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct lt_cache_value value;
        enum lathe_cache_result result;

        lt_cache_obtain(f->cache, &f->sample.key, die, NULL, &value, &result, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(obtain(f->cache, &f->sample), LATHE_CACHE_MISS);
    assert_int_equal(atomic_load(&f->log.lines), 0);
}

enum { PROCESSES = 8, ROUNDS = 2 };

static void processes_that_start_at_once_build_once(void **state)
{
    struct cache_fixture *f = *state;
    char journal[CACHE_PATH_SIZE];
    struct stat builds;

    snprintf(journal, sizeof journal, "%s/journal", f->directory);
    f->sample.journal = journal;
    f->sample.build_ms = 10;
    for (int round = 0; round < ROUNDS; round++) {
        int gate[2], status;

        assert_int_equal(pipe(gate), 0);
        for (int i = 0; i < PROCESSES; i++) {
            char byte;

            if (fork() != 0)
                continue;
            close(gate[1]);
            /* Ends when the parent closes the other end: for all at once. */
            _exit(read(gate[0], &byte, 1) != 0 || obtain(f->cache, &f->sample) == LATHE_CACHE_OFF ||
                  atomic_load(&f->log.lines) != 0);
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < PROCESSES; i++) {
            assert_true(wait(&status) > 0);
            assert_int_equal(status, 0);
        }
        assert_int_equal(stat(journal, &builds), 0);
        assert_int_equal(builds.st_size, round + 1);
        sample_directory_remove(f->place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CACHE_TEST(threads_that_want_the_same_build_it_once),
        CACHE_TEST(threads_share_a_build_also_without_a_directory),
        CACHE_TEST(threads_share_a_failure),
        CACHE_TEST(a_thread_does_not_wait_for_ever),
        CACHE_TEST(two_caches_of_one_process_build_once),
        CACHE_TEST(a_lock_that_is_never_given_back_delays_only_so_long),
        CACHE_TEST(a_builder_that_is_killed_holds_nobody_up),
        CACHE_TEST(processes_that_start_at_once_build_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
