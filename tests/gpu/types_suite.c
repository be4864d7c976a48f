/* types_suite.c: every pair of types that tcgen05 kernels multiply and give, beside those of
 * ladder_suite.c, each element of each answer checked. Words and output: case_suite.h, and
 *
 *     [rungs=PREFIX]
 *
 * For every variant whose name begins with PREFIX and that loads by TMA (the others copy elements
 * of 16 bits): the problems below, with tails in all directions and without k, with NaN around the
 * inputs and canaries around D. Data, factors and what else may be chosen of a plan are drawn. A
 * variant whose tile is open takes other tiles in turn, so that accumulators of 64 rows and halves
 * of columns side by side come about. Afterwards what has to be refused, once. */
#include "include/lathe_tools.h"
#include "tests/gpu/case_suite.h"

#include <stdio.h>
#include <string.h>

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

static void draw_plan(struct case_suite *suite, struct lathe_plan_options *options, bool open_tile,
                      const struct pair *pair)
{
    const int *tile = tiles[open_tile ? case_draw(suite, TILES) : 0];

    options->store = case_draw(suite, 4) == 0 ? LATHE_COPY_THREADS : LATHE_COPY_TMA;
    if (tile[0] == 0)
        return;
    options->tile[0] = tile[0];
    options->tile[1] = tile[1];
    options->tile[2] = 128 / lathe_type_bytes(pair->type);
    options->cta_group = tile[2];
}

/* Now and then so large that D saturates, or wraps. */
static float draw_alpha(struct case_suite *suite, enum lathe_type out)
{
    bool has_end = lathe_type_bytes(out) == 1 || out == LATHE_S32;

    if (has_end && case_draw(suite, 4) == 0)
        return out == LATHE_S32 ? 65537.0f : 512.0f;
    return case_draw(suite, 2) ? 1.0f : -2.0f;
}

static struct gpu_case draw_case(struct case_suite *suite, const char *variant, bool open_tile,
                                 const struct pair *pair, const int shape[3])
{
    static const float betas[] = {2, -1, 0};
    struct gpu_case c = {.kind = variant,
                         .problem = LATHE_GEMM_INIT,
                         .options = LATHE_PLAN_OPTIONS_INIT,
                         .integers = case_draw(suite, 3) == 0,
                         .low_bits = case_draw(suite, 2) == 0,
                         .alpha = draw_alpha(suite, pair->out),
                         .c = GPU_C_APART};
    struct lathe_gemm *p = &c.problem;

    p->m = shape[0];
    p->n = shape[1];
    p->k = shape[2];
    p->type = pair->type;
    p->out = pair->out;
    p->lda = case_draw_pitch(suite, p->k, p->type);
    p->ldb = case_draw_pitch(suite, p->k, p->type);
    p->ldd = case_draw_pitch(suite, p->n, p->out);
    p->beta = case_draw(suite, 2) ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
    if (p->beta == LATHE_BETA_ANY) {
        p->ldc = case_draw_pitch(suite, p->n, p->out);
        c.beta = betas[case_draw(suite, 3)];
        if (case_draw(suite, 3) == 0)
            c.c = c.beta != 0 ? GPU_C_IS_D : GPU_C_NULL;
    }
    if (case_draw(suite, 4) == 0)
        p->statics = case_draw(suite, 2) ? LATHE_STATIC_K : LATHE_STATIC_MNK;
    snprintf(c.options.variant, sizeof c.options.variant, "%s", variant);
    c.options.arch = suite->arch;
    draw_plan(suite, &c.options, open_tile, pair);
    return c;
}

/* ---- Refusals ---- */

static void expect_refusal(struct case_suite *suite, struct gpu_case *c, enum lathe_status status,
                           const char *why)
{
    struct gpu_outcome outcome;
    struct lathe_error error = {.status = LATHE_OK};

    c->kind = "refused";
    c->problem.m = c->problem.n = c->problem.k = 256;
    c->options.arch = suite->arch;
    gpu_run_case(suite->context, c, suite->seed, &outcome, &error);
    if (error.status != status || !strstr(error.message, why))
        printf("# %d, \"%s\", not \"%s\"\n", (int)error.status, error.message, why);
    case_count(suite, error.status == status && strstr(error.message, why), c);
}

static void refuse_factors(struct case_suite *suite, const struct gpu_case *none)
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

static void run_refusals(struct case_suite *suite)
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
static bool find_preset(const struct case_suite *suite, const char *variant, bool *open_tile)
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

static void run_rung(struct case_suite *suite, const char *variant, bool open_tile)
{
    for (int pair = 0; pair < PAIRS; pair++) {
        if (pairs[pair].type == LATHE_INT8 && suite->arch == LATHE_SM_103A) {
            suite->skipped++; /* it multiplies no int8 */
            continue;
        }
        for (int i = 0; i < SHAPES; i++) {
            struct gpu_case c = draw_case(suite, variant, open_tile, &pairs[pair], shapes[i]);

            case_run(suite, &c, suite->schedules);
        }
    }
}

static void run_all(struct case_suite *suite, void *user)
{
    const char *const *rungs = user;
    struct lathe_variant_info info;
    bool open_tile;

    for (size_t i = 0; lathe_variant_at(i, &info); i++)
        if (strncmp(info.name, *rungs, strlen(*rungs)) == 0 &&
            find_preset(suite, info.name, &open_tile))
            run_rung(suite, info.name, open_tile);
    run_refusals(suite);
}

static bool read_word(void *user, const char *word, const char *value)
{
    const char **rungs = user;

    if (strncmp(word, "rungs=", 6) != 0)
        return false;
    *rungs = value;
    return true;
}

int main(int count, char **words)
{
    const char *rungs = "blackwell-";
    struct case_suite suite = {.name = "types_suite",
                               .words = " [rungs=PREFIX]",
                               .arch = LATHE_SM_100A,
                               .needs_tcgen05 = true,
                               .schedules = 1,
                               .user = &rungs,
                               .read_word = read_word,
                               .run = run_all};

    return case_suite_main(&suite, count, words);
}
