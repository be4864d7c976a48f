/* gpu_suite.c: drawn problems on a real GPU, every element of every answer checked.
 *
 *     gpu_suite [seed=N] [count=N]
 *
 * A fresh seed is drawn and printed, so that a failure can be repeated. What must be among the
 * cases is put there by hand (every tile width three times, k of 0, 1 and 7, one row, matrices
 * beyond 2^31 elements, thirty problems above 10^10 multiply-adds); the rest is drawn. D is
 * poisoned before each launch, NaN stands around A, B and C, and canaries around D. Prints one line
 * a failure, then what was covered, then "N passed, M failed, K skipped". */
#include "include/lathe_tools.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES_MAX = 2000, WIDTHS = 32, LARGE = 30, LARGE_MADDS_BILLIONS = 10 };

struct test_case {
    struct lathe_gemm problem;
    struct lathe_plan_options options;
    bool integers;
    const char *kind;
};

struct suite {
    uint64_t seed, state;
    int count, wanted;
    struct test_case *cases;
    int passed, failed;
};

/* ---- Drawing ---- */

static uint64_t draw(struct suite *suite)
{
    uint64_t z = suite->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t draw_from(struct suite *suite, int64_t low, int64_t high)
{
    return low + (int64_t)(draw(suite) % (uint64_t)(high - low + 1));
}

static bool draw_chance(struct suite *suite, int percent)
{
    return draw_from(suite, 1, 100) <= percent;
}

/* A legal distance between rows, often with room behind the row. */
static int64_t draw_pitch(struct suite *suite, int64_t columns, int bytes)
{
    int64_t unit = 16 / bytes;
    int64_t pitch = (columns + unit - 1) / unit * unit;

    if (pitch == 0)
        pitch = unit;
    return draw_chance(suite, 50) ? pitch + unit * draw_from(suite, 1, 9) : pitch;
}

static void draw_pitches(struct suite *suite, struct lathe_gemm *p)
{
    p->lda = draw_pitch(suite, p->k, lathe_type_bytes(p->type));
    p->ldb = draw_pitch(suite, p->k, lathe_type_bytes(p->type));
    p->ldd = draw_pitch(suite, p->n, lathe_type_bytes(p->out));
    p->ldc = p->beta == LATHE_BETA_ANY ? draw_pitch(suite, p->n, lathe_type_bytes(p->out)) : 0;
}

static void draw_types(struct suite *suite, struct lathe_gemm *p)
{
    static const enum lathe_type outs[] = {LATHE_F16, LATHE_BF16, LATHE_F32};

    p->type = draw_chance(suite, 50) ? LATHE_F16 : LATHE_BF16;
    p->out = outs[draw_from(suite, 0, 2)];
    p->beta = draw_chance(suite, 40) ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
}

static struct test_case *add(struct suite *suite, const char *kind, int64_t m, int64_t n, int64_t k)
{
    struct test_case *c = &suite->cases[suite->count++];

    *c = (struct test_case){.problem = LATHE_GEMM_INIT,
                            .options = LATHE_PLAN_OPTIONS_INIT,
                            .integers = draw_chance(suite, 30),
                            .kind = kind};
    c->problem.m = m;
    c->problem.n = n;
    c->problem.k = k;
    draw_types(suite, &c->problem);
    draw_pitches(suite, &c->problem);
    return c;
}

/* A size of any magnitude, so that small ones are not drowned by large ones. */
static int64_t draw_size(struct suite *suite, int64_t low, int64_t high)
{
    int64_t top = high;

    while (top / 4 > low && draw_chance(suite, 50))
        top /= 4;
    return draw_from(suite, low, top);
}

static void set_tile(struct test_case *c, int rows, int columns, int k, int consumers)
{
    c->options.tile[0] = rows;
    c->options.tile[1] = columns;
    c->options.tile[2] = k;
    c->options.consumers = consumers;
}

static void draw_cluster(struct suite *suite, struct test_case *c)
{
    static const int clusters[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}};
    int64_t which = draw_from(suite, 0, 5);

    c->options.cluster[0] = clusters[which][0];
    c->options.cluster[1] = clusters[which][1];
    c->options.cluster[2] = 1;
}

