/* launch_model: which launches are refused, against a model that knows nothing of how the library
 * decides.
 *
 *     launch_model [seed=N]
 *
 * The model goes over the rows of the matrices, one by one and each with each, as ranges of bytes
 * in more than 64 bits. Matrices are small where it does so, and lie near each other, inside each
 * other, and about the end of the address space. Row distances are drawn up to the largest that
 * there is. */
#include "include/lathe.h"
#include "tests/stress/stress.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAUNCHES = 50000, ROUND = 1000, FUNCTIONS = 5, ROWS_MAX = 40, TOLD_MAX = 8 };

/* A matrix of more rows is not gone over: only whether it wraps around is then known. */
enum { ROWS_WALKED = 1000 };

__extension__ typedef unsigned __int128 wide;

#define ADDRESSES ((wide)1 << 64)
#define PITCH_BYTES_LIMIT ((int64_t)1 << 40)

struct model_matrix {
    uint64_t at;
    int64_t rows, columns, pitch; /* pitch in elements */
    int bytes;                    /* of an element     */
    bool used;                    /* read or written by this launch */
};

enum { A, B, C, D, MATRICES };

struct checked {
    struct stress stress;
    uint64_t state;
    struct lathe_context *context;
    struct lathe_function *functions[FUNCTIONS];
    long launched, refused, cautious, wrong; /* of one kind of arguments */
};

/* ---- The model ---- */

/* Statuses as a set of bits, since any broken rule may be the one that is named. */
#define BIT(status) (1u << (status))

struct ruling {
    unsigned broken; /* rules, by status */
    bool may_refuse; /* none is broken, but whether that can be seen is left open */
};

static wide row_start(const struct model_matrix *x, int64_t row)
{
    return (wide)x->at + (wide)row * (wide)x->pitch * (wide)x->bytes;
}

static wide row_end(const struct model_matrix *x, int64_t row)
{
    return row_start(x, row) + (wide)x->columns * (wide)x->bytes;
}

/* Whether a byte belongs to both. */
static bool share_a_byte(const struct model_matrix *x, const struct model_matrix *y)
{
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < y->rows; j++)
            if (row_start(x, i) < row_end(y, j) && row_start(y, j) < row_end(x, i))
                return true;
    return false;
}

/* Whether one reaches into the other, if only between its rows. */
static bool reach_into(const struct model_matrix *x, const struct model_matrix *y)
{
    return row_start(x, 0) < row_end(y, y->rows - 1) && row_start(y, 0) < row_end(x, x->rows - 1);
}

static void model_matrices(const struct lathe_plan *plan, const struct lathe_gemm_args *args,
                           struct model_matrix matrices[MATRICES])
{
    int in = lathe_type_bytes(plan->type), out = lathe_type_bytes(plan->out);
    bool reads = args->k > 0, adds = args->beta != 0;

    matrices[A] = (struct model_matrix){args->a, args->m, args->k, args->lda, in, reads};
    matrices[B] = (struct model_matrix){args->b, args->n, args->k, args->ldb, in, reads};
    matrices[C] = (struct model_matrix){args->c, args->m, args->n, args->ldc, out, adds};
    matrices[D] = (struct model_matrix){args->d, args->m, args->n, args->ldd, out, true};
    for (int i = 0; i < MATRICES; i++)
        if (matrices[i].pitch == 0)
            matrices[i].pitch = matrices[i].columns;
}

static unsigned broken_by_sizes(const struct lathe_plan *plan, const struct lathe_gemm_args *args)
{
    const int64_t sizes[] = {args->m, args->n, args->k};
    unsigned broken = 0;

    for (int i = 0; i < 3; i++) {
        if (sizes[i] < 0)
            broken |= BIT(LATHE_OUT_OF_RANGE);
        if (plan->static_size[i] >= 0 && plan->static_size[i] != sizes[i])
            broken |= BIT(LATHE_MISUSED);
    }
    if (args->beta != 0 && plan->beta != LATHE_BETA_ANY)
        broken |= BIT(LATHE_MISUSED);
    return broken;
}

/* A matrix that is not read still has a distance, except C. */
static unsigned broken_by_pitches(const struct model_matrix matrices[MATRICES])
{
    unsigned broken = 0;

    for (int i = 0; i < MATRICES; i++) {
        const struct model_matrix *x = &matrices[i];

        if (i == C && !x->used)
            continue;
        if (x->pitch < x->columns || x->pitch * x->bytes > PITCH_BYTES_LIMIT - 16)
            broken |= BIT(LATHE_OUT_OF_RANGE);
        else if (x->rows > 1 && x->columns > 0 && x->pitch * x->bytes % 16 != 0)
            broken |= BIT(LATHE_UNSUPPORTED);
    }
    return broken;
}

