#include "templates/gemm_problem.h"

#include "codegen/fields.h"
#include "codegen/status.h"

#include <limits.h>
#include <stdbool.h>

/* PTX ISA "Tensors", cuTensorMapEncodeTiled: strides are multiples of 16 bytes below 2^40. */
enum { TMA_PITCH = 16 };
#define TMA_PITCH_LIMIT (1LL << 40)

enum lathe_type lt_gemm_default_out(enum lathe_type type)
{
    switch (type) {
    case LATHE_TYPE_DEFAULT:
        return LATHE_F16;
    case LATHE_TF32:
    case LATHE_E4M3:
    case LATHE_E5M2:
        return LATHE_F32;
    case LATHE_INT8:
        return LATHE_S32;
    case LATHE_F16:
    case LATHE_BF16:
    case LATHE_F32:
    case LATHE_S32:
        return type;
    }
    return type;
}

static void fill_defaults(struct lathe_gemm *p)
{
    if (p->type == LATHE_TYPE_DEFAULT)
        p->type = LATHE_F16;
    if (p->out == LATHE_TYPE_DEFAULT)
        p->out = lt_gemm_default_out(p->type);
    if (p->layout == LATHE_LAYOUT_DEFAULT)
        p->layout = LATHE_TN;
    if (p->beta == LATHE_BETA_DEFAULT)
        p->beta = LATHE_BETA_ZERO;
}

static enum lathe_status check_size(const char *key, int64_t size, struct lathe_error *err)
{
    if (size < 0 || size > LT_SIZE_MAX)
        return lt_fail(err, LATHE_OUT_OF_RANGE, "%s=%lld: must be a whole number from 0 to %d", key,
                       (long long)size, LT_SIZE_MAX);
    return LATHE_OK;
}

/* One matrix: `rows` of `columns`, `pitch` elements apart. Where there is but one row, its distance
 * to the next means nothing. */
struct matrix {
    const char *pitch_key, *columns_key;
    enum lathe_type type;
    int64_t rows, columns;
    int64_t *pitch;
};

/* Elements of 16 bytes. */
static int pitch_unit(const struct matrix *matrix)
{
    return TMA_PITCH / lathe_type_bytes(matrix->type);
}

static int64_t pitch_limit(const struct matrix *matrix)
{
    return TMA_PITCH_LIMIT / lathe_type_bytes(matrix->type) - pitch_unit(matrix);
}

static bool needs_legal_pitch(const struct matrix *matrix)
{
    return matrix->rows > 1 && matrix->columns > 0;
}

static int64_t legal_pitch(const struct matrix *matrix)
{
    int unit = pitch_unit(matrix);
    int64_t pitch = *matrix->pitch > matrix->columns ? *matrix->pitch : matrix->columns;

    if (pitch >= pitch_limit(matrix))
        return pitch_limit(matrix);
    return (pitch + unit - 1) / unit * unit;
}

static enum lathe_status check_pitch(const struct matrix *matrix, struct lathe_error *err)
{
    bool packed = *matrix->pitch == 0;

    if (packed)
        *matrix->pitch = matrix->columns;

    int64_t pitch = *matrix->pitch;

    if (pitch < matrix->columns || pitch > pitch_limit(matrix))
        return lt_fail(err, LATHE_OUT_OF_RANGE,
                       "%s=%lld: must be from %s=%lld to %lld elements of %s; nearest: %s=%lld",
                       matrix->pitch_key, (long long)pitch, matrix->columns_key,
                       (long long)matrix->columns, (long long)pitch_limit(matrix),
                       lathe_type_name(matrix->type), matrix->pitch_key,
                       (long long)legal_pitch(matrix));
    if (!needs_legal_pitch(matrix) || pitch % pitch_unit(matrix) == 0)
        return LATHE_OK;
    return lt_fail(err, LATHE_UNSUPPORTED,
                   "%s=%lld%s: rows must start at multiples of 16 bytes for TMA (%d elements of "
                   "%s); nearest: %s=%lld",
                   matrix->pitch_key, (long long)pitch, packed ? " (packed)" : "",
                   pitch_unit(matrix), lathe_type_name(matrix->type), matrix->pitch_key,
                   (long long)legal_pitch(matrix));
}

