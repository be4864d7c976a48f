/* storm: 32 threads ask a few contexts for the same kernels, build and launch them, while calls of
 * the driver and links fail at random, the very first ones too.
 *
 *     storm [seed=N]
 *
 * While it lasts, every call must succeed or say what failed; when it is over, every kernel must be
 * had, the same function for all who asked, and nothing may be left in the driver. */
#include "include/lathe.h"
#include "tests/stress/stress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 25, THREADS = 32, CALLS = 150, CONTEXTS = 4, PROBLEMS = 12, TOLD_MAX = 8 };

struct storm {
    struct stress stress;
    uint64_t seed;
    struct lathe_context *contexts[CONTEXTS];
    struct lathe_gemm problems[PROBLEMS];
    struct lathe_plan_options options[PROBLEMS];
    _Atomic(struct lathe_function *) functions[CONTEXTS][PROBLEMS]; /* as first had */
    int (*current_context)(void **context);                         /* cuCtxGetCurrent */
    atomic_int workers;
    atomic_int succeeded, failed, wrong; /* calls                                           */
    int not_had, left;                   /* kernels, and rounds: when a storm was over       */
};

/* One of the threads. */
struct worker {
    struct storm *storm;
    uint64_t state;
};

static void tell(struct storm *storm, const char *call, enum lathe_status status, const char *what)
{
    if (atomic_fetch_add(&storm->wrong, 1) < TOLD_MAX)
        printf("# %s gave %s: %s\n", call, lathe_status_name(status), what);
}

/* ---- What is asked ---- */

static void make_contexts(struct storm *storm)
{
    for (int i = 0; i < CONTEXTS; i++) {
        struct lathe_context_options options = stress_options(&storm->stress);
        struct lathe_error error;

        if (i == 1)
            options.cache = LATHE_OFF;
        if (i == 2)
            options.cache_limit_bytes = 60000; /* a few entries: some are always thrown out */
        if (lathe_context_create(&storm->contexts[i], &options, &error) != LATHE_OK) {
            fprintf(stderr, "no context: %s\n", error.message);
            exit(1);
        }
    }
}

static void make_problems(struct storm *storm)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct lathe_plan_options *options = &storm->options[i];
        struct lathe_gemm *problem = &storm->problems[i];

        *problem = (struct lathe_gemm)LATHE_GEMM_INIT;
        *options = (struct lathe_plan_options)LATHE_PLAN_OPTIONS_INIT;
        problem->m = 512 + 64 * (i % 2); /* two problems may have one kernel */
        problem->n = problem->k = 512;
        options->arch = LATHE_SM_90A; /* the stub driver's */
        options->tile[0] = options->tile[2] = 64;
        options->tile[1] = 8 + 8 * (i / 2);
        options->cluster[0] = 1 + i / 2 % 2;
        options->cluster[1] = options->cluster[2] = 1;
    }
}

/* ---- Single calls ---- */

/* True if the call succeeded. */
static bool judge(struct storm *storm, const char *call, enum lathe_status status,
                  const struct lathe_error *error, const void *output)
{
    if (status == LATHE_OK) {
        atomic_fetch_add(&storm->succeeded, 1);
        if (!output)
            tell(storm, call, status, "nothing came of it");
        return output != NULL;
    }
    atomic_fetch_add(&storm->failed, 1);
    if (!stress_error_is_told(error, status) || status == LATHE_INTERNAL || status == LATHE_MISUSED)
        tell(storm, call, status, error->message);
    if (output)
        tell(storm, call, status, "its output was touched");
    return false;
}

static struct lathe_function *get(struct storm *storm, int context, int problem)
{
    struct lathe_function *function = NULL, *first = NULL;
    struct lathe_error error = {.status = LATHE_OK};
    enum lathe_status status =
        lathe_gemm_get(storm->contexts[context], &function, &storm->problems[problem],
                       &storm->options[problem], &error);

    if (!judge(storm, "lathe_gemm_get", status, &error, function))
        return NULL;
    if (lathe_function_plan(function)->tile[1] != storm->options[problem].tile[1])
        tell(storm, "lathe_gemm_get", status, "it is the function of another problem");
    if (!atomic_compare_exchange_strong(&storm->functions[context][problem], &first, function) &&
        first != function)
        tell(storm, "lathe_gemm_get", status, "another function for the same problem");
    return function;
}

static bool launch(struct storm *storm, struct lathe_function *function, int64_t m)
{
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;
    struct lathe_error error = {.status = LATHE_OK};

    args.m = m;
    args.n = args.k = 64;
    args.a = 0x1000000;
    args.b = 0x2000000;
    args.d = 0x3000000;

    enum lathe_status status = lathe_gemm_launch(function, &args, &error);

    return judge(storm, "lathe_gemm_launch", status, &error, status == LATHE_OK ? function : NULL);
}

static struct lathe_kernel *emit(struct storm *storm, int problem)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_kernel *kernel = NULL;
    struct lathe_error error;
    enum lathe_status status =
        lathe_plan_gemm(&plan, &storm->problems[problem], &storm->options[problem], &error);

    if (status == LATHE_OK)
        status = lathe_emit(&kernel, &plan, NULL, &error);
    if (status != LATHE_OK)
        tell(storm, "lathe_emit", status, error.message);
    return kernel;
}

static bool build_and_load(struct storm *storm, int context, int problem)
{
    struct lathe_kernel *kernel = emit(storm, problem);
    struct lathe_image *image = NULL;
    struct lathe_function *function = NULL;
    struct lathe_error error = {.status = LATHE_OK};

    if (!kernel)
        return false;

    enum lathe_status status = lathe_build(storm->contexts[context], &image, kernel, &error);
    bool ok = judge(storm, "lathe_build", status, &error, image);

    if (ok) {
        status = lathe_load(storm->contexts[context], &function, image, &error);
        ok = judge(storm, "lathe_load", status, &error, function);
    }
    lathe_image_destroy(&image);
    lathe_kernel_destroy(&kernel);
    return ok;
}

