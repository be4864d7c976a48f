/* cluster_suite.c: kernels for tcgen05 whose clusters are larger than a CTA, or a pair, and so
 * fetch together what their CTAs share; each element of each answer checked. Words and output:
 * case_suite.h.
 *
 * Every rung with roles in every cluster below, on f16, e4m3 and tf32, with tiles walked and tiles
 * on request. Problems are in quarters of the tile that a cluster makes, so that there are odd
 * numbers of them, some with CTAs that have nothing of D. NaN stands around the inputs, canaries
 * around D; factors, type of D and sizes that are baked in are drawn. */
#include "tests/gpu/case_suite.h"

#include <stdio.h>

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

static int size_of(int tile, int quarters, int more)
{
    int size = tile * quarters / 4 + more;

    return size > 0 ? size : 1;
}

static void draw_problem(struct case_suite *suite, struct lathe_gemm *p, const struct form *form,
                         enum lathe_type type, const struct shape *shape)
{
    p->m = size_of(form->rows / form->cta_group * form->along_m, shape->m_quarters, shape->m_more);
    p->n = size_of(form->columns * form->along_n, shape->n_quarters, shape->n_more);
    p->k = shape->k;
    p->type = type;
    p->out = type == LATHE_TF32 || case_draw(suite, 3) == 0 ? LATHE_F32 : type;
    p->lda = case_draw_pitch(suite, p->k, p->type);
    p->ldb = case_draw_pitch(suite, p->k, p->type);
    p->ldd = case_draw_pitch(suite, p->n, p->out);
    p->beta = case_draw(suite, 3) == 0 ? LATHE_BETA_ANY : LATHE_BETA_ZERO;
    if (p->beta == LATHE_BETA_ANY)
        p->ldc = case_draw_pitch(suite, p->n, p->out);
    if (case_draw(suite, 5) == 0)
        p->statics = case_draw(suite, 2) ? LATHE_STATIC_K : LATHE_STATIC_MNK;
}

static struct gpu_case draw_case(struct case_suite *suite, const struct form *form,
                                 enum lathe_type type, enum lathe_schedule schedule,
                                 const struct shape *shape)
{
    struct gpu_case c = {.kind = form->variant,
                         .problem = LATHE_GEMM_INIT,
                         .options = LATHE_PLAN_OPTIONS_INIT,
                         .integers = case_draw(suite, 3) == 0,
                         .alpha = case_draw(suite, 2) ? 1.0f : -2.0f,
                         .c = GPU_C_APART};

    draw_problem(suite, &c.problem, form, type, shape);
    if (c.problem.beta == LATHE_BETA_ANY)
        c.beta = case_draw(suite, 2) ? 2.0f : -1.0f;
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

static void run_all(struct case_suite *suite, void *user)
{
    static const enum lathe_schedule schedules[] = {LATHE_PERSISTENT, LATHE_DYNAMIC};

    (void)user;
    for (int i = 0; i < FORMS * SHAPES * TYPES * 2; i++) {
        struct gpu_case c =
            draw_case(suite, &forms[i % FORMS], types[i / FORMS / SHAPES % TYPES],
                      schedules[i / FORMS / SHAPES / TYPES], &shapes[i / FORMS % SHAPES]);

        case_run(suite, &c, suite->schedules);
    }
}

int main(int count, char **words)
{
    struct case_suite suite = {.name = "cluster_suite",
                               .words = "",
                               .arch = LATHE_SM_100A,
                               .needs_tcgen05 = true,
                               .schedules = 3,
                               .run = run_all};

    return case_suite_main(&suite, count, words);
}
