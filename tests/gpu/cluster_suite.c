/* cluster_suite.c: kernels for tcgen05 whose clusters are larger than a CTA, or a pair, and so
 * fetch together what their CTAs share; each element of each answer checked.
 *
 *     cluster_suite emulator|gpu [arch=sm_100a|sm_103a] [seed=N] [every=N] [schedules=N]
 *
 * Every rung with roles in every cluster below, on f16, e4m3 and tf32, with tiles walked and tiles
 * on request. Problems are in quarters of the tile that a cluster makes, so that there are odd
 * numbers of them, some with CTAs that have nothing of D. NaN stands around the inputs, canaries
 * around D; factors, type of D and sizes that are baked in are drawn from the seed. On the emulator
 * each case runs under so many schedules. A kernel that the linker spills for or warns of fails.
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

/* Rows and columns of a tile, cta_group, CTAs along m and along n; `spans` of the swizzle along k.
 */
static const struct form {
    const char *variant;
    int rows, columns, cta_group, along_m, along_n, spans;
} forms[] = {
    {"blackwell-7", 128, 64, 1, 2, 1, 1},    {"blackwell-7", 128, 64, 1, 1, 2, 1},
    {"blackwell-7", 128, 96, 1, 2, 2, 2},    {"blackwell-7", 128, 64, 1, 4, 2, 1},
    {"blackwell-7", 64, 64, 1, 1, 8, 1},     {"blackwell-8", 256, 64, 2, 4, 1, 1},
    {"blackwell-8", 256, 48, 2, 2, 2, 1},    {"blackwell-8", 256, 96, 2, 4, 2, 1},
    {"blackwell-8", 128, 64, 2, 2, 4, 2},    {"blackwell-8", 128, 64, 2, 8, 1, 1},
    {"blackwell-9", 512, 64, 2, 4, 1, 1},    {"blackwell-9", 512, 48, 2, 2, 2, 1},
    {"blackwell-9", 512, 64, 2, 4, 2, 1},    {"blackwell-best", 128, 64, 1, 2, 1, 1},
    {"blackwell-best", 256, 64, 1, 1, 2, 1}, {"blackwell-best", 256, 64, 2, 4, 1, 1},
    {"blackwell-best", 256, 64, 2, 2, 2, 1}, {"blackwell-best", 256, 96, 2, 4, 2, 1},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* m and n: quarters of a cluster's tile, and so many more; k. */
static const struct shape {
    int m_quarters, m_more, n_quarters, n_more, k;
} shapes[] = {
    {4, 0, 4, 0, 64},     /* one tile, shorter than a ring                        */
    {12, 0, 4, 0, 200},   /* three                                                */
    {9, 1, 5, 3, 72},     /* six, of which some have CTAs without anything of D   */
    {0, 1, 0, 1, 1},      /* a single element                                     */
    {1, 3, 2, -5, 4160},  /* steps that are no multiple of the stages, nor of two */
    {17, -1, 13, -3, 64}, /* twenty                                               */
    {5, 0, 4, 8, 0},      /* without k                                            */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const enum lathe_type types[] = {LATHE_F16, LATHE_E4M3, LATHE_TF32};
enum { TYPES = sizeof types / sizeof types[0] };

struct suite {
    struct lathe_context *context;
    enum lathe_arch arch;
    void (*set_seed)(uint64_t seed); /* of the emulator's schedule; null on a GPU */
    uint64_t seed, drawn;
    int every, schedules, number;
    int passed, failed;
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

static int size_of(int tile, int quarters, int more)
{
    int size = tile * quarters / 4 + more;

    return size > 0 ? size : 1;
}

static void draw_problem(struct suite *suite, struct lathe_gemm *p, const struct form *form,
                         enum lathe_type type, const struct shape *shape)
{
    p->m = size_of(form->rows / form->cta_group * form->along_m, shape->m_quarters, shape->m_more);
    p->n = size_of(form->columns * form->along_n, shape->n_quarters, shape->n_more);
    p->k = shape->k;
    p->type = type;
    p->out = type == LATHE_TF32 || draw_below(suite, 3) == 0 ? LATHE_F32 : type;
    p->lda = draw_pitch(suite, p->k, p->type);
    p->ldb = draw_pitch(suite, p->k, p->type);
    p->ldd = draw_pitch(suite, p->n, p->out);
    p->beta = draw_below(suite, 3) == 0 ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
    if (p->beta == LATHE_BETA_ANY)
        p->ldc = draw_pitch(suite, p->n, p->out);
    if (draw_below(suite, 5) == 0)
        p->statics = draw_below(suite, 2) ? LATHE_STATIC_K : LATHE_STATIC_MNK;
}

static struct gpu_case draw_case(struct suite *suite, const struct form *form, enum lathe_type type,
                                 enum lathe_schedule schedule, const struct shape *shape)
{
    struct gpu_case c = {.kind = form->variant,
                         .problem = LATHE_GEMM_INIT,
                         .options = LATHE_PLAN_OPTIONS_INIT,
                         .integers = draw_below(suite, 3) == 0,
                         .alpha = draw_below(suite, 2) ? 1.0f : -2.0f,
                         .c = GPU_C_APART};

    draw_problem(suite, &c.problem, form, type, shape);
    if (c.problem.beta == LATHE_BETA_ANY)
        c.beta = draw_below(suite, 2) ? 2.0f : -1.0f;
    snprintf(c.options.variant, sizeof c.options.variant, "%s", form->variant);
    c.options.arch = suite->arch;
    c.options.schedule = schedule;
    c.options.tile[0] = form->rows;
    c.options.tile[1] = form->columns;
    c.options.tile[2] = form->spans * 128 / lathe_type_bytes(type);
    c.options.cta_group = form->cta_group;
    c.options.cluster[0] = form->along_m;
    c.options.cluster[1] = form->along_n;
    c.options.cluster[2] = 1;
    return c;
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
        bool ok;

        if (suite->set_seed)
            suite->set_seed(seed);
        ok = run_once(suite, c, seed);
        printf("%sok %d - %s\n", ok ? "" : "not ", suite->passed + suite->failed + 1, words);
        if (ok)
            suite->passed++;
        else
            suite->failed++;
    }
}

/* ---- All ---- */

static void run_all(struct suite *suite)
{
    static const enum lathe_schedule schedules[] = {LATHE_PERSISTENT, LATHE_DYNAMIC};

    for (int i = 0; i < FORMS * SHAPES * TYPES * 2; i++) {
        struct gpu_case c =
            draw_case(suite, &forms[i % FORMS], types[i / FORMS / SHAPES % TYPES],
                      schedules[i / FORMS / SHAPES / TYPES], &shapes[i / FORMS % SHAPES]);

        if (suite->number++ % suite->every == 0)
            run_case(suite, &c);
    }
}

static bool read_arguments(struct suite *suite, int count, char **words)
{
    for (int i = 2; i < count; i++) {
        char *value = strchr(words[i], '=');

        if (!value)
            return false;
        value++;
        if (strcmp(words[i], "arch=sm_100a") == 0)
            suite->arch = LATHE_SM_100A;
        else if (strcmp(words[i], "arch=sm_103a") == 0)
            suite->arch = LATHE_SM_103A;
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
    struct suite suite = {.every = 1, .schedules = 3, .arch = LATHE_SM_100A};
    struct lathe_error error = {.status = LATHE_OK};
    bool emulated = count > 1 && strcmp(words[1], "emulator") == 0;
    struct timespec now;

    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    suite.seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if ((!emulated && !(count > 1 && strcmp(words[1], "gpu") == 0)) ||
        !read_arguments(&suite, count, words)) {
        fprintf(stderr, "usage: cluster_suite emulator|gpu [arch=sm_100a|sm_103a] [seed=N] "
                        "[every=N] [schedules=N]\n");
        return 2;
    }
    if (!gpu_open(&suite.context, emulated, suite.arch, &suite.set_seed, &error)) {
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
    printf("%d passed, %d failed, 0 skipped\n", suite.passed, suite.failed);
    lathe_context_destroy(&suite.context);
    return suite.failed > 0 || suite.passed == 0;
}