/* The distance to the next row of a single one means nothing. */
static bool same_pitch(const struct model_matrix *x, const struct model_matrix *y)
{
    return x->pitch * x->bytes == y->pitch * y->bytes && x->rows > 1 && y->rows > 1;
}

/* C may be D itself. */
static bool may_share(const struct model_matrix *c, const struct model_matrix *d)
{
    return c->at == d->at && (c->pitch == d->pitch || d->rows == 1);
}

/* Which rules the places of the matrices break. Bytes that lie between the rows of another, whose
 * distance is another, may be refused out of caution: the library must decide in no time. So may an
 * end that is 2^64, which has no address. */
static struct ruling rule_on_places(const struct model_matrix matrices[MATRICES])
{
    const struct model_matrix *d = &matrices[D];
    struct ruling ruling = {0, false};
    bool walkable = true;

    for (int i = 0; i < MATRICES; i++) {
        const struct model_matrix *x = &matrices[i];

        if (!x->used)
            continue;
        if (x->at == 0 || x->at % 16 != 0)
            ruling.broken |= BIT(LATHE_MISUSED);
        if (row_end(x, x->rows - 1) > ADDRESSES)
            ruling.broken |= BIT(LATHE_MISUSED) | BIT(LATHE_OUT_OF_RANGE);
        ruling.may_refuse |= row_end(x, x->rows - 1) == ADDRESSES;
        walkable = walkable && x->rows <= ROWS_WALKED;
    }
    ruling.may_refuse |= !walkable;
    for (int i = A; i < D && walkable; i++) {
        const struct model_matrix *x = &matrices[i];

        if (!x->used || (i == C && may_share(x, d)))
            continue;
        if (share_a_byte(x, d))
            ruling.broken |= BIT(LATHE_MISUSED);
        else if (reach_into(x, d) && !same_pitch(x, d))
            ruling.may_refuse = true;
    }
    return ruling;
}

/* Sets `*empty` where there is nothing to do, and the places do not matter. */
static struct ruling rule(const struct lathe_plan *plan, const struct lathe_gemm_args *args,
                          bool *empty)
{
    struct model_matrix matrices[MATRICES];
    struct ruling ruling = {broken_by_sizes(plan, args), false};

    *empty = args->m == 0 || args->n == 0;
    if (ruling.broken & BIT(LATHE_OUT_OF_RANGE))
        return ruling;
    model_matrices(plan, args, matrices);
    ruling.broken |= broken_by_pitches(matrices);
    return ruling.broken || *empty ? ruling : rule_on_places(matrices);
}

/* ---- The library ---- */

static struct lathe_function *make_function(struct checked *checked, int which)
{
    static const enum lathe_type outs[FUNCTIONS] = {LATHE_F16, LATHE_F32, LATHE_F16, LATHE_F32,
                                                    LATHE_F16};
    struct lathe_gemm problem = LATHE_GEMM_INIT;
    struct lathe_plan_options options = LATHE_PLAN_OPTIONS_INIT;
    struct lathe_function *function = NULL;
    struct lathe_error error;

    problem.m = 24;
    problem.n = problem.k = 16;
    problem.type = LATHE_F16;
    problem.out = outs[which];
    problem.beta = which == 2 ? LATHE_BETA_ZERO : LATHE_BETA_ANY;
    problem.statics = which == 3   ? LATHE_STATIC_K
                      : which == 4 ? LATHE_STATIC_MNK
                                   : LATHE_STATIC_NONE;
    options.tile[0] = options.tile[1] = options.tile[2] = 64;
    options.cluster[0] = 1 + which % 2;
    options.cluster[1] = options.cluster[2] = 1;
    if (lathe_gemm_get(checked->context, &function, &problem, &options, &error) != LATHE_OK) {
        fprintf(stderr, "no function: %s\n", error.message);
        exit(1);
    }
    return function;
}

/* The stub keeps every launch until it is reset, so this is done now and then. */
static void start_anew(struct checked *checked)
{
    struct lathe_context_options options = stress_options(&checked->stress);
    struct lathe_error error;

    lathe_context_destroy(&checked->context);
    checked->stress.stub.reset();
    if (lathe_context_create(&checked->context, &options, &error) != LATHE_OK) {
        fprintf(stderr, "no context: %s\n", error.message);
        exit(1);
    }
    for (int i = 0; i < FUNCTIONS; i++)
        checked->functions[i] = make_function(checked, i);
}

/* ---- Arguments ---- */

static int64_t draw(struct checked *checked, int64_t low, int64_t high)
{
    return low + (int64_t)stress_draw(&checked->state, (uint64_t)(high - low) + 1);
}

static bool chance(struct checked *checked, int percent)
{
    return draw(checked, 1, 100) <= percent;
}

