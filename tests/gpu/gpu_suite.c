/* gpu_suite.c: drawn problems, plans and launches on a real GPU, every element of every answer
 * checked.
 *
 *     gpu_suite [seed=N] [count=N] [case=N]
 *
 * A fresh seed is drawn and printed, so that a failure can be repeated: with case=N, it alone. What
 * must be among the cases is put there by gpu_draw.c (every width of a tile, every shape of a
 * cluster with every number of staging buffers, k of 0, 1 and 7, thirty problems above 10^10
 * multiply-adds, matrices beyond 2^31 elements ...); the rest is drawn. What no kernel can do is
 * drawn again and counted. A kernel that the linker spills for or warns of fails.
 *
 * Prints a line a case, as TAP does, then what was covered, then "N passed, M failed, K skipped".
 */
#include "runtime/context.h"
#include "templates/registry.h"
#include "tests/gpu/gpu_draw.h"
#include "tests/gpu/gpu_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES_WANTED = 800, WORDS_SIZE = 640 };

struct suite {
    struct lathe_context *context;
    uint64_t seed;
    int wanted, only; /* only: the number of the one case to run; 0: all */
    struct gpu_draw drawn;
    int passed, failed;
};

/* ---- One case ---- */

static void count(struct suite *suite, bool ok, int number, const char *kind, const char *words)
{
    printf("%sok %d - %s: %s\n", ok ? "" : "not ", number, kind, words);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

/* The number is the same whichever cases are run; so is the data. */
static void run_case(struct suite *suite, int number)
{
    const struct gpu_case *c = &suite->drawn.cases[number - 1];
    struct gpu_outcome outcome;
    struct lathe_error error;
    char words[WORDS_SIZE];
    bool ran = gpu_run_case(suite->context, c, suite->seed + (uint64_t)number, &outcome, &error) ==
               LATHE_OK;

    if (!ran)
        printf("# %s\n", error.message);
    gpu_describe(c, words, sizeof words);
    count(suite, ran && gpu_tell(c, &outcome), number, c->kind, words);
}

/* ---- All ---- */

/* Links what the cases need with all cores before the first of them runs. */
static enum lathe_status prepare(const struct suite *suite, struct lathe_error *err)
{
    size_t cases = (size_t)suite->drawn.count;
    struct lathe_gemm *problems = calloc(cases, sizeof *problems);
    struct lathe_plan_options *options = calloc(cases, sizeof *options);
    enum lathe_status status = LATHE_OUT_OF_MEMORY;

    for (size_t i = 0; problems && options && i < cases; i++) {
        problems[i] = suite->drawn.cases[i].problem;
        options[i] = suite->drawn.cases[i].options;
    }
    snprintf(err->message, sizeof err->message, "no memory for %zu cases", cases);
    if (problems && options)
        status = lathe_gemm_prepare(suite->context, cases, problems, options, 0, err);
    free(problems);
    free(options);
    return status;
}

static void run_all(struct suite *suite)
{
    struct lathe_error error;
    bool prepared = prepare(suite, &error) == LATHE_OK;

    printf("1..%d\n", suite->drawn.count + 1);
    for (int number = 1; number <= suite->drawn.count; number++)
        run_case(suite, number);
    if (!prepared)
        printf("# %s\n", error.message);
    count(suite, prepared, suite->drawn.count + 1, "preparing", "all kernels at once");
}

/* ---- What was covered ---- */

enum { MOST_OF_A_KIND = 64 };

/* How often each value of something stood among the cases. */
struct tally {
    const char *what;
    int values;
    char names[MOST_OF_A_KIND][24];
    int counts[MOST_OF_A_KIND];
};

enum { CLUSTERS, TILES, WIDTHS, BUFFERS, TYPES, BAKED, FACTORS, PLACES, TALLIES };

__attribute__((format(printf, 2, 3))) static void tally_add(struct tally *tally, const char *format,
                                                            ...)
{
    char name[sizeof tally->names[0]];
    va_list arguments;
    int i = 0;

    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    while (i < tally->values && strcmp(tally->names[i], name) != 0)
        i++;
    if (i == MOST_OF_A_KIND)
        return;
    if (i == tally->values)
        memcpy(tally->names[tally->values++], name, sizeof name);
    tally->counts[i]++;
}

static void tally_print(const struct tally *tally)
{
    printf("# %s:", tally->what);
    for (int i = 0; i < tally->values; i++)
        printf(" %s (%d)", tally->names[i], tally->counts[i]);
    printf("\n");
}

static const char *sign_of(float factor)
{
    return factor == 0 ? "=0" : factor < 0 ? "<0" : ">0";
}

static void tally_case(struct tally *tallies, const struct gpu_case *c,
                       const struct lathe_plan *plan)
{
    static const char *const statics[] = {"none", "k", "mnk"};
    static const char *const places[] = {"apart", "D's", "null"};

    tally_add(&tallies[CLUSTERS], "%dx%d", plan->cluster[0], plan->cluster[1]);
    tally_add(&tallies[TILES], "%dx%d/%d", plan->tile[0], plan->tile[2], plan->consumers);
    tally_add(&tallies[WIDTHS], "%d", plan->tile[1]);
    tally_add(&tallies[BUFFERS], "%d", plan->epilogue[2]);
    tally_add(&tallies[TYPES], "%s to %s", lathe_type_name(plan->type), lathe_type_name(plan->out));
    tally_add(&tallies[BAKED], "%s", statics[plan->statics]);
    tally_add(&tallies[FACTORS], "alpha%s", sign_of(c->alpha));
    if (plan->beta != LATHE_BETA_ANY)
        return;
    tally_add(&tallies[FACTORS], "beta%s", sign_of(c->beta));
    tally_add(&tallies[PLACES], "%s", places[c->c]);
}

static void print_coverage(const struct suite *suite)
{
    struct tally tallies[TALLIES] = {[CLUSTERS].what = "clusters",
                                     [TILES].what = "rows and k of tiles, and consumers",
                                     [WIDTHS].what = "columns of tiles",
                                     [BUFFERS].what = "staging buffers",
                                     [TYPES].what = "types",
                                     [BAKED].what = "sizes baked in",
                                     [FACTORS].what = "factors at launch",
                                     [PLACES].what = "C where beta=any"};
    int large = 0;

    for (int i = 0; i < suite->drawn.count; i++) {
        const struct gpu_case *c = &suite->drawn.cases[i];
        struct lathe_plan plan;

        if (gpu_draw_plan(&suite->drawn, c, &plan) == LATHE_OK)
            tally_case(tallies, c, &plan);
        large += (double)c->problem.m * (double)c->problem.n * (double)c->problem.k > 1e10;
    }
    for (int i = 0; i < TALLIES; i++)
        tally_print(&tallies[i]);
    printf("# %d above 10^10 multiply-adds; %d drawn again, since there is no plan for them\n",
           large, suite->drawn.refused);
}

static int skip_all(struct suite *suite, const char *why)
{
    printf("no GPU to test on: %s\n0 passed, 0 failed, 1 skipped\n", why);
    lathe_context_destroy(&suite->context);
    free(suite->drawn.cases);
    return 77;
}

static bool read_arguments(struct suite *suite, int count, char **words)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    suite->seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    suite->wanted = CASES_WANTED;
    for (int i = 1; i < count; i++) {
        if (strncmp(words[i], "seed=", 5) == 0)
            suite->seed = strtoull(words[i] + 5, NULL, 10);
        else if (strncmp(words[i], "count=", 6) == 0)
            suite->wanted = atoi(words[i] + 6);
        else if (strncmp(words[i], "case=", 5) == 0)
            suite->only = atoi(words[i] + 5);
        else
            return false;
    }
    return suite->wanted > 0 && suite->wanted <= GPU_CASES_MAX && suite->only >= 0;
}

