/* ladder_suite.c: every rung of a ladder on the same problems, each element of each answer checked.
 * Words and output: case_suite.h, and
 *
 *     [schedule=dynamic] [deep=N]
 *
 * For every variant with a kernel for the architecture, that of the GPU or the one named (sm_90a):
 * f16 and bf16 on the problems below, with tails in all directions, k shorter than the ring, and
 * numbers of steps that are no multiple of the stages; with NaN around the inputs and canaries
 * around D. Data, factors and the type of D are drawn. A rung that sums in f16 has to refuse bf16.
 * With schedule=dynamic the rungs with flow=specialised alone, which then ask for their tiles. The
 * first three shapes run under deep=N schedules, if that is more than schedules=. */
#include "include/lathe_tools.h"
#include "tests/gpu/case_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct ladder {
    bool is_dynamic;
    int deep;
};

static struct gpu_case draw_case(struct case_suite *suite, const struct ladder *ladder,
                                 const char *variant, enum lathe_type type, const int shape[3])
{
    struct gpu_case c = {.kind = variant,
                         .problem = LATHE_GEMM_INIT,
                         .options = LATHE_PLAN_OPTIONS_INIT,
                         .integers = case_draw(suite, 3) == 0,
                         .alpha = case_draw(suite, 2) ? 1.0f : -2.0f,
                         .c = GPU_C_APART};
    struct lathe_gemm *p = &c.problem;

    p->m = shape[0];
    p->n = shape[1];
    p->k = shape[2];
    p->type = type;
    p->out = case_draw(suite, 4) == 0 ? LATHE_F32 : type;
    p->beta = case_draw(suite, 4) == 0 ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
    p->lda = case_draw_pitch(suite, p->k, p->type);
    p->ldb = case_draw_pitch(suite, p->k, p->type);
    p->ldd = case_draw_pitch(suite, p->n, p->out);
    if (p->beta == LATHE_BETA_ANY) {
        p->ldc = case_draw_pitch(suite, p->n, p->out);
        c.beta = case_draw(suite, 2) ? 2.0f : 0.0f;
    }
    snprintf(c.options.variant, sizeof c.options.variant, "%s", variant);
    if (ladder->is_dynamic)
        c.options.schedule = LATHE_DYNAMIC;
    return c;
}

static bool is_refused(const struct gpu_case *c)
{
    struct lathe_plan plan = LATHE_PLAN_INIT;
    struct lathe_error error = {.status = LATHE_OK};

    return lathe_plan_gemm(&plan, &c->problem, &c->options, &error) == LATHE_UNSUPPORTED &&
           strstr(error.message, "acc=f16 type=bf16") != NULL;
}

/* Whether the variant is for this architecture. */
static bool plan_small(const struct case_suite *suite, const char *variant, struct lathe_plan *plan)
{
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;

    *plan = (struct lathe_plan)LATHE_PLAN_INIT;
    options.arch = suite->arch;
    snprintf(options.variant, sizeof options.variant, "%s", variant);
    return lathe_plan_gemm(plan, lathe_gemm(.m = 64, .n = 64, .k = 64, .type = LATHE_F16), &options,
                           NULL) == LATHE_OK;
}

static void run_rung(struct case_suite *suite, const struct ladder *ladder, const char *variant,
                     bool in_f16)
{
    static const enum lathe_type types[] = {LATHE_F16, LATHE_BF16};

    for (int type = 0; type < 2; type++)
        for (int i = 0; i < SHAPES; i++) {
            struct gpu_case c = draw_case(suite, ladder, variant, types[type], shapes[i]);
            bool is_deep = i < DEEP_SHAPES && ladder->deep > suite->schedules;

            if (in_f16 && types[type] == LATHE_BF16)
                case_count(suite, is_refused(&c), &c);
            else
                case_run(suite, &c, is_deep ? ladder->deep : suite->schedules);
        }
}

static void run_all(struct case_suite *suite, void *user)
{
    const struct ladder *ladder = user;
    struct lathe_variant_info info;
    struct lathe_plan plan;

    for (size_t i = 0; lathe_variant_at(i, &info); i++)
        if (plan_small(suite, info.name, &plan) &&
            (!ladder->is_dynamic || plan.flow == LATHE_SPECIALISED))
            run_rung(suite, ladder, info.name, plan.acc == LATHE_F16);
}

static bool read_word(void *user, const char *word, const char *value)
{
    struct ladder *ladder = user;

    if (strcmp(word, "schedule=dynamic") == 0)
        ladder->is_dynamic = true;
    else if (strncmp(word, "deep=", 5) == 0)
        ladder->deep = atoi(value);
    else
        return false;
    return true;
}

int main(int count, char **words)
{
    struct ladder ladder = {.deep = 0};
    struct case_suite suite = {.name = "ladder_suite",
                               .words = " [schedule=dynamic] [deep=N]",
                               .arch = LATHE_SM_90A,
                               .schedules = 3,
                               .user = &ladder,
                               .read_word = read_word,
                               .run = run_all};

    return case_suite_main(&suite, count, words);
}