/* Small sizes, those baked in among them, packed as tightly as rows may be or less so. */
static void draw_small(struct checked *checked, const struct lathe_plan *plan,
                       struct lathe_gemm_args *args)
{
    int64_t *sizes[] = {&args->m, &args->n, &args->k};
    int64_t *pitches[] = {&args->lda, &args->ldb, &args->ldc, &args->ldd};
    int64_t shared = 8 * draw(checked, 5, 14);

    for (int i = 0; i < 3; i++) {
        *sizes[i] = chance(checked, 20) ? 1 : draw(checked, 1, ROWS_MAX);
        if (plan->static_size[i] >= 0)
            *sizes[i] = plan->static_size[i];
    }
    if (plan->static_size[2] < 0 && chance(checked, 5))
        args->k = 0;
    for (int i = 0; i < MATRICES; i++) {
        int64_t columns = i < C ? args->k : args->n;

        *pitches[i] =
            chance(checked, 50) ? shared : (columns + 7) / 8 * 8 + 8 * draw(checked, 0, 6);
    }
    args->beta = plan->beta == LATHE_BETA_ANY && chance(checked, 70) ? 0.5f : 0;
}

/* All within a few kilobytes of each other: beside, between and over each other's rows. */
static void draw_near(struct checked *checked, const struct lathe_plan *plan,
                      struct lathe_gemm_args *args)
{
    uint64_t base = 0x7f0000000000, *places[] = {&args->a, &args->b, &args->c, &args->d};
    int64_t window = (int64_t)1 << draw(checked, 2, 10);

    draw_small(checked, plan, args);
    for (int i = 0; i < MATRICES; i++)
        *places[i] = base + 16 * (uint64_t)draw(checked, 0, window);
    if (chance(checked, 25))
        args->c = args->d;
}

/* Blocks of columns of one wider matrix. */
static void draw_columns(struct checked *checked, const struct lathe_plan *plan,
                         struct lathe_gemm_args *args)
{
    int64_t pitch_bytes = 16 * draw(checked, 15, 40);
    int in = lathe_type_bytes(plan->type), out = lathe_type_bytes(plan->out);
    uint64_t base = 0x7f0000000000;

    draw_small(checked, plan, args);
    args->lda = args->ldb = pitch_bytes / in;
    args->ldc = args->ldd = pitch_bytes / out;
    args->a = base + 16 * (uint64_t)draw(checked, 0, 40);
    args->b = base + 16 * (uint64_t)draw(checked, 0, 40);
    args->c = base + 16 * (uint64_t)draw(checked, 0, 40);
    args->d = base + 16 * (uint64_t)draw(checked, 0, 40);
}

/* About the last address: some matrices end before it, some at it, some behind it. */
static void draw_last(struct checked *checked, const struct lathe_plan *plan,
                      struct lathe_gemm_args *args)
{
    uint64_t *places[] = {&args->a, &args->b, &args->c, &args->d};

    draw_near(checked, plan, args);
    for (int i = 0; i < MATRICES; i++)
        if (chance(checked, 35))
            *places[i] = 0 - 16 * (uint64_t)draw(checked, 1, 400);
}

/* Rows as far apart as they may be, and in places so many that they go once around. */
static void draw_far(struct checked *checked, const struct lathe_plan *plan,
                     struct lathe_gemm_args *args)
{
    uint64_t *places[] = {&args->a, &args->b, &args->c, &args->d};
    int64_t *pitches[] = {&args->lda, &args->ldb, &args->ldc, &args->ldd};
    int in = lathe_type_bytes(plan->type), out = lathe_type_bytes(plan->out);

    draw_small(checked, plan, args);
    for (int i = 0; i < MATRICES; i++) {
        int64_t most = PITCH_BYTES_LIMIT / (i < C ? in : out);

        if (chance(checked, 50))
            *pitches[i] = most - 8 * draw(checked, 1, chance(checked, 50) ? 4 : most / 16);
        *places[i] = 16 * stress_draw(&checked->state, (uint64_t)1 << draw(checked, 30, 60));
    }
    if (plan->static_size[0] < 0 && chance(checked, 30)) {
        args->m = ((int64_t)1 << 24) + draw(checked, 0, 1 << 27);
        args->lda = PITCH_BYTES_LIMIT / in - 8;
    }
    if (chance(checked, 50)) /* in a row of A, wherever that is */
        args->d =
            args->a + (uint64_t)draw(checked, 0, args->m) * (uint64_t)args->lda * (uint64_t)in;
}

/* One rule or two of the others broken. */
static void draw_unruly(struct checked *checked, const struct lathe_plan *plan,
                        struct lathe_gemm_args *args)
{
    uint64_t *places[] = {&args->a, &args->b, &args->c, &args->d};
    int64_t *pitches[] = {&args->lda, &args->ldb, &args->ldc, &args->ldd};
    int64_t *sizes[] = {&args->m, &args->n, &args->k};