int main(int count, char **words)
{
    struct suite suite = {.drawn.cases = calloc(GPU_CASES_MAX, sizeof(struct gpu_case))};
    struct lathe_error error;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!suite.drawn.cases || !read_arguments(&suite, count, words)) {
        fprintf(stderr, "usage: gpu_suite [seed=N] [count=N] [case=N]\n");
        return 2;
    }
    if (lathe_context_create(&suite.context, NULL, &error) != LATHE_OK ||
        lathe_context_arch(suite.context, &suite.drawn.arch, &error) != LATHE_OK ||
        lathe_context_sms(suite.context, &suite.drawn.sms, &error) != LATHE_OK)
        return skip_all(&suite, error.message);
    if (!lt_arch_has_kernels(suite.drawn.arch))
        return skip_all(&suite, "there are no kernels for it yet");
    suite.drawn.state = suite.seed;
    gpu_draw_cases(&suite.drawn, suite.wanted);
    printf("# seed %llu, %d cases\n", (unsigned long long)suite.seed, suite.drawn.count);
    if (suite.only == 0)
        run_all(&suite);
    else if (suite.only <= suite.drawn.count)
        run_case(&suite, suite.only);
    print_coverage(&suite);
    printf("%d passed, %d failed, 0 skipped\n", suite.passed, suite.failed);
    lathe_context_destroy(&suite.context);
    free(suite.drawn.cases);
    return suite.failed > 0 || suite.passed == 0;
}
