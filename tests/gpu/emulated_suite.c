/* emulated_suite.c: every kind of plan that is committed, on the emulator; alone, or beside a GPU.
 *
 *     emulated_suite plans [seed=N] [every=N] [schedules=N]
 *     emulated_suite threads [seed=N] [every=N] [schedules=N]
 *     emulated_suite twins [seed=N] [count=N] [exact=1]
 *
 * plans: each N-th plan of `lathe list plans` on three drawn small problems, each under several
 * seeds of the emulator's schedule; the first plan under twenty. Every element is checked on the
 * CPU, with NaN around the inputs and canaries around D.
 * threads: the same problems with 1, 2, 3 and 8 threads: all bytes of D and around it are the same.
 * twins: drawn plans and problems run on the GPU and on the emulator: all bytes of D and around it
 * are the same; whole numbers, or with exact=1 normal ones and the tensor cores' exact arithmetic.
 *
 * Prints a line a case, as TAP does, then "N passed, M failed, K skipped". */
#include "codegen/memory.h"
#include "runtime/context.h"
#include "runtime/operands.h"
#include "templates/registry.h"
#include "tests/gpu/gpu_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WORDS_SIZE = 640,
    WORDS_MAX = 64,
    PROBLEMS = 3,
    SCHEDULES_OF_FIRST = 20,
    SMALL_ROWS = 300, /* m and n; k is up to a third more */
    SMALL_K = 400
};

struct suite {
    struct lathe_context *gpu, *emulator;
    void (*set_seed)(uint64_t seed); /* of the emulator's schedule */
    void (*set_threads)(unsigned threads);
    void (*set_exact)(int exact);
    uint64_t seed, drawn;
    int every, schedules, count, exact;
    int passed, failed;
};

/* ---- Drawing ---- */

static int draw_below(struct suite *suite, int limit)
{
    return (int)lt_random_below(suite->seed, suite->drawn++, (uint32_t)limit);
}

/* Cuts the text at its spaces. */
static int split(char *text, const char *words[WORDS_MAX])
{
    int words_found = 0;
    char *rest = NULL;

    for (char *word = strtok_r(text, " ", &rest); word && words_found < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[words_found++] = word;
    return words_found;
}

/* A small problem that the plan's words can do; rows of all types start at 16 bytes. */
static bool draw_case(struct suite *suite, const char *plan_words, struct gpu_case *c,
                      struct lathe_error *err)
{
    struct lathe_request request = LATHE_REQUEST_INIT;
    const char *words[WORDS_MAX];
    char text[WORDS_SIZE];
    int m = 1 + draw_below(suite, SMALL_ROWS), n = 8 * (1 + draw_below(suite, SMALL_ROWS / 8)),
        k = 8 * draw_below(suite, SMALL_K / 8);

    snprintf(text, sizeof text, "gemm m=%d n=%d k=%d %s", m, n, k, plan_words);
    if (lathe_request_parse(&request, split(text, words), words, err) != LATHE_OK)
        return false;
    *c = (struct gpu_case){.kind = "plan",
                           .problem = request.gemm,
                           .options = request.plan,
                           .integers = draw_below(suite, 2) == 0,
                           .alpha = draw_below(suite, 2) ? 1.0f : -2.5f,
                           .c = GPU_C_APART};
    if (strstr(plan_words, "beta=any"))
        c->beta = draw_below(suite, 2) ? 1.5f : 0.0f;
    return true;
}

static void count(struct suite *suite, bool ok, const struct gpu_case *c, const char *plan_words,
                  const char *more)
{
    printf("%sok %d - m=%lld n=%lld k=%lld %s%s\n", ok ? "" : "not ",
           suite->passed + suite->failed + 1, (long long)c->problem.m, (long long)c->problem.n,
           (long long)c->problem.k, plan_words, more);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

/* ---- On the emulator alone ---- */

static void run_plan(struct suite *suite, size_t index, const char *plan_words, int schedules)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct lathe_error error;
        struct gpu_case c;

        if (!draw_case(suite, plan_words, &c, &error)) {
            printf("# %s\n", error.message);
            count(suite, false, &(struct gpu_case){.kind = ""}, plan_words, "");
            continue;
        }
        for (int schedule = 0; schedule < schedules; schedule++) {
            struct gpu_outcome outcome;
            char more[64];
            bool right;

            suite->set_seed(suite->seed + (uint64_t)(1000 * (int)index + schedule));
            right = gpu_run_case(suite->emulator, &c, suite->seed + index, &outcome, &error) ==
                    LATHE_OK;
            if (!right)
                printf("# %s\n", error.message);
            else if (outcome.verdict.wrong > 0 || outcome.damage > 0)
                printf("# %lld wrong, %lld bytes around D changed\n",
                       (long long)outcome.verdict.wrong, (long long)outcome.damage);
            right = right && outcome.verdict.wrong == 0 && outcome.damage == 0;
            snprintf(more, sizeof more, ", schedule %d", schedule);
            count(suite, right, &c, plan_words, more);
        }
    }
}

