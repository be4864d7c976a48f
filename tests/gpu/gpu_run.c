#include "tests/gpu/gpu_run.h"

#include "runtime/checker.h"
#include "runtime/context.h"
#include "runtime/operands.h"
#include "runtime/stream.h"
#include "templates/registry.h"

#include <stdio.h>

struct run {
    const struct gpu_case *c;
    uint64_t seed;
    struct lathe_gemm problem; /* resolved */
    struct lathe_function *function;
    struct lt_stream stream;
    struct lt_checker checker;
    struct lt_operands operands;
};

static enum lathe_status prepare(struct run *run, struct lathe_context *context,
                                 struct lathe_error *err)
{
    const struct lathe_gemm *p = &run->problem;
    double multiply_adds = (double)p->m * (double)p->n * (double)p->k;
    enum lathe_status status = lt_stream_open(&run->stream, context, err);

    if (status == LATHE_OK)
        status = lt_checker_open(&run->checker, context, &run->stream, LT_CHECKER_ANY,
                                 multiply_adds, err);
    if (status == LATHE_OK)
        status = lt_operands_create(&run->operands, &run->stream, p, true, err);
    run->operands.sums = lathe_function_plan(run->function)->acc;
    return status;
}

static enum lt_data data_of(const struct gpu_case *c)
{
    return c->integers ? LT_DATA_INTEGERS : LT_DATA_NORMAL;
}

/* With beta = 0 all of C stays the NaN that it was made with. For a D that is C's buffer as well,
 * the numbers of C are written there once more, and C's own memory remains to compare with. */
static enum lathe_status fill(const struct run *run, struct lathe_error *err)
{
    struct lt_operands filled = run->operands;
    enum lathe_status status = lt_operands_poison(&filled, err);

    if (run->c->beta == 0)
        filled.c.base = 0;
    if (run->c->low_bits && run->problem.type == LATHE_TF32)
        filled.a.matrix.type = filled.b.matrix.type = LATHE_F32;
    if (status == LATHE_OK)
        status = lt_operands_fill(&filled, &run->checker, data_of(run->c), run->seed, err);
    if (status != LATHE_OK || run->c->c != GPU_C_IS_D || run->c->beta == 0)
        return status;
    filled.c = filled.d;
    return lt_operands_fill(&filled, &run->checker, data_of(run->c), run->seed, err);
}

static enum lathe_status launch(const struct run *run, struct lathe_error *err)
{
    const struct gpu_case *c = run->c;
    struct lathe_gemm_args args = lt_operands_args(&run->operands, c->alpha, c->beta);

    args.raster = c->raster;
    switch (c->c) {
    case GPU_C_APART:
        break;
    case GPU_C_IS_D:
        args.c = args.d;
        args.ldc = args.ldd;
        break;
    case GPU_C_NULL:
        args.c = 0;
        args.ldc = 0;
        break;
    }

    enum lathe_status status = lathe_gemm_launch(run->function, &args, err);

    return status == LATHE_OK ? lt_stream_wait(&run->stream, err) : status;
}

static enum lathe_status compare(const struct run *run, struct gpu_outcome *outcome,
                                 struct lathe_error *err)
{
    struct lt_product product =
        lt_operands_product(&run->operands, run->c->alpha, run->c->beta, data_of(run->c));
    enum lathe_status status = lt_checker_compare(&run->checker, &product, &outcome->verdict, err);

    if (status == LATHE_OK)
        status = lt_operands_damage(&run->operands, &run->checker, &outcome->damage, err);
    return status;
}

enum lathe_status gpu_run_function(struct lathe_context *context, struct lathe_function *function,
                                   const struct gpu_case *c, uint64_t seed,
                                   struct gpu_outcome *outcome, struct lathe_error *err)
{
    struct run run = {.c = c, .seed = seed, .problem = c->problem, .function = function};
    enum lathe_status status = lt_gemm_resolve(&run.problem, err);