/* Every width of a tile three times, with rows, stages and clusters drawn. */
static void add_widths(struct suite *suite)
{
    for (int i = 0; i < 3 * WIDTHS; i++) {
        int columns = 8 * (i % WIDTHS + 1);
        int rows = columns <= 128 && draw_chance(suite, 40) ? 256
                   : draw_chance(suite, 50)                 ? 128
                                                            : 64;
        struct test_case *c = add(suite, "tile width", draw_size(suite, 1, 700),
                                  draw_size(suite, 1, 900), draw_size(suite, 8, 1500));

        set_tile(c, rows, columns, columns <= 64 && draw_chance(suite, 30) ? 128 : 64,
                 rows == 64 ? 1 : 2);
        if (draw_chance(suite, 30))
            c->options.stages = 2;
        draw_cluster(suite, c);
    }
}

static void add_edges(struct suite *suite)
{
    static const int64_t ks[] = {0, 1, 7, 8, 63, 64, 65, 127, 20000};

    for (int i = 0; i < 36; i++)
        add(suite, "edge of k", draw_size(suite, 1, 300), draw_size(suite, 1, 300), ks[i % 9]);
    for (int i = 0; i < 10; i++)
        add(suite, "one row", 1, draw_size(suite, 1, 4000), draw_size(suite, 1, 5000));
    for (int i = 0; i < 10; i++)
        add(suite, "one column", draw_size(suite, 1, 4000), 1, draw_size(suite, 1, 5000));
    for (int i = 0; i < 6; i++) {
        struct test_case *c = add(suite, "baked in", draw_size(suite, 1, 900),
                                  draw_size(suite, 1, 900), draw_size(suite, 0, 900));

        c->problem.statics = i % 2 ? LATHE_STATIC_MNK : LATHE_STATIC_K;
    }
}

/* Above 10^10 multiply-adds, left to the planner or with a cluster drawn. */
static void add_large(struct suite *suite)
{
    for (int i = 0; i < LARGE; i++) {
        int64_t m = draw_from(suite, 1500, 5000), n = draw_from(suite, 1500, 5000);
        int64_t least = LARGE_MADDS_BILLIONS * 1000000000LL / (m * n) + 1;
        struct test_case *c = add(suite, "large", m, n, draw_from(suite, least, least + 3000));

        if (i % 3 == 0) {
            set_tile(c, 128, 256, 64, 2);
            draw_cluster(suite, c);
        }
    }
}

/* More than 2^31 elements in A, in B and in D. */
static void add_huge(struct suite *suite)
{
    struct test_case *a = add(suite, "A beyond 2^31", 65537 + 64, 40, 32800);
    struct test_case *b = add(suite, "B beyond 2^31", 72, 65537 + 200, 32800);
    struct test_case *d = add(suite, "D beyond 2^31", 46400, 46400, 24);

    a->integers = b->integers = d->integers = false;
}

static void add_drawn(struct suite *suite)
{
    while (suite->count < suite->wanted) {
        struct test_case *c = add(suite, "drawn", draw_size(suite, 1, 3000),
                                  draw_size(suite, 1, 3000), draw_size(suite, 1, 20000));

        if (draw_chance(suite, 40))
            draw_cluster(suite, c);
    }
}

/* ---- Running ---- */

static void describe(const struct test_case *c, char *words, size_t size)
{
    struct lathe_request request = LATHE_REQUEST_INIT;

    request.family = LATHE_GEMM;
    request.gemm = c->problem;
    request.plan = c->options;
    lathe_request_words(&request, words, size);
}

static void report_failure(const struct suite *suite, int index, const char *words,
                           const struct lathe_run_report *r)
{
    printf("FAIL case %d of seed %llu (%s): %s\n", index, (unsigned long long)suite->seed,
           suite->cases[index].kind, words);
    printf("     alpha=%g beta=%g: %lld wrong, first at (%lld, %lld): got %.9g, want %.9g +- %.3g; "
           "%lld bytes around D changed\n",
           (double)r->alpha, (double)r->beta, (long long)r->wrong, (long long)r->wrong_row,
           (long long)r->wrong_column, r->wrong_got, r->wrong_want, r->wrong_bound,
           (long long)r->guard_damage);
}

static void run_case(struct suite *suite, struct lathe_context *context, int index)
{
    const struct test_case *c = &suite->cases[index];
    struct lathe_run_options run = LATHE_RUN_OPTIONS_INIT;
    struct lathe_run_report report;
    struct lathe_error error;
    char words[512];

    run.seed = suite->seed + (uint64_t)index;
    run.integers = c->integers;
    run.guard = 1;
    run.repeats = 1;
    describe(c, words, sizeof words);
    if (lathe_run_gemm(context, &c->problem, &c->options, &run, &report, &error) != LATHE_OK) {
        printf("FAIL case %d of seed %llu (%s): %s\n     %s\n", index,
               (unsigned long long)suite->seed, c->kind, words, error.message);
        suite->failed++;
    } else if (!report.ok) {
        report_failure(suite, index, words, &report);
        suite->failed++;
    } else {
        suite->passed++;
    }
}

