/* ladder_suite.c: every rung of a ladder on the same problems, each element of each answer checked.
 *
 *     ladder_suite emulator|gpu [arch=sm_90a|sm_100a|sm_103a] [schedule=dynamic] [seed=N] [every=N]
 *                  [schedules=N] [deep=N]
 *
 * For every variant with a kernel for the architecture, that of the GPU or the one named (sm_90a):
 * f16 and bf16 on the problems below, with tails in all directions, k shorter than the ring, and
 * numbers of steps that are no multiple of the stages; with NaN around the inputs and canaries
 * around D. Which data, factors and type of D a problem has is drawn from the seed. A rung that
 * sums in f16 has to refuse bf16. With schedule=dynamic the rungs with flow=specialised alone,
 * which then ask for their tiles. On the emulator each case runs under so many schedules, and those
 * of the first three shapes under deep=N if that is more; every=N leaves out all but each N-th
 * case. A kernel that the linker spills for or warns of fails.
 *
 * Prints a line a case, as TAP does, then "N passed, M failed, K skipped". */
#include "include/lathe_tools.h"
#include "runtime/context.h"
#include "runtime/random.h"
#include "templates/registry.h"
#include "tests/gpu/gpu_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* m, n, k. */
static const int shapes[][3] = {
    {128, 256, 4160}, {255, 769, 704},  {513, 130, 72}, /* deep */
    {1, 1, 1},        {7, 9, 16},       {64, 64, 64},    {128, 128, 128}, {128, 256, 192},
    {256, 256, 256},  {127, 255, 320},  {129, 257, 384}, {300, 270, 200}, {96, 520, 448},
    {200, 511, 999},  {256, 512, 0},    {33, 1000, 24},  {640, 384, 576}, {257, 129, 640},
    {384, 600, 64},   {130, 260, 130},  {511, 63, 512},  {1, 2048, 264},  {1024, 8, 328},
    {448, 448, 65},   {320, 320, 1096}, {257, 257, 63},  {512, 512, 127}, {2, 3, 5000},
    {256, 256, 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], DEEP_SHAPES = 3 };

struct suite {
    struct lathe_context *context;
    enum lathe_arch arch;
    bool is_dynamic;
    void (*set_seed)(uint64_t seed); /* of the emulator's schedule; null on a GPU */
    uint64_t seed, drawn;
    int every, schedules, deep, number;
    int passed, failed;
};

static int draw_below(struct suite *suite, int limit)
{
    return (int)lt_random_below(suite->seed, suite->drawn++, (uint32_t)limit);
}

static int64_t round_up(int64_t value, int64_t unit)
{
    return value > unit ? (value + unit - 1) / unit * unit : unit;
}

static struct gpu_case draw_case(struct suite *suite, const char *variant, enum lathe_type type,
                                 const int shape[3])
{
    struct gpu_case c = {.kind = variant,
                         .problem = LATHE_GEMM_INIT,
                         .options = LATHE_PLAN_OPTIONS_INIT,
                         .integers = draw_below(suite, 3) == 0,
                         .alpha = draw_below(suite, 2) ? 1.0f : -2.0f,
                         .c = GPU_C_APART};
    struct lathe_gemm *p = &c.problem;

    p->m = shape[0];
    p->n = shape[1];
    p->k = shape[2];
    p->type = type;
    p->out = draw_below(suite, 4) == 0 ? LATHE_F32 : type;
    p->beta = draw_below(suite, 4) == 0 ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
    p->lda = round_up(p->k, 8) + 8 * draw_below(suite, 2);
    p->ldb = round_up(p->k, 8) + 8 * draw_below(suite, 2);
    p->ldc = p->ldd = round_up(p->n, 8) + 8 * draw_below(suite, 2);
    if (p->beta == LATHE_BETA_ANY)
        c.beta = draw_below(suite, 2) ? 2.0f : 0.0f;
    else
        p->ldc = 0;
    snprintf(c.options.variant, sizeof c.options.variant, "%s", variant);
    if (suite->is_dynamic)
        c.options.schedule = LATHE_DYNAMIC;
    return c;
}

/* ---- One case ---- */

static void count(struct suite *suite, bool ok, const struct gpu_case *c)
{
    char words[768];

    gpu_describe(c, words, sizeof words);
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

static bool is_refused(const struct gpu_case *c)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_error error = {.status = LATHE_OK};

    return lathe_plan_gemm(&plan, &c->problem, &c->options, &error) == LATHE_UNSUPPORTED &&
           strstr(error.message, "acc=f16 type=bf16") != NULL;
}

