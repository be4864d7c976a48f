#include "runtime/contest.h"

#include "codegen/status.h"

/* Device memory that rotating sets leave alone. */
#define SPARE_BYTES (512LL << 20)

/* Any right answer is nearer than this to the reference, in any output type; no wrong one is. */
#define CONTENDER_REL_ERROR 0.02

/* ---- Who takes part ---- */

static void add(struct lt_contest *contest, enum lathe_bench_kind kind,
                const struct lt_entrant *entrant)
{
    int index = contest->count++;

    contest->kinds[index] = kind;
    contest->entrants[index] = *entrant;
    contest->contenders[index] =
        (struct lt_contender){.enqueue = lt_entrant_enqueue, .user = &contest->entrants[index]};
}

void lt_contest_add_plan(struct lt_contest *contest, struct lathe_function *function)
{
    const struct lt_entrant entrant = {.rotation = &contest->rotation,
                                       .alpha = contest->alpha,
                                       .beta = contest->beta,
                                       .function = function};

    add(contest, LATHE_BENCH_PLAN, &entrant);
    contest->plans++;
}

static void add_contenders(struct lt_contest *contest)
{
    const struct lt_entrant entrant = {.rotation = &contest->rotation,
                                       .alpha = contest->alpha,
                                       .beta = contest->beta,
                                       .cublaslt = contest->cublaslt};

    if (contest->options.vs_cublaslt)
        add(contest, LATHE_BENCH_CUBLASLT, &entrant);
    if (contest->options.vs_cublaslt_best)
        add(contest, LATHE_BENCH_CUBLASLT_BEST, &entrant);
}

static enum lathe_status open_cublaslt(struct lt_contest *contest, struct lathe_error *err)
{
    const struct lathe_bench_options *options = &contest->options;
    const char *path = options->cublaslt_library
                           ? options->cublaslt_library
                           : lt_context_variable(contest->context, "LATHE_CUBLASLT_LIBRARY");
    const char *roots[LT_ROOTS];
    enum lathe_status status;

    lt_context_roots(contest->context, roots);
    status = lt_cublaslt_open(&contest->cublaslt, path, roots,
                              lt_context_allocator(contest->context), err);
    return status == LATHE_OK
               ? lt_cublaslt_prepare(contest->cublaslt, &contest->stream, &contest->problem,
                                     options->vs_cublaslt_best ? LT_CUBLASLT_ALGORITHMS_MOST : 1,
                                     err)
               : status;
}

/* Every set is compared in the end. */
static enum lathe_status open_checker(struct lt_contest *contest, struct lathe_error *err)
{
    const struct lathe_gemm *p = &contest->problem;
    double multiply_adds = (double)p->m * (double)p->n * (double)p->k;
    int sets = lt_rotation_wanted(lt_operands_footprint(p), contest->stream.device->l2_bytes,
                                  LT_BLOCK_LAUNCHES);

    return lt_checker_open(&contest->checker, contest->context, &contest->stream, LT_CHECKER_ANY,
                           multiply_adds * sets, err);
}

enum lathe_status lt_contest_open(struct lt_contest *contest, struct lathe_error *err)
{
    bool versus = contest->options.vs_cublaslt || contest->options.vs_cublaslt_best;
    enum lathe_status status = lt_stream_open(&contest->stream, contest->context, err);

    if (status == LATHE_OK)
        status = open_checker(contest, err);
    if (status == LATHE_OK && versus)
        status = open_cublaslt(contest, err);
    if (status == LATHE_OK)
        status = lt_rotation_create(&contest->rotation, &contest->checker, &contest->problem,
                                    LT_BLOCK_LAUNCHES, SPARE_BYTES, contest->options.seed, err);
    if (status != LATHE_OK)
        return status;
    add_contenders(contest);
    contest->turns = (struct lt_turns){.stream = &contest->stream,
                                       .allocator = lt_context_allocator(contest->context),
                                       .contenders = contest->contenders,
                                       .count = contest->count,
                                       .sets = contest->rotation.count,
                                       .block_ms = contest->options.block_ms};
    return LATHE_OK;
}

