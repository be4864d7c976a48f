/* prepare.c: a list of problems, made ready by several threads. */
#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/context.h"
#include "runtime/entries.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct work {
    struct lathe_context *context;
    const struct lathe_gemm *problems;
    const struct lathe_plan_options *options; /* null, or one for each problem */
    size_t count;

    pthread_mutex_t mutex;
    size_t next;
    size_t failed; /* index of the first failure so far; count: none */
    struct lathe_error error;
};

static size_t take(struct work *work)
{
    pthread_mutex_lock(&work->mutex);

    size_t index = work->next < work->count ? work->next++ : work->count;

    pthread_mutex_unlock(&work->mutex);
    return index;
}

static void *run(void *argument)
{
    struct work *work = argument;

    for (size_t i = take(work); i < work->count; i = take(work)) {
        struct lathe_function *function;
        struct lathe_error error = {.status = LATHE_OK};

        if (lathe_gemm_get(work->context, &function, lt_entry(work->problems, i),
                           work->options ? lt_entry(work->options, i) : NULL, &error) == LATHE_OK)
            continue;
        pthread_mutex_lock(&work->mutex);
        if (i < work->failed) {
            work->failed = i;
            work->error = error;
        }
        pthread_mutex_unlock(&work->mutex);
    }
    return NULL;
}

static int thread_count(int wanted, size_t problems)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = wanted > 0 ? wanted : cores > 0 ? (int)cores : 1;

    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    return (size_t)threads < problems ? threads : (int)problems;
}

enum lathe_status lathe_gemm_prepare(struct lathe_context *context, size_t count,
                                     const struct lathe_gemm *problems,
                                     const struct lathe_plan_options *options, int threads,
                                     struct lathe_error *err)
{
    struct work work = {.context = context,
                        .problems = problems,
                        .options = options,
                        .count = count,
                        .failed = count};
    pthread_t others[THREADS_MAX];
    const struct lt_device *device;
    enum lathe_status status;
    int started = 0;

    if (!context || (count > 0 && !problems))
        return lt_fail(err, LATHE_MISUSED, "lathe_gemm_prepare: needs a context and problems");
    if (count == 0)
        return LATHE_OK;
    if ((status = lt_check_size(problems, "lathe_gemm", err)) != LATHE_OK ||
        (options && (status = lt_check_size(options, "lathe_plan_options", err)) != LATHE_OK))
        return status;

    /* Here, since a context that lives in the caller's CUDA context must see this thread's. */
    if ((status = lt_context_device(context, &device, err)) != LATHE_OK)
        return status;
    threads = thread_count(threads, count);
    pthread_mutex_init(&work.mutex, NULL);
    while (started < threads - 1 && pthread_create(&others[started], NULL, run, &work) == 0)
        started++;
    run(&work); /* this thread works too: no thread need have started */
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_mutex_destroy(&work.mutex);
    if (work.failed == count)
        return LATHE_OK;
    if (err)
        *err = work.error;
    return work.error.status;
}