enum { MATRICES = 4 };

/* C counts only where there is one. */
static int matrices_of(struct lathe_gemm *p, struct matrix matrices[MATRICES])
{
    int count = 0;

    matrices[count++] = (struct matrix){"lda", "k", p->type, p->m, p->k, &p->lda};
    matrices[count++] = (struct matrix){"ldb", "k", p->type, p->n, p->k, &p->ldb};
    if (p->beta == LATHE_BETA_ANY)
        matrices[count++] = (struct matrix){"ldc", "n", p->out, p->m, p->n, &p->ldc};
    matrices[count++] = (struct matrix){"ldd", "n", p->out, p->m, p->n, &p->ldd};
    return count;
}

static enum lathe_status check_pitches(struct lathe_gemm *p, struct lathe_error *err)
{
    struct matrix matrices[MATRICES];
    int count = matrices_of(p, matrices);

    for (int i = 0; i < count; i++) {
        enum lathe_status status = check_pitch(&matrices[i], err);

        if (status != LATHE_OK)
            return status;
    }
    return LATHE_OK;
}

void lt_gemm_legal_pitches(struct lathe_gemm *problem, struct lathe_gemm *legal)
{
    struct matrix matrices[MATRICES];
    int count;

    fill_defaults(problem);
    count = matrices_of(problem, matrices);
    for (int i = 0; i < count; i++)
        if (*matrices[i].pitch == 0)
            *matrices[i].pitch = matrices[i].columns;
    *legal = *problem;
    count = matrices_of(legal, matrices);
    for (int i = 0; i < count; i++)
        if (needs_legal_pitch(&matrices[i]))
            *matrices[i].pitch = legal_pitch(&matrices[i]);
}

enum lathe_status lt_gemm_resolve(struct lathe_gemm *p, struct lathe_error *err)
{
    enum lathe_status status;

    fill_defaults(p);
    for (size_t i = 0; i < lt_gemm_field_count; i++) {
        const struct lt_field *field = &lt_gemm_fields[i];

        if ((status = lt_field_check(field, (const char *)p + field->offset, true, err)) !=
            LATHE_OK)
            return status;
    }
    if ((status = check_size("m", p->m, err)) != LATHE_OK ||
        (status = check_size("n", p->n, err)) != LATHE_OK ||
        (status = check_size("k", p->k, err)) != LATHE_OK)
        return status;
    if (p->layout != LATHE_TN)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "layout=%s: kernels take layout=tn so far (A m x k and B n x k, both with k "
                       "contiguous)",
                       lt_word_of(lt_words_layout, (int)p->layout));
    return check_pitches(p, err);
}

/* Kernels count tiles in 32 bits, and step past the last one by as many as run at one time. */
enum lathe_status lt_gemm_count_tiles(const struct lathe_gemm *problem, const int cluster_tile[2],
                                      int64_t *tiles, struct lathe_error *err)
{
    int64_t rows = (problem->m + cluster_tile[0] - 1) / cluster_tile[0];
    int64_t columns = (problem->n + cluster_tile[1] - 1) / cluster_tile[1];

    if (rows * columns > INT_MAX)
        return lt_fail(err, LATHE_UNSUPPORTED,
                       "m=%lld n=%lld: a kernel counts up to 2^31 - 1 tiles of D, and of %dx%d "
                       "(tile times cluster) there are %lld; use a larger tile or cluster, or make "
                       "D in parts",
                       (long long)problem->m, (long long)problem->n, cluster_tile[0],
                       cluster_tile[1], (long long)(rows * columns));
    *tiles = rows * columns;
    return LATHE_OK;
}
