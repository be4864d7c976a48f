#include "runtime/operands.h"

#include "codegen/status.h"
#include "runtime/number.h"

#include <math.h>

/* A NaN of f16, of bf16 and, twice, of f32 and tf32; twice one of e4m3 and e5m2, and of int8 the
 * largest number, for it has no NaN; and for D one that no conversion makes (of s32: -1). */
enum { INPUT_NAN = 0x7fc1, INPUT_NAN_8 = 0x7f7f, CANARY = 0xff, POISON = 0xffff };

/* A guard is as long as GUARD_ROWS rows (a tile beyond the edge), within these bytes. */
enum { GUARD_ROWS = 256, GUARD_LEAST = 4096, GUARD_MOST = 4 << 20, ALIGNMENT = 256 };

/* More than any device has, and far from where 64 bits end. */
#define BYTES_MOST 0x1p48

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int64_t guard_bytes(const struct lt_matrix *matrix)
{
    double rows = (double)GUARD_ROWS * (double)matrix->pitch * lathe_type_bytes(matrix->type);

    if (rows < GUARD_LEAST)
        return GUARD_LEAST;
    return rows > GUARD_MOST ? GUARD_MOST : round_up((int64_t)rows, ALIGNMENT);
}

static enum lathe_status create_one(struct lt_operand *operand, const struct lt_stream *stream,
                                    const char *name, const struct lt_matrix *matrix, bool guard,
                                    struct lathe_error *err)
{
    double span =
        (double)matrix->rows * (double)matrix->pitch * (double)lathe_type_bytes(matrix->type);
    int64_t before = guard ? guard_bytes(matrix) : 0;

    if (span > BYTES_MOST)
        return lt_fail(err, LATHE_OUT_OF_MEMORY,
                       "%s: %lld rows, %lld elements apart, are more than any device holds", name,
                       (long long)matrix->rows, (long long)matrix->pitch);
    operand->matrix = *matrix;
    operand->bytes = before + round_up(lt_matrix_bytes(matrix) + 1, ALIGNMENT) + before;

    enum lathe_status status =
        lt_stream_allocate(stream, &operand->base, operand->bytes, name, err);

    operand->matrix.at = operand->base + (uint64_t)before;
    return status;
}

enum lathe_status lt_operands_create(struct lt_operands *operands, const struct lt_stream *stream,
                                     const struct lathe_gemm *p, bool guard,
                                     struct lathe_error *err)
{
    struct lt_matrix a = {.type = p->type, .rows = p->m, .columns = p->k, .pitch = p->lda};
    struct lt_matrix b = {.type = p->type, .rows = p->n, .columns = p->k, .pitch = p->ldb};
    struct lt_matrix c = {.type = p->out, .rows = p->m, .columns = p->n, .pitch = p->ldc};
    struct lt_matrix d = {.type = p->out, .rows = p->m, .columns = p->n, .pitch = p->ldd};
    struct lt_operands made = {.stream = stream};
    struct lt_operand *inputs[] = {&made.a, &made.b, &made.c};
    enum lathe_status status = create_one(&made.a, stream, "A", &a, guard, err);

    if (status == LATHE_OK)
        status = create_one(&made.b, stream, "B", &b, guard, err);
    if (status == LATHE_OK && p->beta == LATHE_BETA_ANY)
        status = create_one(&made.c, stream, "C", &c, guard, err);
    if (status == LATHE_OK)
        status = create_one(&made.d, stream, "D", &d, guard, err);
    for (int i = 0; i < 3 && status == LATHE_OK; i++) {
        int nan = lathe_type_bytes(inputs[i]->matrix.type) == 1 ? INPUT_NAN_8 : INPUT_NAN;

        if (inputs[i]->base)
            status = lt_stream_set(stream, inputs[i]->base, (uint16_t)nan, inputs[i]->bytes, err);
    }
    if (status == LATHE_OK)
        *operands = made;
    else
        lt_operands_destroy(&made);
    return status;
}

void lt_operands_destroy(struct lt_operands *operands)
{
    struct lt_operand *all[] = {&operands->a, &operands->b, &operands->c, &operands->d};

    for (int i = 0; i < 4; i++)
        if (all[i]->base)
            lt_stream_free(operands->stream, &all[i]->base);
    *operands = (struct lt_operands){.stream = NULL};
}

double lt_operands_footprint(const struct lathe_gemm *p)
{
    double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    int outputs = p->beta == LATHE_BETA_ANY ? 2 : 1;

    return (m * k + n * k) * lathe_type_bytes(p->type) + m * n * outputs * lathe_type_bytes(p->out);
}

/* Whole numbers so small that |alpha| sum|a||b| + |beta c| stays exact for |alpha| <= 2, for as
 * long as there is one. */
static int integer_range(int64_t k, enum lathe_type sums)
{
    int range = 4;

    while (range > 1 && 2.0 * range * range * (double)k >= lt_sum_exact_below(sums) / 2)
        range--;
    return range;
}

/* And where D is of 8 bits, so small that few sums reach the largest number, where an answer says
 * little. The variance of whole numbers up to r is r (r + 1) / 3. */