    draw_near(checked, plan, args);
    for (int i = 0; i < MATRICES; i++)
        *places[i] += (uint64_t)i << 32;
    for (int64_t left = draw(checked, 1, 2); left > 0; left--) {
        int64_t which = draw(checked, A, D);

        switch (draw(checked, 0, 6)) {
        case 0:
            *places[which] += (uint64_t)draw(checked, 1, 15);
            break;
        case 1:
            *places[which] = 0;
            break;
        case 2:
            *pitches[which] += draw(checked, 1, 7);
            break;
        case 3:
            *pitches[which] = draw(checked, 0, ROWS_MAX);
            break;
        case 4:
            *pitches[which] = PITCH_BYTES_LIMIT / draw(checked, 2, 4);
            break;
        case 5:
            *sizes[which % 3] = draw(checked, -1, 0);
            break;
        case 6:
            args->beta = 1;
            break;
        }
    }
}

/* ---- One launch ---- */

static void tell(struct checked *checked, const struct lathe_plan *plan,
                 const struct lathe_gemm_args *a, const char *what, const char *message)
{
    if (checked->wrong++ >= TOLD_MAX)
        return;
    printf("# %s: m=%lld n=%lld k=%lld lda=%lld ldb=%lld ldc=%lld ldd=%lld a=0x%llx b=0x%llx "
           "c=0x%llx d=0x%llx beta=%g, %s to %s, static=%d: %s\n",
           what, (long long)a->m, (long long)a->n, (long long)a->k, (long long)a->lda,
           (long long)a->ldb, (long long)a->ldc, (long long)a->ldd, (unsigned long long)a->a,
           (unsigned long long)a->b, (unsigned long long)a->c, (unsigned long long)a->d,
           (double)a->beta, lathe_type_name(plan->type), lathe_type_name(plan->out),
           (int)plan->statics, message);
}

static void check_launch(struct checked *checked, struct lathe_function *function,
                         const struct lathe_gemm_args *args)
{
    const struct lathe_plan *plan = lathe_function_plan(function);
    struct lathe_error error = {.status = LATHE_OK};
    bool empty;
    struct ruling ruling = rule(plan, args, &empty);
    int before = checked->stress.stub.launches();
    enum lathe_status status = lathe_gemm_launch(function, args, &error);
    int launches = checked->stress.stub.launches() - before;

    if (status == LATHE_OK && ruling.broken)
        tell(checked, plan, args, "launched", "must be refused");
    else if (status != LATHE_OK && !ruling.broken && !ruling.may_refuse)
        tell(checked, plan, args, "refused", error.message);
    else if (status != LATHE_OK && ruling.broken && !(ruling.broken & BIT(status)))
        tell(checked, plan, args, "refused for another reason", error.message);
    else if (status != LATHE_OK && !stress_error_is_told(&error, status))
        tell(checked, plan, args, "does not tell its error", error.message);
    else if (launches != (status == LATHE_OK && !empty))
        tell(checked, plan, args, "did not reach the driver once, or did",
             lathe_status_name(status));

    if (status == LATHE_OK)
        checked->launched++;
    else if (ruling.broken)
        checked->refused++;
    else
        checked->cautious++;
}

static const struct kind {
    const char *name;
    void (*draw)(struct checked *checked, const struct lathe_plan *plan,
                 struct lathe_gemm_args *args);
} kinds[] = {
    {"near each other", draw_near},        {"columns of one matrix", draw_columns},
    {"about the last address", draw_last}, {"rows far apart", draw_far},
    {"rules broken", draw_unruly},
};

/* Neither outcome may be missing, or nothing was tested. */
static void check_kind(struct checked *checked, const struct kind *kind)
{
    checked->launched = checked->refused = checked->cautious = checked->wrong = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;

        if (i % ROUND == 0)
            start_anew(checked);

        struct lathe_function *function = checked->functions[draw(checked, 0, FUNCTIONS - 1)];

        kind->draw(checked, lathe_function_plan(function), &args);
        check_launch(checked, function, &args);
    }
    stress_result(&checked->stress,
                  checked->wrong == 0 && checked->launched > 0 && checked->refused > 0,
                  "%s: %ld launched, %ld refused, %ld more out of caution; %ld wrongly", kind->name,
                  checked->launched, checked->refused, checked->cautious, checked->wrong);
}

int main(int count, char **words)
{
    struct checked checked = {.state = 1};

    if (count > 1 && strncmp(words[1], "seed=", 5) == 0)
        checked.state = strtoull(words[1] + 5, NULL, 10);
    stress_open(&checked.stress);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        check_kind(&checked, &kinds[i]);
    lathe_context_destroy(&checked.context);
    return stress_close(&checked.stress);
}
