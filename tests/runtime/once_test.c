/* Values that are made once. */
#include "runtime/once.h"

#include "tests/support/cmocka_all.h"
#include "tests/support/fail_allocator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 16 };

struct maker {
    atomic_int made;
    enum lathe_status status;
    int pause_ms;
};

static enum lathe_status make(void *user, void **value, struct lathe_error *err)
{
    struct maker *maker = user;
    struct timespec pause = {0, maker->pause_ms * 1000000L};

    atomic_fetch_add(&maker->made, 1);
    nanosleep(&pause, NULL);
    if (maker->status != LATHE_OK) {
        err->status = maker->status;
        strcpy(err->message, "planted");
        return maker->status;
    }
    *value = maker;
    return LATHE_OK;
}

static void count_destroyed(void *user, void *value)
{
    (void)value;
    (*(int *)user)++;
}

static struct lt_once *make_once(const struct lathe_allocator *allocator)
{
    struct lt_once *once = NULL;

    assert_int_equal(lt_once_create(&once, allocator, NULL), LATHE_OK);
    return once;
}

static void a_value_is_made_the_first_time_and_kept(void **state)
{
    struct lt_once *once = make_once(NULL);
    struct maker maker = {.status = LATHE_OK};
    int destroyed = 0;
    void *value = NULL;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(lt_once_get(once, "key", 3, make, &maker, &value, NULL), LATHE_OK);
    assert_ptr_equal(value, &maker);
    assert_int_equal(maker.made, 1);
    lt_once_destroy(&once, count_destroyed, &destroyed);
    assert_int_equal(destroyed, 1);
    assert_null(once);
}

static void keys_differ_by_any_byte_and_by_length(void **state)
{
    struct lt_once *once = make_once(NULL);
    struct maker maker = {.status = LATHE_OK};
    int destroyed = 0;
    void *value;

    (void)state;
    lt_once_get(once, "abc", 3, make, &maker, &value, NULL);
    lt_once_get(once, "abd", 3, make, &maker, &value, NULL);
    lt_once_get(once, "abc", 2, make, &maker, &value, NULL);
    assert_int_equal(maker.made, 3);
    lt_once_destroy(&once, count_destroyed, &destroyed);
    assert_int_equal(destroyed, 3);
}

static void a_failure_is_told_and_tried_again(void **state)
{
    struct lt_once *once = make_once(NULL);
    struct maker maker = {.status = LATHE_LINK_FAILED};
    struct lathe_error error;
    int destroyed = 0;
    void *value = NULL;

    (void)state;
    assert_int_equal(lt_once_get(once, "k", 1, make, &maker, &value, &error), LATHE_LINK_FAILED);
    assert_string_equal(error.message, "planted");
    assert_null(value);
    maker.status = LATHE_OK;
    assert_int_equal(lt_once_get(once, "k", 1, make, &maker, &value, &error), LATHE_OK);
    assert_int_equal(maker.made, 2);
    lt_once_destroy(&once, count_destroyed, &destroyed);
    assert_int_equal(destroyed, 1);
}

struct asker {
    struct lt_once *once;
    struct maker *maker;
    enum lathe_status status;
    struct lathe_error error;
    void *value;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;

    asker->status =
        lt_once_get(asker->once, "shared", 6, make, asker->maker, &asker->value, &asker->error);
    return NULL;
}

static void ask_at_once(struct lt_once *once, struct maker *maker, struct asker askers[THREADS])
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){.once = once, .maker = maker};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads_that_ask_at_once_share_one_value(void **state)
{
    struct lt_once *once = make_once(NULL);
    struct maker maker = {.status = LATHE_OK, .pause_ms = 20};
    struct asker askers[THREADS];
    int destroyed = 0;

    (void)state;
    ask_at_once(once, &maker, askers);
    assert_int_equal(maker.made, 1);
    for (int i = 0; i < THREADS; i++)
        assert_ptr_equal(askers[i].value, &maker);
    lt_once_destroy(&once, count_destroyed, &destroyed);
}

static void threads_that_wait_share_the_failure(void **state)
{
    struct fail_allocator memory;
    struct maker maker = {.status = LATHE_LINK_FAILED, .pause_ms = 20};
    struct asker askers[THREADS];
    int destroyed = 0;

    (void)state;
    fail_allocator_init(&memory, -1);

    struct lt_once *once = make_once(&memory.allocator);

    ask_at_once(once, &maker, askers);
    assert_in_range(maker.made, 1, THREADS - 1);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(askers[i].status, LATHE_LINK_FAILED);
        assert_string_equal(askers[i].error.message, "planted");
    }
    lt_once_destroy(&once, count_destroyed, &destroyed);
    assert_int_equal(destroyed, 0);
    assert_int_equal(memory.live, 0);
}

static void no_memory_is_a_status(void **state)
{
    struct fail_allocator memory;
    struct maker maker = {.status = LATHE_OK};
    struct lathe_error error;
    struct lt_once *once = NULL;
    int destroyed = 0;
    void *value;

    (void)state;
    fail_allocator_init(&memory, 0);
    assert_int_equal(lt_once_create(&once, &memory.allocator, &error), LATHE_OUT_OF_MEMORY);
    fail_allocator_init(&memory, 1);
    once = make_once(&memory.allocator);
    assert_int_equal(lt_once_get(once, "k", 1, make, &maker, &value, &error), LATHE_OUT_OF_MEMORY);
    assert_int_equal(maker.made, 0);
    lt_once_destroy(&once, count_destroyed, &destroyed);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_made_the_first_time_and_kept),
        cmocka_unit_test(keys_differ_by_any_byte_and_by_length),
        cmocka_unit_test(a_failure_is_told_and_tried_again),
        cmocka_unit_test(threads_that_ask_at_once_share_one_value),
        cmocka_unit_test(threads_that_wait_share_the_failure),
        cmocka_unit_test(no_memory_is_a_status),
    };

    return cmocka_run_group_tests_name("once", tests, NULL, NULL);
}