/* ---- The threads ---- */

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct storm *storm = worker->storm;
    void *current = NULL;

    for (int i = 0; i < CALLS; i++) {
        int context = (int)stress_draw(&worker->state, CONTEXTS);
        int problem = (int)stress_draw(&worker->state, PROBLEMS);
        struct lathe_function *function;

        if (stress_draw(&worker->state, 5) == 0) {
            build_and_load(storm, context, problem);
        } else {
            function = get(storm, context, problem);
            if (function && stress_draw(&worker->state, 2) == 0)
                launch(storm, function, 1 + (int64_t)stress_draw(&worker->state, 500));
        }
        if (storm->current_context(&current) == 0 && current)
            tell(storm, "a call", LATHE_OK, "it left another CUDA context current");
    }
    atomic_fetch_sub(&storm->workers, 1);
    return NULL;
}

/* Not those that give something back: a driver that fails there leaves nobody anything to do. */
static const char *const may_fail[] = {
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuCtxGetCurrent",
    "cuCtxPushCurrent_v2",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuOccupancyMaxActiveClusters",
    "cuTensorMapEncodeTiled",
    "cuLaunchKernelEx",
};

static void change_weather(struct storm *storm, uint64_t *state)
{
    static const int results[] = {2, 46, 200, 209, 719, 999};
    static const enum stub_linker_mode modes[] = {STUB_LINKS, STUB_LINKS,   STUB_LINKS,
                                                  STUB_WARNS, STUB_REFUSES, STUB_EMPTY};
    enum { CALLS_COUNT = sizeof may_fail / sizeof *may_fail };

    storm->stress.stub.fail_nothing();
    for (uint64_t i = stress_draw(state, 5); i > 0; i--)
        storm->stress.stub.fail_call(may_fail[stress_draw(state, CALLS_COUNT)],
                                     results[stress_draw(state, sizeof results / sizeof *results)],
                                     (int)stress_draw(state, 4), 1 + (int)stress_draw(state, 6));
    storm->stress.link_mode(modes[stress_draw(state, sizeof modes / sizeof *modes)]);
    storm->stress.link_delay((int)stress_draw(state, 2));
}

static void *make_weather(void *argument)
{
    struct worker *worker = argument;

    while (atomic_load(&worker->storm->workers) > 0) {
        change_weather(worker->storm, &worker->state);
        usleep((useconds_t)stress_draw(&worker->state, 1000));
    }
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), struct worker *worker)
{
    if (pthread_create(thread, NULL, run, worker) != 0) {
        fprintf(stderr, "no thread\n");
        exit(1);
    }
}

static void rage(struct storm *storm, uint64_t seed)
{
    struct worker workers[THREADS + 1];
    pthread_t threads[THREADS + 1];

    /* The first that asks for the device is refused it. */
    storm->stress.stub.fail_call("cuDevicePrimaryCtxRetain", 2, 0, 1);
    atomic_store(&storm->workers, THREADS);
    for (int i = 0; i <= THREADS; i++) {
        workers[i] = (struct worker){storm, seed * 1000 + (uint64_t)i};
        start(&threads[i], i < THREADS ? work : make_weather, &workers[i]);
    }
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    storm->stress.stub.fail_nothing();
    storm->stress.link_mode(STUB_LINKS);
    storm->stress.link_delay(0);
}

static void try_all(struct storm *storm)
{
    for (int context = 0; context < CONTEXTS; context++)
        for (int problem = 0; problem < PROBLEMS; problem++) {
            struct lathe_function *function = get(storm, context, problem);

            storm->not_had += !function || !launch(storm, function, 64) ||
                              !build_and_load(storm, context, problem);
        }
}

/* With new contexts; every other time the cache is empty. */
static void run_round(struct storm *storm, int round)
{
    if (round % 2 == 0)
        sample_directory_remove(storm->stress.cache);
    storm->stress.stub.reset();
    make_contexts(storm);
    rage(storm, storm->seed * ROUNDS + (uint64_t)round);
    try_all(storm);
    for (int i = 0; i < CONTEXTS; i++)
        lathe_context_destroy(&storm->contexts[i]);
    memset(storm->functions, 0, sizeof storm->functions);
    storm->left += !stress_driver_is_clean(&storm->stress);
}

int main(int count, char **words)
{
    struct storm storm = {.seed = 1};
    void *symbol;

    if (count > 1 && strncmp(words[1], "seed=", 5) == 0)
        storm.seed = strtoull(words[1] + 5, NULL, 10);
    stress_open(&storm.stress);
    symbol = dlsym(storm.stress.driver, "cuCtxGetCurrent");
    memcpy(&storm.current_context, &symbol, sizeof symbol);
    make_problems(&storm);
    for (int round = 0; round < ROUNDS; round++)
        run_round(&storm, round);
    stress_result(&storm.stress, storm.wrong == 0 && storm.succeeded > 0 && storm.failed > 0,
                  "%d threads in %d storms: %d calls succeed, %d say why not, %d do neither",
                  THREADS, ROUNDS, storm.succeeded, storm.failed, storm.wrong);
    stress_result(&storm.stress, storm.not_had == 0,
                  "after a storm every kernel is to be had: %d of %d are not", storm.not_had,
                  ROUNDS * CONTEXTS * PROBLEMS);
    stress_result(&storm.stress, storm.left == 0, "after a storm nothing is left in the driver");
    return stress_close(&storm.stress);
}
