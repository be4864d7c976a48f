#include "runtime/trial.h"

#include "codegen/plan.h"
#include "codegen/status.h"
#include "runtime/clock.h"
#include "runtime/context.h"
#include "templates/registry.h"

#include <string.h>

/* Streams of random numbers beside those of A, B and C. */
enum { ALPHA_STREAM = 16, BETA_STREAM };

/* ---- Before ---- */

static enum lathe_status read_arguments(struct lt_trial *trial, const struct lathe_gemm *problem,
                                        const struct lt_trial_options *options,
                                        struct lathe_error *err)
{
    enum lathe_status status = lt_import(&trial->problem, problem, "lathe_gemm", err);

    if (status != LATHE_OK)
        return status;
    if (options->reference < 0 || options->reference > 1)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "reference=%d: must be 0 (NVRTC) or 1 (the CPU)",
                       options->reference);
    trial->data = options->integers ? LT_DATA_INTEGERS : LT_DATA_NORMAL;
    return lt_gemm_resolve(&trial->problem, err);
}

/* A factor that is not zero: a multiple of 1/8 from -2 to 2, or a whole number of that range. */
static float draw_factor(const struct lt_trial_options *options, bool whole, uint64_t stream)
{
    uint64_t seed = lt_random_stream(options->seed, stream);
    int steps = whole ? 2 : 16;
    int size = 1 + (int)lt_random_below(seed, 0, (uint32_t)steps);
    float factor = (float)size * 2 / (float)steps;

    return lt_random_below(seed, 1, 2) ? factor : -factor;
}

static enum lathe_status prepare(struct lt_trial *trial, const struct lt_trial_options *options,
                                 struct lathe_error *err)
{
    const struct lathe_gemm *p = &trial->problem;
    double multiply_adds = (double)p->m * (double)p->n * (double)p->k;
    bool whole = options->integers || p->out == LATHE_S32;
    enum lt_checker_place place = options->reference ? LT_CHECKER_CPU : LT_CHECKER_ANY;
    enum lathe_status status = lt_stream_open(&trial->stream, trial->context, err);

    if (status == LATHE_OK)
        status = lt_checker_open(&trial->checker, trial->context, &trial->stream, place,
                                 multiply_adds, err);
    if (status == LATHE_OK)
        status = lt_operands_create(&trial->operands, &trial->stream, p, options->guard, err);
    trial->operands.sums = lathe_function_plan(trial->function)->acc;
    if (status == LATHE_OK)
        status =
            lt_operands_fill(&trial->operands, &trial->checker, trial->data, options->seed, err);
    trial->alpha = draw_factor(options, whole, ALPHA_STREAM);
    trial->beta = p->beta == LATHE_BETA_ANY ? draw_factor(options, whole, BETA_STREAM) : 0;
    return status;
}

/* The plan's kernel with another text. */
static enum lathe_status load_text(struct lt_trial *trial, const char *text,
                                   struct lathe_error *err)
{
    struct lathe_kernel *emitted = NULL, *edited = NULL;
    enum lathe_status status = lathe_emit(&emitted, lathe_function_plan(trial->function),
                                          lt_context_allocator(trial->context), err);

    if (status == LATHE_OK)
        status = lathe_kernel_edit(&edited, emitted, text, err);
    if (status == LATHE_OK)
        status = lathe_load_kernel(trial->context, &trial->function, edited, err);
    lathe_kernel_destroy(&edited);
    lathe_kernel_destroy(&emitted);
    return status;
}

enum lathe_status lt_trial_open(struct lt_trial *trial, struct lathe_context *context,
                                const struct lathe_gemm *problem,
                                const struct lathe_plan_options *plan,
                                const struct lt_trial_options *options, struct lathe_error *err)
{
    enum lathe_status status;

    memset(trial, 0, sizeof *trial);
    trial->context = context;
    status = read_arguments(trial, problem, options, err);
    if (status == LATHE_OK)
        status = lathe_gemm_get(context, &trial->function, problem, plan, err);
    if (status == LATHE_OK && options->text)
        status = load_text(trial, options->text, err);
    return status == LATHE_OK ? prepare(trial, options, err) : status;
}

void lt_trial_close(struct lt_trial *trial)
{
    lt_stream_wait(&trial->stream, NULL); /* after a failure, work may still be under way */
    lt_operands_destroy(&trial->operands);
    lt_stream_close(&trial->stream);
}

/* ---- Launches ---- */

enum lathe_status lt_trial_launch(const struct lt_trial *trial, struct lathe_error *err)
{
    struct lathe_gemm_args args = lt_operands_args(&trial->operands, trial->alpha, trial->beta);

    return lathe_gemm_launch(trial->function, &args, err);
}

enum lathe_status lt_trial_check(struct lt_trial *trial, struct lathe_error *err)
{
    struct lt_product product =
        lt_operands_product(&trial->operands, trial->alpha, trial->beta, trial->data);
    enum lathe_status status = lt_operands_poison(&trial->operands, err);
    double start = lt_now_us();

    if (status == LATHE_OK)
        status = lt_trial_launch(trial, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(&trial->stream, err);
    trial->launch_ms = (lt_now_us() - start) / 1e3;
    if (status == LATHE_OK)
        status = lt_checker_compare(&trial->checker, &product, &trial->verdict, err);
    if (status == LATHE_OK)
        status = lt_operands_damage(&trial->operands, &trial->checker, &trial->guard_damage, err);
    return status;
}

bool lt_trial_is_right(const struct lt_trial *trial)
{
    return trial->verdict.wrong == 0 && trial->guard_damage == 0;
}