static void run_case(struct suite *suite, const struct gpu_case *c, int schedules, bool sums_in_f16)
{
    if (!suite->set_seed)
        schedules = 1;
    if (sums_in_f16 && c->problem.type == LATHE_BF16) {
        count(suite, is_refused(c), c);
        return;
    }
    for (int i = 0; i < schedules; i++) {
        uint64_t seed = suite->seed + (uint64_t)(1000 * suite->number + i);

        if (suite->set_seed)
            suite->set_seed(seed);
        count(suite, run_once(suite, c, seed), c);
    }
}

/* ---- All ---- */

/* Whether the variant is for this architecture. */
static bool plan_small(const struct suite *suite, const char *variant, struct lathe_plan *plan)
{
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    options.arch = suite->arch;
    snprintf(options.variant, sizeof options.variant, "%s", variant);
    return lathe_plan_gemm(plan, lathe_gemm(.m = 64, .n = 64, .k = 64, .type = LATHE_F16), &options,
                           NULL) == LATHE_OK;
}

static void run_rung(struct suite *suite, const char *variant, bool in_f16)
{
    static const enum lathe_type types[] = {LATHE_F16, LATHE_BF16};

    for (int type = 0; type < 2; type++)
        for (int i = 0; i < SHAPES; i++) {
            struct gpu_case c = draw_case(suite, variant, types[type], shapes[i]);
            bool is_deep = i < DEEP_SHAPES && suite->deep > suite->schedules;

            if (suite->number++ % suite->every == 0)
                run_case(suite, &c, is_deep ? suite->deep : suite->schedules, in_f16);
        }
}

static void run_all(struct suite *suite)
{
    struct lathe_variant_info info;
    struct lathe_plan plan;

    for (size_t i = 0; lathe_variant_at(i, &info); i++)
        if (plan_small(suite, info.name, &plan) &&
            (!suite->is_dynamic || plan.flow == LATHE_SPECIALISED))
            run_rung(suite, info.name, plan.acc == LATHE_F16);
}

static enum lathe_arch arch_named(const char *name)
{
    enum lathe_arch arch = LATHE_SM_120A;

    while (arch != LATHE_ARCH_DEFAULT && strcmp(lathe_arch_name(arch), name) != 0)
        arch--;
    return arch;
}

static bool read_arguments(struct suite *suite, int count, char **words)
{
    for (int i = 2; i < count; i++) {
        char *value = strchr(words[i], '=');

        if (!value)
            return false;
        value++;
        if (strncmp(words[i], "arch=", 5) == 0)
            suite->arch = arch_named(value);
        else if (strcmp(words[i], "schedule=dynamic") == 0)
            suite->is_dynamic = true;
        else if (strncmp(words[i], "seed=", 5) == 0)
            suite->seed = strtoull(value, NULL, 10);
        else if (strncmp(words[i], "every=", 6) == 0)
            suite->every = atoi(value);
        else if (strncmp(words[i], "schedules=", 10) == 0)
            suite->schedules = atoi(value);
        else if (strncmp(words[i], "deep=", 5) == 0)
            suite->deep = atoi(value);
        else
            return false;
    }
    return suite->arch != LATHE_ARCH_DEFAULT && suite->every > 0 && suite->schedules > 0;
}

int main(int count, char **words)
{
    struct suite suite = {.every = 1, .schedules = 3, .arch = LATHE_SM_90A};
    struct lathe_error error = {.status = LATHE_OK};
    bool emulated = count > 1 && strcmp(words[1], "emulator") == 0;
    struct timespec now;

    setvbuf(stdout, NULL, _IOLBF, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    suite.seed = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if ((!emulated && !(count > 1 && strcmp(words[1], "gpu") == 0)) ||
        !read_arguments(&suite, count, words)) {
        fprintf(stderr, "usage: ladder_suite emulator|gpu [arch=sm_90a|sm_100a|sm_103a] "
                        "[schedule=dynamic] [seed=N] [every=N] [schedules=N] [deep=N]\n");
        return 2;
    }
    if (!gpu_open(&suite.context, emulated, suite.arch, &suite.set_seed, &error)) {
        printf("not ok 1 - %s\n0 passed, 1 failed, 0 skipped\n", error.message);
        return 1;
    }
    if (!emulated && lathe_context_arch(suite.context, &suite.arch, &error) != LATHE_OK) {
        printf("# no GPU: %s\n0 passed, 0 failed, 1 skipped\n", error.message);
        lathe_context_destroy(&suite.context);
        return 77;
    }
    printf("# seed %llu\n", (unsigned long long)suite.seed);
    run_all(&suite);
    printf("%d passed, %d failed, 0 skipped\n", suite.passed, suite.failed);
    lathe_context_destroy(&suite.context);
    return suite.failed > 0 || suite.passed == 0;
}