static int range_for(const struct lt_operands *operands)
{
    enum lathe_type out = operands->d.matrix.type;
    double k = (double)operands->a.matrix.columns;
    int range = integer_range(operands->a.matrix.columns, operands->sums);

    while (range > 1 && lathe_type_bytes(out) == 1 &&
           4 * range * (range + 1) / 3.0 * sqrt(k) > lt_number_largest(out))
        range--;
    return range;
}

/* Sums of int8 are exact whatever they are, so that its numbers reach from end to end, and those of
 * an s32 C are of the size of sums. */
enum { INT8_DEVIATION = 48, INT8_RANGE = 127, S32_DEVIATION = 1 << 16 };

/* Of e4m3, numbers below 2^-6 have fewer digits, and those below 2^-10 are zero. */
#define E4M3_LEAST_DEVIATION 0x1p-5f

static struct lt_fill fill_of(const struct lt_operands *operands, const struct lt_operand *operand,
                              enum lt_data data)
{
    int64_t k = operands->a.matrix.columns;
    struct lt_fill fill = {
        .pattern = data == LT_DATA_INTEGERS ? LT_INTEGERS : LT_NORMAL,
        .scale = operand == &operands->b && k > 0 ? (float)(1 / sqrt((double)k)) : 1,
        .range = range_for(operands),
    };

    switch (operand->matrix.type) {
    case LATHE_E4M3:
        if (fill.scale < E4M3_LEAST_DEVIATION)
            fill.scale = E4M3_LEAST_DEVIATION;
        break;
    case LATHE_INT8:
        fill.scale = INT8_DEVIATION;
        fill.range = INT8_RANGE;
        break;
    case LATHE_S32:
        fill.scale = S32_DEVIATION;
        break;
    case LATHE_TYPE_DEFAULT:
    case LATHE_F16:
    case LATHE_BF16:
    case LATHE_F32:
    case LATHE_TF32:
    case LATHE_E5M2:
        break;
    }
    return fill;
}

enum lathe_status lt_operands_fill(const struct lt_operands *operands,
                                   const struct lt_checker *checker, enum lt_data data,
                                   uint64_t seed, struct lathe_error *err)
{
    const struct lt_operand *inputs[] = {&operands->a, &operands->b, &operands->c};
    enum lathe_status status = LATHE_OK;

    for (int i = 0; i < 3 && status == LATHE_OK; i++) {
        struct lt_fill fill = fill_of(operands, inputs[i], data);

        fill.seed = lt_random_stream(seed, (uint64_t)i);
        if (inputs[i]->base)
            status = lt_checker_fill(checker, &inputs[i]->matrix, &fill, err);
    }
    return status;
}

enum lathe_status lt_operands_poison(const struct lt_operands *operands, struct lathe_error *err)
{
    return lt_stream_set(operands->stream, operands->d.base, POISON, operands->d.bytes, err);
}

enum lathe_status lt_operands_damage(const struct lt_operands *operands,
                                     const struct lt_checker *checker, int64_t *damage,
                                     struct lathe_error *err)
{
    const struct lt_operand *d = &operands->d;
    const struct lt_matrix *matrix = &d->matrix;
    int64_t element = lathe_type_bytes(matrix->type);
    uint64_t end = matrix->at + (uint64_t)lt_matrix_bytes(matrix);
    const struct lt_region regions[] = {
        {.at = d->base, .rows = 1, .bytes = (int64_t)(matrix->at - d->base)},
        {.at = matrix->at + (uint64_t)(matrix->columns * element),
         .rows = matrix->columns > 0 ? matrix->rows - 1 : 0,
         .bytes = (matrix->pitch - matrix->columns) * element,
         .pitch = matrix->pitch * element},
        {.at = end, .rows = 1, .bytes = (int64_t)(d->base + (uint64_t)d->bytes - end)},
    };

    return lt_checker_damage(checker, regions, sizeof regions / sizeof regions[0], CANARY, damage,
                             err);
}

struct lt_product lt_operands_product(const struct lt_operands *operands, float alpha, float beta,
                                      enum lt_data data)
{
    return (struct lt_product){
        .a = operands->a.matrix,
        .b = operands->b.matrix,
        .c = operands->c.matrix,
        .d = operands->d.matrix,
        .alpha = (double)alpha,
        .beta = (double)beta,
        .whole = data == LT_DATA_INTEGERS,
        .sums = operands->sums,
    };
}

struct lathe_gemm_args lt_operands_args(const struct lt_operands *operands, float alpha, float beta)
{
    struct lathe_gemm_args args = LATHE_GEMM_ARGS_INIT;

    args.m = operands->d.matrix.rows;
    args.n = operands->d.matrix.columns;
    args.k = operands->a.matrix.columns;
    args.lda = operands->a.matrix.pitch;
    args.ldb = operands->b.matrix.pitch;
    args.ldc = operands->c.matrix.pitch;
    args.ldd = operands->d.matrix.pitch;
    args.a = operands->a.matrix.at;
    args.b = operands->b.matrix.at;
    args.c = operands->c.matrix.at;
    args.d = operands->d.matrix.at;
    args.alpha = alpha;
    args.beta = beta;
    args.stream = operands->stream->handle;
    return args;
}