void lt_contest_close(struct lt_contest *contest)
{
    lt_stream_wait(&contest->stream, NULL);
    lt_turns_release(&contest->turns);
    lt_rotation_destroy(&contest->rotation);
    lt_cublaslt_close(&contest->cublaslt);
    lt_stream_close(&contest->stream);
}

enum lathe_status lt_contest_capture(struct lt_contest *contest, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < contest->count && status == LATHE_OK; i++) {
        struct lt_contender *contender = &contest->contenders[i];

        if (contest->kinds[i] == LATHE_BENCH_CUBLASLT_BEST)
            status = lt_entrant_search(&contest->entrants[i], &contest->stream,
                                       contest->turns.allocator, err);
        if (status == LATHE_OK)
            status = lt_turns_probe(&contest->turns, contender, err);
        if (status == LATHE_OK)
            status = lt_turns_capture(&contest->turns, contender, err);
    }
    return status;
}

/* ---- Answers ---- */

/* By the rule for what the entrant sums in; a contender sums in f32. */
static enum lathe_status compare(const struct lt_contest *contest, int index, int set,
                                 struct lt_verdict *verdict, struct lathe_error *err)
{
    const struct lathe_function *function = contest->entrants[index].function;
    struct lt_product product = lt_operands_product(lt_rotation_at(&contest->rotation, set),
                                                    contest->alpha, contest->beta, LT_DATA_NORMAL);

    product.sums = function ? lathe_function_plan(function)->acc : LATHE_F32;
    return lt_checker_compare(&contest->checker, &product, verdict, err);
}

/* Only whether it computes the same is looked at: by what rule it rounds is its own affair. */
static enum lathe_status check_contender(struct lt_contest *contest, int index,
                                         struct lathe_error *err)
{
    struct lt_entrant *entrant = &contest->entrants[index];
    struct lt_verdict verdict;
    enum lathe_status status = lt_rotation_poison(&contest->rotation, err);

    if (status == LATHE_OK)
        status = lt_entrant_enqueue(entrant, 0, err);
    if (status == LATHE_OK)
        status = compare(contest, index, 0, &verdict, err);
    if (status == LATHE_OK && !(lt_verdict_rel_error(&verdict) < CONTENDER_REL_ERROR))
        status = lt_fail(err, LATHE_INTERNAL,
                         "%s, algorithm %d, gives another answer (relative error %.2g), so there "
                         "is nothing to compare; measure without it, and please report this",
                         lt_cublaslt_version(entrant->cublaslt), entrant->algorithm + 1,
                         lt_verdict_rel_error(&verdict));
    return status;
}

enum lathe_status lt_contest_check(struct lt_contest *contest, struct lathe_error *err)
{
    enum lathe_status status = LATHE_OK;

    for (int i = contest->plans; i < contest->count && status == LATHE_OK; i++)
        status = check_contender(contest, i, err);
    return status;
}

enum lathe_status lt_contest_verify(struct lt_contest *contest, int plan,
                                    const struct lt_graph *block, int sets,
                                    struct lt_verdict *verdict, struct lathe_error *err)
{
    enum lathe_status status = lt_rotation_poison(&contest->rotation, err);

    *verdict = (struct lt_verdict)LT_VERDICT_INIT;
    if (status == LATHE_OK)
        status = lt_graph_replay(block, err);
    if (status == LATHE_OK)
        status = lt_stream_wait(&contest->stream, err);
    for (int i = 0; i < sets && status == LATHE_OK; i++) {
        struct lt_verdict part = LT_VERDICT_INIT;

        status = compare(contest, plan, i, &part, err);
        if (status == LATHE_OK)
            lt_verdict_merge(verdict, &part);
    }
    return status;
}