    *outcome = (struct gpu_outcome){.verdict = LT_VERDICT_INIT};
    if (status == LATHE_OK)
        status = prepare(&run, context, err);
    if (status == LATHE_OK)
        status = fill(&run, err);
    if (status == LATHE_OK)
        status = launch(&run, err);
    if (status == LATHE_OK)
        status = compare(&run, outcome, err);
    if (status == LATHE_OK) {
        outcome->spill_bytes = lathe_function_contract(run.function)->spill_bytes;
        outcome->warning_count = lathe_function_contract(run.function)->warnings;
    }
    lt_stream_wait(&run.stream, NULL); /* after a failure, work may still be under way */
    lt_operands_destroy(&run.operands);
    lt_stream_close(&run.stream);
    return status;
}

enum lathe_status gpu_run_case(struct lathe_context *context, const struct gpu_case *c,
                               uint64_t seed, struct gpu_outcome *outcome, struct lathe_error *err)
{
    struct lathe_function *function = NULL;
    enum lathe_status status = lathe_gemm_get(context, &function, &c->problem, &c->options, err);

    *outcome = (struct gpu_outcome){.verdict = LT_VERDICT_INIT};
    return status == LATHE_OK ? gpu_run_function(context, function, c, seed, outcome, err) : status;
}

/* ---- For those who print ---- */

void gpu_describe(const struct gpu_case *c, char *words, size_t size)
{
    static const char *const places[] = {
        [GPU_C_APART] = "", [GPU_C_IS_D] = " c=d", [GPU_C_NULL] = " c=null"};
    struct lathe_request request = LATHE_REQUEST_INIT;
    size_t length;

    request.family = LATHE_GEMM;
    request.gemm = c->problem;
    request.plan = c->options;
    length = lathe_request_words(&request, words, size);
    if (length < size)
        snprintf(words + length, size - length, ", launched with alpha=%g beta=%g raster=%d%s%s%s",
                 (double)c->alpha, (double)c->beta, c->raster, places[c->c],
                 c->integers ? ", whole numbers" : "",
                 c->low_bits && c->problem.type == LATHE_TF32 ? ", all bits of f32" : "");
}

bool gpu_tell(const struct gpu_case *c, const struct gpu_outcome *outcome)
{
    const struct lt_verdict *v = &outcome->verdict;
    int64_t columns = c->problem.n;

    if (v->wrong > 0)
        printf("# %lld of %lld wrong, first at (%lld, %lld): got %.10g, want %.10g +- %.3g\n",
               (long long)v->wrong, (long long)v->compared, (long long)(v->first / columns),
               (long long)(v->first % columns), v->got, v->want, v->bound);
    if (outcome->damage > 0)
        printf("# %lld bytes around D changed\n", (long long)outcome->damage);
    if (outcome->spill_bytes > 0 || outcome->warning_count > 0)
        printf("# the linker spills %d bytes a thread and has %d warnings\n", outcome->spill_bytes,
               outcome->warning_count);
    return v->wrong == 0 && outcome->damage == 0 && outcome->spill_bytes <= 0 &&
           outcome->warning_count <= 0;
}

bool gpu_open(struct lathe_context **context, bool emulated, enum lathe_arch arch,
              void (**set_seed)(uint64_t seed), struct lathe_error *err)
{
    const struct lt_library_function calls[] = {{"emu_set_seed", set_seed}};
    const struct lt_device *device = NULL;

    *set_seed = NULL;
    if (!emulated)
        return lathe_context_create(context, NULL, err) == LATHE_OK;
    return lathe_context_create(
               context,
               lathe_context_options(.emulator = LATHE_EMULATOR_ALWAYS, .emulated_arch = arch),
               err) == LATHE_OK &&
           lt_context_probe(*context, &device, err) == LATHE_OK &&
           !lt_library_load(&device->driver.library, calls, 1, NULL);
}