/* Links what the cases need with all cores before the first of them runs. */
static bool prepare(const struct suite *suite, struct lathe_context *context)
{
    struct lathe_gemm *problems = calloc((size_t)suite->count, sizeof *problems);
    struct lathe_plan_options *options = calloc((size_t)suite->count, sizeof *options);
    struct lathe_error error;
    enum lathe_status status = LATHE_OUT_OF_MEMORY;

    for (int i = 0; problems && options && i < suite->count; i++) {
        problems[i] = suite->cases[i].problem;
        options[i] = suite->cases[i].options;
    }
    if (problems && options)
        status = lathe_gemm_prepare(context, (size_t)suite->count, problems, options, 0, &error);
    free(problems);
    free(options);
    if (status == LATHE_OK)
        return true;
    printf("cannot prepare: %s\n", status == LATHE_OUT_OF_MEMORY ? "no memory" : error.message);
    return false;
}

static void print_coverage(const struct suite *suite)
{
    int widths[WIDTHS] = {0}, large = 0, beta = 0, clusters = 0, outs[LATHE_S32 + 1] = {0};
    int least = suite->count;

    for (int i = 0; i < suite->count; i++) {
        const struct test_case *c = &suite->cases[i];
        struct lathe_plan plan = LATHE_PLAN_INIT;
        double madds = (double)c->problem.m * (double)c->problem.n * (double)c->problem.k;

        if (lathe_plan_gemm(&plan, &c->problem, &c->options, NULL) != LATHE_OK)
            continue;
        widths[plan.tile[1] / 8 - 1]++;
        large += madds > LARGE_MADDS_BILLIONS * 1e9;
        beta += plan.beta == LATHE_BETA_ANY;
        clusters += plan.cluster[0] * plan.cluster[1] > 1;
        outs[plan.out]++;
    }
    for (int i = 0; i < WIDTHS; i++)
        least = widths[i] < least ? widths[i] : least;
    printf("seed %llu: %d cases; every width of a tile at least %d times, %d above 10^10 "
           "multiply-adds, %d with beta, %d in clusters, out f16 %d, bf16 %d, f32 %d\n",
           (unsigned long long)suite->seed, suite->count, least, large, beta, clusters,
           outs[LATHE_F16], outs[LATHE_BF16], outs[LATHE_F32]);
}

static bool read_arguments(struct suite *suite, int count, char **words)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    suite->seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    suite->wanted = 320;
    for (int i = 1; i < count; i++) {
        if (strncmp(words[i], "seed=", 5) == 0)
            suite->seed = strtoull(words[i] + 5, NULL, 10);
        else if (strncmp(words[i], "count=", 6) == 0)
            suite->wanted = atoi(words[i] + 6);
        else
            return false;
    }
    suite->state = suite->seed;
    return suite->wanted > 0 && suite->wanted <= CASES_MAX - 300;
}

int main(int count, char **words)
{
    struct suite suite = {.cases = calloc(CASES_MAX, sizeof(struct test_case))};
    struct lathe_context *context = NULL;
    struct lathe_error error;
    enum lathe_arch arch;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!suite.cases || !read_arguments(&suite, count, words)) {
        fprintf(stderr, "usage: gpu_suite [seed=N] [count=N]\n");
        return 2;
    }
    if (lathe_context_create(&context, NULL, &error) != LATHE_OK ||
        lathe_context_arch(context, &arch, &error) != LATHE_OK) {
        printf("no GPU to test on: %s\n0 passed, 0 failed, 1 skipped\n", error.message);
        return 77;
    }
    add_widths(&suite);
    add_edges(&suite);
    add_large(&suite);
    add_huge(&suite);
    add_drawn(&suite);
    printf("seed %llu, %d cases\n", (unsigned long long)suite.seed, suite.count);
    if (!prepare(&suite, context))
        suite.failed++;
    for (int i = 0; i < suite.count; i++)
        run_case(&suite, context, i);
    print_coverage(&suite);
    printf("%d passed, %d failed, 0 skipped\n", suite.passed, suite.failed);
    lathe_context_destroy(&context);
    free(suite.cases);
    return suite.failed > 0;
}