static void run_plans(struct suite *suite)
{
    char words[WORDS_SIZE];

    for (size_t i = 0; lathe_legal_plan_at(i, words, sizeof words); i++)
        if (i % (size_t)suite->every == 0)
            run_plan(suite, i, words, i == 0 ? SCHEDULES_OF_FIRST : suite->schedules);
}

/* ---- Two runs of one problem ---- */

/* One side: its launch, and what then stands in D's memory. */
struct side {
    struct lt_stream stream;
    struct lt_checker checker;
    struct lt_operands operands;
    unsigned char *d;
};

static enum lathe_status run_side(struct side *side, struct lathe_context *context,
                                  const struct gpu_case *c, uint64_t seed, struct lathe_error *err)
{
    struct lathe_gemm problem = c->problem;
    struct lathe_function *function = NULL;
    struct lathe_gemm_args args;
    enum lathe_status status = lt_gemm_resolve(&problem, err);

    if (status == LATHE_OK)
        status = lathe_gemm_get(context, &function, &c->problem, &c->options, err);
    if (status == LATHE_OK)
        status = lt_stream_open(&side->stream, context, err);
    if (status == LATHE_OK)
        status = lt_checker_open(&side->checker, context, &side->stream, LT_CHECKER_CPU, 0, err);
    if (status == LATHE_OK)
        status = lt_operands_create(&side->operands, &side->stream, &problem, true, err);
    if (status == LATHE_OK)
        side->operands.sums = lathe_function_plan(function)->acc;
    if (status == LATHE_OK)
        status = lt_operands_poison(&side->operands, err);
    if (status == LATHE_OK)
        status = lt_operands_fill(&side->operands, &side->checker,
                                  c->integers ? LT_DATA_INTEGERS : LT_DATA_NORMAL, seed, err);
    if (status != LATHE_OK)
        return status;
    args = lt_operands_args(&side->operands, c->alpha, c->beta);
    status = lathe_gemm_launch(function, &args, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(&side->stream, err);
    side->d = malloc((size_t)side->operands.d.bytes);
    if (status == LATHE_OK && side->d)
        status = lt_stream_read(&side->stream, side->d, side->operands.d.base,
                                side->operands.d.bytes, err);
    return status;
}

static void close_side(struct side *side)
{
    lt_stream_wait(&side->stream, NULL);
    lt_operands_destroy(&side->operands);
    lt_stream_close(&side->stream);
    free(side->d);
}

/* Of `other` it is said where it ran. */
static bool is_same(const struct side *other, const char *where, const struct side *emulated)
{
    int64_t different = 0, first = -1;

    if (!other->d || !emulated->d || other->operands.d.bytes != emulated->operands.d.bytes)
        return false;
    for (int64_t i = 0; i < other->operands.d.bytes; i++)
        if (other->d[i] != emulated->d[i]) {
            first = different++ == 0 ? i : first;
        }
    if (different > 0)
        printf("# %lld of %lld bytes differ, the first at %lld: 0x%02x %s, 0x%02x here\n",
               (long long)different, (long long)other->operands.d.bytes, (long long)first,
               other->d[first], where, emulated->d[first]);
    return different == 0;
}

/* ---- With many threads, and with one ---- */

static bool is_same_with(struct suite *suite, const struct gpu_case *c, uint64_t seed,
                         unsigned threads, const struct side *one)
{
    struct side many = {.d = NULL};
    struct lathe_error error = {.status = LATHE_OK};
    bool same;

    suite->set_threads(threads);
    same = run_side(&many, suite->emulator, c, seed, &error) == LATHE_OK;
    if (!same)
        printf("# %s\n", error.message);
    same = same && is_same(one, "with one thread", &many);
    close_side(&many);
    return same;
}

static void run_with_threads(struct suite *suite, const char *plan_words, uint64_t seed)
{
    static const unsigned counts[] = {2, 3, 8};
    struct lathe_error error = {.status = LATHE_OK};
    struct gpu_case c;

    if (!draw_case(suite, plan_words, &c, &error)) {
        printf("# %s\n", error.message);
        count(suite, false, &(struct gpu_case){.kind = ""}, plan_words, "");
        return;
    }
    c.integers = false;
    for (int schedule = 0; schedule < suite->schedules; schedule++) {
        struct side one = {.d = NULL};
        bool same;

        suite->set_seed(seed + (uint64_t)schedule);
        suite->set_threads(1);
        same = run_side(&one, suite->emulator, &c, seed, &error) == LATHE_OK;
        if (!same)
            printf("# %s\n", error.message);
        for (size_t i = 0; i < sizeof counts / sizeof counts[0] && same; i++)
            same = is_same_with(suite, &c, seed, counts[i], &one);
        count(suite, same, &c, plan_words, ", with 1, 2, 3 and 8 threads");
        close_side(&one);
    }
}

static void run_threads(struct suite *suite)
{
    char words[WORDS_SIZE];

    for (size_t i = 0; lathe_legal_plan_at(i, words, sizeof words); i++)
        if (i % (size_t)suite->every == 0)
            run_with_threads(suite, words, suite->seed + i);
}

/* ---- Beside a GPU ---- */

static void run_twin(struct suite *suite, const char *plan_words, uint64_t seed)
{
    struct side gpu = {.d = NULL}, emulated = {.d = NULL};
    struct lathe_error error = {.status = LATHE_OK};
    struct gpu_case c;
    bool ran;

    if (!draw_case(suite, plan_words, &c, &error)) {
        printf("# %s\n", error.message);
        return;
    }
    c.integers = !suite->exact;
    suite->set_seed(seed);
    ran = run_side(&emulated, suite->emulator, &c, seed, &error) == LATHE_OK;
    if (ran)
        ran = run_side(&gpu, suite->gpu, &c, seed, &error) == LATHE_OK;
    if (!ran)
        printf("# %s\n", error.message);
    count(suite, ran && is_same(&gpu, "on the GPU", &emulated), &c, plan_words, "");
    close_side(&gpu);
    close_side(&emulated);
}

static void run_twins(struct suite *suite)
{
    char words[WORDS_SIZE];
    size_t plans = 0;

    while (lathe_legal_plan_at(plans, words, sizeof words))
        plans++;
    for (int i = 0; i < suite->count; i++) {
        size_t plan = (size_t)draw_below(suite, (int)plans);

        if (lathe_legal_plan_at(plan, words, sizeof words))
            run_twin(suite, words, suite->seed + (uint64_t)i);
    }
}

/* ---- All ---- */

static bool open_emulator(struct suite *suite, struct lathe_error *err)
{
    const struct lt_device *device = NULL;
    void *symbols[3];

    if (lathe_context_create(
            &suite->emulator,
            lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS, .emulated_arch = LATHE_SM_90A),
            err) != LATHE_OK ||
        lt_context_probe(suite->emulator, &device, err) != LATHE_OK)
        return false;
    symbols[0] = dlsym(device->driver.library.handle, "emu_set_seed");
    symbols[1] = dlsym(device->driver.library.handle, "emu_set_exact");
    memcpy(&suite->set_seed, &symbols[0], sizeof symbols[0]);
    symbols[2] = dlsym(device->driver.library.handle, "emu_set_threads");
    memcpy(&suite->set_exact, &symbols[1], sizeof symbols[1]);
    memcpy(&suite->set_threads, &symbols[2], sizeof symbols[2]);
    if (!suite->set_seed || !suite->set_exact || !suite->set_threads)
        return false;
    suite->set_exact(suite->exact);
    return true;
}

