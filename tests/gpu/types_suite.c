/* types_suite.c: every pair of types that tcgen05 kernels multiply and give, beside those of
 * ladder_suite.c, each element of each answer checked.
 *
 *     types_suite emulator|gpu [rungs=PREFIX] [seed=N] [every=N] [schedules=N]
 *
 * For every variant whose name begins with PREFIX and that loads by TMA (the others copy elements
 * of 16 bits): the problems below, with tails in all directions and without k, with NaN around the
 * inputs and canaries around D. Data, factors and what else may be chosen of a plan are drawn from
 * the seed. A variant whose tile is open takes other tiles in turn, so that accumulators of 64 rows
 * and halves of columns side by side come about. Afterwards what has to be refused, once.
 *
 * Prints a line a case, as TAP does, then "N passed, M failed, K skipped". */
#include "include/lathe_tools.h"
#include "runtime/context.h"
#include "runtime/random.h"
#include "tests/gpu/gpu_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* m, n, k. */
static const int shapes[][3] = {
    {129, 257, 96}, {1, 1, 1},    {200, 119, 519}, {300, 70, 64},
    {256, 128, 0},  {33, 95, 24}, {257, 65, 160},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const struct pair {
    enum lathe_type type, out;
} pairs[] = {
    {LATHE_TF32, LATHE_F32},  {LATHE_TF32, LATHE_F16},  {LATHE_TF32, LATHE_BF16},
    {LATHE_TF32, LATHE_E4M3}, {LATHE_TF32, LATHE_E5M2}, {LATHE_E4M3, LATHE_F32},
    {LATHE_E4M3, LATHE_F16},  {LATHE_E4M3, LATHE_BF16}, {LATHE_E4M3, LATHE_E4M3},
    {LATHE_E4M3, LATHE_E5M2}, {LATHE_E5M2, LATHE_F32},  {LATHE_E5M2, LATHE_F16},
    {LATHE_E5M2, LATHE_BF16}, {LATHE_E5M2, LATHE_E4M3}, {LATHE_E5M2, LATHE_E5M2},
    {LATHE_F16, LATHE_E4M3},  {LATHE_F16, LATHE_E5M2},  {LATHE_BF16, LATHE_E4M3},
    {LATHE_BF16, LATHE_E5M2}, {LATHE_INT8, LATHE_S32},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* Of a plan whose tile is open: rows, columns, cta_group. */
static const int tiles[][3] = {
    {0, 0, 0}, {128, 96, 2}, {64, 80, 1}, {256, 64, 1}, {256, 96, 2},
};
enum { TILES = sizeof tiles / sizeof tiles[0] };

struct suite {
    struct lathe_context *context;
    enum lathe_arch arch;
    void (*set_seed)(uint64_t seed); /* of the emulator's schedule; null on a GPU */
    const char *rungs;
    uint64_t seed, drawn;
    int every, schedules, number;
    int passed, failed, skipped;
};

static int draw_below(struct suite *suite, int limit)
{
    return (int)lt_random_below(suite->seed, suite->drawn++, (uint32_t)limit);
}

/* ---- One case ---- */

/* Elements between rows: whole 16 bytes, and 16 more now and then. */
static int64_t draw_pitch(struct suite *suite, int64_t columns, enum lathe_type type)
{
    int64_t unit = 16 / lathe_type_bytes(type);
    int64_t units = columns > 0 ? (columns + unit - 1) / unit : 1;

    return (units + draw_below(suite, 2)) * unit;
}

static void draw_plan(struct suite *suite, struct lathe_plan_options *options, bool open_tile,
                      const struct pair *pair)
{
    const int *tile = tiles[open_tile ? draw_below(suite, TILES) : 0];

    options->store = draw_below(suite, 4) == 0 ? LATHE_COPY_THREADS : LATHE_COPY_TMA;
    if (tile[0] == 0)
        return;
    options->tile[0] = tile[0];
    options->tile[1] = tile[1];
    options->tile[2] = 128 / lathe_type_bytes(pair->type);
    options->cta_group = tile[2];
}

/* Now and then so large that D saturates, or wraps. */
static float draw_alpha(struct suite *suite, enum lathe_type out)
{
    bool has_end = lathe_type_bytes(out) == 1 || out == LATHE_S32;

    if (has_end && draw_below(suite, 4) == 0)
        return out == LATHE_S32 ? 65537.0f : 512.0f;
    return draw_below(suite, 2) ? 1.0f : -2.0f;
}

static struct gpu_case draw_case(struct suite *suite, const char *variant, bool open_tile,
                                 const struct pair *pair, const int shape[3])
{
    static const float betas[] = {2, -1, 0};
    struct gpu_case c = {.kind = variant,
                         .problem = LATHE_GEMM_INIT,
                         .options = LATHE_PLAN_OPTIONS_INIT,
                         .integers = draw_below(suite, 3) == 0,
                         .low_bits = draw_below(suite, 2) == 0,
                         .alpha = draw_alpha(suite, pair->out),
                         .c = GPU_C_APART};
    struct lathe_gemm *p = &c.problem;

    p->m = shape[0];
    p->n = shape[1];
    p->k = shape[2];
    p->type = pair->type;
    p->out = pair->out;
    p->lda = draw_pitch(suite, p->k, p->type);
    p->ldb = draw_pitch(suite, p->k, p->type);
    p->ldd = draw_pitch(suite, p->n, p->out);
    p->beta = draw_below(suite, 2) ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
    if (p->beta == LATHE_BETA_ANY) {
        p->ldc = draw_pitch(suite, p->n, p->out);
        c.beta = betas[draw_below(suite, 3)];
        if (draw_below(suite, 3) == 0)
            c.c = c.beta != 0 ? GPU_C_IS_D : GPU_C_NULL;
    }
    if (draw_below(suite, 4) == 0)
        p->statics = draw_below(suite, 2) ? LATHE_STATIC_K : LATHE_STATIC_MNK;
    snprintf(c.options.variant, sizeof c.options.variant, "%s", variant);
    c.options.arch = suite->arch;
    draw_plan(suite, &c.options, open_tile, pair);
    return c;
}

static void count(struct suite *suite, bool ok, const char *words)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", suite->passed + suite->failed + 1, words);
    if (ok)
        suite->passed++;
    else
        suite->failed++;
}

static bool run_once(struct suite *suite, const struct gpu_case *c, uint64_t seed)
{
    struct gpu_outcome outcome;
    struct lathe_error error = {.status = LATHE_OK};

    if (gpu_run_case(suite->context, c, seed, &outcome, &error) != LATHE_OK) {
        printf("# %s\n", error.message);
        return false;
    }
    return gpu_tell(c, &outcome);
}

static void run_case(struct suite *suite, const struct gpu_case *c)
{
    int schedules = suite->set_seed ? suite->schedules : 1;
    char words[768];

    gpu_describe(c, words, sizeof words);
    for (int i = 0; i < schedules; i++) {
        uint64_t seed = suite->seed + (uint64_t)(1000 * suite->number + i);

        if (suite->set_seed)
            suite->set_seed(seed);
        count(suite, run_once(suite, c, seed), words);
    }
}

/* ---- Refusals ---- */

static void expect_refusal(struct suite *suite, struct gpu_case *c, enum lathe_status status,
                           const char *why)
{
    struct gpu_outcome outcome;
    struct lathe_error error = {.status = LATHE_OK};
    char words[768];

    c->kind = "refused";
    c->problem.m = c->problem.n = c->problem.k = 256;
    c->options.arch = suite->arch;
    gpu_describe(c, words, sizeof words);
    gpu_run_case(suite->context, c, suite->seed, &outcome, &error);
    if (error.status != status || !strstr(error.message, why))
        printf("# %d, \"%s\", not \"%s\"\n", (int)error.status, error.message, why);
    count(suite, error.status == status && strstr(error.message, why), words);
}

static void refuse_factors(struct suite *suite, const struct gpu_case *none)
{
    static const float no_wholes[] = {0.5f, 0x1p31f, -0x1p40f};

    for (int i = 0; i < 3; i++) {
        struct gpu_case c = *none;

        c.problem.type = LATHE_INT8;
        c.problem.beta = LATHE_BETA_ANY;
        c.alpha = no_wholes[i];
        c.beta = 1;
        expect_refusal(suite, &c, LATHE_OUT_OF_RANGE, "alpha=");
        c.alpha = 1;
        c.beta = no_wholes[i];
        expect_refusal(suite, &c, LATHE_OUT_OF_RANGE, "beta=");
    }
}

static void run_refusals(struct suite *suite)
{
    const struct gpu_case none = {.problem = LATHE_GEMM_INIT,
                                  .options = LATHE_PLAN_OPTIONS_INIT,
                                  .alpha = 1,
                                  .c = GPU_C_APART};

    if (suite->arch == LATHE_SM_103A) {
        struct gpu_case c = none;

        c.problem.type = LATHE_INT8;
        expect_refusal(suite, &c, LATHE_UNSUPPORTED, "type=int8");
    } else {
        refuse_factors(suite, &none);
    }
    for (int i = 0; i < PAIRS; i++) { /* 24 columns, or 24 of 48, are no whole 16 bytes */
        struct gpu_case c = none;

        if (lathe_type_bytes(pairs[i].out) != 1)
            continue;
        c.problem.type = pairs[i].type;
        c.problem.out = pairs[i].out;
        c.options.tile[2] = 128 / lathe_type_bytes(pairs[i].type);
        c.options.cta_group = 1 + i % 2;
        c.options.tile[0] = 64 * c.options.cta_group;
        c.options.tile[1] = 24 * c.options.cta_group;
        expect_refusal(suite, &c, LATHE_UNSUPPORTED, "whole 16 bytes");
    }
}

/* ---- All ---- */

/* Whether it loads by TMA, and which tile is its own. */
static bool find_preset(const struct suite *suite, const char *variant, bool *open_tile)
{
    struct lathe_plan plans[2] = {LATHE_PLAN_INIT, LATHE_PLAN_INIT};
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    const int sizes[2] = {64, 4096};

    options.arch = suite->arch;
    snprintf(options.variant, sizeof options.variant, "%s", variant);
    for (int i = 0; i < 2; i++)
        if (lathe_plan_gemm(&plans[i],
                            lathe_gemm(.m = sizes[i], .n = sizes[i], .k = 64, .type = LATHE_F16),
                            &options, NULL) != LATHE_OK)
            return false;
    *open_tile = memcmp(plans[0].tile, plans[1].tile, sizeof plans[0].tile) != 0;
    return plans[0].load == LATHE_COPY_TMA;
}

static void run_rung(struct suite *suite, const char *variant, bool open_tile)
{
    for (int pair = 0; pair < PAIRS; pair++) {
        if (pairs[pair].type == LATHE_INT8 && suite->arch == LATHE_SM_103A) {
            suite->skipped++; /* it multiplies no int8 */
            continue;
        }
        for (int i = 0; i < SHAPES; i++) {
            struct gpu_case c = draw_case(suite, variant, open_tile, &pairs[pair], shapes[i]);

            if (suite->number++ % suite->every == 0)
                run_case(suite, &c);
        }
    }
}

static void run_all(struct suite *suite)
{
    struct lathe_variant_info info;
    bool open_tile;

    for (size_t i = 0; lathe_variant_at(i, &info); i++)
        if (strncmp(info.name, suite->rungs, strlen(suite->rungs)) == 0 &&
            find_preset(suite, info.name, &open_tile))
            run_rung(suite, info.name, open_tile);
    run_refusals(suite);
}

static bool read_arguments(struct suite *suite, int count, char **words)
{
    for (int i = 2; i < count; i++) {
        char *value = strchr(words[i], '=');

        if (!value)
            return false;
        value++;
        if (strncmp(words[i], "rungs=", 6) == 0)
            suite->rungs = value;
        else if (strncmp(words[i], "seed=", 5) == 0)
            suite->seed = strtoull(value, NULL, 10);
        else if (strncmp(words[i], "every=", 6) == 0)
            suite->every = atoi(value);
        else if (strncmp(words[i], "schedules=", 10) == 0)
            suite->schedules = atoi(value);
        else
            return false;
    }
    return suite->every > 0 && suite->schedules > 0;
}

int main(int count, char **words)
{
    struct suite suite = {.every = 1, .schedules = 1, .rungs = "blackwell-"};
    struct lathe_error error = {.status = LATHE_OK};
    bool emulated = count > 1 && strcmp(words[1], "emulator") == 0;
    struct timespec now;

    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    suite.seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if ((!emulated && !(count > 1 && strcmp(words[1], "gpu") == 0)) ||
        !read_arguments(&suite, count, words)) {
        fprintf(stderr, "usage: types_suite emulator|gpu [rungs=PREFIX] [seed=N] [every=N] "
                        "[schedules=N]\n");
        return 2;
    }
    if (!gpu_open(&suite.context, emulated, LATHE_ARCH_DEFAULT, &suite.set_seed, &error)) {
        printf("not ok 1 - %s\n0 passed, 1 failed, 0 skipped\n", error.message);
        return 1;
    }
    if (lathe_context_arch(suite.context, &suite.arch, &error) != LATHE_OK ||
        (suite.arch != LATHE_SM_100A && suite.arch != LATHE_SM_103A)) {
        printf("# no device with tcgen05: %s\n0 passed, 0 failed, 1 skipped\n", error.message);
        lathe_context_destroy(&suite.context);
        return 77;
    }
    printf("# seed %llu\n", (unsigned long long)suite.seed);
    run_all(&suite);
    printf("%d passed, %d failed, %d skipped\n", suite.passed, suite.failed, suite.skipped);
    lathe_context_destroy(&suite.context);
    return suite.failed > 0 || suite.passed == 0;
}