static bool read_arguments(struct suite *suite, int count, char **words)
{
    const struct {
        const char *name;
        int *value;
    } numbers[] = {{"every=", &suite->every},
                   {"schedules=", &suite->schedules},
                   {"count=", &suite->count},
                   {"exact=", &suite->exact}};

    for (int i = 2; i < count; i++) {
        bool known = strncmp(words[i], "seed=", 5) == 0;

        if (known)
            suite->seed = strtoull(words[i] + 5, NULL, 10);
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            if (strncmp(words[i], numbers[k].name, strlen(numbers[k].name)) == 0) {
                *numbers[k].value = atoi(words[i] + strlen(numbers[k].name));
                known = true;
            }
        if (!known)
            return false;
    }
    return count > 1 && suite->every > 0 && suite->schedules > 0 && suite->count > 0;
}

static int finish(struct suite *suite, int skipped)
{
    printf("%d passed, %d failed, %d skipped\n", suite->passed, suite->failed, skipped);
    lathe_context_destroy(&suite->gpu);
    lathe_context_destroy(&suite->emulator);
    return skipped ? 77 : suite->failed > 0 || suite->passed == 0;
}

int main(int count, char **words)
{
    struct suite suite = {.every = 1, .schedules = 3, .count = 100};
    struct lathe_error error = {.status = LATHE_OK};
    enum lathe_arch arch;
    struct timespec now;
    bool twins = count > 1 && strcmp(words[1], "twins") == 0,
         threads = count > 1 && strcmp(words[1], "threads") == 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    suite.seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (!read_arguments(&suite, count, words) ||
        (!twins && !threads && strcmp(words[1], "plans") != 0)) {
        fprintf(stderr, "usage: emulated_suite plans [seed=N] [every=N] [schedules=N]\n"
                        "       emulated_suite threads [seed=N] [every=N] [schedules=N]\n"
                        "       emulated_suite twins [seed=N] [count=N] [exact=1]\n");
        return 2;
    }
    if (!open_emulator(&suite, &error)) {
        printf("not ok 1 - %s\n", error.message);
        suite.failed++;
        return finish(&suite, 0);
    }
    if (twins && (lathe_context_create(&suite.gpu, NULL, &error) != LATHE_OK ||
                  lathe_context_arch(suite.gpu, &arch, &error) != LATHE_OK)) {
        printf("# no GPU to compare with: %s\n", error.message);
        return finish(&suite, 1);
    }
    printf("# seed %llu\n", (unsigned long long)suite.seed);
    if (twins)
        run_twins(&suite);
    else if (threads)
        run_threads(&suite);
    else
        run_plans(&suite);
    return finish(&suite, 0);
}
